//! A clip before compression: the transform of every joint at every sample time, curves of single
//! numbers, and markers. All importers produce raw clips, builders compress them, and all errors
//! are measured against them.

mod error;
mod tracks;

use std::sync::Arc;

#[allow(unused_imports, reason = "named in the documentation")]
use crate::{MAX_CURVES, MAX_MARKERS, MAX_NAME_BYTES};
use crate::{MAX_SAMPLES, Skeleton, Transform};
pub use error::RawClipError;
pub use tracks::{Curve, Marker};

/// Samples of all joints of a skeleton at a constant rate. Rotations are unit quaternions. Each
/// rotation has a non-negative dot product with the joint's previous rotation, so components can be
/// interpolated.
///
/// A clip may also have [curves](Curve) and [markers](Marker): [`with_curves`](Self::with_curves)
/// and [`with_markers`](Self::with_markers) add them.
///
/// ```
/// use std::sync::Arc;
/// use kinepack_anim::{Joint, RawClip, Skeleton, Transform};
///
/// let root = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
/// let skeleton = Arc::new(Skeleton::new(vec![root])?);
/// // 31 samples at 30 Hz, each a centimetre further.
/// let sample = |cm: i32| Transform { translation: [cm as f32, 0.0, 0.0], ..Transform::IDENTITY };
/// let raw = RawClip::new("slide", skeleton, 30.0, (0..31).map(sample).collect())?;
/// assert_eq!(raw.duration_s(), 1.0);
/// assert_eq!(raw.pose(30)[0].translation_m(), [0.3, 0.0, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RawClip {
    name: String,
    skeleton: Arc<Skeleton>,
    rate_hz: f32,
    samples: Vec<Transform>,
    curves: Vec<Curve>,
    markers: Vec<Marker>,
}

impl RawClip {
    /// Returns a clip of `samples`, which contains the transforms of all joints at the first sample
    /// time, then at the second, and so on. The constructor normalizes rotations, and chooses their
    /// signs for the shortest path.
    ///
    /// # Errors
    /// Returns [`RawClipError`] if the rate is not positive, there are no joints or samples, or
    /// there are too many samples. The call also fails if the number of transforms is not a
    /// multiple of the number of joints, or if a number is not finite.
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
        let (curves, markers) = (Vec::new(), Vec::new());
        Ok(Self { name: name.into(), skeleton, rate_hz, samples, curves, markers })
    }

    /// Returns the clip's name, which is also the base of its file name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the same clip with another name.
    #[must_use]
    pub fn with_name(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Returns the same clip with the curves `curves` instead of its own.
    ///
    /// # Errors
    /// Returns [`RawClipError`] if there are more than [`MAX_CURVES`], if two have the same name,
    /// or if a name is longer than [`MAX_NAME_BYTES`]. The call also fails if a curve does not have
    /// a value for each sample, if a value is not finite, or if a precision is not positive and
    /// finite.
    pub fn with_curves(self, curves: Vec<Curve>) -> Result<Self, RawClipError> {
        tracks::check_curves(&curves, self.samples())?;
        Ok(Self { curves, ..self })
    }

    /// Returns the same clip with the markers `markers` instead of its own. The method sorts them
    /// by time, and markers at the same time keep their order. A time up to half a sample after the
    /// end counts as the end.
    ///
    /// # Errors
    /// Returns [`RawClipError`] if there are more than [`MAX_MARKERS`], if a name is longer than
    /// [`MAX_NAME_BYTES`], or if a time is outside of the clip or not finite.
    pub fn with_markers(mut self, markers: Vec<Marker>) -> Result<Self, RawClipError> {
        self.set_markers(markers)?;
        Ok(self)
    }

    /// Works like [`with_markers`](Self::with_markers), but in place. On error, the markers are
    /// unchanged.
    pub(crate) fn set_markers(&mut self, mut markers: Vec<Marker>) -> Result<(), RawClipError> {
        tracks::prepare_markers(&mut markers, self.duration_s(), 0.5 / self.rate_hz)?;
        self.markers = markers;
        Ok(())
    }

    /// Returns the curves, in the order in which they were given.
    pub fn curves(&self) -> &[Curve] {
        &self.curves
    }

    /// Returns the markers, sorted by time.
    pub fn markers(&self) -> &[Marker] {
        &self.markers
    }

    /// Returns the skeleton that the clip animates.
    pub fn skeleton(&self) -> &Arc<Skeleton> {
        &self.skeleton
    }

    /// Returns the number of joints.
    pub fn joints(&self) -> usize {
        self.skeleton.len()
    }

    /// Returns the number of sample times, at least one.
    pub fn samples(&self) -> usize {
        self.samples.len() / self.joints()
    }

    /// Samples per second.
    pub fn rate_hz(&self) -> f32 {
        self.rate_hz
    }

    /// Seconds from the first sample to the last.
    pub fn duration_s(&self) -> f32 {
        (self.samples() - 1) as f32 / self.rate_hz
    }

    /// Returns the transforms of all joints at one sample time.
    pub fn pose(&self, sample: usize) -> &[Transform] {
        &self.samples[sample * self.joints()..][..self.joints()]
    }

    /// Returns all poses in the order of time.
    pub fn poses(&self) -> impl ExactSizeIterator<Item = &[Transform]> {
        self.samples.chunks_exact(self.joints())
    }

    /// Returns the size of the joints' samples in bytes. Each joint and sample takes ten floats.
    pub fn raw_bytes(&self) -> usize {
        self.samples.len() * Transform::BYTES
    }

    /// Returns the same motion at a lower rate, made of every `step`th sample. The clip ends at its
    /// last remaining sample, and later markers move to that end.
    ///
    /// # Panics
    /// Panics if `step` is zero.
    pub fn decimated(&self, step: usize) -> Self {
        let samples = self.poses().step_by(step).flatten().copied().collect();
        let mut decimated = Self {
            name: self.name.clone(),
            skeleton: Arc::clone(&self.skeleton),
            rate_hz: self.rate_hz / step as f32,
            samples,
            curves: self.curves.iter().map(|curve| curve.decimated(step)).collect(),
            markers: self.markers.clone(),
        };
        let end_s = decimated.duration_s();
        decimated.markers.iter_mut().for_each(|marker| marker.time_s = marker.time_s.min(end_s));
        decimated
    }
}
