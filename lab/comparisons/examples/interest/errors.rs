//! Measures what rates and precision by ring save: the bytes of receivers beside their errors as
//! they are seen. An error is the distance of a walker, as playback draws it, from where the walker
//! was at the drawn moment. It is divided by the walker's distance from the viewpoint.

use std::collections::VecDeque;
use std::time::Duration;

use command_kit::Distribution;
use command_kit::table::table;
use kinepack::training::Training;
use kinepack::{Codec, Level, Pack, Profile, Schema, Snapshot};
use kinepack_net::{Hub, HubConfig, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions};
use serde::Serialize;

use super::world::{Walker, World};
use super::{Arguments, Outcome, rings};

/// The round trip of acknowledgements.
const TRIP_MS: u32 = 75;
/// How often errors are measured, and for how many ticks the walkers' places are kept.
const ERRORS_EVERY: u32 = 7;
const KEPT_TICKS: usize = 120;
/// On how many receivers and ticks profiles are trained, and for how long the world runs before.
const TRAINED_ON: u32 = 8;
const TRAINED_TICKS: u32 = 60;
const TRAINED_AFTER: u32 = 2_000;
/// The least distance by which errors are divided, in metres.
const NEAREST_M: f64 = 1.0;

/// One rate and one precision for all, by the bits by which it is coarser than 2 mm.
const ONE_FOR_ALL: [u8; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
/// By how many bits the position is coarser in each ring.
const BY_RING: [[u8; 3]; 5] = [[0, 0, 0], [0, 2, 4], [1, 3, 5], [2, 4, 6], [3, 5, 7]];

/// A walker whose place may be coarser.
#[derive(Pack)]
struct FineWalker {
    #[pack(range = -8192.0..8192.0, precision = 1.0 / 512.0, coarser = 8)]
    position: [f32; 2],
    #[pack(range = -512.0..512.0, precision = 1.0 / 512.0, coarser = 8)]
    height: f32,
    #[pack(range = 0.0..360.0, bits = 8, wrap)]
    heading_degrees: f32,
    #[pack(max = 100)]
    health: u8,
    action: u8,
}

impl From<Walker> for FineWalker {
    fn from(of: Walker) -> Self {
        let Walker { position, height, heading_degrees, health, action } = of;
        Self { position, height, heading_degrees, health, action }
    }
}

#[derive(Serialize)]
struct Row {
    /// Whether the rings have turns of 1, 2 and 8 ticks.
    turns: bool,
    /// By how many bits the position is coarser in each ring.
    coarser: [u8; 3],
    /// The mean size of the datagrams of a receiver in a tick.
    bytes: f64,
    /// The errors as they are seen, in thousandths.
    seen_error_mean: f64,
    seen_error_p99: f64,
    seen_error_p999: f64,
}

/// A hub with its receivers, whose acknowledgements take a while.
struct Side {
    hub: Hub,
    receivers: Vec<Receiver>,
    on_the_way: VecDeque<(u32, ReceiverId, Vec<u8>)>,
    bytes: usize,
}

impl Side {
    fn new(codec: &Codec, arguments: &Arguments, turns: bool, coarser: [u8; 3]) -> Outcome<Self> {
        let mut hub = Hub::new(codec, HubConfig::default())?;
        hub.set_rings(Some(&rings(arguments.cell_m, turns, coarser)))?;
        let mut receivers = Vec::new();
        for id in 0..arguments.receivers {
            hub.add(ReceiverId(id.into()), &ReceiverOptions::default(), Duration::ZERO)?;
            receivers.push(Receiver::new(codec, ReceiverConfig::at_hz(arguments.hz))?);
        }
        Ok(Self { hub, receivers, on_the_way: VecDeque::new(), bytes: 0 })
    }

    fn tick(&mut self, tick: u32, world: &World, snapshot: &Snapshot) -> Outcome<()> {
        let now = Duration::from_secs(1) * tick / world.hz;
        while let Some((_, id, datagram)) = self.on_the_way.pop_front_if(|(due, ..)| *due <= tick) {
            self.hub.handle(id, now, &datagram)?;
        }
        for nth in 0..self.receivers.len() {
            let place = viewpoint(world, nth, self.receivers.len());
            self.hub.set_viewpoint(ReceiverId(nth as u64), Some(place))?;
        }
        self.hub.tick(now, snapshot)?;
        while let Some((ReceiverId(id), datagram)) = self.hub.poll_transmit() {
            self.bytes += datagram.len();
            self.receivers[id as usize].handle(now, datagram)?;
        }
        let trip = (TRIP_MS * world.hz).div_ceil(1_000);
        for (id, receiver) in (0..).map(ReceiverId).zip(&mut self.receivers) {
            while let Some(datagram) = receiver.poll_transmit(now) {
                self.on_the_way.push_back((tick + trip, id, datagram.to_vec()));
            }
        }
        Ok(())
    }
}

/// The place from which a receiver looks: that of a walker.
fn viewpoint(world: &World, nth: usize, receivers: usize) -> [f64; 3] {
    place(&world.walkers[nth * world.walking / receivers])
}

pub(crate) fn measure(arguments: &Arguments) -> Outcome<()> {
    let one_for_all = ONE_FOR_ALL.map(|bits| (false, [bits; 3]));
    let rows = one_for_all.into_iter().chain([false, true].into_iter().flat_map(|turns| {
        BY_RING.into_iter().filter(move |of| turns || *of != [0; 3]).map(move |of| (turns, of))
    }));
    let rows = rows.map(|(turns, coarser)| measure_row(arguments, turns, coarser));
    let rows = rows.collect::<Outcome<Vec<Row>>>()?;
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
        return Ok(());
    }
    let header = ["turns", "bits coarser", "bytes", "error, mean", "99 %", "99.9 %"];
    let cells = rows.iter().map(|row| {
        [
            if row.turns { "1, 2, 8" } else { "1" }.into(),
            format!("{:?}", row.coarser),
            format!("{:.0}", row.bytes),
            format!("{:.3}", row.seen_error_mean),
            format!("{:.3}", row.seen_error_p99),
            format!("{:.3}", row.seen_error_p999),
        ]
    });
    println!("{}", table(header, 2, cells).trim_fmt());
    Ok(())
}

