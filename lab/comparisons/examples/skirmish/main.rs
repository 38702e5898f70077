//! Sends a game with five kinds of entities in three ways: as one world, as a world for each kind,
//! and in a general format. Measures the bytes per frame.
//!
//! Run it with `cargo run --release -p comparisons --example skirmish`. With the name of a file
//! after `--`, the program instead records the game as a capture for the commands.
//!
//! The game is simulated: 64 players roll among 300 crates, which they push, shoot 200 darts per
//! second, and use 25 doors and 25 pickups. Three runs of 20 seconds train the profiles. A further
//! run with other random numbers is measured. Each of its frames is coded against the frame 6
//! frames (100 ms) earlier, decoded and compared.
//!
//! - One world: a schema of five kinds.
//! - A world for each kind: five schemas, each with a profile of its own. The bytes are the sum.
//! - `bitcode`, then zstd -3: the changed components in structs of the smallest types.
//!
//! Then hubs send the game over a link that loses 5 % of all datagrams, without and with its
//! events: hits, pickups that players take, and impacts of darts. Hits and pickups must arrive
//! exactly once, in order, and with their tick.

mod events;
mod game;
mod kinds;
mod plain;
mod session;

#[allow(dead_code, reason = "the examples of `kinepack-capture` use the rest")]
#[path = "../../../../crates/kinepack-capture/examples/common/mod.rs"]
mod common;

use std::error::Error;
use std::time::Instant;

use comfy_table::{CellAlignment, Table, presets};
use game::{Game, RATE_HZ, WARM_UP_S};
use kinds::Happening;
use kinepack::training::{ProfileSearch, Training};
use kinepack::{Baselines, Codec, Decoder, Encoder, Level, Profile, Schema, Snapshot, Tick, View};
use kinepack_capture::Recorder;
use kinepack_net::EventKinds;

const SECONDS: u32 = 20;
/// The time until the players have spread out.
/// The number of frames between a frame and its baseline, and between the older views of the
/// adaptive level.
const LAG_FRAMES: usize = 6;
const LOSS: f32 = 0.05;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let schema = kinds::schema()?;
    if let Some(path) = std::env::args().nth(1) {
        return record(&schema, &path);
    }
    let training = [1, 3, 4].map(|seed| simulate(&schema, seed));
    let training = training.into_iter().collect::<Outcome<Vec<_>>>()?;
    let (training, happened_before): (Vec<_>, Vec<_>) = training.into_iter().unzip();
    let (measured, happened) = simulate(&schema, 2)?;
    let whole = World { schema, training, measured };
    print_counts(&whole);
    // The first world has all kinds, and each of the others one kind.
    let kinds = (0..whole.schema.kinds().len()).map(|kind| whole.of_kind(kind));
    let kinds = kinds.collect::<Outcome<Vec<World>>>()?;
    let worlds: Vec<World> = [whole].into_iter().chain(kinds).collect();
    let mut trained = Vec::new();
    for (nth, world) in worlds.iter().enumerate() {
        eprintln!("training {} of {}", nth + 1, worlds.len());
        trained.push(world.train()?);
    }
    compare_codecs(&worlds, &trained)?;
    compare_hubs(&worlds, &trained, &events::kinds(&happened_before.concat())?, &happened)
}

/// Measures frames, each coded against the frame 100 ms earlier.
fn compare_codecs(worlds: &[World], trained: &[Profile]) -> Outcome<()> {
    let mut table = markdown(&["", "bytes a frame", "of one world", "encode µs", "decode µs"]);
    for (name, level, is_trained) in [
        ("`packed`, trained", Level::PACKED, true),
        ("`adaptive`, untrained", Level::ADAPTIVE, false),
        ("`adaptive`, trained", Level::ADAPTIVE, true),
    ] {
        let measure = |(world, trained): (&World, &Profile)| {
            let untrained = || Profile::untrained(&world.schema);
            world.measure(level, if is_trained { trained.clone() } else { untrained() })
        };
        let one = measure((&worlds[0], &trained[0]))?;
        let mut each = Cost::default();
        for world in worlds[1..].iter().zip(&trained[1..]) {
            each.add(&measure(world)?);
        }
        one.add_to(&mut table, &format!("one world, {name}"), 1.0);
        each.add_to(&mut table, &format!("a world for each kind, {name}"), each.bytes / one.bytes);
        if is_trained && level == Level::ADAPTIVE {
            let [plain, compressed] = worlds[0].measure_rival()?;
            for (name, bytes) in [("bitcode", plain), ("bitcode, then zstd -3", compressed)] {
                let cost = Cost { bytes, ..Cost::default() };
                let name = format!("{name}, of changed components");
                cost.add_to(&mut table, &name, bytes / one.bytes);
            }
        }
    }
    println!("{table}\n");
    Ok(())
}

