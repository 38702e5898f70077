//! Tests `serve`, `join` and `record --from` over loopback as users see them, by output, counts and
//! exit codes.

#![cfg(unix)]

use std::path::Path;
use std::time::{Duration, Instant};

use kinepack::Snapshot;
use kinepack_capture::Capture;
use serde_json::Value;

use crate::support::program::{Run, own_line};
use crate::support::running::{Running, number};

const SECRET: &str = "the secret of these tests";

/// Starts a server of a small world at `port`. If `port` is 0, takes a free port. Returns the
/// server and its address.
fn serve_at(port: u16, options: &[&str]) -> (Running, String) {
    let listen = format!("127.0.0.1:{port}");
    let world = ["serve", "--json", "--cubes", "50", "--seconds", "60", "--listen", &listen];
    let mut server = Running::start(&[&world, options].concat(), Some(SECRET));
    let line = server.until("listening on");
    (server, line.rsplit_once(' ').unwrap().1.to_owned())
}

fn serve(options: &[&str]) -> (Running, String) {
    serve_at(0, options)
}

fn join(server: &str, options: &[&str]) -> Running {
    Running::start(&[&["join", server, "--json"], options].concat(), Some(SECRET))
}

#[test]
fn a_joiner_receives_states_and_both_sides_report_their_counts() {
    let (mut server, address) = serve(&[]);
    let joined = join(&address, &["--seconds", "2"]).end();
    server.until(" left; receivers: 0");
    let [served, joined] = [server.interrupt().document(), joined.document()];
    let frames = number(&joined, "frames_received");
    assert!((30.0..=130.0).contains(&frames), "{joined:#}");
    assert_eq!(
        [&joined["joined"], &joined["dropped"], &joined["wrong_datagrams"]],
        [1, 0, 0],
        "{joined:#}"
    );
    assert!(
        number(&joined, "kbps_total") > 5.0 && number(&joined, "kbps_upstream") > 1.0,
        "{joined:#}"
    );
    assert!(number(&joined, "playout_delay_ms") > 0.0, "{joined:#}");
    assert_eq!(joined["server"], address);
    assert!(joined["not_known_here"][0].is_string());

    for key in ["receivers_peak", "joined", "left"] {
        assert_eq!(served[key], 1, "{key} in {served:#}");
    }
    for key in ["timed_out", "refused", "wrong_datagrams", "unsent"] {
        assert_eq!(served[key], 0, "{key} in {served:#}");
    }
    for times in ["tick_us", "encode_us"].map(|key| &served[key]) {
        let [mean, p50, p99, max] = ["mean", "p50", "p99", "max"].map(|key| number(times, key));
        assert!(0.0 < p50 && p50 <= p99 && p99 <= max && mean <= max, "{times}");
    }
    assert!(
        number(&served, "ticks") > 60.0 && number(&served, "encoded_per_tick") > 0.0,
        "{served:#}"
    );
    assert!(
        number(&served, "datagrams_out") >= frames && number(&served, "datagrams_in") > 30.0,
        "{served:#}"
    );
    assert!(number(&served, "kbps_per_receiver") > 5.0, "{served:#}");
}

#[test]
fn both_sides_report_a_different_schema_and_no_state_is_sent() {
    let (mut server, address) = serve(&["--velocities"]);
    let joined = join(&address, &["--seconds", "10"]).end();
    assert_eq!((joined.code, joined.stdout.as_str()), (Some(2), ""), "{}", joined.stderr);
    assert!(
        joined.stderr.contains("differ first in player.interacting")
            && joined.stderr.contains("--velocities")
    );
    assert_eq!(joined.stderr.lines().count(), 1, "{}", joined.stderr);
    assert!(server.until(" refused: ").contains("have a different schema"));
    let alike = join(&address, &["--velocities", "--seconds", "1"]).end().document();
    assert!(number(&alike, "frames_received") > 10.0, "{alike:#}");
    let served = server.interrupt().document();
    assert_eq!([&served["refused"], &served["joined"]], [1, 1], "{served:#}");
}

#[test]
fn each_joiner_takes_one_of_the_levels() {
    let (mut server, address) = serve(&["--level", "packed,adaptive"]);
    for options in [&["--seconds", "1"][..], &["--seconds", "1", "--level", "adaptive"]] {
        let joined = join(&address, options).end().document();
        assert!(number(&joined, "frames_received") > 10.0, "{joined:#}");
        assert_eq!(joined["wrong_datagrams"], 0, "{joined:#}");
        server.until(&format!(" joined at {}; receivers: 1", options.get(3).unwrap_or(&"packed")));
    }
    let served = server.interrupt().document();
    assert_eq!(
        served["joined_at"],
        serde_json::json!({ "adaptive": 1, "packed": 1 }),
        "{served:#}"
    );
    assert_eq!(served["refused"], 0, "{served:#}");
    assert!(
        served["sending"].as_str().unwrap().ends_with(" --level packed,adaptive"),
        "{served:#}"
    );
}

