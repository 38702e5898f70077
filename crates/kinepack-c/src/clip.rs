//! Animation clips, and players that write their poses.

use std::ffi::c_char;
use std::sync::Mutex;

use kinepack_anim::{AnyClip, AnyPlayer, PlayError, PoseWriter, Transform, blend};

use crate::KpStatus;
use crate::handles::{Handles, lock};
use crate::memory::{check_out, give_text, put, slice, slice_mut};
use crate::pose::{KpPose, TakePose, Writer, pose_of};
use crate::skeleton::{KpRig, KpSkeleton, RIGS, SKELETONS};
use crate::status::{Failure, call};

/// A compressed animation clip. Immutable.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpClip {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static CLIPS: Handles<AnyClip> = Handles::new(15, "a clip");

/// Plays one clip on one character. Players of a clip share its memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpPlayer {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static PLAYERS: Handles<Mutex<Playing>> = Handles::new(16, "a player");

/// A player, with the numbers of its joints and curves, and a pose for blending.
#[derive(Debug)]
pub(crate) struct Playing {
    player: AnyPlayer,
    joints: usize,
    curves: usize,
    own: Vec<Transform>,
}

/// The properties of a clip.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpClipInfo {
    /// The number of joints.
    pub joints: u32,
    /// The number of sample times of the raw clip from which this clip was built.
    pub samples: u32,
    /// The number of samples per second.
    pub rate_hz: f32,
    /// The number of seconds from the first sample to the last.
    pub duration_s: f32,
    /// The hash of the clip's skeleton.
    pub skeleton_hash: u64,
    /// The size of the clip in memory in bytes, without its players.
    pub bytes: u64,
    /// The number of curves, which are values besides the joints, such as weights of blend shapes.
    pub curves: u32,
    /// The number of markers, which are named times, such as footsteps.
    pub markers: u32,
}

/// Reads a clip in memory form or disk form. Pass a zero `rig` for a clip without a rig. The caller
/// frees `*out` with `kp_clip_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_clip_from_bytes(
    bytes: *const u8,
    size: usize,
    rig: KpRig,
    out: *mut KpClip,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        // SAFETY: the caller guarantees that `bytes` has `size` readable bytes until this call
        // returns.
        let bytes = unsafe { slice(bytes, size)? };
        let clip = match rig.id {
            0 => AnyClip::from_bytes(bytes),
            id => AnyClip::with_rig(bytes, &*RIGS.get(id)?),
        };
        let clip = clip.map_err(Failure::data)?;
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpClip { id: CLIPS.add(clip) }) }
    })
}

/// Writes the properties of a clip to `*out`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_clip_info(clip: KpClip, out: *mut KpClipInfo) -> KpStatus {
    call(|| {
        let clip = CLIPS.get(clip.id)?;
        let info = clip.info();
        let described = KpClipInfo {
            joints: info.joints as u32,
            samples: info.samples as u32,
            rate_hz: info.rate_hz,
            duration_s: info.duration_s(),
            skeleton_hash: info.skeleton_hash,
            bytes: clip.as_bytes().len() as u64,
            curves: clip.curves() as u32,
            markers: clip.markers().count() as u32,
        };
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, described) }
    })
}

/// Writes the name of a curve, with a terminating zero: `*size` bytes including the zero, if they
/// fit into `capacity`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_clip_curve_name(
    clip: KpClip,
    curve: u32,
    name: *mut c_char,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        let clip = CLIPS.get(clip.id)?;
        let found = clip.curve_names().nth(curve as usize).ok_or_else(|| {
            Failure::argument(format!("curve {curve} of a clip with {}", clip.curves()))
        })?;
        // SAFETY: the caller guarantees that `name` has `capacity` writable bytes and `size` is
        // writable, until this call returns.
        unsafe { give_text(found, name, capacity, size) }
    })
}

