//! Runs one replay: a hub, a link and a receiver, in virtual time.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use command_kit::{
    Distribution, LinkMeter, LinkOptionsError, LinkUse, Summary, both_ways, budget_now, wrong_lanes,
};
use cube_data::cube;
use kinepack::schema::{Field, FieldKind};
use kinepack::{Codec, Schema, Snapshot, Tick};
use kinepack_capture::analysis::any_element;
use kinepack_capture::kinds::field_names;
use kinepack_net::{
    Budget, HEADER_BYTES, Hub, HubConfig, Link, LinkConfig, LinkTrace, Received, Receiver,
    ReceiverConfig, ReceiverId, ReceiverOptions, Sequence, datagram_sequence,
};
use serde::Serialize;

use super::ReplayError;
use super::ticks::SentTicks;
use super::truth::Truth;
use crate::distance::distance;

/// The number of sent views that are kept for comparison with the received ones.
const KEPT_VIEWS: usize = 512;
/// The longest time between two pictures. If frames are further apart, several pictures are drawn
/// between them.
const PICTURES_EVERY: Duration = Duration::from_millis(50);
/// The maximum number of pictures between two frames.
const MOST_PICTURES: u32 = 1_200;
/// The largest number of states that a receiver keeps. They cover one second at a thousand frames
/// per second.
const MOST_STATES: usize = 1_024;
const RECEIVER: ReceiverId = ReceiverId(0);

/// The result of a replay.
#[derive(Clone, Debug, Serialize)]
pub(super) struct RunReport {
    pub(super) level: String,
    pub(super) profile: String,
    pub(super) link: String,
    pub(super) loss_percent: f64,
    pub(super) round_trip_ms: f64,
    /// The bandwidth from the sender to the receiver, without the headers of IP and UDP.
    pub(super) kbps_payload: f64,
    /// The bandwidth from the sender to the receiver, including the headers of IP and UDP.
    pub(super) kbps_total: f64,
    /// The number of snapshots that arrived.
    pub(super) received: u64,
    pub(super) wrong_lanes: u64,
    /// The mean time by which the shown state lags the fastest recent state.
    pub(super) playout_delay_ms: f64,
    /// The share of the time in which the next state was missing.
    pub(super) stalled_ratio: f64,
    /// The number of stalls.
    pub(super) stalls: u64,
    pub(super) longest_stall_ms: f64,
    /// The longest delay that playback may have. Frames that are further apart stall it.
    pub(super) max_delay_ms: f64,
    /// The time from the end of an outage until playback resumed.
    pub(super) recovery_ms: Option<f64>,
    /// The errors of each field that has distances, while the field changes. They are in the
    /// field's unit, or in degrees for rotations.
    pub(super) errors: Vec<FieldError>,
    /// The use of the link to the receiver. The value is `None` if no option limits the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) link_use: Option<LinkUse>,
}

impl RunReport {
    /// Omits what happened over time.
    pub(super) fn omit_series(&mut self) {
        self.link_use.iter_mut().for_each(|link_use| link_use.series.clear());
    }
}

/// The distances of a shown field from the recorded value at the same moment.
#[derive(Clone, Debug, Serialize)]
pub(super) struct FieldError {
    pub(super) field: String,
    /// The unit of the error. The value is `None` if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unit: Option<&'static str>,
    #[serde(flatten)]
    pub(super) error: Summary,
}

/// The schemas of a replay. They differ only in the steps of some fields.
pub(super) struct Schemas {
    /// The schema of the stream, as captured.
    pub(super) stream: Schema,
    /// For each kind of entities, its schema as captured and its schema as sent.
    pub(super) kinds: Vec<[Schema; 2]>,
}

impl Schemas {
    /// Returns the largest number of lanes of a kind, either as captured or as sent.
    fn most_lanes(&self, which: usize) -> usize {
        self.kinds.iter().map(|kind| kind[which].lanes().len()).max().unwrap_or(0)
    }
}

