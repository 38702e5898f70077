//! Plays a crowd of 1,000 characters, each at its own time in one of several clips. Characters far
//! away move only the joints that are large enough to see. The example prints the time of a tick.
//!
//! `cargo run --release -p kinepack-anim --example crowd` makes its own clips. With `-- walk.glb
//! run.bvh`, it reads these files instead.

mod walks;

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use kinepack_anim::import::{ImportOptions, read};
use kinepack_anim::offline::{BuildOptions, build};
use kinepack_anim::{Clip, JointMask, RawClip, Sampler, Skeleton, Transform, sample_batch};

const CHARACTERS: usize = 1000;
/// One of every `NEAR_ONE_IN` characters is near.
const NEAR_ONE_IN: usize = 5;
/// The number of measured ticks.
const TICKS: usize = 600;
const TICK_S: f32 = 1.0 / 60.0;

/// The data that all characters playing a clip share.
struct Motion {
    sampler: Sampler,
    /// The joints that a character moves while it is far away.
    far: JointMask,
    duration_s: f32,
}

impl Motion {
    fn new(raw: &RawClip) -> Result<Self, Box<dyn Error>> {
        // This part runs offline, as in `kinepack anim build`.
        let options = BuildOptions { precision_cm: 0.01, ..BuildOptions::default() };
        let file = build(raw, &options)?.clip.as_bytes().to_vec();
        // This part runs when the game loads. One sampler is enough for each clip, regardless of
        // how many characters play it.
        let clip = Clip::from_bytes(file)?;
        let (duration_s, far) = (clip.duration_s(), far_joints(raw.skeleton()));
        Ok(Self { sampler: Sampler::new(clip, raw.skeleton())?, far, duration_s })
    }
}

/// Returns the half of the joints with the longest bones. It includes hands but no fingers.
fn far_joints(skeleton: &Skeleton) -> JointMask {
    let length = |joint: usize| match skeleton.parent(joint) {
        Some(_) => skeleton.joints()[joint].bind.translation.iter().map(|c| c * c).sum(),
        None => f32::INFINITY,
    };
    let mut order: Vec<usize> = (0..skeleton.len()).collect();
    order.sort_by(|one, other| length(*other).total_cmp(&length(*one)));
    let half = &order[..skeleton.len().div_ceil(2)];
    JointMask::new(skeleton.len(), |joint| half.contains(&joint))
}

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let raw = if files.is_empty() { walks::clips(1)? } else { read_all(&files)? };
    let motions = raw.iter().map(Motion::new).collect::<Result<Vec<_>, _>>()?;
    if motions.is_empty() {
        return Err("no clip is in these files".into());
    }

    let mut random = walks::Random(1);
    let plays: Vec<&Motion> =
        (0..CHARACTERS).map(|character| &motions[character % motions.len()]).collect();
    let mut crowd: Vec<(&Sampler, f32)> = plays
        .iter()
        .map(|motion| (&motion.sampler, random.between(0.0, motion.duration_s)))
        .collect();
    let joints = crowd.iter().map(|(sampler, _)| sampler.joints()).sum();
    // The poses of all characters, one after the other.
    let mut poses = vec![Transform::IDENTITY; joints];

    println!("{:<24} {:>10} {:>10} {:>12}", "a tick", "joints", "µs, best", "µs, median");
    print("whole poses", joints, time(&mut crowd, &plays, &mut poses, sample_batch));

    // Joints that do not move keep the transforms that they have in `poses`.
    let is_near = |character: usize| character.is_multiple_of(NEAR_ONE_IN);
    let times = time(&mut crowd, &plays, &mut poses, |crowd, mut rest| {
        for (character, (sampler, time_s)) in crowd.iter().enumerate() {
            let (pose, next) = rest.split_at_mut(sampler.joints());
            if is_near(character) {
                sampler.sample(*time_s, pose);
            } else {
                sampler.sample_joints(*time_s, &plays[character].far, pose);
            }
            rest = next;
        }
    });
    let moved = plays.iter().enumerate().map(|(character, motion)| {
        let moves = |joint: &usize| is_near(character) || motion.far.contains(*joint);
        (0..motion.sampler.joints()).filter(moves).count()
    });
    print("4 of 5 of them far away", moved.sum(), times);
    Ok(())
}

fn read_all(files: &[String]) -> Result<Vec<RawClip>, Box<dyn Error>> {
    let mut clips = Vec::new();
    for file in files {
        clips.extend(read(file.as_ref(), &ImportOptions::default())?.complete()?.clips);
    }
    Ok(clips)
}

/// Measures `sample` over the ticks. Returns the shortest and the median time in µs. In each tick,
/// every character advances, and starts again at the end of its clip.
fn time<'a>(
    crowd: &mut [(&'a Sampler, f32)],
    plays: &[&Motion],
    poses: &mut [Transform],
    sample: impl Fn(&[(&'a Sampler, f32)], &mut [Transform]),
) -> [f64; 2] {
    let mut times_us = Vec::with_capacity(TICKS);
    for _ in 0..TICKS {
        for ((_, time_s), motion) in crowd.iter_mut().zip(plays) {
            *time_s = (*time_s + TICK_S) % motion.duration_s.max(f32::MIN_POSITIVE);
        }
        let begun = Instant::now();
        sample(crowd, poses);
        times_us.push(1e6 * begun.elapsed().as_secs_f64());
        black_box(&*poses);
    }
    times_us.sort_by(f64::total_cmp);
    [times_us[0], times_us[TICKS / 2]]
}

fn print(name: &str, joints: usize, [best_us, median_us]: [f64; 2]) {
    println!("{name:<24} {joints:>10} {best_us:>10.0} {median_us:>12.0}");
}
