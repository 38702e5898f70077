//! Writes the state of a moment into the entities of a kind.
//!
//! Cost: for each entity a look-up of its id, the interpolation, and a comparison with each
//! component. Components that already have the value are not touched.

use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use bevy_ecs::query::{QueryState, Without};
use bevy_ecs::world::World;
use kinepack::EntityId;
use kinepack_net::Playback;

use crate::part::MotionKind;
use crate::{MotionEntities, MotionId};

/// Marks an entity of the client whose components the game computes itself, such as the player's
/// own ship. The plugin does not write these components, but still despawns the entity.
/// [`MotionClient::newest`](crate::MotionClient::newest) contains the server's state of the entity.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct Predicted;

/// A registered kind of entities on the client.
pub(crate) trait Show: Send + Sync {
    /// Writes the state of all entities of the kind. If `spawns` is true, also spawns the entities
    /// that do not exist.
    fn show(&mut self, world: &mut World, playback: &Playback<'_>, spawns: bool);
}

/// The entities of kind `K`.
pub(crate) struct ShowKind<K: MotionKind> {
    write: QueryState<K::Write, Without<Predicted>>,
    /// Scratch memory: entities that lack a component of the kind, or do not exist yet.
    incomplete: Vec<(EntityId, Option<Entity>, K)>,
}

impl<K: MotionKind> ShowKind<K> {
    pub(crate) fn new(world: &mut World) -> Self {
        Self { write: QueryState::new(world), incomplete: Vec::new() }
    }
}

impl<K: MotionKind> Show for ShowKind<K> {
    fn show(&mut self, world: &mut World, playback: &Playback<'_>, spawns: bool) {
        let Ok(samples) = playback.samples_of::<K>() else { return };
        world.resource_scope::<MotionEntities, _>(|world, entities| {
            let mut write = self.write.query_mut(world);
            for sample in samples {
                let Ok(state) = sample.state::<K>() else { continue };
                let entity = entities.get(MotionId(sample.id.0));
                match entity.map(|entity| write.get_mut(entity)) {
                    Some(Ok(components)) => state.write(components),
                    None if !spawns => {}
                    _ => self.incomplete.push((sample.id, entity, state)),
                }
            }
        });
        for (id, entity, state) in self.incomplete.drain(..) {
            match entity.map(|entity| world.get_entity_mut(entity)) {
                Some(Ok(mut entity)) if !entity.contains::<Predicted>() => {
                    entity.insert(state.into_components());
                }
                Some(_) => {}
                None => _ = world.spawn((MotionId(id.0), state.into_components())),
            }
        }
    }
}
