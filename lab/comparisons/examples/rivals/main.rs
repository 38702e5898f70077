//! Compares this library with other formats on the same frames, by bytes and time per frame.
//!
//! Run it with `cargo run --release -p comparisons --example rivals -- [FILE...]`. The files are
//! challenge files, which are read completely. Without files, the program uses 10 seconds of the
//! built-in world in each of two styles.
//!
//! Frames are quantized once, before the clock starts. Each rival gets the frames in the form that
//! suits it. A rival that can use a baseline also gets the frame 6 frames (100 ms) earlier. Each
//! rival encodes and decodes every frame, and the results are compared. The bytes are the payload
//! without headers. The time of a frame is the fastest of five passes, and times are means over the
//! frames. Memory is reused if the rival allows it.
//!
//! - bitcode: a derived binary format that lays each field of all structs out as a column and packs
//!   it.
//! - zstd: the general compressor with a reused context. Level 3 is its default.
//! - compactly: a derived format with arithmetic coding, whose models start anew with each packet.

mod formats;
mod frame;

use std::error::Error;
use std::time::{Duration, Instant};

use comfy_table::{CellAlignment, Table, presets};
use comparisons::runs;
use cubes::Style;
use formats::{Bitcode, Compactly, Kinepack, Rival, Sent, Structs, Xor, Zstd};
use frame::{Frame, Known};
use kinepack::{Baselines, Level, Snapshot};

/// The number of frames between a frame and its baseline, and between the older views of the
/// adaptive level.
const LAG_FRAMES: usize = 6;
/// The number of frames in a run of the built-in world.
const WORLD_FRAMES: usize = 600;
/// The number of frames per second.
const RATE_HZ: f64 = 60.0;
const PASSES: usize = 5;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    for file in &files {
        report(file, runs::read(file)?)?;
    }
    if files.is_empty() {
        for (name, style) in [("typical", Style::Typical), ("push", Style::Push)] {
            let run = runs::simulated(style)?.take(WORLD_FRAMES + LAG_FRAMES);
            report(&format!("built-in world, {name}"), run.collect::<Outcome<_>>()?)?;
        }
    }
    Ok(())
}

/// Measures every rival on the frames, and prints the table as Markdown.
fn report(name: &str, run: Vec<Snapshot>) -> Outcome<()> {
    let frames: Vec<Frame> = run.into_iter().map(Frame::new).collect();
    let rivals: [(&str, Box<dyn Rival>); 9] = [
        ("bitcode, all entities", Box::new(Structs::new(Bitcode::default(), Sent::All))),
        ("bitcode, changed entities", Box::new(Structs::new(Bitcode::default(), Sent::Changed))),
        (
            "bitcode, all, then zstd -3",
            Box::new(Structs::new(Zstd::new(Bitcode::default())?, Sent::All)),
        ),
        (
            "bitcode, changed, then zstd -3",
            Box::new(Structs::new(Zstd::new(Bitcode::default())?, Sent::Changed)),
        ),
        ("zstd -3 of the XOR with the baseline", Box::new(Xor::new()?)),
        ("compactly, all entities", Box::new(Structs::new(Compactly, Sent::All))),
        ("compactly, changed entities", Box::new(Structs::new(Compactly, Sent::Changed))),
        ("kinepack `packed`", Box::new(Kinepack::new(Level::PACKED)?)),
        ("kinepack `adaptive`", Box::new(Kinepack::new(Level::ADAPTIVE)?)),
    ];
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["", "bytes a frame", "kbit/s at 60 Hz", "encode µs", "decode µs"]);
    for (name, mut rival) in rivals {
        let Cost { bytes, encode_us, decode_us } =
            measure(&mut *rival, &frames).map_err(|error| format!("{name}: {error}"))?;
        let kbps = bytes * 8.0 * RATE_HZ / 1000.0;
        let numbers = [bytes, kbps, encode_us, decode_us].map(|number| format!("{number:.1}"));
        table.add_row([name.to_owned()].into_iter().chain(numbers));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    println!(
        "{name}, {} frames, each decoded and compared:\n\n{table}\n",
        frames.len().saturating_sub(LAG_FRAMES)
    );
    Ok(())
}

/// The mean costs of a frame.
struct Cost {
    bytes: f64,
    encode_us: f64,
    decode_us: f64,
}

fn measure(rival: &mut dyn Rival, frames: &[Frame]) -> Outcome<Cost> {
    let count =
        frames.len().checked_sub(LAG_FRAMES).filter(|count| *count > 0).ok_or("too few frames")?;
    let mut packet = Vec::new();
    let mut bytes = 0;
    let mut fastest = vec![[Duration::MAX; 2]; frames.len()];
    for _ in 0..PASSES {
        bytes = 0;
        for (index, frame) in frames.iter().enumerate().skip(LAG_FRAMES) {
            let known = [1, 2, 3]
                .into_iter()
                .filter_map(|lags| frames.get(index.checked_sub(lags * LAG_FRAMES)?));
            let views = Baselines::new(known.map(|frame| &frame.view))?;
            let known = Known { baseline: &frames[index - LAG_FRAMES], views };
            packet.clear();
            let begin = Instant::now();
            rival.encode(&known, frame, &mut packet)?;
            let encoded = Instant::now();
            rival.decode(&known, &packet, frame.view.tick)?;
            let times = [encoded - begin, encoded.elapsed()];
            bytes += packet.len();
            if !rival.holds(frame) {
                return Err(format!("frame {index} differs from the encoded one").into());
            }
            for (fastest, time) in fastest[index].iter_mut().zip(times) {
                *fastest = time.min(*fastest);
            }
        }
    }
    let mean_us = |which: usize| {
        let total: Duration = fastest[LAG_FRAMES..].iter().map(|times| times[which]).sum();
        total.as_secs_f64() * 1e6 / count as f64
    };
    Ok(Cost { bytes: bytes as f64 / count as f64, encode_us: mean_us(0), decode_us: mean_us(1) })
}
