//! The markers of an animation, in the form that [`export`](crate::export) writes. glTF itself has
//! no markers, and programs that store markers in `extras` do not agree on a form.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::json::Animation;
use crate::{Marker, RawClip};

/// Key times are `f32`, and the times of markers are decimal numbers, so both are rounded. A marker
/// that precedes the first key by at most this time is moved to that key.
const ROUNDING_S: f64 = 1e-5;

/// Adds the markers of an animation to its clip. Their times are on the file's time line, on which
/// the clip begins at `begin_s`. Returns whether the markers were valid.
pub(super) fn add(clip: &mut RawClip, animation: &Animation, begin_s: f64) -> bool {
    #[derive(Deserialize)]
    struct Extras<'a> {
        #[serde(borrow)]
        markers: Option<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct InFile {
        name: String,
        time_s: f64,
    }
    let extras = animation.extras.as_deref().map(RawValue::get);
    let extras = extras.and_then(|extras| serde_json::from_str::<Extras<'_>>(extras).ok());
    let Some(markers) = extras.and_then(|extras| extras.markers) else { return true };
    let Ok(markers) = serde_json::from_str::<Vec<InFile>>(markers.get()) else {
        return false;
    };
    let of_clip = |InFile { name, time_s }| {
        let own_s = time_s - begin_s;
        Marker { name, time_s: if own_s.abs() < ROUNDING_S { 0.0 } else { own_s as f32 } }
    };
    clip.set_markers(markers.into_iter().map(of_clip).collect()).is_ok()
}
