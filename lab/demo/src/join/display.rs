//! Draws a joiner's display. Connection events are printed as lines, and a terminal also shows the
//! world from above.

use std::time::Duration;

use kinepack::EntityId;

use super::tally::Tally;
use crate::lines::Lines;
use crate::map::{ROWS, map, map_of};
use crate::viewer::Viewer;

/// Lines that are redrawn, on a terminal only.
pub(super) struct Display {
    /// The rows of the map, the numbers, and the help.
    lines: Lines,
    rows: usize,
    kbps: f64,
    /// The time at which the rate was last measured, and the bytes received by then.
    measured: (Duration, u64),
}

impl Display {
    pub(super) fn new(has_map: bool) -> Self {
        let rows = if has_map { ROWS } else { 0 };
        Self { lines: Lines::new(rows + 2), rows, kbps: 0.0, measured: Default::default() }
    }

    /// Shows a line of help below the map.
    pub(super) fn explain(&self, line: &'static str) {
        self.lines.show(self.rows + 1, [line.to_owned()]);
    }

    /// Prints a line on standard error, above the display.
    pub(super) fn say(&self, line: &str) {
        self.lines.say(line);
    }

    /// Draws the world, centred on the player's own cube if there is one.
    pub(super) fn show(
        &mut self,
        now: Duration,
        viewer: Option<&Viewer>,
        own: Option<EntityId>,
        tally: &Tally,
    ) {
        if self.lines.is_hidden() {
            return;
        }
        let (then, bytes_then) = self.measured;
        let bytes = tally.bytes().0;
        if now >= then + Duration::from_secs(1) {
            self.kbps = (bytes - bytes_then) as f64 * 8.0 / 1000.0 / (now - then).as_secs_f64();
            self.measured = (now, bytes);
        }
        let Some(viewer) = viewer else { return };
        let bodies = || viewer.shown.iter().map(|shown| (shown.id, shown.position));
        let own = bodies().find(|(id, _)| Some(*id) == own);
        let rows = own.map_or_else(|| map(bodies()), |(_, position)| map_of(position, bodies()));
        let numbers = format!(
            "{:.1} kbit/s all included, {:.2} % lost, playout delay {:.1} ms",
            self.kbps,
            tally.loss_ratio() * 100.0,
            viewer.receiver.playout_stats().delay.as_secs_f64() * 1e3
        );
        self.lines.show(0, rows.into_iter().take(self.rows).chain([numbers]));
    }

    /// Shows how many joiners receive.
    pub(super) fn show_count(&self, receiving: usize, count: usize) {
        self.lines.show(self.rows, [format!("{receiving} of {count} joiners receive")]);
    }

    pub(super) fn finish(&self) {
        self.lines.finish();
    }
}
