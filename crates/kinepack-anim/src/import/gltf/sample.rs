//! Samples an animation at a constant rate, from its first key to its last.

use std::sync::Arc;

use glam::{DQuat, DVec3};

use super::ImportError;
use super::buffers::Buffers;
use super::channels::{Channel, Channels, JointChannels};
use super::function::{Function, key_times};
use super::skips::Skips;
use super::weights::{self, TargetNames};
use crate::import::clips::{self, Room};
use crate::import::joints::JointNodes;
use crate::import::nodes::Local;
use crate::{RawClip, Transform};

/// The inputs that the clips of a document share.
pub(super) struct Sampling<'b> {
    pub(super) joint_nodes: &'b JointNodes,
    pub(super) rate_hz: f32,
    pub(super) target_names: TargetNames,
}

/// Samples an animation that moves at least one joint or changes a weight. Returns the clip, and
/// the time of its first sample on the file's clock. Times after the last key count as the last
/// key. Returns `None` if all channels are bad.
pub(super) fn clip(
    buffers: &mut Buffers<'_>,
    sampling: &mut Sampling<'_>,
    name: String,
    mut channels: Channels,
    room: Room,
    skips: &mut Skips,
) -> Result<Option<(RawClip, f64)>, ImportError> {
    let file = buffers.document.file;
    let Sampling { joint_nodes, rate_hz, .. } = *sampling;
    let Some((begin_s, end_s)) = span(buffers, &mut channels, skips)? else { return Ok(None) };
    let duration_s = end_s - begin_s;
    let samples = clips::samples(duration_s, rate_hz);
    let joints = joint_nodes.skeleton.len();
    room.check(file, &name, samples, joints, weights::count(&channels.weights))?;
    // The additional pose in this product is the bind pose.
    buffers.budget.take(((samples + 1) * joints * size_of::<Transform>()) as u64)?;
    let mut transforms = joint_nodes.skeleton.bind_pose().repeat(samples);
    let time = |sample: usize| begin_s + (sample as f64 / f64::from(rate_hz)).min(duration_s);
    let mut has_channels = false;
    for (&joint, channels) in &channels.joints {
        let Some(mut functions) = Functions::read(buffers, channels, skips)? else {
            buffers.budget.release();
            continue;
        };
        let mut sample = 0;
        let mut local = joint_nodes.rest(joint);
        while sample < samples {
            if functions.set(time(sample), &mut local) {
                transforms[sample * joints + joint] = joint_nodes.transform(joint, local);
                sample += 1;
            } else if let Some((channel, _)) = functions.rotation.take() {
                let (animation, index) = channel.place;
                let (file, time_s) = (file.to_owned(), time(sample));
                let error = ImportError::ZeroRotation { file, animation, channel: index, time_s };
                skips.channel(&mut buffers.budget, buffers.document, channel.place, error)?;
                // The samples of this joint are computed again, without the rotation.
                functions.rewind();
                (sample, local) = (0, joint_nodes.rest(joint));
            }
        }
        has_channels |= !functions.is_empty();
        buffers.budget.release();
    }
    let times = (0..samples).map(time);
    let names = &mut sampling.target_names;
    let curves = weights::curves(buffers, joint_nodes, names, &channels.weights, times, skips)?;
    let is_empty = !has_channels && curves.as_ref().is_ok_and(Vec::is_empty);
    if is_empty {
        return Ok(None);
    }
    let clip = RawClip::new(name.clone(), Arc::clone(&joint_nodes.skeleton), rate_hz, transforms)
        .and_then(|clip| clip.with_curves(curves?))
        .map_err(|error| ImportError::Clip { file: file.to_owned(), clip: name, error })?;
    Ok(Some((clip, begin_s)))
}

/// Returns the times of the first and the last key over all channels. Skips channels with bad
/// times. Returns `None` if no channels remain.
fn span(
    buffers: &mut Buffers<'_>,
    channels: &mut Channels,
    skips: &mut Skips,
) -> Result<Option<(f64, f64)>, ImportError> {
    let (mut begin_s, mut end_s) = (f64::INFINITY, f64::NEG_INFINITY);
    channels.retain(|channel| {
        let times = key_times(buffers, channel);
        buffers.budget.release();
        let times = match times {
            Ok(times) => times,
            Err(error) => {
                skips.channel(&mut buffers.budget, buffers.document, channel.place, error)?;
                return Ok(false);
            }
        };
        begin_s = times.first().copied().unwrap_or(begin_s).min(begin_s);
        end_s = times.last().copied().unwrap_or(end_s).max(end_s);
        Ok(true)
    })?;
    Ok((!channels.is_empty()).then_some((begin_s, end_s)))
}

type Read<'a, const N: usize> = Option<(&'a Channel, Function<N>)>;

/// The channels of a joint as functions of time.
struct Functions<'a> {
    rotation: Read<'a, 4>,
    translation: Read<'a, 3>,
    scale: Read<'a, 3>,
}

impl<'a> Functions<'a> {
    /// Reads the keys of a joint's channels. Skips bad channels. Returns `None` if no channels
    /// remain.
    fn read(
        buffers: &mut Buffers<'_>,
        channels: &'a JointChannels,
        skips: &mut Skips,
    ) -> Result<Option<Self>, ImportError> {
        let own = Self {
            rotation: read(buffers, channels.rotation.as_ref(), skips)?,
            translation: read(buffers, channels.translation.as_ref(), skips)?,
            scale: read(buffers, channels.scale.as_ref(), skips)?,
        };
        Ok((!own.is_empty()).then_some(own))
    }

    fn is_empty(&self) -> bool {
        self.rotation.is_none() && self.translation.is_none() && self.scale.is_none()
    }

    /// Sets the animated parts of `local` to their values at `time_s`. Returns false if the
    /// rotation has length zero.
    fn set(&mut self, time_s: f64, local: &mut Local) -> bool {
        if let Some((_, function)) = &mut self.rotation {
            match function.at(time_s) {
                Some(rotation) => local.rotation = DQuat::from_array(rotation),
                None => return false,
            }
        }
        if let Some(value) = self.translation.as_mut().and_then(|(_, own)| own.at(time_s)) {
            local.translation = DVec3::from_array(value);
        }
        if let Some(value) = self.scale.as_mut().and_then(|(_, own)| own.at(time_s)) {
            local.scale = DVec3::from_array(value);
        }
        true
    }

    fn rewind(&mut self) {
        if let Some((_, function)) = &mut self.translation {
            function.rewind();
        }
        if let Some((_, function)) = &mut self.scale {
            function.rewind();
        }
    }
}

/// Reads the keys of a channel. Returns `None` if the channel is skipped.
fn read<'a, const N: usize>(
    buffers: &mut Buffers<'_>,
    channel: Option<&'a Channel>,
    skips: &mut Skips,
) -> Result<Read<'a, N>, ImportError> {
    let Some(channel) = channel else { return Ok(None) };
    match Function::read(buffers, channel) {
        Ok(function) => Ok(Some((channel, function))),
        Err(error) => {
            skips.channel(&mut buffers.budget, buffers.document, channel.place, error)?;
            Ok(None)
        }
    }
}
