//! A clip before compression: the transform of every joint at every sample time. All importers make
//! one, all compression starts from one, all errors are measured against one.

use std::sync::Arc;

use crate::{MAX_SAMPLES, RawClipError, Skeleton, Transform};

/// Samples of all joints of a skeleton at a constant rate. Rotations are unit quaternions, and each
/// is on the same side as the one before it (their dot product is not negative), so that components
/// may be interpolated.
#[derive(Clone, Debug, PartialEq)]
pub struct RawClip {
    name: String,
    skeleton: Arc<Skeleton>,
    rate_hz: f32,
    samples: Vec<Transform>,
}

impl RawClip {
    /// A clip of `samples`, the transforms of all joints of the first sample time first. Rotations
    /// are made unit quaternions, and their signs those of a shortest path.
    ///
    /// # Errors
    /// [`RawClipError`] where the rate is not positive, there is no joint or no sample or too many
    /// of them, the samples are no multiple of the joints, or a number is not finite.
    pub fn new(
        name: impl Into<String>,
        skeleton: Arc<Skeleton>,
        rate_hz: f32,
        mut samples: Vec<Transform>,
    ) -> Result<Self, RawClipError> {
        if !(rate_hz > 0.0 && rate_hz.is_finite()) {
            return Err(RawClipError::BadRate { rate_hz });
        }
        let joints = skeleton.len();
        if joints == 0 || samples.is_empty() || !samples.len().is_multiple_of(joints) {
            return Err(RawClipError::WrongCount { joints, transforms: samples.len() });
        }
        if samples.len() / joints > MAX_SAMPLES {
            return Err(RawClipError::TooManySamples { samples: samples.len() / joints });
        }
        for index in 0..samples.len() {
            if !samples[index].is_valid() {
                return Err(RawClipError::BadTransform {
                    sample: index / joints,
                    joint: index % joints,
                });
            }
            let mut rotation = samples[index].rotation64();
            if index >= joints && rotation.dot(samples[index - joints].rotation64()) < 0.0 {
                rotation = -rotation;
            }
            samples[index].rotation = rotation.to_array().map(|c| c as f32);
        }
        Ok(Self { name: name.into(), skeleton, rate_hz, samples })
    }

    /// The clip's name, of which its file's is made.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The joints that it moves.
    pub fn skeleton(&self) -> &Arc<Skeleton> {
        &self.skeleton
    }

    /// Number of joints.
    pub fn joints(&self) -> usize {
        self.skeleton.len()
    }

    /// Number of sample times, at least one.
    pub fn samples(&self) -> usize {
        self.samples.len() / self.joints()
    }

    /// Samples a second.
    pub fn rate_hz(&self) -> f32 {
        self.rate_hz
    }

    /// Seconds from the first sample to the last.
    pub fn duration_s(&self) -> f32 {
        (self.samples() - 1) as f32 / self.rate_hz
    }

    /// The transforms of all joints at one sample time.
    pub fn pose(&self, sample: usize) -> &[Transform] {
        &self.samples[sample * self.joints()..][..self.joints()]
    }

    /// All poses in the order of time.
    pub fn poses(&self) -> impl ExactSizeIterator<Item = &[Transform]> {
        self.samples.chunks_exact(self.joints())
    }

    /// Ten floats a joint a sample.
    pub fn raw_bytes(&self) -> usize {
        self.samples.len() * Transform::BYTES
    }

    /// The same motion at a lower rate: every `step`th sample.
    ///
    /// # Panics
    /// Where `step` is zero.
    pub fn decimated(&self, step: usize) -> Self {
        let samples = self.poses().step_by(step).flatten().copied().collect();
        Self {
            name: self.name.clone(),
            skeleton: Arc::clone(&self.skeleton),
            rate_hz: self.rate_hz / step as f32,
            samples,
        }
    }
}
