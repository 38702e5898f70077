//! Tests the messages from the program to its pages, and the pages' requests.

use std::time::Duration;

use serde_json::{Value, json};

use super::socket::{Page, Said, World};
use crate::support::running::{Running, number};

const SMALL: &[&str] = &["--cubes", "20"];

fn tick(status: &Value) -> f64 {
    number(status, "tick")
}

#[test]
fn the_program_sends_hello_then_status_and_worlds() {
    let (_demo, address) = Running::demo(SMALL);
    let mut page = Page::open(address);
    let Said::Text(key, hello) = page.next() else { panic!("something before hello") };
    assert_eq!(key, "hello");
    assert_eq!([&hello["bodies"], &hello["tick_hz"]], [21, 60]);
    assert!(hello["program"].as_str().unwrap().starts_with("kinepack "), "{hello:#}");
    let names = |key: &str| -> Vec<String> {
        let of = hello[key].as_array().unwrap().iter();
        of.map(|each| each["name"].as_str().unwrap().to_owned()).collect()
    };
    let [levels, links] = ["levels", "links"].map(names);
    assert!(
        levels.contains(&"packed".to_owned()) && levels.contains(&"adaptive".to_owned()),
        "{levels:?}"
    );
    for link in ["lan", "wifi", "mobile"] {
        assert!(links.contains(&link.to_owned()), "{links:?}");
    }

    let status = page.hear("status");
    let settings = &status["settings"];
    assert!(levels.iter().any(|level| settings["level"] == **level), "{settings}");
    assert!(links.iter().any(|link| settings["link"] == **link), "{settings}");
    assert!(hello["send_hz"].as_array().unwrap().contains(&settings["send_hz"]), "{settings}");
    assert_eq!([&status["has_control"], &status["paused"]], [true, false]);

    let worlds: Vec<World> = (0..30).map(|_| page.world()).collect();
    for world in &worlds {
        assert_eq!(world.bytes, 20 + 32 * world.bodies as usize, "{world:?}");
        assert_eq!(world.bodies, 21, "{world:?}");
    }
    for pair in worlds.windows(2) {
        assert!(pair[0].number < pair[1].number && pair[0].tick < pair[1].tick, "{pair:?}");
    }
}

#[test]
fn a_page_that_connects_later_begins_with_the_newest_ones() {
    let (_demo, address) = Running::demo(SMALL);
    let mut first = Page::open(address);
    let before = f64::from(first.world().tick);
    first.status("later ticks", |status| tick(status) > before + 30.0);
    drop(first);
    let mut second = Page::open(address);
    let status = tick(&second.hear("status"));
    let world = f64::from(second.world().tick);
    assert!(status > before + 30.0 && world > before + 30.0, "{before}, then {status} and {world}");
}

#[test]
fn only_one_page_plays_until_another_takes_over() {
    let (_demo, address) = Running::demo(SMALL);
    let mut first = Page::open(address);
    let settings =
        first.status("control", |status| status["has_control"] == true)["settings"].clone();
    let mut second = Page::open(address);
    second.status("no control", |status| status["has_control"] == false && status["pages"] == 2);
    let asks = |settings: &Value| {
        let mut settings = settings.clone();
        settings["loss_percent"] = json!(7);
        [
            json!({ "settings": settings }),
            json!({ "pause": true }),
            json!({ "step": 1 }),
            json!({ "keys": ["left"] }),
        ]
    };
    for ask in asks(&settings) {
        second.say(&ask);
        second.hear("error");
    }
    let status = first.hear("status");
    assert_eq!(
        [&status["settings"], &status["paused"], &status["plays"]],
        [&settings, &json!(false), &json!("script")]
    );

    second.say(&json!({ "take_over": true }));
    second.status("control", |status| status["has_control"] == true);
    first.status("no control", |status| status["has_control"] == false);
    first.say(&asks(&settings)[0]);
    first.hear("error");
    second.say(&asks(&settings)[0]);
    for page in [&mut first, &mut second] {
        page.status("its settings", |status| status["settings"]["loss_percent"] == 7.0);
    }
}

#[test]
fn the_next_page_plays_when_a_page_closes() {
    let (_demo, address) = Running::demo(SMALL);
    let mut first = Page::open(address);
    first.hear("hello");
    let mut second = Page::open(address);
    second.status("no control", |status| status["has_control"] == false);
    drop(first);
    second.status("control", |status| status["has_control"] == true);
}

#[test]
fn pause_holds_the_world_and_a_step_is_one_tick() {
    let (_demo, address) = Running::demo(SMALL);
    let mut page = Page::open(address);
    page.say(&json!({ "pause": true }));
    let at = tick(&page.status("paused", |status| status["paused"] == true));
    page.listen(Duration::from_millis(400));
    assert_eq!(tick(&page.hear("status")), at);
    for (steps, after) in [(1, 1.0), (60, 61.0)] {
        page.say(&json!({ "step": steps }));
        page.status("a step", |status| tick(status) == at + after);
    }
    for steps in [0, 61, -1] {
        page.say(&json!({ "step": steps }));
        page.hear("error");
    }
    page.say(&json!({ "pause": false }));
    page.status("going on", |status| status["paused"] == false && tick(status) > at + 70.0);
    page.say(&json!({ "step": 1 }));
    page.hear("error");
}

#[test]
fn keys_make_a_person_play_for_a_while() {
    let (_demo, address) = Running::demo(SMALL);
    let mut page = Page::open(address);
    page.status("the script", |status| status["plays"] == "script");
    page.say(&json!({ "keys": ["left", "push"] }));
    page.status("a person", |status| status["plays"] == "person");
    page.say(&json!({ "keys": [] }));
    let let_go = tick(&page.hear("status"));
    let script = tick(&page.status("the script again", |status| status["plays"] == "script"));
    assert!((150.0..300.0).contains(&(script - let_go)), "{let_go} to {script}");
}

