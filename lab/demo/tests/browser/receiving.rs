//! Tests the receiver of the demo's page. The page shows and measures what this receiver gets, and
//! reports if there is none.

use serde_json::json;

use super::driver::Browser;
use crate::support::running::Running;

/// Returns a script that sums the bits that the page marks on the bodies of `world`, in sixteenths
/// of a bit.
fn heat(world: &str) -> String {
    format!(
        "((bodies) => {{
            const marks = new Uint32Array(bodies.buffer, bodies.byteOffset, bodies.length);
            let sum = 0;
            for (let at = 7; at < marks.length; at += 8) sum += marks[at] >> 1;
            return sum;
        }})(kinepack.world().{world})"
    )
}

#[test]
fn the_page_measures_its_own_link() {
    let link = ["--round-trip-ms", "300", "--jitter-ms", "0", "--loss", "5"];
    let (demo, address) = Running::demo(&[&["--level", "learning"], &link[..]].concat());
    let browser = Browser::start();
    browser.open(address, "");
    browser.wait("kinepack.world()?.shown.length === 901 * 8");
    let round_trip = "kinepack.receiver().round_trip_ms";
    let round_trip_ms = browser.wait_above(round_trip, 299.0);
    assert!(round_trip_ms < 400.0, "{round_trip_ms}");
    // The baseline was acknowledged, so it is at least a round trip old.
    browser.wait_above("kinepack.receiver().baseline_ticks", 17.0);
    browser.wait_above("kinepack.receiver().playout_ms", 10.0);
    browser.wait_above("kinepack.samples().at(-1).error_mm_p50", 0.0);
    for world in ["sent", "shown"] {
        browser.wait_above(&heat(world), 100.0);
    }
    // The delay consists of half of the round trip and the playout delay.
    let delay = "Number(document.getElementById('now-delay').textContent)";
    browser.wait_above(delay, 150.0);
    browser.wait(&format!("{delay} < 400"));
    browser.see_that_worlds_agree();
    assert_eq!(browser.console(), [""; 0]);
    assert_eq!(demo.interrupt().document()["wrong_lanes"], 0);
}

#[test]
fn another_level_is_received_by_another_receiver() {
    let (_demo, address) = Running::demo(&["--cubes", "20"]);
    let browser = Browser::start();
    browser.open(address, "");
    browser.wait("kinepack.world()?.shown.length === 21 * 8");
    // A change of the level makes a new receiver.
    browser.choose("#settings [name=level]", "14");
    let sending = "document.querySelector('#report [data-key=sending]').dataset.value";
    browser.wait(&format!("{sending}.includes('--level learning')"));
    let tick = browser.number("kinepack.world().tick");
    browser.wait_above("kinepack.world().shownTick", tick + 60.0);
    assert_eq!(browser.number("kinepack.world().shown.length"), 21.0 * 8.0);
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn without_webassembly_the_page_says_so_and_shows_the_simulated_world() {
    let (_demo, address) = Running::demo(&[]);
    let browser = Browser::start();
    browser.devtools(
        "Page.addScriptToEvaluateOnNewDocument",
        json!({ "source": "delete globalThis.WebAssembly" }),
    );
    browser.open(address, "");
    browser.wait(
        "document.querySelector('#banner p').textContent.includes('no WebAssembly') && \
         document.querySelector('#banner').checkVisibility()",
    );
    browser.wait_above("kinepack.world()?.tick ?? 0", 60.0);
    assert_eq!(browser.number("kinepack.world().shown.length"), 0.0);
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn the_headline_numbers_are_dashes_until_their_seconds_are_full() {
    let (_demo, address) = Running::demo(&[]);
    let browser = Browser::start();
    browser.open(address, "");
    browser.wait("kinepack.samples().length > 20");
    let shown = "['now-kbps', 'now-factor', 'now-error']
        .map((id) => document.getElementById(id).textContent)";
    // The page takes ten samples per second. One call reads both the count and the text, because
    // the page keeps running.
    let early =
        browser.eval(&format!("kinepack.samples().length < 90 ? {shown} : ['–', '–', '–']"));
    assert_eq!(early, json!(["–", "–", "–"]));
    browser.wait("kinepack.samples().length > 100");
    browser.wait(&format!("/^[0-9.,]+ \\/ [0-9.,]+$/.test({shown}[2])"));
    browser.wait_above(&format!("parseFloat({shown}[1])"), 10.0);
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn without_a_receiver_the_errors_are_not_measured() {
    let (_demo, address) = Running::demo(&[]);
    let browser = Browser::start();
    browser.devtools(
        "Page.addScriptToEvaluateOnNewDocument",
        json!({ "source": "delete globalThis.WebAssembly" }),
    );
    browser.open(address, "");
    browser.wait("document.getElementById('now-kbps').textContent !== '–'");
    assert_eq!(browser.text("document.getElementById('now-error').textContent"), "–");
    assert_eq!(browser.eval("kinepack.samples().at(-1).error_mm_max"), json!(null));
    assert_eq!(browser.console(), [""; 0]);
}
