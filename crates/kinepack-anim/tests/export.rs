//! A strict reader accepts exported glTF files, and importing them gives the same clip.

use std::sync::Arc;

use kinepack_anim::import::gltf::{from_bytes, no_files};
use kinepack_anim::import::{Import, ImportOptions};
use kinepack_anim::{Curve, Joint, Marker, RawClip, Skeleton, Transform, export};

fn skeleton(joints: &[(&str, Option<u16>, [f32; 3])]) -> Arc<Skeleton> {
    let joint = |(name, parent, translation): &(&str, Option<u16>, [f32; 3])| Joint {
        name: (*name).to_owned(),
        parent: *parent,
        bind: Transform { translation: *translation, ..Transform::IDENTITY },
    };
    Arc::new(Skeleton::new(joints.iter().map(joint).collect()).unwrap())
}

/// Two legs that kick, a stone that grows, and a hand that does not move.
fn kicks(samples: usize) -> RawClip {
    let joints = [
        ("hip", None, [0.0, 90.0, 0.0]),
        ("left knee", Some(0), [10.0, -40.0, 0.0]),
        ("right knee", Some(0), [-10.0, -40.0, 0.0]),
        ("left foot", Some(1), [0.0, -45.0, 1.0]),
        ("stone", None, [200.0, 0.0, 0.0]),
        ("hand", Some(0), [30.0, 20.0, 0.0]),
    ];
    let skeleton = skeleton(&joints);
    let mut all = Vec::new();
    for sample in 0..samples {
        let time = sample as f32 * 0.11;
        let mut pose = skeleton.bind_pose();
        pose[0].translation[1] += 3.0 * time.sin();
        for (joint, half) in [(1, 0.5 * time.sin()), (2, 2.0 * time.cos()), (3, 0.3 * time)] {
            pose[joint].rotation = [half.sin(), 0.0, 0.0, half.cos()];
        }
        pose[4].scale = [1.0 + time, 1.0, 1.0];
        all.extend(pose);
    }
    RawClip::new("kicks and more", skeleton, 30.0, all).unwrap()
}

fn read(file: &[u8]) -> Import {
    from_bytes(
        "legs.glb",
        file,
        &ImportOptions { rate_hz: Some(30.0), ..ImportOptions::default() },
        no_files,
    )
    .unwrap()
}

/// Compares two clips, whose joints may be in a different order.
fn assert_same(there: &RawClip, back: &RawClip) {
    assert_eq!(
        (back.joints(), back.samples(), back.rate_hz()),
        (there.joints(), there.samples(), there.rate_hz())
    );
    for (joint, expected) in there.skeleton().joints().iter().enumerate() {
        let found = back.skeleton().find(&expected.name).unwrap();
        let parent = |skeleton: &Skeleton, joint| {
            skeleton.parent(joint).map(|at| skeleton.joints()[at].name.clone())
        };
        assert_eq!(parent(back.skeleton(), found), parent(there.skeleton(), joint));
        let pairs =
            there.poses().zip(back.poses()).map(|(there, back)| (there[joint], back[found]));
        for (nth, (there, back)) in
            pairs.chain([(expected.bind, back.skeleton().joints()[found].bind)]).enumerate()
        {
            let dot: f32 = there.rotation.iter().zip(back.rotation).map(|(a, b)| a * b).sum();
            assert!(dot.abs() > 0.999_999, "{}, sample {nth}: {there:?} {back:?}", expected.name);
            let off = |a: [f32; 3], b: [f32; 3]| {
                a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
            };
            assert!(
                off(there.translation, back.translation) < 1e-4,
                "{}, sample {nth}: {there:?} {back:?}",
                expected.name
            );
            assert!(
                off(there.scale, back.scale) < 1e-5,
                "{}, sample {nth}: {there:?} {back:?}",
                expected.name
            );
        }
    }
}

