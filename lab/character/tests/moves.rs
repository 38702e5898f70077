//! Tests the moves through the public API: the habits of a person, and how the record stores them.

use character::{Activity, FALLING, Flags, Move, Script, WALKING, moves};
use kinepack::schema::FieldKind;
use kinepack::{Pack, Schema};

/// The number of moves in half an hour. They have about 500 activities, so shares are within a few
/// per cent of the table's.
const LONG: usize = 108_000;
/// The number of moves in ten minutes.
const SHORT: usize = 36_000;

fn lanes(played: &Move) -> Vec<u32> {
    let mut lanes = vec![0; Move::LANES];
    played.quantize(&mut lanes).expect("every move is within the limits");
    lanes
}

/// Returns the share of `count` moves in `of` moves, from 0 to 1.
fn share(count: usize, of: usize) -> f64 {
    count as f64 / of as f64
}

fn along_the_ground(played: &Move) -> f64 {
    let [x, y, _] = played.velocity;
    (x * x + y * y).sqrt()
}

/// Returns whether two moves are equal except for the time.
fn is_repeated(now: &Move, before: &Move) -> bool {
    *now == Move { time_ms: now.time_ms, ..before.clone() }
}

#[test]
fn a_move_has_540_bits() {
    assert_eq!(Schema::of::<Move>().bits_per_entity(), 540);
}

#[test]
fn every_code_of_32_bits_is_a_place() {
    for field in Schema::of::<Move>().fields() {
        if let FieldKind::Floats(axes) = &field.kind {
            let max_code =
                if field.name == "control_rotation" { u32::from(u16::MAX) } else { u32::MAX };
            assert!(axes.iter().all(|axis| axis.max_code() == max_code), "{}", field.name);
        }
    }
}

#[test]
fn the_script_plays_like_a_person() {
    for seed in 1..=4 {
        let mut script = Script::new(seed);
        let played: Vec<(Activity, Move)> = (0..LONG)
            .map(|_| {
                let played = script.step();
                (script.activity(), played)
            })
            .collect();
        let count = |is_so: &dyn Fn(&(Activity, Move)) -> bool| {
            share(played.iter().filter(|&one| is_so(one)).count(), LONG)
        };
        let pairs = |is_so: &dyn Fn(&Move, &Move) -> bool| {
            share(played.windows(2).filter(|pair| is_so(&pair[1].1, &pair[0].1)).count(), LONG)
        };

        let within = |what: &str, share: f64, low: f64, high: f64| {
            assert!((low..high).contains(&share), "seed {seed}: {what} {share}");
        };
        within("moving", count(&|(activity, _)| activity.is_moving()), 0.47, 0.63);
        within("standing", count(&|&(activity, _)| activity == Activity::Stand), 0.18, 0.32);
        within("looking", count(&|&(activity, _)| activity == Activity::Look), 0.13, 0.27);
        within("in the air", count(&|(_, played)| played.movement_mode == FALLING), 0.04, 0.14);
        within("crouched", count(&|(_, played)| played.flags & Flags::CROUCH != 0), 0.03, 0.13);
        within("fast", count(&|(_, played)| along_the_ground(played) > 0.0), 0.45, 0.65);
        within(
            "view turned",
            pairs(&|now, before| now.control_rotation != before.control_rotation),
            0.25,
            0.55,
        );
        within("repeated", pairs(&is_repeated), 0.17, 0.35);

        let jumps = played
            .windows(2)
            .filter(|pair| pair[1].1.movement_mode > pair[0].1.movement_mode)
            .count();
        let free = played
            .iter()
            .filter(|(activity, _)| matches!(activity, Activity::Walk | Activity::Sprint))
            .count();
        within("moves from jump to jump", free as f64 / jumps as f64, 200.0, 420.0);
    }
}

