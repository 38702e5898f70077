//! Tests of small captures with huge contents: the number of their values and the memory of their
//! analysis are limited.

use std::io::Cursor;

use allocation_counter::measure;
use kinepack::quantize::FloatLimits;
use kinepack::schema::{Field, FieldKind};
use kinepack::{EntityId, Profile, Schema, Tick};
use kinepack_capture::analysis::{Analysis, AnalysisError, AnalysisOptions, Analyzer};
use kinepack_capture::{Capture, CaptureError, CaptureLimits, Columns};

use crate::driver;

/// Makes a frame with constant columns, in which each entity takes only the two bytes of its id.
fn constant_frame(entities: u16) -> Vec<u8> {
    // The lanes are a height, a rotation, an integer of two lanes, a flag, and two bytes.
    const LANES: usize = 10;
    let mut frame = u32::from(entities).to_le_bytes().to_vec();
    frame.push(2);
    frame.extend((0..entities).flat_map(u16::to_le_bytes));
    frame.extend([0; 9].repeat(LANES));
    frame
}

/// Makes a capture whose frames are in one chunk of zstd.
fn packed(frames: &[Vec<u8>]) -> Vec<u8> {
    let messages: Vec<&[u8]> = frames.iter().map(Vec::as_slice).collect();
    let json = driver::schema_json();
    let whole = driver::file("kinepack-lanes", json.as_bytes(), &messages);
    let records = &whole[mcap::MAGIC.len()..];
    let data = zstd::stream::encode_all(records, 3).unwrap();
    let mut chunk = vec![0; 16];
    chunk.extend((records.len() as u64).to_le_bytes());
    chunk.extend([0; 4]);
    chunk.extend(4_u32.to_le_bytes());
    chunk.extend(b"zstd");
    chunk.extend((data.len() as u64).to_le_bytes());
    chunk.extend(data);
    [mcap::MAGIC, &[6], &(chunk.len() as u64).to_le_bytes(), &chunk].concat()
}

/// Returns the number of readable frames, and the error after them.
fn read(bytes: &[u8], limits: CaptureLimits) -> (usize, Option<CaptureError>) {
    let mut capture =
        Capture::from_reader("a.mcap", Cursor::new(bytes.to_vec())).unwrap().with_limits(limits);
    let mut frames = 0;
    loop {
        match capture.next_frame() {
            Ok(Some(_)) => frames += 1,
            Ok(None) => return (frames, None),
            Err(error) => {
                assert!(capture.next_frame().unwrap().is_none(), "no frame follows an error");
                return (frames, Some(error));
            }
        }
    }
}

#[test]
fn frames_that_are_refused_count_too() {
    let frames = vec![[constant_frame(u16::MAX), vec![0]].concat(); 300];
    let (frames, error) = read(&packed(&frames), CaptureLimits::default());
    assert!(frames == 0 && matches!(error, Some(CaptureError::TooManyValues { .. })), "{error:?}");
}

#[test]
fn a_capture_holds_no_more_values_than_its_bytes_allow() {
    let frames = vec![constant_frame(u16::MAX); 140];
    let file = packed(&frames);
    assert!(file.len() < 200_000, "{}", file.len());
    // A frame counts as 65,536 · 11 + 256 values.
    let a_frame = 721_152;
    let limits = CaptureLimits::default();
    let fits = limits.most_values(file.len() as u64) / a_frame;
    let (frames, error) = read(&file, limits);
    assert!(frames as u64 == fits && fits < 140, "{frames}");
    assert!(matches!(error, Some(CaptureError::TooManyValues { .. })), "{error:?}");
    let exact = |min_values| CaptureLimits { min_values, values_per_byte: 0 };
    assert!(matches!(read(&file, exact(140 * a_frame)), (140, None)));
    let (frames, error) = read(&file, exact(140 * a_frame - 1));
    assert_eq!(frames, 139);
    let error = error.unwrap();
    assert!(
        matches!(
            error,
            CaptureError::TooManyValues { values: 100_961_280, limit: 100_961_279, .. }
        ),
        "{error}"
    );
    // If the limit depends on bytes, the chunk counts as a whole.
    let per_byte = 10 * a_frame / file.len() as u64;
    let (frames, error) = read(&file, CaptureLimits { min_values: 0, values_per_byte: per_byte });
    assert!((8..=10).contains(&frames) && error.is_some(), "{frames}");
}

