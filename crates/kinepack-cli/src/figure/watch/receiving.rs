//! Routes datagrams: parts of a description to the assembly, others to the session. Other senders
//! get an answer that is not larger than their datagram.

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use command_kit::{counted, say};

use super::Report;
use super::connection::Connection;
use super::refusals::Refusals;
use crate::figure::assembly::Assembly;
use crate::figure::framing::{self, Kind};
use crate::figure::socket::transmit;

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
    /// The answer to a sender that has no session here.
    answer: Option<(Kind, SocketAddr, u32)>,
    refusals: Refusals,
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
            answer: None,
            refusals: Refusals::default(),
            earlier: Report::default(),
            out: Vec::new(),
        }
    }
}

impl Receiving {
    /// The time since the program began.
    pub(super) fn now(&self) -> Duration {
        self.clock.elapsed()
    }

    /// The session.
    pub(super) fn connection(&mut self) -> Option<&mut Connection> {
        self.connection.as_mut()
    }

    /// Why the newest description was refused, if there is no session.
    pub(super) fn bad(&self) -> Option<&str> {
        self.bad.as_ref().map(|(_, reason)| &**reason)
    }

    /// Takes a datagram. Refused ones are counted.
    pub(super) fn take(&mut self, now: Duration, from: SocketAddr, datagram: &[u8]) {
        let read = framing::read(datagram);
        let mut own = self.connection.as_mut().filter(|own| {
            read.is_some_and(|(_, session, _)| (own.from, own.session) == (from, session))
        });
        if let Some(own) = &mut own {
            own.received_bytes += datagram.len() as u64;
        }
        let taken = match (read, own) {
            (Some((Kind::Description, session, contents)), _) => {
                self.describe(now, (from, session), contents);
                true
            }
            (Some((Kind::Net, _, contents)), Some(own)) => own.take(now, contents, datagram.len()),
            (Some((Kind::Pong, _, contents)), Some(own)) => own.take_pong(now, contents),
            (Some((Kind::Net, session, _)), None) => {
                // Its session was with a program that ended here, so it should begin another.
                if !self.is_busy(now) {
                    self.answer = Some((Kind::NoSession, from, session));
                }
                false
            }
            _ => false,
        };
        self.earlier.refused += u64::from(!taken);
    }

    /// Whether a session goes on, so that no other one may begin.
    fn is_busy(&self, now: Duration) -> bool {
        let own = self.connection.as_ref();
        own.is_some_and(|own| now.saturating_sub(own.heard) < SILENCE)
    }

    /// Takes a part of a description. A complete one begins a session.
    fn describe(&mut self, now: Duration, of: (SocketAddr, u32), contents: &[u8]) {
        let (from, session) = of;
        if self.connection.as_ref().is_some_and(|own| (own.from, own.session) == of) {
            return;
        }
        if self.bad.as_ref().is_some_and(|(bad, _)| *bad == session) {
            self.answer = Some((Kind::Refused, from, session));
            return;
        }
        if self.is_busy(now) {
            self.answer = Some((Kind::Busy, from, session));
            return;
        }
        let whole = Assembly::take(&mut self.assembly, now, of, contents);
        let Some(description) = whole else { return };
        match Connection::new(from, session, &description, now) {
            Ok(connection) => {
                let joints = connection.description.skeleton.len();
                say(format_args!("{from} sends a body of {}", counted(joints, "joint")));
                self.earlier = self.report(now);
                self.earlier.sessions += 1;
                self.connection = Some(connection);
                self.bad = None;
            }
            Err(error) => {
                if let Some(line) = self.refusals.line(now, from, &error) {
                    say(line);
                }
                self.bad = Some((session, error.to_string()));
                self.answer = Some((Kind::Refused, from, session));
            }
        }
    }

    /// Sends what the receiver has to say. Datagrams that the system does not send are counted, and
    /// the first one is reported.
    pub(super) fn transmit(&mut self, now: Duration, socket: &UdpSocket) {
        let Self { connection, answer, earlier, out, .. } = self;
        // A datagram that the system does not send is lost: the other side repeats what has no
        // answer.
        let mut send = |to: SocketAddr, datagram: &[u8]| {
            let Err(error) = transmit(socket, to, datagram) else { return };
            if earlier.unsent == 0 {
                say(format_args!("the system cannot send to {to}: {error}"));
            }
            earlier.unsent += 1;
        };
        if let Some((kind, from, session)) = answer.take() {
            framing::write(kind, session, &[], out);
            send(from, out);
        }
        let Some(own) = connection else { return };
        while own.poll_transmit(now, out) {
            send(own.from, out);
        }
    }

