//! Imports curves from FBX, and checks which parts the importer lists as omitted.

use super::fbx::import;
use crate::support::fbx::{Keys, Property, Scene};
use kinepack_anim::RawClip;

const RAMP: &[(f64, f32)] = &[(0.0, 0.0), (1.0, 1.0)];

/// Returns a bone that moves for a second, and the layer of its stack.
fn moving() -> (Scene, i64, i64) {
    let mut scene = Scene::default();
    let bone = scene.bone("hip", 0, &[]);
    let layer = scene.stack("move", [0.0, 1.0]);
    scene.curve(layer, (bone, "Lcl Translation"), "d|X", Keys::Linear, RAMP);
    (scene, bone, layer)
}

fn curves(clip: &RawClip) -> Vec<(&str, f32, f32)> {
    let ends = |values: &[f32]| (values[0], values[values.len() - 1]);
    let curves = clip.curves().iter();
    curves.map(|curve| (&*curve.name, ends(&curve.values).0, ends(&curve.values).1)).collect()
}

fn left_out(scene: &Scene) -> Vec<String> {
    import(scene).left_out.iter().map(ToString::to_string).collect()
}

const PERCENT: &str = "DeformPercent";

#[test]
fn weights_of_blend_shapes_are_curves() {
    let (mut scene, _, layer) = moving();
    let face = scene.node(("face", "Mesh"), 0, &[]);
    let (smile, frown) = (scene.channel(face, "smile"), scene.channel(face, "frown"));
    let still = scene.channel(face, "still");
    scene.curve(
        layer,
        (smile, PERCENT),
        "d|DeformPercent",
        Keys::Linear,
        &[(0.0, 0.0), (1.0, 100.0)],
    );
    scene.curve(layer, (frown, PERCENT), "d|DeformPercent", Keys::Constant, &[(0.0, 25.0)]);
    let import = import(&scene);
    let clip = &import.clips[0];
    assert_eq!(curves(clip), [("face.smile", 0.0, 1.0), ("face.frown", 0.25, 0.25)]);
    assert_eq!(clip.curves()[0].values[6], 0.25);
    assert!(import.left_out.is_empty() && still > 0);
    assert_eq!(clip.joints(), 1);
}

#[test]
fn weights_alone_make_their_node_a_joint() {
    let mut scene = Scene::default();
    let face = scene.node(("face", "Mesh"), 0, &[]);
    let smile = scene.channel(face, "smile");
    let layer = scene.stack("grin", [0.0, 1.0]);
    scene.curve(
        layer,
        (smile, PERCENT),
        "d|DeformPercent",
        Keys::Linear,
        &[(0.0, 0.0), (1.0, 50.0)],
    );
    let clip = &import(&scene).clips[0];
    assert_eq!(clip.skeleton().joints()[0].name, "face");
    assert_eq!(curves(clip), [("face.smile", 0.0, 0.5)]);
}

#[test]
fn numbers_that_a_user_defined_are_curves_of_joints() {
    let (mut scene, _, layer) = moving();
    let grip: Property<'_> = ("grip", "Number", "A+U", &[0.0]);
    let colour: Property<'_> = ("tint", "Color", "A+U", &[0.0, 0.0, 0.0]);
    let hand = scene.bone("hand", 1, &[grip, colour]);
    let prop = scene.node(("prop", "Null"), 0, &[grip]);
    scene.curve(layer, (hand, "grip"), "d|grip", Keys::Linear, &[(0.0, 0.0), (1.0, 8.0)]);
    scene.curve(layer, (hand, "tint"), "d|X", Keys::Linear, RAMP);
    scene.curve(layer, (prop, "grip"), "d|grip", Keys::Linear, RAMP);
    assert_eq!(curves(&import(&scene).clips[0]), [("hand.grip", 0.0, 8.0)]);
    assert_eq!(left_out(&scene), ["animated property: hand.tint", "animated property: prop.grip"]);
}

#[test]
fn a_property_in_two_layers_is_one_curve() {
    let (mut scene, _, layer) = moving();
    let grip: Property<'_> = ("grip", "Number", "A+U", &[0.0]);
    let hand = scene.bone("hand", 1, &[grip]);
    let more = scene.layer("more", layer - 1, &[]);
    for layer in [layer, more] {
        scene.curve(layer, (hand, "grip"), "d|grip", Keys::Linear, RAMP);
    }
    assert_eq!(curves(&import(&scene).clips[0]), [("hand.grip", 0.0, 2.0)]);
}

#[test]
fn what_is_animated_and_not_read_is_listed() {
    let (mut scene, bone, layer) = moving();
    assert_eq!(left_out(&scene), [""; 0]);
    let visibility: Property<'_> = ("Visibility", "Visibility", "A", &[1.0]);
    let shown = scene.bone("shown", bone, &[visibility]);
    let lamp = scene.node(("lamp", "Light"), 0, &[]);
    let light = scene.object(
        "NodeAttribute",
        "NodeAttribute",
        ("", "Light"),
        lamp,
        &[("Intensity", "Number", "A", &[100.0])],
    );
    let eye = scene.node(("eye", "Camera"), 0, &[]);
    scene.object("NodeAttribute", "NodeAttribute", ("", "Camera"), eye, &[]);
    let material = scene.object(
        "Material",
        "Material",
        ("skin", ""),
        0,
        &[("DiffuseColor", "Color", "A", &[1.0, 1.0, 1.0])],
    );
    scene.object("Constraint", "Constraint", ("aim", "Aim"), 0, &[]);
    let mesh = scene.object("Geometry", "Geometry", ("cloth", "Mesh"), lamp, &[]);
    scene.object("Deformer", "Deformer", ("wind", "VertexCacheDeformer"), mesh, &[]);
    let quiet = ["cameras: 1", "constraint: aim", "lights: 1", "vertex cache: wind"];
    let sorted = |scene: &Scene| {
        let mut all = left_out(scene);
        all.sort();
        all
    };
    // Keys that change nothing are not listed as omitted.
    scene.curve(layer, (shown, "Visibility"), "d|Visibility", Keys::Constant, &[(0.0, 1.0)]);
    assert_eq!(sorted(&scene), quiet);
    scene.curve(layer, (light, "Intensity"), "d|Intensity", Keys::Linear, RAMP);
    scene.curve(layer, (material, "DiffuseColor"), "d|X", Keys::Linear, RAMP);
    scene.curve(layer, (eye, "Lcl Translation"), "d|Y", Keys::Linear, RAMP);
    scene.curve(layer, (eye, "Lcl Rotation"), "d|Y", Keys::Linear, RAMP);
    let blink = [(0.0, 1.0), (0.5, 0.0)];
    let other = scene.stack("again", [0.0, 1.0]);
    for layer in [layer, other] {
        scene.curve(layer, (bone, "Visibility"), "d|Visibility", Keys::Constant, &blink);
    }
    let lines = [
        "channels of a node outside of the skeleton: eye (2)",
        "animation without channels that can be read: again",
        "animated property: hip.Visibility (2)",
        "animated property: lamp.Intensity",
        "animated property: skin.DiffuseColor",
        "constraint: aim",
        "vertex cache: wind",
        "cameras: 1",
        "lights: 1",
    ];
    assert_eq!(left_out(&scene), lines);
}