/// A running replay.
pub(super) struct Run {
    schemas: Arc<Schemas>,
    /// The rate at which ticks are sent.
    rate_hz: f64,
    /// The time at which the last picture was drawn.
    shown_at: Duration,
    hub: Hub,
    receiver: Receiver,
    down: Link,
    up: Link,
    /// What passes through `down`.
    meter: LinkMeter,
    is_link_reported: bool,
    budget: Budget,
    outage: Range<Duration>,
    /// The most recent views that were sent.
    sent: VecDeque<(Sequence, Snapshot)>,
    report: RunReport,
    /// The errors by field name. Elements of an array share their errors.
    errors: Vec<(String, Distribution)>,
    /// For each field, the index of its errors.
    error_of_field: Vec<usize>,
    shown: u64,
    delay_ms: f64,
    stall: Duration,
    longest_stall: Duration,
    raw: Vec<u64>,
    lanes: [Vec<u32>; 2],
    /// Whether the stream has fields that may be absent.
    has_optional: bool,
    /// The lanes of the recorded states before and after the shown state. They are only used if the
    /// stream has fields that may be absent.
    truth: [Vec<u32>; 2],
}

/// The inputs that all runs share.
pub(super) struct Setup {
    pub(super) schemas: Arc<Schemas>,
    pub(super) ticks: SentTicks,
    pub(super) link_seed: u64,
    pub(super) outage: Range<Duration>,
    /// What the link to the receiver carries over time. If the value is `None`, it has a constant
    /// bandwidth.
    pub(super) trace: Option<LinkTrace>,
    pub(super) receiver: ReceiverOptions,
    /// Whether the report has the use of the link.
    pub(super) is_link_reported: bool,
}

impl Run {
    pub(super) fn new(
        setup: &Setup,
        (codec, profile): (&Codec, &str),
        (link, link_name): (LinkConfig, &str),
    ) -> Result<Self, ReplayError> {
        let Setup { schemas, trace, receiver, .. } = setup;
        let mut hub = Hub::new(codec, HubConfig::default())?;
        hub.add(RECEIVER, receiver, Duration::ZERO)?;
        let lanes = schemas.most_lanes(1);
        let mut errors: Vec<(String, Distribution)> = Vec::new();
        let mut error_of = |name: &str| {
            let name = any_element(name);
            let known = errors.iter().position(|(known, _)| *known == name);
            known.unwrap_or_else(|| {
                errors.push((name, Distribution::default()));
                errors.len() - 1
            })
        };
        let names = field_names(&schemas.stream);
        let error_of_field = names.iter().map(|name| error_of(name)).collect();
        let SentTicks { rate_hz, tick_hz, .. } = setup.ticks;
        let mut config = ReceiverConfig::at_hz(tick_hz);
        config.playout.max_states =
            (tick_hz as usize).clamp(config.playout.max_states, MOST_STATES);
        let max_delay = config.playout.max_delay;
        let [mut down, up] = both_ways(link, setup.link_seed).map_err(LinkOptionsError::from)?;
        down.follow(Duration::ZERO, trace.clone());
        Ok(Self {
            hub,
            receiver: Receiver::new(codec, config)?,
            down,
            up,
            meter: LinkMeter::new(trace.clone()),
            is_link_reported: setup.is_link_reported,
            budget: receiver.budget,
            outage: setup.outage.clone(),
            sent: VecDeque::new(),
            report: RunReport {
                level: codec.level().name().to_owned(),
                profile: profile.to_owned(),
                link: link_name.to_owned(),
                loss_percent: f64::from(link.loss.mean_ratio()) * 100.0,
                round_trip_ms: link.latency.as_secs_f64() * 2e3,
                kbps_payload: 0.0,
                kbps_total: 0.0,
                received: 0,
                wrong_lanes: 0,
                playout_delay_ms: 0.0,
                stalled_ratio: 0.0,
                stalls: 0,
                longest_stall_ms: 0.0,
                max_delay_ms: max_delay.as_secs_f64() * 1e3,
                recovery_ms: None,
                errors: Vec::new(),
                link_use: None,
            },
            errors,
            error_of_field,
            shown: 0,
            delay_ms: 0.0,
            stall: Duration::ZERO,
            longest_stall: Duration::ZERO,
            raw: vec![0; lanes],
            lanes: [vec![0; lanes], vec![0; lanes]],
            has_optional: schemas.stream.fields().iter().any(|field| field.condition.is_some()),
            truth: [(); 2].map(|()| vec![0; schemas.most_lanes(0)]),
            schemas: Arc::clone(schemas),
            rate_hz,
            shown_at: Duration::ZERO,
        })
    }

