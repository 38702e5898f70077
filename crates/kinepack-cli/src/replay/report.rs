//! The report of a replay: as a table, and as data for JSON and the page.

use std::io::{self, Write};
use std::time::Duration;

use command_kit::table::{table, write_text};
use command_kit::{LinkUse, counted};
use kinepack_net::{LinkConfig, LinkTrace};
use serde::Serialize;

use super::run::RunReport;
use crate::captured::Pace;

/// The results of all runs.
#[derive(Serialize)]
pub(super) struct Report {
    pub(super) file: String,
    pub(super) stream: String,
    pub(super) link: String,
    /// The settings of the link, as text.
    pub(super) link_about: String,
    pub(super) frames: u64,
    /// Ticks per second.
    pub(super) rate_hz: f64,
    /// Frames per second. The number is below `rate_hz` if some ticks have no frame.
    pub(super) frames_per_s: f64,
    /// Explanations of numbers that look surprising.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
    /// The speed of all runs together, as a multiple of real time.
    #[serde(skip)]
    pub(super) speed: f64,
    pub(super) runs: Vec<RunReport>,
    pub(super) over_loss: Vec<RunReport>,
    pub(super) over_round_trip: Vec<RunReport>,
}

/// Explains numbers that may look wrong.
pub(super) fn notes(runs: &[RunReport], frames_per_s: f64) -> Vec<String> {
    let apart_ms = 1e3 / frames_per_s;
    let is_late = |run: &&RunReport| run.received > 0 && apart_ms > run.max_delay_ms;
    let note = |run: &RunReport| {
        format!(
            "frames are {apart_ms:.0} ms apart, and playback waits {:.0} ms for one at most: what is \
             shown stands still in between, which counts as stalled",
            run.max_delay_ms
        )
    };
    let roomy = |run: &RunReport| {
        let note = run.link_use.as_ref()?.note_of_room(run.kbps_total)?;
        Some(format!("{}: {note}", run.level))
    };
    let late = runs.iter().find(is_late).map(note);
    late.into_iter().chain(runs.iter().filter_map(roomy)).collect()
}

/// Returns the settings of a link that affect a replay most, as text.
pub(super) fn about(link: &LinkConfig, trace: Option<&LinkTrace>) -> String {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let mut about = format!(
        "round trip {} ms, up to {} ms of jitter each way, {:.1} % lost",
        2.0 * ms(link.latency),
        ms(link.jitter),
        100.0 * link.loss.mean_ratio()
    );
    if let Some(trace) = trace {
        about.push_str(&format!(
            ", to the receiver a trace of {} s with {:.0} kbit/s on average and a queue of {} kB",
            trace.length().as_secs_f64(),
            trace.mean_bps() as f64 / 1e3,
            link.queue_bytes / 1000
        ));
    }
    about
}

impl Report {
    pub(super) fn write_table(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { file, stream, link, link_about, frames, speed, .. } = self;
        let pace = Pace { rate_hz: self.rate_hz, frames_per_s: self.frames_per_s };
        write_text(out, "", &format!("{file}: {stream}"))?;
        let title = format!(
            "{} at {pace}, {link} ({link_about}); {speed:.0} times as fast as in real time",
            counted(frames, "frame"),
        );
        write_text(out, "", &title)?;
        for note in &self.notes {
            write_text(out, "", note)?;
        }
        for (title, runs) in [
            ("", &self.runs),
            ("\nOver the loss, percent", &self.over_loss),
            ("\nOver the round trip, ms", &self.over_round_trip),
        ] {
            if runs.is_empty() {
                continue;
            }
            if !title.is_empty() {
                writeln!(out, "{title}")?;
            }
            let fields = self.runs.first().map(|run| run.errors.as_slice()).unwrap_or_default();
            let header = [
                "level",
                "profile",
                "loss %",
                "round trip ms",
                "kbit/s",
                "+headers",
                "delay ms",
                "stalled",
                "longest ms",
                "wrong lanes",
            ];
            let recovery =
                self.runs.iter().any(|run| run.recovery_ms.is_some()).then_some("recovered ms");
            let header: Vec<String> = header
                .into_iter()
                .chain(recovery)
                .map(str::to_owned)
                .chain(fields.iter().flat_map(|field| {
                    [
                        format!("{} off: half", field.field),
                        "\t99 %".to_owned(),
                        "\tlargest".to_owned(),
                    ]
                }))
                .collect();
            writeln!(
                out,
                "{}",
                table(header, 2, runs.iter().map(|run| run.cells(recovery.is_some()))).trim_fmt()
            )?;
            write_link_use(out, runs)?;
        }
        Ok(())
    }
}

/// Writes how much of their links the runs used, if that was measured.
fn write_link_use(out: &mut impl Write, runs: &[RunReport]) -> io::Result<()> {
    let measured = |run: &RunReport| Some(run.link_cells(run.link_use.as_ref()?));
    let rows: Vec<Vec<String>> = runs.iter().filter_map(measured).collect();
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let title = "The link to the receiver. Queueing is what datagrams wait for those before them.";
    write_text(out, "", title)?;
    let header = ["level", "profile", "loss %", "round trip ms", "sent kbit/s"];
    let header = header.into_iter().chain(LinkUse::HEADER);
    writeln!(out, "{}", table(header, 2, rows).trim_fmt())
}

impl RunReport {
    fn link_cells(&self, link_use: &LinkUse) -> Vec<String> {
        let first = [
            self.level.clone(),
            self.profile.clone(),
            format!("{:.1}", self.loss_percent),
            format!("{:.0}", self.round_trip_ms),
            format!("{:.1}", self.kbps_total),
        ];
        first.into_iter().chain(link_use.cells()).collect()
    }

    fn cells(&self, has_recovery: bool) -> Vec<String> {
        let first = [
            self.level.clone(),
            self.profile.clone(),
            format!("{:.1}", self.loss_percent),
            format!("{:.0}", self.round_trip_ms),
            format!("{:.1}", self.kbps_payload),
            format!("{:.1}", self.kbps_total),
            format!("{:.0}", self.playout_delay_ms),
            format!("{:.2} %", 100.0 * self.stalled_ratio),
            format!("{:.0}", self.longest_stall_ms),
            self.wrong_lanes.to_string(),
        ];
        let errors = self
            .errors
            .iter()
            .flat_map(|field| [field.error.p50, field.error.p99, field.error.max]);
        let recovery = self.recovery_ms.map_or("–".to_owned(), |ms| format!("{ms:.0}"));
        first
            .into_iter()
            .chain(has_recovery.then_some(recovery))
            .chain(errors.map(|error| format!("{error:.4}")))
            .collect()
    }
}
