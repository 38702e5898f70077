//! Both worlds move, and the right one is the left one's past.

use serde_json::Value;

use crate::driver::Browser;
use crate::support::Running;

/// Keeps what the page drew, frame by frame, for [`DISTANCES`].
const WATCH: &str = "(() => {
    globalThis.seen = { sent: new Map(), shown: [] };
    const watch = () => {
        const world = kinepack.world();
        if (world && !seen.sent.has(world.tick)) {
            seen.sent.set(world.tick, Float32Array.from(world.sent));
            if (world.shown.length > 0) seen.shown.push([world.shownTick, Float32Array.from(world.shown)]);
        }
        requestAnimationFrame(watch);
    };
    watch();
    return true;
})()";

/// How far each body on the right is from where it was on the left at that tick, in millimetres, sorted: all, and those
/// that moved. Between two ticks that were drawn, at most four apart, a body is taken to be on the line.
const DISTANCES: &str = "(() => {
    const ticks = [...seen.sent.keys()].sort((one, another) => one - another);
    const all = [], moving = [];
    for (const [tick, shown] of seen.shown) {
        const after = ticks.find((each) => each >= tick);
        const before = ticks.findLast((each) => each <= tick);
        if (before === undefined || after === undefined || after - before > 4) continue;
        const share = after === before ? 0 : (tick - before) / (after - before);
        const [from, to] = [seen.sent.get(before), seen.sent.get(after)];
        for (let at = 0; at < shown.length; at += 8) {
            const line = [0, 1, 2].map((axis) => from[at + axis] + share * (to[at + axis] - from[at + axis]));
            const distance = 1000 * Math.hypot(...line.map((value, axis) => value - shown[at + axis]));
            all.push(distance);
            if (Math.hypot(...[0, 1, 2].map((axis) => to[at + axis] - from[at + axis])) > 0.005) moving.push(distance);
        }
    }
    const ends = (numbers) => { numbers.sort((one, another) => one - another);
        return [0.5, 0.9, 0.99].map((share) => numbers[Math.floor(share * numbers.length)] ?? null); };
    return { frames: seen.shown.length, all: ends(all), moving: ends(moving), compared: all.length, moved: moving.length };
})()";

impl Browser {
    /// Sees that the right world is the left one's past, within what the steps of quantization and playback allow.
    pub(crate) fn see_that_worlds_agree(&self) {
        self.eval(WATCH);
        self.wait("seen.shown.length > 60");
        let distances = self.wait(&format!("((distances) => distances.compared > 20 * 901 && distances)({DISTANCES})"));
        let mm = |which: &str, rank: usize| distances[which][rank].as_f64().unwrap();
        assert!(mm("all", 0) < 3.0 && mm("all", 1) < 5.0, "{distances:#}");
        if distances["moved"].as_u64() > Some(20) {
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
    let positions = |which: &str| browser.eval(&format!("[0, 1, 2].map((axis) => kinepack.world().{which}[axis])"));
    let before = ["sent", "shown"].map(positions);
    for (which, before) in ["sent", "shown"].into_iter().zip(&before) {
        let moved =
            format!("Math.hypot(...{before}.map((value, axis) => value - kinepack.world().{which}[axis])) > 0.5");
        browser.wait(&moved);
    }
    browser.wait("kinepack.world().shownTick < kinepack.world().tick");
    browser.see_that_worlds_agree();
}

/// Each number and text of a document, with the keys on the way to it.
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
    browser.wait_above("kinepack.world()?.tick ?? 0", 150.0);
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
        let [shown, text] = [0, 1].map(|at| cells[key][at].as_str().unwrap_or_else(|| panic!("{key} in {cells:#}")));
        match value {
            Value::Number(number) => assert_eq!(shown.parse().ok(), number.as_f64(), "{key}"),
            _ => assert_eq!(Some(shown), value.as_str(), "{key}"),
        }
        assert!(!text.is_empty(), "{key}");
    }
    let known = |key: &String| wanted.iter().any(|(wanted, _)| wanted == key);
    assert!(cells.as_object().unwrap().keys().all(known), "{cells:#}");
    assert_eq!(document["wrong_lanes"], 0);
}
