//! Tests the lab's program as users see it, by its exit codes, standard output and error.

use std::io::Read;
use std::process::Stdio;

use clap::Subcommand;
use serde_json::Value;

use crate::challenge::{Files, Header, f32_file, good_bin, good_f32, states};
use crate::support::program::{json, program, refusal, run, stdout};
use crate::support::recorded::recorded;

#[test]
fn the_demo_sends_a_capture() {
    let files = Files::new();
    let capture = files.write("run.f32", &good_f32(40, 30));
    let document = json(&[
        "demo",
        "--headless",
        "--fast",
        "--level",
        "adaptive",
        "--capture",
        capture.to_str().unwrap(),
    ]);
    assert_eq!(document["wrong_lanes"], 0);
    let world = recorded(&files, "world", &["--seconds", "1", "--cubes", "20"]);
    let document = json(&["demo", "--headless", "--fast", "--velocities", "--capture", &world]);
    assert_eq!(document["wrong_lanes"], 0);
    let sent = document["frames_sent"].as_u64().unwrap();
    assert!((50..=60).contains(&sent), "a second, without ticks at rest: {sent}");
    let quantized = files.write("run.bin", &good_bin(8));
    let refused = refusal(&["demo", "--capture", quantized.to_str().unwrap()]);
    assert!(refused.contains("use a .f32 file"), "{refused}");
}

#[test]
fn a_bad_value_of_a_capture_is_named_before_the_demo_begins() {
    let files = Files::new();
    let mut far = states(8, 5);
    far[3][4].position[2] = -0.5;
    let floats = files.write("far.f32", &f32_file(Header::new(5, 8), &far));
    let capture = files.path("far.mcap");
    let [floats, capture] = [&floats, &capture].map(|path| path.to_str().unwrap());
    assert_eq!(run(&["convert", floats, capture]).code, Some(0));
    for (file, place) in [
        (floats, "far.f32: frame 3, "),
        (capture, "far.mcap: stream \"cubes\", tick 3, entity 4: field "),
    ] {
        for options in [&["--no-open", "--listen", "127.0.0.1:0"][..], &["--headless", "--fast"]] {
            for more in [&["--json"][..], &["--velocities"]] {
                let refused = refusal(&[&["demo", "--capture", file][..], options, more].concat());
                let reason = " 4: field `position`: -0.5 is outside";
                assert!(refused.contains(place) && refused.contains(reason), "{refused}");
            }
        }
    }
}

#[test]
fn bad_arguments_are_refused_with_the_allowed_values() {
    let seeds = "give a whole number from 0 to 18446744073709551615";
    let bad: [(&[&str], &str); 23] = [
        (&["record", "world.mcap", "--seed", "-1"], seeds),
        (&["join", "127.0.0.1:9", "--seed", "-1"], seeds),
        (&["inputs", "--seed", "1.5"], seeds),
        (&["simulate", "--link-seed", "-1"], seeds),
        (&["inputs", "--clients", "-4"], "-4 is not in 1..=10000"),
        (&["simulate", "--looked-at", "-1"], "-1 is not in 0..=4294967295"),
        (&["record", "world.mcap", "--from", "120"], "give ADDRESS:PORT, such as"),
        (&["record", "world.mcap", "--style", "loud"], "typical, push, pull, rest"),
        (&["demo", "--seconds", "0"], "1..=86400"),
        (&["demo", "--link", "loud"], "lan, cable, wifi, mobile, terrible"),
        (&["demo", "--loss", "101"], "'--loss <PERCENT>': give a number from 0 to 100 percent"),
        (&["demo", "--jitter-ms", "-1"], "give a number from 0 to 3600000 ms"),
        (&["demo", "--mtu", "3"], "28..=65535"),
        (&["simulate", "--outage", "8..5"], "8 is after 5"),
        (&["sweep", "--seconds", "-5"], "-5 is not in 1..=86400"),
        (&["demo", "--send-hz", "7"], "divide the world's 60"),
        (&["simulate", "--round-trips-ms", "9"], "10..200"),
        (
            &["serve", "--rings", "12,6"],
            "ring 2, `6`: give a distance above that of the ring before",
        ),
        (&["arena", "--bots", "31"], "31 is not in 0..=30"),
        (&["arena", "--seconds", "20"], "--headless"),
        (&["arena", "--headless", "--kbps", "2"], "3..=1000000"),
        (&["arena", "--link", "moon"], "lan, cable, wifi, mobile, terrible"),
        (&["serve", "--rings", "6:0"], "ring 1, `6:0`: give 1 to 255 snapshots after the colon"),
    ];
    for (arguments, says) in bad {
        let run = run(arguments);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(run.stderr.contains(says), "{:?} does not say {says:?}", run.stderr);
    }
}

