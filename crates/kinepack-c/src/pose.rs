//! Poses in an engine's memory, and descriptions of their layout.

use std::ffi::c_void;

use kinepack_anim::{CM_PER_M, PoseWriter, Transform};

use crate::KpStatus;
use crate::columns::KpNumber;
use crate::memory::{check_rows, optional, slice};
use crate::status::Failure;

/// The layout of a pose in memory: the bones of an engine's skeleton, a stride apart. The strides
/// allow an array of structs as well as three arrays. If the pointer of a part is null, the part is
/// ignored. Numbers need no alignment.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpPose {
    /// The address of the translation x, y, z of the first bone.
    pub translations: *mut c_void,
    /// The number of bytes from one bone's translation to the next.
    pub translation_stride: usize,
    /// The address of the rotation x, y, z, w of the first bone.
    pub rotations: *mut c_void,
    /// The number of bytes from one bone's rotation to the next.
    pub rotation_stride: usize,
    /// The address of the scale x, y, z of the first bone.
    pub scales: *mut c_void,
    /// The number of bytes from one bone's scale to the next.
    pub scale_stride: usize,
    /// The number of bones at the pointers.
    pub bones: usize,
    /// The index of the bone of each joint of the clip or figure, or `UINT32_MAX` for no bone.
    pub bone_of_joint: *const u32,
    /// The length of `bone_of_joint`, which must be the number of joints of the clip or figure. With
    /// 0, joint 0 is bone 0, and so on. The engine must then have at least that many bones.
    pub joints: usize,
    /// The type of the numbers: `KP_NUMBER_F32` or `KP_NUMBER_F64`.
    pub number: i32,
    /// If not 0, rotations are ordered w, x, y, z.
    pub w_first: i32,
    /// The number of units per metre: 0 or 1 for metres, 100 for centimetres.
    pub units_per_m: f32,
}

/// Writes poses to the caller's memory, and reads them from there.
pub(crate) struct Writer<'a> {
    translations: Part,
    rotations: Part,
    scales: Part,
    bones: Option<&'a [u32]>,
    joints: usize,
    wide: bool,
    w_first: bool,
    units_per_m: f32,
}

/// One part of the transforms: translations, rotations or scales.
struct Part {
    data: *mut u8,
    stride: usize,
}

impl<'a> Writer<'a> {
    /// Checks a pose for a clip of `joints` joints.
    ///
    /// # Safety
    /// The pose has memory for its bones and, unless `joints` is 0, a number for each joint.
    /// Nothing else uses the memory for `'a`.
    pub(crate) unsafe fn new(pose: &KpPose, joints: usize) -> Result<Self, Failure> {
        let wide = pose.number == KpNumber::F64 as i32;
        if !wide && pose.number != KpNumber::F32 as i32 {
            return Err(Failure::argument("poses are of KP_NUMBER_F32 or KP_NUMBER_F64"));
        }
        let part = |data: *mut c_void, stride: usize, numbers: usize| {
            if !data.is_null() {
                let bytes = numbers * if wide { 8 } else { 4 };
                check_rows(data.cast_const().cast::<u8>(), pose.bones, stride, bytes)?;
            }
            Ok(Part { data: data.cast(), stride })
        };
        let bones = if pose.joints == 0 {
            if pose.bones < joints {
                let text = format!("{} bones for {joints} joints", pose.bones);
                return Err(Failure::argument(text));
            }
            None
        } else {
            if pose.joints != joints {
                let text = format!("{} numbers of bones for {joints} joints", pose.joints);
                return Err(Failure::argument(text));
            }
            // SAFETY: the caller of this function guarantees a readable number for each joint.
            let bones = unsafe { slice(pose.bone_of_joint, joints)? };
            let is_beyond = |bone: &&u32| **bone != u32::MAX && **bone as usize >= pose.bones;
            if let Some(bone) = bones.iter().find(is_beyond) {
                let text = format!("a joint is bone {bone}, but there are {}", pose.bones);
                return Err(Failure::argument(text));
            }
            Some(bones)
        };
        let units_per_m = if pose.units_per_m == 0.0 { 1.0 } else { pose.units_per_m };
        if !units_per_m.is_finite() {
            return Err(Failure::argument("units_per_m is not a number"));
        }
        Ok(Self {
            translations: part(pose.translations, pose.translation_stride, 3)?,
            rotations: part(pose.rotations, pose.rotation_stride, 4)?,
            scales: part(pose.scales, pose.scale_stride, 3)?,
            bones,
            joints,
            wide,
            w_first: pose.w_first != 0,
            units_per_m,
        })
    }

    /// Reads the pose from the caller's memory. Parts that are null, and joints without a bone, have
    /// the identity's value.
    pub(crate) fn read(&self) -> Vec<Transform> {
        let mut pose = vec![Transform::IDENTITY; self.joints];
        self.read_over(&mut pose);
        pose
    }

    /// Reads the pose from the caller's memory into `pose`, which has a transform for each joint.
    /// Parts that are null, and joints without a bone, keep their values in `pose`.
    pub(crate) fn read_over(&self, pose: &mut [Transform]) {
        let to_cm = |units: f32| {
            if self.units_per_m == CM_PER_M { units } else { units / self.units_per_m * CM_PER_M }
        };
        for (joint, transform) in pose.iter_mut().enumerate() {
            let bone = self.bones.map_or(joint, |bones| bones[joint] as usize);
            if bone == u32::MAX as usize {
                continue;
            }
            let [translation, scale] =
                [&self.translations, &self.scales].map(|part| self.read_part(part, bone));
            if let Some(translation) = translation {
                transform.translation = translation.map(to_cm);
            }
            transform.scale = scale.unwrap_or(transform.scale);
            if let Some(rotation) = self.read_part(&self.rotations, bone) {
                let [w, x, y, z] = rotation;
                transform.rotation = if self.w_first { [x, y, z, w] } else { rotation };
            }
        }
    }

