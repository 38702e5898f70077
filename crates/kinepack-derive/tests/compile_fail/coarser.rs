use kinepack::Pack;

#[derive(Pack)]
#[pack(ticks_per_s = 60.0)]
struct WrongFields {
    #[pack(range = 0..100, coarser = 2)]
    health: u8,
    #[pack(coarser = 2)]
    raw: f32,
    #[pack(range = 0.0..360.0, precision = 0.5, wrap, coarser = 2)]
    heading: f32,
    #[pack(range = -8.0..8.0, precision = 0.1, time_precision_ms = 2.0, coarser = 2)]
    position: [f32; 3],
    #[pack(spawn, range = -8.0..8.0, precision = 0.1, coarser = 2)]
    birth: [f32; 3],
    #[pack(skip, coarser = 2)]
    unseen: f32,
    #[pack(rotation, bits = 9, coarser)]
    valueless: [f32; 4],
}

#[derive(Pack)]
enum Weapon {
    Fists,
    Bow {
        #[pack(range = 0.0..=1.0, precision = 0.01, coarser = 2)]
        tension: f32,
    },
}

fn main() {}
