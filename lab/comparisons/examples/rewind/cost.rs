//! The time of rewinding, and the hub's memory for it: 64 players look at 1,000 walkers over
//! `wifi`.
//!
//! In each tick, a stamp of each player that is a tenth of a second old arrives, and the server
//! reads the states of 20 targets from it. Nothing is repeated, so memory is as cold as in a game.
//! The memory is what the hub's calls have allocated and not freed, in the same session with
//! rewinding and without. Counting allocations adds some nanoseconds to each.

#[allow(dead_code, reason = "`interest` uses the rest")]
#[path = "../interest/world.rs"]
mod world;

use std::collections::VecDeque;
use std::hint::black_box;
use std::time::{Duration, Instant};

use allocation_counter::measure as counting;
use command_kit::table::{Table, table};
use kinepack::{Codec, EntityId, Level, Profile, Schema};
use kinepack_net::{
    Hub, HubConfig, Link, LinkConfig, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions,
    RewindConfig, Seen,
};
use serde::Serialize;

use crate::Outcome;
use crate::scene::{HZ, rings};
use crate::session::Setting;
use world::{Walker, World};

const PLAYERS: u64 = 64;
const TARGETS: usize = 20;
const WARM_UP_TICKS: u32 = 3 * HZ;
const TICKS: u32 = 10 * HZ;
/// How long a stamp is on its way.
const WAY_TICKS: usize = 6;
const NEAR_M: f64 = 20.0;

/// The size of the world, as `interest` names it.
struct Arguments {
    entities: u32,
    walking: f32,
    edge_m: f32,
    hz: u32,
}

const SIZE: Arguments = Arguments { entities: 1_000, walking: 1.0, edge_m: 200.0, hz: HZ };

#[derive(Serialize)]
pub(crate) struct Row {
    setting: &'static str,
    /// The time for a target with its share of the stamp's, in lower quartile and 95th percentile.
    target_us: f64,
    target_p95_us: f64,
    /// The time of a stamp alone, in lower quartile.
    stamp_us: f64,
    /// The hub's memory.
    memory_mb: f64,
    memory_without_mb: f64,
    tick_ms: f64,
    tick_without_ms: f64,
    /// The number of stamps that the hub refused, and of targets: their states were too old.
    refused: u64,
    refused_targets: u64,
}

struct Player {
    receiver: Receiver,
    down: Link,
    up: Link,
    stamps: VecDeque<(Seen, Vec<EntityId>)>,
}

/// A player's stamp, and the targets that he asks for.
type Arrived = (ReceiverId, Seen, Vec<EntityId>);

#[derive(Default)]
struct Measured {
    target_us: Vec<f64>,
    stamp_us: Vec<f64>,
    tick_ms: Vec<f64>,
    hub_bytes: i64,
    refused: u64,
    refused_targets: u64,
}

pub(crate) fn measure(setting: &Setting) -> Outcome<Row> {
    let mut with = run(setting, true)?;
    let mut without = run(setting, false)?;
    Ok(Row {
        setting: setting.name,
        target_us: percentile(&mut with.target_us, 25),
        target_p95_us: percentile(&mut with.target_us, 95),
        stamp_us: percentile(&mut with.stamp_us, 25),
        memory_mb: with.hub_bytes as f64 / 1e6,
        memory_without_mb: without.hub_bytes as f64 / 1e6,
        tick_ms: percentile(&mut with.tick_ms, 25),
        tick_without_ms: percentile(&mut without.tick_ms, 25),
        refused: with.refused,
        refused_targets: with.refused_targets,
    })
}

