//! Runs `kinepack anim` as a user does.

mod additive;
mod databases;
#[allow(dead_code, reason = "tests of importing use more of it")]
#[path = "../../../kinepack-anim/tests/support/mod.rs"]
mod document;
mod left_out;
mod limits;
mod names;
mod outputs;
mod rigs;
mod schemes;

use std::fs;

use kinepack_anim::measure::{ErrorOptions, pose_distance_cm};
use kinepack_anim::{AnyClip, RawClip, Skeleton, exchange};
use kinepack_anm::{Anm, elf_hash};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::program::{self, json, refusal, stdout};

const BVH: &str = "HIERARCHY
ROOT Hips
{
    OFFSET 0 1 0
    CHANNELS 3 Xrotation Yrotation Zrotation
    JOINT LHipJoint
    {
        OFFSET 1 0 0
        CHANNELS 1 Xrotation
    }
}
MOTION
Frames: 5
Frame Time: 0.008333
0 0 0 0
1 2 3 4
2 3 4 5
3 4 5 6
4 5 6 7
";

#[test]
fn raw_writes_clips_and_reports_them() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    fs::write(at("a walk.bvh"), BVH).unwrap();
    let document = json(&["anim", "raw", &at("a walk.bvh"), &at("out/clips")]);
    let clip = &document["clips"][0];
    assert_eq!(
        (clip["name"].as_str(), clip["file"].as_str()),
        (Some("a walk"), Some(at("a walk.bvh").as_str()))
    );
    let numbers =
        ["joints", "samples", "rate_hz", "raw_bytes"].map(|key| clip[key].as_f64().unwrap());
    assert_eq!(numbers, [2.0, 4.0, 120.0, 320.0]);
    assert!(
        document["notes"][0]
            .as_str()
            .unwrap()
            .ends_with("5.64444 cm a unit, the first frame dropped")
    );
    let clip = exchange::read("a walk", &fs::read(at("out/clips/a walk.clip")).unwrap()).unwrap();
    assert_eq!(
        (clip.samples(), clip.skeleton().bind_pose()[1].translation),
        (4, [5.64444, 0.0, 0.0])
    );

    let options =
        ["--convention", "as-written", "--rate", "30", "--frame-rate", "60", "--unit-cm", "2"];
    let table =
        stdout(&[&["anim", "raw", &at("a walk.bvh"), &at("out")], options.as_slice()].concat());
    let row: Vec<&str> = table.lines().nth(2).unwrap().split_whitespace().collect();
    assert_eq!(row, ["a", "walk", "2", "3", "30", "0.07", "240"], "{table}");
    assert_eq!(table.lines().count(), 3, "a note although the options say everything:\n{table}");
}

#[test]
fn raw_refuses_bad_files_and_bad_options() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    fs::write(at("walk.bvh"), BVH).unwrap();
    fs::write(at("bad.bvh"), BVH.replace("Frames", "Pictures")).unwrap();
    let said = |arguments: &[&str]| refusal(&[&["anim", "raw"], arguments].concat());
    let bad = said(&[&at("bad.bvh"), &at("out")]);
    assert!(bad.contains("bad.bvh: line 13: expected Frames:, found \"Pictures:\""), "{bad}");
    assert!(said(&[&at("walk.bvh"), &at("out"), "--rate", "50"]).contains("possible are 120, 60,"));
    assert!(said(&[&at("walk.bvh"), &at("out"), "--unit-cm", "0"]).contains("positive"));
    assert!(said(&[&at("missing.glb"), &at("out")]).contains("missing.glb: "));
    assert!(said(&[&at("walk.bvh"), &at("bad.bvh")]).contains("bad.bvh: "));
}

/// A directory with `an arm.glb`, which has the clip `an_arm__Move` with two joints and 31 samples.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        fs::write(files.at("an arm.glb"), document::arm().glb()).unwrap();
        fs::write(files.at("walk.bvh"), BVH).unwrap();
        files
    }

    fn at(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    /// Builds the arm, and returns the report.
    fn build(&self, options: &[&str]) -> Value {
        json(
            &[
                &["anim", "build", &self.at("an arm.glb"), "--force", "--out", &self.at("out")],
                options,
            ]
            .concat(),
        )
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.at(name)).unwrap()
    }

    fn clip(&self) -> AnyClip {
        AnyClip::from_bytes(self.read("out/an_arm__Move.kpa")).unwrap()
    }

    /// Returns the file of the arm's skeleton.
    fn skeleton(&self) -> String {
        format!("out/an_arm-{:016x}.kps", self.clip().skeleton_hash())
    }
}

