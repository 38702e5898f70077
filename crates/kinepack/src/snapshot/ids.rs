//! The numbers that identify entities and simulation steps.

/// Identifies an entity for as long as it lives; both sides use the same id.
///
/// ```
/// use kinepack::{EntityId, Pack, Schema, Snapshot, Tick};
///
/// #[derive(Pack)]
/// struct Lamp {
///     lit: bool,
/// }
///
/// let schema = Schema::of::<Lamp>();
/// let mut world = Snapshot::new(&schema, Tick(60)); // a second after the start, at 60 Hz
/// // These are a game's own numbers, in the increasing order that snapshots need.
/// let mut lamps = [(30, false), (7, true), (12, true)];
/// lamps.sort_by_key(|(number, _)| *number);
/// for (number, lit) in lamps {
///     world.push(EntityId(number), &Lamp { lit })?;
/// }
/// assert_eq!(world.ids(), [EntityId(7), EntityId(12), EntityId(30)]);
/// assert!(world.get::<Lamp>(EntityId(7))?.is_some_and(|lamp| lamp.lit));
/// assert!(world.get::<Lamp>(EntityId(8))?.is_none());
/// # Ok::<(), kinepack::EncodeError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntityId(pub u32);

/// The number of a simulation step.
///
/// ```
/// use kinepack::{Schema, Snapshot, Tick};
///
/// let schema = Schema::new(Vec::new());
/// let (mut world, hz) = (Snapshot::new(&schema, Tick(0)), 60);
/// for _ in 0..90 {
///     world.clear(Tick(world.tick.0 + 1)); // the next step of the simulation
/// }
/// assert_eq!(world.tick, Tick(90));
/// assert_eq!(f64::from(world.tick.0) / f64::from(hz), 1.5, "seconds");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tick(pub u32);

/// Returns the index of the first id in `ids` that is at least `id`. `ids` must increase strictly.
pub(super) fn first_at_least(ids: &[EntityId], id: EntityId) -> usize {
    let Some(gap) = ids.first().and_then(|first| id.0.checked_sub(first.0)) else { return 0 };
    // The ids are distinct integers, so the id at index `gap` is at least `id`. The two are equal
    // if no id before them is missing.
    let end = ids.len().min(gap as usize);
    if ids.get(end) == Some(&id) {
        return end;
    }
    // This is a galloping search: steps double until they pass the id, then a binary search covers
    // the last step.
    let (mut from, mut step) = (0, 1);
    while ids[from..end].get(step - 1).is_some_and(|other| *other < id) {
        from += step;
        step *= 2;
    }
    let end = end.min(from + step);
    from + ids[from..end].partition_point(|other| *other < id)
}
