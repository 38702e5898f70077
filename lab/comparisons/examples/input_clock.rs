//! Measures the clock of inputs: how many inputs reach the server before their ticks over bad
//! links, how long they wait there, and how soon the clock follows when the delay jumps.
//!
//! ```text
//! cargo run --release -p comparisons --example input_clock -- [--seeds 5] [--repeats 3]
//! ```
//!
//! A client draws frames at irregular times around 60 Hz. In each frame, it sends the inputs of the
//! ticks that its clock returns. The server simulates 60 ticks per second, a little late each time.
//! It reads its socket at once, or only before each tick. Acknowledgements travel in front of
//! snapshots.
//!
//! - `in time`: the ticks whose input was there. Inputs that were lost with all repeats count as
//!   missed; `lost` is their share.
//! - `wait`: how long inputs wait at the server for their ticks, mean. Beside it, the jitter: the
//!   99th percentile of the time from sending an input to its arrival, less the mean. `least` is
//!   the wait that a constant lead needs for the same share of inputs in time, if frames are
//!   regular.
//! - `at the start`: missed inputs of the first two seconds, from the first one sent.
//! - `after the jump`: after half the time, the latency to the server grows by 150 ms. The time
//!   until a second begins in which at most one input is late.
//! - `fixed`: the same client with the lead with which the clock starts: half the round trip and
//!   two ticks.
//!
//! Time is virtual, except that of the last line.

#[allow(dead_code, reason = "the examples of `kinepack-capture` use the rest")]
#[path = "../../../crates/kinepack-capture/examples/common/mod.rs"]
mod common;

use std::collections::HashMap;
use std::error::Error;
use std::time::{Duration, Instant};

use clap::Parser;
use command_kit::Distribution;
use command_kit::table::table;
use kinepack::stream::{StreamCodec, StreamLevel};
use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_net::{
    DatagramKind, Hub, HubConfig, InputClock, InputClockConfig, InputClockStats, Link, LinkConfig,
    Receiver, ReceiverConfig, ReceiverId, ReceiverOptions, Sequence, StreamAcknowledgement,
    StreamConfig, StreamReceiver, StreamSender, StreamTiming, datagram_kind, split_datagram,
};

use common::Random;

type Outcome<T> = Result<T, Box<dyn Error>>;

const HZ: u32 = 60;
const STEP: Duration = Duration::from_micros(500);
const CLIENT: ReceiverId = ReceiverId(1);
/// The first tick of the server, which did not start with the client.
const FIRST_TICK: u32 = 70_000;
/// Inputs before this time are not counted, except in `start`.
const START_S: f64 = 2.0;
const JUMP: Duration = Duration::from_millis(150);

#[derive(Parser)]
struct Arguments {
    /// Only the links with this in their names.
    #[arg(long, default_value = "")]
    link: String,
    /// The length of each session.
    #[arg(long, default_value_t = 120)]
    seconds: u32,
    /// How many sessions each row is the sum of.
    #[arg(long, default_value_t = 3)]
    seeds: u64,
    /// The seed of the first session.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many earlier inputs each packet repeats.
    #[arg(long, default_value_t = 3)]
    repeats: u8,
    /// The number of snapshots per second.
    #[arg(long, default_value_t = 60)]
    snapshots: u32,
    /// The share of inputs that should be in time. The default of the clock if not given.
    #[arg(long)]
    in_time: Option<f32>,
    /// The margin in milliseconds. The default of the clock if not given.
    #[arg(long)]
    margin_ms: Option<f32>,
    /// How long the clock remembers late inputs, in seconds. The default of the clock if not given.
    #[arg(long)]
    window: Option<f32>,
    /// How much faster or slower the client's clock runs than the server's, in parts per million.
    #[arg(long, default_value_t = 100.0)]
    drift_ppm: f64,
}

#[derive(Pack, Clone, Copy, Default)]
struct Input {
    #[pack(range = 0.0..360.0, bits = 12, wrap)]
    yaw: f32,
    forward: bool,
    jump: bool,
}