    /// Returns the time of a tick.
    fn due(&self, tick: u32) -> Duration {
        Duration::from_secs_f64(f64::from(tick) / self.rate_hz)
    }

    /// Plays the next frame. Datagrams arrive at their own times, then the frame is sent, and a
    /// picture is drawn. If ticks are missing before the frame, pictures are also drawn in that
    /// gap.
    pub(super) fn frame(&mut self, snapshot: &Snapshot, truth: &Truth) -> Result<(), ReplayError> {
        let (last, now) = (self.shown_at, self.due(snapshot.tick.0));
        let apart = (now - last).as_secs_f64() / PICTURES_EVERY.as_secs_f64();
        // The casts saturate, so a large gap gives the maximum.
        let pictures = (apart.ceil() as u32).clamp(1, MOST_PICTURES);
        for picture in 1..pictures {
            let between = last + (now - last).mul_f64(f64::from(picture) / f64::from(pictures));
            self.deliver_until(between);
            self.show(between, truth)?;
        }
        self.deliver_until(now);
        self.send(now, snapshot)?;
        self.show(now, truth)
    }

    fn deliver_until(&mut self, now: Duration) {
        while let Some(at) = [self.down.next_due(), self.up.next_due()]
            .into_iter()
            .flatten()
            .min()
            .filter(|at| *at < now)
        {
            self.deliver(at);
        }
        self.deliver(now);
    }

    fn send(&mut self, now: Duration, snapshot: &Snapshot) -> Result<(), ReplayError> {
        self.hub.tick(now, snapshot)?;
        self.meter.tick(&self.down, now, budget_now(&self.hub, RECEIVER, self.budget));
        let is_out = self.outage.contains(&now);
        while let Some((_, datagram)) = self.hub.poll_transmit() {
            self.meter.send(&mut self.down, now, datagram, is_out);
            let sequence = datagram_sequence(datagram);
            let view =
                sequence.and_then(|sequence| Some((sequence, self.hub.view(RECEIVER, sequence)?)));
            if self.sent.len() == KEPT_VIEWS {
                self.sent.pop_front();
            }
            self.sent.extend(view);
        }
        Ok(())
    }

    fn deliver(&mut self, now: Duration) {
        let is_out = self.outage.contains(&now);
        while let Some(datagram) = self.down.poll(now) {
            self.meter.arrived(now, &datagram);
            // The receiver counts the datagrams that it refuses.
            let Ok(Received::Snapshot { .. }) = self.receiver.handle(now, &datagram) else {
                continue;
            };
            self.report.received += 1;
            let Some(sequence) = datagram_sequence(&datagram) else { continue };
            let expected = self.sent.iter().rev().find(|(sent, _)| *sent == sequence);
            if let (Some((_, expected)), Some(view)) = (expected, self.receiver.view(sequence)) {
                self.report.wrong_lanes += wrong_lanes(expected, view);
            }
        }
        while let Some(datagram) = self.receiver.poll_transmit(now) {
            if !is_out {
                self.up.send(now, datagram);
            }
        }
        while let Some(datagram) = self.up.poll(now) {
            // The hub counts the datagrams that it refuses.
            let _ = self.hub.handle(RECEIVER, now, &datagram);
        }
    }

