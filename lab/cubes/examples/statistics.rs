//! Prints statistics of the scripted player's styles that matter to a codec, and the time of the
//! world's steps.
//!
//! `cargo run --release -p cubes --example statistics [-- SECONDS [SEED [CUBES]]]`

use std::error::Error;
use std::time::{Duration, Instant};

use cubes::{Body, Config, Script, Style, TICK_HZ, World};

/// The number of ticks between a snapshot and its baseline: 100 ms, as in the article.
const BASELINE_TICKS: usize = 6;

/// A body as the article quantizes it, with positions in 1/512 m and orientations of 9 bits per
/// component.
type Quantized = ([i32; 3], usize, [i32; 4]);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let seconds: u32 = arguments.next().map_or(Ok(60), |text| text.parse())?;
    let seed: u64 = arguments.next().map_or(Ok(1), |text| text.parse())?;
    let cubes: u32 = arguments.next().map_or(Ok(900), |text| text.parse())?;

    println!("{seconds} s, seed {seed}, {cubes} cubes");
    println!(
        "{:<8} {:>8} {:>8} {:>8} {:>12} {:>8} {:>10} {:>8} {:>9} {:>9}",
        "style",
        "changed",
        "p5",
        "p95",
        "interacting",
        "moving",
        "player m/s",
        "top m",
        "ms/step",
        "ms p99"
    );
    for style in Style::ALL {
        measure(style, seconds, seed, cubes)?;
    }
    println!("changed: bodies that differ from {BASELINE_TICKS} frames before, after quantization");
    println!("moving: bodies with a velocity that is not exactly zero");
    Ok(())
}

fn measure(style: Style, seconds: u32, seed: u64, cubes: u32) -> Result<(), Box<dyn Error>> {
    let mut world = World::new(&Config { cubes })?;
    let mut script = Script::new(style, seed);
    let mut frames = vec![quantized(&world)];
    let mut changed = Vec::new();
    let mut step_times: Vec<Duration> = Vec::new();
    let (mut interacting, mut moving, mut speed_m_per_s, mut top_m) = (0, 0, 0.0, 0.0_f32);
    for _ in 0..seconds * TICK_HZ {
        let input = script.next_input(&world);
        let start = Instant::now();
        world.step(input);
        step_times.push(start.elapsed());

        frames.push(quantized(&world));
        if let Some(baseline) = frames.len().checked_sub(1 + BASELINE_TICKS) {
            let pairs = frames[frames.len() - 1].iter().zip(&frames[baseline]);
            changed.push(pairs.filter(|(now, then)| now != then).count());
        }
        for (_, body) in world.bodies() {
            interacting += usize::from(body.interacting);
            moving += usize::from(body.velocity != [0.0; 3]);
            top_m = top_m.max(body.position[2]);
        }
        let [x, y, _] = world.body(0).velocity;
        speed_m_per_s += f64::from(x.hypot(y));
    }

    let steps = step_times.len() as f64;
    changed.sort_unstable();
    step_times.sort_unstable();
    println!(
        "{style:<8} {:>8.1} {:>8} {:>8} {:>12.1} {:>8.1} {:>10.1} {top_m:>8.1} {:>9.3} {:>9.3}",
        changed.iter().sum::<usize>() as f64 / changed.len() as f64,
        changed[changed.len() * 5 / 100],
        changed[changed.len() * 95 / 100],
        interacting as f64 / steps,
        moving as f64 / steps,
        speed_m_per_s / steps,
        step_times.iter().sum::<Duration>().as_secs_f64() * 1000.0 / steps,
        step_times[step_times.len() * 99 / 100].as_secs_f64() * 1000.0,
    );
    Ok(())
}

fn quantized(world: &World) -> Vec<Quantized> {
    world.bodies().map(|(_, body)| quantize(body)).collect()
}

fn quantize(body: Body) -> Quantized {
    let position = body.position.map(|metres| (metres * 512.0).round_ties_even() as i32);
    let orientation = body.orientation;
    let largest = (0..4).fold(0, |largest, index| {
        if orientation[index].abs() > orientation[largest].abs() { index } else { largest }
    });
    // The quaternions q and −q are the same rotation. The largest component is made positive, and
    // then omitted.
    let sign = orientation[largest].signum();
    let mut smallest_three = orientation.map(|component| {
        let ratio = component * sign * std::f32::consts::FRAC_1_SQRT_2 + 0.5;
        (ratio * 511.0).round_ties_even() as i32
    });
    smallest_three[largest] = 0;
    (position, largest, smallest_three)
}
