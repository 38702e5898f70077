//! Describes clips for the page as JSON: the list, and a single clip.

use kinepack_anim::block::{Clip, Kind};
use kinepack_anim::keyed::KeyedClip;
use kinepack_anim::measure::Errors;
use kinepack_anim::{AnyClip, Channel, TrackId};
use serde::Serialize;

use super::Shown;

/// A line of the list of clips.
#[derive(Debug, Serialize)]
pub(super) struct Line<'a> {
    name: &'a str,
    scheme: &'a str,
    joint_count: usize,
    samples: usize,
    rate_hz: f32,
    duration_s: f32,
    raw_bytes: usize,
    bytes: usize,
    ratio: f64,
    max_cm: f64,
    precision_cm: f64,
    /// Whether the page has no raw clip to compare with.
    compiled: bool,
}

/// The description of a clip, without its motion.
#[derive(Debug, Serialize)]
pub(super) struct Detail<'a> {
    #[serde(flatten)]
    line: Line<'a>,
    shell_cm: f64,
    /// The parts of the clip. Their sizes sum to the clip's size.
    parts: Vec<Part>,
    keys: usize,
    /// The parametrization of the splines of a keyed clip.
    parametrization: Option<&'static str>,
    blocks: Option<Blocks>,
    errors: ErrorNumbers,
    /// The errors half-way between samples.
    between: ErrorNumbers,
    foot_slide_cm: f64,
    slide_joint: Option<usize>,
    joints: Vec<JointDetail<'a>>,
}

#[derive(Debug, Serialize)]
struct Part {
    name: &'static str,
    bytes: usize,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct ErrorNumbers {
    max_cm: f64,
    p99_cm: f64,
    mean_cm: f64,
}

#[derive(Debug, Serialize)]
struct JointDetail<'a> {
    name: &'a str,
    parent: Option<usize>,
    errors: ErrorNumbers,
    /// The tracks of the rotation, translation and scale.
    tracks: [Track; 3],
}

#[derive(Clone, Copy, Debug, Serialize)]
struct Track {
    channel: &'static str,
    kind: &'static str,
    keys: usize,
    /// The size of a block clip's track in bytes. The value is `None` for other schemes.
    bytes: Option<usize>,
}

/// The contents of a block clip.
#[derive(Clone, Copy, Debug, Serialize)]
struct Blocks {
    /// The maximum number of samples in a segment.
    samples: usize,
    segments: usize,
    components: usize,
}

pub(super) fn line(shown: &Shown) -> Line<'_> {
    let [raw_bytes, bytes] = [shown.raw.raw_bytes(), shown.clip.as_bytes().len()];
    Line {
        name: shown.raw.name(),
        scheme: &shown.scheme,
        joint_count: shown.raw.joints(),
        samples: shown.raw.samples(),
        rate_hz: shown.raw.rate_hz(),
        duration_s: shown.raw.duration_s(),
        raw_bytes,
        bytes,
        ratio: raw_bytes as f64 / bytes as f64,
        max_cm: shown.report.all.max_cm,
        precision_cm: shown.precision_cm,
        compiled: shown.is_compiled,
    }
}

pub(super) fn detail(shown: &Shown) -> Detail<'_> {
    let Shown { raw, clip, report, .. } = shown;
    let Tracks { keys, parametrization, blocks, of_joints } = Tracks::of(clip);
    let joints = raw.skeleton().joints().iter().enumerate().map(|(index, joint)| JointDetail {
        name: &joint.name,
        parent: joint.parent.map(usize::from),
        errors: report.joints[index].into(),
        tracks: of_joints[index],
    });
    Detail {
        line: line(shown),
        shell_cm: shown.error.shell_cm,
        parts: clip.bytes_by_part().into_iter().map(|(name, bytes)| Part { name, bytes }).collect(),
        keys,
        parametrization,
        blocks,
        errors: report.all.into(),
        between: report.between.into(),
        foot_slide_cm: report.foot_slide_cm,
        slide_joint: report.slide_joint,
        joints: joints.collect(),
    }
}

/// The tracks of a clip.
struct Tracks {
    keys: usize,
    parametrization: Option<&'static str>,
    blocks: Option<Blocks>,
    of_joints: Vec<[Track; 3]>,
}

impl Tracks {
    fn of(clip: &AnyClip) -> Self {
        match clip {
            AnyClip::Block(clip) => Self::of_blocks(clip),
            AnyClip::Keyed(clip) => Self::of_keyed(clip),
        }
    }

    fn of_blocks(clip: &Clip) -> Self {
        let track = |joint: usize, channel: Channel| Track {
            channel: channel.name(),
            kind: match clip.kind(TrackId { joint: joint as u16, channel }) {
                Kind::Default => "default",
                Kind::Constant | Kind::Shared => "constant",
                Kind::Animated => "animated",
            },
            keys: 0,
            bytes: None,
        };
        let mut of_joints: Vec<_> = (0..clip.joints())
            .map(|joint| Channel::ALL.map(|channel| track(joint, channel)))
            .collect();
        for (id, bits) in clip.bits_by_track() {
            of_joints[usize::from(id.joint)][id.channel as usize].bytes = Some(bits.div_ceil(8));
        }
        let samples = clip.header().block.samples();
        let blocks =
            Blocks { samples, segments: clip.segments(), components: clip.live_components() };
        Self { keys: 0, parametrization: None, blocks: Some(blocks), of_joints }
    }

    fn of_keyed(clip: &KeyedClip) -> Self {
        let track = |joint: usize, keys: [usize; 3], channel: Channel| Track {
            channel: channel.name(),
            kind: clip.kind(TrackId { joint: joint as u16, channel }).name(),
            keys: keys[channel as usize],
            bytes: None,
        };
        let of_joint = |(joint, keys)| Channel::ALL.map(|channel| track(joint, keys, channel));
        Self {
            keys: clip.key_count(),
            parametrization: Some(clip.parametrization().name()),
            blocks: None,
            of_joints: clip.keys_by_joint().into_iter().enumerate().map(of_joint).collect(),
        }
    }
}

impl From<Errors> for ErrorNumbers {
    fn from(Errors { max_cm, p99_cm, mean_cm }: Errors) -> Self {
        Self { max_cm, p99_cm, mean_cm }
    }
}
