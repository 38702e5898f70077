use kinepack::Pack;

#[derive(Pack)]
struct WrongFields {
    #[pack(body)]
    position: [f32; 3],
    #[pack(body, range = 0.0..8.0, precision = 0.5, wrap)]
    yaw: [f32; 3],
    #[pack(body, range = 0.0..8.0, precision = 0.5, velocity)]
    velocity: [f32; 3],
    #[pack(body, max = 100)]
    health: u8,
    #[pack(body = 3, range = 0.0..8.0, precision = 0.5)]
    numbered: [f32; 3],
    #[pack(skip, body)]
    skipped: [f32; 3],
    #[pack(body, touched, range = 0.0..8.0, precision = 0.5)]
    both: [f32; 3],
}

type Flag = bool;

#[derive(Pack)]
struct WrongFlags {
    #[pack(touched)]
    count: u8,
    #[pack(mover)]
    alias: Flag,
    #[pack(mover, touched)]
    both: bool,
    #[pack(touched, max = 1)]
    limited: bool,
    #[pack(body)]
    flag: bool,
}

#[derive(Pack)]
struct TwoPositions {
    #[pack(body, range = 0.0..8.0, precision = 0.5)]
    hull: [f32; 3],
    #[pack(body, range = 0.0..8.0, precision = 0.5)]
    turret: [f32; 3],
    #[pack(body, rotation, bits = 9)]
    orientation: [f32; 4],
}

#[derive(Pack)]
struct TwoRotations {
    #[pack(body, range = 0.0..8.0, precision = 0.5)]
    position: [f32; 3],
    #[pack(body, rotation, bits = 9)]
    hull: [f32; 4],
    #[pack(body, rotation, bits = 9)]
    turret: [f32; 4],
}

#[derive(Pack)]
struct NoRotation {
    #[pack(body, range = 0.0..8.0, precision = 0.5)]
    position: [f32; 3],
    #[pack(rotation, bits = 9)]
    orientation: [f32; 4],
}

#[derive(Pack)]
struct NoPosition {
    #[pack(body, rotation, bits = 9)]
    orientation: [f32; 4],
}

#[derive(Pack)]
struct TwoFlags {
    #[pack(touched)]
    pushed: bool,
    #[pack(touched)]
    pulled: bool,
}

fn main() {}