fn sorted_keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<_> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

fn max_distance_cm(one: &RawClip, other: &RawClip) -> f64 {
    assert_eq!(one.samples(), other.samples());
    let distance = |(a, b)| pose_distance_cm(one.skeleton(), a, b, &ErrorOptions::default());
    one.poses().zip(other.poses()).map(distance).fold(0.0, f64::max)
}

#[test]
fn built_clips_match_the_report() {
    let files = Files::new();
    stdout(&["anim", "raw", &files.at("an arm.glb"), &files.at("raw")]);
    let raw = exchange::read("raw", &files.read("raw/an_arm__Move.clip")).unwrap();
    for (scheme, precision) in [
        ("block", 0.1),
        ("block", 0.01),
        ("keyed", 0.1),
        ("keyed", 0.01),
        ("quantized", 0.1),
        ("quantized-32", 0.1),
    ] {
        let document = files.build(&["--scheme", scheme, "--precision", &precision.to_string()]);
        assert_eq!(sorted_keys(&document), ["clips", "left_out", "notes", "rigs"]);
        let clip = &document["clips"][0];
        let mut keys = vec![
            "animated_raw_bytes",
            "build_ms",
            "bytes",
            "curves",
            "file",
            "foot_slide_cm",
            "is_within_precision",
            "joints",
            "markers",
            "max_error_between_cm",
            "max_error_cm",
            "mean_error_cm",
            "name",
            "p99_error_cm",
            "precision_cm",
            "rate_hz",
            "raw_bytes",
            "root_motion",
            "sample_ns_per_joint",
            "samples",
            "scheme",
        ];
        if scheme == "block" {
            keys.insert(4, "disk_bytes");
        }
        assert_eq!(sorted_keys(clip), keys);
        let words = ["name", "file", "scheme"].map(|key| clip[key].as_str().unwrap().to_owned());
        assert_eq!(words, ["an_arm__Move".to_owned(), files.at("an arm.glb"), scheme.to_owned()]);
        let number = |key: &str| clip[key].as_f64().unwrap();
        assert_eq!(
            ["joints", "samples", "rate_hz", "raw_bytes"].map(number),
            [2.0, 31.0, 30.0, 2480.0]
        );
        // There are four floats for a rotation, three for a translation, and three for a scale.
        assert_eq!(number("animated_raw_bytes"), 31.0 * 40.0);
        assert_eq!(number("bytes"), files.read("out/an_arm__Move.kpa").len() as f64);
        let skeleton = Skeleton::from_bytes(&files.read(&files.skeleton())).unwrap();
        assert_eq!((skeleton.find("upper"), skeleton.find("lower")), (Some(0), Some(1)));

        let most = if scheme == "quantized-32" { 0.3 } else { precision };
        assert!(number("max_error_cm") <= most, "{scheme} {precision}: {clip}");
        assert_eq!(
            (number("precision_cm"), &clip["is_within_precision"]),
            (precision, &(most == precision).into())
        );
        assert!(
            number("mean_error_cm") <= number("p99_error_cm")
                && number("p99_error_cm") <= number("max_error_cm")
        );
        let clip = files.at("out/an_arm__Move.kpa");
        let said = stdout(&["anim", "decode", &clip, &files.at("back.clip"), "--force"]);
        assert!(said.ends_with("back.clip: 2 joints, 31 samples at 30 Hz\n"), "{said}");
        let back = exchange::read("back", &files.read("back.clip")).unwrap();
        let found = max_distance_cm(&raw, &back);
        assert!((found - number("max_error_cm")).abs() < 1e-5, "{scheme}: {found} found, {clip}");
    }
}

#[test]
fn build_writes_nothing_without_a_directory() {
    let files = Files::new();
    let table = stdout(&["anim", "build", &files.at("an arm.glb"), &files.at("walk.bvh")]);
    let names: Vec<_> =
        table.lines().skip(2).take(2).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, ["an_arm__Move", "walk"], "{table}");
    assert_eq!(fs::read_dir(files.0.path()).unwrap().count(), 2);
}