#[derive(Pack)]
struct Thing {
    #[pack(range = -100.0..100.0, precision = 0.01)]
    position: [f32; 3],
}

/// How a session is played.
#[derive(Clone, Copy)]
struct Setting {
    link: LinkConfig,
    /// Whether the server reads its socket only before each tick.
    reads_by_tick: bool,
    has_clock: bool,
    jumps: bool,
}

/// What a session counts.
#[derive(Default)]
struct Counts {
    /// Ticks with an input in time, ticks whose input was lost, and all.
    in_time: u64,
    lost: u64,
    ticks: u64,
    /// The same in the first seconds.
    start_missed: u64,
    wait_s: Distribution,
    transit_s: Distribution,
    after_jump_s: Distribution,
    packet_bytes: u64,
    packets: u64,
    /// The longest run of ticks that a frame simulated.
    most_ticks: usize,
    clock: InputClockStats,
}

/// What happened to the input of a tick, in seconds of the server's time.
#[derive(Clone, Copy, Default)]
struct Fate {
    sent_s: Option<f64>,
    arrived_s: Option<f64>,
    used_s: Option<f64>,
}

fn play(arguments: &Arguments, setting: Setting, seed: u64, counts: &mut Counts) -> Outcome<()> {
    let schema = Schema::of::<Thing>();
    let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
    let mut hub = Hub::new(&codec, HubConfig::default())?;
    hub.add(CLIENT, &ReceiverOptions::default(), Duration::ZERO)?;
    let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(HZ))?;
    let inputs = StreamCodec::of::<Input>(StreamLevel::Adaptive)?;
    let config = StreamConfig {
        repeats: arguments.repeats,
        longest_round_trip: Duration::from_secs(1),
        ..StreamConfig::at_hz(HZ)
    };
    let mut client = StreamSender::new(&inputs, config)?;
    let mut server = StreamReceiver::new(&inputs, config)?;
    let defaults = InputClockConfig::at_hz(HZ);
    let mut clock = InputClock::new(InputClockConfig {
        in_time_ratio: arguments.in_time.unwrap_or(defaults.in_time_ratio),
        margin: arguments
            .margin_ms
            .map_or(defaults.margin, |margin_ms| Duration::from_secs_f32(margin_ms / 1e3)),
        window: arguments.window.map_or(defaults.window, Duration::from_secs_f32),
        ..defaults
    })?;
    let mut up = Link::new(setting.link, 2 * seed)?;
    let mut down = Link::new(setting.link, 2 * seed + 1)?;
    let mut random = Random::new(seed);
    let mut fates: HashMap<u32, Fate> = HashMap::new();
    let mut tick = FIRST_TICK;
    let (mut next_tick, mut next_frame) = (Duration::ZERO, Duration::ZERO);
    let length = Duration::from_secs(arguments.seconds.into());
    let mut jumped_at = None;
    let mut now = Duration::ZERO;
    while now < length {
        if setting.jumps && jumped_at.is_none() && now > length / 2 {
            up.reconfigure(LinkConfig { latency: setting.link.latency + JUMP, ..setting.link })?;
            jumped_at = Some(now);
        }
        // The server.
        let is_tick = now >= next_tick;
        if is_tick || !setting.reads_by_tick {
            while let Some(datagrams) = up.poll(now) {
                for part in split_datagram(&datagrams)? {
                    match datagram_kind(part) {
                        Some(DatagramKind::StreamPacket) => {
                            let Ok(handled) = server.handle(now, part) else { continue };
                            for record in handled.records() {
                                let ahead = record.number.since(Sequence::from(Tick(tick)));
                                let of = tick.wrapping_add_signed(ahead);
                                fates.entry(of).or_default().arrived_s = Some(now.as_secs_f64());
                            }
                        }
                        _ => drop(hub.handle(CLIENT, now, part)?),
                    }
                }
            }
        }
        if is_tick {
            fates.entry(tick).or_default().used_s = Some(now.as_secs_f64());
            server.read_for_tick::<Input>(now, Tick(tick))?;
            if tick.is_multiple_of(HZ / arguments.snapshots) {
                let mut world = Snapshot::new(&schema, Tick(tick));
                let x = (f64::from(tick) * 0.02).sin() as f32 * 50.0;
                world.push(EntityId(1), &Thing { position: [x, 0.0, 0.0] })?;
                hub.tick(now, &world)?;
                while let Some((_, datagram)) = hub.poll_transmit() {
                    let mut front = Vec::new();
                    server.write_acknowledgement(&mut front);
                    front.extend_from_slice(datagram);
                    down.send(now, &front);
                }
            }
            tick += 1;
            let late = Duration::from_secs_f32(random.unit() * 0.001);
            next_tick = Duration::from_secs(1) * (tick - FIRST_TICK) / HZ + late;
        }
        // The client.
        if now >= next_frame {
            let local = now.mul_f64(1.0 + arguments.drift_ppm / 1e6);
            while let Some(datagrams) = down.poll(now) {
                for part in split_datagram(&datagrams)? {
                    if datagram_kind(part) == Some(DatagramKind::StreamAcknowledgement) {
                        if let Ok(acknowledgement) = client.handle(part)
                            && setting.has_clock
                        {
                            clock.observe(local, &acknowledgement);
                        }
                    } else {
                        let _ = receiver.handle(local, part);
                    }
                }
            }
            if !clock.is_started() {
                clock.start_from(local, &receiver.status(local));
            }
            let ticks = clock.ticks(local);
            counts.most_ticks = counts.most_ticks.max(ticks.len());
            for of in ticks {
                let yaw = (f64::from(of.0) * 0.7).rem_euclid(360.0) as f32;
                client.push_for_tick(of, &Input { yaw, forward: true, jump: of.0 % 97 == 0 })?;
                fates.entry(of.0).or_default().sent_s = Some(now.as_secs_f64());
            }
            while let Some(datagram) = receiver.poll_transmit(local) {
                up.send(now, datagram);
            }
            while let Some(datagram) = client.poll_transmit() {
                up.send(now, datagram);
            }
            let frame_s = random.within(0.75, 1.25) / HZ as f32;
            next_frame = now + Duration::from_secs_f32(frame_s);
        }
        now += STEP;
    }
    counts.packet_bytes += client.stats().bytes;
    counts.packets += client.stats().packets;
    counts.clock = clock.stats();
    count(&fates, tick, length.as_secs_f64(), jumped_at.map(|at| at.as_secs_f64()), counts);
    Ok(())
}

