//! Measures a hub whose receivers walk about in a large world and see what is near: with rings, and
//! with lists of entities that the program makes itself.
//!
//! ```text
//! cargo run --release -p comparisons --example interest -- [--entities 10000] [--receivers 1000]
//! ```
//!
//! The world is a square. All entities walk, or a share of them. Receivers walk too, look from where
//! they are, and have round trips of 50 to 100 ms. The rings are those of a shooter: up
//! to 30 m each tick, up to 120 m each second one, up to 400 m each eighth one, and nothing beyond
//! 450 m. A list has the entities within 400 m, found by a scan of all entities.
//!
//! With a budget that does not suffice, what receivers have of near walkers should still be young.
//! For 10,000 entities within sight and 1,000 that walk, use `--edge-m 400 --walking 0.1 --budget-kbps
//! 512 --receivers 20
//! --warm-up 600`. Ages do not count the way to the receiver.
//!
//! Times are lower quartiles, because other work of the machine only adds to them, and 95th
//! percentiles. The memory is what the process gained since it had the world, for hub and receivers
//! together. Only a run of one row reports it, because a later row reuses the memory of earlier
//! rows.

mod errors;
mod world;

use std::collections::VecDeque;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Parser;
use command_kit::Distribution;
use command_kit::table::{Table, table};
use kinepack::{Codec, EntityId, Level, Profile, Schema, Snapshot};
use kinepack_net::{
    Hub, HubConfig, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions, Refused, Ring, Rings,
};
use serde::Serialize;

use world::{Walker, World};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The round trips, which receivers have in turn.
const TRIPS_MS: [u32; 4] = [50, 67, 83, 100];
const NEAR_M: f64 = 400.0;
const FIRST_M: f32 = 30.0;
/// Ages up to this many ticks are measured.
const KEPT_WORLDS: usize = 180;
/// How often ages are measured, and for how many viewers.
const AGES_EVERY: u32 = 7;
const AGED_VIEWERS: usize = 20;

#[derive(Clone, Parser)]
struct Arguments {
    /// The number of entities.
    #[arg(long, default_value_t = 10_000)]
    entities: u32,
    /// The number of receivers.
    #[arg(long, default_value_t = 1_000)]
    receivers: u32,
    /// The edge of the world, in metres, at most 16,384.
    #[arg(long, default_value_t = 4_000.0)]
    edge_m: f32,
    /// The edge of the cells in which receivers share, in metres.
    #[arg(long, default_value_t = 100.0)]
    cell_m: f64,
    /// The share of the entities that walk.
    #[arg(long, default_value_t = 1.0)]
    walking: f32,
    /// What each receiver gets, in kbit/s with headers. Without this option, it gets all.
    #[arg(long)]
    budget_kbps: Option<u32>,
    /// The number of ticks in a second.
    #[arg(long, default_value_t = 60)]
    hz: u32,
    /// The number of measured ticks.
    #[arg(long, default_value_t = 240)]
    ticks: u32,
    /// The number of ticks before them.
    #[arg(long, default_value_t = 60)]
    warm_up: u32,
    /// Measure only the rows with this in their name.
    #[arg(long, default_value = "")]
    only: String,
    /// Measure what precision by ring saves instead: bytes, and errors as they are seen.
    #[arg(long)]
    errors: bool,
    /// Print the results as JSON.
    #[arg(long)]
    json: bool,
}

/// What decides which entities a receiver gets.
#[derive(Clone, Copy, PartialEq)]
enum Interest {
    /// Rings, with turns or in each tick.
    Rings {
        turns: bool,
    },
    Lists,
}

#[derive(Serialize)]
struct Row {
    interest: &'static str,
    /// The time to tell the hub what each receiver sees, without the scan.
    set_ms: f64,
    /// The time to find out what is near each receiver. Rings do that in the tick.
    scan_ms: f64,
    tick_ms: f64,
    tick_p95_ms: f64,
    acknowledgements_ms: f64,
    encodings: f64,
    /// The mean number of entities that a receiver sees.
    seen: f64,
    /// The 99th percentile of the age of the states that receivers have of moving entities in the
    /// first ring, and of all that they see.
    near_age_p99_ms: f64,
    age_p99_ms: f64,
    bytes: f64,
    memory_mb: Option<f64>,
    wrong: u64,
}

struct Viewer {
    receiver: Receiver,
    /// The walker that the viewer looks from.
    walker: usize,
    trip_ticks: u32,
    on_the_way: VecDeque<(u32, Vec<u8>)>,
}