fn measure_row(arguments: &Arguments, turns: bool, coarser: [u8; 3]) -> Outcome<Row> {
    let mut world = World::new(arguments);
    let schema = Schema::of::<FineWalker>();
    let profile = trained(arguments, &schema, turns, coarser)?;
    let codec = Codec::new(schema.clone(), Level::PACKED, profile)?;
    let mut side = Side::new(&codec, arguments, turns, coarser)?;
    let (mut errors, mut bytes_before) = (Distribution::default(), 0);
    let mut places: VecDeque<Vec<[f64; 3]>> = VecDeque::new();
    for tick in 1..=arguments.warm_up + arguments.ticks {
        world.step();
        places.push_front(world.walkers.iter().map(place).collect());
        places.truncate(KEPT_TICKS);
        side.tick(tick, &world, &world.snapshot::<FineWalker>(&schema, tick)?)?;
        if tick == arguments.warm_up {
            bytes_before = side.bytes;
        }
        let now = Duration::from_secs(1) * tick / world.hz;
        for (nth, receiver) in side.receivers.iter_mut().enumerate() {
            let Some(playback) = receiver.playback(now) else { continue };
            if tick <= arguments.warm_up || !tick.is_multiple_of(ERRORS_EVERY) {
                continue;
            }
            let viewpoint = viewpoint(&world, nth, arguments.receivers as usize);
            let age = (f64::from(tick) - playback.tick).clamp(0.0, KEPT_TICKS as f64 - 2.0);
            for sample in playback.samples() {
                let drawn: FineWalker = sample.state()?;
                let [x, y] = drawn.position.map(f64::from);
                let drawn = [x, y, drawn.height.into()];
                let [newer, older] =
                    [0, 1].map(|step| places[age as usize + step][sample.id.0 as usize]);
                let was =
                    [0, 1, 2].map(|axis| newer[axis] + (older[axis] - newer[axis]) * age.fract());
                errors.add(1e3 * distance(drawn, was) / distance(was, viewpoint).max(NEAREST_M));
            }
        }
    }
    Ok(Row {
        turns,
        coarser,
        bytes: (side.bytes - bytes_before) as f64
            / f64::from(arguments.ticks * arguments.receivers),
        seen_error_mean: errors.mean(),
        seen_error_p99: errors.percentile(0.99),
        seen_error_p999: errors.percentile(0.999),
    })
}

/// Trains a profile on what a few receivers see later in the world.
fn trained(
    arguments: &Arguments,
    schema: &Schema,
    turns: bool,
    coarser: [u8; 3],
) -> Outcome<Profile> {
    let arguments = &Arguments { receivers: TRAINED_ON, ..arguments.clone() };
    let mut world = World::new(arguments);
    (0..TRAINED_AFTER).for_each(|_| world.step());
    let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(schema))?;
    let mut side = Side::new(&codec, arguments, turns, coarser)?;
    let mut runs = vec![Vec::new(); side.receivers.len()];
    for tick in 1..=arguments.warm_up + TRAINED_TICKS {
        world.step();
        side.tick(tick, &world, &world.snapshot::<FineWalker>(schema, tick)?)?;
        for (run, receiver) in runs.iter_mut().zip(&side.receivers) {
            run.extend(receiver.newest().filter(|_| tick > arguments.warm_up).cloned());
        }
    }
    let lag = (TRIP_MS * world.hz).div_ceil(1_000) + 1;
    let training =
        Training { packed_lag_ticks: lag, ..Training::new(Profile::magnitudes(schema), None) };
    Ok(training.lengths(schema, &runs)?)
}

fn place(walker: &Walker) -> [f64; 3] {
    let [x, y] = walker.position.map(f64::from);
    [x, y, walker.height.into()]
}

fn distance(from: [f64; 3], to: [f64; 3]) -> f64 {
    from.iter().zip(to).map(|(from, to)| (from - to) * (from - to)).sum::<f64>().sqrt()
}
