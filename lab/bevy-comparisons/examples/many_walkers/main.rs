//! Compares Bevy's own clips with Kinepack's, in a scene like Bevy's `many_foxes`. It has 1,000
//! characters, each at its own time in one of six clips of 43 joints. Nothing is drawn.
//!
//! `cargo run --release -p bevy-comparisons --example many_walkers`
//!
//! After `--`, a number sets the threads that animate. By default, there is one for each core. The
//! crowds take turns frame by frame, with the same number of threads. Then the program checks that
//! all crowds show the same poses.
//!
//! The times cover all systems in Bevy's set `AnimationSystems`. `with propagation` includes the
//! propagation of transforms, which is the same for all crowds. The bytes are the heap memory that
//! the clips keep.

mod bevy;
mod compare;
#[path = "../../../../crates/kinepack-bevy/examples/figure/mod.rs"]
mod figure;
mod scenario;
#[path = "../../../../crates/kinepack-anim/examples/walks/mod.rs"]
mod walks;
mod world;

use std::error::Error;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use bevy_app::{TaskPoolOptions, TaskPoolThreadAssignmentPolicy};
use kinepack_anim::Skeleton;
use kinepack_anim::offline::{BuildOptions, build};
use kinepack_bevy::clips::ClipAsset;

use bevy::Keys;
use scenario::Scenario;
use world::{CHARACTERS, Clips, Crowd, Frame};

const PRECISION_CM: f64 = 0.01;
/// The number of measured frames of each crowd.
const FRAMES: usize = 300;
const WARM_UP: usize = 30;

/// A crowd and its measurements.
struct Side {
    name: &'static str,
    clip_bytes: i64,
    crowd: Crowd,
    frames: Vec<Frame>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let threads = match std::env::args().nth(1) {
        Some(number) => number.parse()?,
        None => available_parallelism()?.get(),
    };
    let compute = TaskPoolThreadAssignmentPolicy {
        min_threads: threads,
        max_threads: threads,
        percent: 1.0,
        on_thread_spawn: None,
        on_thread_destroy: None,
    };
    TaskPoolOptions { compute, ..TaskPoolOptions::default() }.create_default_pools();
    println!("{CHARACTERS} characters, {threads} threads, precision {PRECISION_CM} cm");
    for scenario in Scenario::all()? {
        measure(&scenario)?;
    }
    Ok(())
}

fn measure(scenario: &Scenario) -> Result<(), Box<dyn Error>> {
    let mut sides = sides(scenario)?;
    for frame in 0..WARM_UP + FRAMES {
        for side in &mut sides {
            let times = side.crowd.frame();
            if frame >= WARM_UP {
                side.frames.push(times);
            }
        }
    }
    let raw_bytes: usize = scenario.raw.iter().map(kinepack_anim::RawClip::raw_bytes).sum();
    println!(
        "\n{}: {} clips, {} joints, {raw_bytes} bytes as floats",
        scenario.name,
        scenario.raw.len(),
        scenario.skeleton().len(),
    );
    println!(
        "{:<30} {:>12} {:>12} {:>12} {:>22}",
        "", "clips, bytes", "µs, best", "µs, median", "with propagation, µs"
    );
    for side in &sides {
        let animated = sorted(&side.frames, |frame| frame.animated);
        let propagated = sorted(&side.frames, |frame| frame.propagated);
        println!(
            "{:<30} {:>12} {:>12.0} {:>12.0} {:>22.0}",
            side.name,
            side.clip_bytes,
            animated[0],
            animated[animated.len() / 2],
            propagated[propagated.len() / 2],
        );
    }
    println!(
        "Each character of Kinepack keeps a pose besides: {} bytes.",
        scenario.skeleton().len() * kinepack_anim::Transform::BYTES
    );
    compare::print(scenario, &mut sides)
}

fn sorted(frames: &[Frame], duration: fn(&Frame) -> Duration) -> Vec<f64> {
    let mut times_us: Vec<f64> =
        frames.iter().map(|frame| 1e6 * duration(frame).as_secs_f64()).collect();
    times_us.sort_by(f64::total_cmp);
    times_us
}

fn sides(scenario: &Scenario) -> Result<[Side; 3], Box<dyn Error>> {
    let files = scenario.raw.iter().map(|raw| {
        let options = BuildOptions { precision_cm: PRECISION_CM, ..BuildOptions::default() };
        Ok(build(raw, &options)?.clip.as_bytes().to_vec())
    });
    let files = files.collect::<Result<Vec<Vec<u8>>, Box<dyn Error>>>()?;
    let side = |name, make: &dyn Fn() -> Result<Clips, Box<dyn Error>>| {
        // The first call is not measured, because Bevy then also allocates memory that belongs to
        // the types of the clips.
        drop(make()?);
        let mut clips = None;
        // `bytes_current` is the heap that remains allocated afterwards.
        let info = allocation_counter::measure(|| clips = Some(make()));
        let clips = clips.ok_or("the clips were not made")??;
        let crowd = Crowd::new(scenario, clips);
        Ok::<_, Box<dyn Error>>(Side {
            name,
            clip_bytes: info.bytes_current,
            crowd,
            frames: Vec::new(),
        })
    };
    Ok([
        side("Bevy, as its glTF loader", &|| Ok(Clips::Bevy(bevy::clips(scenario, Keys::Timed)?)))?,
        side("Bevy, keys at even times", &|| Ok(Clips::Bevy(bevy::clips(scenario, Keys::Even)?)))?,
        side("Kinepack, with its skeleton", &|| {
            let skeleton = Arc::new(Skeleton::clone(scenario.skeleton()));
            let clip = |file: &Vec<u8>| {
                let clip = kinepack_anim::AnyClip::from_bytes(file.clone())?;
                Ok(ClipAsset::new(clip, Arc::clone(&skeleton))?)
            };
            Ok(Clips::Kinepack(files.iter().map(clip).collect::<Result<_, Box<dyn Error>>>()?))
        })?,
    ])
}
