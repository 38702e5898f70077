//! Measures replay files on captured runs of cubes, or on the built-in world. The measurements are
//! the size, the times to write, to read and to seek, the memory of a kill cam, and the sizes of
//! other ways to store the same lanes.
//!
//! `cargo run --release -p comparisons --example replays -- typical.bin push.bin world:3600`
//!
//! `world:SECONDS` is the built-in world. For an hour of the world, the other ways to store lanes
//! would take hours. They therefore store only the first two minutes.

use std::error::Error;
use std::io::{BufWriter, Cursor, Write};
use std::time::{Duration, Instant};

use comparisons::runs;
use cube_data::cube::{self, Quantized};
use cubes::Style;
use flate2::Compression;
use flate2::write::GzEncoder;
use kinepack::{Codec, Level, Snapshot};
use kinepack_replay::{KillCam, ReplayOptions, ReplayReader, ReplayWriter};
use serde_json::json;

type Outcome<T> = Result<T, Box<dyn Error>>;

const RATE_HZ: f64 = 60.0;
/// The maximum number of frames that the other ways store.
const RIVAL_FRAMES: usize = 7_200;
const SEEKS: u32 = 1_000;
const KILL_CAM: Duration = Duration::from_secs(10);
/// The size of an entity's lanes without compression in bytes, which is eight words.
const ENTITY_BYTES: usize = 32;

fn main() -> Outcome<()> {
    for name in std::env::args().skip(1) {
        let run: Box<dyn Fn() -> Outcome<Run>> = match name.strip_prefix("world:") {
            Some(seconds) => {
                let frames = seconds.parse::<usize>()? * RATE_HZ as usize;
                // The first frame is omitted, because nothing has moved in it.
                Box::new(move || {
                    Ok(Box::new(runs::simulated(Style::Typical)?.skip(1).take(frames)) as Run)
                })
            }
            None => {
                let frames = runs::read(&name)?;
                Box::new(move || Ok(Box::new(frames.clone().into_iter().map(Ok)) as Run))
            }
        };
        report(&name, &*run)?;
    }
    Ok(())
}

/// Frames, one after another.
type Run = Box<dyn Iterator<Item = Outcome<Snapshot>>>;

fn report(name: &str, run: &dyn Fn() -> Outcome<Run>) -> Outcome<()> {
    println!("\n{name}\n");
    println!("| level | MB | bytes a frame | an hour, MB | write µs | read µs | times real time |");
    println!("|---|--:|--:|--:|--:|--:|--:|");
    let mut files = Vec::new();
    for level in [Level::ADAPTIVE, Level::LEARNING] {
        let codec = Codec::new(cube::schema(Quantized::Everything), level, cube::profile())?;
        let (file, frames, write_us) = write(&codec, run()?)?;
        let read_us = read(&file, frames)?;
        let a_frame = file.len() as f64 / frames as f64;
        println!(
            "| {} | {:.2} | {a_frame:.1} | {:.1} | {write_us:.0} | {read_us:.0} | {:.0} |",
            if level == Level::LEARNING { "learning" } else { "adaptive" },
            file.len() as f64 / 1e6,
            a_frame * 3_600.0 * RATE_HZ / 1e6,
            1e6 / RATE_HZ / read_us
        );
        files.push((codec, file));
    }
    println!("\n| level | seek ms, mean | p99 | most | kill cam of 10 s, kB, mean | most |");
    println!("|---|--:|--:|--:|--:|--:|");
    for (codec, file) in files {
        let level = if codec.level().learning() { "learning" } else { "adaptive" };
        let [mean, p99, most] = seek(file)?;
        let [held, held_most] = kill_cam(&codec, run()?)?;
        println!("| {level} | {mean:.1} | {p99:.1} | {most:.1} | {held:.1} | {held_most:.1} |");
    }
    println!("\n| other ways, bytes a frame | |\n|---|--:|");
    for (what, bytes) in rivals(run()?)? {
        println!("| {what} | {bytes:.0} |");
    }
    Ok(())
}

/// Writes a replay. Returns the file, the number of its frames, and the microseconds to write a
/// frame.
fn write(codec: &Codec, run: Run) -> Outcome<(Vec<u8>, u64, f64)> {
    let mut file = Vec::new();
    let mut writer = ReplayWriter::to_writer(&mut file, codec, &ReplayOptions::at_hz(RATE_HZ))?;
    let mut spent = Duration::ZERO;
    for frame in run {
        let frame = frame?;
        let begin = Instant::now();
        writer.write(&frame)?;
        spent += begin.elapsed();
    }
    let begin = Instant::now();
    let summary = writer.finish()?;
    spent += begin.elapsed();
    Ok((file, summary.frames, spent.as_secs_f64() * 1e6 / summary.frames as f64))
}

