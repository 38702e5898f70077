//! Tests the files that commands write. Existing files are replaced only with `--force`, files are
//! complete or absent, and a command that fails leaves old files unchanged.

use std::fs;

use crate::challenge::{Files, good_f32};
use crate::support::program::{
    refusal, run, see_that_a_failure_changes_nothing, see_that_it_replaces_by_force_alone,
};

const OLD: &[u8] = b"worth something";

/// Returns a challenge file, and a capture with the same contents.
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
fn an_output_that_is_an_input_is_refused_even_with_force() {
    let files = Files::new();
    let [challenge, capture] = captures(&files);
    let [replay, copy, profile, trace] = ["run.kpz", "copy.mcap", "run.profile", "link.trace"]
        .map(|name| files.path(name).to_str().unwrap().to_owned());
    fs::copy(&capture, &copy).unwrap();
    fs::write(&trace, "5\n").unwrap();
    assert_eq!(run(&["pack", &challenge, &replay]).code, Some(0));
    assert_eq!(run(&["train", &challenge, "--passes", "1", "--out", &profile]).code, Some(0));
    // This is another name of the same file.
    let other = files.path("./run.mcap").to_str().unwrap().to_owned();
    for (input, arguments) in [
        (&capture, &["train", &copy, &capture, "--out", &capture][..]),
        (&capture, &["train", &capture, "--out", &other]),
        (&capture, &["tune", &capture, "--out", &capture]),
        (&capture, &["tune", &capture, "--rust", &other]),
        (&copy, &["tune", &capture, &copy, "--out", &copy]),
        (&capture, &["analyze", &capture, "--html", &capture]),
        (&profile, &["analyze", &capture, "--profile", &profile, "--html", &profile]),
        (&capture, &["replay", &capture, "--html", &other]),
        (&profile, &["replay", &capture, "--profile", &profile, "--html", &profile]),
        (&trace, &["replay", &capture, "--link-trace", &trace, "--html", &trace]),
        (&challenge, &["pack", &challenge, &challenge]),
        (&profile, &["pack", &challenge, "--profile", &profile, &profile]),
        (&replay, &["cut", &replay, &replay]),
    ] {
        for force in [&["--force"][..], &[]] {
            let arguments = [arguments, force].concat();
            let said = see_that_a_failure_changes_nothing(input.as_ref(), &arguments, 2);
            let says = format!("this is the input {input}, which even --force");
            assert!(said.contains(&says), "{arguments:?}: {said}");
        }
    }
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
        let page = ["analyze", &capture, "--html", path];
        let tune = ["tune", &capture, "--passes", "1000", "--out", path];
        let rust = ["tune", &capture, "--passes", "1000", "--rust", path];
        let replay = ["replay", &capture, "--html", path];
        let train = ["train", &capture, "--passes", "1000", "--out", path];
        for arguments in [&page[..], &tune, &rust, &replay, &train] {
            let refused = refusal(arguments);
            assert!(refused.contains(path) && refused.contains(said), "{refused}");
        }
    }
}

#[cfg(unix)]
mod unix {
    use std::process::Command;
    use std::{fs, thread};

    use super::{OLD, captures};
    use crate::challenge::{Files, good_f32};
    use crate::support::program::{
        beside, program, run, run_without_room, see_that_a_failure_changes_nothing,
    };
    use crate::support::running::Running;

    #[test]
    fn a_full_disk_leaves_the_old_file_and_no_part_of_a_conversion() {
        let files = Files::new();
        let captures = captures(&files);
        for (from, to) in captures.iter().zip(["old.mcap", "old.f32"]) {
            let old = files.write(to, OLD);
            let there = beside(&old);
            let full = run_without_room(2, &["convert", from, old.to_str().unwrap(), "--force"]);
            let said = String::from_utf8(full.stderr).unwrap();
            assert!(full.status.code() == Some(2) && said.contains(to), "{said}");
            assert_eq!((fs::read(&old).unwrap(), beside(&old)), (OLD.to_vec(), there));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_device_is_named_as_a_full_disk() {
        use crate::support::program::refusal;
        let files = Files::new();
        let [challenge, _] = captures(&files);
        let replay = files.path("run.kpz").to_str().unwrap().to_owned();
        assert_eq!(run(&["pack", &challenge, &replay]).code, Some(0));
        for arguments in [["pack", &challenge, "/dev/full"], ["cut", &replay, "/dev/full"]] {
            let refused = refusal(&arguments);
            assert!(refused.contains("/dev/full: the disk is full: "), "{refused}");
        }
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let measure = ["measure", &challenge, "--level", "packed"];
        let measured = program().args(measure).stdout(full).output().unwrap();
        let said = String::from_utf8(measured.stderr).unwrap();
        assert_eq!(measured.status.code(), Some(1), "{said}");
        assert!(said.contains("cannot write the report: the disk is full: "), "{said}");
    }

    #[test]
    fn an_output_that_is_an_input_is_known_by_any_of_its_links() {
        let files = Files::new();
        let [challenge, _] = captures(&files);
        let replay = files.path("run.kpz").to_str().unwrap().to_owned();
        assert_eq!(run(&["pack", &challenge, &replay]).code, Some(0));
        let [soft, hard] = ["soft.csv", "hard.csv"].map(|name| files.path(name));
        for (command, input) in [("convert", &challenge), ("unpack", &replay)] {
            std::os::unix::fs::symlink(input, &soft).unwrap();
            fs::hard_link(input, &hard).unwrap();
            for link in [&soft, &hard] {
                let arguments = [command, input, link.to_str().unwrap(), "--force"];
                let said = see_that_a_failure_changes_nothing(link, &arguments, 2);
                assert!(said.contains(&format!("this is the input {input}")), "{said}");
                fs::remove_file(link).unwrap();
            }
        }
    }

    #[test]
    fn a_profile_may_be_a_pipe() {
        let files = Files::new();
        let run = files.write("run.f32", &good_f32(20, 30));
        let profile = files.path("run.profile");
        let trained =
            program().args(["train", "--passes", "1", "--out"]).args([&profile, &run]).output();
        assert!(trained.unwrap().status.success());
        let pipe = files.path("pipe.profile");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let bytes = fs::read(&profile).unwrap();
        let [pipe_name, run] = [&pipe, &run].map(|path| path.to_str().unwrap());
        let measure = ["measure", "--level", "packed", "--profile", pipe_name, run];
        let measured = Running::start(&measure, None);
        // The pipe is opened in a thread, because opening it waits until a reader exists.
        thread::spawn({
            let pipe = pipe.clone();
            move || fs::write(pipe, bytes)
        });
        let measured = measured.end();
        assert_eq!(measured.code, Some(0), "{}", measured.stderr);
    }
}