#[test]
fn a_held_key_moves_the_world_as_late_as_the_link_is_long() {
    let link = ["--link", "lan", "--round-trip-ms", "400", "--jitter-ms", "0"];
    let (_demo, address) = Running::demo(&[SMALL, &["--style", "rest"], &link].concat());
    let mut page = Page::open(address);
    page.status("some seconds", |status| tick(status) > 150.0);
    page.say(&json!({ "pause": true }));
    let paused = page.status("paused", |status| status["paused"] == true);
    assert_eq!(paused["report"]["input"], json!(null), "no person has played");
    let at = tick(&paused) as u32;
    let mut world_of = |tick: u32, ask: &[Value]| {
        ask.iter().for_each(|ask| page.say(ask));
        page.until("the tick", |said| match said {
            Said::World(world) if world.tick == tick => Some(world),
            _ => None,
        })
    };
    let before = world_of(at, &[]).player_x;
    // The keys of the first tick take 200 ms, a little more than twelve ticks. The next step moves
    // the player.
    let still = world_of(at + 14, &[json!({ "keys": ["right"] }), json!({ "step": 14 })]).player_x;
    assert!((still - before).abs() < 0.001, "{before} to {still}");
    let moved = world_of(at + 34, &[json!({ "step": 20 })]).player_x;
    assert!(moved > still + 0.05, "{still} to {moved}");

    let input =
        page.status("the input", |status| status["report"]["input"]["records"] == 34)["report"]["input"].clone();
    assert_eq!([&input["packets"], &input["wrong"], &input["lost"]], [34, 0, 0], "{input:#}");
    let bits = ["mean", "full"].map(|of| number(&input["bits_per_packet"], of));
    assert!(0.0 < bits[0] && bits[0] <= bits[1], "{input:#}");
    page.say(&json!({ "step": 60 }));
    let status = page.status("another second", |status| tick(status) == f64::from(at + 94));
    let input = &status["report"]["input"];
    let bits = ["mean", "full"].map(|of| number(&input["bits_per_packet"], of));
    assert!(bits[0] < bits[1], "acknowledged by now: {input:#}");
    assert_eq!([&input["records"], &input["wrong"]], [94, 0], "{input:#}");
}

#[test]
fn lost_keys_move_no_cube() {
    let (_demo, address) = Running::demo(&[SMALL, &["--style", "rest", "--loss", "100"]].concat());
    let mut page = Page::open(address);
    page.status("a second", |status| tick(status) > 60.0);
    let before = page.world().player_x;
    page.say(&json!({ "keys": ["right"] }));
    let status =
        page.status("packets", |status| status["report"]["input"]["packets"].as_f64() > Some(30.0));
    assert_eq!(
        [&status["plays"], &status["report"]["input"]["received"]],
        [&json!("person"), &json!(0)]
    );
    assert!((page.world().player_x - before).abs() < 0.01);
}

#[test]
fn an_inspected_body_is_sent_lane_by_lane() {
    let (_demo, address) = Running::demo(SMALL);
    let mut page = Page::open(address);
    let lanes = page.hear("hello")["lanes"].as_array().unwrap().len();
    page.say(&json!({ "look": 0 }));
    let look = page.hear("look");
    assert_eq!(look["id"], 0, "{look:#}");
    assert_eq!(look["sent"].as_array().unwrap().len(), lanes, "{look:#}");
    page.say(&json!({ "look": null }));
    page.listen(Duration::from_millis(300));
    let heard = page.listen(Duration::from_millis(400));
    assert!(!heard.iter().any(|said| matches!(said, Said::Text(key, _) if key == "look")));
}

#[test]
fn another_level_opens_a_new_connection_and_restarts_the_report() {
    let (_demo, address) = Running::demo(SMALL);
    let mut page = Page::open(address);
    let before = page.status("a second", |status| number(&status["report"], "seconds") > 1.0);
    let mut settings = before["settings"].clone();
    for (key, value) in [("level", json!("adaptive")), ("send_hz", json!(30))] {
        settings[key] = value;
    }
    page.say(&json!({ "settings": settings }));
    let status = page.status("the new level", |status| status["settings"] == settings);
    assert!(tick(&status) >= tick(&before), "the world resumes: {status:#}");
    let status = page
        .status("some of its frames", |status| number(&status["report"], "frames_received") > 5.0);
    assert!(number(&status["report"], "seconds") < 5.0, "{status:#}");
    let sending = status["report"]["sending"].as_str().unwrap();
    assert!(sending.contains("--level adaptive") && sending.contains("--send-hz 30"), "{sending}");
    assert_eq!(status["report"]["wrong_lanes"], 0);
}

#[test]
fn the_last_message_has_the_numbers_of_standard_output() {
    let (demo, address) = Running::demo(SMALL);
    let mut page = Page::open(address);
    page.status("a second", |status| tick(status) > 60.0);
    demo.signal("-INT");
    let end = page.hear("end");
    page.closed();
    let document = demo.end().document();
    assert_eq!(end["report"], document);
    assert_eq!(document["wrong_lanes"], 0);
    assert!(number(&document, "frames_sent") > 30.0, "{document:#}");
}

#[test]
fn the_demo_ends_after_the_given_seconds() {
    let (demo, address) = Running::demo(&["--cubes", "20", "--seconds", "2"]);
    let end = Page::open(address).hear("end");
    let document = demo.end().document();
    assert_eq!(end["report"], document);
    assert!((number(&document, "seconds") - 2.0).abs() < 0.1, "{document:#}");
}
