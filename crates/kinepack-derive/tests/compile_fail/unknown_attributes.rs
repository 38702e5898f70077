use kinepack::Pack;

#[derive(Pack)]
struct Body {
    #[pack(rnage = 0.0..1.0, precision = 0.1)]
    position: f32,
    #[pack(crate = kinepack)]
    velocity: f32,
}

#[derive(Pack)]
#[pack(velocity)]
struct Other {
    position: f32,
}

fn main() {}
