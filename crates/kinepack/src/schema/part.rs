//! Finds the parts of an entity that may be absent, by name.

use alloc::format;
use alloc::string::String;
use core::ops::Range;

use super::{Field, Schema, derived};

/// The lanes of an `Option` of a kind: the flag and all lanes of the value.
/// [`Snapshot::clear_part`](crate::Snapshot::clear_part) sets such an `Option` to `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionalPart {
    pub(crate) kind: usize,
    /// The part's range among the schema's lanes.
    pub(crate) lanes: Range<usize>,
    pub(crate) schema_hash: u64,
}

impl OptionalPart {
    /// The part's range among the schema's lanes.
    pub fn lanes(&self) -> Range<usize> {
        self.lanes.clone()
    }
}

impl Schema {
    /// Finds the `Option` with this name, which follows the kind's name if the kind has one:
    /// `player.ammunition`. Returns `None` if there is no such `Option`, or if it is a spawn field.
    ///
    /// ```
    /// use kinepack::{EntityId, Pack, Schema, Snapshot, Tick};
    ///
    /// #[derive(Pack, Debug, PartialEq)]
    /// struct Player {
    ///     health: u8,
    ///     ammunition: Option<u8>,
    /// }
    ///
    /// let schema = Schema::builder().kind::<Player>("player").build()?;
    /// let ammunition = schema.optional_part("player.ammunition").ok_or("no Option")?;
    /// assert_eq!(schema.optional_part("player.health"), None);
    ///
    /// let mut world = Snapshot::new(&schema, Tick(1));
    /// world.push(EntityId(1), &Player { health: 90, ammunition: Some(7) })?;
    /// world.push(EntityId(2), &Player { health: 80, ammunition: Some(3) })?;
    /// world.clear_part(&ammunition, |id| id == EntityId(1))?;
    /// let hidden = Player { health: 80, ammunition: None };
    /// assert_eq!(world.get(EntityId(2))?, Some(hidden));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn optional_part(&self, name: &str) -> Option<OptionalPart> {
        for (kind, of) in self.kinds().iter().enumerate() {
            let name_of = |field: &str| -> String { derived::join(of.name(), field) };
            let fields = &self.fields()[of.fields()];
            let flag = fields.iter().position(|field| name_of(&field.name) == format!("{name}?"));
            let Some(flag) = flag.filter(|flag| !fields[*flag].is_spawn) else { continue };
            let is_in = |field: &str| {
                let rest = name_of(field);
                let rest = rest.strip_prefix(name).unwrap_or("-");
                rest.is_empty() || rest.starts_with(['.', '[', '?'])
            };
            let value = fields[flag + 1..].iter().take_while(|field| is_in(&field.name)).count();
            let (part, after) = fields[flag..].split_at(1 + value);
            // In a schema written by hand, a field after the part may depend on the part. In that
            // case the part cannot be cleared alone.
            let depends = |field: &Field| {
                let selector = field.condition.as_ref().map(|condition| &condition.selector);
                part.iter().any(|selecting| selector == Some(&selecting.name))
            };
            if after.iter().any(depends) {
                continue;
            }
            let lanes = part[0].lanes().start..part[value].lanes().end;
            return Some(OptionalPart { kind, lanes, schema_hash: self.hash() });
        }
        None
    }
}
