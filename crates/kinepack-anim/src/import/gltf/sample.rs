//! Samples an animation at a constant rate, from its first key to its last.

use std::sync::Arc;

use glam::{DQuat, DVec3};

use super::ImportError;
use super::buffers::Buffers;
use super::channels::{Channel, Channels};
use super::function::{Function, key_times};
use super::weights::{self, TargetNames};
use crate::import::clips::{self, Room};
use crate::import::rig::Rig;
use crate::{RawClip, Transform};

/// The clip of an animation that moves at least one joint or changes a weight, and the time of its
/// first sample in the file. Times after the last key count as the last key.
pub(super) fn clip(
    buffers: &mut Buffers<'_>,
    rig: &Rig,
    name: String,
    channels: &Channels,
    target_names: &mut TargetNames,
    rate_hz: f32,
    room: Room,
) -> Result<(RawClip, f64), ImportError> {
    let file = buffers.document.file;
    let (begin_s, end_s) = span(buffers, channels)?;
    let duration_s = end_s - begin_s;
    let samples = clips::samples(duration_s, rate_hz);
    let joints = rig.skeleton.len();
    room.check(file, &name, samples, joints, weights::count(&channels.weights))?;
    // One more, for the bind pose.
    buffers.budget.take(((samples + 1) * joints * size_of::<Transform>()) as u64)?;
    let mut transforms = rig.skeleton.bind_pose().repeat(samples);
    let time = |sample: usize| begin_s + (sample as f64 / f64::from(rate_hz)).min(duration_s);
    for (&joint, channels) in &channels.joints {
        let mut rotation = read::<4>(buffers, channels.rotation.as_ref())?;
        let mut translation = read::<3>(buffers, channels.translation.as_ref())?;
        let mut scale = read::<3>(buffers, channels.scale.as_ref())?;
        let mut local = rig.rest(joint);
        for sample in 0..samples {
            let time_s = time(sample);
            if let Some((channel, function)) = &mut rotation {
                let rotation = function.at(time_s).ok_or_else(|| {
                    let (animation, channel) = channel.place;
                    ImportError::ZeroRotation { file: file.to_owned(), animation, channel, time_s }
                })?;
                local.rotation = DQuat::from_array(rotation);
            }
            if let Some(value) = translation.as_mut().and_then(|(_, function)| function.at(time_s))
            {
                local.translation = DVec3::from_array(value);
            }
            if let Some(value) = scale.as_mut().and_then(|(_, function)| function.at(time_s)) {
                local.scale = DVec3::from_array(value);
            }
            transforms[sample * joints + joint] = rig.transform(joint, local);
        }
        buffers.budget.release();
    }
    let curves =
        weights::curves(buffers, rig, target_names, &channels.weights, (0..samples).map(time))?;
    let clip = RawClip::new(name.clone(), Arc::clone(&rig.skeleton), rate_hz, transforms)
        .and_then(|clip| clip.with_curves(curves?))
        .map_err(|error| ImportError::Clip { file: file.to_owned(), clip: name, error })?;
    Ok((clip, begin_s))
}

/// The times of the first and the last key over all channels.
fn span(buffers: &mut Buffers<'_>, channels: &Channels) -> Result<(f64, f64), ImportError> {
    let (mut begin_s, mut end_s) = (f64::INFINITY, f64::NEG_INFINITY);
    for channel in channels.iter() {
        let times = key_times(buffers, channel)?;
        begin_s = times.first().copied().unwrap_or(begin_s).min(begin_s);
        end_s = times.last().copied().unwrap_or(end_s).max(end_s);
        buffers.budget.release();
    }
    Ok((begin_s, end_s))
}

type Read<'a, const N: usize> = Option<(&'a Channel, Function<N>)>;

fn read<'a, const N: usize>(
    buffers: &mut Buffers<'_>,
    channel: Option<&'a Channel>,
) -> Result<Read<'a, N>, ImportError> {
    channel.map(|channel| Ok((channel, Function::read(buffers, channel)?))).transpose()
}