/// Plays a session, and measures the hub.
fn run(setting: &Setting, rewinds: bool) -> Outcome<Measured> {
    let schema = Schema::of::<Walker>();
    let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
    let mut hub = Hub::new(&codec, HubConfig::default())?;
    hub.set_rewind(rewinds.then(|| RewindConfig::at_hz(HZ)))?;
    if setting.turns {
        hub.set_rings(Some(&rings(vec!["position".into()], NEAR_M)))?;
    }
    let link = LinkConfig::named("wifi").ok_or("no such link")?;
    let mut players = Vec::new();
    for id in 0..PLAYERS {
        let budget = setting.budget_bytes_per_s.into();
        hub.add(ReceiverId(id), &ReceiverOptions { budget, ..Default::default() }, Duration::ZERO)?;
        players.push(Player {
            receiver: Receiver::new(&codec, ReceiverConfig::at_hz(HZ))?,
            down: Link::new(link, 2 * id)?,
            up: Link::new(link, 2 * id + 1)?,
            stamps: VecDeque::new(),
        });
    }
    let mut world = World::new(&SIZE);
    let mut measured = Measured::default();
    for tick in 1..=WARM_UP_TICKS + TICKS {
        let now = Duration::from_secs(1) * tick / HZ;
        world.step();
        let snapshot = world.snapshot::<Walker>(&schema, tick)?;
        let mut ticked = Ok(());
        let mut took = Duration::ZERO;
        let counted = counting(|| {
            for (id, player) in (0..).map(ReceiverId).zip(&mut players) {
                while let Some(datagram) = player.up.poll(now) {
                    // Copies are refused.
                    let _ = hub.handle(id, now, &datagram);
                }
                let [x, y] = world.walkers[id.0 as usize].position;
                if setting.turns {
                    let _ = hub.set_viewpoint(id, Some([x, y, 0.0].map(f64::from)));
                }
            }
            let begin = Instant::now();
            ticked = hub.tick(now, &snapshot);
            took = begin.elapsed();
        });
        ticked?;
        measured.hub_bytes += counted.bytes_current;
        let is_measured = tick > WARM_UP_TICKS;
        if is_measured {
            measured.tick_ms.push(took.as_secs_f64() * 1e3);
        }
        while let Some((id, datagram)) = hub.poll_transmit() {
            players[id.0 as usize].down.send(now, datagram);
        }
        let mut arrived = Vec::new();
        for (id, player) in (0..).map(ReceiverId).zip(&mut players) {
            if player.stamps.len() >= WAY_TICKS {
                arrived.extend(player.stamps.pop_front().map(|(seen, ids)| (id, seen, ids)));
            }
        }
        if rewinds && is_measured {
            measured.rewind(&mut hub, &arrived)?;
        }
        players.iter_mut().for_each(|player| player.draw(now, tick));
    }
    Ok(measured)
}

impl Player {
    /// Draws a frame, and makes an input that sees some targets.
    fn draw(&mut self, now: Duration, tick: u32) {
        while let Some(datagram) = self.down.poll(now) {
            // Copies are refused.
            let _ = self.receiver.handle(now, &datagram);
        }
        while let Some(datagram) = self.receiver.poll_transmit(now) {
            self.up.send(now, datagram);
        }
        let Some(playback) = self.receiver.playback(now) else { return };
        // Other targets in each tick.
        let shown: Vec<EntityId> = playback.samples().map(|sample| sample.id).collect();
        let apart = (shown.len() / TARGETS).max(1);
        let first = tick as usize % apart;
        let targets = shown.into_iter().skip(first).step_by(apart).take(TARGETS).collect();
        self.stamps.extend(self.receiver.seen().map(|seen| (seen, targets)));
    }
}

impl Measured {
    /// Rewinds to the stamps that arrive.
    fn rewind(&mut self, hub: &mut Hub, arrived: &[Arrived]) -> Outcome<()> {
        let mut targets = 0;
        let begin = Instant::now();
        for (id, seen, ids) in arrived {
            let Ok(past) = hub.rewind(*id, *seen) else {
                self.refused += 1;
                continue;
            };
            for id in ids {
                let state = black_box(past.state::<Walker>(*id));
                self.refused_targets += u64::from(state.is_err());
            }
            targets += ids.len();
        }
        let took = begin.elapsed();
        let begin = Instant::now();
        for (id, seen, _) in arrived {
            let _ = black_box(hub.rewind(*id, *seen));
        }
        if targets > 0 {
            self.stamp_us.push(begin.elapsed().as_secs_f64() * 1e6 / arrived.len() as f64);
            self.target_us.push(took.as_secs_f64() * 1e6 / targets as f64);
        }
        Ok(())
    }
}

fn percentile(numbers: &mut [f64], percent: usize) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len().saturating_sub(1) * percent / 100).copied().unwrap_or(0.0)
}

pub(crate) fn printed(rows: &[Row]) -> Table {
    let header = [
        "64 players, 20 targets",
        "a target, µs",
        "\n95 %",
        "a stamp alone, µs",
        "hub's memory, MB",
        "\nwithout",
        "tick, ms",
        "\nwithout",
        "refused:\nstamps",
        "\ntargets",
    ];
    let cells = rows.iter().map(|row| {
        [
            row.setting.to_owned(),
            format!("{:.2}", row.target_us),
            format!("{:.2}", row.target_p95_us),
            format!("{:.1}", row.stamp_us),
            format!("{:.1}", row.memory_mb),
            format!("{:.1}", row.memory_without_mb),
            format!("{:.2}", row.tick_ms),
            format!("{:.2}", row.tick_without_ms),
            row.refused.to_string(),
            row.refused_targets.to_string(),
        ]
    });
    table(header, 1, cells)
}
