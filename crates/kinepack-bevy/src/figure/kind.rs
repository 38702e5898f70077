//! What all bodies of a kind share: the skeleton, the options, and the tables of lanes.

use std::sync::Arc;

use bevy_ecs::resource::Resource;
use kinepack_anim::Skeleton;
use kinepack_anim::figure::{Figure, FigureError, FigureOptions};

use crate::joints::JointNames;

/// A skeleton and the options for what is sent of it. Both sides need equal ones.
///
/// Clones share their memory, and only they are the same kind. It is a resource, so that systems
/// can make bodies.
///
/// ```
/// use kinepack_anim::figure::{FigureCurve, FigureOptions, FigurePart};
/// use kinepack_anim::{Joint, Skeleton, Transform};
/// use kinepack_bevy::figure::FigureKind;
///
/// let joint = |name: &str, parent, y_cm| {
///     let bind = Transform { translation: [0.0, y_cm, 0.0], ..Transform::IDENTITY };
///     Joint { name: name.into(), parent, bind }
/// };
/// let skeleton = Skeleton::new(vec![joint("hips", None, 90.0), joint("leg", Some(0), -40.0)])?;
/// let legs = FigurePart { name: "legs".into(), joints: vec![1], curves: vec![] };
/// let jaw = FigureCurve { name: "jaw".into(), min: 0.0, max: 1.0, precision: 0.01 };
/// let options = FigureOptions { parts: vec![legs], curves: vec![jaw], ..Default::default() };
/// let kind = FigureKind::new(skeleton, options)?;
/// assert_eq!(kind.joint("leg"), Some(1));
/// assert_eq!((kind.part("legs"), kind.curve("jaw")), (Some(0), Some(0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Resource, Clone, Debug)]
pub struct FigureKind(Arc<Shared>);

#[derive(Clone, Debug)]
struct Shared {
    skeleton: Arc<Skeleton>,
    options: FigureOptions,
    figure: Figure,
    names: JointNames,
    /// The part of each joint.
    parts: Vec<Option<usize>>,
    units_per_m: f32,
}

impl FigureKind {
    /// Makes a kind. It takes some milliseconds for large skeletons.
    ///
    /// # Errors
    /// Returns [`FigureError`] if the options do not fit the skeleton, or a precision is finer than
    /// the numbers of a pose.
    pub fn new(
        skeleton: impl Into<Arc<Skeleton>>,
        options: FigureOptions,
    ) -> Result<Self, FigureError> {
        let skeleton = skeleton.into();
        let figure = Figure::new(&skeleton, &options)?;
        let mut parts = vec![None; skeleton.len()];
        for (index, part) in options.parts.iter().enumerate() {
            part.joints.iter().for_each(|joint| parts[*joint] = Some(index));
        }
        let names = JointNames::new(&skeleton);
        Ok(Self(Arc::new(Shared { skeleton, options, figure, names, parts, units_per_m: 1.0 })))
    }

    /// Returns the kind for models with another unit of length, for example 100 units in a metre
    /// for models in centimetres. By default models are in metres, the unit of Bevy and glTF.
    #[must_use]
    pub fn with_units_per_m(self, units_per_m: f32) -> Self {
        let mut shared = Arc::unwrap_or_clone(self.0);
        shared.units_per_m = units_per_m;
        Self(Arc::new(shared))
    }

    /// The skeleton.
    pub fn skeleton(&self) -> &Arc<Skeleton> {
        &self.0.skeleton
    }

    /// The options.
    pub fn options(&self) -> &FigureOptions {
        &self.0.options
    }

    /// The number of the model's units of length in a metre.
    pub fn units_per_m(&self) -> f32 {
        self.0.units_per_m
    }

    /// The largest error in cm of a joint in tier 0: see [`Figure::max_error_cm`].
    ///
    /// # Panics
    /// Panics if the skeleton has no such joint.
    pub fn max_error_cm(&self, joint: usize) -> f64 {
        self.0.figure.max_error_cm(joint)
    }

    /// The largest error in cm of a joint of bodies that are sent in a tier.
    ///
    /// # Panics
    /// Panics if the options have no such tier, or the skeleton has no such joint.
    pub fn max_error_cm_in(&self, tier: usize, joint: usize) -> f64 {
        self.0.figure.max_error_cm_in(tier, joint)
    }

    /// The index of the first joint with the name `name`.
    pub fn joint(&self, name: &str) -> Option<usize> {
        self.0.names.find(&self.0.skeleton, name)
    }

    /// The index of the first part with the name `name`.
    pub fn part(&self, name: &str) -> Option<usize> {
        self.0.options.parts.iter().position(|part| part.name == name)
    }

    /// The index of the first curve with the name `name`.
    pub fn curve(&self, name: &str) -> Option<usize> {
        self.0.options.curves.iter().position(|curve| curve.name == name)
    }

    /// The index of the first clip with the name `name`.
    pub fn clip(&self, name: &str) -> Option<usize> {
        self.0.options.clips.names.iter().position(|clip| clip == name)
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// A figure with scratch memory of its own.
    pub(super) fn figure(&self) -> Figure {
        self.0.figure.clone()
    }

    pub(super) fn names(&self) -> &JointNames {
        &self.0.names
    }

    /// The part of a joint.
    pub(super) fn part_of(&self, joint: usize) -> Option<usize> {
        self.0.parts.get(joint).copied().flatten()
    }
}
