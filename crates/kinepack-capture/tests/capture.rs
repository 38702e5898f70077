//! Tests of capture files: recorded states read back, damaged files are read up to the damage, and
//! invalid input is refused.

use std::io::Cursor;

use kinepack::{EntityId, Pack, Schema, Snapshot, Tick};
use kinepack_capture::{
    Capture, CaptureError, RecordError, RecordSummary, Recorder, Stream, StreamEncoding, components,
};

use crate::files::{Ship, Sink, read_all, record_ships, ship};

#[test]
fn states_read_back_as_words_and_quantized() {
    let bytes = record_ships(100);
    let mut capture = Capture::from_reader("run.mcap", Cursor::new(bytes)).unwrap();
    assert!(capture.streams().is_empty());
    let schema = Schema::of::<Ship>();
    for tick in 0..100 {
        let (index, frame) = capture.next_frame().unwrap().unwrap();
        assert_eq!((index, frame.tick()), (0, Tick(tick)));
        let stream = frame.stream();
        assert_eq!((stream.name(), stream.type_name(), stream.rate_hz()), ("ships", "Ship", 60.0));
        assert_eq!((stream.encoding(), stream.schema()), (StreamEncoding::Raw, &schema));
        let ids: Vec<u32> = frame.ids().iter().map(|id| id.0).collect();
        assert_eq!(ids, (0..tick % 7).map(|n| n * n + tick).collect::<Vec<u32>>());
        let mut words = vec![0; Ship::LANES];
        for (at, id) in ids.iter().enumerate() {
            ship(tick, *id).store_raw(&mut words).unwrap();
            assert_eq!(
                frame.columns().iter().map(|column| column[at]).collect::<Vec<u64>>(),
                words
            );
        }
        let (mut quantized, mut own) =
            (Snapshot::new(&schema, Tick(tick)), Snapshot::new(&schema, Tick(tick)));
        let numbers: Vec<_> = frame.components().collect();
        assert_eq!(numbers.iter().map(|(id, _)| id.0).collect::<Vec<_>>(), ids);
        for (id, numbers) in numbers {
            ship(tick, id.0).store_raw(&mut words).unwrap();
            assert!(numbers.iter().copied().eq(components(&schema, &words)));
            assert_eq!(numbers.len(), stream.component_names().len());
        }
        assert_eq!(frame.push_into(&mut quantized).unwrap(), 0);
        ids.iter().for_each(|id| own.push(EntityId(*id), &ship(tick, *id)).unwrap());
        assert!(quantized == own);
    }
    assert!(capture.next_frame().unwrap().is_none() && capture.next_frame().unwrap().is_none());
    assert_eq!((capture.damage().len(), capture.streams().len()), (0, 1));
}

#[test]
fn a_stream_of_states_and_one_of_snapshots_share_a_file() {
    let sink = Sink::default();
    let mut recorder = Recorder::to_writer("two", sink.clone()).unwrap();
    let schema = Schema::of::<Ship>();
    let ships = recorder.stream::<Ship>("ships", 30.0).unwrap();
    let lanes = recorder.stream_of_lanes("lanes", &schema, 59.94).unwrap();
    let snapshots: Vec<Snapshot> = (0..50)
        .map(|tick| {
            let mut snapshot = Snapshot::new(&schema, Tick(10 * tick));
            (0..tick % 9).for_each(|id| snapshot.push(EntityId(id), &ship(tick, id)).unwrap());
            snapshot
        })
        .collect();
    for snapshot in &snapshots {
        recorder.record_snapshot(&lanes, snapshot).unwrap();
        recorder.record(&ships, snapshot.tick, [(EntityId(1), &ship(3, 1))]).unwrap();
    }
    let summary = recorder.finish().unwrap();
    assert_eq!(
        (summary.frames, summary.entities, summary.bytes),
        (100, 50 + 5 * 36 + 10, sink.bytes().len() as u64)
    );

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("two.mcap");
    std::fs::write(&path, sink.bytes()).unwrap();
    for cut in [0, 1, 30] {
        // The file is read with its summary, and without it.
        std::fs::write(&path, &sink.bytes()[..sink.bytes().len() - cut]).unwrap();
        let streams = Capture::streams_of(&path).unwrap();
        assert_eq!(streams.iter().map(Stream::name).collect::<Vec<_>>(), ["ships", "lanes"]);
        assert_eq!(
            (streams[1].is_raw(), streams[1].rate_hz(), streams[1].type_name()),
            (false, 59.94, "lanes")
        );
    }
    let mut capture = Capture::open(&path).unwrap();
    let mut seen = Vec::new();
    while let Some((index, frame)) = capture.next_frame().unwrap() {
        if index == 1 {
            let mut snapshot = Snapshot::new(&schema, frame.tick());
            assert_eq!(frame.push_into(&mut snapshot).unwrap(), 0);
            for ((id, numbers), (same, back)) in
                frame.components().zip(snapshot.iter::<Ship>().unwrap())
            {
                assert_eq!((id, numbers.len()), (same, 9));
                let shown = [numbers[0] as f32, numbers[8] as f32];
                assert_eq!(shown, [back.position[0], f32::from(back.health)]);
            }
            seen.push(snapshot);
        }
    }
    assert!(seen == snapshots);
}

