//! The settings of a simulated link, and the checks of their ranges.

use core::fmt;
use std::time::Duration;

/// Bytes that IPv4 (20) and UDP (8) put before each datagram.
pub const HEADER_BYTES: u32 = 28;

/// The settings of one direction of a simulated network. [`PRESETS`](super::PRESETS) has settings
/// for some real networks.
///
/// ```
/// use std::time::Duration;
/// use kinepack_net::{LinkConfig, Loss};
///
/// let config = LinkConfig {
///     latency: Duration::from_millis(40),
///     loss: Loss::bursts(0.05, 3.0),
///     ..LinkConfig::PERFECT
/// };
/// assert_eq!(config.validate(), Ok(()));
/// assert!((config.loss.mean_ratio() - 0.05).abs() < 1e-6);
/// assert!(LinkConfig::named("wifi").is_some());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkConfig {
    /// The shortest one-way delay of a datagram.
    pub latency: Duration,
    /// The longest additional delay. The delay of each datagram is the smaller of two uniform
    /// numbers from 0 to `jitter`, on average a third of `jitter`. Datagrams stay in order: the
    /// datagrams after a late one wait for it.
    pub jitter: Duration,
    /// Which datagrams are lost.
    pub loss: Loss,
    /// The share of datagrams that arrive twice. The copy departs right after the original, with
    /// its own delay.
    pub duplicate_ratio: f32,
    /// The share of datagrams that are delayed by a uniform time up to `reorder_delay`. Datagrams
    /// that are sent within that time overtake the delayed datagrams. If datagrams are sent further
    /// apart, no datagram is reordered.
    pub reorder_ratio: f32,
    /// The longest delay of a reordered datagram.
    pub reorder_delay: Duration,
    /// Bits per second that the slowest hop carries, including [`HEADER_BYTES`] for each datagram.
    /// `None` for no limit. A [`LinkTrace`](super::LinkTrace) replaces it.
    pub bandwidth_bps: Option<u32>,
    /// The maximum number of bytes that wait before the slowest hop, including headers and the
    /// unsent rest of the current datagram. A datagram without room is dropped. Without
    /// `bandwidth_bps` and trace, nothing waits.
    pub queue_bytes: u32,
    /// The largest packet that the path carries, including its header: 1500 leaves 1472 bytes for a
    /// datagram. The link drops larger packets and does not fragment them.
    pub mtu_bytes: u32,
}

/// Which datagrams are lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// No datagram is lost.
    None,
    /// Each datagram is lost with the same chance.
    Independent {
        /// The share of datagrams that is lost.
        ratio: f32,
    },
    /// The Gilbert-Elliott model, for loss in bursts: a chain with a good and a bad state. The
    /// chain begins in the good state, and takes a step before each datagram.
    GilbertElliott {
        /// Chance to go from the good state to the bad one; *p* in the literature.
        to_bad_ratio: f32,
        /// Chance to go from the bad state to the good one; *r* in the literature. Bad times last
        /// for 1 / *r* datagrams on average.
        to_good_ratio: f32,
        /// The share of datagrams lost in the good state; 1 − *k* in the literature.
        good_loss_ratio: f32,
        /// The share of datagrams lost in the bad state; 1 − *h* in the literature.
        bad_loss_ratio: f32,
    },
}

/// The longest delay of a link: an hour.
const MAX_DELAY: Duration = Duration::from_secs(3600);

impl Loss {
    /// Loss in bursts from two measurements: the share of lost datagrams, and the mean length of a
    /// burst. All datagrams are lost in the bad state and none in the good one (Gilbert's model).
    ///
    /// [`LinkConfig::validate`] refuses values that no chain can produce: bursts shorter than one
    /// datagram, or a share that would need pauses shorter than one datagram.
    #[must_use]
    pub const fn bursts(mean_loss_ratio: f32, mean_burst_datagrams: f32) -> Self {
        let to_good_ratio = 1.0 / mean_burst_datagrams;
        // The share of time in the bad state is p / (p + r).
        let to_bad_ratio = to_good_ratio * mean_loss_ratio / (1.0 - mean_loss_ratio);
        Self::GilbertElliott {
            to_bad_ratio,
            to_good_ratio,
            good_loss_ratio: 0.0,
            bad_loss_ratio: 1.0,
        }
    }

