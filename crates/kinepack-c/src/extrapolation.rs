//! What is shown of entities whose next state is late, and how a receiver smooths their return.

use kinepack_net::Extrapolation;

use crate::KpStatus;
use crate::handles::lock;
use crate::hub::{HUBS, KpHub};
use crate::memory::duration;
use crate::receiver::{KpReceiver, RECEIVERS};
use crate::shown::{KpShown, write_list};
use crate::status::{Failure, call};

/// What playback shows of an entity whose next state has not arrived.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KpExtrapolation {
    /// The newest state is held. This is the default. Keep it, and draw without smoothing, for kinds
    /// that players aim at if a server rewinds: then it finds exactly what they saw.
    Hold = 0,
    /// The motion continues straight: at the field's velocity, or else like the entity's last two
    /// states. It slows down after half of the longest way, and stops after one and a half of it. An
    /// entity with a velocity always continues, so its velocity must be zero at rest. An entity that
    /// has just jumped is held.
    Straight = 1,
    /// The newest state is held, and the game moves the entity on by its own rules:
    /// `kp_shown_starved` tells for how long.
    Game = 2,
}

/// Chooses what a receiver shows of a kind of entities whose next state has not arrived: a
/// `KpExtrapolation`, for at most `at_most_ms`, up to 1,000. For `KP_EXTRAPOLATION_STRAIGHT` this is
/// the longest way, as a time at full speed. `KP_EXTRAPOLATION_HOLD` ignores it.
///
/// While a kind is not held, playback runs on although it starves, and does not lag more after that.
/// When the next state arrives, the shown place differs from the true one: see
/// `kp_receiver_set_smoothing`. Kinds that are held need that too.
#[unsafe(no_mangle)]
pub extern "C" fn kp_receiver_set_extrapolation(
    receiver: KpReceiver,
    kind: u32,
    extrapolation: i32,
    at_most_ms: u32,
) -> KpStatus {
    call(|| {
        let receiver = RECEIVERS.get(receiver.id)?;
        let mut receiver = lock(&receiver);
        let name = receiver.shown.kind_name(kind)?;
        let chosen = chosen(extrapolation, at_most_ms)?;
        receiver.receiver.set_extrapolation(&name, chosen).map_err(Failure::argument)
    })
}

/// Tells a hub what the receivers show of a kind of entities whose next state has not arrived, so
/// that `kp_hub_rewind` finds it: the arguments of `kp_receiver_set_extrapolation`. This changes
/// nothing that is sent.
///
/// A rewind finds what `kp_shown_read` wrote without smoothing, also for a kind that continues
/// straight. It cannot know what smoothing or the game's own rules added, because that depends on
/// the frames that the client drew. Hold kinds that players shoot at and draw them without
/// smoothing, or accept that a shot at a returning entity is off by what is left to fade.
#[unsafe(no_mangle)]
pub extern "C" fn kp_hub_set_extrapolation(
    hub: KpHub,
    kind: u32,
    extrapolation: i32,
    at_most_ms: u32,
) -> KpStatus {
    call(|| {
        let hub = HUBS.get(hub.id)?;
        let mut hub = lock(&hub);
        let name = hub.past.kind_name(kind)?;
        let chosen = chosen(extrapolation, at_most_ms)?;
        hub.hub.set_extrapolation(&name, chosen).map_err(Failure::argument)
    })
}

/// Makes `kp_shown_read` show a kind of entities without jumps when their next state arrives after
/// all: the distance from the shown place to the true one fades out, with a steady velocity. After
/// `fade_ms`, a twentieth is left. 0 ends that, as at first. An entity that jumps, or was added
/// again, does not fade. As long as no entity has waited for a state, nothing changes.
///
/// The numbers that fade are positions, other numbers with a range, and rotations; not velocities,
/// integers and flags. `kp_shown_places` and figures are not smoothed. Cost: a few states for each
/// entity that was shown in the last quarter of a second.
#[unsafe(no_mangle)]
pub extern "C" fn kp_receiver_set_smoothing(
    receiver: KpReceiver,
    kind: u32,
    fade_ms: u32,
) -> KpStatus {
    call(|| {
        let receiver = RECEIVERS.get(receiver.id)?;
        lock(&receiver).shown.set_smoothing(kind, duration(fade_ms))
    })
}

/// Writes for how long each of a kind's entities has waited for a newer state, in milliseconds, in
/// the order of their ids: `*count` times, if they fit into `capacity`. 0 if a later state is known.
/// The time counts as far as playback runs on. An entity at rest also has no later state, so the
/// time is long for entities that snapshots leave out because nothing changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_shown_starved(
    shown: KpShown,
    kind: u32,
    times_ms: *mut f64,
    capacity: usize,
    count: *mut usize,
) -> KpStatus {
    // SAFETY: the caller guarantees that `times_ms` has `capacity` writable values and `count` is
    // writable, until this call returns.
    unsafe { write_list(shown, times_ms, capacity, count, |showing| showing.starved_ms(kind)) }
}

fn chosen(extrapolation: i32, at_most_ms: u32) -> Result<Extrapolation, Failure> {
    let at_most = duration(at_most_ms);
    match extrapolation {
        0 => Ok(Extrapolation::Hold),
        1 => Ok(Extrapolation::Straight { at_most }),
        2 => Ok(Extrapolation::Game { at_most }),
        other => Err(Failure::argument(format!("no KpExtrapolation is {other}"))),
    }
}
