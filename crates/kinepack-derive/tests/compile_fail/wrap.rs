use kinepack::Pack;

#[derive(Pack)]
struct Body {
    #[pack(wrap)]
    yaw: f32,
    #[pack(range = 0.0..=360.0, precision = 1.0, wrap)]
    pitch: f32,
    #[pack(range = 0.0..360.0, precision = 1.0, wrap, clamp)]
    roll: f32,
    #[pack(range = 0..360, wrap)]
    heading: u16,
}

fn main() {}
