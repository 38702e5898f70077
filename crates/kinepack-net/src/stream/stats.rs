//! Counters of both ends of a stream.

use super::StreamRefused;

/// Counters of a [`StreamSender`](super::StreamSender).
///
/// ```
/// # use std::time::Duration;
/// # use kinepack::Pack;
/// # use kinepack::stream::{StreamCodec, StreamLevel};
/// # use kinepack_net::{StreamConfig, StreamReceiver, StreamSender};
/// # #[derive(Pack)]
/// # struct Input {
/// #     jump: bool,
/// # }
/// # let codec = StreamCodec::of::<Input>(StreamLevel::Packed)?;
/// # let mut client = StreamSender::new(&codec, StreamConfig::at_hz(60))?;
/// # let mut server = StreamReceiver::new(&codec, StreamConfig::at_hz(60))?;
/// for step in 0..60 {
///     client.push(&Input { jump: step == 7 })?;
///     let datagram = client.poll_transmit().ok_or("nothing to send")?;
///     # let _ = server.handle(Duration::from_secs(1) * step / 60, datagram)?;
///     // No acknowledgement arrives, so each packet is full.
/// }
/// let stats = client.stats();
/// assert_eq!((stats.records, stats.packets, stats.full), (60, 60, 60));
/// assert_eq!(stats.sent_records, 119, "each record twice, except the newest");
/// println!("{} bytes a second", stats.bytes);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamSenderStats {
    /// The number of records that the caller pushed.
    pub records: u64,
    /// The number of packets that the sender sent.
    pub packets: u64,
    /// How many of the sent packets were full.
    pub full: u64,
    /// The bytes of all packets.
    pub bytes: u64,
    /// The number of records in all packets, including repeats.
    pub sent_records: u64,
    /// The number of acknowledgements that provided a newer base.
    pub acknowledged: u64,
    /// The number of datagrams that the sender refused.
    pub refused: u64,
}

/// Counters of a [`StreamReceiver`](super::StreamReceiver).
///
/// [`StreamHandled`](super::StreamHandled) has an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamReceiverStats {
    /// The number of packets that the receiver accepted.
    pub packets: u64,
    /// How many of the accepted packets were full.
    pub full: u64,
    /// How many of the accepted packets arrived after a newer one.
    pub late: u64,
    /// The bytes of the accepted packets.
    pub bytes: u64,
    /// The number of records that the receiver handed on, each once.
    pub records: u64,
    /// How many of these records arrived as repeats, because the packet with their own number was
    /// lost or is still in flight.
    pub recovered: u64,
    /// The number of ticks whose record had arrived in time: see
    /// [`record_for_tick`](super::StreamReceiver::record_for_tick).
    pub in_time: u64,
    /// The number of ticks without a record, because it was lost or late.
    pub missed: u64,
    /// How many times a full packet restarted the stream, after a silence in which half the number
    /// space may have passed.
    pub restarts: u64,
    /// The number of packets that the receiver refused because of the kind or the length, or
    /// because the base is among the packet's own records.
    pub bad_headers: u64,
    /// The number of packets that the receiver refused because they are of a different codec.
    pub mismatched: u64,
    /// The number of packets that the receiver refused because they were received before.
    pub duplicates: u64,
    /// The number of packets that the receiver refused because they were too far before the newest.
    pub too_old: u64,
    /// The number of packets that the receiver refused because they were too far ahead of the
    /// newest.
    pub too_far_ahead: u64,
    /// The number of packets that the receiver refused, and therefore lost, because the receiver
    /// did not hold the base.
    pub lost_bases: u64,
    /// The number of packets that the receiver refused because they had more records than the rate
    /// allows.
    pub limited: u64,
    /// The number of packets that the receiver refused because their records could not be decoded.
    pub malformed: u64,
}

impl StreamReceiverStats {
    /// The number of all refused datagrams.
    pub fn refused(&self) -> u64 {
        self.bad_headers
            + self.mismatched
            + self.duplicates
            + self.too_old
            + self.too_far_ahead
            + self.lost_bases
            + self.limited
            + self.malformed
    }

    pub(super) fn count(&mut self, refused: &StreamRefused) {
        let counter = match refused {
            StreamRefused::Mismatch { .. } => &mut self.mismatched,
            StreamRefused::Duplicate => &mut self.duplicates,
            StreamRefused::TooOld => &mut self.too_old,
            StreamRefused::TooFarAhead { .. } => &mut self.too_far_ahead,
            StreamRefused::NoBase { .. } => &mut self.lost_bases,
            StreamRefused::Limited => &mut self.limited,
            StreamRefused::Malformed(_) => &mut self.malformed,
            _ => &mut self.bad_headers,
        };
        *counter += 1;
    }
}
