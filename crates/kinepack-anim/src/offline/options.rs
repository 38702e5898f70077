//! The options for builds.

use std::sync::Arc;

use super::block::BlockOptions;
use super::keyed::KeyedOptions;
use crate::Rig;
use crate::keyed::RotationBits;
use crate::measure::{ErrorOptions, ErrorReport, by_joint};

/// The scheme in which a clip is stored.
///
/// ```
/// # use std::sync::Arc;
/// # use kinepack_anim::{Joint, RawClip, Skeleton, Transform};
/// use kinepack_anim::keyed::RotationBits;
/// use kinepack_anim::offline::{BuildOptions, KeyedOptions, Scheme, build};
///
/// # let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
/// # let skeleton = Arc::new(Skeleton::new(vec![joint])?);
/// # let sample = |i: i32| Transform { translation: [i as f32, 0.0, 0.0], ..Transform::IDENTITY };
/// # let raw = RawClip::new("slide", skeleton, 30.0, (0..31).map(sample).collect())?;
/// let with = |scheme| build(&raw, &BuildOptions { scheme, ..BuildOptions::default() });
/// let block = with(Scheme::default())?;
/// let keyed = with(Scheme::Keyed(KeyedOptions::default()))?;
/// let quantized = with(Scheme::Quantized(RotationBits::Bits48))?;
/// let bytes = [&block, &keyed, &quantized].map(|built| built.clip.as_bytes().len());
/// println!("{} bytes as blocks, {} as keys, {} as rows", bytes[0], bytes[1], bytes[2]);
/// assert!(bytes[0] < bytes[2] && bytes[1] < bytes[2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Scheme {
    /// The clip stores coefficients for a few samples at a time. This scheme takes the fewest
    /// bytes, and playing a clip costs the same at any time.
    Block(BlockOptions),
    /// The clip stores every sample of every animated track, quantized. A build is fast enough to
    /// run when a game loads a clip.
    Quantized(RotationBits),
    /// The clip stores the keys that splines need.
    Keyed(KeyedOptions),
}

impl Default for Scheme {
    fn default() -> Self {
        Self::Block(BlockOptions::default())
    }
}

/// Options for building a clip.
///
/// ```
/// use kinepack_anim::offline::BuildOptions;
///
/// // Joint 7 is a hand, which must be more precise than the other joints.
/// let options = BuildOptions { joint_precisions_cm: vec![(7, 0.02)], ..BuildOptions::default() };
/// assert_eq!(options.precisions_cm(9)[6..8], [0.1, 0.02]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BuildOptions {
    /// The largest error at the sample times, in cm, in object space. With translations over
    /// kilometres or chains of many metres, a scheme's numbers may be too coarse for this error.
    /// The clip then gets as close as these numbers allow, and
    /// [`Built::errors`](super::Built::errors) reports how close. Quantized clips ignore this
    /// option.
    pub precision_cm: f64,
    /// Joints with a different precision. Each entry is a joint and its precision in cm. If a joint
    /// is repeated, its last entry counts.
    pub joint_precisions_cm: Vec<(usize, f64)>,
    /// The points at which the error is measured.
    pub error: ErrorOptions,
    /// The scheme in which the clip is stored.
    pub scheme: Scheme,
}

impl Default for BuildOptions {
    /// The default precision is a millimetre, which is too small to see.
    fn default() -> Self {
        Self {
            precision_cm: 0.1,
            joint_precisions_cm: Vec::new(),
            error: ErrorOptions::default(),
            scheme: Scheme::default(),
        }
    }
}

impl BuildOptions {
    /// Returns the precision of each joint.
    pub fn precisions_cm(&self, joints: usize) -> Vec<f64> {
        by_joint(self.precision_cm, &self.joint_precisions_cm, joints)
    }

    pub(super) fn pins(&self) -> &[usize] {
        match &self.scheme {
            Scheme::Block(block) => &block.pins,
            Scheme::Keyed(keyed) => &keyed.pins,
            Scheme::Quantized(_) => &[],
        }
    }

    pub(super) fn rig(&self) -> Option<&Arc<Rig>> {
        match &self.scheme {
            Scheme::Block(block) => block.rig.as_ref(),
            _ => None,
        }
    }

    /// Returns the joint with the largest error relative to its precision, and that ratio. A ratio
    /// of at most 1 means that the clip keeps the precision.
    pub fn farthest_off(&self, errors: &ErrorReport) -> (usize, f64) {
        let joints = errors.joints.iter().zip(self.precisions_cm(errors.joints.len()));
        let shares = joints.map(|(errors, precision_cm)| errors.max_cm / precision_cm).enumerate();
        shares.fold((0, 0.0), |worst, own| if own.1 > worst.1 { own } else { worst })
    }
}
