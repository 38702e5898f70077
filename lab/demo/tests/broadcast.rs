//! Tests broadcasts, both with all parts in one program and with each part in its own process.

#![cfg(feature = "broadcast")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::challenge::{Files, good_f32};
use crate::support::program::{Run, own_line, program, refusal, run};

/// A process that is killed when the test ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a broadcast with its relay. Returns the arguments of `watch` that it prints.
fn broadcast() -> (Running, Vec<String>) {
    let mut command = program();
    command.args(["broadcast", "--listen", "127.0.0.1:0", "--cubes", "60"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let line =
        lines.find(|line| line.as_ref().unwrap().contains("kinepack-lab watch")).unwrap().unwrap();
    // The thread reads the rest of the output, because the program must not write to a closed pipe.
    std::thread::spawn(move || lines.for_each(drop));
    let arguments = line.trim().split(' ').skip(1).map(str::to_owned).collect();
    (Running(child), arguments)
}

fn watch(arguments: &[String], more: &[&str]) -> Run {
    let arguments: Vec<&str> =
        arguments.iter().map(String::as_str).chain(more.iter().copied()).collect();
    run(&arguments)
}

#[test]
fn three_spectators_see_the_world() {
    let ran =
        run(&["broadcast", "--listen", "127.0.0.1:0", "--cubes", "60", "--seconds", "5", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let spectators = report["spectators"].as_array().unwrap();
    let tiers: Vec<&str> = spectators.iter().map(|of| of["tier"].as_str().unwrap()).collect();
    assert_eq!(tiers, ["full", "eighth", "fast"]);
    for spectator in spectators {
        assert!(spectator["snapshots"].as_u64().unwrap() >= 10, "{spectator}");
        assert!(spectator["kbps"].as_f64().unwrap() > 1.0, "{spectator}");
    }
}

/// Runs `publish` with a capture. The capture becomes another broadcast at the relay of `watch`.
fn publish(watch: &[String], capture: &str, more: &[&str]) -> Run {
    let [_, url, option, hash] = watch else { panic!("{watch:?}") };
    let url = format!("{url}-published");
    let arguments = ["publish", capture, "--publish", &url, option, hash];
    run(&[&arguments[..], more].concat())
}

#[test]
fn a_delayed_broadcast_has_the_whole_capture() {
    let files = Files::new();
    let capture = files.write("run.f32", &good_f32(40, 30)).to_str().unwrap().to_owned();
    let (_broadcast, arguments) = broadcast();
    let begin = Instant::now();
    let published = publish(&arguments, &capture, &["--delay", "1.5"]);
    assert_eq!(published.code, Some(0), "{}", published.stderr);
    let rest = "the last seconds follow after --delay; Ctrl-C cuts them off\n";
    for line in [rest, "40 frames published\n"] {
        assert!(published.stderr.contains(&own_line(line)), "no {line} in {}", published.stderr);
    }
    // The last frame is due after 39 ticks, and is then held back.
    let least = Duration::from_secs_f64(39.0 / 60.0 + 1.5);
    assert!(begin.elapsed() >= least, "{:?}", begin.elapsed());
}

#[test]
fn a_broadcast_that_no_relay_takes_fails() {
    let files = Files::new();
    let capture = files.write("run.f32", &good_f32(40, 30)).to_str().unwrap().to_owned();
    let nowhere = "https://127.0.0.1:9/cubes";
    let (_broadcast, arguments) = broadcast();
    // No relay listens at the first URL. The relay at the second URL has a certificate that is not
    // trusted.
    for url in [nowhere, &arguments[1]] {
        let published = run(&["publish", &capture, "--publish", url, "--time-out", "1"]);
        assert_eq!((published.code, published.stdout.as_str()), (Some(1), ""));
        for part in [&*own_line("nothing was published to "), url, "check that a relay listens"] {
            assert!(published.stderr.contains(part), "{}", published.stderr);
        }
    }
    // A server that reaches no relay still serves its players, and reports the failure at its end.
    let serve = ["serve", "--insecure", "--listen", "127.0.0.1:0", "--cubes", "20"];
    let served = run(&[&serve[..], &["--seconds", "1", "--publish", nowhere]].concat());
    assert_eq!(served.code, Some(1), "{}", served.stderr);
    assert!(served.stdout.contains("timed out / refused"), "{}", served.stdout);
    assert!(served.stderr.contains("nothing was published to"), "{}", served.stderr);
}

#[cfg(unix)]
#[test]
fn a_signal_cuts_off_what_a_delay_holds_back() {
    let files = Files::new();
    let capture = files.write("run.f32", &good_f32(40, 30)).to_str().unwrap().to_owned();
    let (_broadcast, arguments) = broadcast();
    let url = format!("{}-cut", arguments[1]);
    let [_, _, option, hash] = &arguments[..] else { panic!("{arguments:?}") };
    let publish = ["publish", &capture, "--publish", &url, option, hash, "--delay", "3600"];
    let mut running = crate::support::running::Running::start(&publish, None);
    running.until("the relay is connected");
    let published = running.interrupt();
    assert_eq!(published.code, Some(130), "{}", published.stderr);
    assert!(published.stderr.contains("0 frames published; "), "{}", published.stderr);
    assert!(
        published.stderr.contains("interrupted after 0 of 40 frames; the rest was not published"),
        "{}",
        published.stderr
    );
}

#[test]
fn others_watch_and_learn_what_is_wrong() {
    let (_broadcast, arguments) = broadcast();
    let seen = watch(&arguments, &["--seconds", "3", "--tier", "third", "--json"]);
    assert_eq!(seen.code, Some(0), "{}", seen.stderr);
    assert!(seen.stderr.contains("the relay is connected"), "{}", seen.stderr);
    let report: Value = serde_json::from_str(&seen.stdout).unwrap();
    assert_eq!(report["tier"], "third");
    assert!(report["snapshots"].as_u64().unwrap() >= 10, "{report}");

    let mut other = arguments.clone();
    other[1].push('s');
    let nothing = watch(&other, &["--seconds", "1"]);
    assert_eq!(nothing.code, Some(1));
    assert!(nothing.stderr.contains("has no such broadcast"), "{}", nothing.stderr);

    let stranger = watch(&arguments[..2], &["--seconds", "1"]);
    assert_eq!(stranger.code, Some(1));
    assert!(stranger.stderr.contains("certificate"), "{}", stranger.stderr);
}

#[test]
fn addresses_that_are_wrong_are_refused() {
    let refused = refusal(&["watch", "http://localhost:4443/cubes"]);
    assert!(refused.contains("https://"), "{refused}");
    for wrong in ["abc", "zz"] {
        let ran = run(&["watch", "https://localhost:4443/cubes", "--relay-certificate", wrong]);
        assert_eq!(ran.code, Some(2));
        assert!(ran.stderr.contains("64 hexadecimal digits"), "{}", ran.stderr);
    }
}
