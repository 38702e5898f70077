use kinepack::Pack;

#[derive(Pack)]
enum Weapon {
    Sword,
    #[pack(skip)]
    Bow,
}

fn main() {}
