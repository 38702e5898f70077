//! Decides which datagrams reach the thread that ticks. The gate runs in the reader's thread and
//! has no socket.
//!
//! - An unknown address may send only connection requests of this protocol, with a limit for each
//!   address and for all together. A host with many ports may use only half of the total limit.
//! - An address that the server has challenged has shown a token made with the secret. It may send
//!   its response, or repeat the request.
//! - A connected address may send every packet of a client, up to a limit.
//!
//! Addresses can be forged. A limit on a connected address therefore protects the server, but not
//! that client.

use std::collections::HashMap;
use std::net::SocketAddr;

use super::limit::{Bucket, RateLimit, Sources, source};
use super::screen::{Header, Kind, is_current_request};

/// The limit for one address. A request costs about as much as 3 datagrams of a client, because its
/// token has 1,024 bytes. A client repeats its request four times per second.
const REQUESTS_OF_ONE: RateLimit = RateLimit { per_second: 10, burst: 10 };
/// The limit for all addresses. 256 clients may join at the same time. Forged requests at the
/// sustained rate take 0.2 % of a core.
const REQUESTS_OF_ALL: RateLimit = RateLimit { per_second: 500, burst: 256 };
/// The requests that all ports of a host together may send before they are limited to
/// [`REQUESTS_OF_HEAVY`].
const REQUESTS_OF_HOST: RateLimit = RateLimit { per_second: 50, burst: 50 };
/// The part of [`REQUESTS_OF_ALL`] that hosts above [`REQUESTS_OF_HOST`] may use. The other half of
/// the burst is for the other hosts.
const REQUESTS_OF_HEAVY: RateLimit = RateLimit { burst: 128, ..REQUESTS_OF_ALL };
const RESPONSES: RateLimit = RateLimit { per_second: 10, burst: 10 };
/// How long an address counts as challenged. Clients give up sooner.
const CHALLENGE_US: u64 = 10_000_000;
const MAX_CHALLENGED: usize = 4096;

/// Why the gate drops a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The datagram is not a packet, or is a packet that its sender may not send.
    Junk,
    /// The datagram exceeds the rate limit of its sender, or of all strangers together.
    Limited,
}

/// A change of the server's connections that the gate must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    Challenged(SocketAddr),
    Connected(SocketAddr),
    Gone(SocketAddr),
}

/// Admits or refuses each datagram.
pub(crate) struct Gate {
    protocol_id: u64,
    per_client: RateLimit,
    /// Unix time, in seconds, at this gate's time zero.
    start_unix_s: u64,
    peers: HashMap<SocketAddr, Peer>,
    sources: Sources,
    hosts: Sources,
    strangers: Bucket,
}

#[derive(Clone, Copy)]
struct Peer {
    bucket: Bucket,
    /// The time of the challenge. `None` if the peer is connected.
    challenged_us: Option<u64>,
}

impl Gate {
    pub(crate) fn new(protocol_id: u64, per_client: RateLimit, start_unix_s: u64) -> Self {
        Self {
            protocol_id,
            per_client,
            start_unix_s,
            peers: HashMap::new(),
            sources: Sources::default(),
            hosts: Sources::default(),
            strangers: Bucket::default(),
        }
    }

    /// Notes a change of the server's connections.
    pub(crate) fn learn(&mut self, news: News, now_us: u64) {
        let bucket = Bucket::default();
        match news {
            News::Challenged(address) => {
                if self.peers.len() >= MAX_CHALLENGED {
                    self.peers.retain(|_, peer| !peer.has_expired(now_us));
                }
                if self.peers.len() < MAX_CHALLENGED {
                    let peer =
                        self.peers.entry(address).or_insert(Peer { bucket, challenged_us: None });
                    peer.challenged_us = Some(now_us);
                }
            }
            News::Connected(address) => {
                self.peers.insert(address, Peer { bucket, challenged_us: None });
            }
            News::Gone(address) => {
                self.peers.remove(&address);
            }
        }
    }

    /// Whether `address` is connected or challenged.
    pub(crate) fn knows(&self, address: SocketAddr) -> bool {
        self.peers.contains_key(&address)
    }

