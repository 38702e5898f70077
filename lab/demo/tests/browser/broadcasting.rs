//! Tests the page of a broadcast. The page watches through the relay by itself, pauses, goes back,
//! and changes its tier. The page as static files does the same.

use std::net::SocketAddr;
use std::process::Command;

use fantoccini::key::Key;

use super::driver::Browser;
use super::exported::host;
use super::layout::check_looks;
use crate::support::running::Running;

const CUBES: u32 = 400;

/// Starts a broadcast. Returns the arguments of `watch` that it prints.
fn broadcast() -> (Running, Vec<String>) {
    let cubes = CUBES.to_string();
    let listen = ["broadcast", "--listen", "127.0.0.1:0", "--cubes", &cubes, "--regions", "3"];
    let mut broadcast = Running::start(&listen, None);
    let line = broadcast.until("kinepack-lab watch");
    (broadcast, line.trim().split(' ').skip(1).map(str::to_owned).collect())
}

fn page(arguments: &[String]) -> (Running, SocketAddr) {
    let mut words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    words.extend(["--page", "--no-open", "--listen", "127.0.0.1:0"]);
    let mut watch = Running::start(&words, None);
    let address = watch.page();
    (watch, address)
}

#[test]
fn a_page_watches_a_broadcast() {
    let (broadcast, arguments) = broadcast();
    let (_watch, address) = page(&arguments);
    let browser = Browser::start();
    browser.resize(1280, 900);
    browser.open(address, "");
    let bodies = f64::from(CUBES) + 1.0;
    browser.wait(&format!("kinepack.bodies() === {bodies}"));
    browser.wait_above("kinepack.kbps()", 1.0);
    assert_eq!(browser.text("kinepack.tiers().join()"), "full");
    let area = browser.area("worlds");
    browser.wait_for_a_frame();
    assert!(browser.screenshot().colours(area) > 30);

    for tier in ["third", "eighth", "fast", "full"] {
        browser.choose("#tier", tier);
        browser.wait(&format!("kinepack.tiers().join() === '{tier}'"));
        let tick = browser.number("kinepack.tick()");
        browser.wait_above("kinepack.tick()", tick + 20.0);
    }

    // A view near the floor shows some regions. A view from far away shows all nine.
    browser.choose("#tier", "regions in view");
    browser.wait("kinepack.tiers().every((tier) => tier.startsWith('region.'))");
    browser.wait("kinepack.tiers().length === 9");
    browser.wait(&format!("kinepack.bodies() === {bodies}"));
    let wheel = "document.getElementById('worlds').dispatchEvent(\
                 new WheelEvent('wheel', { deltaY: -60, cancelable: true }))";
    for _ in 0..40 {
        browser.eval(wheel);
    }
    browser.wait("kinepack.tiers().length < 9");
    browser.wait(&format!("kinepack.bodies() < {bodies} && kinepack.bodies() > 0"));
    browser.click("#reset-view");
    browser.wait(&format!("kinepack.bodies() === {bodies}"));
    browser.choose("#tier", "full");
    browser.wait("kinepack.tiers().join() === 'full'");

    // A pause holds the shown moment, while live playback continues.
    browser.click("#pause");
    browser.wait("document.getElementById('time').textContent !== 'live'");
    let paused = browser.number("kinepack.tick()");
    browser.wait_above("kinepack.history().last", paused + 60.0);
    assert_eq!(browser.number("kinepack.tick()"), paused);
    browser.press(Key::Left);
    browser.wait(&format!("kinepack.tick() < {}", paused - 90.0));
    browser.click("#pause");
    browser.wait_above("kinepack.tick()", paused - 60.0);
    browser.click("#live");
    browser.wait("document.getElementById('time').textContent === 'live'");
    browser.wait("kinepack.history().last - kinepack.tick() < 40");

    check_looks(&browser);
    assert_eq!(browser.number("kinepack.stats().late"), 0.0);
    assert_eq!(browser.console(), [""; 0]);

    broadcast.kill();
    browser.wait_for_state("lost");
    browser.wait("document.querySelector('#banner p').textContent.includes('Trying again')");
}

#[test]
fn the_page_of_a_broadcast_works_on_any_host() {
    let (_broadcast, arguments) = broadcast();
    let folder = tempfile::tempdir().unwrap();
    let export = folder.path().join("page");
    let code = || {
        let mut command = Command::new(crate::PROGRAM);
        command.args(&arguments).args(["--tier", "eighth", "--export"]).arg(&export);
        command.output().unwrap().status.code()
    };
    assert_eq!(code(), Some(0));
    assert_eq!(code(), Some(2), "a second time, without --force");
    let browser = Browser::start();
    browser.open(host(&export), "");
    browser.wait(&format!("kinepack.bodies() === {}", CUBES + 1));
    assert_eq!(browser.text("kinepack.tiers().join()"), "eighth");
    assert_eq!(browser.console(), [""; 0]);
}
