use kinepack::Pack;

#[derive(Pack)]
struct Misspelt {
    position: [f32; 3],
    #[pack(velocity = positon, range = -8.0..8.0, precision = 0.1)]
    linear: [f32; 3],
}

#[derive(Pack)]
struct OtherType {
    position: [f64; 3],
    #[pack(velocity = position, range = -8.0..8.0, precision = 0.1)]
    linear: [f32; 3],
}

#[derive(Pack)]
struct Rotation {
    #[pack(rotation, bits = 9)]
    orientation: [f32; 4],
    #[pack(velocity = orientation, range = -8.0..8.0, precision = 0.1)]
    spin: [f32; 4],
}

#[derive(Pack)]
struct Itself {
    #[pack(velocity = speed, range = -8.0..8.0, precision = 0.1)]
    speed: f32,
}

#[derive(Pack)]
struct Twice {
    height: f32,
    #[pack(velocity = height, range = -8.0..8.0, precision = 0.1)]
    climb: f32,
    #[pack(velocity = height, range = -8.0..8.0, precision = 0.1)]
    fall: f32,
}

#[derive(Pack)]
struct NoName {
    height: f32,
    #[pack(velocity = 0.5, range = -8.0..8.0, precision = 0.1)]
    climb: f32,
    #[pack(skip, step)]
    floor: f32,
    #[pack(step = 2)]
    steps: u8,
}

fn main() {}
