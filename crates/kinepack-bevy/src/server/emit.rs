//! Events from the server, as messages that the hub sends with the next tick.

use bevy_ecs::message::{Message, Messages};
use bevy_ecs::world::World;
use kinepack::Pack;
use kinepack_net::{Audience, Hub, ReceiverId};

use super::ServerStats;
use crate::MotionId;

/// An event for the next tick. Write it as a message on the server, and clients read it as
/// [`Happened`](crate::Happened). The plugin removes messages of the type `Emit` from their queue,
/// so other readers on the server may miss them.
///
/// ```
/// use bevy_ecs::message::MessageWriter;
/// use kinepack::Pack;
/// use kinepack_bevy::Emit;
///
/// #[derive(Pack)]
/// struct Explosion {
///     #[pack(range = -2_000.0..=2_000.0, precision = 0.1)]
///     position: [f32; 3],
/// }
///
/// fn explode(mut explosions: MessageWriter<Emit<Explosion>>) {
///     explosions.write(Emit::to_all(Explosion { position: [1.0, 2.0, 3.0] }));
/// }
/// ```
#[derive(Message, Clone, Debug, PartialEq)]
pub struct Emit<E: Send + Sync + 'static> {
    /// The event.
    pub event: E,
    /// The clients that get the event.
    pub to: EmitTo,
}

/// The clients that get an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmitTo {
    /// All clients that have joined get the event.
    All,
    /// Clients that may see this entity get the event. All clients may see it, unless you use
    /// [`Hub::set_relevant`](kinepack_net::Hub::set_relevant) or
    /// [`Hub::set_rings`](kinepack_net::Hub::set_rings).
    Seeing(MotionId),
    /// Only these clients get the event.
    Only(Vec<ReceiverId>),
}

impl<E: Send + Sync> Emit<E> {
    /// An event for all clients that have joined.
    pub fn to_all(event: E) -> Self {
        Self { event, to: EmitTo::All }
    }

    /// An event for the clients that may see `entity`.
    pub fn to_seeing(entity: MotionId, event: E) -> Self {
        Self { event, to: EmitTo::Seeing(entity) }
    }

    /// An event for `clients` only.
    pub fn to_only(clients: impl Into<Vec<ReceiverId>>, event: E) -> Self {
        Self { event, to: EmitTo::Only(clients.into()) }
    }
}

/// Passes the waiting events of one type to the hub.
pub(crate) type EmitAll = fn(&mut World, &mut Hub, &mut ServerStats);

pub(crate) fn emit_all<E: Pack + Send + Sync>(
    world: &mut World,
    hub: &mut Hub,
    stats: &mut ServerStats,
) {
    let Some(mut waiting) = world.get_resource_mut::<Messages<Emit<E>>>() else { return };
    for Emit { event, to } in waiting.drain() {
        let audience = match &to {
            EmitTo::All => Audience::All,
            EmitTo::Seeing(entity) => Audience::Seeing(entity.entity_id()),
            EmitTo::Only(clients) => Audience::Only(clients),
        };
        if let Err(error) = hub.emit(&event, audience) {
            if stats.refused_events == 0 {
                log::warn!("kinepack-bevy: an event is not sent: {error}");
            }
            stats.refused_events += 1;
        }
    }
}
