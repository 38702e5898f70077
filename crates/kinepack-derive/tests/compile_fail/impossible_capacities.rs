use kinepack::{ArrayString, ArrayVec, Pack};

#[derive(Pack)]
struct Lists {
    none: ArrayVec<u8, 0>,
    many: ArrayVec<bool, 65_536>,
    empty: ArrayString<0>,
    long: ArrayString<70_000>,
}

fn main() {
    let _ = Lists::LANES;
    let _ = kinepack::Schema::of::<Lists>();
}
