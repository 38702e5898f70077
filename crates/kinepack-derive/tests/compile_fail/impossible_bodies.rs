use kinepack::Pack;

#[derive(Pack)]
struct Flat {
    #[pack(body, range = 0.0..8.0, precision = 0.5)]
    position: [f32; 2],
    #[pack(body, rotation, bits = 9)]
    orientation: [f32; 4],
}

fn main() {}
