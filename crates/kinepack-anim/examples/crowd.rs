//! Measures a tick of a crowd: 1,000 characters, each at its own time in one of several clips.
//! `cargo run --release -p kinepack-anim --example crowd` makes its clips. With `-- walk.glb
//! run.bvh` it reads these files instead.

mod walks;

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use kinepack_anim::import::{ImportOptions, read};
use kinepack_anim::offline::{BuildOptions, build};
use kinepack_anim::{
    Clip, JointMask, PlayError, RawClip, Sampler, Skeleton, Transform, sample_batch,
};

const CHARACTERS: usize = 1000;
/// One in this number of characters is near.
const NEAR_ONE_IN: usize = 5;
/// The number of measured ticks of 1/60 s.
const TICKS: usize = 600;
/// The budget of a frame for animation in µs.
const BUDGET_US: f64 = 500.0;

/// What all characters that play a clip share: the sampler, and the joints that matter from afar.
struct Motion {
    sampler: Sampler,
    far: JointMask,
    duration_s: f32,
}

impl Motion {
    fn new(clip: Clip, skeleton: &Skeleton) -> Result<Self, PlayError> {
        let duration_s = clip.duration_s();
        Ok(Self { sampler: Sampler::new(clip, skeleton)?, far: from_afar(skeleton), duration_s })
    }
}

/// The durations of the ticks.
struct Times {
    best_us: f64,
    median_us: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    // Offline, as in `kinepack anim build`.
    let files: Vec<String> = std::env::args().skip(1).collect();
    let raw = if files.is_empty() { walks::clips(1)? } else { read_all(&files)? };
    let options = BuildOptions { precision_cm: 0.01, ..BuildOptions::default() };
    let built = raw.iter().map(|raw| Ok(build(raw, &options)?.clip.as_bytes().to_vec()));
    let built = built.collect::<Result<Vec<_>, Box<dyn Error>>>()?;

    // At load: one sampler for each clip, however many characters play it.
    let bytes: usize = built.iter().map(Vec::len).sum();
    let motions = built
        .into_iter()
        .zip(&raw)
        .map(|(bytes, raw)| Ok(Motion::new(Clip::from_bytes(bytes)?, raw.skeleton())?))
        .collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    if motions.is_empty() {
        return Err("no clip is in these files".into());
    }

    // Each character plays a clip, and each is at another time.
    let mut random = walks::Random(1);
    let plays: Vec<&Motion> =
        (0..CHARACTERS).map(|index| &motions[index % motions.len()]).collect();
    let mut crowd: Vec<_> = plays
        .iter()
        .map(|motion| (&motion.sampler, random.between(0.0, motion.duration_s)))
        .collect();
    let joints = crowd.iter().map(|(sampler, _)| sampler.joints()).sum();
    let mut poses = vec![Transform::IDENTITY; joints];

    let raw_bytes: usize = raw.iter().map(RawClip::raw_bytes).sum();
    println!("{} clips: {bytes} bytes, {raw_bytes} as floats", motions.len());
    println!(
        "{:<24} {:>10} {:>8} {:>10} {:>12} {:>8} {:>14}",
        "", "characters", "joints", "µs, best", "µs, median", "ns/joint", "fit in 0.5 ms"
    );

    let whole = time(&mut crowd, &plays, &mut poses, sample_batch);
    whole.print("whole poses", joints);

    // The same crowd, most of it far away: the joints that are too small to see keep their poses.
    let is_near = |character: usize| character.is_multiple_of(NEAR_ONE_IN);
    let kept = |motion: &Motion| {
        (0..motion.sampler.joints()).filter(|joint| motion.far.contains(*joint)).count()
    };
    let played = |(character, motion): (usize, &&Motion)| {
        if is_near(character) { motion.sampler.joints() } else { kept(motion) }
    };
    let fewer = plays.iter().enumerate().map(played).sum();
    let by_distance = time(&mut crowd, &plays, &mut poses, |crowd, mut rest| {
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
    by_distance.print("4 of 5 of them far away", fewer);
    Ok(())
}

fn read_all(files: &[String]) -> Result<Vec<RawClip>, Box<dyn Error>> {
    let mut clips = Vec::new();
    for file in files {
        clips.extend(read(file.as_ref(), &ImportOptions::default())?.complete()?.clips);
    }
    Ok(clips)
}

/// The half of the joints with the longest bones, which has hands but no fingers.
fn from_afar(skeleton: &Skeleton) -> JointMask {
    let length = |joint: usize| {
        let bone = skeleton.joints()[joint].bind.translation;
        if skeleton.parent(joint).is_none() {
            f32::INFINITY
        } else {
            bone.iter().map(|c| c * c).sum()
        }
    };
    let mut order: Vec<usize> = (0..skeleton.len()).collect();
    order.sort_by(|one, other| length(*other).total_cmp(&length(*one)));
    let half = &order[..skeleton.len().div_ceil(2)];
    JointMask::new(skeleton.len(), |joint| half.contains(&joint))
}

/// Measures `sample` over the ticks. After each tick, every character advances by 1/60 s, and
/// starts again at the end of its clip.
fn time<'a>(
    crowd: &mut [(&'a Sampler, f32)],
    plays: &[&Motion],
    poses: &mut [Transform],
    sample: impl Fn(&[(&'a Sampler, f32)], &mut [Transform]),
) -> Times {
    let mut times_us = Vec::with_capacity(TICKS);
    for _ in 0..TICKS {
        for ((_, time_s), motion) in crowd.iter_mut().zip(plays) {
            *time_s = (*time_s + 1.0 / 60.0) % motion.duration_s.max(f32::MIN_POSITIVE);
        }
        let begun = Instant::now();
        sample(crowd, poses);
        times_us.push(1e6 * begun.elapsed().as_secs_f64());
        black_box(&*poses);
    }
    times_us.sort_by(f64::total_cmp);
    Times { best_us: times_us[0], median_us: times_us[TICKS / 2] }
}

impl Times {
    fn print(&self, what: &str, joints: usize) {
        let Self { best_us, median_us } = self;
        let (ns_a_joint, fit) =
            (1e3 * median_us / joints as f64, CHARACTERS as f64 * BUDGET_US / median_us);
        println!(
            "{what:<24} {CHARACTERS:>10} {joints:>8} {best_us:>10.0} {median_us:>12.0} \
             {ns_a_joint:>8.1} {fit:>14.0}"
        );
    }
}
