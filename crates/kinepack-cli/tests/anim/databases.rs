//! `anim build --database` writes clip databases, and other commands list them and read single
//! clips.

use std::fs;
use std::path::PathBuf;

use kinepack_anim::{ClipDatabase, exchange};

use super::Files;
use crate::support::program::{
    json, refusal, see_that_a_failure_changes_nothing, see_that_it_replaces_by_force_alone, stdout,
};

impl Files {
    /// Builds a database of the arm forwards and backwards.
    fn database(&self, options: &[&str]) -> serde_json::Value {
        let [there, back] = self.two();
        let file = self.at("arms.kpb");
        let build = ["anim", "build", &there, &back, "--database", &file, "--force"];
        json(&[&build[..], options].concat())
    }

    fn opened(&self) -> ClipDatabase {
        ClipDatabase::from_bytes(self.read("arms.kpb")).unwrap()
    }
}

#[test]
fn a_database_has_the_clips_that_a_directory_would_have() {
    let files = Files::new();
    let [there, back] = files.two();
    let mut sizes = Vec::new();
    for options in [&[][..], &["--rig"], &["--disk"], &["--rig", "--disk", "--jobs", "1"]] {
        let options = [options, &["--precision", "0.01"]].concat();
        let document = files.database(&options);
        let database = files.opened();
        let (is_rig, is_disk) = (options.contains(&"--rig"), options.contains(&"--disk"));
        fs::remove_dir_all(files.at("out")).ok();
        let out = files.at("out");
        json(&[&["anim", "build", &there, &back, "--out", &out][..], &options].concat());
        let end = if is_disk { "kpd" } else { "kpa" };
        for name in ["an_arm__Move", "back"] {
            let file = database.file(database.find(name).unwrap());
            assert!(files.read(&format!("out/{name}.{end}")) == file, "{name} {options:?}");
        }
        assert_eq!(database.rig().is_some(), is_rig);
        assert_eq!(database.skeleton().len(), 2);
        let report = &document["database"];
        let number = |field: &str| report[field].as_u64().unwrap() as usize;
        assert_eq!((number("clips"), number("joints")), (2, 2));
        assert_eq!(number("bytes"), files.read("arms.kpb").len());
        assert_eq!(number("rig_bytes"), database.rig().map_or(0, |rig| rig.to_bytes().len()));
        assert_eq!(number("clip_bytes"), database.file(0).len() + database.file(1).len());
        let rigs = document["rigs"].as_array().unwrap();
        assert!(rigs.iter().all(|rig| rig["file"].as_str() == Some(&files.at("arms.kpb"))));
        assert_eq!(rigs.len(), usize::from(is_rig));
        sizes.push(number("clip_bytes"));
    }
    assert!(sizes[2] < sizes[0] && sizes[3] < sizes[1], "{sizes:?}");
}

