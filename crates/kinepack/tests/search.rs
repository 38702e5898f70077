//! Tests of the search for the structure of profiles: the result is close to the best by brute
//! force, always valid, and deterministic.

use kinepack::profile::{Class, Context, FieldCode, LaneWidth, Reference};
use kinepack::quantize::IntegerLimits;
use kinepack::schema::{Field, FieldKind};
use kinepack::training::{ProfileSearch, TrainError, Trainer, Training};
use kinepack::{Codec, Decoder, Encoder, EntityId, Level, Profile, Schema, Snapshot, Tick, View};
use proptest::prelude::*;

use crate::runner::for_all;
use crate::support::{Random, at_tick, frames, schemas, views};

fn search(lag_ticks: u32) -> ProfileSearch {
    ProfileSearch { lag_ticks, max_trials: 300, ..ProfileSearch::default() }
}

/// Makes numbers of 12 bits that jump from each snapshot to the next: far in a fourth of all cases,
/// otherwise a little.
fn leaps(seed: u64) -> (Schema, Vec<Snapshot>) {
    let schema = Schema::new(vec![Field::new(
        "number",
        FieldKind::Integer(IntegerLimits::new(0, 4095, 1).unwrap()),
    )]);
    let mut random = Random::new(seed);
    let mut numbers = vec![2048u32; 60];
    let mut run = Vec::new();
    for tick in 0..60 {
        let mut snapshot = Snapshot::new(&schema, Tick(tick));
        for (id, number) in (0..).zip(&mut numbers) {
            snapshot.push_lanes(EntityId(id), &[*number]).unwrap();
            let bits = if random.one_in(4) { 7 } else { 3 };
            let step = random.below(1 << bits) as i64 - (1 << (bits - 1));
            *number = (i64::from(*number) + step).clamp(0, 4095) as u32;
        }
        run.push(snapshot);
    }
    (schema, run)
}

fn trained(schema: &Schema, structure: &Profile, run: &[Snapshot], lag: usize) -> Profile {
    let mut trainer = Trainer::new(schema.clone(), structure.clone()).unwrap();
    for (base, new) in run.iter().zip(&run[lag..]) {
        trainer.observe(base, &[], new).unwrap();
    }
    trainer.finish()
}

/// Returns the number of bits of the first field in all packets.
fn field_bits(schema: &Schema, profile: &Profile, run: &[Snapshot], lag: usize) -> u64 {
    let codec = Codec::new(schema.clone(), Level::PACKED, profile.clone()).unwrap();
    let mut encoder = Encoder::new(&codec);
    let run = views(run.to_vec());
    let mut bits = |(base, new): (&View, &View)| {
        encoder.encode(base, new, &mut Vec::new()).unwrap();
        encoder.size().fields_bits[0]
    };
    run.iter().zip(&run[lag..]).map(&mut bits).sum()
}

#[test]
fn as_small_as_the_best_of_all_sets_of_widths() {
    let (schema, run) = leaps(1);
    let best_of_all = (1u32..1 << 9).map(|widths| {
        let widths = (0..9).filter(|bits| widths >> bits & 1 == 1);
        let lane = |bits| vec![LaneWidth { bits, beyond_bits: 0 }];
        let classes: Vec<Class> = widths
            .map(|bits| Class { reference: Reference::Baseline, lanes: lane(bits) })
            .collect();
        let mut profile = Profile::untrained(&schema);
        let lengths_bits = vec![vec![]];
        profile.fields[0] = FieldCode { context: Context::None, classes, lengths_bits };
        // Any complete code works, because the trainer finds the lengths.
        let words = profile.fields[0].classes.len() + 1;
        let long = (words as u32).next_power_of_two().trailing_zeros() as u8;
        let short = (1 << long) - words;
        profile.fields[0].lengths_bits[0] =
            (0..words).map(|word| long - u8::from(word < short)).collect();
        field_bits(&schema, &trained(&schema, &profile, &run, 1), &run, 1)
    });
    let best = best_of_all.min().unwrap();
    let structure = search(1).run(&schema, &[&run[..]], |_| ()).unwrap();
    let found = field_bits(&schema, &trained(&schema, &structure, &run, 1), &run, 1);
    // The search keeps a class for each magnitude, because other data may need it.
    assert!(found * 100 <= best * 101, "{found} bits, {best} is possible");
}

