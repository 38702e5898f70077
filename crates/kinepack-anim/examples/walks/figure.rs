//! The skeleton of the walking figures. It has a body, a face, and three fingers on each hand.

use std::error::Error;
use std::sync::Arc;

use kinepack_anim::{Joint, Skeleton, Transform};

/// A joint's name, parent, position relative to the parent in cm, and swing in radians. The body
/// comes first, then face and fingers.
type Bone = (&'static str, Option<u16>, [f32; 3], f32);

const BODY: [Bone; 22] = [
    ("hips", None, [0.0, 95.0, 0.0], 0.15),
    ("spine", Some(0), [0.0, 10.0, 0.0], 0.06),
    ("chest", Some(1), [0.0, 14.0, 0.0], 0.06),
    ("upper chest", Some(2), [0.0, 14.0, 0.0], 0.06),
    ("neck", Some(3), [0.0, 14.0, 0.0], 0.08),
    ("head", Some(4), [0.0, 10.0, 2.0], 0.10),
    ("left shoulder", Some(3), [4.0, 11.0, 0.0], 0.08),
    ("left arm", Some(6), [13.0, 0.0, 0.0], 0.50),
    ("left elbow", Some(7), [27.0, 0.0, 0.0], 0.40),
    ("left hand", Some(8), [25.0, 0.0, 0.0], 0.20),
    ("right shoulder", Some(3), [-4.0, 11.0, 0.0], 0.08),
    ("right arm", Some(10), [-13.0, 0.0, 0.0], 0.50),
    ("right elbow", Some(11), [-27.0, 0.0, 0.0], 0.40),
    ("right hand", Some(12), [-25.0, 0.0, 0.0], 0.20),
    ("left hip", Some(0), [9.0, -4.0, 0.0], 0.60),
    ("left knee", Some(14), [0.0, -42.0, 0.0], 0.70),
    ("left foot", Some(15), [0.0, -40.0, 0.0], 0.40),
    ("left toes", Some(16), [0.0, -6.0, 13.0], 0.30),
    ("right hip", Some(0), [-9.0, -4.0, 0.0], 0.60),
    ("right knee", Some(18), [0.0, -42.0, 0.0], 0.70),
    ("right foot", Some(19), [0.0, -40.0, 0.0], 0.40),
    ("right toes", Some(20), [0.0, -6.0, 13.0], 0.30),
];

const FACE: [Bone; 3] = [
    ("jaw", Some(5), [0.0, 2.0, 5.0], 0.05),
    ("left eye", Some(5), [3.0, 5.0, 7.0], 0.10),
    ("right eye", Some(5), [-3.0, 5.0, 7.0], 0.10),
];

/// The hands, and the direction of their fingers.
const HANDS: [(u16, f32); 2] = [(9, 1.0), (13, -1.0)];

/// Returns the skeleton, and the swing of each joint.
pub(super) fn figure() -> Result<(Arc<Skeleton>, Vec<f32>), Box<dyn Error>> {
    let mut joints = Vec::new();
    let mut swings = Vec::new();
    let mut add = |name: String, parent, translation, swing| {
        joints.push(Joint { name, parent, bind: Transform { translation, ..Transform::IDENTITY } });
        swings.push(swing);
        joints.len() as u16 - 1
    };
    for (name, parent, place, swing) in BODY.into_iter().chain(FACE) {
        add(name.to_owned(), parent, place, swing);
    }
    for (hand, side) in HANDS {
        for finger in 0..3 {
            let mut parent = add(
                format!("{hand} finger {finger}"),
                Some(hand),
                [8.0 * side, 0.0, finger as f32 - 1.0],
                0.15,
            );
            for bone in 1..3 {
                parent = add(
                    format!("{hand} finger {finger}.{bone}"),
                    Some(parent),
                    [3.0 * side, 0.0, 0.0],
                    0.15,
                );
            }
        }
    }
    Ok((Arc::new(Skeleton::new(joints)?), swings))
}
