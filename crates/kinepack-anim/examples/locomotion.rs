//! A character that walks, runs and transitions, from the parts of `kinepack_anim::pose`. Walk and
//! run are blended by phase. The root's motion moves the character, and a hop begins by inertia. It
//! prints what the feet do, and what each part costs.
//!
//! The feet of the generated motions never stand, so even a single clip slides. A blend by phase
//! slides as much as its clips do on average, and its steps are as long. Blended by time, the feet
//! of the two clips work against each other at times, and the steps become short.
//!
//! `cargo run --release -p kinepack-anim --example locomotion`

mod walks;

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use kinepack_anim::offline::{BuildOptions, build};
use kinepack_anim::pose::{
    Axis, Blend, Frames, Inertia, JointWeights, Layer, Passed, Playhead, Retarget, RootMotion,
    SyncTrack, blend,
};
use kinepack_anim::{Clip, RawClip, Sampler, Skeleton, Transform, additive};

const DT_S: f32 = 1.0 / 60.0;
/// The number of frames that each row of the first table takes: ten seconds.
const FRAMES: usize = 600;
/// The number of poses that each row of the second table measures.
const POSES: u32 = 20_000;

/// One step of the left foot, cut out of a longer clip.
struct Gait {
    sampler: Sampler,
    /// Where the step begins in the clip.
    start_s: f32,
    track: SyncTrack,
}

impl Gait {
    /// Takes the moments at which the foot is farthest in front and farthest behind as markers. A
    /// game would have the moments at which feet touch the ground, from its animators.
    fn new(raw: &RawClip) -> Result<Self, Box<dyn Error>> {
        let options = BuildOptions { precision_cm: 0.01, ..BuildOptions::default() };
        let file = build(raw, &options)?.clip.as_bytes().to_vec();
        let sampler = Sampler::new(Clip::from_bytes(file)?, raw.skeleton())?;
        let [front, back] = [extremes(raw, 1.0)?, extremes(raw, -1.0)?];
        let [start_s, end_s] = *front.first_chunk().ok_or("fewer than two steps")?;
        let back_s = back.into_iter().find(|time_s| (start_s..end_s).contains(time_s));
        let back_s = back_s.ok_or("the foot does not go back")? - start_s;
        let track = SyncTrack::new(end_s - start_s, &[("front", 0.0), ("back", back_s)])?;
        Ok(Self { sampler, start_s, track })
    }

    fn sample(&self, time_s: f32, pose: &mut [Transform]) {
        self.sampler.sample(self.start_s + time_s, pose);
    }

    /// The root alone, which is cheaper than a pose.
    fn root(&self) -> impl Fn(f32) -> Transform {
        |time_s| self.sampler.joint(self.start_s + time_s, 0)
    }
}

/// The times at which the left foot is farthest in front of the hips, or behind with a `side` of -1.
fn extremes(raw: &RawClip, side: f32) -> Result<Vec<f32>, Box<dyn Error>> {
    let skeleton = raw.skeleton();
    let joint = skeleton.find("left foot").ok_or("no such joint")?;
    let mut model = skeleton.bind_pose();
    let ahead: Vec<f32> = (0..raw.samples())
        .map(|sample| {
            skeleton.model_pose(raw.pose(sample), &mut model);
            side * (model[joint].translation[2] - model[0].translation[2])
        })
        .collect();
    let mean = ahead.iter().sum::<f32>() / ahead.len() as f32;
    let is_most = |sample: &usize| {
        // The most within 0.3 s on either side.
        let near = &ahead[sample.saturating_sub(9)..(sample + 10).min(ahead.len())];
        ahead[*sample] > mean && near.iter().all(|other| *other <= ahead[*sample])
    };
    Ok((0..ahead.len()).filter(is_most).map(|sample| sample as f32 / raw.rate_hz()).collect())
}

/// What the feet did over some frames.
#[derive(Default)]
struct Feet {
    /// The way of the lower foot on the ground in cm, summed over frames.
    slide_cm: f32,
    /// How far the left foot was in front of the hips, by frame.
    ahead_cm: Vec<f32>,
    last: Option<[[f32; 3]; 2]>,
}

impl Feet {
    fn observe(&mut self, skeleton: &Skeleton, character: &Transform, pose: &[Transform]) {
        let mut world = pose.to_vec();
        world[0] = RootMotion::moved(character, &pose[0]);
        let mut model = world.clone();
        skeleton.model_pose(&world, &mut model);
        let foot = |name| skeleton.find(name).map_or([0.0; 3], |joint| model[joint].translation);
        let feet = [foot("left foot"), foot("right foot")];
        if let Some(last) = self.last.replace(feet) {
            let lower = usize::from(feet[1][1] < feet[0][1]);
            let [x, z] = [0, 2].map(|axis| feet[lower][axis] - last[lower][axis]);
            self.slide_cm += (x * x + z * z).sqrt();
        }
        skeleton.model_pose(pose, &mut model);
        let left = skeleton.find("left foot").map_or(0.0, |joint| model[joint].translation[2]);
        self.ahead_cm.push(left - model[0].translation[2]);
    }

