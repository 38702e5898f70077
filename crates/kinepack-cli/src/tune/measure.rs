//! Reading a stream's frames, and what they take.

use command_kit::progress;
use kinepack::{Codec, Encoder, Level, Profile, Schema, Snapshot, Tick, View};
use kinepack_capture::analysis::Past;

use super::TuneError;
use super::report::{Bytes, Parts};
use super::steps::Steps;
use crate::captured::{Captured, CapturedError};

/// Frames that are kept at most: four minutes at 60 Hz.
const MAX_FRAMES: usize = 14_400;
/// What they take at most.
const MAX_BYTES: usize = 1 << 30;

/// The frames of a stream, quantized in these steps.
pub(super) fn read(
    captured: &mut Captured,
    wanted: usize,
    steps: &mut Steps,
) -> Result<Vec<Snapshot>, TuneError> {
    let stream = captured.streams()[wanted].schema.clone();
    let path = captured.path().to_owned();
    let (mut raw, mut lanes) = (vec![0; stream.lanes().len()], vec![0; stream.lanes().len()]);
    let mut to = vec![0; steps.schema.lanes().len()];
    let mut frames = Vec::new();
    let mut bytes = 0;
    let bar = progress(captured.streams()[wanted].frames);
    while let Some(frame) = captured.next_frame()? {
        if frame.stream != wanted {
            continue;
        }
        let mut snapshot = Snapshot::new(&steps.schema, Tick(frames.len() as u32));
        for (index, id) in frame.ids.iter().enumerate() {
            let read = frame.columns.entity(index, &stream, &mut raw, &mut lanes);
            let read = read.and_then(|()| steps.quantize(&stream, &raw, &lanes, &mut to));
            let failed = |reason: String| CapturedError::BadFrame {
                path: path.clone(),
                tick: frame.tick.0,
                reason,
            };
            read.and_then(|()| snapshot.push_lanes(*id, &to))
                .map_err(|error| failed(error.to_string()))?;
        }
        bytes += size_of::<u32>() * frame.ids.len() * (to.len() + 1);
        frames.push(snapshot);
        bar.inc(1);
        if frames.len() == MAX_FRAMES || bytes > MAX_BYTES {
            eprintln!("{}: the first {} frames are used", path.display(), frames.len());
            break;
        }
    }
    bar.finish_and_clear();
    captured.warn_of_damage();
    Ok(frames)
}

/// What the frames before `training` take, and the others.
pub(super) fn parts(
    schema: &Schema,
    profile: &Profile,
    frames: &[Snapshot],
    training: usize,
    lag: usize,
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

/// Mean bytes of a frame of each part, each against the one `lag` before as a receiver has it;
/// `part_of` tells a frame's part.
pub(super) fn mean_bytes<const PARTS: usize>(
    codec: &Codec,
    frames: &[Snapshot],
    lag: usize,
    part_of: impl Fn(usize) -> usize,
) -> Result<[f64; PARTS], TuneError> {
    let mut encoder = Encoder::new(codec);
    let mut past = Past::new(3 * lag);
    let mut packet = Vec::new();
    let mut sums = [(0, 0); PARTS];
    for (index, frame) in frames.iter().enumerate() {
        let view = if let Some(known) = past.baselines(lag) {
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
