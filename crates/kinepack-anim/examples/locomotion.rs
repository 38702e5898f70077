//! Plays a character between walking and running. The clips are blended by phase, so that both are
//! at the same point of a step, and the root's motion moves the character.
//!
//! `cargo run --release -p kinepack-anim --example locomotion`

mod walks;

use std::error::Error;

use kinepack_anim::offline::{BuildOptions, build};
use kinepack_anim::pose::{Axis, Blend, Layer, Passed, Playhead, RootMotion, SyncTrack, blend};
use kinepack_anim::{Clip, RawClip, Sampler, Skeleton, Transform};

const DT_S: f32 = 1.0 / 60.0;

/// A clip of one gait, and one step of its left foot.
struct Gait {
    sampler: Sampler,
    /// The time in the clip at which the step begins.
    start_s: f32,
    track: SyncTrack,
}

impl Gait {
    /// Makes a gait whose markers are the moments at which the foot is farthest in front and
    /// farthest behind. In a game, animators mark the moments at which feet touch the ground.
    fn new(raw: &RawClip, foot: usize) -> Result<Self, Box<dyn Error>> {
        let [front, back] = [1.0, -1.0].map(|side| extremes_s(raw, foot, side));
        let [start_s, end_s] = *front.first_chunk().ok_or("fewer than two steps")?;
        let back_s = back.into_iter().find(|time_s| (start_s..end_s).contains(time_s));
        let back_s = back_s.ok_or("the foot does not go back")? - start_s;
        let track = SyncTrack::new(end_s - start_s, &[("front", 0.0), ("back", back_s)])?;
        Ok(Self { sampler: sampler(raw)?, start_s, track })
    }

    fn sample(&self, time_s: f32, pose: &mut [Transform]) {
        self.sampler.sample(self.start_s + time_s, pose);
    }

    /// Plays only the root, which is cheaper than a pose.
    fn root(&self) -> impl Fn(f32) -> Transform {
        |time_s| self.sampler.joint(self.start_s + time_s, 0)
    }
}

/// Builds and loads a clip. In a game, `kinepack anim build` makes the file, and the game loads it.
fn sampler(raw: &RawClip) -> Result<Sampler, Box<dyn Error>> {
    let options = BuildOptions { precision_cm: 0.01, ..BuildOptions::default() };
    let file = build(raw, &options)?.clip.as_bytes().to_vec();
    Ok(Sampler::new(Clip::from_bytes(file)?, raw.skeleton())?)
}

/// Returns the times at which the foot is farthest from the hips: in front of the hips if `side` is
/// 1, behind the hips if it is -1.
fn extremes_s(raw: &RawClip, foot: usize, side: f32) -> Vec<f32> {
    let mut model = raw.skeleton().bind_pose();
    let mut ahead = |sample| {
        raw.skeleton().model_pose(raw.pose(sample), &mut model);
        side * (model[foot].translation[2] - model[0].translation[2])
    };
    let ahead: Vec<f32> = (0..raw.samples()).map(&mut ahead).collect();
    let mean = ahead.iter().sum::<f32>() / ahead.len() as f32;
    let is_most = |sample: &usize| {
        // A sample counts if it is the largest within 0.3 s on either side.
        let near = &ahead[sample.saturating_sub(9)..(sample + 10).min(ahead.len())];
        ahead[*sample] > mean && near.iter().all(|other| *other <= ahead[*sample])
    };
    (0..ahead.len()).filter(is_most).map(|sample| sample as f32 / raw.rate_hz()).collect()
}

/// Plays a mix of two gaits for ten seconds, by phase or each at its own time. Returns how far the
/// character travels, and the length of its shortest step, both in cm.
fn play(
    gaits: [&Gait; 2],
    run_weight: f32,
    by_phase: bool,
    skeleton: &Skeleton,
    foot: usize,
) -> [f32; 2] {
    let weights = [1.0 - run_weight, run_weight];
    let motion = RootMotion::on_ground(Axis::Y);
    let bind = skeleton.bind_pose();
    let [mut walk, mut run, mut pose, mut model] = [0; 4].map(|_| bind.clone());
    let mut playheads = gaits.map(|gait| Playhead::looped(gait.track.duration_s()));
    let (mut phase, mut character, mut ahead_cm) = (0.0, Transform::IDENTITY, Vec::new());
    for _ in 0..600 {
        let passed: [Passed; 2] = if by_phase {
            // `pace` is the speed of the mix, in markers per second.
            let pace = [0, 1].map(|i| f64::from(weights[i]) * gaits[i].track.rate_at(phase));
            let next = phase + f64::from(DT_S) * (pace[0] + pace[1]);
            let passed = gaits.map(|gait| gait.track.passed(phase, next));
            phase = next;
            passed
        } else {
            playheads.each_mut().map(|playhead| playhead.advance(DT_S))
        };
        let mut deltas = [Transform::IDENTITY; 2];
        for (i, own) in [&mut walk, &mut run].into_iter().enumerate() {
            gaits[i].sample(passed[i].to_s, own);
            motion.remove(&mut own[0]);
            deltas[i] = motion.delta(gaits[i].root(), &passed[i]);
        }
        let layers = [Layer::new(&walk, weights[0]), Layer::new(&run, weights[1])];
        Blend { layers: &layers, ..Blend::new(&bind) }.write(&mut pose);
        // Deltas are blended in the same way as poses.
        let [mut delta, other] = deltas;
        blend(std::slice::from_mut(&mut delta), &[other], run_weight);
        character = RootMotion::moved(&character, &delta);
        skeleton.model_pose(&pose, &mut model);
        ahead_cm.push(model[foot].translation[2] - model[0].translation[2]);
    }
    // A step takes less than 1.2 s, which is 72 frames.
    let steps_cm = ahead_cm.windows(72).map(|ahead_cm| {
        let most = ahead_cm.iter().copied().fold(f32::MIN, f32::max);
        most - ahead_cm.iter().copied().fold(f32::MAX, f32::min)
    });
    [character.translation[2], steps_cm.fold(f32::MAX, f32::min)]
}

fn main() -> Result<(), Box<dyn Error>> {
    let raw = walks::clips(1)?;
    let skeleton = raw[0].skeleton().clone();
    let foot = skeleton.find("left foot").ok_or("no such joint")?;
    let [walk, run] = [Gait::new(&raw[2], foot)?, Gait::new(&raw[1], foot)?];
    let run = Gait { track: run.track.aligned_to(&walk.track)?, ..run };

    println!("{:<26} {:>12} {:>18}", "", "m in 10 s", "shortest step, cm");
    let rows = [
        ("walk", 0.0, true),
        ("run", 1.0, true),
        ("half and half, by phase", 0.5, true),
        ("half and half, by time", 0.5, false),
    ];
    let steps_cm = rows.map(|(name, run_weight, by_phase)| {
        let [way_cm, step_cm] = play([&walk, &run], run_weight, by_phase, &skeleton, foot);
        println!("{name:<26} {:>12.1} {step_cm:>18.0}", 0.01 * way_cm);
        step_cm
    });
    assert!(steps_cm[2] > steps_cm[0] && steps_cm[3] < 0.5 * steps_cm[0], "phases keep steps");
    Ok(())
}
