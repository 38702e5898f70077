//! Tests commands that read several captures: `train`, and `tune` with further captures. The tests
//! cover which stream of each capture is read, what is refused before reading, and which file an
//! error names.

use kinepack::{EntityId, Pack, Tick};
use kinepack_capture::Recorder;

use crate::challenge::{Files, good_f32};
use crate::support::drone::Drone;
use crate::support::program::{refusal, run, stdout};

#[derive(Pack)]
struct Gate {
    is_open: bool,
}

/// Returns a capture with the streams `streams`. A stream has gates if its name begins with
/// `gates`, and otherwise drones that circle.
fn capture(files: &Files, name: &str, streams: &[&str], rate_hz: f64) -> String {
    let path = files.path(name);
    let mut recorder = Recorder::create(&path).unwrap();
    for stream in streams {
        if stream.starts_with("gate") {
            let gates = recorder.stream::<Gate>(stream, rate_hz).unwrap();
            for tick in 0..120 {
                let gate = Gate { is_open: tick % 20 < 10 };
                recorder.record(&gates, Tick(tick), [(EntityId(2), gate)]).unwrap();
            }
        } else {
            let drones = recorder.stream::<Drone>(stream, rate_hz).unwrap();
            for tick in 0..120 {
                let states = (0..5).map(|drone| {
                    let turn = tick as f32 * 0.03 * (0.5 + 0.1 * drone as f32);
                    let position = [20.0 * turn.cos(), 20.0 * turn.sin(), drone as f32];
                    (EntityId(drone), Drone { position, battery: 50 })
                });
                recorder.record(&drones, Tick(tick), states).unwrap();
            }
        }
    }
    recorder.finish().unwrap();
    path.to_str().unwrap().to_owned()
}

const QUICK: [&str; 4] = ["--passes", "1", "--lag", "3"];

#[test]
fn an_error_about_an_option_names_the_file() {
    let files = Files::new();
    let first = capture(&files, "first.mcap", &["drones", "gates"], 30.0);
    let further = capture(&files, "further.mcap", &["drones"], 30.0);
    let out = files.path("out.profile");
    let out = out.to_str().unwrap();
    let train = ["train", &first, &further, "--out", out];
    let tune = ["tune", &first, &further];
    for (options, file, says) in [
        (&["--stream", "gates"][..], &further, "--stream gates: no such stream; there are drones"),
        (&["--stream", "ships"], &first, "--stream ships: no such stream; there are drones, gates"),
        (&["--max-error", "hull=1"], &first, "stream drones: --max-error hull: no such field"),
        (&["--body-size", "1"], &first, "--body-size: the schema marks no position"),
    ] {
        for command in [&train[..], &tune] {
            let said = run(&[command, options].concat());
            assert_eq!(said.code, Some(2), "{options:?}: {}", said.stderr);
            let says = format!("{file}: {says}");
            assert!(said.stderr.contains(&says), "no {says:?} in {}", said.stderr);
        }
    }
    let cubes = run(&[&train[..], &["--time-precision-ms", "2"]].concat());
    assert!(cubes.stderr.contains(&format!("{first}: --time-precision-ms is for cubes")));
    let held_out = run(&[&tune[..], &["--hold-out", "1", "--lag", "60"]].concat());
    assert!(held_out.stderr.contains(&format!("{first}: 119 frames of 120 remain")));
}

