//! Imports handmade BVH files, both valid ones and ones that are refused.

use std::f32::consts::FRAC_1_SQRT_2;
use std::fmt::Write;
use std::fs;

use kinepack_anim::import::bvh::{from_bytes, from_text};
use kinepack_anim::import::{
    BvhConvention, Import, ImportError, ImportOptions, NameEncoding, Note, read,
};
use kinepack_anim::{MAX_JOINTS, RawClip};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

fn import(text: &str) -> Result<Import, ImportError> {
    from_text("dir/walk.bvh", text, &ImportOptions::default())
}

fn clip(text: &str) -> RawClip {
    import(text).unwrap().clips.remove(0)
}

/// Returns a file of one joint with the channels `channels` and the frames `frames`.
fn one(channels: &str, frames: &[&str]) -> String {
    format!(
        "HIERARCHY\nROOT a\n{{\nOFFSET 1 2 3\nCHANNELS {channels}\n\
         End Site\n{{\nOFFSET 0 1 0\n}}\n}}\n\
         MOTION\nFrames: {}\nFrame Time: .0333333\n{}\n",
        frames.len(),
        frames.join("\n")
    )
}

#[track_caller]
fn assert_near<const N: usize>(found: [f32; N], expected: [f32; N]) {
    assert!(
        found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-5),
        "{found:?} is not {expected:?}"
    );
}

#[test]
fn rotations_are_multiplied_in_the_order_of_the_file() {
    let (h, z) = (FRAC_1_SQRT_2, 0.0);
    let zx = clip(&one("2 Zrotation Xrotation", &["90 90"])).pose(0)[0].rotation;
    assert_near(zx, [0.5, 0.5, 0.5, 0.5]);
    let xz = clip(&one("2 Xrotation Zrotation", &["90 90"])).pose(0)[0].rotation;
    assert_near(xz, [0.5, -0.5, 0.5, 0.5]);
    assert_near(clip(&one("1 yROTATION", &["-90"])).pose(0)[0].rotation, [z, -h, z, h]);
    // A joint may have the same axis twice, as in proper Euler angles.
    assert_near(clip(&one("2 Yrotation Yrotation", &["45 45"])).pose(0)[0].rotation, [z, h, z, h]);
}

#[test]
fn positions_replace_the_offset_axis_by_axis() {
    let clip = clip(&one("3 Zposition Yrotation Xposition", &["30 0 1e1", "-3.5e-1 90 +.5"]));
    assert_eq!((clip.name(), clip.samples(), clip.rate_hz()), ("walk", 2, 30.0));
    assert_near(clip.skeleton().bind_pose()[0].translation, [1.0, 2.0, 3.0]);
    assert_near(clip.pose(0)[0].translation, [10.0, 2.0, 30.0]);
    assert_near(clip.pose(1)[0].translation, [0.5, 2.0, -0.35]);
}

#[test]
fn several_roots_joints_without_channels_and_names_with_spaces() {
    let text = "HIERARCHY\r\nROOT left hand {\r\nOFFSET 0 0 0\n\
                JOINT b\n{\nOFFSET 1 0 0\nCHANNELS 0\n}\n}\n\
                ROOT c\n{\nOFFSET 0 0 0\nCHANNELS 1 Xposition }\n\
                MOTION\nFrames: 1\nFrame Time: 1\n5";
    let clip = clip(&format!("\u{feff}{text}"));
    let joints = clip.skeleton().joints();
    let names: Vec<(&str, Option<u16>)> =
        joints.iter().map(|joint| (joint.name.as_str(), joint.parent)).collect();
    assert_eq!(names, [("left hand", None), ("b", Some(0)), ("c", None)]);
    assert_eq!((clip.pose(0)[2].translation[0], clip.duration_s()), (5.0, 0.0));
}

/// Returns a chain of joints that each have a rotation. The first frame is a T-pose.
fn capture(names: &[&str], frames: usize, first_turn: f32) -> String {
    let mut text = "HIERARCHY ".to_owned();
    for (index, name) in names.iter().enumerate() {
        let kind = if index == 0 { "ROOT" } else { "JOINT" };
        write!(text, "{kind} {name} {{ OFFSET 1 0 0 CHANNELS 1 Yrotation ").unwrap();
    }
    text.push_str(&"} ".repeat(names.len()));
    write!(text, "MOTION Frames: {frames} Frame Time: 0.00833333 ").unwrap();
    for frame in 0..frames {
        let turn = if frame == 0 { first_turn } else { frame as f32 };
        text.push_str(&format!("{turn} ").repeat(names.len()));
    }
    text
}