#[test]
fn the_demo_ends_with_a_summary_and_no_wrong_lanes() {
    let text = stdout(&["demo", "--seconds", "2", "--cubes", "200", "--headless", "--fast"]);
    for what in [
        "--seconds 2 --seed 1 --cubes 200",
        "--link wifi",
        "with IP and UDP headers",
        "playout delay",
        "input: bits a packet",
    ] {
        assert!(text.contains(what), "{what} in\n{text}");
    }
    let last = text.lines().last().unwrap();
    assert!(last.starts_with("lanes that arrived wrong") && last.ends_with(" 0"), "{last}");
}

#[test]
fn the_json_document_of_the_demo_has_its_keys() {
    let options =
        ["--link", "mobile", "--loss", "10", "--burst", "3", "--send-hz", "30", "--velocities"];
    let document =
        json(&[&["demo", "--seconds", "3", "--headless", "--fast"], &options[..]].concat());
    assert_eq!(document["wrong_lanes"], 0);
    for key in [
        "frames_sent",
        "states_shown",
        "kbps_payload",
        "kbps_total",
        "round_trip_ms",
        "playout_delay_ms",
    ] {
        assert!(document[key].as_f64().is_some_and(|value| value > 0.0), "{key} in {document}");
    }
    assert!(
        document["loss_ratio"].as_f64().is_some_and(|ratio| (0.01..0.3).contains(&ratio)),
        "{document}"
    );
    for key in ["shown_error_mm", "shown_error_deg"] {
        for part in ["p50", "p99", "max"] {
            assert!(document[key][part].is_number(), "{key}.{part} in {document}");
        }
    }
    assert_eq!(document["link"], "--link mobile --loss 10 --burst 3");
    let input = &document["input"];
    assert_eq!([&input["records"], &input["packets"], &input["wrong"]], [180, 180, 0], "{input:#}");
    let [mean, full] = ["mean", "full"].map(|of| input["bits_per_packet"][of].as_f64().unwrap());
    assert!(32.0 < mean && mean < full, "{input:#}");
    for key in ["kbps_payload", "kbps_with_headers", "received", "recovered"] {
        assert!(input[key].as_f64().is_some_and(|value| value > 0.0), "{key} in {input:#}");
    }
}

#[test]
fn playback_recovers_after_an_outage() {
    // After a short outage, both sides still share a view. After a long outage, the sender sends a
    // full state again.
    for (seconds, outage, blocks) in [("12", "2..9", 1), ("74", "2..70", 2)] {
        let options = [
            "--seconds",
            seconds,
            "--cubes",
            "300",
            "--level",
            "packed",
            "--fast",
            "--link",
            "cable",
            "--outage",
            outage,
        ];
        let document = json(&[&["demo", "--headless"], &options[..]].concat());
        assert_eq!(document["wrong_lanes"], 0);
        assert_eq!(document["blocks"], blocks, "{document}");
        let received = document["frames_received"].as_u64().unwrap();
        assert!((250..450).contains(&received), "about five seconds: {received}");
        let moves_mm = document["shown_error_mm"]["p50"].as_f64().unwrap();
        assert!(moves_mm < 3.0, "{document}");
    }
}

