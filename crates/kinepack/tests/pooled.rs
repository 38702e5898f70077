//! Tests profiles of a few typical fields, which schemas of many fields take.

use kinepack::profile::Bodies;
use kinepack::quantize::FloatLimits;
use kinepack::schema::{Field, FieldKind};
use kinepack::training::{Pooled, TrainError, Training};
use kinepack::{
    Baselines, Codec, Decoder, Encoder, EntityId, Level, Pack, Profile, Schema, SetupError,
    Snapshot, Tick, View,
};

use crate::support::Random;

/// Returns a field of numbers from −100 to 100.
fn numbers(name: &str, lanes: usize, step: f64) -> Field {
    let limits = FloatLimits::new(-100.0, 100.0, step).unwrap();
    Field::new(name, FieldKind::Floats(vec![limits; lanes]))
}

/// Returns a schema of fields with these lanes and steps, and a flag.
fn schema(fields: &[(usize, f64)]) -> Schema {
    let named = (0..).zip(fields);
    let numbers = named.map(|(nth, (lanes, step))| numbers(&format!("f{nth}"), *lanes, *step));
    Schema::new(numbers.chain([Field::new("lit", FieldKind::Bool)]).collect())
}

/// The typical field of each field: the numbers have one, the flag has none.
fn source(field: &Field) -> Option<usize> {
    matches!(field.kind, FieldKind::Floats(_)).then_some(0)
}

/// Returns a run in which each lane swings smoothly.
fn run(schema: &Schema, seed: u64) -> Vec<Snapshot> {
    let mut random = Random::new(seed);
    let lanes: Vec<(f64, f64)> = schema
        .lanes()
        .iter()
        .map(|_| (0.05 + 0.1 * random.unit() as f64, 6.0 * random.unit() as f64))
        .collect();
    let snapshot = |tick: u32| {
        let mut snapshot = Snapshot::new(schema, Tick(tick + 1));
        let value = |(lane, (speed, phase)): (&kinepack::schema::Lane, &(f64, f64))| {
            let share = 0.5 + 0.4 * (f64::from(tick) * speed + phase).sin();
            if lane.max == 1 { tick / 20 % 2 } else { (share * f64::from(lane.max)) as u32 }
        };
        let values: Vec<u32> = schema.lanes().iter().zip(&lanes).map(value).collect();
        snapshot.push_lanes(EntityId(1), &values).unwrap();
        snapshot
    };
    (0..160).map(snapshot).collect()
}

fn bytes(schema: &Schema, profile: Profile, level: Level, run: &[Snapshot]) -> usize {
    let codec = Codec::new(schema.clone(), level, profile).unwrap();
    let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
    let mut views = vec![View::empty(schema)];
    let mut bytes = 0;
    for snapshot in run {
        let known = Baselines::new(views.iter().rev().take(3)).unwrap();
        let mut packet = Vec::new();
        let view = encoder.encode(known, snapshot, &mut packet).unwrap();
        assert_eq!(decoder.decode(known, &packet, snapshot.tick).as_ref(), Ok(&view));
        bytes += packet.len();
        views.push(view);
    }
    bytes
}

fn trained() -> (Schema, Profile) {
    let typical = Schema::new(vec![numbers("any", 2, 1.0)]);
    let schemas = [schema(&[(3, 0.01), (1, 0.5)]), schema(&[(2, 0.1), (4, 0.02), (1, 0.003)])];
    let runs: Vec<[Vec<Snapshot>; 1]> =
        (1..).zip(&schemas).map(|(seed, schema)| [run(schema, seed)]).collect();
    let sources =
        schemas.each_ref().map(|schema| schema.fields().iter().map(source).collect::<Vec<_>>());
    let data: Vec<_> = schemas
        .iter()
        .zip(&sources)
        .zip(&runs)
        .map(|((schema, sources), runs)| Pooled { schema, sources, runs })
        .collect();
    let training = Training {
        max_lags_ticks: vec![1, 3],
        passes: 3,
        snapshots_per_pass: 60,
        ..Training::new(Profile::untrained(&typical), None)
    };
    let profile = training.pooled(&typical, &data, |_| ()).unwrap();
    (typical, profile)
}