const DAZ: [&str; 3] = ["hip", "abdomen", "chest"];
const MOTION_BUILDER: [&str; 2] = ["Hips", "LHipJoint"];

#[test]
fn names_and_t_poses_select_the_convention() {
    let found = |text: &str| {
        let import = import(text).unwrap();
        let bind = import.clips[0].skeleton().bind_pose()[0].translation[0];
        let convention = import.notes.iter().find_map(|note| match note {
            Note::Convention { convention, dropped, .. } => Some((*convention, *dropped)),
            _ => None,
        });
        (import.clips[0].samples(), bind, convention)
    };
    let [daz, builder] = [BvhConvention::CmuDaz, BvhConvention::CmuMotionBuilder];
    assert_eq!(found(&capture(&DAZ, 12, 0.0)), (2, 1.0, Some((daz, 10))));
    assert_eq!(found(&capture(&DAZ, 12, 1.0)), (12, 1.0, None));
    assert_eq!(found(&capture(&DAZ, 10, 0.0)), (10, 1.0, None));
    assert_eq!(found(&capture(&["hip", "chest"], 12, 0.0)), (12, 1.0, None));
    assert_eq!(found(&capture(&MOTION_BUILDER, 12, 0.0)), (11, 5.64444, Some((builder, 1))));
    assert_eq!(found(&capture(&MOTION_BUILDER, 12, 1.0)), (12, 5.64444, Some((builder, 0))));
    assert_eq!(found(&capture(&MOTION_BUILDER, 1, 0.0)), (1, 5.64444, Some((builder, 0))));
    let note = import(&capture(&DAZ, 12, 0.0)).unwrap().notes[0].to_string();
    assert_eq!(
        note,
        "dir/walk.bvh: taken as a capture of CMU for Daz: 1 cm a unit, the first 10 frames dropped"
    );
}

#[test]
fn options_override_conventions() {
    let with = |text: &str, options: ImportOptions| from_text("walk.bvh", text, &options);
    let daz = capture(&DAZ, 12, 0.0);
    let options =
        ImportOptions { convention: Some(BvhConvention::AsWritten), ..ImportOptions::default() };
    assert_eq!(with(&daz, options).unwrap().clips[0].samples(), 12);
    let options =
        ImportOptions { drop_frames: Some(0), unit_cm: Some(2.54), ..ImportOptions::default() };
    let clip = with(&daz, options).unwrap().clips.remove(0);
    assert_eq!((clip.samples(), clip.skeleton().bind_pose()[0].translation[0]), (12, 2.54));
    let options =
        ImportOptions { convention: Some(BvhConvention::CmuDaz), ..ImportOptions::default() };
    let error = with(&one("1 Xrotation", &["0", "1"]), options).unwrap_err();
    assert!(matches!(error, ImportError::AllDropped { frames: 2, dropped: 10, .. }), "{error}");
    let options = ImportOptions { unit_cm: Some(f64::NAN), ..ImportOptions::default() };
    assert!(matches!(with(&daz, options).unwrap_err(), ImportError::BadOption { .. }));
}

#[test]
fn rates_are_divided() {
    let text = capture(&["a"], 9, 1.0);
    let at = |rate_hz, frame_rate_hz| {
        let options =
            ImportOptions { rate_hz: Some(rate_hz), frame_rate_hz, ..ImportOptions::default() };
        from_text("walk.bvh", &text, &options)
            .map(|import| (import.clips[0].samples(), import.clips[0].rate_hz()))
    };
    assert_eq!(at(120.0, None).unwrap(), (9, 120.0));
    assert_eq!(at(30.0, None).unwrap(), (3, 30.0));
    assert_eq!(at(30.0, Some(60.0)).unwrap(), (5, 30.0));
    assert_eq!(at(1.0, None).unwrap(), (1, 1.0));
    let error = at(50.0, None).unwrap_err().to_string();
    let possible = "120, 60, 40, 30, 24, 20, 15, 12, 10, 8, 6, 5, 4, 3, 2, 1";
    assert_eq!(
        error,
        format!("walk.bvh: 50 Hz does not divide the motion's 120 Hz; possible are {possible}")
    );
    assert!(at(240.0, None).is_err());
    assert!(
        at(29.97, Some(59.5))
            .unwrap_err()
            .to_string()
            .ends_with("possible are 59.5 Hz divided by whole numbers")
    );
}

