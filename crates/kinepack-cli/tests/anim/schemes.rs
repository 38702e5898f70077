//! Tests reports about clips of different schemes: precision, bytes, and comparisons. It also tests
//! the training of widths.

use std::fs;

use serde_json::Value;

use super::Files;
use crate::support::program::{self, json, stdout};

#[test]
fn joints_keep_their_own_precisions_and_shells() {
    let files = Files::new();
    for scheme in ["block", "keyed"] {
        let of = |options: &[&str]| {
            let arguments =
                ["anim", "info", &files.at("an arm.glb"), "--scheme", scheme, "--precision", "0.5"];
            let document = json(&[&arguments, options].concat());
            let worst = document["clips"][0]["errors"]["worst"].as_array().unwrap();
            let lower = worst.iter().find(|joint| joint[0] == "lower").unwrap();
            (lower[1]["max_cm"].as_f64().unwrap(), document["clips"][0]["bytes"].as_u64().unwrap())
        };
        let (plain, own) = (of(&[]), of(&["--joint-precision", "LOW*=0.02"]));
        assert!(plain.0 > 0.02 && own.0 <= 0.02 && own.1 > plain.1, "{scheme}: {plain:?}, {own:?}");
        let far = of(&["--joint-shell", "lower=80"]);
        assert!(far.0 <= 0.5 && far.1 > plain.1, "{scheme}: {plain:?}, {far:?}");
    }
}

#[test]
fn a_clip_that_misses_its_precision_is_reported() {
    let files = Files::new();
    for (scheme, is_reported) in [("block", true), ("keyed", true), ("quantized", false)] {
        // This precision is below the rounding of single floats.
        let options = ["--scheme", scheme, "--precision", "1e-7"];
        let document = files.build(&options);
        let clip = &document["clips"][0];
        assert_eq!(clip["is_within_precision"], false);
        let note =
            format!("cm off, and 1.0e-7 cm was asked for: {scheme} clips cannot be more precise");
        let notes = document["notes"].as_array().unwrap();
        let is_note = |text: &str| text.starts_with("an_arm__Move: ") && text.ends_with(&note);
        assert_eq!(
            notes.iter().any(|text| is_note(text.as_str().unwrap())),
            is_reported,
            "{document}"
        );
        let table = stdout(&[&["anim", "build", &files.at("an arm.glb")], &options[..]].concat());
        assert_eq!(table.lines().any(is_note), is_reported, "{table}");
    }
}

