//! A body on its way: offers its description, sends its poses, and notices the other side's
//! silence.

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use command_kit::say;
use kinepack::{EntityId, Tick};
use kinepack_anim::figure::{FigureError, FigurePose};
use kinepack_net::{Handled, PeerStatus};

use super::answers::Answers;
use super::report::Report;
use super::session::{RECEIVER, Session, add};
use crate::figure::FigureFailure;
use crate::figure::assembly::fragments;
use crate::figure::description::Description;
use crate::figure::framing::{self, Kind, OVERHEAD_BYTES, PING_BYTES};
use crate::figure::socket::{self, MAX_PACKET_BYTES, transmit};
use crate::figure::source::Source;

/// The only entity.
const BODY: EntityId = EntityId(1);

/// The time between two copies of the description.
const OFFER_EVERY: Duration = Duration::from_millis(250);
/// After this silence, a new session begins.
const SILENCE: Duration = Duration::from_secs(3);
/// The end of a file is sent for this long, so that its last pose arrives.
const LINGER: Duration = Duration::from_millis(500);

/// A body on its way. Times are since the beginning of the program.
pub(super) struct Sending {
    socket: UdpSocket,
    to: SocketAddr,
    rate_hz: u32,
    patience: Duration,
    description: Description,
    fragments: Vec<Vec<u8>>,
    max_error_cm: f64,
    session: Session,
    answers: Answers,
    /// The counters of earlier sessions.
    earlier: PeerStatus,
    /// When the other side was last heard in any session.
    heard: Duration,
    /// When the other side first joined. The file plays from then on.
    began: Option<Duration>,
    ended: Option<Duration>,
    tick: u32,
    /// The poses of the source, and the copies of the last one after its end.
    poses: u64,
    repeats: u64,
    refused_poses: u64,
    skipped_poses: u64,
    /// Whether the newest pose was refused.
    refuses: bool,
    restarts: u64,
    packet: Vec<u8>,
    out: Vec<u8>,
}

impl Sending {
    pub(super) fn new(
        source: &Source,
        to: SocketAddr,
        rate_hz: u32,
        patience: Duration,
    ) -> Result<Self, FigureFailure> {
        let description = Description {
            skeleton: source.skeleton.clone(),
            options: source.options.clone(),
            rate_hz,
        };
        description.check()?;
        let any: SocketAddr = match to.is_ipv4() {
            true => ([0, 0, 0, 0], 0).into(),
            false => ([0u16; 8], 0).into(),
        };
        let max_error_cm = description.body()?.max_error_cm;
        Ok(Self {
            socket: socket::bind(any)?,
            to,
            rate_hz,
            patience,
            session: Session::new(&description, Duration::ZERO)?,
            answers: Answers::default(),
            fragments: fragments(&description.to_bytes()),
            description,
            max_error_cm,
            earlier: PeerStatus::default(),
            heard: Duration::ZERO,
            began: None,
            ended: None,
            tick: 0,
            poses: 0,
            repeats: 0,
            refused_poses: 0,
            skipped_poses: 0,
            refuses: false,
            restarts: 0,
            packet: vec![0; MAX_PACKET_BYTES],
            out: Vec::new(),
        })
    }

    /// Does what is due. Returns false at the end of the file.
    pub(super) fn step(
        &mut self,
        now: Duration,
        source: &mut Source,
    ) -> Result<bool, FigureFailure> {
        source.poll()?;
        self.receive(now)?;
        self.watch_over(now)?;
        if !self.session.is_joined {
            return Ok(true);
        }
        let began = *self.began.get_or_insert(now);
        let tick = ((now - began).as_secs_f64() * f64::from(self.rate_hz)) as u32 + 1;
        if tick > self.tick {
            if std::mem::replace(&mut self.session.has_sent, true) {
                self.skipped_poses += u64::from(tick - self.tick - 1);
            }
            self.tick = tick;
            let plays = source.sample(f64::from(tick - 1) / f64::from(self.rate_hz));
            self.send(now, source)?;
            if !plays {
                self.ended.get_or_insert(now);
            }
        }
        Ok(self.ended.is_none_or(|ended| now - ended < LINGER))
    }

