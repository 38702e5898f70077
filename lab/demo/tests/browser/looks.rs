//! Tests the pictures of the page: the worlds, the heat, one body, and the image of the README.

use std::env;
use std::path::Path;
use std::time::Instant;

use fantoccini::key::Key;
use serde_json::json;

use super::driver::Browser;
use super::screenshot::Area;
use super::window::PATIENCE;
use crate::support::running::Running;

const VIEWS: [&str; 2] = ["view-sent", "view-shown"];
const LOOK: &str = "document.getElementById('look').innerText";
/// Checks that the page shows the lanes of a body, and its bits.
const TOLD: &str = "/\\d/.test(document.querySelector('#look-lanes td').textContent)
    && /\\d/.test(document.getElementById('look-bits').textContent)";

impl Browser {
    pub(crate) fn area(&self, id: &str) -> Area {
        self.area_of(&format!("document.getElementById('{id}')"))
    }

    fn area_of(&self, element: &str) -> Area {
        Area::of(&self.eval(&format!("{element}.getBoundingClientRect().toJSON()")))
    }
}

#[test]
fn the_body_under_the_pointer_is_shown_with_its_lanes_and_bits() {
    let (_demo, address) = Running::demo(&[]);
    let browser = Browser::start();
    browser.resize(800, 700);
    browser.open(address, "");
    browser.wait("kinepack.world()?.shown.length > 0");
    // The cubes may be anywhere, so the pointer moves along the middle of the view until it is over
    // one.
    let view = "document.getElementById('view-sent').getBoundingClientRect()";
    let [left, top, width, height] =
        ["left", "top", "width", "height"].map(|of| browser.number(&format!("{view}.{of}")));
    let found = (10..90).step_by(2).any(|percent| {
        browser.point_at(
            (left + width * f64::from(percent) / 100.0).round(),
            (top + height / 2.0).round(),
        );
        browser.wait_for_a_frame();
        browser.eval("document.getElementById('look-id').value !== ''") == true
    });
    assert!(found, "no body anywhere: {}", browser.text(LOOK));
    browser.wait(TOLD);

    browser.point_at(1.0, 1.0);
    browser.fill("#look-id", "0");
    browser.wait(&format!("document.getElementById('look-id').value === '0' && {TOLD}"));
    browser.wait(&format!(
        "/position[.]x/.test({LOOK}) && /orientation[.]largest/.test({LOOK}) && /bits/.test({LOOK})"
    ));
    // The player's cube moves, so the numbers change too.
    let before = browser.text(LOOK);
    browser.wait(&format!("{LOOK} !== {before:?}"));
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn heat_changes_the_picture() {
    let (_demo, address) = Running::demo(&[]);
    let browser = Browser::start();
    browser.resize(1280, 900);
    browser.open(address, "");
    browser.wait_above("kinepack.world()?.tick ?? 0", 180.0);
    browser.click("#pause");
    let area = browser.area("view-sent");
    let mut plain = browser.screenshot();
    // The camera stops some time after the world.
    let begin = Instant::now();
    while let again = browser.screenshot()
        && plain.share_changed(&again, area) > 0.0
    {
        assert!(begin.elapsed() < PATIENCE, "the paused world moves");
        plain = again;
    }
    browser.click("#heat");
    browser.wait_for_a_frame();
    let heat = browser.screenshot();
    let changed = plain.share_changed(&heat, area);
    assert!(changed > 0.002, "{changed}");
}

#[test]
fn both_views_have_something_in_them() {
    let (_demo, address) = Running::demo(&["--link", "wifi", "--level", "adaptive"]);
    let browser = Browser::start();
    browser.resize(1280, 900);
    browser.devtools("Emulation.setScrollbarsHidden", json!({ "hidden": true }));
    browser.open(address, "");
    browser.fill("#look-id", "0");
    browser.eval("(scrollTo(0, 0), document.querySelector('.side').scrollTo(0, 0), true)");
    let picture = env::var_os("KINEPACK_WRITE_PICTURE");
    // In the picture the charts are full and a person plays.
    let seconds = if picture.is_some() { 30.2 } else { 5.0 };
    browser.wait_above("kinepack.world()?.tick ?? 0", (seconds - 1.5) * 60.0);
    if picture.is_some() {
        browser.hold(Key::Right);
    }
    browser.wait_above("kinepack.world()?.tick ?? 0", seconds * 60.0);
    let screenshot = browser.screenshot();
    if let Some(path) = picture {
        let chart = browser.area_of("document.getElementById('chart-kbps').closest('figure')");
        screenshot.write(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path),
            chart.bottom + 12,
        );
    }
    for view in VIEWS {
        let area = browser.area(view);
        let (colours, unlike) = (screenshot.colours(area), screenshot.share_unlike_corner(area));
        assert!(colours > 100 && unlike > 0.05, "{view}: {colours} colours, {unlike} of {area:?}");
    }
}
