//! Turns the values of tracks into the contents of a clip: kinds, ranges, constants and rows.

use crate::keyed::quantize::{VectorRange, rotation_32, rotation_48};
use crate::keyed::{Contents, JointKinds, Kind, Parametrization, RotationBits, tracks_of};
use crate::measure::Frame;
use crate::{Channel, RawClip, TrackId};

use super::curve::Value;
use super::scene::{raw_kinds, value_of};

/// Returns the size in bytes of all tracks that change, stored as floats. A rotation takes four
/// floats per sample, a translation or scale three.
pub fn animated_raw_bytes(raw: &RawClip) -> usize {
    let kinds = raw_kinds(raw);
    let floats = kinds.iter().flat_map(|kinds| {
        Channel::ALL.into_iter().filter(|channel| kinds[*channel as usize].is_animated())
    });
    floats.map(Channel::floats).sum::<usize>() * size_of::<f32>() * raw.samples()
}

/// Quantizes every sample of every track that changes.
pub(crate) fn quantized(raw: &RawClip, bits: RotationBits) -> Contents {
    let kinds = raw_kinds(raw);
    let ranges = ranges(raw, &kinds, &[], 0.0);
    let kinds = kinds.into_iter().map(|channels| {
        let channels = channels.map(|kind| if kind.is_animated() { Kind::Rows } else { kind });
        JointKinds {
            channels,
            bits: if channels[0] == Kind::Rows { bits } else { RotationBits::Bits48 },
        }
    });
    contents(raw, kinds.collect(), ranges, &|track, sample| {
        value_of(&Frame::from(&raw.pose(sample)[usize::from(track.joint)]), track.channel)
    })
}

/// Returns the contents of a clip with the kinds `kinds` and without keys. `value` returns a
/// track's value at a sample.
pub(super) fn contents(
    raw: &RawClip,
    kinds: Vec<JointKinds>,
    ranges: [VectorRange; 2],
    value: &dyn Fn(TrackId, usize) -> Value,
) -> Contents {
    let constants = tracks_of(&kinds, Kind::Constant)
        .map(|track| (track, value(track, 0).map(|c| c as f32)))
        .collect();
    let row: Vec<TrackId> = tracks_of(&kinds, Kind::Rows).collect();
    let mut rows = Vec::new();
    for sample in 0..raw.samples() {
        for &track in &row {
            let [x, y, z, w] = value(track, sample).map(|c| c as f32);
            match (track.channel, kinds[usize::from(track.joint)].bits) {
                (Channel::Rotation, RotationBits::Bits32) => {
                    rows.extend(rotation_32([x, y, z, w]).to_le_bytes());
                }
                (Channel::Rotation, RotationBits::Bits48) => {
                    put(&mut rows, rotation_48([x, y, z, w]));
                }
                (channel, _) => put(
                    &mut rows,
                    ranges[usize::from(channel == Channel::Scale)].quantize([x, y, z]),
                ),
            }
        }
    }
    Contents {
        parametrization: Parametrization::default(),
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

/// Returns the ranges of translations and of scales, over the tracks that change. The ranges leave
/// room for the translations of pinned joints.
pub(super) fn ranges(
    raw: &RawClip,
    kinds: &[[Kind; 3]],
    pins: &[usize],
    precision_cm: f64,
) -> [VectorRange; 2] {
    [Channel::Translation, Channel::Scale].map(|channel| {
        let is_pinned = |joint: usize| channel == Channel::Translation && pins.contains(&joint);
        let is_wanted =
            |joint: usize| kinds[joint][channel as usize].is_animated() || is_pinned(joint);
        let all = raw
            .poses()
            .flat_map(|pose| pose.iter().enumerate().filter(|(joint, _)| is_wanted(*joint)));
        let mut range = VectorRange::around(all.map(|(_, transform)| match channel {
            Channel::Scale => &transform.scale,
            _ => &transform.translation,
        }));
        if channel == Channel::Translation && !pins.is_empty() {
            // The errors of the ancestors are about as large as the precision.
            let room = 4.0 * precision_cm as f32;
            range = VectorRange {
                min: range.min.map(|min| min - room),
                max: range.max.map(|max| max + room),
            };
        }
        range
    })
}
