use kinepack::Pack;

#[derive(Pack)]
union Number {
    real: f32,
    whole: u32,
}

fn main() {}
