//! Measures the error of 30 Hz clips between their samples, compared with captures of a higher
//! rate, for straight lines and for cubics. Run it with `cargo run --release -p comparisons
//! --example between_samples -- FILES`
//!
//! The program takes motion captures (BVH). From each capture's frames at 30 Hz, it builds a clip
//! with straight lines and a clip with cubics. It compares both clips with all frames of the
//! capture.

use std::error::Error;
use std::path::Path;

use kinepack_anim::block::Interpolation;
use kinepack_anim::import::{ImportOptions, read};
use kinepack_anim::offline::{BlockOptions, BuildOptions, Scheme, build};
use kinepack_anim::{RawClip, Sampler};

const RATE_HZ: f32 = 30.0;
const PRECISION_CM: f64 = 0.01;

/// Returns the bytes of a clip, and the distance of each joint from its position in each frame of a
/// capture.
fn distances_cm(
    slow: &RawClip,
    capture: &RawClip,
    interpolation: Interpolation,
) -> Result<(usize, Vec<f32>), Box<dyn Error>> {
    let scheme = Scheme::Block(BlockOptions { interpolation, ..BlockOptions::default() });
    let options = BuildOptions { precision_cm: PRECISION_CM, scheme, ..BuildOptions::default() };
    let built = build(slow, &options)?;
    let clip = built.clip.as_block().ok_or("not a block clip")?.clone();
    let sampler = Sampler::new(clip, slow.skeleton())?;
    let skeleton = slow.skeleton();
    let [mut pose, mut own, mut captured] = [(); 3].map(|()| skeleton.bind_pose());
    let mut distances = Vec::new();
    for frame in 0..capture.samples() {
        let position = frame as f64 * f64::from(RATE_HZ / capture.rate_hz());
        // The clip ends with its last sample.
        if position > (slow.samples() - 1) as f64 {
            break;
        }
        sampler.sample_at(position, &mut pose);
        skeleton.model_pose(&pose, &mut own);
        skeleton.model_pose(capture.pose(frame), &mut captured);
        distances.extend(own.iter().zip(&captured).map(|(own, captured)| {
            let axes = own.translation.iter().zip(captured.translation);
            axes.map(|(own, captured)| (own - captured).powi(2)).sum::<f32>().sqrt()
        }));
    }
    Ok((built.clip.as_bytes().len(), distances))
}

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    if files.is_empty() {
        return Err("which motion captures? Give BVH files".into());
    }
    println!(
        "{:32} {:>7} {:>9} {:>9} {:>9} {:>9}",
        "capture", "bytes", "", "mean cm", "99 % cm", "max cm"
    );
    let mut totals = [(); 2].map(|()| (0, Vec::new()));
    for file in &files {
        let import =
            |rate_hz| read(Path::new(file), &ImportOptions { rate_hz, ..ImportOptions::default() });
        let (slow, capture) = (import(Some(RATE_HZ))?, import(None)?);
        for (slow, capture) in slow.clips.iter().zip(&capture.clips) {
            for (interpolation, total) in
                [Interpolation::Linear, Interpolation::Cubic].into_iter().zip(&mut totals)
            {
                let (bytes, distances) = distances_cm(slow, capture, interpolation)?;
                print(slow.name(), bytes, interpolation, distances.clone());
                total.0 += bytes;
                total.1.extend(distances);
            }
        }
    }
    for (interpolation, (bytes, distances)) in
        [Interpolation::Linear, Interpolation::Cubic].into_iter().zip(totals)
    {
        print("all", bytes, interpolation, distances);
    }
    Ok(())
}

fn print(name: &str, bytes: usize, interpolation: Interpolation, mut distances: Vec<f32>) {
    let sum: f64 = distances.iter().copied().map(f64::from).sum();
    let mean = sum / distances.len() as f64;
    distances.sort_by(f32::total_cmp);
    let [p99, max] = [99, 100].map(|percent| distances[(distances.len() - 1) * percent / 100]);
    println!("{name:32} {bytes:>7} {interpolation:>9?} {mean:>9.3} {p99:>9.3} {max:>9.3}");
}
