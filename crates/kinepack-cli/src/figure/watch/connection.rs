//! The body of one session: its receiver, and the pose to show.

use std::net::SocketAddr;
use std::time::Duration;

use kinepack_anim::figure::Figure;
use kinepack_anim::{PoseWriter, Transform};
use kinepack_net::{Received, Receiver, ReceiverConfig};

use super::numbers::{Counters, Rates, Recent};
use crate::figure::description::{BadDescription, Description};

/// The memory of the receiver for views.
const MEMORY_BYTES: usize = 64 << 20;

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
    pub(super) lost_ratio: f64,
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
        let description = Description::from_bytes(description)?;
        let body = description.body().map_err(BadDescription::Body)?;
        let config = ReceiverConfig {
            max_memory_bytes: MEMORY_BYTES,
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
        self.counters.bytes += datagram_bytes as u64;
        self.counters.net_bytes += contents.len() as u64;
        let has_pose = matches!(received, Received::Snapshot { .. } | Received::FullState { .. });
        self.counters.poses += u64::from(has_pose);
        self.recent.note(now, self.counters);
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
            let mut writer = Writer { pose, curves };
            figure.interpolate(sample.from, sample.to, sample.between, &mut writer);
        }
        self.description.skeleton.model_pose(&self.pose, &mut self.model);
        let status = self.receiver.status(now);
        let round_trip = status.round_trip.unwrap_or_default();
        Moment {
            model: is_there.then_some(&self.model[..]),
            curves: &self.curves,
            rates: self.recent.rates(now, self.counters),
            lost_ratio: status.lost_ratio(),
            delay: self.delay(now),
            round_trip,
        }
    }

    /// The time from a pose to its display: half of the round trip, and the wait in the buffer.
    pub(super) fn delay(&self, now: Duration) -> Duration {
        let round_trip = self.receiver.status(now).round_trip.unwrap_or_default();
        self.receiver.playout_stats().delay + round_trip / 2
    }

    /// The largest error that a joint may have, in cm.
    pub(super) fn joint_error_cm(&self, joint: usize) -> f64 {
        self.figure.max_error_cm(joint)
    }
}

/// Takes a pose with its curves.
struct Writer<'a> {
    pose: &'a mut [Transform],
    curves: &'a mut [f32],
}

impl PoseWriter for Writer<'_> {
    fn rotation(&mut self, joint: usize, rotation: [f32; 4]) {
        self.pose.rotation(joint, rotation);
    }

    fn translation(&mut self, joint: usize, translation: [f32; 3]) {
        self.pose.translation(joint, translation);
    }

    fn scale(&mut self, joint: usize, scale: [f32; 3]) {
        self.pose.scale(joint, scale);
    }

    fn curve(&mut self, curve: usize, value: f32) {
        if let Some(own) = self.curves.get_mut(curve) {
            *own = value;
        }
    }
}
