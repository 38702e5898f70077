//! Tests of time precision. A moving value is off by at most its motion in that time, both sides
//! hold the same values, and an entity at rest becomes exact.

use std::collections::BTreeMap;

use kinepack::codec::Chosen;
use kinepack::profile::Bodies;
use kinepack::quantize::{FloatLimits, IntegerLimits, SmallestThree};
use kinepack::schema::{Field, FieldKind, LaneArithmetic, TimePrecision};
use kinepack::training::Training;
use kinepack::{
    Baselines, Codec, Decoder, Encoder, EntityId, Level, Profile, Schema, SetupError, Snapshot,
    Tick, View,
};

use crate::support::{
    self, Random, assert_valid, bodies_schema, check_stored_schema, frames, hex, profile_of,
    schema, views,
};

/// Makes a run of entities that speed up, slow down, rest and start again; now and then one is
/// added or removed. The run has one frame per tick.
fn run(schema: &Schema, seed: u64, entities: usize, ticks: u32) -> Vec<Snapshot> {
    let mut random = Random::new(seed);
    let mut things: BTreeMap<u32, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    let mut next_id = 0;
    let mut run = Vec::new();
    for tick in 0..ticks {
        while things.len() < entities {
            let place =
                schema.lanes().iter().map(|lane| f64::from(random.up_to(lane.max))).collect();
            things.insert(next_id, (place, vec![0.0; schema.lanes().len()]));
            next_id += 1 + random.up_to(2);
        }
        let mut snapshot = Snapshot::new(schema, Tick(500 + tick));
        for (id, (place, speed)) in &mut things {
            match random.below(40) {
                0 => speed.fill(0.0),
                1 | 2 => {
                    let share =
                        f64::from(random.unit()) / [20.0, 200.0, 2000.0][random.below(3) as usize];
                    let push = |lane: &kinepack::schema::Lane| {
                        f64::from(random.unit()) * share * f64::from(lane.max)
                    };
                    *speed = schema.lanes().iter().map(push).collect();
                }
                _ => speed.iter_mut().for_each(|speed| *speed *= 0.9),
            }
            for ((place, speed), lane) in place.iter_mut().zip(&*speed).zip(schema.lanes()) {
                let is_name = lane.arithmetic == LaneArithmetic::Category;
                if is_name && random.one_in(25) {
                    *place = f64::from(random.up_to(lane.max));
                }
                *place =
                    (*place + if is_name { 0.0 } else { *speed }).clamp(0.0, f64::from(lane.max));
            }
            let lanes: Vec<u32> = place.iter().map(|place| place.round() as u32).collect();
            snapshot.push_lanes(EntityId(*id), &lanes).unwrap();
        }
        run.push(snapshot);
        if random.one_in(20) {
            let gone = *things.keys().nth(random.below(things.len() as u64) as usize).unwrap();
            things.remove(&gone);
        }
    }
    run
}

/// Repeats the last frame for `ticks` more ticks.
fn at_rest(run: &[Snapshot], ticks: u32) -> impl Iterator<Item = Snapshot> + '_ {
    let last = run.last().unwrap();
    (1..=ticks).map(|more| support::at_tick(last, Tick(last.tick.0 + more)))
}