    /// The shortest step of any 1.2 s, in which there is a whole one.
    fn shortest_cm(&self) -> f32 {
        let length = |ahead_cm: &[f32]| {
            let most = ahead_cm.iter().copied().fold(f32::MIN, f32::max);
            most - ahead_cm.iter().copied().fold(f32::MAX, f32::min)
        };
        self.ahead_cm.windows(72).map(length).fold(f32::MAX, f32::min)
    }
}

/// Plays a mix of two gaits. By phase both are in step; otherwise each plays at its own time.
fn play(walk: &Gait, run: &Gait, run_weight: f32, by_phase: bool, skeleton: &Skeleton) -> Feet {
    let gaits = [walk, run];
    let weights = [1.0 - run_weight, run_weight];
    let motion = RootMotion::on_ground(Axis::Y);
    let bind = skeleton.bind_pose();
    let (mut poses, mut pose) = ([bind.clone(), bind.clone()], bind.clone());
    let mut playheads = gaits.map(|gait| Playhead::looped(gait.track.duration_s()));
    let (mut phase, mut character, mut feet) = (0.0, Transform::IDENTITY, Feet::default());
    for _ in 0..FRAMES {
        let passed: [Passed; 2] = if by_phase {
            // The pace of the mix, in markers a second.
            let pace = [0, 1].map(|i| f64::from(weights[i]) * gaits[i].track.rate_at(phase));
            let next = phase + f64::from(DT_S) * (pace[0] + pace[1]);
            let passed = gaits.map(|gait| gait.track.passed(phase, next));
            phase = next;
            passed
        } else {
            playheads.each_mut().map(|playhead| playhead.advance(DT_S))
        };
        let mut deltas = [Transform::IDENTITY; 2];
        for i in 0..2 {
            gaits[i].sample(passed[i].to_s, &mut poses[i]);
            motion.remove(&mut poses[i][0]);
            deltas[i] = motion.delta(gaits[i].root(), &passed[i]);
        }
        let layers = [Layer::new(&poses[0], weights[0]), Layer::new(&poses[1], weights[1])];
        Blend { layers: &layers, ..Blend::new(&bind) }.write(&mut pose);
        // Deltas are blended as poses are.
        let [mut delta, other] = deltas;
        blend(std::slice::from_mut(&mut delta), &[other], run_weight);
        character = RootMotion::moved(&character, &delta);
        feet.observe(skeleton, &character, &pose);
    }
    feet
}

fn main() -> Result<(), Box<dyn Error>> {
    let raw = walks::clips(1)?;
    let skeleton = raw[0].skeleton().clone();
    let [walk, run] = [Gait::new(&raw[2])?, Gait::new(&raw[1])?];
    let run = Gait { track: run.track.aligned_to(&walk.track)?, ..run };
    println!(
        "a step takes {:.2} s walking and {:.2} s running",
        walk.track.duration_s(),
        run.track.duration_s()
    );

    println!("\n{:<28} {:>18} {:>18}", "", "foot slide, cm/s", "shortest step, cm");
    for (name, run_weight, by_phase) in [
        ("walk", 0.0, true),
        ("run", 1.0, true),
        ("half and half, by phase", 0.5, true),
        ("half and half, by time", 0.5, false),
    ] {
        let feet = play(&walk, &run, run_weight, by_phase, &skeleton);
        let slide = feet.slide_cm / (FRAMES as f32 * DT_S);
        println!("{name:<28} {slide:>18.0} {:>18.0}", feet.shortest_cm());
    }

    jump_into_hop(&walk, &raw[0], &skeleton)?;
    costs(&walk, &run, &skeleton)
}