#[test]
fn a_level_that_is_not_offered_is_refused() {
    let (_server, address) = serve(&["--level", "adaptive"]);
    let joined = join(&address, &["--seconds", "10"]).end();
    assert_eq!((joined.code, joined.stdout.as_str()), (Some(2), ""), "{}", joined.stderr);
    assert!(
        joined.stderr.contains("have a different codec") && joined.stderr.contains("--level"),
        "{}",
        joined.stderr
    );
}

#[test]
fn another_secret_never_connects() {
    let (server, address) = serve(&[]);
    let options = ["join", &address, "--json", "--seconds", "2", "--time-out", "1"];
    let joined = Running::start(&options, Some("another secret of these tests")).end();
    assert_eq!(joined.code, Some(1), "{}", joined.stderr);
    assert!(
        joined.stderr.contains("does not answer") && joined.stderr.contains("the secrets differ"),
        "{}",
        joined.stderr
    );
    assert!(joined.stderr.contains("nothing was received from 127.0.0.1:"), "{}", joined.stderr);
    let document: Value = serde_json::from_str(&joined.stdout).unwrap();
    assert_eq!([&document["connections"], &document["frames_received"]], [0, 0], "{document:#}");
    let served = server.interrupt();
    assert!(!served.stderr.contains("joined"), "{}", served.stderr);
    let served = served.document();
    assert_eq!([&served["joined"], &served["datagrams_out"]], [0, 0], "{served:#}");
}

#[test]
fn a_joiner_with_another_secret_names_the_cause_and_prints_no_table() {
    let (_server, address) = serve(&[]);
    let secret = Some("another secret of these tests");
    // In the first run, the time ends during the first attempt to connect. In the second run,
    // Ctrl-C ends the second attempt.
    let too_short = Running::start(&["join", &address, "--seconds", "1"], secret).end();
    let mut tries = Running::start(&["join", &address, "--time-out", "1"], secret);
    tries.until("trying again");
    for joined in [too_short, tries.interrupt()] {
        assert_eq!((joined.code, joined.stdout.as_str()), (Some(1), ""), "{}", joined.stderr);
        let last = joined.stderr.lines().last().unwrap();
        assert!(
            last.starts_with(&own_line("nothing was received from 127.0.0.1:"))
                && last.contains("the secrets differ"),
            "{}",
            joined.stderr
        );
    }
}

#[test]
fn a_joiner_that_is_killed_times_out() {
    let (mut server, address) = serve(&["--time-out", "1"]);
    let joiner = join(&address, &[]);
    server.until(" joined at packed; receivers: 1");
    let killed = Instant::now();
    joiner.signal("-KILL");
    server.until(" timed out: silent for 1 s; receivers: 0");
    assert!(killed.elapsed() >= Duration::from_millis(900), "{:?}", killed.elapsed());
    let served = server.interrupt().document();
    assert_eq!([&served["timed_out"], &served["left"]], [1, 0], "{served:#}");
}

#[test]
fn a_server_that_is_killed_and_started_again_is_found() {
    let (mut server, address) = serve(&[]);
    let port = address.rsplit_once(':').unwrap().1.parse().unwrap();
    let mut joiner = join(&address, &["--time-out", "1"]);
    server.until(" joined at packed; receivers: 1");
    joiner.until("joined 127.0.0.1:");
    server.signal("-KILL");
    joiner.until("the server fell silent; trying again");
    let (mut server, _) = serve_at(port, &[]);
    server.until(" joined at packed; receivers: 1");
    joiner.until("joined 127.0.0.1:");
    let joined = joiner.interrupt().document();
    assert_eq!([&joined["connections"], &joined["dropped"]], [2, 1], "{joined:#}");
}

#[test]
fn interrupts_end_both_sides_cleanly() {
    let (mut server, address) = serve(&[]);
    let mut leaves = join(&address, &[]);
    let mut stays = join(&address, &[]);
    leaves.until("joined 127.0.0.1:");
    stays.until("joined 127.0.0.1:");
    assert_eq!(leaves.interrupt().document()["dropped"], 0);
    server.until(" left; receivers: 1");
    server.signal("-TERM");
    let served = server.end().document();
    assert_eq!([&served["receivers_peak"], &served["left"]], [2, 1], "{served:#}");
    stays.until("the server closed the connection; trying again");
    assert_eq!(stays.interrupt().document()["dropped"], 1);
}

