//! Measures the sizes of a stream's frames.

use kinepack::{Codec, Encoder, Level, Profile, Schema, Snapshot, View};
use kinepack_capture::analysis::Past;

use super::TuneError;
use super::report::{Bytes, Parts};

/// Returns the mean sizes of the frames before frame `training`, and of all frames from it on.
pub(super) fn parts(
    schema: &Schema,
    profile: &Profile,
    frames: &[Snapshot],
    training: usize,
    lag: u32,
) -> Result<Parts, TuneError> {
    let of = |level: Level| {
        let codec = Codec::new(schema.clone(), level, profile.clone());
        let codec = codec.map_err(|error| TuneError::Training(error.into()))?;
        mean_bytes(&codec, frames, lag, |index| usize::from(index >= training))
    };
    let ([packed, packed_held], [adaptive, adaptive_held]) =
        (of(Level::PACKED)?, of(Level::ADAPTIVE)?);
    Ok(Parts {
        training: Bytes { packed, adaptive },
        held_out: Bytes { packed: packed_held, adaptive: adaptive_held },
    })
}

/// Returns the mean size of a frame in each part, in bytes. Each frame is coded against the newest
/// frame that is at least `lag` ticks older, as the receiver has decoded that frame. `part_of`
/// returns a frame's part.
pub(super) fn mean_bytes<const PARTS: usize>(
    codec: &Codec,
    frames: &[Snapshot],
    lag: u32,
    part_of: impl Fn(usize) -> usize,
) -> Result<[f64; PARTS], TuneError> {
    let mut encoder = Encoder::new(codec);
    let mut past = Past::new(3 * lag as usize);
    let mut packet = Vec::new();
    let mut sums = [(0, 0); PARTS];
    for (index, frame) in frames.iter().enumerate() {
        let view = if let Some(known) = past.baselines(frame.tick, lag) {
            packet.clear();
            let encoded = encoder.encode(known, frame, &mut packet);
            let view = encoded.map_err(|error| TuneError::Training(error.into()))?;
            let (bytes, count) = &mut sums[part_of(index)];
            (*bytes, *count) = (*bytes + packet.len(), *count + 1);
            view
        } else {
            View::from(frame.clone())
        };
        if let Some(forgotten) = past.push(view) {
            encoder.recycle(forgotten);
        }
    }
    Ok(sums.map(|(bytes, count): (usize, usize)| bytes as f64 / count.max(1) as f64))
}
