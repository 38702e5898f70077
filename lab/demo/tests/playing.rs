//! Tests playing over loopback as users see it, with two joiners that follow scripts and with one
//! at a terminal.

#![cfg(unix)]

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};
use serde_json::Value;

use crate::support::running::{PATIENCE, Running, number};

const SECRET: &str = "the secret of these tests";
const FIRST_CUBE: u64 = 1 << 16;

fn serve(options: &[&str]) -> (Running, String) {
    serve_cubes("50", options)
}

fn serve_cubes(cubes: &str, options: &[&str]) -> (Running, String) {
    let world = ["serve", "--json", "--cubes", cubes, "--seconds", "60", "--listen", "127.0.0.1:0"];
    let mut server = Running::start(&[&world, options].concat(), Some(SECRET));
    let line = server.until("listening on");
    (server, line.rsplit_once(' ').unwrap().1.to_owned())
}

fn join(server: &str, options: &[&str]) -> Running {
    Running::start(&[&["join", server, "--json"], options].concat(), Some(SECRET))
}

#[test]
fn two_scripts_play_one_watches_and_both_sides_count() {
    let (mut server, address) = serve(&[]);
    let watcher = join(&address, &["--seconds", "4"]);
    let players = [1, 2].map(|seed| {
        join(&address, &["--seconds", "3", "--play", "script", "--seed", &seed.to_string()])
    });
    server.until(" plays; players: 2");
    let mut cubes: Vec<Value> = Vec::new();
    for player in players {
        let run = player.end();
        assert!(run.stderr.contains(": plays cube 6553"), "{}", run.stderr);
        let joined = run.document();
        let keys = &joined["keys"];
        assert!((60.0..=190.0).contains(&number(keys, "records")), "{joined:#}");
        assert!((32.0..80.0).contains(&number(keys, "bits_per_packet")), "{joined:#}");
        assert!(number(keys, "full_packets") >= 1.0 && number(keys, "bytes") > 100.0, "{joined:#}");
        assert_eq!(joined["wrong_datagrams"], 0, "{joined:#}");
        cubes.extend(keys["entities"].as_array().unwrap().iter().cloned());
    }
    cubes.sort_by_key(Value::as_u64);
    assert_eq!(cubes, [FIRST_CUBE, FIRST_CUBE + 1]);
    let watched = watcher.end().document();
    assert_eq!(
        (&watched["keys"]["records"], &watched["keys"]["entities"]),
        (&Value::from(0), &Value::from(Vec::<u64>::new()))
    );
    let served = server.interrupt().document();
    let keys = &served["keys"];
    assert_eq!([&keys["players"], &keys["players_peak"]], [0, 2], "{served:#}");
    for key in ["limited", "malformed", "out_of_place"] {
        assert_eq!(keys[key], 0, "{key} in {served:#}");
    }
    assert!(
        number(keys, "records") >= number(keys, "packets")
            && number(keys, "bits_per_packet") < 80.0,
        "{served:#}"
    );
    assert_eq!(served["wrong_datagrams"], 0, "{served:#}");
}

#[test]
fn beyond_the_most_players_joiners_watch() {
    let (mut server, address) = serve(&["--max-players", "1"]);
    let crowd = join(&address, &["--seconds", "3", "--play", "script", "--count", "3"]);
    server.until(" plays; players: 1");
    server.until(" only watches: all places of players are taken");
    let joined = crowd.end().document();
    assert_eq!(joined["keys"]["entities"], serde_json::json!([FIRST_CUBE]), "{joined:#}");
    assert_eq!(joined["joined"], 3, "{joined:#}");
    assert_eq!(server.interrupt().document()["keys"]["players_peak"], 1);
}

#[test]
fn with_rings_a_player_gets_less_than_a_watcher() {
    let (mut server, address) = serve_cubes("900", &["--rings", "3,5:4"]);
    let watcher = join(&address, &["--seconds", "4"]);
    let player = join(&address, &["--seconds", "4", "--play", "script", "--style", "rest"]);
    server.until(" plays; players: 1");
    let [watched, played] = [watcher, player].map(|joiner| joiner.end().document());
    for joined in [&watched, &played] {
        assert_eq!([&joined["joined"], &joined["wrong_datagrams"]], [1, 0], "{joined:#}");
    }
    // The server's own player moves cubes on the other side of the grid.
    let [watched_kbps, played_kbps] =
        [&watched, &played].map(|joined| number(joined, "kbps_total"));
    assert!(played_kbps < watched_kbps / 2.0, "{played:#} {watched:#}");
    let served = server.interrupt().document();
    assert!(served["sending"].as_str().unwrap().ends_with(" --rings 3,5:4"), "{served:#}");
}

