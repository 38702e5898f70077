use kinepack::Pack;

#[derive(Pack)]
struct Body {
    #[pack(range = [0.0..1.0, 0.0..1.0], precision = [0.1, 0.1, 0.2])]
    position: [f32; 3],
    #[pack(range = [0..=1, 0..=2])]
    count: u8,
}

fn main() {}