#[test]
fn lanes_that_differ_get_widths_that_differ() {
    // Two of three lanes hardly move, so a class with one width for all lanes would waste 5 bits in
    // each of the two.
    let axes = ["x", "y", "z"]
        .map(|_| kinepack::quantize::FloatLimits::new(0.0, 65535.0, 1.0).unwrap())
        .to_vec();
    let schema = Schema::new(vec![Field::new("position", FieldKind::Floats(axes))]);
    let mut random = Random::new(2);
    let mut run = Vec::new();
    let mut lanes = [[30_000u32; 3]; 40];
    for tick in 0..100 {
        let mut snapshot = Snapshot::new(&schema, Tick(tick));
        for (id, lanes) in (0..).zip(&mut lanes) {
            snapshot.push_lanes(EntityId(id), lanes).unwrap();
            let steps = [7, 2, 2].map(|bits| random.below(1 << bits) as i64 - (1 << (bits - 1)));
            *lanes = [0, 1, 2].map(|lane| (i64::from(lanes[lane]) + steps[lane]) as u32);
        }
        run.push(snapshot);
    }
    let structure = search(1).run(&schema, &[&run[..]], |_| ()).unwrap();
    let found = field_bits(&schema, &trained(&schema, &structure, &run, 1), &run, 1);
    let alike =
        field_bits(&schema, &trained(&schema, &Profile::magnitudes(&schema), &run, 1), &run, 1);
    // A value takes 7 + 2 + 2 bits and a word of 1 or 2 bits, and some values are in full. With the
    // article's scheme, the words would be 3 bits longer.
    assert!(found < 99 * 40 * 13, "{} bits a value", found as f64 / (99.0 * 40.0));
    assert!(found * 10 < alike * 8, "{found} and {alike} bits");
}

#[test]
fn every_schema_and_any_data_get_a_valid_profile_that_packets_survive() {
    let schemas = schemas();
    let case = (0..schemas.len(), any::<u64>(), 1u32..5, 0usize..12, 1usize..400);
    for_all(40, case, |(index, seed, lag_ticks, entities, max_values)| {
        let (name, schema) = &schemas[index];
        let run = frames(schema, seed, entities, 14);
        let known = views(run.clone());
        let search = ProfileSearch { lag_ticks, max_values, max_trials: 60 };
        let structure = search.run(schema, &[&run[..7], &run[7..]], |_| ()).unwrap();
        let profiles = [trained(schema, &structure, &run, 1), structure.clone()];
        assert_eq!(
            Profile::from_bytes(&structure.to_bytes(), schema).as_ref(),
            Ok(&structure),
            "{name}"
        );
        for profile in profiles {
            for level in [Level::PACKED, Level::ADAPTIVE] {
                let codec = Codec::new(schema.clone(), level, profile.clone()).unwrap();
                let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
                for (base, new) in known.iter().zip(&known[1..]) {
                    let mut packet = Vec::new();
                    let sent = encoder.encode(base, new, &mut packet).unwrap();
                    // Without an older view, no value is coarse.
                    assert!(sent == *new, "{name}");
                    assert!(decoder.decode(base, &packet, new.tick).unwrap() == sent, "{name}");
                }
            }
        }
        assert_eq!(search.run(schema, &[&run[..7], &run[7..]], |_| ()), Ok(structure), "{name}");
    });
}

#[test]
fn progress_rises_to_one_and_training_takes_the_structure() {
    let (schema, run) = leaps(3);
    let mut shares = Vec::new();
    let structure = search(2).run(&schema, &[&run[..]], |share| shares.push(share)).unwrap();
    assert!(shares.is_sorted() && shares.last() == Some(&1.0), "{shares:?}");
    let training =
        Training { passes: 1, snapshots_per_pass: 10, ..Training::new(structure.clone(), None) };
    let profile = training.run(&schema, &[&run[..]], |_| ()).unwrap();
    assert_eq!(profile.fields[0].classes, structure.fields[0].classes);
    // Runs the two halves of training separately.
    let lengths = training.lengths(&schema, &[&run[..]]).unwrap();
    let model = training.model(&schema, &[&run[..]], |_| ()).unwrap();
    assert_eq!(Profile { model: Some(model), ..lengths }, profile);
}

#[test]
fn unfit_runs_are_refused() {
    let (schema, run) = leaps(4);
    assert_eq!(search(60).run(&schema, &[&run[..]], |_| ()), Err(TrainError::TooShort));
    assert_eq!(search(1).run::<Vec<Snapshot>>(&schema, &[], |_| ()), Err(TrainError::TooShort));
    let other = schemas().remove(0).1;
    assert!(matches!(search(1).run(&other, &[&run[..]], |_| ()), Err(TrainError::Snapshot(_))));
    // One run has no motion, and the other has a packet with more values than the limit.
    let still = [0, 1, 2].map(|tick| at_tick(&run[0], Tick(tick)));
    assert!(search(1).run(&schema, &[&still[..]], |_| ()).is_ok());
    let few = ProfileSearch { max_values: 0, ..search(1) };
    assert!(few.run(&schema, &[&run[..2]], |_| ()).is_ok());
}
