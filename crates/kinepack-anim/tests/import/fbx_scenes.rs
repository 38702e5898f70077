//! Makes the FBX scenes that tests damage.

use crate::support::fbx::{Keys, Property, Scene};

/// Returns a scene of a bone that moves for `duration_s` seconds, with a weight, a light and a
/// user-defined property.
pub(crate) fn scene(duration_s: f64) -> Scene {
    let mut scene = Scene::default();
    let grip: Property<'_> = ("grip", "Number", "A+U", &[0.0]);
    let bone = scene.bone("hip", 0, &[grip]);
    let face = scene.node(("face", "Mesh"), bone, &[]);
    let smile = scene.channel(face, "smile");
    let layer = scene.stack("move", [0.0, duration_s]);
    let keys = [(0.0, 0.0), (duration_s, 1.0)];
    scene.curve(layer, (bone, "Lcl Translation"), "d|X", Keys::Linear, &keys);
    scene.curve(layer, (bone, "Lcl Rotation"), "d|Z", Keys::Cubic(3.0), &keys);
    scene.curve(layer, (bone, "grip"), "d|grip", Keys::Constant, &keys);
    scene.curve(layer, (smile, "DeformPercent"), "d|DeformPercent", Keys::Linear, &keys);
    scene
}

/// Returns a scene of a chain of `count` bones.
pub(crate) fn bones(count: usize) -> Scene {
    let mut scene = scene(1.0);
    (1..count).fold(1, |parent, bone| scene.bone(&format!("b{bone}"), parent, &[]));
    scene
}
