//! Tests the report pages of `analyze` and `replay`. The pages fit the window, their text keeps its
//! size, their axes have units, and their fields have the demo's colours.

use serde_json::Value;
use tempfile::TempDir;

use super::driver::Browser;
use super::layout::TOO_WIDE;
use crate::support::running::Running;

/// Lists the charts that the page scales. Their text would shrink with them.
const SCALED: &str = "[...document.querySelectorAll('svg')]
    .filter((chart) =>
        Math.abs(chart.getBoundingClientRect().width / chart.viewBox.baseVal.width - 1) > 0.01)
    .map((chart) => chart.outerHTML.slice(0, 80))";
/// Lists the texts of charts that are smaller than 12 px.
const SMALL: &str = "[...document.querySelectorAll('svg text, td, th, .note, li')]
    .filter((element) => parseFloat(getComputedStyle(element).fontSize) < 12)
    .map((element) => element.textContent)";

struct Reports {
    _folder: TempDir,
    analysis: String,
    replay: String,
}

fn reports() -> Reports {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let [capture, analysis, replay] = ["world.mcap", "analysis.html", "replay.html"].map(path);
    let run = |arguments: &[&str]| {
        let run = Running::start(arguments, None).end();
        assert_eq!(run.code, Some(0), "{}", run.stderr);
    };
    run(&["record", &capture, "--seconds", "2", "--cubes", "60"]);
    run(&["analyze", &capture, "--html", &analysis, "--json"]);
    let page = ["--link-trace", "step", "--html", &replay, "--json"];
    run(&[&["replay", &capture, "--sweep", "loss=0..10,rtt=20..80"][..], &page].concat());
    Reports { _folder: folder, analysis, replay }
}

impl Browser {
    fn open_file(&self, path: &str) {
        self.run(async |client| client.goto(&format!("file://{path}")).await);
        self.wait("document.querySelectorAll('svg').length > 2");
    }
}

#[test]
fn reports_fit_every_width_and_their_text_keeps_its_size() {
    let reports = reports();
    let browser = Browser::start();
    for path in [&reports.analysis, &reports.replay] {
        browser.open_file(path);
        for width in [360, 400, 768, 1280] {
            browser.resize(width, 900);
            browser.wait(&format!("({SCALED}).length === 0"));
            assert_eq!(browser.eval(TOO_WIDE), Value::Array(Vec::new()), "{path}, {width}");
            assert_eq!(browser.eval(SMALL), Value::Array(Vec::new()), "{path}, {width}");
        }
    }
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn axes_have_units() {
    let reports = reports();
    let browser = Browser::start();
    browser.open_file(&reports.replay);
    let titles = browser
        .eval("[...document.querySelectorAll('figcaption h3')].map((title) => title.textContent)");
    let titles: Vec<_> = titles.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(titles.iter().all(|title| title.ends_with(')') && title.contains(" (")), "{titles:?}");
    for wanted in [
        "bandwidth with headers (kbit/s)",
        "position error, p99 (m)",
        "orientation error, p99 (°)",
        "link and sender (kbit/s)",
        "queueing delay (ms)",
    ] {
        assert!(titles.contains(&wanted), "{titles:?}");
    }
    let words = browser.text("document.querySelector('main').textContent");
    assert!(words.contains("packet loss (%)") && words.contains("round trip (ms)"), "{words}");
}

#[test]
fn fields_have_the_colours_of_the_demo() {
    let reports = reports();
    let browser = Browser::start();
    browser.open_file(&reports.analysis);
    let colour = |of: &str| {
        browser.text(&format!(
            "getComputedStyle([...document.querySelectorAll('.legend li')].find((item) => \
             item.textContent === '{of}').querySelector('.swatch')).backgroundColor"
        ))
    };
    let fields = ["sets", "position", "orientation"].map(colour);
    let (_demo, address) = Running::demo(&[]);
    browser.open(address, "");
    let parts = ["sets", "position", "orientation"].map(|part| {
        browser.text(&format!(
            "getComputedStyle(document.querySelector('.swatch.{part}')).backgroundColor"
        ))
    });
    assert_eq!(fields, parts);
}
