//! Tests rigs, which clips of one skeleton share.

use std::fs;

use kinepack_anim::{Rig, exchange};
use serde_json::Value;

use super::Files;
use crate::support::program::{json, refusal, stdout};

impl Files {
    /// Two files with samples of the arm: forwards and backwards.
    pub(crate) fn two(&self) -> [String; 2] {
        stdout(&["anim", "raw", &self.at("an arm.glb"), &self.at("raw"), "--force"]);
        let raw = exchange::read("raw", &self.read("raw/an_arm__Move.clip")).unwrap();
        let mut file = Vec::new();
        exchange::write_head(raw.skeleton(), raw.samples(), raw.rate_hz(), &mut file).unwrap();
        (0..raw.samples())
            .rev()
            .for_each(|sample| exchange::write_pose(raw.pose(sample), &mut file).unwrap());
        fs::write(self.at("back.clip"), file).unwrap();
        [self.at("raw/an_arm__Move.clip"), self.at("back.clip")]
    }

    fn build_two(&self, options: &[&str]) -> Value {
        let [there, back] = self.two();
        json(&[&["anim", "build", &there, &back, "--rig", "--precision", "0.01"], options].concat())
    }
}

#[test]
fn clips_of_one_skeleton_share_a_rig() {
    let files = Files::new();
    let document = files.build_two(&["--out", &files.at("out")]);
    let [rig] = &document["rigs"].as_array().unwrap()[..] else { panic!("{document}") };
    assert_eq!((rig["clips"].as_u64(), rig["joints"].as_u64()), (Some(2), Some(2)), "{document}");
    let name = rig["file"].as_str().unwrap();
    let bytes = files.read(&format!("out/{name}"));
    assert_eq!(rig["bytes"].as_u64(), Some(bytes.len() as u64));
    assert_eq!(name, format!("an_arm-{:016x}.kpr", Rig::from_bytes(&bytes).unwrap().hash()));
    // The report has the sum, and other commands find the rig.
    let clips = document["clips"].as_array().unwrap();
    let sum =
        clips.iter().map(|clip| clip["bytes"].as_u64().unwrap()).sum::<u64>() + bytes.len() as u64;
    let [there, back] = files.two();
    let table = stdout(&["anim", "build", &there, &back, "--rig", "--precision", "0.01"]);
    assert!(table.contains(&format!("\nwith rigs: {sum} bytes, ")), "{table}");
    let info = stdout(&["anim", "info", &files.at("out/back.kpa")]);
    assert!(info.contains(&format!("\nreferences from the rig {name}")), "{info}");
    stdout(&["anim", "decode", &files.at("out/back.kpa"), &files.at("decoded.clip")]);
    stdout(&["anim", "export", &files.at("out/back.kpa"), &files.at("back.glb")]);
    assert_eq!(exchange::read("decoded", &files.read("decoded.clip")).unwrap().samples(), 31);
    let errors = json(&["anim", "info", &files.at("out/back.kpa"), "--raw", &back]);
    assert!(errors["clips"][0]["errors"]["all"]["max_cm"].as_f64().unwrap() <= 0.01, "{errors}");

    // A later build uses the existing rig, also for disk files.
    let mut later =
        vec!["anim", "build", &there, "--rig", "--precision", "0.02", "--disk", "--out"];
    let out = files.at("out");
    later.push(&out);
    assert_eq!(json(&later)["rigs"][0]["file"].as_str(), Some(name));
    assert!(files.read(&format!("out/{name}")) == bytes);
    stdout(&["anim", "decode", &files.at("out/an_arm__Move.kpd"), &files.at("again.clip")]);

    fs::rename(files.at(&format!("out/{name}")), files.at("elsewhere.kpr")).unwrap();
    for clip in ["out/back.kpa", "out/an_arm__Move.kpd"] {
        let said = refusal(&["anim", "decode", &files.at(clip), &files.at("third.clip")]);
        let hash = name.strip_prefix("an_arm").unwrap();
        assert!(said.contains(&files.at(clip)) && said.contains(&format!("*{hash}")), "{said}");
    }
    fs::write(files.at(&format!("out/{name}")), &bytes[..40]).unwrap();
    let said = refusal(&["anim", "info", &files.at("out/back.kpa")]);
    assert!(said.contains(name) && said.contains("truncated"), "{said}");
    later.push("--force");
    assert!(refusal(&later).contains("truncated"));
}

#[test]
fn single_clips_and_other_schemes_have_no_rig() {
    let files = Files::new();
    let document = files.build(&["--rig"]);
    assert_eq!(document["rigs"].as_array().map(Vec::len), Some(0));
    for command in ["build", "compare"] {
        let said =
            refusal(&["anim", command, &files.at("an arm.glb"), "--rig", "--scheme", "keyed"]);
        assert!(said.contains("--rig") && said.contains("block"), "{said}");
    }
}

#[test]
fn compare_adds_the_bytes_of_rigs() {
    let files = Files::new();
    let built = files.build_two(&[]);
    let bytes = |list: &str| {
        built[list]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["bytes"].as_u64().unwrap())
            .sum::<u64>()
    };
    let [there, back] = files.two();
    let compared = json(&["anim", "compare", &there, &back, "--rig", "--precision", "0.01"]);
    let rows = compared["rows"].as_array().unwrap();
    let with_rigs = rows.iter().find(|row| row["name"] == "  the same with rigs").unwrap();
    assert_eq!(with_rigs["bytes"].as_u64(), Some(bytes("clips") + bytes("rigs")), "{compared}");
}
