//! Tests that the page loads, reports problems, and reconnects.

use serde_json::Value;

use super::driver::Browser;
use crate::support::running::Running;

/// The newest tick of the world on the left of the page.
const TICK: &str = "kinepack.world()?.tick ?? 0";

#[test]
fn the_page_loads_without_console_messages_or_foreign_requests() {
    let (_demo, address) = Running::demo(&[]);
    let browser = Browser::start();
    browser.open(address, "");
    browser.wait(
        "kinepack.frames() > 5 && kinepack.samples().length > 10 && kinepack.packets().length > 60",
    );
    let requests =
        browser.eval("performance.getEntriesByType('resource').map((entry) => entry.name)");
    let requests: Vec<_> = requests.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(requests.len() >= 3, "{requests:?}");
    let own = format!("http://{address}/");
    assert!(requests.iter().all(|request| request.starts_with(&own)), "{requests:?}");
    assert_eq!(browser.text("document.documentElement.dataset.role"), "playing");
    assert_eq!(browser.text("document.getElementById('message').textContent.trim()"), "");
    assert_ne!(browser.text("document.getElementById('state').textContent.trim()"), "");
    assert_eq!(
        browser.eval("document.cookie + Object.keys(localStorage) + Object.keys(sessionStorage)"),
        ""
    );
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn a_program_that_is_killed_and_started_again_is_found() {
    let (demo, address) = Running::demo(&[]);
    let browser = Browser::start();
    browser.open(address, "?loss_percent=7");
    browser.wait_above(TICK, 60.0);
    demo.kill();
    browser.wait_for_state("lost");
    assert_ne!(browser.text("document.getElementById('state').textContent.trim()"), "");
    let (_demo, address) = Running::demo_at(address.port(), &[]);
    browser.wait_for_state("live");
    let tick = browser.number(TICK);
    browser.wait_above(TICK, tick + 30.0);
    browser.wait("kinepack.world().shown.length > 0");
    // The settings of the address apply again.
    browser.wait(
        "document.querySelector('#report [data-key=link]')?.dataset.value.includes('--loss 7')",
    );
    let refused = format!("ws://{address}/socket");
    let other: Vec<_> =
        browser.console().into_iter().filter(|line| !line.contains(&refused)).collect();
    assert_eq!(other, [""; 0]);
}

#[test]
fn without_webgl_the_page_says_so_and_the_numbers_still_update() {
    let (_demo, address) = Running::demo(&[]);
    let browser = Browser::without_webgl();
    browser.run(async |client| client.goto(&format!("http://{address}/")).await);
    browser.wait("document.body.innerText.includes('WebGL')");
    let sent =
        "Number(document.querySelector('#report [data-key=frames_sent]')?.dataset.value ?? 0)";
    let before = browser.wait_above(sent, 30.0);
    browser.wait_above(sent, before + 30.0);
    let samples = browser.number("kinepack.samples().length");
    browser.wait_above("kinepack.samples().length", samples + 5.0);
    // The script reads a copy of the chart, because reading a canvas changes how the browser draws
    // it from then on.
    let chart = "(() => {
        const chart = document.getElementById('chart-kbps');
        const copy = new OffscreenCanvas(chart.width, chart.height)
            .getContext('2d', { willReadFrequently: true });
        copy.drawImage(chart, 0, 0);
        const { data } = copy.getImageData(0, 0, chart.width, chart.height);
        return new Set(new Uint32Array(data.buffer)).size;
    })()";
    browser.eval("(document.getElementById('chart-kbps').scrollIntoView(), true)");
    browser.wait_above(chart, 3.0);
    let errors: Vec<_> =
        browser.console().into_iter().filter(|line| !line.contains("WebGL")).collect();
    assert_eq!(errors, [""; 0]);
}
