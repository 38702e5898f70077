//! `kinepack figure send`: sends a live body to `kinepack figure watch`.
//!
//! The description of the body goes first, again and again, until the other side's hello shows that
//! it has the same body. Then a snapshot follows at each tick. If the other side falls silent, or
//! says that it does not know the session, the description is sent again under a new session. So
//! either program may be restarted.

mod answers;
mod report;
mod sending;
mod session;

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use command_kit::interrupt::{Interrupt, Interrupted};
use command_kit::table::write_json;
use command_kit::{OutputError, counted, print, say};

use super::source::{Source, Wanted};
use super::{FigureFailure, PORT, address};
use crate::anim::FileFacts;
use sending::Sending;

/// The slowest and the fastest speed at which a file plays.
const SPEEDS: [f64; 2] = [0.001, 1_000.0];

/// Send the motion of a tracker or a file as a live body, to `kinepack figure watch`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A clip: .bvh, .bvh.zst, .glb, .gltf, .vrma, .clip, .kpa, .kpd, FILE.kpb#CLIP or, with the
    /// feature fbx, .fbx. Or a recording of Live Link Face: .csv. Or a tracker: vmc://PORT or
    /// vmc://HOST:PORT, the address to which it sends VMC; 0.0.0.0 for trackers on other machines.
    #[arg(value_name = "FILE|vmc://PORT")]
    source: String,
    /// The address of `kinepack figure watch`: HOST:PORT, HOST, or a PORT of this machine.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4653")]
    to: String,
    /// The largest error of the body in cm, at 3 cm from the joints.
    #[arg(long, value_name = "CM", default_value_t = 0.5, value_parser = positive,
        allow_negative_numbers = true)]
    precision: f64,
    /// Poses per second.
    #[arg(long, value_name = "HZ", default_value_t = 30, allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..=240))]
    rate: u32,
    /// Play the file again and again.
    #[arg(long = "loop")]
    loops: bool,
    /// Play the file faster or slower: 2 is twice as fast. If the frame time in a BVH file is
    /// wrong, give its true rate with --frame-rate instead.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = speed,
        allow_negative_numbers = true)]
    speed: f64,
    #[command(flatten)]
    facts: FileFacts,
    /// The clip to play, if the file has several.
    #[arg(long, value_name = "NAME")]
    clip: Option<String>,
    /// For a tracker: the model that it shows, .vrm or .glb with the bones of VRM, or .kps. Without
    /// it, the bones are as long as the tracker says.
    #[arg(long, value_name = "FILE")]
    skeleton: Option<PathBuf>,
    /// How long to wait for the tracker, and for the other side.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, allow_negative_numbers = true,
        value_parser = clap::value_parser!(u64).range(1..=86_400))]
    wait: u64,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), FigureFailure> {
    let interrupt = Interrupt::listen().map_err(OutputError::Signals)?;
    let to = address::parse(&arguments.to, PORT)?;
    let wanted = Wanted {
        source: &arguments.source,
        clip: arguments.clip.as_deref(),
        loops: arguments.loops,
        speed: arguments.speed,
        facts: &arguments.facts,
        skeleton: arguments.skeleton.as_deref(),
        patience: Duration::from_secs(arguments.wait),
    };
    let mut source = Source::open(&wanted, &interrupt)?;
    source.options.precision_cm = arguments.precision;
    let mut sending = Sending::new(&source, to, arguments.rate, wanted.patience)?;
    say(format_args!(
        "{}: {} and {} to {to}, {} times per second (Ctrl-C ends this)",
        source.name,
        counted(source.skeleton.len(), "joint"),
        counted(source.options.curves.len(), "curve"),
        arguments.rate
    ));
    let clock = Instant::now();
    let ended = loop {
        if interrupt.is_raised() {
            break Ok(());
        }
        match sending.step(clock.elapsed(), &mut source) {
            Ok(true) => thread::sleep(Duration::from_millis(1)),
            Ok(false) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    // What was sent is reported, whichever way it ends.
    let Some(report) = sending.report(clock.elapsed(), &source) else {
        ended?;
        return Err(Interrupted::new("before anybody watched").into());
    };
    print(|out| if arguments.json { write_json(&report, out) } else { report.write(out) })?;
    ended
}

/// Reads a speed.
fn speed(text: &str) -> Result<f64, String> {
    let [least, most] = SPEEDS;
    let factor = text.parse().ok().filter(|factor: &f64| (least..=most).contains(factor));
    factor.ok_or_else(|| format!("the speed must be a number from {least} to {most}"))
}

/// Reads a precision.
fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "the largest error must be above 0 cm".to_owned())
}