#[test]
fn packed_files_are_read() {
    let directory = tempfile::tempdir().unwrap();
    let text = one("1 Xrotation", &["0", "1", "2"]);
    let packed = compress_to_vec(text.as_bytes(), CompressionLevel::Fastest);
    let path = directory.path().join("a walk.BVH.zst");
    let options = ImportOptions::default();
    fs::write(&path, &packed).unwrap();
    let clip = read(&path, &options).unwrap().clips.remove(0);
    assert_eq!((clip.name(), clip.samples()), ("a walk", 3));

    let small = ImportOptions { max_bytes: text.len() as u64 - 1, ..ImportOptions::default() };
    assert!(matches!(read(&path, &small).unwrap_err(), ImportError::TooManyBytes { .. }));
    for end in 0..packed.len() {
        fs::write(&path, &packed[..end]).unwrap();
        let error = read(&path, &options).unwrap_err();
        assert!(matches!(error, ImportError::Io { .. }) || end == 0, "{end}: {error}");
    }
    let other = directory.path().join("walk.txt");
    assert!(matches!(read(&other, &options).unwrap_err(), ImportError::UnknownFormat { .. }));
    let missing = directory.path().join("missing.bvh");
    assert!(read(&missing, &options).unwrap_err().to_string().contains("missing.bvh: "));
}

#[test]
fn packed_megabytes_of_spaces_are_refused_early() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bomb.bvh.zst");
    fs::write(&path, compress_to_vec(vec![b' '; 1 << 24].as_slice(), CompressionLevel::Fastest))
        .unwrap();
    let options = ImportOptions { max_bytes: 1 << 20, ..ImportOptions::default() };
    assert!(matches!(
        read(&path, &options).unwrap_err(),
        ImportError::TooManyBytes { limit_bytes: 1_048_576, .. }
    ));
}

#[test]
fn errors_name_the_line_and_the_expected_word() {
    let good = one("2 Xrotation Yposition", &["1 2", "3 4"]);
    let said = |text: &str| import(text).unwrap_err().to_string();
    let cases = [
        ("HIERARCHY", "HIER", "line 1: expected HIERARCHY, found \"HIER\""),
        ("ROOT a", "JOINT a", "line 2: expected ROOT, found \"JOINT\""),
        ("OFFSET 1 2 3", "CHANNELS 0", "line 4: expected OFFSET, found \"CHANNELS\""),
        ("OFFSET 1 2 3", "OFFSET 1 nan 3", "line 4: expected a number of an offset, found \"nan\""),
        (
            "CHANNELS 2",
            "CHANNELS 7",
            "line 5: expected a number of channels from 0 to 6, found \"7\"",
        ),
        (
            "CHANNELS 2",
            "CHANNELS 4000000000",
            "line 5: expected a number of channels from 0 to 6, found \"4000000000\"",
        ),
        (
            "Yposition",
            "Wposition",
            "line 5: expected a channel: Xposition, Yrotation and so on, found \"Wposition\"",
        ),
        ("End Site", "End", "line 7: expected Site, found \"{\""),
        (
            "CHANNELS 2",
            "OFFSET 0 0 0 CHANNELS 2",
            "line 5: expected CHANNELS, JOINT, End Site or }, found \"OFFSET\"",
        ),
        ("}\n}\nMOTION", "}\n}\n}\nMOTION", "line 11: expected MOTION or ROOT, found \"}\""),
        ("Frames: 2", "Frames: -1", "line 12: expected a number of frames, found \"-1\""),
        ("Frames: 2", "Frames-2", "line 12: expected Frames:, found \"Frames-2\""),
        ("Frames: 2", "Frames2", "line 12: expected Frames:, found \"Frames2\""),
        ("Time: .0", "Times .0", "line 13: expected Time:, found \"Times\""),
        ("1 2\n3 4", "1", "line 14: expected number 2 of 2 of frame 1, found the end of the file"),
        (".0333333", "inf", "line 13: expected a time in seconds, found \"inf\""),
        (
            ".0333333",
            "0",
            "line 14: expected the first frame after a positive frame time, found \"1\"",
        ),
        (
            ".0333333",
            "-1",
            "line 14: expected the first frame after a positive frame time, found \"1\"",
        ),
        ("3 4", "3 NaN", "line 15: expected number 2 of 2 of frame 2, found \"NaN\""),
        ("3 4", "3 1e999", "line 15: expected number 2 of 2 of frame 2, found \"1e999\""),
        (
            "2 Xrotation Yposition",
            "0",
            "line 14: expected the end of a file in which no joint has channels, found \"1\"",
        ),
    ];
    for (from, to, expected) in cases {
        assert!(good.contains(from), "{from}");
        assert_eq!(said(&good.replacen(from, to, 1)), format!("dir/walk.bvh: {expected}"));
    }
    assert_eq!(said(""), "dir/walk.bvh: line 1: expected HIERARCHY, found the end of the file");
}

