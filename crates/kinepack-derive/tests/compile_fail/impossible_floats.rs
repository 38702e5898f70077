use kinepack::Pack;

#[derive(Pack)]
struct Body {
    #[pack(range = 1.0..=-1.0, precision = 0.1)]
    empty: f32,
    #[pack(range = -1.0..=1.0, precision = 1 / 512)]
    coarse: f32,
    #[pack(range = 0.0..1e6, precision = 1e-6)]
    many: f64,
    #[pack(range = 0.0..1e4, precision = 1e-4)]
    fine: f32,
    #[pack(range = 0.0..1.0, bits = 33)]
    wide: f64,
    #[pack(range = [0.0..1.0, 0.0..1.0], bits = 8)]
    axes: [f64; 3],
    #[pack(range = 0.0..360.0, precision = 0.7, wrap)]
    angle: f64,
    #[pack(rotation, bits = 21)]
    rotation: [f32; 4],
    #[pack(rotation, bits = 9)]
    direction: [f32; 3],
}

fn main() {}