/// Computes a field's motion in a tick as both sides know it: in the field's unit, or for a
/// rotation in steps of its components. The result is never too small. The function returns `None`
/// if the sides do not know the motion.
fn speed(field: &Field, id: EntityId, known: &[&View]) -> Option<f64> {
    let (baseline, older) = (known[0], *known.get(1)?);
    let (now, before) = (baseline.position(id)?, older.position(id)?);
    let ticks = f64::from(baseline.tick.0.wrapping_sub(older.tick.0).max(1));
    let lane =
        |lane: usize| f64::from(baseline.lane(lane)[now]) - f64::from(older.lane(lane)[before]);
    let length = match &field.kind {
        FieldKind::Floats(axes) => field
            .lanes()
            .zip(axes)
            .map(|(index, axis)| (lane(index) * axis.step()).powi(2))
            .sum::<f64>()
            .sqrt(),
        FieldKind::Rotation(rotation) => {
            let lanes = field.lanes();
            let codes = |snapshot: &Snapshot, at: usize| {
                [0, 1, 2, 3].map(|nth| snapshot.lane(lanes.start + nth)[at])
            };
            let [from, to] = [codes(older, before), codes(baseline, now)];
            if from[0] == to[0] {
                lanes.skip(1).map(|index| lane(index).powi(2)).sum::<f64>().sqrt()
            } else {
                // The distance between two quaternions is longer than that between their three
                // coded components.
                let [from, to] = [from, to].map(|codes| rotation.reconstruct(codes).map(f64::from));
                let chord = |sign: f64| {
                    (0..4).map(|i| (to[i] - sign * from[i]).powi(2)).sum::<f64>().sqrt()
                };
                let step = std::f64::consts::SQRT_2 / f64::from(rotation.max_code());
                chord(1.0).min(chord(-1.0)) / step + 2.0
            }
        }
        _ => return None,
    };
    Some(length / ticks)
}

/// Checks that no lane is off by more than its field's motion in the time, or by more than half of
/// the coarsest step. Returns the number of lanes that are not exact.
fn check_errors(schema: &Schema, known: &[&View], exact: &Snapshot, coarse: &Snapshot) -> usize {
    assert_eq!(exact.ids(), coarse.ids());
    let mut off = 0;
    for field in schema.fields() {
        for lane in field.lanes() {
            for (at, id) in exact.ids().iter().enumerate() {
                let error = f64::from(exact.lane(lane)[at].abs_diff(coarse.lane(lane)[at]));
                if error == 0.0 {
                    continue;
                }
                off += 1;
                let precision = field.time_precision.expect("a field without precision is exact");
                let speed = speed(field, *id, known).expect("one without history is exact");
                let (step, usual, angle) = match &field.kind {
                    FieldKind::Floats(axes) => (axes[lane - field.lanes().start].step(), 16.0, 1.0),
                    FieldKind::Rotation(rotation) => {
                        assert_ne!(
                            lane,
                            field.lanes().start,
                            "which component is dropped is exact"
                        );
                        (1.0, 8.0, 2.0 * std::f64::consts::SQRT_2 / f64::from(rotation.max_code()))
                    }
                    _ => panic!("{} is exact", field.name),
                };
                let time_ticks = precision.time_precision_ms * precision.ticks_per_s / 1000.0;
                assert!(
                    error * step <= time_ticks * speed * 1.000001,
                    "{}: {error} steps, {speed}",
                    field.name
                );
                let most = precision.max_step.unwrap_or(usual * step * angle);
                assert!(
                    2.0 * error * step * angle <= most * 1.000001,
                    "{}: {error} steps, {most}",
                    field.name
                );
            }
        }
    }
    off
}

fn codec(schema: &Schema, level: Level) -> Codec {
    Codec::new(schema.clone(), level, Profile::untrained(schema)).unwrap()
}

fn trained(schema: &Schema) -> Profile {
    let mut training = Training::new(
        Profile::untrained(schema),
        Bodies::from_schema(schema, 1, [0.5, 0.25, 1.0], Some(0.0)),
    );
    training.passes = 1;
    training.max_lags_ticks = vec![3, 8];
    training.run(schema, &[run(schema, 77, 12, 60)], |_| {}).unwrap()
}

/// A lossy link between an encoder and a decoder. `views` holds the views that both sides hold, one
/// for each packet that arrived.
struct Link {
    codec: Codec,
    encoder: Encoder,
    decoder: Decoder,
    random: Random,
    views: Vec<View>,
}

impl Link {
    fn new(codec: Codec, seed: u64) -> Self {
        let (encoder, decoder) = (Encoder::new(&codec), Decoder::new(&codec));
        Self {
            views: vec![View::empty(codec.schema())],
            codec,
            encoder,
            decoder,
            random: Random::new(seed),
        }
    }

