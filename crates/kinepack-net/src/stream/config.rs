//! What can be chosen about a stream.

use core::fmt;
use std::time::Duration;

use super::packet::MOST_RECORDS;
use crate::Sequence;

/// How a stream is sent and what its receiver puts up with. Both ends should have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamConfig {
    /// Records a second. A receiver takes an eighth more in the long run, for clocks and timers
    /// that are not exact.
    pub rate_hz: u32,
    /// The longest round trip that costs nothing: from sending a packet until its acknowledgement
    /// is there, the pause until the other side sends something included. Where it takes longer,
    /// packets are full, and so larger; none is lost by that.
    pub longest_round_trip: Duration,
    /// Records that are repeated in each packet, 0 to 15: those before the newest, as far as they
    /// are not acknowledged. A record is lost only where the packets of its own number and of so
    /// many after it are.
    pub repeats: u8,
    /// New records that a receiver takes at once, at least 16: what a stall of the network holds
    /// back and then delivers.
    pub burst_records: u16,
    /// The largest datagram that the transport takes. Repeats that do not fit are left out; a
    /// single record is sent in any case.
    pub datagram_bytes: usize,
    /// The number of a sender's first record.
    pub first_number: Sequence,
}

/// The most packets in a ring: a packet names its base by a byte.
pub(super) const MOST_PACKETS: usize = 256;
/// The fewest. Below, what is overtaken twice is too old.
const FEWEST_PACKETS: usize = 8;
const MOST_HZ: u32 = 10_000;
const LONGEST_ROUND_TRIP: Duration = Duration::from_secs(60);

/// Length of the rings of both ends: how many records each holds to code against.
///
/// A sender needs the record that was acknowledged last. When the acknowledgement comes, so many
/// were sent since as go out within a round trip: `longest_round_trip × rate_hz`. A quarter more,
/// and four, are for jitter and for packets that others overtook; the next power of two, so that
/// numbers that wrap stay in their places. A receiver needs as many: each packet that comes in
/// order then finds its base. 8 to 256: a packet names its base by a byte. Where that is too few,
/// packets are full while the round trip is longer than the ring.
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

impl Default for StreamConfig {
    /// For inputs at 60 Hz on the open Internet: half a second is above the round trips of bad
    /// mobile networks, and an input later than that is of little use. One repeat loses one input
    /// in 400 where one packet in 20 is lost. The burst is a ring's length: a stall of half a
    /// second, and soon after it another. 1,200 bytes pass every path in one piece.
    fn default() -> Self {
        Self {
            rate_hz: 60,
            longest_round_trip: Duration::from_millis(500),
            repeats: 1,
            burst_records: 64,
            datagram_bytes: 1_200,
            first_number: Sequence(0),
        }
    }
}

impl StreamConfig {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`StreamError`], the first that is found.
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

    /// [`ring_packets`] of this configuration.
    pub fn ring_packets(&self) -> usize {
        ring_packets(self.longest_round_trip, self.rate_hz)
    }
}

/// Why a [`StreamConfig`] was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamError {
    /// No records a second, or more than 10,000.
    BadRate {
        /// What was given.
        rate_hz: u32,
    },
    /// A longest round trip of zero, or above a minute.
    BadRoundTrip {
        /// What was given.
        longest: Duration,
    },
    /// More repeats than a packet has room for.
    TooManyRepeats {
        /// What was given.
        repeats: u8,
    },
    /// A burst below the records of one packet.
    BurstTooSmall {
        /// What was given.
        burst_records: u16,
    },
    /// A datagram size outside of 128 to 65,507 bytes.
    DatagramBytes {
        /// What was given.
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
                    "a longest round trip of {longest:?} is not above 0 and at most {LONGEST_ROUND_TRIP:?}"
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
