//! Sends a body over a link that loses datagrams, with a hub and a receiver. A peer's packets use a
//! link of the same kind.
//!
//! Time is virtual. Each pose that a viewer draws is compared with the true pose of its moment, at
//! the rate of the capture. The errors therefore include interpolation, quantization and losses.
//! All viewers lag by the same time: the latency of the link plus a playout delay of two frames at
//! 20 Hz. The delay bridges one lost frame. There are three viewers:
//!
//! - The figure's viewer shows the receiver's playback, interpolated by the figure.
//! - The viewer of exact poses shows the frames that the figure's receiver got, interpolated
//!   linearly, as if they were not quantized.
//! - The peer's viewer shows the frames that can be decoded, interpolated linearly. A lost keyframe
//!   makes its deltas useless, and a lost delta is skipped.

use std::time::Duration;

use command_kit::table::{Table, table};
use command_kit::{Distribution, Summary, wrong_lanes};
use kinepack::{Level, Snapshot};
use kinepack_anim::Transform;
use kinepack_net::{
    HEADER_BYTES, Hub, HubConfig, Link, LinkConfig, Loss, PlayoutConfig, Received, Receiver,
    ReceiverConfig, ReceiverId, ReceiverOptions, Refused,
};
use serde::Serialize;

use crate::Outcome;
use crate::basis::{Layout, Sent};
use crate::body::Body;
use crate::figures::{FIRST_TICK, Trained, distance_cm};
use crate::recordings::Recording;
use crate::shown::{Frames, PeerViewer, numbered};

/// The time that a datagram takes from one end of the link to the other.
const WAY: Duration = Duration::from_millis(50);
const PLAYOUT_DELAY: Duration = Duration::from_millis(100);
/// The time at the beginning whose poses do not count, because the playout clock starts with the
/// first state.
const WARM_UP: Duration = Duration::from_secs(1);
const LOSSES: [f32; 3] = [0.0, 0.01, 0.1];
/// The number of sessions, which lose different datagrams. Without losses, all sessions are equal.
const SESSIONS: u64 = 10;
const RECEIVER: ReceiverId = ReceiverId(1);

/// The results of a figure and a peer over a link. Bytes are per frame.
#[derive(Serialize)]
pub(crate) struct Row {
    peer: String,
    loss_ratio: f32,
    /// The bytes of the hub's datagrams, which are states with the library's headers and sets.
    datagram_bytes: f64,
    acknowledgement_bytes: f64,
    /// The bytes of both directions, with the headers of IPv4 and UDP.
    all_bytes: f64,
    pub(crate) wrong_lanes: u64,
    figure_error_cm: Errors,
    exact_error_cm: Errors,
    peer_bytes: f64,
    /// The bytes of the peer's packets, with the headers of IPv4 and UDP.
    peer_all_bytes: f64,
    peer_error_cm: Errors,
}

/// The errors of all poses that a viewer draws.
#[derive(Serialize)]
struct Errors {
    mean: f64,
    #[serde(flatten)]
    summary: Summary,
}

/// The sums and errors of several sessions.
#[derive(Default)]
struct Tally {
    frames: usize,
    datagrams: usize,
    datagram_bytes: usize,
    acknowledgements: usize,
    acknowledgement_bytes: usize,
    peer_bytes: usize,
    wrong_lanes: u64,
    figure_cm: Distribution,
    exact_cm: Distribution,
    peer_cm: Distribution,
}

/// Sends a recording over a link for each loss ratio.
pub(crate) fn measure(
    body: &Body,
    (layout, sent): (&Layout, &Sent),
    mut trained: Trained,
    recording: &Recording,
    hz: u32,
) -> Outcome<Vec<Row>> {
    let worlds = trained.worlds(recording)?;
    let mut stage = Stage { body, layout, sent, trained, recording, worlds, hz };
    let mut rows = Vec::new();
    for loss_ratio in LOSSES {
        let mut tally = Tally::default();
        for seed in 0..if loss_ratio > 0.0 { SESSIONS } else { 1 } {
            stage.play(loss_ratio, seed, &mut tally)?;
        }
        rows.push(tally.row(&layout.name, loss_ratio));
    }
    Ok(rows)
}

/// The data that all sessions share.
struct Stage<'a> {
    body: &'a Body,
    layout: &'a Layout,
    sent: &'a Sent,
    trained: Trained,
    recording: &'a Recording,
    worlds: Vec<Snapshot>,
    hz: u32,
}

