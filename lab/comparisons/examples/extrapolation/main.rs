//! Measures what playback shows while states are late: the newest state, held, or its motion,
//! continued straight.
//!
//! ```text
//! cargo run --release -p comparisons --example extrapolation -- [--scene typical] [--link wifi]
//! ```
//!
//! A client draws at 60 Hz over a bad link, with the adaptive playout delay and with a fixed one of
//! 50 ms. Only entities that move count, by more than 1 cm/s.
//!
//! - *starved*: the share of frames in which playback needs a newer state, and the mean and the
//!   longest time of such frames in a row.
//! - *lag*: by how much the shown moment lags the server, on average. While the world is held, the
//!   lag grows.
//! - *error*: the distance of what the smoother shows from the true world at the shown moment.
//! - *now*: the same, from the true world at the server's time.
//! - *step*: the longest way of an entity from one frame to the next, less its true way in a tick:
//!   as the smoother shows it, and as the samples are. That is how far it leaps.
//! - *beyond*: only samples that continue straight: the mean distance from the true world, and that
//!   of the held state. The same for rotations, in degrees.
//!
//! The scenes are the cubes of the built-in world in two styles, each without velocities and with,
//! and the game of `skirmish`. Time is virtual.

mod scene;
mod session;

#[allow(dead_code, reason = "the examples of `kinepack-capture` use the rest")]
#[path = "../../../../crates/kinepack-capture/examples/common/mod.rs"]
mod common;
#[allow(dead_code, reason = "`skirmish` uses the rest")]
#[path = "../skirmish/game.rs"]
mod game;
#[allow(dead_code, reason = "`skirmish` uses the rest")]
#[path = "../skirmish/kinds.rs"]
mod kinds;

use std::error::Error;
use std::io::Write;
use std::time::Duration;

use clap::Parser;
use command_kit::print;
use command_kit::table::{Table, table, write_json};
use kinepack_net::{Extrapolation, LinkConfig};
use serde::Serialize;

use scene::{SCENES, Scene};
use session::{Found, Setting};

type Outcome<T> = Result<T, Box<dyn Error>>;

#[derive(Parser)]
struct Arguments {
    /// Only the scenes with this in their names.
    #[arg(long, default_value = "")]
    scene: String,
    /// Only the links with this in their names.
    #[arg(long, default_value = "")]
    link: String,
    /// The length of each session.
    #[arg(long, default_value_t = 30)]
    seconds: u32,
    /// The time until a twentieth of the distance to the true place is left.
    #[arg(long, default_value_t = 200)]
    fade_ms: u64,
    /// The seed of the link.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    scene: &'static str,
    link: &'static str,
    delay: &'static str,
    shown: &'static str,
    #[serde(flatten)]
    found: Found,
}

const fn straight(ms: u64) -> Extrapolation {
    Extrapolation::Straight { at_most: Duration::from_millis(ms) }
}

/// What is shown. A game without a function of its own holds, beside kinds that continue.
const CHOICES: [(&str, Extrapolation); 4] = [
    ("hold", Extrapolation::Hold),
    ("straight 100 ms", straight(100)),
    ("straight 250 ms", straight(250)),
    ("hold beside", Extrapolation::Game { at_most: Duration::from_millis(150) }),
];
/// The link, and whether nothing arrives for 300 ms of every 3 s.
const LINKS: [(&str, &str, bool); 4] = [
    ("wifi", "wifi", false),
    ("mobile", "mobile", false),
    ("terrible", "terrible", false),
    ("wifi, outages", "wifi", true),
];
const FIXED: Duration = Duration::from_millis(50);
const DELAYS: [(&str, Option<Duration>); 2] = [("adaptive", None), ("50 ms", Some(FIXED))];

fn main() -> Outcome<()> {
    let arguments = Arguments::parse();
    let mut rows = Vec::new();
    for scene_name in SCENES.into_iter().filter(|name| name.contains(&arguments.scene)) {
        eprintln!("simulating {scene_name}");
        let scene = Scene::new(scene_name, arguments.seconds)?;
        for (link, preset, outages) in
            LINKS.into_iter().filter(|(name, ..)| name.contains(&arguments.link))
        {
            for (delay, fixed_delay) in DELAYS {
                for (shown, extrapolation) in CHOICES {
                    let setting = Setting {
                        link: LinkConfig::named(preset).ok_or("no such link")?,
                        outages,
                        fixed_delay,
                        extrapolation,
                        fade: Duration::from_millis(arguments.fade_ms),
                        seed: arguments.seed,
                    };
                    let found = session::run(&scene, &setting)?;
                    rows.push(Row { scene: scene_name, link, delay, shown, found });
                }
            }
        }
    }
    print(|out| {
        if arguments.json {
            return write_json(&rows, out);
        }
        writeln!(out, "{}", rows_table(&rows).trim_fmt())
    })?;
    Ok(())
}

fn rows_table(rows: &[Row]) -> Table {
    let header = [
        "scene",
        "link",
        "delay",
        "shown",
        "starved\n%",
        "\nmean ms",
        "\nlongest",
        "lag\nms",
        "error, mm\nmean",
        "\n99 %",
        "\nlargest",
        "now, mm\nmean",
        "step, mm\nsmooth",
        "\nsamples",
        "beyond\n%",
        "\nmm",
        "\nheld mm",
        "\ndegrees",
        "\nheld",
    ];
    let cells = rows.iter().map(|row| {
        let Found { starved_ratio, starved_ms, longest_ms, lag_ms, .. } = row.found;
        let Found { error_mm, p99_mm, largest_mm, now_mm, step_mm, sample_step_mm, .. } = row.found;
        let Found { beyond_ratio, beyond_mm, held_mm, beyond_degrees, held_degrees, .. } =
            row.found;
        let mut cells = [row.scene, row.link, row.delay, row.shown].map(String::from).to_vec();
        cells.push(format!("{:.2}", starved_ratio * 100.0));
        let numbers = [
            starved_ms,
            longest_ms,
            lag_ms,
            error_mm,
            p99_mm,
            largest_mm,
            now_mm,
            step_mm,
            sample_step_mm,
        ];
        cells.extend(numbers.map(|number| format!("{number:.0}")));
        cells.push(format!("{:.2}", beyond_ratio * 100.0));
        let numbers = [beyond_mm, held_mm, beyond_degrees, held_degrees];
        cells.extend(numbers.map(|number| format!("{number:.1}")));
        cells
    });
    table(header, 4, cells)
}
