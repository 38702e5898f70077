use kinepack::Pack;

#[derive(Pack)]
struct Body {
    #[pack(range = 0.0..1.0, range = 0.0..2.0, precision = 0.1)]
    position: f32,
    #[pack(range = 0.0..1.0, precision = 0.1)]
    #[pack(precision = 0.2)]
    velocity: f32,
    #[pack(range = 0.0..1.0, precision = 0.1, bits = 4)]
    spin: f32,
}

fn main() {}
