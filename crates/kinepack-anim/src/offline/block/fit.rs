//! Makes coefficients fit into 24 bits. All components share the step of a segment. If the joints
//! of a rope need a small step, other components get large coefficients. Examples are a root that
//! jumps, or a curve with a wide range.

use super::options::Effort;
use super::plan::Plan;
use super::search::code_with;
use super::segment::{Arithmetic, Coder};
use super::spans::Span;
use super::target::Target;
use super::transform::LARGEST;

/// The limit of coefficients while their sizes are measured. It is so large that it clamps nothing
/// that matters.
const ANY: f64 = (1 << 30) as f64;
/// The number of quarter octaves by which steps become coarser than needed, so that segments can
/// still choose slightly finer steps.
const ROOM: u8 = 2;

/// Gives coarser steps to components whose coefficients are too large with the steps that segments
/// would choose. Returns whether it changed any steps. The builder calls `fit` if segments do not
/// reach the precision.
pub(super) fn fit(target: &Target, plan: &mut Plan, spans: &[Span], effort: Effort) -> bool {
    let mut coder = Coder::new(target, plan, Arithmetic::Double);
    coder.largest = ANY;
    let segments = code_with(coder, spans, effort).segments;
    let mut largest = vec![0; 3 * (plan.tracks.len() + plan.curves.len())];
    for segment in segments {
        let components = segment.coefficients.chunks_exact(segment.length.max(1));
        for (largest, coefficients) in largest.iter_mut().zip(components) {
            *largest = coefficients.iter().map(|c| c.unsigned_abs()).fold(*largest, u32::max);
        }
    }
    let own = plan.tracks.iter_mut();
    // A track that shares its steps with the rig cannot change them.
    let own = own.flat_map(|track| track.steps.iter_mut().map(|step| (step, track.shares[1])));
    let curves = plan.curves.iter_mut().map(|curve| (&mut curve.step, false));
    let mut is_any = false;
    for ((step, is_shared), largest) in own.chain(curves).zip(largest) {
        let too_large = f64::from(largest) / LARGEST;
        if too_large > 1.0 && !is_shared && *step != 0 {
            let quarters = (4.0 * too_large.log2()).ceil() as u8;
            *step = step.saturating_add(quarters).saturating_add(ROOM);
            is_any = true;
        }
    }
    is_any
}
