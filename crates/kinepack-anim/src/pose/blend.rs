//! Blends two poses for a cross-fade, or any number of poses with weights by joint and additive
//! layers on top. The blends work like ozz-animation's blending job. Weights are divided by their
//! sum. If a joint's weights sum to less than a threshold, the bind pose gets the rest.
//!
//! A blend reads each joint once from each layer, and allocates nothing. Layers with a weight of 0
//! cost almost nothing, and a player need not sample them.

use super::JointWeights;
use crate::additive::MAX_WEIGHT;
use crate::transform::check_pose;
use crate::{JointMask, Transform, additive, quaternion};

/// The joints that a layer affects.
#[derive(Clone, Copy, Debug, Default)]
pub enum Joints<'a> {
    /// The layer affects all joints.
    #[default]
    All,
    /// The layer affects the joints of a mask.
    Mask(&'a JointMask),
    /// The layer affects all joints, each with a factor for the layer's weight.
    Weights(&'a JointWeights),
}

/// A pose to blend. For additive layers, the pose is a delta, such as those that a clip of
/// [`additive`](crate::additive) contains.
#[derive(Clone, Copy, Debug)]
pub struct Layer<'a> {
    /// The pose. It must be for the same skeleton as the other poses.
    pub pose: &'a [Transform],
    /// The layer's weight relative to the others. NaN and numbers below 1e-9 count as 0. For
    /// additive layers only, a negative weight subtracts the layer.
    pub weight: f32,
    /// The joints that the layer affects.
    pub joints: Joints<'a>,
}

impl<'a> Layer<'a> {
    /// Returns a layer that affects all joints.
    pub fn new(pose: &'a [Transform], weight: f32) -> Self {
        Self { pose, weight, joints: Joints::All }
    }

    /// Returns the same layer with a factor for each joint.
    #[must_use]
    pub fn with_weights(self, weights: &'a JointWeights) -> Self {
        Self { joints: Joints::Weights(weights), ..self }
    }

    /// Returns the same layer, but for the joints of `mask` only.
    #[must_use]
    pub fn with_mask(self, mask: &'a JointMask) -> Self {
        Self { joints: Joints::Mask(mask), ..self }
    }

    /// Returns the layer's weight at a joint, before clamping.
    #[inline]
    fn given(&self, joint: usize) -> f32 {
        match self.joints {
            Joints::All => self.weight,
            Joints::Mask(mask) if mask.contains(joint) => self.weight,
            Joints::Mask(_) => 0.0,
            // The factor is clamped separately, because the product of two negative numbers must
            // not become a positive weight.
            Joints::Weights(weights) => self.weight * positive(weights.weight(joint)),
        }
    }
}

/// Blends many poses into one, in a single call.
///
/// ```
/// use kinepack_anim::Transform;
/// use kinepack_anim::pose::{Blend, Layer};
///
/// let at = |x| [Transform { translation: [x, 0.0, 0.0], ..Transform::IDENTITY }];
/// let (bind, walk, run, limp) = (at(0.0), at(10.0), at(20.0), at(1.0));
/// let blend = Blend {
///     // Weights need not sum to 1.
///     layers: &[Layer::new(&walk, 3.0), Layer::new(&run, 1.0)],
///     additives: &[Layer::new(&limp, 0.5)],
///     ..Blend::new(&bind)
/// };
/// let mut pose = at(0.0);
/// blend.write(&mut pose);
/// assert_eq!(pose[0].translation, [13.0, 0.0, 0.0]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Blend<'a> {
    /// The poses to mix.
    pub layers: &'a [Layer<'a>],
    /// The deltas to put on top of the mix, in this order. A negative weight subtracts a delta.
    pub additives: &'a [Layer<'a>],
    /// The pose of joints that no layer affects.
    pub bind: &'a [Transform],
    /// If the weights at a joint sum to less than this, the bind pose gets the rest. When a single
    /// layer fades out, the pose therefore eases into the bind pose instead of jumping to it. NaN
    /// and negative numbers count as 0. The bind pose is then used only for joints without any
    /// weight.
    pub threshold: f32,
}

impl<'a> Blend<'a> {
    /// The default threshold, which is the same as in ozz-animation.
    pub const THRESHOLD: f32 = 0.1;

    /// Returns a blend without layers, whose result is the bind pose. Set the layers with struct
    /// update syntax.
    pub fn new(bind: &'a [Transform]) -> Self {
        Self { layers: &[], additives: &[], bind, threshold: Self::THRESHOLD }
    }

    /// Writes the blend into `pose`. Translations and scales are weighted means. A rotation is the
    /// normalized weighted sum of quaternions, with signs chosen to match the first layer that has
    /// a weight. If all of a joint's rotations are within a quarter turn of one of them, the order
    /// of the layers affects only the rounding. If one layer has all the weight, the result is its
    /// pose bit for bit, except that rotations become unit quaternions.
    ///
    /// # Panics
    /// Panics if the poses or weights have different numbers of joints.
    #[track_caller]
    pub fn write(&self, pose: &mut [Transform]) {
        check_pose("the bind pose", self.bind.len(), "the pose", pose.len());
        for layer in self.layers.iter().chain(self.additives) {
            check_pose("a layer", layer.pose.len(), "the pose", pose.len());
            if let Joints::Weights(weights) = layer.joints {
                check_pose("a list of weights", weights.as_slice().len(), "the pose", pose.len());
            }
        }
        let is_uniform = self.layers.iter().all(|layer| matches!(layer.joints, Joints::All));
        let uniform = is_uniform.then(|| self.shares(0));
        for (joint, own) in pose.iter_mut().enumerate() {
            *own = self.mixed(joint, uniform.unwrap_or_else(|| self.shares(joint)));
            for layer in self.additives {
                let weight = layer.given(joint);
                if weight != 0.0 {
                    additive::add_to(own, &layer.pose[joint], weight);
                }
            }
        }
    }

