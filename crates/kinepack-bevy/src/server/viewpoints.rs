//! The entities from which clients look at the world.
//!
//! Cost of a tick: for each viewpoint a walk up its parents, and for each entity that is always
//! seen a look-up of its id. Nothing is allocated while these sets stay the same.

use std::sync::Arc;

use bevy_ecs::change_detection::ResMut;
use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use bevy_ecs::system::{Local, Query};
use bevy_transform::components::Transform;
use bevy_transform::helper::TransformHelper;
use kinepack::EntityId;
use kinepack_net::ReceiverId;

use super::MotionServer;
use crate::MotionId;
use crate::settings::expect;

/// The entity from which a client looks at the world, on the server. The distances of
/// [`Rings`](kinepack_net::Rings) are measured from here. The entity need not be
/// [`Moving`](crate::Moving): it may be a camera below the player's ship.
///
/// In each tick, the place is computed from the `Transform`s of the entity and its parents, as
/// they are in `FixedLast`. `GlobalTransform` is not used, because it is one frame old then. The
/// rings' positions must have the same unit and axes, as those of a [`Pose`](crate::Pose) do if the
/// entity has no parent. For other positions, call
/// [`Hub::set_viewpoint`](kinepack_net::Hub::set_viewpoint) yourself.
///
/// A client without a viewpoint sees everything. So insert the component as soon as
/// [`ClientJoined`](crate::ClientJoined) arrives, in `FixedUpdate` or before. The client's first
/// state then has only what is near. If the component or the entity is removed, the client sees
/// everything from the next tick on. If the place is not finite, or a parent has no `Transform`,
/// the client keeps looking from the last place.
///
/// If several entities are viewpoints of the same client, the first one in the order of [`Entity`]
/// counts, and a warning is logged. Viewpoints without effect are counted in
/// [`ServerStats::unused_viewpoints`](crate::ServerStats::unused_viewpoints).
///
/// ```
/// use bevy_ecs::prelude::*;
/// use kinepack::Pack;
/// use kinepack_bevy::{ClientJoined, Moving, Viewpoint};
///
/// #[derive(Component, Pack, Clone, Default, PartialEq)]
/// #[require(Moving)]
/// struct Ship;
///
/// /// Each client looks from its own ship. Add this system to `FixedUpdate`.
/// fn join(mut commands: Commands, mut joined: MessageReader<ClientJoined>) {
///     for ClientJoined { client } in joined.read() {
///         commands.spawn((Ship, Viewpoint { client: *client }));
///     }
/// }
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[require(Transform)]
pub struct Viewpoint {
    /// The client that looks from this entity.
    pub client: ReceiverId,
}

/// The entities that a client sees at any distance from its [`Viewpoint`], such as the other
/// members of its team. The component belongs to the entity with the viewpoint. Entities without a
/// [`MotionId`] are ignored. Beyond all rings, an entity is sent as in the farthest ring that is
/// seen.
#[derive(Component, Clone, Debug, Default, PartialEq, Eq)]
pub struct AlwaysSeen(pub Vec<Entity>);

/// The scratch memory of [`look`].
#[derive(Default)]
pub(super) struct Looking {
    /// The viewpoints by client, in the order in which they count.
    found: Vec<(ReceiverId, Entity)>,
    /// The clients that had a viewpoint in the last tick, in increasing order.
    last: Vec<ReceiverId>,
    always: Vec<EntityId>,
    /// The number of viewpoints, in the last tick, of clients that look from another entity.
    several: usize,
}

/// Passes the viewpoints to the hub, after the entities of the tick have their ids.
pub(super) fn look(
    viewpoints: Query<(Entity, &Viewpoint, Option<&AlwaysSeen>)>,
    transforms: TransformHelper,
    ids: Query<&MotionId>,
    mut server: ResMut<MotionServer>,
    mut looking: Local<Looking>,
) {
    let Looking { found, last, always, several } = &mut *looking;
    found.clear();
    found.extend(viewpoints.iter().map(|(entity, viewpoint, _)| (viewpoint.client, entity)));
    found.sort_unstable();
    let all = found.len();
    found.dedup_by_key(|(client, _)| *client);
    let mut unused = all - found.len();
    if unused > *several {
        log::warn!("kinepack-bevy: {unused} viewpoints are of clients that have another one");
    }
    *several = unused;
    for client in last.drain(..) {
        if found.binary_search_by_key(&client, |(client, _)| *client).is_err() {
            server.remove_viewpoint(client);
        }
    }
    for (client, entity) in found.iter() {
        let place = transforms.compute_global_transform(*entity);
        let place = place.ok().map(|place| place.translation().to_array().map(f64::from));
        let seen = viewpoints.get(*entity).ok().and_then(|(_, _, seen)| seen);
        always.clear();
        let seen = seen.into_iter().flat_map(|AlwaysSeen(entities)| entities);
        always.extend(seen.filter_map(|entity| ids.get(*entity).ok()).map(|id| id.entity_id()));
        always.sort_unstable();
        always.dedup();
        unused += usize::from(!server.look(*client, place, always));
        last.push(*client);
    }
    server.stats.unused_viewpoints = unused;
}

impl MotionServer {
    /// Sets what a client looks from, and what it always sees: sorted ids. Without a place, it
    /// keeps the last one. Returns false if the viewpoint has no effect.
    fn look(
        &mut self,
        client: ReceiverId,
        place: Option<[f64; 3]>,
        always_seen: &[EntityId],
    ) -> bool {
        self.set_always_seen(client, always_seen);
        place.is_some() && self.hub.set_viewpoint(client, place).is_ok()
    }

    fn remove_viewpoint(&mut self, client: ReceiverId) {
        self.set_always_seen(client, &[]);
        // A client that has left has no viewpoint.
        let _ = self.hub.set_viewpoint(client, None);
    }

    /// Passes a set to the hub if it is another one. Sets of clients that are not connected are
    /// ignored.
    fn set_always_seen(&mut self, client: ReceiverId, entities: &[EntityId]) {
        let Some(known) = self.clients.get_mut(&client) else { return };
        if *known.always_seen == *entities {
            return;
        }
        known.always_seen = entities.into();
        let set = self.hub.set_always_seen(client, Arc::clone(&known.always_seen));
        expect(set, "the entities that a client always sees");
    }
}
