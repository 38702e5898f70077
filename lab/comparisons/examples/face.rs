//! Measures the size and speed of facial curves. The curves are 52 blend shape weights over 10 s at
//! 60 Hz, generated to resemble a speaking face. Run it with
//! `cargo run --release -p comparisons --example face`
//!
//! A formula computes the second row of the table. As in ACL's scalar tracks, each curve has a range,
//! and a number of bits for all samples. This program does not run ACL.

#[path = "../../../crates/kinepack-anim/examples/walks/random.rs"]
mod random;

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use kinepack_anim::disk::pack;
use kinepack_anim::offline::{BlockOptions, BuildOptions, Effort, Scheme, build};
use kinepack_anim::{Curve, Joint, RawClip, Sampler, Skeleton, Transform};
use random::Random;

const CURVES: usize = 52;
const RATE_HZ: f32 = 60.0;
const SAMPLES: usize = 600;
const PRECISION: f32 = Curve::WEIGHT_PRECISION;

/// Returns a smooth step from 0 to 1 for `t` from 0 to 1.
fn ease(t: f32) -> f32 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Adds a weight that rises from `begin_s` on, stays at `height`, and falls again.
fn add_event(values: &mut [f32], begin_s: f32, [up_s, hold_s, down_s]: [f32; 3], height: f32) {
    for (sample, value) in values.iter_mut().enumerate() {
        let since_s = sample as f32 / RATE_HZ - begin_s;
        let weight = ease(since_s / up_s) - ease((since_s - up_s - hold_s) / down_s);
        *value = (*value + height * weight).min(1.0);
    }
}

/// Generates the curves of a face. Curves 0 and 1 blink. Every third curve is a viseme while the
/// face speaks. The other curves are poses of brows and cheeks, which are held at 0, at 1, or
/// between.
fn face(seed: u64) -> Vec<Curve> {
    let mut numbers = Random(seed);
    let mut random = || numbers.between(0.0, 1.0);
    let mut curves = Vec::new();
    let blinks: Vec<f32> = (0..3).map(|blink| 3.0 * blink as f32 + 2.0 * random()).collect();
    for index in 0..CURVES {
        let mut values = vec![0.0; SAMPLES];
        if index < 2 {
            for begin_s in &blinks {
                add_event(&mut values, *begin_s, [0.08, 0.04, 0.14], 1.0);
            }
        } else if index % 3 == 0 {
            let mut at_s = 0.5 + random();
            while at_s < 9.0 {
                let height = 0.2 + 0.8 * random();
                let times_s = [0.06 + 0.08 * random(), 0.04 * random(), 0.12];
                add_event(&mut values, at_s, times_s, height);
                at_s += 0.2 + 1.2 * random();
            }
        } else {
            for _ in 0..1 + index % 3 {
                let height = if random() < 0.3 { 1.0 } else { random() };
                let hold_s = 0.5 + 3.0 * random();
                add_event(&mut values, 8.0 * random(), [0.3, hold_s, 0.4], height);
            }
        }
        curves.push(Curve { name: format!("shape {index}"), precision: PRECISION, values });
    }
    curves
}

/// Returns the total bytes if a curve uses one number of bits for all of `samples` samples. That
/// number is the smallest one that keeps the precision. `range_bytes` is the size of a range and of
/// that number together.
fn constant_bits_bytes(curves: &[Curve], samples: usize, range_bytes: usize) -> usize {
    let bits = |values: &[f32]| {
        let (least, most) = values
            .iter()
            .fold((f32::MAX, f32::MIN), |(least, most), v| (least.min(*v), most.max(*v)));
        let steps = (most - least) / (2.0 * PRECISION);
        values.len() * (steps + 1.0).log2().ceil() as usize + 8 * range_bytes
    };
    curves
        .iter()
        .flat_map(|curve| curve.values.chunks(samples))
        .map(bits)
        .sum::<usize>()
        .div_ceil(8)
}

fn main() -> Result<(), Box<dyn Error>> {
    let head = Joint { name: "head".into(), parent: None, bind: Transform::IDENTITY };
    let skeleton = Arc::new(Skeleton::new(vec![head])?);
    let samples = vec![Transform::IDENTITY; SAMPLES];
    let raw = RawClip::new("face", Arc::clone(&skeleton), RATE_HZ, samples)?;
    let raw = raw.with_curves(face(7))?;
    let floats = 4 * SAMPLES * CURVES;
    // A curve has a float for each end of the range, and a byte for the number of bits.
    let constant = constant_bits_bytes(raw.curves(), SAMPLES, 9);
    // A segment has its range as two bytes, relative to the range of the clip.
    let segments = constant_bits_bytes(raw.curves(), 16, 3) + 8 * CURVES;
    let names: usize = raw.curves().iter().map(|curve| 2 + curve.name.len()).sum();
    let show = |name: &str, bytes: usize, rest: &str| {
        let (of_floats, of_constant) =
            (100.0 * bytes as f64 / floats as f64, bytes as f64 / constant as f64);
        println!("{name:44} {bytes:7} bytes {of_floats:6.1} % {of_constant:6.2} {rest}");
    };
    println!("{CURVES} curves, {SAMPLES} samples, precision {PRECISION}; ACL itself was not run");
    show("raw f32", floats, "");
    show("bits for each curve, as ACL's scalar tracks", constant, "");
    show("bits for each curve and 16 samples", segments, "");
    for effort in [Effort::Fast, Effort::Default, Effort::Best] {
        let scheme = Scheme::Block(BlockOptions { effort, ..BlockOptions::default() });
        let start = Instant::now();
        let built = build(&raw, &BuildOptions { scheme, ..BuildOptions::default() })?;
        let build_ms = start.elapsed().as_secs_f64() * 1e3;
        let clip = built.clip.as_block().ok_or("the options ask for block clips")?;
        let (_, off) = built.errors.farthest_curve(&raw).ok_or("there are curves")?;
        let sampler = Sampler::new(Arc::clone(clip), &skeleton)?;
        let mut values = vec![0.0; CURVES];
        let mut least_ns = f64::INFINITY;
        for _ in 0..20 {
            let start = Instant::now();
            for time in 0..1000 {
                sampler.curves(0.0099 * (time * 7 % 1000) as f32, &mut values);
                black_box(&values);
            }
            least_ns = least_ns.min(start.elapsed().as_secs_f64() * 1e6);
        }
        let rest = format!(
            "N = {}, {off:.2} precisions off, {least_ns:.0} ns a pose, built in {build_ms:.0} ms",
            clip.header().block.samples()
        );
        show(
            &format!("block clip, {effort:?}, without names"),
            clip.as_bytes().len() - names,
            &rest,
        );
        show("  as a disk file, with names", pack(clip)?.len(), "");
    }
    Ok(())
}
