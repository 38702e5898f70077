//! The connected clients, and counts of the ways in which connections ended.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use kinepack::Level;
use kinepack_net::{Mismatch, NetError};
use kinepack_udp::DisconnectReason;

/// The time that a refused client stays connected, so that the server can repeat a refusal that was
/// lost.
const FAREWELL: Duration = Duration::from_secs(1);

/// All connected clients.
#[derive(Debug, Default)]
pub(super) struct Guests {
    present: BTreeMap<u64, Guest>,
    pub(super) counts: Counts,
    /// The number of clients that joined at each level, by the level's name.
    pub(super) joined_at: BTreeMap<&'static str, u64>,
}

/// Counts over all clients that ever connected.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// The number of clients that currently receive.
    pub(super) receivers: usize,
    pub(super) peak: usize,
    pub(super) joined: u64,
    pub(super) left: u64,
    pub(super) timed_out: u64,
    pub(super) refused: u64,
    /// The number of clients that the hub could not serve.
    pub(super) failed: u64,
}

#[derive(Debug)]
struct Guest {
    address: SocketAddr,
    standing: Standing,
}

#[derive(Clone, Copy, Debug)]
enum Standing {
    /// The client has not sent its hello yet.
    Silent,
    Receives,
    Refused {
        until: Duration,
    },
}

impl Guests {
    pub(super) fn connect(&mut self, client: u64, address: SocketAddr) {
        self.present.insert(client, Guest { address, standing: Standing::Silent });
    }

    /// Notes that a client has begun to receive, at the level that it chose. Returns a line for the
    /// log.
    pub(super) fn join(&mut self, client: u64, level: Level) -> Option<String> {
        let guest = self.present.get_mut(&client)?;
        guest.standing = Standing::Receives;
        self.counts.joined += 1;
        *self.joined_at.entry(level.name()).or_default() += 1;
        self.counts.receivers += 1;
        self.counts.peak = self.counts.peak.max(self.counts.receivers);
        Some(format!(
            "{} joined at {}; receivers: {}",
            guest.address,
            level.name(),
            self.counts.receivers
        ))
    }

    /// Returns whether the client gets snapshots.
    pub(super) fn is_receiving(&self, client: u64) -> bool {
        self.present.get(&client).is_some_and(|guest| matches!(guest.standing, Standing::Receives))
    }

    /// Returns a line for the log about a client, beginning with its address.
    pub(super) fn line(&self, client: u64, what: &str) -> Option<String> {
        self.present.get(&client).map(|guest| format!("{} {what}", guest.address))
    }

    /// Refuses a client with a different schema, codec or version. Returns a line for the log on
    /// the first refusal only.
    pub(super) fn refuse(
        &mut self,
        client: u64,
        mismatch: &Mismatch,
        now: Duration,
    ) -> Option<String> {
        let guest = self
            .present
            .get_mut(&client)
            .filter(|guest| matches!(guest.standing, Standing::Silent))?;
        guest.standing = Standing::Refused { until: now + FAREWELL };
        self.counts.refused += 1;
        Some(format!("{} refused: {mismatch}", guest.address))
    }

    /// Disconnects a receiver that the hub cannot serve. Returns a line for the log on the first
    /// call only.
    pub(super) fn fail(&mut self, client: u64, error: &NetError, now: Duration) -> Option<String> {
        let guest = self
            .present
            .get_mut(&client)
            .filter(|guest| matches!(guest.standing, Standing::Receives))?;
        guest.standing = Standing::Refused { until: now };
        self.counts.receivers -= 1;
        self.counts.failed += 1;
        Some(format!("{} disconnected: {error}", guest.address))
    }

    /// Removes a client that has disconnected. Returns a line for the log if it received snapshots.
    pub(super) fn remove(
        &mut self,
        client: u64,
        reason: DisconnectReason,
        timeout: Duration,
    ) -> Option<String> {
        let guest = self
            .present
            .remove(&client)
            .filter(|guest| matches!(guest.standing, Standing::Receives))?;
        self.counts.receivers -= 1;
        let what = match reason {
            DisconnectReason::Left => {
                self.counts.left += 1;
                "left".to_owned()
            }
            DisconnectReason::TimedOut => {
                self.counts.timed_out += 1;
                format!("timed out: silent for {} s", timeout.as_secs())
            }
        };
        Some(format!("{} {what}; receivers: {}", guest.address, self.counts.receivers))
    }

    /// Removes a refused client whose time has passed. Returns its number.
    pub(super) fn pop_farewell(&mut self, now: Duration) -> Option<u64> {
        let is_over =
            |guest: &Guest| matches!(guest.standing, Standing::Refused { until } if now >= until);
        let client =
            self.present.iter().find(|(_, guest)| is_over(guest)).map(|(client, _)| *client)?;
        self.present.remove(&client);
        Some(client)
    }
}
