//! The two doors through which clients enter the world: UDP and browsers. The clients of both doors
//! have ids of the same type, so the rest of the server does not distinguish them.

use std::net::SocketAddr;
use std::ops::Range;

use kinepack_udp::{SendError, ServerEvent, UdpServer, UdpStats, header_bytes};
#[cfg(feature = "web")]
use kinepack_webtransport::{WebServer, WebStats};

#[cfg(not(feature = "web"))]
use super::absent::{WebServer, WebStats};

/// A door through which clients enter the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Door {
    Udp,
    Web,
}

/// The servers at the doors.
pub struct Doors {
    udp: UdpServer,
    web: Option<WebServer>,
}

impl Door {
    pub(super) const ALL: [Self; 2] = [Self::Udp, Self::Web];
}

impl Doors {
    pub fn new(udp: UdpServer, web: Option<WebServer>) -> Self {
        Self { udp, web }
    }

    pub(super) fn udp_addr(&self) -> SocketAddr {
        self.udp.local_addr()
    }

    /// Appends the events that occurred at `door` since the last call.
    pub(super) fn poll(&mut self, door: Door, events: &mut Vec<ServerEvent>) {
        match (door, &mut self.web) {
            (Door::Udp, _) => self.udp.poll(events),
            (Door::Web, Some(web)) => web.poll(events),
            (Door::Web, None) => {}
        }
    }

    /// Returns the bytes of a datagram from the last [`poll`](Self::poll) of that door.
    pub(super) fn payload(&self, door: Door, range: &Range<usize>) -> &[u8] {
        match (door, &self.web) {
            (Door::Udp, _) => self.udp.payload(range),
            (Door::Web, web) => web.as_ref().map_or(&[], |web| web.payload(range)),
        }
    }

    /// Sends a datagram to a client at either door. Ignores clients that have disconnected in the
    /// meantime.
    pub(super) fn send(&mut self, client: u64, datagram: &[u8]) {
        if self.udp.send(client, datagram) == Err(SendError::NotConnected)
            && let Some(web) = &mut self.web
        {
            let _ = web.send(client, datagram);
        }
    }

    pub(super) fn disconnect(&mut self, client: u64) {
        match &mut self.web {
            Some(web) if web.has(client) => web.disconnect(client),
            _ => self.udp.disconnect(client),
        }
    }

    pub(super) fn udp_stats(&self) -> UdpStats {
        self.udp.stats()
    }

    /// The counts of the door for browsers. If there is no such door, all counts are zero.
    pub(super) fn web_stats(&self) -> WebStats {
        self.web.as_ref().map(WebServer::stats).unwrap_or_default()
    }

    /// Returns the number of bytes that were sent. For UDP it includes the headers of IP and UDP,
    /// and for browsers it excludes those of the transport.
    pub(super) fn bytes_out(&self) -> u64 {
        let udp = self.udp.stats();
        let headers = udp.datagrams_out * header_bytes(self.udp.local_addr()) as u64;
        udp.bytes_out + headers + self.web_stats().bytes_out
    }

    /// Disconnects all clients.
    pub(super) fn close(self) {
        self.udp.close();
    }
}