#[test]
fn numbers_beyond_floats_are_refused() {
    let error = import(&one("1 Xposition", &["1e300"])).unwrap_err();
    assert!(matches!(error, ImportError::Clip { .. }), "{error}");
    let text = one("1 Xposition", &["1"]).replace("OFFSET 1", "OFFSET 1e300");
    assert!(matches!(import(&text).unwrap_err(), ImportError::Skeleton { .. }));
    let text = one("1 Xposition", &["1"]).replace(".0333333", "1e-300");
    assert!(import(&text).is_err());
}

#[test]
fn the_rows_count_and_not_the_stated_frames() {
    let text = one("2 Xrotation Yposition", &["0 1", "0 2", "0 3"]);
    let read = |frames: &str, end: &str| {
        let text = text.replace("Frames: 3", &format!("Frames: {frames}")) + end;
        let options = ImportOptions { unit_cm: Some(1.0), ..ImportOptions::default() };
        let import = from_text("walk.bvh", &text, &options).unwrap();
        let heights = import.clips[0].poses().map(|pose| pose[0].translation[1]);
        (heights.collect::<Vec<_>>(), import.notes)
    };
    assert_eq!(read("3", ""), (vec![1.0, 2.0, 3.0], vec![]));
    let note = |stated, found, cut| {
        vec![Note::FrameCount { file: "walk.bvh".to_owned(), stated, found, cut }]
    };
    for stated in [0, 2, 4, 4_000_000_000, u64::MAX] {
        assert_eq!(read(&stated.to_string(), ""), (vec![1.0, 2.0, 3.0], note(stated, 3, 0)));
    }
    // This file is cut off within a row.
    assert_eq!(read("4", "0"), (vec![1.0, 2.0, 3.0], note(4, 3, 1)));
    assert_eq!(read("3", "0 4\n0 5\n7"), (vec![1.0, 2.0, 3.0, 4.0, 5.0], note(3, 5, 1)));
    assert_eq!(
        note(10, 20, 0)[0].to_string(),
        "walk.bvh: it states 10 frames and has 20, which are all read"
    );
    assert!(note(3, 5, 1)[0].to_string().ends_with("; a row of one number at its end is left out"));
    // The file must have the frames that are dropped.
    let options = ImportOptions { drop_frames: Some(3), ..ImportOptions::default() };
    let text = text.replace("Frames: 3", "Frames: 4000000000");
    let error = from_text("a.bvh", &text, &options).unwrap_err();
    assert!(matches!(error, ImportError::AllDropped { frames: 3, dropped: 3, .. }), "{error}");
}

#[test]
fn frames_and_their_time_may_be_written_in_other_ways() {
    let text = one("1 Xposition", &["10", "20"]);
    let usual = clip(&text);
    let faults = |text: &str| {
        let import = import(text).unwrap();
        assert_eq!(import.clips, std::slice::from_ref(&usual), "{text}");
        let is_fault = |note: &&Note| matches!(note, Note::Faulty { .. });
        import.notes.iter().filter(is_fault).map(ToString::to_string).collect::<Vec<_>>()
    };
    let fault = "dir/walk.bvh: it has Frames or Frame Time without a colon and a space after them";
    for (from, to) in [
        ("Frames: 2", "Frames 2"),
        ("Frames: 2", "Frames : 2"),
        ("Frames: 2", "frames :2"),
        ("Frames: 2", "Frames:2"),
        ("Time: .0", "Time:.0"),
        ("Time: .0", "Time .0"),
        ("Time: .0", "TIME\n:\n.0"),
    ] {
        assert!(text.contains(from));
        assert_eq!(faults(&text.replace(from, to)), [fault], "{to}");
    }
    let end = "dir/walk.bvh: NUL or Ctrl-Z is at its end";
    for marks in ["\0", "\u{1a}", "\r\n\u{1a}\0\0\n"] {
        assert_eq!(faults(&format!("{text}{marks}")), [end]);
    }
    assert_eq!(faults(&format!("{text}\n \n")), [""; 0]);
    // NUL between other words is an error.
    assert!(import(&text.replace("10", "\0")).is_err());
}

