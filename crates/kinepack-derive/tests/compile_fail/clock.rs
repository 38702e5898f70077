use kinepack::Pack;

#[derive(Pack)]
struct NoNumbers {
    #[pack(clock, range = 0.0..60.0, precision = 0.01)]
    several: [f32; 3],
    #[pack(clock)]
    flag: bool,
    #[pack(clock, rotation, bits = 9)]
    orientation: [f32; 4],
    #[pack(clock)]
    pattern: f32,
}

#[derive(Pack)]
struct OtherRoles {
    place: f32,
    #[pack(clock, velocity, range = -8.0..8.0, precision = 0.1)]
    speed: f32,
    #[pack(clock, velocity = place, range = -8.0..8.0, precision = 0.1)]
    pace: f32,
    #[pack(clock, touched)]
    touched: u8,
}

#[derive(Pack)]
struct Moved {
    #[pack(clock, range = 0.0..60.0, precision = 0.01)]
    seconds: f32,
    #[pack(velocity = seconds, range = -8.0..8.0, precision = 0.1)]
    pace: f32,
}

#[derive(Pack)]
struct Bodies {
    #[pack(body, clock, range = 0.0..8.0, precision = 0.5)]
    position: [f32; 3],
    #[pack(body, rotation, bits = 4)]
    orientation: [f32; 4],
}

#[derive(Pack)]
struct Others {
    #[pack(clock = 3)]
    valued: u32,
    #[pack(skip, clock)]
    skipped: u32,
    #[pack(with = kinepack::Bytes, clock)]
    bytes: [u8; 4],
    #[pack(clock, clock)]
    twice: u32,
}

fn main() {}
