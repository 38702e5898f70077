//! The clips that figures play: plays in the caller's memory, and what a body plays.

use std::ffi::c_char;

use kinepack::Tick;
use kinepack_anim::figure::{ClipPlay, FigureError};

use crate::KpStatus;
use crate::figure::{FIGURES, KpFigure, refused};
use crate::handles::lock;
use crate::memory::{check_out, put, required};
use crate::shown::KpShown;
use crate::snapshot::{KpSnapshot, SNAPSHOTS};
use crate::status::{Failure, call};

/// A clip that the bodies of a figure can play. Both sides have the same clips in the same order.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpFigureClip {
    /// The name. The schema's hash covers it.
    pub name: *const c_char,
}

/// A clip that a body plays. While it stays the same, it takes no bits, although its time runs: keep
/// it from its start to its end, and push it with every pose.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpClipPlay {
    /// The clip's time at tick `since`, in ticks, from −2²¹ to below 2²¹. It is rounded to 1/1024.
    pub time_ticks: f64,
    /// The ticks of the clip that pass per tick, from −16 to 16. It is rounded to 1/1024. 0 is a
    /// paused clip, and negative numbers play backwards.
    pub speed: f64,
    /// The weight, from 0 to 1. It is rounded to a multiple of 1/255.
    pub weight: f32,
    /// The slot in which the clip plays.
    pub slot: u32,
    /// The index of the clip.
    pub clip: u32,
    /// The tick at which the clip started, or at which its time or speed changed last.
    pub since: u32,
}

/// A clip that a body plays at a moment.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpShownClip {
    /// The time to show, in ticks from the beginning of the clip. It may be negative or beyond the
    /// end of the clip.
    pub time_ticks: f64,
    /// The ticks of the clip that pass per tick.
    pub speed: f64,
    /// The weight, from 0 to 1.
    pub weight: f32,
    /// The index of the clip.
    pub clip: u32,
}

/// Writes the clip `*play` with another speed to `*out`. Its time stays the same at `tick`. `out` may
/// be `play`. Returns `KP_STATUS_VALUE` for numbers that are out of range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_clip_play_with_speed(
    play: *const KpClipPlay,
    tick: u32,
    speed: f64,
    out: *mut KpClipPlay,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `play` is readable until this call returns.
        let own = unsafe { *required(play)? };
        let changed = own.play().and_then(|play| play.with_speed(Tick(tick), speed));
        let changed = KpClipPlay::new(own.slot, changed.map_err(|error| refused(&error))?);
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, changed) }
    })
}

/// Writes the clip that an entity of a snapshot plays in a slot. Returns `KP_STATUS_NOTHING` if the
/// kind has no entity `id`, or the slot is empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_figure_clip(
    figure: KpFigure,
    snapshot: KpSnapshot,
    kind: u32,
    id: u32,
    slot: u32,
    out: *mut KpClipPlay,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        let (body, world) = (FIGURES.get(figure.id)?, SNAPSHOTS.get(snapshot.id)?);
        let (mut body, world) = (lock(&body), lock(&world));
        check_slot(slot, body.figure.clip_slot_count())?;
        let state = (&world.snapshot, body.find(&world, kind, id)?);
        let play = body.figure.clip(state, slot as usize).ok_or_else(no_clip)?;
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpClipPlay::new(slot, play)) }
    })
}

/// Writes the clip that an entity plays in a slot, whose pose `kp_figure_show` writes. `tick` is the
/// shown tick with its fraction, of a `KpPlayback`. If the same clip continues, its time is exact
/// and its weight is interpolated. Otherwise the clip is as in the earlier state, and its time runs
/// on, until the later state is reached. Returns `KP_STATUS_NOTHING` if no entity `id` is shown, or
/// the slot is empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_figure_shown_clip(
    figure: KpFigure,
    shown: KpShown,
    kind: u32,
    id: u32,
    tick: f64,
    slot: u32,
    out: *mut KpShownClip,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        let body = FIGURES.get(figure.id)?;
        let mut body = lock(&body);
        check_slot(slot, body.figure.clip_slot_count())?;
        let between = body.copy(shown, kind, id)?;
        let [from, to] = body.states.each_ref().map(|state| (state, 0));
        let shown = body.figure.interpolate_clip(from, to, between, tick, slot as usize);
        let shown = shown.ok_or_else(no_clip)?;
        let shown = KpShownClip {
            time_ticks: shown.time_ticks,
            speed: shown.speed,
            weight: shown.weight,
            clip: shown.clip as u32,
        };
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, shown) }
    })
}

/// Reads the clips that a body plays, which are at most one in each of the slots.
pub(crate) fn take_plays(
    plays: &[KpClipPlay],
    slots: usize,
    to: &mut Vec<Option<ClipPlay>>,
) -> Result<(), Failure> {
    to.clear();
    to.resize(slots, None);
    for play in plays {
        check_slot(play.slot, slots)?;
        let own = play.play().map_err(|error| refused(&error))?;
        if to[play.slot as usize].replace(own).is_some() {
            return Err(Failure::argument(format!("two clips in slot {}", play.slot)));
        }
    }
    Ok(())
}

impl KpClipPlay {
    fn new(slot: u32, play: ClipPlay) -> Self {
        let since = play.since();
        Self {
            time_ticks: play.time_ticks(since.0.into()),
            speed: play.speed(),
            weight: play.weight(),
            slot,
            clip: play.clip() as u32,
            since: since.0,
        }
    }

    fn play(&self) -> Result<ClipPlay, FigureError> {
        let since = Tick(self.since);
        ClipPlay::start(self.clip as usize, since)
            .with_time(since, self.time_ticks)?
            .with_speed(since, self.speed)?
            .with_weight(self.weight)
    }
}

fn check_slot(slot: u32, slots: usize) -> Result<(), Failure> {
    if (slot as usize) < slots {
        return Ok(());
    }
    Err(Failure::argument(format!("no slot {slot}; the figure has {slots}")))
}

fn no_clip() -> Failure {
    Failure::nothing("the slot is empty")
}