    /// Sends a snapshot against views that are at least `lag` packets old; the packet may be lost.
    /// Returns the number of lanes that are not exact.
    fn send(&mut self, exact: &Snapshot, lag: usize) -> usize {
        let newest = self.views.len().saturating_sub(1 + lag);
        let older = self.views[..newest].iter().rev().step_by(1 + self.random.below(2) as usize);
        let older = older.take(self.random.below(4) as usize);
        let known: Vec<&View> = std::iter::once(&self.views[newest]).chain(older).collect();
        let baselines = Baselines::new(known.iter().copied()).unwrap();
        let mut packet = Vec::new();
        let view = self.encoder.encode(baselines, exact, &mut packet).unwrap();
        let off = check_errors(self.codec.schema(), &known, exact, &view);
        let decoded = self.decoder.decode(baselines, &packet, exact.tick).unwrap();
        assert!(decoded == view, "{}", self.codec.level().row());
        let coarse = self.encoder.coarse(baselines, &exact.clone().into()).unwrap();
        assert!(coarse == *view.snapshot());
        let mut again = Vec::new();
        let same = self.encoder.encode(baselines, &coarse, &mut again).unwrap();
        assert!(same == view && again == packet, "coarse values stay the same");
        if !self.random.one_in(4) {
            self.views.push(view);
        }
        off
    }
}

#[test]
fn moving_values_are_within_the_precision_and_resting_ones_become_exact() {
    for schema in [schema("moving"), vectors_schema()] {
        let profile = trained(&schema);
        let levels = Level::TABLE.into_iter();
        for (level, profile) in levels
            .flat_map(|level| [(level, Profile::untrained(&schema)), (level, profile.clone())])
        {
            let codec = Codec::new(schema.clone(), level, profile).unwrap();
            for (seed, lag) in [(1, 0), (2, 3)] {
                let mut link = Link::new(codec.clone(), seed);
                // The run is long enough for a drift to show.
                let run = run(&schema, seed, 15, if level.row() < 12 { 60 } else { 400 });
                let off: usize = run.iter().map(|exact| link.send(exact, lag)).sum();
                assert_eq!(off > 0, codec.has_precision());
                assert_eq!(codec.has_precision(), level.relative_numbers());
                // A shift is below 32 and falls with each generation of views. One in four packets
                // is lost, and some views are skipped, so it takes some packets until the shifts
                // are 0.
                for exact in at_rest(&run, 40 * (1 + lag as u32)) {
                    link.send(&exact, lag);
                }
                assert!(
                    link.views.last().unwrap().holds_same(run.last().unwrap()),
                    "{}, lag {lag}",
                    level.row()
                );
            }
        }
    }
}

#[test]
fn rest_ends_refinement_wherever_it_begins() {
    // A time precision of 288 ms at 1 tick per second is just below the limit for three lanes, so
    // each refinement gains the least.
    let side = FloatLimits::until(0.0, 4096.0, 1.0 / 16.0).unwrap();
    let precision = TimePrecision::new(288.0, 1.0).with_max_step(1e6);
    let schema = Schema::new(vec![
        Field::new("position", FieldKind::Floats(vec![side; 3])).with_time_precision(precision),
        Field::new("rotation", FieldKind::Rotation(SmallestThree::new(12).unwrap()))
            .with_time_precision(precision),
    ]);
    let codec = codec(&schema, Level::PACKED);
    let mut encoder = Encoder::new(&codec);
    let mut random = Random::new(4);
    for _ in 0..300 {
        let mut views: Vec<View> = Vec::new();
        for tick in 0..2 {
            let mut view = Snapshot::new(&schema, Tick(tick));
            let lanes: Vec<u32> =
                schema.lanes().iter().map(|lane| random.up_to(lane.max)).collect();
            view.push_lanes(EntityId(1), &lanes).unwrap();
            views.push(view.into());
        }
        let mut exact = Snapshot::new(&schema, Tick(2));
        let lanes: Vec<u32> = schema.lanes().iter().map(|lane| random.up_to(lane.max)).collect();
        exact.push_lanes(EntityId(1), &lanes).unwrap();
        let mut packets = 0;
        while !views[views.len() - 2..].iter().all(|view| view.holds_same(&exact)) {
            exact.tick.0 += 1;
            let newest = views.len() - 1 - random.below(2) as usize;
            let baselines = Baselines::new(views[..=newest].iter().rev().take(2)).unwrap();
            let coarse = encoder.coarse(baselines, &exact.clone().into()).unwrap();
            views.push(coarse.into());
            packets += 1;
            assert!(packets < 100, "{lanes:?}");
        }
    }
}

