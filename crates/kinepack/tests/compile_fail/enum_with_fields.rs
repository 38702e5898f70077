use kinepack::Pack;

#[derive(Pack)]
enum Weapon {
    Sword,
    Bow { arrows: u8 },
}

fn main() {}
