//! One receiver of a session, with its links, the state that it shows, and its statistics.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use command_kit::{LinkMeter, LinkUse, both_ways, budget_now, wrong_lanes};
use cubes::Input;
use kinepack::Snapshot;
use kinepack_net::{
    Budget, Cost, DatagramKind, HEADER_BYTES, Link, LinkConfig, LinkError, LinkTrace, ReceiverId,
    Sequence, datagram_kind, split_datagram,
};

use super::Carrier;
use super::answering::Answering;
use super::faults::Faults;
use super::key_stream::KeyStream;
use super::outside::Outside;
use crate::keys::Keys;
use crate::sender::{SendOptions, Sender, due};
use crate::session_error::SessionError;
use crate::session_report::{InputReport, SessionReport};
use crate::truth::Truth;
use crate::viewer::{NewView, Viewer};

/// The number of sent views that are kept for comparison with the received ones.
const KEPT_VIEWS: usize = 512;

/// One receiver with its links.
pub struct Peer {
    pub(super) id: ReceiverId,
    pub down: Link,
    pub(super) up: Link,
    /// Measures what passes through `down`. The value is `None` if that is not reported.
    meter: Option<LinkMeter>,
    /// The receiver's budget, for `meter`.
    budget: Budget,
    side: Side,
    /// The stream of the player's keys. The value is `None` until the first keys are sent.
    keys: Option<Box<KeyStream>>,
    /// Whether keys are sent in each tick, with the acknowledgements in front of them.
    plays: bool,
    /// The sent views, by sequence. The receiver's views must equal them.
    sent_views: VecDeque<(Sequence, Snapshot)>,
    pub wrong_lanes: u64,
    faults: Faults,
    /// The sum and the count over the ticks in which the round trip was known, for the mean.
    round_trips_ms: (f64, u32),
    baseline_ages: (f64, u32),
    /// The times at which datagrams were sent in the last second, with their bytes.
    recent: VecDeque<(Duration, usize)>,
    /// The tick at which the receiver was added.
    since_tick: u32,
    /// The datagrams sent in this tick.
    pub sent: Vec<SentDatagram>,
}

/// A datagram to a receiver.
#[derive(Clone, Debug)]
pub struct SentDatagram {
    /// The datagram's bytes, without the headers of IP and UDP.
    pub bytes: usize,
    /// Whether the link lost the datagram.
    pub lost: bool,
    /// The bits of the datagram by part. The value is `None` for a part of a full state, or if the
    /// hub does not count bits.
    pub cost: Option<Arc<Cost>>,
}

/// The receiving end of a link.
pub(super) enum Side {
    /// A receiver that decodes, compares and shows.
    Viewer(Box<Viewer>),
    /// A receiver that acknowledges like a viewer, but decodes nothing.
    Answering(Answering),
    /// A receiver outside of this program.
    Outside(Outside),
}

/// Statistics of the last second, for the display.
pub struct RecentStats {
    pub kbps_payload: f64,
    pub kbps_total: f64,
    pub round_trip_ms: f64,
    pub baseline_age: u16,
    pub loss_ratio: f64,
}

impl Peer {
    /// Adds a receiver that a link connects to the sender. See
    /// [`Session::add`](super::Session::add).
    pub(super) fn new(
        id: ReceiverId,
        sender: &mut Sender,
        options: &SendOptions,
        link: LinkConfig,
        link_seed: u64,
        side: Side,
    ) -> Result<Self, SessionError> {
        sender.add(id, options, due(sender.tick()))?;
        let [down, up] = both_ways(link, link_seed)?;
        Ok(Self {
            id,
            down,
            up,
            meter: None,
            budget: options.receiver_options().budget,
            side,
            keys: None,
            plays: false,
            sent_views: VecDeque::new(),
            wrong_lanes: 0,
            faults: Faults::default(),
            round_trips_ms: (0.0, 0),
            baseline_ages: (0.0, 0),
            recent: VecDeque::new(),
            since_tick: sender.tick(),
            sent: Vec::new(),
        })
    }

    /// Changes the link of both directions from this call on.
    pub fn set_link(&mut self, link: LinkConfig) -> Result<(), LinkError> {
        self.down.reconfigure(link)?;
        self.up.reconfigure(link)
    }

