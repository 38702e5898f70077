//! Measures rewinding a hub to what a player saw: whether it is exact, how far the usual
//! approximations are off, the bytes of a stamp, time and memory.
//!
//! ```text
//! cargo run --release -p comparisons --example rewind -- [--only samples] [--scene push]
//! ```
//!
//! - `samples`: a client draws and makes inputs over a bad link, and the server rewinds to the
//!   stamp of each. Every sample that the client drew is compared with the rewound one, bit for
//!   bit. Beside it are the errors in cm of three other ways, for entities that the client showed
//!   and that move: the world of the tick that is nearest to the drawn moment; the worlds around
//!   the moment, interpolated; and the same at a moment that the server computes as its tick less a
//!   delay: the mean round trip, as state and input travelled, and the client's mean playout delay.
//! - `stamps`: the bytes of packets of inputs with a stamp less those of packets without, divided
//!   by the number of inputs. Each packet also repeats the input before, so a stamp is sent twice.
//!   The inputs are those of an Unreal character.
//! - `cost`: the time to rewind for 64 players and to read the states of 20 targets of each, and
//!   the hub's memory and time with rewinding and without.
//!
//! The scenes are the cubes of the built-in world in two styles, the game of `skirmish` with five
//! kinds of entities, and live bodies that walk. Time is virtual, except that of `cost`. The
//! program fails if a sample differs.

mod approximations;
mod cost;
mod scene;
mod session;
mod shown;

#[allow(dead_code, reason = "the examples of `kinepack-capture` use the rest")]
#[path = "../../../../crates/kinepack-capture/examples/common/mod.rs"]
mod common;
#[allow(dead_code, reason = "`skirmish` uses the rest")]
#[path = "../skirmish/game.rs"]
mod game;
#[allow(dead_code, reason = "`skirmish` uses the rest")]
#[path = "../skirmish/kinds.rs"]
mod kinds;
#[allow(dead_code, reason = "`figures` uses the rest")]
#[path = "../figures/recordings.rs"]
mod recordings;
#[allow(unused_imports, reason = "the examples of `kinepack-anim` use the random numbers")]
#[path = "../../../../crates/kinepack-anim/examples/walks/mod.rs"]
mod walks;

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use command_kit::table::{Table, table, write_json};
use command_kit::{SentLevel, print};
use cubes::Style;
use kinepack::Level;
use kinepack::stream::StreamLevel;
use kinepack_net::LinkConfig;
use serde::Serialize;

use approximations::{Errors, Summary};
use scene::{HZ, Scene};
use session::{Conditions, Session, Setting};

type Outcome<T> = Result<T, Box<dyn Error>>;

#[derive(Parser)]
struct Arguments {
    /// Only this part.
    #[arg(long, value_enum)]
    only: Option<Part>,
    /// Only the scenes with this in their names.
    #[arg(long, default_value = "")]
    scene: String,
    /// Only the settings with this in their names.
    #[arg(long, default_value = "")]
    setting: String,
    /// The length of each session.
    #[arg(long, default_value_t = 30)]
    seconds: u32,
    /// The seed of the link, the frames and the inputs.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The link over which samples are compared.
    #[arg(long, default_value = "terrible")]
    link: String,
    /// The level of the worlds whose samples are compared.
    #[arg(long, default_value = "adaptive", value_parser = SentLevel::named)]
    level: SentLevel,
    /// How many earlier inputs each packet repeats.
    #[arg(long, default_value_t = 1)]
    repeats: u8,
    /// Motion captures of one skeleton, instead of walks from formulas.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    bodies: Vec<PathBuf>,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Part {
    Samples,
    Stamps,
    Cost,
}

