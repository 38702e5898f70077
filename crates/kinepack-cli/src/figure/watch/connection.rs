//! The body of one session: its receiver, and the pose to show.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use kinepack::{Codec, Tick};
use kinepack_anim::figure::Figure;
use kinepack_anim::{PoseAndCurves, Transform};
use kinepack_net::{Received, Receiver, ReceiverConfig};

use super::numbers::{Counters, Rates, Recent};
use super::pings::Pings;
use crate::figure::description::{BadDescription, Description};
use crate::figure::framing::{self, Kind};

/// The least and the most memory of the receiver for views.
const MEMORY_BYTES: [usize; 2] = [64 << 20, 1 << 30];
/// In memory for this many views, the receiver holds all that the sender may use: see
/// [`ReceiverConfig::max_memory_bytes`].
const VIEWS: usize = 128;
/// After this time without a datagram, the sender has ended. Another program may have its port by
/// then, so nothing more is sent there.
const ENDED: Duration = Duration::from_secs(5);
/// Until the sender has returned a ping, its address may be forged. Then at most this many bytes
/// are sent for each byte that arrived, as in QUIC (RFC 9000, section 8).
const UNPROVEN_RATIO: u64 = 3;
/// The number of ticks that are known to have arrived. A large body takes several datagrams a tick.
const KNOWN_TICKS: usize = 32;

/// A session.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) from: SocketAddr,
    pub(super) session: u32,
    pub(super) description: Description,
    pub(super) max_error_cm: f64,
    /// When a datagram was last accepted, or the session began.
    pub(super) heard: Duration,
    pub(super) receiver: Receiver,
    pub(super) counters: Counters,
    /// The bytes of the sender's datagrams, and of those sent to it.
    pub(super) received_bytes: u64,
    sent_bytes: u64,
    pings: Pings,
    ticks: VecDeque<Tick>,
    figure: Figure,
    recent: Recent,
    pose: Vec<Transform>,
    model: Vec<Transform>,
    curves: Vec<f32>,
}

/// What the page shows of a moment.
#[derive(Debug)]
pub(super) struct Moment<'a> {
    /// The joints in model space; `None` before the first pose.
    pub(super) model: Option<&'a [Transform]>,
    pub(super) curves: &'a [f32],
    pub(super) rates: Rates,
    pub(super) delay: Duration,
    pub(super) round_trip: Duration,
}

impl Connection {
    /// Begins a session with a body that the sender described.
    pub(super) fn new(
        from: SocketAddr,
        session: u32,
        description: &[u8],
        now: Duration,
    ) -> Result<Self, BadDescription> {
        let description_bytes = description.len();
        let description = Description::from_bytes(description)?;
        let body = description.body().map_err(BadDescription::Body)?;
        let config = ReceiverConfig {
            max_memory_bytes: memory_bytes(&body.codec),
            ..ReceiverConfig::at_hz(description.rate_hz)
        };
        let receiver = Receiver::new(&body.codec, config)
            .map_err(|error| BadDescription::Body(error.into()))?;
        let pose = description.skeleton.bind_pose();
        Ok(Self {
            from,
            session,
            max_error_cm: body.max_error_cm,
            heard: now,
            receiver,
            counters: Counters::default(),
            received_bytes: (framing::OVERHEAD_BYTES + description_bytes) as u64,
            sent_bytes: 0,
            pings: Pings::default(),
            ticks: VecDeque::with_capacity(KNOWN_TICKS),
            figure: body.figure,
            recent: Recent::default(),
            model: pose.clone(),
            pose,
            curves: vec![0.0; description.options.curves.len()],
            description,
        })
    }

    /// Takes a datagram of this session. Returns false if it is refused.
    pub(super) fn take(&mut self, now: Duration, contents: &[u8], datagram_bytes: usize) -> bool {
        let Ok(received) = self.receiver.handle(now, contents) else { return false };
        self.heard = now;
        let status = self.receiver.status(now);
        let tick = match received {
            Received::Snapshot { tick, .. } | Received::FullState { tick } => Some(tick),
            _ => None,
        };
        self.counters = Counters {
            bytes: self.counters.bytes + datagram_bytes as u64,
            poses: self.counters.poses + u64::from(tick.is_some_and(|tick| self.is_new(tick))),
            arrived: status.acknowledged,
            missing: status.lost.min(status.sent.saturating_sub(status.acknowledged)),
        };
        self.recent.note(now, self.counters);
        true
    }

