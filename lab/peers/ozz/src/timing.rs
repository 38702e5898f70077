//! Measures how long playing takes, as the best of five rounds. ozz writes poses as groups of four
//! joints, and kinepack writes a transform for each joint.
//!
//! - Forwards: one player plays over and over at 60 Hz.
//! - Jumps: one player computes each pose at a random time.
//! - Cold: all copies of the clip take turns. Each copy has a player that goes forwards at 60 Hz.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use kinepack_anim::{Clip, Sampler, Transform};
use ozz_animation_rs::{Animation, Archive, SamplingContext, SamplingJobRef, SoaTransform};

use crate::Outcome;

const ROUNDS: usize = 5;
const POSES: usize = 2000;
const RATE_HZ: f32 = 60.0;
/// The distance from one copy of a clip to the next. It is large, and odd so that every copy is
/// played.
const STRIDE: usize = 7919;

/// Returns the mean time of one action in ns, from the fastest round.
fn best_ns(count: usize, mut act: impl FnMut(usize, usize)) -> f64 {
    let mut best = f64::INFINITY;
    for round in 0..ROUNDS {
        let begun = Instant::now();
        for index in 0..count {
            act(round, index);
        }
        best = best.min(begun.elapsed().as_secs_f64());
    }
    1e9 * best / count as f64
}

/// Returns the time of pose `index` in a clip that plays over and over.
fn forwards_s(index: usize, duration_s: f32) -> f32 {
    let poses_a_loop = (RATE_HZ * duration_s) as usize + 1;
    (index % poses_a_loop) as f32 / RATE_HZ
}

/// Returns the time of pose `index` if playback jumps about the clip.
fn jump_s(index: usize, duration_s: f32) -> f32 {
    (index * STRIDE % 1000) as f32 / 1000.0 * duration_s
}

/// Returns how many copies of `bytes` each fill `all_bytes`, rounded up to a power of two.
fn copies(all_bytes: usize, bytes: usize) -> usize {
    (all_bytes / bytes).max(1).next_power_of_two()
}

/// Returns the time per pose in ozz, for each of the three cases of the [module](self).
pub(crate) fn ozz(file: &[u8], animation: &Animation, cold_bytes: usize) -> Outcome<[f64; 3]> {
    let mut lanes = vec![SoaTransform::default(); animation.num_soa_tracks()];
    let mut failed = None;
    let mut play = |animation: &Animation, context: &mut SamplingContext, time_s: f32| {
        let mut job = SamplingJobRef::default();
        job.set_animation(animation);
        job.set_context(context);
        job.set_output(&mut lanes[..]);
        job.set_ratio(time_s / animation.duration());
        if let Err(error) = job.run() {
            failed = Some(error);
        }
        black_box(&lanes);
    };
    let mut context = SamplingContext::new(animation.num_tracks());
    let duration_s = animation.duration();
    let forwards = best_ns(POSES, |_, index| {
        play(animation, &mut context, forwards_s(index, duration_s));
    });
    let jumps = best_ns(POSES, |_, index| {
        play(animation, &mut context, jump_s(index, duration_s));
    });
    let count = copies(cold_bytes, file.len() + context.size());
    let mut players = Vec::with_capacity(count);
    for _ in 0..count {
        let copy = Animation::from_archive(&mut Archive::from_slice(file)?)?;
        let context = SamplingContext::new(copy.num_tracks());
        // A context remembers the address of its animation, which must not move.
        players.push((Box::new(copy), context));
    }
    let cold = best_ns(count, |round, index| {
        let (copy, context) = &mut players[index * STRIDE % count];
        play(copy, context, forwards_s(index + round, duration_s));
    });
    match failed {
        Some(error) => Err(error.into()),
        None => Ok([forwards, jumps, cold]),
    }
}

/// Returns the time per pose in kinepack, for the same cases.
pub(crate) fn kinepack(clip: &Clip, bind: &Arc<[Transform]>, cold_bytes: usize) -> [f64; 3] {
    let mut pose = bind.to_vec();
    let player = || {
        let copy = Arc::new(Clip::clone(clip));
        Sampler::with_bind_pose(copy, bind).expect("the clip has these joints")
    };
    let sampler = player();
    let duration_s = clip.info().duration_s();
    let forwards = best_ns(POSES, |_, index| {
        sampler.sample(forwards_s(index, duration_s), &mut pose);
        black_box(&pose);
    });
    let jumps = best_ns(POSES, |_, index| {
        sampler.sample(jump_s(index, duration_s), &mut pose);
        black_box(&pose);
    });
    let count = copies(cold_bytes, clip.memory_bytes() + size_of_val(&sampler));
    let players: Vec<Sampler> = (0..count).map(|_| player()).collect();
    let cold = best_ns(count, |round, index| {
        let time_s = forwards_s(index + round, duration_s);
        players[index * STRIDE % count].sample(time_s, &mut pose);
        black_box(&pose);
    });
    [forwards, jumps, cold]
}
