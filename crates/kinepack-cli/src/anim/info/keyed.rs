//! The part of `anim info` for keyed clips: channels, and the tracks with the most keys.

use std::cmp::Reverse;
use std::io::{self, Write};

use command_kit::table::table;
use kinepack_anim::keyed::{KeyedClip, Kind};
use kinepack_anim::{Channel, Skeleton, TrackId};
use serde::Serialize;

use super::LISTED;
use crate::anim::joints::joint_name;

#[derive(Serialize)]
pub(super) struct KeyedReport {
    parametrization: &'static str,
    channels: Vec<KeyedChannel>,
    /// The tracks with the most keys.
    tracks: Vec<TrackReport>,
}

#[derive(Serialize)]
struct KeyedChannel {
    channel: &'static str,
    bytes: usize,
    default: usize,
    constant: usize,
    keyed: usize,
    rows: usize,
    keys_per_track: f64,
}

#[derive(Serialize)]
struct TrackReport {
    joint: String,
    channel: &'static str,
    keys: usize,
    keys_per_s: f64,
}

impl KeyedReport {
    pub(super) fn new(skeleton: &Skeleton, clip: &KeyedClip) -> Self {
        let keys = clip.keys_by_joint();
        let bytes = clip.bytes_by_channel();
        let mut tracks: Vec<TrackReport> = clip
            .keyed_tracks()
            .iter()
            .map(|track| {
                let keys = keys[usize::from(track.joint)][track.channel as usize];
                let keys_per_s = f64::from(keys as u32) / f64::from(clip.duration_s());
                TrackReport {
                    joint: joint_name(skeleton, usize::from(track.joint)),
                    channel: track.channel.name(),
                    keys,
                    keys_per_s,
                }
            })
            .collect();
        tracks.sort_by_key(|track| Reverse(track.keys));
        tracks.truncate(LISTED);
        Self {
            parametrization: clip.parametrization().name(),
            channels: Channel::ALL
                .map(|channel| KeyedChannel::new(clip, channel, bytes[channel as usize], &keys))
                .into(),
            tracks,
        }
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let channels = self.channels.iter().map(|channel| {
            [
                channel.channel.to_owned(),
                channel.bytes.to_string(),
                channel.default.to_string(),
                channel.constant.to_string(),
                channel.rows.to_string(),
                channel.keyed.to_string(),
                format!("{:.1}", channel.keys_per_track),
            ]
        });
        let header = ["channel", "bytes", "default", "constant", "rows", "keyed", "keys a track"];
        writeln!(out, "\n{}", table(header, 1, channels).trim_fmt())?;
        if self.tracks.is_empty() {
            return Ok(());
        }
        let tracks = self.tracks.iter().map(|track| {
            [
                track.joint.clone(),
                track.channel.to_owned(),
                track.keys.to_string(),
                format!("{:.1}", track.keys_per_s),
            ]
        });
        writeln!(out, "\n{}", table(["most keys", "", "keys", "a second"], 2, tracks).trim_fmt())
    }
}

impl KeyedChannel {
    fn new(clip: &KeyedClip, channel: Channel, bytes: usize, keys: &[[usize; 3]]) -> Self {
        let of_kind = |kind: Kind| {
            (0..clip.joints())
                .filter(move |joint| clip.kind(TrackId { joint: *joint as u16, channel }) == kind)
        };
        let keys: usize = keys.iter().map(|keys| keys[channel as usize]).sum();
        let keyed = of_kind(Kind::Keys).count();
        Self {
            channel: channel.name(),
            bytes,
            default: of_kind(Kind::Default).count(),
            constant: of_kind(Kind::Constant).count(),
            keyed,
            rows: of_kind(Kind::Rows).count(),
            keys_per_track: keys as f64 / keyed.max(1) as f64,
        }
    }
}
