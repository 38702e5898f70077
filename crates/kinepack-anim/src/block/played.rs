//! Repeats the player's arithmetic for the builder. The module computes components and rotations at
//! a segment's samples exactly as a player does, to the last bit. See `spec/ANIM.md`, section 12.

use super::basis;
use super::kernel::{Lanes, Turn, own_scale, segment_scale};
use super::layout::GROUP;

/// Computes a component, with its own scale, at each sample of a segment. `steps` are the segment's
/// step and the component's.
pub(crate) fn component(coefficients: &[i32], steps: [u8; 2], samples: &mut [f64]) {
    let (scale, own_scale) = (segment_scale(steps[0]), own_scale(steps[1]));
    let length = samples.len();
    for (sample, value) in samples.iter_mut().enumerate() {
        let rows = basis::row(length, sample).as_chunks::<GROUP>().0;
        let mut sums = [0.0_f32; GROUP];
        for (eight, row) in coefficients.chunks(GROUP).zip(rows) {
            for ((sum, coefficient), basis) in sums.iter_mut().zip(eight).zip(row) {
                *sum += *coefficient as f32 * (*basis * scale);
            }
        }
        let [a, b, c, d, e, f, g, h] = sums;
        let sum = ((a + b) + (c + d)) + ((e + f) + (g + h));
        *value = f64::from(sum * own_scale);
    }
}

/// Returns the rotations that components represent at eight samples. `reference` and `axes` are
/// modified Rodrigues parameters.
pub(crate) fn rotations(
    [reference, axes]: [[f32; 3]; 2],
    components: [[f32; GROUP]; 3],
) -> [[f32; 4]; GROUP] {
    let same = |[x, y, z]: [f32; 3]| Turn::new([[x; GROUP], [y; GROUP], [z; GROUP]]);
    let turned = Turn::new(components).about(same(axes));
    Lanes::transpose(same(reference).after(turned).normalized())
}
