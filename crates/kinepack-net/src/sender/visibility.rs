//! Visibility: the entities that a receiver may see, and the groups of fields that it may see.

use std::sync::Arc;

use kinepack::EntityId;
use kinepack::schema::OptionalPart;

/// A set of entities as sorted ids; `None` for all entities.
pub(super) type EntitySet = Option<Arc<[EntityId]>>;

/// The entities and fields that a receiver may see.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Visibility {
    /// The entities that the receiver may see.
    pub(super) relevant: EntitySet,
    /// For each group of fields, the entities whose fields of this group the receiver may see.
    pub(super) groups: Vec<EntitySet>,
    /// The entities that the receiver sees at any distance, as sorted ids.
    pub(super) always: Arc<[EntityId]>,
}

impl Visibility {
    /// A visibility that includes all entities, but hides the fields of all `groups` groups.
    pub(super) fn new(groups: usize) -> Self {
        let none: Arc<[EntityId]> = Arc::from([]);
        Self { relevant: None, groups: vec![Some(Arc::clone(&none)); groups], always: none }
    }

    /// Whether nothing was set.
    pub(super) fn is_default(&self) -> bool {
        self.relevant.is_none() && self.groups.iter().all(Option::is_none) && self.always.is_empty()
    }
}

/// A visibility that receivers use.
#[derive(Clone, Debug)]
pub(super) struct KnownVisibility {
    /// Equal visibilities have the same id. The one in which nothing was set has id 0.
    pub(super) id: u64,
    pub(super) visibility: Arc<Visibility>,
}

/// Fields that only some receivers may see.
#[derive(Debug)]
pub(super) struct FieldGroup {
    pub(super) name: String,
    pub(super) parts: Vec<OptionalPart>,
}

/// Whether `set` contains `entity`.
pub(super) fn contains(set: &EntitySet, entity: EntityId) -> bool {
    set.as_ref().is_none_or(|ids| ids.binary_search(&entity).is_ok())
}
