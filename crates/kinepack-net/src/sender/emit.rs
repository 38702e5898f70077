//! Events on the hub's side: which receivers get them, and how they are sent. [`crate::events`]
//! keeps their order and outcomes.

use std::sync::Arc;

use kinepack::{EncodeError, EntityId, Pack, Snapshot, Tick};

use super::budget::Budget;
use super::config::{HubConfig, ReceiverId};
use super::history::Content;
use super::hub::Hub;
use super::peer::{Moment, Peer, overhead_bytes};
use super::sending::Sending;
use super::visibility::contains;
use crate::NetError;
use crate::events::{Emitted, EventKinds, EventList, EventWriter, EventsAlone, LONGEST_LIST_BYTES};

/// Which receivers get an event.
///
/// ```
/// use kinepack::EntityId;
/// use kinepack_net::{Audience, ReceiverId};
///
/// let explosion = Audience::Seeing(EntityId(17)); // those who see what explodes
/// let whisper = Audience::Only(&[ReceiverId(3), ReceiverId(8)]);
/// # assert_ne!(explosion, whisper);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience<'a> {
    /// All receivers that have joined.
    All,
    /// Receivers that may see this entity: all except those whose [relevant set](Hub::set_relevant)
    /// lacks it.
    Seeing(EntityId),
    /// Only these receivers.
    Only(&'a [ReceiverId]),
}

/// An owned [`Audience`], kept until the next tick.
#[derive(Debug)]
enum AudienceOf {
    All,
    Seeing(EntityId),
    Only(Box<[ReceiverId]>),
}

impl From<Audience<'_>> for AudienceOf {
    fn from(audience: Audience<'_>) -> Self {
        match audience {
            Audience::All => Self::All,
            Audience::Seeing(entity) => Self::Seeing(entity),
            Audience::Only(ids) => Self::Only(ids.into()),
        }
    }
}

/// The hub's state for events: their kinds, and those emitted since the last tick.
#[derive(Debug)]
pub(super) struct HubEvents {
    kinds: EventKinds,
    scratch: Snapshot,
    /// The events for the next tick: kind, lanes and audience.
    of_tick: Vec<(usize, Box<[u32]>, AudienceOf)>,
    next_key: u64,
}

impl Hub {
    /// Enables events. The hub's receivers must enable them too, with the same codec:
    /// [`Receiver::with_events`](crate::Receiver::with_events).
    #[must_use]
    pub fn with_events(mut self, kinds: &EventKinds) -> Self {
        self.hello.events_hash = kinds.codec().hash();
        self.sending.events = Some(EventWriter::new(kinds));
        self.events = Some(HubEvents {
            kinds: kinds.clone(),
            scratch: Snapshot::new(kinds.codec().schema(), Tick(0)),
            of_tick: Vec::new(),
            next_key: 0,
        });
        self
    }

    /// Adds an event to the next [`tick`](Self::tick), for the receivers in `audience` that have
    /// joined by then. Each receiver gets the event once, in the order of these calls. A lost event
    /// is sent again until it arrives, or until it is too old for its
    /// [kind](EventKinds::droppable).
    ///
    /// # Errors
    /// [`NetError::NoEvents`], [`NetError::Event`] for a value that cannot be quantized or whose
    /// type is not a kind of event, and [`NetError::EventTooLarge`]. Nothing has changed then.
    pub fn emit<T: Pack>(&mut self, event: &T, audience: Audience<'_>) -> Result<(), NetError> {
        let events = self.events.as_mut().ok_or(NetError::NoEvents)?;
        let quantized = events.kinds.quantize(event, &mut events.scratch);
        self.emit_quantized(quantized, audience)
    }

    /// Like [`emit`](Self::emit), but takes the event from row `index` of a snapshot of the kinds'
    /// schema.
    ///
    /// # Errors
    /// Those of [`emit`](Self::emit), and [`NetError::Event`] if there is no such row.
    pub fn emit_row(
        &mut self,
        rows: &Snapshot,
        index: usize,
        audience: Audience<'_>,
    ) -> Result<(), NetError> {
        let events = self.events.as_ref().ok_or(NetError::NoEvents)?;
        self.emit_quantized(events.kinds.row(rows, index), audience)
    }

    fn emit_quantized(
        &mut self,
        event: Result<(usize, Box<[u32]>), EncodeError>,
        audience: Audience<'_>,
    ) -> Result<(), NetError> {
        let events = self.events.as_mut().ok_or(NetError::NoEvents)?;
        let (kind, lanes) = event.map_err(NetError::Event)?;
        if let Some(writer) = &mut self.sending.events {
            writer.check_size(kind, &lanes, self.config.datagram_bytes)?;
        }
        events.of_tick.push((kind, lanes, AudienceOf::from(audience)));
        Ok(())
    }

