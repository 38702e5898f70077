//! Tests additive clips, which are differences from a base.

use std::fs;

use kinepack_anim::measure::{ErrorOptions, pose_distance_cm};
use kinepack_anim::{RawClip, Skeleton, Transform, additive, exchange};
use serde_json::{Value, json};

use super::{Files, document};
use crate::support::program::{self, refusal, stdout};

/// Returns the note of additive clips.
fn note(document: &Value) -> &str {
    let notes = document["notes"].as_array().unwrap();
    notes
        .iter()
        .filter_map(Value::as_str)
        .find(|note| note.starts_with("additive clips: "))
        .unwrap()
}

/// Returns the largest error of a difference that is added to its base.
fn off_cm(whole: &RawClip, delta: &RawClip, base: impl Fn(usize) -> Vec<Transform>) -> f64 {
    let off = |sample: usize| {
        let mut pose = base(sample);
        additive::add(&mut pose, delta.pose(sample), 1.0);
        pose_distance_cm(whole.skeleton(), &pose, whole.pose(sample), &ErrorOptions::default())
    };
    (0..whole.samples()).map(off).fold(0.0, f64::max)
}

impl Files {
    /// Returns the arm as plain samples at a rate.
    fn raw(&self, rate: &str) -> RawClip {
        stdout(&[
            "anim",
            "raw",
            &self.at("an arm.glb"),
            &self.at("raw"),
            "--force",
            "--rate",
            rate,
        ]);
        exchange::read("raw", &self.read("raw/an_arm__Move.clip")).unwrap()
    }

    /// Returns the built clip as plain samples.
    fn decoded(&self) -> RawClip {
        stdout(&[
            "anim",
            "decode",
            &self.at("out/an_arm__Move.kpa"),
            &self.at("back.clip"),
            "--force",
        ]);
        exchange::read("back", &self.read("back.clip")).unwrap()
    }
}

#[test]
fn an_additive_clip_added_to_its_base_gives_the_motion() {
    let files = Files::new();
    // The first base has fewer samples, and one of them is used. The second has as many samples as
    // the clip.
    let base = files.raw("15");
    fs::rename(files.at("raw/an_arm__Move.clip"), files.at("slow.clip")).unwrap();
    let whole = files.raw("30");
    let slow = files.at("slow.clip");
    let document = files.build(&["--base", &slow, "--base-sample", "5", "--precision", "0.02"]);
    assert_eq!(
        note(&document),
        "additive clips: differences from slow at sample 5; errors are measured with the base added"
    );
    let clip = &document["clips"][0];
    assert_eq!(
        (&clip["name"], &clip["is_within_precision"]),
        (&"an_arm__Move".into(), &true.into())
    );
    let skeleton = Skeleton::from_bytes(&files.read(&files.skeleton())).unwrap();
    assert!(skeleton.joints().iter().all(|joint| joint.bind == Transform::IDENTITY));
    assert_eq!(skeleton.find("lower"), Some(1));
    let off = off_cm(&whole, &files.decoded(), |_| base.pose(5).to_vec());
    let reported = clip["max_error_cm"].as_f64().unwrap();
    assert!(reported <= 0.02 && (off - reported).abs() < 1e-4, "{off}: {clip}");

    let document = files.build(&["--base", &files.at("an arm.glb")]);
    assert!(
        note(&document).contains("differences from an_arm__Move, sample by sample;"),
        "{document}"
    );
    let off = off_cm(&whole, &files.decoded(), |sample| whole.pose(sample).to_vec());
    assert!(off < 1e-3, "{off}");
    let table =
        stdout(&["anim", "build", &files.at("an arm.glb"), "--base", &files.at("an arm.glb")]);
    assert!(table.lines().any(|line| line == note(&document)), "{table}");
}

