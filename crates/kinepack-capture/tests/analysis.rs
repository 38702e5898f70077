//! Tests the analyses of streams with known answers.

use kinepack::quantize::FloatLimits;
use kinepack::schema::{Field, FieldKind};
use kinepack::{EntityId, Pack, Profile, Schema, Tick};
use kinepack_anim::figure::{Figure, FigureCurve, FigureOptions, FigurePose};
use kinepack_anim::{Joint as AnimJoint, Skeleton, Transform};
use kinepack_capture::Columns;
use kinepack_capture::analysis::{
    Analysis, AnalysisError, AnalysisOptions, Analyzer, FieldAnalysis, any_element,
};

#[derive(Clone, Copy, Debug, Pack)]
struct Drone {
    #[pack(range = -500.0..500.0, precision = 0.001)]
    position: [f64; 3],
    #[pack(range = -32.0..32.0, precision = 0.01, velocity = position)]
    velocity: [f64; 3],
    #[pack(rotation, bits = 10)]
    orientation: [f32; 4],
    #[pack(range = 0..=100)]
    battery: i32,
    lights: bool,
}

impl Drone {
    fn at(x: f64) -> Self {
        Self {
            position: [x, 0.0, 10.0],
            velocity: [0.0; 3],
            orientation: [0.0, 0.0, 0.0, 1.0],
            battery: 50,
            lights: false,
        }
    }
}

fn options(schema: &Schema) -> AnalysisOptions {
    AnalysisOptions {
        lag: 2,
        lags: vec![1, 2, 4],
        sample_stride: 3,
        ..AnalysisOptions::new(Profile::untrained(schema), 60)
    }
}

/// Analyzes frames, each a list of entities with their ids.
fn analyze<T: Pack>(
    frames: impl IntoIterator<Item = Vec<(u32, T)>>,
) -> Result<Analysis, AnalysisError> {
    let schema = Schema::of::<T>();
    let mut analyzer = Analyzer::new(&schema, 30.0, options(&schema))?;
    for (tick, drones) in (0..).zip(frames) {
        let ids: Vec<EntityId> = drones.iter().map(|(id, _)| EntityId(*id)).collect();
        let mut columns = vec![Vec::new(); T::LANES];
        for (_, drone) in &drones {
            let mut raw = vec![0; T::LANES];
            drone.store_raw(&mut raw).expect("raw words");
            columns.iter_mut().zip(raw).for_each(|(column, word)| column.push(word));
        }
        analyzer.add(Tick(tick), &ids, Columns::Raw(&columns))?;
    }
    analyzer.finish()
}

fn field<'a>(analysis: &'a Analysis, name: &str) -> &'a FieldAnalysis {
    analysis.fields.iter().find(|field| field.name == name).expect("a field of the schema")
}

/// Returns a pseudo-random number.
fn noise(seed: u64) -> u64 {
    let mixed = (seed ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ mixed >> 29).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33
}

