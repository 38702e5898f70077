//! Tests retargeting to the same rig, to rigs with more and fewer joints, and to rigs with other
//! bind axes and other sizes.

use kinepack_anim::pose::Retarget;
use kinepack_anim::{Skeleton, Transform};

use super::made::{angle, assert_near, at, pose, product, rotation, skeleton, small_rotation};
use crate::random::Random;

type Bone = (&'static str, Option<u16>, Transform);

fn arm() -> Vec<Bone> {
    vec![
        ("root", None, at(0.0, 90.0, 0.0)),
        ("chest", Some(0), at(0.0, 40.0, 0.0)),
        ("upper arm", Some(1), at(15.0, 5.0, 0.0)),
        ("lower arm", Some(2), at(25.0, 0.0, 0.0)),
        ("hand", Some(3), at(20.0, 0.0, 0.0)),
        ("head", Some(1), at(0.0, 20.0, 2.0)),
    ]
}

/// Returns the bind pose with other rotations, and another position of the root.
fn posed(skeleton: &Skeleton, random: &mut Random) -> Vec<Transform> {
    let mut pose = skeleton.bind_pose();
    for own in &mut pose {
        own.rotation = rotation(random);
    }
    pose[0].translation = [0, 1, 2].map(|_| random.between(-50.0, 50.0));
    pose
}

fn model(skeleton: &Skeleton, pose: &[Transform]) -> Vec<Transform> {
    let mut model = skeleton.bind_pose();
    skeleton.model_pose(pose, &mut model);
    model
}

fn applied(retarget: &mut Retarget, pose: &[Transform], target: &Skeleton) -> Vec<Transform> {
    let mut result = vec![at(1.0, 2.0, 3.0); target.len()];
    retarget.apply(pose, &mut result);
    result
}

/// Checks that joints of both rigs turn alike in the model's space, relative to the bind pose.
#[track_caller]
fn assert_turned_alike(a: (&Skeleton, &[Transform]), b: (&Skeleton, &[Transform])) {
    let turn = |(skeleton, pose): (&Skeleton, &[Transform]), joint: usize| {
        let [x, y, z, w] = model(skeleton, &skeleton.bind_pose())[joint].rotation;
        product(model(skeleton, pose)[joint].rotation, [-x, -y, -z, w])
    };
    let mut compared = 0;
    for (index, joint) in b.0.joints().iter().enumerate() {
        let Some(other) = a.0.find(&joint.name) else { continue };
        let off = angle(turn(a, other), turn(b, index));
        assert!(off < 1e-5, "{} is {off} off", joint.name);
        compared += 1;
    }
    assert!(compared >= 4);
}

#[test]
fn the_same_rig_gets_the_same_pose() {
    let mut random = Random(1);
    let mut bones = arm();
    for (_, _, bind) in &mut bones {
        bind.rotation = rotation(&mut random);
        bind.scale = [0, 1, 2].map(|_| random.between(0.5, 2.0));
    }
    let rig = skeleton(&bones);
    let mut retarget = Retarget::new(&rig, &rig, &[]);
    assert_eq!(retarget.size(), 1.0);
    assert!(retarget.unmatched().source.is_empty() && retarget.unmatched().target.is_empty());
    for _ in 0..50 {
        let pose = posed(&rig, &mut random);
        assert_near(&applied(&mut retarget, &pose, &rig), &pose, 1e-5);
    }
    // In this case all joints take translations, and have scales.
    let mut retarget = retarget.with_translations(&rig, |_| true);
    for _ in 0..50 {
        let pose = pose(&mut random, rig.len());
        assert_near(&applied(&mut retarget, &pose, &rig), &pose, 1e-5);
    }
}

#[test]
fn the_bind_pose_becomes_the_bind_pose() {
    let mut random = Random(2);
    let mut any = || {
        let mut bones = arm();
        for (_, _, bind) in &mut bones {
            bind.rotation = rotation(&mut random);
            bind.translation = bind.translation.map(|c| c * random.between(0.5, 2.0));
        }
        skeleton(&bones)
    };
    let (source, target) = (any(), any());
    let mut retarget = Retarget::new(&source, &target, &[]);
    let result = applied(&mut retarget, &source.bind_pose(), &target);
    assert_near(&result, &target.bind_pose(), 1e-5);
}

#[test]
fn bones_with_other_axes_turn_alike() {
    let mut random = Random(3);
    let source = skeleton(&arm());
    let mut bones = arm();
    for (_, _, bind) in &mut bones {
        bind.rotation = rotation(&mut random);
    }
    let target = skeleton(&bones);
    let mut retarget = Retarget::new(&source, &target, &[]);
    for _ in 0..50 {
        let pose = posed(&source, &mut random);
        let result = applied(&mut retarget, &pose, &target);
        assert_turned_alike((&source, &pose), (&target, &result));
    }
}

#[test]
fn twist_joints_of_the_target_keep_their_bind_pose() {
    let mut random = Random(4);
    let source = skeleton(&arm());
    let mut bones = arm();
    // The rig gets a twist joint between the lower arm and the hand, and another joint at the side.
    let twist = Transform { rotation: small_rotation(&mut random, 0.3), ..at(10.0, 0.0, 0.0) };
    bones.insert(4, ("twist", Some(3), twist));
    bones[5] = ("hand", Some(4), at(10.0, 0.0, 0.0));
    bones.push(("side twist", Some(2), twist));
    let target = skeleton(&bones);
    let mut retarget = Retarget::new(&source, &target, &[]);
    assert_eq!(retarget.unmatched().target, ["twist", "side twist"]);
    assert!(retarget.unmatched().source.is_empty());
    for _ in 0..50 {
        let pose = posed(&source, &mut random);
        let result = applied(&mut retarget, &pose, &target);
        assert_turned_alike((&source, &pose), (&target, &result));
        assert_eq!(result[4], target.joints()[4].bind);
        assert_near(&result[7..], &[target.joints()[7].bind], 1e-6);
    }
}

#[test]
fn joints_that_the_target_lacks_turn_the_joints_below() {
    let mut random = Random(5);
    let mut bones = arm();
    let twist = Transform { rotation: small_rotation(&mut random, 0.3), ..at(10.0, 0.0, 0.0) };
    bones.insert(4, ("twist", Some(3), twist));
    bones[5] = ("hand", Some(4), at(10.0, 0.0, 0.0));
    let (source, target) = (skeleton(&bones), skeleton(&arm()));
    let mut retarget = Retarget::new(&source, &target, &[]);
    assert_eq!(retarget.unmatched().source, ["twist"]);
    for _ in 0..50 {
        let pose = posed(&source, &mut random);
        let result = applied(&mut retarget, &pose, &target);
        assert_turned_alike((&source, &pose), (&target, &result));
        // Bones keep the target's lengths.
        for (own, joint) in result.iter().zip(target.joints()).skip(1) {
            assert_eq!(own.translation, joint.bind.translation);
        }
    }
}

#[test]
fn chosen_joints_move_alike_in_model_space() {
    let mut random = Random(7);
    let mut any = || {
        let mut bones = arm();
        for (_, _, bind) in &mut bones {
            bind.rotation = rotation(&mut random);
        }
        skeleton(&bones)
    };
    let (source, target) = (any(), any());
    let retarget = Retarget::new(&source, &target, &[]).with_size(0.5);
    let mut retarget = retarget.with_translations(&target, |name| name == "hand");
    let way = |skeleton: &Skeleton, pose: &[Transform]| {
        let [from, to] = [&skeleton.bind_pose()[..], pose].map(|pose| model(skeleton, pose)[4]);
        [0, 1, 2].map(|axis| to.translation[axis] - from.translation[axis])
    };
    let mut pose = source.bind_pose();
    pose[4].translation = [3.0, -2.0, 8.0];
    let result = applied(&mut retarget, &pose, &target);
    let [expected, moved] = [way(&source, &pose).map(|c| 0.5 * c), way(&target, &result)];
    assert_near(
        &[at(moved[0], moved[1], moved[2])],
        &[at(expected[0], expected[1], expected[2])],
        1e-5,
    );
    // The root was not chosen to take translations.
    assert_eq!(result[0].translation, target.joints()[0].bind.translation);
}

#[test]
fn roots_move_by_the_ratio_of_sizes() {
    let source = skeleton(&arm());
    let mut bones = arm();
    for (_, _, bind) in &mut bones {
        bind.translation = bind.translation.map(|c| 0.5 * c);
    }
    let target = skeleton(&bones);
    let mut pose = source.bind_pose();
    pose[0].translation = [10.0, 94.0, -30.0];
    let root = |retarget: &mut Retarget| applied(retarget, &pose, &target)[0].translation;
    let mut retarget = Retarget::new(&source, &target, &[]);
    assert_eq!(root(&mut retarget), [5.0, 47.0, -15.0]);
    assert_eq!(root(&mut retarget.clone().with_size(2.0)), [20.0, 53.0, -60.0]);
    assert_eq!(root(&mut retarget.with_translations(&target, |_| false)), [0.0, 45.0, 0.0]);
}

#[test]
fn hips_below_a_root_of_either_rig_take_over_the_motion() {
    let quarter = [0.0, 0.5_f32.sqrt(), 0.0, 0.5_f32.sqrt()];
    let bones = |with_root: bool| {
        let joints = [("hips", None, at(0.0, 90.0, 0.0)), ("head", Some(0), at(0.0, 60.0, 0.0))];
        if !with_root {
            return skeleton(&joints);
        }
        let [hips, head] = joints;
        let root = Transform { rotation: quarter, ..Transform::IDENTITY };
        skeleton(&[("root", None, root), (hips.0, Some(0), hips.2), (head.0, Some(1), head.2)])
    };
    let (rooted, bare) = (bones(true), bones(false));
    // The root walks, and the hips sway in its space.
    let mut walk = rooted.bind_pose();
    walk[0].translation = [0.0, 0.0, 100.0];
    walk[1].translation = [3.0, 91.0, 0.0];
    let moved = model(&rooted, &walk)[1].translation;
    let result = applied(&mut Retarget::new(&rooted, &bare, &[]), &walk, &bare);
    assert_near(&[at(moved[0], moved[1], moved[2])], &[at(0.0, 91.0, 97.0)], 1e-6);
    let place = Transform { translation: result[0].translation, ..Transform::IDENTITY };
    assert_near(&[place], &[at(0.0, 91.0, 97.0)], 1e-6);
    assert_near(&result[1..], &bare.bind_pose()[1..], 1e-6);

    // In the other direction, the root of the target stays, so the hips walk.
    let mut walk = bare.bind_pose();
    walk[0].translation = [4.0, 91.0, 50.0];
    let result = applied(&mut Retarget::new(&bare, &rooted, &[]), &walk, &rooted);
    assert_near(&result[..1], &rooted.bind_pose()[..1], 1e-6);
    let hips = model(&rooted, &result)[1];
    assert_near(&[Transform { rotation: Transform::IDENTITY.rotation, ..hips }], &[walk[0]], 1e-6);
}

#[test]
fn names_are_matched_once_and_renamed() {
    let bind = Transform::IDENTITY;
    let source = skeleton(&[
        ("Hips", None, bind),
        ("", Some(0), bind),
        ("a", Some(0), bind),
        ("a", Some(0), bind),
    ]);
    let target = skeleton(&[
        ("pelvis", None, bind),
        ("", Some(0), bind),
        ("b", Some(0), bind),
        ("a", Some(0), bind),
    ]);
    let retarget = Retarget::new(&source, &target, &[("Hips", "pelvis"), ("a", "b")]);
    assert_eq!(retarget.unmatched().source, ["", "a"]);
    // A renamed joint does not match its old name.
    assert_eq!(retarget.unmatched().target, ["", "a"]);
    // Two names can be exchanged.
    let two = skeleton(&[("left", None, bind), ("right", None, bind)]);
    let mut mirror = Retarget::new(&two, &two, &[("left", "right"), ("right", "left")]);
    let turned = Transform { rotation: [0.0, 0.0, 1.0, 0.0], ..bind };
    assert_eq!(applied(&mut mirror, &[turned, bind], &two), [bind, turned]);
}

#[test]
fn rigs_without_a_common_joint_give_the_bind_pose() {
    let mut random = Random(6);
    let source = skeleton(&arm());
    let target = skeleton(&[("tail", None, at(1.0, 2.0, 3.0))]);
    let mut retarget = Retarget::new(&source, &target, &[]);
    assert_eq!((retarget.size(), retarget.unmatched().source.len()), (1.0, 6));
    let result = applied(&mut retarget, &posed(&source, &mut random), &target);
    assert_eq!(result, target.bind_pose());
}
