//! Parts for `Transform`, with limits and a precision.

use bevy_ecs::change_detection::Mut;
use bevy_math::Quat;
use bevy_transform::components::Transform;
use kinepack::Pack;

use crate::Part;

/// The position and the rotation of a `Transform`.
///
/// Positions range from -`RANGE_M` to `RANGE_M` metres on each axis, in `STEPS_PER_M` steps a
/// metre. Positions beyond this range are sent as its nearest end. Rotations have `ROTATION_BITS`
/// bits a component, 2 to 20. With 9 bits, rotations are off by up to 0.56 degrees, and each
/// further bit halves this error. The clients keep the scale that they give to the `Transform`,
/// which is 1 at first.
///
/// The adaptive levels treat a pose as a body: see [`Pack`].
///
/// ```
/// use bevy_transform::components::Transform;
/// use kinepack::Pack;
/// use kinepack_bevy::{Part, Pose};
///
/// /// Positions are within two kilometres, in centimetres.
/// type ShipPose = Pose<2_000, 100, 11>;
///
/// let pose = ShipPose::read(&Transform::from_xyz(1.0, 2.5, -3.0));
/// assert_eq!(pose.position, [1.0, 2.5, -3.0]);
/// assert_eq!(ShipPose::LANES, 3 + 4);
/// ```
#[derive(Pack, Clone, Copy, Debug, PartialEq)]
pub struct Pose<const RANGE_M: u32, const STEPS_PER_M: u32, const ROTATION_BITS: u32> {
    /// `Transform::translation`, in metres.
    #[pack(
        body,
        range = -(RANGE_M as f64)..=RANGE_M as f64,
        precision = 1.0 / STEPS_PER_M as f64,
        clamp
    )]
    pub position: [f32; 3],
    /// `Transform::rotation`, as x, y, z, w.
    #[pack(body, rotation, bits = ROTATION_BITS)]
    pub rotation: [f32; 4],
}

impl<const RANGE_M: u32, const STEPS_PER_M: u32, const ROTATION_BITS: u32> Part
    for Pose<RANGE_M, STEPS_PER_M, ROTATION_BITS>
{
    type Component = Transform;

    fn read(transform: &Transform) -> Self {
        Self { position: transform.translation.to_array(), rotation: transform.rotation.to_array() }
    }

    fn write(self, mut transform: Mut<'_, Transform>) {
        if Self::read(&transform) != self {
            transform.translation = self.position.into();
            transform.rotation = Quat::from_array(self.rotation);
        }
    }

    fn into_component(self) -> Transform {
        Transform::from_translation(self.position.into())
            .with_rotation(Quat::from_array(self.rotation))
    }
}

/// A [`Pose`] and the scale of a `Transform`.
///
/// Each axis of the scale ranges from 0 to `MAX_SCALE`, in steps of 1/256. A scale beyond this
/// range is sent as its nearest end.
#[derive(Pack, Clone, Copy, Debug, PartialEq)]
pub struct ScaledPose<
    const RANGE_M: u32,
    const STEPS_PER_M: u32,
    const ROTATION_BITS: u32,
    const MAX_SCALE: u32,
> {
    /// The position and the rotation.
    pub pose: Pose<RANGE_M, STEPS_PER_M, ROTATION_BITS>,
    /// `Transform::scale`.
    #[pack(range = 0.0..=MAX_SCALE as f64, precision = 1.0 / 256.0, clamp)]
    pub scale: [f32; 3],
}

impl<const RANGE_M: u32, const STEPS_PER_M: u32, const ROTATION_BITS: u32, const MAX_SCALE: u32>
    Part for ScaledPose<RANGE_M, STEPS_PER_M, ROTATION_BITS, MAX_SCALE>
{
    type Component = Transform;

    fn read(transform: &Transform) -> Self {
        Self { pose: Pose::read(transform), scale: transform.scale.to_array() }
    }

    fn write(self, mut transform: Mut<'_, Transform>) {
        if transform.scale.to_array() != self.scale {
            transform.scale = self.scale.into();
        }
        self.pose.write(transform);
    }

    fn into_component(self) -> Transform {
        self.pose.into_component().with_scale(self.scale.into())
    }
}
