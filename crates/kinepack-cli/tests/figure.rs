//! Runs `kinepack figure` as a user does: a file and a simulated tracker are sent over loopback,
//! and the page shows them.

#[allow(dead_code, reason = "tests of the receiver use more of it")]
#[path = "../../kinepack-anim/tests/live/packets.rs"]
mod packets;

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write as _};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use kinepack::hash::Fnv1a;
use serde_json::Value;

use crate::support::program::{Run, refusal, run};
use crate::support::running::{PATIENCE, Running, number, wait_for};

/// Returns the address in a line after `before`.
fn address(line: &str, before: &str) -> SocketAddr {
    let rest = line.split_once(before).unwrap_or_else(|| panic!("{line}")).1;
    rest.split([' ', '/']).next().unwrap().parse().unwrap_or_else(|error| panic!("{error}: {line}"))
}

/// The program that receives, the address at which it does, and its page.
struct Watch {
    program: Running,
    at: SocketAddr,
    page: SocketAddr,
}

impl Watch {
    fn start() -> Self {
        let options = ["--listen", "127.0.0.1:0", "--no-open", "--json"];
        let arguments = [&["figure", "watch", "127.0.0.1:0"][..], &options].concat();
        let mut program = Running::start(&arguments, None);
        let line = program.until("http://");
        Self { program, at: address(&line, "arrives at "), page: address(&line, "http://") }
    }

    /// Returns the body of an answer of the page.
    fn get(&self, path: &str) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.page).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let host = self.page;
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
        assert!(answer.starts_with(b"HTTP/1.1 200"), "{path}");
        answer.split_off(end)
    }

    fn body(&self) -> Value {
        serde_json::from_slice(&self.get("/body")).unwrap()
    }

    /// Returns the joints' positions in cm and the curves' values, and the state.
    fn pose(&self) -> (Vec<[f32; 3]>, Vec<f32>, u32) {
        let bytes = self.get("/pose");
        let words: Vec<[u8; 4]> = bytes.chunks_exact(4).map(|c| c.try_into().unwrap()).collect();
        let [_, state, joints, curves] = [0, 1, 2, 3].map(|at| u32::from_le_bytes(words[at]));
        let floats: Vec<f32> = words[4..].iter().map(|word| f32::from_le_bytes(*word)).collect();
        let (joints, curves) = (joints as usize, curves as usize);
        let Some(floats) = floats.get(6..) else { return (Vec::new(), Vec::new(), state) };
        assert_eq!(floats.len(), 3 * joints + curves);
        let positions = floats[..3 * joints].chunks_exact(3).map(|c| c.try_into().unwrap());
        (positions.collect(), floats[3 * joints..].to_vec(), state)
    }
}

/// Starts to send to a watching program.
fn send(to: SocketAddr, arguments: &[&str]) -> Running {
    let to = to.to_string();
    Running::start(&[&["figure", "send"], arguments, &["--to", &to, "--json"]].concat(), None)
}

fn report(run: &Run) -> Value {
    run.document()
}

/// Returns a BVH file of an arm that swings for a second, in cm.
fn arm() -> String {
    let mut text = "HIERARCHY\nROOT base\n{\nOFFSET 0 0 0\n\
        CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation\n\
        JOINT arm\n{\nOFFSET 0 40 0\nCHANNELS 3 Zrotation Yrotation Xrotation\n\
        JOINT hand\n{\nOFFSET 30 0 0\nCHANNELS 3 Zrotation Yrotation Xrotation\n\
        End Site\n{\nOFFSET 10 0 0\n}\n}\n}\n}\nMOTION\nFrames: 61\nFrame Time: 0.0166667\n"
        .to_owned();
    for frame in 0..61 {
        writeln!(text, "{} 100 0 0 0 0 {} 0 0 0 0 0", frame, 1.5 * f64::from(frame)).unwrap();
    }
    text
}