#[test]
fn values_ranges_and_precision_are_those_of_the_data() {
    let drone = |tick: u64| Drone {
        // The values are centimetres, but the steps of the schema are millimetres.
        position: [0.01 * (noise(tick) % 2000) as f64, -3.25, 0.0],
        velocity: [40.0, 0.5, 0.0],
        battery: if tick == 7 { 101 } else { 20 + (tick % 3) as i32 },
        orientation: if tick == 9 { [0.0; 4] } else { [0.0, 0.0, 0.0, 1.0] },
        ..Drone::at(0.0)
    };
    let analysis = analyze((0..60).map(|tick| vec![(5, drone(tick))])).unwrap();
    let position = field(&analysis, "position");
    let [x, y, z] = &position.components[..] else { panic!("three components") };
    assert_eq!(
        (x.name.as_str(), x.carried_step, y.carried_step, z.carried_step),
        ("x", Some(0.01), Some(0.25), None)
    );
    assert_eq!(
        (y.seen, x.limits, x.step),
        (Some([-3.25, -3.25]), Some([-500.0, 499.999]), Some(0.001))
    );
    assert_eq!((y.unchanged_share, y.entropy_bits_per_frame), (1.0, 0.0));
    assert_eq!(
        (field(&analysis, "velocity").out_of_range, field(&analysis, "battery").out_of_range),
        (60, 1)
    );
    assert_eq!(field(&analysis, "battery").components[0].seen, Some([20.0, 101.0]));
    assert_eq!(field(&analysis, "orientation").not_a_number, 1);
    let changes: Vec<(&str, &str)> = analysis
        .advice
        .iter()
        .filter_map(|advice| Some((advice.field.as_deref()?, advice.change.as_str())))
        .collect();
    assert!(
        changes.contains(&("velocity", "widen the range: 60 values were outside of it")),
        "{changes:?}"
    );
    assert!(
        changes.contains(&("orientation", "find out why 1 values are not numbers")),
        "{changes:?}"
    );
    // The step is the finest known one of the three axes; y has none, because it never changes.
    assert!(analysis.advice.iter().all(|advice| advice.saves_kbps >= 0.0));
}

#[test]
fn entropies_are_those_of_the_differences() {
    // In every second frame, each drone moves right or left by a millimetre, or stays.
    let drones = |tick: u64| {
        (0..50).map(move |id| {
            let steps: i64 = (0..=tick).map(|tick| noise(1000 * id + tick) as i64 % 2).sum();
            (id as u32, Drone::at(0.001 * steps as f64))
        })
    };
    let analysis = analyze((0..60).map(|tick| drones(tick).collect())).unwrap();
    let x = &field(&analysis, "position").components[0];
    // A drone moves 0, 1 or 2 steps in two frames, which takes 1.5 bits.
    assert!((x.entropy_bits_per_frame / 50.0 - 1.5).abs() < 0.02, "{}", x.entropy_bits_per_frame);
    assert!((x.entropy_given_previous_bits_per_frame / 50.0 - 1.5).abs() < 0.03);
    assert!((x.unchanged_share - 0.25).abs() < 0.02);
    assert_eq!((x.difference_p50, x.difference_p99), (1, 2));
    assert_eq!(analysis.entities, [50.0, 50.0]);
    assert!((analysis.changed_per_frame / 50.0 - 0.75).abs() < 0.02);
}

#[test]
fn differences_known_from_the_previous_ones_are_free() {
    // A moving drone keeps its speed.
    let drone = |id: u64, tick: u64| Drone::at(0.001 * ((id % 2) * 4 * tick) as f64);
    let analysis =
        analyze((0..60).map(|tick| (0..40).map(|id| (id as u32, drone(id, tick))).collect()))
            .unwrap();
    let x = &field(&analysis, "position").components[0];
    assert!((x.entropy_bits_per_frame / 40.0 - 1.0).abs() < 1e-9);
    assert_eq!(x.entropy_given_previous_bits_per_frame, 0.0);
}

#[test]
fn fields_that_change_together_and_costly_entities_are_reported() {
    let drone = |id: u64, tick: u64| {
        let is_busy = id == 3;
        let seed = if is_busy { noise(tick) } else { 0 };
        Drone {
            battery: (seed % 90) as i32,
            velocity: [0.01 * (seed % 3000) as f64, 0.0, 0.0],
            ..Drone::at(0.001 * (seed % 400_000) as f64)
        }
    };
    let analysis =
        analyze((0..60).map(|tick| (0..10).map(|id| (id as u32, drone(id, tick))).collect()))
            .unwrap();
    let most = &analysis.together[0];
    assert!(most.both_share > 0.95 && most.fields == ["position", "velocity"], "{most:?}");
    assert_eq!(analysis.entities_by_cost[0].id, 3);
    assert!(analysis.entities_by_cost[0].share > 0.99);
    let change = |field: &str, change: &str| {
        let found = analysis
            .advice
            .iter()
            .find(|advice| advice.field.as_deref() == Some(field) && advice.change == change);
        found
            .map(|advice| advice.saves_kbps)
            .unwrap_or_else(|| panic!("{field}: {change} in {:?}", analysis.advice))
    };
    assert!(change("velocity", "leave it out") > 0.2);
    assert!(change("position", "precision = 0.002 instead of 0.001") > 0.0);
}

