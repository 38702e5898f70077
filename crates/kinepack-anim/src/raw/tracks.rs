//! The parts of a raw clip besides joints: curves of single numbers, and markers.

use std::collections::HashSet;

use super::RawClipError;
use crate::{MAX_CURVES, MAX_MARKERS, MAX_NAME_BYTES};

/// A number that changes over a clip, such as the weight of a morph target.
///
/// ```
/// use std::sync::Arc;
/// use kinepack_anim::{Curve, Joint, Marker, RawClip, Skeleton, Transform};
///
/// let head = Joint { name: "head".into(), parent: None, bind: Transform::IDENTITY };
/// let skeleton = Arc::new(Skeleton::new(vec![head])?);
/// let smile = Curve { name: "face.smile".into(), precision: 0.001, values: vec![0.0, 0.5, 1.0] };
/// let bell = Marker { name: "bell".into(), time_s: 0.02 };
/// let raw = RawClip::new("greet", skeleton, 30.0, vec![Transform::IDENTITY; 3])?
///     .with_curves(vec![smile])?
///     .with_markers(vec![bell])?;
/// assert_eq!(raw.curves()[0].values.len(), raw.samples());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The curve's name, unique in its clip.
    pub name: String,
    /// The largest error that compression may cause, in the unit of the values.
    pub precision: f32,
    /// The values, one for each sample.
    pub values: Vec<f32>,
}

impl Curve {
    /// The precision of curves from glTF and FBX.
    pub const WEIGHT_PRECISION: f32 = 0.001;

    /// Returns the same curve with only every `step`th value.
    pub(super) fn decimated(&self, step: usize) -> Self {
        let values = self.values.iter().step_by(step).copied().collect();
        Self { name: self.name.clone(), precision: self.precision, values }
    }
}

/// An event on a clip's time line, such as a foot that touches the ground.
#[derive(Clone, Debug, PartialEq)]
pub struct Marker {
    /// The event's name. Several markers of a clip may have the same name.
    pub name: String,
    /// The time of the event, in seconds from the clip's first sample.
    pub time_s: f32,
}

pub(super) fn check_curves(curves: &[Curve], samples: usize) -> Result<(), RawClipError> {
    if curves.len() > MAX_CURVES {
        return Err(RawClipError::TooManyCurves { curves: curves.len() });
    }
    let mut names = HashSet::with_capacity(curves.len());
    for (index, curve) in curves.iter().enumerate() {
        check_name(&curve.name)?;
        if !names.insert(curve.name.as_str()) {
            return Err(RawClipError::SameCurve { curve: index });
        }
        if curve.values.len() != samples {
            let values = curve.values.len();
            return Err(RawClipError::WrongCurve { curve: index, values, samples });
        }
        if !(curve.precision > 0.0 && curve.precision.is_finite()) {
            let precision = curve.precision;
            return Err(RawClipError::BadPrecision { curve: index, precision });
        }
        if let Some(sample) = curve.values.iter().position(|value| !value.is_finite()) {
            return Err(RawClipError::BadValue { curve: index, sample });
        }
    }
    Ok(())
}

/// Checks markers and sorts them by time.
pub(super) fn prepare_markers(
    markers: &mut [Marker],
    duration_s: f32,
    tolerance_s: f32,
) -> Result<(), RawClipError> {
    if markers.len() > MAX_MARKERS {
        return Err(RawClipError::TooManyMarkers { markers: markers.len() });
    }
    for (index, marker) in markers.iter_mut().enumerate() {
        check_name(&marker.name)?;
        // A time that is NaN is refused too, because NaN fails this check.
        if !(marker.time_s >= 0.0 && marker.time_s <= duration_s + tolerance_s) {
            let time_s = marker.time_s;
            return Err(RawClipError::BadMarkerTime { marker: index, time_s, duration_s });
        }
        // Adding 0 turns −0 into +0, because `total_cmp` would sort −0 before +0.
        marker.time_s = marker.time_s.min(duration_s) + 0.0;
    }
    markers.sort_by(|one, other| one.time_s.total_cmp(&other.time_s));
    Ok(())
}

fn check_name(name: &str) -> Result<(), RawClipError> {
    if name.len() > MAX_NAME_BYTES {
        return Err(RawClipError::LongName { bytes: name.len() });
    }
    Ok(())
}
