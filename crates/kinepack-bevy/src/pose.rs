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

/// A [`Pose`] that is coarser in far rings while its entity moves, and takes fewer bits there.
///
/// The first three parameters are those of a [`Pose`]. In a ring with [`Ring::coarser`], the
/// position and the rotation have that many bits less. `COARSER_BITS` is the most, 1 to 31. Each
/// bit doubles the steps: with 100 steps a metre and 3 bits less, positions are off by up to 4 cm.
/// When the entity rests, it is exact after [`Rings::exact_after`] ticks. In other rings, and
/// without rings, it is always exact: [`MotionSettings::time_precision_ms`] does not apply to it.
///
/// [`Ring::coarser`]: kinepack_net::Ring::coarser
/// [`Rings::exact_after`]: kinepack_net::Rings::exact_after
/// [`MotionSettings::time_precision_ms`]: crate::MotionSettings::time_precision_ms
///
/// ```
/// use kinepack::Pack;
/// use kinepack_bevy::CoarserPose;
///
/// /// Positions are within two kilometres, in centimetres. Far ships are up to 4 bits coarser.
/// type ShipPose = CoarserPose<2_000, 100, 11, 4>;
///
/// // The first lane has the number of bits.
/// assert_eq!(ShipPose::LANES, 1 + 3 + 4);
/// ```
#[derive(Pack, Clone, Copy, Debug, PartialEq)]
pub struct CoarserPose<
    const RANGE_M: u32,
    const STEPS_PER_M: u32,
    const ROTATION_BITS: u32,
    const COARSER_BITS: u8,
> {
    /// `Transform::translation`, in metres.
    #[pack(
        body,
        range = -(RANGE_M as f64)..=RANGE_M as f64,
        precision = 1.0 / STEPS_PER_M as f64,
        clamp,
        coarser = COARSER_BITS
    )]
    pub position: [f32; 3],
    /// `Transform::rotation`, as x, y, z, w.
    #[pack(body, rotation, bits = ROTATION_BITS, coarser = COARSER_BITS)]
    pub rotation: [f32; 4],
}

/// Implements [`Part`] for a type that has the position and the rotation of a `Transform`.
macro_rules! transform_part {
    ($pose:ident<$($parameter:ident: $type:ty),+>) => {
        impl<$(const $parameter: $type),+> Part for $pose<$($parameter),+> {
            type Component = Transform;

            fn read(transform: &Transform) -> Self {
                Self {
                    position: transform.translation.to_array(),
                    rotation: transform.rotation.to_array(),
                }
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
    };
}

transform_part!(Pose<RANGE_M: u32, STEPS_PER_M: u32, ROTATION_BITS: u32>);
transform_part!(CoarserPose<RANGE_M: u32, STEPS_PER_M: u32, ROTATION_BITS: u32, COARSER_BITS: u8>);

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
