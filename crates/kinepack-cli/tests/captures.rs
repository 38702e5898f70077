//! Tests the commands for captures: converting, analyzing, tuning, training and replaying.

use kinepack::{EntityId, Pack, Profile, Schema, Tick};
use kinepack_capture::Recorder;

use crate::challenge::{Files, good_bin, good_f32};
use crate::support::drone::Drone;
use crate::support::program::{
    check_width, json, refusal, run, see_that_it_replaces_by_force_alone, stdout,
};

#[test]
fn analyze_and_measure_agree() {
    let files = Files::new();
    for (name, capture) in [("run.f32", good_f32(40, 30)), ("run.bin", good_bin(8))] {
        let capture = files.write(name, &capture);
        let capture = capture.to_str().unwrap();
        let analyzed = json(&["analyze", capture]);
        let measured = json(&["measure", capture, "--level", "position,packed,adaptive,learning"]);
        let stream = &analyzed["streams"][0];
        assert_eq!(
            (stream["name"].as_str(), stream["rate_hz"].as_f64()),
            (Some("cubes"), Some(60.0))
        );
        for level in measured["levels"].as_array().unwrap() {
            let same = stream["levels"]
                .as_array()
                .unwrap()
                .iter()
                .find(|other| other["level"] == level["level"])
                .unwrap();
            assert_eq!(
                same["bytes_per_frame"], level["bytes_per_frame"]["mean"],
                "{name}: {level}"
            );
        }
        assert_eq!(stream["fields"][0]["name"], "position");
        assert_eq!(stream["fields"][0]["components"].as_array().unwrap().len(), 3);
    }
}

