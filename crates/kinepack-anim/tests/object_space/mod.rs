//! Computes the error metric a second time: the positions of joints in object space, and the
//! distances between them.

use kinepack_anim::{AnyPlayer, RawClip, Skeleton, Transform};

type Vector = [f64; 3];

/// Block clips are played in `f32`. Therefore a clip's error may be this share of the size of its
/// numbers, if that share exceeds the clip's precision.
pub(crate) const ROUNDING: f64 = 1e-6;

/// A joint in object space.
#[derive(Clone, Copy)]
pub(crate) struct Placed {
    rotation: [f64; 4],
    translation: Vector,
    scale: Vector,
}

pub(crate) fn unit(q: [f64; 4]) -> [f64; 4] {
    let length = q.iter().map(|c| c * c).sum::<f64>().sqrt();
    q.map(|c| c / length)
}

fn product([ax, ay, az, aw]: [f64; 4], [bx, by, bz, bw]: [f64; 4]) -> [f64; 4] {
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

fn turn(q: [f64; 4], [x, y, z]: Vector) -> Vector {
    let back = [-q[0], -q[1], -q[2], q[3]];
    let [x, y, z, _] = product(product(q, [x, y, z, 0.0]), back);
    [x, y, z]
}

fn each(a: Vector, b: Vector, of: impl Fn(f64, f64) -> f64) -> Vector {
    [0, 1, 2].map(|axis| of(a[axis], b[axis]))
}

pub(crate) fn place(skeleton: &Skeleton, pose: &[Transform]) -> Vec<Placed> {
    let mut placed: Vec<Placed> = Vec::new();
    for (joint, transform) in pose.iter().enumerate() {
        let mut here = Placed {
            rotation: unit(transform.rotation.map(f64::from)),
            translation: transform.translation.map(f64::from),
            scale: transform.scale.map(f64::from),
        };
        if let Some(parent) = skeleton.parent(joint) {
            let parent = placed[parent];
            let moved = turn(parent.rotation, each(here.translation, parent.scale, |a, b| a * b));
            here.translation = each(parent.translation, moved, |a, b| a + b);
            here.rotation = product(parent.rotation, here.rotation);
            here.scale = each(parent.scale, here.scale, |a, b| a * b);
        }
        placed.push(here);
    }
    placed
}

/// Returns the largest distance between the points at `shell_cm` on the three axes.
pub(crate) fn error_cm(a: &Placed, b: &Placed, shell_cm: f64) -> f64 {
    let point = |joint: &Placed, axis: usize| {
        let mut arm = [0.0; 3];
        arm[axis] = shell_cm * joint.scale[axis];
        each(joint.translation, turn(joint.rotation, arm), |a, b| a + b)
    };
    let off = |axis: usize| {
        each(point(a, axis), point(b, axis), |a, b| a - b).iter().map(|c| c * c).sum::<f64>().sqrt()
    };
    (0..3).map(off).fold(0.0, f64::max)
}

/// Returns the largest error of each joint at the sample times.
pub(crate) fn errors_cm(raw: &RawClip, mut player: AnyPlayer, shells_cm: &[f64]) -> Vec<f64> {
    let mut pose = raw.pose(0).to_vec();
    let mut errors = vec![0.0; raw.joints()];
    for sample in 0..raw.samples() {
        player.sample_at(sample as f64, &mut pose);
        let (ours, theirs) =
            (place(raw.skeleton(), &pose), place(raw.skeleton(), raw.pose(sample)));
        for (joint, error) in errors.iter_mut().enumerate() {
            *error = error_cm(&ours[joint], &theirs[joint], shells_cm[joint]).max(*error);
        }
    }
    errors
}