#[test]
fn info_lists_the_clips_of_a_database() {
    let files = Files::new();
    files.database(&["--rig", "--precision", "0.01"]);
    let file = files.at("arms.kpb");
    let table = stdout(&["anim", "info", &file]);
    let lines: Vec<_> = table.lines().collect();
    assert!(table.contains("2 clips of 2 joints, 2.0 s; "), "{table}");
    let row = lines.iter().find(|line| line.starts_with("an_arm__Move")).unwrap();
    let words: Vec<_> = row.split_whitespace().collect();
    let bytes = files.opened().entry(0).bytes.to_string();
    assert_eq!(words[1], "memory");
    assert_eq!(words[4..], ["31", "30", "1.00", "0", &bytes], "{table}");

    let document = json(&["anim", "info", &file]);
    let list = document["databases"][0]["list"].as_array().unwrap();
    let names: Vec<_> = list.iter().map(|line| line["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["an_arm__Move", "back"]);
    assert_eq!(list[1]["samples"].as_u64(), Some(31));

    // A single clip is shown in the same way as a clip in a file of its own.
    let clip = stdout(&["anim", "info", &format!("{file}#back")]);
    assert!(clip.starts_with("back: 2 joints, 31 samples at 30 Hz"), "{clip}");
    let both = stdout(&["anim", "info", &format!("{file}#back"), &file]);
    assert!(both.contains(clip.trim_end().lines().next().unwrap()), "{both}");
    assert!(both.contains("2 clips of 2 joints"), "{both}");
}

#[test]
fn clips_of_a_database_are_decoded_and_exported() {
    let files = Files::new();
    for options in [&["--rig"][..], &["--disk"]] {
        files.database(&[options, &["--precision", "0.01"]].concat());
        let of = |clip: &str| files.at(&format!("arms.kpb#{clip}"));
        // The name of the animation is enough to select the clip.
        for clip in ["an_arm__Move", "Move"] {
            stdout(&["anim", "decode", &of(clip), &files.at("decoded.clip"), "--force"]);
            let decoded = exchange::read("decoded", &files.read("decoded.clip")).unwrap();
            let raw = exchange::read("raw", &files.read("raw/an_arm__Move.clip")).unwrap();
            assert!(super::max_distance_cm(&raw, &decoded) <= 0.0101);
        }
        let glb = files.at("back.glb");
        stdout(&["anim", "export", &of("back"), &glb, "--force"]);
        let raw = json(&["anim", "raw", &glb, &files.at("again"), "--force"]);
        assert_eq!(raw["clips"][0]["samples"].as_u64(), Some(31));
        let errors = json(&["anim", "info", &of("back"), "--raw", &files.at("back.clip")]);
        assert!(errors["clips"][0]["errors"]["all"]["max_cm"].as_f64().unwrap() <= 0.01);
    }
}

#[test]
fn a_name_that_is_missing_or_left_out_is_refused() {
    let files = Files::new();
    files.database(&[]);
    let (file, out) = (files.at("arms.kpb"), files.at("out.clip"));
    let said = refusal(&["anim", "decode", &file, &out]);
    assert!(said.contains("2 clips; choose one with"), "{said}");
    assert!(said.contains("arms.kpb#CLIP: an_arm__Move, back"), "{said}");
    let said = refusal(&["anim", "decode", &format!("{file}#front"), &out]);
    assert!(said.contains("no clip front; its clips are an_arm__Move, back"), "{said}");
    assert!(!PathBuf::from(&out).exists());
    let arm = files.at("an arm.glb");
    let one = files.at("one.kpb");
    json(&["anim", "build", &arm, "--database", &one]);
    // The only clip of a database needs no name.
    stdout(&["anim", "decode", &one, &out]);
}

#[test]
fn clips_of_several_skeletons_are_refused_before_the_build() {
    let files = Files::new();
    let (arm, walk) = (files.at("an arm.glb"), files.at("walk.bvh"));
    let file = files.at("all.kpb");
    let said = refusal(&["anim", "build", &arm, &walk, "--database", &file]);
    assert!(said.contains(&walk), "it names the file: {said}");
    assert!(said.contains("build a database for each"), "{said}");
    assert!(!PathBuf::from(&file).exists());
    let said = refusal(&["anim", "build", &arm, "--database", &file, "--scheme", "keyed"]);
    assert!(said.contains("--database is for --scheme block"), "{said}");
    assert!(!PathBuf::from(&file).exists());
}

#[test]
fn damaged_databases_are_refused() {
    let files = Files::new();
    files.database(&[]);
    let bytes = files.read("arms.kpb");
    let file = files.at("bad.kpb");
    fs::write(&file, &bytes[..bytes.len() - 1]).unwrap();
    let said = refusal(&["anim", "info", &file]);
    assert!(said.contains("bad.kpb: truncated: it ends within its clips"), "{said}");
    let mut changed = bytes.clone();
    *changed.last_mut().unwrap() ^= 1;
    fs::write(&file, &changed).unwrap();
    // The index of the database is valid, and so is the other clip.
    stdout(&["anim", "info", &file]);
    stdout(&["anim", "info", &format!("{file}#an_arm__Move")]);
    let said = refusal(&["anim", "info", &format!("{file}#back")]);
    assert!(said.contains("bad.kpb: back: damaged"), "{said}");
    fs::write(&file, b"KPSK").unwrap();
    let said = refusal(&["anim", "info", &file]);
    assert!(said.contains("this is a skeleton (.kps)"), "{said}");
}

#[test]
fn a_database_is_replaced_only_with_force() {
    let files = Files::new();
    let (arm, file) = (files.at("an arm.glb"), files.at("one.kpb"));
    let build = ["anim", "build", &arm, "--database", &file];
    json(&build);
    see_that_it_replaces_by_force_alone(&PathBuf::from(&file), &build);
    let bad = ["anim", "build", &files.at("missing.glb"), "--database", &file, "--force"];
    let said = see_that_a_failure_changes_nothing(&PathBuf::from(&file), &bad, 2);
    assert!(said.contains("missing.glb"), "{said}");
}