#[test]
fn frames_without_entities_count() {
    let file = packed(&vec![constant_frame(0); 1000]);
    let limits = CaptureLimits { min_values: 1000 * (11 + 256) - 1, values_per_byte: 0 };
    let (frames, error) = read(&file, limits);
    assert_eq!(frames, 999);
    assert!(matches!(error, Some(CaptureError::TooManyValues { .. })));
}

#[test]
fn streams_are_found_within_the_same_limit() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.mcap");
    std::fs::write(&path, packed(&vec![constant_frame(9); 100])).unwrap();
    assert_eq!(Capture::streams_of(&path).unwrap().len(), 1);
    let none = CaptureLimits { min_values: 1000, values_per_byte: 0 };
    let error = Capture::streams_with_limits(&path, none).unwrap_err();
    assert!(matches!(error, CaptureError::TooManyValues { limit: 1000, .. }), "{error}");
}

#[test]
fn unpacking_a_chunk_takes_at_most_half_of_its_size_in_addition() {
    // The frames take 24 MB in all.
    let frames = vec![constant_frame(u16::MAX); 180];
    let file = packed(&frames);
    let unpacked: usize = frames.iter().map(Vec::len).sum();
    drop(frames);
    let measured = measure(|| {
        let mut capture = Capture::from_reader("a.mcap", Cursor::new(file)).unwrap();
        assert!(capture.next_frame().unwrap().is_some());
    });
    // The limit covers the chunk and the smaller buffer from which the chunk grew, a frame in
    // memory, and the file in its reader.
    let most = unpacked + unpacked / 2 + 10 * 8 * 2 * 65_536 + (4 << 20);
    assert!(measured.bytes_max < most as u64, "{} of {most}", measured.bytes_max);
}

fn schema(lanes: usize) -> Schema {
    let axis = FloatLimits::new(0.0, 1e6, 1.0).unwrap();
    Schema::new(
        (0..lanes)
            .map(|lane| Field::new(format!("f{lane}"), FieldKind::Floats(vec![axis])))
            .collect(),
    )
}

/// Analyzes frames of numbers, which `value` returns for each frame, lane and entity.
fn analyze(
    (frames, lanes, entities): (u32, usize, u32),
    max_bytes: usize,
    value: impl Fn(u32, usize, u32) -> u64,
) -> Result<Analysis, AnalysisError> {
    let schema = schema(lanes);
    let options = AnalysisOptions {
        max_bytes,
        ..AnalysisOptions::new(Profile::untrained(&schema), u64::from(frames))
    };
    let mut analyzer = Analyzer::new(&schema, 60.0, options).unwrap();
    let ids: Vec<EntityId> = (0..entities).map(EntityId).collect();
    for frame in 0..frames {
        let columns: Vec<Vec<u64>> = (0..lanes)
            .map(|lane| (0..entities).map(|entity| value(frame, lane, entity)).collect())
            .collect();
        analyzer.add(Tick(frame), &ids, Columns::Lanes(&columns))?;
    }
    analyzer.finish()
}

#[test]
fn frames_that_are_too_large_to_keep_are_refused() {
    // The analysis keeps 61 frames of lanes and 15 of raw words: 364 bytes for each of 100 entities
    // and 3 columns.
    let of = |max_bytes| analyze((30, 2, 100), max_bytes, |_, _, _| 0);
    assert!(of(109_200).is_ok());
    let error = of(109_199).unwrap_err();
    let expected = AnalysisError::TooLarge { tick: 0, needed_bytes: 109_200, limit_bytes: 109_199 };
    assert_eq!(error, expected);
}
