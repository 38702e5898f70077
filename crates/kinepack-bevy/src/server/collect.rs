//! Updates the snapshot of the world, kind by kind.
//!
//! Bevy's change detection finds the entities that were added or changed since the last tick. The
//! plugin quantizes only the components of these entities, column by column. The hub's snapshot
//! keeps the lanes of all other entities. Cost: a look at the change tick of each component. Each
//! changed entity costs a copy, the quantization and a write of its lanes. If entities were added
//! or removed, the snapshot is also copied.

use core::any::type_name;
use core::fmt::Display;
use core::marker::PhantomData;

use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use bevy_ecs::query::{
    ArchetypeFilter, QueryData, QueryFilter, QueryState, ReadOnlyQueryData, With, Without,
};
use bevy_ecs::world::World;
use kinepack::{EncodeError, EntityId, Snapshot, Tick};

use super::{Moving, ServerStats};
use crate::ids::Ids;
use crate::part::MotionKind;
use crate::settings::expect;
use crate::{MotionEntities, MotionId};

/// The changes of a tick, which each kind adds to.
pub(crate) struct Changes<'a> {
    pub(crate) tick: Tick,
    /// The state of the previous tick.
    pub(crate) state: &'a Snapshot,
    /// The entities that were added or changed.
    pub(crate) rows: &'a mut Snapshot,
    /// The same entities in the tiers from 1 on.
    pub(crate) coarser: &'a mut [Snapshot],
    /// Whether there were fewer tiers in the last tick.
    pub(crate) has_new_tiers: bool,
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

    /// The number of tiers above 0 in which the kind has other lanes.
    fn coarser(&self) -> usize;
}

/// The rows of a kind: what the server reads from its entities in a tick.
pub(crate) trait Rows: Send + Sync + 'static {
    /// Reads the components.
    type Read: ReadOnlyQueryData;
    /// Selects entities with a component that was added or changed.
    type IsChanged: QueryFilter;
    /// Selects entities that have the components.
    type Has: ArchetypeFilter;

    /// The number of tiers above 0 in which the kind has other lanes.
    fn coarser(&self) -> usize {
        0
    }

    /// Removes all rows. The next ones are for `coarser` tiers above 0.
    fn clear(&mut self, coarser: usize);

    /// Reads an entity's components as a row. An entity may be read twice in a tick.
    fn read(&mut self, id: EntityId, components: <Self::Read as QueryData>::Item<'_, '_>);

    /// Appends the rows to the changes, as entities of the kind with the index `kind`.
    fn push(&mut self, world: &mut World, kind: usize, changes: &mut Changes<'_>);

    /// Appends the rows that were pushed to `rows`, those of a tier above 0. `finest` has the rows
    /// of tier 0.
    fn push_coarser(
        &self,
        kind: usize,
        _tier: usize,
        finest: &Snapshot,
        rows: &mut Snapshot,
    ) -> Result<(), EncodeError> {
        finest.of_kind(kind).try_for_each(|index| rows.push_row(finest, index))
    }
}

/// The kind of an entity that has an id.
#[derive(Component)]
pub(crate) struct OfKind<R: Rows>(PhantomData<fn() -> R>);

type Read<R> = <R as Rows>::Read;
/// Selects entities that should get an id.
pub(crate) type IsNew = (With<Moving>, Without<MotionId>);
type IsOfKind<R> = (With<Moving>, With<OfKind<R>>, <R as Rows>::Has);

type HasChanged<R> = (IsOfKind<R>, <R as Rows>::IsChanged);

/// The entities of one kind.
pub(crate) struct CollectKind<R: Rows> {
    new: QueryState<(Entity, Read<R>), IsNew>,
    changed: QueryState<(&'static MotionId, Read<R>), HasChanged<R>>,
    all: QueryState<(&'static MotionId, Read<R>), IsOfKind<R>>,
    count: QueryState<(), IsOfKind<R>>,
    /// The changed entities of this tick.
    rows: R,
    named: Vec<(Entity, MotionId)>,
    /// All ids of the kind.
    present: Vec<EntityId>,
}

impl<R: Rows> CollectKind<R> {
    pub(crate) fn new(world: &mut World, rows: R) -> Self {
        Self {
            new: QueryState::new(world),
            changed: QueryState::new(world),
            all: QueryState::new(world),
            count: QueryState::new(world),
            rows,
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
            self.rows.read(id, components);
            self.named.push((entity, MotionId(id.0)));
        }
        for (entity, id) in self.named.drain(..) {
            world.entity_mut(entity).insert((id, OfKind::<R>(PhantomData)));
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
                self.rows.read(id, components);
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

impl<R: Rows> Collect for CollectKind<R> {
    fn collect(&mut self, world: &mut World, kind: usize, changes: &mut Changes<'_>) {
        self.rows.clear(changes.coarser.len());
        if changes.has_new_tiers && self.rows.coarser() > 0 {
            for (id, components) in self.all.query(world).iter() {
                self.rows.read(id.entity_id(), components);
            }
        }
        for (id, components) in self.changed.query(world).iter() {
            self.rows.read(id.entity_id(), components);
        }
        if self.count.query(world).iter().len() != changes.state.of_kind(kind).len() {
            self.reconcile(world, kind, changes);
        }
        self.name(world, changes);
        self.rows.push(world, kind, changes);
        for (rows, tier) in changes.coarser.iter_mut().zip(1..) {
            let pushed = self.rows.push_coarser(kind, tier, changes.rows, rows);
            expect(pushed, "the rows of a tier");
        }
    }

    fn coarser(&self) -> usize {
        self.rows.coarser()
    }

    fn release(&self, world: &mut World, entity: Entity) {
        if let Ok(mut entity) = world.get_entity_mut(entity) {
            entity.remove::<(MotionId, OfKind<R>)>();
        }
    }
}

/// The states of a kind whose fields a type describes.
pub(crate) struct StateRows<K>(Vec<(EntityId, K)>);

impl<K> StateRows<K> {
    pub(crate) fn new() -> Self {
        Self(Vec::new())
    }
}

impl<K: MotionKind> Rows for StateRows<K> {
    type Read = K::Read;
    type IsChanged = K::IsChanged;
    type Has = K::Has;

    fn clear(&mut self, _coarser: usize) {
        self.0.clear();
    }

    fn read(&mut self, id: EntityId, components: <K::Read as QueryData>::Item<'_, '_>) {
        self.0.push((id, K::read(components)));
    }

    fn push(&mut self, _: &mut World, _: usize, changes: &mut Changes<'_>) {
        self.0.sort_unstable_by_key(|(id, _)| *id);
        self.0.dedup_by_key(|(id, _)| *id);
        changes.stats.quantized += self.0.len() as u64;
        let rows = self.0.iter().map(|(id, state)| (*id, state));
        if changes.rows.extend::<K>(rows).is_ok() {
            return;
        }
        // The snapshot refuses one of the entities, so the entities are added one by one, and those
        // that are not refused keep their places.
        for (id, state) in &self.0 {
            if let Err(error) = changes.rows.push(*id, state) {
                changes.stats.note_refused::<K>(&error);
            }
        }
    }
}

impl ServerStats {
    /// Counts a state that is not sent, and logs the first one.
    pub(crate) fn note_refused<K>(&mut self, error: &dyn Display) {
        if self.refused_values == 0 {
            log::warn!("kinepack-bevy: a value of {} is not sent: {error}", type_name::<K>());
        }
        self.refused_values += 1;
    }
}