#[test]
fn a_further_capture_is_read_at_the_stream_of_the_first_one_s_name() {
    let files = Files::new();
    let first = capture(&files, "first.mcap", &["drones"], 30.0);
    let further = |name: &str, streams: &[&str]| capture(&files, name, streams, 30.0);
    let same_name = further("same.mcap", &["gates", "flock", "drones"]);
    let only_one = further("one.mcap", &["gates", "swarm"]);
    let tuned = run(&[&["tune", &first, &same_name, &only_one, "--json"], &QUICK[..]].concat());
    let document = tuned.document();
    let streams = [0usize, 1].map(|at| document["further"][at]["stream"].clone());
    assert_eq!(streams, ["drones", "swarm"]);
    let says = "this is about stream swarm, the only one with the schema of drones of ";
    assert_eq!(tuned.stderr, format!("{only_one}: {says}{first}\n"));
    // No stream is chosen silently if several would fit, or if none does.
    let several = further("several.mcap", &["flock", "swarm"]);
    let none = further("none.mcap", &["gates", "gates2"]);
    let gate = further("gate.mcap", &["gates"]);
    let named = capture(&files, "named.mcap", &["gates", "drones"], 30.0);
    let out = files.path("out.profile");
    let out = out.to_str().unwrap();
    let wanted = format!("it has no stream drones, which is the one of {first}, and ");
    for (further, says) in [
        (&several, format!("{wanted}several others of the same schema; ")),
        (&several, "--stream takes one name for all files; there are flock, swarm\n".to_owned()),
        (&none, format!("{wanted}no other of the same schema; ")),
        (&none, "train them apart; there are gates, gates2\n".to_owned()),
        (&gate, format!("its stream gates has another schema than that of {first}")),
    ] {
        for command in [&["train", &first, further, "--out", out][..], &["tune", &first, further]] {
            let refused = refusal(command);
            let names_file = refused.starts_with(&format!("kinepack: {further}: "));
            assert!(names_file && refused.contains(&says), "no {says:?} in {refused}");
        }
    }
    // A requested name applies to each file.
    let gates = ["tune", &gate, &first, "--stream", "gates"];
    assert!(refusal(&gates).contains(&format!("{first}: --stream gates: no such stream")));
    let refused = refusal(&["train", &named, &gate, "--stream", "drones", "--out", out]);
    assert!(refused.contains(&format!("{gate}: --stream drones: no such stream")), "{refused}");
}

#[test]
fn all_captures_are_opened_before_one_is_read_and_the_first_is_checked_before_the_others() {
    let files = Files::new();
    let whole = good_f32(60, 5);
    let write = |name: &str, bytes: &[u8]| files.write(name, bytes).to_str().unwrap().to_owned();
    // The file can be opened, but reading it fails.
    let cut = write("cut.f32", &whole[..whole.len() - 7]);
    let [good, short] = [("good.f32", &whole), ("short.f32", &good_f32(6, 5))]
        .map(|(name, bytes)| write(name, bytes));
    let missing = files.path("missing.f32").to_str().unwrap().to_owned();
    let drones = capture(&files, "drones.mcap", &["drones"], 60.0);
    let out = files.path("out.profile");
    let out = out.to_str().unwrap();
    for further in [&missing, &drones] {
        for command in [
            &["tune", &cut, &good, further][..],
            &["train", &cut, &good, further, "--out", out],
            &["tune", &good, &cut, further],
        ] {
            let refused = refusal(command);
            assert!(refused.starts_with(&format!("kinepack: {further}: ")), "{refused}");
        }
    }
    let refused = refusal(&["tune", &short, &cut]);
    assert!(refused.starts_with(&format!("kinepack: {short}: ")), "{refused}");
    let refused = refusal(&["tune", &good, &cut]);
    assert!(refused.starts_with(&format!("kinepack: {cut}: ")), "{refused}");
}

#[test]
fn a_further_capture_of_another_rate_is_reported_with_both_rates() {
    let files = Files::new();
    let first = capture(&files, "first.mcap", &["drones"], 30.0);
    let same = capture(&files, "same.mcap", &["drones"], 30.0);
    let other = capture(&files, "other.mcap", &["drones"], 60.0);
    let note = format!("{other} has 60 ticks a second and {first} has 30: the same lag in ticks");
    let tune = [&["tune", &first, &same, &other], &QUICK[..]].concat();
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<&str>>().join(" ");
    let text = one_line(&stdout(&tune));
    assert!(text.contains(&note), "{text}");
    assert!(!text.contains(&format!("{same} has")), "{text}");
    let document = run(&[&tune[..], &["--json"]].concat()).document();
    assert_eq!(document["rate_hz"], 30.0);
    assert_eq!([0usize, 1].map(|at| document["further"][at]["rate_hz"].clone()), [30.0, 60.0]);
    let out = files.path("out.profile");
    let train = ["train", &first, &same, &other, "--passes", "1", "--out", out.to_str().unwrap()];
    let trained = run(&train);
    assert_eq!(trained.code, Some(0), "{}", trained.stderr);
    assert!(trained.stderr.contains(&note), "{}", trained.stderr);
    for (command, says) in [("tune", "the report then has both rates"), ("train", "with a note")] {
        assert!(one_line(&stdout(&[command, "--help"])).contains(says), "{command}");
    }
}