#[test]
fn one_clip_of_a_base_with_several_is_chosen_by_name() {
    let files = Files::new();
    let mut two = document::arm();
    let mut other = two.json["animations"][0].clone();
    other["name"] = json!("Hold still");
    two.json["animations"].as_array_mut().unwrap().push(other);
    // The name of the second file contains a #.
    for name in ["two.glb", "take #2.glb"] {
        fs::write(files.at(name), two.glb()).unwrap();
        let build =
            |base: &str| program::run(&["anim", "build", &files.at("an arm.glb"), "--base", base]);
        let stem = name.trim_end_matches(".glb").replace(' ', "_");
        let there = format!("{stem}__Move, {stem}__Hold_still");
        let unnamed = build(&files.at(name)).stderr;
        assert!(
            unnamed.contains(&format!("the file has 2 clips; choose one with FILE#CLIP: {there}")),
            "{unnamed}"
        );
        let wrong = build(&files.at(&format!("{name}#till"))).stderr;
        assert!(
            wrong.contains(&format!("#till: the file has no such clip; its clips are {there}")),
            "{wrong}"
        );
        for clip in ["Hold_still", &format!("{stem}__Hold_still")] {
            let built = build(&files.at(&format!("{name}#{clip}")));
            let note = format!("differences from {stem}__Hold_still, sample by sample");
            assert!(built.stdout.contains(&note), "{note}: {} {}", built.stdout, built.stderr);
        }
    }
}

#[test]
fn a_base_that_does_not_fit_is_refused() {
    let files = Files::new();
    files.raw("15");
    let (arm, slow, walk) =
        (files.at("an arm.glb"), files.at("raw/an_arm__Move.clip"), files.at("walk.bvh"));
    for (options, reason) in [
        (
            &["--base", &slow][..],
            "an arm.glb has 31 samples, the base has 16; \
             use one of those as a pose with --base-sample",
        ),
        (
            &["--base", &slow, "--base-sample", "16"],
            "no sample 16: an_arm__Move has samples 0 to 15",
        ),
        (
            &["--base", &walk],
            "an arm.glb has the joint upper in place of Hips; both must have one skeleton",
        ),
        (&["--base", &files.at("missing.glb#Move")], "missing.glb: "),
        (&["--base", &arm, "--scheme", "keyed"], "--base is for --scheme block, and this is keyed"),
    ] {
        let said =
            refusal(&[&["anim", "build", &arm, "--out", &files.at("out")], options].concat());
        assert!(said.contains(options[0]) || said.contains("missing"), "{said}");
        assert!(said.contains(reason), "{reason}: {said}");
    }
    assert!(!fs::exists(files.at("out")).unwrap(), "a refused build wrote files");
    let alone = program::run(&["anim", "build", &arm, "--base-sample", "0"]);
    assert!(
        alone.code == Some(2) && alone.stderr.contains("--base <FILE[#CLIP]>"),
        "{}",
        alone.stderr
    );
}

#[test]
fn a_base_that_hides_a_joint_skips_the_clip_and_names_it() {
    let files = Files::new();
    let mut hidden = document::arm();
    hidden.json["animations"][0]["channels"] = json!([]);
    hidden.channel(1, "scale", "STEP", &[0.0, 1.0], &[[0.0; 3], [1.0; 3]]);
    fs::write(files.at("hidden.glb"), hidden.glb()).unwrap();
    let (arm, base) = (files.at("an arm.glb"), files.at("hidden.glb"));
    let build = ["anim", "build", &arm, "--base", &base, "--base-sample"];
    let said = refusal(&[&build[..], &["0"]].concat());
    let reason = "in sample 0 of an_arm__Move of ";
    assert!(
        said.contains(reason) && said.contains("lower has a scale and the base has 0"),
        "{said}"
    );
    stdout(&[&build[..], &["30"]].concat());
    // A clip whose joint is always hidden can be built.
    hidden.json["animations"][0]["channels"] = json!([]);
    hidden.channel(1, "scale", "STEP", &[0.0, 1.0], &[[0.0; 3]; 2]);
    let always = files.at("always.glb");
    fs::write(&always, hidden.glb()).unwrap();
    let run = program::run(&[&build[..], &["0", &always]].concat());
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(
        run.stdout.contains("1 clip") && !run.stdout.contains("an_arm__Move "),
        "{}",
        run.stdout
    );
}
