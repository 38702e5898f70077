//! Tests of recordings of faces.

use kinepack_anim::figure::Figure;
use kinepack_anim::live::{ARKIT_SHAPES, FaceClip, FaceError, HEAD_AND_EYES, OddRows};

/// Returns a file as Live Link Face writes it, with a row for each timecode. The value of each
/// shape in row `n` is `n` tenths.
fn recording(timecodes: &[&str]) -> String {
    let names = ARKIT_SHAPES.iter().chain(&HEAD_AND_EYES);
    let header: Vec<String> = names.map(|name| name[..1].to_uppercase() + &name[1..]).collect();
    let mut text = format!("Timecode,BlendShapeCount,{}\n", header.join(","));
    for (row, timecode) in timecodes.iter().enumerate() {
        let values = vec![format!("0.{row}"); 61].join(",");
        text += &format!("{timecode},61,{values}\n");
    }
    text
}

fn times(text: &str) -> (Vec<f64>, usize) {
    let face = FaceClip::read(text.as_bytes()).unwrap();
    // The value tells the row.
    let mut values = Vec::new();
    let mut times = Vec::new();
    let mut last = -1.0;
    for step in 0..=(face.duration_s() * 1_000.0).round() as u32 {
        face.sample(f64::from(step) / 1_000.0, false, &mut values);
        if values[0] > last + 0.0999 {
            times.push(f64::from(step) / 1_000.0);
            last = (values[0] * 10.0).round() / 10.0;
        }
    }
    (times, face.untracked() + face.backwards().count)
}

#[test]
fn a_recording_has_all_shapes_and_angles() {
    let text = recording(&["14:03:52:28.207", "14:03:52:29.207", "14:03:52:31.707"]);
    let face = FaceClip::read(text.as_bytes()).unwrap();
    assert_eq!((face.curve_names().len(), face.frames()), (61, 3));
    assert!((face.duration_s() - 3.5 / 60.0).abs() < 1e-9);
    assert!(face.untracked() == 0 && face.backwards().count == 0 && !face.is_cut());
    let mut values = Vec::new();
    assert!(face.sample(0.5 / 60.0, false, &mut values));
    assert!(values.iter().all(|value| (value - 0.05).abs() < 1e-6));
    assert!(!face.sample(9.0, false, &mut values) && values[60] == 0.2);
    let figure = Figure::new(&FaceClip::skeleton(), &face.options()).unwrap();
    assert_eq!(figure.lane_count(), 61);
}

#[test]
fn order_case_and_line_ends_do_not_matter() {
    let text = "\u{feff}timecode,\"blendshapecount\",JAWOPEN,Unknown,\"eyeBlinkLeft\",headyaw\r\n\
        \r\n\"00:00:01:00\",\"61\",\"0.25\",,0.5,-1.5\r\n";
    let face = FaceClip::read(text.as_bytes()).unwrap();
    assert_eq!(face.curve_names(), ["jawOpen", "eyeBlinkLeft", "headYaw"]);
    let mut values = Vec::new();
    face.sample(0.0, true, &mut values);
    assert_eq!(values, [0.25, 0.5, -1.5]);
}

#[test]
fn dropped_frames_and_midnight_keep_the_times() {
    let (found, skipped) = times(&recording(&["23:59:59:57", "00:00:00:00", "00:00:00:30"]));
    assert_eq!((found, skipped), (vec![0.0, 0.05, 0.55], 0));
    // The second row is repeated, and the fourth is older.
    let rows = ["00:00:00:00", "00:00:00:30", "00:00:00:30", "00:00:00:15", "00:00:01:00"];
    let face = FaceClip::read(recording(&rows).as_bytes()).unwrap();
    assert_eq!((face.frames(), face.duration_s()), (3, 1.0));
    assert_eq!(face.backwards(), OddRows { count: 2, line: 4 });
    assert_eq!((face.untracked(), face.jumps()), (0, OddRows::default()));
    let mut values = Vec::new();
    face.sample(1.0, false, &mut values);
    assert_eq!(values[0], 0.4, "the values of the last row");
}

#[test]
fn the_rate_of_timecodes_follows_from_the_highest_frame() {
    for (highest, rate_hz) in [("23.9", 24.0), ("24.0", 25.0), ("29.5", 30.0), ("59.999", 60.0)] {
        let rows =
            ["10:00:00:00", &format!("10:00:01:{highest}"), "10:00:02:01"].map(str::to_owned);
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        let face = FaceClip::read(recording(&rows).as_bytes()).unwrap();
        assert!((face.duration_s() - 2.0 - 1.0 / rate_hz).abs() < 1e-9, "{highest}");
    }
    let short = FaceClip::read(recording(&["10:00:00:00", "10:00:00:06"]).as_bytes()).unwrap();
    assert!((short.duration_s() - 0.1).abs() < 1e-9, "60 frames per second in a short recording");
}

