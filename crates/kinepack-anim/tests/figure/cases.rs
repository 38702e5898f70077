//! The figures and poses of `spec/vectors/figure.txt`. The tests of the C interface use them too.

use kinepack::Tick;
use kinepack_anim::figure::{
    ClipPlay, FigureClips, FigureCurve, FigureOptions, FigurePart, FigurePose, Motion,
};
use kinepack_anim::{Joint, Skeleton, Transform};

use super::random::Random;

/// A figure with poses of its skeleton.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) skeleton: Skeleton,
    pub(crate) options: FigureOptions,
    pub(crate) poses: Vec<Vec<Transform>>,
}

fn joint(name: &str, parent: Option<u16>, translation: [f32; 3]) -> Joint {
    Joint { name: name.into(), parent, bind: Transform { translation, ..Transform::IDENTITY } }
}

/// The values of the curves.
const CURVES: [f32; 2] = [0.3, 1.7];

/// Hips, a leg, and an arm that carries a lamp.
fn person() -> Vec<Joint> {
    let mut joints = vec![
        joint("hips", None, [0.0, 95.0, 0.0]),
        joint("thigh", Some(0), [9.0, -5.0, 0.0]),
        joint("shin", Some(1), [0.0, -42.0, 1.0]),
        joint("chest", Some(0), [0.0, 30.0, 0.0]),
        joint("arm.L", Some(3), [18.0, 15.0, -2.0]),
        joint("hand[0]", Some(4), [27.5, 0.0, 0.0]),
        joint("lamp", Some(5), [8.0, 0.0, 3.0]),
    ];
    joints[3].bind.rotation = about([1.0, 0.0, 0.0], 0.2);
    joints[4].bind.scale = [1.5, 1.0, 0.75];
    joints
}

pub(crate) fn cases() -> Vec<Case> {
    let person = Skeleton::new(person()).unwrap();
    let motions = vec![(2, Motion::Hinge([1.0, 0.0, 0.0])), (6, Motion::Moves { range_cm: 5.0 })];
    let curve = |name: &str, max| FigureCurve { name: name.into(), min: 0.0, max, precision: 0.01 };
    let rich = FigureOptions {
        precision_cm: 0.25,
        joint_precisions_cm: vec![(5, 0.1)],
        shell_cm: 2.0,
        motions: motions.clone(),
        curves: vec![curve("jawOpen", 1.0), curve("grip", 2.0)],
        ..FigureOptions::default()
    };
    let part = |name: &str, joints: &[usize], curves: &[usize]| FigurePart {
        name: name.into(),
        joints: joints.to_vec(),
        curves: curves.to_vec(),
    };
    let parts = vec![part("hand [R]", &[6, 5], &[1]), part("leg", &[1, 2], &[])];
    let parts = FigureOptions { parts, ..rich.clone() };
    let names = ["walk", "wave", "sit.down"].map(String::from).to_vec();
    let clips = FigureOptions { clips: FigureClips { slots: 2, names }, ..parts.clone() };
    let tiers = FigureOptions { coarser: vec![4.0, 10.0], ..clips.clone() };
    let mut random = Random(61);
    let poses = (0..4)
        .map(|_| {
            let mut pose = person.bind_pose();
            for (index, transform) in pose.iter_mut().enumerate() {
                transform.rotation = match index {
                    2 => about([1.0, 0.0, 0.0], random.between(-2.0, 2.0)),
                    _ => rotation(&mut random),
                };
            }
            pose[0].translation = std::array::from_fn(|_| random.between(-3000.0, 3000.0));
            pose[6].translation[1] += random.between(-5.0, 5.0);
            pose
        })
        .collect::<Vec<_>>();
    let still = FigureOptions {
        precision_cm: 2.0,
        motions: (0..7).map(|joint| (joint, Motion::Still)).collect(),
        ..FigureOptions::default()
    };
    let bind = vec![person.bind_pose()];
    let all = FigureOptions { motions: vec![motions[1]], ..FigureOptions::default() };
    vec![
        Case { name: "default", skeleton: person.clone(), options: all, poses: poses.clone() },
        Case { name: "rich", skeleton: person.clone(), options: rich, poses: poses.clone() },
        Case { name: "still", skeleton: person.clone(), options: still, poses: bind },
        Case { name: "parts", skeleton: person.clone(), options: parts, poses: poses.clone() },
        Case { name: "clips", skeleton: person.clone(), options: clips, poses: poses.clone() },
        Case { name: "tiers", skeleton: person, options: tiers, poses },
    ]
}

/// Returns the clips that play in each of the four poses.
pub(crate) fn plays(index: usize) -> [Option<ClipPlay>; 2] {
    let tick = Tick(4_000_000_000);
    let walk = ClipPlay::start(0, tick);
    let wave = ClipPlay::start(1, Tick(7)).with_speed(tick, -0.75).unwrap();
    let sit = ClipPlay::start(2, tick).with_time(tick, -3.3).unwrap().with_speed(tick, 16.0);
    match index {
        0 => [None, None],
        1 => [Some(walk), None],
        2 => [Some(walk.with_weight(0.8).unwrap()), Some(wave.with_weight(0.2).unwrap())],
        _ => [None, Some(sit.unwrap().with_weight(0.0).unwrap())],
    }
}

/// Returns a pose with its curves. Other parts are absent in each of the four poses, which take
/// turns in the tiers.
pub(crate) fn figure_pose<'a>(
    options: &FigureOptions,
    index: usize,
    joints: &'a [Transform],
    plays: &'a [Option<ClipPlay>],
) -> FigurePose<'a> {
    let absent: &[usize] = match (options.parts.is_empty(), index) {
        (true, _) | (_, 0) => &[],
        (_, 1) => &[0],
        (_, 2) => &[1],
        _ => &[1, 0],
    };
    let clips = &plays[..options.clips.slots];
    let tier = index % (options.coarser.len() + 1);
    FigurePose { joints, curves: &CURVES[..options.curves.len()], absent, clips, tier }
}

/// Returns a random rotation.
pub(crate) fn rotation(random: &mut Random) -> [f32; 4] {
    loop {
        let numbers: [f32; 4] = std::array::from_fn(|_| random.between(-1.0, 1.0));
        let square: f32 = numbers.iter().map(|number| number * number).sum();
        if square > 0.01 {
            return numbers.map(|number| number / square.sqrt());
        }
    }
}

/// Returns the quaternion of a turn about an axis.
pub(crate) fn about(axis: [f32; 3], angle_rad: f32) -> [f32; 4] {
    let length = axis.iter().map(|c| c * c).sum::<f32>().sqrt();
    let [x, y, z] = axis.map(|c| c / length * (angle_rad / 2.0).sin());
    [x, y, z, (angle_rad / 2.0).cos()]
}