#[test]
fn any_number_of_jobs_gives_the_same_files() {
    let built = |jobs: &str| {
        let files = Files::new();
        let walk = files.at("walk.bvh");
        files.build(&[&walk, "--effort", "thorough", "--jobs", jobs]);
        ["out/an_arm__Move.kpa", "out/walk.kpa"].map(|name| files.read(name))
    };
    assert!(built("1") == built("3"));
}

#[test]
fn build_refuses_bad_options() {
    let files = Files::new();
    let arm = files.at("an arm.glb");
    let said = |options: &[&str]| {
        refusal(&[&["anim", "build", &arm, "--out", &files.at("out")], options].concat())
    };
    let pin = said(&["--pin", "lower", "--pin", "Hand"]);
    assert!(pin.contains("--pin Hand: no joint of that name"), "{pin}");
    for option in ["--joint-precision", "--joint-shell"] {
        let unknown = said(&[option, "Lo*=1", option, "Hand=1"]);
        assert!(unknown.contains(&format!("{option} Hand: no joint of that name")), "{unknown}");
        assert!(said(&[option, "lower=0"]).contains("must be a positive number"));
        let refused = program::run(&["anim", "build", &arm, option, "lower"]);
        assert!(
            refused.code == Some(2) && refused.stderr.contains("lower is not NAME=CM"),
            "{}",
            refused.stderr
        );
    }
    for (options, others) in [
        (&["--no-rows"][..], "--scheme keyed, and this is block"),
        (&["--effort", "fast", "--scheme", "keyed"], "--scheme block, and this is keyed"),
        (
            &["--pin", "lower", "--scheme", "quantized"],
            "--scheme block and keyed, and this is quantized",
        ),
    ] {
        let other = said(options);
        assert!(other.contains(options[0]) && other.contains(others), "{other}");
    }
    for precision in ["--precision=0", "--precision=nan", "--precision=-0.1", "--precision=inf"] {
        let refused = said(&[precision]);
        assert!(
            refused.contains("precision") && refused.contains("positive"),
            "{precision}: {refused}"
        );
    }
    let close = said(&["--joint-shell", "owe=12"]);
    assert!(close.ends_with("write '*owe*' for lower\n"), "{close}");
    assert!(!fs::exists(files.at("out")).unwrap(), "a refused build wrote files");
}

#[test]
fn errors_name_the_damaged_or_missing_file() {
    let files = Files::new();
    files.build(&["--scheme", "keyed"]);
    stdout(&["anim", "build", &files.at("walk.bvh"), "--out", &files.at("out")]);
    let (clip, skeleton) = (files.at("out/an_arm__Move.kpa"), files.skeleton());
    let walk = AnyClip::from_bytes(files.read("out/walk.kpa")).unwrap().skeleton_hash();
    let walk = files.at(&format!("out/walk-{walk:016x}.kps"));
    for (command, out) in [("decode", "file.clip"), ("export", "file.glb")] {
        let out = files.at(out);
        let wrong = refusal(&["anim", command, &clip, &out, "--skeleton", &walk]);
        assert!(
            wrong.contains(&walk) && wrong.contains("not the skeleton of") && wrong.contains(&clip),
            "{wrong}"
        );
        let bytes = files.read("out/an_arm__Move.kpa");
        fs::write(files.at("out/short.kpa"), &bytes[..bytes.len() - 1]).unwrap();
        let short = refusal(&["anim", command, &files.at("out/short.kpa"), &out]);
        assert!(short.contains(&files.at("out/short.kpa")), "{short}");
        fs::rename(files.at(&skeleton), files.at("away.kps")).unwrap();
        let missing = refusal(&["anim", command, &clip, &out]);
        let hash = skeleton.strip_prefix("out/an_arm").unwrap();
        for part in [&clip, &format!("*{hash}"), "--skeleton"] {
            assert!(missing.contains(part), "{part}: {missing}");
        }
        assert!(!fs::exists(&out).unwrap());
        stdout(&["anim", command, &clip, &out, "--skeleton", &files.at("away.kps")]);
        fs::rename(files.at("away.kps"), files.at(&skeleton)).unwrap();
        fs::remove_file(&out).unwrap();
    }
}