    fn read_part<const N: usize>(&self, part: &Part, bone: usize) -> Option<[f32; N]> {
        if part.data.is_null() {
            return None;
        }
        // SAFETY: as in `Bones::write`: `Writer::new` has checked the bones and their memory, and
        // its caller guarantees that the memory is readable. The read needs no alignment.
        unsafe {
            let from = part.data.add(bone * part.stride);
            Some(if self.wide {
                from.cast::<[f64; N]>().read_unaligned().map(|number| number as f32)
            } else {
                from.cast::<[f32; N]>().read_unaligned()
            })
        }
    }

    /// Whether the pose has the most common layout, with `f32` numbers, joint i at bone i,
    /// rotations ordered x, y, z, w, and all three parts.
    fn is_plain(&self) -> bool {
        let parts = [&self.translations, &self.rotations, &self.scales];
        let has_all = parts.iter().all(|part| !part.data.is_null());
        has_all && !self.wide && !self.w_first && self.bones.is_none()
    }

    /// Writes the pose that `write` produces.
    pub(crate) fn take(&self, write: &mut impl TakePose) {
        if self.is_plain() {
            write.write(&mut Bones::<true>(self));
        } else {
            write.write(&mut Bones::<false>(self));
        }
    }
}

/// A source of a pose, for a writer of any type.
pub(crate) trait TakePose {
    fn write(&mut self, writer: &mut impl PoseWriter);
}

/// Writes transforms to the bones. If the layout is plain, `PLAIN` removes the branches.
struct Bones<'a, const PLAIN: bool>(&'a Writer<'a>);

impl<const PLAIN: bool> Bones<'_, PLAIN> {
    /// Converts a translation to the caller's units.
    #[inline(always)]
    fn in_units(&self, translation: [f32; 3]) -> [f32; 3] {
        let units_per_m = self.0.units_per_m;
        if units_per_m == CM_PER_M {
            return translation;
        }
        // One instruction divides four numbers, but the compiler divides three one by one.
        let [x, y, z] = translation;
        let [x, y, z, _] = [x, y, z, 0.0].map(|cm| cm / CM_PER_M * units_per_m);
        [x, y, z]
    }

    #[inline(always)]
    fn write<const N: usize>(&self, part: &Part, joint: usize, values: [f32; N]) {
        let Writer { bones, wide, joints, .. } = self.0;
        assert!(joint < *joints);
        let bone = match bones {
            Some(bones) if !PLAIN => match bones[joint] {
                u32::MAX => return,
                bone => bone as usize,
            },
            _ => joint,
        };
        if !PLAIN && part.data.is_null() {
            return;
        }
        // SAFETY: `Writer::new` has checked that each joint is a bone within `bones`, and the
        // memory of all bones. Its caller guarantees that nothing else uses this memory. The write
        // needs no alignment.
        unsafe {
            let to = part.data.add(bone * part.stride);
            if !PLAIN && *wide {
                to.cast::<[f64; N]>().write_unaligned(values.map(f64::from));
            } else {
                to.cast::<[f32; N]>().write_unaligned(values);
            }
        }
    }
}

impl<const PLAIN: bool> PoseWriter for Bones<'_, PLAIN> {
    #[inline(always)]
    fn rotation(&mut self, joint: usize, rotation: [f32; 4]) {
        let [x, y, z, w] = rotation;
        let ordered = if !PLAIN && self.0.w_first { [w, x, y, z] } else { rotation };
        self.write(&self.0.rotations, joint, ordered);
    }

    #[inline(always)]
    fn translation(&mut self, joint: usize, translation: [f32; 3]) {
        self.write(&self.0.translations, joint, self.in_units(translation));
    }

    #[inline(always)]
    fn scale(&mut self, joint: usize, scale: [f32; 3]) {
        self.write(&self.0.scales, joint, scale);
    }

    fn pose(&mut self, pose: &[Transform]) {
        let Writer { translations, rotations, scales, joints, .. } = self.0;
        if !PLAIN {
            for (joint, transform) in pose.iter().enumerate() {
                self.rotation(joint, transform.rotation);
                self.translation(joint, transform.translation);
                self.scale(joint, transform.scale);
            }
            return;
        }
        assert!(pose.len() <= *joints);
        for (joint, transform) in pose.iter().enumerate() {
            let translation = self.in_units(transform.translation);
            // SAFETY: as in `write`, for a joint below `joints`. In a plain layout, each joint is
            // its own bone, and no part is null.
            unsafe {
                let to = |part: &Part| part.data.add(joint * part.stride);
                to(rotations).cast::<[f32; 4]>().write_unaligned(transform.rotation);
                to(translations).cast::<[f32; 3]>().write_unaligned(translation);
                to(scales).cast::<[f32; 3]>().write_unaligned(transform.scale);
            }
        }
    }
}

impl TakePose for Vec<Transform> {
    fn write(&mut self, writer: &mut impl PoseWriter) {
        writer.pose(self);
    }
}

/// Reads the layout of a pose that the caller passed.
///
/// # Safety
/// `pose` is null or points to a layout.
pub(crate) unsafe fn pose_of(pose: *const KpPose) -> Result<KpPose, Failure> {
    // SAFETY: the caller guarantees that `pose` is null or points to a layout until this call
    // returns.
    let pose = unsafe { optional(pose)? };
    pose.copied().ok_or_else(|| Failure::new(KpStatus::Pointer, "the pose is null"))
}
