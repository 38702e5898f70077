//! Turns a position in a clip into the values of its tracks, group by group, in the order of the
//! file. `spec/ANIM.md`, section 12.

use super::Span;
use super::basis::Weights;
use super::group::{Group, Parameters, Rotations, Vectors};
use super::kernel::{GROUPS_AT_ONCE, Kernel, Lanes, Segment, Sums, Task, prefetch, segment_scale};
use super::layout::Header;
use super::pose::{Choice, PoseWriter};

/// The parts of a clip that playback needs, besides its groups.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) header: Header,
    /// Number of live components.
    pub(super) components: usize,
    /// The beginnings of all segments, then the end of the last one.
    pub(super) spans: Vec<Span>,
    pub(super) segments_a_sample: f32,
}

/// A task for a kernel: writes the animated tracks of the chosen joints at a position.
pub(super) struct Play<'a, C, W: ?Sized, F> {
    pub(super) bytes: &'a [u8],
    pub(super) source: &'a Source,
    pub(super) rotations: &'a [Group<Rotations>],
    pub(super) vectors: &'a [Group<Vectors>],
    pub(super) position: f64,
    pub(super) choice: C,
    pub(super) writer: &'a mut W,
    /// Writes the static values. It runs while the segment's bytes are on their way from memory.
    pub(super) begin: F,
}

/// A position in a clip, resolved to segments.
struct Place<'a> {
    here: Point<'a>,
    /// The next sample, and its share of the value. Only if a position between two samples needs
    /// both poses: they are in different segments, or the segment blends.
    next: Option<(Point<'a>, f32)>,
}

/// A segment, and the weights of its coefficients at a position.
struct Point<'a> {
    segment: Segment<'a>,
    weights: Weights,
}

impl<'a> Point<'a> {
    #[inline(always)]
    fn new(
        (source, bytes): (&Source, &'a [u8]),
        [span, end]: [Span; 2],
        sample: u32,
        share: f32,
    ) -> Self {
        let length = (end.start - span.start) as usize;
        prefetch(bytes.get(span.at..end.at).unwrap_or_default());
        let bytes = bytes.get(span.at..).unwrap_or_default();
        let segment = Segment::new(bytes, source.components, source.header.block, length);
        let weights = Weights::new(
            length,
            (sample - span.start) as usize,
            share,
            segment_scale(segment.step()),
        );
        Self { segment, weights }
    }
}

impl<'a> Place<'a> {
    #[inline(always)]
    fn new(source: &Source, bytes: &'a [u8], position: f64) -> Self {
        let Source { header, spans, segments_a_sample, .. } = source;
        // NaN counts as the first sample.
        let position =
            if position > 0.0 { position.min(f64::from(header.samples - 1)) } else { 0.0 };
        let sample = position as u32;
        let share = (position - f64::from(sample)) as f32;
        let coded =
            |sample: u32| if header.loops && sample == header.samples - 1 { 0 } else { sample };
        let (here, next) = (coded(sample), coded(sample + 1));
        let segment = segment_of(spans, here, *segments_a_sample);
        let bounds = [spans[segment], spans[segment + 1]];
        let is_same_segment = next > here && next < bounds[1].start;
        let is_single_point = share == 0.0 || (is_same_segment && !bounds[0].blends);
        let here =
            Point::new((source, bytes), bounds, here, if is_single_point { share } else { 0.0 });
        if is_single_point {
            return Self { here, next: None };
        }
        let next_segment = if is_same_segment {
            segment
        } else if next > 0 {
            segment + 1
        } else {
            0
        };
        let bounds = [spans[next_segment], spans[next_segment + 1]];
        Self { here, next: Some((Point::new((source, bytes), bounds, next, 0.0), share)) }
    }
}

/// The segment that has a sample.
#[inline(always)]
fn segment_of(spans: &[Span], sample: u32, segments_a_sample: f32) -> usize {
    // The estimate is right, or off by little.
    let guess = (sample as f32 * segments_a_sample) as u32 as usize;
    let mut segment = guess.min(spans.len() - 2);
    while spans[segment].start > sample {
        segment -= 1;
    }
    while spans[segment + 1].start <= sample {
        segment += 1;
    }
    segment
}

impl<C: Choice, W: PoseWriter + ?Sized, F: FnOnce(&mut W)> Task for Play<'_, C, W, F> {
    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        let Self { bytes, source, rotations, vectors, position, choice, writer, begin } = self;
        let mut place = Place::new(source, bytes, position);
        begin(writer);
        let mut sums = [Sums::new(), Sums::new()];
        place.play(kernel, rotations, &choice, &mut sums, writer);
        place.play(kernel, vectors, &choice, &mut sums, writer);
    }
}

impl Place<'_> {
    /// Plays the next groups.
    #[inline(always)]
    fn play<K: Kernel, T: Parameters, C: Choice, W: PoseWriter + ?Sized>(
        &mut self,
        kernel: K,
        groups: &[Group<T>],
        choice: &C,
        sums: &mut [Sums<K::Lanes>; 2],
        writer: &mut W,
    ) {
        // A group without a chosen joint is skipped instead of decoded, so groups are taken singly
        // unless all joints are chosen.
        let at_once = if C::ALL { GROUPS_AT_ONCE } else { 1 };
        for groups in groups.chunks(at_once) {
            let chosen = chosen(&groups[0], choice);
            if !C::ALL && chosen == 0 {
                self.skip(groups);
                continue;
            }
            self.decode(kernel, groups, sums);
            for group in groups {
                let lanes = if C::ALL { group.lanes } else { chosen };
                let here = sums[0].take(kernel, &group.live);
                let mut next = None;
                if let Some((_, share)) = self.next {
                    next = Some((sums[1].take(kernel, &group.live), share));
                }
                let values = K::Lanes::transpose(group.parameters.values(here, next));
                for (lane, (joint, value)) in group.joints.iter().zip(values).enumerate() {
                    if lanes >> lane & 1 != 0 {
                        group.parameters.write(lane, value, usize::from(*joint), writer);
                    }
                }
            }
        }
    }

    /// Decodes the components of the next groups, at both points.
    #[inline(always)]
    fn decode<T, K: Kernel>(
        &mut self,
        kernel: K,
        groups: &[Group<T>],
        [here, next]: &mut [Sums<K::Lanes>; 2],
    ) {
        let count = live_components(groups);
        kernel.decode(here, count, &mut self.here.segment, &self.here.weights);
        if let Some((point, _)) = &mut self.next {
            kernel.decode(next, count, &mut point.segment, &point.weights);
        }
    }

    /// Skips the next groups.
    #[inline(always)]
    fn skip<T>(&mut self, groups: &[Group<T>]) {
        let count = live_components(groups);
        self.here.segment.skip(count);
        if let Some((point, _)) = &mut self.next {
            point.segment.skip(count);
        }
    }
}

/// Number of live components of some groups.
#[inline(always)]
fn live_components<T>(groups: &[Group<T>]) -> usize {
    groups.iter().map(|group| usize::from(group.live.count)).sum()
}

/// A bit for each lane of a group: whether its track belongs to a chosen joint.
#[inline(always)]
fn chosen<T, C: Choice>(group: &Group<T>, choice: &C) -> u32 {
    let mut chosen = group.lanes;
    if !C::ALL {
        for (lane, joint) in group.joints.iter().enumerate() {
            chosen &= !(u32::from(!choice.contains(usize::from(*joint))) << lane);
        }
    }
    chosen
}
