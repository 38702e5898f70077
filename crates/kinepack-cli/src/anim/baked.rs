//! Converts the curves and markers of a compressed clip to those of a raw clip.

use kinepack_anim::{AnyClip, Curve, Marker, RawClip, RawClipError, Sampler};

/// Adds the curves and markers of `clip` to the samples of its joints, which are at `positions`. If
/// a curve has no name, its number becomes its name.
pub(crate) fn with_curves(
    raw: RawClip,
    clip: &AnyClip,
    positions: impl Iterator<Item = f64>,
) -> Result<RawClip, RawClipError> {
    let bind = raw.skeleton().bind_pose();
    let sampler = clip.as_block().map(|clip| Sampler::with_bind_pose(clip.clone(), &bind));
    let Some(Ok(sampler)) = sampler else { return Ok(raw) };
    let clip = sampler.clip();
    let name = |(index, name): (usize, &str)| match name {
        "" => format!("curve {index}"),
        name => name.to_owned(),
    };
    let names = clip.curve_names().enumerate().map(name);
    let precision = Curve::WEIGHT_PRECISION;
    let mut curves: Vec<Curve> =
        names.map(|name| Curve { name, precision, values: Vec::new() }).collect();
    let mut values = vec![0.0; curves.len()];
    for position in positions {
        sampler.curves_at(position, &mut values);
        curves.iter_mut().zip(&values).for_each(|(curve, value)| curve.values.push(*value));
    }
    let end_s = raw.duration_s();
    let markers = clip
        .markers()
        .map(|marker| Marker { name: marker.name.to_owned(), time_s: marker.time_s.min(end_s) });
    raw.with_curves(curves)?.with_markers(markers.collect())
}
