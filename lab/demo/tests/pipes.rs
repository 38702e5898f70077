//! Tests named pipes as captures and replays. Commands read these files several times, so they
//! refuse pipes at once. If a command opened a pipe without a writer, it would wait for ever.

#![cfg(unix)]

use std::process::Command;

use crate::challenge::Files;
use crate::support::running::Running;

#[test]
fn a_pipe_as_a_capture_or_a_replay_is_refused_at_once() {
    let files = Files::new();
    for name in ["world.mcap", "world.f32", "world.kpz", "world"] {
        let pipe = files.path(name);
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let pipe = pipe.to_str().unwrap();
        let [table, replay] = ["out.csv", "out.kpz"].map(|name| files.path(name));
        let [table, replay] = [&table, &replay].map(|path| path.to_str().unwrap());
        for arguments in [
            &["demo", "--headless", "--capture", pipe][..],
            &["demo", "--no-open", "--listen", "127.0.0.1:0", "--capture", pipe],
            &["watch", pipe, "--no-open", "--listen", "127.0.0.1:0"],
            &["publish", pipe, "--publish", "https://127.0.0.1:9/cubes"],
            &["measure", pipe],
            &["convert", pipe, table],
            &["pack", pipe, replay],
            &["cut", pipe, replay],
            &["info", pipe],
            &["unpack", pipe, table],
        ] {
            let run = Running::start(arguments, None).end();
            assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.stderr);
            let reason = "a pipe or a device can be read only once";
            assert!(
                run.stderr.contains(pipe) && run.stderr.contains(reason),
                "{arguments:?}: {}",
                run.stderr
            );
        }
    }
}