#[test]
fn a_clip_is_sent_and_shown_until_its_end() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("arm.bvh");
    fs::write(&file, arm()).unwrap();
    let watch = Watch::start();
    assert_eq!((watch.body()["session"].as_f64(), watch.pose().2), (Some(0.0), 0));

    let sent = report(&send(watch.at, &[file.to_str().unwrap(), "--precision", "0.2"]).end());
    // A second at 30 Hz. A busy machine skips some, and copies of the last pose do not count.
    assert!((10.0..=31.0).contains(&number(&sent, "poses")), "{sent:#}");
    assert_eq!((number(&sent, "refused_poses"), number(&sent, "restarts")), (0.0, 0.0));
    assert!(number(&sent, "max_error_cm") <= 0.2 && number(&sent, "bits_per_pose") > 0.0);

    let body = watch.body();
    let names: Vec<&str> =
        body["joints"].as_array().unwrap().iter().map(|j| j["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["base", "arm", "hand"]);
    // The last pose: the base has moved by 60 cm, and the arm is turned by 90 degrees.
    let expected = [[60.0, 100.0, 0.0], [60.0, 140.0, 0.0], [60.0, 170.0, 0.0]];
    let is_close = |own: &[f32; 3], expected: &[f32; 3]| {
        let square: f32 = own.iter().zip(expected).map(|(a, b)| (a - b) * (a - b)).sum();
        square.sqrt() <= 0.2
    };
    wait_for("the last pose", || {
        let (joints, _, _) = watch.pose();
        joints.iter().zip(&expected).all(|(own, expected)| is_close(own, expected))
    });
    wait_for("the silence of the sender", || watch.pose().2 == 2);

    let received = report(&watch.program.interrupt());
    assert_eq!(number(&received, "sessions"), 1.0);
    assert!(number(&received, "poses") >= 10.0, "{received:#}");
    assert_eq!(number(&received, "max_error_cm"), number(&sent, "max_error_cm"));
}

#[test]
fn a_file_is_played_in_another_unit_and_at_another_speed() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("arm.bvh");
    fs::write(&file, arm()).unwrap();
    let watch = Watch::start();
    // 61 frames take 6 s at 10 Hz, and a second at six times that speed.
    let facts = ["--unit-cm", "2.54", "--frame-rate", "10", "--speed", "6"];
    let run = send(watch.at, &[&[file.to_str().unwrap()], &facts[..]].concat()).end();
    let sent = report(&run);
    assert!((5.0..=31.0).contains(&number(&sent, "poses")), "{sent:#}");
    assert!((0.9..4.0).contains(&number(&sent, "seconds")), "{sent:#}");
    wait_for("the last pose", || {
        let (joints, _, _) = watch.pose();
        let expected = [60.0, 170.0].map(|inches: f32| 2.54 * inches);
        joints
            .get(2)
            .is_some_and(|[x, y, _]| (x - expected[0]).abs() < 0.5 && (y - expected[1]).abs() < 0.5)
    });
    watch.program.interrupt();
}

/// Sends frames of VMC until it is dropped.
struct Tracker {
    ends: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Tracker {
    fn start(to: SocketAddr) -> Self {
        let ends = Arc::new(AtomicBool::new(false));
        let thread = thread::spawn({
            let ends = Arc::clone(&ends);
            move || {
                let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
                let bones: Vec<Vec<u8>> = packets::t_pose()
                    .iter()
                    .map(|(index, pose)| packets::bone(*index, pose))
                    .collect();
                let face = [packets::blend("Joy", 0.75), packets::apply(), packets::ok(1)];
                let mut frame = 0;
                while !ends.load(Ordering::Relaxed) {
                    for half in bones.chunks(28) {
                        socket.send_to(&packets::bundle(half), to).unwrap();
                    }
                    socket.send_to(&packets::bundle(&face), to).unwrap();
                    socket.send_to(&packets::time(frame as f32 / 60.0), to).unwrap();
                    socket.send_to(b"noise", to).unwrap();
                    frame += 1;
                    thread::sleep(Duration::from_millis(10));
                }
            }
        });
        Self { ends, thread: Some(thread) }
    }
}

impl Drop for Tracker {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(thread::JoinHandle::join);
        assert!(thread::panicking() || ended.is_some_and(|ended| ended.is_ok()));
    }
}

