use kinepack::Pack;

#[derive(Pack)]
enum Weapon {
    Sword,
    Bow {
        #[pack(body, range = 0.0..8.0, precision = 0.5)]
        place: [f32; 3],
        #[pack(touched)]
        drawn: bool,
        #[pack(max = -1)]
        arrows: i8,
    },
    Rocket(#[pack(clock)] u32, #[pack(mover)] bool),
}

#[derive(Pack)]
enum Other {
    Bow {
        height: f32,
    },
    Rocket {
        #[pack(velocity = height, range = -8.0..8.0, precision = 0.1)]
        climb: f32,
    },
}

#[derive(Pack)]
enum Precise {
    Sword,
    Rocket(#[pack(range = -8.0..8.0, precision = 0.1, time_precision_ms = 2)] f32),
}

#[derive(Pack)]
#[pack(ticks_per_s = 60)]
enum Coarse {
    Sword,
    Rocket(u8),
}

#[derive(Pack)]
enum Wide {
    Sword,
    Rocket(#[pack(range = -8.0..8.0, precision = 20.0)] f32),
}

struct Foreign;

#[derive(Pack)]
enum Holder {
    Rocket { foreign: Foreign },
}

fn main() {}