#[test]
fn parts_of_the_changes_are_coarse_too() {
    let schema = schema("moving");
    for level in Level::TABLE.into_iter().filter(|level| level.row() >= 7) {
        let codec = codec(&schema, level);
        let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
        let run = views(run(&schema, 5, 20, 60));
        let mut parts = 0;
        for frames in run.windows(3).filter(|frames| frames[1].ids() == frames[2].ids()) {
            let baselines = Baselines::new([&frames[1], &frames[0]]).unwrap();
            let coarse = encoder.coarse(baselines, frames[2].snapshot()).unwrap();
            // The indices also include entities that did not change.
            let indices: Vec<u32> =
                (0..coarse.len() as u32).filter(|index| index % 3 == 1).collect();
            let mut packet = Vec::new();
            let sent = encoder
                .write(baselines, &frames[2], Chosen::entities(&indices), &mut packet)
                .unwrap()
                .view();
            let out = decoder.decode(baselines, &packet, coarse.tick).unwrap();
            assert!(out == sent);
            for index in 0..out.len() {
                let from = if index % 3 == 1 { &coarse } else { frames[1].snapshot() };
                assert!(
                    (0..out.lane_count())
                        .all(|lane| out.lane(lane)[index] == from.lane(lane)[index])
                );
            }
            parts += 1;
        }
        assert!(parts > 20);
    }
}

#[test]
fn any_bytes_are_a_snapshot_or_an_error() {
    let schema = schema("moving");
    let run = views(run(&schema, 6, 12, 20));
    let frames = views(frames(&schema, 9, 8, 8));
    for (level, profile) in [
        (Level::PACKED, trained(&schema)),
        (Level::ADAPTIVE, trained(&schema)),
        (Level::TABLE[10], Profile::article(&schema)),
    ] {
        let codec = Codec::new(schema.clone(), level, profile).unwrap();
        let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
        let mut random = Random::new(8);
        for states in run.windows(4).chain(frames.windows(4)) {
            let baselines = Baselines::new([&states[2], &states[1], &states[0]]).unwrap();
            let mut packet = Vec::new();
            let sent = encoder.encode(baselines, &states[3], &mut packet).unwrap();
            for round in 0..100 {
                let bytes = random.damaged(&packet, round);
                if let Ok(view) = decoder.decode(baselines, &bytes, sent.tick) {
                    assert_valid(&schema, &view);
                }
            }
            assert!(
                decoder.decode(baselines, &packet, sent.tick).unwrap() == sent,
                "the decoder's state has changed"
            );
        }
    }
}

#[test]
fn coarser_steps_take_fewer_bits() {
    let exact = schema("moving").with_time_precision(|_| None);
    let coarse = schema("moving");
    for level in [Level::PACKED, Level::ADAPTIVE] {
        let run = run(&exact, 7, 30, 100);
        let bytes = [&exact, &coarse].map(|schema| {
            let codec = Codec::new(schema.clone(), level, trained(schema)).unwrap();
            let mut encoder = Encoder::new(&codec);
            let (mut views, rest) = (views(run[..2].to_vec()), &run[2..]);
            let mut bytes = Vec::new();
            for frame in rest {
                let baselines = Baselines::new(views.iter().rev().take(2)).unwrap();
                views.push(encoder.encode(baselines, frame, &mut bytes).unwrap());
            }
            bytes.len()
        });
        assert!(10 * bytes[1] < 9 * bytes[0], "{}: {bytes:?}", level.row());
    }
}

