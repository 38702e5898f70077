//! Receivers: the world of a hub, decoded, buffered and interpolated.

use std::sync::Mutex;

use kinepack::Schema;
use kinepack_net::{Playback, Receiver, ReceiverConfig};

use crate::KpStatus;
use crate::codec::{CODECS, KpCodec};
use crate::handles::{Handles, lock};
use crate::memory::{check_out, give, put, slice, time};
use crate::schema::one_of;
use crate::snapshot::{KpSnapshot, KpTarget, SNAPSHOTS, write_ids, write_rows};
use crate::status::{Failure, call};

/// Receives the world of a hub. It has no socket and no clock.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpReceiver {
    /// Zero is no handle.
    pub id: u64,
}

pub(crate) static RECEIVERS: Handles<Mutex<Receiving>> = Handles::new(9, "a receiver");

/// A receiver, what it shows, and the datagram that the caller takes next.
#[derive(Debug)]
pub(crate) struct Receiving {
    receiver: Receiver,
    shown: Vec<Shown>,
    next: Option<Vec<u8>>,
}

/// The entities of a kind at the moment that is shown.
#[derive(Debug)]
struct Shown {
    /// The kind alone.
    schema: Schema,
    ids: Vec<u32>,
    /// The raw words of each entity.
    words: Vec<u64>,
}

/// What a receiver plays.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpPlayback {
    /// The tick that is shown, with its fraction.
    pub tick: f64,
    /// Not 0: no newer state had arrived when it was needed.
    pub is_starved: i32,
}

/// A receiver for a hub with this many ticks a second. The caller frees `*out` with
/// `kp_receiver_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_receiver_new(
    codec: KpCodec,
    tick_hz: u32,
    out: *mut KpReceiver,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        let codec = CODECS.get(codec.id)?;
        let config = ReceiverConfig::at_hz(tick_hz);
        let receiver = Receiver::new(&codec, config).map_err(Failure::argument)?;
        let schema = codec.schema();
        let kinds = (0..schema.kinds().len()).map(|kind| schema.of_kind(kind));
        let empty = |schema| Shown { schema, ids: Vec::new(), words: Vec::new() };
        let shown = kinds.map(empty).collect();
        let receiving = Receiving { receiver, shown, next: None };
        // SAFETY: `out` is the caller's.
        unsafe { put(out, KpReceiver { id: RECEIVERS.add(Mutex::new(receiving)) }) }
    })
}

/// Takes a datagram of the hub. One that is refused, such as a duplicate, is `KP_STATUS_DATA`; only
/// counters have changed then. All times are nanoseconds since any fixed moment.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_receiver_handle(
    receiver: KpReceiver,
    now_ns: u64,
    datagram: *const u8,
    size: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller lends the datagram.
        let datagram = unsafe { slice(datagram, size)? };
        let receiver = RECEIVERS.get(receiver.id)?;
        let handled = lock(&receiver).receiver.handle(time(now_ns), datagram);
        handled.map(drop).map_err(Failure::data)
    })
}

/// The next datagram for the hub. `KP_STATUS_NOTHING` if there is none now. If `capacity` is too
/// small, only `*size` is written, and the datagram stays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_receiver_poll(
    receiver: KpReceiver,
    now_ns: u64,
    datagram: *mut u8,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        let receiver = RECEIVERS.get(receiver.id)?;
        let mut receiver = lock(&receiver);
        let Receiving { receiver, next, .. } = &mut *receiver;
        if next.is_none() {
            *next = receiver.poll_transmit(time(now_ns)).map(<[u8]>::to_vec);
        }
        let nothing = || Failure::new(KpStatus::Nothing, "there is no datagram now");
        // SAFETY: the caller lends `capacity` bytes and `size`.
        unsafe { give(next.as_ref().ok_or_else(nothing)?, datagram, capacity, size)? };
        *next = None;
        Ok(())
    })
}