    /// The share of datagrams lost in the long run.
    pub fn mean_ratio(&self) -> f32 {
        match *self {
            Self::None => 0.0,
            Self::Independent { ratio } => ratio,
            // The chain never leaves the state that it begins in.
            Self::GilbertElliott { to_bad_ratio: 0.0, good_loss_ratio, .. } => good_loss_ratio,
            Self::GilbertElliott {
                to_bad_ratio,
                to_good_ratio,
                good_loss_ratio,
                bad_loss_ratio,
            } => {
                let bad_ratio = to_bad_ratio / (to_bad_ratio + to_good_ratio);
                good_loss_ratio + (bad_loss_ratio - good_loss_ratio) * bad_ratio
            }
        }
    }

    fn ratios(&self) -> [f32; 4] {
        match *self {
            Self::None => [0.0; 4],
            Self::Independent { ratio } => [ratio, 0.0, 0.0, 0.0],
            Self::GilbertElliott {
                to_bad_ratio,
                to_good_ratio,
                good_loss_ratio,
                bad_loss_ratio,
            } => [to_bad_ratio, to_good_ratio, good_loss_ratio, bad_loss_ratio],
        }
    }
}

impl Default for LinkConfig {
    /// [`LinkConfig::PERFECT`].
    fn default() -> Self {
        Self::PERFECT
    }
}

impl LinkConfig {
    /// Every datagram arrives immediately. There is no delay, loss or limit, except for IP's
    /// largest packet.
    pub const PERFECT: Self = Self {
        latency: Duration::ZERO,
        jitter: Duration::ZERO,
        loss: Loss::None,
        duplicate_ratio: 0.0,
        reorder_ratio: 0.0,
        reorder_delay: Duration::ZERO,
        bandwidth_bps: None,
        queue_bytes: 64 * 1024,
        mtu_bytes: 65_535,
    };

    /// Checks that each setting is in its range.
    ///
    /// # Errors
    /// Returns [`LinkError`] for the first setting that is out of range.
    pub fn validate(&self) -> Result<(), LinkError> {
        for ratio in
            self.loss.ratios().into_iter().chain([self.duplicate_ratio, self.reorder_ratio])
        {
            if !(0.0..=1.0).contains(&ratio) {
                return Err(LinkError::BadRatio { ratio });
            }
        }
        for delay in [self.latency, self.jitter, self.reorder_delay] {
            if delay > MAX_DELAY {
                return Err(LinkError::DelayTooLong { delay, max: MAX_DELAY });
            }
        }
        if self.bandwidth_bps == Some(0) {
            return Err(LinkError::NoBandwidth);
        }
        if !(HEADER_BYTES..=65_535).contains(&self.mtu_bytes) {
            return Err(LinkError::BadMtu { mtu_bytes: self.mtu_bytes });
        }
        Ok(())
    }
}

/// Why a [`LinkConfig`] was refused.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum LinkError {
    /// A share or chance is not from 0 to 1.
    BadRatio {
        /// The given ratio.
        ratio: f32,
    },
    /// A delay is longer than a link may have.
    DelayTooLong {
        /// The given delay.
        delay: Duration,
        /// The maximum delay.
        max: Duration,
    },
    /// The bandwidth is 0 bits per second.
    NoBandwidth,
    /// The MTU is below [`HEADER_BYTES`], or above IP's 65,535 bytes.
    BadMtu {
        /// The given MTU.
        mtu_bytes: u32,
    },
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadRatio { ratio } => write!(f, "a share of {ratio} is not from 0 to 1"),
            Self::DelayTooLong { delay, max } => {
                write!(f, "a delay of {delay:?} is longer than {max:?}")
            }
            Self::NoBandwidth => write!(f, "a link of 0 bits a second carries nothing"),
            Self::BadMtu { mtu_bytes } => {
                write!(f, "an MTU of {mtu_bytes} bytes is not from 28 to 65535")
            }
        }
    }
}

impl core::error::Error for LinkError {}
