//! What a lost datagram means for a receiver.

use kinepack::Tick;

use crate::events::Outgoing;
use crate::sender::freshness::Freshness;
use crate::sender::full_state::OutgoingFullState;
use crate::sender::history::{Content, Sent};

/// Applies the loss of the datagram `sent`. `reference_tick` is the tick of the newest reference
/// state.
pub(super) fn note_lost(
    sent: &Sent,
    events: &mut Outgoing,
    full_state: &mut Option<OutgoingFullState>,
    freshness: &mut Freshness,
    reference_tick: Tick,
) {
    if let Some(carried) = &sent.events {
        events.lose(carried);
    }
    match &sent.content {
        Content::Fragment { full_state: number, index } => {
            if let Some(out) = full_state.as_mut().filter(|out| out.number == *number) {
                out.lose(*index);
            }
        }
        Content::Snapshot { view, .. }
            if view.is_complete() || view.split().is_some() || view.turn().is_some() =>
        {
            freshness.lose_complete(reference_tick);
        }
        Content::Snapshot { view, sent_before, .. } => freshness.lose(view.tick(), sent_before),
        Content::Events => {}
    }
}
