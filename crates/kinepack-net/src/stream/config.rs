//! The settings of a stream.

use core::fmt;
use std::time::Duration;

use super::packet::MOST_RECORDS;
use crate::{Channel, Sequence};

/// How a sender sends a stream, and what a receiver accepts. Both ends should use the same
/// settings.
///
/// ```
/// use std::time::Duration;
/// use kinepack_net::StreamConfig;
///
/// // 128 inputs per second, each sent three times.
/// let config = StreamConfig { repeats: 2, ..StreamConfig::at_hz(128) };
/// assert_eq!(config.validate(), Ok(()));
/// assert_eq!(config.ring_packets(), 128);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamConfig {
    /// The maximum number of records per second. In the long run, a receiver accepts an eighth
    /// more, because clocks and timers are not exact. It refuses records above that higher rate.
    pub rate_hz: u32,
    /// The longest round trip without extra cost. It is the time from sending a packet until its
    /// acknowledgement arrives, including the wait until the other side sends something. If the
    /// round trip is longer, packets are full: they have no base and are larger, but no packet is
    /// lost.
    pub longest_round_trip: Duration,
    /// How many unacknowledged earlier records each packet repeats, 0 to 15. A record is lost only
    /// if its own packet and that many packets after it are lost.
    pub repeats: u8,
    /// How many new records a receiver accepts at once, at least 16. After a stall, the network
    /// delivers many records together.
    pub burst_records: u16,
    /// The channel of the stream, which distinguishes several streams on one connection.
    pub channel: Channel,
    /// The largest datagram that the transport carries. Repeats that do not fit are left out, but
    /// the newest record is always sent.
    pub datagram_bytes: usize,
    /// The number of the first record that a sender pushes.
    pub first_number: Sequence,
}

/// The maximum number of packets in a ring, because one byte of a packet names its base.
pub(super) const MOST_PACKETS: usize = 256;
/// The minimum number of packets in a ring. In a smaller ring, a packet that is overtaken twice
/// would be too old.
const FEWEST_PACKETS: usize = 8;
const MOST_HZ: u32 = 10_000;
const LONGEST_ROUND_TRIP: Duration = Duration::from_secs(60);

/// The length of the rings at both ends: how many records each end holds as bases.
///
/// A sender needs the last acknowledged record. When the acknowledgement arrives, the sender has
/// sent `longest_round_trip × rate_hz` more records. Because of jitter and overtaken packets, the
/// ring has room for a quarter more, plus four. Its length is rounded up to a power of two, so that
/// numbers that wrap stay in their places. A receiver needs a ring of the same length, so that it
/// still holds the base of each packet that arrives in order. The result is 8 to 256, because one
/// byte of a packet names its base. If the round trip is longer than 256 records, packets are full.
///
/// ```
/// use std::time::Duration;
/// use kinepack_net::ring_packets;
///
/// assert_eq!(ring_packets(Duration::from_millis(500), 60), 64);
/// assert_eq!(ring_packets(Duration::from_millis(50), 30), 8);
/// assert_eq!(ring_packets(Duration::from_secs(10), 128), 256);
/// ```
pub fn ring_packets(longest_round_trip: Duration, rate_hz: u32) -> usize {
    const NANOS_PER_S: u128 = 1_000_000_000;
    let within = (longest_round_trip.as_nanos() * u128::from(rate_hz)).div_ceil(NANOS_PER_S);
    let needed = (within + within.div_ceil(4) + 4).min(MOST_PACKETS as u128) as usize;
    needed.next_power_of_two().max(FEWEST_PACKETS)
}

impl StreamConfig {
    /// The settings for inputs at `rate_hz` on the open Internet.
    ///
    /// The longest round trip is half a second. That is longer than the round trips of bad mobile
    /// networks, and later inputs are of little use. With one repeat and a loss of one packet in
    /// 20, one input in 400 is lost. The burst is as long as a ring, which is enough for a stall of
    /// half a second and for another stall soon after it. Datagrams of 1,200 bytes pass every path
    /// in one piece.
    pub fn at_hz(rate_hz: u32) -> Self {
        Self {
            rate_hz,
            longest_round_trip: Duration::from_millis(500),
            repeats: 1,
            burst_records: 64,
            channel: Channel::default(),
            datagram_bytes: 1_200,
            first_number: Sequence(0),
        }
    }

    /// Checks that each setting is in its range.
    ///
    /// # Errors
    /// Returns [`StreamError`] for the first setting that is out of range.
    pub fn validate(&self) -> Result<(), StreamError> {
        if !(1..=MOST_HZ).contains(&self.rate_hz) {
            return Err(StreamError::BadRate { rate_hz: self.rate_hz });
        }
        if self.longest_round_trip.is_zero() || self.longest_round_trip > LONGEST_ROUND_TRIP {
            return Err(StreamError::BadRoundTrip { longest: self.longest_round_trip });
        }
        if usize::from(self.repeats) >= MOST_RECORDS {
            return Err(StreamError::TooManyRepeats { repeats: self.repeats });
        }
        if usize::from(self.burst_records) < MOST_RECORDS {
            return Err(StreamError::BurstTooSmall { burst_records: self.burst_records });
        }
        if !(128..=65_507).contains(&self.datagram_bytes) {
            return Err(StreamError::DatagramBytes { bytes: self.datagram_bytes });
        }
        Ok(())
    }

    /// The length that [`ring_packets`] computes for this configuration.
    pub fn ring_packets(&self) -> usize {
        ring_packets(self.longest_round_trip, self.rate_hz)
    }
}

/// Why a [`StreamConfig`] was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamError {
    /// The rate is 0, or above 10,000 records per second.
    BadRate {
        /// The given rate.
        rate_hz: u32,
    },
    /// The longest round trip is zero, or above a minute.
    BadRoundTrip {
        /// The given round trip.
        longest: Duration,
    },
    /// There are more repeats than a packet has room for.
    TooManyRepeats {
        /// The given number of repeats.
        repeats: u8,
    },
    /// The burst is smaller than the records of one packet.
    BurstTooSmall {
        /// The given burst.
        burst_records: u16,
    },
    /// The datagram size is outside of 128 to 65,507 bytes.
    DatagramBytes {
        /// The given size.
        bytes: usize,
    },
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadRate { rate_hz } => {
                write!(f, "{rate_hz} records a second; 1 to {MOST_HZ} are possible")
            }
            Self::BadRoundTrip { longest } => {
                write!(
                    f,
                    "a longest round trip of {longest:?} is not above 0 and at most \
                     {LONGEST_ROUND_TRIP:?}"
                )
            }
            Self::TooManyRepeats { repeats } => {
                write!(f, "{repeats} repeats, a packet has at most 15")
            }
            Self::BurstTooSmall { burst_records } => {
                write!(f, "a burst of {burst_records} records; at least 16 are needed")
            }
            Self::DatagramBytes { bytes } => {
                write!(f, "datagrams of {bytes} bytes; 128 to 65507 are possible")
            }
        }
    }
}

impl core::error::Error for StreamError {}
