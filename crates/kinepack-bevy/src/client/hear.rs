//! Events on the client, as messages.

use bevy_ecs::message::Message;
use bevy_ecs::world::World;
use kinepack::{Pack, Tick};
use kinepack_net::Event;

/// An event of the server, as a message on the client. It is written when playback shows its tick,
/// so that a player sees the hit when the dart arrives. Each event is written once, and events of
/// one type in the order in which the server emitted them.
#[derive(Message, Clone, Copy, Debug, PartialEq)]
pub struct Happened<E: Send + Sync + 'static> {
    /// The event.
    pub event: E,
    /// The tick in which it happened.
    pub tick: Tick,
    /// True if it arrived after its tick was shown.
    pub late: bool,
}

/// Writes an event as a message of its type.
pub(crate) type Hear = fn(&mut World, &Event<'_>);

pub(crate) fn hear<E: Pack + Send + Sync>(world: &mut World, event: &Event<'_>) {
    if let Ok(Some(of_type)) = event.get::<E>() {
        world.write_message(Happened { event: of_type, tick: event.tick, late: event.late });
    }
}
