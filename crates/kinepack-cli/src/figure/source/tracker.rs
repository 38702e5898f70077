//! A tracker that sends VMC: waits for its body, and notices its silence and what it sends too
//! late.

use std::collections::BTreeSet;
use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use command_kit::interrupt::{Interrupt, Interrupted};
use command_kit::say;
use kinepack_anim::Skeleton;
use kinepack_anim::live::{VmcBody, VmcFrame, VmcReceiver};

use crate::figure::FigureFailure;
use crate::figure::socket::{self, MAX_PACKET_BYTES};

/// The time without a frame after which a message says that the tracker is silent.
const SILENCE: Duration = Duration::from_secs(2);
/// After the first frame, blend shapes may still arrive in later packets.
const SETTLING: Duration = Duration::from_millis(500);
/// The maximum number of packets that are read at once.
const PACKETS: usize = 512;
/// The maximum number of names in a message.
const NAMES: usize = 8;

/// A socket to which a tracker sends.
pub(super) struct Tracker {
    socket: UdpSocket,
    address: SocketAddr,
    receiver: VmcReceiver,
    clock: Instant,
    packet: Vec<u8>,
    /// The number of frames, and when the last one ended.
    frames: (u64, Duration),
    late: Late,
}

impl Tracker {
    pub(super) fn bind(address: SocketAddr) -> Result<Self, FigureFailure> {
        let socket = socket::bind(address)?;
        let address = socket.local_addr().map_err(|error| FigureFailure::Network { error })?;
        Ok(Self {
            socket,
            address,
            receiver: VmcReceiver::default(),
            clock: Instant::now(),
            packet: vec![0; MAX_PACKET_BYTES],
            frames: (0, Duration::ZERO),
            late: Late::default(),
        })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn frame(&self) -> &VmcFrame {
        self.receiver.frame()
    }

    pub(super) fn poll(&mut self) -> Result<(), FigureFailure> {
        for _ in 0..PACKETS {
            let Some((bytes, _)) = socket::receive(&self.socket, &mut self.packet)? else { break };
            // A refused packet is counted, and changes nothing.
            let _ = self.receiver.handle(self.clock.elapsed(), &self.packet[..bytes]);
        }
        let now = self.clock.elapsed();
        self.receiver.poll(now);
        let frames = self.receiver.stats().frames;
        if frames > self.frames.0 {
            self.frames = (frames, now);
        } else if frames > 0 && now.saturating_sub(self.frames.1) >= SILENCE {
            say("the tracker is silent; its last pose stays");
            // The next report follows after frames and another silence.
            self.frames.1 = Duration::MAX;
        }
        Ok(())
    }

    /// Waits until the tracker has sent a whole body.
    pub(super) fn wait(
        &mut self,
        skeleton: Option<&Skeleton>,
        patience: Duration,
        interrupt: &Interrupt,
    ) -> Result<VmcBody, FigureFailure> {
        let mut first = None;
        loop {
            if interrupt.is_raised() {
                return Err(Interrupted::new("before a body arrived").into());
            }
            self.poll()?;
            let now = self.clock.elapsed();
            let is_late = now >= patience;
            if self.receiver.stats().frames > 0 {
                let settled = now.saturating_sub(*first.get_or_insert(now)) >= SETTLING;
                let frame = self.receiver.frame();
                let body = match skeleton {
                    Some(skeleton) => VmcBody::from_skeleton(skeleton.clone(), frame),
                    None => VmcBody::from_frame(frame),
                };
                match body {
                    Ok(body) if settled => {
                        self.late.expect(body.missing(frame));
                        return Ok(body);
                    }
                    Err(error) if is_late => return Err(error.into()),
                    _ => {}
                }
            } else if is_late {
                let (address, seen) = (self.address, self.seen());
                return Err(FigureFailure::NoTracker { address, patience, seen });
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Reports bones and blend shapes that began after the body, once.
    pub(super) fn note_late(&mut self, body: &VmcBody) {
        if let Some(line) =
            self.late.note(self.clock.elapsed(), body.missing(self.receiver.frame()))
        {
            say(line);
        }
    }

    /// Describes what has arrived instead of a body.
    fn seen(&self) -> String {
        let stats = self.receiver.stats();
        match (stats.packets, stats.refused, self.receiver.is_loaded()) {
            (_, _, Some(false)) => ": the sender has not loaded a model".to_owned(),
            (0, 0, _) => String::new(),
            (0, _, _) => ": the packets that arrived are not OSC".to_owned(),
            _ => ": the packets that arrived have no bones of VMC".to_owned(),
        }
    }
}

/// Notices bones and blend shapes that begin after the body. The figure has no fields for them.
#[derive(Default)]
struct Late {
    /// Those that were missing at the beginning. A given model may lack bones.
    expected: BTreeSet<String>,
    /// When the first other one arrived.
    first: Option<Duration>,
    is_said: bool,
}

impl Late {
    fn expect<'a>(&mut self, missing: impl Iterator<Item = &'a str>) {
        self.expected = missing.map(str::to_owned).collect();
    }

    /// Takes the missing names of a frame. Returns a message once, when others had time to follow.
    fn note<'a>(
        &mut self,
        now: Duration,
        missing: impl Iterator<Item = &'a str>,
    ) -> Option<String> {
        if self.is_said {
            return None;
        }
        let late: Vec<&str> = missing.filter(|name| !self.expected.contains(*name)).collect();
        if late.is_empty() || now.saturating_sub(*self.first.get_or_insert(now)) < SETTLING {
            return None;
        }
        self.is_said = true;
        let mut names = late[..late.len().min(NAMES)].join(", ");
        if late.len() > NAMES {
            names += &format!(" and {} more", late.len() - NAMES);
        }
        Some(format!(
            "bones and blend shapes that began after the body are not sent: {names}; start the \
             program that sends them first, and then this command again"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_late_is_said_once() {
        let mut late = Late::default();
        late.expect(["LeftToes"].into_iter());
        let mut note =
            |ms, missing: &[&str]| late.note(Duration::from_millis(ms), missing.iter().copied());
        assert_eq!(note(0, &["LeftToes"]), None);
        assert_eq!(note(5_000, &["LeftToes", "Joy"]), None, "more may follow");
        let line = note(5_500, &["LeftToes", "Joy", "A"]).unwrap();
        assert!(line.contains("are not sent: Joy, A; start the program"), "{line}");
        assert_eq!(note(9_000, &["B"]), None);
        let mut late = Late::default();
        let names: Vec<String> = (0..20).map(|index| format!("shape{index}")).collect();
        let mut note = |ms| late.note(Duration::from_millis(ms), names.iter().map(String::as_str));
        assert!(note(0).is_none());
        assert!(note(600).unwrap().contains("shape7 and 12 more"));
    }
}