/// Reads a replay from the beginning to the end. Returns the microseconds to read a frame.
fn read(file: &[u8], frames: u64) -> Outcome<f64> {
    let mut replay = ReplayReader::from_reader(Cursor::new(file.to_vec()))?;
    let begin = Instant::now();
    let (mut count, mut next) = (0, replay.first_frame()?);
    while let Some(frame) = next {
        count += 1;
        next = replay.frame_after(frame.tick)?;
    }
    assert_eq!((count, replay.damage().len()), (frames, 0));
    Ok(begin.elapsed().as_secs_f64() * 1e6 / frames as f64)
}

/// Shows random moments of a replay. Returns the mean, the 99th percentile and the largest time in
/// milliseconds.
fn seek(file: Vec<u8>) -> Outcome<[f64; 3]> {
    let mut replay = ReplayReader::from_reader(Cursor::new(file))?;
    let (first, last) = replay.ticks()?.ok_or("no frames")?;
    let mut random = 1_u32;
    let mut times: Vec<f64> = Vec::new();
    for _ in 0..SEEKS {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let at = f64::from(random) / f64::from(u32::MAX);
        let tick = f64::from(first.0) + at * f64::from(last.0 - first.0);
        let begin = Instant::now();
        replay.playback(tick)?.ok_or("no frames")?;
        times.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    Ok([mean, times[times.len() * 99 / 100], times[times.len() - 1]])
}

/// Fills a kill cam. Returns its mean and its largest size in kilobytes.
fn kill_cam(codec: &Codec, run: Run) -> Outcome<[f64; 2]> {
    let mut last = KillCam::new(codec, &ReplayOptions::at_hz(RATE_HZ), KILL_CAM);
    let full = (KILL_CAM.as_secs_f64() * RATE_HZ) as usize;
    let mut held = Vec::new();
    for (nth, frame) in run.take(RIVAL_FRAMES).enumerate() {
        last.write(&frame?)?;
        if nth >= full {
            held.push(last.memory_bytes() as f64 / 1e3);
        }
    }
    let mean = held.iter().sum::<f64>() / held.len() as f64;
    Ok([mean, held.into_iter().fold(0.0, f64::max)])
}

/// Returns the bytes per frame of other ways to store the same lanes.
fn rivals(run: Run) -> Outcome<Vec<(&'static str, f64)>> {
    let mut mcap = Vec::new();
    let mut messages = mcap::WriteOptions::new()
        .compression(Some(mcap::Compression::Zstd))
        .create(Cursor::new(&mut mcap))?;
    let channel = messages.add_channel(0, "cubes", "lanes", &Default::default())?;
    let mut xored = zstd::Encoder::new(Vec::new(), 19)?;
    let mut lines = GzEncoder::new(Vec::new(), Compression::default());
    let mut before: Vec<u32> = Vec::new();
    let (mut frames, mut raw) = (0, 0);
    for frame in run.take(RIVAL_FRAMES) {
        let frame = frame?;
        let lanes: Vec<u32> =
            (0..frame.lane_count()).flat_map(|lane| frame.lane(lane).iter().copied()).collect();
        let bytes = |words: &[u32]| -> Vec<u8> {
            words.iter().flat_map(|word| word.to_le_bytes()).collect()
        };
        let header = mcap::records::MessageHeader {
            channel_id: channel,
            sequence: frame.tick.0,
            log_time: u64::from(frame.tick.0),
            publish_time: 0,
        };
        messages.write_to_known_channel(&header, &bytes(&lanes))?;
        before.resize(lanes.len(), 0);
        let change: Vec<u32> = lanes.iter().zip(&before).map(|(now, old)| now ^ old).collect();
        xored.write_all(&bytes(&change))?;
        before = lanes;
        let mut line = BufWriter::new(&mut lines);
        for (index, id) in frame.ids().iter().enumerate() {
            let state = frame.get_at_index::<cube::Cube>(index)?;
            let cube::Cube { position, orientation, interacting } = state;
            let entity = json!({
                "tick": frame.tick.0, "id": id.0, "position": position,
                "orientation": orientation, "interacting": interacting,
            });
            writeln!(line, "{entity}")?;
        }
        line.flush()?;
        raw += ENTITY_BYTES * frame.len();
        frames += 1;
    }
    messages.finish()?;
    drop(messages);
    let all = [
        ("lanes as they are", raw),
        ("JSON lines with gzip", lines.finish()?.len()),
        ("MCAP with zstd", mcap.len()),
        ("`zstd -19` of XORed columns", xored.finish()?.len()),
    ];
    Ok(all.map(|(what, bytes)| (what, bytes as f64 / f64::from(frames))).to_vec())
}
