//! Datagrams: those that an endpoint has for the caller, and several that arrive as one.

use kinepack_net::{Channel, DatagramKind, datagram_kind, split_datagram};

use crate::KpStatus;
use crate::memory::{give, give_list, slice};
use crate::status::{Failure, call};

/// Whom a datagram is for.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KpDatagramKind {
    /// A hub.
    ToHub = 0,
    /// A receiver.
    ToReceiver = 1,
    /// A receiver of a stream.
    ToStreamReceiver = 2,
    /// A sender of a stream.
    ToStreamSender = 3,
}

/// A part of what arrived as one datagram.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpPart {
    /// Whom it is for.
    pub kind: KpDatagramKind,
    /// The channel of the endpoint.
    pub channel: u32,
    /// Where it begins.
    pub offset: usize,
    /// Its bytes.
    pub size: usize,
}

/// Splits what arrived as one datagram, such as an acknowledgement of a stream in front of a
/// snapshot: `*count` parts, if they are at most `capacity`. To combine datagrams, append one to the
/// other.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_split_datagram(
    datagram: *const u8,
    size: usize,
    parts: *mut KpPart,
    capacity: usize,
    count: *mut usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller lends the datagram.
        let datagram = unsafe { slice(datagram, size)? };
        let mut offset = 0;
        let mut found = Vec::new();
        for part in split_datagram(datagram).map_err(Failure::data)? {
            let kind = match datagram_kind(part) {
                Some(DatagramKind::ToHub) => KpDatagramKind::ToHub,
                Some(DatagramKind::ToReceiver) => KpDatagramKind::ToReceiver,
                Some(DatagramKind::StreamPacket) => KpDatagramKind::ToStreamReceiver,
                Some(DatagramKind::StreamAcknowledgement) => KpDatagramKind::ToStreamSender,
                _ => return Err(Failure::data("a part of the datagram is of no known kind")),
            };
            let channel = u32::from(Channel::of(part).number());
            found.push(KpPart { kind, channel, offset, size: part.len() });
            offset += part.len();
        }
        // SAFETY: the caller lends `capacity` parts, and `count`.
        unsafe { give_list(found.into_iter(), parts, capacity, count) }
    })
}

/// A channel by its number.
pub(crate) fn channel(number: u32) -> Result<Channel, Failure> {
    let channel = u8::try_from(number).ok().and_then(Channel::new);
    channel.ok_or_else(|| Failure::argument(format!("channel {number} is above {}", Channel::MAX)))
}

/// The datagram that the caller takes next, kept until its memory is large enough.
#[derive(Debug)]
pub(crate) struct Next<T>(Option<(T, Vec<u8>)>);

impl<T> Default for Next<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Copy> Next<T> {
    /// Gives the next datagram to the caller, and returns what came with it.
    ///
    /// # Safety
    /// As for [`give`].
    pub(crate) unsafe fn give(
        &mut self,
        poll: impl FnOnce() -> Option<(T, Vec<u8>)>,
        datagram: *mut u8,
        capacity: usize,
        size: *mut usize,
    ) -> Result<T, Failure> {
        if self.0.is_none() {
            self.0 = poll();
        }
        let nothing = || Failure::nothing("there is no datagram now");
        let (with, bytes) = self.0.as_ref().ok_or_else(nothing)?;
        // SAFETY: as for this function.
        unsafe { give(bytes, datagram, capacity, size)? };
        let with = *with;
        self.0 = None;
        Ok(with)
    }
}
