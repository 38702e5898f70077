//! Limits the number of values in a capture by its size. With constant columns and zstd, a few
//! bytes can unpack to gigabytes, which take time to read.

/// The maximum number of values that a capture may hold: `min_values + values_per_byte · n` after
/// `n` bytes of the file. A frame of E entities counts as (E + 1) · (lanes + 1) + 256 values. If
/// there are several kinds, the product is added for each kind. Chunks have the same limit, counted
/// separately. A chunk counts one value for each of its records, or for each 64 unpacked bytes if
/// that is more. For a challenge file, `n` counts the bytes of the file as it is stored, compressed
/// or not.
///
/// The defaults are 2²⁴ and 512. A recording of 901 cubes has 6 values for each byte while the
/// cubes move, and 170 while all of them rest. A challenge file in `.zst` with minutes at rest may
/// need more: 3,600 frames at rest have 3,000 values for each byte.
///
/// ```
/// use kinepack_capture::{Capture, CaptureLimits};
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("run.mcap");
/// # kinepack_capture::Recorder::create(&path)?.finish()?;
/// // Long rests compress well, so this allows 4,096 values for each byte.
/// let limits = CaptureLimits { values_per_byte: 4_096, ..CaptureLimits::default() };
/// assert_eq!(limits.most_values(1_000), (1 << 24) + 4_096_000);
/// let mut capture = Capture::open(&path)?.with_limits(limits);
/// while let Some((_, frame)) = capture.next_frame()? {
///     println!("tick {}: {} entities", frame.tick().0, frame.ids().len());
/// }
/// assert!(capture.damage().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureLimits {
    /// The number of values that any file may hold, however short it is.
    pub min_values: u64,
    /// The number of values that each byte of a file adds to the limit.
    pub values_per_byte: u64,
}

impl Default for CaptureLimits {
    fn default() -> Self {
        Self { min_values: 1 << 24, values_per_byte: 512 }
    }
}

impl CaptureLimits {
    /// Returns the maximum number of values that `file_bytes` bytes of a file may hold.
    pub fn most_values(&self, file_bytes: u64) -> u64 {
        self.min_values.saturating_add(self.values_per_byte.saturating_mul(file_bytes))
    }
}

/// The number of values that each frame adds to the count besides its own, because even an empty
/// frame takes some time.
const FRAME_VALUES: u64 = 256;

/// Counts the values of a capture while it is read. Readers of other formats can use it too.
#[derive(Clone, Copy, Debug, Default)]
pub struct ValueCount {
    /// The limits that the count is compared with.
    pub limits: CaptureLimits,
    count: u64,
}

/// A capture has more values than its limits allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyValues {
    /// The number of values up to the frame that exceeds the limit.
    pub values: u64,
    /// The limit that applies after the bytes of the file up to that frame.
    pub limit: u64,
}

impl ValueCount {
    /// Counts a frame that ends after `file_bytes` bytes of the file.
    ///
    /// # Errors
    /// [`TooManyValues`] if the capture is now above its limit.
    pub fn add(
        &mut self,
        entities: usize,
        lanes: usize,
        file_bytes: u64,
    ) -> Result<(), TooManyValues> {
        self.add_kinds([(entities, lanes)], file_bytes)
    }

    /// Counts a frame of several kinds, given the number of entities and of lanes of each kind.
    pub(crate) fn add_kinds(
        &mut self,
        kinds: impl IntoIterator<Item = (usize, usize)>,
        file_bytes: u64,
    ) -> Result<(), TooManyValues> {
        let kind_values =
            |(entities, lanes): (usize, usize)| (entities as u64 + 1) * (lanes as u64 + 1);
        self.count += kinds.into_iter().map(kind_values).sum::<u64>() + FRAME_VALUES;
        let (values, limit) = (self.count, self.limits.most_values(file_bytes));
        if values > limit { Err(TooManyValues { values, limit }) } else { Ok(()) }
    }
}
