//! Bodies over a network: bytes a frame of figures, beside another codec's layout, at the same
//! largest error. Each file is measured with a profile that was trained on the other files.
//!
//! ```sh
//! cargo run --release -p comparisons --example figures -- *.bvh
//! ```

use std::error::Error;
use std::sync::Arc;

use kinepack::training::Training;
use kinepack::{Baselines, Codec, Encoder, EntityId, Level, Profile, Schema, Snapshot, Tick, View};
use kinepack_anim::figure::{Figure, FigureOptions, Motion};
use kinepack_anim::measure::{ErrorOptions, pose_errors_cm};
use kinepack_anim::{Skeleton, Transform, import};

type Failure = Box<dyn Error>;

struct Clip {
    name: String,
    poses: Vec<Vec<Transform>>,
}

fn main() -> Result<(), Failure> {
    let mut skeleton: Option<Arc<Skeleton>> = None;
    let mut clips = Vec::new();
    for path in std::env::args().skip(1) {
        let import = import::read(path.as_ref(), &import::ImportOptions::default())?;
        let raw = import.clips.first().ok_or("no clip")?;
        skeleton.get_or_insert_with(|| raw.skeleton().clone());
        let step = if path.contains("salsa") { 3 } else { 6 };
        let poses = raw.poses().skip(10).step_by(step).map(|pose| pose.to_vec()).collect();
        clips.push(Clip { name: path, poses });
    }
    let skeleton = skeleton.ok_or("no files")?;
    let moves = |joint: usize| {
        clips.iter().any(|clip| {
            let first = clip.poses[0][joint].rotation;
            clip.poses.iter().any(|pose| {
                let dot: f32 = pose[joint].rotation.iter().zip(first).map(|(a, b)| a * b).sum();
                dot.abs() < 1.0 - 1e-7
            })
        })
    };
    let mut bound = skeleton.as_ref().clone();
    let mut joints = bound.joints().to_vec();
    for (index, joint) in joints.iter_mut().enumerate() {
        let mut sum = [0.0f32; 4];
        let first = clips[0].poses[0][index].rotation;
        for pose in clips.iter().flat_map(|clip| &clip.poses) {
            let r = pose[index].rotation;
            let dot: f32 = r.iter().zip(first).map(|(a, b)| a * b).sum();
            for (s, c) in sum.iter_mut().zip(r) {
                *s += c * dot.signum();
            }
        }
        let len = sum.iter().map(|c| c * c).sum::<f32>().sqrt();
        if std::env::var("MEAN").is_ok() || !moves(index) {
            joint.bind.rotation = sum.map(|c| c / len);
        }
    }
    bound = Skeleton::new(joints)?;
    let motions: Vec<_> = (1..bound.len())
        .filter(|joint| !moves(*joint))
        .map(|joint| (joint, Motion::Still))
        .collect();
    println!("{} of {} joints turn", bound.len() - motions.len(), bound.len());
    let goals = [("salsa_05", [0.12, 1.2, 4.5]), ("martial_04", [0.12, 1.2, 4.1])];
    for (name, targets) in goals {
        let Some(test) = clips.iter().position(|clip| clip.name.contains(name)) else { continue };
        for target in targets {
            let (mut low, mut high) = (0.01f64, 50.0f64);
            for _ in 0..12 {
                let middle = (low * high).sqrt();
                let worst = worst_cm(&bound, &motions, middle, &clips[test].poses)?;
                if worst > target { high = middle } else { low = middle }
            }
            let options =
                FigureOptions { precision_cm: low, motions: motions.clone(), ..Default::default() };
            let mut figure = Figure::new(&bound, &options)?;
            let schema = Schema::new(figure.fields());
            let mut runs = Vec::new();
            for clip in &clips {
                let mut run = Vec::new();
                for (tick, pose) in (100..).zip(&clip.poses) {
                    let mut world = Snapshot::new(&schema, Tick(tick));
                    figure.push(&mut world, 0, EntityId(1), pose, &[])?;
                    run.push(world);
                }
                runs.push(run);
            }
            let own = runs.remove(test);
            let passes = std::env::var("PASSES").ok().and_then(|p| p.parse().ok()).unwrap_or(12);
            let training = Training {
                max_lags_ticks: vec![2],
                packed_lag_ticks: 2,
                passes,
                ..Training::new(Profile::magnitudes(&schema), None)
            };
            let profile = training.run(&schema, &runs, |_| ())?;
            let profile = training.learn(&schema, &profile, &runs, |_| ())?;
            print!("{name} {target}: precision {low:.3}");
            for level in [Level::PACKED, Level::ADAPTIVE, Level::LEARNING] {
                let codec = Codec::new(schema.clone(), level, profile.clone())?;
                let mut encoder = Encoder::new(&codec);
                let (mut views, mut bytes, mut count) = (Vec::<View>::new(), 0, 0);
                for world in &own {
                    let mut out = Vec::new();
                    let at = views.len();
                    let view = if at < 2 {
                        encoder.encode(&View::empty(&schema), world, &mut out)?
                    } else {
                        let list = views[at.saturating_sub(4)..at - 1].iter().rev();
                        encoder.encode(Baselines::new(list)?, world, &mut out)?
                    };
                    views.push(view);
                    if at >= 4 {
                        bytes += out.len();
                        count += 1;
                    }
                }
                print!("  {} {:.1}", level.name(), bytes as f64 / f64::from(count));
            }
            println!();
        }
    }
    Ok(())
}

fn worst_cm(
    skeleton: &Skeleton,
    motions: &[(usize, Motion)],
    precision_cm: f64,
    poses: &[Vec<Transform>],
) -> Result<f64, Failure> {
    let options = FigureOptions { precision_cm, motions: motions.to_vec(), ..Default::default() };
    let mut figure = Figure::new(skeleton, &options)?;
    let schema = Schema::new(figure.fields());
    let mut shown = skeleton.bind_pose();
    let mut worst = 0.0f64;
    for (tick, pose) in (0..).zip(poses) {
        let mut world = Snapshot::new(&schema, Tick(tick));
        figure.push(&mut world, 0, EntityId(1), pose, &[])?;
        figure.write((&world, 0), &mut shown[..]);
        worst =
            pose_errors_cm(skeleton, pose, &shown, &ErrorOptions::default()).fold(worst, f64::max);
    }
    Ok(worst)
}
