//! `kinepack anim` as its users see it.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "support/program.rs"]
mod program;

use std::fs;

use kinepack_anim::exchange;
use program::{json, refusal, stdout};

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
fn clips_are_written_and_told_of() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    fs::write(at("a walk.bvh"), BVH).unwrap();
    let document = json(&["anim", "raw", &at("a walk.bvh"), &at("out/clips")]);
    let clip = &document["clips"][0];
    assert_eq!((clip["name"].as_str(), clip["file"].as_str()), (Some("a walk"), Some(at("a walk.bvh").as_str())));
    let numbers = ["joints", "samples", "rate_hz", "raw_bytes"].map(|key| clip[key].as_f64().unwrap());
    assert_eq!(numbers, [2.0, 4.0, 120.0, 320.0]);
    assert!(document["notes"][0].as_str().unwrap().ends_with("5.64444 cm a unit, the first frame dropped"));
    let clip = exchange::read("a walk", &fs::read(at("out/clips/a walk.clip")).unwrap()).unwrap();
    assert_eq!((clip.samples(), clip.skeleton().bind_pose()[1].translation), (4, [5.64444, 0.0, 0.0]));

    let options = ["--convention", "as-written", "--rate", "30", "--frame-rate", "60", "--unit-cm", "2"];
    let table = stdout(&[&["anim", "raw", &at("a walk.bvh"), &at("out")], options.as_slice()].concat());
    let row: Vec<&str> = table.lines().nth(2).unwrap().split_whitespace().collect();
    assert_eq!(row, ["a", "walk", "2", "3", "30", "0.07", "240"], "{table}");
    assert_eq!(table.lines().count(), 3, "no note where all was said:\n{table}");
}

#[test]
fn what_cannot_be_read_or_written_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    fs::create_dir(at("other")).unwrap();
    fs::write(at("walk.bvh"), BVH).unwrap();
    fs::write(at("other/walk.bvh"), BVH).unwrap();
    fs::write(at("bad.bvh"), BVH.replace("Frames", "Pictures")).unwrap();
    let said = |arguments: &[&str]| refusal(&[&["anim", "raw"], arguments].concat());
    let same = said(&[&at("walk.bvh"), &at("other/walk.bvh"), &at("out")]);
    assert!(same.contains(&at("walk.bvh")) && same.contains(&at("other/walk.bvh")), "{same}");
    let bad = said(&[&at("bad.bvh"), &at("out")]);
    assert!(bad.contains("bad.bvh: line 13: \"Pictures:\" where Frames: must stand"), "{bad}");
    assert!(said(&[&at("walk.bvh"), &at("out"), "--rate", "50"]).contains("possible are 120, 60,"));
    assert!(said(&[&at("walk.bvh"), &at("out"), "--unit-cm", "0"]).contains("positive"));
    assert!(said(&[&at("missing.glb"), &at("out")]).contains("missing.glb: "));
    assert!(said(&[&at("walk.bvh"), &at("bad.bvh")]).contains("bad.bvh: "));
}
