//! Tests the pages that the program refuses, and the messages that it rejects.

use std::time::Duration;

use serde_json::{Value, json};
use tungstenite::Message;

use super::socket::{Page, Said};
use crate::support::running::Running;

const SMALL: &[&str] = &["--cubes", "20"];

#[test]
fn only_the_page_itself_may_open_the_socket() {
    let (_demo, address) = Running::demo(SMALL);
    let [port, other] = [address.port(), address.port() ^ 1];
    for name in ["127.0.0.1", "localhost"] {
        let host = format!("{name}:{port}");
        let page = Page::knock(address, &host, Some(&format!("http://{host}")));
        page.unwrap_or_else(|status| panic!("{host}: {status}")).hear("hello");
    }
    let host = address.to_string();
    let foreign = [
        "http://evil.example",
        "null",
        "",
        "http://127.0.0.1",
        &format!("http://127.0.0.1:{other}"),
        &format!("http://evil.example:{port}"),
    ];
    for origin in foreign.into_iter().map(Some).chain([None]) {
        assert_eq!(Page::knock(address, &host, origin).err(), Some(403), "{origin:?}");
    }
    // This foreign name leads to this machine. A foreign page uses it with its own origin.
    let host = format!("evil.example:{port}");
    let status = Page::knock(address, &host, Some(&format!("http://{host}"))).err();
    assert!([Some(403), Some(421)].contains(&status), "{status:?}");
}

#[test]
fn the_ninth_page_is_refused_until_another_one_closes() {
    let (_demo, address) = Running::demo(SMALL);
    let origin = format!("http://{address}");
    let mut pages: Vec<_> = (0..8).map(|_| Page::open(address)).collect();
    pages[0].status("eight pages", |status| status["pages"] == 8);
    assert_eq!(Page::knock(address, &address.to_string(), Some(&origin)).err(), Some(503));
    pages.pop();
    pages[0].status("seven pages", |status| status["pages"] == 7);
    Page::open(address).hear("hello");
}

#[test]
fn a_message_that_is_too_long_closes_the_socket() {
    let (_demo, address) = Running::demo(SMALL);
    let mut good = Page::open(address);
    for length in [4097, 1 << 20] {
        let mut page = Page::open(address);
        page.hear("hello");
        page.send(Message::text(format!("{{\"pause\":{}true}}", " ".repeat(length))));
        page.closed();
    }
    good.status("one page again", |status| status["pages"] == 1 && status["paused"] == false);
}

#[test]
fn a_page_that_sends_too_much_is_closed_and_the_others_stay() {
    let (_demo, address) = Running::demo(SMALL);
    let mut good = Page::open(address);
    let mut loud = Page::open(address);
    loud.hear("hello");
    for _ in 0..300 {
        loud.say(&json!({ "taken": 0 }));
    }
    assert_eq!(loud.closed(), Some(1008));
    let tick = good.status("one page again", |status| status["pages"] == 1)["tick"].as_u64();
    good.status("later ticks", |status| status["tick"].as_u64() > tick);
}

/// Returns the program's settings with one changed value.
fn but(settings: &Value, key: &str, value: Value) -> String {
    let mut settings = settings.clone();
    settings[key] = value;
    json!({ "settings": settings }).to_string()
}

