//! Routes datagrams: parts of a description to the assembly, others to the session.

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use command_kit::{counted, say};

use super::Report;
use super::connection::Connection;
use crate::figure::assembly::Assembly;
use crate::figure::framing::{self, Kind};
use crate::figure::send::transmit;

/// After this silence, another session may begin. Before, a second sender cannot take over.
const SILENCE: Duration = Duration::from_secs(1);

/// The state of the program that receives.
#[derive(Debug)]
pub(super) struct Receiving {
    clock: Instant,
    assembly: Option<Assembly>,
    connection: Option<Connection>,
    /// The session whose description was refused, and why.
    bad: Option<(u32, String)>,
    /// The sender and the session of a datagram that came without a session here.
    lost: Option<(SocketAddr, u32)>,
    /// The totals of earlier sessions.
    earlier: Report,
    out: Vec<u8>,
}

impl Default for Receiving {
    fn default() -> Self {
        Self {
            clock: Instant::now(),
            assembly: None,
            connection: None,
            bad: None,
            lost: None,
            earlier: Report::default(),
            out: Vec::new(),
        }
    }
}

impl Receiving {
    /// The time, and the session.
    pub(super) fn now(&mut self) -> (Duration, Option<&mut Connection>) {
        (self.clock.elapsed(), self.connection.as_mut())
    }

    /// Why the newest description was refused, if there is no session.
    pub(super) fn bad(&self) -> Option<&str> {
        self.bad.as_ref().map(|(_, reason)| &**reason)
    }

    /// Takes a datagram. Refused ones are counted.
    pub(super) fn take(&mut self, from: SocketAddr, datagram: &[u8]) {
        let now = self.clock.elapsed();
        let taken = match framing::read(datagram) {
            Some((Kind::Description, session, contents)) => {
                self.describe(now, from, session, contents);
                true
            }
            Some((Kind::Net, session, contents)) => match &mut self.connection {
                Some(own) if (own.from, own.session) == (from, session) => {
                    own.take(now, contents, datagram.len())
                }
                _ => {
                    // Its session was with a program that ended here, so it should begin another.
                    if !self.is_busy(now) {
                        self.lost = Some((from, session));
                    }
                    false
                }
            },
            Some((Kind::NoSession, ..)) | None => false,
        };
        self.earlier.refused += u64::from(!taken);
    }

    /// Whether a session goes on, so that no other one may begin.
    fn is_busy(&self, now: Duration) -> bool {
        let own = self.connection.as_ref();
        own.is_some_and(|own| now.saturating_sub(own.heard) < SILENCE)
    }

    /// Takes a part of a description. A complete one begins a session.
    fn describe(&mut self, now: Duration, from: SocketAddr, session: u32, contents: &[u8]) {
        let is_known = self.bad.as_ref().is_some_and(|(bad, _)| *bad == session);
        let is_own = self.connection.as_ref().is_some_and(|own| own.session == session);
        if is_known || is_own || self.is_busy(now) {
            return;
        }
        let whole = Assembly::take(&mut self.assembly, now, (from, session), contents);
        let Some(description) = whole else { return };
        match Connection::new(from, session, &description, now) {
            Ok(connection) => {
                let joints = connection.description.skeleton.len();
                say(format_args!("{from} sends a body of {}", counted(joints, "joint")));
                self.earlier = self.report();
                self.earlier.sessions += 1;
                self.connection = Some(connection);
                self.bad = None;
            }
            Err(error) => {
                say(format_args!("the body of {from} is refused: {error}"));
                self.bad = Some((session, error.to_string()));
            }
        }
    }

    /// Sends what the receiver has to say.
    pub(super) fn transmit(&mut self, socket: &UdpSocket) {
        let Self { clock, connection, lost, out, .. } = self;
        if let Some((from, session)) = lost.take() {
            framing::write(Kind::NoSession, session, &[], out);
            transmit(socket, from, out);
        }
        let Some(own) = connection else { return };
        while let Some(contents) = own.receiver.poll_transmit(clock.elapsed()) {
            framing::write(Kind::Net, own.session, contents, out);
            transmit(socket, own.from, out);
        }
    }

    /// Returns the totals of all sessions. Ratios are those of the last one.
    pub(super) fn report(&self) -> Report {
        let Some(own) = &self.connection else { return self.earlier.clone() };
        let (now, counters) = (self.clock.elapsed(), own.counters);
        Report {
            poses: self.earlier.poses + counters.poses,
            bytes: self.earlier.bytes + counters.bytes,
            bits_per_pose: 8.0 * counters.net_bytes as f64 / counters.poses.max(1) as f64,
            lost_ratio: own.receiver.status(now).lost_ratio(),
            max_error_cm: own.max_error_cm,
            delay_ms: 1e3 * own.delay(now).as_secs_f64(),
            ..self.earlier
        }
    }
}
