//! `kinepack demo`: the built-in world over a real socket through a bad link, and what arrives on the other side.

mod display;
mod loopback;

use std::collections::VecDeque;
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use clap::Args;
use display::Display;
use kinepack::Snapshot;
use kinepack_net::{HEADER_BYTES, HubConfig, Link, ReceiverId, Sequence};
use loopback::Loopback;

use crate::failure::Failure;
use crate::link_options::LinkOptions;
use crate::report::print;
use crate::sender::{SendOptions, Sender, due};
use crate::session_report::SessionReport;
use crate::viewer::{Viewer, wrong_lanes};
use crate::world::WorldArguments;

const VIEWER: ReceiverId = ReceiverId(1);
/// Views that are kept to compare with what arrives.
const KEPT_VIEWS: usize = 512;
/// Ticks between two refreshes of the display.
const REFRESH_TICKS: u32 = 3;

/// Send a physics world over a real socket through a bad link, and show what arrives on the other side.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten, next_help_heading = "Built-in world")]
    world: WorldArguments,
    #[command(flatten, next_help_heading = "Sending")]
    send: SendOptions,
    #[command(flatten, next_help_heading = "Link")]
    link: LinkOptions,
    /// Do not wait for the world's clock.
    #[arg(long)]
    fast: bool,
    /// Print the summary as one JSON document.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut demo = Demo::new(arguments)?;
    let paced = io::stderr().is_terminal() && !arguments.fast;
    let display = Display::new(arguments.world.frames());
    let begin = Instant::now();
    for tick in 1..=arguments.world.frames() {
        // What is due before the tick arrives at its own time.
        while let Some(arrival) = demo.next_arrival().filter(|at| *at <= due(tick)) {
            wait(begin, arrival, paced);
            demo.deliver(arrival)?;
        }
        wait(begin, due(tick), paced);
        demo.tick(due(tick))?;
        if tick % REFRESH_TICKS == 0 {
            display.show(tick, &demo.sender, &demo.viewer, &demo.live(due(tick)));
        }
    }
    display.finish();
    let report = demo.report(arguments);
    print(|out| if arguments.json { report.write_json(out) } else { report.write_table(out) })?;
    if report.wrong_lanes > 0 { Err(Failure::Drifted { wrong_lanes: report.wrong_lanes }) } else { Ok(()) }
}

fn wait(begin: Instant, until: Duration, paced: bool) {
    if paced {
        std::thread::sleep(until.saturating_sub(begin.elapsed()));
    }
}

/// What the display says while the world runs: of the last second.
pub(crate) struct Live {
    pub(crate) kbps_payload: f64,
    pub(crate) kbps_total: f64,
    pub(crate) round_trip_ms: f64,
    pub(crate) baseline_age: u16,
    pub(crate) loss_ratio: f64,
}

struct Demo {
    sender: Sender,
    viewer: Viewer,
    down: Link,
    up: Link,
    loopback: Loopback,
    /// The views that were sent, by sequence: what must arrive.
    sent_views: VecDeque<(Sequence, Snapshot)>,
    /// When datagrams were sent in the last second, and their bytes.
    recent: VecDeque<(Duration, usize)>,
    wrong_lanes: u64,
    /// Sums over the ticks in which they were known, for means.
    round_trips_ms: (f64, u32),
    baseline_ages: (f64, u32),
}

impl Demo {
    fn new(arguments: &Arguments) -> Result<Self, Failure> {
        let link = arguments.link.config()?;
        let mut sender = Sender::new(&arguments.world, &arguments.send, HubConfig::default())?;
        sender.add(VIEWER, &arguments.send, Duration::ZERO)?;
        Ok(Self {
            sender,
            viewer: Viewer::new(arguments.send.stream())?,
            down: Link::new(link, arguments.link.link_seed * 2)?,
            up: Link::new(link, arguments.link.link_seed * 2 + 1)?,
            loopback: Loopback::new()?,
            sent_views: VecDeque::new(),
            recent: VecDeque::new(),
            wrong_lanes: 0,
            round_trips_ms: (0.0, 0),
            baseline_ages: (0.0, 0),
        })
    }

    fn next_arrival(&self) -> Option<Duration> {
        [self.down.next_due(), self.up.next_due()].into_iter().flatten().min()
    }

