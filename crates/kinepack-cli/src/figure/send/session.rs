//! The state of one session, and its counters.

use std::time::Duration;

use kinepack::{Snapshot, Tick};
use kinepack_anim::figure::Figure;
use kinepack_net::{Hub, HubConfig, PeerStatus, ReceiverId, ReceiverOptions};

use crate::figure::description::Description;
use crate::figure::framing::{MAX_CONTENTS_BYTES, OVERHEAD_BYTES};
use crate::figure::{FigureFailure, random};

/// The only receiver of the hub.
pub(super) const RECEIVER: ReceiverId = ReceiverId(1);
/// The headers of IPv4 and UDP.
const IP_UDP_BYTES: usize = 28;

/// The state that both sides share, under the number of the session.
pub(super) struct Session {
    pub(super) number: u32,
    pub(super) hub: Hub,
    pub(super) figure: Figure,
    pub(super) world: Snapshot,
    pub(super) is_joined: bool,
    /// Whether a pose was sent, so that a gap in the ticks is one in the poses.
    pub(super) has_sent: bool,
    /// When the other side was heard, or the session began.
    pub(super) heard: Duration,
    pub(super) next_offer: Duration,
}

impl Session {
    pub(super) fn new(description: &Description, now: Duration) -> Result<Self, FigureFailure> {
        let body = description.body()?;
        let config = HubConfig {
            datagram_bytes: MAX_CONTENTS_BYTES,
            overhead_bytes: IP_UDP_BYTES + OVERHEAD_BYTES,
            ..HubConfig::default()
        };
        let mut hub = Hub::new(&body.codec, config)?;
        hub.add(RECEIVER, &ReceiverOptions::default(), now)?;
        Ok(Self {
            number: random::session(),
            hub,
            world: Snapshot::new(body.codec.schema(), Tick(0)),
            figure: body.figure,
            is_joined: false,
            has_sent: false,
            heard: now,
            next_offer: now,
        })
    }

    pub(super) fn status(&self) -> PeerStatus {
        self.hub.status(RECEIVER).unwrap_or_default()
    }
}

/// Adds the counters of a session.
pub(super) fn add(sum: &mut PeerStatus, of: &PeerStatus) {
    sum.sent += of.sent;
    sum.acknowledged += of.acknowledged;
    sum.lost += of.lost;
    sum.bytes += of.bytes;
}
