//! Updates the snapshot of the world, kind by kind.
//!
//! Bevy's change detection finds the entities that were added or changed since the last tick. The
//! plugin quantizes only the components of these entities, column by column. The hub's snapshot
//! keeps the lanes of all other entities. Cost: a look at the change tick of each component. Each
//! changed entity costs a copy, the quantization and a write of its lanes. If entities were added
//! or removed, the snapshot is also copied.

use core::any::type_name;
use core::marker::PhantomData;

use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use bevy_ecs::query::{QueryState, With, Without};
use bevy_ecs::world::World;
use kinepack::{EncodeError, EntityId, Snapshot, Tick};

use super::{Moving, ServerStats};
use crate::ids::Ids;
use crate::part::MotionKind;
use crate::{MotionEntities, MotionId};

/// The changes of a tick, which each kind adds to.
pub(crate) struct Changes<'a> {
    pub(crate) tick: Tick,
    /// The state of the previous tick.
    pub(crate) state: &'a Snapshot,
    /// The entities that were added or changed.
    pub(crate) rows: &'a mut Snapshot,
    /// The ids of removed entities, in no particular order.
    pub(crate) removed: &'a mut Vec<EntityId>,
    pub(crate) ids: &'a mut Ids,
    pub(crate) stats: &'a mut ServerStats,
}

/// A registered kind of entities on the server.
pub(crate) trait Collect: Send + Sync {
    /// Appends the changes of the kind with the index `kind` in the schema. All earlier kinds have
    /// already appended their changes.
    fn collect(&mut self, world: &mut World, kind: usize, changes: &mut Changes<'_>);

    /// Removes the id of an entity.
    fn release(&self, world: &mut World, entity: Entity);
}

/// The kind of an entity that has an id.
#[derive(Component)]
struct OfKind<K: MotionKind>(PhantomData<fn() -> K>);

type Read<K> = <K as MotionKind>::Read;
/// Selects entities that should get an id.
pub(crate) type IsNew = (With<Moving>, Without<MotionId>);
type IsOfKind<K> = (With<Moving>, With<OfKind<K>>, <K as MotionKind>::Has);

type HasChanged<K> = (IsOfKind<K>, <K as MotionKind>::IsChanged);

/// The entities of kind `K`.
pub(crate) struct CollectKind<K: MotionKind> {
    new: QueryState<(Entity, Read<K>), IsNew>,
    changed: QueryState<(&'static MotionId, Read<K>), HasChanged<K>>,
    all: QueryState<(&'static MotionId, Read<K>), IsOfKind<K>>,
    count: QueryState<(), IsOfKind<K>>,
    /// The changed entities of this tick.
    rows: Vec<(EntityId, K)>,
    named: Vec<(Entity, MotionId)>,
    /// All ids of the kind.
    present: Vec<EntityId>,
}

impl<K: MotionKind> CollectKind<K> {
    pub(crate) fn new(world: &mut World) -> Self {
        Self {
            new: QueryState::new(world),
            changed: QueryState::new(world),
            all: QueryState::new(world),
            count: QueryState::new(world),
            rows: Vec::new(),
            named: Vec::new(),
            present: Vec::new(),
        }
    }

    /// Gives ids to entities that have none. Appends their rows to `rows`.
    fn name(&mut self, world: &mut World, changes: &mut Changes<'_>) {
        for (entity, components) in self.new.query(world).iter() {
            let Some(id) = changes.ids.take(changes.tick) else {
                changes.stats.without_id += 1;
                continue;
            };
            self.rows.push((id, K::read(components)));
            self.named.push((entity, MotionId(id.0)));
        }
        for (entity, id) in self.named.drain(..) {
            world.entity_mut(entity).insert((id, OfKind::<K>(PhantomData)));
        }
    }

    /// Finds the entities that are gone, and the entities that the snapshot lacks because their
    /// values were refused until now.
    fn reconcile(&mut self, world: &mut World, kind: usize, changes: &mut Changes<'_>) {
        let known = &changes.state.ids()[changes.state.of_kind(kind)];
        self.present.clear();
        for (id, components) in self.all.query(world).iter() {
            let id = id.entity_id();
            self.present.push(id);
            if known.binary_search(&id).is_err() {
                self.rows.push((id, K::read(components)));
            }
        }
        self.present.sort_unstable();
        let gone = known.iter().filter(|id| self.present.binary_search(id).is_err());
        for id in gone.copied() {
            changes.removed.push(id);
            changes.ids.give_back(id, changes.tick);
            let entity = world.get_resource::<MotionEntities>();
            let entity = entity.and_then(|entities| entities.get(MotionId(id.0)));
            // The entity lost a component of its kind, or its marker.
            if let Some(entity) = entity {
                self.release(world, entity);
            }
        }
    }
}

impl<K: MotionKind> Collect for CollectKind<K> {
    fn collect(&mut self, world: &mut World, kind: usize, changes: &mut Changes<'_>) {
        self.rows.clear();
        let changed = self.changed.query(world);
        self.rows.extend(changed.iter().map(|(id, state)| (id.entity_id(), K::read(state))));
        if self.count.query(world).iter().len() != changes.state.of_kind(kind).len() {
            self.reconcile(world, kind, changes);
        }
        self.name(world, changes);
        self.rows.sort_unstable_by_key(|(id, _)| *id);
        self.rows.dedup_by_key(|(id, _)| *id);
        changes.stats.quantized += self.rows.len() as u64;
        let rows = self.rows.iter().map(|(id, state)| (*id, state));
        if changes.rows.extend::<K>(rows).is_ok() {
            return;
        }
        // The snapshot refuses one of the entities, so the entities are added one by one, and those
        // that are not refused keep their places.
        for (id, state) in &self.rows {
            if let Err(error) = changes.rows.push(*id, state) {
                note_refused::<K>(changes.stats, &error);
            }
        }
    }

    fn release(&self, world: &mut World, entity: Entity) {
        if let Ok(mut entity) = world.get_entity_mut(entity) {
            entity.remove::<(MotionId, OfKind<K>)>();
        }
    }
}

fn note_refused<K>(stats: &mut ServerStats, error: &EncodeError) {
    if stats.refused_values == 0 {
        log::warn!("kinepack-bevy: a value of {} is not sent: {error}", type_name::<K>());
    }
    stats.refused_values += 1;
}