#[test]
fn many_joiners_receive_and_none_is_dropped() {
    let (server, address) = serve(&[]);
    let joined = join(&address, &["--count", "20", "--seconds", "3"]).end().document();
    for (key, value) in [
        ("joiners", 20),
        ("joined", 20),
        ("connections", 20),
        ("dropped", 0),
        ("wrong_datagrams", 0),
    ] {
        assert_eq!(joined[key], value, "{key} in {joined:#}");
    }
    assert!(number(&joined, "frames_received_min") > 30.0, "{joined:#}");
    let served = server.interrupt().document();
    assert_eq!([&served["receivers_peak"], &served["timed_out"]], [20, 0], "{served:#}");
}

#[test]
fn a_full_server_refuses_joiners() {
    let (_server, address) = serve(&["--max-clients", "1"]);
    let mut first = join(&address, &[]);
    first.until("joined 127.0.0.1:");
    let mut second = join(&address, &[]);
    second.until("the server is full; trying again");
    let second = second.interrupt();
    assert_eq!(second.code, Some(1), "{}", second.stderr);
    let document: Value = serde_json::from_str(&second.stdout).unwrap();
    assert!(number(&document, "full") >= 1.0, "{document:#}");
    assert!(second.stderr.ends_with(": the server is full"), "{}", second.stderr);
}

#[test]
fn without_a_secret_both_sides_say_what_to_do() {
    for arguments in [&["serve", "--listen", "127.0.0.1:0"][..], &["join", "127.0.0.1:9"]] {
        let run = Running::start(arguments, None).end();
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{}", run.stderr);
        for word in ["--secret-file", "KINEPACK_SECRET", "--insecure"] {
            assert!(run.stderr.contains(word), "{}", run.stderr);
        }
    }
}

#[test]
fn insecure_works_with_a_warning() {
    let options = ["serve", "--insecure", "--cubes", "50", "--listen", "127.0.0.1:0"];
    let mut server = Running::start(&options, None);
    server.until("WARNING: --insecure");
    let line = server.until("listening on");
    let address = line.rsplit_once(' ').unwrap().1;
    let joined = Running::start(&["join", address, "--insecure", "--seconds", "1"], None).end();
    assert_eq!(joined.code, Some(0), "{}", joined.stderr);
    assert!(
        joined.stderr.contains("WARNING") && joined.stdout.contains("not known on this side"),
        "{}",
        joined.stdout
    );
    let served = server.interrupt();
    assert_eq!(served.code, Some(0), "{}", served.stderr);
    assert!(served.stdout.contains("timed out / refused"), "{}", served.stdout);
}

fn record(file: &Path, server: &str, options: &[&str]) -> Running {
    Running::start(
        &[&["record", file.to_str().unwrap(), "--from", server], options].concat(),
        Some(SECRET),
    )
}

/// Returns the quantized frames of a capture's only stream, whether the stream holds floats, and
/// the stream's rate.
fn frames(file: &Path) -> (Vec<Snapshot>, bool, f64) {
    let streams = Capture::streams_of(file).unwrap();
    let [stream] = &streams[..] else { panic!("{streams:?}") };
    assert_eq!(stream.name(), "cubes");
    let (mut capture, mut frames) = (Capture::open(file).unwrap(), Vec::new());
    while let Some((_, frame)) = capture.next_frame().unwrap() {
        let mut snapshot = Snapshot::new(frame.stream().schema(), frame.tick());
        assert_eq!(frame.push_into(&mut snapshot).unwrap(), 0);
        frames.push(snapshot);
    }
    assert!(capture.damage().is_empty());
    (frames, stream.is_raw(), stream.rate_hz())
}

/// Returns the frames and the missing ticks that the last line on standard error reports.
fn closing(run: &Run) -> [u64; 2] {
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{}", run.stderr);
    let line = run.stderr.lines().last().unwrap();
    let (_, counts) = line.split_once(".mcap: ").unwrap_or_else(|| panic!("{line}"));
    let number = |what: &str| {
        let mut parts = counts.split([',', ';']).map(|part| part.trim().trim_end_matches('s'));
        let count = parts.find_map(|part| part.strip_suffix(what));
        count.unwrap_or_else(|| panic!("{what}: {line}")).parse::<u64>().unwrap()
    };
    assert!(number(" byte") > 500, "{line}");
    [number(" frame"), number(" missing tick")]
}

