//! The options of an analysis.

use kinepack::Profile;

/// The options of an analysis.
///
/// ```
/// use kinepack::{Pack, Profile, Schema};
/// use kinepack_capture::analysis::{AnalysisOptions, Analyzer};
///
/// #[derive(Pack)]
/// struct Lamp {
///     lit: bool,
/// }
///
/// // The stream is half an hour at 30 Hz, over a network with a round trip of 200 ms.
/// let schema = Schema::of::<Lamp>();
/// let defaults = AnalysisOptions::new(Profile::untrained(&schema), 54_000);
/// let options = AnalysisOptions { lag: 7, lags: vec![3, 7, 12], ..defaults };
/// assert_eq!((options.sweep_stride, options.sample_stride), (135, 360));
/// let analyzer = Analyzer::new(&schema, 30.0, options)?;
/// # let _ = analyzer;
/// # Ok::<(), kinepack_capture::analysis::AnalysisError>(())
/// ```
#[derive(Clone, Debug)]
pub struct AnalysisOptions {
    /// The minimum age of the baseline in ticks, from 1 to 60: the baseline is the newest frame of
    /// at least this age. If no ticks are missing, the age is also a number of frames.
    pub lag: u32,
    /// The lags that are compared, increasing, from 1 to at most 60.
    pub lags: Vec<u32>,
    /// The number of frames from one comparison of the lags to the next.
    pub sweep_stride: u64,
    /// Changes are tried on a sample of one in this many frames, at most
    /// [`AnalysisOptions::SAMPLES`] frames in all.
    pub sample_stride: u64,
    /// The profile for the levels that use one.
    pub profile: Profile,
    /// The maximum number of bytes of the frames that are kept for comparison. An analyzer keeps
    /// the frames of three times the longest lag. The samples and counts take up to 400 MB more.
    /// The default is 512 MiB, enough for frames of 65,536 entities with 20 lanes.
    pub max_bytes: usize,
}

impl AnalysisOptions {
    /// The maximum number of frames on which changes are tried.
    pub const SAMPLES: usize = 150;

    /// Makes options with the article's lag of 100 ms at 60 Hz, and with samples spread over
    /// `frames` frames.
    pub fn new(profile: Profile, frames: u64) -> Self {
        Self {
            lag: 6,
            lags: vec![1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20],
            sweep_stride: (frames / 400).max(1),
            sample_stride: (frames / Self::SAMPLES as u64).max(1),
            profile,
            max_bytes: 512 << 20,
        }
    }

    /// Returns the longest lag, at most 60.
    pub(super) fn longest_lag(&self) -> usize {
        self.lags.iter().copied().chain([self.lag]).max().unwrap_or(1).min(60) as usize
    }
}