    /// Returns the totals of all sessions. Ratios are those of the last one.
    pub(super) fn report(&self, now: Duration) -> Report {
        let Some(own) = &self.connection else { return self.earlier.clone() };
        let counters = own.counters;
        Report {
            poses: self.earlier.poses + counters.poses,
            bytes: self.earlier.bytes + counters.bytes,
            bits_per_pose: 8.0 * counters.bytes as f64 / counters.poses.max(1) as f64,
            lost_ratio: own.receiver.status(now).lost_ratio(),
            max_error_cm: own.max_error_cm,
            delay_ms: 1e3 * own.delay().as_secs_f64(),
            ..self.earlier
        }
    }
}

#[cfg(test)]
mod tests {
    use kinepack_anim::figure::FigureOptions;
    use kinepack_anim::live::FaceClip;

    use super::*;
    use crate::figure::assembly::fragments;
    use crate::figure::description::Description;

    fn sender(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    fn framed(kind: Kind, session: u32, contents: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        framing::write(kind, session, contents, &mut out);
        out
    }

    /// Returns the datagram of a description of a face.
    fn offer(session: u32, rate_hz: u32) -> Vec<u8> {
        let skeleton = FaceClip::skeleton();
        let description = Description { skeleton, options: FigureOptions::default(), rate_hz };
        framed(Kind::Description, session, &fragments(&description.to_bytes())[0])
    }

    #[test]
    fn other_senders_learn_that_the_receiver_is_busy_or_refuses() {
        let mut receiving = Receiving::default();
        let seconds = Duration::from_secs;
        let bad = offer(4, 0);
        for at in 0..2 {
            receiving.take(seconds(at), sender(1), &bad);
            assert_eq!(receiving.answer.take(), Some((Kind::Refused, sender(1), 4)));
        }
        assert_eq!(receiving.bad(), Some("its rate is out of range"));
        receiving.take(seconds(2), sender(1), &offer(5, 30));
        assert_eq!((receiving.answer, receiving.bad()), (None, None));
        receiving.take(seconds(2), sender(1), &offer(5, 30));
        assert_eq!(receiving.answer, None, "a copy");
        receiving.take(seconds(2), sender(2), &offer(6, 30));
        assert_eq!(receiving.answer.take(), Some((Kind::Busy, sender(2), 6)));
        assert_eq!(receiving.connection().map(|own| own.session), Some(5));
        // After the silence, another sender may take over.
        receiving.take(seconds(4), sender(2), &offer(6, 30));
        assert_eq!(receiving.answer, None);
        assert_eq!(receiving.connection().map(|own| own.session), Some(6));
        assert_eq!(receiving.report(seconds(4)).sessions, 2);
    }

    #[test]
    fn session_0_begins_nothing() {
        let mut receiving = Receiving::default();
        receiving.take(Duration::ZERO, sender(1), &offer(0, 30));
        assert!(receiving.connection().is_none());
        assert_eq!(receiving.report(Duration::ZERO).refused, 1);
    }

    #[test]
    fn datagrams_that_the_system_does_not_send_are_counted() {
        let mut receiving = Receiving::default();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let own = socket.local_addr().unwrap();
        receiving.take(Duration::ZERO, own, &offer(4, 0));
        receiving.transmit(Duration::ZERO, &socket);
        assert_eq!(receiving.report(Duration::ZERO).unsent, 0, "a refusal was sent");
        // No system sends to port 0. The description is refused, and then another one begins.
        receiving.take(Duration::ZERO, sender(0), &offer(5, 0));
        receiving.transmit(Duration::ZERO, &socket);
        assert_eq!(receiving.report(Duration::ZERO).unsent, 1);
        receiving.take(Duration::ZERO, sender(0), &offer(6, 30));
        receiving.transmit(Duration::ZERO, &socket);
        let report = receiving.report(Duration::ZERO);
        assert!(report.unsent > 1 && report.sessions == 1, "{report:?}");
    }

    #[test]
    fn only_the_return_of_a_ping_keeps_a_session() {
        let mut receiving = Receiving::default();
        let at = |ms| Duration::from_millis(ms);
        receiving.take(at(0), sender(1), &offer(5, 30));
        let mut out = Vec::new();
        assert!(receiving.connection().unwrap().poll_transmit(at(0), &mut out));
        let (_, _, ping) = framing::read(&out).unwrap();
        let pong = framed(Kind::Pong, 5, ping);
        receiving.take(at(900), sender(2), &pong);
        receiving.take(at(900), sender(1), &framed(Kind::Pong, 5, b"12345678"));
        assert_eq!(receiving.connection().unwrap().heard, at(0));
        receiving.take(at(900), sender(1), &pong);
        assert_eq!(receiving.connection().unwrap().heard, at(900));
        assert_eq!(receiving.report(at(900)).refused, 2);
    }
}