/// Everything at once, in each tick.
const WHOLE: Setting = Setting {
    name: "no limit",
    budget_bytes_per_s: None,
    slow_kinds: false,
    precision_ms: None,
    outages: false,
    turns: false,
};
const BUDGET: Setting = Setting { name: "64 kbit/s", budget_bytes_per_s: Some(8_000), ..WHOLE };
const SETTINGS: [Setting; 7] = [
    WHOLE,
    BUDGET,
    Setting { name: "rates by kind", slow_kinds: true, ..WHOLE },
    Setting { name: "precision of 4 ms", precision_ms: Some(4.0), ..WHOLE },
    Setting { name: "outages of 1 s", outages: true, ..WHOLE },
    Setting { name: "rings with turns", turns: true, ..WHOLE },
    Setting {
        name: "all of these",
        slow_kinds: true,
        precision_ms: Some(4.0),
        outages: true,
        turns: true,
        ..BUDGET
    },
];
const SCENES: [&str; 4] = ["typical", "push", "skirmish", "bodies"];

#[derive(Serialize)]
struct Report {
    samples: Vec<SampleRow>,
    stamps: Vec<StampRow>,
    cost: Vec<cost::Row>,
}

/// Drawn samples beside rewound ones, and the errors of other ways.
#[derive(Serialize)]
struct SampleRow {
    scene: &'static str,
    setting: &'static str,
    rewound: u64,
    refused: u64,
    samples: u64,
    differ: u64,
    #[serde(flatten)]
    others: Summary,
}

/// The bytes of stamps.
#[derive(Serialize)]
struct StampRow {
    link: &'static str,
    level: &'static str,
    inputs: u64,
    /// The bytes of packets for each input, without stamps and with them.
    without_bytes: f64,
    with_bytes: f64,
    stamp_bytes: f64,
    /// The same for each input in a packet, as packets repeat inputs.
    sent_stamp_bytes: f64,
}

fn main() -> Outcome<()> {
    let arguments = Arguments::parse();
    let wants = |part| arguments.only.is_none_or(|only| only == part);
    let mut report = Report { samples: Vec::new(), stamps: Vec::new(), cost: Vec::new() };
    if wants(Part::Samples) {
        for name in SCENES.into_iter().filter(|name| name.contains(&arguments.scene)) {
            report.samples.extend(arguments.compare(name)?);
        }
    }
    if wants(Part::Stamps) {
        report.stamps = arguments.measure_stamps()?;
    }
    if wants(Part::Cost) {
        let settings = SETTINGS.iter().filter(|setting| is_cost(setting));
        for setting in settings.filter(|setting| setting.name.contains(&arguments.setting)) {
            eprintln!("measuring the cost, {}", setting.name);
            report.cost.push(cost::measure(setting)?);
        }
    }
    print(|out| {
        if arguments.json {
            return write_json(&report, out);
        }
        if !report.samples.is_empty() {
            writeln!(out, "{}\n", samples_table(&report.samples).trim_fmt())?;
        }
        if !report.stamps.is_empty() {
            writeln!(out, "{}\n", stamps_table(&report.stamps).trim_fmt())?;
        }
        if !report.cost.is_empty() {
            writeln!(out, "{}", cost::printed(&report.cost).trim_fmt())?;
        }
        Ok(())
    })?;
    if report.samples.iter().any(|row| row.differ + row.refused > 0) {
        return Err("a rewound sample is not what the client drew".into());
    }
    Ok(())
}

fn is_cost(setting: &Setting) -> bool {
    ["no limit", "64 kbit/s", "rings with turns"].contains(&setting.name)
}

impl Arguments {
    fn new_scene(&self, name: &str) -> Outcome<Scene> {
        eprintln!("simulating {name}");
        let ticks = self.seconds * HZ;
        match name {
            "typical" => Scene::cubes(Style::Typical, ticks),
            "push" => Scene::cubes(Style::Push, ticks),
            "skirmish" => Scene::skirmish(ticks),
            _ => Scene::bodies(ticks, &self.bodies),
        }
    }

