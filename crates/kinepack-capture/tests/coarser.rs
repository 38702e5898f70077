//! Tests of streams whose fields are coarser in some entities.

use std::io::Cursor;

use kinepack::{EntityId, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_capture::analysis::{AnalysisOptions, Analyzer};
use kinepack_capture::schema_document::{self, SchemaError};
use kinepack_capture::{Capture, Columns, Recorder};

use crate::files::Sink;

#[derive(Clone, Debug, PartialEq, Pack)]
struct Buoy {
    #[pack(range = [-512.0..512.0, -512.0..512.0], precision = 0.001, coarser = 6)]
    place: [f64; 2],
    #[pack(rotation, bits = 12, coarser = 4)]
    turn: [f32; 4],
    #[pack(max = 9)]
    light: u8,
}

fn buoy(tick: u32, id: u32) -> Buoy {
    // Waves that no profile predicts.
    let wave = f64::from((tick * 7919 + id * 104_729) % 1009) / 50.3;
    Buoy {
        place: [wave, -wave * 0.7],
        turn: [0.1, wave as f32 / 9.0, 0.2, 1.0],
        light: (tick / 5 % 10) as u8,
    }
}

fn world(tick: u32) -> Snapshot {
    let mut world = Snapshot::new(&Schema::of::<Buoy>(), Tick(tick));
    (0..20).try_for_each(|id| world.push(EntityId(id), &buoy(tick, id))).unwrap();
    world.coarsen(3, |index| (index as u32 + tick / 4) % 2 == 1);
    world
}

#[test]
fn states_read_back_before_and_after_quantization() {
    let (schema, sink) = (Schema::of::<Buoy>(), Sink::default());
    let mut recorder = Recorder::to_writer("coarser", sink.clone()).unwrap();
    let raw = recorder.stream::<Buoy>("raw", 60.0).unwrap();
    let lanes = recorder.stream_of_lanes("lanes", &schema, 60.0).unwrap();
    for tick in 0..20 {
        let buoys: Vec<Buoy> = (0..20).map(|id| buoy(tick, id)).collect();
        recorder.record(&raw, Tick(tick), (0..20).map(EntityId).zip(&buoys)).unwrap();
        recorder.record_snapshot(&lanes, &world(tick)).unwrap();
    }
    recorder.finish().unwrap();
    let mut capture = Capture::from_reader("coarser", Cursor::new(sink.bytes())).unwrap();
    for tick in 0..20 {
        let mut fine = world(tick);
        fine.clear(Tick(tick));
        (0..20).try_for_each(|id| fine.push(EntityId(id), &buoy(tick, id))).unwrap();
        for expected in [fine, world(tick)] {
            let (_, frame) = capture.next_frame().unwrap().unwrap();
            let mut read = Snapshot::new(&schema, Tick(tick));
            assert_eq!(frame.push_into(&mut read).unwrap(), 0);
            assert_eq!(read, expected);
        }
    }
    assert!(capture.next_frame().unwrap().is_none());
    assert!(capture.streams().iter().all(|stream| stream.schema().fields() == schema.fields()));
}

#[test]
fn documents_hold_the_coarseness() {
    let schema = Schema::of::<Buoy>();
    let json = String::from_utf8(schema_document::to_json(&schema, 60.0).unwrap()).unwrap();
    let part = r#""coarser":{"coarseness":"coarser~","most_bits":6}"#;
    let read = |json: &str| schema_document::from_json(json.as_bytes());
    assert_eq!(read(&json).unwrap().0.fields(), schema.fields());
    assert_eq!(json.matches("\"coarser\":").count(), 2);
    for (other, is_field) in [
        (r#""coarser":{"coarseness":"coarser~","most_bits":0}"#, true),
        (r#""coarser":{"coarseness":"coarser~","most_bits":256}"#, true),
        (r#""coarser":{"coarseness":"light","most_bits":6}"#, true),
        (r#""coarser":{"coarseness":"coarser~"}"#, true),
        (r#""coarser":{"coarseness":"coarser~","most_bits":5}"#, false),
        (r#""spawn":false"#, false),
    ] {
        assert!(json.contains(part));
        match read(&json.replacen(part, other, 1)) {
            Err(SchemaError::Field { name, .. }) if is_field => assert_eq!(name, "place"),
            Err(SchemaError::OtherHash { .. }) if !is_field => {}
            result => panic!("{other}: {result:?}"),
        }
    }
}

/// The changes that are tried include coarser steps of fields that are coarser already, and a time
/// precision, which such a field cannot have.
#[test]
fn advice_is_given_for_fields_that_may_be_coarser() {
    let schema = Schema::of::<Buoy>();
    let mut analyzers = [(); 2].map(|()| {
        let options = AnalysisOptions {
            lag: 2,
            sample_stride: 2,
            ..AnalysisOptions::new(Profile::untrained(&schema), 60)
        };
        Analyzer::new(&schema, 30.0, options).unwrap()
    });
    let ids: Vec<EntityId> = (0..20).map(EntityId).collect();
    for tick in 0..60 {
        let world = world(tick);
        let lanes: Vec<Vec<u64>> = (0..Buoy::LANES)
            .map(|lane| world.lane(lane).iter().map(|value| u64::from(*value)).collect())
            .collect();
        let mut columns = vec![Vec::new(); Buoy::LANES];
        for id in 0..20 {
            let mut raw = vec![0; Buoy::LANES];
            buoy(tick, id).store_raw(&mut raw).unwrap();
            columns.iter_mut().zip(raw).for_each(|(column, word)| column.push(word));
        }
        analyzers[0].add(Tick(tick), &ids, Columns::Raw(&columns)).unwrap();
        analyzers[1].add(Tick(tick), &ids, Columns::Lanes(&lanes)).unwrap();
    }
    for analyzer in analyzers {
        let analysis = analyzer.finish().unwrap();
        let names: Vec<&str> = analysis.fields.iter().map(|field| &*field.name).collect();
        assert_eq!(names, ["coarser~", "place", "turn", "light"]);
        let advice = |field: &str| {
            let of_field =
                analysis.advice.iter().filter(|advice| advice.field.as_deref() == Some(field));
            of_field.map(|advice| advice.change.clone()).collect::<Vec<String>>()
        };
        assert_eq!(advice("coarser~"), [""; 0]);
        let place = advice("place");
        assert!(place.iter().any(|change| change.starts_with("precision = ")), "{place:?}");
        assert!(place.iter().all(|change| !change.starts_with("time_precision")), "{place:?}");
    }
}
