//! Tests the reader of challenge files. Good files are read back, bad files are refused with the
//! place of the fault, and no bytes cause a panic.

use std::path::Path;

use cube_data::cube::{self, Measured, Quantized};
use cube_data::{Challenge, ChallengeError, Frame, is_capture};
use kinepack::{Snapshot, Tick};
use kinepack_capture::CaptureLimits;

use crate::common::{
    Files, Header, OBJECTS, Record, bin, f32_file, good_bin, good_f32, record, states, zst,
};

/// The complete contents of a file.
#[derive(Debug, Default, PartialEq)]
struct Content {
    snapshots: Vec<Snapshot>,
    states: Vec<Vec<Measured>>,
}

fn read_all(path: &Path) -> Result<Content, ChallengeError> {
    let mut capture = Challenge::open(path)?;
    let mut content = Content::default();
    loop {
        match capture.next_frame()? {
            None => return Ok(content),
            Some(Frame::Quantized(frame)) => {
                let mut snapshot = Snapshot::new(&cube::schema(Quantized::Everything), Tick(0));
                frame.push_into(&mut snapshot)?;
                content.snapshots.push(snapshot);
            }
            Some(Frame::Floats(frame)) => content.states.push(frame.states().collect()),
        }
    }
}

/// Returns the error of a file. Checks that its message is one line that begins with the file and
/// contains `says`.
fn refusal(path: &Path, says: &str) -> ChallengeError {
    let error = read_all(path).expect_err("the file is bad");
    let message = error.to_string();
    assert!(message.starts_with(&format!("{}: ", path.display())), "{message}");
    assert!(!message.contains('\n'), "{message}");
    assert!(message.contains(says), "{message:?} does not say {says:?}");
    error
}

/// Returns the lanes of a snapshot of cubes as records of the challenge.
fn records(snapshot: &Snapshot) -> Vec<Record> {
    let lane = |lane, object| snapshot.lane(lane)[object] as i32;
    let record = |object| {
        let [x, y] = [0, 1].map(|axis| lane(axis, object) - 131_072);
        let [dropped, a, b, c] = [3, 4, 5, 6].map(|component| lane(component, object));
        [dropped, a, b, c, x, y, lane(2, object), lane(7, object)]
    };
    (0..snapshot.len()).map(record).collect()
}

#[test]
fn a_bin_file_reads_back_as_written() {
    let files = Files::new();
    let path = files.write("good.bin", &good_bin(3));
    let capture = Challenge::open(&path).unwrap();
    assert!(capture.is_quantized());
    assert_eq!((capture.objects(), capture.rate_hz(), capture.frames()), (901, 60, Some(3)));

    let content = read_all(&path).unwrap();
    assert!(content.states.is_empty());
    let expected: Vec<Vec<Record>> =
        states(3, OBJECTS).iter().map(|states| states.iter().map(record).collect()).collect();
    assert_eq!(content.snapshots.iter().map(records).collect::<Vec<_>>(), expected);
}

#[test]
fn an_f32_file_comes_back_as_it_was_written() {
    let files = Files::new();
    let header = Header { rate_hz: 120, ..Header::new(7, 4) };
    let path = files.write("good.f32", &f32_file(header, &states(4, 7)));
    let capture = Challenge::open(&path).unwrap();
    assert!(!capture.is_quantized());
    assert_eq!((capture.objects(), capture.rate_hz(), capture.frames()), (7, 120, Some(4)));
    assert_eq!(read_all(&path).unwrap(), Content { states: states(4, 7), snapshots: Vec::new() });
}

