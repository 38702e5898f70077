//! Tests interrupts, permissions, links, and outputs that are not regular files.

use std::fs::{self, File, Permissions};
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use cube_data::Challenge;
use kinepack_capture::Capture;
use serde_json::Value;

use super::{OLD, SHORT};
use crate::challenge::{Files, good_f32};
use crate::support::program::{Run, beside, own_line, program, run, run_without_room};
use crate::support::recorded::recorded;
use crate::support::running::{Running, number, wait_for};

/// The options of a recording that is far longer than a test.
const LONG: [&str; 4] = ["--seconds", "86400", "--cubes", "20"];

/// The size of a recording with at least one complete chunk, which is 1 MB before compression.
const SEVERAL_CHUNKS: u64 = 2 << 20;

/// Returns the number of a capture's frames, and whether the capture is complete.
fn frames(path: &Path) -> (usize, bool) {
    let mut capture = Capture::open(path).unwrap();
    let mut frames = 0;
    while capture.next_frame().unwrap().is_some() {
        frames += 1;
    }
    (frames, capture.damage().is_empty())
}

/// Begins a long recording, and waits until a part of it is on the disk. Returns the partial file.
fn recording(out: &Path) -> (Running, PathBuf) {
    let run =
        Running::start(&[&["record", out.to_str().unwrap(), "--force"], &LONG[..]].concat(), None);
    let partial = || {
        beside(out)
            .into_iter()
            .find(|path| path.extension().is_some_and(|ending| ending == "partial"))
    };
    wait_for("frames in a .partial file", || {
        partial()
            .is_some_and(|path| fs::metadata(path).is_ok_and(|file| file.len() > SEVERAL_CHUNKS))
    });
    let partial = partial().unwrap();
    (run, partial)
}

#[test]
fn an_interrupted_recording_is_complete() {
    let files = Files::new();
    let out = files.write("world.mcap", OLD);
    let (run, _) = recording(&out);
    assert_eq!(fs::read(&out).unwrap(), OLD, "the old file stays until the new one is complete");
    let run = run.interrupt();
    let (count, is_whole) = frames(&out);
    assert!(
        is_whole && run.stderr.contains(&format!("world.mcap: {count} frames")),
        "{}",
        run.stderr
    );
    see_that_it_says_how_much_it_recorded(&run, count);
    assert_eq!(beside(&out), [out]);
}

/// A script must not take a shorter file for the one that it asked for.
fn see_that_it_says_how_much_it_recorded(run: &Run, frames: usize) {
    assert_eq!(run.code, Some(130), "{}", run.stderr);
    let seconds = frames as f64 / 60.0;
    let how_far = format!("interrupted after {seconds:.1} of 86400 s; the file is complete and");
    assert!(run.stderr.lines().last().unwrap().starts_with(&own_line(&how_far)), "{}", run.stderr);
}

#[test]
fn a_signal_completes_a_recording_of_floats_and_leaves_no_part_of_it() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let files = Files::new();
        let out = files.write("world.f32", OLD);
        let (run, _) = recording(&out);
        run.signal(signal);
        let run = run.end();
        let mut challenge = Challenge::open(&out).unwrap();
        let mut count = 0;
        while challenge.next_frame().unwrap().is_some() {
            count += 1;
        }
        assert!(run.stderr.contains(&format!("world.f32: {count} frames")), "{}", run.stderr);
        see_that_it_says_how_much_it_recorded(&run, count);
        assert_eq!(beside(&out), [out], "{signal}");
    }
}

#[test]
fn a_killed_recording_leaves_the_old_file_and_its_frames() {
    let files = Files::new();
    let out = files.write("world.mcap", OLD);
    let (run, partial) = recording(&out);
    run.kill();
    assert_eq!(fs::read(&out).unwrap(), OLD);
    let name = partial.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("world.mcap.") && name.ends_with(".partial"), "{name}");
    let saved = files.path("saved.mcap");
    fs::rename(&partial, &saved).unwrap();
    assert!(frames(&saved).0 > 60);
}