#[test]
fn a_recording_equals_the_sent_world() {
    let folder = tempfile::tempdir().unwrap();
    let [recorded, world] = ["recorded.mcap", "world.mcap"].map(|name| folder.path().join(name));
    let (mut server, address) = serve(&[]);
    let run = record(&recorded, &address, &["--seconds", "2"]).end();
    server.until(" left; receivers: 0");
    let served = server.interrupt().document();
    assert_eq!(
        [&served["joined"], &served["timed_out"], &served["keys"]["players_peak"]],
        [1, 0, 0],
        "{served:#}"
    );
    let [count, missing] = closing(&run);
    assert!(run.stderr.starts_with(&own_line(&format!("joined {address}\n"))), "{}", run.stderr);

    let (snapshots, is_raw, rate_hz) = frames(&recorded);
    assert_eq!((snapshots.len() as u64, is_raw, rate_hz), (count, false, 60.0));
    assert!((30..=130).contains(&count), "{}", run.stderr);
    assert!(snapshots.windows(2).all(|pair| pair[0].tick < pair[1].tick));
    let [first, last] =
        [&snapshots[0], &snapshots[snapshots.len() - 1]].map(|snapshot| snapshot.tick.0);
    assert!(
        count + missing <= u64::from(last - first) + 1,
        "ticks {first} to {last}: {}",
        run.stderr
    );
    let analyzed =
        Running::start(&["analyze", recorded.to_str().unwrap(), "--json"], None).end().document();
    let stream = &analyzed["streams"][0];
    assert_eq!(
        [&stream["frames"], &stream["entities"]],
        [&Value::from(count), &serde_json::json!([51.0, 51.0])]
    );

    // This command records the same world without a network. A server sends its first state, of
    // tick 0, as tick 1.
    let seconds = (last / 60 + 1).to_string();
    let built_in = ["record", world.to_str().unwrap(), "--cubes", "50", "--seconds", &seconds];
    let built_in = [&built_in[..], &["--kinds", "player"]].concat();
    assert_eq!(Running::start(&built_in, None).end().code, Some(0));
    let (sent, is_raw, _) = frames(&world);
    assert!(is_raw);
    for snapshot in &snapshots {
        let sent = &sent[snapshot.tick.0 as usize - 1];
        assert_eq!((sent.schema_hash(), sent.ids()), (snapshot.schema_hash(), snapshot.ids()));
        for lane in 0..snapshot.lane_count() {
            assert_eq!(
                snapshot.lane(lane),
                sent.lane(lane),
                "lane {lane} of tick {}",
                snapshot.tick.0
            );
        }
    }
}

#[test]
fn a_recording_ends_with_its_server_or_by_an_interrupt() {
    let folder = tempfile::tempdir().unwrap();
    let [stays, leaves] = ["stays.mcap", "leaves.mcap"].map(|name| folder.path().join(name));
    let (mut server, address) = serve(&["--level", "adaptive", "--velocities"]);
    let options = ["--level", "adaptive", "--velocities"];
    let [mut recorder, mut other] = [&stays, &leaves].map(|file| record(file, &address, &options));
    other.until("joined 127.0.0.1:");
    recorder.until("joined 127.0.0.1:");
    std::thread::sleep(Duration::from_millis(300));
    let interrupted = other.interrupt();
    server.until(" left; receivers: 1");
    server.signal("-TERM");
    server.end();
    let run = recorder.end();
    let line = format!("{address}: the server closed the connection; the recording ends here");
    assert!(run.stderr.contains(&own_line(&line)), "{}", run.stderr);
    for (run, file) in [(run, &stays), (interrupted, &leaves)] {
        let (snapshots, is_raw, _) = frames(file);
        assert_eq!((snapshots.len() as u64, is_raw), (closing(&run)[0], false));
        assert!(snapshots.len() >= 2, "{}", run.stderr);
    }
}

#[test]
fn recordings_that_cannot_work_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("refused.mcap");
    let path = file.to_str().unwrap();
    let from = ["record", path, "--from", "127.0.0.1:9"];
    for (options, said) in [
        (&[&from[..], &["--cubes", "50"]].concat(), "cannot be used with"),
        (&[&from[..], &["--style", "push"]].concat(), "cannot be used with"),
        (&[&from[..], &["--seed", "2"]].concat(), "cannot be used with"),
        (&vec!["record", path, "--insecure"], "--from"),
        (&vec!["record", path, "--level", "packed"], "--from"),
        (&vec!["record", path, "--time-out", "3"], "--from"),
        (&from.to_vec(), "KINEPACK_SECRET"),
    ] {
        let run = Running::start(options, None).end();
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{options:?}: {}", run.stderr);
        assert!(run.stderr.contains(said), "{options:?}: {}", run.stderr);
    }
    assert!(!file.exists(), "a refused recording leaves no file");

    let nowhere = folder.path().join("no/such/folder.mcap");
    let mut unwritable = vec![nowhere.as_path()];
    unwritable.extend(cfg!(target_os = "linux").then_some(Path::new("/dev/full")));
    for file in unwritable {
        // No server listens at this port. The client notices this only by a time-out.
        let run = record(file, "127.0.0.1:9", &[]).end();
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains(file.to_str().unwrap()), "{}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    }
    let nobody = record(&file, "127.0.0.1:9", &["--seconds", "1"]).end();
    assert_eq!(nobody.code, Some(1), "{}", nobody.stderr);
    assert!(nobody.stderr.contains("nothing was received from 127.0.0.1:9"), "{}", nobody.stderr);
}
