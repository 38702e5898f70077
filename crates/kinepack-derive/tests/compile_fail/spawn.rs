use kinepack::Pack;

#[derive(Pack)]
struct Crate {
    #[pack(spawn, body, range = -8.0..8.0, precision = 0.5)]
    position: [f32; 3],
    #[pack(spawn, velocity, range = -8.0..8.0, precision = 0.5)]
    speed: f32,
    #[pack(spawn, skip)]
    name: u8,
    #[pack(spawn = true)]
    team: u8,
}

#[derive(Pack)]
enum Weapon {
    Fists,
    Bow {
        #[pack(spawn)]
        maker: u8,
    },
}

fn main() {}
