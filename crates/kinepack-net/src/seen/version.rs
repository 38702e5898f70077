//! The state of an entity after some datagrams arrived, and when the entity got that state. Both
//! ends apply the same rules, so a hub knows what a receiver shows. See `spec/NET.md`, section 12.2.
//!
//! A datagram's *view* has, for an entity that the datagram does not send, the state in its
//! baseline. Datagrams since the baseline may have sent a newer state. So the rules look for the
//! newest datagram that sent the entity, and only if there is none within a window do they take the
//! view's state.

use kinepack::{EntityId, Snapshot, Tick};

use crate::Sequence;

/// Only this many sequences before the newest datagram, including it, are asked about an entity.
/// Twice the longest distance from a baseline to what is merged into it, for four datagrams a tick
/// at 60 Hz half a second.
pub(crate) const WINDOW: u16 = 128;

/// An entity in a snapshot, by its index.
pub(crate) type Row<'a> = (&'a Snapshot, usize);

/// What a datagram says about an entity.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Said<'a> {
    /// The entity's state.
    Row(Row<'a>),
    /// The entity is not there.
    Absent,
    /// The datagram left the entity out.
    Nothing,
}

/// A snapshot that arrived.
pub(crate) trait Arrived<'a>: Copy {
    fn sequence(&self) -> Sequence;
    fn tick(&self) -> Tick;
    /// Whether it is a full state, which has all that came before it.
    fn is_full_state(&self) -> bool;
    /// Whether entities take turns, so that a sent state may be one that is known already.
    fn takes_turns(&self) -> bool;
    /// What the datagram itself says.
    fn said(&self, id: EntityId) -> Said<'a>;
    /// The entity in the datagram's view.
    fn held(&self, id: EntityId) -> Option<Row<'a>>;
}

/// The state of an entity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Version<'a> {
    pub(crate) row: Row<'a>,
    /// The newest datagram that has the state. `None` if that is longer ago than the window.
    pub(crate) said_by: Option<Sequence>,
    /// The datagram that brought the state. `None` if that is longer ago than the window.
    pub(crate) since: Option<(Sequence, Tick)>,
}

/// The state of an entity after the datagrams `arrived`, from the newest to the oldest. `None` if
/// the entity is not there. If the state was there before the tick `long_ago`, when it came does not
/// matter to the caller.
pub(crate) fn version<'a, A: Arrived<'a>>(
    id: EntityId,
    long_ago: Tick,
    arrived: impl Iterator<Item = A> + Clone,
) -> Option<Version<'a>> {
    let newest = arrived.clone().next()?;
    let Known { row, mut sender, mut rest } = known(id, arrived)?;
    let said_by = sender.map(|by| by.sequence());
    let found = |since| Some(Version { row, said_by, since });
    if newest.is_full_state() {
        return found(Some((newest.sequence(), newest.tick())));
    }
    let newest = newest.sequence();
    loop {
        let in_window = |by: &A| {
            !by.is_full_state()
                && newest.since(by.sequence()) < WINDOW.into()
                && by.tick() >= long_ago
        };
        let Some(by) = sender.filter(in_window) else { return found(None) };
        let since = Some((by.sequence(), by.tick()));
        if !by.takes_turns() {
            return found(since);
        }
        // Entities that take turns are sent again until they are acknowledged.
        match known(id, rest) {
            Some(before) if is_same(before.row, row) => {
                (sender, rest) = (before.sender, before.rest);
            }
            _ => return found(since),
        }
    }
}

/// The state of an entity, and who brought it.
struct Known<'a, A, I> {
    row: Row<'a>,
    sender: Option<A>,
    /// The datagrams before the sender.
    rest: I,
}

fn known<'a, A: Arrived<'a>, I: Iterator<Item = A> + Clone>(
    id: EntityId,
    mut rest: I,
) -> Option<Known<'a, A, I>> {
    let newest = rest.next()?;
    let mut next = Some(newest);
    while let Some(by) = next {
        match by.said(id) {
            Said::Row(row) => return Some(Known { row, sender: Some(by), rest }),
            Said::Absent => return None,
            Said::Nothing => {}
        }
        let in_window = |by: &A| newest.sequence().since(by.sequence()) < WINDOW.into();
        next = rest.next().filter(|by| !by.is_full_state() && in_window(by));
    }
    Some(Known { row: newest.held(id)?, sender: None, rest })
}

/// The tick from which an entity blends to its next state, in a view of the tick `newest`, if its
/// lanes are from the tick `since`. If all entities of the view take `turns`, lanes older than a turn
/// are also those of the view's tick: the entity rests.
pub(crate) fn blends_from(since: Tick, newest: Tick, turns: Option<u8>) -> Tick {
    let age = newest.0.saturating_sub(since.0);
    // `is_some_and` would compare the number even if there is none. Valgrind reports that as a jump
    // that depends on an uninitialised value.
    if age >= turns.map_or(u32::MAX, u32::from) { newest } else { since }
}

/// Whether two rows are the same entity in the same state.
pub(crate) fn is_same((a, at_a): Row<'_>, (b, at_b): Row<'_>) -> bool {
    a.kind_at(at_a) == b.kind_at(at_b) && a.lanes_at(at_a).eq(b.lanes_at(at_b))
}