/// Computes what to show now, for `kp_receiver_ids` and `kp_receiver_read`: a little in the past and
/// interpolated. `KP_STATUS_NOTHING` before the first state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_receiver_play(
    receiver: KpReceiver,
    now_ns: u64,
    out: *mut KpPlayback,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        let receiver = RECEIVERS.get(receiver.id)?;
        let mut receiver = lock(&receiver);
        let Receiving { receiver, shown, .. } = &mut *receiver;
        let playback = receiver.playback(time(now_ns)).ok_or_else(nothing_yet)?;
        show(shown, &playback)?;
        let is_starved = playback.is_starved().into();
        // SAFETY: `out` is the caller's.
        unsafe { put(out, KpPlayback { tick: playback.tick(), is_starved }) }
    })
}

/// Writes the ids of the entities of a kind that are shown, which increase: `*count` of them, if they
/// are at most `capacity`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_receiver_ids(
    receiver: KpReceiver,
    kind: u32,
    ids: *mut u32,
    capacity: usize,
    count: *mut usize,
) -> KpStatus {
    call(|| {
        let receiver = RECEIVERS.get(receiver.id)?;
        let receiver = lock(&receiver);
        let from = one_of(&receiver.shown, kind)?.ids.iter().copied();
        // SAFETY: the caller lends `capacity` numbers, and `count`.
        unsafe { write_ids(from, ids, capacity, count) }
    })
}

/// Writes the numbers of the entities of a kind that are shown, in the order of their ids, as
/// `kp_snapshot_read` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_receiver_read(
    receiver: KpReceiver,
    kind: u32,
    capacity: usize,
    targets: *const KpTarget,
    target_count: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller lends them.
        let targets = unsafe { slice(targets, target_count)? };
        let receiver = RECEIVERS.get(receiver.id)?;
        let receiver = lock(&receiver);
        let Shown { schema, ids, words } = one_of(&receiver.shown, kind)?;
        let read = |row: usize, to: &mut [u64]| {
            let lanes = to.len();
            to.copy_from_slice(&words[row * lanes..][..lanes]);
            Ok(())
        };
        // SAFETY: the caller lends memory for `capacity` entities at each target.
        unsafe { write_rows(schema.fields(), targets, ids.len(), capacity, read) }
    })
}

/// Copies the newest state into a snapshot of the same schema, neither delayed nor interpolated.
/// `KP_STATUS_NOTHING` before the first state.
#[unsafe(no_mangle)]
pub extern "C" fn kp_receiver_newest(receiver: KpReceiver, snapshot: KpSnapshot) -> KpStatus {
    call(|| {
        let (receiver, world) = (RECEIVERS.get(receiver.id)?, SNAPSHOTS.get(snapshot.id)?);
        let (receiver, mut world) = (lock(&receiver), lock(&world));
        let newest = receiver.receiver.newest().ok_or_else(nothing_yet)?;
        if newest.schema_hash() != world.snapshot.schema_hash() {
            return Err(Failure::argument("the snapshot is of another schema than the receiver"));
        }
        world.snapshot.copy_from(newest);
        Ok(())
    })
}

/// Frees a receiver.
#[unsafe(no_mangle)]
pub extern "C" fn kp_receiver_free(receiver: KpReceiver) -> KpStatus {
    call(|| RECEIVERS.remove(receiver.id))
}

fn nothing_yet() -> Failure {
    Failure::new(KpStatus::Nothing, "no state has arrived yet")
}

/// Keeps what a playback shows.
fn show(shown: &mut [Shown], playback: &Playback<'_>) -> Result<(), Failure> {
    for of_kind in &mut *shown {
        of_kind.ids.clear();
        of_kind.words.clear();
    }
    let [mut from, mut to] = [Vec::new(), Vec::new()];
    for sample in playback.samples() {
        let (state, index) = sample.from;
        let of_kind = &mut shown[state.kind_at(index).unwrap_or(0)];
        for (lanes, (state, index)) in [(&mut from, sample.from), (&mut to, sample.to)] {
            lanes.clear();
            lanes.extend(state.lanes_at(index));
        }
        let begin = of_kind.words.len();
        of_kind.words.resize(begin + from.len(), 0);
        let words = &mut of_kind.words[begin..];
        let interpolated = of_kind.schema.interpolate_raw(&from, &to, sample.between, words);
        interpolated.map_err(Failure::argument)?;
        of_kind.ids.push(sample.id.0);
    }
    Ok(())
}