#[test]
fn a_schema_takes_the_parameters_of_typical_fields_whatever_its_steps() {
    let (typical, profile) = trained();
    let read = Profile::from_bytes(&profile.to_bytes(), &typical);
    assert_eq!(read.as_ref(), Ok(&profile));

    let other = schema(&[(1, 0.3), (3, 0.004), (5, 0.05)]);
    let run = run(&other, 9);
    let carried = profile.carried_by_field(&typical, &other, source).unwrap();
    assert_eq!(Profile::from_bytes(&carried.to_bytes(), &other).as_ref(), Ok(&carried));
    for level in [Level::ADAPTIVE, Level::LEARNING] {
        let untrained = bytes(&other, Profile::untrained(&other), level, &run);
        let carried = bytes(&other, carried.clone(), level, &run);
        let percent = if level == Level::ADAPTIVE { 80 } else { 95 };
        assert!(carried * 100 < untrained * percent, "{}: {carried}, {untrained}", level.name());
    }
    // The word lengths of levels without prediction are untrained.
    assert_eq!(carried.fields, Profile::untrained(&other).fields);
}

#[test]
fn fields_of_another_kind_than_their_source_stay_untrained() {
    let (typical, profile) = trained();
    let other = schema(&[(2, 0.1)]);
    let run = run(&other, 4);
    let all = profile.carried_by_field(&typical, &other, |_| Some(0)).unwrap();
    let numbers = profile.carried_by_field(&typical, &other, source).unwrap();
    assert_eq!(all, numbers);
    bytes(&other, all, Level::ADAPTIVE, &run);
}

#[test]
fn a_wrong_source_is_refused() {
    let (typical, profile) = trained();
    let other = schema(&[(2, 0.1)]);
    let carried = profile.carried_by_field(&typical, &other, |_| Some(1));
    assert_eq!(carried, Err(SetupError::ProfileMismatch));
    let carried = profile.carried_by_field(&other, &typical, source);
    assert_eq!(carried, Err(SetupError::ProfileMismatch));
    let two = Schema::builder()
        .kind_of_fields("one", typical.fields().to_vec())
        .kind_of_fields("two", typical.fields().to_vec())
        .build()
        .unwrap();
    let carried = Profile::untrained(&two).carried_by_field(&two, &other, source);
    assert_eq!(carried, Err(SetupError::ProfileMismatch));
}

#[test]
fn bodies_are_not_carried_by_field() {
    #[derive(Pack)]
    struct Crate {
        #[pack(body, range = -8.0..=8.0, precision = 0.01)]
        position: [f32; 3],
        #[pack(body, rotation, bits = 9)]
        rotation: [f32; 4],
    }
    let schema = Schema::of::<Crate>();
    let run: Vec<Snapshot> = (0..10)
        .map(|tick| {
            let mut snapshot = Snapshot::new(&schema, Tick(tick));
            let rotation = [0.0, 0.0, 0.0, 1.0];
            let state = Crate { position: [tick as f32 * 0.1, 0.0, 0.0], rotation };
            snapshot.push(EntityId(0), &state).unwrap();
            snapshot
        })
        .collect();
    let bodies = Bodies::from_schema(&schema, 2, [0.5; 3], None);
    assert!(bodies.is_some());
    let structure = Profile::magnitudes(&schema);
    let training =
        Training { max_lags_ticks: vec![2], passes: 1, ..Training::new(structure, bodies) };
    let profile = training.run(&schema, &[run], |_| ()).unwrap();
    let carried = profile.carried_by_field(&schema, &schema, |_| Some(0));
    assert_eq!(carried, Err(SetupError::BadModel));
}

#[test]
fn pooled_training_needs_data() {
    let typical = Schema::new(vec![numbers("any", 2, 1.0)]);
    let training = Training::new(Profile::untrained(&typical), None);
    let none: [Pooled<'_, Vec<Snapshot>>; 0] = [];
    assert_eq!(training.pooled(&typical, &none, |_| ()), Err(TrainError::TooShort));
}
