//! Tests that the settings of the page apply to the link and the sender, and are stored in the
//! address.

use super::driver::Browser;
use crate::support::running::Running;

/// The last tick whose packets the page knows.
const LAST: &str = "kinepack.packets().at(-1)?.[0] ?? 0";

impl Browser {
    fn field(&self, name: &str) -> String {
        self.text(&format!("document.querySelector('#settings [name={name}]').value"))
    }

    /// Waits for `count` packets of later ticks than `after`. Returns the share that was lost.
    fn wait_for_packets(&self, after: f64, count: f64) -> f64 {
        let packets = format!("kinepack.packets().filter(([tick]) => tick > {after})");
        let all = self.wait_above(&format!("{packets}.length"), count);
        self.number(&format!("{packets}.filter(([, , lost]) => lost).length")) / all
    }
}

#[test]
fn loss_takes_effect_and_lost_packets_do_no_harm() {
    let (demo, address) = Running::demo(&[]);
    let browser = Browser::start();
    browser.open(address, "");
    browser.wait_above(LAST, 30.0);
    browser.fill("#settings [name=loss_percent]", "20");
    browser.wait("new URLSearchParams(location.search).get('loss_percent') === '20'");
    // Packets in flight may still have the old setting.
    let set = browser.number(LAST) + 20.0;
    let lost = browser.wait_for_packets(set, 400.0);
    assert!((0.12..0.28).contains(&lost), "{lost}");

    browser.fill("#settings [name=loss_percent]", "0");
    browser.wait("new URLSearchParams(location.search).get('loss_percent') === '0'");
    let set = browser.number(LAST) + 20.0;
    assert_eq!(browser.wait_for_packets(set, 200.0), 0.0);
    browser.see_that_worlds_agree();
    assert_eq!(
        browser.text("document.querySelector('#report [data-key=wrong_lanes]').dataset.value"),
        "0"
    );
    assert_eq!(browser.console(), [""; 0]);
    let document = demo.interrupt().document();
    assert_eq!(document["wrong_lanes"], 0);
}

#[test]
fn the_settings_of_an_address_are_applied() {
    let (demo, address) = Running::demo(&[]);
    let browser = Browser::start();
    browser.open(address, "?link=lan&level=adaptive&send_hz=30&jitter_ms=7");
    for (name, value) in
        [("link", "lan"), ("level", "adaptive"), ("send_hz", "30"), ("jitter_ms", "7")]
    {
        browser.wait(&format!(
            "document.querySelector('#settings [name={name}]').value === '{value}'"
        ));
    }
    assert_eq!(browser.field("loss_percent"), "");
    let sending = "document.querySelector('#report [data-key=sending]').dataset.value";
    browser.wait(&format!(
        "{sending}.includes('--level adaptive') && {sending}.includes('--send-hz 30')"
    ));
    // The sender sends thirty packets per second, at every second tick. The test waits until
    // earlier packets have left the list.
    let set = browser.number(LAST) + 20.0;
    browser.wait_for_packets(set, 60.0);
    let ticks = "kinepack.packets().slice(-50).map(([tick]) => tick)";
    let ticks = browser.number(&format!("((ticks) => ticks.at(-1) - ticks[0])({ticks})"));
    assert!((90.0..=106.0).contains(&ticks), "{ticks}");
    let document = demo.interrupt().document();
    let sending = document["sending"].as_str().unwrap();
    assert!(
        sending.contains("--send-hz 30") && sending.contains("--level adaptive"),
        "{document:#}"
    );
    assert!(document["link"].as_str().unwrap().contains("lan"), "{document:#}");
}

#[test]
fn a_choice_applies_at_once_and_invalid_values_are_not_sent() {
    let (_demo, address) = Running::demo(&[]);
    let browser = Browser::start();
    browser.open(address, "");
    browser.choose("#settings [name=level]", "13");
    browser.choose("#settings [name=link]", "mobile");
    browser.choose("#settings [name=send_hz]", "20");
    for wanted in ["level=adaptive", "link=mobile", "send_hz=20"] {
        browser.wait(&format!("location.search.includes('{wanted}')"));
    }
    let sending = "document.querySelector('#report [data-key=sending]').dataset.value";
    browser.wait(&format!(
        "{sending}.includes('--level adaptive') && {sending}.includes('--send-hz 20')"
    ));
    browser.fill("#settings [name=loss_percent]", "101");
    browser.wait(
        "document.querySelector('#settings [name=loss_percent]').matches(':invalid') || \
         document.getElementById('message').textContent.trim() !== ''",
    );
    assert!(!browser.text("location.search").contains("101"));
    browser.wait_for_state("live");
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn a_squeezed_link_takes_the_budget_down_until_the_button_lets_go() {
    const LEGEND: &str = "document.querySelector('[data-series=budget_kbps]').textContent";
    let budget = format!("Number({LEGEND}.replace(/\\D/g, ''))");
    let (_demo, address) = Running::demo(&[]);
    let browser = Browser::start();
    browser.open(address, "?bandwidth_kbps=900");
    let pressed = |is: bool| {
        browser.wait(&format!(
            "document.getElementById('squeeze').getAttribute('aria-pressed') === '{is}'"
        ));
    };
    browser.wait("kinepack.samples().length > 30 && kinepack.samples().at(-1).budget_kbps > 0");
    browser.wait_above(&budget, 0.0);
    // On a busy machine the page answers late, which may have taken the budget down already.
    let budgets = "kinepack.samples().map((sample) => sample.budget_kbps)";
    let before = browser.number(&format!("Math.max(...{budgets})"));
    browser.click("#squeeze");
    pressed(true);
    let limit: f64 = browser.field("bandwidth_kbps").parse().unwrap();
    assert!((16.0..300.0).contains(&limit), "{limit}");
    browser.wait(&format!("location.search.includes('bandwidth_kbps={limit}')"));
    browser.wait(&format!("{budget} < {before} / 2"));

    browser.click("#squeeze");
    pressed(false);
    assert_eq!(browser.field("bandwidth_kbps"), "900");
    browser.wait("location.search.includes('bandwidth_kbps=900')");

    // A limit that the user sets is kept, so the button lets go of its own.
    browser.click("#squeeze");
    pressed(true);
    browser.fill("#settings [name=bandwidth_kbps]", "500");
    pressed(false);
    browser.wait("location.search.includes('bandwidth_kbps=500')");
    assert_eq!(browser.console(), [""; 0]);
}
