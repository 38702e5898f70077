//! A world on its way to one or many receivers through simulated links: what `demo` shows and `simulate` and `sweep` measure.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::{Duration, Instant};

use kinepack::Snapshot;
use kinepack_net::{Acknowledgement, HEADER_BYTES, HubConfig, Link, LinkConfig, ReceiverId, Sequence};

use crate::cube_stream::CubeStream;
use crate::distribution::Distribution;
use crate::failure::Failure;
use crate::sender::{SendOptions, Sender, due};
use crate::session_report::SessionReport;
use crate::truth::Truth;
use crate::viewer::{Viewer, sequence_of, wrong_lanes};
use crate::world::Played;

/// Views that are kept to compare with what arrives.
const KEPT_VIEWS: usize = 512;

/// What carries a datagram between the two sides once the simulated link hands it out.
pub(crate) trait Carrier {
    /// To the receiver; `None` where it did not come through.
    fn down<'a>(&'a mut self, datagram: &'a [u8]) -> Result<Option<&'a [u8]>, Failure>;

    /// To the sender.
    fn up<'a>(&'a mut self, datagram: &'a [u8]) -> Result<Option<&'a [u8]>, Failure>;
}

/// Within this process.
pub(crate) struct Direct;

impl Carrier for Direct {
    fn down<'a>(&'a mut self, datagram: &'a [u8]) -> Result<Option<&'a [u8]>, Failure> {
        Ok(Some(datagram))
    }

    fn up<'a>(&'a mut self, datagram: &'a [u8]) -> Result<Option<&'a [u8]>, Failure> {
        Ok(Some(datagram))
    }
}

/// A sender and its receivers.
pub(crate) struct Session {
    pub(crate) sender: Sender,
    truth: Truth,
    /// Nothing that is sent in this time arrives.
    pub(crate) outage: Range<Duration>,
    pub(crate) peers: Vec<Peer>,
    /// Time that the hub took for all receivers together, in microseconds a tick.
    pub(crate) hub_us: Distribution,
    pub(crate) hub_total: Duration,
    /// Snapshots encoded, for all receivers together.
    pub(crate) encoded: u64,
}

/// One receiver with its links.
pub(crate) struct Peer {
    id: ReceiverId,
    pub(crate) down: Link,
    up: Link,
    side: Side,
    /// The views that were sent, by sequence: what must arrive.
    sent_views: VecDeque<(Sequence, Snapshot)>,
    pub(crate) wrong_lanes: u64,
    /// Sums over the ticks in which they were known, for means.
    round_trips_ms: (f64, u32),
    baseline_ages: (f64, u32),
    /// When datagrams were sent in the last second, and their bytes.
    recent: VecDeque<(Duration, usize)>,
}

enum Side {
    /// Decodes, compares and shows.
    Viewer(Box<Viewer>),
    /// Answers like a viewer, but looks at nothing: for a crowd.
    Answering(Answering),
}

/// What the display says while the world runs: of the last second.
pub(crate) struct Live {
    pub(crate) kbps_payload: f64,
    pub(crate) kbps_total: f64,
    pub(crate) round_trip_ms: f64,
    pub(crate) baseline_age: u16,
    pub(crate) loss_ratio: f64,
}

impl Session {
    pub(crate) fn new(world: Played, options: &SendOptions) -> Result<Self, Failure> {
        Ok(Self {
            sender: Sender::new(world, options, HubConfig::default())?,
            truth: Truth::default(),
            outage: Duration::ZERO..Duration::ZERO,
            peers: Vec::new(),
            hub_us: Distribution::default(),
            hub_total: Duration::ZERO,
            encoded: 0,
        })
    }

    /// Adds a receiver behind a link; one that is not to be looked at only answers.
    pub(crate) fn add(
        &mut self,
        options: &SendOptions,
        link: LinkConfig,
        link_seed: u64,
        looked_at: bool,
    ) -> Result<(), Failure> {
        let id = ReceiverId(self.peers.len() as u64);
        let stream = &options.stream;
        self.sender.add(id, options, due(self.sender.tick()))?;
        let side = if looked_at {
            Side::Viewer(Box::new(Viewer::new(stream)?))
        } else {
            Side::Answering(Answering::new(stream)?)
        };
        self.peers.push(Peer {
            id,
            down: Link::new(link, link_seed * 2)?,
            up: Link::new(link, link_seed * 2 + 1)?,
            side,
            sent_views: VecDeque::new(),
            wrong_lanes: 0,
            round_trips_ms: (0.0, 0),
            baseline_ages: (0.0, 0),
            recent: VecDeque::new(),
        });
        Ok(())
    }

