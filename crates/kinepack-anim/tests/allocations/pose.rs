//! In the steady state, the operations on poses allocate nothing.

#[path = "../pose/made.rs"]
mod made;

use allocation_counter::measure;
use kinepack_anim::pose::{
    Axis, Blend, Frames, Inertia, JointWeights, Layer, Playhead, Retarget, RootMotion, SyncTrack,
};
use made::{at, pose, skeleton};

use crate::random::Random;

#[test]
fn a_frame_allocates_nothing() {
    let mut random = Random(1);
    let rig = skeleton(&[("a", None, at(0.0, 1.0, 0.0)), ("b", Some(0), at(0.0, 1.0, 0.0))]);
    let [mut own, one, two] = [0; 3].map(|_| pose(&mut random, 2));
    let weights = JointWeights::all(&rig).with_subtree(&rig, "b", 0.5, 1).unwrap();
    let mut retarget = Retarget::new(&rig, &rig, &[]);
    let (mut playhead, motion) = (Playhead::looped(1.0), RootMotion::on_ground(Axis::Y));
    let track = SyncTrack::new(1.0, &[("left", 0.0), ("right", 0.5)]).unwrap();
    let mut inertia = Inertia::new();
    inertia.start(Frames::still(&one), Frames::still(&two), 0.01, 0.2);
    let info = measure(|| {
        for frame in 0..100 {
            let passed = playhead.advance(0.3);
            let layers = [Layer::new(&one, 1.0), Layer::new(&two, 2.0).with_weights(&weights)];
            let blend = Blend { layers: &layers, additives: &layers[1..], ..Blend::new(&one) };
            blend.write(&mut own);
            let root = |time_s| at(time_s, 0.0, track.time_at(f64::from(time_s)));
            let delta = motion.delta(root, &passed);
            motion.remove(&mut own[0]);
            if frame % 10 == 0 {
                let frames = Frames { now: &own, before: &one };
                inertia.start(frames, Frames::still(&two), 0.01, 0.2);
            }
            inertia.apply(&mut own, 0.01);
            retarget.apply(&one, &mut own);
            own[0] = RootMotion::moved(&own[0], &delta);
            std::hint::black_box(passed.pieces().count());
        }
    });
    assert_eq!(info.count_total, 0);
}