#[test]
fn a_tracker_is_sent_and_shown_and_either_side_may_be_restarted() {
    let watch = Watch::start();
    let start = || {
        let mut sender = send(watch.at, &["vmc://127.0.0.1:0", "--rate", "60"]);
        let line = sender.until("sends VMC to ");
        let tracker = Tracker::start(address(&line, "sends VMC to "));
        sender.until("watches");
        (sender, tracker)
    };
    let arrives = |what: &str| {
        wait_for(what, || {
            let (joints, curves, state) = watch.pose();
            let hips = joints.first().is_some_and(|hips| {
                let [x, y, z] = *hips;
                x.abs() < 0.5 && (y - 95.0).abs() < 0.5 && (z - 2.0).abs() < 0.5
            });
            state == 1 && hips && curves.iter().all(|joy| (joy - 0.75).abs() < 0.011)
        });
    };
    let (sender, tracker) = start();
    arrives("the body of the tracker");
    let body = watch.body();
    assert_eq!(body["joints"].as_array().unwrap().len(), 55);
    assert_eq!(body["curves"][0]["name"], "Joy");
    let sent = report(&sender.interrupt());
    assert!(number(&sent, "poses") > 0.0 && number(&sent, "joints") == 55.0, "{sent:#}");
    drop(tracker);

    let (sender, tracker) = start();
    wait_for("the second session", || watch.body()["session"] != body["session"]);
    arrives("the body of the second session");
    sender.interrupt();
    drop(tracker);
    assert_eq!(number(&report(&watch.program.interrupt()), "sessions"), 2.0);
}

#[test]
fn strange_datagrams_do_not_disturb_the_watching_program() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("arm.bvh");
    fs::write(&file, arm()).unwrap();
    let watch = Watch::start();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut sender = send(watch.at, &[file.to_str().unwrap(), "--loop"]);
    sender.until("watches");
    for round in 0..300u32 {
        let strange: Vec<u8> = (0..round * 7).map(|at| (at * round) as u8).collect();
        socket.send_to(&strange, watch.at).unwrap();
    }
    wait_for("a pose", || !watch.pose().0.is_empty());
    sender.interrupt();
    let received = report(&watch.program.interrupt());
    assert_eq!(number(&received, "sessions"), 1.0);
    assert!(number(&received, "refused") >= 100.0, "{received:#}");
}

/// The first bytes of two kinds of datagrams: of the network, and of a receiver without a session.
const NET: u8 = 0xd2;
const NO_SESSION: u8 = 0xd3;

/// Returns a datagram without contents.
fn framed(kind: u8, session: u32) -> Vec<u8> {
    let mut datagram = [&[kind][..], &session.to_le_bytes()].concat();
    let mut hash = Fnv1a::new();
    hash.add(&datagram);
    let hash = hash.finish();
    datagram.extend(((hash ^ (hash >> 32)) as u32).to_le_bytes());
    datagram
}

#[test]
fn a_receiver_without_the_session_of_a_datagram_says_so() {
    let watch = Watch::start();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.send_to(&framed(NET, 77), watch.at).unwrap();
    let mut answer = [0; 100];
    let (bytes, from) = socket.recv_from(&mut answer).unwrap();
    assert_eq!((&answer[..bytes], from), (&framed(NO_SESSION, 77)[..], watch.at));
    watch.program.interrupt();
}