/// Interrupts the command some time after it has begun. Returns how it ended.
fn interrupt(arguments: &[&str]) -> Run {
    let run = Running::start(&[arguments, &["--cubes", "20"]].concat(), None);
    run.until_it_handles_signals();
    thread::sleep(Duration::from_millis(500));
    run.interrupt()
}

#[test]
fn a_simulation_that_is_interrupted_reports_what_it_did() {
    let long = ["--seconds", "86400"];
    for command in [&["simulate"][..], &["demo", "--headless"]] {
        let run = interrupt(&[command, &long].concat());
        assert_eq!(run.code, Some(130), "{}", run.stderr);
        assert!(run.stdout.contains("lanes that arrived wrong"), "{}", run.stdout);
        let [line] = run.stderr.lines().collect::<Vec<_>>()[..] else { panic!("{}", run.stderr) };
        let seconds = line.strip_prefix(&own_line("interrupted after "));
        let seconds = seconds.and_then(|rest| rest.split_once(" s of virtual time"));
        assert!(seconds.unwrap().0.parse::<f64>().unwrap() > 0.0, "{line}");

        let run = interrupt(&[command, &long, &["--json"]].concat());
        assert_eq!(run.code, Some(130), "{}", run.stderr);
        let document: Value = serde_json::from_str(&run.stdout).unwrap();
        let first = document.get("first").unwrap_or(&document);
        assert!(number(first, "seconds") > 0.0 && first["wrong_lanes"] == 0, "{document:#}");
    }
}

#[test]
fn a_sweep_that_is_interrupted_reports_its_points_and_draws_nothing() {
    let files = Files::new();
    let picture = files.path("sweep.svg");
    let options = ["sweep", "--seconds", "600", "--json", "--svg", picture.to_str().unwrap()];
    let run = interrupt(&options);
    assert_eq!(run.code, Some(130), "{}", run.stderr);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    let points = |key: &str| document[key].as_array().unwrap().len();
    let done = points("over_loss") + points("over_round_trip");
    let says = format!("interrupted after {done} of 14 points, before the picture");
    assert!(run.stderr.starts_with(&own_line(&says)) && !picture.exists(), "{}", run.stderr);
}

#[test]
fn a_full_disk_leaves_the_old_file_and_the_recorded_frames() {
    let files = Files::new();
    let out = files.write("world.mcap", OLD);
    let record = [&["record", out.to_str().unwrap(), "--force"], &LONG[..]].concat();
    let full = run_without_room(8192, &record);
    let said = String::from_utf8(full.stderr).unwrap();
    assert_eq!((full.status.code(), fs::read(&out).unwrap()), (Some(2), OLD.to_vec()), "{said}");
    let [_, partial] = &beside(&out)[..] else { panic!("{:?}", beside(&out)) };
    assert!(said.contains(partial.to_str().unwrap()), "{said}");
    let saved = files.path("saved.mcap");
    fs::rename(partial, &saved).unwrap();
    assert!(frames(&saved).0 > 60);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_named_as_a_full_disk() {
    let refused =
        crate::support::program::refusal(&[&["record", "/dev/full"], &SHORT[..]].concat());
    assert!(refused.contains("/dev/full: the disk is full: "), "{refused}");
    let demo = ["demo", "--headless", "--fast", "--record", "/dev/full"];
    let refused = crate::support::program::refusal(&[&demo[..], &SHORT].concat());
    assert!(refused.contains("/dev/full: the disk is full: "), "{refused}");
}

#[test]
fn a_pipe_for_floats_is_refused_before_the_work() {
    let files = Files::new();
    let pipe = files.path("world.f32");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let name = pipe.to_str().unwrap();
    let capture = recorded(&files, "world.mcap", &SHORT);
    // The command opens a pipe to write, and waits for a reader. This pipe has none.
    for arguments in [&["record", name, "--seconds", "3600"][..], &["convert", &capture, name]] {
        let run = Running::start(arguments, None).end();
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains("world.f32: this is a pipe or a device"), "{}", run.stderr);
    }
}