    /// Compares the samples of a scene in each setting.
    fn compare(&self, name: &'static str) -> Outcome<Vec<SampleRow>> {
        let mut scene = self.new_scene(name)?;
        let conditions = Conditions {
            level: self.level.row(),
            inputs: StreamLevel::Adaptive,
            repeats: self.repeats,
            link: LinkConfig::named(&self.link).ok_or("no such link")?,
            seed: self.seed,
            compares: true,
        };
        let mut rows = Vec::new();
        for setting in SETTINGS.iter().filter(|setting| setting.name.contains(&self.setting)) {
            if setting.name == "rates by kind" && scene.slow_kinds.is_empty() {
                continue;
            }
            eprintln!("comparing {name}, {}", setting.name);
            let (found, _) = Session::new(&mut scene, *setting, &conditions)?.run()?;
            found.notes.iter().for_each(|note| eprintln!("{note}"));
            rows.push(SampleRow {
                scene: name,
                setting: setting.name,
                rewound: found.rewound,
                refused: found.refused,
                samples: found.samples,
                differ: found.differ,
                others: found.summary(),
            });
        }
        Ok(rows)
    }

    /// Measures stamps in sessions of cubes.
    fn measure_stamps(&self) -> Outcome<Vec<StampRow>> {
        let mut scene = self.new_scene("typical")?;
        let mut rows = Vec::new();
        for link in ["wifi", "mobile", "terrible"] {
            for (level, inputs) in
                [("packed", StreamLevel::Packed), ("adaptive", StreamLevel::Adaptive)]
            {
                eprintln!("measuring stamps, {link}, {level}");
                let conditions = Conditions {
                    level: Level::ADAPTIVE,
                    inputs,
                    repeats: self.repeats,
                    link: LinkConfig::named(link).ok_or("no such link")?,
                    seed: self.seed,
                    compares: false,
                };
                let (_, [with, without]) = Session::new(&mut scene, WHOLE, &conditions)?.run()?;
                let per_input = |bytes: u64| bytes as f64 / with.records as f64;
                let stamps = with.bytes - without.bytes;
                rows.push(StampRow {
                    link,
                    level,
                    inputs: with.records,
                    without_bytes: per_input(without.bytes),
                    with_bytes: per_input(with.bytes),
                    stamp_bytes: per_input(stamps),
                    sent_stamp_bytes: stamps as f64 / with.sent_records as f64,
                });
            }
        }
        Ok(rows)
    }
}

fn samples_table(rows: &[SampleRow]) -> Table {
    let header = [
        "scene",
        "setting",
        "inputs:\nrewound",
        "\nrefused",
        "samples:\ncompared",
        "\ndiffer",
        "\nmoving",
        "nearest tick:\nmean cm",
        "\n95 %",
        "\nlargest",
        "\nabsent",
        "interpolated:\nmean cm",
        "\n95 %",
        "\nlargest",
        "\nabsent",
        "by delay:\nmean cm",
        "\n95 %",
        "\nlargest",
        "\nabsent",
    ];
    let cells = rows.iter().map(|row| {
        let mut cells = vec![row.scene.to_owned(), row.setting.to_owned()];
        let counts = [row.rewound, row.refused, row.samples, row.differ, row.others.moving];
        cells.extend(counts.map(|count| count.to_string()));
        let Summary { nearest_tick, interpolated, by_delay, .. } = &row.others;
        cells.extend([nearest_tick, interpolated, by_delay].into_iter().flat_map(Errors::cells));
        cells
    });
    table(header, 2, cells)
}

impl Errors {
    fn cells(&self) -> [String; 4] {
        let [mean, p95, max] =
            [self.mean_cm, self.p95_cm, self.max_cm].map(|cm| format!("{cm:.2}"));
        [mean, p95, max, self.absent.to_string()]
    }
}

fn stamps_table(rows: &[StampRow]) -> Table {
    let header = [
        "link",
        "inputs' level",
        "inputs",
        "bytes an input:\nwithout stamp",
        "\nwith",
        "bytes a stamp",
        "\neach time that it is sent",
    ];
    let cells = rows.iter().map(|row| {
        let bytes = [row.without_bytes, row.with_bytes, row.stamp_bytes, row.sent_stamp_bytes];
        let mut cells = vec![row.link.to_owned(), row.level.to_owned(), row.inputs.to_string()];
        cells.extend(bytes.map(|bytes| format!("{bytes:.2}")));
        cells
    });
    table(header, 2, cells)
}
