//! The settings of a hub and of its receivers.

use std::time::Duration;

use kinepack::{Baselines, EntityId};

use super::receiver_id::ReceiverId;
use crate::{Channel, NetError, Sequence};

/// The settings that all receivers of a hub share.
///
/// ```
/// use kinepack_net::HubConfig;
///
/// // For datagrams over a transport with 40 bytes of headers, and no state checks.
/// let config = HubConfig { overhead_bytes: 40, check_every_bytes: None, ..HubConfig::default() };
/// assert_eq!(config.validate(), Ok(()));
/// assert!(HubConfig { datagram_bytes: 100, ..config }.validate().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubConfig {
    /// The largest datagram that the transport carries, without its own headers.
    pub datagram_bytes: usize,
    /// Distinguishes the datagrams of several hubs on one connection. The hub's receivers need the
    /// same channel.
    pub channel: Channel,
    /// The number of header bytes that the transport adds to each datagram. Budgets include them.
    pub overhead_bytes: usize,
    /// Time between snapshots if nothing changes or the receiver does not answer.
    pub keep_alive: Duration,
    /// A receiver that has not answered for this long gets keep-alives only.
    pub silence: Duration,
    /// The maximum number of datagrams that one receiver gets in a tick, if a snapshot or a full
    /// state needs more than one.
    pub datagrams_per_tick: u32,
    /// How many older views a snapshot may use in addition to the baseline, 0 to 3. `None` for as
    /// many as the receiver's codec can use ([`Codec::older_views`](kinepack::Codec::older_views)).
    /// With 0, a time precision has no effect: all values are exact. Each older view costs one byte
    /// in each snapshot. For a receiver with older views, the hub keeps the last 72 datagrams
    /// before the newest acknowledged one, instead of 40.
    pub older_views: Option<u8>,
    /// The maximum number of different encodings that a tick makes for receivers that could share
    /// them. The limit has an effect only if the number of receivers is larger.
    ///
    /// If most receivers share encodings, the other receivers may at most double the number of
    /// encodings. If they need more, the receivers that hold a recent complete view together get
    /// one encoding for every four shared encodings. The remaining receivers together get half an
    /// encoding a tick on average. The hub moves them to encodings that other receivers share, or
    /// postpones them to a later tick. So a few receivers that acknowledge odd views can neither
    /// multiply the hub's work nor keep honest receivers waiting.
    ///
    /// The limit applies to each offered codec, each relevant set and each cell of
    /// [`Rings`](crate::Rings) separately. Receivers whose
    /// views are partial for lack of budget do not count, because they share nothing anyway.
    pub encodings_per_tick: u32,
    /// The minimum number of bytes that the hub sends to a receiver from one [state
    /// check](kinepack::View::check) to the next. `None` for no checks, 0 for a check in each
    /// snapshot.
    ///
    /// After that many bytes, the first snapshot in a tick that makes checks has a check. About
    /// every second tick makes checks, the same ticks for all receivers. A check adds three bytes
    /// to a snapshot. The distance is also at least one byte for every four values of the state.
    /// With the default, this matters for states of more than 16,384 values. Three kinds of
    /// snapshots are checked in any tick: a receiver's first one, the first after the state was
    /// sent anew, and the first that a silent receiver gets in a tick.
    ///
    /// A check finds faults that acknowledgements cannot find: a wrong bit in one side's memory, or
    /// arithmetic that differs. The receiver then asks for the state anew, and the session
    /// continues.
    pub check_every_bytes: Option<u32>,
    /// How many consecutive datagrams carry a copy of each event, sent before the hub can know
    /// whether the first copy was lost. With 1, a lost datagram delays its events, and all later
    /// events, by a round trip.
    pub event_copies: u8,
    /// Whether to count what each snapshot cost, for [`Hub::cost`](crate::Hub::cost). Counting
    /// takes time, and memory for each snapshot that the hub keeps. It does not change the
    /// datagrams.
    pub count_costs: bool,
}

impl Default for HubConfig {
    /// The defaults are for the open Internet. Datagrams of 1,200 bytes pass every path in one
    /// piece (RFC 9000, section 14). IPv4 and UDP have headers of 28 bytes. Four keep-alives a
    /// second cost 1.2 kbit/s, and soon detect a change of the round trip. One second of silence is
    /// many round trips. Four datagrams a tick at 60 Hz are 2.3 Mbit/s, which a slow connection can
    /// still carry for a moment. With 32 encodings a tick, a hub serves any number of receivers
    /// with round trips up to half a second at 60 Hz. With at least 4,096 bytes from one state
    /// check to the next, checks take at most 0.08 % of the bytes.
    fn default() -> Self {
        Self {
            datagram_bytes: 1_200,
            channel: Channel::default(),
            overhead_bytes: 28,
            keep_alive: Duration::from_millis(250),
            silence: Duration::from_secs(1),
            datagrams_per_tick: 4,
            older_views: None,
            encodings_per_tick: 32,
            check_every_bytes: Some(4_096),
            event_copies: 2,
            count_costs: false,
        }
    }
}