#[test]
fn rows_without_a_face_and_a_cut_row_are_left_out() {
    let whole = recording(&["00:00:00:00", "00:00:00:30"]);
    let without = whole.clone() + "00:00:00:40,0\n00:00:00:41,0,,,\n";
    let face = FaceClip::read(without.as_bytes()).unwrap();
    assert_eq!((face.frames(), face.untracked(), face.is_cut()), (2, 2, false));
    let row = "00:00:00:45,61,0.1,0.25";
    for end in 1..row.len() {
        let face = FaceClip::read((whole.clone() + &row[..end]).as_bytes()).unwrap();
        assert_eq!((face.frames(), face.is_cut()), (2, true), "{end}");
    }
    let last_line = whole.lines().count();
    let expected = FaceError::WrongCount { line: last_line + 1, expected: 63, found: 4 };
    let error = FaceClip::read((whole + row + "\n").as_bytes()).unwrap_err();
    assert_eq!(error, expected, "a whole line that is too short");
}

#[test]
fn a_whole_second_gives_the_rate_of_a_short_recording() {
    let text = |rate_hz: usize, frames: std::ops::Range<usize>| {
        let row = |at: usize| format!("23:59:{:02}:{:02}.5,61,0.5\n", at / rate_hz, at % rate_hz);
        let rows: String = frames.map(row).collect();
        format!("Timecode,BlendShapeCount,JawOpen\n{rows}")
    };
    let duration_s = |text: String| FaceClip::read(text.as_bytes()).unwrap().duration_s();
    for rate_hz in [24, 25, 30, 50, 60] {
        for begin in [0, rate_hz / 2] {
            // Two seconds that have begun, and a whole one.
            let frames = begin..2 * rate_hz + 1;
            let seconds = (frames.len() - 1) as f64 / rate_hz as f64;
            let found_s = duration_s(text(rate_hz, frames));
            assert!((found_s - seconds).abs() < 1e-9, "{rate_hz}, {begin}: {found_s}");
        }
    }
    // Without a whole second, the rate is 60 Hz, even if all frames are below 30.
    for (frames, expected_s) in [(0..30, 29.0 / 60.0), (1..40, 1.0 + 8.0 / 60.0)] {
        assert!((duration_s(text(30, frames)) - expected_s).abs() < 1e-9, "{expected_s}");
    }
}

#[test]
fn timecodes_that_jump_or_go_backwards_are_counted_with_their_line() {
    let read = |timecodes: &[&str]| FaceClip::read(recording(timecodes).as_bytes()).unwrap();
    let none = OddRows::default();
    let face = read(&["10:00:00:00", "10:00:10:00", "15:00:00:00", "15:00:01:00", "15:00:00:30"]);
    assert_eq!(face.jumps(), OddRows { count: 1, line: 4 });
    assert_eq!(face.backwards(), OddRows { count: 1, line: 6 });
    // More than half a day back is midnight, and here a jump by ten hours.
    let face = read(&["14:00:00:00", "00:00:00:00"]);
    assert_eq!((face.jumps(), face.backwards()), (OddRows { count: 1, line: 3 }, none));
    // Rows without a face show that the recording went on.
    let rows: String = (0..40).map(|second| format!("00:00:{second:02}:10,0\n")).collect();
    let text = recording(&["00:00:00:00"]) + &rows;
    let text = text + recording(&["00:00:40:00"]).lines().nth(1).unwrap() + "\n";
    let face = FaceClip::read(text.as_bytes()).unwrap();
    assert_eq!((face.frames(), face.untracked(), face.jumps()), (2, 40, none));
}