/// Returns texts that are not messages, and messages that are not valid.
fn nonsense(settings: &Value) -> Vec<String> {
    let mut messages: Vec<String> = [
        "",
        "not JSON",
        "[]",
        "{}",
        "1",
        "null",
        "\"pause\"",
        "{\"pause\": true",
        "{\"pause\": true, \"take_over\": true}",
        "{\"unknown\": 1}",
        "{\"pause\": 1}",
        "{\"pause\": \"true\"}",
        "{\"step\": 1}",
        "{\"keys\": [\"jump\"]}",
        "{\"keys\": \"left\"}",
        "{\"keys\": [1]}",
        "{\"look\": -1}",
        "{\"look\": \"17\"}",
        "{\"look\": 1e300}",
        "{\"taken\": -1}",
        "{\"taken\": 1.5}",
        "{\"taken\": 4294967296}",
        "{\"take_over\": 1}",
        "{\"settings\": null}",
        "{\"settings\": {}}",
        "{\"settings\": {\"link\": \"wifi\"}}",
    ]
    .map(str::to_owned)
    .to_vec();
    messages.push("[".repeat(4000));
    for number in ["NaN", "Infinity", "1e999", "01", "0x10"] {
        messages.push(
            but(settings, "loss_percent", Value::Null)
                .replace("\"loss_percent\":null", &format!("\"loss_percent\":{number}")),
        );
    }
    let wrong = [
        ("link", vec![json!("moon"), json!(""), json!(1), Value::Null]),
        ("level", vec![json!("uncompressed"), json!("fast"), json!(12), Value::Null]),
        (
            "send_hz",
            vec![json!(0), json!(7), json!(61), json!(59.5), json!("60"), json!(-60), Value::Null],
        ),
        ("round_trip_ms", vec![json!(-1), json!(1e9), json!(1e308), json!("30"), json!([30])]),
        ("jitter_ms", vec![json!(-1), json!(1e9), json!(1e308), json!("30")]),
        (
            "loss_percent",
            vec![
                json!(101),
                json!(-1),
                json!(1e308),
                json!(-1e308),
                json!("20"),
                json!(true),
                json!({}),
            ],
        ),
        ("burst", vec![json!(0), json!(-1), json!(1e308), json!("2")]),
        ("bandwidth_kbps", vec![json!(0), json!(-1), json!(1e308), json!("20000")]),
        ("playout_ms", vec![json!(-1), json!(1e9), json!(1e308), json!("100")]),
        ("more", vec![json!(1)]),
    ];
    for (key, values) in wrong {
        messages.extend(values.into_iter().map(|value| but(settings, key, value)));
    }
    messages
}

#[test]
fn an_invalid_message_is_answered_with_an_error_and_has_no_effect() {
    let (_demo, address) = Running::demo(SMALL);
    let mut page = Page::open(address);
    let before = page.hear("status");
    let error = |page: &mut Page, message: &str| {
        let sentence = page.hear("error");
        let sentence = sentence.as_str().unwrap_or_else(|| panic!("{message}: {sentence}"));
        assert!(sentence.len() > 10 && !sentence.contains('\n'), "{message}: {sentence:?}");
    };
    for (index, message) in nonsense(&before["settings"]).into_iter().enumerate() {
        page.send(Message::text(message.clone()));
        error(&mut page, &message);
        if index % 50 == 49 {
            // The test sends messages at the highest allowed rate.
            page.listen(Duration::from_millis(600));
        }
    }
    for bytes in [vec![], vec![1], vec![0; 4095]] {
        page.send(Message::binary(bytes));
        error(&mut page, "bytes");
    }
    let after = page.hear("status");
    for key in ["settings", "paused", "has_control", "plays"] {
        assert_eq!(after[key], before[key], "{key}");
    }
    // The program still accepts valid messages.
    page.send(Message::text(but(&before["settings"], "loss_percent", json!(20))));
    page.status("20 % of loss", |status| status["settings"]["loss_percent"] == 20.0);
}

#[test]
fn a_page_that_draws_nothing_gets_two_worlds_and_does_not_slow_others() {
    let (_demo, address) = Running::demo(SMALL);
    let mut hidden = Page::open(address);
    hidden.draws = false;
    let mut seen = Page::open(address);
    let first = seen.world().tick;
    let heard = hidden.listen(Duration::from_secs(2));
    let worlds = heard.iter().filter(|said| matches!(said, Said::World(_))).count();
    let statuses =
        heard.iter().filter(|said| matches!(said, Said::Text(key, _) if key == "status")).count();
    assert_eq!(worlds, 2);
    assert!(statuses >= 10, "{statuses}");
    // The other page received its worlds throughout. A page that draws again receives more worlds.
    seen.until("a later world", |said| match said {
        Said::World(world) if world.tick > first + 60 => Some(()),
        _ => None,
    });
    hidden.draws = true;
    hidden.say(&json!({ "taken": 2 }));
    hidden.world();
}
