//! Takes events from the caller, and gives each event to the receivers in its audience.
//! [`Outgoing`](crate::events::Outgoing) keeps the order and outcomes of a receiver's events.

use std::sync::Arc;

use kinepack::{EncodeError, Pack, Snapshot};

use super::Hub;
use crate::NetError;
use crate::events::{Emitted, EventKinds, EventWriter};
use crate::sender::audience::{Audience, OwnedAudience};
use crate::sender::emitted::EmittedEvents;
use crate::sender::visibility::contains;

impl Hub {
    /// Enables events. The hub's receivers must enable them too, with the same codec:
    /// [`Receiver::with_events`](crate::Receiver::with_events).
    #[must_use]
    pub fn with_events(mut self, kinds: &EventKinds) -> Self {
        self.hello.events_hash = kinds.codec().hash();
        self.sending.events = Some(EventWriter::new(kinds));
        self.events = Some(EmittedEvents::new(kinds));
        self
    }

    /// Adds an event to the next [`tick`](Self::tick), for the receivers in `audience` that have
    /// joined by then. Each receiver gets the event once, in the order of these calls. A lost event
    /// is sent again until it arrives, or until it is too old for its
    /// [kind](EventKinds::droppable).
    ///
    /// # Errors
    /// Returns [`NetError::NoEvents`], [`NetError::Event`] for a value that cannot be quantized or
    /// whose type is not a kind of event, and [`NetError::EventTooLarge`]. Then nothing has
    /// changed.
    pub fn emit<T: Pack>(&mut self, event: &T, audience: Audience<'_>) -> Result<(), NetError> {
        let events = self.events.as_mut().ok_or(NetError::NoEvents)?;
        let quantized = events.kinds.quantize(event, &mut events.scratch);
        self.emit_quantized(quantized, audience)
    }

    /// Like [`emit`](Self::emit), but takes the event from row `index` of `rows`, a snapshot of the
    /// kinds' schema.
    ///
    /// # Errors
    /// Returns the errors of [`emit`](Self::emit), and [`NetError::Event`] if `rows` has no such
    /// row.
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
        events.of_tick.push((kind, lanes, OwnedAudience::from(audience)));
        Ok(())
    }

    /// Queues this tick's events for their receivers. Adds an error for each receiver that does not
    /// get all of its events.
    ///
    /// A receiver sees an entity that it saw in the last tick, or sees in this one.
    pub(super) fn hand_out_events(&mut self, world: &Snapshot, errors: &mut Vec<NetError>) {
        let Some(events) = &mut self.events else { return };
        let (tick, before) = (world.tick, self.sending.visible.world());
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
                    OwnedAudience::All => true,
                    OwnedAudience::Seeing(entity) => {
                        let visibility = &peer.visibility.visibility;
                        contains(&visibility.relevant, *entity)
                            && (visibility.always.binary_search(entity).is_ok()
                                || peer.eye.sees(world, before, *entity))
                    }
                    OwnedAudience::Only(ids) => ids.contains(id),
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