#[test]
fn exported_clips_are_imported_again() {
    for samples in [1, 2, 61] {
        let clip = kicks(samples);
        let file = export::glb(&clip).unwrap();
        // This strict reader checks the whole document.
        let document = gltf::Gltf::from_slice(&file).unwrap();
        assert_eq!(
            (document.animations().count(), document.skins().count(), document.meshes().count()),
            (1, 1, 1)
        );
        let back = read(&file);
        assert_eq!((back.clips.len(), back.clips[0].name()), (1, "legs__kicks_and_more"));
        assert_same(&clip, &back.clips[0]);
    }
}

#[test]
fn only_moving_channels_have_keys() {
    let document = gltf::Gltf::from_slice(&export::glb(&kicks(40)).unwrap()).unwrap();
    let animation = document.animations().next().unwrap();
    let mut channels: Vec<(String, String)> = animation
        .channels()
        .map(|channel| {
            (
                channel.target().node().name().unwrap().to_owned(),
                format!("{:?}", channel.target().property()),
            )
        })
        .collect();
    channels.sort();
    let expected = [
        ("hip", "Translation"),
        ("left foot", "Rotation"),
        ("left knee", "Rotation"),
        ("right knee", "Rotation"),
        ("stone", "Scale"),
    ];
    assert_eq!(channels, expected.map(|(joint, path)| (joint.to_owned(), path.to_owned())));
    assert!(animation.channels().all(|channel| channel.sampler().input().count() == 40));
}

#[test]
fn unusual_clips_are_exported() {
    // The clips have a joint that does not move, a joint with a scale of zero, empty names, and
    // bones of length zero.
    let still = skeleton(&[("", None, [0.0; 3])]);
    let mut flat = skeleton(&[("a", None, [0.0; 3]), ("a", Some(0), [0.0; 3])]).joints().to_vec();
    flat[0].bind.scale = [0.0; 3];
    for skeleton in [still, Arc::new(Skeleton::new(flat).unwrap())] {
        let clip = RawClip::new("", skeleton.clone(), 30.0, skeleton.bind_pose()).unwrap();
        let file = export::glb(&clip).unwrap();
        assert!(gltf::Gltf::from_slice(&file).is_ok());
        assert_eq!(read(&file).clips[0].joints(), skeleton.len());
    }
}

#[test]
fn curves_and_markers_are_imported_again() {
    let clip = kicks(9);
    let curve = |name: &str, scale: f32| Curve {
        name: name.to_owned(),
        precision: 0.001,
        values: (0..9).map(|sample| scale * sample as f32).collect(),
    };
    // The curves are in the order of the nodes' names. A joint may have the name of a node.
    let names = ["blink", ".hidden", "a.b.c", "a.b.", "hand.grip", "hand.smile \"1\""];
    let curves: Vec<Curve> =
        names.iter().zip(1..).map(|(name, nth)| curve(name, nth as f32)).collect();
    let marker = |name: &str, time_s| Marker { name: name.to_owned(), time_s };
    let markers = vec![marker("left", 0.1), marker("", 0.25), marker("left", 8.0 / 30.0)];
    let clip = clip.with_curves(curves).unwrap().with_markers(markers).unwrap();
    let file = export::glb(&clip).unwrap();
    assert_eq!(gltf::Gltf::from_slice(&file).unwrap().meshes().count(), 4);
    let back = read(&file);
    assert_eq!((back.notes, back.left_out), (Vec::new(), Vec::new()));
    assert_same(&clip, &back.clips[0]);
    assert_eq!(back.clips[0].curves().len(), clip.curves().len());
    for (back, there) in back.clips[0].curves().iter().zip(clip.curves()) {
        assert_eq!((&back.name, back.precision), (&there.name, there.precision));
        let mut pairs = back.values.iter().zip(&there.values);
        assert!(pairs.all(|(back, there)| (back - there).abs() < 1e-5), "{back:?} {there:?}");
    }
    assert_eq!(back.clips[0].markers(), clip.markers());
}