impl HubConfig {
    /// Checks that each setting is in its range.
    ///
    /// # Errors
    /// Returns [`NetError::DatagramBytes`], [`NetError::NoTime`] or [`NetError::OlderViews`].
    pub fn validate(&self) -> Result<(), NetError> {
        if !(128..=65_507).contains(&self.datagram_bytes) {
            return Err(NetError::DatagramBytes { bytes: self.datagram_bytes });
        }
        if self.keep_alive.is_zero()
            || self.silence.is_zero()
            || self.datagrams_per_tick == 0
            || self.encodings_per_tick == 0
            || self.event_copies == 0
        {
            return Err(NetError::NoTime);
        }
        match self.older_views {
            Some(count) if usize::from(count) > Baselines::OLDER => {
                Err(NetError::OlderViews { count })
            }
            _ => Ok(()),
        }
    }

    /// The bytes that a datagram costs a budget in addition to the bytes that
    /// [`datagram_bytes`](Self::datagram_bytes) counts.
    pub(super) fn paid_overhead_bytes(&self) -> usize {
        self.overhead_bytes + self.channel.bytes()
    }
}

/// How many bytes a second one receiver gets, including the transport's headers.
///
/// If a change of the world does not fit, the entities that matter most are sent, see
/// [`Hub::tick_with`](crate::Hub::tick_with). The others follow in later ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Budget {
    /// No limit except [`HubConfig::datagrams_per_tick`].
    #[default]
    Unlimited,
    /// A limit that does not change. In any `t` seconds, the receiver gets at most `t` times the
    /// budget, plus a burst. The first burst is a tenth of a second of the budget. Later bursts use
    /// up unused budget: at most the same amount, or one full datagram if that is more. A refusal
    /// of a hello does not count.
    Fixed {
        /// The number of bytes per second, at least 256.
        bytes_per_s: u32,
    },
    /// As much as the link carries, found by [`CongestionControl`](crate::CongestionControl). The
    /// limit begins at 50,000 bytes a second. It falls when datagrams wait in a queue of the link,
    /// and grows while it is what holds changes back. [`PeerStatus::link`](crate::PeerStatus::link)
    /// reports it. Bursts are as with a fixed limit.
    Auto {
        /// The largest limit, in bytes per second, at least 256.
        at_most: u32,
    },
}

impl From<Option<u32>> for Budget {
    /// A limit in bytes per second, or none.
    fn from(bytes_per_s: Option<u32>) -> Self {
        bytes_per_s.map_or(Self::Unlimited, |bytes_per_s| Self::Fixed { bytes_per_s })
    }
}

/// The settings of one receiver.
///
/// ```
/// use kinepack_net::{Budget, ReceiverOptions};
///
/// // What the link carries, but at most 1.6 Mbit/s.
/// let budget = Budget::Auto { at_most: 200_000 };
/// let options = ReceiverOptions { budget, ..ReceiverOptions::default() };
/// assert_eq!(ReceiverOptions::default().budget, Budget::Unlimited);
/// # assert_eq!(options.validate(), Ok(()));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverOptions {
    /// How many bytes a second the receiver gets.
    pub budget: Budget,
    /// The first sequence. Keep the default of 0, except in tests of sequences that wrap.
    pub first_sequence: Sequence,
}

impl ReceiverOptions {
    /// Checks that the budget is not too small.
    ///
    /// # Errors
    /// Returns [`NetError::BudgetTooSmall`] if the budget is below 256 bytes per second.
    pub fn validate(&self) -> Result<(), NetError> {
        match self.budget {
            Budget::Fixed { bytes_per_s: bytes_per_s @ ..256 }
            | Budget::Auto { at_most: bytes_per_s @ ..256 } => {
                Err(NetError::BudgetTooSmall { bytes_per_s })
            }
            _ => Ok(()),
        }
    }
}

/// How much an entity matters to a receiver. 1 is normal. With 0, the entity is sent only if
/// everything fits. The hub multiplies the priority by the time since the entity was last sent.
pub type Priority<'a> = &'a dyn Fn(ReceiverId, EntityId) -> f32;
