//! Silences an address that floods the server. A filter in the system drops its datagrams, for a
//! second at a time.
//!
//! Reading and dropping a datagram takes most of a microsecond, so a fast flood takes a large part
//! of a processor, possibly the one that ticks. On Linux, a small program in the kernel (classic
//! BPF, `SO_ATTACH_FILTER`) drops the flood before it is queued. Then the work is done by the
//! sender or in the network card's interrupts, and legitimate datagrams find an empty queue. On
//! other systems, this module does nothing.
//!
//! The server silences only unknown addresses. An attacker that forges an unknown address can keep
//! the owner of that address from joining. The request limit allows that anyway.

use std::net::{SocketAddr, UdpSocket};

/// A flood is a window in which one address sent this many more datagrams of junk than all others.
const VOTES: u32 = 1_000;
const WINDOW_US: u64 = 100_000;
/// How long the filter remains attached.
const SILENCE_US: u64 = 1_000_000;

/// Finds the address that floods, by the majority vote of Boyer and Moore over a window's junk.
#[derive(Debug, Default)]
pub(crate) struct Silence {
    candidate: Option<SocketAddr>,
    votes: u32,
    window_since_us: u64,
    until_us: Option<u64>,
}

impl Silence {
    /// Counts a datagram of junk from `address`. Returns the address to silence, if any.
    fn vote(&mut self, address: SocketAddr, now_us: u64) -> Option<SocketAddr> {
        if now_us >= self.window_since_us + WINDOW_US {
            (self.votes, self.window_since_us) = (0, now_us);
        }
        if self.votes == 0 {
            self.candidate = Some(address);
        }
        if self.candidate == Some(address) {
            self.votes += 1;
        } else {
            self.votes -= 1;
        }
        if self.votes < VOTES {
            return None;
        }
        self.votes = 0;
        self.candidate.take()
    }

    /// Counts a datagram of junk from an unknown address. Returns true if the sender is silenced
    /// from now on.
    pub(crate) fn note_junk(
        &mut self,
        socket: &UdpSocket,
        address: SocketAddr,
        now_us: u64,
    ) -> bool {
        let silenced =
            self.vote(address, now_us).is_some_and(|address| filter::attach(socket, address));
        if silenced {
            self.until_us = Some(now_us + SILENCE_US);
        }
        silenced
    }

    /// Removes the filter after [`SILENCE_US`].
    pub(crate) fn lift(&mut self, socket: &UdpSocket, now_us: u64) {
        if self.until_us.is_some_and(|until_us| now_us >= until_us) {
            filter::detach(socket);
            self.until_us = None;
        }
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod filter {
    use std::net::{IpAddr, SocketAddr, UdpSocket};

    use socket2::{SockFilter, SockRef};

    /// Operations of `<linux/filter.h>`: load 2 or 4 bytes at an offset, jump if equal, and return
    /// how much of the datagram to keep.
    const LOAD_2: u16 = 0x28;
    const LOAD_4: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    /// Offsets count from the UDP header. Offsets from this constant on count from the IP header.
    const IP_HEADER: u32 = -0x10_0000_i32 as u32;

    /// Drops the datagrams from `address`, and no others. Returns whether the system accepted the
    /// filter.
    pub(crate) fn attach(socket: &UdpSocket, address: SocketAddr) -> bool {
        // The fields are the source's port and address, in network byte order.
        let mut fields = vec![(LOAD_2, 0, u32::from(address.port()))];
        match address.ip().to_canonical() {
            IpAddr::V4(ip) => fields.push((LOAD_4, IP_HEADER + 12, u32::from(ip))),
            IpAddr::V6(ip) => fields.extend((0..4).map(|word| {
                let value = (u128::from(ip) >> (96 - 32 * word)) as u32;
                (LOAD_4, IP_HEADER + 8 + 4 * word, value)
            })),
        }
        let mut program = Vec::new();
        for (rest, (load, offset, value)) in (0..fields.len() as u8).rev().zip(fields) {
            program.push(SockFilter::new(load, 0, 0, offset));
            // If the field is not equal, jump over the other fields and the drop.
            program.push(SockFilter::new(JUMP_IF_EQUAL, 0, 2 * rest + 1, value));
        }
        program.push(SockFilter::new(RETURN, 0, 0, 0));
        program.push(SockFilter::new(RETURN, 0, 0, u32::MAX));
        SockRef::from(socket).attach_filter(&program).is_ok()
    }

    pub(crate) fn detach(socket: &UdpSocket) {
        // If this fails, the filter remains, and nothing else can be done about it.
        let _ = SockRef::from(socket).detach_filter();
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod filter {
    use std::net::{SocketAddr, UdpSocket};

    pub(crate) fn attach(_: &UdpSocket, _: SocketAddr) -> bool {
        false
    }

    pub(crate) fn detach(_: &UdpSocket) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(port: u16) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, 1], port))
    }

    #[test]
    fn who_sends_most_of_a_flood_is_found() {
        let mut silence = Silence::default();
        let found = (0..5_000).find_map(|step| {
            let port = if step % 3 == 0 { 100 + step as u16 } else { 7 };
            silence.vote(address(port), step)
        });
        assert_eq!(found, Some(address(7)));
    }

    #[test]
    fn many_sources_and_slow_ones_are_nobody() {
        let mut silence = Silence::default();
        assert!((0..60_000).all(|step| silence.vote(address(step as u16 % 500), step).is_none()));
        assert!(
            (0..60_000).all(|step| silence.vote(address(7), step * 200).is_none()),
            "5,000 a second"
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn udp_the_filter_drops_one_source_and_no_other() {
        for ip in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(receiver) = UdpSocket::bind(ip) else { continue };
            let [one, other] = [(); 2].map(|()| UdpSocket::bind(ip).unwrap());
            receiver.set_nonblocking(true).unwrap();
            let to = receiver.local_addr().unwrap();
            let heard = || {
                one.send_to(b"one", to).unwrap();
                other.send_to(b"other", to).unwrap();
                let mut heard = Vec::new();
                let mut buffer = [0; 16];
                while let Ok(bytes) = receiver.recv(&mut buffer) {
                    heard.push(bytes);
                }
                heard
            };
            assert_eq!(heard(), [3, 5]);
            assert!(filter::attach(&receiver, one.local_addr().unwrap()));
            assert_eq!(heard(), [5], "{ip}");
            filter::detach(&receiver);
            assert_eq!(heard(), [3, 5]);
        }
    }
}