#[test]
fn the_lanes_of_a_bin_file_are_the_quantized_floats_of_the_same_state() {
    let files = Files::new();
    let quantized = read_all(&files.write("run.bin", &good_bin(2))).unwrap().snapshots;
    let floats = read_all(&files.write("run.f32", &good_f32(2, OBJECTS))).unwrap().states;
    for (snapshot, states) in quantized.iter().zip(&floats) {
        let mut expected = Snapshot::new(&cube::schema(Quantized::Everything), Tick(0));
        for (id, state) in (0..).zip(states) {
            cube::push(&mut expected, Quantized::Everything, kinepack::EntityId(id), *state)
                .unwrap();
        }
        assert_eq!(records(snapshot), records(&expected));
    }
}

#[test]
fn packed_files_hold_the_same_as_plain_ones() {
    let files = Files::new();
    for (name, bytes) in [("run.bin", good_bin(2)), ("run.f32", good_f32(2, 50))] {
        let plain = read_all(&files.write(name, &bytes)).unwrap();
        let packed = files.write(&format!("{name}.zst"), &zst(&bytes));
        assert_eq!(read_all(&packed).unwrap(), plain);
    }
    let packed = Challenge::open(files.path("run.bin.zst")).unwrap();
    assert_eq!(packed.frames(), None, "only unpacking the whole file would give the number");
}

#[test]
fn a_file_packed_in_several_pieces_is_read_to_its_end() {
    let files = Files::new();
    let bytes = good_bin(2);
    let (first, second) = bytes.split_at(bytes.len() / 3);
    let path = files.write("pieces.bin.zst", &[zst(first), zst(second)].concat());
    assert_eq!(read_all(&path).unwrap(), read_all(&files.write("whole.bin", &bytes)).unwrap());
}

#[test]
fn floats_and_packing_are_recognised_by_content() {
    let files = Files::new();
    let bytes = good_f32(2, 50);
    let expected = read_all(&files.write("run.f32", &bytes)).unwrap();
    for (name, bytes) in
        [("run", bytes.clone()), ("other.bin", bytes.clone()), ("packed", zst(&bytes))]
    {
        assert_eq!(read_all(&files.write(name, &bytes)).unwrap(), expected, "{name}");
    }
    let packed = files.write("packed.bin", &zst(&good_bin(2)));
    assert_eq!(read_all(&packed).unwrap().snapshots.len(), 2);
    assert_eq!(Challenge::open(&packed).unwrap().frames(), None);
}

#[test]
fn a_capture_file_is_recognised_by_content_or_by_name() {
    let files = Files::new();
    assert!(is_capture(&files.write("run.bin", b"\x89MCAP0\r\n and more")));
    assert!(is_capture(&files.write("damaged.mcap", b"")) && is_capture(&files.path("no.mcap")));
    assert!(
        !is_capture(&files.write("run.f32", &good_f32(2, 5))) && !is_capture(&files.path("no"))
    );
}

#[test]
fn the_end_of_a_file_stays_the_end() {
    let files = Files::new();
    let mut capture = Challenge::open(files.write("end.f32", &good_f32(1, 2))).unwrap();
    assert!(capture.next_frame().unwrap().is_some());
    for _ in 0..3 {
        assert!(capture.next_frame().unwrap().is_none());
    }
}

#[test]
fn files_without_a_frame_are_refused() {
    let files = Files::new();
    let empty = [
        ("empty.bin", Vec::new()),
        ("empty.bin.zst", Vec::new()),
        ("nothing.bin.zst", zst(&[])),
        ("header.f32", Header::new(5, 0).bytes()),
    ];
    for (name, bytes) in empty {
        let error = refusal(&files.write(name, &bytes), "holds no frame");
        assert!(matches!(error, ChallengeError::Empty { .. }), "{name}: {error:?}");
    }
}

