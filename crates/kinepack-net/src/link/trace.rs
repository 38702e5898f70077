//! A link's capacity over time, in the form of Mahimahi's traces: the times at which the link can
//! send 1,500 bytes.
//!
//! The form is that of `mm-link` (Netravali et al., "Mahimahi: Accurate Record-and-Replay for
//! HTTP", 2015), and the accounting follows its `link_queue.cc`. The times are kept as they are in
//! the text. All arithmetic is in integers: a trace is the same on every platform.
//!
//! The opportunities of all repetitions form one row of bytes. A position in this row is the only
//! state of a queue that a trace drains, so a search by time replaces a simulation of each
//! opportunity. Cost of a search: O(log n) for n opportunities.

use core::fmt;
use core::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// The number of bytes that an opportunity lets pass, including headers.
const OPPORTUNITY_BYTES: u128 = 1_500;
/// The largest number of lines. They take 40 MB, and last for a day at 1.4 Mbit/s.
const MAX_OPPORTUNITIES: usize = 10_000_000;

/// What a link can carry over time: a list of opportunities. Each lets 1,500 bytes pass.
///
/// A trace is made from text in Mahimahi's form, or by name, see [`LinkTrace::named`].
/// [`Link::follow`](super::Link::follow) has a link follow it. Copies share their memory, which is
/// four bytes for each opportunity.
///
/// **The form.** Each line has one integer, the time of an opportunity in milliseconds since the
/// beginning. Times never fall; equal times are several opportunities at once. At the last time,
/// the trace begins again, so the last time is its length.
///
/// **Accounting**, as in Mahimahi: bytes count, including
/// [`HEADER_BYTES`](super::HEADER_BYTES), not packets. An opportunity may let several small packets
/// pass, and what a packet leaves serves the next packet in the queue. A large packet takes several
/// opportunities, and departs at the last. Bytes that no waiting packet uses are lost. A packet
/// that arrives at the very time of an opportunity is too late for it.
///
/// ```
/// use kinepack_net::LinkTrace;
///
/// // 12 Mbit/s for 3 ms, then nothing for 7 ms.
/// let trace: LinkTrace = "1\n2\n3\n10\n".parse()?;
/// assert_eq!((trace.length().as_millis(), trace.mean_bps()), (10, 4_800_000));
/// assert!(LinkTrace::named("step").is_some());
/// let refused = "5\n4\n".parse::<LinkTrace>().unwrap_err();
/// assert!(refused.to_string().starts_with("line 2: 4 ms is before 5 ms"));
/// # Ok::<(), kinepack_net::LinkTraceError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct LinkTrace {
    /// The times in milliseconds. They never fall, and the last is above 0.
    at_ms: Arc<[u32]>,
}

impl LinkTrace {
    /// A trace of times that never fall and end above 0.
    pub(super) fn of_times(at_ms: Vec<u32>) -> Self {
        debug_assert!(at_ms.is_sorted() && at_ms.last().is_some_and(|last| *last > 0));
        Self { at_ms: at_ms.into() }
    }

    /// The time after which the trace begins again; at least 1 ms.
    pub fn length(&self) -> Duration {
        Duration::from_millis(self.length_ms() as u64)
    }

    /// The mean capacity in bits per second.
    pub fn mean_bps(&self) -> u64 {
        let bits = self.at_ms.len() as u128 * OPPORTUNITY_BYTES * 8;
        (bits * 1_000 / self.length_ms()) as u64
    }

    /// The bytes that can pass from the trace's beginning until `since`, including `since`. The
    /// difference of two calls is what can pass between them.
    pub fn bytes_until(&self, since: Duration) -> u64 {
        u64::try_from(self.first_byte_after(since)).unwrap_or(u64::MAX)
    }