#[test]
fn the_mcap_library_reads_our_files() {
    let bytes = record_ships(20_000);
    let mut ticks = Vec::new();
    for message in mcap::MessageStream::new(&bytes).unwrap() {
        let message = message.unwrap();
        assert_eq!(
            (message.channel.topic.as_str(), message.channel.message_encoding.as_str()),
            ("ships", "kinepack-raw")
        );
        let schema = message.channel.schema.clone().unwrap();
        assert_eq!(
            (schema.name.as_str(), schema.encoding.as_str()),
            ("Ship", "kinepack-schema-json")
        );
        assert!(schema.data.starts_with(b"{\"version\":1,\"rate_hz\":60.0,\"hash\":\""));
        assert_eq!(message.log_time, (f64::from(message.sequence) * 1e9 / 60.0).round() as u64);
        ticks.push(message.sequence);
    }
    assert_eq!(ticks, (0..20_000).collect::<Vec<u32>>());
    let summary = mcap::Summary::read(&bytes).unwrap().unwrap();
    assert_eq!(summary.stats.unwrap().message_count, 20_000);
    assert!(summary.chunk_indexes.len() > 1, "several chunks and their index");
    assert!(
        summary
            .chunk_indexes
            .iter()
            .all(|chunk| chunk.compression == "zstd" && chunk.uncompressed_size < 1 << 21)
    );
}

#[test]
fn values_out_of_range_are_counted_and_clamped_and_nan_is_refused() {
    let sink = Sink::default();
    let mut recorder = Recorder::to_writer("far", sink.clone()).unwrap();
    let ships = recorder.stream::<Ship>("ships", 60.0).unwrap();
    let far = Ship { position: [1e6, 0.0, 0.0], ..ship(1, 1) };
    recorder.record(&ships, Tick(1), [(EntityId(1), &far), (EntityId(2), &ship(1, 2))]).unwrap();
    let nowhere = Ship { position: [f32::NAN, 0.0, 0.0], ..ship(1, 1) };
    recorder.record(&ships, Tick(2), [(EntityId(5), &nowhere)]).unwrap();
    drop(recorder);
    let mut capture = Capture::from_reader("far", Cursor::new(sink.bytes())).unwrap();
    let mut snapshot = Snapshot::new(&Schema::of::<Ship>(), Tick(1));
    let (_, frame) = capture.next_frame().unwrap().unwrap();
    assert_eq!(frame.push_into(&mut snapshot).unwrap(), 1);
    assert_eq!(snapshot.get_at_index::<Ship>(0).unwrap().position[0], 512.0);
    assert!(
        frame.push_into(&mut snapshot).unwrap_err().to_string().contains("entity 1: "),
        "the snapshot already has these entities"
    );
    let other = frame.push_into(&mut Snapshot::new(&Schema::of::<bool>(), Tick(1)));
    assert!(matches!(other, Err(CaptureError::BadState { .. })));
    let (_, frame) = capture.next_frame().unwrap().unwrap();
    let error = frame
        .push_into(&mut Snapshot::new(&Schema::of::<Ship>(), Tick(2)))
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("far: stream \"ships\", tick 2, entity 5: "), "{error}");
}

