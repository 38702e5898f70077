//! The files that commands write. Existing files are replaced only with `--force`, files are
//! complete or absent, and a command that fails leaves old files unchanged.

#[cfg(unix)]
mod unix;

use std::fs;

use crate::challenge::{Files, good_f32};
use crate::support::program::{
    refusal, run, see_that_a_failure_changes_nothing, see_that_it_replaces_by_force_alone,
};

const OLD: &[u8] = b"worth something";
/// Options of a short recording.
const SHORT: [&str; 4] = ["--seconds", "1", "--cubes", "20"];

/// A challenge file, and the same as a capture.
fn captures(files: &Files) -> [String; 2] {
    let challenge = files.write("run.f32", &good_f32(40, 30)).to_str().unwrap().to_owned();
    let capture = files.path("run.mcap").to_str().unwrap().to_owned();
    assert_eq!(run(&["convert", &challenge, &capture]).code, Some(0));
    [challenge, capture]
}

#[test]
fn convert_replaces_a_file_only_with_force() {
    let files = Files::new();
    let [challenge, capture] = captures(&files);
    for (from, to) in [(&challenge, "other.mcap"), (&capture, "other.f32")] {
        let out = files.path(to);
        see_that_it_replaces_by_force_alone(&out, &["convert", from, out.to_str().unwrap()]);
    }
}

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
fn train_replaces_a_file_only_with_force() {
    let files = Files::new();
    let ([challenge, _], out) = (captures(&files), files.path("run.profile"));
    let arguments = ["train", &challenge, "--passes", "1", "--out", out.to_str().unwrap()];
    see_that_it_replaces_by_force_alone(&out, &arguments);
}

#[test]
fn analyze_and_replay_replace_a_page_only_with_force() {
    let files = Files::new();
    let ([_, capture], page) = (captures(&files), files.path("page.html"));
    for command in ["analyze", "replay"] {
        see_that_it_replaces_by_force_alone(
            &page,
            &[command, &capture, "--html", page.to_str().unwrap()],
        );
    }
}

#[test]
fn sweep_replaces_a_picture_only_with_force() {
    let files = Files::new();
    let out = files.path("sweep.svg");
    let arguments = [&["sweep", "--svg", out.to_str().unwrap()], &SHORT[..]].concat();
    see_that_it_replaces_by_force_alone(&out, &arguments);
}

#[test]
fn a_convert_that_fails_leaves_the_old_file() {
    let files = Files::new();
    let [challenge, capture] = captures(&files);
    let whole = fs::read(&challenge).unwrap();
    let damaged = files.write("damaged.f32", &whole[..whole.len() - 7]);
    for (from, to) in [
        (damaged.to_str().unwrap(), "old.mcap"),
        ("missing.f32", "old.mcap"),
        // This capture holds floats, so it cannot become a .bin file.
        (&capture, "old.bin"),
    ] {
        let old = files.write(to, OLD);
        see_that_a_failure_changes_nothing(
            &old,
            &["convert", from, old.to_str().unwrap(), "--force"],
            2,
        );
        fs::remove_file(&old).unwrap();
        see_that_a_failure_changes_nothing(&old, &["convert", from, old.to_str().unwrap()], 2);
    }
}

#[test]
fn outputs_that_cannot_be_written_are_refused_before_the_work() {
    let files = Files::new();
    let [_, capture] = captures(&files);
    let [directory, nowhere] = [files.path(""), files.path("no/such/file")];
    for (path, said) in [(&directory, "is a directory"), (&nowhere, "directory does not exist")] {
        let path = path.to_str().unwrap();
        // This would record an hour of the world.
        let hour = ["record", path, "--seconds", "3600"];
        let page = ["analyze", &capture, "--html", path];
        let tune = ["tune", &capture, "--passes", "1000", "--out", path];
        let rust = ["tune", &capture, "--passes", "1000", "--rust", path];
        let replay = ["replay", &capture, "--html", path];
        let (train, sweep) = (["train", "--out", path], ["sweep", "--svg", path]);
        for arguments in [&hour[..], &page, &tune, &rust, &replay, &train, &sweep] {
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