/// Finds the ages of what a viewer has of walkers, from the newest world in which they were there.
fn measure_ages(
    viewer: &Viewer,
    world: &World,
    worlds: &VecDeque<Snapshot>,
    ages: &mut [Distribution; 2],
) {
    let Some(newest) = viewer.receiver.newest() else { return };
    let [x, y] = world.walkers[viewer.walker].position;
    for (id, walker) in world.walkers[..world.walking].iter().enumerate() {
        let Some(at) = newest.position(EntityId(id as u32)) else { continue };
        // The first two lanes are the position.
        let place = |snapshot: &Snapshot, at: usize| [0, 1].map(|lane| snapshot.lane(lane)[at]);
        let has = place(newest, at);
        let age = worlds.iter().position(|world| place(world, id) == has);
        let age = age.unwrap_or(KEPT_WORLDS) as f64 * 1e3 / f64::from(world.hz);
        ages[1].add(age);
        let [far_x, far_y] = [walker.position[0] - x, walker.position[1] - y];
        if far_x * far_x + far_y * far_y <= FIRST_M * FIRST_M {
            ages[0].add(age);
        }
    }
}

fn main() -> Outcome<()> {
    let arguments = Arguments::parse();
    if arguments.errors {
        return errors::measure(&arguments);
    }
    let all = [
        ("rings with turns", Interest::Rings { turns: true }),
        ("rings, each tick", Interest::Rings { turns: false }),
        ("lists", Interest::Lists),
    ];
    let mut rows = Vec::new();
    for (name, interest) in all.into_iter().filter(|(name, _)| name.contains(&arguments.only)) {
        rows.push(measure(name, interest, &arguments)?);
    }
    if rows.len() > 1 {
        rows.iter_mut().for_each(|row| row.memory_mb = None);
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
        return Ok(());
    }
    println!("{}", printed(&rows).trim_fmt());
    Ok(())
}

/// The rings of a shooter. `coarser` has the bits by which each is coarser.
fn rings(cell: f64, turns: bool, coarser: [u8; 3]) -> Rings {
    let ring = |at: usize, within: f64, leave: f64, every: u32| Ring {
        within,
        leave,
        every: if turns { every } else { 1 },
        tier: 0,
        coarser: coarser[at],
    };
    Rings {
        positions: vec!["position".into()],
        urgent: vec!["action".into()],
        rings: vec![ring(0, 30.0, 35.0, 1), ring(1, 120.0, 130.0, 2), ring(2, NEAR_M, 450.0, 8)],
        beyond: None,
        cell,
        exact_after: None,
    }
}