#[test]
fn a_simulation_counts_every_receiver_and_no_wrong_lanes() {
    let document =
        json(&["simulate", "--seconds", "2", "--receivers", "20", "--round-trips-ms", "10..200"]);
    assert_eq!(
        (&document["receivers"], &document["wrong_lanes"]),
        (&Value::from(20), &Value::from(0))
    );
    let crowd = ["--objects", "3000", "--moving", "1000", "--budget-kbps", "256"];
    let document = json(&[&["simulate", "--seconds", "3", "--loss", "5"], &crowd[..]].concat());
    assert_eq!(document["wrong_lanes"], 0);
    let kbps = document["first"]["kbps_total"].as_f64().unwrap();
    // The sender can save up the budget of a tenth of a second, and begins with that much.
    assert!((100.0..256.0 * 3.1 / 3.0).contains(&kbps), "the budget: {kbps}");
    assert!(
        document["first"]["frames_with_left_out"].as_u64().is_some_and(|count| count > 0),
        "{document}"
    );
}

#[test]
fn links_that_follow_a_trace_report_what_they_carried() {
    let crowd = ["--objects", "500", "--moving", "400", "--level", "packed"];
    let link = ["--link", "cable", "--link-trace", "step", "--queue-kb", "32"];
    let simulate = ["simulate", "--seconds", "12"];
    let document = json(&[&simulate[..], &crowd, &link].concat());
    assert_eq!(document["wrong_lanes"], 0);
    let used = &document["first"]["link_use"];
    let [carried, slow] = [50, 115].map(|slot| used["series"][slot]["offered_kbps"].as_f64());
    assert!(carried.is_some_and(|kbps| (3_900.0..4_100.0).contains(&kbps)), "{carried:?}");
    assert!(slow.is_some_and(|kbps| kbps < 400.0), "{slow:?}");
    let dropped = used["dropped"].as_u64().unwrap();
    assert!(dropped > 50, "{dropped}");
    // 32,000 bytes last for a second at 256 kbit/s.
    let longest_ms = used["queueing_ms"]["max"].as_f64().unwrap();
    assert!((500.0..=1_050.0).contains(&longest_ms), "{longest_ms}");
    let document = json(&[&simulate[..], &crowd, &link, &["--budget-kbps", "auto"]].concat());
    let used = &document["first"]["link_use"];
    let budget_kbps = used["series"][118]["budget_kbps"].as_f64().unwrap();
    assert!(budget_kbps < 500.0, "{budget_kbps}");
    let auto_dropped = used["dropped"].as_u64().unwrap();
    assert!(10 * auto_dropped < dropped, "{auto_dropped} of {dropped}");
    let refused = run(&["simulate", "--link-trace", "no.trace"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("or one of step, cell-edge, train"), "{}", refused.stderr);
}

#[test]
fn a_simulation_with_faults_heals_all_that_it_notices() {
    let crowd = ["simulate", "--seconds", "40", "--objects", "60", "--moving", "30"];
    let document =
        json(&[&crowd[..], &["--link", "cable", "--loss", "0", "--fault-every", "4"]].concat());
    let (first, faults) = (&document["first"], &document["first"]["faults"]);
    assert_eq!(
        (&document["wrong_lanes"], &faults["injected"]),
        (&Value::from(0), &Value::from(10))
    );
    assert!(faults["noticed"].as_u64().is_some_and(|count| count >= 8), "{faults}");
    for healed in ["healed", "healed_within_three_round_trips"] {
        assert_eq!(faults[healed], faults["noticed"], "{faults}");
    }
    assert_eq!(first["failed_checks"], faults["noticed"]);
    assert_eq!(faults["false_alarms"], 0);
}

#[test]
fn any_seed_of_a_link_is_taken() {
    let seed = u64::MAX.to_string();
    let simulated = ["simulate", "--seconds", "1", "--cubes", "5", "--link-seed", &seed];
    assert_eq!(run(&simulated).code, Some(0));
}

#[test]
fn a_sweep_draws_its_curves() {
    let files = Files::new();
    let path = files.path("sweep.svg");
    let small = ["--seconds", "1", "--cubes", "20", "--link-trace", "train"];
    let document = json(&[&["sweep", "--svg", path.to_str().unwrap()][..], &small].concat());
    let used = &document["over_loss"][0]["link_use"];
    assert!(used["offered_kbps"].as_f64().is_some_and(|kbps| kbps > 1_000.0), "{used}");
    assert!(used["series"].is_null(), "{used}");
    for key in ["over_loss", "over_round_trip"] {
        let points = document[key].as_array().unwrap();
        assert!(
            points.len() > 4 && points.iter().all(|point| point["wrong_lanes"] == 0),
            "{document}"
        );
    }
    assert!(std::fs::read_to_string(path).unwrap().starts_with("<svg"));
}

#[test]
fn a_closed_standard_output_is_not_a_failure() {
    let files = Files::new();
    let small = ["--seconds", "1", "--cubes", "20"];
    let world = recorded(&files, "world.f32", &small);
    let demo = [&["demo", "--headless", "--fast"], &small[..]].concat();
    for arguments in [&["measure", &world, "--json"][..], &["measure", &world], &demo] {
        let mut command = program();
        command.args(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn a_closed_standard_error_is_not_a_failure() {
    let files = Files::new();
    let capture = files.path("run.mcap");
    let capture = capture.to_str().unwrap();
    for (arguments, code) in [
        (&["record", capture, "--seconds", "1", "--cubes", "5"][..], 0),
        (&["measure", "missing.bin"], 2),
    ] {
        let mut command = program();
        let mut child =
            command.args(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stderr.take());
        assert_eq!(child.wait().unwrap().code(), Some(code), "{arguments:?}");
    }
}

/// The generator of completions writes a name with a hyphen in two ways.
#[test]
fn the_completions_for_bash_know_each_command_by_one_name() {
    let script = stdout(&["completions", "bash"]);
    let given: Vec<&str> =
        script.split("cmd=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(given.len() > 20, "{given:?}");
    // The help hides this command, which is for packagers.
    assert!(!script.contains("man-pages"), "{script}");
    for name in given.into_iter().filter(|name| !name.is_empty()) {
        assert!(script.contains(&format!(" {name})\n")), "nothing is completed after {name}");
    }
}

/// `kinepack` explains where the lab's commands are.
#[test]
fn kinepack_knows_the_commands_of_the_lab() {
    let of_kinepack = kinepack_cli::Command::augment_subcommands(clap::Command::new("kinepack"));
    let is_of_kinepack = |name: &str| of_kinepack.find_subcommand(name).is_some();
    let help = stdout(&["--help"]);
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let commands = commands.lines().take_while(|line| !line.is_empty());
    // The lines of a long description have more space in front.
    let names = commands.filter_map(|line| line.strip_prefix("  "));
    let names = names.filter(|rest| !rest.starts_with(' '));
    let names = names.filter_map(|rest| rest.split(' ').next());
    let mut of_the_lab: Vec<&str> =
        names.filter(|name| *name != "help" && !is_of_kinepack(name)).collect();
    of_the_lab.sort_unstable();
    assert_eq!(of_the_lab, kinepack_cli::OF_THE_LAB);
}

#[test]
fn help_and_version_are_there() {
    for (arguments, says) in [
        (&["--help"][..], "Commands:"),
        (&["--version"], "kinepack-lab "),
        (&["demo", "--help"], "--fast"),
        (&["record", "--help"], "Built-in world:"),
        // The program also has the commands of `kinepack`, and completes all of them.
        (&["measure", "--help"], "--lag"),
        (&["completions", "bash"], " simulate "),
        (&["completions", "bash"], " measure "),
    ] {
        assert!(stdout(arguments).contains(says), "{arguments:?}");
    }
}