    /// When the next datagram is due on any link.
    pub(crate) fn next_arrival(&self) -> Option<Duration> {
        self.peers.iter().flat_map(|peer| [peer.down.next_due(), peer.up.next_due()]).flatten().min()
    }

    /// Brings what is due to its receiver.
    pub(crate) fn deliver(&mut self, now: Duration, carrier: &mut impl Carrier) -> Result<(), Failure> {
        let is_out = self.outage.contains(&now);
        self.peers.iter_mut().try_for_each(|peer| peer.deliver(now, is_out, &mut self.sender, carrier))
    }

    /// Brings each datagram that is due before a tick to its receiver at its own time, and then the tick.
    pub(crate) fn run_until(&mut self, tick: Duration, carrier: &mut impl Carrier) -> Result<(), Failure> {
        while let Some(arrival) = self.next_arrival().filter(|at| *at <= tick) {
            self.deliver(arrival, carrier)?;
        }
        self.tick(tick, carrier)
    }

    /// The world's next step, what is sent of it, and a frame of each viewer.
    pub(crate) fn tick(&mut self, now: Duration, carrier: &mut impl Carrier) -> Result<(), Failure> {
        self.deliver(now, carrier)?;
        let is_sent = self.sender.step()?;
        self.truth.push(self.sender.tick(), self.sender.states());
        if is_sent {
            let begin = Instant::now();
            self.sender.send(now)?;
            let took = begin.elapsed();
            self.hub_us.add(took.as_secs_f64() * 1e6);
            self.hub_total += took;
            self.encoded += self.sender.hub.encoded() as u64;
        }
        while let Some((to, datagram)) = self.sender.hub.poll_transmit() {
            let peer = &mut self.peers[to.0 as usize];
            peer.recent.push_back((now, datagram.len()));
            if !self.outage.contains(&now) {
                peer.down.send(now, datagram);
            }
            if let (Side::Viewer(_), Some(sequence)) = (&peer.side, sequence_of(datagram)) {
                peer.keep_view(sequence, self.sender.hub.view(to, sequence));
            }
        }
        for peer in &mut self.peers {
            peer.look(now, &self.sender, &self.truth)?;
        }
        Ok(())
    }
}

impl Peer {
    pub(crate) fn viewer(&self) -> Option<&Viewer> {
        match &self.side {
            Side::Viewer(viewer) => Some(viewer),
            Side::Answering(_) => None,
        }
    }

    fn keep_view(&mut self, sequence: Sequence, view: Option<Snapshot>) {
        if self.sent_views.len() == KEPT_VIEWS {
            self.sent_views.pop_front();
        }
        self.sent_views.extend(view.map(|view| (sequence, view)));
    }

    fn deliver(
        &mut self,
        now: Duration,
        is_out: bool,
        sender: &mut Sender,
        carrier: &mut impl Carrier,
    ) -> Result<(), Failure> {
        while let Some(datagram) = self.down.poll(now) {
            let Some(datagram) = carrier.down(&datagram)? else { continue };
            match &mut self.side {
                Side::Answering(answering) => answering.take(datagram),
                // What is refused is counted by the receiver: duplicates, and what came too late.
                Side::Viewer(viewer) => {
                    if let Ok(Some(sequence)) = viewer.handle(now, datagram) {
                        let expected = self.sent_views.iter().rev().find(|(sent, _)| *sent == sequence);
                        if let (Some((_, expected)), Some(view)) = (expected, viewer.receiver.view(sequence)) {
                            self.wrong_lanes += wrong_lanes(expected, view);
                        }
                    }
                }
            }
        }
        match &mut self.side {
            Side::Viewer(viewer) => {
                while let Some(datagram) = viewer.receiver.poll_transmit(now) {
                    if !is_out {
                        self.up.send(now, datagram);
                    }
                }
            }
            Side::Answering(_) if is_out => {}
            Side::Answering(answering) => answering.answer(now, &mut self.up),
        }
        while let Some(datagram) = self.up.poll(now) {
            if let Some(datagram) = carrier.up(&datagram)? {
                let _ = sender.hub.handle(self.id, now, datagram);
            }
        }
        Ok(())
    }