#[test]
fn export_writes_files_of_league_of_legends() {
    let files = Files::new();
    let (clip, out) = (files.at("out/an_arm__Move.kpa"), files.at("arm.anm"));
    for (scheme, caches) in [("keyed", 1), ("quantized", 0), ("quantized-32", 5)] {
        files.build(&["--scheme", scheme]);
        let mut arguments = vec!["anim", "export", &clip, &out, "--force"];
        let count = caches.to_string();
        if caches != 1 {
            arguments.extend(["--jump-caches", &count]);
        }
        let document = json(&arguments);
        assert_eq!(
            sorted_keys(&document),
            ["bytes", "file", "joints", "jump_caches", "keys", "max_difference_cm"]
        );
        let bytes = files.read("arm.anm");
        let anm = Anm::from_bytes(&bytes).unwrap();
        assert_eq!(anm.joints(), ["upper", "lower"].map(elf_hash));
        assert_eq!(
            (anm.head().duration_s, anm.head().rate_hz, anm.jump_cache_count()),
            (1.0, 30.0, caches)
        );
        let number = |key: &str| document[key].as_f64().unwrap();
        assert_eq!(document["file"], out.as_str());
        let counts = [bytes.len(), anm.joints().len(), anm.keys().len(), caches as usize]
            .map(|count| count as f64);
        assert_eq!(["bytes", "joints", "keys", "jump_caches"].map(number), counts);
        assert!(number("max_difference_cm") < 0.02, "{scheme}: {document}");
        let line = stdout(&arguments);
        let plural = if caches == 1 { "" } else { "s" };
        let expected = format!(
            "{out}: 2 joints, {} keys, {} bytes, {caches} jump cache{plural};",
            counts[2], counts[0]
        );
        assert!(line.starts_with(&expected) && line.lines().count() == 2, "{line}");
    }
    files.build(&["--scheme", "keyed", "--parametrization", "chordal"]);
    let chordal = refusal(&["anim", "export", &clip, &out, "--force"]);
    assert!(
        chordal.contains(&clip) && chordal.contains("build the clip with times or uniform"),
        "{chordal}"
    );
    files.build(&[]);
    let blocks = refusal(&["anim", "export", &clip, &out, "--force"]);
    assert!(
        blocks.contains(&clip) && blocks.contains("--scheme keyed") && blocks.contains(".glb"),
        "{blocks}"
    );
}

#[test]
fn an_exported_gltf_file_has_the_same_motion() {
    let files = Files::new();
    files.build(&[]);
    let (clip, out) = (files.at("out/an_arm__Move.kpa"), files.at("arm.glb"));
    let document = json(&["anim", "export", &clip, &out]);
    assert_eq!(
        sorted_keys(&document),
        ["bytes", "curves", "file", "joints", "markers", "rate_hz", "samples"]
    );
    let bytes = files.read("arm.glb").len();
    assert_eq!(
        (document["bytes"].as_u64(), document["samples"].as_u64()),
        (Some(bytes as u64), Some(31))
    );
    stdout(&["anim", "decode", &clip, &files.at("ours.clip")]);
    stdout(&["anim", "raw", &out, &files.at("back")]);
    let read = |name: &str| exchange::read("arm", &files.read(name)).unwrap();
    let (ours, back) = (read("ours.clip"), read("back/arm__an_arm__Move.clip"));
    assert_eq!(ours.samples(), back.samples());
    assert!(max_distance_cm(&ours, &back) < 1e-3);
    let line = stdout(&["anim", "export", &clip, &out, "--force", "--rate", "12.5"]);
    assert!(line.starts_with(&format!("{out}: 2 joints, 14 samples at 12.5 Hz, ")), "{line}");
    for (options, reason) in [
        (["--rate", "1e12"], "are too many"),
        (["--rate", "0"], "0 is not a positive rate"),
        (["--jump-caches", "2"], "--jump-caches is for .anm files"),
    ] {
        let refused =
            program::run(&[&["anim", "export", &clip, &out, "--force"], &options[..]].concat());
        assert_eq!(refused.code, Some(2));
        assert!(refused.stderr.contains(reason), "{}", refused.stderr);
    }
}
