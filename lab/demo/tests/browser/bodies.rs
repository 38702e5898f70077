//! Tests the page of `figure watch`: a body that arrives, its numbers, and its sender's end.

use std::fs;

use super::driver::Browser;
use super::layout::check_looks;
use crate::support::figure;
use crate::support::running::Running;

/// The page's text of an element.
fn text_of(id: &str) -> String {
    format!("document.getElementById('{id}').textContent")
}

/// A second of a recording of Live Link Face, in which the jaw opens.
fn face() -> String {
    let frame = |frame| format!("00:00:00:{frame:02}.000,61,0.{frame:02}\n");
    (0..60).map(frame).fold("Timecode,BlendShapeCount,JawOpen\n".to_owned(), |all, row| all + &row)
}

#[test]
fn a_body_is_shown_as_it_arrives_until_its_sender_ends() {
    let (folder, files) = figure::files();
    let (_watch, page, at) = Running::figure_watch();
    let sender = Running::figure_send(&files[0], at);
    let browser = Browser::start();
    browser.resize(1280, 800);
    browser.open(page, "");
    browser.wait("kinepack.poses() > 0");
    assert_eq!(browser.text(&text_of("state")), "live");

    // The body has all joints, each with its promised error, and moves on the screen.
    let rows = "document.querySelectorAll('#joint-rows tr').length";
    assert_eq!(browser.number(rows), figure::JOINTS as f64);
    assert_eq!(browser.number("kinepack.joints().length"), 3.0 * figure::JOINTS as f64);
    let area = browser.area("view");
    browser.wait_for_a_frame();
    let first = browser.screenshot();
    assert!(first.colours(area) > 30 && first.share_unlike_corner(area) > 0.004);
    let joints = browser.eval("kinepack.joints()");
    browser.wait(&format!("String(kinepack.joints()) !== String({joints})"));
    browser.wait_above("kinepack.poses()", 30.0);
    assert!(first.share_changed(&browser.screenshot(), area) > 0.001);

    // The numbers are of this body, and follow it.
    let number = |id: &str| format!("Number({}.replaceAll(',', ''))", text_of(id));
    assert_eq!(browser.text(&text_of("now-precision")), "0.5");
    let error_cm = browser.number(&number("now-error"));
    assert!(error_cm > 0.0 && error_cm <= 0.5, "{error_cm}");
    browser.wait_above(&number("now-bits"), 0.0);
    browser.wait_above(&number("now-poses"), 10.0);
    let bytes = browser.wait_above(&number("now-bytes"), 0.0);
    browser.wait(&format!("{} !== {bytes}", number("now-bytes")));
    browser.click("#joint-rows tr:last-child button");
    let last = figure::JOINTS - 1;
    browser.wait(&format!("kinepack.selected() === {last}"));
    check_looks(&browser);

    // The page names the sender's silence, and shows the body of the next sender.
    let session = browser.number("kinepack.session()");
    sender.kill();
    browser.wait(&format!("{} === 'silent'", text_of("state")));
    let file = folder.path().join("face.csv");
    fs::write(&file, face()).unwrap();
    let _sender = Running::figure_send(&file, at);
    browser.wait(&format!("kinepack.session() !== {session}"));
    browser.wait_for_state("live");
    assert_eq!(browser.number(rows), 1.0);
    let jaw = "document.querySelector('#curve-rows meter').value";
    let opening = browser.number(jaw);
    browser.wait(&format!("{jaw} !== {opening}"));
    assert_eq!(browser.console(), [""; 0]);
}