    /// Draws a frame and takes notes.
    fn look(&mut self, now: Duration, sender: &Sender, truth: &Truth) -> Result<(), Failure> {
        let Side::Viewer(viewer) = &mut self.side else { return Ok(()) };
        viewer.show(now, Some(truth))?;
        viewer.note_age(sender.tick(), truth);
        while self.recent.front().is_some_and(|(at, _)| now.saturating_sub(*at) > Duration::from_secs(1)) {
            self.recent.pop_front();
        }
        let status = sender.hub.status(self.id).unwrap_or_default();
        let note = |(sum, count): &mut (f64, u32), value: f64| (*sum, *count) = (*sum + value, *count + 1);
        if let Some(round_trip) = status.round_trip {
            note(&mut self.round_trips_ms, round_trip.as_secs_f64() * 1e3);
        }
        if let Some(age) = status.baseline_age {
            note(&mut self.baseline_ages, f64::from(age));
        }
        Ok(())
    }

    /// Numbers of the last second.
    pub(crate) fn live(&self, now: Duration, sender: &Sender) -> Live {
        let span_s = now.as_secs_f64().clamp(1e-3, 1.0);
        let kbps = |header: u32| {
            let bytes: usize = self.recent.iter().map(|(_, bytes)| bytes + header as usize).sum();
            bytes as f64 * 8.0 / 1000.0 / span_s
        };
        let status = sender.hub.status(self.id).unwrap_or_default();
        Live {
            kbps_payload: kbps(0),
            kbps_total: kbps(HEADER_BYTES),
            round_trip_ms: status.round_trip.map_or(0.0, |time| time.as_secs_f64() * 1e3),
            baseline_age: status.baseline_age.unwrap_or(0),
            loss_ratio: loss_ratio(&self.down),
        }
    }

    /// What the session was like for this receiver, after so many ticks.
    pub(crate) fn report(&self, ticks: u32) -> SessionReport {
        let seconds = due(ticks).as_secs_f64();
        let kbps = |link: &Link, header: u32| {
            let sent = link.stats().sent;
            (sent.bytes + sent.count * u64::from(header)) as f64 * 8.0 / 1000.0 / seconds
        };
        let mean = |(sum, count): (f64, u32)| sum / f64::from(count.max(1));
        let mut report = SessionReport {
            seconds,
            frames_sent: self.down.stats().sent.count,
            wrong_lanes: self.wrong_lanes,
            loss_ratio: loss_ratio(&self.down),
            kbps_payload: kbps(&self.down, 0),
            kbps_total: kbps(&self.down, HEADER_BYTES),
            kbps_upstream: kbps(&self.up, HEADER_BYTES),
            round_trip_ms: mean(self.round_trips_ms),
            baseline_age: mean(self.baseline_ages),
            ..SessionReport::default()
        };
        if let Some(viewer) = self.viewer() {
            report.frames_received = viewer.snapshots;
            report.frames_with_left_out = viewer.left_out;
            report.blocks = viewer.receiver.stats().blocks;
            report.states_shown = viewer.states_shown;
            report.playout_delay_ms = viewer.mean_delay_ms();
            report.starved_ratio = viewer.receiver.playout_stats().starved_ratio;
            report.shown_error_mm = viewer.error.position_mm.summary();
            report.shown_error_deg = viewer.error.rotation_deg.summary();
        }
        report
    }
}

/// Share of the datagrams that a link did not carry.
fn loss_ratio(link: &Link) -> f64 {
    let stats = link.stats();
    (stats.lost.count + stats.queue_dropped.count + stats.too_large.count) as f64 / stats.sent.count.max(1) as f64
}

/// Says hello, and acknowledges what comes without a look at it.
struct Answering {
    hello: Option<Vec<u8>>,
    received: Option<Acknowledgement>,
    news: bool,
}

impl Answering {
    fn new(stream: &CubeStream) -> Result<Self, Failure> {
        let mut viewer = Viewer::new(stream)?;
        let hello = viewer.receiver.poll_transmit(Duration::ZERO).map(<[u8]>::to_vec);
        Ok(Self { hello, received: None, news: false })
    }

    fn take(&mut self, datagram: &[u8]) {
        let Some(sequence) = sequence_of(datagram) else { return };
        self.news = true;
        self.hello = None;
        let received = self.received.unwrap_or(Acknowledgement { latest: sequence, before: 0 });
        self.received = Some(received.with(sequence));
    }

    fn answer(&mut self, now: Duration, up: &mut Link) {
        if let Some(hello) = &self.hello
            && now.subsec_millis() < 17
        {
            up.send(now, hello);
        }
        if let Some(received) = self.received.filter(|_| std::mem::take(&mut self.news)) {
            let mut datagram = Vec::new();
            received.write(&mut datagram);
            up.send(now, &datagram);
        }
    }
}