fn count(
    fates: &HashMap<u32, Fate>,
    end: u32,
    length_s: f64,
    jumped_s: Option<f64>,
    counts: &mut Counts,
) {
    let first = fates.iter().filter(|(_, fate)| fate.sent_s.is_some()).map(|(tick, _)| *tick).min();
    let mut late_s = Vec::new();
    for tick in first.unwrap_or(end)..end {
        let fate = fates.get(&tick).copied().unwrap_or_default();
        let Some(used_s) = fate.used_s else { continue };
        let is_in_time = fate.arrived_s.is_some_and(|arrived_s| arrived_s <= used_s);
        let is_lost = fate.sent_s.is_some() && fate.arrived_s.is_none();
        if used_s < START_S {
            counts.start_missed += u64::from(!is_in_time);
            continue;
        }
        if !is_in_time && !is_lost {
            late_s.push(used_s);
        }
        if used_s > length_s - 1.0 {
            continue;
        }
        counts.ticks += 1;
        counts.in_time += u64::from(is_in_time);
        counts.lost += u64::from(is_lost);
        if let Some((sent_s, arrived_s)) = fate.sent_s.zip(fate.arrived_s) {
            counts.wait_s.add(used_s - arrived_s);
            counts.transit_s.add(arrived_s - sent_s);
        }
    }
    if let Some(jumped_s) = jumped_s {
        late_s.retain(|late_s| *late_s > jumped_s);
        let is_back = |from_s: f64| {
            let next = late_s.iter().filter(|late_s| (from_s..=from_s + 1.0).contains(*late_s));
            next.filter(|late_s| **late_s > from_s).count() <= 1
        };
        let back_s = std::iter::once(jumped_s).chain(late_s.iter().copied());
        let back_s = back_s.into_iter().find(|from_s| is_back(*from_s)).unwrap_or(length_s);
        counts.after_jump_s.add(back_s - jumped_s);
    }
}

