//! Writes a capture of any size with numbers that do not compress, to measure commands that read it.
//!
//! ```sh
//! cargo run --release -p comparisons --example large_capture -- large.mcap 10
//! ```

use std::path::PathBuf;

use kinepack::{EntityId, Pack, Tick};
use kinepack_capture::Recorder;

/// A state whose numbers change at random.
#[derive(Pack)]
struct Noise {
    #[pack(range = 0.0..=1.0, precision = 0.001)]
    position: [f64; 3],
    #[pack(range = 0.0..=1.0, precision = 0.001)]
    velocity: [f64; 3],
}

const ENTITIES: u32 = 2_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(path), Some(gigabytes)) = (arguments.next().map(PathBuf::from), arguments.next())
    else {
        return Err("give the file and its size in gigabytes".into());
    };
    let bytes_per_frame = u64::from(ENTITIES) * size_of::<Noise>() as u64;
    let frames = (gigabytes.parse::<f64>()? * 1e9) as u64 / bytes_per_frame;
    let mut recorder = Recorder::create(&path)?;
    let stream = recorder.stream::<Noise>("noise", 60.0)?;
    let mut state = 1_u64;
    let mut random = || {
        // The next lines are the generator SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    };
    for tick in 0..frames {
        let things = (0..ENTITIES).map(|id| {
            let position = [random(), random(), random()];
            (EntityId(id), Noise { position, velocity: [random(), random(), random()] })
        });
        recorder.record(&stream, Tick(tick as u32), things)?;
    }
    let summary = recorder.finish()?;
    println!("{}: {} frames, {} bytes", path.display(), summary.frames, summary.bytes);
    Ok(())
}