/// Writes the time in seconds and the name of a marker. Markers are numbered in the order of their
/// times. The name has a terminating zero: `*size` bytes including the zero, if they fit into
/// `capacity`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_clip_marker(
    clip: KpClip,
    marker: u32,
    time_s: *mut f32,
    name: *mut c_char,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        check_out(time_s)?;
        let clip = CLIPS.get(clip.id)?;
        let found = clip.markers().nth(marker as usize).ok_or_else(|| {
            Failure::argument(format!("marker {marker} of a clip with {}", clip.markers().count()))
        })?;
        // SAFETY: the caller guarantees that `name` has `capacity` writable bytes, `size` and
        // `time_s` are writable, until this call returns.
        unsafe {
            give_text(found.name, name, capacity, size)?;
            put(time_s, found.time_s)
        }
    })
}

/// Frees a clip. Its players remain valid.
#[unsafe(no_mangle)]
pub extern "C" fn kp_clip_free(clip: KpClip) -> KpStatus {
    call(|| CLIPS.remove(clip.id))
}

/// Creates a player of a clip on its skeleton. The caller frees `*out` with `kp_player_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_player_new(
    clip: KpClip,
    skeleton: KpSkeleton,
    out: *mut KpPlayer,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        let (clip, skeleton) = (CLIPS.get(clip.id)?, SKELETONS.get(skeleton.id)?);
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { add_player(&clip, clip.player(&skeleton), out) }
    })
}

/// Creates a player of a clip on an engine's skeleton, without comparing that skeleton with the
/// clip's. Channels that the clip does not store keep the values of the bind pose `bind`. The
/// caller frees `*out` with `kp_player_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_player_with_bind_pose(
    clip: KpClip,
    bind: *const KpPose,
    out: *mut KpPlayer,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        let clip = CLIPS.get(clip.id)?;
        // SAFETY: the caller guarantees that `bind` and the memory that it describes are valid and
        // `out` is writable, until this call returns.
        unsafe {
            let bind = Writer::new(&pose_of(bind)?, clip.joints())?.read();
            let finite = |of: &Transform| {
                let Transform { rotation, translation, scale } = of;
                rotation.iter().chain(translation).chain(scale).all(|number| number.is_finite())
            };
            if !bind.iter().all(finite) {
                return Err(Failure::argument("the bind pose has a number that is not finite"));
            }
            add_player(&clip, clip.player_with_bind_pose(&bind), out)
        }
    })
}

/// Writes the pose at the time `time_s` in seconds. Times outside the clip give its first or last
/// pose.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_player_sample(
    player: KpPlayer,
    time_s: f32,
    pose: *const KpPose,
) -> KpStatus {
    call(|| {
        let time_s = finite(time_s)?;
        PLAYERS.with(player.id, |player| {
            let Playing { player, joints, .. } = &mut *lock(player);
            // SAFETY: the caller guarantees that `pose` and the memory that it describes are valid
            // until this call returns.
            let writer = unsafe { Writer::new(&pose_of(pose)?, *joints)? };
            writer.take(&mut At { player, time_s });
            Ok(())
        })
    })
}

/// Writes the pose at `position`, counted in samples from the first. Whole numbers are the sample
/// times.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_player_sample_at(
    player: KpPlayer,
    position: f64,
    pose: *const KpPose,
) -> KpStatus {
    call(|| {
        if !position.is_finite() {
            return Err(Failure::argument("the position is not a number"));
        }
        let player = PLAYERS.get(player.id)?;
        let Playing { player, joints, own, .. } = &mut *lock(&player);
        // SAFETY: the caller guarantees that `pose` and the memory that it describes are valid
        // until this call returns.
        let writer = unsafe { Writer::new(&pose_of(pose)?, *joints)? };
        own.resize(*joints, Transform::IDENTITY);
        player.sample_at(position, own);
        writer.take(own);
        Ok(())
    })
}

