use kinepack::Pack;

#[derive(Pack)]
struct Body {
    #[pack(rotation)]
    orientation: [f32; 4],
    #[pack(rotation, bits = 9, range = -1.0..=1.0)]
    turret: [f32; 4],
    #[pack(rotation, bits = 9, velocity)]
    spin: [f32; 4],
}

fn main() {}