#[test]
fn the_face_holds_over_a_long_gap() {
    let header = "Timecode,BlendShapeCount,JawOpen\n";
    // Frame numbers below 25 in more than two seconds: 25 frames per second.
    let read = |rows: &str| FaceClip::read(format!("{header}{rows}").as_bytes()).unwrap();
    let jaw_at = |face: &FaceClip, time_s: f64| {
        let mut values = Vec::new();
        assert!(face.sample(time_s, true, &mut values));
        values[0]
    };
    let begin = "00:00:00:00,61,0.0\n00:00:00:24,61,0.25\n";
    let jump = read(&format!("{begin}01:00:00:00,61,0.75\n01:00:01:00,61,0.5\n"));
    let at_s = |frame: f64| 3_600.0 + frame / 25.0;
    for (time_s, expected) in [
        (0.48, 0.125),
        (0.96, 0.25),
        (1_800.0, 0.25),
        (at_s(-1.0), 0.25),
        (at_s(-0.5), 0.5),
        (at_s(0.0), 0.75),
        (at_s(12.5), 0.625),
    ] {
        let found = jaw_at(&jump, time_s);
        assert!((found - expected).abs() < 1e-5, "{time_s}: {found}");
    }
    // Ten seconds are no gap. A longer time without a tracked face is one, although it is no jump.
    let ten = read("00:00:00:24,61,0.0\n00:00:10:24,61,0.5\n");
    assert_eq!(jaw_at(&ten, 5.0), 0.25);
    let rows: String = (1..12).map(|second| format!("00:00:{second:02}:00,0\n")).collect();
    let untracked = read(&format!("{begin}{rows}00:00:12:00,61,0.75\n"));
    assert_eq!((jaw_at(&untracked, 6.0), untracked.jumps().count), (0.25, 0));
}

#[test]
fn a_last_row_without_the_end_of_its_line_is_used_only_if_it_is_complete() {
    let read = |end: &str| {
        let text = "Timecode,BlendShapeCount,JawOpen,Note\n00:00:00:00,61,0.25,a\n".to_owned();
        let face = FaceClip::read((text + end).as_bytes()).unwrap();
        (face.frames(), face.is_cut())
    };
    assert_eq!(read("00:00:00:01,61,0.5,b\n"), (2, false));
    assert_eq!(read("00:00:00:01,61,0.5,b\r"), (2, false));
    assert_eq!(read("00:00:00:01,61,0.5,"), (2, false), "the last column has no value");
    assert_eq!(read("00:00:00:01,61,0.5"), (1, true));
    let text = "Timecode,BlendShapeCount,JawOpen\r00:00:00:00,61,0.25\r00:00:00:01,61,";
    for (end, frames) in [("0.8", 1), ("0.85", 1), ("\"0.85\"", 2), ("0.85\r", 2)] {
        let face = FaceClip::read(format!("{text}{end}").as_bytes()).unwrap();
        assert_eq!((face.frames(), face.is_cut()), (frames, frames == 1), "{end}");
    }
}

#[test]
fn faults_are_refused_with_their_line() {
    let of = |header: &str, row: &str| {
        FaceClip::read(format!("{header}\n{row}\n").as_bytes()).unwrap_err()
    };
    let header = "Timecode,BlendShapeCount,JawOpen,HeadYaw";
    let bad = |name| FaceError::BadValue { line: 2, name };
    for (row, error) in [
        ("1:2:3,61,0,0", FaceError::BadTimecode { line: 2 }),
        ("25:00:00:00,61,0,0", FaceError::BadTimecode { line: 2 }),
        ("00:00:00:1e1,61,0,0", FaceError::BadTimecode { line: 2 }),
        ("00:00:00:00:00,61,0,0", FaceError::BadTimecode { line: 2 }),
        ("-1:00:00:00,61,0,0", FaceError::BadTimecode { line: 2 }),
        ("00:00:00:00,61,0", FaceError::WrongCount { line: 2, expected: 4, found: 3 }),
        ("00:00:00:00,61,0,0,0", FaceError::WrongCount { line: 2, expected: 4, found: 5 }),
        ("00:00:00:00,61,x,0", bad("jawOpen")),
        ("00:00:00:00,61,nan,0", bad("jawOpen")),
        ("00:00:00:00,61,1.1,0", bad("jawOpen")),
        ("00:00:00:00,61,0,45", bad("headYaw")),
        ("00:00:00:00,0", FaceError::NoFrame),
        ("", FaceError::NoFrame),
    ] {
        assert_eq!(of(header, row), error, "{row}");
    }
    for header in
        ["", "Timecode", "Timecode,BlendShapeCount", "a,b,JawOpen", "Timecode,BlendShapeCount,x"]
    {
        assert_eq!(of(header, "00:00:00:00,61,0"), FaceError::NoHeader, "{header}");
    }
    let two = of("Timecode,BlendShapeCount,JawOpen,jawopen", "");
    assert_eq!(two, FaceError::TwoColumns { name: "jawOpen" });
    assert_eq!(FaceClip::read(b"Timecode,\xff,"), Err(FaceError::NotUtf8));
}
