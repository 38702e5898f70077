//! `Pack::rounded`: the state that the other side gets.

#![cfg(feature = "derive")]

use kinepack::{EncodeError, Pack};

#[derive(Pack, Clone, Debug, PartialEq)]
struct Walker {
    #[pack(range = -64.0..64.0, precision = 0.125)]
    place: [f32; 3],
    #[pack(rotation, bits = 9)]
    turn: [f32; 4],
    bare: f32,
    #[pack(skip)]
    note: f32,
}

#[test]
fn rounded_states_are_those_of_their_lanes() {
    let state =
        Walker { place: [1.05, -2.0, 3.0], turn: [0.6, 0.0, 0.0, 0.8], bare: 0.1, note: 7.0 };
    let mut lanes = vec![0; Walker::LANES];
    state.quantize(&mut lanes).unwrap();
    let rounded = state.rounded().unwrap();
    assert_eq!(rounded, Walker::reconstruct(&lanes));
    assert_eq!((rounded.place, rounded.bare, rounded.note), ([1.0, -2.0, 3.0], 0.1, 0.0));
    let far = Walker { place: [99.0; 3], ..state };
    assert!(matches!(far.rounded(), Err(EncodeError::OutOfRange { field: "place", .. })));
}
