//! A state too large for one datagram, sent in fragments until all of them are acknowledged. See
//! `spec/NET.md`, section 5.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use kinepack::Tick;

use super::view::SentView;
use crate::packet::{FRAGMENT_HEADER_BYTES, FragmentHeader};

/// A full state on its way to one receiver.
#[derive(Debug)]
pub(super) struct OutgoingFullState {
    pub(super) number: u8,
    /// The view that the receiver holds once all fragments have arrived.
    pub(super) view: Arc<SentView>,
    bytes: Arc<[u8]>,
    part_bytes: usize,
    /// The indices of the fragments to send. Lost fragments come first.
    waiting: VecDeque<u16>,
    acknowledged: Vec<bool>,
    missing: usize,
    /// When the count of losses last restarted: with the last new fragment, during a silence, or
    /// when the full state began.
    progress_at: Duration,
    /// The number of losses since `progress_at`.
    lost: u32,
}

/// If no fragment arrives for this long although the receiver answers, the hub assumes that the
/// receiver refuses the full state.
const REFUSED_AFTER: Duration = Duration::from_secs(10);
/// A receiver counts as answering if the hub has heard from it within this time.
pub(super) const ANSWERED: Duration = Duration::from_secs(2);
/// A refusal also needs at least this many losses in that time, because a small budget may send
/// only one fragment in five seconds.
const REFUSED_LOST: u32 = 16;

/// Returns the bytes of a full state: the tick, the number of the reference state, and the
/// snapshot.
pub(super) fn full_state_bytes(tick: Tick, reference: u8, snapshot: &[u8]) -> Arc<[u8]> {
    let mut bytes = tick.0.to_le_bytes().to_vec();
    bytes.push(reference);
    bytes.extend_from_slice(snapshot);
    bytes.into()
}

impl OutgoingFullState {
    /// Cuts `bytes` into two or more parts for datagrams of `datagram_bytes`. `None` if there would
    /// be more than 65,535 parts.
    pub(super) fn new(
        number: u8,
        view: Arc<SentView>,
        bytes: Arc<[u8]>,
        datagram_bytes: usize,
        now: Duration,
    ) -> Option<Self> {
        let mut part_bytes = datagram_bytes - FRAGMENT_HEADER_BYTES;
        if bytes.len() <= part_bytes {
            // The header of a snapshot may be longer than that of a fragment.
            part_bytes = bytes.len().div_ceil(2);
        }
        let count = u16::try_from(bytes.len().div_ceil(part_bytes)).ok()?;
        Some(Self {
            number,
            view,
            bytes,
            part_bytes,
            waiting: (0..count).collect(),
            acknowledged: vec![false; usize::from(count)],
            missing: usize::from(count),
            progress_at: now,
            lost: 0,
        })
    }

    /// The index of the next fragment to send. It does not change until
    /// [`note_sent`](Self::note_sent).
    pub(super) fn next_index(&mut self) -> Option<u16> {
        while self.waiting.pop_front_if(|index| self.acknowledged[usize::from(*index)]).is_some() {}
        self.waiting.front().copied()
    }

    /// Notes that the [next](Self::next_index) fragment was sent.
    pub(super) fn note_sent(&mut self) {
        self.waiting.pop_front();
    }

    /// The part of the bytes in the fragment at `index`.
    pub(super) fn part(&self, index: u16) -> &[u8] {
        let begin = usize::from(index) * self.part_bytes;
        &self.bytes[begin..(begin + self.part_bytes).min(self.bytes.len())]
    }

    /// The header of the fragment at `index`.
    pub(super) fn header(&self, index: u16, sequence: crate::Sequence) -> FragmentHeader {
        FragmentHeader {
            sequence,
            full_state: self.number,
            index,
            count: self.acknowledged.len() as u16,
        }
    }

    /// Notes that the fragment at `index` arrived. Returns true once all fragments have arrived.
    pub(super) fn acknowledge(&mut self, index: u16, now: Duration) -> bool {
        if !std::mem::replace(&mut self.acknowledged[usize::from(index)], true) {
            self.missing -= 1;
            self.begin_counting(now);
        }
        self.missing == 0
    }

    /// Notes that the fragment at `index` was lost. It is sent again before fragments that were
    /// never sent.
    pub(super) fn lose(&mut self, index: u16) {
        if !self.acknowledged[usize::from(index)] && !self.waiting.contains(&index) {
            self.waiting.push_front(index);
            self.lost += 1;
        }
    }

    /// Restarts the count of losses. While the receiver does not answer, losses do not show that it
    /// refuses the full state.
    pub(super) fn begin_counting(&mut self, now: Duration) {
        (self.progress_at, self.lost) = (now, 0);
    }

    /// Whether a receiver that answers seems to refuse the missing fragments.
    pub(super) fn is_refused(&self, now: Duration) -> bool {
        self.lost >= REFUSED_LOST && now.saturating_sub(self.progress_at) >= REFUSED_AFTER
    }

    /// How many fragments have arrived, and how many there are.
    pub(super) fn progress(&self) -> (usize, usize) {
        (self.acknowledged.len() - self.missing, self.acknowledged.len())
    }
}