#[derive(Pack)]
struct Joint {
    #[pack(rotation, bits = 12)]
    rotation: [f32; 4],
}

/// A struct as a new user might write it.
#[derive(Pack)]
struct Beginner {
    battery: f32,
    #[pack(range = 0.0..360.0, bits = 16, wrap)]
    yaw: f32,
    joints: [Joint; 3],
}

#[test]
fn bare_floats_and_array_elements_get_advice() {
    let thing = |id: u64, tick: u64| {
        let turn = |seed: u64| (noise(seed + 97 * tick + id) % 1000) as f32 * 0.001;
        Beginner {
            battery: 0.5 + 0.25 * turn(1),
            yaw: 359.0 * turn(2),
            joints: [3, 4, 5].map(|seed| Joint { rotation: [turn(seed), 0.1, 0.2, 1.0] }),
        }
    };
    let analysis =
        analyze((0..60).map(|tick| (0..10).map(|id| (id as u32, thing(id, tick))).collect()))
            .unwrap();
    let changes: Vec<(&str, &str)> = analysis
        .advice
        .iter()
        .filter_map(|advice| Some((advice.field.as_deref()?, advice.change.as_str())))
        .collect();
    for (field, change) in [
        ("battery", "range = 0.4"),
        ("yaw", "bits = 15 instead of 16"),
        ("joints[*].rotation", "bits = 11 instead of 12"),
    ] {
        let found = changes
            .iter()
            .filter(|(other, advised)| *other == field && advised.starts_with(change));
        assert_eq!(found.count(), 1, "{field}: {change} in {changes:?}");
    }
    assert_eq!(any_element("a[3].b[12].c"), "a[*].b[*].c");
    assert_eq!((any_element("plain"), any_element("a]b[")), ("plain".to_owned(), "a]b".to_owned()));
}

#[test]
fn fields_of_figures_get_no_advice() {
    let hips = AnimJoint { name: "hips".into(), parent: None, bind: Transform::IDENTITY };
    let curve = FigureCurve { name: "smile".into(), min: 0.0, max: 1.0, precision: 0.01 };
    let of_body = FigureOptions { curves: vec![curve], ..FigureOptions::default() };
    let mut body = Figure::new(&Skeleton::new(vec![hips]).unwrap(), &of_body).unwrap();
    // Fields of the same names in another kind, which has no figure.
    let limits = FloatLimits::new(-100.0, 100.0, 0.001).unwrap();
    let floats = |name: &str| Field::new(name, FieldKind::Floats(vec![limits; 3]));
    let names = ["joints[0].translation", "joints[0].rotation", "curves[0]"];
    let schema = Schema::builder()
        .kind_of_fields("body", body.fields())
        .kind_of_fields("crane", names.map(floats).to_vec())
        .build()
        .unwrap();
    let mut analyzer = Analyzer::new(&schema, 30.0, options(&schema)).unwrap();
    let crane = Schema::new(schema.fields()[schema.kinds()[1].fields()].to_vec());
    let columns = |lanes: &[u32]| -> Vec<Vec<u64>> {
        lanes.iter().map(|lane| vec![u64::from(*lane)]).collect()
    };
    for tick in 0..60 {
        let random = |seed: u64| (noise(97 * tick + seed) % 1000) as f32 * 0.001;
        let (sin, cos) = random(1).sin_cos();
        let pose = [Transform {
            translation: [random(2), random(3), random(4)],
            rotation: [0.0, sin, 0.0, cos],
            scale: [1.0; 3],
        }];
        let curves = [random(5)];
        let mut lanes = vec![0; body.lane_count()];
        body.quantize(&FigurePose { curves: &curves, ..FigurePose::new(&pose) }, &mut lanes)
            .unwrap();
        let mut all = columns(&lanes);
        let other: Vec<u32> = (0..crane.lanes().len() as u64)
            .map(|lane| 1000 + (1000.0 * random(lane)) as u32)
            .collect();
        all.extend(columns(&other));
        let ids = [&[EntityId(1)][..], &[EntityId(2)]];
        analyzer.add_kinds(Tick(tick as u32), &ids, Columns::Lanes(&all)).unwrap();
    }
    let analysis = analyzer.finish().unwrap();
    let fields: Vec<&str> =
        analysis.advice.iter().filter_map(|advice| advice.field.as_deref()).collect();
    for name in names {
        assert!(fields.contains(&&*format!("crane.{name}")), "{name}: {fields:?}");
    }
    assert!(fields.iter().all(|field| field.starts_with("crane.")), "{fields:?}");
    assert!(analysis.fields.iter().any(|field| field.name.starts_with("body.joints[")));
}