    /// Brings what is due from the links through the sockets to its receiver.
    fn deliver(&mut self, now: Duration) -> Result<(), Failure> {
        while let Some(datagram) = self.down.poll(now) {
            let Some(datagram) = self.loopback.to_viewer(&datagram)? else { continue };
            // What is refused is counted by the receiver: duplicates, and what came too late.
            if let Ok(Some(sequence)) = self.viewer.handle(now, datagram) {
                let expected = self.sent_views.iter().find(|(sent, _)| *sent == sequence);
                if let (Some((_, expected)), Some(view)) = (expected, self.viewer.receiver.view(sequence)) {
                    self.wrong_lanes += wrong_lanes(expected, view);
                }
            }
        }
        while let Some(datagram) = self.viewer.receiver.poll_transmit(now) {
            self.up.send(now, datagram);
        }
        while let Some(datagram) = self.up.poll(now) {
            if let Some(datagram) = self.loopback.to_sender(&datagram)? {
                let _ = self.sender.hub.handle(VIEWER, now, datagram);
            }
        }
        Ok(())
    }

    fn tick(&mut self, now: Duration) -> Result<(), Failure> {
        self.deliver(now)?;
        self.sender.step(now)?;
        while let Some((_, datagram)) = self.sender.hub.poll_transmit() {
            self.recent.push_back((now, datagram.len()));
            self.down.send(now, datagram);
            let sequence = Sequence(u16::from_le_bytes([datagram[1], datagram[2]]));
            if let Some(view) = self.sender.hub.view(VIEWER, sequence) {
                if self.sent_views.len() == KEPT_VIEWS {
                    self.sent_views.pop_front();
                }
                self.sent_views.push_back((sequence, view));
            }
        }
        while self.recent.front().is_some_and(|(at, _)| now.saturating_sub(*at) > Duration::from_secs(1)) {
            self.recent.pop_front();
        }
        let status = self.sender.hub.status(VIEWER).unwrap_or_default();
        if let Some(round_trip) = status.round_trip {
            self.round_trips_ms = (self.round_trips_ms.0 + round_trip.as_secs_f64() * 1e3, self.round_trips_ms.1 + 1);
        }
        if let Some(age) = status.baseline_age {
            self.baseline_ages = (self.baseline_ages.0 + f64::from(age), self.baseline_ages.1 + 1);
        }
        self.viewer.show(now, Some(&self.sender.truth))?;
        Ok(())
    }

    fn live(&self, now: Duration) -> Live {
        let span_s = now.as_secs_f64().clamp(1e-3, 1.0);
        let kbps = |header: usize| {
            self.recent.iter().map(|(_, bytes)| bytes + header).sum::<usize>() as f64 * 8.0 / 1000.0 / span_s
        };
        let status = self.sender.hub.status(VIEWER).unwrap_or_default();
        Live {
            kbps_payload: kbps(0),
            kbps_total: kbps(HEADER_BYTES as usize),
            round_trip_ms: status.round_trip.map_or(0.0, |time| time.as_secs_f64() * 1e3),
            baseline_age: status.baseline_age.unwrap_or(0),
            loss_ratio: loss_ratio(&self.down),
        }
    }

    fn report(&self, arguments: &Arguments) -> SessionReport {
        let seconds = due(self.sender.tick()).as_secs_f64();
        let kbps = |link: &Link, header: u64| {
            let sent = link.stats().sent;
            (sent.bytes + sent.count * header) as f64 * 8.0 / 1000.0 / seconds
        };
        let mean = |(sum, count): (f64, u32)| sum / f64::from(count.max(1));
        SessionReport {
            world: arguments.world.name(),
            link: arguments.link.name(),
            sending: arguments.send.name(),
            seconds,
            frames_sent: self.down.stats().sent.count,
            frames_received: self.viewer.snapshots,
            frames_with_left_out: self.viewer.left_out,
            states_shown: self.viewer.states_shown,
            wrong_lanes: self.wrong_lanes,
            loss_ratio: loss_ratio(&self.down),
            kbps_payload: kbps(&self.down, 0),
            kbps_total: kbps(&self.down, u64::from(HEADER_BYTES)),
            kbps_upstream: kbps(&self.up, u64::from(HEADER_BYTES)),
            round_trip_ms: mean(self.round_trips_ms),
            baseline_age: mean(self.baseline_ages),
            playout_delay_ms: self.viewer.mean_delay_ms(),
            starved_ratio: self.viewer.receiver.playout_stats().starved_ratio,
            shown_error_mm: self.viewer.error.position_mm.summary(),
            shown_error_deg: self.viewer.error.rotation_deg.summary(),
        }
    }
}

/// Share of the datagrams that a link did not carry.
fn loss_ratio(link: &Link) -> f64 {
    let stats = link.stats();
    (stats.lost.count + stats.queue_dropped.count + stats.too_large.count) as f64 / stats.sent.count.max(1) as f64
}