#[test]
fn moves_are_possible() {
    for seed in 10..=13 {
        let played = moves(seed, SHORT);
        assert!((3 * 3_600_000..13 * 3_600_000).contains(&played[0].time_ms), "hours");
        let [x, y, _] = played[0].location;
        assert!((x - 1_234_567.0).abs() < 110_000.0 && (y + 987_654.0).abs() < 110_000.0);
        let (mut hitches, mut stopped) = (0, 0);
        for pair in played.windows(2) {
            let (before, now) = (&pair[0], &pair[1]);
            let numbers = now.acceleration.iter().chain(&now.location).chain(&now.velocity);
            assert!(numbers.into_iter().all(|number| number.is_finite()), "{now:?}");

            let frame_ms = now.time_ms - before.time_ms;
            assert!((16..=34).contains(&frame_ms), "{frame_ms} ms");
            hitches += usize::from(frame_ms > 17);

            assert!(along_the_ground(now) <= 900.0 * 1.0001, "{now:?}");
            let [ax, ay, az] = now.acceleration;
            assert!((ax * ax + ay * ay).sqrt() <= 2048.001 && az == 0.0, "{now:?}");
            assert!([WALKING, FALLING].contains(&now.movement_mode));
            assert!(now.movement_mode == FALLING || now.velocity[2] == 0.0);
            assert!((-1000.0..=420.0).contains(&now.velocity[2]), "{now:?}");
            for axis in 0..2 {
                let way = now.velocity[axis] * frame_ms as f64 / 1000.0;
                assert!(
                    (now.location[axis] - before.location[axis] - way).abs() < 1e-6,
                    "{before:?} to {now:?}"
                );
            }
            let [pitch, yaw, roll] = now.control_rotation;
            assert!(pitch <= 89.0 || (271.0..360.0).contains(&pitch), "{pitch}");
            assert!((0.0..360.0).contains(&yaw) && roll == 0.0);

            // A character that stands on the ground does not change by a bit, unless it stands up
            // or crouches at that moment.
            if [now, before]
                .iter()
                .all(|one| one.velocity == [0.0; 3] && one.movement_mode == WALKING)
            {
                let stands_up = (now.flags ^ before.flags) & Flags::CROUCH != 0;
                let is_still = now.location == before.location;
                assert!(is_still || stands_up, "{before:?} to {now:?}");
                stopped += usize::from(is_still);
            }
        }
        assert!((30..300).contains(&hitches), "{hitches} hitches");
        assert!(stopped > SHORT / 4);
    }
}

#[test]
fn the_record_is_within_half_a_step() {
    for (seed, played) in [(21, moves(21, SHORT)), (22, moves(22, SHORT))] {
        for played in played {
            let lanes = lanes(&played);
            let read = Move::reconstruct(&lanes);
            let exact = |one: &Move| (one.time_ms, one.flags, one.movement_mode, one.payload);
            assert_eq!(exact(&read), exact(&played), "seed {seed}");
            let vectors = |one: &Move| [one.acceleration, one.location, one.velocity];
            for (read, played) in
                vectors(&read).iter().flatten().zip(vectors(&played).iter().flatten())
            {
                assert!(
                    (read - played).abs() <= 0.05 + 1e-6,
                    "seed {seed}: {played} became {read}"
                );
            }
            for (read, played) in read.control_rotation.into_iter().zip(played.control_rotation) {
                let apart = (f64::from(read) - f64::from(played)).abs();
                // The allowed error is half a step plus the spacing of `f32`, measured in the
                // shorter direction.
                assert!(
                    apart.min(360.0 - apart) <= 360.0 / 131_072.0 + 4e-5,
                    "seed {seed}: {played} became {read}"
                );
            }
        }
    }
}

#[test]
fn standing_repeats_the_lanes() {
    let lanes: Vec<Vec<u32>> = moves(31, SHORT).iter().map(lanes).collect();
    let time = Schema::of::<Move>().fields()[0].lanes();
    let mut longest = 0;
    let mut run = 0;
    for pair in lanes.windows(2) {
        run = if pair[0][time.end..] == pair[1][time.end..] { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    assert!(longest > 180, "the longest run of repeated moves: {longest}");
}

#[test]
fn the_seed_determines_the_moves() {
    let first = moves(8, 600);
    assert_eq!(first, moves(8, 600));
    assert_ne!(first, moves(9, 600));
    assert_eq!(first[..60], moves(8, 60));
}

/// Hashes the lanes of ten minutes with FNV-1a, with the payload as bytes. The hash must be the
/// same on every platform and in every version.
#[test]
fn moves_match_the_frozen_hash() {
    let schema = Schema::of::<Move>();
    let payload =
        schema.fields().iter().find(|field| field.name.starts_with("payload")).expect("a field");
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for &byte in bytes {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    };
    for played in moves(1, SHORT) {
        lanes(&played)[..payload.lanes().start].iter().for_each(|lane| add(&lane.to_le_bytes()));
        add(&played.payload);
    }
    assert_eq!(hash, 0x5CB8_05F8_6E58_31F6, "{hash:#018X}");
}