#[test]
fn a_sender_begins_again_at_once_if_the_receiver_was_restarted() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("arm.bvh");
    fs::write(&file, arm()).unwrap();
    let watch = Watch::start();
    // All datagrams go through this test.
    let middle = UdpSocket::bind("127.0.0.1:0").unwrap();
    middle.set_read_timeout(Some(PATIENCE)).unwrap();
    let middle_at = middle.local_addr().unwrap();
    let mut program = send(middle_at, &[file.to_str().unwrap(), "--loop"]);
    let mut packet = [0; 2_000];
    let (mut sender, mut first) = (watch.at, None);
    loop {
        let (bytes, from) = middle.recv_from(&mut packet).unwrap();
        let datagram = &packet[..bytes];
        if from == watch.at {
            middle.send_to(datagram, sender).unwrap();
            continue;
        }
        sender = from;
        let session = u32::from_le_bytes(datagram[1..5].try_into().unwrap());
        if *first.get_or_insert(session) != session {
            break;
        }
        middle.send_to(datagram, watch.at).unwrap();
        if datagram[0] == NET {
            // Another session's answer changes nothing.
            middle.send_to(&framed(NO_SESSION, session ^ 1), sender).unwrap();
            middle.send_to(&framed(NO_SESSION, session), sender).unwrap();
        }
    }
    program.until("was restarted");
    assert_eq!(number(&report(&program.interrupt()), "restarts"), 1.0);
    watch.program.interrupt();
}

#[test]
fn a_face_is_sent_as_curves() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("face.csv");
    let mut text = "Timecode,BlendShapeCount,JawOpen,HeadYaw\n".to_owned();
    for frame in 0..30 {
        writeln!(text, "00:00:00:{frame:02}.000,61,0.{frame:02},-0.5").unwrap();
    }
    fs::write(&file, text).unwrap();
    let watch = Watch::start();
    let run = send(watch.at, &[file.to_str().unwrap()]).end();
    assert!(run.stderr.contains(": 1 joint and 2 curves to "), "{}", run.stderr);
    let sent = report(&run);
    assert_eq!((number(&sent, "joints"), number(&sent, "curves")), (1.0, 2.0));
    wait_for("the last face", || {
        let (_, curves, _) = watch.pose();
        matches!(curves[..], [jaw, yaw] if (jaw - 0.29).abs() < 0.011 && (yaw + 0.5).abs() < 0.011)
    });
    watch.program.interrupt();
}

#[test]
fn refusals_say_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    fs::write(at("arm.bvh"), arm()).unwrap();
    fs::write(at("face.csv"), "Timecode,BlendShapeCount,JawOpen\nnow,61,0\n").unwrap();
    fs::write(at("other.csv"), "a,b\n").unwrap();
    fs::write(at("notes.txt"), "").unwrap();
    let of = |arguments: &[&str]| refusal(&[&["figure", "send"], arguments].concat());
    for (arguments, part) in [
        (vec![at("face.csv")], "line 2: the timecode is not HH:MM:SS:FF"),
        (vec![at("other.csv")], "not a recording of Live Link Face"),
        (vec![at("notes.txt")], ".csv"),
        (vec![at("notes.txt")], "; or the source must be vmc://PORT, for a tracker"),
        (vec!["osc://39539".into()], "vmc://PORT"),
        (vec![at("missing.bvh")], "missing.bvh: "),
        (vec![at("arm.bvh"), "--clip".into(), "leg".into()], "it has no clip leg"),
        (vec![at("arm.bvh"), "--skeleton".into(), at("arm.bvh")], "--skeleton is for vmc://"),
        (vec![at("arm.bvh"), "--precision".into(), "1e-9".into()], "raise --precision"),
        (vec![at("arm.bvh"), "--to".into(), "no such host".into()], "write HOST:PORT"),
        (vec![at("arm.bvh"), "--to".into(), "65536".into()], "ports are 0 to 65535"),
        (vec![at("arm.bvh"), "--to".into(), "a".repeat(64)], "no machine of this name"),
        (vec!["vmc://127.0.0.1:0".into(), "--skeleton".into(), at("arm.bvh")], "lacks the joints"),
        (vec!["vmc://39539".into(), "--loop".into()], "--loop is for files"),
        (vec!["vmc://39539".into(), "--speed=2".into()], "--speed is for files"),
        (vec!["vmc://39539".into(), "--unit-cm=2".into()], "--unit-cm is for BVH, glTF and FBX"),
        (vec![at("face.csv"), "--frame-rate=60".into()], "--frame-rate is for BVH files"),
        (vec![at("arm.glb"), "--convention=cmu-daz".into()], "--convention is for BVH files"),
        (vec![at("arm.kpa"), "--drop-frames=1".into()], "--drop-frames is for BVH files"),
        (vec![at("arm.bvh"), "--unit-cm=0".into()], "the unit must be positive and finite"),
        (vec!["vmc://".into()], "not an address"),
    ] {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let refused = of(&arguments);
        assert!(refused.contains(part), "{arguments:?}: {refused}");
    }
    for speed in ["0", "-1", "1001", "nan", "inf", "x"] {
        let refused = run(&["figure", "send", &at("arm.bvh"), &format!("--speed={speed}")]);
        assert_eq!(refused.code, Some(2), "{speed}");
        let expected = "the speed must be a number from 0.001 to 1000";
        assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    }
    for precision in ["0", "-1", "nan", "inf", "x"] {
        let refused = run(&["figure", "send", &at("arm.bvh"), &format!("--precision={precision}")]);
        assert_eq!(refused.code, Some(2), "{precision}");
        let expected = format!("'{precision}' for '--precision <CM>': the largest error must be");
        assert!(refused.stderr.contains(&expected), "{}", refused.stderr);
    }
}

