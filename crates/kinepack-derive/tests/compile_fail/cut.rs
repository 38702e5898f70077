use kinepack::Pack;

#[derive(Pack)]
struct NoFlags {
    #[pack(cut, range = 0.0..60.0, precision = 0.01)]
    place: f32,
    #[pack(cut, rotation, bits = 9)]
    orientation: [f32; 4],
    #[pack(cut)]
    pattern: f32,
    #[pack(cut)]
    several: [bool; 2],
}

#[derive(Pack)]
struct OtherRoles {
    #[pack(cut, clock)]
    time: u32,
    #[pack(cut, touched)]
    touched: bool,
    #[pack(cut, spawn)]
    model: u8,
    #[pack(cut, max = 9)]
    jumps: Option<u8>,
}

fn main() {}
