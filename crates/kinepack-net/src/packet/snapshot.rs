//! The header of a snapshot. See `spec/NET.md`, section 4.

use kinepack::{Baselines, Tick};

use super::kinds::{
    CHECK, KIND_MASK, LEFT_OUT, MERGE, MORE_OLDER, SNAPSHOT, SNAPSHOT_WITH_OLDER, STRIDE_SHIFT,
    TURNS,
};
use super::parts::Parts;
use crate::{Refused, Sequence};

/// The number of bytes of the state check before a snapshot.
pub(crate) const CHECK_BYTES: usize = 3;

/// The number of bytes before a snapshot that say how long values may rest.
pub(crate) const TURNS_BYTES: usize = 2;

/// The longest snapshot header, including its state check. Each older view adds
/// [`OLDER_VIEW_BYTES`], and turns add [`TURNS_BYTES`].
pub(crate) const LONGEST_HEADER_BYTES: usize = CHECK_BYTES + 4 + 5 + 4;

/// The number of header bytes that name one older view.
pub(crate) const OLDER_VIEW_BYTES: usize = 1;

/// The header of a snapshot datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SnapshotHeader {
    pub(crate) sequence: Sequence,
    pub(crate) baseline: Baseline,
    pub(crate) left_out: bool,
    pub(crate) time: Time,
    /// The merge field; `None` for merge 0 (section 4.1).
    pub(crate) merge: Option<u32>,
    /// Empty if the baseline is a reference state.
    pub(crate) older: OlderViews,
    /// The state check before the snapshot.
    pub(crate) check: Option<u16>,
    /// In how many ticks each entity has a turn at least once; 1 if all values are those of the
    /// tick.
    pub(crate) turns: u8,
}

/// The older views that a snapshot is coded against. Each entry is a distance in sequences, 1 to
/// 127. The first entry counts from the baseline, each further one from the preceding older view.
/// Unused entries at the end are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OlderViews(pub(super) [u8; Baselines::OLDER]);

impl OlderViews {
    /// The older views with these `sequences`, newest first, for a baseline of sequence `baseline`.
    /// `None` if a header cannot name them: there are too many, they are too far apart, or they are
    /// not in order.
    pub(crate) fn new(
        baseline: Sequence,
        sequences: impl IntoIterator<Item = Sequence>,
    ) -> Option<Self> {
        let (mut older, mut newer) = (Self::default(), baseline);
        let mut places = older.0.iter_mut();
        for sequence in sequences {
            let distance = u8::try_from(newer.since(sequence)).ok();
            *places.next()? = distance.filter(|distance| (1..MORE_OLDER).contains(distance))?;
            newer = sequence;
        }
        Some(older)
    }

    fn is_empty(&self) -> bool {
        self.0[0] == 0
    }

    pub(crate) fn count(&self) -> usize {
        self.0.iter().take_while(|distance| **distance != 0).count()
    }

    /// The sequences of the older views, for a baseline of sequence `baseline`.
    pub(crate) fn sequences(self, baseline: Sequence) -> impl Iterator<Item = Sequence> {
        let before = |sequence: &mut Sequence, distance: u8| {
            *sequence = sequence.before(u16::from(distance));
            Some(*sequence)
        };
        self.0.into_iter().take(self.count()).scan(baseline, before)
    }

    fn write(&self, out: &mut Vec<u8>) {
        let distances = &self.0[..self.count()];
        if let Some((last, others)) = distances.split_last() {
            out.extend(others.iter().map(|distance| distance | MORE_OLDER));
            out.push(*last);
        }
    }

    fn parse(parts: &mut Parts<'_>) -> Result<Self, Refused> {
        let mut older = Self::default();
        for place in &mut older.0 {
            let [byte] = parts.take()?;
            *place = byte & !MORE_OLDER;
            if *place == 0 {
                return Err(Refused::BadOlder);
            }
            if byte & MORE_OLDER == 0 {
                return Ok(older);
            }
        }
        Err(Refused::BadOlder)
    }
}

/// The baseline of a snapshot, as its header names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Baseline {
    /// The view that was sent this many sequences before the snapshot, at least 1.
    Back(u8),
    /// The reference state with this number.
    Reference(u8),
}

impl Baseline {
    /// The *back* byte of the header; 0 for a reference state.
    pub(crate) fn back(self) -> u8 {
        match self {
            Self::Back(back) => back,
            Self::Reference(_) => 0,
        }
    }
}

/// The number of ticks from one sequence to the next. It is 1 to 7, because the first byte has
/// three bits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stride(u8);

impl Stride {
    /// A stride of `ticks`. `None` for 0, and for numbers that do not fit into the first byte.
    pub(crate) fn new(ticks: u8) -> Option<Self> {
        (1..1 << (u8::BITS - STRIDE_SHIFT)).contains(&ticks).then_some(Self(ticks))
    }