#[test]
fn the_recorder_refuses_invalid_frames_and_continues() {
    let sink = Sink::default();
    let mut recorder = Recorder::to_writer("errors", sink.clone()).unwrap();
    for rate_hz in [0.0, -1.0, f64::NAN, f64::INFINITY, 2e6] {
        let refusal = recorder.stream::<Ship>("ships", rate_hz).unwrap_err();
        assert!(refusal.to_string().contains("ticks a second"), "{refusal}");
    }
    let ships = recorder.stream::<Ship>("ships", 60.0).unwrap();
    assert!(
        recorder
            .stream::<Ship>("ships", 60.0)
            .unwrap_err()
            .to_string()
            .contains("the name is taken")
    );
    assert!(
        recorder
            .stream::<[[u8; 4]; 1025]>("many", 60.0)
            .unwrap_err()
            .to_string()
            .contains("4100 lanes")
    );
    let state = ship(1, 1);
    recorder.record(&ships, Tick(5), [(EntityId(1), &state)]).unwrap();
    for tick in [0, 5] {
        let refusal = recorder.record(&ships, Tick(tick), [(EntityId(1), &state)]).unwrap_err();
        assert!(matches!(refusal, RecordError::TicksNotIncreasing { last: 5, .. }), "{refusal}");
    }
    for id in [0, 3] {
        let refusal = recorder
            .record(&ships, Tick(6), [(EntityId(3), &state), (EntityId(id), &state)])
            .unwrap_err();
        assert!(matches!(refusal, RecordError::IdsNotIncreasing { tick: 6, .. }), "{refusal}");
    }
    let many = (0..=65_536).map(|id| (EntityId(id), &state));
    let refusal = recorder.record(&ships, Tick(6), many).unwrap_err();
    assert!(matches!(refusal, RecordError::TooManyEntities { most: 65_536, .. }), "{refusal}");

    let mut other = Recorder::to_writer("other", Sink::default()).unwrap();
    let lanes = other.stream_of_lanes("lanes", &Schema::of::<Ship>(), 60.0).unwrap();
    let none: [(EntityId, Ship); 0] = [];
    assert!(other.record(&ships, Tick(0), none).unwrap_err().to_string().contains("lanes"));
    let snapshot = Snapshot::new(&Schema::of::<bool>(), Tick(0));
    assert!(matches!(
        other.record_snapshot(&lanes, &snapshot),
        Err(RecordError::OtherStream { .. })
    ));

    recorder.record(&ships, Tick(6), [(EntityId(1), &state)]).unwrap();
    recorder.finish().unwrap();
    let (ticks, damage) = read_all(&sink.bytes());
    assert_eq!((ticks, damage), (vec![(0, 5, 1), (0, 6, 1)], None));
}

/// Records 3,000 frames, and flushes after every 300. Returns the first error of a call, and the
/// result of `finish`.
fn record_and_flush(sink: &Sink) -> (Option<RecordError>, Result<RecordSummary, RecordError>) {
    let Ok(mut recorder) = Recorder::to_writer("full", sink.clone()) else {
        panic!("the head is in a buffer")
    };
    let mut failed = None;
    if let Ok(ships) = recorder.stream::<Ship>("ships", 60.0) {
        for tick in 0..3000 {
            let states: Vec<(EntityId, Ship)> =
                (0..10).map(|id| (EntityId(id), ship(tick, id))).collect();
            let states = states.iter().map(|(id, state)| (*id, state));
            let result = recorder.record(&ships, Tick(tick), states);
            let flushed = if tick % 300 == 299 { recorder.flush() } else { Ok(()) };
            failed = result.and(flushed).err();
            if failed.is_some() {
                break;
            }
        }
    }
    (failed, recorder.finish())
}

