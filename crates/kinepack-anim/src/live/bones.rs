//! The bones of a human in Unity, which name the bones of VMC.

/// The number of bones.
pub const BONE_COUNT: usize = 55;

/// A bone of a human.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bone {
    /// The name in Unity's `HumanBodyBones`, which VMC uses.
    pub name: &'static str,
    /// The index of the bone above it. Any bone but the required ones may be missing in a body; its
    /// children then hang on the next bone above it.
    pub parent: Option<usize>,
    /// Whether every human of VRM has the bone.
    pub is_required: bool,
}

impl Bone {
    /// Returns the index of the bone with a name.
    pub(super) fn find(name: &str) -> Option<usize> {
        BONES.iter().position(|bone| bone.name == name)
    }

    /// The name in VRM 1.0, which [`import`](crate::import) gives to the joints of humans. Besides
    /// the first letter, only the thumbs differ.
    pub(super) fn vrm_name(&self) -> String {
        let (side, rest) = self.name.split_at(self.name.find("Thumb").unwrap_or(0));
        let name = match rest {
            "ThumbProximal" => format!("{side}ThumbMetacarpal"),
            "ThumbIntermediate" => format!("{side}ThumbProximal"),
            _ => self.name.to_owned(),
        };
        name[..1].to_ascii_lowercase() + &name[1..]
    }
}

const fn bone(name: &'static str, parent: usize) -> Bone {
    Bone { name, parent: Some(parent), is_required: false }
}

const fn required(name: &'static str, parent: usize) -> Bone {
    Bone { name, parent: Some(parent), is_required: true }
}

/// All bones, parents first.
#[rustfmt::skip]
pub const BONES: [Bone; BONE_COUNT] = [
    Bone { name: "Hips", parent: None, is_required: true },
    required("Spine", 0), bone("Chest", 1), bone("UpperChest", 2), bone("Neck", 3),
    required("Head", 4), bone("LeftEye", 5), bone("RightEye", 5), bone("Jaw", 5),
    required("LeftUpperLeg", 0), required("LeftLowerLeg", 9), required("LeftFoot", 10),
    bone("LeftToes", 11),
    required("RightUpperLeg", 0), required("RightLowerLeg", 13), required("RightFoot", 14),
    bone("RightToes", 15),
    bone("LeftShoulder", 3), required("LeftUpperArm", 17), required("LeftLowerArm", 18),
    required("LeftHand", 19),
    bone("RightShoulder", 3), required("RightUpperArm", 21), required("RightLowerArm", 22),
    required("RightHand", 23),
    bone("LeftThumbProximal", 20), bone("LeftThumbIntermediate", 25), bone("LeftThumbDistal", 26),
    bone("LeftIndexProximal", 20), bone("LeftIndexIntermediate", 28), bone("LeftIndexDistal", 29),
    bone("LeftMiddleProximal", 20), bone("LeftMiddleIntermediate", 31),
    bone("LeftMiddleDistal", 32),
    bone("LeftRingProximal", 20), bone("LeftRingIntermediate", 34), bone("LeftRingDistal", 35),
    bone("LeftLittleProximal", 20), bone("LeftLittleIntermediate", 37),
    bone("LeftLittleDistal", 38),
    bone("RightThumbProximal", 24), bone("RightThumbIntermediate", 40),
    bone("RightThumbDistal", 41),
    bone("RightIndexProximal", 24), bone("RightIndexIntermediate", 43),
    bone("RightIndexDistal", 44),
    bone("RightMiddleProximal", 24), bone("RightMiddleIntermediate", 46),
    bone("RightMiddleDistal", 47),
    bone("RightRingProximal", 24), bone("RightRingIntermediate", 49), bone("RightRingDistal", 50),
    bone("RightLittleProximal", 24), bone("RightLittleIntermediate", 52),
    bone("RightLittleDistal", 53),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_come_first_and_belong_to_the_same_side() {
        for (index, bone) in BONES.iter().enumerate() {
            let Some(parent) = bone.parent else { continue };
            assert!(parent < index, "{}", bone.name);
            for side in ["Left", "Right"] {
                let is_inner = !BONES[parent].name.starts_with(['L', 'R']);
                let is_own = BONES[parent].name.starts_with(side);
                assert!(!bone.name.starts_with(side) || is_inner || is_own, "{}", bone.name);
            }
            let (part, last) = (bone.name.strip_suffix("Distal"), BONES[parent].name);
            assert!(part.is_none_or(|part| last == format!("{part}Intermediate")), "{}", bone.name);
        }
        assert_eq!(BONES.iter().filter(|bone| bone.is_required).count(), 15);
    }

    #[test]
    fn names_of_vrm_differ_at_the_thumbs() {
        let vrm = |name: &str| BONES[Bone::find(name).unwrap()].vrm_name();
        assert_eq!(vrm("Hips"), "hips");
        assert_eq!(vrm("LeftThumbProximal"), "leftThumbMetacarpal");
        assert_eq!(vrm("RightThumbIntermediate"), "rightThumbProximal");
        assert_eq!(vrm("RightThumbDistal"), "rightThumbDistal");
        assert_eq!(vrm("LeftLittleIntermediate"), "leftLittleIntermediate");
    }
}