    /// Takes the datagrams of the other side. Others change nothing.
    fn receive(&mut self, now: Duration) -> Result<(), FigureFailure> {
        for _ in 0..256 {
            let received = socket::receive(&self.socket, &mut self.packet)?;
            let Some((bytes, from)) = received else { break };
            let Some((kind, number, contents)) = framing::read(&self.packet[..bytes]) else {
                continue;
            };
            let (to, session) = (self.to, &mut self.session);
            if number != session.number {
                continue;
            }
            if from != to {
                self.answers.note_other(from);
                continue;
            }
            match kind {
                Kind::Net => {
                    let Ok(handled) = session.hub.handle(RECEIVER, now, contents) else { continue };
                    (session.heard, self.heard) = (now, now);
                    if handled == Handled::Joined {
                        session.is_joined = true;
                        self.answers = Answers::default();
                        say(format_args!("{to} watches"));
                    }
                }
                Kind::Ping if contents.len() == PING_BYTES => {
                    framing::write(Kind::Pong, number, contents, &mut self.out);
                    self.answers.note_sent(to, transmit(&self.socket, to, &self.out));
                }
                Kind::NoSession if session.is_joined => {
                    say(format_args!("{from} was restarted"));
                    self.begin_again(now)?;
                }
                Kind::Busy if !session.is_joined => self.answers.note_busy(now, to),
                Kind::Refused if !session.is_joined => return Err(FigureFailure::Refused { to }),
                _ => {}
            }
        }
        Ok(())
    }

    /// Offers the description until the other side has joined, and notices its silence.
    fn watch_over(&mut self, now: Duration) -> Result<(), FigureFailure> {
        let (to, patience) = (self.to, self.patience);
        if self.session.is_joined {
            if now.saturating_sub(self.session.heard) < SILENCE {
                return Ok(());
            }
            say(format_args!("{to} is silent"));
            self.begin_again(now)?;
        }
        if now.saturating_sub(self.session.heard) >= patience {
            let silence = now.saturating_sub(self.heard);
            return Err(match (self.began, self.answers.failure(now, to, patience)) {
                (Some(_), FigureFailure::NoAnswer { .. }) => FigureFailure::Silent { to, silence },
                (_, failure) => failure,
            });
        }
        if now >= self.session.next_offer {
            self.session.next_offer = now + OFFER_EVERY;
            for fragment in &self.fragments {
                framing::write(Kind::Description, self.session.number, fragment, &mut self.out);
                self.answers.note_sent(to, transmit(&self.socket, to, &self.out));
            }
        }
        Ok(())
    }

    /// Begins another session.
    fn begin_again(&mut self, now: Duration) -> Result<(), FigureFailure> {
        add(&mut self.earlier, &self.session.status());
        self.restarts += 1;
        self.session = Session::new(&self.description, now)?;
        Ok(())
    }

