//! Decodes the tracks of a segment, either in `f64` or with the player's arithmetic.

use glam::{DVec3, Vec3};

use crate::block::{self, MAX_LENGTH, played};
use crate::measure::Frame;
use crate::{Channel, Transform};

use super::plan::PlannedTrack;
use super::rotations::rotation_from_parameters;
use super::segment::{Arithmetic, Coder, Components};
use super::transform::inverse;

/// The number of samples that are decoded together.
const LANES: usize = 8;

impl Coder<'_> {
    /// Sets the coefficients of the segment that was coded last, and decodes them.
    pub(super) fn take(&mut self, step: u8, coefficients: &[i32]) {
        let length = self.span.length;
        self.step = step;
        self.coefficients.copy_from_slice(coefficients);
        for joint in 0..self.target.joints() {
            let mut local = [self.plan.still[joint]; MAX_LENGTH];
            for track in self.plan.track_of[joint].into_iter().flatten() {
                let mut components: Components = [[0.0; MAX_LENGTH]; 3];
                for (component, samples) in (3 * track..).zip(&mut components) {
                    let own = &coefficients[component * length..][..length];
                    inverse(self.step_size(component), own, &mut samples[..length]);
                    self.round(component, own, &mut samples[..length]);
                    self.values[component] = *samples;
                }
                self.decode(track, &components, &mut local[..length]);
            }
            self.local[joint * MAX_LENGTH..][..length].copy_from_slice(&local[..length]);
            self.update_object(joint);
        }
    }

    /// Decodes the components of a track, and writes the values into a joint's transforms.
    pub(super) fn decode(&self, track: usize, components: &Components, local: &mut [Frame]) {
        if self.arithmetic == Arithmetic::Player {
            return self.play(track, components, local);
        }
        let planned = &self.plan.tracks[track];
        for (sample, local) in local.iter_mut().enumerate() {
            let value = DVec3::from_array([0, 1, 2].map(|axis| components[axis][sample]));
            planned.decode(self.middle(track, sample), value, local);
        }
    }

    /// Works like [`decode`](Self::decode), but with the player's arithmetic. The components must
    /// be rounded to `f32`.
    fn play(&self, track: usize, components: &Components, local: &mut [Frame]) {
        let planned = &self.plan.tracks[track];
        let parameters = [0, 1].map(|part| {
            let is_fine = planned.shares[part] || self.plan.choices.is_fine;
            planned.codes[part].map(|code| block::number_of(code, is_fine))
        });
        for (number, eight) in local.chunks_mut(LANES).enumerate() {
            let mut values = [[0.0; LANES]; 3];
            for (values, component) in values.iter_mut().zip(components) {
                for (value, number) in values.iter_mut().zip(&component[LANES * number..]) {
                    *value = *number as f32;
                }
            }
            let rotations = match planned.id.channel {
                Channel::Rotation => played::rotations(parameters, values),
                _ => [[0.0; 4]; LANES],
            };
            for (lane, local) in eight.iter_mut().enumerate() {
                let middle = self.middle(track, LANES * number + lane).as_vec3();
                let vector = (middle + Vec3::from(values.map(|lanes| lanes[lane]))).as_dvec3();
                match planned.id.channel {
                    Channel::Rotation => {
                        let rotation = rotations[lane];
                        local.rotation = Transform { rotation, ..Transform::IDENTITY }.rotation64();
                    }
                    Channel::Translation => local.translation = vector,
                    Channel::Scale => local.scale = vector,
                }
            }
        }
    }

    /// Computes a component's samples from its coefficients with the player's arithmetic, if the
    /// coder uses that arithmetic. Otherwise `samples` already contains them.
    pub(super) fn round(&self, component: usize, coefficients: &[i32], samples: &mut [f64]) {
        if self.arithmetic == Arithmetic::Player {
            let own_step = self.steps[component / 3][component % 3];
            played::component(coefficients, [self.step, own_step], samples);
        }
    }
}

impl PlannedTrack {
    /// Writes the value that decoded components represent into `local`.
    fn decode(&self, middle: DVec3, value: DVec3, local: &mut Frame) {
        match self.id.channel {
            Channel::Rotation => {
                local.rotation = self.reference * rotation_from_parameters(self.axes * value);
            }
            // Far from the origin, the rounding of the sum to `f32` matters.
            Channel::Translation if self.is_far => {
                local.translation = (middle + value).as_vec3().as_dvec3();
            }
            Channel::Translation => local.translation = middle + value,
            Channel::Scale => local.scale = middle + value,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::block::{Contents, MAX_LENGTH, SegmentContents};
    use crate::offline::{BlockOptions, BuildOptions, Effort};
    use crate::{AnyClip, Joint, RawClip, Sampler, Skeleton};

    use super::super::transform::Rounding;
    use super::super::{contents, spans, target};

    /// Returns a clip of three joints. All of their channels move, the root by more than a
    /// kilometre.
    fn raw() -> RawClip {
        let joint = |index: u16| Joint {
            name: String::new(),
            parent: index.checked_sub(1),
            bind: Transform { translation: [30.0, 0.0, 0.0], ..Transform::IDENTITY },
        };
        let skeleton = Arc::new(Skeleton::new((0..3).map(joint).collect()).unwrap());
        let transform = |index: usize| {
            let (time, joint) = ((index / 3) as f32, (index % 3) as f32);
            let wave = |speed: f32| (speed * time + joint + 1.0).sin();
            Transform {
                rotation: [wave(0.3), wave(0.4), wave(0.5), wave(0.7)],
                translation: [
                    if joint == 0.0 { 3000.0 * time } else { 30.0 },
                    wave(0.2),
                    5.0 * wave(0.1),
                ],
                scale: [1.0 + 0.3 * wave(0.6), 1.0, wave(0.2)],
            }
        };
        RawClip::new("", skeleton, 30.0, (0..3 * 50).map(transform).collect()).unwrap()
    }

    #[test]
    fn coders_know_what_players_play() {
        let raw = raw();
        for effort in [Effort::Fast, Effort::Default] {
            let target = target(&raw, &BuildOptions::default(), 1.0);
            let options = BlockOptions { effort, ..BlockOptions::default() };
            let (plan, contents) = contents(&target, &options);
            assert!(plan.tracks.iter().any(|track| track.is_far));
            let mut coder = Coder::new(&target, &plan, Arithmetic::Player);
            let mut segments = Vec::new();
            let mut coded = Vec::new();
            for (span, segment) in spans::all(&contents.header).into_iter().zip(&contents.segments)
            {
                coder.code(span, segment.step, Rounding::Nearest, f64::INFINITY);
                let frames = |sample: usize| {
                    let frame = move |joint: usize| joint * MAX_LENGTH + sample;
                    [0, 1, 2].map(|joint| coder.local[frame(joint)])
                };
                coded.extend((0..span.length).map(frames));
                segments.push(SegmentContents {
                    anchors: coder.far_anchors(),
                    coefficients: coder.coefficients.clone(),
                    ..segment.clone()
                });
            }
            let bytes = Contents { segments, ..contents }.to_bytes();
            let clip = AnyClip::from_bytes(bytes).unwrap();
            let clip = Arc::clone(clip.as_block().unwrap());
            let sampler = Sampler::new(clip, raw.skeleton()).unwrap();
            let mut pose = raw.skeleton().bind_pose();
            for (sample, coded) in coded.iter().enumerate() {
                sampler.sample_at(sample as f64, &mut pose);
                for (coded, played) in coded.iter().zip(&pose) {
                    assert_eq!(*coded, Frame::from(played), "{effort:?} {sample}");
                }
            }
        }
    }
}
