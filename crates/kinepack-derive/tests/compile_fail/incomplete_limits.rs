use kinepack::Pack;

#[derive(Pack)]
struct Body {
    #[pack(range = -256.0..256.0)]
    position: [f32; 3],
    #[pack(precision = 0.1)]
    spin: f32,
    #[pack(bits = 8)]
    mass: f32,
    #[pack(velocity)]
    velocity: [f32; 3],
    #[pack(clamp)]
    health: u8,
    #[pack(precision = 5)]
    shield: u8,
}

fn main() {}