    /// Has the link to the receiver follow a trace from the beginning.
    pub fn follow(&mut self, trace: LinkTrace) {
        self.down.follow(Duration::ZERO, Some(trace));
    }

    /// Measures the use of the link to the receiver from the beginning, for
    /// [`link_use`](Self::link_use). `trace` is what the link follows.
    pub fn measure_link(&mut self, trace: Option<LinkTrace>) {
        self.meter = Some(LinkMeter::new(trace));
    }

    /// Returns the use of the link to the receiver until `end`, or `None` if it was not measured.
    pub fn link_use(&self, end: Duration) -> Option<LinkUse> {
        self.meter.as_ref().map(|meter| meter.finish(&self.down, end))
    }

    pub fn viewer_mut(&mut self) -> Option<&mut Viewer> {
        match &mut self.side {
            Side::Viewer(viewer) => Some(viewer),
            _ => None,
        }
    }

    /// Returns the program's end of the link to a receiver outside of this program, or `None` for
    /// other receivers.
    pub fn outside_mut(&mut self) -> Option<&mut Outside> {
        match &mut self.side {
            Side::Outside(outside) => Some(outside),
            _ => None,
        }
    }

    /// Returns a new receiving end of the same kind.
    pub(super) fn new_side(&self, options: &SendOptions) -> Result<Side, SessionError> {
        match &self.side {
            Side::Viewer(_) => Side::viewer(options),
            Side::Answering(_) => Side::answering(options),
            Side::Outside(_) => Ok(Side::Outside(Outside::default())),
        }
    }

    /// Sends a datagram of the hub over the link. If an acknowledgement of keys is due, it is put
    /// in front.
    pub(super) fn send(&mut self, now: Duration, datagram: &[u8], is_out: bool) {
        let front = self.keys.as_mut().and_then(|keys| keys.poll_acknowledgement());
        let datagram =
            front.map_or(Cow::Borrowed(datagram), |front| [&front[..], datagram].concat().into());
        self.recent.push_back((now, datagram.len()));
        let lost_before = lost_datagrams(&self.down);
        match &mut self.meter {
            Some(meter) => meter.send(&mut self.down, now, &datagram, is_out),
            None if is_out => {}
            None => self.down.send(now, &datagram),
        }
        let lost = is_out || lost_datagrams(&self.down) > lost_before;
        self.sent.push(SentDatagram { bytes: datagram.len(), lost, cost: None });
    }

    /// If the most recently sent datagram was a snapshot, records its view in the hub and its cost.
    pub(super) fn note_view(&mut self, sequence: Option<Sequence>, sender: &Sender) {
        let Some(sequence) = sequence.filter(|_| !matches!(self.side, Side::Answering(_))) else {
            return;
        };
        if let Some(sent) = self.sent.last_mut() {
            sent.cost = sender.hub.cost(self.id, sequence).cloned();
        }
        if let Side::Viewer(_) = self.side {
            self.keep_view(sequence, sender.hub.view(self.id, sequence));
        }
    }

    pub fn viewer(&self) -> Option<&Viewer> {
        match &self.side {
            Side::Viewer(viewer) => Some(viewer),
            _ => None,
        }
    }

    /// Changes one lane of this receiver's newest view by one.
    pub fn inject_fault(&mut self, now: Duration) {
        if let Side::Viewer(viewer) = &mut self.side {
            self.faults.inject(now, &mut viewer.receiver);
        }
    }

    fn keep_view(&mut self, sequence: Sequence, view: Option<Snapshot>) {
        if self.sent_views.len() == KEPT_VIEWS {
            self.sent_views.pop_front();
        }
        self.sent_views.extend(view.map(|view| (sequence, view)));
    }