#[test]
fn a_full_disk_is_reported_and_earlier_frames_can_be_read() {
    let sink = Sink::default();
    let (failed, finished) = record_and_flush(&sink);
    assert!(failed.is_none());
    let (whole, mut read_before) = (finished.unwrap().bytes as usize, 0);
    for room in (0..whole).step_by(whole / 37).chain([whole - 1]) {
        let sink = Sink::with_room(room);
        let (failed, finished) = record_and_flush(&sink);
        let error = finished.unwrap_err().to_string();
        assert!(error.contains("the disk is full") && error.starts_with("full: "), "{error}");
        assert!(failed.is_none_or(|failed| failed.to_string() == error));
        assert!(sink.bytes().len() <= room);
        if sink.bytes().len() >= 8 {
            let (frames, damage) = read_all(&sink.bytes());
            assert!(damage.is_some());
            assert!(
                frames.len() >= read_before
                    && frames.iter().map(|frame| frame.1).eq(0..frames.len() as u32)
            );
            read_before = frames.len();
        }
    }
    assert!(read_before >= 2700);
}

#[test]
fn a_crashed_program_leaves_the_flushed_frames() {
    let sink = Sink::default();
    let mut recorder = Recorder::to_writer("died", sink.clone()).unwrap();
    let ships = recorder.stream::<Ship>("ships", 60.0).unwrap();
    recorder.record(&ships, Tick(1), [(EntityId(1), &ship(1, 1))]).unwrap();
    recorder.flush().unwrap();
    recorder.record(&ships, Tick(2), [(EntityId(1), &ship(1, 1))]).unwrap();
    let (frames, damage) = read_all(&sink.bytes());
    assert_eq!(frames, [(0, 1, 1)]);
    assert!(damage.unwrap().contains("the file ends here"));
    // Another frame is written after a second, without a flush.
    std::thread::sleep(std::time::Duration::from_millis(1600));
    assert_eq!(read_all(&sink.bytes()).0, [(0, 1, 1), (0, 2, 1)]);
}

#[test]
fn waits_for_a_slow_disk_are_counted() {
    let sink = Sink::slow();
    let mut recorder = Recorder::to_writer("slow", sink.clone()).unwrap();
    let ships = recorder.stream::<Ship>("ships", 60.0).unwrap();
    for tick in 0..200 {
        let states: Vec<(EntityId, Ship)> =
            (0..1000).map(|id| (EntityId(id), ship(tick, id))).collect();
        recorder.record(&ships, Tick(tick), states.iter().map(|(id, state)| (*id, state))).unwrap();
    }
    let summary = recorder.finish().unwrap();
    assert!(summary.waits > 0 && summary.frames == 200, "{summary:?}");
    assert_eq!(read_all(&sink.bytes()).0.len(), 200);
}

#[test]
fn recording_allocates_nothing_once_it_runs() {
    let mut recorder = Recorder::to_writer("calm", Sink::default()).unwrap();
    let ships = recorder.stream::<Ship>("ships", 60.0).unwrap();
    let states: Vec<(EntityId, Ship)> = (0..100).map(|id| (EntityId(id), ship(1, id))).collect();
    let mut record = |ticks: std::ops::Range<u32>| {
        for tick in ticks {
            recorder
                .record(&ships, Tick(tick), states.iter().map(|(id, state)| (*id, state)))
                .unwrap();
            if tick % 20 == 0 {
                recorder.flush().unwrap();
            }
        }
    };
    record(0..200);
    let counted = allocation_counter::measure(|| record(200..1000));
    assert_eq!(counted.count_total, 0, "allocations on the recording thread");
}

#[test]
fn a_panicking_writer_is_an_error_and_the_recorder_does_not_hang() {
    struct Broken(u32);

    impl std::io::Write for Broken {
        fn write(&mut self, buffer: &[u8]) -> std::io::Result<usize> {
            self.0 += 1;
            assert!(self.0 != 2, "a deliberate panic of the writer");
            Ok(buffer.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let mut recorder = Recorder::to_writer("broken", Broken(0)).unwrap();
    let ships = recorder.stream::<Ship>("ships", 60.0).unwrap();
    let error = (0..100_000).find_map(|tick| {
        let flushed = if tick % 100 == 99 { recorder.flush() } else { Ok(()) };
        flushed
            .and_then(|()| recorder.record(&ships, Tick(tick), [(EntityId(1), &ship(tick, 1))]))
            .err()
    });
    assert!(error.unwrap().to_string().contains("ended by a panic"));
    assert!(recorder.finish().unwrap_err().to_string().contains("ended by a panic"));
}