#[test]
fn an_analysis_is_printed_as_tables_and_written_as_a_self_contained_page() {
    let files = Files::new();
    let capture = files.write("run.f32", &good_f32(40, 30));
    let page = files.path("report.html");
    let [capture, page_path] = [&capture, &page].map(|path| path.to_str().unwrap());
    let text = stdout(&["analyze", capture, "--html", page_path]);
    for part in [
        "What to change first",
        "What each level takes",
        "orientation.dropped",
        "By the age of the baseline",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    assert!(text.lines().all(|line| line == line.trim_end()), "{text}");
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(
        html.starts_with("<!doctype html>") && html.contains("\"streams\":[{\"name\":\"cubes\"")
    );
    for foreign in ["<link", "src=", "@import", "fetch(", "import "] {
        assert!(!html.contains(foreign), "{foreign:?} in the page");
    }
}

#[test]
fn bad_arguments_of_analyze_are_refused_in_one_line() {
    let files = Files::new();
    let short = files.write("short.bin", &good_bin(6));
    let message = refusal(&["analyze", short.to_str().unwrap()]);
    assert!(message.contains("6 frames are too few for a baseline 6 ticks back"), "{message}");
    let capture = files.write("run.f32", &good_f32(40, 30));
    let capture = capture.to_str().unwrap();
    let message = refusal(&["analyze", capture, "--profile", capture]);
    assert!(message.contains("this is not a profile"), "{message}");
    let nowhere = files.path("no/such/folder.html");
    let failed = run(&["analyze", capture, "--html", nowhere.to_str().unwrap()]);
    assert_eq!((failed.code, failed.stdout.as_str()), (Some(2), ""));
    assert!(failed.stderr.contains("folder.html"), "{}", failed.stderr);
}

#[test]
fn challenge_files_convert_to_captures_and_back() {
    let files = Files::new();
    for (name, challenge) in [("run.bin", good_bin(8)), ("run.f32", good_f32(20, 30))] {
        let (from, capture, back) = (
            files.write(name, &challenge),
            files.path("run.mcap"),
            files.path(&format!("back-{name}")),
        );
        let [from, capture, back] = [&from, &capture, &back].map(|path| path.to_str().unwrap());
        for [a, b] in [[from, capture], [capture, back]] {
            let converted = run(&["convert", a, b, "--force"]);
            assert_eq!(converted.code, Some(0), "{}", converted.stderr);
        }
        assert_eq!(std::fs::read(back).unwrap(), challenge, "{name}");
        let [direct, through] = [from, capture]
            .map(|file| json(&["analyze", file, "--lag", "3"])["streams"][0].clone());
        assert_eq!(direct["levels"], through["levels"], "{name}");
    }
    let message = refusal(&[
        "convert",
        files.path("run.mcap").to_str().unwrap(),
        files.path("other.bin").to_str().unwrap(),
    ]);
    assert!(message.contains("must end in .mcap"), "{message}");
    let again = files.path("again.mcap");
    let capture = files.path("run.mcap");
    let [capture, again] = [&capture, &again].map(|path| path.to_str().unwrap());
    let message = refusal(&["convert", capture, again]);
    assert!(message.contains("run.mcap: this is a capture already"), "{message}");
}

#[test]
fn every_command_recognises_captures_and_challenge_files_by_content() {
    let files = Files::new();
    let challenge = files.write("run.f32", &good_f32(60, 5));
    let capture = files.path("run.mcap");
    let [challenge, capture] = [&challenge, &capture].map(|path| path.to_str().unwrap());
    assert_eq!(run(&["convert", challenge, capture]).code, Some(0));
    let out = files.path("run.profile");
    let out = out.to_str().unwrap();
    let mut sizes = Vec::new();
    for (name, from) in [("challenge", challenge), ("capture", capture)] {
        let nameless = files.write(name, &std::fs::read(from).unwrap());
        let file = nameless.to_str().unwrap();
        let measured = json(&["measure", file, "--level", "packed,adaptive", "--stream", "cubes"]);
        sizes.push((measured["levels"][0]["bytes_per_frame"].clone(), measured["frames"].clone()));
        assert_eq!(json(&["analyze", file])["streams"][0]["name"], "cubes", "{name}");
        assert_eq!(json(&["replay", file, "--level", "packed"])["frames"], 60, "{name}");
        let tuned = json(&["tune", file, "--passes", "1", "--lag", "3"]);
        assert_eq!(tuned["stream"], "cubes", "{name}");
        let trained = run(&["train", file, "--passes", "1", "--out", out, "--force"]);
        assert_eq!(trained.code, Some(0), "{name}: {}", trained.stderr);
    }
    assert_eq!(sizes[0], sizes[1]);
    let refused = refusal(&["measure", capture, "--level", "1"]);
    assert!(refused.contains("level 1 (uncompressed) needs floats"), "{refused}");
    let refused = refusal(&["measure", capture, "--stream", "ships"]);
    assert!(refused.contains("no such stream; there are cubes"), "{refused}");
}

#[test]
fn sizes_and_floors_that_no_body_has_are_refused() {
    let files = Files::new();
    let capture = files.write("run.f32", &good_f32(60, 5));
    let out = files.path("out.profile");
    let [capture, out] = [&capture, &out].map(|path| path.to_str().unwrap());
    for command in [&["tune", capture][..], &["train", capture, "--out", out]] {
        for (size, floor, says) in [
            ("1e300", "0", "--body-size 1"),
            ("1e-300", "0", "--body-size 0.0"),
            ("1", "nan", "--body-floor NaN: in this schema it is between "),
            ("1", "1e9", "--body-floor 1000000000: in this schema it is between "),
        ] {
            let bodies = ["--body-size", size, "--body-floor", floor];
            let refused = refusal(&[command, &bodies].concat());
            assert!(refused.contains(says), "{refused}");
        }
    }
}

#[test]
fn any_seed_of_a_link_is_taken() {
    let files = Files::new();
    let capture = files.write("run.f32", &good_f32(60, 5));
    let seed = u64::MAX.to_string();
    let replay = ["replay", capture.to_str().unwrap(), "--level", "packed", "--link-seed", &seed];
    assert_eq!(json(&replay)["frames"], 60);
}

#[test]
fn a_profile_for_coarser_steps_is_tried_with_the_same_steps() {
    let files = Files::new();
    let (capture, profile) = (&*drones(&files), files.path("coarse.profile"));
    let profile = profile.to_str().unwrap();
    let steps = ["--max-error", "position=0.05,battery=2"];
    let tune = ["tune", capture, "--out", profile, "--passes", "1", "--lag", "3"];
    let tuned = json(&[&tune[..], &steps].concat());
    let measure = ["measure", capture, "--level", "packed", "--lag", "3", "--profile", profile];
    let bytes = |report: &serde_json::Value| {
        report["levels"][0]["bytes_per_frame"]["mean"].as_f64().unwrap()
    };
    let coarse = json(&[&measure[..], &steps].concat());
    let [training, held_out] =
        ["training", "held_out"].map(|part| tuned["tuned"][part]["packed"].as_f64().unwrap());
    let (least, most) = (training.min(held_out), training.max(held_out));
    assert!((least..=most).contains(&bytes(&coarse)), "{coarse}");
    let replay = ["replay", capture, "--level", "packed", "--profile", profile];
    let replayed = json(&[&replay[..], &steps].concat());
    assert_eq!(replayed["runs"][0]["wrong_lanes"], 0, "{replayed}");
    let error_m = replayed["runs"][0]["errors"][0]["error"]["p50"]
        .as_f64()
        .or_else(|| replayed["runs"][0]["errors"][0]["p50"].as_f64())
        .unwrap();
    assert!((0.01..0.06).contains(&error_m), "{replayed}");
    for without in [&measure[..], &replay] {
        let refused = refusal(without);
        assert!(refused.contains("made for another schema"), "{refused}");
    }
    let refused = refusal(&[&measure[..], &["--max-error", "hull=1"]].concat());
    assert!(refused.contains("--max-error hull: no such field"), "{refused}");
}

#[test]
fn a_profile_of_any_schema_is_trained_on_several_captures() {
    let files = Files::new();
    let (capture, profile) = (&*drones(&files), files.path("drones.profile"));
    let profile = profile.to_str().unwrap();
    let trained =
        run(&["train", capture, capture, "--passes", "1", "--to", "60", "--out", profile]);
    assert_eq!(trained.code, Some(0), "{}", trained.stderr);
    assert!(trained.stderr.contains("trained on 120 frames"), "{}", trained.stderr);
    let [untrained, with] = ["untrained", profile].map(|profile| {
        let report = json(&["measure", capture, "--level", "packed", "--profile", profile]);
        report["levels"][0]["bytes_per_frame"]["mean"].as_f64().unwrap()
    });
    assert!(with < 0.9 * untrained, "{with} of {untrained}");
    let cubes = files.write("run.f32", &good_f32(40, 30));
    let cubes = cubes.to_str().unwrap();
    let refused = refusal(&["train", capture, cubes, "--out", profile, "--force"]);
    assert!(refused.contains("another schema than that of"), "{refused}");
    let refused = refusal(&["measure", capture, "--time-precision-ms", "2"]);
    assert!(refused.contains("--time-precision-ms is for cubes"), "{refused}");
}

#[test]
fn tables_fit_into_the_terminal() {
    let files = Files::new();
    let capture = &*drones(&files);
    let replay = ["replay", capture, "--level", "packed"];
    let tune = ["tune", capture, "--passes", "1", "--lag", "3", "--max-error", "position=0.05"];
    for arguments in [&["analyze", capture][..], &["measure", capture], &replay, &tune] {
        check_width(arguments, &[capture]);
    }
}

/// Returns a capture of drones that circle at different speeds. Their numbers are not quantized.
fn drones(files: &Files) -> String {
    let capture = files.path("drones.mcap");
    let mut recorder = Recorder::create(&capture).unwrap();
    let stream = recorder.stream::<Drone>("drones", 30.0).unwrap();
    for tick in 0..200 {
        let time = tick as f32 / 30.0;
        let drones: Vec<Drone> = (0..20)
            .map(|drone| {
                let turn = time * (0.5 + 0.1 * drone as f32);
                Drone {
                    position: [20.0 * turn.cos(), 20.0 * turn.sin(), drone as f32],
                    battery: 100 - tick / 10,
                }
            })
            .collect();
        recorder.record(&stream, Tick(tick as u32), (0..).map(EntityId).zip(&drones)).unwrap();
    }
    recorder.finish().unwrap();
    capture.to_str().unwrap().to_owned()
}

#[test]
fn a_tuned_profile_saves_bytes_on_held_out_frames() {
    let files = Files::new();
    let (capture, profile, rust) =
        (&*drones(&files), files.path("drones.profile"), files.path("drones.rs"));
    let [profile_path, rust_path] = [&profile, &rust].map(|path| path.to_str().unwrap());
    let options = ["--out", profile_path, "--rust", rust_path, "--passes", "2", "--lag", "3"];
    let tuned = json(&[&["tune", capture], &options[..]].concat());
    assert_eq!((&tuned["training_frames"], &tuned["held_out_frames"]), (&150.into(), &50.into()));
    for part in ["training", "held_out"] {
        for level in ["packed", "adaptive"] {
            let [before, after] =
                ["built_in", "tuned"].map(|profile| tuned[profile][part][level].as_f64().unwrap());
            assert!(after < 0.8 * before, "{part}, {level}: {after} instead of {before}");
        }
    }
    let learned = json(&["tune", capture, "--passes", "2", "--lag", "3", "--learn"]);
    let [trained, learned] =
        [&tuned, &learned].map(|report| report["tuned"]["held_out"]["adaptive"].as_f64().unwrap());
    assert!(learned < trained, "{learned} instead of {trained}");
    let bytes = std::fs::read(&profile).unwrap();
    assert!(Profile::from_bytes(&bytes, &Schema::of::<Drone>()).is_ok());
    let constant = std::fs::read_to_string(&rust).unwrap();
    assert!(
        constant.contains(&format!("pub const PROFILE: [u8; {}] = [", bytes.len())),
        "{}",
        &constant[..200]
    );
    // The profile is for the schema of these drones only.
    assert_eq!(json(&["replay", capture, "--profile", profile_path])["runs"][0]["wrong_lanes"], 0);
    let cubes = files.write("run.f32", &good_f32(40, 30));
    let message = refusal(&["analyze", cubes.to_str().unwrap(), "--profile", profile_path]);
    assert!(message.contains("made for another schema"), "{message}");
}

#[test]
fn further_captures_train_the_model_alone() {
    let files = Files::new();
    let (capture, cubes) = (&*drones(&files), files.write("run.f32", &good_f32(40, 30)));
    let cubes = cubes.to_str().unwrap();
    let tune = |further: &[&str]| {
        let tune = ["tune", capture, "--passes", "1", "--lag", "3"];
        json(&[&tune[..], further].concat())
    };
    let copy = files.path("copy.mcap");
    std::fs::copy(capture, &copy).unwrap();
    let copy = copy.to_str().unwrap();
    let [alone, with] = [&[][..], &[copy]].map(tune);
    assert_eq!(with["further"][0]["file"], copy);
    assert_eq!(with["further"][0]["frames"], 200);
    let refused = refusal(&["tune", capture, copy, capture]);
    assert!(refused.contains("give it once"), "{refused}");
    let bytes = |report: &serde_json::Value, level: &str| {
        report["tuned"]["held_out"][level].as_f64().unwrap()
    };
    assert_eq!(bytes(&alone, "packed"), bytes(&with, "packed"));
    assert_ne!(bytes(&alone, "adaptive"), bytes(&with, "adaptive"));
    for part in ["training_frames", "held_out_frames"] {
        assert_eq!(alone[part], with[part], "only the first capture is measured");
    }
    let refused = refusal(&["tune", capture, cubes]);
    assert!(refused.contains("another schema than that of"), "{refused}");
}

#[derive(Pack)]
#[allow(dead_code, reason = "only its schema is used")]
struct CoarseDrone {
    #[pack(range = -500.0..500.0, precision = 0.0577)]
    position: [f32; 3],
    #[pack(range = 0..=100, precision = 5)]
    battery: i32,
}

#[test]
fn max_error_finds_the_coarsest_steps_and_a_profile_for_them() {
    let files = Files::new();
    let (capture, profile) = (&*drones(&files), files.path("coarse.profile"));
    let options = ["--passes", "2", "--lag", "3", "--max-error", "position=0.05,battery=2"];
    let tuned =
        json(&[&["tune", capture, "--out", profile.to_str().unwrap()], &options[..]].concat());
    let steps = tuned["steps"].as_array().unwrap();
    for (step, (field, attribute, was, asked)) in steps.iter().zip([
        ("position", "precision = 0.0577", "precision = 0.01", 0.05),
        ("battery", "precision = 5", "precision = 1", 2.0),
    ]) {
        assert_eq!(
            (&step["field"], &step["attribute"], &step["was"]),
            (&field.into(), &attribute.into(), &was.into())
        );
        let largest = step["error"]["max"].as_f64().unwrap();
        assert!(0.8 * asked < largest && largest <= asked, "{step}");
    }
    // The profile is for the schema that the derive makes with these attributes.
    let schema = Schema::of::<CoarseDrone>();
    assert_eq!(tuned["schema_hash"], format!("{:016x}", schema.hash()));
    assert!(Profile::from_bytes(&std::fs::read(&profile).unwrap(), &schema).is_ok());
    let finer = json(&["tune", capture, "--passes", "2", "--lag", "3"]);
    let held_out =
        |report: &serde_json::Value| report["tuned"]["held_out"]["packed"].as_f64().unwrap();
    assert!(held_out(&tuned) < 0.9 * held_out(&finer), "{tuned}\n{finer}");
    assert_eq!(finer["steps"], serde_json::json!([]));
    assert_eq!(finer["field_order"]["tried"], 2);
    let text = stdout(&[&["tune", capture], &options[..]].concat());
    assert!(
        text.contains("write them into the struct") && text.contains("Order of the fields"),
        "{text}"
    );
    for (wanted, message) in [
        ("hull=1", "no such field; there are position, battery"),
        ("position=1e-9", "--max-error position: steps of"),
        ("position=0", "give an error above 0"),
    ] {
        let refused = run(&["tune", capture, "--max-error", wanted]);
        assert_eq!(refused.code, Some(2));
        assert!(refused.stderr.contains(message), "{wanted}: {}", refused.stderr);
    }
    let message = refusal(&["tune", capture, "--body-size", "1"]);
    assert!(message.contains("marks no position of three axes"), "{message}");
}

#[test]
fn tune_replaces_files_only_with_force_and_refuses_one_file_for_two_outputs() {
    let files = Files::new();
    let capture = &*drones(&files);
    let [profile, rust] = ["run.profile", "run.rs"].map(|name| files.path(name));
    let [profile_name, rust_name] = [&profile, &rust].map(|path| path.to_str().unwrap());
    std::fs::write(&rust, b"worth something").unwrap();
    let refused = refusal(&["tune", capture, "--out", profile_name, "--rust", rust_name]);
    assert!(refused.contains(rust_name) && refused.contains("--force"), "{refused}");
    assert!(std::fs::read(&rust).unwrap() == b"worth something" && !profile.exists());
    let twice = refusal(&["tune", capture, "--out", profile_name, "--rust", profile_name]);
    assert!(twice.contains(profile_name) && twice.contains("two options"), "{twice}");
    let short = ["tune", capture, "--passes", "1", "--lag", "3", "--out", profile_name];
    see_that_it_replaces_by_force_alone(&profile, &short);
}
