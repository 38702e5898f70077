//! Measures client-side prediction: whether a character that only its player moves needs
//! corrections, how smooth its shown path stays when others push it, and the time that this takes.
//!
//! ```text
//! cargo run --release -p comparisons --example predict -- [--seconds 60] [--seed 1]
//! ```
//!
//! - `alone`: the client and the server step the same character with the same inputs. The server
//!   rounds its states with `Pack::rounded`, or does not. An input that did not arrive in time is a
//!   real difference, so these ticks are counted beside the corrections.
//! - `pushed`: once a second, the server pushes the character by 1 to 3 m/s, which the client
//!   learns of only when the state arrives. *Jump* is how far what is shown moves at the moment of
//!   a correction. *Bend* is the largest second difference of three frames: how much a step from
//!   frame to frame differs from the one before. The true motion has bends too, since a push
//!   changes the velocity at once. Beside it are the same walk without pushes, and a client that
//!   shows corrections at once. The player does not jump here.
//! - `cost`: the time of an input, and of a correction that repeats 15 and 60 ticks.
//!
//! The moves are those of `lab/character`'s scripted player at 60 Hz. Time is virtual, except that
//! of `cost`.

mod character;
mod session;

use std::error::Error;
use std::time::{Duration, Instant};

use clap::Parser;
use command_kit::table::table;
use kinepack::{Schema, Tick};
use kinepack_net::{LinkConfig, Loss, PredictConfig, Predicted, Repair};

use crate::character::{BEGIN, CHARACTER, Character, HZ, Input, step};
use crate::session::{Conditions, play};

type Outcome<T> = Result<T, Box<dyn Error>>;

#[derive(Parser)]
struct Arguments {
    /// The length of each session.
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// The seed of the links and the player.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Whether others push the character, and how long an offset fades.
const FADES_MS: [(bool, u64); 5] =
    [(false, 1_000), (true, 500), (true, 1_000), (true, 2_000), (true, 0)];

/// The links, with their names.
fn links() -> Outcome<Vec<(&'static str, LinkConfig)>> {
    let mut links = Vec::new();
    for name in ["wifi", "mobile", "terrible"] {
        links.push((name, LinkConfig::named(name).ok_or("no such link")?));
    }
    let latency = Duration::from_millis(40);
    let loss = Loss::Independent { ratio: 0.1 };
    links.push(("10 % lost", LinkConfig { latency, loss, ..LinkConfig::PERFECT }));
    Ok(links)
}

fn alone(conditions: &Conditions) -> Outcome<()> {
    let mut rows: Vec<[String; 7]> = Vec::new();
    for (name, link) in links()? {
        for (rounds, server) in [(true, "rounds"), (false, "does not round")] {
            let found = play(&Conditions { link, rounds, ..*conditions })?;
            rows.push([
                name.to_owned(),
                server.to_owned(),
                found.lead_ticks.to_string(),
                found.missed.to_string(),
                (found.stats.confirmed + found.stats.corrected).to_string(),
                found.stats.corrected.to_string(),
                format!("{:.1}", found.correction_mm / 10.0),
            ]);
        }
    }
    let titles =
        ["link", "server", "lead ticks", "inputs missed", "states", "corrections", "largest cm"];
    println!("alone\n{}\n", table(titles, 2, rows).trim_fmt());
    Ok(())
}

fn pushed(conditions: &Conditions) -> Outcome<()> {
    let mut rows: Vec<[String; 8]> = Vec::new();
    for (name, link) in links()? {
        for frames_hz in [60, 144] {
            for (is_pushed, fade_ms) in FADES_MS {
                let mut conditions =
                    Conditions { link, frames_hz, is_pushed, jumps: false, ..*conditions };
                conditions.config.position_fade = Duration::from_millis(fade_ms);
                let found = play(&conditions)?;
                rows.push([
                    name.to_owned(),
                    frames_hz.to_string(),
                    match (is_pushed, fade_ms) {
                        (false, _) => "not pushed".to_owned(),
                        (true, 0) => "at once".to_owned(),
                        (true, _) => format!("fades, {fade_ms} ms"),
                    },
                    found.stats.corrected.to_string(),
                    format!("{:.1}", found.correction_mm / 10.0),
                    format!("{:.3}", found.jump_mm),
                    format!("{:.1}", found.bend_mm),
                    format!("{:.1}", found.true_bend_mm),
                ]);
            }
        }
    }
    let titles = [
        "link",
        "frames/s",
        "shown",
        "corrections",
        "largest cm",
        "jump mm",
        "bend mm",
        "true bend",
    ];
    println!("pushed\n{}\n", table(titles, 3, rows).trim_fmt());
    Ok(())
}

/// The times of an input and of corrections, in microseconds.
fn cost() -> Outcome<()> {
    const COUNT: u32 = 20_000;
    let schema = Schema::of::<Character>();
    let input = Input { acceleration: [3.0, 1.0], yaw_deg: 30.0, jumps: false };
    let us = |begun: Instant| begun.elapsed().as_secs_f64() * 1e6 / f64::from(COUNT);
    let mut rows: Vec<[String; 2]> = Vec::new();
    for repair in [Repair::Repeat, Repair::Blend] {
        let config = PredictConfig { history_ticks: 128, repair, ..PredictConfig::at_hz(HZ) };
        let mut predicted = Predicted::<Character, Input>::new(&schema, config)?;
        predicted.add(CHARACTER, Tick(0), &BEGIN, step)?;
        let begun = Instant::now();
        for tick in 1..=COUNT {
            predicted.push(Tick(tick), &input, step)?;
        }
        if repair == Repair::Repeat {
            rows.push(["an input".to_owned(), format!("{:.2}", us(begun))]);
        }
        let mut tick = COUNT;
        for repeated in [15, 60] {
            let mut spent = Duration::ZERO;
            for nth in 0..COUNT {
                tick += 1;
                predicted.push(Tick(tick), &input, step)?;
                let position = [f64::from(nth % 50) / 100.0, 0.0, 0.0];
                let state = Character { position, ..BEGIN };
                let begun = Instant::now();
                predicted.correct(CHARACTER, Tick(tick - repeated), &state, step)?;
                spent += begun.elapsed();
            }
            let us = spent.as_secs_f64() * 1e6 / f64::from(COUNT);
            let verb = if repair == Repair::Repeat { "repeats" } else { "shifts" };
            rows.push([format!("a correction that {verb} {repeated} ticks"), format!("{us:.2}")]);
        }
    }
    println!("cost\n{}", table(["", "µs"], 1, rows).trim_fmt());
    Ok(())
}

fn main() -> Outcome<()> {
    let Arguments { seconds, seed } = Arguments::parse();
    let conditions = Conditions {
        link: LinkConfig::PERFECT,
        frames_hz: 60,
        is_pushed: false,
        jumps: true,
        rounds: true,
        config: PredictConfig::at_hz(HZ),
        seconds,
        seed,
    };
    alone(&conditions)?;
    pushed(&conditions)?;
    cost()
}
