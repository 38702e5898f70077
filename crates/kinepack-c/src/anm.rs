//! `r3d2canm` files from other programs. This module reads them, and samples them into an engine's
//! pose.

use std::ffi::c_char;

use kinepack_anim::Transform;
use kinepack_anm::{Anm, AnmPlayer, elf_hash};

use crate::KpStatus;
use crate::handles::Handles;
use crate::memory::{self, check_out, give, put, slice};
use crate::pose::{KpPose, Writer, pose_of};
use crate::status::{Failure, call};

/// An `r3d2canm` file, the animation format of League of Legends. Immutable.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpAnm {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static ANMS: Handles<Anm> = Handles::new(27, "an r3d2canm file");

/// The properties of an `r3d2canm` file.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpAnmInfo {
    /// The version of the format: 1, 2 or 3.
    pub version: u32,
    /// The number of joints.
    pub joints: u32,
    /// The number of keys of all joints together.
    pub keys: u32,
    /// The duration in seconds.
    pub duration_s: f32,
    /// The sample rate of the source in Hz. Playback does not need it.
    pub rate_hz: f32,
}

/// Reads an `r3d2canm` file. The caller frees `*out` with `kp_anm_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_anm_from_bytes(
    bytes: *const u8,
    size: usize,
    out: *mut KpAnm,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        // SAFETY: the caller guarantees that `bytes` has `size` readable bytes until this call
        // returns.
        let anm = Anm::from_bytes(unsafe { slice(bytes, size)? }).map_err(Failure::data)?;
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpAnm { id: ANMS.add(anm) }) }
    })
}

/// Writes an `r3d2canm` file: `*size` bytes, if they fit into `capacity`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_anm_to_bytes(
    anm: KpAnm,
    bytes: *mut u8,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        let written = ANMS.get(anm.id)?.to_bytes();
        // SAFETY: the caller guarantees that `bytes` has `capacity` writable bytes and `size` is
        // writable, until this call returns.
        unsafe { give(&written, bytes, capacity, size) }
    })
}

/// Writes the properties of an `r3d2canm` file to `*out`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_anm_info(anm: KpAnm, out: *mut KpAnmInfo) -> KpStatus {
    call(|| {
        let anm = ANMS.get(anm.id)?;
        let head = anm.head();
        let described = KpAnmInfo {
            version: head.version,
            joints: anm.joints().len() as u32,
            keys: anm.keys().len() as u32,
            duration_s: head.duration_s,
            rate_hz: head.rate_hz,
        };
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, described) }
    })
}

/// Writes the hash of a joint's name. The file does not contain the name itself.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_anm_joint(anm: KpAnm, joint: u32, hash: *mut u32) -> KpStatus {
    call(|| {
        let anm = ANMS.get(anm.id)?;
        let joints = anm.joints();
        let found = joints.get(joint as usize).ok_or_else(|| {
            Failure::argument(format!("no joint {joint}; the file has {}", joints.len()))
        })?;
        // SAFETY: the caller guarantees that `hash` is writable until this call returns.
        unsafe { put(hash, *found) }
    })
}

/// Writes the hash of a name, to compare with the hashes of `kp_anm_joint`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_anm_hash(name: *const c_char, hash: *mut u32) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `name` points to a zero-terminated text and `hash` is
        // writable, until this call returns.
        unsafe { put(hash, elf_hash(memory::text(name)?)) }
    })
}

/// Writes the pose at the time `time_s` in seconds. A time outside of the file gives the pose of
/// the nearer end. Each call reads the keys from the nearest earlier jump cache, or from the start
/// if there is no such cache. So use this function for import and comparison. For playback, build a
/// clip.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_anm_sample(anm: KpAnm, time_s: f32, pose: *const KpPose) -> KpStatus {
    call(|| {
        if !time_s.is_finite() {
            return Err(Failure::argument("the time is not a number"));
        }
        let anm = ANMS.get(anm.id)?;
        let joints = anm.joints().len();
        // SAFETY: the caller guarantees that `pose` and the memory that it describes are valid
        // until this call returns.
        let writer = unsafe { Writer::new(&pose_of(pose)?, joints)? };
        let mut sampled = vec![Transform::IDENTITY; joints];
        AnmPlayer::new(&anm).sample(time_s, &mut sampled);
        writer.take(&mut sampled);
        Ok(())
    })
}

/// Frees an `r3d2canm` file.
#[unsafe(no_mangle)]
pub extern "C" fn kp_anm_free(anm: KpAnm) -> KpStatus {
    call(|| ANMS.remove(anm.id))
}