    /// Returns the datagram's header if the server should see the datagram, or the reason if not.
    pub(crate) fn admit(
        &mut self,
        address: SocketAddr,
        datagram: &[u8],
        now_us: u64,
    ) -> Result<Header, Refusal> {
        let header = Header::read(datagram).ok_or(Refusal::Junk)?;
        let peer = self.peers.get_mut(&address).filter(|peer| !peer.has_expired(now_us));
        let within = match (peer, header.kind) {
            (Some(peer), Kind::Payload | Kind::KeepAlive | Kind::Disconnect)
                if peer.challenged_us.is_none() =>
            {
                peer.bucket.take(self.per_client, now_us)
            }
            (Some(peer), Kind::Response) if peer.challenged_us.is_some() => {
                peer.bucket.take(RESPONSES, now_us)
            }
            // A client that does not know yet that it is connected repeats its request. The
            // server's keep-alives also tell the client that it is connected.
            (Some(peer), Kind::Request | Kind::Response) if peer.challenged_us.is_none() => {
                return Err(Refusal::Junk);
            }
            (_, Kind::Request) => {
                let now_unix_s = self.start_unix_s + now_us / 1_000_000;
                if !is_current_request(datagram, self.protocol_id, now_unix_s) {
                    return Err(Refusal::Junk);
                }
                self.sources.take(address, REQUESTS_OF_ONE, now_us) && {
                    let host = SocketAddr::new(source(address.ip()), 0);
                    let is_light = self.hosts.take(host, REQUESTS_OF_HOST, now_us);
                    let limit = if is_light { REQUESTS_OF_ALL } else { REQUESTS_OF_HEAVY };
                    self.strangers.take(limit, now_us)
                }
            }
            _ => return Err(Refusal::Junk),
        };
        if within { Ok(header) } else { Err(Refusal::Limited) }
    }
}

impl Peer {
    fn has_expired(&self, now_us: u64) -> bool {
        self.challenged_us.is_some_and(|since_us| now_us > since_us + CHALLENGE_US)
    }
}

#[cfg(test)]
mod tests {
    use super::super::screen::REQUEST_BYTES;
    use super::*;

    const ADDRESS: SocketAddr =
        SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 9);

    fn gate() -> Gate {
        Gate::new(7, RateLimit { per_second: 500, burst: 200 }, 1000)
    }

    fn request() -> Vec<u8> {
        let mut request = vec![0; REQUEST_BYTES];
        request[1..14].copy_from_slice(b"NETCODE 1.02\0");
        request[14] = 7;
        request[22..30].copy_from_slice(&1060u64.to_le_bytes());
        request
    }

    fn response() -> Vec<u8> {
        let mut response = vec![0; 1 + 308 + 16];
        response[0] = 3;
        response
    }

    const PAYLOAD: [u8; 40] = [5; 40];

    #[test]
    fn strangers_may_only_ask() {
        let mut gate = gate();
        assert_eq!(gate.admit(ADDRESS, &PAYLOAD, 0), Err(Refusal::Junk));
        assert_eq!(gate.admit(ADDRESS, &response(), 0), Err(Refusal::Junk));
        assert!(gate.admit(ADDRESS, &request(), 0).is_ok());
        let passed = (0..1000).filter(|_| gate.admit(ADDRESS, &request(), 0).is_ok()).count();
        assert_eq!(passed, 9, "one address has its burst");
        let passed = (0..10_000u16)
            .filter(|port| {
                gate.admit(SocketAddr::new(ADDRESS.ip(), 1000 + port), &request(), 0).is_ok()
            })
            .count();
        assert_eq!(passed, 118, "all of its ports have theirs");
        // The other hosts can use the rest of the burst.
        let other = |last| SocketAddr::from(([10, 0, 0, last], 9));
        let passed = (0..=255).filter(|last| gate.admit(other(*last), &request(), 0).is_ok());
        assert_eq!(passed.count(), 128, "all have theirs");
    }

    #[test]
    fn the_challenged_may_answer_for_a_while() {
        let mut gate = gate();
        gate.learn(News::Challenged(ADDRESS), 0);
        assert!(gate.admit(ADDRESS, &response(), 1).is_ok());
        assert!(gate.admit(ADDRESS, &request(), 1).is_ok());
        assert_eq!(gate.admit(ADDRESS, &PAYLOAD, 1), Err(Refusal::Junk));
        assert_eq!(gate.admit(ADDRESS, &response(), CHALLENGE_US + 1), Err(Refusal::Junk));
    }

    #[test]
    fn the_connected_may_speak_within_their_limit() {
        let mut gate = gate();
        gate.learn(News::Connected(ADDRESS), 0);
        let passed = (0..10_000).filter(|_| gate.admit(ADDRESS, &PAYLOAD, 5).is_ok()).count();
        assert_eq!(passed, 200);
        assert_eq!(gate.admit(ADDRESS, &request(), 5), Err(Refusal::Junk));
        gate.learn(News::Gone(ADDRESS), 5_000_000);
        assert_eq!(gate.admit(ADDRESS, &PAYLOAD, 5_000_000), Err(Refusal::Junk));
    }

    #[test]
    fn the_challenged_are_bounded() {
        let mut gate = gate();
        for port in 0..5000 {
            gate.learn(News::Challenged(SocketAddr::new(ADDRESS.ip(), port)), 0);
        }
        assert_eq!(gate.peers.len(), MAX_CHALLENGED);
        gate.learn(News::Challenged(ADDRESS), CHALLENGE_US + 1);
        assert_eq!(gate.peers.len(), 1, "the expired make room");
    }
}