impl Stage<'_> {
    /// Plays the recording once.
    fn play(&mut self, loss_ratio: f32, seed: u64, tally: &mut Tally) -> Outcome<()> {
        let mut session = Session::new(self, loss_ratio, seed)?;
        for captured in 0..self.recording.captured_poses() {
            let at_s = captured as f64 / f64::from(self.recording.captured_hz());
            let now = Duration::from_nanos((at_s * 1e9).round() as u64);
            session.deliver(now, self, tally)?;
            if captured % self.recording.captured_per_frame == 0 {
                session.send(now, captured / self.recording.captured_per_frame, self, tally)?;
            }
            session.draw(now, self, tally)?;
        }
        Ok(())
    }
}

/// Both ends of a figure and of a peer, with the links between them.
struct Session<'a> {
    hub: Hub,
    receiver: Receiver,
    down: Link,
    up: Link,
    peer_down: Link,
    /// The frames that the receiver got, as they were before quantization.
    exact: Frames,
    peer: PeerViewer<'a>,
    shown: Vec<Transform>,
    truth: Vec<Transform>,
}

impl<'a> Session<'a> {
    fn new(stage: &Stage<'a>, loss_ratio: f32, seed: u64) -> Outcome<Self> {
        let codec = stage.trained.codec(Level::ADAPTIVE)?;
        let mut hub = Hub::new(&codec, HubConfig::default())?;
        let playout = PlayoutConfig {
            min_delay: PLAYOUT_DELAY,
            max_delay: PLAYOUT_DELAY,
            ..PlayoutConfig::at_hz(stage.hz)
        };
        let config = ReceiverConfig { playout, ..ReceiverConfig::at_hz(stage.hz) };
        let mut receiver = Receiver::new(&codec, config)?;
        // The handshake takes place before the first frame, and its bytes do not count.
        hub.add(RECEIVER, &ReceiverOptions::default(), Duration::ZERO)?;
        let hello = receiver.poll_transmit(Duration::ZERO).ok_or("no hello")?;
        hub.handle(RECEIVER, Duration::ZERO, hello)?;
        let loss = Loss::Independent { ratio: loss_ratio };
        let config = LinkConfig { latency: WAY, loss, ..LinkConfig::PERFECT };
        let link = |direction| Link::new(config, 3 * seed + direction);
        Ok(Self {
            hub,
            receiver,
            down: link(0)?,
            up: link(1)?,
            peer_down: link(2)?,
            exact: Frames::default(),
            peer: PeerViewer::new(stage.layout, stage.body.skeleton.bind_pose()),
            shown: stage.body.skeleton.bind_pose(),
            truth: stage.body.skeleton.bind_pose(),
        })
    }

    /// Passes on the datagrams that have arrived, and compares each received state with the
    /// sender's state.
    fn deliver(&mut self, now: Duration, stage: &Stage<'_>, tally: &mut Tally) -> Outcome<()> {
        while let Some(datagram) = self.down.poll(now) {
            match self.receiver.handle(now, &datagram) {
                Ok(Received::Snapshot { tick, .. } | Received::FullState { tick }) => {
                    let frame = (tick.0 - FIRST_TICK) as usize;
                    let newest = self.receiver.newest().ok_or("nothing was received")?;
                    tally.wrong_lanes += wrong_lanes(&stage.worlds[frame], newest);
                    self.exact.add(frame, stage.recording.frame(frame).to_vec());
                }
                Ok(_) | Err(Refused::NoBaseline) => {}
                Err(refused) => return Err(refused.into()),
            }
        }
        while let Some(datagram) = self.peer_down.poll(now) {
            self.peer.take(&datagram)?;
        }
        while let Some(datagram) = self.up.poll(now) {
            match self.hub.handle(RECEIVER, now, &datagram) {
                Ok(_) | Err(Refused::LongAgo) => {}
                Err(refused) => return Err(refused.into()),
            }
        }
        while let Some(datagram) = self.receiver.poll_transmit(now) {
            tally.acknowledgements += 1;
            tally.acknowledgement_bytes += datagram.len();
            self.up.send(now, datagram);
        }
        Ok(())
    }

    fn send(
        &mut self,
        now: Duration,
        frame: usize,
        stage: &Stage<'_>,
        tally: &mut Tally,
    ) -> Outcome<()> {
        tally.frames += 1;
        self.hub.tick(now, &stage.worlds[frame])?;
        while let Some((_, datagram)) = self.hub.poll_transmit() {
            tally.datagrams += 1;
            tally.datagram_bytes += datagram.len();
            self.down.send(now, datagram);
        }
        let packet = &stage.sent.packets[frame];
        tally.peer_bytes += packet.len();
        self.peer_down.send(now, &numbered(frame, packet));
        Ok(())
    }

