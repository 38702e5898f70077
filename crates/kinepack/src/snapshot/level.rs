//! Levels: the combinations of stages that a codec can use. The rows of the table follow the
//! article "Snapshot Compression", one improvement per row.

/// The way in which a packet signals the entities that differ from the baseline.
///
/// ```
/// use kinepack::Level;
/// use kinepack::level::Changed;
///
/// assert_eq!(Level::PACKED.changed(), Changed::BitsOrGaps);
/// // These levels suit a network, because the others send every entity each time.
/// let levels = Level::TABLE.iter().filter(|level| level.changed() != Changed::All);
/// assert_eq!(levels.map(Level::row).min(), Some(7));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// There is no signal: every entity is sent.
    All,
    /// There is one bit per entity.
    Bits,
    /// There are bits or a list of indices, whichever is shorter.
    BitsOrIndices,
    /// There are bits or a list of distances from one index to the next, whichever is shorter.
    BitsOrGaps,
}

/// A level: a row of the table of levels, which lists the stages that a codec uses.
///
/// ```
/// use kinepack::Level;
///
/// assert_eq!(Level::from_row(12), Some(Level::PACKED));
/// let adaptive = Level::TABLE.iter().filter(|level| level.adaptive()).map(Level::row);
/// assert_eq!(adaptive.collect::<Vec<_>>(), [13, 14]);
/// ```
///
/// There are no levels besides the rows of the [table](Self::TABLE). A codec's hash covers only the
/// number of the row, so two levels with the same number must be equal.
///
/// ```compile_fail,E0451
/// use kinepack::level::Changed;
/// use kinepack::Level;
/// let level = Level { changed: Changed::All, ..Level::ADAPTIVE };
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    row: u8,
    at_rest: bool,
    changed: Changed,
    relative_numbers: bool,
    relative_rotations: bool,
    field_flags: bool,
    adaptive: bool,
    learning: bool,
}

/// The first row uses no stage.
const ROW_1: Level = Level {
    row: 1,
    at_rest: false,
    changed: Changed::All,
    relative_numbers: false,
    relative_rotations: false,
    field_flags: false,
    adaptive: false,
    learning: false,
};

/// The names of all rows, in order.
const NAMES: [&str; Level::TABLE.len()] = [
    "uncompressed",
    "smallest-three",
    "velocity",
    "at-rest",
    "no-velocity",
    "position",
    "changed-bits",
    "indices",
    "relative-indices",
    "relative-position",
    "relative-orientation",
    "packed",
    "adaptive",
    "learning",
];

/// The number of views older than the baseline that the adaptive stage uses.
pub(super) const ADAPTIVE_OLDER_STATES: usize = 2;

/// The longest time in ticks that predictions distinguish; longer times count as `MAX_TICKS`.
pub(super) const MAX_TICKS: u32 = 255;

impl Level {
    /// All levels, in the order of their row numbers. Each row keeps the stages of the rows before
    /// it, except [`at_rest`](Self::at_rest), which only row 4 has.
    pub const TABLE: [Self; 14] = {
        use Changed::{Bits, BitsOrGaps, BitsOrIndices};
        let r1 = ROW_1;
        // Rows 2, 3, 5 and 6 add no stage. Each of them differs from the row before only in the
        // schema that is used with it.
        let r2 = Self { row: 2, ..r1 };
        let r3 = Self { row: 3, ..r2 };
        let r4 = Self { row: 4, at_rest: true, ..r3 };
        let r5 = Self { row: 5, at_rest: false, ..r4 };
        let r6 = Self { row: 6, ..r5 };
        let r7 = Self { row: 7, changed: Bits, ..r6 };
        let r8 = Self { row: 8, changed: BitsOrIndices, ..r7 };
        let r9 = Self { row: 9, changed: BitsOrGaps, ..r8 };
        let r10 = Self { row: 10, relative_numbers: true, ..r9 };
        let r11 = Self { row: 11, relative_rotations: true, ..r10 };
        let r12 = Self { row: 12, field_flags: true, ..r11 };
        let r13 = Self { row: 13, adaptive: true, ..r12 };
        let r14 = Self { row: 14, learning: true, ..r13 };
        [r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, r13, r14]
    };

    /// The row with the fewest bits of all rows that pack bits. Its packets are cheaper to code
    /// than those of the rows that predict.
    pub const PACKED: Self = Self::TABLE[11];

    /// The row that predicts from a trained profile and codes each packet independently. `ADAPTIVE`
    /// has the fewest bits of all rows without learned state in the views.
    pub const ADAPTIVE: Self = Self::TABLE[12];

    /// The last row, which also learns from the packets. `LEARNING` has the fewest bits if play
    /// differs from the data that the profile was trained on.
    pub const LEARNING: Self = Self::TABLE[13];

    /// The row's number in the table, from 1.
    pub const fn row(&self) -> u8 {
        self.row
    }

    /// Returns true if a zero velocity takes one bit.
    pub const fn at_rest(&self) -> bool {
        self.at_rest
    }

    /// The way in which a packet signals the changed entities.
    pub const fn changed(&self) -> Changed {
        self.changed
    }

    /// Returns true if numbers are sent as differences from the baseline.
    pub const fn relative_numbers(&self) -> bool {
        self.relative_numbers
    }

    /// Returns true if rotations are sent as differences from the baseline.
    pub const fn relative_rotations(&self) -> bool {
        self.relative_rotations
    }

    /// Returns true if unchanged fields of changed entities are not sent.
    pub const fn field_flags(&self) -> bool {
        self.field_flags
    }

    /// Returns true if values are predicted from acknowledged states, and a range coder codes the
    /// residuals. A packet falls back to packed bits if these make it shorter.
    pub const fn adaptive(&self) -> bool {
        self.adaptive
    }

    /// Returns true if the adaptive stage resumes from the state that it had learned by the end of
    /// the baseline's packet. Each [`View`](crate::View) holds such a state.
    pub const fn learning(&self) -> bool {
        self.learning
    }

    /// The number of views older than the baseline that the level can use.
    /// [`Codec::older_views`](super::Codec::older_views) also takes time precision into account.
    pub const fn older_views(&self) -> usize {
        if self.adaptive { ADAPTIVE_OLDER_STATES } else { 0 }
    }

    /// Returns this level with another value of `changed`. The table has no level with that
    /// combination.
    #[cfg(test)]
    pub(super) const fn with_changed(self, changed: Changed) -> Self {
        Self { changed, ..self }
    }

    /// Returns the level with this row number; `None` if the table has no such row.
    pub const fn from_row(row: u8) -> Option<Self> {
        match row {
            1..=14 => Some(Self::TABLE[row as usize - 1]),
            _ => None,
        }
    }

    /// The level's name in commands, files and packages for other languages, such as `adaptive`.
    pub const fn name(&self) -> &'static str {
        NAMES[self.row as usize - 1]
    }

    /// Finds a level by its name or row number.
    pub fn named(text: &str) -> Option<Self> {
        Self::TABLE.into_iter().find(|level| level.name() == text || text.parse() == Ok(level.row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_found_by_name_and_by_row() {
        for level in Level::TABLE {
            assert_eq!(Level::named(level.name()), Some(level));
            assert_eq!(Level::named(&alloc::format!("{}", level.row())), Some(level));
        }
        assert_eq!(
            [Level::PACKED, Level::ADAPTIVE, Level::LEARNING].map(|level| level.name()),
            ["packed", "adaptive", "learning"]
        );
        assert_eq!(["0", "15", "packe", ""].map(Level::named), [None; 4]);
    }
}
