//! Tests the program as users see it: exit codes, standard output and standard error.

use cube_data::cube::Measured;

use crate::challenge::{
    Files, Header, OBJECTS, bin, f32_file, good_bin, good_f32, record, states, zst,
};
use crate::support::program::{all_names, json, level_names, refusal, run, stdout};

#[test]
fn a_profile_is_trained_on_captures_and_measured_with() {
    let files = Files::new();
    let capture = files.write("run.f32", &good_f32(40, 30));
    let profile = files.path("run.profile");
    let [capture, profile] = [&capture, &profile].map(|path| path.to_str().unwrap());
    let trained = run(&["train", capture, "--to", "30", "--passes", "2", "--out", profile]);
    assert_eq!((trained.code, trained.stdout.as_str()), (Some(0), ""), "{}", trained.stderr);
    assert!(
        trained.stderr.contains(profile) && trained.stderr.contains("trained on 30 frames"),
        "{}",
        trained.stderr
    );
    let document = json(&[
        "measure",
        capture,
        "--from",
        "30",
        "--level",
        "packed,adaptive",
        "--profile",
        profile,
    ]);
    assert_eq!(document["frames"], 10);
    let coarse = run(&[
        "train",
        capture,
        "--passes",
        "1",
        "--time-precision-ms",
        "2",
        "--out",
        profile,
        "--force",
    ]);
    assert_eq!(coarse.code, Some(0), "{}", coarse.stderr);
    assert_eq!(
        json(&["measure", capture, "--level", "learning", "--profile", profile])["frames"],
        34
    );
    let refused = refusal(&["measure", capture, "--profile", capture]);
    assert!(refused.contains("this is not a profile"), "{refused}");
    let refused = refusal(&["train", capture, "--to", "1", "--out", profile, "--force"]);
    assert!(refused.contains("too short"), "{refused}");
}

#[test]
fn challenge_files_are_measured_at_the_levels_that_they_allow() {
    let files = Files::new();
    let [bin, f32] = [("run.bin", good_bin(8)), ("run.f32", good_f32(8, 40))];
    for (name, bytes) in [bin, f32] {
        let plain = files.write(name, &bytes);
        let packed = files.write(&format!("{name}.zst"), &zst(&bytes));
        let [plain, packed] = [&plain, &packed].map(|path| path.to_str().unwrap());
        let document = json(&["measure", plain]);
        let levels = if name == "run.bin" { &all_names()[5..] } else { &all_names()[..] };
        assert_eq!(level_names(&document), levels);
        assert_eq!(document["file"], *plain);
        assert_eq!(document["frames"], 2);
        let unpacked = json(&["measure", packed]);
        assert_eq!(level_names(&unpacked), levels);
        for (packed, plain) in unpacked["levels"]
            .as_array()
            .unwrap()
            .iter()
            .zip(document["levels"].as_array().unwrap())
        {
            assert_eq!(packed["bytes_per_frame"], plain["bytes_per_frame"]);
        }
    }
}

