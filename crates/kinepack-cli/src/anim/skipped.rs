//! The parts of the input that are damaged or do not fit. A command names them, processes the other
//! parts, and exits with 1.

use super::error::AnimError;

/// The files, animations, channels and clips that a command skips.
#[derive(Debug, Default)]
pub(crate) struct Skipped {
    failures: Vec<AnimError>,
}

impl Skipped {
    pub(crate) fn add(&mut self, failure: AnimError) {
        self.failures.push(failure);
    }

    pub(crate) fn extend(&mut self, failures: impl IntoIterator<Item = AnimError>) {
        self.failures.extend(failures);
    }

    /// Adds the parts that another reading skipped. A file that was read twice is named once.
    pub(crate) fn append(&mut self, other: Self) {
        let lines = self.lines();
        let is_new = |failure: &AnimError| !lines.contains(&failure.to_string());
        self.failures.extend(other.failures.into_iter().filter(is_new));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.failures.is_empty()
    }

    /// Returns a line for each part, for reports.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.failures.iter().map(ToString::to_string).collect()
    }

    /// The failure of a command that has nothing left to process. Returns `Ok` if nothing was
    /// skipped.
    pub(crate) fn refuse(mut self) -> Result<(), AnimError> {
        match self.failures.len() {
            0 => Ok(()),
            1 => self.failures.pop().map_or(Ok(()), Err),
            _ => Err(AnimError::NothingLeft { parts: self.lines() }),
        }
    }

    /// The failure of a command that has processed the other parts. Returns `Ok` if nothing was
    /// skipped.
    pub(crate) fn finish(self) -> Result<(), AnimError> {
        match self.failures.is_empty() {
            true => Ok(()),
            false => Err(AnimError::Skipped { parts: self.lines() }),
        }
    }
}