/// Sends the worlds over a link that loses datagrams, without and with the events of each tick.
fn compare_hubs(
    worlds: &[World],
    trained: &[Profile],
    event_kinds: &[EventKinds; 2],
    happened: &[Vec<Happening>],
) -> Outcome<()> {
    let mut table = markdown(&[
        "over a link that loses 5 %",
        "bytes a tick",
        "with headers",
        "snapshots",
        "wrong lanes",
        "events",
        "late",
        "dropped",
    ]);
    let mut sent = Vec::new();
    for (world, profile) in worlds.iter().zip(trained) {
        let codec = Codec::new(world.schema.clone(), Level::ADAPTIVE, profile.clone())?;
        sent.push((codec, &world.measured[..]));
    }
    let (one, each) = sent.split_at(1);
    let [untrained_events, trained_events] = event_kinds;
    for (name, worlds, events, crates_every) in [
        ("one hub", one, None, 1),
        ("a hub for each kind", each, None, 1),
        ("one hub, crates in every 2nd tick", one, None, 2),
        ("one hub, crates in every 4th tick", one, None, 4),
        ("one hub, crates in every 8th tick", one, None, 8),
        ("one hub, and events, untrained", one, Some(untrained_events), 1),
        ("one hub, and events, trained", one, Some(trained_events), 1),
    ] {
        let events = events.map(|kinds| (kinds, happened));
        let outcome = session::play(worlds, events, crates_every, LOSS)?;
        let per_tick = |bytes: u64| format!("{:.1}", bytes as f64 / happened.len() as f64);
        table.add_row([
            name.to_owned(),
            per_tick(outcome.bytes),
            per_tick(outcome.bytes_with_headers()),
            outcome.snapshots.to_string(),
            outcome.wrong_lanes.to_string(),
            outcome.events.to_string(),
            outcome.late_events.to_string(),
            outcome.dropped_events.to_string(),
        ]);
        if outcome.wrong_lanes > 0 {
            println!("{table}");
            return Err("a receiver's state is not the game's".into());
        }
    }
    align(&mut table);
    println!("{table}");
    Ok(())
}

/// Plays the game, and calls `each` with every frame after the warm-up.
fn play(seed: u64, mut each: impl FnMut(&Game, Tick) -> Outcome<()>) -> Outcome<()> {
    eprintln!("simulating {SECONDS} seconds");
    let mut game = Game::warmed_up(seed)?;
    for tick in WARM_UP_S * RATE_HZ..(WARM_UP_S + SECONDS) * RATE_HZ {
        game.step();
        each(&game, Tick(tick))?;
    }
    Ok(())
}

/// Returns the frames of the game, and the events in each frame.
fn simulate(schema: &Schema, seed: u64) -> Outcome<(Vec<Snapshot>, Vec<Vec<Happening>>)> {
    let (mut frames, mut happened) = (Vec::new(), Vec::new());
    play(seed, |game, tick| {
        frames.push(game.world(schema, tick)?);
        happened.push(game.happened.clone());
        Ok(())
    })?;
    Ok((frames, happened))
}

/// Records the numbers of the game before quantization.
fn record(schema: &Schema, path: &str) -> Outcome<()> {
    let mut recorder = Recorder::create(path)?;
    let stream = recorder.stream_of_kinds("skirmish", schema, RATE_HZ.into())?;
    play(1, |game, tick| {
        let mut frame = recorder.frame(&stream, tick)?;
        game.show(|id, being| being.record(id, &mut frame))?;
        Ok(frame.finish()?)
    })?;
    let summary = recorder.finish()?;
    println!("{path}: {} frames, {} bytes", summary.frames, summary.bytes);
    println!("next: cargo run --release -- analyze {path}");
    Ok(())
}

fn print_counts(world: &World) {
    let frames = &world.measured;
    let kinds = world.schema.kinds().iter().enumerate().map(|(kind, of)| {
        let entities: usize = frames.iter().map(|frame| frame.of_kind(kind).len()).sum();
        format!("{:.0} of {}", entities as f64 / frames.len() as f64, of.name())
    });
    let kinds: Vec<String> = kinds.collect();
    println!("entities in a frame: {}\n", kinds.join(", "));
}