#[test]
fn files_that_end_within_a_frame_are_refused_with_its_number() {
    let files = Files::new();
    let frame = OBJECTS * 32;
    let part = |name: &str, bytes: &[u8]| {
        let error = refusal(&files.write(name, bytes), "cut off");
        let ChallengeError::PartOfFrame { frame, bytes, frame_bytes, .. } = error else {
            panic!("{name}: {error:?}")
        };
        (frame, bytes, frame_bytes)
    };
    let run = good_bin(2);
    assert_eq!(part("cut.bin", &run[..2 * frame - 1]), (1, frame - 1, frame));
    assert_eq!(part("one.bin", &run[..1]), (0, 1, frame));
    assert_eq!(part("longer.bin", &[&run[..], &[0; 32]].concat()), (2, 32, frame));
    assert_eq!(part("cut.bin.zst", &zst(&run[..frame + 7])), (1, 7, frame));
    let run = good_f32(3, 10);
    assert_eq!(part("cut.f32", &run[..32 + 2 * 530 + 529]), (2, 529, 530));
    assert_eq!(
        part("fewer.f32", &run[..32 + 2 * 530]),
        (2, 0, 530),
        "the header announces a third frame"
    );
}

#[test]
fn headers_of_another_format_are_refused() {
    let files = Files::new();
    let good = Header::new(3, 1);
    let bad = [
        ("magic.f32", Header { magic: *b"RIFF", ..good }, "does not begin with CF32"),
        ("version.f32", Header { version: 2, ..good }, "version is not 1"),
        ("record.f32", Header { record_bytes: 54, ..good }, "not of 53 bytes"),
        ("none.f32", Header { objects: 0, ..good }, "number of entities"),
        ("rate.f32", Header { rate_hz: 0, ..good }, "rate is not"),
        ("fast.f32", Header { rate_hz: 1001, ..good }, "rate is not"),
    ];
    for (name, header, says) in bad {
        let bytes = f32_file(header, &states(1, 3));
        for path in [files.write(name, &bytes), files.write(&format!("{name}.zst"), &zst(&bytes))] {
            let error = refusal(&path, says);
            assert!(matches!(error, ChallengeError::BadHeader { .. }), "{name}: {error:?}");
        }
    }
    let error = refusal(&files.write("short.f32", &good.bytes()[..31]), "shorter than a header");
    assert!(matches!(error, ChallengeError::BadHeader { .. }), "{error:?}");
}

#[test]
fn a_header_with_billions_of_objects_is_refused_before_memory_is_taken() {
    let files = Files::new();
    for objects in [65_537, 4_000_000_000, u32::MAX] {
        let path = files.write("billions.f32", &Header::new(objects, 1).bytes());
        // No object follows the header. `open` reads only the header, so a reader that accepted the
        // number would fail later.
        let error = Challenge::open(&path).err().expect("refused at once");
        assert!(matches!(error, ChallengeError::BadHeader { .. }), "{error:?}");
    }
    let path = files.write("most.f32", &Header::new(65_536, u32::MAX).bytes());
    assert!(matches!(read_all(&path), Err(ChallengeError::Empty { .. })));
}

#[test]
fn more_data_than_the_header_announces_is_refused() {
    let files = Files::new();
    for extra in [1, 530] {
        let bytes = [good_f32(3, 10), vec![0; extra]].concat();
        let error = refusal(&files.write("long.f32", &bytes), "more data than the 3 frames");
        assert!(matches!(error, ChallengeError::TooLong { frames: 3, .. }), "{error:?}");
    }
}

#[test]
fn files_that_cannot_be_opened_are_refused() {
    let files = Files::new();
    for name in ["missing.bin", "missing.f32", "missing.bin.zst"] {
        let error = refusal(&files.path(name), "");
        assert!(matches!(error, ChallengeError::Io { .. }), "{name}: {error:?}");
    }
    for name in ["run.txt", "run", "run.zst", "run.bin.gz", "bin"] {
        let error = refusal(&files.write(name, &good_bin(1)), "must end in .bin");
        assert!(matches!(error, ChallengeError::UnknownFormat { .. }), "{name}: {error:?}");
    }
}

