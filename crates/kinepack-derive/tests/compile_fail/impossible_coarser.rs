use kinepack::Pack;

#[derive(Pack)]
struct Body {
    #[pack(range = -8.0..8.0, precision = 0.1, coarser = 0)]
    exact: f32,
    #[pack(rotation, bits = 9, coarser = 32)]
    rotation: [f32; 4],
    #[pack(range = -8.0..8.0, precision = 0.1, coarser = 31)]
    right: f32,
}

fn main() {}
