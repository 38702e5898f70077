//! Writes the state of a moment into the entities of a kind.
//!
//! Cost: for each entity a look-up of its id, the interpolation, and a comparison with each
//! component. Components that already have the value are not touched.

use std::time::Duration;

use bevy_ecs::bundle::Bundle;
use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use bevy_ecs::message::Message;
use bevy_ecs::query::{QueryData, QueryState, Without};
use bevy_ecs::world::World;
use kinepack::EntityId;
use kinepack_net::{Playback, Sample};

use crate::late::{KindSetup, Late};
use crate::part::MotionKind;
use crate::{MotionEntities, MotionId};

/// Marks an entity of the client that is ahead of playback, such as the player's own ship. Playback
/// does not write its components, but still despawns it.
///
/// If the app has a [prediction](crate::MotionAppExt::add_motion_prediction) for the entity's kind,
/// the plugin writes the predicted components. Otherwise the game writes them itself.
/// [`MotionClient::newest`](crate::MotionClient::newest) contains the server's state of the entity.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct Predicted;

/// An entity jumped since the previous frame, as in a teleport: a field with `#[pack(cut)]` has
/// another value. The plugin writes this message on the client, in the frame that first shows the
/// entity after the jump. Read it to restart trails, and the smoothing of cameras and sounds.
///
/// Each jump is written once, whatever the network loses. There is no message for an entity in the
/// frame that spawns it, and none for an entity that other code has not spawned yet.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jumped {
    /// The entity, which already has its new components.
    pub entity: Entity,
    /// The id of the entity.
    pub id: MotionId,
}

/// A registered kind of entities on the client.
pub(crate) trait Show: Send + Sync {
    /// Sets what is shown when states are late.
    fn set_up(&mut self, setup: &KindSetup);

    /// Begins a frame at `now`.
    fn begin(&mut self, now: Duration);

    /// Writes the state of all entities of the kind with the index `kind` in the schema. If
    /// `spawns` is true, also spawns the entities that do not exist.
    fn show(&mut self, world: &mut World, playback: &Playback<'_>, kind: usize, spawns: bool);
}

/// How the samples of a kind become components.
pub(crate) trait Shown: Send + Sync + 'static {
    /// Writes the components.
    type Write: QueryData;
    /// The components of an entity that appears.
    type Components: Bundle;

    /// Sets what is shown when states are late.
    fn set_up(&mut self, setup: &KindSetup);

    /// Begins a frame at `now`.
    fn begin(&mut self, now: Duration);

    /// Writes a sample of `playback` into an entity's components, unless the entity's place is not
    /// known yet.
    fn write<'a>(
        &mut self,
        playback: &Playback<'a>,
        sample: &Sample<'a>,
        components: <Self::Write as QueryData>::Item<'_, '_>,
    );

    /// Makes new components with the state of a sample of `playback`. `None` if the entity's place
    /// is not known yet.
    fn make<'a>(
        &mut self,
        playback: &Playback<'a>,
        sample: &Sample<'a>,
    ) -> Option<Self::Components>;
}

/// The entities of one kind.
pub(crate) struct ShowKind<S: Shown> {
    write: QueryState<S::Write, Without<Predicted>>,
    shown: S,
    /// Scratch memory: entities that lack a component of the kind, or do not exist yet.
    incomplete: Vec<(EntityId, Option<Entity>, S::Components)>,
}

impl<S: Shown> ShowKind<S> {
    pub(crate) fn new(world: &mut World, shown: S) -> Self {
        Self { write: QueryState::new(world), shown, incomplete: Vec::new() }
    }
}

impl<S: Shown> Show for ShowKind<S> {
    fn set_up(&mut self, setup: &KindSetup) {
        self.shown.set_up(setup);
    }

    fn begin(&mut self, now: Duration) {
        self.shown.begin(now);
    }

    fn show(&mut self, world: &mut World, playback: &Playback<'_>, kind: usize, spawns: bool) {
        world.resource_scope::<MotionEntities, _>(|world, entities| {
            let mut write = self.write.query_mut(world);
            for sample in playback.samples_of_kind(kind) {
                let entity = entities.get(MotionId(sample.id.0));
                match entity.map(|entity| write.get_mut(entity)) {
                    Some(Ok(components)) => self.shown.write(playback, &sample, components),
                    None if !spawns => {}
                    _ => {
                        let components = self.shown.make(playback, &sample);
                        let new = components.map(|components| (sample.id, entity, components));
                        self.incomplete.extend(new);
                    }
                }
            }
        });
        for (id, entity, components) in self.incomplete.drain(..) {
            match entity.map(|entity| world.get_entity_mut(entity)) {
                Some(Ok(mut entity)) if !entity.contains::<Predicted>() => {
                    entity.insert(components);
                }
                Some(_) => {}
                None => _ = world.spawn((MotionId(id.0), components)),
            }
        }
    }
}

/// The states of a kind whose fields a type describes.
pub(crate) struct ShownState<K>(Late<K>);

impl<K> ShownState<K> {
    pub(crate) fn new() -> Self {
        Self(Late::default())
    }
}

impl<K: MotionKind> Shown for ShownState<K> {
    type Write = K::Write;
    type Components = K::Components;

    fn set_up(&mut self, setup: &KindSetup) {
        self.0.set_up(setup);
    }

    fn begin(&mut self, now: Duration) {
        self.0.begin(now);
    }

    fn write<'a>(
        &mut self,
        playback: &Playback<'a>,
        sample: &Sample<'a>,
        components: <K::Write as QueryData>::Item<'_, '_>,
    ) {
        if let Ok(state) = self.0.state(playback, sample, Playback::in_world) {
            state.write(components);
        }
    }

    fn make<'a>(&mut self, playback: &Playback<'a>, sample: &Sample<'a>) -> Option<K::Components> {
        let state = self.0.state(playback, sample, Playback::in_world);
        state.ok().map(K::into_components)
    }
}
