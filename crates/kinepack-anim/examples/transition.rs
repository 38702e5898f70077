//! Plays a character that walks, and suddenly hops. With inertial blending, its joints keep their
//! velocities, and the difference from the hop decays within 0.3 s. Only one clip is sampled in
//! each frame.
//!
//! `cargo run --release -p kinepack-anim --example transition`

mod walks;

use std::error::Error;

use kinepack_anim::offline::{BuildOptions, build};
use kinepack_anim::pose::{Axis, Frames, Inertia, RootMotion};
use kinepack_anim::{Clip, RawClip, Sampler, Skeleton, Transform};

const DT_S: f32 = 1.0 / 60.0;
/// The frame in which the hop begins.
const HOP: usize = 30;

/// Builds and loads a clip. In a game, `kinepack anim build` makes the file, and the game loads it.
fn sampler(raw: &RawClip) -> Result<Sampler, Box<dyn Error>> {
    let file = build(raw, &BuildOptions::default())?.clip.as_bytes().to_vec();
    Ok(Sampler::new(Clip::from_bytes(file)?, raw.skeleton())?)
}

/// Plays the character for 1.5 s, with a transition of `duration_s` seconds. Returns its poses.
fn play(
    walk: &Sampler,
    hop: &Sampler,
    skeleton: &Skeleton,
    duration_s: f32,
) -> Vec<Vec<Transform>> {
    let motion = RootMotion::on_ground(Axis::Y);
    let sample = |sampler: &Sampler, time_s: f32| {
        let mut pose = skeleton.bind_pose();
        sampler.sample(time_s, &mut pose);
        // The motion is removed from the pose. A game moves the character by it, as the example
        // `locomotion` does.
        motion.remove(&mut pose[0]);
        pose
    };
    let mut inertia = Inertia::new();
    let mut shown: Vec<Vec<Transform>> = Vec::new();
    for frame in 0..90 {
        if frame < HOP {
            shown.push(sample(walk, DT_S * frame as f32));
            continue;
        }
        // The character skips the first 0.1 s of the hop.
        let time_s = 0.1 + DT_S * (frame - HOP) as f32;
        if frame == HOP {
            // These are the last two frames that were shown, and the two frames before this one in
            // the hop, as if the hop had begun earlier.
            let [now, before] = [1.0, 2.0].map(|frames| sample(hop, time_s - frames * DT_S));
            let hop = Frames { now: &now, before: &before };
            let shown = Frames { now: &shown[frame - 1], before: &shown[frame - 2] };
            inertia.start(shown, hop, DT_S, duration_s);
        }
        let mut pose = sample(hop, time_s);
        inertia.apply(&mut pose, DT_S);
        shown.push(pose);
    }
    shown
}

/// Returns the largest change of the left foot's velocity from one frame to the next.
fn jolt_cm_per_s(poses: &[Vec<Transform>], skeleton: &Skeleton) -> Option<f32> {
    let foot = skeleton.find("left foot")?;
    let mut model = skeleton.bind_pose();
    let place = |pose: &Vec<Transform>| {
        skeleton.model_pose(pose, &mut model);
        model[foot].translation
    };
    let places: Vec<[f32; 3]> = poses.iter().map(place).collect();
    let jolts = places.windows(3).map(|places| {
        let change = |c: usize| (places[2][c] - 2.0 * places[1][c] + places[0][c]) / DT_S;
        [0, 1, 2].map(change).iter().map(|c| c * c).sum::<f32>().sqrt()
    });
    jolts.max_by(f32::total_cmp)
}

fn main() -> Result<(), Box<dyn Error>> {
    let raw = walks::clips(1)?;
    let skeleton = raw[0].skeleton();
    let (hop, walk) = (sampler(&raw[0])?, sampler(&raw[2])?);
    let jolts = [0.0, 0.3].map(|duration_s| {
        jolt_cm_per_s(&play(&walk, &hop, skeleton, duration_s), skeleton).unwrap_or(f32::NAN)
    });
    println!("largest jolt of a foot: {:.0} cm/s at once, {:.0} by inertia", jolts[0], jolts[1]);
    assert!(jolts[1] < 0.5 * jolts[0], "inertia smooths the transition");
    Ok(())
}