/// Writes the values of all curves at the time `time_s` in seconds. `count` must be the clip's
/// number of curves.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_player_curves(
    player: KpPlayer,
    time_s: f32,
    curves: *mut f32,
    count: usize,
) -> KpStatus {
    call(|| {
        let time_s = finite(time_s)?;
        let player = PLAYERS.get(player.id)?;
        let Playing { player, curves: own, .. } = &mut *lock(&player);
        if count != *own {
            return Err(Failure::argument(format!("room for {count} of {own} curves")));
        }
        // SAFETY: the caller guarantees that `curves` has `count` writable values until this call
        // returns.
        player.curves(time_s, unsafe { slice_mut(curves, count)? });
        Ok(())
    })
}

/// Writes a blend of the poses of two players of the same skeleton. A `weight` of 0 gives the first
/// pose, and a `weight` of 1 gives the second pose. `mask` has a factor for each joint, which
/// scales the weight. With a `mask_count` of 0 there is no mask.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_player_blend(
    player: KpPlayer,
    time_s: f32,
    other: KpPlayer,
    other_time_s: f32,
    weight: f32,
    mask: *const f32,
    mask_count: usize,
    pose: *const KpPose,
) -> KpStatus {
    call(|| {
        let [first, second] = [PLAYERS.get(player.id)?, PLAYERS.get(other.id)?];
        let weight = finite(weight)?;
        let sample = |playing: &Mutex<Playing>, time_s: f32| {
            let mut playing = lock(playing);
            let Playing { player, joints, own, .. } = &mut *playing;
            let mut pose = std::mem::take(own);
            pose.resize(*joints, Transform::IDENTITY);
            player.sample(finite(time_s)?, &mut pose);
            Ok::<_, Failure>(pose)
        };
        // Lock one player at a time: both handles may be the same player, and two threads may pass
        // the players in opposite orders.
        let mut mixed = sample(&first, time_s)?;
        let with = sample(&second, other_time_s)?;
        if mixed.len() != with.len() {
            let text = format!("the players have {} and {} joints", mixed.len(), with.len());
            return Err(Failure::argument(text));
        }
        // SAFETY: the caller guarantees that `mask` has `mask_count` readable values until this
        // call returns.
        let mask = unsafe { slice(mask, mask_count)? };
        if mask.is_empty() {
            blend(&mut mixed, &with, weight);
        } else if mask.len() != mixed.len() {
            let text = format!("a mask of {} for {} joints", mask.len(), mixed.len());
            return Err(Failure::argument(text));
        } else {
            for ((to, with), share) in mixed.iter_mut().zip(&with).zip(mask) {
                blend(std::slice::from_mut(to), std::slice::from_ref(with), weight * share);
            }
        }
        // SAFETY: the caller guarantees that `pose` and the memory that it describes are valid
        // until this call returns.
        let writer = unsafe { Writer::new(&pose_of(pose)?, mixed.len())? };
        writer.take(&mut mixed);
        lock(&first).own = mixed;
        lock(&second).own = with;
        Ok(())
    })
}

/// Frees a player.
#[unsafe(no_mangle)]
pub extern "C" fn kp_player_free(player: KpPlayer) -> KpStatus {
    call(|| PLAYERS.remove(player.id))
}

/// Adds a player, and writes its handle to `*out`.
///
/// # Safety
/// The caller must meet the conditions of [`put`].
unsafe fn add_player(
    clip: &AnyClip,
    player: Result<AnyPlayer, PlayError>,
    out: *mut KpPlayer,
) -> Result<(), Failure> {
    let player = player.map_err(Failure::argument)?;
    let playing = Playing { player, joints: clip.joints(), curves: clip.curves(), own: Vec::new() };
    // SAFETY: the caller guarantees that `out` is writable until this call returns.
    unsafe { put(out, KpPlayer { id: PLAYERS.add(Mutex::new(playing)) }) }
}

fn finite(number: f32) -> Result<f32, Failure> {
    if number.is_finite() {
        Ok(number)
    } else {
        Err(Failure::argument("a time or a weight is not a number"))
    }
}

/// A player at the time `time_s`.
struct At<'a> {
    player: &'a mut AnyPlayer,
    time_s: f32,
}

impl TakePose for At<'_> {
    fn write(&mut self, writer: &mut impl PoseWriter) {
        self.player.write(self.time_s, writer);
    }
}