fn main() -> Outcome<()> {
    let arguments = Arguments::parse();
    let links = ["cable", "wifi", "mobile", "terrible"];
    let mut rows = Vec::new();
    for name in links.into_iter().filter(|name| name.contains(&arguments.link)) {
        let link = LinkConfig::named(name).ok_or("no such link")?;
        for (reads_by_tick, has_clock) in [(false, true), (true, true), (false, false)] {
            let setting = Setting { link, reads_by_tick, has_clock, jumps: false };
            let (mut counts, mut jumped) = (Counts::default(), Counts::default());
            for seed in arguments.seed..arguments.seed + arguments.seeds {
                play(&arguments, setting, seed, &mut counts)?;
                play(&arguments, Setting { jumps: true, ..setting }, seed, &mut jumped)?;
            }
            let jitter_s = counts.transit_s.percentile(0.99) - counts.transit_s.mean();
            let arrived = (counts.ticks - counts.lost) as f64;
            let least_s = counts.transit_s.percentile(counts.in_time as f64 / arrived)
                - counts.transit_s.mean();
            let percent = |part: u64| 100.0 * part as f64 / counts.ticks as f64;
            rows.push(vec![
                name.to_owned(),
                match (has_clock, reads_by_tick) {
                    (false, _) => "fixed",
                    (_, false) => "at once",
                    (_, true) => "each tick",
                }
                .to_owned(),
                format!("{:.2} %", percent(counts.in_time)),
                format!("{:.2} %", percent(counts.lost)),
                format!("{:.1} ms", counts.wait_s.mean() * 1e3),
                format!("{:.1} ms", jitter_s * 1e3),
                format!("{:.1} ms", least_s * 1e3),
                format!("{}", counts.start_missed / arguments.seeds),
                format!(
                    "{:.2} {:.2} s",
                    jumped.after_jump_s.mean(),
                    jumped.after_jump_s.percentile(1.0)
                ),
                format!("{}", counts.clock.jumps),
                format!("{}", counts.most_ticks),
                format!("{:.1} B", counts.packet_bytes as f64 / counts.packets as f64),
            ]);
        }
    }
    let header = [
        "link",
        "server reads",
        "in time",
        "lost",
        "wait",
        "jitter",
        "least",
        "missed at the start",
        "after the jump: mean, most",
        "jumps",
        "most ticks",
        "packet",
    ];
    println!("{}", table(header, 2, rows).trim_fmt());
    println!("\n{:.2} µs a frame: one tick, one acknowledgement", frame_us()?);
    Ok(())
}

/// The time that the clock takes in each frame, with its window full.
fn frame_us() -> Outcome<f64> {
    const FRAMES: u32 = 200_000;
    let mut clock = InputClock::new(InputClockConfig::at_hz(HZ))?;
    clock.start(Duration::ZERO, 100.0);
    let mut random = Random::new(7);
    let began = Instant::now();
    for frame in 0..FRAMES {
        let now = Duration::from_secs(1) * frame / HZ;
        let Some(newest) = clock.ticks(now).last().map(Sequence::from) else { continue };
        let early_parts = random.within(-2.0, 38.0) as i16;
        let timing = Some(StreamTiming { number: newest, early_parts });
        clock.observe(now, &StreamAcknowledgement { newest, timing });
    }
    Ok(began.elapsed().as_secs_f64() * 1e6 / f64::from(FRAMES))
}
