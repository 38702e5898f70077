//! Measures the cost of groups (`spec/GROUP.md`) for captured runs of cubes: the bytes of first
//! frames and of other frames, and the time to write and read a frame.
//!
//! `cargo run --release -p comparisons --example groups -- typical.bin push.bin`

use std::error::Error;
use std::time::Instant;

use cube_data::cube::{self, Quantized};
use kinepack::group::{GroupReader, GroupWriter};
use kinepack::{Codec, Level, Snapshot};

const RATE_HZ: usize = 60;
/// The lengths of groups, in seconds.
const LENGTHS_S: [usize; 4] = [1, 2, 4, 10];

fn main() -> Result<(), Box<dyn Error>> {
    println!("| run | level | a group | first frame | others | mean | write µs | read µs |");
    println!("|---|---|--:|--:|--:|--:|--:|--:|");
    for path in std::env::args().skip(1) {
        let run = comparisons::runs::read(&path)?;
        for level in [Level::PACKED, Level::ADAPTIVE, Level::LEARNING] {
            let codec = Codec::new(cube::schema(Quantized::Everything), level, cube::profile())?;
            for seconds in LENGTHS_S {
                let [first, others, mean, write_us, read_us] =
                    measure(&codec, &run, seconds * RATE_HZ)?;
                println!(
                    "| {path} | {} | {seconds} s | {first:.0} | {others:.1} | {mean:.1} | \
                     {write_us:.0} | {read_us:.0} |",
                    level.row()
                );
            }
        }
    }
    Ok(())
}

/// Returns five means: the bytes of a first frame, of another frame, and of any frame, and the
/// microseconds to write and to read a frame.
fn measure(codec: &Codec, run: &[Snapshot], frames: usize) -> Result<[f64; 5], Box<dyn Error>> {
    let (mut writer, mut reader) = (GroupWriter::new(codec), GroupReader::new(codec));
    let (mut first_bytes, mut bytes, mut groups) = (0, 0, 0);
    let (mut writing, mut reading) = (0.0, 0.0);
    let mut group = Vec::new();
    for worlds in run.chunks(frames) {
        group.clear();
        writer.begin(None);
        let begin = Instant::now();
        for (nth, world) in worlds.iter().enumerate() {
            writer.write(world, &mut group)?;
            first_bytes += if nth == 0 { group.len() } else { 0 };
        }
        writing += begin.elapsed().as_secs_f64();
        reader.begin(None);
        let (mut left, mut is_exact) = (&group[..], true);
        let begin = Instant::now();
        for world in worlds {
            let view = reader.read(&mut left)?;
            is_exact &= view.is_some_and(|view| view.lane(0) == world.lane(0));
        }
        reading += begin.elapsed().as_secs_f64();
        assert!(is_exact && left.is_empty(), "the group is read as it was written");
        bytes += group.len();
        groups += 1;
    }
    let others = (bytes - first_bytes) as f64 / (run.len() - groups) as f64;
    let of_frame = |seconds: f64| 1e6 * seconds / run.len() as f64;
    Ok([
        first_bytes as f64 / groups as f64,
        others,
        bytes as f64 / run.len() as f64,
        of_frame(writing),
        of_frame(reading),
    ])
}
