//! Frames in states of any values, moments between any two of them, and chains that branch.

use std::cell::Cell;

use kinepack::frame::{FrameError, MOST_FRAMES, Moment, Motion};
use kinepack::quantize::FloatLimits;
use kinepack::schema::{Field, FieldKind, Role};
use kinepack::{Between, EncodeError, EntityId, Schema, Snapshot, Tick};
use proptest::prelude::*;

use super::{Sailor, Ship, schema, ship, yaw};
use crate::generated::schemas::schemas;
use crate::runner::for_all;
use crate::support::Random;

/// The most frames that are followed for one entity.
const MOST_FOLLOWED: usize = 32;
/// The ids of the entities, which are also those of the frames.
const IDS: u32 = 10;

/// Makes any state of a schema: a few entities, most of whose frames are among them.
fn any_state(schema: &Schema, random: &mut Random) -> Snapshot {
    let mut state = Snapshot::new(schema, Tick(1));
    for kind in 0..schema.kinds().len() {
        let of_kind = schema.of_kind(kind);
        let ids = of_kind.fields().iter().filter(|field| field.role == Role::Frame);
        let ids: Vec<usize> = ids.flat_map(Field::lanes).collect();
        for id in (0..IDS).filter(|id| *id as usize % schema.kinds().len() == kind) {
            if random.one_in(5) {
                continue;
            }
            let mut lanes: Vec<u32> = Vec::new();
            for (number, lane) in of_kind.lanes().iter().enumerate() {
                let most = if ids.contains(&number) { lane.max.min(IDS) } else { lane.max };
                lanes.push(
                    [0, most, random.up_to(most), random.up_to(most)][random.below(4) as usize],
                );
            }
            of_kind.clear_absent(&mut lanes);
            of_kind.round_coarse(&mut lanes);
            state.push_lanes_of(kind, EntityId(id), &lanes).unwrap();
        }
    }
    state
}

fn any_between(random: &mut Random) -> Between {
    const NUMBERS: [f32; 10] =
        [f32::NAN, f32::INFINITY, -f32::INFINITY, -1.0, 0.0, 0.3, 0.7, 1.0, 1e-40, f32::MAX];
    let [ratio, seconds] = [0, 1].map(|_| NUMBERS[random.below(10) as usize]);
    Between { ratio, seconds }
}

/// The moment of an entity that is in both states.
fn moment<'a>([from, to]: [&'a Snapshot; 2], at: Between, id: EntityId) -> Option<Moment<'a>> {
    let [from, to] = [from, to].map(|state| state.position(id).map(|index| (state, index)));
    from.zip(to).map(|(from, to)| Moment { from, to, at })
}

fn numbers(motion: &Motion) -> impl Iterator<Item = f64> {
    let Motion { place, velocity, spin } = *motion;
    place.position.into_iter().chain(place.rotation).chain(velocity).chain(spin)
}

/// Returns whether all numbers of the schema are so small that sums of their products are finite.
fn is_moderate(schema: &Schema) -> bool {
    let is_small = |axis: &FloatLimits| axis.min().abs().max(axis.max().abs()) < 1e30;
    schema.fields().iter().all(|field| match &field.kind {
        FieldKind::Floats(axes) => axes.iter().all(is_small),
        _ => true,
    })
}

/// The entities with frames, found lane by lane.
fn naive_frames(state: &Snapshot, schema: &Schema) -> Vec<(usize, EntityId)> {
    let fields = schema.fields();
    let Some(name) = fields.iter().find_map(|field| field.frame.as_ref()) else { return vec![] };
    let id = fields.iter().find(|field| field.name == *name && field.role == Role::Frame).unwrap();
    let flag = id.condition.as_ref().map(|condition| {
        fields.iter().find(|field| field.name == condition.selector).unwrap().lanes().start
    });
    let FieldKind::Integer(limits) = &id.kind else { panic!("an id is an integer") };
    let frame = |index: usize| {
        let lanes: Vec<u32> = state.lanes_at(index).collect();
        let is_there = flag.is_none_or(|flag| lanes[flag] == 1);
        let id = limits.min() + i128::from(lanes[id.lanes().start]);
        is_there.then(|| (index, EntityId(u32::try_from(id).unwrap())))
    };
    (0..state.len()).filter_map(frame).collect()
}

#[test]
fn any_states_have_motions_or_errors() {
    for_all(300, (schemas(), any::<u64>()), |(schema, seed)| {
        let mut random = Random::new(seed);
        let [from, to] = [0, 1].map(|_| any_state(&schema, &mut random));
        assert_eq!(from.frames().collect::<Vec<_>>(), naive_frames(&from, &schema));
        let is_moderate = is_moderate(&schema);
        for id in (0..IDS + 1).map(EntityId) {
            let at = any_between(&mut random);
            let followed = Cell::new(0);
            let look = |id| {
                followed.set(followed.get() + 1);
                moment([&from, &to], at, id)
            };
            let Some(seen) = moment([&from, &to], at, id) else { continue };
            if let Ok(motion) = seen.motion(look) {
                assert!(!is_moderate || numbers(&motion).all(|number| !number.is_nan()));
            }
            assert!(followed.get() <= MOST_FOLLOWED);
            let alone = from.place_at(seen.from.1);
            let same = Moment::of(seen.from).motion(|id| moment([&from, &from], at_from(), id));
            assert_eq!(alone.is_ok(), same.is_ok());
        }
        assert!(from.place_at(from.len()).is_err());
        assert_eq!(from.frame_at(usize::MAX), None);
    });
}