#[test]
fn damaged_packing_is_refused() {
    let files = Files::new();
    let packed = zst(&good_bin(2));
    let mut flipped = packed.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let damages = [
        ("foreign.bin.zst", b"this is no zstd at all".to_vec(), "frame 0: zstd data damaged"),
        ("magic.bin.zst", packed[..4].to_vec(), "frame 0: zstd data damaged"),
        ("cut.bin.zst", packed[..packed.len() - 9].to_vec(), "zstd data damaged"),
        ("half.bin.zst", packed[..packed.len() / 2].to_vec(), "zstd data damaged"),
        (
            "checksum.bin.zst",
            flipped,
            "frame 2: zstd data damaged or cut off: the checksum of a frame differs",
        ),
        ("more.bin.zst", [&packed[..], b"more"].concat(), "frame 2: zstd data damaged"),
        ("foreign.f32.zst", b"CF32 but not packed".to_vec(), "zstd data damaged"),
    ];
    for (name, bytes, says) in damages {
        let error = refusal(&files.write(name, &bytes), says);
        assert!(matches!(error, ChallengeError::Io { .. }), "{name}: {error:?}");
    }
}

#[test]
fn values_out_of_range_are_refused_with_frame_object_and_value() {
    let files = Files::new();
    let good: Vec<Vec<Record>> =
        states(2, OBJECTS).iter().map(|states| states.iter().map(record).collect()).collect();
    let bad = [
        (0, 4, "dropped component 4"),
        (0, -1, "dropped component -1"),
        (1, 512, "first component 512"),
        (2, -1, "second component -1"),
        (3, i32::MAX, "third component 2147483647"),
        (4, 131_072, "position x 131072"),
        (5, -131_073, "position y -131073"),
        (6, -1, "position z -1"),
        (6, 16_384, "position z 16384"),
        (7, 2, "interacting 2"),
    ];
    for (word, value, says) in bad {
        let mut frames = good.clone();
        frames[1][77][word] = value;
        let error = refusal(
            &files.write("bad.bin", &bin(&frames)),
            &format!("frame 1, entity 77: {says} is out of range"),
        );
        assert!(
            matches!(error, ChallengeError::BadValue { frame: 1, object: 77, .. }),
            "{error:?}"
        );
    }
    for (word, values) in [(0, [0, 3]), (1, [0, 511]), (4, [-131_072, 131_071]), (6, [0, 16_383])] {
        let mut frames = good.clone();
        frames[0][5][word] = values[0];
        frames[1][900][word] = values[1];
        assert!(read_all(&files.write("edge.bin", &bin(&frames))).is_ok(), "word {word}");
    }

    let mut bytes = good_f32(3, 10);
    bytes[32 + 530 + 6 * 53 + 52] = 2;
    let error = refusal(
        &files.write("flag.f32", &bytes),
        "frame 1, entity 6: interacting is 2, not 0 or 1",
    );
    assert!(matches!(error, ChallengeError::BadValue { frame: 1, object: 6, .. }), "{error:?}");
}

#[test]
fn a_state_that_its_schema_refuses_is_reported_with_its_place() {
    let files = Files::new();
    let mut capture = Challenge::open(files.write("run.f32", &good_f32(3, 10))).unwrap();
    capture.next_frame().unwrap();
    capture.next_frame().unwrap();
    let message = capture.bad_value(9, "too high".to_owned()).to_string();
    assert!(message.ends_with("run.f32: frame 1, entity 9: too high"), "{message}");
}

/// The 64-bit generator of Steele, Lea and Flood (2014).
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}

/// Continues after errors, as a careless caller would, and reads every value.
fn read_carelessly(path: &Path) {
    let Ok(mut capture) = Challenge::open(path) else { return };
    let mut snapshot = Snapshot::new(&cube::schema(Quantized::Everything), Tick(0));
    let mut errors = 0;
    while errors < 3 {
        match capture.next_frame() {
            Ok(None) => return,
            Ok(Some(Frame::Quantized(frame))) => {
                snapshot.clear(Tick(0));
                if let Err(error) = frame.push_into(&mut snapshot) {
                    assert!(!error.to_string().contains('\n'));
                }
            }
            Ok(Some(Frame::Floats(frame))) => assert!(frame.states().count() <= 65_536),
            Err(error) => {
                assert!(!error.to_string().contains('\n'), "{error}");
                errors += 1;
            }
        }
    }
}