    /// Draws each viewer's pose, and compares it with the true pose.
    fn draw(&mut self, now: Duration, stage: &mut Stage<'_>, tally: &mut Tally) -> Outcome<()> {
        let Some(playback) = self.receiver.playback(now) else { return Ok(()) };
        let Some(shown_time) = now.checked_sub(WAY + PLAYOUT_DELAY) else { return Ok(()) };
        if shown_time < WARM_UP {
            return Ok(());
        }
        let moment = shown_time.as_secs_f64() * f64::from(stage.hz);
        let Self { shown, truth, .. } = self;
        stage.recording.at(moment, truth);
        let sample = playback.samples().next().ok_or("the body is missing")?;
        let (from, to) = (sample.from, sample.to);
        stage.trained.figure.interpolate(from, to, sample.between, &mut shown[..]);
        let skeleton = &stage.body.skeleton;
        tally.figure_cm.add(distance_cm(skeleton, shown, truth));
        for (frames, errors_cm) in
            [(&self.exact, &mut tally.exact_cm), (&self.peer.frames, &mut tally.peer_cm)]
        {
            if frames.write(moment, shown) {
                errors_cm.add(distance_cm(skeleton, shown, truth));
            }
        }
        Ok(())
    }
}

impl Tally {
    fn row(&self, peer: &str, loss_ratio: f32) -> Row {
        let per_frame = |bytes: usize| bytes as f64 / self.frames.max(1) as f64;
        let with_headers = |bytes, datagrams| bytes + datagrams * HEADER_BYTES as usize;
        Row {
            peer: peer.to_owned(),
            loss_ratio,
            datagram_bytes: per_frame(self.datagram_bytes),
            acknowledgement_bytes: per_frame(self.acknowledgement_bytes),
            all_bytes: per_frame(with_headers(
                self.datagram_bytes + self.acknowledgement_bytes,
                self.datagrams + self.acknowledgements,
            )),
            wrong_lanes: self.wrong_lanes,
            figure_error_cm: Errors::of(&self.figure_cm),
            exact_error_cm: Errors::of(&self.exact_cm),
            peer_bytes: per_frame(self.peer_bytes),
            peer_all_bytes: per_frame(with_headers(self.peer_bytes, self.frames)),
            peer_error_cm: Errors::of(&self.peer_cm),
        }
    }
}

impl Errors {
    fn of(errors: &Distribution) -> Self {
        Self { mean: errors.mean(), summary: errors.summary() }
    }

    fn cells(&self) -> [String; 3] {
        [self.mean, self.summary.p50, self.summary.p99].map(|cm| format!("{cm:.2}"))
    }
}

impl Row {
    fn begin(&self) -> Vec<String> {
        vec![self.peer.clone(), format!("{} %", self.loss_ratio * 100.0)]
    }
}

/// Returns a table of the bytes per frame.
pub(crate) fn bytes_table(rows: &[Row]) -> Table {
    let header = [
        "peer",
        "loss",
        "figure, bytes:\ndatagrams",
        "\nacks",
        "\nwith IP, UDP",
        "wrong\nlanes",
        "peer, bytes:\npackets",
        "\nwith IP, UDP",
    ];
    let cells = rows.iter().map(|row| {
        let mut cells = row.begin();
        let bytes = [row.datagram_bytes, row.acknowledgement_bytes, row.all_bytes];
        cells.extend(bytes.map(|bytes| format!("{bytes:.1}")));
        cells.push(row.wrong_lanes.to_string());
        cells.extend([row.peer_bytes, row.peer_all_bytes].map(|bytes| format!("{bytes:.1}")));
        cells
    });
    table(header, 2, cells)
}

/// Returns a table of how far each viewer's poses are off, in cm.
pub(crate) fn errors_table(rows: &[Row]) -> Table {
    let header = [
        "peer",
        "loss",
        "figure, cm:\nmean",
        "\nmedian",
        "\n99 %",
        "peer, cm:\nmean",
        "\nmedian",
        "\n99 %",
        "not quantized, cm:\nmean",
        "\nmedian",
        "\n99 %",
    ];
    let cells = rows.iter().map(|row| {
        let errors = [&row.figure_error_cm, &row.peer_error_cm, &row.exact_error_cm];
        row.begin().into_iter().chain(errors.into_iter().flat_map(Errors::cells))
    });
    table(header, 2, cells)
}
