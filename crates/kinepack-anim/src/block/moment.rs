//! A moment of a clip: the segments that playback decodes for it, and their weights. See
//! `spec/ANIM.md`, section 12.

use super::anchors::{StoredAnchors, mix};
use super::basis::{SegmentMoment, Weights, smooth};
use super::kernel::{Lanes, Segment, Vector, prefetch, segment_scale};
use super::layout::Interpolation;
use super::source::Source;

/// A moment of a clip: the segments that playback decodes for it.
pub(super) struct Moment<'a> {
    pub(super) here: WeightedSegment<'a>,
    /// The segment of the next sample. It is `Some` only between two samples that must both be
    /// decoded, because they are in different segments or because their segment blends.
    pub(super) next: Option<(WeightedSegment<'a>, Join)>,
    /// Whether both samples are in the same segment. The reader of `here` then reads that segment
    /// for both samples.
    pub(super) is_shared: bool,
}

/// How playback combines the components of two samples into one value.
#[derive(Clone, Copy)]
pub(super) enum Join {
    /// The values of both samples are blended. The number is the share of the next sample's value.
    Blend(f32),
    /// The components of both samples are added, because their weights already contain the shares.
    /// The number is the share of the next anchor.
    Sum(f32),
}

impl Join {
    /// Returns the share of the next sample's anchor.
    pub(super) fn share(self) -> f32 {
        match self {
            Self::Blend(share) | Self::Sum(share) => share,
        }
    }
}

/// A segment, and the weights of its coefficients at a moment.
pub(super) struct WeightedSegment<'a> {
    pub(super) segment: Segment<'a>,
    pub(super) weights: Weights,
    /// The sample's index in the segment.
    pub(super) sample: usize,
    /// The share of the next sample.
    pub(super) share: f32,
}

impl<'a> WeightedSegment<'a> {
    #[inline(always)]
    fn new(
        source: &Source<'a>,
        number: usize,
        [start, end]: [usize; 2],
        moment: SegmentMoment,
    ) -> Self {
        let Source { header, segments, .. } = source;
        let at = segments.at(number, header);
        prefetch(segments.bytes.get(at..segments.at(number + 1, header)).unwrap_or_default());
        let bytes = segments.bytes.get(at..).unwrap_or_default();
        let length = end - start;
        let segment = Segment::new(bytes, source.counts, header.block, length);
        let weights = Weights::new(length, moment, segment_scale(segment.step()));
        let (sample, share) = match moment {
            SegmentMoment::Sample(sample) => (sample, 0.0),
            SegmentMoment::Linear(sample, share) | SegmentMoment::Cubic(sample, share) => {
                (sample, share)
            }
            SegmentMoment::Leaving(_) => (length - 1, 0.0),
            SegmentMoment::Arriving(_) => (0, 0.0),
        };
        Self { segment, weights, sample, share }
    }
}

impl WeightedSegment<'_> {
    /// Returns the anchor of far track `index`.
    fn anchor(&self, index: usize) -> [f32; 3] {
        let mut all = StoredAnchors::each(self.segment.anchors(), self.segment.length);
        all.nth(index).map_or([0.0; 3], |own| own.at(self.sample, self.share))
    }
}

impl<'a> Moment<'a> {
    #[inline(always)]
    pub(super) fn new(source: &Source<'a>, position: f64) -> Self {
        let Source { header, segments, .. } = source;
        // NaN counts as position 0.
        let position =
            if position > 0.0 { position.min(f64::from(header.samples - 1)) } else { 0.0 };
        let sample = position as u32;
        let share = (position - f64::from(sample)) as f32;
        let coded = |sample: u32| {
            if header.loops && sample == header.samples - 1 { 0 } else { sample as usize }
        };
        let (here, next) = (coded(sample), coded(sample + 1));
        let segment = header.segment_of(here, segments.count);
        let bounds = header.segment_bounds(segment, segments.count);
        let is_same_segment = next > here && next < bounds[1];
        let here = here - bounds[0];
        let blends = segments.blends(segment);
        if share == 0.0 || (is_same_segment && !blends) {
            let moment = match header.interpolation {
                _ if share == 0.0 => SegmentMoment::Sample(here),
                Interpolation::Linear => SegmentMoment::Linear(here, share),
                Interpolation::Cubic => SegmentMoment::Cubic(here, share),
            };
            let here = WeightedSegment::new(source, segment, bounds, moment);
            return Self { here, next: None, is_shared: false };
        }
        let next_segment = if is_same_segment {
            segment
        } else if next > 0 {
            segment + 1
        } else {
            0
        };
        let next_bounds = header.segment_bounds(next_segment, segments.count);
        let mut moments =
            [SegmentMoment::Sample(here), SegmentMoment::Sample(next - next_bounds[0])];
        let mut join = Join::Blend(share);
        if header.is_cubic() && !blends && !segments.blends(next_segment) {
            moments = [SegmentMoment::Leaving(share), SegmentMoment::Arriving(share)];
            join = Join::Sum(smooth(share));
        }
        let here = WeightedSegment::new(source, segment, bounds, moments[0]);
        let next = WeightedSegment::new(source, next_segment, next_bounds, moments[1]);
        Self { here, next: Some((next, join)), is_shared: is_same_segment }
    }
}

impl Moment<'_> {
    /// Adds a track's anchor to `value`, the vector of its components. A track without an index in
    /// `far` keeps `value`.
    #[inline(always)]
    pub(super) fn add_anchor(&self, far: &[u16], track: usize, value: [f32; 4]) -> [f32; 4] {
        if far.is_empty() {
            return value;
        }
        match far.iter().position(|far| usize::from(*far) == track) {
            Some(index) => self.add_anchor_of(index, value),
            None => value,
        }
    }

    /// Adds the anchor of far track `index`.
    #[inline(never)]
    fn add_anchor_of(&self, index: usize, [x, y, z, w]: [f32; 4]) -> [f32; 4] {
        let mut base = self.here.anchor(index);
        if let Some((next, join)) = &self.next {
            base = mix(base, next.anchor(index), join.share());
        }
        [base[0] + x, base[1] + y, base[2] + z, w]
    }
}

/// Adds the next sample's components to `here`, or returns them with their share if both samples
/// must be blended.
#[inline(always)]
pub(super) fn joined<L: Lanes>(
    here: &mut Vector<L>,
    next: Vector<L>,
    join: Join,
) -> Option<(Vector<L>, f32)> {
    match join {
        Join::Blend(share) => Some((next, share)),
        Join::Sum(_) => {
            for (here, next) in here.iter_mut().zip(next) {
                *here = here.add(next);
            }
            None
        }
    }
}