#[test]
fn options_that_cannot_play_are_refused() {
    for (options, words) in [
        (&["--play", "keys"][..], "needs a terminal"),
        (&["--play", "keys", "--count", "2"], "is for one joiner"),
        (&["--style", "push"], "give --play script too"),
        (&["--seed", "3", "--play", "none"], "give --play script too"),
        (&["--play", "chess"], "[possible values: keys, script, none]"),
    ] {
        let run = join("127.0.0.1:9", options).end();
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{options:?}: {}", run.stderr);
        assert!(run.stderr.contains(words), "{options:?}: {}", run.stderr);
    }
    let run = Running::start(&["serve", "--max-players", "64"], Some(SECRET)).end();
    assert!(run.code == Some(2) && run.stderr.contains("0..=63"), "{}", run.stderr);
}

/// Opens a terminal of 40 lines. Returns the user's side, and the program's side.
fn terminal() -> (File, File) {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap().into_string().unwrap();
    let program = File::options().read(true).write(true).open(name).unwrap();
    tcsetwinsize(&program, Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 })
        .unwrap();
    (File::from(person), program)
}

fn modes(terminal: &File) -> String {
    let Termios { input_modes, output_modes, local_modes, .. } = tcgetattr(terminal).unwrap();
    format!("{input_modes:?} {output_modes:?} {local_modes:?}")
}

/// Plays with some keys. Returns the exit code and the output. The last keys, `ends`, end the
/// program, which must then restore the terminal.
fn play(address: &str, ends: &[u8]) -> (Option<i32>, String) {
    let (mut person, program) = terminal();
    let before = modes(&program);
    let mut command = Command::new(crate::PROGRAM);
    command.args(["join", address]).env("KINEPACK_SECRET", SECRET).env("TERM", "xterm-256color");
    let side = || Stdio::from(program.try_clone().unwrap());
    let mut child = command.stdin(side()).stdout(side()).stderr(side()).spawn().unwrap();
    let mut screen = person.try_clone().unwrap();
    let (sender, seen) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = screen.read(&mut bytes) {
            if sender.send(bytes[..count].to_vec()).is_err() {
                break;
            }
        }
    });
    let mut text = Vec::new();
    let (begin, mut playing, mut ended) = (Instant::now(), None, false);
    let code = loop {
        assert!(
            begin.elapsed() < PATIENCE,
            "the program does not end: {}",
            String::from_utf8_lossy(&text)
        );
        text.extend(seen.try_iter().flatten());
        if playing.is_none() && String::from_utf8_lossy(&text).contains("plays cube 65536") {
            playing = Some(Instant::now());
            assert_ne!(modes(&program), before, "the program reads single keys");
        }
        match playing.map(|since: Instant| since.elapsed()) {
            Some(time) if time > Duration::from_millis(1500) && !ended => {
                ended = true;
                person.write_all(ends).unwrap();
            }
            Some(_) if !ended => person.write_all(b"\x1b[C").unwrap(),
            _ => {}
        }
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        thread::sleep(Duration::from_millis(30));
    };
    thread::sleep(Duration::from_millis(100));
    text.extend(seen.try_iter().flatten());
    assert_eq!(modes(&program), before, "the program restores the terminal");
    (code, String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn keys_of_a_terminal_steer_and_the_terminal_is_restored() {
    let (server, address) = serve(&["--style", "rest"]);
    let (code, text) = play(&address, b"\x03");
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("arrow keys or WASD steer") && text.contains('@'), "{text}");
    assert!(text.contains("cubes steered") && text.contains("number 65536"), "{text}");
    // The program sets each mode once, and sets it back once.
    for pair in ["\x1b[>3u", "\x1b[<1u", "\x1b[?1004h", "\x1b[?1004l"] {
        assert_eq!(text.matches(pair).count(), 1, "{pair:?}");
    }
    assert!(!text.contains("^[[C"), "keys are not drawn");
    assert_eq!(server.interrupt().document()["keys"]["players_peak"], 1);
}

#[test]
fn a_terminal_is_restored_after_an_error_too() {
    let (_server, address) = serve(&["--velocities"]);
    let (_person, program) = terminal();
    let before = modes(&program);
    let mut command = Command::new(crate::PROGRAM);
    command.args(["join", &address, "--play", "keys"]).env("KINEPACK_SECRET", SECRET);
    command
        .stdin(Stdio::from(program.try_clone().unwrap()))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("have different schemas"));
    assert_eq!(modes(&program), before);
}
