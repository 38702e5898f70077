//! Writes packets of OSC, independently of the reader.

use kinepack_anim::live::{BONES, BonePose};

/// An argument of a message.
#[derive(Clone, Copy)]
pub(super) enum Argument<'a> {
    Int(i32),
    Float(f32),
    Text(&'a str),
    /// A type, and its bytes as they are.
    Raw(char, &'a [u8]),
}

use Argument::{Float, Int, Raw, Text};

pub(super) fn string(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0);
    while !bytes.len().is_multiple_of(4) {
        bytes.push(0);
    }
    bytes
}

pub(super) fn message(address: &str, arguments: &[Argument<'_>]) -> Vec<u8> {
    let (mut tags, mut data) = (",".to_owned(), Vec::new());
    for argument in arguments {
        match argument {
            Int(value) => {
                tags.push('i');
                data.extend(value.to_be_bytes());
            }
            Float(value) => {
                tags.push('f');
                data.extend(value.to_be_bytes());
            }
            Text(text) => {
                tags.push('s');
                data.extend(string(text));
            }
            Raw(tag, bytes) => {
                tags.push(*tag);
                data.extend(*bytes);
            }
        }
    }
    [string(address), string(&tags), data].concat()
}

pub(super) fn bundle(elements: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"#bundle\0\0\0\0\0\0\0\0\x01".to_vec();
    for element in elements {
        bytes.extend((element.len() as u32).to_be_bytes());
        bytes.extend(element);
    }
    bytes
}

pub(super) fn pose(address: &str, name: &str, pose: &BonePose) -> Vec<u8> {
    let numbers = pose.position_m.into_iter().chain(pose.rotation);
    let arguments: Vec<_> = [Text(name)].into_iter().chain(numbers.map(Float)).collect();
    message(address, &arguments)
}

pub(super) fn bone(index: usize, own: &BonePose) -> Vec<u8> {
    pose("/VMC/Ext/Bone/Pos", BONES[index].name, own)
}

pub(super) fn time(seconds: f32) -> Vec<u8> {
    message("/VMC/Ext/T", &[Float(seconds)])
}

pub(super) fn ok(loaded: i32) -> Vec<u8> {
    message("/VMC/Ext/OK", &[Int(loaded), Int(3), Int(0)])
}

pub(super) fn blend(name: &str, value: f32) -> Vec<u8> {
    message("/VMC/Ext/Blend/Val", &[Text(name), Float(value)])
}

pub(super) fn apply() -> Vec<u8> {
    message("/VMC/Ext/Blend/Apply", &[])
}

/// Returns a body in the T-pose, in Unity's space: the left side is at negative x.
pub(super) fn t_pose() -> Vec<(usize, BonePose)> {
    let at = |index: usize| -> [f32; 3] {
        let name = BONES[index].name;
        let side = if name.starts_with("Left") { -1.0 } else { 1.0 };
        match name {
            "Hips" => [0.0, 0.95, 0.02],
            "LeftEye" | "RightEye" => [side * 0.03, 0.06, 0.08],
            name if name.ends_with("UpperLeg") => [side * 0.09, -0.05, 0.0],
            name if name.ends_with("LowerLeg") || name.ends_with("Foot") => [0.0, -0.42, 0.01],
            name if name.ends_with("Toes") => [0.0, -0.05, 0.12],
            name if name.ends_with("Shoulder") => [side * 0.03, 0.1, 0.0],
            name if name.ends_with("Arm") || name.ends_with("Hand") => [side * 0.25, 0.0, 0.0],
            name if name.starts_with("Left") || name.starts_with("Right") => {
                [side * 0.03, 0.0, 0.01]
            }
            _ => [0.0, 0.12, 0.0],
        }
    };
    let rotation = [0.0, 0.0, 0.0, 1.0];
    (0..BONES.len()).map(|index| (index, BonePose { position_m: at(index), rotation })).collect()
}