#[derive(Clone, Copy, Pack)]
#[pack(ticks_per_s = 30.0)]
struct Ball {
    #[pack(range = -100.0..=100.0, precision = 0.001, time_precision_ms = 4)]
    position: [f64; 3],
}

#[derive(Clone, Copy, Pack)]
struct ExactBall {
    #[pack(range = -100.0..=100.0, precision = 0.001)]
    position: [f64; 3],
}

#[test]
fn coarse_values_are_coded_as_receivers_have_them() {
    let position =
        |id: u32, tick: u32| [f64::from(tick) * f64::from(id + 7) * 0.0613, f64::from(id), 0.0];
    let analyses =
        [
            analyze((0..60).map(|tick| {
                (0..10).map(|id| (id, Ball { position: position(id, tick) })).collect()
            })),
            analyze((0..60).map(|tick| {
                (0..10).map(|id| (id, ExactBall { position: position(id, tick) })).collect()
            })),
        ];
    let [coarse, exact] = analyses.map(|analysis| {
        let analysis = analysis.unwrap();
        let of = |name: &str| {
            analysis.levels.iter().find(|level| level.level == name).map(|level| level.kbps)
        };
        ["relative-indices", "packed", "adaptive"]
            .map(|name| of(name).unwrap_or_else(|| panic!("{:?}", analysis.levels)))
    });
    // Levels below 10 ignore the time precision.
    assert_eq!(coarse[0], exact[0]);
    assert!(coarse[1] < 0.9 * exact[1] && coarse[2] < exact[2], "{coarse:?} {exact:?}");
}

#[test]
fn levels_and_lags_match_an_encoder() {
    let drone = |id: u64, tick: u64| Drone::at(0.001 * (noise(id) % 50 * tick) as f64);
    let analysis =
        analyze((0..60).map(|tick| (0..40).map(|id| (id as u32, drone(id, tick))).collect()))
            .unwrap();
    let names: Vec<&str> = analysis.levels.iter().map(|level| level.level.as_str()).collect();
    assert_eq!(
        (names[0], names[names.len() - 3..].to_vec()),
        ("position", vec!["packed", "adaptive", "learning"])
    );
    for (index, level) in analysis.levels.iter().enumerate() {
        let fields: f64 =
            analysis.fields.iter().map(|field| field.level_bits_per_frame[index]).sum();
        let rest = 8.0 * level.bytes_per_frame - fields - level.sets_bits_per_frame;
        assert!(
            (-1.0..9.0).contains(&rest),
            "{}: {rest} bits belong to no field or set",
            level.level
        );
        for field in &analysis.fields {
            let of_lanes: f64 =
                field.components.iter().map(|lane| lane.level_bits_per_frame[index]).sum();
            let whole = field.level_bits_per_frame[index];
            assert!(
                of_lanes <= whole + 4.0 && (whole < 100.0 || of_lanes > 0.5 * whole),
                "{}, {}",
                field.name,
                level.level
            );
        }
        assert!((level.kbps - level.bytes_per_frame * 8.0 * 30.0 / 1000.0).abs() < 1e-9);
    }
    assert_eq!(analysis.lags.iter().map(|cost| cost.lag).collect::<Vec<_>>(), [1, 2, 4]);
    assert!(analysis.lags.is_sorted_by(|a, b| a.packed_kbps <= b.packed_kbps));
}

