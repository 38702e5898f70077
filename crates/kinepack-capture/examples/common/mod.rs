//! The parts that the three games share: random numbers that are the same on every run, and the
//! main program.

use std::error::Error;
use std::path::Path;

use kinepack_capture::RecordSummary;

/// `SplitMix64`, because it needs few lines and gives the same numbers for the same seed.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a random number that is at least 0 and below 1.
    pub(crate) fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) >> 40) as f32 / (1 << 24) as f32
    }

    /// Returns a random number that is at least `low` and below `high`.
    pub(crate) fn within(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }
}

/// The result of a recording.
pub(crate) type Recorded = Result<RecordSummary, Box<dyn Error>>;

/// Records a minute into the file that the command line names, and prints the next step.
pub(crate) fn run(record: fn(&Path, u32) -> Recorded) -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("name the file to record into, such as game.mcap")?;
    let summary = record(Path::new(&path), 60)?;
    println!(
        "{path}: {} frames, {} states of entities, {} bytes",
        summary.frames, summary.entities, summary.bytes
    );
    println!("next: cargo run --release -- analyze {path}");
    Ok(())
}
