//! `kinepack demo`: the built-in world, quantized, coded and decoded before your eyes.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use kinepack::Level;
use kinepack_capture::cube::{Cube, Measured};

use crate::failure::Failure;
use crate::ladder::{Ladder, Measurement, Parameters};
use crate::report::{HEADER_BYTES, Report, kbps, print};
use crate::world::WorldArguments;

/// The baseline is 100 ms old, as with a round trip of that length.
const LAG_FRAMES: u32 = 6;
/// Frames between two refreshes of the display.
const REFRESH_FRAMES: u32 = 6;

/// Show a physics world being quantized, delta-coded and decoded, with the bits of every stage.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    world: WorldArguments,
    /// Do not wait for the world's clock.
    #[arg(long)]
    fast: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut world = arguments.world.play()?;
    let mut ladder = Ladder::new(&Level::TABLE, LAG_FRAMES, Parameters::BuiltIn);
    let live = Live::new(arguments.world.frames());
    let paced = io::stderr().is_terminal() && !arguments.fast;
    let begin = Instant::now();
    let mut states = Vec::new();
    let mut difference = Difference::default();
    for frame in 0..arguments.world.frames() {
        world.next_frame(&mut states);
        ladder.add(&states)?;
        difference.add(&states, &ladder)?;
        if frame % REFRESH_FRAMES == 0 && frame > LAG_FRAMES {
            live.show(&ladder, &difference);
        }
        live.bar.inc(1);
        if paced {
            let due = Duration::from_secs(1) * (frame + 1) / cubes::TICK_HZ;
            std::thread::sleep(due.saturating_sub(begin.elapsed()));
        }
    }
    live.finish();
    let rate_hz = cubes::TICK_HZ;
    let report = Report::new(arguments.world.name(), LAG_FRAMES, rate_hz, states.len(), ladder.measurements());
    print(|out| report.write_table(out).and_then(|()| difference.write(out)))
}

/// How far the decoded state is from the simulated one: quantization, and nothing else.
#[derive(Default)]
struct Difference {
    frames: u32,
    largest_mm: f64,
    largest_deg: f64,
}

impl Difference {
    fn add(&mut self, states: &[Measured], ladder: &Ladder) -> Result<(), Failure> {
        let Some(decoded) = ladder.last_decoded().filter(|decoded| decoded.len() == states.len()) else {
            return Ok(());
        };
        self.frames += 1;
        for (object, state) in states.iter().enumerate() {
            let shown: Cube = decoded
                .read(object)
                .map_err(|error| Failure::OutOfRange { object: object as u32, reason: error.to_string() })?;
            for (shown, true_value) in shown.position.iter().zip(state.position) {
                self.largest_mm = self.largest_mm.max(f64::from((shown - true_value).abs()) * 1e3);
            }
            self.largest_deg = self.largest_deg.max(angle_deg(shown.orientation, state.orientation));
        }
        Ok(())
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(
            out,
            "The decoded world is within {:.2} mm an axis and {:.2}° of the simulated one (half a step, no drift), over {} frames.",
            self.largest_mm, self.largest_deg, self.frames
        )
    }
}

/// The angle between two rotations, from the chord between their quaternions.
fn angle_deg(a: [f32; 4], b: [f32; 4]) -> f64 {
    let chord_squared = |sign: f32| a.iter().zip(b).map(|(a, b)| f64::from(a - sign * b).powi(2)).sum::<f64>();
    let chord = chord_squared(1.0).min(chord_squared(-1.0)).sqrt();
    (4.0 * (chord / 2.0).min(1.0).asin()).to_degrees()
}

/// The display while the world runs: a line a level, and the bar.
struct Live {
    lines: Vec<ProgressBar>,
    bar: ProgressBar,
}

impl Live {
    fn new(frames: u32) -> Self {
        let display = MultiProgress::new();
        let line = |template: &str, length| {
            let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            display.add(ProgressBar::new(length).with_style(style.progress_chars("█▉▊▋▌▍▎▏ ")))
        };
        // The display shows lines in the order in which they are made.
        let mut lines: Vec<ProgressBar> =
            Level::TABLE.iter().map(|_| line("{prefix:>20} {wide_bar} {msg}", 1000)).collect();
        lines.push(line("{wide_msg}", 1));
        Self { lines, bar: line("{wide_bar} frame {pos} of {len}, {eta} left", u64::from(frames)) }
    }

    /// Sizes over the last [`REFRESH_FRAMES`], on a logarithmic bar from 100 bytes to 100 kB.
    fn show(&self, ladder: &Ladder, difference: &Difference) {
        for (line, level) in self.lines.iter().zip(ladder.measurements()) {
            let bytes = recent_bytes(level);
            line.set_prefix(level.level.name);
            line.set_position(((bytes / 100.0).log10() / 3.0 * 1000.0).clamp(0.0, 1000.0) as u64);
            line.set_message(format!(
                "{:6.0} bytes {:6.0} kbit/s {:6.0} with headers",
                bytes,
                kbps(bytes, cubes::TICK_HZ),
                kbps(bytes + HEADER_BYTES, cubes::TICK_HZ)
            ));
        }
        if let (Some(line), Some(packed)) = (self.lines.last(), ladder.measurements().last()) {
            let parts = packed.mean_parts_bits();
            line.set_message(format!(
                "{:.0} cubes changed; bits: {:.0} sets, {:.0} position, {:.0} orientation; within {:.2} mm, {:.2}°",
                packed.mean_changed(),
                parts.flags_and_indices,
                parts.position,
                parts.orientation,
                difference.largest_mm,
                difference.largest_deg
            ));
        }
    }

    fn finish(&self) {
        self.lines.iter().chain([&self.bar]).for_each(ProgressBar::finish_and_clear);
    }
}

fn recent_bytes(level: &Measurement) -> f64 {
    let recent = &level.frames_bytes[level.frames_bytes.len().saturating_sub(REFRESH_FRAMES as usize)..];
    recent.iter().map(|bytes| f64::from(*bytes)).sum::<f64>() / recent.len().max(1) as f64
}
