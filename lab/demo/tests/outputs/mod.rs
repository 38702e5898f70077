//! Tests the files that the lab's commands write. A command replaces existing files only with
//! `--force`. Each file is complete or absent.

#[cfg(unix)]
mod unix;

use std::net::UdpSocket;
use std::{fs, thread};

use crate::challenge::{Files, good_f32};
use crate::support::program::{
    refusal, run, see_that_a_failure_changes_nothing, see_that_it_replaces_by_force_alone,
};
use crate::support::recorded::recorded;

const OLD: &[u8] = b"worth something";
/// The options of a short recording.
const SHORT: [&str; 4] = ["--seconds", "1", "--cubes", "20"];

#[test]
fn record_replaces_a_file_only_with_force() {
    let files = Files::new();
    let out = files.path("world.mcap");
    see_that_it_replaces_by_force_alone(
        &out,
        &[&["record", out.to_str().unwrap()], &SHORT[..]].concat(),
    );
}

#[test]
fn sweep_replaces_a_picture_only_with_force() {
    let files = Files::new();
    let out = files.path("sweep.svg");
    let arguments = [&["sweep", "--svg", out.to_str().unwrap()], &SHORT[..]].concat();
    see_that_it_replaces_by_force_alone(&out, &arguments);
}

#[test]
fn outputs_that_cannot_be_written_are_refused_before_the_work() {
    let files = Files::new();
    let [directory, nowhere] = [files.path(""), files.path("no/such/file")];
    for (path, said) in [(&directory, "is a directory"), (&nowhere, "directory does not exist")] {
        let path = path.to_str().unwrap();
        // Without the refusal, this command would record an hour of the world.
        let (hour, sweep) = (["record", path, "--seconds", "3600"], ["sweep", "--svg", path]);
        for arguments in [&hour[..], &sweep] {
            let refused = refusal(arguments);
            assert!(refused.contains(path) && refused.contains(said), "{refused}");
        }
    }
}

#[test]
fn a_recording_without_a_server_leaves_the_old_file() {
    let files = Files::new();
    let old = files.write("old.mcap", OLD);
    let path = old.to_str().unwrap();
    let nobody = ["record", path, "--from", "127.0.0.1:9", "--insecure"];
    let refused = refusal(&nobody);
    assert!(refused.contains(path) && refused.contains("--force"), "{refused}");
    let forced = [&nobody[..], &["--force", "--seconds", "1"]].concat();
    let said = see_that_a_failure_changes_nothing(&old, &forced, 1);
    assert!(said.contains("nothing was received from 127.0.0.1:9"), "{said}");
}

#[test]
fn a_server_that_cannot_start_leaves_the_old_replay() {
    let files = Files::new();
    let old = files.write("old.kpz", OLD);
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let arguments = ["serve", "--insecure", "--listen", &address, "--force", "--seconds", "1"];
    let arguments = [&arguments[..], &["--record", old.to_str().unwrap()]].concat();
    let said = see_that_a_failure_changes_nothing(&old, &arguments, 2);
    assert!(said.contains(&address), "{said}");
}

#[test]
fn two_recordings_of_one_name_never_share_a_file() {
    let files = Files::new();
    let replay = files.path("world.kpz");
    let path = replay.to_str().unwrap();
    let demo = ["demo", "--headless", "--fast", "--cubes", "20", "--record", path, "--force"];
    let long = [&demo[..], &["--seconds", "20"]].concat();
    let short = [&demo[..], &["--seconds", "2"]].concat();
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(run(&long).code, Some(0)));
        assert_eq!(run(&short).code, Some(0));
    });
    // The replay is that of one of them, and complete.
    let checked = run(&["info", path, "--verify"]);
    assert_eq!(checked.code, Some(0), "{}", checked.stderr);
}

#[test]
fn no_command_of_the_lab_replaces_a_file_that_it_reads() {
    let files = Files::new();
    let capture = files.write("run.f32", &good_f32(20, 30)).to_str().unwrap().to_owned();
    let secret = files.write("secret", &[b'1'; 64]).to_str().unwrap().to_owned();
    let server = ["--from", "127.0.0.1:9", "--secret-file", &secret];
    let played = recorded(&files, "world.mcap", &SHORT);
    let folder = files.path("demo");
    fs::create_dir(&folder).unwrap();
    let world = folder.join("world.bin").to_str().unwrap().to_owned();
    fs::rename(played, &world).unwrap();
    let folder = folder.to_str().unwrap();
    for (input, arguments) in [
        (&world, &["demo", "--capture", &world, "--export", folder][..]),
        (&capture, &["demo", "--headless", "--fast", "--capture", &capture, "--record", &capture]),
        (
            &secret,
            &["serve", "--listen", "127.0.0.1:0", "--secret-file", &secret, "--record", &secret],
        ),
        (&secret, &[&["record", &secret][..], &server].concat()),
    ] {
        let arguments = [arguments, &["--force", "--seconds", "1"]].concat();
        let said = see_that_a_failure_changes_nothing(input.as_ref(), &arguments, 2);
        let says = format!("this is the input {input}, which even --force");
        assert!(said.contains(&says), "{arguments:?}: {said}");
    }
}

#[test]
fn an_exported_demo_replaces_files_only_with_force() {
    let files = Files::new();
    let (folder, export) = (files.path("demo"), |more: &[&str]| {
        let folder = files.path("demo").to_str().unwrap().to_owned();
        run(&[&["demo", "--export", &folder][..], &SHORT, more].concat()).code
    });
    assert_eq!(export(&[]), Some(0));
    let page = folder.join("index.html");
    fs::write(&page, OLD).unwrap();
    assert_eq!(export(&[]), Some(2));
    assert_eq!(fs::read(&page).unwrap(), OLD);
    assert_eq!(export(&["--force"]), Some(0));
    assert_ne!(fs::read(&page).unwrap(), OLD);
}