/// The largest change of velocity of a foot around a transition, with inertia and without.
fn jump_into_hop(walk: &Gait, raw: &RawClip, skeleton: &Skeleton) -> Result<(), Box<dyn Error>> {
    let file = build(raw, &BuildOptions::default())?.clip.as_bytes().to_vec();
    let hop = Sampler::new(Clip::from_bytes(file)?, skeleton)?;
    let motion = RootMotion::on_ground(Axis::Y);
    let foot = skeleton.find("left foot").ok_or("no such joint")?;
    println!("\n{:<28} {:>18}", "from walk to hop", "largest jolt, cm/s");
    for (name, duration_s) in [("at once", 0.0), ("by inertia in 0.3 s", 0.3)] {
        let mut inertia = Inertia::new();
        // The last three poses: the places of the foot give its velocities.
        let mut shown = [skeleton.bind_pose(), skeleton.bind_pose()];
        let [mut new, mut new_before, mut model] = [0; 3].map(|_| skeleton.bind_pose());
        let (mut places, mut jolt_cm_per_s) = (Vec::new(), 0.0_f32);
        for frame in 0..90 {
            let time_s = DT_S * frame as f32;
            let mut pose = skeleton.bind_pose();
            let hop_s = time_s - 0.5;
            if hop_s < 0.0 {
                walk.sample(time_s % walk.track.duration_s(), &mut pose);
                motion.remove(&mut pose[0]);
            } else {
                if hop_s < DT_S {
                    // Both motions at the last frame, and at the frame before.
                    hop.sample(0.1 + hop_s - DT_S, &mut new);
                    hop.sample(0.1 + hop_s - 2.0 * DT_S, &mut new_before);
                    motion.remove(&mut new[0]);
                    motion.remove(&mut new_before[0]);
                    let frames = Frames { now: &shown[0], before: &shown[1] };
                    let meant = Frames { now: &new, before: &new_before };
                    inertia.start(frames, meant, DT_S, duration_s);
                }
                hop.sample(0.1 + hop_s, &mut pose);
                motion.remove(&mut pose[0]);
                inertia.apply(&mut pose, DT_S);
            }
            skeleton.model_pose(&pose, &mut model);
            places.push(model[foot].translation);
            if let [.., a, b, c] = places[..] {
                let bend = [0, 1, 2].map(|axis| (c[axis] - 2.0 * b[axis] + a[axis]) / DT_S);
                jolt_cm_per_s = jolt_cm_per_s.max(bend.iter().map(|c| c * c).sum::<f32>().sqrt());
            }
            shown.swap(0, 1);
            shown[0].copy_from_slice(&pose);
        }
        println!("{name:<28} {jolt_cm_per_s:>18.0}");
    }
    Ok(())
}

/// The time of each part.
fn costs(walk: &Gait, run: &Gait, skeleton: &Skeleton) -> Result<(), Box<dyn Error>> {
    let bind = skeleton.bind_pose();
    let [mut pose, mut a, mut b] = [0; 3].map(|_| bind.clone());
    walk.sample(0.3, &mut a);
    run.sample(0.5, &mut b);
    let half = [Layer::new(&a, 0.5), Layer::new(&b, 0.5)];
    let four = [half[0], half[1], half[0], half[1]];
    let upper = JointWeights::none(skeleton).with_subtree(skeleton, "spine", 1.0, 3)?;
    let upper = [half[0], half[1].with_weights(&upper)];
    let delta = additive::skeleton(skeleton).bind_pose();
    let deltas = [Layer::new(&delta, 0.5)];
    let motion = RootMotion::on_ground(Axis::Y);
    let mut inertia = Inertia::new();
    let frames = [Frames { now: &a, before: &b }, Frames::still(&b)];
    let mut retarget = Retarget::new(skeleton, skeleton, &[]);
    let mut time_s = 0.0;

    println!("\n{:<28} {:>12} {:>10}", format!("{} joints", bind.len()), "ns a pose", "ns/joint");
    let row = |name: &str, act: &mut dyn FnMut(&mut [Transform])| {
        let mut pose = bind.clone();
        let begun = Instant::now();
        for _ in 0..POSES {
            act(black_box(&mut pose));
        }
        let ns = 1e9 * begun.elapsed().as_secs_f64() / f64::from(POSES);
        println!("{name:<28} {ns:>12.0} {:>10.1}", ns / bind.len() as f64);
    };
    row("sample", &mut |pose| {
        time_s = (time_s + DT_S) % walk.track.duration_s();
        walk.sample(time_s, pose);
    });
    row("blend of 2", &mut |pose| Blend { layers: &half, ..Blend::new(&bind) }.write(pose));
    row("blend of 4", &mut |pose| Blend { layers: &four, ..Blend::new(&bind) }.write(pose));
    row("blend of 2, weights", &mut |pose| {
        Blend { layers: &upper, ..Blend::new(&bind) }.write(pose);
    });
    row("blend of 2 and an additive", &mut |pose| {
        Blend { layers: &half, additives: &deltas, ..Blend::new(&bind) }.write(pose);
    });
    row("root motion", &mut |pose| {
        pose[0] = motion.delta(walk.root(), &walk.track.passed(0.4, 0.5));
    });
    row("inertia, start", &mut |_| inertia.start(frames[0], frames[1], DT_S, 0.3));
    row("inertia, apply", &mut |pose| {
        pose.copy_from_slice(&b);
        inertia.apply(pose, 1e-7);
    });
    row("retarget", &mut |pose| retarget.apply(&a, pose));
    row("model space", &mut |model| skeleton.model_pose(&a, model));
    black_box(&mut pose);
    Ok(())
}
