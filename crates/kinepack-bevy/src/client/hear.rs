//! Writes events as messages on the client.

use bevy_ecs::message::Message;
use bevy_ecs::world::World;
use kinepack::{Pack, Tick};
use kinepack_net::Event;

/// An event of the server, as a message on the client. The plugin writes the message when playback
/// shows the event's tick, so that a player sees the hit when the dart arrives. It writes each
/// event once, and events of one type in the order in which the server emitted them.
#[derive(Message, Clone, Copy, Debug, PartialEq)]
pub struct Happened<E: Send + Sync + 'static> {
    /// The event.
    pub event: E,
    /// The tick in which the event happened.
    pub tick: Tick,
    /// Whether the event arrived after playback had shown its tick.
    pub late: bool,
}

/// Writes an event as a message of its type.
pub(crate) type Hear = fn(&mut World, &Event<'_>);

pub(crate) fn hear<E: Pack + Send + Sync>(world: &mut World, event: &Event<'_>) {
    if let Ok(Some(of_type)) = event.get::<E>() {
        world.write_message(Happened { event: of_type, tick: event.tick, late: event.late });
    }
}
