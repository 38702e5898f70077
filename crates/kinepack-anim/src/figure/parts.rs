//! Which part each joint and each curve belongs to.

use super::{FigureError, FigureOptions};
use crate::Skeleton;

/// The index of the part of each joint and of each curve. Those of no part are always present.
pub(super) struct Parts {
    pub(super) joints: Vec<Option<usize>>,
    pub(super) curves: Vec<Option<usize>>,
}

impl Parts {
    pub(super) fn new(skeleton: &Skeleton, options: &FigureOptions) -> Result<Self, FigureError> {
        let mut parts =
            Self { joints: vec![None; skeleton.len()], curves: vec![None; options.curves.len()] };
        for (index, part) in options.parts.iter().enumerate() {
            if part.joints.is_empty() && part.curves.is_empty() {
                return Err(FigureError::BadPart { part: index });
            }
            for joint in &part.joints {
                let of = parts.joints.get_mut(*joint);
                claim(of.ok_or(FigureError::NoJoint { joint: *joint })?, index)?;
            }
            for curve in &part.curves {
                let of = parts.curves.get_mut(*curve);
                claim(of.ok_or(FigureError::NoCurve { curve: *curve })?, index)?;
            }
        }
        for (joint, part) in parts.joints.iter().enumerate() {
            let above = skeleton.parent(joint).and_then(|parent| parts.joints[parent]);
            match above {
                Some(above) if *part != Some(above) => {
                    return Err(FigureError::PartNotWhole { part: above, joint });
                }
                _ => {}
            }
        }
        Ok(parts)
    }
}

/// Sets what has no part yet to the part with the index `part`.
fn claim(of: &mut Option<usize>, part: usize) -> Result<(), FigureError> {
    match of.replace(part) {
        None => Ok(()),
        Some(_) => Err(FigureError::BadPart { part }),
    }
}
