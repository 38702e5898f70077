//! Saves bits in components whose errors are below their limits. The step of a segment is as large
//! as its largest errors allow, but most errors are smaller. This module therefore gives components
//! narrower profiles, one after another. All errors must stay within their limits, or changes of
//! other coefficients must bring them back.

use super::pieces;
use super::segment::Coder;
use super::shave::Shaver;

/// The options of trimming.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trim {
    /// The cost of a squared step of error in bits, for each pass.
    pub(super) weights: &'static [f64],
    /// The largest error that a repair may start from, as a multiple of the limit. If a narrower
    /// component causes a larger error, the attempt is rejected.
    pub(super) farthest: f64,
    /// The maximum number of changes of other coefficients to try for a repair.
    pub(super) tries: usize,
    /// Repairs stop after this number of components have failed in a row. Later components are less
    /// promising.
    pub(super) failures: usize,
}

impl Shaver {
    /// Makes components of the segment that was coded last narrower. All errors must be within
    /// their limits before the call, and are within them after it.
    pub(super) fn trim(&mut self, coder: &mut Coder, trim: Trim) {
        self.begin(coder);
        let mut order: Vec<(f64, usize, Vec<i32>)> = Vec::new();
        for &weight in trim.weights {
            order.clear();
            for component in 0..3 * coder.plan.tracks.len() {
                if let Some((coefficients, cost)) = narrower(coder, component, weight) {
                    order.push((cost, component, coefficients));
                }
            }
            order.sort_by(|a, b| a.0.total_cmp(&b.0));
            self.repaired.clear();
            let mut failed = 0;
            for (_, component, mut coefficients) in order.drain(..) {
                // A repair of another component may have changed this one.
                if self.repaired.contains(&component) {
                    let Some((again, _)) = narrower(coder, component, weight) else { continue };
                    coefficients = again;
                }
                let tries = if failed < trim.failures { trim.tries } else { 0 };
                match self.try_narrower(coder, component, &coefficients, Trim { tries, ..trim }) {
                    Tried::Repaired => failed = 0,
                    Tried::Failed => failed += 1,
                    Tried::Other => {}
                }
            }
        }
    }

    /// Replaces a component's coefficients with `coefficients`. If errors then exceed their limits
    /// and cannot be repaired, restores the old ones.
    fn try_narrower(
        &mut self,
        coder: &mut Coder,
        component: usize,
        coefficients: &[i32],
        trim: Trim,
    ) -> Tried {
        let before = coder.coefficients_of(component).to_vec();
        let most = if trim.tries > 0 { trim.farthest * trim.farthest } else { 1.0 + 1e-3 };
        let joint = self.decode(coder, component, coefficients);
        if !self.probably_stays_below(coder, component, most) {
            return Tried::Other;
        }
        let worst = self.put(coder, joint);
        if worst > most || (worst > 1.0 && trim.tries == 0) {
            self.take_back(coder, joint);
            return Tried::Other;
        }
        self.keep(coder, component, coefficients);
        let is_far = worst > 1.0;
        if is_far && !self.bring_within(coder, trim.tries) {
            self.undo(coder);
            self.decode(coder, component, &before);
            self.put(coder, joint);
            self.keep(coder, component, &before);
            return Tried::Failed;
        }
        self.update_widths(coder, component);
        if is_far {
            self.repaired.extend(self.made.iter().map(|change| change.component));
            return Tried::Repaired;
        }
        Tried::Other
    }
}

/// The outcome of an attempt to make a component narrower.
enum Tried {
    /// Changes of other coefficients brought the errors back within their limits.
    Repaired,
    /// No change of other coefficients brought the errors back within their limits, so the old
    /// coefficients were restored.
    Failed,
    /// No repair was tried: the errors stayed within their limits, or the attempt was rejected.
    Other,
}

/// Returns narrower coefficients for a component, and their cost minus the bits that they save.
/// Returns `None` if the component is dead, or if narrowing would cost too much.
fn narrower(coder: &Coder, component: usize, weight: f64) -> Option<(Vec<i32>, f64)> {
    if coder.steps[component / 3][component % 3] == 0 {
        return None;
    }
    let block = coder.plan.choices.block;
    let before = coder.coefficients_of(component);
    let exact: Vec<f64> = before.iter().map(|coefficient| f64::from(*coefficient)).collect();
    let mut after = before.to_vec();
    pieces::shrink(block, &exact, &mut after, weight);
    if after == before {
        return None;
    }
    let square = |(before, after): (&i32, &i32)| f64::from(before - after).powi(2);
    let squares: f64 = before.iter().zip(&after).map(square).sum();
    let bits = |coefficients| pieces::bits(block, coefficients) as f64;
    let cost = weight * squares + bits(&after) - bits(before);
    Some((after, cost))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use crate::offline::{BlockOptions, BuildOptions, Effort};
    use crate::{Joint, RawClip, Skeleton, Transform};

    use super::super::segment::Arithmetic;
    use super::super::shave::worst;
    use super::super::transform::Rounding;
    use super::super::{contents, spans, target};
    use super::*;
    use crate::block::MAX_LENGTH;

    /// Returns a chain of joints that turn at different speeds.
    fn raw() -> RawClip {
        const JOINTS: u16 = 8;
        let joint = |index: u16| Joint {
            name: String::new(),
            parent: index.checked_sub(1),
            bind: Transform { translation: [20.0, 0.0, 0.0], ..Transform::IDENTITY },
        };
        let skeleton = Arc::new(Skeleton::new((0..JOINTS).map(joint).collect()).unwrap());
        let transform = |index: usize| {
            let (sample, joint) = ((index / 8) as f32, (index % 8) as f32);
            let wave = |speed: f32| (speed * sample + 3.0 * joint).sin();
            Transform {
                rotation: [wave(0.2), wave(0.3), wave(0.5), 2.0],
                translation: [20.0, 0.0, 0.0],
                ..Transform::IDENTITY
            }
        };
        RawClip::new("", skeleton, 30.0, (0..8 * 64).map(transform).collect()).unwrap()
    }

    #[test]
    fn components_become_narrower_and_stay_within_their_limits() {
        let raw = raw();
        let target = target(&raw, &BuildOptions::default(), 1.0);
        let options = BlockOptions { effort: Effort::Fast, ..BlockOptions::default() };
        let (plan, contents) = contents(&target, &options);
        let mut coder = Coder::new(&target, &plan, Arithmetic::Double);
        let mut shaver = Shaver::new(&coder);
        let spans = spans::all(&contents.header);
        for (span, segment) in spans.into_iter().zip(&contents.segments) {
            for (tries, farthest) in [(0, 1.0), (30, 2.0)] {
                coder.code(span, segment.step, Rounding::RateDistortion, f64::INFINITY);
                let before = coder.bits();
                let trim = Trim { weights: &[2.0, 1.0], farthest, tries, failures: 100 };
                shaver.trim(&mut coder, trim);
                assert!(coder.bits() < before);
                assert!(worst(&coder).2 <= 1.0);
                // Changes that were tried and taken back leave no trace.
                let (errors, coefficients) = (coder.errors.clone(), coder.coefficients.clone());
                coder.take(segment.step, &coefficients);
                for (errors, again) in
                    errors.chunks_exact(MAX_LENGTH).zip(coder.errors.chunks_exact(MAX_LENGTH))
                {
                    for (error, again) in errors.iter().zip(again).take(span.length) {
                        assert!((error - again).abs() < 1e-6, "{error} is {again}");
                    }
                }
            }
        }
    }
}
