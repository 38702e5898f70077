//! Tests the page of `anim view`: both skeletons, the time, a joint and its curve.

use std::net::SocketAddr;

use fantoccini::key::Key;
use fantoccini::{Client, Locator};
use serde_json::Value;

use super::driver::Browser;
use super::layout::{CONTROLS, FAINT, TOO_WIDE};
use super::screenshot::Screenshot;
use crate::support::figure;
use crate::support::running::Running;

/// The choices of `#show` that draw one skeleton without the other.
const FIGURES: [&str; 2] = ["raw", "compressed"];

impl Browser {
    /// Opens the page, and stops its initial playback.
    fn open_still(&self, address: SocketAddr) {
        self.resize(1280, 800);
        self.open(address, "");
        self.wait("kinepack.track() !== null");
        self.click("#play");
        self.wait("document.getElementById('play').textContent === 'Play'");
    }

    /// Returns a screenshot once the page is still.
    fn still(&self) -> Screenshot {
        self.wait_for_a_frame();
        self.wait_for_a_frame();
        self.screenshot()
    }
}

#[test]
fn both_skeletons_are_drawn_and_time_moves_them() {
    let (_folder, files) = figure::files();
    let (_view, address) = Running::view(&files);
    let browser = Browser::start();
    browser.open_still(address);
    let area = browser.area("view");
    let both = browser.still();
    assert!(both.colours(area) > 100 && both.share_unlike_corner(area) > 0.008);
    let single = FIGURES.map(|figure| {
        browser.choose("#show", figure);
        browser.still()
    });
    for (figure, screenshot) in FIGURES.iter().zip(&single) {
        assert!(screenshot.share_unlike_corner(area) > 0.004, "{figure}");
        // In some pixels, `both` shows the other skeleton alone or on top.
        assert!(both.share_changed(screenshot, area) > 0.001, "{figure}");
    }
    assert!(single[0].share_changed(&single[1], area) > 0.002);

    browser.choose("#show", "both");
    browser.choose("#factor", "× 100");
    browser.choose("#up", "z");
    assert!(both.share_changed(&browser.still(), area) > 0.01, "a lying figure looks different");
    browser.choose("#up", "y");
    browser.choose("#factor", "as");
    browser.click("#frame");

    // The test moves the time by the slider, and then by a key.
    let before = browser.still();
    browser.click("#scrub");
    browser.wait("Math.abs(kinepack.time_s() - 0.75) < 0.03");
    let middle = browser.still();
    for _ in 0..8 {
        browser.press(Key::Left);
    }
    browser.wait("kinepack.time_s() < 0.52");
    let after = browser.still();
    assert!(middle.share_changed(&after, area) > 0.003, "{}", middle.share_changed(&after, area));
    assert!(before.share_changed(&middle, area) + before.share_changed(&after, area) > 0.003);

    // The space bar starts playback.
    let view =
        async |client: &Client| client.find(Locator::Css("#view")).await?.send_keys(" ").await;
    browser.run(view);
    browser.wait("kinepack.time_s() > 0.6");
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn a_selected_joint_shows_its_curve() {
    let (_folder, files) = figure::files();
    let (_view, address) = Running::view(&files);
    let browser = Browser::start();
    browser.open_still(address);
    let area = browser.area("track-curve");
    let worst = browser.still();
    assert!(worst.colours(area) > 20 && worst.share_unlike_corner(area) > 0.01);
    // The button with the name of the last joint in the table selects this joint.
    let last = browser
        .number("Number([...document.querySelectorAll('#joint-rows tr')].at(-1).dataset.joint)");
    browser.click("#joint-rows tr:last-child button");
    browser.wait(&format!("kinepack.selected() === {last} && kinepack.track()?.joint === {last}"));
    assert_eq!(
        browser.text("document.getElementById('track-title').textContent"),
        format!("joint {last}")
    );
    assert!(worst.share_changed(&browser.still(), area) > 0.005);
    // The test selects another channel of the hips, which move up and down.
    browser.click("#joint-rows tr[data-joint=\"0\"] button");
    browser.click("#channels input[value=translation]");
    browser.wait("kinepack.track()?.joint === 0 && kinepack.track().channel === 'translation'");
    browser.wait("document.querySelectorAll('#track-legend li').length === 3");
    let label = browser.text("document.getElementById('track-curve').getAttribute('aria-label')");
    assert!(label.contains("translation of joint 0"), "{label}");
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn another_clip_is_found_and_shown() {
    let (_folder, files) = figure::files();
    let (view, address) = Running::view(&files);
    let browser = Browser::start();
    browser.open_still(address);
    let area = browser.area("view");
    let first = browser.still();
    let shown = "[...document.querySelectorAll('#clips li')].filter((item) => \
                 item.checkVisibility()).length";
    browser.fill("#search", "HUR");
    browser.wait(&format!("{shown} === 1"));
    browser.click("#clips li:not([hidden]) button");
    browser.wait(
        "kinepack.clip().name === 'hurry' && document.documentElement.dataset.state === 'live'",
    );
    assert!(first.share_changed(&browser.still(), area) > 0.001);
    let requests =
        browser.eval("performance.getEntriesByType('resource').map((entry) => entry.name)");
    let own = format!("http://{address}/");
    assert!(
        requests
            .as_array()
            .unwrap()
            .iter()
            .all(|request| request.as_str().unwrap().starts_with(&own))
    );
    assert_eq!(browser.console(), [""; 0]);

    // If the program has ended, the page cannot load another clip, and shows a message.
    view.kill();
    browser.fill("#search", "stroll");
    browser.click("#clips li:not([hidden]) button");
    browser.wait_for_state("lost");
    assert!(
        browser.text("document.getElementById('message').textContent").contains("doesn't answer")
    );
    assert_eq!(browser.text("kinepack.clip().name"), "hurry");
}

#[test]
fn the_page_fits_every_width_and_is_readable() {
    let (_folder, files) = figure::files();
    let (_view, address) = Running::view(&files);
    let browser = Browser::start();
    browser.open_still(address);
    for scheme in ["light", "dark"] {
        browser.prefer(&[("prefers-color-scheme", scheme)]);
        browser.wait(&format!("matchMedia('(prefers-color-scheme: {scheme})').matches"));
        for width in [400, 768, 1280] {
            browser.resize(width, 800);
            browser.wait_for_a_frame();
            assert_eq!(browser.eval(TOO_WIDE), Value::Array(Vec::new()), "{scheme}, {width}");
            assert!(
                browser.number("document.getElementById('view').clientWidth") >= 300.0,
                "{scheme}, {width}"
            );
        }
        assert_eq!(browser.eval(FAINT), Value::Array(Vec::new()), "{scheme}");
    }
    let elements =
        browser.eval(&format!("[...{CONTROLS}, ...document.querySelectorAll('canvas')]"));
    let elements = elements.as_array().unwrap();
    assert!(elements.len() > 20, "{elements:?}");
    for (index, element) in elements.iter().enumerate() {
        let what = || {
            browser.text(&format!(
                "[...{CONTROLS}, ...document.querySelectorAll('canvas')][{index}].outerHTML"
            ))
        };
        assert!(!browser.accessible_name(element).trim().is_empty(), "{}", what());
    }
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn without_webgl_the_page_still_has_curves_and_numbers() {
    let (_folder, files) = figure::files();
    let (_view, address) = Running::view(&files);
    let browser = Browser::without_webgl();
    browser.open(address, "");
    browser.wait(
        "kinepack.track() !== null && \
         document.getElementById('banner').textContent.includes('WebGL2')",
    );
    browser.wait("/\\d/.test(document.getElementById('now-ratio').textContent)");
}

#[test]
fn a_compiled_clip_is_shown_alone() {
    let (folder, files) = figure::files();
    let out = folder.path().join("built");
    let [stroll, built] = [&files[0], &out].map(|path| path.to_str().unwrap());
    let build = Running::start(&["anim", "build", stroll, "--out", built], None).end();
    assert_eq!(build.code, Some(0), "{}", build.stderr);
    let (_view, address) = Running::view(&[out.join("stroll.kpa")]);
    let browser = Browser::start();
    browser.open_still(address);
    assert_eq!(browser.text("kinepack.clip().name"), "stroll");
    let compared = "[...document.querySelectorAll('.compared, \
                    [data-figure=raw]')].filter((element) => element.checkVisibility()).length";
    assert_eq!(browser.number(compared), 0.0, "a compiled clip has no raw clip to compare with");
    let area = browser.area("view");
    let first = browser.still();
    assert!(first.share_unlike_corner(area) > 0.004);
    browser.click("#scrub");
    browser.wait("Math.abs(kinepack.time_s() - 0.75) < 0.03");
    assert!(first.share_changed(&browser.still(), area) > 0.002);
    assert_eq!(browser.console(), [""; 0]);
}
