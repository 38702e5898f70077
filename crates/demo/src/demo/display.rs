//! The display in the terminal: both worlds from above, and numbers about the link between them.

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::uncompressed_kbps;
use crate::map::{COLUMNS, ROWS, map};
use crate::sender::due;
use crate::session::Session;

/// Between the two maps.
const GAP: &str = "   ";

/// Lines that are redrawn.
pub(super) struct Display {
    /// Whether the terminal has room for both maps side by side. Otherwise only the received world
    /// is shown.
    has_both: bool,
    maps: Vec<ProgressBar>,
    numbers: Vec<ProgressBar>,
    bar: ProgressBar,
}

impl Display {
    pub(super) fn new(ticks: u32) -> Self {
        let display = MultiProgress::new();
        let line = |template: &str, length| {
            let style = ProgressStyle::with_template(template)
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            display.add(ProgressBar::new(length).with_style(style))
        };
        let maps = (0..=ROWS).map(|_| line("{wide_msg}", 1)).collect();
        let numbers = (0..4).map(|_| line("{wide_msg}", 1)).collect();
        let has_both = crossterm::terminal::size()
            .map_or(true, |(columns, _)| usize::from(columns) >= 2 * COLUMNS + GAP.len());
        Self {
            has_both,
            maps,
            numbers,
            bar: line("{wide_bar} tick {pos} of {len}, {eta} left", u64::from(ticks)),
        }
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
        let live = peer.live(due(tick), &session.sender);
        let sent = map(session.sender.states().iter().map(|(id, state)| (id, state.position)));
        let shown = map(viewer.shown.iter().map(|shown| (shown.id, shown.position)));
        if let Some(head) = self.maps.first() {
            head.set_message(self.beside(format!("{:COLUMNS$}", "simulated"), "received"));
        }
        for ((line, sent), shown) in self.maps.iter().skip(1).zip(sent).zip(shown) {
            line.set_message(self.beside(sent, &shown));
        }
        let playout = viewer.receiver.playout_stats();
        let error = [&viewer.error.position_mm, &viewer.error.rotation_deg]
            .map(|error| error.percentile(0.99));
        let uncompressed_kbps = uncompressed_kbps(session.sender.states().count());
        let numbers = [
            format!(
                "{:.1} kbit/s with headers, {:.1} payload, {uncompressed_kbps:.0} uncompressed",
                live.kbps_total, live.kbps_payload
            ),
            format!(
                "{:.1} % lost, round trip {:.0} ms, playout {:.0} ms, baseline {} back",
                live.loss_ratio * 100.0,
                live.round_trip_ms,
                playout.delay.as_secs_f64() * 1e3,
                live.baseline_age
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
        for (line, number) in self.numbers.iter().zip(numbers) {
            line.set_message(number);
        }
    }

    /// A line of both maps, or of the right one alone.
    fn beside(&self, left: String, right: &str) -> String {
        if self.has_both { left + GAP + right } else { right.to_owned() }
    }

    pub(super) fn finish(&self) {
        self.maps
            .iter()
            .chain(&self.numbers)
            .chain([&self.bar])
            .for_each(ProgressBar::finish_and_clear);
    }
}