#[test]
fn info_shows_where_the_bytes_of_block_clips_go() {
    let files = Files::new();
    files.build(&[]);
    let document = json(&["anim", "info", &files.at("out/an_arm__Move.kpa")]);
    let clip = &document["clips"][0];
    let parts: u64 =
        clip["parts"].as_array().unwrap().iter().map(|part| part[1].as_u64().unwrap()).sum();
    assert_eq!(clip["bytes"], parts);
    let number = |key: &str| clip[key].as_f64().unwrap();
    assert!([8.0, 16.0, 32.0].contains(&number("block_samples")), "{clip}");
    assert_eq!(number("segments"), (31.0 / number("block_samples")).ceil());
    assert!(number("bits_per_component") > number("bits_per_coefficient"));
    let channels = clip["channels"].as_array().unwrap();
    let sum =
        |key: &str| channels.iter().map(|channel| channel[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum("default") + sum("constant") + sum("animated"), 6);
    assert!(sum("bytes") > 0 && sum("bytes") < parts);
    let largest = clip["largest"].as_array().unwrap();
    let bytes: Vec<_> = largest.iter().map(|joint| joint["bytes"].as_u64().unwrap()).collect();
    assert!(bytes.is_sorted_by(|a, b| a >= b) && bytes[0] > 0);
    let text = stdout(&["anim", "info", &files.at("out/an_arm__Move.kpa")]);
    for word in ["of up to", "live component", "animated", "most bytes", "upper"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

/// Returns the names of the rows of a comparison.
fn rows(document: &Value) -> Vec<&str> {
    document["rows"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect()
}

#[test]
fn compare_puts_the_chosen_scheme_last() {
    let files = Files::new();
    let arm = files.at("an arm.glb");
    let document = json(&["anim", "compare", &arm]);
    let plain = [
        "raw floats",
        "raw floats, gzip",
        "quantized, 48 bits",
        "quantized, 32 bits",
        "splines alone",
    ];
    let block =
        ["keyed", "block, fast effort", "as asked: block, default effort", "  the same on disk"];
    assert_eq!(rows(&document), [&plain[..], &block].concat());
    assert_eq!(
        (&document["rows"][0]["bytes"], &document["rows"][0]["max_error_cm"]),
        (&2480.into(), &Value::Null)
    );
    assert!(document["rows"][1]["bytes"].as_u64().unwrap() < 2480);
    let fast = json(&["anim", "compare", &arm, "--effort", "fast"]);
    assert_eq!(
        rows(&fast),
        [&plain[..], &["keyed", "as asked: block, fast effort", "  the same on disk"]].concat()
    );
    // `article` is the old name of the keyed scheme.
    let keyed = json(&["anim", "compare", &arm, "--scheme", "article"]);
    let blocks = ["block, fast effort", "block, default effort", "as asked: keyed"];
    assert_eq!(rows(&keyed), [&plain[..], &blocks].concat());
    let table = stdout(&["anim", "compare", &arm, "--effort", "fast"]);
    assert!(table.contains("as asked: block, fast effort"), "{table}");
}

#[test]
fn tables_fit_into_the_terminal() {
    let files = Files::new();
    let [arm, walk, peer] = ["an arm.glb", "walk.bvh", "acl.csv"].map(|name| files.at(name));
    let peers = "file,clip,samples,acl_bytes,acl_max_error_cm\nan_arm.glb,Move,30,7,0.01\n";
    fs::write(&peer, peers).unwrap();
    let fine = ["--precision", "0.0000001", "--effort", "fast"];
    let build = [&["anim", "build", "--rig", &arm, &walk], &fine[..]].concat();
    let compare = [&["anim", "compare", &arm, "--peer", &peer], &fine[..]].concat();
    let steps = ["anim", "compare", &arm, "--scheme", "keyed", "--options"];
    for arguments in [&build[..], &compare, &steps] {
        program::check_width(arguments, &[&walk]);
    }
}

#[test]
fn a_peer_may_have_a_sample_more_or_fewer() {
    let files = Files::new();
    let arm = files.at("an arm.glb");
    let head = "file,clip,samples,acl_bytes,acl_max_error_cm\n";
    let row = |samples: usize, bytes: usize| format!("an_arm.glb,Move,{samples},{bytes},0.01\n");
    // A row with the exact number is preferred.
    for (rows, samples, word) in [
        (row(30, 7) + &row(31, 8) + &row(32, 9), 31, None),
        (row(30, 7), 30, Some("acl has a sample fewer")),
        (row(32, 9), 32, Some("acl has a sample more")),
    ] {
        fs::write(files.at("acl.csv"), head.to_owned() + &rows).unwrap();
        let arguments =
            ["anim", "compare", &arm, "--effort", "fast", "--peer", &files.at("acl.csv")];
        let peer = &json(&arguments)["peer"];
        assert_eq!(
            (&peer["missing"], &peer["clips"][0]["peer_samples"]),
            (&0.into(), &samples.into()),
            "{peer}"
        );
        let table = stdout(&arguments);
        assert_eq!(table.contains("a sample"), word.is_some(), "{table}");
        assert!(word.is_none_or(|word| table.contains(word)), "{table}");
    }
    fs::write(files.at("acl.csv"), head.to_owned() + &row(33, 9)).unwrap();
    let document =
        json(&["anim", "compare", &arm, "--effort", "fast", "--peer", &files.at("acl.csv")]);
    assert_eq!(document["peer"]["missing"], 1);
}

#[test]
fn training_widths_gives_the_same_result_each_time() {
    let files = Files::new();
    let (arm, walk) = (files.at("an arm.glb"), files.at("walk.bvh"));
    for name in ["a", "b"] {
        let (text, binary) = (files.at(&format!("{name}.txt")), files.at(&format!("{name}.bin")));
        let options =
            ["--precision", "0.1", "--precision", "0.01", "--out", &text, "--binary", &binary];
        let document = json(&[&["anim", "train", &arm, &walk], &options[..]].concat());
        assert_eq!(
            (&document["clips"], document["pieces"].as_array().unwrap().len()),
            (&2.into(), 4)
        );
        for piece in document["pieces"].as_array().unwrap() {
            assert_eq!(piece["profiles"], 255);
        }
    }
    assert!(
        files.read("a.txt") == files.read("b.txt") && files.read("a.bin") == files.read("b.bin")
    );
    let text = String::from_utf8(files.read("a.txt")).unwrap();
    let lines: Vec<Vec<u8>> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split(' ').map(|number| number.parse().unwrap()).collect())
        .collect();
    assert_eq!(lines.len(), 4 * 255);
    assert_eq!(lines[3 * 255][..3], [32, 1, 0]);
    let widths: Vec<u8> = lines.iter().flat_map(|line| line[3..].to_vec()).collect();
    assert_eq!(widths, files.read("a.bin"));
    let zero =
        program::run(&["anim", "train", &arm, "--out", &files.at("c.txt"), "--precision", "0"]);
    assert!(
        zero.code == Some(2) && zero.stderr.contains("0 is not a positive number"),
        "{}",
        zero.stderr
    );
}