#[test]
fn silence_has_a_deadline() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("arm.bvh");
    fs::write(&file, arm()).unwrap();
    // A port that is open, but does not answer.
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let to = silent.local_addr().unwrap().to_string();
    let file = file.to_str().unwrap();
    for (source, part) in [
        (file, "did not answer within 1 s: start `kinepack figure watch`"),
        ("vmc://127.0.0.1:0", "no body arrived at 127.0.0.1:"),
    ] {
        let run = run(&["figure", "send", source, "--to", &to, "--wait", "1"]);
        assert_eq!(run.code, Some(1), "{}", run.stderr);
        assert!(run.stderr.contains(part), "{}", run.stderr);
    }
}

#[test]
fn a_receiver_that_cannot_take_the_body_is_not_blamed_for_silence() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("arm.bvh");
    fs::write(&file, arm()).unwrap();
    let file = file.to_str().unwrap();
    let watch = Watch::start();
    let mut first = send(watch.at, &[file, "--loop"]);
    first.until("watches");
    let to = watch.at.to_string();
    let wait = ["--wait", "1"];
    let busy = run(&[&["figure", "send", file, "--to", &to], &wait[..]].concat());
    assert_eq!(busy.code, Some(1), "{}", busy.stderr);
    assert!(busy.stderr.contains("it has shown the body of another sender"), "{}", busy.stderr);
    first.interrupt();
    let nowhere = run(&[&["figure", "send", file, "--to", "127.0.0.1:0"], &wait[..]].concat());
    assert_eq!(nowhere.code, Some(1), "{}", nowhere.stderr);
    assert!(nowhere.stderr.contains("the system cannot send there"), "{}", nowhere.stderr);
    watch.program.interrupt();
}

#[test]
fn the_report_is_printed_if_the_receiver_goes_away_but_not_before_it_came() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("arm.bvh");
    fs::write(&file, arm()).unwrap();
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut early = send(silent.local_addr().unwrap(), &[file.to_str().unwrap()]);
    early.until("3 joints and 0 curves");
    let early = early.interrupt();
    assert_eq!((early.code, early.stdout.as_str()), (Some(130), ""), "{}", early.stderr);
    let watch = Watch::start();
    let mut program = send(watch.at, &[file.to_str().unwrap(), "--loop", "--wait", "1"]);
    program.until("watches");
    watch.program.interrupt();
    let run = program.end();
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.stderr.contains("stopped answering"), "{}", run.stderr);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(number(&report, "poses") > 0.0, "{report:#}");
}