    pub(crate) fn ticks(self) -> u8 {
        self.0
    }
}

/// The tick of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Time {
    /// The tick is the baseline's tick plus this stride for each sequence after the baseline.
    Stride(Stride),
    /// The header contains the tick. The previous state was valid until `interval_ticks` ticks
    /// before that tick.
    Explicit { tick: Tick, interval_ticks: u8 },
}

impl Time {
    /// Until how many ticks before the snapshot the previous state was valid.
    pub(crate) fn interval_ticks(self) -> u8 {
        match self {
            Self::Stride(stride) => stride.ticks(),
            Self::Explicit { interval_ticks, .. } => interval_ticks,
        }
    }
}

impl SnapshotHeader {
    /// The header's length in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let reference = usize::from(matches!(self.baseline, Baseline::Reference(_)));
        let time = if matches!(self.time, Time::Explicit { .. }) { 5 } else { 0 };
        let merge = if self.merge.is_some() { 4 } else { 0 };
        let check = if self.check.is_some() { CHECK_BYTES } else { 0 };
        let turns = if self.turns > 1 { TURNS_BYTES } else { 0 };
        turns + check + 4 + reference + time + merge + OLDER_VIEW_BYTES * self.older.count()
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        if self.turns > 1 {
            out.extend([TURNS, self.turns]);
        }
        if let Some(check) = self.check {
            out.push(CHECK);
            out.extend(check.to_le_bytes());
        }
        let stride = match self.time {
            Time::Stride(stride) => stride.ticks(),
            Time::Explicit { .. } => 0,
        };
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let kind = if self.older.is_empty() { SNAPSHOT } else { SNAPSHOT_WITH_OLDER };
        out.push(
            kind | flag(self.left_out, LEFT_OUT)
                | flag(self.merge.is_some(), MERGE)
                | (stride << STRIDE_SHIFT),
        );
        out.extend(self.sequence.0.to_le_bytes());
        match self.baseline {
            Baseline::Back(back) => out.push(back),
            Baseline::Reference(number) => out.extend([0, number]),
        }
        if let Time::Explicit { tick, interval_ticks } = self.time {
            out.extend(tick.0.to_le_bytes());
            out.push(interval_ticks);
        }
        if let Some(field) = self.merge {
            out.extend(field.to_le_bytes());
        }
        if !self.older.is_empty() {
            self.older.write(out);
        }
    }
}

/// Splits what says how long values may rest from the rest of a datagram. Returns 1 if nothing says
/// that.
pub(crate) fn split_turns(datagram: &[u8]) -> Result<(u8, &[u8]), Refused> {
    match datagram {
        [TURNS, turns @ 2..=u8::MAX, rest @ ..] => Ok((*turns, rest)),
        [TURNS, turns, ..] => Err(Refused::Kind { first_byte: *turns }),
        [TURNS] => Err(Refused::Length { bytes: 1 }),
        _ => Ok((1, datagram)),
    }
}

/// Reads a snapshot datagram whose first byte has been read. Returns its header and the coded
/// snapshot. `check` is the state check that preceded the snapshot, and `turns` what preceded that.
pub(super) fn parse_snapshot<'a>(
    first_byte: u8,
    mut parts: Parts<'a>,
    check: Option<u16>,
    turns: u8,
) -> Result<(SnapshotHeader, &'a [u8]), Refused> {
    let sequence = Sequence(u16::from_le_bytes(parts.take()?));
    let baseline = match parts.take()? {
        [0] => Baseline::Reference(u8::from_le_bytes(parts.take()?)),
        [back] => Baseline::Back(back),
    };
    let time = match (Stride::new(first_byte >> STRIDE_SHIFT), baseline) {
        (None, _) => {
            let tick = Tick(u32::from_le_bytes(parts.take()?));
            Time::Explicit { tick, interval_ticks: u8::from_le_bytes(parts.take()?) }
        }
        (Some(_), Baseline::Reference(_)) => return Err(Refused::Kind { first_byte }),
        (Some(stride), Baseline::Back(_)) => Time::Stride(stride),
    };
    let merge = match (first_byte & MERGE != 0, baseline) {
        (false, _) => None,
        (true, Baseline::Back(_)) => Some(u32::from_le_bytes(parts.take()?)),
        (true, Baseline::Reference(_)) => return Err(Refused::BadMerge),
    };
    let older = match (first_byte & KIND_MASK, baseline) {
        (SNAPSHOT, _) => OlderViews::default(),
        (_, Baseline::Back(_)) => OlderViews::parse(&mut parts)?,
        (_, Baseline::Reference(_)) => return Err(Refused::BadOlder),
    };
    let left_out = first_byte & LEFT_OUT != 0;
    let header = SnapshotHeader { sequence, baseline, left_out, time, merge, older, check, turns };
    Ok((header, parts.rest))
}
