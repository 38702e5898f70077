//! Tests the demo's comparison with the same world without compression, at the same rate and at the
//! same bandwidth.

use fantoccini::key::Key;
use serde_json::Value;

use super::driver::Browser;
use crate::support::running::Running;

/// The bits of an uncompressed cube, including its share of the headers of a datagram of 29 cubes.
const CUBE_BITS: f64 = 321.0 + 224.0 / 29.0;

impl Browser {
    fn choose_uncompressed(&self, mode: &str) {
        self.eval(&format!(
            "((choice) => {{
                choice.value = '{mode}';
                choice.dispatchEvent(new Event('change'));
                return true;
            }})
            (document.getElementById('uncompressed'))"
        ));
    }

    fn word(&self, id: &str) -> String {
        self.text(&format!("document.getElementById('{id}').textContent"))
    }
}

#[test]
fn the_factor_compares_with_the_same_send_rate() {
    let (_demo, address) = Running::demo(&[]);
    let browser = Browser::start();
    browser.open(address, "");
    browser.wait("kinepack.samples().length > 10");
    // Each state has 901 cubes of 321 bits and a header. The page sends 60 states per second.
    browser.wait("document.getElementById('now-of').textContent === '17,369'");
    browser.choose("#settings [name=send_hz]", "10");
    browser.wait("document.getElementById('now-rate').textContent === '10'");
    browser.wait("document.getElementById('now-of').textContent === '2,895'");
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn the_uncompressed_view_spends_the_bandwidth_of_kinepack() {
    let (_demo, address) = Running::demo(&[]);
    let browser = Browser::start();
    browser.resize(1280, 900);
    browser.open(address, "");
    browser.wait("kinepack.uncompressed().rate_hz > 0 && kinepack.samples().length > 20");
    // The rate and the bandwidth may be of slightly different moments.
    let rate = format!(
        "((now) => now.rate_hz / (1000 * now.kbps / (901 * {CUBE_BITS})))(kinepack.uncompressed())"
    );
    browser.wait(&format!("({rate}) > 0.8 && ({rate}) < 1.25"));
    browser.wait("document.getElementById('caption-uncompressed').textContent !== ''");
    let about = browser.word("uncompressed-about");
    for part in ["same bandwidth", "36 kB", "nothing is interpolated", "kbit/s that Kinepack uses"]
    {
        let found = about.contains(part) || browser.text("document.body.innerText").contains(part);
        assert!(found, "no {part:?} in {about}");
    }
    // The compared world begins equal to the sent one, and then lags behind.
    let behind = "(() => {
        const [{ shown }, { bodies }] = [kinepack.world(), kinepack.uncompressed()];
        return Math.hypot(...[0, 1, 2].map((axis) => shown[axis] - bodies[axis])) > 0.5;
    })()";
    browser.wait(behind);
    let area = browser.area("view-uncompressed");
    let screenshot = browser.screenshot();
    assert!(screenshot.colours(area) > 100 && screenshot.share_unlike_corner(area) > 0.05);

    let whole = browser.number("kinepack.uncompressed().rate_hz");
    browser.choose_uncompressed("moved");
    browser.wait(&format!("kinepack.uncompressed().rate_hz > {whole}"));
    browser.choose_uncompressed("none");
    browser.wait("!document.getElementById('view-uncompressed').checkVisibility()");
    browser.wait("document.getElementById('uncompressed-about').textContent === ''");
    let width = browser.number("document.getElementById('view-sent').clientWidth");
    assert!(width > 600.0, "two views share the page: {width}");
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn a_followed_player_stays_in_view() {
    let (_demo, address) = Running::demo(&[]);
    let browser = Browser::start();
    browser.resize(1280, 900);
    browser.open(address, "");
    browser.wait("kinepack.world()?.shown.length > 0 && document.getElementById('follow').checked");
    browser.eval(
        "(() => {
            globalThis.farthest = 0;
            const watch = () => {
                const place = kinepack.place(0);
                if (place) farthest = Math.max(farthest, ...place.map(Math.abs));
                requestAnimationFrame(watch);
            };
            watch();
            return true;
        })()",
    );
    let before = browser.number("kinepack.world().sent[0]");
    browser.hold(Key::Right);
    browser.wait_above("kinepack.world().sent[0]", before + 20.0);
    browser.let_go();
    let farthest = browser.number("farthest");
    assert!(farthest > 0.05 && farthest < 0.98, "{farthest}");
    assert_eq!(browser.console(), [""; 0]);
}

