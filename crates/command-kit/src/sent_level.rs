//! The option for the levels that a hub can send.

use std::fmt;

use kinepack::Level;
use kinepack::level::Changed;
use kinepack_capture::levels;

/// A level that a hub can send. Its packets contain only the differences from a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentLevel(Level);

impl SentLevel {
    pub const PACKED: Self = Self(Level::PACKED);

    /// Returns all levels that a hub can send, the simplest first.
    pub fn all() -> impl Iterator<Item = Self> {
        let is_sent = |level: &Level| {
            level.row() >= levels::FIRST_QUANTIZED_ROW && level.changed() != Changed::All
        };
        Level::TABLE.into_iter().filter(is_sent).map(Self)
    }

    /// Returns the level whose name or row number is `name`.
    ///
    /// # Errors
    /// Returns a message with the names of all levels.
    pub fn named(name: &str) -> Result<Self, String> {
        let found = Level::named(name).and_then(|level| Self::all().find(|sent| sent.0 == level));
        found.ok_or_else(|| {
            let names: Vec<String> = Self::all().map(|level| level.to_string()).collect();
            format!("there are {}", names.join(", "))
        })
    }

    pub fn row(self) -> Level {
        self.0
    }
}

impl fmt::Display for SentLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0.name())
    }
}