    /// Sends the pose of the source.
    fn send(&mut self, now: Duration, source: &Source) -> Result<(), FigureFailure> {
        let Session { hub, figure, world, number, .. } = &mut self.session;
        world.clear(Tick(self.tick));
        let pose =
            FigurePose { joints: &source.pose, curves: &source.curves, ..FigurePose::default() };
        match figure.push(world, 0, BODY, &pose) {
            Ok(()) if self.ended.is_some() => self.repeats += 1,
            Ok(()) => self.poses += 1,
            // A tracker may lose the body for a moment. The other side keeps the last pose then.
            Err(error) if source.is_live && is_of_the_pose(&error) => {
                self.refused_poses += 1;
                if !std::mem::replace(&mut self.refuses, true) {
                    say(format_args!(
                        "the tracker's pose cannot be sent, so the last one stays: {error}; bring \
                         the body back to where it began, or recenter the tracker"
                    ));
                }
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
        self.refuses = false;
        hub.tick(now, &*world)?;
        while let Some((_, datagram)) = hub.poll_transmit() {
            framing::write(Kind::Net, *number, datagram, &mut self.out);
            self.answers.note_sent(self.to, transmit(&self.socket, self.to, &self.out));
        }
        Ok(())
    }

    /// Returns the report, unless the other side never joined.
    pub(super) fn report(&self, now: Duration, source: &Source) -> Option<Report> {
        let began = self.began?;
        let mut status = self.earlier;
        let newest = self.session.status();
        add(&mut status, &newest);
        // Rates are those of the whole time. A file's own time and poses end with it.
        let all_s = now.saturating_sub(began).as_secs_f64();
        let seconds = self.ended.unwrap_or(now).saturating_sub(began).as_secs_f64();
        let bytes = status.bytes + OVERHEAD_BYTES as u64 * status.sent;
        Some(Report {
            source: source.name.clone(),
            to: self.to.to_string(),
            joints: source.skeleton.len(),
            curves: source.options.curves.len(),
            rate_hz: self.rate_hz,
            precision_cm: source.options.precision_cm,
            max_error_cm: self.max_error_cm,
            seconds,
            poses: self.poses,
            refused_poses: self.refused_poses,
            skipped_poses: self.skipped_poses,
            restarts: self.restarts,
            bytes,
            bytes_per_s: if all_s > 0.0 { bytes as f64 / all_s } else { 0.0 },
            bits_per_pose: 8.0 * bytes as f64 / (self.poses + self.repeats).max(1) as f64,
            lost_ratio: status.lost_ratio(),
            round_trip_ms: newest.round_trip.map(|time| 1e3 * time.as_secs_f64()),
        })
    }
}

/// Whether an error is one of this pose, so that later poses may be right.
fn is_of_the_pose(error: &FigureError) -> bool {
    matches!(
        error,
        FigureError::OutOfRange { .. }
            | FigureError::NotANumber { .. }
            | FigureError::BadCurve { .. }
            | FigureError::Unsent { .. }
    )
}

#[cfg(test)]
mod tests {
    use kinepack_anim::figure::Motion;
    use kinepack_net::{Receiver, ReceiverConfig};

    use super::*;

    const RATE_HZ: u32 = 10;

    /// A face that opens its mouth, a sender, and the socket to which it sends.
    fn sending(patience: Duration) -> (Sending, Source, UdpSocket) {
        let rows: String = (0..50).map(|at| format!("00:00:{at:02}:00,61,0.5\n")).collect();
        let text = format!("Timecode,BlendShapeCount,JawOpen\n{rows}");
        let source = Source::of_face(text.as_bytes());
        let other = UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = other.local_addr().unwrap();
        (Sending::new(&source, to, RATE_HZ, patience).unwrap(), source, other)
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_silent_receiver_gets_the_whole_patience_again() {
        for wait_s in 1..=4 {
            let (mut sending, _, _other) = sending(Duration::from_secs(wait_s));
            sending.session.is_joined = true;
            (sending.began, sending.heard, sending.session.heard) = (Some(ms(0)), ms(500), ms(500));
            sending.watch_over(ms(3_499)).unwrap();
            assert_eq!(sending.restarts, 0);
            sending.watch_over(ms(3_500)).unwrap();
            assert_eq!((sending.restarts, sending.session.is_joined), (1, false));
            let end = 3_500 + 1_000 * wait_s;
            sending.watch_over(ms(end - 1)).unwrap();
            let error = sending.watch_over(ms(end)).unwrap_err().to_string();
            let expected = format!("stopped answering {} s ago", 3 + wait_s);
            assert!(error.ends_with(&expected), "{error}");
        }
    }

    #[test]
    fn a_tracker_out_of_range_is_reported_once_and_may_come_back() {
        let (_, mut source, _other) = sending(Duration::from_secs(9));
        let to = "127.0.0.1:9".parse().unwrap();
        source.options.motions = vec![(0, Motion::Moves { range_cm: 100.0 })];
        let mut sending = Sending::new(&source, to, RATE_HZ, Duration::from_secs(9)).unwrap();
        source.sample(0.0);
        let mut send = |sending: &mut Sending, x_cm: f32| {
            source.is_live = true;
            sending.tick += 1;
            source.pose[0].translation[0] = x_cm;
            sending.send(ms(0), &source).unwrap();
            (sending.refused_poses, sending.refuses, sending.poses)
        };
        assert_eq!(send(&mut sending, 101.0), (1, true, 0), "even at first");
        assert_eq!(send(&mut sending, 99.0), (1, false, 1));
        assert_eq!(send(&mut sending, f32::INFINITY), (2, true, 1));
        assert_eq!(send(&mut sending, f32::NAN), (3, true, 1));
        assert_eq!(send(&mut sending, 0.0), (3, false, 2));
        source.is_live = false;
        source.pose[0].translation[0] = 101.0;
        let error = sending.send(ms(0), &source).unwrap_err().to_string();
        assert!(
            error.contains("farther from its place in the bind pose than it may move"),
            "{error}"
        );
    }

    #[test]
    fn skipped_ticks_are_counted_except_those_between_sessions() {
        let (mut sending, mut source, _other) = sending(Duration::from_secs(9));
        let mut step = |sending: &mut Sending, at| {
            (sending.session.is_joined, sending.session.heard) = (true, ms(at));
            sending.step(ms(at), &mut source).unwrap();
            (sending.poses, sending.skipped_poses)
        };
        assert_eq!(step(&mut sending, 0), (1, 0));
        assert_eq!(step(&mut sending, 50), (1, 0));
        assert_eq!(step(&mut sending, 100), (2, 0));
        assert_eq!(step(&mut sending, 500), (3, 3));
        sending.begin_again(ms(600)).unwrap();
        assert_eq!(step(&mut sending, 1_000), (4, 3));
        assert_eq!(step(&mut sending, 1_200), (5, 4));
    }

    #[test]
    fn pings_are_returned_at_once_and_only_to_the_receiver() {
        let (mut sending, mut source, other) = sending(Duration::from_secs(9));
        let to = ([127, 0, 0, 1], sending.socket.local_addr().unwrap().port()).into();
        let (mut out, mut buffer) = (Vec::new(), [0; 2_000]);
        other.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
        framing::write(Kind::Ping, sending.session.number, &[6; PING_BYTES], &mut out);
        transmit(&stranger, to, &out).unwrap();
        framing::write(Kind::Ping, sending.session.number, &[7; PING_BYTES + 1], &mut out);
        transmit(&other, to, &out).unwrap();
        framing::write(Kind::Ping, sending.session.number, &[7; PING_BYTES], &mut out);
        transmit(&other, to, &out).unwrap();
        sending.step(ms(0), &mut source).unwrap();
        let answers: Vec<Vec<u8>> = (0..2)
            .map(|_| {
                let bytes = other.recv(&mut buffer).unwrap();
                buffer[..bytes].to_vec()
            })
            .collect();
        let kinds: Vec<_> = answers.iter().map(|own| framing::read(own).unwrap()).collect();
        assert_eq!(kinds[0], (Kind::Pong, sending.session.number, &[7; PING_BYTES][..]));
        assert_eq!(kinds[1].0, Kind::Description);
        let failure = sending.answers.failure(ms(1), sending.to, ms(1)).to_string();
        assert!(failure.contains(&stranger.local_addr().unwrap().to_string()), "{failure}");
    }

    #[test]
    fn a_refusal_ends_the_sender_and_its_bytes_count_framing() {
        let (mut sending, mut source, other) = sending(Duration::from_secs(9));
        assert!(sending.report(ms(0), &source).is_none(), "nobody joined");
        let to = ([127, 0, 0, 1], sending.socket.local_addr().unwrap().port()).into();
        let mut out = Vec::new();
        framing::write(Kind::Refused, sending.session.number, &[], &mut out);
        transmit(&other, to, &out).unwrap();
        let error = sending.step(ms(0), &mut source).unwrap_err();
        assert!(matches!(error, FigureFailure::Refused { .. }), "{error}");
        let body = sending.description.body().unwrap();
        let mut receiver = Receiver::new(&body.codec, ReceiverConfig::at_hz(RATE_HZ)).unwrap();
        let hello = receiver.poll_transmit(ms(1)).unwrap();
        framing::write(Kind::Net, sending.session.number, hello, &mut out);
        transmit(&other, to, &out).unwrap();
        sending.step(ms(1), &mut source).unwrap();
        let (status, report) = (sending.session.status(), sending.report(ms(1), &source).unwrap());
        assert!(status.sent > 0);
        assert_eq!(report.bytes, status.bytes + 9 * status.sent);
    }
}