#[test]
fn restart_puts_the_cubes_back_and_begins_a_new_connection() {
    let (demo, address) = Running::demo(&[]);
    let browser = Browser::start();
    browser.open(address, "");
    browser.wait_above("kinepack.world()?.tick ?? 0", 60.0);
    browser.click("#pause");
    browser.wait("document.getElementById('pause').textContent === 'Resume'");
    let paused = browser.number("kinepack.world().tick");
    browser.click("#restart");
    browser.wait(&format!("kinepack.world().tick > {paused}"));
    browser.eval(
        "(() => { globalThis.first = Float32Array.from(kinepack.world().sent); return true; })()",
    );
    browser.click("#pause");
    // The script gives the mean distance of the cubes from their first positions, in metres.
    let away = "(() => {
        const { sent } = kinepack.world();
        let sum = 0;
        for (let at = 0; at < sent.length; at += 8) {
            sum += Math.hypot(sent[at] - first[at], sent[at + 1] - first[at + 1]);
        }
        return 8 * sum / sent.length;
    })()";
    browser.wait_above(away, 0.6);
    let tick = browser.number("kinepack.world().tick");
    let seconds = "Number(document.querySelector('#report [data-key=seconds]').dataset.value)";
    browser.click("#restart");
    browser.wait(&format!("({away}) < 0.3 && kinepack.world().tick > {tick}"));
    browser.wait(&format!("{seconds} < {tick} / 60"));
    browser.wait("kinepack.world().shown.length > 0");
    assert_eq!(browser.console(), [""; 0]);
    assert_eq!(demo.interrupt().document()["wrong_lanes"], 0);
}

#[test]
fn the_colours_of_the_cubes_and_the_goal_are_explained() {
    let (_demo, address) = Running::demo(&[]);
    let browser = Browser::start();
    browser.open(address, "");
    browser.wait("document.getElementById('goal').textContent.includes('256 kbit/s')");
    assert!(browser.word("goal").contains("Snapshot Compression"));
    let legend =
        "[...document.querySelectorAll('#cube-legend li')].map((item) => item.textContent)";
    assert_eq!(browser.eval(legend).as_array().map(Vec::len), Some(3));
    let names = ["player", "interacting", "cube"];
    for name in names {
        let colours = browser.eval(&format!(
            "[getComputedStyle(document.querySelector('#cube-legend .{name}')).backgroundColor,
                ((box) => {{
                    box.style.color = 'var(--{name})';
                    document.body.append(box);
                    const colour = getComputedStyle(box).color;
                    box.remove();
                    return colour;
                }})(document.createElement('i'))]"
        ));
        assert_eq!(colours[0], colours[1], "{name}");
        assert_ne!(colours[0], Value::Null);
    }
    browser.click("#heat");
    browser.wait(
        "!document.getElementById('cube-legend').checkVisibility() && \
         document.getElementById('heat-legend').checkVisibility()",
    );
}

#[test]
fn defaults_are_the_settings_of_the_command_line() {
    let (_demo, address) = Running::demo(&["--loss", "3"]);
    let browser = Browser::start();
    browser.open(address, "");
    let loss = "document.querySelector('#settings [name=loss_percent]').value";
    browser.wait(&format!("{loss} === '3'"));
    browser.fill("#settings [name=loss_percent]", "20");
    browser.wait("location.search.includes('loss_percent=20')");
    browser.click("#defaults");
    browser.wait("location.search.includes('loss_percent=3')");
    browser.wait(&format!("{loss} === '3'"));
    assert_eq!(browser.console(), [""; 0]);
}