#[test]
fn impossible_precisions_are_refused() {
    let side = FloatLimits::until(0.0, 64.0, 1.0 / 16.0).unwrap();
    let heading = FloatLimits::until(0.0, 360.0, 0.5).unwrap().wrapping();
    let made = |kind: FieldKind, precision| {
        let fields = vec![
            Field::new("first", FieldKind::Bool),
            Field::new("it", kind).with_time_precision(precision),
        ];
        let schema = Schema::new(fields);
        Codec::new(schema.clone(), Level::TABLE[0], Profile::untrained(&schema)).map(|_| ())
    };
    let refused = Err(SetupError::BadTimePrecision { field: 1 });
    let good = TimePrecision::new(4.8, 60.0);
    let rotation = || FieldKind::Rotation(SmallestThree::new(9).unwrap());
    for kind in [FieldKind::Floats(vec![side; 3]), FieldKind::Floats(vec![side]), rotation()] {
        assert_eq!(made(kind.clone(), good), Ok(()));
        assert_eq!(made(kind.clone(), good.with_max_step(0.001)), Ok(()));
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(made(kind.clone(), TimePrecision::new(bad, 60.0)), refused);
            assert_eq!(made(kind.clone(), TimePrecision::new(2.0, bad)), refused);
            assert_eq!(made(kind.clone(), good.with_max_step(bad)), refused);
        }
        // This precision rounds to 0 ticks.
        assert_eq!(made(kind, TimePrecision::new(1e-300, 1e-300)), refused);
    }
    assert_eq!(made(FieldKind::Floats(vec![side]), TimePrecision::new(8.3, 60.0)), Ok(()));
    assert_eq!(made(FieldKind::Floats(vec![side]), TimePrecision::new(8.4, 60.0)), refused);
    assert_eq!(made(FieldKind::Floats(vec![side; 3]), TimePrecision::new(4.9, 60.0)), refused);
    assert_eq!(made(rotation(), TimePrecision::new(4.9, 60.0)), refused);
    let integer = FieldKind::Integer(IntegerLimits::new(0, 9, 1).unwrap());
    let others =
        [FieldKind::Bool, integer, FieldKind::Choice { max: 3 }, FieldKind::Raw { lanes: 1 }];
    for kind in others.into_iter().chain([FieldKind::Floats(vec![side, heading])]) {
        assert_eq!(made(kind, good), refused);
    }
}

#[test]
fn only_the_codecs_hash_depends_on_the_precision() {
    let plain = schema("cube");
    let with = |time_ms, max_step| {
        let precision = TimePrecision { time_precision_ms: time_ms, ticks_per_s: 60.0, max_step };
        schema("cube").with_time_precision(|field| (field.name == "position").then_some(precision))
    };
    let schemas = [plain.clone(), with(1.0, None), with(2.0, None), with(2.0, Some(0.5))];
    assert!(schemas.iter().all(|schema| schema.hash() == plain.hash()));
    let hashes = |level| schemas.clone().map(|schema| codec(&schema, level).hash());
    for level in [Level::PACKED, Level::ADAPTIVE] {
        let [none, one, two, stepped] = hashes(level);
        assert!(
            none != one
                && one != two
                && two != stepped
                && none != two
                && none != stepped
                && one != stepped
        );
    }
    let in_full = hashes(Level::TABLE[8]);
    assert!(in_full.iter().all(|hash| *hash == in_full[0]), "exact values do not differ");
    assert_eq!(codec(&schemas[0], Level::PACKED).older_views(), 0);
    assert_eq!(codec(&schemas[1], Level::PACKED).older_views(), 1);
    assert_eq!(codec(&schemas[1], Level::ADAPTIVE).older_views(), 2);
}

