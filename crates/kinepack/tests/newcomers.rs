//! Tests of added entities at the levels that predict. Bullets that begin at a player's hand take
//! less than two thirds of the bits that they take in full. An added entity may have any values,
//! and profile files keep the trained parameters. See `spec/CODEC.md`, section 12.11.

use kinepack::quantize::{FloatLimits, IntegerLimits};
use kinepack::schema::{Field, FieldKind};
use kinepack::training::Training;
use kinepack::{Codec, Decoder, Encoder, EntityId, Level, Profile, Schema, Snapshot, Tick, View};

use crate::support::{self, Random};

const PLAYERS: u32 = 20;
/// The number of ticks that a bullet flies.
const FLIGHT: u32 = 12;
/// The number of ticks from a baseline to a packet.
const LAG: usize = 6;

fn schema() -> Schema {
    let side = FloatLimits::until(-64.0, 64.0, 1.0 / 128.0).unwrap();
    let yaw = FloatLimits::until_with_bits(0.0, 360.0, 9).unwrap().wrapping();
    let health = IntegerLimits::new(0, 100, 1).unwrap();
    Schema::new(vec![
        Field::new("kind", FieldKind::Choice { max: 1 }),
        Field::new("position", FieldKind::Floats(vec![side, side])),
        Field::new("yaw", FieldKind::Floats(vec![yaw])),
        Field::new("health", FieldKind::Integer(health)),
        Field::new("is_hit", FieldKind::Bool),
    ])
}

/// Makes a run in which players walk in circles and shoot in the direction that they face.
fn shootings(schema: &Schema, seed: u64, ticks: u32) -> Vec<Snapshot> {
    let mut random = Random::new(seed);
    let FieldKind::Floats(axes) = &schema.fields()[1].kind else { panic!() };
    let place = |at: [f64; 2]| [0, 1].map(|axis| axes[axis].quantize(at[axis]).unwrap());
    let centres: Vec<[f64; 2]> =
        (0..PLAYERS).map(|_| [0, 1].map(|_| random.below(90) as f64 - 45.0)).collect();
    // For each bullet, its shot: the tick, the place and the yaw.
    let mut bullets: Vec<(u32, [f64; 2], u32)> = Vec::new();
    let mut run = Vec::new();
    for tick in 0..ticks {
        let mut snapshot = Snapshot::new(schema, Tick(tick));
        for (player, centre) in (0..PLAYERS).zip(&centres) {
            let turn = f64::from(tick) * 0.02 + f64::from(player);
            let at = [centre[0] + 6.0 * libm::cos(turn), centre[1] + 6.0 * libm::sin(turn)];
            let yaw = (player * 37 + tick * (1 + player % 3)) % 512;
            let [x, y] = place(at);
            snapshot.push_lanes(EntityId(player), &[0, x, y, yaw, 100, 0]).unwrap();
            if random.one_in(30) {
                bullets.push((tick, at, yaw));
            }
        }
        for (number, (shot, from, yaw)) in (0..).zip(&bullets) {
            let age = f64::from(tick - shot);
            if age >= f64::from(FLIGHT) {
                continue;
            }
            let facing = f64::from(*yaw) / 512.0 * std::f64::consts::TAU;
            let far = 0.5 + 0.6 * age;
            let at = [from[0] + far * libm::cos(facing), from[1] + far * libm::sin(facing)];
            let [x, y] = place(at.map(|axis| axis.clamp(-63.0, 63.0)));
            snapshot.push_lanes(EntityId(1000 + number), &[1, x, y, *yaw, 0, 0]).unwrap();
        }
        run.push(snapshot);
    }
    run
}

fn trained(schema: &Schema) -> Profile {
    let mut training = Training::new(Profile::untrained(schema), None);
    (training.passes, training.max_lags_ticks) = (2, vec![LAG as u32]);
    training.run(schema, &[shootings(schema, 1, 900)], |_| {}).unwrap()
}