#[test]
fn added_and_removed_entities_and_empty_or_short_streams_are_fine() {
    let frame = |tick: u32| {
        (0..tick % 5).map(|id| (7 * id + tick % 3, Drone::at(f64::from(tick)))).collect()
    };
    let analysis = analyze((0..60).map(frame)).unwrap();
    assert_eq!((analysis.frames, analysis.entities[1]), (60, 4.0));
    for frames in 0..3 {
        let analysis = analyze((0..frames).map(frame)).unwrap();
        assert_eq!(analysis.frames, u64::from(frames));
        assert!(
            analysis.lags.len() <= 1
                && analysis.advice.iter().all(|advice| advice.saves_kbps == 0.0)
        );
    }
    assert!(analyze::<Drone>((0..20).map(|_| Vec::new())).is_ok());
}

#[test]
fn lanes_give_the_same_analysis_as_raw_words() {
    let schema = Schema::of::<Drone>();
    let mut analyzer = Analyzer::new(&schema, 30.0, options(&schema)).unwrap();
    for tick in 0..20 {
        let mut lanes = [0; Drone::LANES];
        Drone::at(f64::from(tick) * 0.125).quantize(&mut lanes).unwrap();
        let columns: Vec<Vec<u64>> = lanes.iter().map(|lane| vec![u64::from(*lane)]).collect();
        analyzer.add(Tick(tick), &[EntityId(0)], Columns::Lanes(&columns)).unwrap();
    }
    let analysis = analyzer.finish().unwrap();
    let x = &field(&analysis, "position").components[0];
    assert_eq!((x.seen, x.carried_step, x.difference_p50), (Some([0.0, 2.375]), None, 250));
}

#[test]
fn frames_that_do_not_fit_are_refused() {
    let schema = Schema::of::<Drone>();
    let mut analyzer = Analyzer::new(&schema, 30.0, options(&schema)).unwrap();
    let few = vec![vec![0]; 3];
    let refused = analyzer.add(Tick(4), &[EntityId(0)], Columns::Raw(&few));
    assert!(matches!(refused, Err(AnalysisError::Frame { tick: 4, .. })), "{refused:?}");
    let columns = vec![vec![0, 0]; Drone::LANES];
    assert!(analyzer.add(Tick(5), &[EntityId(2), EntityId(1)], Columns::Raw(&columns)).is_err());
    let high = vec![vec![u64::from(u32::MAX)]; Drone::LANES];
    assert!(analyzer.add(Tick(6), &[EntityId(0)], Columns::Lanes(&high)).is_err());
    let other = Profile::untrained(&Schema::of::<Joint>());
    assert!(matches!(
        Analyzer::new(&schema, 30.0, AnalysisOptions::new(other, 1)),
        Err(AnalysisError::Setup(_))
    ));
}

#[test]
fn values_far_outside_of_their_range_are_analyzed() {
    for far in [1e12, 1e15, f64::from(f32::MAX), -1e308] {
        let analysis = analyze((0..20).map(|_| vec![(1, Drone::at(far))])).unwrap();
        assert!(analysis.compared > 0, "{far}");
    }
}
