//! Broadcasts: the whole way on one machine, and its parts in processes of their own.

#![cfg(feature = "broadcast")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::support::program::{Run, program, refusal, run};

/// A process that ends with the test.
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
    // Nobody may write to a closed pipe.
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
