//! Tracks the memory that reading a file takes, against a limit. The importer takes memory from the
//! budget before it allocates, so a large count in a file cannot cause a large allocation.

use super::ImportError;

/// The smallest budget of a file. It covers half an hour of 60 joints at 30 Hz, sampled from two
/// keys for each channel.
const LEAST_BYTES: u64 = 128 << 20;
/// The number of bytes that each byte of a file adds to the budget. Real animations take up to 12
/// bytes per byte, even if packed with zstd.
const BYTES_PER_BYTE: u64 = 64;

/// The memory that one import may take and has taken, in bytes.
pub(super) struct Budget {
    file: String,
    limit: u64,
    /// Whether the limit grows with the size of the input.
    follows_input: bool,
    /// The size of the largest file read so far.
    largest: u64,
    /// The memory that remains in use until the import ends.
    kept: u64,
    /// The memory in use until [`release`](Self::release) returns it.
    passing: u64,
}

impl Budget {
    /// Returns a budget for a file of `bytes` bytes, which count as taken. If `max_memory_bytes` is
    /// `None`, the limit depends on the sizes of the files.
    pub(super) fn new(
        file: &str,
        max_memory_bytes: Option<u64>,
        file_bytes: u64,
    ) -> Result<Self, ImportError> {
        let follows_input = max_memory_bytes.is_none();
        let limit = max_memory_bytes.unwrap_or(LEAST_BYTES);
        let mut budget =
            Self { file: file.to_owned(), limit, follows_input, largest: 0, kept: 0, passing: 0 };
        budget.add_file(file_bytes)?;
        Ok(budget)
    }

    /// Takes memory for a file that was read. Only the largest file raises the limit, because a
    /// document may reference the same file a thousand times.
    pub(super) fn add_file(&mut self, bytes: u64) -> Result<(), ImportError> {
        if self.follows_input {
            let more = bytes.saturating_sub(self.largest);
            self.limit = self.limit.saturating_add(more.saturating_mul(BYTES_PER_BYTE));
            self.largest = self.largest.max(bytes);
        }
        self.take(bytes)
    }

    /// Returns the maximum number of bytes that the next file may have.
    pub(super) fn room_for_file(&self) -> u64 {
        if self.follows_input && self.left() >= self.largest { u64::MAX } else { self.left() }
    }

    /// Takes memory that stays in use for the rest of the import.
    pub(super) fn take(&mut self, bytes: u64) -> Result<(), ImportError> {
        self.check(bytes)?;
        self.kept += bytes;
        Ok(())
    }

    /// Takes memory that stays in use until the next [`release`](Self::release).
    pub(super) fn take_for_now(&mut self, bytes: u64) -> Result<(), ImportError> {
        self.check(bytes)?;
        self.passing += bytes;
        Ok(())
    }

    /// Returns the temporary memory to the budget.
    pub(super) fn release(&mut self) {
        self.passing = 0;
    }

    /// Returns the memory that can still be taken.
    pub(super) fn left(&self) -> u64 {
        self.limit.saturating_sub(self.kept + self.passing)
    }

    /// Returns the name of the file that is imported.
    pub(super) fn file(&self) -> &str {
        &self.file
    }

    /// Returns the limit on the memory of the import.
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// Returns the error for taking `bytes` more bytes.
    pub(super) fn too_much(&self, bytes: u64) -> ImportError {
        ImportError::TooMuchMemory {
            file: self.file.clone(),
            needed_bytes: (self.kept + self.passing).saturating_add(bytes),
            limit_bytes: self.limit,
        }
    }

    fn check(&self, bytes: u64) -> Result<(), ImportError> {
        if bytes > self.left() { Err(self.too_much(bytes)) } else { Ok(()) }
    }
}
