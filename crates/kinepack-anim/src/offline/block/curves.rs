//! Plans curves. Each curve is a component of its own, so its error does not depend on other
//! components. Curves share the segments' steps with the joints.

use crate::block::{CURVES_OF_TRACK, Track, label_bytes};
use crate::{Channel, RawClip};

use super::steps::step_code;
use super::target::Target;

/// The size of a curve's steps at the usual step of segments, in units of its limit.
const STEP: f64 = 1.0;

/// The parameters of a curve, which a clip stores once.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlannedCurve {
    pub(super) middle: f32,
    /// The curve's own step, or 0 if the curve keeps its middle.
    pub(super) step: u8,
}

/// Returns whether a clip stores the names of its curves, and its markers.
pub(super) fn is_labelled(raw: &RawClip) -> bool {
    !raw.markers().is_empty() || raw.curves().iter().any(|curve| !curve.name.is_empty())
}

/// Returns the bytes of the part that stores the names of curves, and the markers.
pub(super) fn labels(raw: &RawClip) -> Vec<u8> {
    if !is_labelled(raw) {
        return Vec::new();
    }
    let last = (raw.samples() - 1) as f64;
    let markers = raw.markers().iter().map(|marker| {
        let position = f64::from(marker.time_s) * f64::from(raw.rate_hz());
        (position.clamp(0.0, last) as f32, marker.name.as_str())
    });
    label_bytes(raw.curves().iter().map(|curve| curve.name.as_str()), markers)
}

/// Plans the curves of a clip.
pub(super) fn plan(target: &Target) -> Vec<PlannedCurve> {
    let curves = target.raw.curves().iter().zip(&target.curve_limit);
    curves.map(|(curve, limit)| planned(&curve.values[..target.samples], *limit)).collect()
}

fn planned(values: &[f32], limit: f64) -> PlannedCurve {
    let (least, most) =
        values.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(least, most), value| {
            (least.min(*value), most.max(*value))
        });
    // Adding 0 turns −0 into 0, so that a curve at −0 need not be stored.
    let centre = ((f64::from(least) + f64::from(most)) / 2.0) as f32 + 0.0;
    let off = |end: f32| (f64::from(end) - f64::from(centre)).abs();
    if off(least).max(off(most)) <= limit {
        return PlannedCurve { middle: centre, step: 0 };
    }
    // While a curve is at its middle, its coefficients are 0. The median is the value at which the
    // curve rests most.
    let mut sorted = values.to_vec();
    let (_, median, _) = sorted.select_nth_unstable_by(values.len() / 2, f32::total_cmp);
    PlannedCurve { middle: *median + 0.0, step: step_code(STEP * limit) }
}

/// Returns the curve tracks of a clip.
pub(super) fn tracks(curves: &[PlannedCurve]) -> impl Iterator<Item = Track> {
    curves.chunks(CURVES_OF_TRACK).map(|curves| {
        let mut track = Track::new(Channel::Scale);
        for (axis, curve) in curves.iter().enumerate() {
            (track.middle[axis], track.steps[axis]) = (curve.middle, curve.step);
        }
        track
    })
}
