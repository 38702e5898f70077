use kinepack::{Bytes, BytesUpTo, Pack};

#[derive(Pack)]
struct Long {
    #[pack(with = Bytes)]
    bytes: [u8; 256],
}

#[derive(Pack)]
struct LongUpTo {
    #[pack(with = BytesUpTo<256>)]
    bytes: Vec<u8>,
}

fn main() {
    let _ = Long::LANES + LongUpTo::LANES;
}