    /// Sums the weights at a joint.
    #[inline]
    fn shares(&self, joint: usize) -> Shares {
        let layers: f32 = self.layers.iter().map(|layer| positive(layer.given(joint))).sum();
        let bind = match positive(self.threshold) - layers {
            _ if layers == 0.0 => 1.0,
            rest if rest > 0.0 => rest,
            _ => 0.0,
        };
        let total = layers + bind;
        Shares { bind, total, factor: 1.0 / total }
    }

    /// Mixes the layers at a joint.
    #[inline]
    fn mixed(&self, joint: usize, shares: Shares) -> Transform {
        let mut layers = self.layers.iter();
        let mut sum = loop {
            let Some(layer) = layers.next() else {
                return Sum::new(&self.bind[joint], 1.0).transform();
            };
            let weight = positive(layer.given(joint));
            if weight > 0.0 {
                break Sum::new(&layer.pose[joint], shares.share(weight));
            }
        };
        for layer in layers {
            let weight = positive(layer.given(joint));
            if weight > 0.0 {
                sum.add(&layer.pose[joint], shares.share(weight));
            }
        }
        if shares.bind > 0.0 {
            sum.add(&self.bind[joint], shares.share(shares.bind));
        }
        sum.transform()
    }
}

/// The summed weights at a joint, from which each weight's share is computed.
#[derive(Clone, Copy)]
struct Shares {
    /// The weight of the bind pose.
    bind: f32,
    /// The sum of all weights.
    total: f32,
    /// The inverse of `total`.
    factor: f32,
}

impl Shares {
    /// Returns the share of `weight` in the total. It is exactly 1 for a weight that equals the
    /// total.
    #[inline]
    fn share(&self, weight: f32) -> f32 {
        if weight == self.total { 1.0 } else { weight * self.factor }
    }
}

/// Blends `pose` towards `other`, a pose of the same skeleton. A `weight` of 0 keeps `pose`, and a
/// weight of 1 makes it equal to `other`. Translations and scales are interpolated linearly.
/// Rotations are the normalized sum of quaternions, along the shorter arc. The result is the same
/// on every platform. A cross-fade raises `weight` from 0 to 1 while both clips play. Weights below
/// 0 or above 1 extrapolate.
///
/// ```
/// use kinepack_anim::{Transform, blend};
///
/// let mut pose = [Transform { translation: [10.0, 0.0, 0.0], ..Transform::IDENTITY }];
/// let half_turn = [0.0, 0.0, 1.0, 0.0];
/// let translation = [20.0, 0.0, 0.0];
/// let other = [Transform { rotation: half_turn, translation, ..Transform::IDENTITY }];
/// blend(&mut pose, &other, 0.5);
/// assert_eq!(pose[0].translation, [15.0, 0.0, 0.0]);
/// // A quarter turn.
/// assert!((pose[0].rotation[2] - 0.5_f32.sqrt()).abs() < 1e-6);
/// ```
///
/// # Panics
/// Panics if the poses have different numbers of joints.
#[track_caller]
pub fn blend(pose: &mut [Transform], other: &[Transform], weight: f32) {
    check_pose("the other pose", other.len(), "the pose", pose.len());
    for (own, other) in pose.iter_mut().zip(other) {
        let mut sum = Sum::new(own, 1.0 - weight);
        sum.add(other, weight);
        *own = sum.transform();
    }
}

/// A joint's weighted sum of transforms.
struct Sum {
    /// The first rotation. The other rotations are negated if needed, so that their dot product
    /// with it is not negative.
    side: [f32; 4],
    rotation: [f32; 4],
    translation: [f32; 3],
    scale: [f32; 3],
}

impl Sum {
    #[inline]
    fn new(first: &Transform, weight: f32) -> Self {
        Self {
            side: first.rotation,
            rotation: first.rotation.map(|c| c * weight),
            translation: first.translation.map(|c| c * weight),
            scale: first.scale.map(|c| c * weight),
        }
    }

    #[inline]
    fn add(&mut self, transform: &Transform, weight: f32) {
        let is_opposite = quaternion::dot(self.side, transform.rotation) < 0.0;
        let turned = if is_opposite { -weight } else { weight };
        for (sum, number) in self.rotation.iter_mut().zip(transform.rotation) {
            *sum += number * turned;
        }
        for axis in 0..3 {
            self.translation[axis] += transform.translation[axis] * weight;
            self.scale[axis] += transform.scale[axis] * weight;
        }
    }

    #[inline]
    fn transform(self) -> Transform {
        let Self { rotation, translation, scale, .. } = self;
        Transform { rotation: quaternion::unit(rotation), translation, scale }
    }
}

/// Returns a clamped weight. It is 0 for NaN, and for numbers so small that their sums have no
/// finite inverse.
#[inline]
fn positive(weight: f32) -> f32 {
    if weight >= 1e-9 { weight.min(MAX_WEIGHT) } else { 0.0 }
}
