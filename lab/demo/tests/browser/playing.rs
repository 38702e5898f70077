//! Tests playing in the page: keys, pause, and which page may play.

use std::thread;
use std::time::Duration;

use fantoccini::key::Key;

use super::driver::Browser;
use crate::support::running::Running;

/// Opens a second socket next to the page, which stores the program's last status in `heard`.
const LISTEN: &str = "(() => {
    globalThis.heard = null;
    const socket = new WebSocket(`ws://${location.host}/socket`);
    socket.onmessage = ({ data }) => {
        if (typeof data === 'string') heard = JSON.parse(data).status ?? heard;
    };
    return true;
})()";

#[test]
fn pause_holds_a_step_is_one_tick_and_the_world_resumes() {
    let (_demo, address) = Running::demo(&[]);
    let browser = Browser::start();
    browser.open(address, "");
    let tick = || browser.number("kinepack.world()?.tick ?? 0");
    browser.eval(LISTEN);
    browser.wait_above("kinepack.world()?.tick ?? 0", 30.0);
    browser.click("#pause");
    browser.wait("heard?.paused && kinepack.world().tick === heard.tick");
    let paused = tick();
    // The test must wait, because an event that must not happen gives no condition to wait for.
    thread::sleep(Duration::from_millis(500));
    assert_eq!(tick(), paused);
    for step in 1..=3 {
        browser.click("#step");
        browser.wait(&format!("kinepack.world().tick === {}", paused + f64::from(step)));
    }
    thread::sleep(Duration::from_millis(300));
    assert_eq!(tick(), paused + 3.0);
    browser.click("#pause");
    browser.wait_above("kinepack.world().tick", paused + 60.0);
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn a_held_arrow_key_makes_a_person_play() {
    let (_demo, address) = Running::demo(&[]);
    let browser = Browser::start();
    browser.open(address, "");
    browser.eval(LISTEN);
    browser.wait("heard?.plays === 'script' && kinepack.world()?.shown.length > 0");
    let before = browser.number("kinepack.world().sent[0]");
    browser.hold(Key::Right);
    browser.wait("heard.plays === 'person'");
    browser.wait_above("kinepack.world().sent[0]", before + 1.0);
    browser.wait_above("kinepack.world().shown[0]", before + 1.0);
    browser.let_go();
    browser.wait("heard.plays === 'script'");
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn the_page_shows_the_bandwidth_of_keys_once_a_person_plays() {
    let (demo, address) = Running::demo(&[]);
    let browser = Browser::start();
    browser.resize(1280, 800);
    browser.open(address, "");
    browser.wait("kinepack.samples().length > 5");
    let said =
        |what: &str| browser.text(&format!("document.getElementById('input-{what}').textContent"));
    assert_eq!(["bits", "full", "kbps", "recovered", "lost"].map(said), ["–"; 5]);
    browser.hold(Key::Right);
    let shown = |what: &str| format!("Number(document.getElementById('input-{what}').textContent)");
    let full = browser.wait_above(&shown("full"), 50.0);
    browser.wait(&format!(
        "{0} >= 32 && {0} < {full} / 1.5 && {1} > 10",
        shown("bits"),
        shown("kbps")
    ));
    browser
        .wait("document.querySelector('#report [data-key=\"input.records\"]').dataset.value > 60");
    browser.let_go();
    // After the person has stopped playing, the display stays and shows no bandwidth.
    browser.wait(&format!("{} === 0 && {} >= 32", shown("kbps"), shown("bits")));
    assert_eq!(
        browser.text("document.querySelector('#report [data-key=\"input.wrong\"]').dataset.value"),
        "0"
    );
    assert_eq!(browser.console(), [""; 0]);
    let document = demo.interrupt().document();
    assert_eq!(document["input"]["wrong"], 0, "{document:#}");
}

#[test]
fn arrow_keys_in_a_field_edit_the_field() {
    let (_demo, address) = Running::demo(&[]);
    let browser = Browser::start();
    browser.open(address, "");
    browser.eval(LISTEN);
    browser.wait("heard");
    browser.eval("(document.querySelector('#settings [name=round_trip_ms]').focus(), true)");
    browser.hold(Key::Right);
    thread::sleep(Duration::from_millis(500));
    assert_eq!(browser.text("heard.plays"), "script");
    browser.let_go();
}

#[test]
fn a_second_page_watches_until_it_takes_over() {
    let (_demo, address) = Running::demo(&[]);
    let browser = Browser::start();
    browser.open(address, "");
    browser.wait("document.documentElement.dataset.role === 'playing'");
    let first = browser.run(async |client| client.window().await);
    let second = browser.run(async |client| client.new_window(false).await).handle;
    let go = |window: &fantoccini::wd::WindowHandle| {
        let window = window.clone();
        browser.run(async move |client| client.switch_to_window(window).await);
    };
    let enabled = "document.querySelectorAll('#settings [name]:enabled').length";
    go(&second);
    browser.open(address, "");
    browser.wait("document.documentElement.dataset.role === 'watching'");
    browser.wait_above("kinepack.world()?.tick ?? 0", 30.0);
    assert_eq!(browser.number(enabled), 0.0);
    browser.click("#take-over");
    browser.wait("document.documentElement.dataset.role === 'playing'");
    browser.wait(&format!("{enabled} === 9"));
    go(&first);
    browser.wait("document.documentElement.dataset.role === 'watching'");
    assert_eq!(browser.number(enabled), 0.0);
    assert_eq!(browser.console(), [""; 0]);
}
