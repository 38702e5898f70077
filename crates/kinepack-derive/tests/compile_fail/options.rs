use kinepack::{Bytes, Pack};

#[derive(Pack)]
struct Marked {
    #[pack(body, range = 0.0..8.0, precision = 0.5)]
    position: Option<[f32; 3]>,
    #[pack(touched)]
    touched: Option<bool>,
    #[pack(mover)]
    mover: Option<bool>,
    #[pack(clock)]
    time: Option<u32>,
    #[pack(velocity, range = 0.0..8.0, precision = 0.5)]
    speed: Option<f32>,
}

#[derive(Pack)]
struct Owner {
    #[pack(range = 0.0..8.0, precision = 0.5)]
    place: Option<f32>,
    #[pack(velocity = place, range = 0.0..8.0, precision = 0.5)]
    speed: f32,
}

#[derive(Pack)]
struct Wrong {
    #[pack(max = 8)]
    signed: Option<i8>,
    #[pack(precision = 0.5)]
    unlimited: Option<f32>,
    #[pack(skip, step)]
    skipped: Option<u8>,
    #[pack(with = Bytes, step)]
    bytes: Option<[u8; 4]>,
}

#[derive(Pack)]
struct Impossible {
    #[pack(range = 0..=300)]
    small: Option<u8>,
}

struct Foreign;

#[derive(Pack)]
struct Holder {
    foreign: Option<Foreign>,
}

fn main() {}