/// Returns the mean number of bits of a bullet that its baseline lacks, and the number of such
/// bullets.
fn bits_of_bullets(codec: &Codec, run: &[Snapshot]) -> (f64, usize) {
    let (mut encoder, mut decoder) = (Encoder::new(codec), Decoder::new(codec));
    encoder.count_entity_bits(true);
    let (mut bits, mut count) = (0, 0);
    for frames in run.windows(LAG + 1) {
        let (baseline, now) = (View::from(frames[0].clone()), &frames[LAG]);
        let mut packet = Vec::new();
        let view = encoder.encode(&baseline, now, &mut packet).unwrap();
        assert!(decoder.decode(&baseline, &packet, now.tick).as_ref() == Ok(&view));
        assert!(**view.snapshot() == *now);
        for (index, spent) in encoder.entity_bits() {
            if baseline.position(now.ids()[*index as usize]).is_none() {
                bits += u64::from(*spent);
                count += 1;
            }
        }
    }
    (bits as f64 / count as f64, count)
}

#[test]
fn bullets_from_a_players_hand_take_less_than_two_thirds_of_their_bits_in_full() {
    let schema = schema();
    let profile = trained(&schema);
    let run = shootings(&schema, 2, 300);
    for level in [Level::ADAPTIVE, Level::LEARNING] {
        let codec = Codec::new(schema.clone(), level, profile.clone()).unwrap();
        let (bits, count) = bits_of_bullets(&codec, &run);
        let in_full = f64::from(schema.bits_per_entity());
        assert!(count > 500 && 3.0 * bits < 2.0 * in_full, "{count} bullets of {bits} bits");
    }
}

#[test]
fn a_profile_file_holds_what_training_found_out_about_newcomers() {
    let schema = schema();
    let profile = trained(&schema);
    let bytes = profile.to_plain_bytes();
    assert_eq!(bytes[4], 3, "the version");
    assert_eq!(Profile::from_bytes(&bytes, &schema).as_ref(), Ok(&profile));
    // A profile without a model has no such parameters to store.
    assert_eq!(Profile::untrained(&schema).to_plain_bytes()[4], 1);
}

/// Equal fields of an array's elements share their counters, so the second element of the first
/// newcomer costs less than the first element.
#[test]
fn elements_of_an_array_share_what_is_known_about_their_values() {
    let side = || FieldKind::Floats(vec![FloatLimits::until_with_bits(0.0, 1.0, 8).unwrap()]);
    let of = |name: fn(u32) -> String| {
        let schema = Schema::new((0..64).map(|joint| Field::new(name(joint), side())).collect());
        let codec =
            Codec::new(schema.clone(), Level::ADAPTIVE, Profile::untrained(&schema)).unwrap();
        let mut world = Snapshot::new(&schema, Tick(1));
        world.push_lanes(EntityId(3), &[200; 64]).unwrap();
        let mut packet = Vec::new();
        let mut encoder = Encoder::new(&codec);
        encoder.encode(&View::empty(&schema), &world, &mut packet).unwrap();
        packet.len()
    };
    let [shared, apart] =
        [of(|joint| format!("joints[{joint}].angle")), of(|joint| format!("joint{joint}.angle"))];
    assert!(3 * shared < apart, "{shared} bytes, {apart} bytes");
}

/// Added entities come back, whatever their values and those of the other entities.
#[test]
fn newcomers_of_any_values_come_back() {
    let schema = support::schema("wide");
    for (_, profile) in support::profiles(&schema) {
        for level in [Level::ADAPTIVE, Level::LEARNING] {
            let codec = Codec::new(schema.clone(), level, profile.clone()).unwrap();
            let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
            let mut random = Random::new(7);
            for (kept, added) in [(0, 1), (0, 40), (1, 1), (30, 3), (3, 30), (1500, 2)] {
                let mut any = |ids: std::ops::Range<u32>, tick| {
                    let mut snapshot = Snapshot::new(&schema, Tick(tick));
                    for id in ids {
                        let value = |lane: &kinepack::schema::Lane| random.up_to(lane.max);
                        let lanes: Vec<u32> = schema.lanes().iter().map(value).collect();
                        snapshot.push_lanes(EntityId(2 * id), &lanes).unwrap();
                    }
                    snapshot
                };
                let baseline = View::from(any(added / 2..added / 2 + kept, 1));
                let world = any(0..kept + added, 3);
                let mut packet = Vec::new();
                let view = encoder.encode(&baseline, &world, &mut packet).unwrap();
                assert!(decoder.decode(&baseline, &packet, Tick(3)).as_ref() == Ok(&view));
                assert!(**view.snapshot() == world);
            }
        }
    }
}