#[test]
fn a_new_file_has_the_usual_permissions_and_a_replaced_one_keeps_its_own() {
    let files = Files::new();
    let [mode, usual] = ["out.mcap", "usual"].map(|name| {
        let path = files.path(name);
        move || fs::metadata(&path).unwrap().permissions().mode() & 0o777
    });
    File::create(files.path("usual")).unwrap();
    let out = files.path("out.mcap");
    let arguments = [&["record", out.to_str().unwrap(), "--force"], &SHORT[..]].concat();
    assert_eq!((run(&arguments).code, mode()), (Some(0), usual()));
    fs::set_permissions(&out, Permissions::from_mode(0o640)).unwrap();
    assert_eq!((run(&arguments).code, mode()), (Some(0), 0o640));
}

#[test]
fn a_link_stays_and_its_target_is_replaced() {
    let files = Files::new();
    fs::create_dir(files.path("far")).unwrap();
    let (far, link) = (files.path("far/world.mcap"), files.path("link.mcap"));
    symlink("far/world.mcap", &link).unwrap();
    let arguments = [&["record", link.to_str().unwrap()], &SHORT[..]].concat();
    assert_eq!(run(&arguments).code, Some(0), "a link to a file that does not exist yet");
    assert_eq!(run(&arguments).code, Some(2));
    fs::write(&far, OLD).unwrap();
    assert_eq!(run(&[&arguments[..], &["--force"]].concat()).code, Some(0));
    assert!(frames(&far).0 == 60 && fs::read_link(&link).is_ok());
    assert_eq!(beside(&far), [far]);
}

#[test]
fn pipes_and_devices_are_written_directly() {
    let files = Files::new();
    let challenge = files.write("run.f32", &good_f32(40, 30)).to_str().unwrap().to_owned();
    let capture = files.path("run.mcap").to_str().unwrap().to_owned();
    assert_eq!(run(&["convert", &challenge, &capture]).code, Some(0));
    let record = |out: &str, stdout: Stdio| {
        let mut command = program();
        let child = command
            .args(["record", out])
            .args(SHORT)
            .stdout(stdout)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{out}");
        output.stdout
    };
    let recorded = record("/dev/stdout", Stdio::piped());
    assert_eq!(frames(&files.write("recorded.mcap", &recorded)), (60, true));
    // The test opens one file as a shell does for `> file`, and the other as for `>> file`.
    let (empty, longer) = (files.path("empty"), files.write("longer", b"a line\n"));
    record("/dev/stdout", File::create(&empty).unwrap().into());
    assert_eq!(fs::read(&empty).unwrap(), recorded);
    record("/dev/stdout", File::options().append(true).open(&longer).unwrap().into());
    assert_eq!(fs::read(&longer).unwrap(), [b"a line\n", &recorded[..]].concat());
    record("/dev/null", Stdio::null());
    // If the output is standard output, the command writes its report to standard error, and not
    // into the file.
    let packed = files.path("packed.kpz");
    let out = program()
        .args(["pack", &capture, "/dev/stdout"])
        .stdout(File::create(&packed).unwrap())
        .output()
        .unwrap();
    assert!(out.status.success() && String::from_utf8_lossy(&out.stderr).contains(" frames in "));
    let info = program().arg("info").arg(&packed).arg("--verify").output().unwrap();
    assert!(info.status.success(), "{}", String::from_utf8_lossy(&info.stderr));
    // The output is a named pipe.
    let pipe = files.path("pipe.mcap");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut child =
        program().args(["convert", &challenge]).arg(&pipe).stderr(Stdio::null()).spawn().unwrap();
    let mut bytes = Vec::new();
    File::open(&pipe).unwrap().read_to_end(&mut bytes).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(frames(&files.write("read.mcap", &bytes)), frames(Path::new(&capture)));
}