    /// Queues this tick's events for their receivers. Adds an error for each receiver that does not
    /// get all of its events.
    pub(super) fn hand_out_events(&mut self, tick: Tick, errors: &mut Vec<NetError>) {
        let Some(events) = &mut self.events else { return };
        let mut of_tick = Vec::with_capacity(events.of_tick.len());
        for (kind, lanes, audience) in events.of_tick.drain(..) {
            let last_tick = events.kinds.last_tick(kind, tick);
            let event = Emitted { key: events.next_key, tick, kind, lanes, last_tick };
            of_tick.push((Arc::new(event), audience));
            events.next_key += 1;
        }
        for (id, peer) in self.peers.iter_mut().filter(|(_, peer)| peer.codec.is_some()) {
            let refused_before = peer.events.refused;
            for (event, audience) in &of_tick {
                let is_for = match audience {
                    AudienceOf::All => true,
                    AudienceOf::Seeing(entity) => {
                        contains(&peer.visibility.visibility.relevant, *entity)
                    }
                    AudienceOf::Only(ids) => ids.contains(id),
                };
                if is_for {
                    peer.events.push(event);
                }
            }
            let refused = peer.events.refused - refused_before;
            if refused > 0 {
                errors.push(NetError::EventsWaiting { id: *id, refused });
            }
        }
    }
}

impl Peer {
    /// The events to send now, in at most `limit_bytes`, or in fewer bytes if the budget allows no
    /// more for events.
    pub(super) fn event_list(
        &self,
        moment: &Moment<'_>,
        sending: &mut Sending,
        copies: u8,
        limit_bytes: usize,
        overhead_bytes: usize,
    ) -> Result<Option<EventList>, NetError> {
        let affordable = self.budget.as_ref().map_or(usize::MAX, Budget::bytes_for_events);
        let limit_bytes = limit_bytes.min(affordable.saturating_sub(overhead_bytes));
        self.list(moment, sending, copies, limit_bytes)
    }

    /// Whether the next event is due and affordable, but not together with a snapshot of this tick.
    /// The snapshot then waits: otherwise, a small budget could never send a large event.
    pub(super) fn saves_for_events(
        &self,
        moment: &Moment<'_>,
        sending: &mut Sending,
    ) -> Result<bool, NetError> {
        let Some(budget) = self.budget.filter(|_| self.events.is_due()) else { return Ok(false) };
        let owed_bytes = budget.bytes_owed_to_events().saturating_sub(alone_bytes(moment.config));
        let limit_bytes = owed_bytes.min(moment.config.datagram_bytes - EventsAlone::BYTES);
        Ok(self.list(moment, sending, 1, limit_bytes)?.is_some())
    }

    fn list(
        &self,
        moment: &Moment<'_>,
        sending: &mut Sending,
        copies: u8,
        limit_bytes: usize,
    ) -> Result<Option<EventList>, NetError> {
        let Some(writer) = &mut sending.events else { return Ok(None) };
        let limit_bytes = limit_bytes.min(LONGEST_LIST_BYTES);
        let list = self.events.list(moment.tick, copies, limit_bytes, writer);
        list.map_err(|error| NetError::Receiver { id: self.id, error })
    }

    /// Sends the events that did not go with a snapshot of this tick, if there is room.
    pub(super) fn send_events_alone(
        &mut self,
        moment: &Moment<'_>,
        sending: &mut Sending,
    ) -> Result<(), NetError> {
        if self.history.is_silent(moment.now, moment.config.silence) {
            return Ok(());
        }
        let limit_bytes = self.sendable_bytes(moment.config).saturating_sub(EventsAlone::BYTES);
        // With a budget, further copies are not worth a datagram of their own.
        let copies = if self.budget.is_some() { 1 } else { moment.config.event_copies };
        let overhead_bytes = alone_bytes(moment.config);
        let list = self.event_list(moment, sending, copies, limit_bytes, overhead_bytes)?;
        let Some(list) = list else { return Ok(()) };
        let header = EventsAlone { sequence: self.history.next(), tick: moment.tick };
        let bytes = sending.outbox.push(self.id, |out| {
            header.write(out);
            out.extend_from_slice(&list.bytes);
        });
        if let Some(budget) = &mut self.budget {
            budget.note_events(bytes + moment.config.overhead_bytes);
        }
        self.events_waited = 0;
        let carried = self.events.note_sent(moment.tick, list);
        // Events alone do not count for `last_sent`, because a world at rest still needs its
        // keep-alive snapshots.
        let last_sent = self.last_sent;
        self.note_sent(moment, bytes, Content::Events, Some(carried));
        self.last_sent = last_sent;
        Ok(())
    }
}

/// What a budget pays for a datagram of events alone, in addition to their list.
fn alone_bytes(config: &HubConfig) -> usize {
    overhead_bytes(config) + EventsAlone::BYTES
}
