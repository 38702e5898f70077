//! The outline of a schema: a short hash of each of its parts. Two sides compare outlines to find
//! the first part in which their schemas differ. `spec/CODEC.md`, section 5.3, defines outlines.

use alloc::format;
use alloc::string::String;

use super::Schema;
use crate::hash::Fnv1a;

/// A part of an outline.
enum Part {
    Kind(usize),
    Field(usize),
}

impl Schema {
    /// Returns the outline: 32 bits of a hash for each part of the schema, in order. A part is a
    /// field, or the name of a kind before the kind's fields.
    ///
    /// ```
    /// use kinepack::{Pack, Schema};
    ///
    /// #[derive(Pack)]
    /// struct Door {
    ///     open: bool,
    /// }
    ///
    /// #[derive(Pack)]
    /// struct Player {
    ///     #[pack(max = 100)]
    ///     health: u8,
    ///     crouches: bool,
    /// }
    ///
    /// #[derive(Pack)]
    /// struct OldPlayer {
    ///     #[pack(max = 50)]
    ///     health: u8,
    ///     crouches: bool,
    /// }
    ///
    /// let ours = Schema::builder().kind::<Door>("door").kind::<Player>("player").build()?;
    /// let theirs = Schema::builder().kind::<Door>("door").kind::<OldPlayer>("player").build()?;
    /// let first = ours.outline().zip(theirs.outline()).position(|(a, b)| a != b);
    /// assert_eq!(first.and_then(|part| ours.part_name(part)).as_deref(), Some("player.health"));
    /// # Ok::<(), kinepack::SetupError>(())
    /// ```
    pub fn outline(&self) -> impl Iterator<Item = u32> + '_ {
        self.parts().map(|part| {
            let mut hasher = Fnv1a::new();
            match part {
                Part::Kind(kind) => {
                    hasher.add(&[0]);
                    hasher.add(self.kinds()[kind].name().as_bytes());
                }
                Part::Field(field) => {
                    hasher.add(&[1]);
                    self.fields()[field].hash_into(&mut |bytes| hasher.add(bytes));
                }
            }
            hasher.finish() as u32
        })
    }

    /// Returns the name of a part of the [outline](Self::outline), after the kind's name if the
    /// kinds have names: `player`, `player.health`. Returns `None` beyond the last part.
    pub fn part_name(&self, part: usize) -> Option<String> {
        Some(match self.parts().nth(part)? {
            Part::Kind(kind) => String::from(self.kinds()[kind].name()),
            Part::Field(field) => {
                let name = &self.fields()[field].name;
                let kind = self.kinds().iter().find(|kind| kind.fields().contains(&field))?;
                match kind.name() {
                    "" => name.clone(),
                    kind => format!("{kind}.{name}"),
                }
            }
        })
    }

    fn parts(&self) -> impl Iterator<Item = Part> + '_ {
        self.kinds().iter().enumerate().flat_map(|(index, kind)| {
            let name = (!kind.name().is_empty()).then_some(Part::Kind(index));
            name.into_iter().chain(kind.fields().map(Part::Field))
        })
    }
}
