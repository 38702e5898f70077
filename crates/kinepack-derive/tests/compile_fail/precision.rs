use kinepack::Pack;

#[derive(Pack)]
struct NoTicks {
    #[pack(range = -8.0..8.0, precision = 0.1, time_precision_ms = 2.0)]
    position: [f32; 3],
}

#[derive(Pack)]
#[pack(ticks_per_s = 60.0)]
struct WrongFields {
    #[pack(range = 0.0..360.0, precision = 0.5, wrap, time_precision_ms = 2.0)]
    heading: f32,
    #[pack(range = 0..100, time_precision_ms = 2.0)]
    health: u8,
    #[pack(time_precision_ms = 2.0)]
    raw: f32,
    #[pack(skip, time_precision_ms = 2.0)]
    unseen: f32,
    #[pack(range = -8.0..8.0, precision = 0.1, max_step = 0.5)]
    always: f32,
    #[pack(rotation, bits = 9, time_precision_ms)]
    valueless: [f32; 4],
    #[pack(range = -8.0..8.0, precision = 0.1, ticks_per_s = 60.0)]
    own: f32,
}

#[derive(Pack)]
#[pack(ticks_per_s = 60.0)]
struct Needless {
    #[pack(range = -8.0..8.0, precision = 0.1)]
    position: [f32; 3],
}

#[derive(Pack)]
#[pack(ticks_per_s = 60.0, ticks_per_s = 50.0)]
struct Twice {
    #[pack(range = -8.0..8.0, precision = 0.1, time_precision_ms = 2.0)]
    position: [f32; 3],
}

#[derive(Pack)]
#[pack(ticks_per_s = 60.0)]
enum Weapon {
    Bow,
}

fn main() {}