    fn show(&mut self, now: Duration, truth: &Truth) -> Result<(), ReplayError> {
        let since_last = now - std::mem::replace(&mut self.shown_at, now);
        let delay = self.receiver.playout_stats().delay;
        let Some(playback) = self.receiver.playback(now) else { return Ok(()) };
        self.shown += 1;
        self.delay_ms += delay.as_secs_f64() * 1e3;
        if playback.is_starved() {
            self.report.stalls += u64::from(self.stall.is_zero());
            self.stall += since_last;
            self.longest_stall = self.longest_stall.max(self.stall);
        } else {
            self.stall = Duration::ZERO;
            let has_recovered = self.outage.start < self.outage.end && now >= self.outage.end;
            if has_recovered && self.report.recovery_ms.is_none() {
                self.report.recovery_ms = Some((now - self.outage.end).as_secs_f64() * 1e3);
            }
        }
        let frame = playback.tick;
        for sample in playback.samples() {
            let (shown, at) = sample.from;
            let Some(kind) = shown.kind_at(at) else { continue };
            let row = at - shown.of_kind(kind).start;
            let around = truth.around(frame, (kind, sample.id), row);
            let Some(([before, after], ratio)) = around else { continue };
            if before == after {
                continue;
            }
            let [stream, sent] = &self.schemas.kinds[kind];
            let (own, lanes) = (stream.lanes().len(), sent.lanes().len());
            for (values, (snapshot, at)) in self.lanes.iter_mut().zip([sample.from, sample.to]) {
                values.iter_mut().zip(snapshot.lanes_at(at)).for_each(|(v, lane)| *v = lane);
            }
            let [from, to] = [&self.lanes[0][..lanes], &self.lanes[1][..lanes]];
            let is_truth_known = self.has_optional
                && [before, after]
                    .into_iter()
                    .zip(&mut self.truth)
                    .all(|(raw, lanes)| stream.quantize_raw(raw, &mut lanes[..own]).is_ok());
            let raw = &mut self.raw[..lanes];
            let interpolated = sent.interpolate_raw(from, to, sample.between, raw);
            interpolated.map_err(|error| ReplayError::Interpolation {
                entity: sample.id.0,
                reason: error.to_string(),
            })?;
            let of_kind = self.schemas.stream.kinds()[kind].fields();
            let fields = stream.fields().iter().zip(sent.fields());
            for ((field, sent), errors) in fields.zip(&self.error_of_field[of_kind]) {
                let lanes = field.lanes();
                if before[lanes.clone()] == after[lanes.clone()] {
                    continue;
                }
                // If a field is absent, there is nothing to compare.
                let is_shown = || [from, to].iter().all(|lanes| sent.is_present(lanes));
                let is_true = || self.truth.iter().all(|lanes| field.is_present(lanes));
                if field.condition.is_some() && !(is_truth_known && is_shown() && is_true()) {
                    continue;
                }
                let around = [&before[lanes.clone()], &after[lanes.clone()]];
                if let Some(off) = distance(&field.kind, &raw[sent.lanes()], around, ratio) {
                    self.errors[*errors].1.add(off);
                }
            }
        }
        Ok(())
    }

    /// Returns the report of a run whose last frame has the tick `last`.
    pub(super) fn finish(self, last: Tick) -> RunReport {
        let end = self.due(last.0);
        let seconds = end.as_secs_f64().max(1e-9);
        let sent = self.down.stats().sent;
        let kbps = |header: u32| {
            (sent.bytes + sent.count * u64::from(header)) as f64 * 8.0 / 1000.0 / seconds
        };
        let of_field = |(field, errors): (String, Distribution)| {
            (errors.percentile(1.0) > 0.0).then(|| FieldError {
                unit: unit(&self.schemas.stream, &field),
                field,
                error: errors.summary(),
            })
        };
        RunReport {
            kbps_payload: kbps(0),
            kbps_total: kbps(HEADER_BYTES),
            playout_delay_ms: self.delay_ms / self.shown.max(1) as f64,
            // If nothing arrives, playback never begins, so it counts no time.
            stalled_ratio: match self.report.received {
                0 => 1.0,
                _ => self.receiver.playout_stats().starved_ratio,
            },
            longest_stall_ms: self.longest_stall.as_secs_f64() * 1e3,
            errors: self.errors.into_iter().filter_map(of_field).collect(),
            link_use: self.is_link_reported.then(|| self.meter.finish(&self.down, end)),
            ..self.report
        }
    }
}

/// Returns the unit of a field's errors. Rotations are compared in degrees, and cubes are in
/// metres.
fn unit(schema: &Schema, field: &str) -> Option<&'static str> {
    let named = |(_, name): &(&Field, String)| any_element(name) == field;
    let (own, _) = schema.fields().iter().zip(field_names(schema)).find(named)?;
    let is_cube = cube::profile().schema_hash == schema.hash();
    match own.kind {
        FieldKind::Rotation(_) => Some("°"),
        FieldKind::Floats(_) if is_cube && own.name == "position" => Some("m"),
        _ => None,
    }
}
