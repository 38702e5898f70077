//! The options for measuring errors.

use std::sync::Arc;

use crate::RawClip;

/// The settings for measuring errors.
///
/// ```
/// use kinepack_anim::measure::ErrorOptions;
///
/// // A sword's blade is farther from its joint than skin is.
/// let options = ErrorOptions { joint_shells_cm: vec![(2, 80.0)], ..ErrorOptions::default() };
/// assert_eq!(options.shells_cm(3), [3.0, 3.0, 80.0]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorOptions {
    /// Distance from the joint at which the error is measured, in cm.
    pub shell_cm: f64,
    /// Joints with a distance other than `shell_cm`, and that distance in cm. If a joint is
    /// repeated, its last entry counts.
    pub joint_shells_cm: Vec<(usize, f64)>,
    /// For additive clips: the clip that both the raw and the compressed clip are added to. The
    /// base has a single sample, or as many samples as the two clips.
    pub base: Option<Arc<RawClip>>,
}

impl Default for ErrorOptions {
    /// The default distance is 3 cm, which is about the distance from the joints of a finger, an
    /// arm or a face to the skin.
    fn default() -> Self {
        Self { shell_cm: 3.0, joint_shells_cm: Vec::new(), base: None }
    }
}

impl ErrorOptions {
    /// Returns the distance in cm for each of `joints` joints.
    pub fn shells_cm(&self, joints: usize) -> Vec<f64> {
        by_joint(self.shell_cm, &self.joint_shells_cm, joints)
    }
}

/// Returns a number for each joint, which is `usual` except for the joints in `others`.
pub(crate) fn by_joint(usual: f64, others: &[(usize, f64)], joints: usize) -> Vec<f64> {
    let mut numbers = vec![usual; joints];
    for &(joint, number) in others {
        if let Some(own) = numbers.get_mut(joint) {
            *own = number;
        }
    }
    numbers
}
