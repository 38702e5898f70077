//! The settings of a receiver.

use std::time::Duration;

use kinepack::{DecodeLimits, Tick};

use crate::{Channel, PlayoutConfig};

/// Limits of a receiver's memory, and the settings of its playback.
///
/// ```
/// use std::time::Duration;
/// use kinepack_net::{PlayoutConfig, ReceiverConfig};
///
/// // A simulation of 30 ticks per second, and 16 MiB for views.
/// let config = ReceiverConfig { max_memory_bytes: 16 << 20, ..ReceiverConfig::at_hz(30) };
/// assert_eq!(config.playout, PlayoutConfig::at_hz(30));
/// assert_eq!(config.hello_every, Duration::from_millis(250));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ReceiverConfig {
    /// The maximum number of entities in a view. [`max_memory_bytes`](Self::max_memory_bytes) may
    /// allow fewer.
    pub limits: DecodeLimits,
    /// The maximum memory for views and states to show. One view may take 1/32 of this memory, at
    /// four bytes for each lane of an entity and four for its id. A snapshot with more entities is
    /// refused: [`ReceiverStats::too_large`](crate::ReceiverStats::too_large). The last quarter is
    /// for states to show that are not views. The decoder's own memory (a few views) and an
    /// incomplete full state are not included.
    ///
    /// A receiver usually holds about 70 views, and up to 255 on long round trips. If the views
    /// exceed three quarters of this memory, the receiver drops the oldest. Views of 1/96 of the
    /// memory are small enough for the receiver to hold all that the sender may use. Larger views
    /// need short round trips. At 1/32, the receiver holds 24 views, which suffice for a round trip
    /// of about 0.15 s at 60 datagrams per second. On longer round trips, the receiver asks for the
    /// state anew when the sender uses a view that was dropped. Watch
    /// [`ReceiverStats::dropped_views`](crate::ReceiverStats::dropped_views), and raise this
    /// memory.
    pub max_memory_bytes: usize,
    /// The maximum size of a full state, in bytes.
    pub max_full_state_bytes: usize,
    /// The channel of the hub, which distinguishes several hubs on one connection.
    pub channel: Channel,
    /// Time between two hellos while no datagram arrives.
    pub hello_every: Duration,
    /// A receiver that has accepted no datagram for this long sends hellos again. If the sender has
    /// forgotten the receiver, a new session begins. Otherwise the hellos change nothing. The
    /// silence should be several times the sender's
    /// [`HubConfig::keep_alive`](crate::HubConfig::keep_alive).
    pub silence: Duration,
    /// The longest time over which an entity's motion is blended. If an entity was not refreshed
    /// for longer than this, its motion takes this time and ends in the newest state.
    pub longest_blend: Duration,
    /// The settings of the jitter buffer, such as the sender's ticks per second.
    pub playout: PlayoutConfig,
}

impl ReceiverConfig {
    /// Settings for a sender of `tick_hz` ticks per second.
    ///
    /// A memory of 128 MiB has room for worlds of 65,536 entities of 15 lanes, and for all views of
    /// 34,952 entities of nine lanes. Full states of 4 MiB hold 65,536 entities of 64 bytes. Hellos
    /// are 250 ms apart, so a lost hello costs little time. A silence of one second is four
    /// keep-alives. A blend of a quarter of a second is the time between two snapshots at the
    /// slowest sensible rate if one is lost.
    pub fn at_hz(tick_hz: u32) -> Self {
        Self {
            limits: DecodeLimits::default(),
            max_memory_bytes: 128 << 20,
            max_full_state_bytes: 4 << 20,
            channel: Channel::default(),
            hello_every: Duration::from_millis(250),
            silence: Duration::from_secs(1),
            longest_blend: Duration::from_millis(250),
            playout: PlayoutConfig::at_hz(tick_hz),
        }
    }
}

/// The memory of a receiver has room for this many views, or states to show, of the largest size.
pub(super) const VIEWS_IN_MEMORY: usize = 32;
/// The share of the memory for states to show that are not views: one byte in this many. The rest
/// of the memory has room for 24 views of the largest size. A receiver should hold 64 views before
/// the newest baseline, and all views after it. These fit if each is at most a third of the largest
/// size.
pub(super) const STATES_SHARE: usize = 4;

impl ReceiverConfig {
    /// The tick from which playback has to blend to a state in which entities take turns, however
    /// few of them do. `None` if they do not, or if a turn takes longer than playback blends.
    pub(super) fn reach_of_turns(&self, tick: Tick, turns: u8) -> Option<Tick> {
        let blends = f64::from(turns) <= self.longest_blend_ticks();
        (turns > 1 && blends).then(|| Tick(tick.0.saturating_sub(turns.into())))
    }

    pub(super) fn longest_blend_ticks(&self) -> f64 {
        self.longest_blend.as_secs_f64() * f64::from(self.playout.tick_hz)
    }
}