#[test]
fn bad_challenge_files_are_refused_in_one_line() {
    let files = Files::new();
    let run = good_bin(8);
    let frame = OBJECTS * 32;
    let mut high: Vec<Vec<_>> =
        states(8, OBJECTS).iter().map(|states| states.iter().map(record).collect()).collect();
    high[7][13][1] = 512;
    let mut far = states(8, 5);
    far[3][4].position[2] = -0.5;
    let mut lost = states(8, 5);
    lost[2][1].orientation = [0.0; 4];
    let bad = [
        ("cut.bin", run[..7 * frame + 9].to_vec(), "frame 7 has 9 of 28832 bytes"),
        ("odd.bin", [&run[..], &[0; 3]].concat(), "frame 8 has 3 of 28832 bytes"),
        ("empty.bin", Vec::new(), "holds no frame"),
        ("foreign.f32", run.clone(), "does not begin with CF32"),
        (
            "version.f32",
            f32_file(Header { version: 2, ..Header::new(5, 8) }, &states(8, 5)),
            "version is not 1",
        ),
        ("billions.f32", Header::new(4_000_000_000, 8).bytes(), "number of entities"),
        ("fewer.f32", f32_file(Header::new(5, 9), &states(8, 5)), "frame 8 has 0 of 265 bytes"),
        ("more.f32", f32_file(Header::new(5, 7), &states(8, 5)), "more data than the 7 frames"),
        ("run.txt", run.clone(), "must end in .bin"),
        ("foreign.bin.zst", run.clone(), "zstd data damaged"),
        ("cut.bin.zst", zst(&run)[..500].to_vec(), "zstd data damaged"),
        ("high.bin", bin(&high), "frame 7, entity 13: first component 512 is out of range"),
        (
            "far.f32",
            f32_file(Header::new(5, 8), &far),
            "frame 3, entity 4: field `position`: -0.5 is outside",
        ),
        ("lost.f32", f32_file(Header::new(5, 8), &lost), "frame 2, entity 1: field `orientation`"),
        ("short.bin", good_bin(6), "6 frames are too few for a baseline 6 ticks back"),
    ];
    for (name, bytes, says) in bad {
        let path = files.write(name, &bytes);
        let path = path.to_str().unwrap();
        for arguments in [&["measure", path][..], &["measure", path, "--json"]] {
            let message = refusal(arguments);
            assert!(message.contains(says), "{message:?} does not say {says:?}");
            assert!(message.contains(path), "{message:?} does not name the file");
        }
    }
    let message = refusal(&["measure", files.path("missing.bin").to_str().unwrap()]);
    assert!(message.contains("missing.bin"), "{message}");
    let run = files.write("run.bin", &run);
    let message = refusal(&["measure", run.to_str().unwrap(), "--level", "packed,1"]);
    assert!(message.contains("level 1 (uncompressed) needs floats"), "{message}");
    // These captures are too short for a reason other than the lag.
    let run = files.write("longer.bin", &good_bin(40));
    let run = run.to_str().unwrap();
    let out = files.path("out.profile");
    let out = out.to_str().unwrap();
    let empty = files.path("empty.mcap");
    let mut recorder = kinepack_capture::Recorder::create(&empty).unwrap();
    recorder.stream::<bool>("lamps", 60.0).unwrap();
    recorder.finish().unwrap();
    let empty = empty.to_str().unwrap();
    for (arguments, says) in [
        (
            &["measure", run, "--from", "500"][..],
            "longer.bin: --from 500: there is no frame 500; the capture has 40 frames",
        ),
        (
            &["tune", run, "--hold-out", "90"],
            "longer.bin: 4 frames of 40 remain to train on with --hold-out 90",
        ),
        (
            &["train", run, "--out", out, "--from", "10", "--to", "5"],
            "no frame from frame 10 on and before frame 5\n",
        ),
        (&["train", run, "--out", out, "--from", "40"], "no frame from frame 40 on\n"),
        (&["measure", run, "--profile", "/dev/zero"], "this is not a profile"),
        // The advice is always a shorter lag. It suggests holding out less only if that leaves
        // enough frames.
        (
            &["tune", run, "--hold-out", "1", "--lag", "60"],
            "120 ticks back; give a shorter --lag\n",
        ),
        (&["tune", run, "--hold-out", "90"], "give a shorter --lag, or hold out less\n"),
        (&["measure", empty, "--from", "1"], "empty.mcap: it has no frames\n"),
        (&["measure", "/dev/null"], "a pipe or a device can be read only once"),
        (&["analyze", empty], "empty.mcap: stream lamps: it has no frames\n"),
        (&["tune", empty], "empty.mcap: it has no frames\n"),
        (&["replay", empty], "empty.mcap: it has no frames\n"),
    ] {
        let message = refusal(arguments);
        assert!(message.contains(says), "{message:?} does not say {says:?}");
    }
}

