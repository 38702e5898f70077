//! Draws both worlds from above in the terminal, with numbers about the link between them.

use indicatif::ProgressBar;

use super::uncompressed_kbps;
use crate::lines::Lines;
use crate::map::{COLUMNS, ROWS, map};
use crate::sender::due;
use crate::session::Session;

/// The space between the two maps.
const GAP: &str = "   ";

/// The lines that are redrawn.
pub(super) struct Display {
    /// Whether the terminal has room for both maps side by side. Otherwise only the received world
    /// is shown.
    has_both: bool,
    /// The header, the maps, and the statistics.
    lines: Lines,
    bar: ProgressBar,
}

impl Display {
    pub(super) fn new(ticks: u32) -> Self {
        let lines = Lines::new(1 + ROWS + 4);
        let bar = lines.add("{wide_bar} tick {pos} of {len}, {eta} left", u64::from(ticks));
        let has_both = crossterm::terminal::size()
            .map_or(true, |(columns, _)| usize::from(columns) >= 2 * COLUMNS + GAP.len());
        Self { has_both, lines, bar }
    }

    pub(super) fn show(&self, tick: u32, session: &Session) {
        self.bar.set_position(u64::from(tick));
        if self.bar.is_hidden() {
            return;
        }
        let Some((peer, viewer)) =
            session.peers.first().and_then(|peer| Some((peer, peer.viewer()?)))
        else {
            return;
        };
        let stats = peer.recent_stats(due(tick), &session.sender);
        let sent = map(session.sender.states().iter().map(|(id, state)| (id, state.position)));
        let shown = map(viewer.shown.iter().map(|shown| (shown.id, shown.position)));
        self.lines.show(0, [self.beside(format!("{:COLUMNS$}", "simulated"), "received")]);
        let rows = sent.into_iter().zip(shown);
        self.lines.show(1, rows.map(|(sent, shown)| self.beside(sent, &shown)));
        let playout = viewer.receiver.playout_stats();
        let error = [&viewer.error.position_mm, &viewer.error.rotation_deg]
            .map(|error| error.percentile(0.99));
        let uncompressed_kbps = uncompressed_kbps(session.sender.states().count());
        let numbers = [
            format!(
                "{:.1} kbit/s with headers, {:.1} payload, {uncompressed_kbps:.0} uncompressed",
                stats.kbps_total, stats.kbps_payload
            ),
            format!(
                "{:.1} % lost, round trip {:.0} ms, playout {:.0} ms, baseline {} back",
                stats.loss_ratio * 100.0,
                stats.round_trip_ms,
                playout.delay.as_secs_f64() * 1e3,
                stats.baseline_age
            ),
            peer.input_report().map_or_else(String::new, |input| {
                format!(
                    "keys: {:.1} kbit/s, {:.0} bits a packet, {} recovered, {} lost",
                    input.kbps_with_headers,
                    input.bits_per_packet.mean,
                    input.recovered,
                    input.lost
                )
            }),
            format!("moving cubes: within {:.1} mm and {:.2}° (99 %)", error[0], error[1]),
        ];
        self.lines.show(1 + ROWS, numbers);
    }

    /// Returns a line with both maps, or with only the right map.
    fn beside(&self, left: String, right: &str) -> String {
        if self.has_both { left + GAP + right } else { right.to_owned() }
    }

    pub(super) fn finish(&self) {
        self.lines.finish();
        self.bar.finish_and_clear();
    }
}