/// A schema, and frames to train on and to measure.
struct World {
    schema: Schema,
    /// The frames of several runs, to train on.
    training: Vec<Vec<Snapshot>>,
    measured: Vec<Snapshot>,
}

/// The mean costs of a frame.
#[derive(Default)]
struct Cost {
    bytes: f64,
    encode_us: f64,
    decode_us: f64,
}

impl Cost {
    fn add(&mut self, other: &Self) {
        self.bytes += other.bytes;
        self.encode_us += other.encode_us;
        self.decode_us += other.decode_us;
    }

    fn add_to(&self, table: &mut Table, name: &str, ratio: f64) {
        let number =
            |number: f64| if number > 0.0 { format!("{number:.1}") } else { String::new() };
        table.add_row([
            name.to_owned(),
            number(self.bytes),
            format!("{ratio:.2}"),
            number(self.encode_us),
            number(self.decode_us),
        ]);
        align(table);
    }
}

impl World {
    /// Returns the entities of one kind, in a schema of that kind alone.
    fn of_kind(&self, kind: usize) -> Outcome<Self> {
        let schema = self.schema.of_kind(kind);
        let of_kind = |frame: &Snapshot| -> Outcome<Snapshot> {
            let mut alone = Snapshot::new(&schema, frame.tick);
            for (row, id) in frame.ids()[frame.of_kind(kind)].iter().enumerate() {
                let lanes = frame.lanes_of(kind).map(|lane| frame.lane(lane)[row]);
                alone.push_lanes(*id, &lanes.collect::<Vec<u32>>())?;
            }
            Ok(alone)
        };
        let run = |frames: &Vec<Snapshot>| frames.iter().map(of_kind).collect::<Outcome<Vec<_>>>();
        let training = self.training.iter().map(run).collect::<Outcome<Vec<_>>>()?;
        Ok(Self { training, measured: run(&self.measured)?, schema: schema.clone() })
    }

    fn train(&self) -> Outcome<Profile> {
        let runs = &self.training[..];
        let structure = ProfileSearch::default().run(&self.schema, runs, |_| ())?;
        let bodies = kinds::bodies(&self.schema);
        let training = Training {
            max_lags_ticks: vec![2, 6, 12],
            passes: 4,
            snapshots_per_pass: 1200,
            ..Training::new(structure, bodies)
        };
        Ok(training.run(&self.schema, runs, |_| ())?)
    }

    fn measure(&self, level: Level, profile: Profile) -> Outcome<Cost> {
        let codec = Codec::new(self.schema.clone(), level, profile)?;
        let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
        let views: Vec<View> =
            self.measured.iter().map(|frame| View::from(frame.clone())).collect();
        let (mut packet, mut cost) = (Vec::new(), Cost::default());
        for (index, frame) in self.measured.iter().enumerate().skip(3 * LAG_FRAMES) {
            let known = Baselines::new([1, 2, 3].map(|lags| &views[index - lags * LAG_FRAMES]))?;
            packet.clear();
            let begin = Instant::now();
            let sent = encoder.encode(known, frame, &mut packet)?;
            cost.encode_us += begin.elapsed().as_secs_f64() * 1e6;
            let begin = Instant::now();
            let received = decoder.decode(known, &packet, frame.tick)?;
            cost.decode_us += begin.elapsed().as_secs_f64() * 1e6;
            cost.bytes += packet.len() as f64;
            if **received.snapshot() != *frame {
                return Err("the decoded world differs from the encoded one".into());
            }
            encoder.recycle(sent);
            decoder.recycle(received);
        }
        let count = (self.measured.len() - 3 * LAG_FRAMES) as f64;
        let Cost { bytes, encode_us, decode_us } = cost;
        Ok(Cost {
            bytes: bytes / count,
            encode_us: encode_us / count,
            decode_us: decode_us / count,
        })
    }

    /// Returns the bytes of a packet before and after zstd.
    fn measure_rival(&self) -> Outcome<[f64; 2]> {
        let worlds: Vec<plain::World> = self.measured.iter().map(plain::World::new).collect();
        let mut rival = plain::Rival::new()?;
        let mut bytes = [0; 2];
        for (index, now) in worlds.iter().enumerate().skip(3 * LAG_FRAMES) {
            let packet = rival.measure(&worlds[index - LAG_FRAMES], now)?;
            bytes = [bytes[0] + packet.bitcode, bytes[1] + packet.zstd];
        }
        let count = (worlds.len() - 3 * LAG_FRAMES) as f64;
        Ok(bytes.map(|bytes| bytes as f64 / count))
    }
}

fn markdown(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(header);
    table
}

fn align(table: &mut Table) {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}