    /// The position of the first byte that passes after `since`. Positions count the bytes of all
    /// opportunities from the beginning, over all repetitions.
    pub(super) fn first_byte_after(&self, since: Duration) -> u128 {
        let (repetition, rest_ms) =
            (since.as_millis() / self.length_ms(), since.as_millis() % self.length_ms());
        let passed = self.at_ms.partition_point(|at_ms| u128::from(*at_ms) <= rest_ms);
        (repetition * self.at_ms.len() as u128 + passed as u128) * OPPORTUNITY_BYTES
    }

    /// When the byte at a position passes.
    pub(super) fn time_of(&self, byte: u128) -> Duration {
        let opportunity = byte / OPPORTUNITY_BYTES;
        let count = self.at_ms.len() as u128;
        let in_repetition = self.at_ms[(opportunity % count) as usize];
        let ms = opportunity / count * self.length_ms() + u128::from(in_repetition);
        u64::try_from(ms).map_or(Duration::MAX, Duration::from_millis)
    }

    fn length_ms(&self) -> u128 {
        self.at_ms.last().copied().unwrap_or(1).into()
    }
}

impl fmt::Debug for LinkTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LinkTrace")
            .field("opportunities", &self.at_ms.len())
            .field("length", &self.length())
            .finish()
    }
}

impl FromStr for LinkTrace {
    type Err = LinkTraceError;

    /// Reads text in Mahimahi's form. Lines may end as on Windows.
    ///
    /// # Errors
    /// Returns [`LinkTraceError`] for the first line that is wrong.
    fn from_str(text: &str) -> Result<Self, LinkTraceError> {
        let mut times = Vec::new();
        for (index, text) in text.lines().enumerate() {
            let line = index + 1;
            if line > MAX_OPPORTUNITIES {
                return Err(LinkTraceError::TooLong { max_lines: MAX_OPPORTUNITIES });
            }
            // `parse` would take a sign.
            let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
            let at_ms = text.parse().ok().filter(|_| is_number);
            let at_ms: u32 = at_ms.ok_or(LinkTraceError::NotATime { line })?;
            if let Some(before_ms) = times.last().copied().filter(|before_ms| at_ms < *before_ms) {
                return Err(LinkTraceError::Falls { line, at_ms, before_ms });
            }
            times.push(at_ms);
        }
        match times.last() {
            None => Err(LinkTraceError::Empty),
            Some(0) => Err(LinkTraceError::NoLength { line: times.len() }),
            Some(_) => Ok(Self::of_times(times)),
        }
    }
}

/// Why a text is not a [`LinkTrace`]. Lines count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkTraceError {
    /// The text has no line.
    Empty,
    /// A line is not an integer, or above 2³² − 1.
    NotATime {
        /// The wrong line.
        line: usize,
    },
    /// A time is earlier than the one in the line before.
    Falls {
        /// The wrong line.
        line: usize,
        /// Its time in milliseconds.
        at_ms: u32,
        /// The time in the line before, in milliseconds.
        before_ms: u32,
    },
    /// The last time is 0, so the trace would repeat without end at one moment.
    NoLength {
        /// The last line.
        line: usize,
    },
    /// The text has more lines than a trace may have.
    TooLong {
        /// The maximum number of lines.
        max_lines: usize,
    },
}

impl fmt::Display for LinkTraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => {
                write!(f, "the trace is empty; give a line with a time in milliseconds for each ")?;
                write!(f, "1,500 bytes that the link can send")
            }
            Self::NotATime { line } => {
                write!(f, "line {line} is not a time; give an integer of milliseconds from 0 to ")?;
                write!(f, "{}, without spaces and empty lines", u32::MAX)
            }
            Self::Falls { line, at_ms, before_ms } => {
                write!(f, "line {line}: {at_ms} ms is before {before_ms} ms in the line above; ")?;
                write!(f, "put the times in order")
            }
            Self::NoLength { line } => {
                write!(
                    f,
                    "line {line}: the last time is 0 ms, and it is the trace's length; end "
                )?;
                write!(f, "with a later time")
            }
            Self::TooLong { max_lines } => {
                write!(f, "the trace has more than {max_lines} lines; give a shorter part of it")
            }
        }
    }
}

impl core::error::Error for LinkTraceError {}
