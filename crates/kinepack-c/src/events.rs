//! Kinds of events, such as hits and sounds, which travel with the snapshots.

use kinepack_net::EventKinds;

use crate::KpStatus;
use crate::codec::{CODECS, KpCodec};
use crate::handles::Handles;
use crate::memory::{check_out, put, slice};
use crate::status::{Failure, call};

/// Kinds of events. Both sides of a connection need the same kinds. Immutable.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpEvents {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static EVENTS: Handles<EventKinds> = Handles::new(10, "kinds of events");

/// Creates kinds of events from the schema of a codec. `longest_ticks` has a number for each kind:
/// how many ticks an event may wait before it is dropped. A negative number marks a kind whose
/// events must arrive. With a `count` of 0, the events of all kinds must arrive. The caller frees
/// `*out` with `kp_events_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_events_new(
    codec: KpCodec,
    longest_ticks: *const i32,
    count: usize,
    out: *mut KpEvents,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        // SAFETY: the caller guarantees that `longest_ticks` has `count` readable values until this
        // call returns.
        let longest_ticks = unsafe { slice(longest_ticks, count)? };
        let codec = CODECS.get(codec.id)?;
        let kinds = codec.schema().kinds().len();
        if count != 0 && count != kinds {
            return Err(Failure::argument(format!("{count} numbers for {kinds} kinds")));
        }
        let mut events = EventKinds::new(&codec);
        for (kind, ticks) in longest_ticks.iter().enumerate() {
            if let Ok(ticks) = u32::try_from(*ticks) {
                events = events.droppable_kind(kind, ticks).map_err(Failure::argument)?;
            }
        }
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpEvents { id: EVENTS.add(events) }) }
    })
}

/// Frees kinds of events. Objects made with them remain valid.
#[unsafe(no_mangle)]
pub extern "C" fn kp_events_free(events: KpEvents) -> KpStatus {
    call(|| EVENTS.remove(events.id))
}

/// The kinds of events of an optional handle. A handle of 0 means no events.
pub(crate) fn events_of(events: KpEvents) -> Result<Option<EventKinds>, Failure> {
    match events.id {
        0 => Ok(None),
        id => Ok(Some(EventKinds::clone(&*EVENTS.get(id)?))),
    }
}