/// Makes the schema of `spec/vectors/precision.txt`: that of `adaptive.txt` with time precision.
fn vectors_schema() -> Schema {
    bodies_schema().with_time_precision(|field| match &*field.name {
        "position" => Some(TimePrecision::new(2.0, 60.0)),
        "orientation" => Some(TimePrecision::new(4.0, 60.0).with_max_step(0.0625)),
        "turret" => Some(TimePrecision::new(2.0, 60.0)),
        _ => None,
    })
}

/// For each packet of the vectors, the indices of the views that it is coded against.
const PACKETS: [&[usize]; 8] =
    [&[], &[0], &[1, 0], &[2, 1, 0], &[3, 1], &[4, 2, 0], &[5, 4, 3], &[5, 4]];

fn entities(snapshot: &Snapshot) -> String {
    let lanes = |index: usize| {
        (0..snapshot.lane_count()).map(move |lane| snapshot.lane(lane)[index].to_string())
    };
    let line = |(index, id): (usize, &EntityId)| {
        format!("entity {} {}\n", id.0, lanes(index).collect::<Vec<_>>().join(" "))
    };
    snapshot.ids().iter().enumerate().map(line).collect()
}

/// Makes the contents of `spec/vectors/precision.txt`: exact states, the views of these states that
/// both sides hold, and the packets between those views.
fn vectors() -> String {
    let schema = vectors_schema();
    check_stored_schema("precision", &schema);
    let adaptive = profile_of(include_str!("../../../spec/vectors/adaptive.txt"), &schema);
    let learning = profile_of(include_str!("../../../spec/vectors/learning.txt"), &schema);
    let codecs =
        [(Level::PACKED, &adaptive), (Level::ADAPTIVE, &adaptive), (Level::LEARNING, &learning)]
            .map(|(level, profile)| Codec::new(schema.clone(), level, profile.clone()).unwrap());
    let mut lines = String::new();
    for codec in &codecs {
        lines += &format!("codec {} {:016x}\n", codec.level().row(), codec.hash());
    }
    let empty = View::empty(&schema);
    // The views after the last codec's packets, with the state that it learned.
    let mut views: Vec<View> = Vec::new();
    for (exact, known) in run(&schema, 12, 7, 60).into_iter().skip(30).step_by(2).zip(PACKETS) {
        let ticks: Vec<String> = known.iter().map(|view| views[*view].tick.0.to_string()).collect();
        let known: Vec<&View> = known.iter().map(|view| &views[*view]).collect();
        let baselines =
            Baselines::new(if known.is_empty() { vec![&empty] } else { known }).unwrap();
        let view = Encoder::new(&codecs[0]).coarse(baselines, &exact.clone().into()).unwrap();
        lines += &format!(
            "exact {}\n{}view {}\n{}",
            exact.tick.0,
            entities(&exact),
            view.tick.0,
            entities(&view)
        );
        let sent = codecs.each_ref().map(|codec| {
            let mut packet = Vec::new();
            let sent = Encoder::new(codec).encode(baselines, &exact, &mut packet).unwrap();
            assert!(*sent.snapshot() == view);
            let row = codec.level().row();
            lines += &format!(
                "packet {row} {} against {}: {}\n",
                view.tick.0,
                ticks.join(" "),
                hex(&packet)
            );
            let decoded = Decoder::new(codec).decode(baselines, &packet, view.tick).unwrap();
            assert!(decoded == sent);
            sent
        });
        views.extend(sent.into_iter().next_back());
    }
    lines
}

#[test]
fn the_frozen_vectors_are_written() {
    const FROZEN: &str = include_str!("../../../spec/vectors/precision.txt");
    let lines = vectors();
    if std::env::var_os("KINEPACK_WRITE_VECTORS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/vectors/precision.txt");
        std::fs::write(path, lines).unwrap();
        return;
    }
    assert!(lines == FROZEN, "the packets differ from spec/vectors/precision.txt");
}