    pub(super) fn deliver(
        &mut self,
        now: Duration,
        is_out: bool,
        sender: &mut Sender,
        carrier: &mut impl Carrier,
    ) -> Result<(), SessionError> {
        while let Some(datagram) = self.down.poll(now) {
            self.meter.iter_mut().for_each(|meter| meter.arrived(now, &datagram));
            let Some(datagram) = carrier.down(&datagram)? else { continue };
            split_datagram(datagram)
                .into_iter()
                .flatten()
                .for_each(|datagram| self.take(now, datagram));
        }
        match &mut self.side {
            Side::Viewer(_) if self.plays => {}
            Side::Viewer(viewer) => {
                while let Some(datagram) = viewer.receiver.poll_transmit(now) {
                    if !is_out {
                        self.up.send(now, datagram);
                    }
                }
            }
            Side::Answering(_) if is_out => {}
            Side::Answering(answering) => answering.answer(now, &mut self.up),
            Side::Outside(outside) => {
                for datagram in outside.take_answers() {
                    if !is_out {
                        self.up.send(now, &datagram);
                    }
                }
            }
        }
        while let Some(datagram) = self.up.poll(now) {
            let Some(datagram) = carrier.up(&datagram)? else { continue };
            for datagram in split_datagram(datagram).into_iter().flatten() {
                match (datagram_kind(datagram), &mut self.keys) {
                    (Some(DatagramKind::StreamPacket), Some(keys)) => keys.take(now, datagram),
                    _ => drop(sender.hub.handle(self.id, now, datagram)),
                }
            }
        }
        Ok(())
    }

    /// Takes a datagram from the sender.
    fn take(&mut self, now: Duration, datagram: &[u8]) {
        match (&mut self.side, &mut self.keys) {
            (_, Some(keys))
                if datagram_kind(datagram) == Some(DatagramKind::StreamAcknowledgement) =>
            {
                keys.acknowledge(datagram);
            }
            (Side::Answering(answering), _) => answering.take(datagram),
            (Side::Outside(outside), _) => outside.take(now, datagram),
            // Refusals are not errors here, because the receiver counts duplicates and late
            // datagrams.
            (Side::Viewer(viewer), _) => {
                let before = viewer.receiver.stats();
                let taken = viewer.handle(now, datagram);
                let stats = viewer.receiver.stats();
                let brought_state =
                    matches!(taken, Ok(Some(_))) || stats.full_states > before.full_states;
                self.faults.note(now, stats.mismatches - before.mismatches, brought_state);
                if let Ok(Some(NewView { sequence, .. })) = taken {
                    let expected = self.sent_views.iter().rev().find(|(sent, _)| *sent == sequence);
                    if let (Some((_, expected)), Some(view)) =
                        (expected, viewer.receiver.view(sequence))
                    {
                        let wrong_lanes = wrong_lanes(expected, view);
                        if self.faults.is_faulty() {
                            self.faults.add_wrong_lanes(wrong_lanes);
                        } else {
                            self.wrong_lanes += wrong_lanes;
                        }
                    }
                }
            }
        }
    }

    /// Sends the keys of a tick, if there are any. The viewer's acknowledgement waits for the keys
    /// and is sent in the same datagram. If `by_person` is true, the world uses the received keys.
    pub(super) fn press(
        &mut self,
        now: Duration,
        keys: Option<Keys>,
        by_person: bool,
        is_out: bool,
    ) {
        let (Side::Viewer(viewer), Some(pressed)) = (&mut self.side, keys) else {
            self.plays = false;
            return self.keys.iter_mut().for_each(|keys| keys.pause());
        };
        self.plays = true;
        let mut datagram = Vec::new();
        if let Some(acknowledgement) = viewer.receiver.poll_acknowledgement() {
            acknowledgement.write(&mut datagram);
        }
        self.keys.get_or_insert_default().push(pressed, by_person, &mut datagram);
        let mut send = |datagram: &[u8]| {
            if !is_out {
                self.up.send(now, datagram);
            }
        };
        send(&datagram);
        // A hello has its own datagram.
        while let Some(hello) = viewer.receiver.poll_transmit(now) {
            send(hello);
        }
    }

    /// Returns the person's keys that have reached the world.
    pub(super) fn held(&self) -> Option<Input> {
        self.keys.as_ref().and_then(|keys| keys.held())
    }

    /// Returns the number of packets with keys that were sent, and their bytes.
    pub fn keys_sent(&self) -> (u64, u64) {
        self.keys.as_ref().map_or((0, 0), |keys| keys.sent())
    }

    /// Returns the report on the keys, or `None` if no keys were sent.
    pub fn input_report(&self) -> Option<InputReport> {
        self.keys.as_ref().map(|keys| keys.report())
    }