    /// Notes that a tick has arrived. Returns whether it is the first datagram of the tick.
    fn is_new(&mut self, tick: Tick) -> bool {
        if self.ticks.contains(&tick) {
            return false;
        }
        if self.ticks.len() == KNOWN_TICKS {
            self.ticks.pop_front();
        }
        self.ticks.push_back(tick);
        true
    }

    /// Takes the return of a ping. Returns false if it is none.
    pub(super) fn take_pong(&mut self, now: Duration, contents: &[u8]) -> bool {
        let is_own = self.pings.take(now, contents);
        if is_own {
            self.heard = now;
        }
        is_own
    }

    /// Writes the next datagram to the sender over `out`. Returns false if there is none.
    pub(super) fn poll_transmit(&mut self, now: Duration, out: &mut Vec<u8>) -> bool {
        if now.saturating_sub(self.heard) >= ENDED {
            return false;
        }
        if let Some(ping) = self.pings.poll(now) {
            framing::write(Kind::Ping, self.session, &ping, out);
        } else if let Some(contents) = self.receiver.poll_transmit(now) {
            framing::write(Kind::Net, self.session, contents, out);
        } else {
            return false;
        }
        let sent_bytes = self.sent_bytes + out.len() as u64;
        let is_proven = self.pings.round_trip().is_some();
        if !is_proven && sent_bytes > UNPROVEN_RATIO * self.received_bytes {
            return false;
        }
        self.sent_bytes = sent_bytes;
        true
    }

    /// Computes the pose to show.
    pub(super) fn moment(&mut self, now: Duration) -> Moment<'_> {
        self.recent.note(now, self.counters);
        let Self { receiver, figure, pose, curves, .. } = self;
        let mut is_there = false;
        if let Some(playback) = receiver.playback(now)
            && let Some(sample) = playback.samples().next()
        {
            is_there = true;
            let mut writer = PoseAndCurves { pose: &mut pose[..], curves };
            figure.interpolate(sample.from, sample.to, sample.between, &mut writer);
        }
        self.description.skeleton.model_pose(&self.pose, &mut self.model);
        Moment {
            model: is_there.then_some(&self.model[..]),
            curves: &self.curves,
            rates: self.recent.rates(now, self.counters),
            delay: self.delay(),
            round_trip: self.pings.round_trip().unwrap_or_default(),
        }
    }

    /// The time from a pose to its display: the wait in the buffer, and half of the network's round
    /// trip. If one direction is slower, the true time differs by half of the difference.
    pub(super) fn delay(&self) -> Duration {
        self.receiver.playout_stats().delay + self.pings.round_trip().unwrap_or_default() / 2
    }

    /// The largest error that a joint may have, in cm.
    pub(super) fn joint_error_cm(&self, joint: usize) -> f64 {
        self.figure.max_error_cm(joint)
    }
}

/// Returns the memory for views that a body needs. A view also has what the codec has learned,
/// which takes most of the memory.
fn memory_bytes(codec: &Codec) -> usize {
    let view_bytes = codec.learned_bytes() + 8 * codec.schema().lanes().len();
    let [least, most] = MEMORY_BYTES;
    (VIEWS * view_bytes).clamp(least, most)
}

#[cfg(test)]
mod tests {
    use kinepack::{Encoder, EntityId, Snapshot, View};
    use kinepack_anim::figure::{FigureOptions, FigurePose, Motion};
    use kinepack_anim::{Joint, Skeleton};

    use super::*;

    /// Describes a chain of joints that all move.
    fn description(joints: u16) -> Description {
        let joint = |index: u16| {
            let bind = Transform { translation: [10.0, 0.0, 0.0], ..Transform::IDENTITY };
            Joint { name: format!("joint {index}"), parent: index.checked_sub(1), bind }
        };
        let motions = (0..joints.into()).map(|joint| (joint, Motion::Moves { range_cm: 20.0 }));
        Description {
            skeleton: Skeleton::new((0..joints).map(joint).collect()).unwrap(),
            options: FigureOptions {
                precision_cm: 5.0,
                motions: motions.collect(),
                ..FigureOptions::default()
            },
            rate_hz: 30,
        }
    }

