//! Measures budgets that follow the link: how much of it they use, and how long datagrams wait.
//!
//! ```text
//! cargo run --release -p comparisons --example congestion -- [--only steps] [--trip-ms 40]
//! ```
//!
//! A hub sends a world of objects that all move to a receiver, over a link of a given rate whose
//! queue drops what does not fit. Both sides look at the network once in a tick, as games do. Other
//! senders on the same link are a second hub, or a bulk flow with the window of TCP: it grows by a
//! packet in a round trip, and halves when a packet is lost (RFC 5681).

mod bulk;
mod session;

use std::error::Error;
use std::time::Duration;

use clap::Parser;
use command_kit::table::{Table, table};
use kinepack_net::{Budget, LinkConfig, Loss};
use serde::Serialize;

use session::{Session, Sides};

type Outcome<T> = Result<T, Box<dyn Error>>;

#[derive(Parser)]
struct Arguments {
    /// The number of objects.
    #[arg(long, default_value_t = 3_000)]
    objects: u32,
    /// The round trip without any queue, in milliseconds.
    #[arg(long, default_value_t = 40)]
    trip_ms: u64,
    /// The bytes that the queue of the link holds.
    #[arg(long, default_value_t = 256 << 10)]
    queue_bytes: u32,
    /// The number of ticks in a second.
    #[arg(long, default_value_t = 60)]
    hz: u32,
    /// Measure only the scenarios with this in their name.
    #[arg(long, default_value = "")]
    only: String,
    /// The largest budget, in bytes a second.
    #[arg(long, default_value_t = 1_000_000)]
    at_most: u32,
    /// Print each tenth of a second.
    #[arg(long)]
    trace: bool,
    /// Print the results as JSON.
    #[arg(long)]
    json: bool,
}

/// What a hub did in a phase of a scenario.
#[derive(Serialize)]
struct Row {
    scenario: &'static str,
    phase: String,
    /// The share of the link's rate, or of the given rate, that the hub's datagrams took.
    used: f64,
    /// The same from two seconds after the phase began.
    used_later: f64,
    /// The time that datagrams waited in the queue, two seconds after the phase began.
    wait_p95_ms: f64,
    /// The longest time of the whole phase.
    wait_most_ms: f64,
    lost: f64,
}

/// A phase of a scenario: the link's bits a second, and how long they hold.
struct Phase {
    name: &'static str,
    bits_per_s: Option<u32>,
    seconds: u32,
    /// How much longer the way to the receiver is than at first.
    longer: Duration,
}

const fn phase(name: &'static str, bits_per_s: Option<u32>, seconds: u32) -> Phase {
    Phase { name, bits_per_s, seconds, longer: Duration::ZERO }
}

struct Scenario {
    name: &'static str,
    loss: f32,
    hubs: usize,
    bulk: bool,
    phases: &'static [Phase],
}

const ALONE: Scenario = Scenario { name: "", loss: 0.0, hubs: 1, bulk: false, phases: &[] };

const SCENARIOS: [Scenario; 8] = [
    Scenario {
        name: "steps",
        phases: &[
            phase("4 Mbit/s", Some(4_000_000), 10),
            phase("256 kbit/s", Some(256_000), 10),
            phase("2 Mbit/s", Some(2_000_000), 10),
        ],
        ..ALONE
    },
    Scenario { name: "no limit", phases: &[phase("", None, 20)], ..ALONE },
    Scenario { name: "no limit, 5 % lost", loss: 0.05, phases: &[phase("", None, 20)], ..ALONE },
    Scenario {
        name: "steps, 5 % lost",
        loss: 0.05,
        phases: &[
            phase("2 Mbit/s", Some(2_000_000), 10),
            phase("512 kbit/s", Some(512_000), 10),
            phase("1 Mbit/s", Some(1_000_000), 10),
        ],
        ..ALONE
    },
    Scenario {
        name: "two hubs",
        hubs: 2,
        phases: &[phase("2 Mbit/s", Some(2_000_000), 40)],
        ..ALONE
    },
    Scenario {
        name: "with a bulk flow",
        bulk: true,
        phases: &[phase("2 Mbit/s", Some(2_000_000), 60)],
        ..ALONE
    },
    Scenario {
        name: "a longer path",
        phases: &[
            phase("1 Mbit/s", Some(1_000_000), 10),
            Phase {
                longer: Duration::from_millis(200),
                ..phase("200 ms longer", Some(1_000_000), 20)
            },
            Phase { longer: Duration::from_millis(200), ..phase("then", Some(1_000_000), 20) },
        ],
        ..ALONE
    },
    Scenario { name: "512 kbit/s", phases: &[phase("512 kbit/s", Some(512_000), 20)], ..ALONE },
];

fn main() -> Outcome<()> {
    let arguments = Arguments::parse();
    let mut rows = Vec::new();
    for scenario in SCENARIOS.iter().filter(|scenario| scenario.name.contains(&arguments.only)) {
        rows.extend(measure(scenario, &arguments)?);
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
        return Ok(());
    }
    println!("{}", printed(&rows).trim_fmt());
    Ok(())
}

fn measure(scenario: &Scenario, arguments: &Arguments) -> Outcome<Vec<Row>> {
    let loss = Loss::Independent { ratio: scenario.loss };
    let path = LinkConfig {
        latency: Duration::from_micros(arguments.trip_ms * 500),
        queue_bytes: arguments.queue_bytes,
        ..LinkConfig::PERFECT
    };
    let sides = Sides {
        hubs: scenario.hubs,
        bulk: scenario.bulk,
        objects: arguments.objects,
        hz: arguments.hz,
        budget: Budget::Auto { at_most: arguments.at_most },
        trace: arguments.trace,
    };
    let mut session = Session::new(&sides, LinkConfig { loss, ..path }, path)?;
    let mut rows = Vec::new();
    for phase in scenario.phases {
        session.set_path(phase.bits_per_s, path.latency + phase.longer)?;
        let measured = session.run(phase.seconds)?;
        for (nth, hub) in measured.into_iter().enumerate() {
            let most = phase.bits_per_s.map_or(f64::from(arguments.at_most) * 8.0, f64::from);
            rows.push(Row {
                scenario: scenario.name,
                phase: match scenario.hubs {
                    1 => phase.name.into(),
                    _ => format!("{}, hub {}", phase.name, nth + 1),
                },
                used: hub.bytes as f64 * 8.0 / most / f64::from(phase.seconds),
                used_later: hub.later_bytes as f64 * 8.0 / most / f64::from(phase.seconds - 2),
                wait_p95_ms: hub.waits_ms.percentile(0.95),
                wait_most_ms: hub.waits_ms.summary().max,
                lost: hub.lost,
            });
        }
    }
    Ok(rows)
}

fn printed(rows: &[Row]) -> Table {
    let header = ["", "link", "used", "after 2 s", "wait 95 %, ms", "most", "lost"];
    let cells = rows.iter().map(|row| {
        [
            row.scenario.to_string(),
            row.phase.clone(),
            format!("{:.1} %", row.used * 100.0),
            format!("{:.1} %", row.used_later * 100.0),
            format!("{:.0}", row.wait_p95_ms),
            format!("{:.0}", row.wait_most_ms),
            format!("{:.1} %", row.lost * 100.0),
        ]
    });
    table(header, 2, cells)
}
