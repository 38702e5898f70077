//! Optional parts in other optional parts, as states and in packets.

use kinepack::{
    ArrayString, ArrayVec, Codec, Decoder, Encoder, EntityId, Level, Pack, Profile, Schema,
    Snapshot, Tick, View,
};
use proptest::prelude::*;

use super::{between, lanes, round_trip};
use crate::runner::for_all;

/// An enum whose variants nest all optional types.
#[derive(Pack, Clone, Debug, PartialEq)]
enum Deep {
    Idle,
    Busy { queue: ArrayVec<Task, 2>, by: Option<ArrayString<3>> },
}

#[derive(Pack, Clone, Debug, PartialEq)]
enum Task {
    Move(Option<(i8, i8)>),
    Wait(#[pack(range = 0.0..=1.0, bits = 4)] Option<f32>),
    Stop,
}

fn task() -> impl Strategy<Value = Task> {
    prop_oneof![
        any::<Option<(i8, i8)>>().prop_map(Task::Move),
        proptest::option::of(0u8..16)
            .prop_map(|value| Task::Wait(value.map(|value| f32::from(value) / 15.0))),
        Just(Task::Stop),
    ]
}

fn deep() -> impl Strategy<Value = Deep> {
    let queue = proptest::collection::vec(task(), 0..=2);
    let busy = (queue, proptest::option::of("[a-z]{0,3}")).prop_map(|(queue, by)| Deep::Busy {
        queue: queue.into_iter().collect(),
        by: by.map(|by| ArrayString::from(&by).unwrap()),
    });
    prop_oneof![1 => Just(Deep::Idle), 4 => busy]
}

#[test]
fn optional_parts_nest() {
    for_all(3000, (deep(), deep(), 0.0f32..1.0), |(from, to, ratio)| {
        assert_eq!(round_trip(&from), from);
        assert_eq!(between(&from, &to, 0.0), from);
        assert_eq!(between(&from, &to, 1.0), to);
        lanes(&between(&from, &to, ratio));
    });
    for_all(1000, proptest::collection::vec(any::<u32>(), Deep::LANES), |codes| {
        // Any lanes give a state, and a snapshot accepts that state.
        lanes(&Deep::reconstruct(&codes));
    });
}

#[test]
fn packets_carry_optional_parts() {
    let schema = Schema::of::<Deep>();
    for level in [Level::PACKED, Level::ADAPTIVE] {
        let codec = Codec::new(schema.clone(), level, Profile::untrained(&schema)).unwrap();
        let world = || proptest::collection::vec(deep(), 1..6);
        for_all(200, proptest::collection::vec(world(), 3), |worlds| {
            let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
            let mut held = View::empty(&schema);
            for (tick, states) in (1..).map(Tick).zip(worlds) {
                let mut world = Snapshot::new(&schema, tick);
                for (id, state) in (0..).map(EntityId).zip(&states) {
                    world.push(id, state).unwrap();
                }
                let mut packet = Vec::new();
                let sent = encoder.encode(&held, &world, &mut packet).unwrap();
                held = decoder.decode(&held, &packet, tick).unwrap();
                assert_eq!(held, sent);
                let received: Vec<Deep> = held.iter().unwrap().map(|(_, state)| state).collect();
                assert_eq!(received, states);
            }
        });
    }
}
