use kinepack::Pack;

#[derive(Pack)]
struct Body {
    #[pack(range = 5..5)]
    empty: u8,
    #[pack(range = 0..=300)]
    wide: u8,
    #[pack(range = 0..=100, precision = 0)]
    coarse: u8,
    #[pack(range = 0..=100, bits = 8)]
    roomy: u8,
    #[pack(bits = 9)]
    bits: u8,
}

fn main() {}
