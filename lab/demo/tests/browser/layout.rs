//! Tests that the page fits the window, is readable, and works without a mouse.

use std::collections::BTreeSet;

use fantoccini::key::Key;
use serde_json::Value;

use super::driver::Browser;
use crate::support::running::Running;

pub(crate) const CONTROLS: &str =
    "[...document.querySelectorAll('a[href], button, input, select, summary, [tabindex=\"0\"]')]
    .filter((control) => control.checkVisibility()
        && !control.matches(':disabled, [type=hidden], [tabindex=\"-1\"]'))";

/// The elements that make the page scroll sideways.
pub(crate) const TOO_WIDE: &str = "document.documentElement.scrollWidth <= innerWidth ? []
    : [...document.querySelectorAll('body *')]
    .filter((element) => element.getBoundingClientRect().right > innerWidth + 0.5)
    .map((element) =>
        `${element.outerHTML.slice(0, 80)}: ${element.getBoundingClientRect().right}`)";

/// In light and dark, the page fits all widths and can be read, and its controls have names.
pub(crate) fn check_looks(browser: &Browser) {
    for scheme in ["light", "dark"] {
        browser.prefer(&[("prefers-color-scheme", scheme)]);
        browser.wait(&format!("matchMedia('(prefers-color-scheme: {scheme})').matches"));
        for width in [400, 768, 1280] {
            browser.resize(width, 800);
            browser.wait_for_a_frame();
            assert_eq!(browser.eval(TOO_WIDE), Value::Array(Vec::new()), "{scheme}, {width}");
        }
        assert_eq!(browser.eval(FAINT), Value::Array(Vec::new()), "{scheme}");
    }
    let named = format!("[...{CONTROLS}, ...document.querySelectorAll('canvas')]");
    for element in browser.eval(&named).as_array().unwrap() {
        assert!(!browser.accessible_name(element).trim().is_empty(), "{element}");
    }
}

/// The texts whose contrast to their background is below 4.5 by WCAG 2. Such texts are hard to
/// read.
pub(crate) const FAINT: &str = "(() => {
    const channels = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
    const light = ([red, green, blue]) => [red, green, blue].map((value) => value / 255)
        .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
        .reduce((sum, value, at) => sum + value * [0.2126, 0.7152, 0.0722][at], 0);
    const behind = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const colour = channels(getComputedStyle(at).backgroundColor);
            if ((colour[3] ?? 1) === 1 && colour.length > 2) return colour;
        }
        const isDark = getComputedStyle(document.documentElement).colorScheme === 'dark';
        return channels(isDark ? 'rgb(18,18,18)' : 'rgb(255,255,255)');
    };
    return [...document.querySelectorAll('body *')].filter((element) => element.checkVisibility()
            && !element.closest(':disabled, [aria-disabled=true]')
            && [...element.childNodes]
                .some((node) => node.nodeType === 3 && /[\\p{L}\\d]/u.test(node.data)))
        .map((element) => {
            const lights = [channels(getComputedStyle(element).color), behind(element)].map(light);
            const [one, another] = lights.sort((a, b) => b - a);
            return [element.textContent.trim().slice(0, 40), (one + 0.05) / (another + 0.05)];
        }).filter(([, contrast]) => contrast < 4.5)
        .map(([text, contrast]) => `${text}: ${contrast.toFixed(2)}`);
})()";