    fn connection() -> Connection {
        let from = "127.0.0.1:70".parse().unwrap();
        Connection::new(from, 5, &description(20).to_bytes(), Duration::ZERO).unwrap()
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Returns the bytes that are sent in a time, and when the last datagram was. `answers` is
    /// called with each.
    fn sent(
        own: &mut Connection,
        times_ms: std::ops::Range<u64>,
        mut answers: impl FnMut(&mut Connection, Duration, &[u8]),
    ) -> (u64, Duration) {
        let (mut bytes, mut last, mut out) = (0, Duration::ZERO, Vec::new());
        for at in times_ms {
            while own.poll_transmit(ms(at), &mut out) {
                (bytes, last) = (bytes + out.len() as u64, ms(at));
                answers(own, ms(at), &out);
            }
        }
        (bytes, last)
    }

    #[test]
    fn a_forged_source_gets_at_most_three_times_its_bytes() {
        let mut own = connection();
        // The source is kept awake, as an attacker could by more forged datagrams.
        let (bytes, _) = sent(&mut own, 0..600_000, |own, now, _| own.heard = now);
        assert!(bytes > own.received_bytes && bytes <= 3 * own.received_bytes, "{bytes}");
    }

    #[test]
    fn a_source_that_ended_gets_nothing_more() {
        let mut own = connection();
        let (bytes, last) = sent(&mut own, 0..20_000, |own, now, datagram| {
            let (kind, _, contents) = framing::read(datagram).unwrap();
            if kind == Kind::Ping && now < ms(10_000) {
                assert!(own.take_pong(now, contents));
            }
        });
        assert!(bytes > 3 * own.received_bytes, "{bytes}");
        assert!((ms(14_500)..ms(15_000)).contains(&last), "{last:?}");
        assert!(!own.take_pong(ms(20_000), &[0; 8]));
        assert_eq!(sent(&mut own, 20_000..30_000, |_, _, _| ()).0, 0);
    }

    #[test]
    fn the_delay_has_half_of_the_round_trip_of_pings() {
        let mut own = connection();
        assert_eq!((own.delay(), own.moment(ms(0)).round_trip), (Duration::ZERO, Duration::ZERO));
        let mut out = Vec::new();
        assert!(own.poll_transmit(ms(0), &mut out));
        let (kind, session, contents) = framing::read(&out).unwrap();
        assert_eq!((kind, session), (Kind::Ping, 5));
        assert!(own.take_pong(ms(60), contents));
        assert_eq!((own.delay(), own.moment(ms(60)).round_trip), (ms(30), ms(60)));
    }

    #[test]
    fn the_datagrams_of_a_tick_are_one_pose() {
        let mut own = connection();
        let ticks = [1, 1, 2, 4, 3, 4, 3, 5].map(Tick);
        assert_eq!(ticks.into_iter().filter(|tick| own.is_new(*tick)).count(), 5);
        (6..1_000).for_each(|tick| assert!(own.is_new(Tick(tick)) && !own.is_new(Tick(tick))));
        assert_eq!(own.ticks.len(), KNOWN_TICKS);
    }

    #[test]
    fn the_memory_has_room_for_the_views_of_large_bodies() {
        for (joints, least) in [(20, MEMORY_BYTES[0]), (500, MEMORY_BYTES[0] + 1)] {
            let description = description(joints);
            let mut body = description.body().unwrap();
            let mut world = Snapshot::new(body.codec.schema(), Tick(1));
            let pose = description.skeleton.bind_pose();
            body.figure.push(&mut world, 0, EntityId(1), &FigurePose::new(&pose)).unwrap();
            let empty = View::empty(body.codec.schema());
            let view = Encoder::new(&body.codec).encode(&empty, &world, &mut Vec::new()).unwrap();
            // A quarter of the memory is for states to show.
            let memory_bytes = memory_bytes(&body.codec);
            let views = memory_bytes / 4 * 3 / view.memory_bytes();
            assert!(views >= 90 && memory_bytes >= least, "{joints}: {views}");
        }
    }
}
