//! Codes those segments again whose errors exceed the precision because of the player's rounding.
//! Only the limits of these segments become tighter, so the other segments stay unchanged.

use crate::block::{Contents, Header, SegmentContents};
use crate::measure::{Follower, each_curve_error};
use crate::offline::built::Built;
use crate::offline::options::BuildOptions;

use super::options::Effort;
use super::plan::Plan;
use super::search::code_with;
use super::segment::{Arithmetic, Coder};
use super::spans;
use super::target::Target;

/// The share of the precision that the first build leaves for the player's rounding.
pub(super) const ROUNDING: f64 = 1e-4;

/// The segments of a clip, and the amount by which each has been tightened.
pub(super) struct Segments {
    effort: Effort,
    all: Vec<Segment>,
}

#[derive(Clone)]
struct Segment {
    /// The share of the precision to which the segment is coded.
    share: f64,
    /// Whether the segment's error cannot become smaller, because no step is small enough.
    is_done: bool,
    /// The version of the segment with the smallest error so far: that error as a multiple of the
    /// precision, the step and the coefficients. The value is `None` if the error has never
    /// exceeded the precision.
    nearest: Option<(f64, u8, Vec<i32>)>,
}

impl Segments {
    pub(super) fn new(effort: Effort, contents: &Contents) -> Self {
        let segment = Segment { share: 1.0, is_done: false, nearest: None };
        Self { effort, all: vec![segment; contents.segments.len()] }
    }

    /// Codes the segments whose errors exceed the precision again, with the player's arithmetic.
    /// Returns whether any of them may still improve. `build` counts the builds. The second build
    /// leaves room for errors that this arithmetic does not cover. Each later build leaves four
    /// times as much room.
    pub(super) fn tighten(
        &mut self,
        target: &mut Target,
        plan: &Plan,
        contents: &mut Contents,
        (built, options): (&Built, &BuildOptions),
        build: u32,
    ) -> bool {
        let offs = offs(target, &contents.header, built, options, self.all.len());
        let spans = spans::all(&contents.header);
        let mut is_any = false;
        for (index, off) in offs.into_iter().enumerate() {
            let own = &mut self.all[index];
            own.note(off, &contents.segments[index]);
            if off <= 1.0 || own.is_done {
                continue;
            }
            is_any = true;
            if build > 1 {
                let room = f64::from(1 << (2 * (build - 1))) * ROUNDING + 4.0 * (off - 1.0);
                own.share *= (1.0 - room).max(0.5);
            }
            let limits = target.limits();
            target.tighten(own.share);
            let coder = Coder::new(target, plan, Arithmetic::Player);
            let mut coded = code_with(coder, &spans[index..=index], self.effort);
            target.set_limits(limits);
            own.is_done = coded.far > 0;
            if let Some(segment) = coded.segments.pop() {
                contents.segments[index] = segment;
            }
        }
        is_any
    }

    /// Replaces segments by their versions with the smallest error.
    pub(super) fn take_nearest(self, contents: &mut Contents) {
        for (own, segment) in self.all.into_iter().zip(&mut contents.segments) {
            if let Some((_, step, coefficients)) = own.nearest {
                (segment.step, segment.coefficients) = (step, coefficients);
            }
        }
    }
}

impl Segment {
    fn note(&mut self, off: f64, segment: &SegmentContents) {
        let is_nearest = match &self.nearest {
            Some((least, ..)) => off < *least,
            None => off > 1.0,
        };
        if is_nearest {
            self.nearest = Some((off, segment.step, segment.coefficients.clone()));
        }
    }
}

/// Returns the largest error in each segment, as a multiple of the precision.
fn offs(
    target: &Target,
    header: &Header,
    built: &Built,
    options: &BuildOptions,
    segments: usize,
) -> Vec<f64> {
    let precisions_cm = options.precisions_cm(target.joints());
    let mut follower = Follower::new(target.raw, &built.clip, &options.error);
    let mut offs = vec![0.0_f64; segments];
    for sample in 0..target.raw.samples() {
        follower.go_to(2 * sample);
        // The last sample of a loop repeats the first one.
        let segment = header.segment_of(sample % header.coded_samples(), segments);
        for (error_cm, precision_cm) in follower.errors_cm().zip(&precisions_cm) {
            // Errors are reported as `f32`.
            let error_cm = f64::from(error_cm as f32);
            offs[segment] = offs[segment].max(error_cm / precision_cm);
        }
    }
    let curves = target.raw.curves();
    each_curve_error(target.raw, &built.clip, |sample, curve, error| {
        let segment = header.segment_of(sample % header.coded_samples(), segments);
        offs[segment] = offs[segment].max(error / f64::from(curves[curve].precision));
    });
    offs
}
