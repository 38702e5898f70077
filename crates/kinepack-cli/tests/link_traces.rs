//! Tests replays over links that follow a trace, and the reports on what the links carried.

use kinepack::{EntityId, Tick};
use kinepack_capture::Recorder;
use kinepack_net::LinkTrace;
use serde_json::Value;

use crate::challenge::Files;
use crate::support::drone::Drone;
use crate::support::program::{check_width, json, refusal, run, stdout};

/// Records 30 drones that fly for six seconds. They take about 50 kbit/s.
fn drones(files: &Files) -> String {
    let capture = files.path("drones.mcap");
    let mut recorder = Recorder::create(&capture).unwrap();
    let stream = recorder.stream::<Drone>("drones", 30.0).unwrap();
    for tick in 0..180u32 {
        let drones = (0..30).map(|id| {
            let turn = tick as f32 * (0.02 + 0.003 * id as f32);
            let position = [200.0 * turn.cos(), 200.0 * turn.sin(), 50.0 * (2.0 * turn).sin()];
            (EntityId(id), Drone { position, battery: 90 })
        });
        recorder.record(&stream, Tick(tick), drones).unwrap();
    }
    recorder.finish().unwrap();
    capture.to_str().unwrap().to_owned()
}

fn numbers(series: &Value, field: &str) -> Vec<f64> {
    series.as_array().unwrap().iter().map(|slot| slot[field].as_f64().unwrap()).collect()
}

