//! The messages between the program and its page. A message is a JSON object whose only key names
//! its kind. Worlds and datagrams are binary (see [`world`](super::world) and
//! [`datagrams`](super::datagrams)).
//!
//! The page sends [`Control`], and the program refuses any deviation from it. The program sends
//! `hello`, `status`, `look`, `error` and `end`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::codes::Codes;
use crate::keys::Key;
use crate::session_report::SessionReport;

/// A message from the page.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Control {
    /// Sets all settings at once.
    Settings(Settings),
    Pause(bool),
    /// Runs this number of ticks while paused.
    Step(u32),
    /// Restarts the world and the connection.
    Restart(bool),
    /// The keys that are held now.
    Keys(Vec<Key>),
    /// The body that the user has selected.
    Look(Option<u32>),
    /// The number of the newest world that the page has taken.
    Taken(u32),
    TakeOver(bool),
}

/// The settings that can change while the world runs. If a number of the link is missing, the
/// number of the named link applies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    pub(super) link: String,
    pub(super) round_trip_ms: Option<f64>,
    pub(super) jitter_ms: Option<f64>,
    pub(super) loss_percent: Option<f32>,
    pub(super) burst: Option<f32>,
    pub(super) bandwidth_kbps: Option<u32>,
    pub(super) level: String,
    pub(super) send_hz: u32,
    /// The playout delay in milliseconds. `None` means automatic.
    pub(super) playout_ms: Option<u32>,
}

/// The first message to a page.
#[derive(Debug, Serialize)]
pub(super) struct Hello {
    pub(super) program: String,
    pub(super) world: String,
    pub(super) bodies: usize,
    pub(super) tick_hz: u32,
    pub(super) half_width_m: f32,
    pub(super) player_edge_m: f32,
    pub(super) cube_edge_m: f32,
    pub(super) goal_kbps: f64,
    pub(super) uncompressed_kbps: f64,
    pub(super) lanes: Vec<String>,
    pub(super) levels: Vec<LevelName>,
    pub(super) links: Vec<LinkName>,
    pub(super) send_hz: [u32; 6],
    /// The settings that the program was started with.
    pub(super) defaults: Settings,
    /// The schema file of the world in hexadecimal digits.
    pub(super) schema: String,
    /// The codec of the events. Its profile is the untrained one.
    pub(super) events: Codes,
}

#[derive(Debug, Serialize)]
pub(super) struct LevelName {
    pub(super) name: &'static str,
    pub(super) row: u8,
    pub(super) summary: &'static str,
}

#[derive(Debug, Serialize)]
pub(super) struct LinkName {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) round_trip_ms: f64,
    pub(super) jitter_ms: f64,
    pub(super) loss_percent: f32,
    pub(super) burst: f32,
    pub(super) bandwidth_kbps: Option<u32>,
}

/// The part of the status that is the same for all pages.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Status {
    pub(super) settings: Settings,
    pub(super) paused: bool,
    pub(super) tick: u32,
    /// The source of the keys: `script`, `person` or `capture`.
    pub(super) plays: &'static str,
    /// The world's speed as a share of real time.
    pub(super) speed_ratio: f64,
    pub(super) report: SessionReport,
    /// The bodies that pages display in detail.
    #[serde(skip)]
    pub(super) looks: BTreeMap<u32, Look>,
}

/// The status for one page, with the samples and packets that it has not received yet.
#[derive(Debug, Serialize)]
pub(super) struct PageStatus<'a> {
    #[serde(flatten)]
    pub(super) status: &'a Status,
    pub(super) pages: usize,
    pub(super) has_control: bool,
    /// The number of messages between the program and all pages that were not passed because a
    /// queue was full.
    pub(super) skipped: u64,
    pub(super) samples: Vec<Sample>,
    pub(super) packets: Vec<Packet>,
}

/// A point of the charts: the sender's means over the ticks since the previous point. The page adds
/// the values that only its receiver knows.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Sample {
    pub(super) tick: u32,
    pub(super) headers_kbps: f64,
    pub(super) sets_kbps: f64,
    pub(super) position_kbps: f64,
    pub(super) orientation_kbps: f64,
    pub(super) others_kbps: f64,
    /// The bits of a packet of keys to the server, or 0 if none was sent.
    pub(super) input_bits: f64,
    /// The bandwidth of all keys, with headers.
    pub(super) input_kbps: f64,
    /// The bandwidth that the hub may use, with headers. The value is `None` without a budget, and
    /// before the first estimate of a budget that follows the link.
    pub(super) budget_kbps: Option<f64>,
    /// The longest time that a datagram waited in the simulated link's queue.
    pub(super) queue_ms: f64,
}

/// A datagram: its tick, its bytes, and 1 if it was lost or 0 otherwise.
pub(super) type Packet = (u32, u32, u8);

/// A body in the most recently sent state.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Look {
    pub(super) id: u32,
    /// The body's lanes, even if the last packet omitted the body.
    pub(super) sent: Vec<u32>,
}

/// A message from the program.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Message<'a> {
    Hello(&'a Hello),
    Status(PageStatus<'a>),
    Look(&'a Look),
    Error(&'a str),
    End { report: &'a SessionReport },
}

impl Message<'_> {
    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("numbers and texts")
    }
}

#[cfg(test)]
mod tests {
    use cubes::Input;

    use super::*;
    use crate::keys::input;

    #[test]
    fn only_exact_controls_are_accepted() {
        let parse = |text: &str| serde_json::from_str::<Control>(text);
        assert!(matches!(parse(r#"{"pause": true}"#), Ok(Control::Pause(true))));
        assert!(matches!(parse(r#"{"look": null}"#), Ok(Control::Look(None))));
        assert!(matches!(parse(r#"{"look": 7}"#), Ok(Control::Look(Some(7)))));
        let keys = parse(r#"{"keys": ["left", "pull"]}"#);
        let Ok(Control::Keys(keys)) = keys else { panic!("{keys:?}") };
        assert_eq!(
            input(|key| keys.contains(&key)),
            Input { left: true, pull: true, ..Input::default() }
        );
        let settings = parse(
            r#"{"settings": {"link": "wifi", "level": "packed", "send_hz": 60, "loss_percent": null}}"#,
        );
        assert!(matches!(settings, Ok(Control::Settings(Settings { loss_percent: None, .. }))));
        for wrong in [
            "",
            "{}",
            "[]",
            "7",
            r#""pause""#,
            r#"{"pause": 1}"#,
            r#"{"pause": true, "step": 1}"#,
            r#"{"step": -1}"#,
            r#"{"step": 1e9}"#,
            r#"{"taken": 4294967296}"#,
            r#"{"keys": ["fire"]}"#,
            r#"{"keys": "left"}"#,
            r#"{"shutdown": true}"#,
            r#"{"settings": {"link": "wifi", "level": "packed"}}"#,
            r#"{"settings": {"link": "wifi", "level": "packed", "send_hz": 60, "cubes": 1}}"#,
            r#"{"settings": {"link": "wifi", "level": "packed", "send_hz": 60, "loss_percent": "20"}}"#,
            r#"{"pause": true} {"pause": true}"#,
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
