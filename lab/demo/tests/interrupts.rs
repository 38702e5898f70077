//! Tests Ctrl-C in commands that run long. The commands report what they have done by then, and
//! exit with 130.

#![cfg(unix)]

use std::thread::sleep;
use std::time::Duration;

use crate::challenge::Files;
use crate::support::program::{Run, beside, json, own_line};
use crate::support::recorded::recorded;
use crate::support::running::Running;

/// The test waits this long before each signal. A machine that is busy with other tests may need
/// the later waits.
const WAITS_MS: [u64; 6] = [100, 400, 1500, 4000, 10_000, 25_000];

/// Records a capture that lasts a minute.
fn capture(files: &Files) -> String {
    recorded(files, "world.mcap", &["--seconds", "60", "--cubes", "40"])
}

/// Interrupts runs of a command. Each run waits longer than the last, until a run `is_far_enough`.
fn interrupted(arguments: &[&str], is_far_enough: impl Fn(&Run) -> bool) -> Run {
    let mut tries = WAITS_MS.iter().map(|wait_ms| {
        let running = Running::start(arguments, None);
        sleep(Duration::from_millis(*wait_ms));
        running.interrupt()
    });
    let run = tries.find(is_far_enough);
    let run = run.unwrap_or_else(|| panic!("{arguments:?} never came far enough"));
    assert_eq!(run.code, Some(130), "{arguments:?}: {}", run.stderr);
    assert_eq!(
        run.stderr.lines().filter(|line| line.starts_with(&own_line("interrupted "))).count(),
        1,
        "{arguments:?}: {}",
        run.stderr
    );
    run
}

/// Returns the first number of "interrupted after 12 of 60 frames".
fn done(run: &Run) -> u64 {
    let (_, after) = run.stderr.split_once("interrupted after ").unwrap();
    after.split(' ').next().unwrap().parse().unwrap()
}

fn has_report(run: &Run) -> bool {
    !run.stdout.is_empty()
}

#[test]
fn measure_reports_the_frames_before_the_signal() {
    let files = Files::new();
    // `measure` takes far longer for all levels than the recording does.
    let world = recorded(&files, "world.f32", &["--seconds", "900", "--cubes", "20"]);
    let run = interrupted(&["measure", &world, "--json"], has_report);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let done = done(&run);
    assert!(done > 6 && done < 900 * 60, "{}", run.stderr);
    assert_eq!(report["frames"], done - 6, "{report}");
    assert!(run.stderr.contains("of 54000 frames; the table is of these"), "{}", run.stderr);
}

#[test]
fn inputs_reports_the_moves_before_the_signal() {
    let stream = ["inputs", "--seconds", "86400", "--clients", "2"];
    let run = interrupted(&[&stream[..], &["--level", "packed", "--json"]].concat(), has_report);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let packets = report[0]["packets"].as_u64().unwrap();
    assert_eq!(packets, done(&run), "{}", run.stderr);
    assert_eq!(
        (report[0]["restored"].as_u64(), report.as_array().unwrap().len()),
        (Some(packets), 1)
    );
    assert!(run.stderr.contains("of 31104000 moves; the table is of these"), "{}", run.stderr);
}

#[test]
fn analyze_and_replay_report_the_frames_before_the_signal() {
    let files = Files::new();
    let capture = &*capture(&files);
    let page = files.path("page.html");
    let page = page.to_str().unwrap();
    for arguments in [
        &["analyze", capture, "--json", "--html", page, "--force"][..],
        &["replay", capture, "--json", "--sweep", "loss=0..20,rtt=20..300"],
    ] {
        let run = interrupted(arguments, has_report);
        let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let frames = report.get("frames").unwrap_or_else(|| &report["streams"][0]["frames"]);
        assert_eq!(*frames, done(&run), "{arguments:?}: {}", run.stderr);
    }
    assert!(std::fs::read_to_string(page).unwrap().trim_end().ends_with("</html>"));
}

#[test]
fn tune_writes_the_best_profile_that_it_found_before_the_signal() {
    let files = Files::new();
    let capture = &*capture(&files);
    let profile = files.path("best.profile");
    let name = profile.to_str().unwrap();
    let long = ["tune", capture, "--passes", "1000", "--out", name, "--force", "--json"];
    let run = interrupted(&long, |_| profile.exists());
    assert!(run.stderr.contains(&format!("it was written to {name}")), "{}", run.stderr);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let packed = |part: &str| report[part]["training"]["packed"].as_f64().unwrap();
    assert!(packed("tuned") < packed("built_in"), "{report}");
    let measured = json(&["measure", capture, "--level", "packed,adaptive", "--profile", name]);
    assert_eq!(measured["levels"].as_array().unwrap().len(), 2);
}

#[test]
fn train_writes_no_file_if_a_signal_ends_it() {
    let files = Files::new();
    let profile = files.path("run.profile");
    let name = profile.to_str().unwrap();
    let recordings = Files::new();
    let capture = capture(&recordings);
    let train = ["train", &capture, "--passes", "1000", "--out", name];
    let run = interrupted(&train, |run| run.code == Some(130));
    assert!(run.stderr.contains("no profile was written"), "{}", run.stderr);
    assert!(run.stdout.is_empty() && beside(&profile).is_empty(), "{:?}", beside(&profile));
}

#[test]
fn a_second_signal_ends_a_command_at_once() {
    let files = Files::new();
    let capture = capture(&files);
    let running = Running::start(&["tune", &capture, "--passes", "1000"], None);
    sleep(Duration::from_secs(3));
    running.signal("-INT");
    sleep(Duration::from_millis(20));
    let run = running.interrupt();
    assert_eq!(run.code, Some(130), "{}", run.stderr);
}
