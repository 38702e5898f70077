//! Tests the page of `arena`: walking, shooting, the switches, and what it says when the program
//! ends.

use fantoccini::key::Key;

use super::driver::Browser;
use super::layout::check_looks;
use crate::support::running::Running;

const X: &str = "kinepack.own().x";

fn open(options: &[&str]) -> (Running, Browser) {
    let (arena, address) = Running::arena(options);
    let browser = Browser::start();
    browser.resize(1280, 900);
    browser.open(address, "");
    browser.wait("kinepack.own()?.health > 0");
    (arena, browser)
}

#[test]
fn a_person_walks_and_shoots() {
    let (_arena, browser) = open(&["--bots", "0", "--link", "cable"]);
    browser.eval("document.getElementById('arena').focus()");
    let begin = browser.number(X);
    // Towards the middle, from wherever the program has put the player.
    let (key, sign) = if begin < 0.0 { (Key::Right, 1.0) } else { (Key::Left, -1.0) };
    browser.hold(key);
    browser.wait_above(&format!("{sign} * ({X} - {begin})"), 1.0);
    browser.let_go();
    browser.wait("document.getElementById('in-time').textContent > 50");
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn switches_reach_the_program_and_all_pages() {
    let (_arena, browser) = open(&["--bots", "2"]);
    browser.eval(
        "(() => {
            globalThis.heard = null;
            globalThis.other = new WebSocket(`ws://${location.host}/socket`);
            other.onmessage = ({ data }) => {
                if (typeof data === 'string') heard = JSON.parse(data).status ?? heard;
            };
        })()",
    );
    browser.click("[name=frames]");
    browser.wait("heard?.rules.frames === false && heard.rules.cuts === true");
    browser.choose("[name=rewind]", "rewind to the nearest");
    browser.wait("heard.rules.rewind === 'tick'");
    browser.choose("#net [name=link]", "mobile");
    browser.click("[name=longer]");
    browser.choose("[name=kbps]", "32");
    browser.wait("heard.net.link === 'mobile' && heard.net.longer && heard.net.kbps === 32");
    // The page shows what the program reports, also if another page has changed it.
    let rules =
        "{rewind:'none',prediction:false,fade:true,clock:true,frames:true,cuts:true,straight:true}";
    browser.eval(&format!("other.send(JSON.stringify({{ rules: {rules} }}))"));
    browser.wait(
        "document.querySelector('[name=straight]').value === 'true'
        && !document.querySelector('[name=prediction]').checked
        && document.querySelector('[name=rewind]').value === 'none'",
    );
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn bots_shoot_and_the_table_counts_their_hits() {
    let (_arena, browser) = open(&["--bots", "8"]);
    browser.click("#truth");
    let hits = "Number(document.querySelector('#shots-bots').cells[1].textContent)";
    browser.wait_above(hits, 5.0);
    let exact = "parseFloat(document.querySelector('#shots-bots').cells[2].textContent)";
    browser.wait_above(exact, 80.0);
    browser.wait("kinepack.players().length === 9");
    check_looks(&browser);
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn the_page_says_that_the_program_has_ended() {
    let (arena, browser) = open(&["--bots", "1"]);
    assert_eq!(arena.interrupt().code, Some(0));
    browser.wait("document.documentElement.dataset.state === 'ended'");
    browser.wait("document.querySelector('#rules fieldset').disabled");
}