fn measure(name: &'static str, interest: Interest, arguments: &Arguments) -> Outcome<Row> {
    let mut world = World::new(arguments);
    let schema = Schema::of::<Walker>();
    let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
    let mut hub = Hub::new(&codec, HubConfig::default())?;
    if let Interest::Rings { turns } = interest {
        hub.set_rings(Some(&rings(arguments.cell_m, turns, [0; 3])))?;
    }
    let mut viewers = Vec::new();
    for id in 0..arguments.receivers {
        let budget = arguments.budget_kbps.map(|kbps| kbps * 125).into();
        let options = ReceiverOptions { budget, ..ReceiverOptions::default() };
        hub.add(ReceiverId(id.into()), &options, Duration::ZERO)?;
        let receiver = Receiver::new(&codec, ReceiverConfig::at_hz(arguments.hz))?;
        let walker =
            (u64::from(id) * world.walking as u64 / u64::from(arguments.receivers)) as usize;
        let trip_ticks = (TRIPS_MS[id as usize % TRIPS_MS.len()] * arguments.hz).div_ceil(1_000);
        viewers.push(Viewer { receiver, walker, trip_ticks, on_the_way: VecDeque::new() });
    }
    let memory_before = memory_mb();
    let mut times: [Vec<f64>; 4] = Default::default();
    let (mut worlds, mut ages) =
        (VecDeque::new(), [Distribution::default(), Distribution::default()]);
    let (mut bytes, mut encodings, mut seen, mut wrong) = (0, 0, 0, 0);
    for tick in 1..=arguments.warm_up + arguments.ticks {
        let (now, is_measured) =
            (Duration::from_secs(1) * tick / arguments.hz, tick > arguments.warm_up);
        let begin = Instant::now();
        for (id, viewer) in (0..).map(ReceiverId).zip(&mut viewers) {
            while let Some((_, datagram)) = viewer.on_the_way.pop_front_if(|(due, _)| *due <= tick)
            {
                hub.handle(id, now, &datagram)?;
            }
        }
        let acknowledged = begin.elapsed();
        world.step();
        let snapshot = world.snapshot::<Walker>(&schema, tick)?;
        let (mut scanned, begin) = (Duration::ZERO, Instant::now());
        for (id, viewer) in (0..).map(ReceiverId).zip(&viewers) {
            let [x, y] = world.walkers[viewer.walker].position;
            match interest {
                Interest::Rings { .. } => {
                    hub.set_viewpoint(id, Some([x, y, 0.0].map(f64::from)))?;
                }
                Interest::Lists => {
                    let begin = Instant::now();
                    let list = near(&world, [x, y]);
                    scanned += begin.elapsed();
                    hub.set_relevant(id, Some(list))?;
                }
            }
        }
        let set = begin.elapsed() - scanned;
        let begin = Instant::now();
        hub.tick(now, &snapshot)?;
        let ticked = begin.elapsed();
        worlds.push_front(snapshot);
        worlds.truncate(KEPT_WORLDS);
        if is_measured {
            encodings += hub.encoded();
            let measured = [acknowledged, set, scanned, ticked];
            times.iter_mut().zip(measured).for_each(|(all, one)| all.push(one.as_secs_f64() * 1e3));
        }
        while let Some((ReceiverId(id), datagram)) = hub.poll_transmit() {
            bytes += if is_measured { datagram.len() } else { 0 };
            match viewers[id as usize].receiver.handle(now, datagram) {
                Ok(_) | Err(Refused::Duplicate) => {}
                Err(_) => wrong += 1,
            }
        }
        if is_measured && tick.is_multiple_of(AGES_EVERY) {
            for viewer in viewers.iter().take(AGED_VIEWERS) {
                measure_ages(viewer, &world, &worlds, &mut ages);
            }
        }
        for viewer in &mut viewers {
            seen += if is_measured { viewer.receiver.newest().map_or(0, Snapshot::len) } else { 0 };
            while let Some(datagram) = viewer.receiver.poll_transmit(now) {
                viewer.on_the_way.push_back((tick + viewer.trip_ticks, datagram.to_vec()));
            }
        }
    }
    let [acknowledgements, set, scan, ticks] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        let at = |share: usize| times[(times.len() - 1) * share / 100];
        [at(25), at(95)]
    });
    let measured = f64::from(arguments.ticks);
    let of_receivers = measured * f64::from(arguments.receivers);
    Ok(Row {
        interest: name,
        set_ms: set[0],
        scan_ms: scan[0],
        tick_ms: ticks[0],
        tick_p95_ms: ticks[1],
        acknowledgements_ms: acknowledgements[0],
        encodings: encodings as f64 / measured,
        seen: seen as f64 / of_receivers,
        near_age_p99_ms: ages[0].percentile(0.99),
        age_p99_ms: ages[1].percentile(0.99),
        bytes: bytes as f64 / of_receivers,
        memory_mb: Some(memory_mb() - memory_before),
        wrong,
    })
}

/// The walkers near a place, as a program without rings finds them.
fn near(world: &World, [x, y]: [f32; 2]) -> Arc<[EntityId]> {
    let is_near = |walker: &Walker| {
        let [far_x, far_y] = [walker.position[0] - x, walker.position[1] - y];
        far_x * far_x + far_y * far_y <= (NEAR_M * NEAR_M) as f32
    };
    let ids = (0..).map(EntityId).zip(&world.walkers);
    ids.filter(|(_, walker)| is_near(walker)).map(|(id, _)| id).collect()
}

/// The memory of the process; 0 if the system does not tell.
fn memory_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kb = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kb = kb.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kb.unwrap_or(0.0) / 1024.0
}

fn printed(rows: &[Row]) -> Table {
    let header = [
        "",
        "set, ms",
        "scan, ms",
        "tick, ms",
        "95 %",
        "acks, ms",
        "encodings",
        "seen",
        "near, ms",
        "all, ms",
        "bytes",
        "memory, MB",
        "wrong",
    ];
    let cells = rows.iter().map(|row| {
        [
            row.interest.to_string(),
            format!("{:.2}", row.set_ms),
            format!("{:.2}", row.scan_ms),
            format!("{:.2}", row.tick_ms),
            format!("{:.2}", row.tick_p95_ms),
            format!("{:.2}", row.acknowledgements_ms),
            format!("{:.0}", row.encodings),
            format!("{:.0}", row.seen),
            format!("{:.0}", row.near_age_p99_ms),
            format!("{:.0}", row.age_p99_ms),
            format!("{:.0}", row.bytes),
            row.memory_mb.map_or("–".into(), |memory| format!("{memory:.0}")),
            row.wrong.to_string(),
        ]
    });
    table(header, 1, cells)
}