#[test]
fn names_in_other_encodings_are_kept() {
    let text = "HIERARCHY ROOT A\n{ OFFSET 0 90 0 CHANNELS 1 Xposition JOINT B\n{ OFFSET 0 9 0 }\n\
                JOINT C {\n OFFSET 0 9 0 } } MOTION Frames: 1 Frame Time: 1 0";
    let read = |names: [&[u8]; 3]| {
        let mut bytes = Vec::new();
        for byte in text.bytes() {
            match byte {
                b'A'..=b'C' if bytes.ends_with(b"ROOT ") || bytes.ends_with(b"JOINT ") => {
                    bytes.extend(names[usize::from(byte - b'A')]);
                }
                _ => bytes.push(byte),
            }
        }
        let mut import = from_bytes("walk.bvh", &bytes, &ImportOptions::default()).unwrap();
        let skeleton = import.clips[0].skeleton();
        let found = skeleton.joints().iter().map(|joint| joint.name.clone()).collect::<Vec<_>>();
        (found, import.notes.pop())
    };
    let (names, note) = read(["\u{4e0a} b".as_bytes(), b"b", b"c"]);
    assert_eq!((&names[0][..], note), ("\u{4e0a} b", None));
    // These names are Hüfte and Tête in Latin-1.
    let (names, note) = read([b"H\xfcfte", b"b", b"T\xeate x"]);
    assert_eq!(names, ["H\u{fc}fte", "b", "T\u{ea}te x"]);
    let latin =
        "walk.bvh: the names of 2 joints are not UTF-8: taken as Latin-1, such as \"H\u{fc}fte\"";
    assert_eq!(note.unwrap().to_string(), latin);
    // These names are the upper body and a button in Shift-JIS. The second contains a byte that is
    // a brace in ASCII.
    let (names, note) = read([b"\x8f\xe3\x94\xbc\x90g", b"\x83{\x83^\x83\x93", b"H\xfcfte"]);
    assert_eq!(names, ["%8F%E3%94%BC%90g", "%83{%83^%83%93", "H%FCfte"]);
    let Some(Note::OtherEncoding { encoding, names: 3, .. }) = note else { panic!("{note:?}") };
    assert_eq!(encoding, NameEncoding::Unknown);
}

#[test]
fn skeletons_of_a_few_units_get_a_note() {
    let sized = |offset: f64, unit_cm: Option<f64>| {
        let text = format!(
            "HIERARCHY ROOT a {{ OFFSET 0 {offset} 0 CHANNELS 1 Xposition \
             JOINT b {{ OFFSET 0 {offset} 0 }} }} MOTION Frames: 1 Frame Time: 1 0"
        );
        let options = ImportOptions { unit_cm, ..ImportOptions::default() };
        from_text("walk.bvh", &text, &options).unwrap().notes
    };
    // The file describes a person in metres.
    let note = &sized(0.7, None)[0];
    assert_eq!(
        note.to_string(),
        "walk.bvh: the skeleton is 1.4 cm large at 1 cm a unit: if that is too small, \
         try another unit: --unit-cm 100"
    );
    let Note::Small { suggested_cm, .. } = *note else { panic!("{note}") };
    assert_eq!(sized(0.7, Some(suggested_cm)), []);
    assert_eq!(sized(0.7, Some(1.0)), []);
    assert_eq!((sized(2.6, None), sized(0.0, None), sized(90.0, None)), (vec![], vec![], vec![]));
    assert!(matches!(sized(-0.2, None)[0], Note::Small { suggested_cm: 100.0, .. }));
}

#[test]
fn deep_hierarchies_are_read_up_to_the_limit_of_joints() {
    let chain = |depth: usize| {
        let mut text = "HIERARCHY ROOT a { OFFSET 0 0 0 CHANNELS 1 Xrotation ".to_owned();
        text.push_str(&"JOINT b { OFFSET 0 0 0 ".repeat(depth - 1));
        text.push_str(&"} ".repeat(depth));
        text.push_str("MOTION Frames: 1 Frame Time: 1 0");
        text
    };
    assert_eq!(clip(&chain(MAX_JOINTS)).joints(), MAX_JOINTS);
    for depth in [MAX_JOINTS + 1, 100_000] {
        let error = import(&chain(depth)).unwrap_err();
        assert!(matches!(error, ImportError::Skeleton { .. }), "{error}");
    }
}

#[test]
fn many_joints_with_few_numbers_are_limited_too() {
    let mut text = "HIERARCHY ".to_owned();
    text.push_str(&"ROOT a { OFFSET 0 0 0 } ".repeat(10_000));
    text.push_str(
        "ROOT b { OFFSET 0 0 0 CHANNELS 1 Xrotation } MOTION Frames: 10000 Frame Time: 1 ",
    );
    text.push_str(&"0 ".repeat(10_000));
    assert!(matches!(import(&text).unwrap_err(), ImportError::TooManyTransforms { .. }));
}
