use kinepack::Pack;

#[derive(Pack)]
enum Weapon {}

fn main() {}
