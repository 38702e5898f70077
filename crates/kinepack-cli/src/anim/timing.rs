//! Measures how long playing a pose takes.

use std::hint::black_box;
use std::time::Instant;

use kinepack_anim::keyed::KeyedClip;
use kinepack_anim::offline::Built;
use kinepack_anim::{AnyClip, AnyPlayer, Clip, RawClip, Transform};

/// Returns the time to play a pose in ns per joint, playing forwards at 60 Hz repeatedly. Returns
/// the best of five rounds.
pub(crate) fn warm_ns_per_joint(raw: &RawClip, built: &Built) -> f64 {
    const POSES: usize = 2000;
    const ROUNDS: usize = 5;
    let bind = raw.skeleton().bind_pose();
    let mut pose = bind.clone();
    let mut player = built.clip.player(raw.skeleton()).expect("it was built for this skeleton");
    // A clip may last for longer than there are numbers for its poses.
    let poses_a_loop = ((60.0 * built.clip.duration_s()) as usize).saturating_add(1);
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        for index in 0..POSES {
            player.sample((index % poses_a_loop) as f32 / 60.0, &mut pose);
            black_box(&pose);
        }
        best = best.min(begun.elapsed().as_secs_f64());
    }
    1e9 * best / (POSES * raw.joints()) as f64
}

/// Returns the time to play a pose in ns per joint if the clip is not in a near cache. Returns the
/// best of five rounds. Each pose is at another time of another copy of the clip. Each copy has a
/// player, and all copies together take `all_bytes` bytes.
pub(crate) fn cold_ns_per_joint(raw: &RawClip, built: &Built, all_bytes: usize) -> f64 {
    const ROUNDS: usize = 5;
    /// The distance from one copy to the next. It is large, and odd so that every copy is played.
    const STRIDE: usize = 7919;
    let bind = raw.skeleton().bind_pose();
    let mut pose = bind.clone();
    // A player is about twice as large as a pose.
    let bytes = built.clip.as_bytes().len() + 2 * Transform::BYTES * raw.joints();
    let count = (all_bytes / bytes).max(1).next_power_of_two();
    let mut players: Vec<_> = (0..count).map(|_| player_of_a_copy(&built.clip, &bind)).collect();
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        for index in 0..count {
            let time_s = built.clip.duration_s() * (index % 31) as f32 / 31.0;
            players[index * STRIDE % count].sample(time_s, &mut pose);
            black_box(&pose);
        }
        best = best.min(begun.elapsed().as_secs_f64());
    }
    1e9 * best / (count * raw.joints()) as f64
}

/// Returns a player of a copy that has its own memory, because a clone of an [`AnyClip`] would
/// share the clip.
fn player_of_a_copy(clip: &AnyClip, bind: &[Transform]) -> AnyPlayer {
    let copy = match clip {
        AnyClip::Block(clip) => AnyClip::from(Clip::clone(clip)),
        AnyClip::Keyed(clip) => AnyClip::from(KeyedClip::clone(clip)),
    };
    copy.player_with_bind_pose(bind).expect("a pose of its skeleton")
}
