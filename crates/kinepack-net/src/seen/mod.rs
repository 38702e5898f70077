//! What a client drew, as a stamp for its inputs. With the stamp, a hub finds the states that the
//! client drew: see `spec/NET.md`, section 12.
//!
//! Client: [`Arrivals`] notes which snapshots arrived → [`Seen`] → a field of an input. Server: the
//! field → the same arrivals → the states of each entity, by the rules in [`version`].

mod arrivals;
mod version;

use kinepack::quantize::FloatLimits;
use kinepack::schema::{Field, FieldKind};
use kinepack::{EncodeError, Pack};

pub(crate) use arrivals::{Arrivals, Run};
pub(crate) use version::{Arrived, Row, Said, Version, WINDOW, blends_from, is_same, version};

use crate::Sequence;

/// A moment has this many steps in a tick.
pub(crate) const STEPS: u64 = 64;
/// A stamp has a moment modulo this number: 256 ticks.
pub(crate) const MOMENTS: u16 = 256 * STEPS as u16;
/// A stamp has this many runs of missing datagrams.
pub(crate) const RUNS: usize = 16;
/// The number of bytes that tell which datagrams are missing.
const MISSING_BYTES: usize = 2 * RUNS;
/// A stamp tells of this many datagrams, up to the newest, whether they are missing.
pub(crate) const SPAN: u16 = 256;

/// What a client drew when it made an input: the moment of its playback, and which snapshots it had
/// then. Get it from [`Receiver::seen`](crate::Receiver::seen), send it as a field of the input,
/// and give it to [`Hub::rewind`](crate::Hub::rewind), which finds the states that the client drew.
///
/// As a field, `Option<Seen>` also covers inputs before the first state. A stream at level
/// [`Adaptive`](kinepack::stream::StreamLevel::Adaptive) needs about a byte for a stamp. The book's
/// chapter on playing has measurements.
///
/// ```
/// use kinepack::Pack;
/// use kinepack_net::Seen;
///
/// #[derive(Pack)]
/// struct Input {
///     #[pack(range = 0.0..360.0, bits = 16, wrap)]
///     aim: [f32; 2],
///     fires: bool,
///     seen: Option<Seen>,
/// }
/// assert_eq!(Input::LANES, 2 + 1 + 1 + 35);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seen {
    /// The moment in steps, modulo [`MOMENTS`].
    pub(crate) moment: u16,
    /// The lower eight bits of the newest sequence that had arrived.
    pub(crate) newest: u8,
    /// The number of the newest complete full state; 0 before the first.
    pub(crate) full_state: u8,
    /// The newest runs of sequences whose datagrams are missing, in any order.
    pub(crate) missing: [Run; RUNS],
}

impl Seen {
    /// Which datagrams are missing. `newest` is the newest sequence that had arrived.
    pub(crate) fn missing(&self, newest: Sequence) -> Missing {
        let mut missing = Missing { newest, bits: [0; 4], told: SPAN };
        let mut farthest = 0;
        let runs = || self.missing.iter().filter(|run| run.len > 0);
        for run in runs() {
            let begin = u16::from((newest.0 as u8).wrapping_sub(run.last));
            let end = (begin + u16::from(run.len)).min(SPAN);
            (begin..end).for_each(|at| missing.bits[usize::from(at / 64)] |= 1 << (at % 64));
            farthest = farthest.max(end);
        }
        if runs().count() == RUNS {
            missing.told = farthest;
        }
        missing
    }
}

/// The datagrams that had not arrived, according to a stamp.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Missing {
    newest: Sequence,
    /// One bit for each sequence, from the newest on backwards.
    bits: [u64; 4],
    /// For how many sequences the stamp tells whether they are missing.
    told: u16,
}

impl Missing {
    /// Whether the datagram with the sequence `sequence` is missing. `None` if it is so old that the
    /// stamp has no room for it.
    pub(crate) fn has(&self, sequence: Sequence) -> Option<bool> {
        let behind = u16::try_from(self.newest.since(sequence)).ok()?;
        (behind < self.told).then(|| self.bits[usize::from(behind / 64)] >> (behind % 64) & 1 == 1)
    }
}

/// The limits of a number that wraps after `end`.
const fn wrapping(end: f64, step: f64) -> FloatLimits {
    match FloatLimits::until(0.0, end, step) {
        Ok(limits) => limits.wrapping(),
        Err(_) => panic!("the limits are possible"),
    }
}

/// The moment within 256 ticks.
const MOMENT: FloatLimits = wrapping(256.0, 1.0 / STEPS as f64);
/// A sequence's lower eight bits.
const NEWEST: FloatLimits = wrapping(256.0, 1.0);

impl Pack for Seen {
    const LANES: usize = 3 + MISSING_BYTES;

    fn fields(path: &str, fields: &mut Vec<Field>) {
        let kinds = [
            ("moment", FieldKind::Floats(vec![MOMENT])),
            ("newest", FieldKind::Floats(vec![NEWEST])),
            ("full_state", FieldKind::Choice { max: u8::MAX.into() }),
            ("missing", FieldKind::Bytes { len: MISSING_BYTES as u8 }),
        ];
        for (name, kind) in kinds {
            let name = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
            fields.push(Field::new(name, kind));
        }
    }

    fn quantize(&self, lanes: &mut [u32]) -> Result<(), EncodeError> {
        let head = [self.moment.into(), self.newest.into(), self.full_state.into()];
        let runs = self.missing.iter().flat_map(|run| [run.last, run.len].map(u32::from));
        let all = head.into_iter().chain(runs);
        lanes.iter_mut().zip(all).for_each(|(lane, value)| *lane = value);
        Ok(())
    }

    fn reconstruct(lanes: &[u32]) -> Self {
        Self {
            moment: lanes[0] as u16 % MOMENTS,
            newest: lanes[1] as u8,
            full_state: lanes[2] as u8,
            missing: std::array::from_fn(|run| {
                let [last, len] = [0, 1].map(|byte| lanes[3 + 2 * run + byte] as u8);
                Run { last, len }
            }),
        }
    }
}
