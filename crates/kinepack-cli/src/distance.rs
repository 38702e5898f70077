//! Computes the error of a value, in the field's unit, or in degrees for rotations.

use kinepack::quantize::FloatLimits;
use kinepack::schema::FieldKind;

/// Returns the distance of a shown field from its recorded value, or `None` for a kind without
/// distances. The recorded value is at `ratio` between two recorded values.
pub(crate) fn distance(
    kind: &FieldKind,
    shown: &[u64],
    [before, after]: [&[u64]; 2],
    ratio: f64,
) -> Option<f64> {
    let number = |words: &[u64], index: usize| f64::from_bits(words[index]);
    match kind {
        FieldKind::Floats(axes) => {
            let off = |(index, axis): (usize, &FloatLimits)| {
                let [a, b, c] = [before, after, shown].map(|words| number(words, index));
                let around = |distance: f64| {
                    let period = axis.step() * (f64::from(axis.max_code()) + 1.0);
                    if axis.wraps() {
                        distance - period * (distance / period).round()
                    } else {
                        distance
                    }
                };
                around(c - (a + around(b - a) * ratio)).powi(2)
            };
            Some(axes.iter().enumerate().map(off).sum::<f64>().sqrt())
        }
        FieldKind::Rotation(_) => {
            let dot: f64 = (0..4).map(|axis| number(before, axis) * number(after, axis)).sum();
            let side = if dot < 0.0 { -1.0 } else { 1.0 };
            let quaternion = |words: &[u64]| std::array::from_fn(|axis| number(words, axis));
            let [a, b]: [[f64; 4]; 2] = [before, after].map(quaternion);
            let blend =
                std::array::from_fn(|axis| (a[axis] + (side * b[axis] - a[axis]) * ratio) as f32);
            let shown = quaternion(shown).map(|component| component as f32);
            let angle = cube_data::cube::angle_rad(shown, blend).to_degrees();
            angle.is_finite().then_some(angle)
        }
        _ => None,
    }
}
