//! Divides a limit of all receivers together among them.
//!
//! Each receiver saves an equal part of the limit, at most until it suffices for a full datagram.
//! What it does not save goes to a pool, from which all others may take. So a receiver that needs
//! little leaves the rest to the others, and no receiver waits for ever.

use std::time::Duration;

use super::bucket::Bucket;
use super::peer::Peer;

/// The bytes that a hub may send to all receivers together.
#[derive(Debug)]
pub(super) struct Uplink {
    /// What time brings until the next tick divides it.
    bucket: Bucket,
    /// The bytes that any receiver may take.
    pool: usize,
    /// The largest datagram with its headers.
    datagram_bytes: usize,
    /// The receiver that got something last, if there was not enough for all.
    turn: usize,
}

impl Uplink {
    pub(super) fn new(bytes_per_s: u32, datagram_bytes: usize, now: Duration) -> Self {
        let bucket = Bucket::new(bytes_per_s, datagram_bytes, now);
        Self { bucket, pool: 0, datagram_bytes, turn: 0 }
    }

    /// The same uplink with another limit from `now` on.
    pub(super) fn changed(self, bytes_per_s: u32, now: Duration) -> Self {
        let bucket = self.bucket.changed(bytes_per_s, self.datagram_bytes, now);
        Self { bucket, ..self }
    }

    /// Divides the bytes of the time since the last call.
    pub(super) fn divide<'p>(
        &mut self,
        now: Duration,
        receivers: usize,
        savings: impl Iterator<Item = &'p mut usize>,
    ) {
        self.bucket.fill(now);
        let kept = self.bucket.bytes_per_s() as usize / 10;
        let receivers = receivers.max(1);
        let (bytes, most) = (self.bucket.bytes(), self.datagram_bytes.max(kept / receivers));
        let each = bytes / receivers;
        // With fewer bytes than receivers, they get a datagram one after the other.
        let is_turn = each == 0 && bytes >= self.datagram_bytes.min(receivers / 2);
        self.turn = if is_turn { (self.turn + 1) % receivers } else { self.turn };
        // What is left of the division waits for the next tick.
        self.bucket.spend(if is_turn { bytes } else { each * receivers });
        for (nth, saved) in savings.enumerate() {
            *saved += if is_turn && nth == self.turn { bytes } else { each };
            self.pool += saved.saturating_sub(most);
            *saved = (*saved).min(most);
        }
        self.pool = self.pool.min(kept.max(self.datagram_bytes));
    }
}

/// Lets receivers send one after the other.
pub(super) struct Shares<'a> {
    uplink: Option<&'a mut Uplink>,
    /// The number of receivers that have not sent yet.
    waiting: usize,
}

impl<'a> Shares<'a> {
    /// Shares for this number of receivers. Without an uplink, they have no limit.
    pub(super) fn new(uplink: Option<&'a mut Uplink>, receivers: usize) -> Self {
        Self { uplink, waiting: receivers }
    }

    /// Lets `send` send what `peer` may send: what it saved, and a part of the pool.
    pub(super) fn give<T>(&mut self, peer: &mut Peer, send: impl FnOnce(&mut Peer) -> T) -> T {
        let Some(uplink) = &mut self.uplink else { return send(peer) };
        let share = peer.saved_bytes + uplink.pool / self.waiting.max(1);
        self.waiting = self.waiting.saturating_sub(1);
        peer.allowance.set_share(Some(share));
        let sent = send(peer);
        let used = share - peer.allowance.share().unwrap_or(share);
        uplink.pool = uplink.pool.saturating_sub(used.saturating_sub(peer.saved_bytes));
        peer.saved_bytes = peer.saved_bytes.saturating_sub(used);
        sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receivers_save_until_a_datagram_fits() {
        let mut uplink = Uplink::new(40_000, 1_200, Duration::ZERO);
        let mut saved = [0; 4];
        uplink.divide(Duration::ZERO, 4, saved.iter_mut());
        assert_eq!((saved, uplink.pool), ([1_000; 4], 0), "a tenth of a second");
        uplink.divide(Duration::from_millis(20), 4, saved.iter_mut());
        assert_eq!((saved, uplink.pool), ([1_200; 4], 0));
        uplink.divide(Duration::from_millis(60), 4, saved.iter_mut());
        assert_eq!((saved, uplink.pool), ([1_200; 4], 1_600), "the rest is for all");
        uplink.divide(Duration::from_secs(9), 4, saved.iter_mut());
        assert_eq!((saved, uplink.pool), ([1_200; 4], 4_000), "a tenth of a second");
    }
}
