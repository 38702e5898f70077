//! A wrong attribute gives one error, however often the type is used.

use kinepack::{EntityId, Pack, Schema, Snapshot, Tick};

#[derive(Pack)]
struct Ship<T: Copy> {
    #[pack(range = 0.0..1.0, precission = 0.5)]
    height: f32,
    #[pack(skip)]
    tag: Option<T>,
}

fn main() {
    let schema = Schema::of::<Ship<u8>>();
    let mut snapshot = Snapshot::new(&schema, Tick(0));
    snapshot.push(EntityId(1), &Ship { height: 0.5, tag: Some(1u8) }).unwrap();
}
