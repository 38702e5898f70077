//! Sends a receiver's events, either in front of a snapshot or alone.

use super::Peer;
use crate::NetError;
use crate::events::EventList;
use crate::packet::{EventsAlone, LONGEST_LIST_BYTES};
use crate::sender::config::HubConfig;
use crate::sender::history::Content;
use crate::sender::moment::Moment;
use crate::sender::sending::Sending;

impl Peer {
    /// The events to send now, in at most `limit_bytes`. If the budget allows fewer bytes for
    /// events, the list is shorter.
    pub(super) fn event_list(
        &self,
        moment: &Moment<'_>,
        sending: &mut Sending,
        copies: u8,
        limit_bytes: usize,
        overhead_bytes: usize,
    ) -> Result<Option<EventList>, NetError> {
        let affordable = self.allowance.bytes_for_events();
        let limit_bytes = limit_bytes.min(affordable.saturating_sub(overhead_bytes));
        self.list(moment, sending, copies, limit_bytes)
    }

    /// Whether the next event is due and affordable, but not together with a snapshot of this tick.
    /// If true, the snapshot waits. If it did not wait, a small budget could never send a large
    /// event.
    pub(super) fn saves_for_events(
        &self,
        moment: &Moment<'_>,
        sending: &mut Sending,
    ) -> Result<bool, NetError> {
        let owed = self.allowance.bytes_owed_to_events().filter(|_| self.events.is_due());
        let Some(owed) = owed else { return Ok(false) };
        let owed_bytes = owed.saturating_sub(alone_bytes(moment.config));
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

    /// Sends the events that were not sent with a snapshot of this tick, if there is room.
    pub(super) fn send_events_alone(
        &mut self,
        moment: &Moment<'_>,
        sending: &mut Sending,
    ) -> Result<(), NetError> {
        if self.history.is_silent(moment.now, moment.config.silence) {
            return Ok(());
        }
        let limit_bytes = self.sendable_bytes(moment.config).saturating_sub(EventsAlone::BYTES);
        // With a budget, further copies of events are not worth a datagram of their own.
        let copies = if self.allowance.is_thrifty() { 1 } else { moment.config.event_copies };
        let overhead_bytes = alone_bytes(moment.config);
        let list = self.event_list(moment, sending, copies, limit_bytes, overhead_bytes)?;
        let Some(list) = list else { return Ok(()) };
        let header = EventsAlone { sequence: self.history.next(), tick: moment.tick };
        let bytes = sending.outbox.push(self.id, |out| {
            header.write(out);
            out.extend_from_slice(&list.bytes);
        });
        self.allowance.note_events(bytes + moment.config.overhead_bytes);
        self.events_waited = 0;
        let carried = self.events.note_sent(moment.tick, list);
        // A datagram with events alone does not change `last_sent`, because a world at rest still
        // needs its keep-alive snapshots.
        let last_sent = self.last_sent;
        self.note_sent(moment, bytes, Content::Events, Some(carried));
        self.last_sent = last_sent;
        Ok(())
    }
}

/// The bytes that a datagram of events alone costs a budget, in addition to the list of events.
fn alone_bytes(config: &HubConfig) -> usize {
    config.paid_overhead_bytes() + EventsAlone::BYTES
}
