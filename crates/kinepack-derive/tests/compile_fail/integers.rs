use kinepack::Pack;

#[derive(Pack)]
struct Body {
    #[pack(max = 1.0)]
    mass: f32,
    #[pack(max = 100)]
    temperature: i16,
    #[pack(max = 100, range = 0..=100)]
    health: u8,
    #[pack(velocity, range = 0..=100)]
    speed: u8,
    #[pack(range = 0..=100)]
    index: usize,
}

fn main() {}
