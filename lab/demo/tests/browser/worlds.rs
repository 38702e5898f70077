//! Tests that both worlds move, and that the world on the right shows the past of the world on the
//! left.

use fantoccini::key::Key;
use serde_json::Value;

use super::driver::Browser;
use crate::support::running::Running;

/// Records the drawn frames of the page, which [`DISTANCES`] compares.
const WATCH: &str = "(() => {
    globalThis.seen = { sent: new Map(), shown: [] };
    const watch = () => {
        const world = kinepack.world();
        if (world && !seen.sent.has(world.tick)) {
            seen.sent.set(world.tick, Float32Array.from(world.sent));
            if (world.shown.length > 0) {
                seen.shown.push([world.shownTick, Float32Array.from(world.shown)]);
            }
        }
        requestAnimationFrame(watch);
    };
    watch();
    return true;
})()";

/// Computes the distances of bodies on the right from their positions on the left at the same tick,
/// in millimetres. The script gives their median and 99th percentile. It measures bodies that
/// rested meanwhile. If the drawn ticks are close enough together for straight movements between
/// them, it also measures moving bodies.
const DISTANCES: &str = "(() => {
    const ticks = [...seen.sent.keys()].sort((one, another) => one - another);
    const resting = [], moving = [];
    for (const [tick, shown] of seen.shown) {
        const before = ticks.findLast((each) => each <= tick);
        const after = ticks.find((each) => each >= tick);
        if (before === undefined || after === undefined) continue;
        const share = after === before ? 0 : (tick - before) / (after - before);
        const [from, to] = [seen.sent.get(before), seen.sent.get(after)];
        for (let at = 0; at < shown.length; at += 8) {
            const way = [0, 1, 2].map((axis) => to[at + axis] - from[at + axis]);
            const rests = Math.hypot(...way) < 0.0005;
            if (!rests && after - before > 4) continue;
            const distance = 1000 * Math.hypot(...way.map((value, axis) =>
                from[at + axis] + share * value - shown[at + axis]));
            (rests ? resting : moving).push(distance);
        }
    }
    const ranks = (numbers) => {
        numbers.sort((one, another) => one - another);
        const rank = (share) => numbers[Math.floor(share * numbers.length)];
        return { count: numbers.length, ranks: [0.5, 0.99].map(rank) };
    };
    return { resting: ranks(resting), moving: ranks(moving) };
})()";

impl Browser {
    /// Asserts that the world on the right shows the past of the world on the left, within the
    /// errors of quantization and playback.
    pub(crate) fn see_that_worlds_agree(&self) {
        self.eval(WATCH);
        let enough = format!(
            "((distances) => distances.resting.count > 20 * 901 && distances)({DISTANCES})"
        );
        let distances = self.wait(&enough);
        let mm = |which: &str, rank: usize| distances[which]["ranks"][rank].as_f64().unwrap();
        assert!(mm("resting", 0) < 2.0 && mm("resting", 1) < 4.0, "{distances:#}");
        // A browser that draws on the processor may be too slow to measure any moving bodies.
        if distances["moving"]["count"].as_u64() > Some(50) {
            assert!(mm("moving", 0) < 25.0, "{distances:#}");
        }
    }
}

#[test]
fn both_worlds_move_and_the_right_one_is_the_left_ones_past() {
    let (_demo, address) = Running::demo(&[]);
    let browser = Browser::start();
    browser.open(address, "");
    browser.wait("kinepack.world()?.shown.length === 901 * 8");
    assert_eq!(browser.number("kinepack.world().sent.length"), 901.0 * 8.0);
    let positions = |which: &str| {
        browser.eval(&format!("[0, 1, 2].map((axis) => kinepack.world().{which}[axis])"))
    };
    let before = ["sent", "shown"].map(positions);
    for (which, before) in ["sent", "shown"].into_iter().zip(&before) {
        let moved = format!(
            "Math.hypot(...{before}.map((value, axis) => value - kinepack.world().{which}[axis])) \
             > 0.5"
        );
        browser.wait(&moved);
    }
    browser.wait("kinepack.world().shownTick < kinepack.world().tick");
    browser.see_that_worlds_agree();
}

/// Collects each number and text of `document` in `found`, with the path of its keys.
fn leaves(document: &Value, path: &str, found: &mut Vec<(String, Value)>) {
    let Value::Object(entries) = document else {
        found.push((path.to_owned(), document.clone()));
        return;
    };
    for (key, value) in entries {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        leaves(value, &path, found);
    }
}

#[test]
fn the_numbers_of_the_page_are_those_of_the_summary() {
    let (demo, address) = Running::demo(&[]);
    let browser = Browser::start();
    browser.open(address, "?link=mobile");
    browser.hold(Key::Right);
    browser.wait_above("kinepack.world()?.tick ?? 0", 150.0);
    browser
        .wait("document.querySelector('#report [data-key=\"input.received\"]').dataset.value > 0");
    demo.signal("-INT");
    let document = demo.end().document();
    browser.wait_for_state("ended");
    let cells = "Object.fromEntries([...document.querySelectorAll('#report [data-key]')]
        .map((cell) => [cell.dataset.key, [cell.dataset.value, cell.textContent.trim()]]))";
    let cells = browser.eval(cells);
    let mut wanted = Vec::new();
    leaves(&document, "", &mut wanted);
    assert!(wanted.len() >= 20, "{document:#}");
    for (key, value) in &wanted {
        let [shown, text] = [0, 1]
            .map(|at| cells[key][at].as_str().unwrap_or_else(|| panic!("{key} in {cells:#}")));
        match value {
            Value::Number(number) => {
                let [shown, number] = [shown.parse().unwrap(), number.as_f64().unwrap()];
                // The parser of this test may round a number's last bit differently than the
                // browser does.
                assert!(
                    f64::abs(shown - number) <= 1e-12 * f64::abs(number),
                    "{key}: {shown}, {number}"
                );
            }
            _ => assert_eq!(Some(shown), value.as_str(), "{key}"),
        }
        assert!(!text.is_empty(), "{key}");
    }
    let known = |key: &String| wanted.iter().any(|(wanted, _)| wanted == key);
    assert!(cells.as_object().unwrap().keys().all(known), "{cells:#}");
    assert_eq!(document["wrong_lanes"], 0);
}
