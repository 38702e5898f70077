use kinepack::Pack;

#[derive(Pack)]
struct Body {
    #[pack(range, precision = 0.1)]
    position: f32,
    #[pack(skip = true)]
    velocity: f32,
    #[pack(range = 0.0, precision = 0.1)]
    spin: f32,
    #[pack(range = 0.0.., precision = 0.1)]
    mass: f32,
    #[pack]
    health: f32,
}

fn main() {}