    /// Computes a frame and updates the statistics.
    pub(super) fn look(
        &mut self,
        now: Duration,
        sender: &Sender,
        truth: &Truth,
    ) -> Result<(), SessionError> {
        if let Some(meter) = &mut self.meter {
            meter.tick(&self.down, now, budget_now(&sender.hub, self.id, self.budget));
        }
        let Side::Viewer(viewer) = &mut self.side else { return Ok(()) };
        if let Some(refused) = viewer.receiver.too_large() {
            return Err(SessionError::TooLarge(refused));
        }
        viewer.show(now, Some(truth))?;
        viewer.note_age(sender.tick(), truth);
        while self
            .recent
            .front()
            .is_some_and(|(at, _)| now.saturating_sub(*at) > Duration::from_secs(1))
        {
            self.recent.pop_front();
        }
        let status = sender.hub.status(self.id).unwrap_or_default();
        let note =
            |(sum, count): &mut (f64, u32), value: f64| (*sum, *count) = (*sum + value, *count + 1);
        if let Some(round_trip) = status.round_trip {
            note(&mut self.round_trips_ms, round_trip.as_secs_f64() * 1e3);
        }
        if let Some(age) = status.baseline_age {
            note(&mut self.baseline_ages, f64::from(age));
        }
        Ok(())
    }

    /// Returns the round trip in milliseconds, or 0 while it is unknown.
    pub fn round_trip_ms(&self, sender: &Sender) -> f64 {
        let round_trip = sender.hub.status(self.id).and_then(|status| status.round_trip);
        round_trip.map_or(0.0, |time| time.as_secs_f64() * 1e3)
    }

    /// Statistics of the last second.
    pub fn recent_stats(&self, now: Duration, sender: &Sender) -> RecentStats {
        let span_s = now.as_secs_f64().clamp(1e-3, 1.0);
        let kbps = |header: u32| {
            let bytes: usize = self.recent.iter().map(|(_, bytes)| bytes + header as usize).sum();
            bytes as f64 * 8.0 / 1000.0 / span_s
        };
        let status = sender.hub.status(self.id).unwrap_or_default();
        RecentStats {
            kbps_payload: kbps(0),
            kbps_total: kbps(HEADER_BYTES),
            round_trip_ms: self.round_trip_ms(sender),
            baseline_age: status.baseline_age.unwrap_or(0),
            loss_ratio: loss_ratio(&self.down),
        }
    }

    /// Returns the report of this receiver for the time up to a tick.
    pub fn report(&self, ticks: u32) -> SessionReport {
        let seconds = due(ticks - self.since_tick).as_secs_f64().max(1e-3);
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
            input: self.input_report(),
            faults: self.faults.report(mean(self.round_trips_ms)),
            ..SessionReport::default()
        };
        if let Some(viewer) = self.viewer() {
            report.frames_received = viewer.snapshots;
            report.frames_with_left_out = viewer.left_out;
            report.blocks = viewer.receiver.stats().full_states;
            report.state_checks = viewer.receiver.stats().checked;
            report.failed_checks = viewer.receiver.stats().mismatches;
            report.states_shown = viewer.states_shown;
            report.events = viewer.receiver.stats().events;
            report.late_events = viewer.receiver.stats().late_events;
            report.playout_delay_ms = viewer.mean_delay_ms();
            report.starved_ratio = viewer.receiver.playout_stats().starved_ratio;
            report.shown_error_mm = viewer.error.position_mm.summary();
            report.shown_error_deg = viewer.error.rotation_deg.summary();
        }
        report
    }
}

impl Side {
    pub(super) fn viewer(options: &SendOptions) -> Result<Self, SessionError> {
        Ok(Self::Viewer(Box::new(Viewer::new(&options.stream)?)))
    }

    pub(super) fn answering(options: &SendOptions) -> Result<Self, SessionError> {
        Ok(Self::Answering(Answering::new(&options.stream)?))
    }
}

/// Returns the share of the datagrams that a link lost.
fn loss_ratio(link: &Link) -> f64 {
    lost_datagrams(link) as f64 / link.stats().sent.count.max(1) as f64
}

/// Returns the number of datagrams that a link lost, for any reason.
fn lost_datagrams(link: &Link) -> u64 {
    let stats = link.stats();
    stats.lost.count + stats.queue_dropped.count + stats.too_large.count
}
