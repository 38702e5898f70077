//! Skeletons, and rigs that clips share.

use std::ffi::c_char;
use std::sync::Arc;

use kinepack_anim::{Joint, Rig, Skeleton};

use crate::KpStatus;
use crate::handles::Handles;
use crate::memory::{self, check_out, give_text, put, slice};
use crate::pose::{KpPose, Writer, pose_of};
use crate::status::{Failure, call};

/// The joints of a character. Immutable.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpSkeleton {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static SKELETONS: Handles<Skeleton> = Handles::new(13, "a skeleton");

/// The parameters that many clips of one skeleton share. Immutable.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpRig {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static RIGS: Handles<Arc<Rig>> = Handles::new(14, "a rig");

/// A joint of a skeleton to create.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpJoint {
    /// The name, which may be empty and need not be unique.
    pub name: *const c_char,
    /// The index of the parent, which is lower than the joint's own index; −1 for a root.
    pub parent: i32,
}

/// Creates a skeleton of `count` joints, parents first, with the bind pose `bind`. Parts of the bind
/// pose that are null have the identity's value. The caller frees `*out` with `kp_skeleton_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_skeleton_new(
    joints: *const KpJoint,
    count: usize,
    bind: *const KpPose,
    out: *mut KpSkeleton,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        // SAFETY: the caller guarantees that `joints` has `count` readable values, each with a
        // `name` that points to a zero-terminated text, until this call returns. The same holds for
        // `bind` and the memory that it describes.
        let (joints, bind) = unsafe {
            let joints = slice(joints, count)?.iter().map(|joint| named(joint));
            let joints = joints.collect::<Result<Vec<_>, Failure>>()?;
            (joints, Writer::new(&pose_of(bind)?, count)?.read())
        };
        let joints =
            joints.into_iter().zip(bind).map(|((name, parent), bind)| Joint { name, parent, bind });
        let skeleton = Skeleton::new(joints.collect()).map_err(Failure::argument)?;
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpSkeleton { id: SKELETONS.add(skeleton) }) }
    })
}

/// Reads a skeleton file. The caller frees `*out` with `kp_skeleton_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_skeleton_from_bytes(
    bytes: *const u8,
    size: usize,
    out: *mut KpSkeleton,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        // SAFETY: the caller guarantees that `bytes` has `size` readable bytes until this call
        // returns.
        let skeleton = Skeleton::from_bytes(unsafe { slice(bytes, size)? });
        let skeleton = skeleton.map_err(Failure::data)?;
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpSkeleton { id: SKELETONS.add(skeleton) }) }
    })
}

/// Writes the number of joints of a skeleton.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_skeleton_joints(skeleton: KpSkeleton, joints: *mut u32) -> KpStatus {
    call(|| {
        let value = SKELETONS.get(skeleton.id)?.len() as u32;
        // SAFETY: the caller guarantees that `joints` is writable until this call returns.
        unsafe { put(joints, value) }
    })
}

/// Writes the hash of a skeleton. The skeleton's clips store the same hash.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_skeleton_hash(skeleton: KpSkeleton, hash: *mut u64) -> KpStatus {
    call(|| {
        let value = SKELETONS.get(skeleton.id)?.hash();
        // SAFETY: the caller guarantees that `hash` is writable until this call returns.
        unsafe { put(hash, value) }
    })
}

/// Writes the index of a joint's parent, which is lower than the joint's own index; −1 for a root.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_skeleton_parent(
    skeleton: KpSkeleton,
    joint: u32,
    parent: *mut i32,
) -> KpStatus {
    call(|| {
        let skeleton = SKELETONS.get(skeleton.id)?;
        let value = joint_of(&skeleton, joint)?.parent.map_or(-1, |parent| parent as i32);
        // SAFETY: the caller guarantees that `parent` is writable until this call returns.
        unsafe { put(parent, value) }
    })
}

/// Writes the name of a joint, with a terminating zero: `*size` bytes including the zero, if they
/// fit into `capacity`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_skeleton_name(
    skeleton: KpSkeleton,
    joint: u32,
    name: *mut c_char,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        let skeleton = SKELETONS.get(skeleton.id)?;
        // SAFETY: the caller guarantees that `name` has `capacity` writable bytes and `size` is
        // writable, until this call returns.
        unsafe { give_text(&joint_of(&skeleton, joint)?.name, name, capacity, size) }
    })
}

/// Finds the first joint with the name `name`. Returns `KP_STATUS_NOTHING` if there is no such
/// joint.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_skeleton_find(
    skeleton: KpSkeleton,
    name: *const c_char,
    joint: *mut u32,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `name` points to a zero-terminated text and `joint` is
        // writable, until this call returns.
        unsafe {
            let name = memory::text(name)?;
            let found = SKELETONS.get(skeleton.id)?.find(name).ok_or_else(|| {
                Failure::new(KpStatus::Nothing, format!("no joint is named {name:?}"))
            })?;
            put(joint, found as u32)
        }
    })
}

/// Writes the bind pose of a skeleton.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_skeleton_bind_pose(
    skeleton: KpSkeleton,
    pose: *const KpPose,
) -> KpStatus {
    call(|| {
        let skeleton = SKELETONS.get(skeleton.id)?;
        // SAFETY: the caller guarantees that `pose` and the memory that it describes are valid
        // until this call returns.
        let writer = unsafe { Writer::new(&pose_of(pose)?, skeleton.len())? };
        writer.take(&mut skeleton.bind_pose());
        Ok(())
    })
}

/// Frees a skeleton. Its players remain valid.
#[unsafe(no_mangle)]
pub extern "C" fn kp_skeleton_free(skeleton: KpSkeleton) -> KpStatus {
    call(|| SKELETONS.remove(skeleton.id))
}

/// Reads a rig file. The caller frees `*out` with `kp_rig_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_rig_from_bytes(
    bytes: *const u8,
    size: usize,
    out: *mut KpRig,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        // SAFETY: the caller guarantees that `bytes` has `size` readable bytes until this call
        // returns.
        let rig = Rig::from_bytes(unsafe { slice(bytes, size)? }).map_err(Failure::data)?;
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpRig { id: RIGS.add(Arc::new(rig)) }) }
    })
}

/// Frees a rig. Its clips remain valid.
#[unsafe(no_mangle)]
pub extern "C" fn kp_rig_free(rig: KpRig) -> KpStatus {
    call(|| RIGS.remove(rig.id))
}

fn joint_of(skeleton: &Skeleton, joint: u32) -> Result<&Joint, Failure> {
    skeleton.joints().get(joint as usize).ok_or_else(|| {
        Failure::argument(format!("no joint {joint}; the skeleton has {}", skeleton.len()))
    })
}

/// The name and the parent of a joint.
///
/// # Safety
/// The name is a readable text.
unsafe fn named(joint: &KpJoint) -> Result<(String, Option<u16>), Failure> {
    // SAFETY: the caller guarantees that the name points to a zero-terminated text until this call
    // returns.
    let name = unsafe { memory::text(joint.name)? };
    let parent = match joint.parent {
        -1 => None,
        parent => Some(
            u16::try_from(parent)
                .map_err(|_| Failure::argument(format!("no joint can have the parent {parent}")))?,
        ),
    };
    Ok((name.to_owned(), parent))
}
