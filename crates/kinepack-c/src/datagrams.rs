//! Datagrams that an endpoint gives to the caller, and the parts of combined datagrams.

use kinepack_net::{Channel, DatagramKind, datagram_kind, split_datagram};

use crate::KpStatus;
use crate::memory::{give, give_list, slice};
use crate::status::{Failure, call};

/// The type of endpoint that handles a datagram.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KpDatagramKind {
    /// The datagram is for a hub.
    ToHub = 0,
    /// The datagram is for a receiver.
    ToReceiver = 1,
    /// The datagram is for a receiver of a stream.
    ToStreamReceiver = 2,
    /// The datagram is for a sender of a stream.
    ToStreamSender = 3,
}

/// A part of a received datagram.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpPart {
    /// The type of endpoint that handles the part.
    pub kind: KpDatagramKind,
    /// The channel of the endpoint.
    pub channel: u32,
    /// The offset of the part's first byte in the datagram.
    pub offset: usize,
    /// The size of the part in bytes.
    pub size: usize,
}

/// Splits a received datagram, such as an acknowledgement of a stream followed by a snapshot.
/// Writes `*count` parts, if they fit into `capacity`. To combine datagrams, append one to the
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
        // SAFETY: the caller guarantees that `datagram` has `size` readable bytes until this call
        // returns.
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
            let channel = u32::from(Channel::from_datagram(part).number());
            found.push(KpPart { kind, channel, offset, size: part.len() });
            offset += part.len();
        }
        // SAFETY: the caller guarantees that `parts` has `capacity` writable values and `count` is
        // writable, until this call returns.
        unsafe { give_list(found.into_iter(), parts, capacity, count) }
    })
}

/// Converts the number of a channel.
pub(crate) fn channel(number: u32) -> Result<Channel, Failure> {
    let channel = u8::try_from(number).ok().and_then(Channel::new);
    channel.ok_or_else(|| Failure::argument(format!("channel {number} is above {}", Channel::MAX)))
}

/// The datagram that the caller takes next, which is kept until the caller's memory is large
/// enough.
#[derive(Debug)]
pub(crate) struct Next<T>(Option<(T, Vec<u8>)>);

impl<T> Default for Next<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Copy> Next<T> {
    /// Copies the next datagram to the caller, and returns the value attached to it.
    ///
    /// # Safety
    /// The caller must meet the conditions of [`give`].
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
        // SAFETY: the caller guarantees that `datagram` has `capacity` writable bytes and `size` is
        // writable, until this call returns.
        unsafe { give(bytes, datagram, capacity, size)? };
        let with = *with;
        self.0 = None;
        Ok(with)
    }
}