#[test]
fn it_fits_every_width_in_light_and_dark() {
    let (_demo, address) = Running::demo(&[]);
    let browser = Browser::start();
    browser.open(address, "");
    browser.wait("kinepack.world()?.shown.length > 0");
    let mut backgrounds = BTreeSet::new();
    for scheme in ["light", "dark"] {
        browser.prefer(&[("prefers-color-scheme", scheme)]);
        browser.wait(&format!("matchMedia('(prefers-color-scheme: {scheme})').matches"));
        let background =
            |of: &str| browser.text(&format!("getComputedStyle(document.{of}).backgroundColor"));
        backgrounds.insert(background("body") + &background("documentElement"));
        for width in [400, 768, 1280] {
            browser.resize(width, 900);
            browser.wait_for_a_frame();
            assert_eq!(browser.eval(TOO_WIDE), Value::Array(Vec::new()), "{scheme}, {width}");
            let views = ["view-sent", "view-shown"]
                .map(|id| browser.number(&format!("document.getElementById('{id}').clientWidth")));
            assert!(views.into_iter().all(|view| view >= 180.0), "{scheme}, {width}: {views:?}");
        }
        assert_eq!(browser.eval(FAINT), Value::Array(Vec::new()), "{scheme}");
    }
    assert_eq!(backgrounds.len(), 2, "{backgrounds:?}");
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn a_phones_first_screen_has_the_numbers_and_both_worlds() {
    let (_demo, address) = Running::demo(&[]);
    let browser = Browser::start();
    browser.open(address, "");
    browser.wait("kinepack.world()?.shown.length > 0");
    browser.resize(390, 844);
    browser.wait_for_a_frame();
    let bottom = |of: &str| {
        browser.number(&format!("document.querySelector('{of}').getBoundingClientRect().bottom"))
    };
    for of in ["#now-kbps", "#now-factor", "#now-error", "#now-delay", "#view-sent", "#view-shown"]
    {
        assert!(bottom(of) <= 844.0, "{of}: {}", bottom(of));
    }
    assert!(bottom("#now-kbps") < bottom("#view-sent"));
    assert_eq!(browser.eval(TOO_WIDE), Value::Array(Vec::new()));
}

#[test]
fn reduced_motion_is_respected() {
    let (_demo, address) = Running::demo(&[]);
    let browser = Browser::start();
    browser.prefer(&[("prefers-reduced-motion", "reduce")]);
    browser.open(address, "");
    browser.wait(
        "matchMedia('(prefers-reduced-motion: reduce)').matches && \
         kinepack.world()?.shown.length > 0",
    );
    assert_eq!(
        browser.number(
            "document.getAnimations()
                .filter((animation) => animation.playState === 'running').length"
        ),
        0.0
    );
    let tick = browser.number("kinepack.world().tick");
    browser.wait_above("kinepack.world().tick", tick + 30.0);
}

#[test]
fn every_control_has_a_name() {
    let (_demo, address) = Running::demo(&[]);
    let browser = Browser::start();
    browser.open(address, "");
    browser.wait("kinepack.world()?.shown.length > 0");
    let elements =
        browser.eval(&format!("[...{CONTROLS}, ...document.querySelectorAll('canvas')]"));
    let elements = elements.as_array().unwrap();
    assert!(elements.len() > 15, "{elements:?}");
    for (index, element) in elements.iter().enumerate() {
        let what = || {
            browser.text(&format!(
                "[...{CONTROLS}, ...document.querySelectorAll('canvas')][{index}].outerHTML"
            ))
        };
        assert!(!browser.accessible_name(element).trim().is_empty(), "{}", what());
    }
    for id in ["message", "state"] {
        let role = browser.text(&format!("document.getElementById('{id}').getAttribute('role')"));
        assert_eq!(role, if id == "message" { "alert" } else { "status" });
    }
    assert_ne!(browser.text("document.documentElement.lang"), "");
    assert_ne!(browser.text("document.title"), "");
}

#[test]
fn tab_reaches_every_control_in_order_and_shows_where_it_is() {
    let (_demo, address) = Running::demo(&[]);
    let browser = Browser::start();
    browser.open(address, "");
    browser.wait("kinepack.world()?.shown.length > 0");
    let count = browser.number(&format!("{CONTROLS}.length")) as usize;
    assert!(count > 12, "{count}");
    let mut at = -1.0;
    let mut reached = BTreeSet::new();
    for _ in 0..count {
        browser.press(Key::Tab);
        let index = browser.number(&format!("{CONTROLS}.indexOf(document.activeElement)"));
        let who = browser.text("document.activeElement.outerHTML.slice(0, 120)");
        assert!(index > at, "from {at} to {index}: {who}");
        let ring =
            "((style) => style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1
                || style.boxShadow !== 'none')
            (getComputedStyle(document.activeElement))";
        assert_eq!(browser.eval(ring), true, "no ring: {who}");
        at = index;
        reached.insert(index as usize);
    }
    assert_eq!(reached, (0..count).collect());
}
