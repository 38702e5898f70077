//! From values of tracks to the contents of a clip: kinds, ranges, constants, rows.

use crate::clip::{Contents, Kind};
use crate::measure::Frame;
use crate::quantize::{VectorRange, rotation_32, rotation_48};
use crate::spline::Parametrization;
use crate::{Channel, RawClip, RotationBits, TrackId};

use super::curve::Value;
use super::scene::{raw_kinds, value_of};

/// Bytes of the floats of those tracks that change at all: four a rotation, three a translation or scale, a sample.
pub fn animated_raw_bytes(raw: &RawClip) -> usize {
    let kinds = raw_kinds(raw);
    let floats = kinds
        .iter()
        .flat_map(|kinds| Channel::ALL.into_iter().filter(|channel| kinds[*channel as usize].is_animated()));
    floats.map(Channel::floats).sum::<usize>() * size_of::<f32>() * raw.samples()
}

/// Every sample of every track that changes.
pub(super) fn quantized(raw: &RawClip, bits: RotationBits) -> Contents {
    let mut kinds = raw_kinds(raw);
    for kind in kinds.iter_mut().flatten().filter(|kind| kind.is_animated()) {
        *kind = Kind::Rows;
    }
    contents(raw, kinds, ranges(raw), bits, &|track, sample| {
        value_of(&Frame::from(&raw.pose(sample)[usize::from(track.joint)]), track.channel)
    })
}

/// A clip of these kinds, without keys; `value` says what a track is at a sample.
pub(super) fn contents(
    raw: &RawClip,
    kinds: Vec<[Kind; 3]>,
    ranges: [VectorRange; 2],
    row_rotations: RotationBits,
    value: &dyn Fn(TrackId, usize) -> Value,
) -> Contents {
    let tracks = |wanted: Kind| {
        let all = kinds
            .iter()
            .enumerate()
            .flat_map(|(joint, kinds)| Channel::ALL.map(|channel| (joint, channel, kinds[channel as usize])));
        all.filter(move |(_, _, kind)| *kind == wanted)
            .map(|(joint, channel, _)| TrackId { joint: joint as u16, channel })
    };
    let constants = tracks(Kind::Constant).map(|track| (track, value(track, 0).map(|c| c as f32))).collect();
    let row: Vec<TrackId> = tracks(Kind::Rows).collect();
    let mut rows = Vec::new();
    for sample in 0..raw.samples() {
        for &track in &row {
            let [x, y, z, w] = value(track, sample).map(|c| c as f32);
            match (track.channel, row_rotations) {
                (Channel::Rotation, RotationBits::Bits32) => rows.extend(rotation_32([x, y, z, w]).to_le_bytes()),
                (Channel::Rotation, RotationBits::Bits48) => put(&mut rows, rotation_48([x, y, z, w])),
                (channel, _) => put(&mut rows, ranges[usize::from(channel == Channel::Scale)].quantize([x, y, z])),
            }
        }
    }
    Contents {
        parametrization: Parametrization::default(),
        row_rotations,
        samples: raw.samples() as u32,
        rate_hz: raw.rate_hz(),
        skeleton: raw.skeleton().hash(),
        kinds,
        ranges,
        constants,
        rows,
        tracks: Vec::new(),
    }
}

fn put(rows: &mut Vec<u8>, words: [u16; 3]) {
    rows.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}

/// The ranges of the translations and of the scales of those tracks that change.
pub(super) fn ranges(raw: &RawClip) -> [VectorRange; 2] {
    let kinds = raw_kinds(raw);
    [Channel::Translation, Channel::Scale].map(|channel| {
        let animated = |joint: usize| kinds[joint][channel as usize].is_animated();
        let all = raw.poses().flat_map(|pose| pose.iter().enumerate().filter(|(joint, _)| animated(*joint)));
        VectorRange::around(all.map(|(_, transform)| match channel {
            Channel::Scale => &transform.scale,
            _ => &transform.translation,
        }))
    })
}