#[test]
fn a_replay_over_a_trace_reports_what_its_link_carried() {
    let files = Files::new();
    let capture = &*drones(&files);
    // 32 kbit/s, in opportunities of 1,500 bytes.
    let trace = files.write("slow.trace", b"375\n750\n");
    let trace = trace.to_str().unwrap();
    let replay = ["replay", capture, "--level", "packed", "--link", "lan", "--link-trace", trace];
    let narrow = [&replay[..], &["--queue-kb", "3"]].concat();
    let report = json(&narrow);
    assert_eq!(report["runs"][0]["wrong_lanes"], 0);
    let used = &report["runs"][0]["link_use"];
    assert_eq!((&used["offered_kbps"], &used["slot_ms"]), (&32.0.into(), &100.into()), "{used}");
    assert!(used["used_ratio"].as_f64().unwrap() > 0.8, "{used}");
    let dropped = used["dropped"].as_u64().unwrap();
    assert!(dropped > 10, "{used}");
    // 3,000 bytes take 0.75 s at this rate.
    let waits = ["mean", "p95", "max"].map(|name| used["queueing_ms"][name].as_f64().unwrap());
    assert!(100.0 < waits[0] && waits.is_sorted() && waits[2] <= 750.0, "{used}");
    let series = &used["series"];
    let [sent, arrived] = ["sent_kbps", "arrived_kbps"].map(|name| numbers(series, name));
    assert_eq!((sent.len(), &series[1]["at_ms"]), (60, &100.into()));
    assert_eq!(numbers(series, "dropped").iter().sum::<f64>(), dropped as f64);
    assert!(numbers(series, "queueing_ms").iter().all(|ms| *ms <= 750.0), "{series}");
    let mean = |rates: &[f64]| rates.iter().sum::<f64>() / rates.len() as f64;
    assert!((mean(&numbers(series, "offered_kbps")) - 32.0).abs() < 0.1, "{series}");
    assert!(mean(&arrived) <= 32.0 && mean(&sent) > 1.2 * mean(&arrived), "{used}");
    assert!(series[0]["budget_kbps"].is_null(), "{series}");
    // A budget below the link's rate needs hardly a queue.
    let thrifty = json(&[&narrow[..], &["--budget", "3500"]].concat());
    let used = &thrifty["runs"][0]["link_use"];
    assert_eq!((&used["dropped"], &used["series"][30]["budget_kbps"]), (&0.into(), &28.0.into()));
    assert!(used["queueing_ms"]["p95"].as_f64().unwrap() < waits[0], "{used}");
    // Curves have the numbers of the link, without what happened over time.
    let swept = json(&[&replay[..], &["--sweep", "rtt=5..50"]].concat());
    let used = &swept["over_round_trip"][6]["link_use"];
    assert!(used["queueing_ms"]["mean"].as_f64().unwrap() > 100.0, "{used}");
    assert!(used["series"].is_null() && !swept["runs"][0]["link_use"]["series"].is_null());
    let text = stdout(&narrow);
    for part in
        ["a trace of 0.75 s with 32 kbit/s on average and a queue of 3 kB", "used", "dropped"]
    {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    check_width(&narrow, &[capture]);
    let page = files.path("page.html");
    let written = run(&[&narrow[..], &["--html", page.to_str().unwrap()]].concat());
    assert_eq!(written.code, Some(0), "{}", written.stderr);
    assert!(std::fs::read_to_string(page).unwrap().contains("\"offered_kbps\":32.0"));
}

#[test]
fn generated_traces_are_followed_and_a_roomy_link_is_noted() {
    let files = Files::new();
    let capture = &*drones(&files);
    let replay = ["replay", capture, "--level", "packed"];
    for name in LinkTrace::NAMES {
        let report = json(&[&replay[..], &["--link-trace", name]].concat());
        assert!(report["link"].as_str().unwrap().ends_with(&format!("--link-trace {name}")));
        let series = &report["runs"][0]["link_use"]["series"];
        assert!(numbers(series, "offered_kbps").iter().any(|kbps| *kbps > 0.0), "{name}");
        let note = report["notes"][0].as_str().unwrap();
        assert!(note.contains("most of the time the link is not the limit"), "{note}");
    }
    // Without an option that limits the link, its use is not of interest.
    assert!(json(&replay)["runs"][0]["link_use"].is_null());
    let narrow = json(&[&replay[..], &["--bandwidth-kbps", "60"]].concat());
    assert_eq!(narrow["runs"][0]["link_use"]["offered_kbps"], 60.0);
}

#[test]
fn an_automatic_budget_follows_a_slow_link() {
    let files = Files::new();
    let capture = &*drones(&files);
    let slow = ["--link", "cable", "--bandwidth-kbps", "32", "--queue-kb", "64"];
    let replay = [&["replay", capture, "--level", "packed"][..], &slow].concat();
    let p95_ms = |budget: &[&str]| {
        let report = json(&[&replay[..], budget].concat());
        let used = &report["runs"][0]["link_use"];
        let last = used["series"].as_array().unwrap().last().unwrap()["budget_kbps"].as_f64();
        (used["queueing_ms"]["p95"].as_f64().unwrap(), last)
    };
    let (unlimited_ms, none) = p95_ms(&[]);
    let (auto_ms, last_kbps) = p95_ms(&["--budget", "auto"]);
    assert_eq!(none, None);
    assert!(last_kbps.is_some_and(|kbps| (10.0..60.0).contains(&kbps)), "{last_kbps:?}");
    assert!(auto_ms < 0.3 * unlimited_ms, "{auto_ms} of {unlimited_ms} ms");
}

#[test]
fn a_bad_trace_is_refused_with_its_line() {
    let files = Files::new();
    let capture = &*drones(&files);
    for (text, says) in [
        (&b""[..], "the trace is empty; give a line"),
        (b"0\n0\n", "line 2: the last time is 0 ms"),
        (b"5\n9\n7\n", "line 3: 7 ms is before 9 ms in the line above; put the times in order"),
        (b"5\n\n7\n", "line 2 is not a time; give an integer of milliseconds"),
        (b"5\n\xFF\xFE\n", "line 2 is not a time"),
        (b"-5\n", "line 1 is not a time"),
    ] {
        let trace = files.write("bad.trace", text);
        let refused = refusal(&["replay", capture, "--link-trace", trace.to_str().unwrap()]);
        assert!(refused.contains("bad.trace: ") && refused.contains(says), "{refused}");
    }
    let refused = refusal(&["replay", capture, "--link-trace", "trian"]);
    assert!(refused.contains("--link-trace trian: ") && refused.contains("cell-edge, train"));
    let refused = run(&["replay", capture, "--budget", "100"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("bytes a second, auto or unlimited"), "{}", refused.stderr);
}
