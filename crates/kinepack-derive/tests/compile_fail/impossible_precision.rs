use kinepack::Pack;

#[derive(Pack)]
#[pack(ticks_per_s = 60.0)]
struct Body {
    #[pack(range = -8.0..8.0, precision = 0.1, time_precision_ms = 0.0)]
    exact: f32,
    #[pack(range = -8.0..8.0, precision = 0.1, time_precision_ms = 10.0)]
    long: [f32; 3],
    #[pack(rotation, bits = 9, time_precision_ms = 2.0, max_step = -0.1)]
    rotation: [f32; 4],
}

fn main() {}