const ENDINGS: [&str; 4] = ["bin", "f32", "bin.zst", "f32.zst"];

#[test]
fn random_bytes_never_panic() {
    let files = Files::new();
    let mut random = SplitMix(1);
    for round in 0..200 {
        let count = random.below(if round % 20 == 0 { 100_000 } else { 400 });
        let noise = random.bytes(count);
        for ending in ENDINGS {
            read_carelessly(&files.write(&format!("noise.{ending}"), &noise));
            // The bytes are also read after a valid header.
            let head = match ending {
                "bin" => Vec::new(),
                "f32" => Header::new(1 + random.below(9) as u32, random.below(9) as u32).bytes(),
                _ => vec![0x28, 0xB5, 0x2F, 0xFD],
            };
            read_carelessly(
                &files.write(&format!("noise.{ending}"), &[head, noise.clone()].concat()),
            );
        }
        let packed = zst(&noise);
        read_carelessly(&files.write("noise.bin.zst", &packed));
        read_carelessly(&files.write("noise.f32.zst", &packed));
    }
}

#[test]
fn mutations_of_good_files_never_panic() {
    let files = Files::new();
    let mut random = SplitMix(2);
    let good = [good_bin(2), good_f32(5, 40), zst(&good_bin(2)), zst(&good_f32(5, 40))];
    for round in 0..150 {
        for (ending, good) in ENDINGS.iter().zip(&good) {
            let mut bytes = good.clone();
            // Half of the damage is in the headers.
            let span = if round % 2 == 0 { bytes.len() } else { 64 };
            for _ in 0..=random.below(4) {
                let at = random.below(span.min(bytes.len()));
                match random.below(5) {
                    0 => bytes[at] ^= 1 << random.below(8),
                    1 => bytes[at] = random.next() as u8,
                    2 => bytes.truncate(at.max(1)),
                    3 => drop(bytes.drain(at..(at + 1 + random.below(40)).min(bytes.len()))),
                    _ => {
                        let copy = bytes[at..(at + 1 + random.below(40)).min(bytes.len())].to_vec();
                        bytes.splice(at..at, copy);
                    }
                }
                if bytes.is_empty() {
                    break;
                }
            }
            read_carelessly(&files.write(&format!("mutant.{ending}"), &bytes));
        }
    }
}

#[test]
fn a_file_may_hold_no_more_values_than_its_limits_allow() {
    let files = Files::new();
    let still = good_bin(1).repeat(60);
    // A frame has 902 · 9 + 256 values.
    let a_frame = 8374;
    for name in ["still.bin", "still.bin.zst"] {
        let bytes = if name.ends_with(".zst") { zst(&still) } else { still.clone() };
        let path = files.write(name, &bytes);
        let read = |limits| {
            let mut challenge = Challenge::open(&path).unwrap().with_limits(limits);
            let mut frames = 0;
            loop {
                match challenge.next_frame() {
                    Ok(Some(_)) => frames += 1,
                    Ok(None) => return (frames, None),
                    Err(error) => return (frames, Some(error)),
                }
            }
        };
        let (frames, error) = read(CaptureLimits { min_values: 10 * a_frame, values_per_byte: 0 });
        assert_eq!(frames, 10);
        assert!(
            matches!(error, Some(ChallengeError::TooManyValues { limit: 83_740, .. })),
            "{error:?}"
        );
        assert!(matches!(read(CaptureLimits::default()), (60, None)));
        // The limit counts the bytes of the file as it is stored.
        let (frames, _) = read(CaptureLimits { min_values: 0, values_per_byte: 1 });
        assert_eq!(frames == 60, name == "still.bin", "{frames}");
    }
}