#[test]
fn numbers_that_are_not_finite_are_refused_at_every_level() {
    type Change = fn(&mut Measured);
    let files = Files::new();
    let bad: [(&str, Change, &str); 5] = [
        ("fast", |state| state.velocity[1] = f32::INFINITY, "velocity`: inf"),
        ("back", |state| state.velocity[2] = f32::NEG_INFINITY, "velocity`: -inf"),
        ("lost", |state| state.velocity[0] = f32::NAN, "velocity` is not a number"),
        ("far", |state| state.position[0] = f32::INFINITY, "position`: inf"),
        ("odd", |state| state.orientation[3] = f32::NAN, "orientation` is not a number"),
    ];
    for (name, change, says) in bad {
        let mut frames = states(8, 5);
        change(&mut frames[6][3]);
        let file = files.write(&format!("{name}.f32"), &f32_file(Header::new(5, 8), &frames));
        let file = file.to_str().unwrap();
        for level in ["1", "2", "3", "5", "packed"] {
            let refused = refusal(&["measure", file, "--level", level]);
            let says = format!("{name}.f32: frame 6, entity 3: field `{says}");
            assert!(refused.contains(&says), "{level}: {refused}");
        }
    }
}

#[test]
fn levels_that_send_floats_take_no_other_steps() {
    let files = Files::new();
    let capture = files.write("run.f32", &good_f32(20, 5));
    let capture = capture.to_str().unwrap();
    let steps = ["--max-error", "position=0.01", "--level"];
    let refused = refusal(&[&["measure", capture][..], &steps, &["packed,3"]].concat());
    assert!(refused.contains("--max-error") && refused.contains("level 3 (velocity)"), "{refused}");
    assert!(!refused.contains(".f32"), "{refused}");
    let document = json(&[&["measure", capture][..], &steps, &["position,packed"]].concat());
    assert_eq!(level_names(&document), ["position", "packed"]);
}

#[test]
fn bad_arguments_are_refused_with_the_allowed_values() {
    let files = Files::new();
    let capture = files.write("run.bin", &good_bin(8));
    let capture = capture.to_str().unwrap();
    for level in ["loud", "15", ""] {
        let message = refusal(&["measure", capture, "--level", level]);
        assert!(message.contains("1 uncompressed") && message.contains("12 packed"), "{message}");
    }
    let bad: [(&[&str], &str); 7] = [
        (&["measure", capture, "--lag", "0"], "1..=600"),
        (&["measure", capture, "--seed", "2"], "unexpected argument '--seed'"),
        (&["measure", capture, "--profile", "loud"], "untrained"),
        (&["measure"], "<FILE>"),
        (&["train", "--out", "run.profile"], "<FILES>..."),
        (&["loud"], "unrecognized subcommand"),
        (&["demo"], "cargo run --release -- demo"),
    ];
    for (arguments, says) in bad {
        let run = run(arguments);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(run.stderr.contains(says), "{:?} does not say {says:?}", run.stderr);
    }
}

#[test]
fn help_and_version_are_there() {
    for (arguments, says) in [
        (&["--help"][..], "Commands:"),
        (&["--version"], "kinepack "),
        (&["measure", "--help"], "--lag"),
        (&["completions", "bash"], " measure "),
    ] {
        assert!(stdout(arguments).contains(says), "{arguments:?}");
    }
    // The commands of the lab are in a program of its own.
    let completions = stdout(&["completions", "bash"]);
    for command in [" demo ", " serve ", " join ", " simulate ", " record ", " sweep "] {
        assert!(!completions.contains(command), "{command}");
    }
}

#[test]
fn the_completions_offer_every_command_but_no_hidden_one() {
    // The hidden command exists, for people who package the program.
    assert!(stdout(&["man-pages", "--help"]).contains("<FOLDER>"));
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = stdout(&["completions", shell]);
        for command in ["measure", "analyze", "tune", "train", "anim", "completions", "help"] {
            assert!(script.contains(command), "{shell}: {command}");
        }
        assert!(script.contains("version"), "{shell}");
        // Scripts write the hyphen of a name in several ways.
        for hidden in ["man-pages", "man__pages", "man__subcmd__pages"] {
            assert!(!script.contains(hidden), "{shell}: {hidden}");
        }
    }
}
