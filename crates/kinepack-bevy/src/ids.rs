//! The ids of replicated entities.
//!
//! Bevy reuses the index of a despawned entity immediately. Kinepack needs ids that stay unused for
//! a while: as long as a client may still show an entity, no other entity may have its id.

use std::collections::{HashMap, VecDeque};

use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::resource::Resource;
use bevy_ecs::world::DeferredWorld;
use kinepack::{EntityId, Tick};

/// The id of a replicated entity, the same on the server and its clients.
///
/// On the server, the plugin inserts this component into each entity that is
/// [`Moving`](crate::Moving), in the entity's first tick. On a client, the entities that the plugin
/// spawns have it, so `Added<MotionId>` finds new ones. [`MotionEntities`] finds an entity by its
/// id. Do not insert or remove this component yourself.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[component(immutable, on_insert = note_inserted, on_discard = note_discarded)]
#[cfg_attr(feature = "replicon", derive(serde::Serialize, serde::Deserialize))]
pub struct MotionId(pub u32);

impl MotionId {
    /// The id as Kinepack's type.
    pub fn entity_id(self) -> EntityId {
        EntityId(self.0)
    }
}

/// The replicated entities of this world, by their ids.
#[derive(Resource, Debug, Default)]
pub struct MotionEntities {
    by_id: HashMap<MotionId, Entity>,
}

impl MotionEntities {
    /// The entity with the id `id`, if there is one.
    pub fn get(&self, id: MotionId) -> Option<Entity> {
        self.by_id.get(&id).copied()
    }

    /// All ids and entities, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (MotionId, Entity)> {
        self.by_id.iter().map(|(id, entity)| (*id, *entity))
    }

    /// The number of replicated entities.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether there are no replicated entities.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }
}

fn note_inserted(mut world: DeferredWorld<'_>, context: HookContext) {
    let Some(id) = world.get::<MotionId>(context.entity).copied() else { return };
    if let Some(mut entities) = world.get_resource_mut::<MotionEntities>() {
        entities.by_id.insert(id, context.entity);
    }
}

fn note_discarded(mut world: DeferredWorld<'_>, context: HookContext) {
    let Some(id) = world.get::<MotionId>(context.entity).copied() else { return };
    if let Some(mut entities) = world.get_resource_mut::<MotionEntities>()
        && entities.get(id) == Some(context.entity)
    {
        entities.by_id.remove(&id);
    }
}

/// Assigns ids to entities.
#[derive(Debug)]
pub(crate) struct Ids {
    next: Option<u32>,
    /// The ids that no entity has any more, each with the tick at which it became free. The ticks
    /// do not decrease.
    resting: VecDeque<(EntityId, Tick)>,
    /// How long an id rests before another entity gets it.
    rest_ticks: u32,
}

impl Ids {
    pub(crate) fn new(rest_ticks: u32) -> Self {
        Self { next: Some(0), resting: VecDeque::new(), rest_ticks }
    }

    /// An id that has rested, or else a new one. `None` if all ids are in use or resting.
    pub(crate) fn take(&mut self, now: Tick) -> Option<EntityId> {
        let has_rested =
            |(_, since): &mut (EntityId, Tick)| now.0.saturating_sub(since.0) >= self.rest_ticks;
        if let Some((id, _)) = self.resting.pop_front_if(has_rested) {
            return Some(id);
        }
        let id = self.next?;
        self.next = id.checked_add(1);
        Some(EntityId(id))
    }

    /// Notes that no entity has the id any more.
    pub(crate) fn give_back(&mut self, id: EntityId, now: Tick) {
        self.resting.push_back((id, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_rests_before_another_entity_gets_it() {
        let mut ids = Ids::new(10);
        assert_eq!([0, 1, 2].map(|_| ids.take(Tick(1))), [0, 1, 2].map(|id| Some(EntityId(id))));
        ids.give_back(EntityId(1), Tick(5));
        ids.give_back(EntityId(0), Tick(6));
        assert_eq!(ids.take(Tick(14)), Some(EntityId(3)));
        assert_eq!(ids.take(Tick(15)), Some(EntityId(1)));
        assert_eq!(ids.take(Tick(15)), Some(EntityId(4)));
        assert_eq!(ids.take(Tick(16)), Some(EntityId(0)));
    }

    #[test]
    fn ids_run_out_without_repeating() {
        let mut ids = Ids { next: Some(u32::MAX), ..Ids::new(10) };
        assert_eq!(ids.take(Tick(1)), Some(EntityId(u32::MAX)));
        assert_eq!(ids.take(Tick(1)), None);
        ids.give_back(EntityId(7), Tick(1));
        assert_eq!(ids.take(Tick(11)), Some(EntityId(7)));
    }
}
