//! The part of `anim info` for block clips: segments, channels, and the joints that take the most
//! bytes.

use std::cmp::Reverse;
use std::io::{self, Write};

use command_kit::counted;
use command_kit::table::{percent, table};
use kinepack_anim::block::{Clip, Interpolation, Kind};
use kinepack_anim::{Channel, Skeleton};
use serde::Serialize;

use super::LISTED;
use crate::anim::joints::joint_name;

#[derive(Serialize)]
pub(super) struct BlockReport {
    /// The maximum number of samples that a segment has.
    block_samples: usize,
    segments: usize,
    /// Whether the clip loops, so that its last sample equals the first.
    loops: bool,
    /// Whether each number of references and axes has 16 bits instead of 8 bits.
    is_fine: bool,
    /// Whether the clip follows cubics between samples instead of straight lines.
    is_cubic: bool,
    /// Whether some segments interpolate by blending the poses of two samples.
    blends: bool,
    /// The name of the file of the clip's rig. The value is `None` without a rig.
    #[serde(skip_serializing_if = "Option::is_none")]
    rig: Option<String>,
    /// The number of components that are not always 0.
    live_components: usize,
    /// The mean number of bits of a live component in a segment, for its widths and coefficients.
    bits_per_component: f64,
    /// The mean number of bits of a coefficient, without widths.
    bits_per_coefficient: f64,
    channels: Vec<BlockChannel>,
    /// The names of the curves.
    curves: Vec<String>,
    markers: Vec<MarkerReport>,
    /// The joints that take the most bytes.
    largest: Vec<JointReport>,
}

#[derive(Serialize)]
struct BlockChannel {
    channel: &'static str,
    bytes: usize,
    default: usize,
    constant: usize,
    /// The number of tracks whose constant the rig stores.
    shared: usize,
    animated: usize,
}

#[derive(Serialize)]
struct MarkerReport {
    name: String,
    time_s: f32,
}

#[derive(Serialize)]
struct JointReport {
    joint: String,
    bytes: usize,
    /// The bytes of rotations, translations and scales.
    bytes_by_channel: [usize; 3],
}

impl BlockReport {
    /// Returns the report of a clip. `rig` is the name of the file of its rig.
    pub(super) fn new(skeleton: &Skeleton, clip: &Clip, rig: Option<String>) -> Self {
        let mut bits = vec![[0; 3]; clip.joints()];
        for (track, own) in clip.bits_by_track() {
            bits[usize::from(track.joint)][track.channel as usize] += own;
        }
        for (track, _) in
            clip.constants().into_iter().filter(|(track, _)| clip.kind(*track) == Kind::Constant)
        {
            bits[usize::from(track.joint)][track.channel as usize] +=
                8 * constant_bytes(track.channel);
        }
        let mut largest: Vec<_> =
            bits.iter().enumerate().filter(|(_, bits)| bits.iter().any(|bits| *bits > 0)).collect();
        largest.sort_by_key(|(_, bits)| Reverse(bits.iter().sum::<usize>()));
        largest.truncate(LISTED);
        let largest = largest.into_iter().map(|(joint, bits)| JointReport {
            joint: joint_name(skeleton, joint),
            bytes: bits.iter().sum::<usize>().div_ceil(8),
            bytes_by_channel: bits.map(|bits| bits.div_ceil(8)),
        });
        let channel = |channel: Channel| BlockChannel {
            channel: channel.name(),
            bytes: bits.iter().map(|bits| bits[channel as usize]).sum::<usize>().div_ceil(8),
            default: clip.count_of(channel, Kind::Default),
            constant: clip.count_of(channel, Kind::Constant),
            shared: clip.count_of(channel, Kind::Shared),
            animated: clip.count_of(channel, Kind::Animated),
        };
        let header = clip.header();
        let live = clip.live_components();
        let parts = clip.bytes_by_part();
        let bits_of = |name: &str| {
            8 * parts
                .iter()
                .filter(|(part, _)| *part == name)
                .map(|(_, bytes)| bytes)
                .sum::<usize>()
        };
        let (widths, coefficients) = (bits_of("widths"), bits_of("coefficients"));
        let share = |bits: usize, of: usize| bits as f64 / of.max(1) as f64;
        Self {
            block_samples: header.block.samples(),
            segments: clip.segments(),
            loops: header.loops,
            is_fine: header.is_fine,
            is_cubic: header.interpolation == Interpolation::Cubic,
            blends: header.blends,
            rig,
            live_components: live,
            bits_per_component: share(widths + coefficients, live * clip.segments()),
            bits_per_coefficient: share(coefficients, live * header.coded_samples()),
            channels: Channel::ALL.map(channel).into(),
            curves: clip.curve_names().map(str::to_owned).collect(),
            markers: clip
                .markers()
                .map(|marker| MarkerReport { name: marker.name.to_owned(), time_s: marker.time_s })
                .collect(),
            largest: largest.collect(),
        }
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "\n{} of up to {} samples{}{}{}",
            counted(self.segments, "segment"),
            self.block_samples,
            if self.loops { "; loops" } else { "" },
            if self.is_cubic { "; cubic between samples" } else { "" },
            if self.blends { "; some segments blend" } else { "" },
        )?;
        writeln!(
            out,
            "{}: {:.1} bits each in a segment, {:.2} a coefficient",
            counted(self.live_components, "live component"),
            self.bits_per_component,
            self.bits_per_coefficient,
        )?;
        match &self.rig {
            Some(rig) => writeln!(out, "references from the rig {rig}")?,
            None if self.is_fine => writeln!(out, "references with 16 bits a number")?,
            None => writeln!(out, "references with 8 bits a number")?,
        }
        let channels = self.channels.iter().map(|channel| {
            let counts = [
                channel.bytes,
                channel.default,
                channel.constant,
                channel.shared,
                channel.animated,
            ]
            .map(|count| count.to_string());
            [&[channel.channel.to_owned()], &counts[..]].concat()
        });
        let header = ["channel", "bytes", "default", "constant", "from rig", "animated"];
        writeln!(out, "\n{}", table(header, 1, channels).trim_fmt())?;
        let (curves, markers) = (self.curves.len(), self.markers.len());
        if curves + markers > 0 {
            writeln!(out, "\n{}, {}", counted(curves, "curve"), counted(markers, "marker"))?;
        }
        let markers = self.markers.iter().take(LISTED);
        let markers = markers.map(|own| [own.name.clone(), format!("{:.3}", own.time_s)]);
        if !self.markers.is_empty() {
            writeln!(out, "\n{}", table(["marker", "s"], 1, markers).trim_fmt())?;
        }
        if self.largest.is_empty() {
            return Ok(());
        }
        let all = self.channels.iter().map(|channel| channel.bytes).sum();
        let largest = self.largest.iter().map(|joint| {
            let [rotation, translation, scale] =
                joint.bytes_by_channel.map(|bytes| bytes.to_string());
            [
                joint.joint.clone(),
                joint.bytes.to_string(),
                percent(joint.bytes, all),
                rotation,
                translation,
                scale,
            ]
        });
        let header = ["most bytes", "all", "of tracks", "rotation", "translation", "scale"];
        writeln!(out, "\n{}", table(header, 1, largest).trim_fmt())
    }
}

/// Returns the size of a constant in bytes.
fn constant_bytes(channel: Channel) -> usize {
    if channel == Channel::Rotation { 8 } else { 12 }
}
