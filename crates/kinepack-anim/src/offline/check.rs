//! Checks the options for a build.

use super::built::{BuildError, MOST_CM};
use super::options::{BuildOptions, Scheme};
use crate::{RawClip, additive};

/// Checks that a clip can be built with `options`.
pub(super) fn check(raw: &RawClip, options: &BuildOptions) -> Result<(), BuildError> {
    let BuildOptions { precision_cm, joint_precisions_cm, error, .. } = options;
    check_numbers(raw, "precision", *precision_cm, joint_precisions_cm)?;
    check_numbers(raw, "shell", error.shell_cm, &error.joint_shells_cm)?;
    if let Some(base) = &error.base {
        additive::check(raw, base).map_err(BuildError::Base)?;
        if !matches!(options.scheme, Scheme::Block(_)) {
            return Err(BuildError::NoBase);
        }
    }
    if let Some(&joint) = options.pins().iter().find(|joint| **joint >= raw.joints()) {
        return Err(BuildError::BadPin { joint });
    }
    if options.rig().is_some_and(|rig| rig.skeleton_hash() != raw.skeleton().hash()) {
        return Err(BuildError::OtherRig);
    }
    Ok(())
}

fn check_numbers(
    raw: &RawClip,
    option: &'static str,
    usual: f64,
    others: &[(usize, f64)],
) -> Result<(), BuildError> {
    let is_positive = |number: f64| number > 0.0 && number <= MOST_CM;
    if !is_positive(usual) || !others.iter().all(|(_, number)| is_positive(*number)) {
        return Err(BuildError::BadOption { option });
    }
    match others.iter().find(|(joint, _)| *joint >= raw.joints()) {
        Some(&(joint, _)) => Err(BuildError::BadJoint { option, joint }),
        None => Ok(()),
    }
}