#[test]
fn any_states_are_in_the_world_or_errors() {
    for_all(300, any::<u64>(), |seed| {
        let (schema, mut random) = (schema(), Random::new(seed));
        let [from, to] = [0, 1].map(|_| any_state(&schema, &mut random));
        let at = any_between(&mut random);
        let look = |id| moment([&from, &to], at, id);
        for id in (0..IDS).map(EntityId) {
            let _ = from.get_in_world::<Ship>(id);
            let _ = from.get_in_world::<Sailor>(id);
            let Some(seen) = look(id) else { continue };
            let (ship, sailor) = (seen.in_world::<Ship>(look), seen.in_world::<Sailor>(look));
            // One of the two is of another kind.
            assert!(ship.is_err() || sailor.is_err());
            if let Ok(ship) = ship {
                assert!(ship.position.iter().all(|axis| axis.is_finite()));
                assert!(ship.rotation.iter().all(|axis| axis.is_finite()));
            }
            if let Ok(Sailor { body, .. }) = sailor {
                let numbers = body.position.into_iter().chain(body.velocity);
                // 9 frames of up to 2048 units, which may turn in an instant.
                assert!(numbers.clone().all(|number| !number.is_nan()));
                assert!(body.position.iter().all(|axis| axis.abs() < 40_000.0));
            }
        }
    });
}

fn at_from() -> Between {
    Between { ratio: 0.0, seconds: 0.0 }
}

/// Two states in which each of `levels` levels has two ships. A ship is on the one of the next
/// level in the first state, and on the other in the second.
fn branching(levels: u32) -> [Snapshot; 2] {
    [0, 1].map(|side| {
        let mut state = Snapshot::new(&schema(), Tick(side));
        for level in 0..levels {
            for number in 0..2 {
                let dock = (level + 1 < levels).then(|| EntityId(2 * (level + 1) + side));
                let ship = Ship { dock, ..ship([1.0, 0.0, 0.0], 0.1) };
                state.push(EntityId(2 * level + number), &ship).unwrap();
            }
        }
        state
    })
}

#[test]
fn chains_that_branch_are_followed_up_to_a_number() {
    for (levels, expected) in [(1, 0), (2, 2), (3, 6), (5, 30), (6, MOST_FOLLOWED)] {
        let states = branching(levels);
        let followed = Cell::new(0);
        let at = Between { ratio: 0.5, seconds: 1.0 };
        let look = |id| {
            followed.set(followed.get() + 1);
            moment([&states[0], &states[1]], at, id)
        };
        let seen = look(EntityId(0)).unwrap();
        followed.set(0);
        let found = seen.in_world::<Ship>(look);
        assert_eq!(followed.get(), expected);
        match found {
            Ok(ship) => assert!(levels < 6 && (ship.position[0] - f64::from(levels)).abs() < 1.0),
            Err(error) => assert!(matches!(error, FrameError::TooManyFrames { .. }), "{error}"),
        }
        assert_eq!(seen.motion(look).is_ok(), levels < 6);
        // A single state has one frame for each entity.
        assert!(states[0].place_at(0).is_ok());
    }
    assert!(branching(MOST_FRAMES as u32 + 1)[0].place_at(0).is_ok());
    assert!(branching(MOST_FRAMES as u32 + 2)[0].place_at(0).is_err());
}

#[test]
fn moments_of_two_entities_are_errors() {
    let mut world = Snapshot::new(&schema(), Tick(0));
    world.push(EntityId(1), &ship([0.0; 3], 0.0)).unwrap();
    world.push(EntityId(9), &super::sailor(None, [0.0; 3], [0.0; 3])).unwrap();
    let other = Snapshot::new(&Schema::of::<Ship>(), Tick(0));
    let at = Between { ratio: 0.5, seconds: 1.0 };
    for (from, to, expected) in [
        ((&world, 0), (&world, 1), EncodeError::AnotherKind { id: 9 }),
        ((&world, 0), (&world, 2), EncodeError::IndexOutOfRange { index: 2, entities: 2 }),
        ((&world, 2), (&world, 0), EncodeError::IndexOutOfRange { index: 2, entities: 2 }),
    ] {
        let moment = Moment { from, to, at };
        assert_eq!(moment.motion(|_| None), Err(FrameError::State(expected.clone())));
        assert!(moment.in_world::<Ship>(|_| None).is_err());
    }
    let moment = Moment { from: (&world, 0), to: (&other, 0), at };
    let refused = moment.motion(|_| None).unwrap_err();
    assert!(matches!(refused, FrameError::State(EncodeError::SchemaMismatch { .. })));
}

/// A place of any time is a motion, and at rest if the time says nothing.
#[test]
fn a_motion_over_any_time_is_finite() {
    let place = |x: f64| kinepack::frame::Place {
        position: [x, 0.0, 0.0],
        rotation: yaw(x).map(f64::from),
    };
    for (seconds, moves) in [
        (2.0, true),
        (-2.0, true),
        (0.0, false),
        (f32::NAN, false),
        (f32::INFINITY, false),
        (f32::MAX, true),
        (f32::MIN_POSITIVE, true),
        (1e-45, true),
    ] {
        let motion = Motion::along(place(1.0), [place(1.0), place(2.0)], seconds);
        assert!(numbers(&motion).all(f64::is_finite), "{seconds}: {motion:?}");
        assert_eq!(motion.velocity != [0.0; 3], moves, "{seconds}: {motion:?}");
        assert_eq!(motion.spin != [0.0; 3], moves, "{seconds}: {motion:?}");
    }
}
