//! Tests the page of `watch`: the world at a moment, the time line, speed, steps and markers.

use fantoccini::key::Key;
use fantoccini::{Client, Locator};

use super::driver::Browser;
use super::layout::check_looks;
use crate::support::replay::{TICKS, replay};
use crate::support::running::Running;

#[test]
fn a_replay_is_played_stepped_and_sought() {
    let (_folder, file) = replay();
    let (_watch, address) = Running::watch(&file);
    let browser = Browser::start();
    browser.resize(1280, 900);
    browser.open(address, "");
    browser.wait("kinepack.world() !== null");
    // The page plays to the end without a click.
    browser.wait("kinepack.tick() > 20");
    browser.click("#play");
    browser.wait("document.getElementById('play').textContent === 'Play'");

    // The page jumps to the marker, and then steps two frames forward.
    browser.choose("#markers", "0:01");
    browser.wait("kinepack.tick() === 100 && Math.abs(kinepack.world().tick - 100) < 0.01");
    let area = browser.area("worlds");
    browser.wait_for_a_frame();
    browser.wait_for_a_frame();
    let at_marker = browser.screenshot();
    assert!(at_marker.colours(area) > 30 && at_marker.share_unlike_corner(area) > 0.01);
    browser.press(Key::Right);
    browser.press(Key::Right);
    browser.wait("kinepack.tick() === 102");
    browser.press(Key::Left);
    browser.wait("kinepack.tick() === 101");

    // A click on the time line shows the world of that moment.
    let click =
        async |client: &Client| client.find(Locator::Css("#time-line")).await?.click().await;
    browser.run(click);
    browser.wait("Math.abs(kinepack.tick() - 90) < 12");
    browser.wait("Math.abs(kinepack.world().tick - kinepack.tick()) < 0.01");
    browser.press(Key::End);
    browser.wait(&format!("kinepack.tick() === {TICKS}"));
    browser.wait(&format!("kinepack.world().tick === {TICKS}"));
    browser.wait_for_a_frame();
    browser.wait_for_a_frame();
    assert!(at_marker.share_changed(&browser.screenshot(), area) > 0.001);

    // The page plays backwards to the beginning.
    browser.choose("#speed", "backwards");
    browser.click("#play");
    browser.wait("kinepack.tick() === 1");

    // The page shows its numbers.
    browser.wait("Number(document.getElementById('now-bytes').textContent) > 0");
    browser.wait("Number(document.getElementById('all-kbps').textContent) > 0");
    browser.wait("document.getElementById('bodies').textContent === '24'");
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn the_page_of_a_replay_fits_and_can_be_read() {
    let (_folder, file) = replay();
    let (_watch, address) = Running::watch(&file);
    let browser = Browser::start();
    browser.resize(1280, 800);
    browser.open(address, "");
    browser.wait("kinepack.world() !== null");
    check_looks(&browser);
    assert_eq!(browser.console(), [""; 0]);
}
