//! From a position in a clip to the values of its tracks, group by group, in the order of the file.
//! `spec/ANIM.md`, section 12.

use super::Span;
use super::basis::Weights;
use super::group::{Fixed, Group, Rotations, Vectors};
use super::kernel::{Kernel, Lanes, RUN, Segment, Sums, Task, prefetch, segment_scale};
use super::layout::Header;
use super::pose::{Choice, PoseWriter};

/// What playback needs of a clip, without a way through it.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) header: Header,
    /// That are live.
    pub(super) components: usize,
    /// Of its segments and of what is behind them.
    pub(super) spans: Vec<Span>,
    pub(super) segments_a_sample: f32,
}

/// The tracks of some joints of a clip that move, at a position.
pub(super) struct Play<'a, C, W: ?Sized, F> {
    pub(super) bytes: &'a [u8],
    pub(super) source: &'a Source,
    pub(super) rotations: &'a [Group<Rotations>],
    pub(super) vectors: &'a [Group<Vectors>],
    pub(super) position: f64,
    pub(super) choice: C,
    pub(super) writer: &'a mut W,
    /// Writes what does not move, while what does is on its way from memory.
    pub(super) begin: F,
}

/// Where a position is in a clip.
struct Place<'a> {
    here: Part<'a>,
    /// Where that is not in the same segment, or it blends: what is behind, and the share of the
    /// way to there.
    behind: Option<(Part<'a>, f32)>,
}

/// What a place has of one segment.
struct Part<'a> {
    segment: Segment<'a>,
    weights: Weights,
}

impl<'a> Part<'a> {
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
        // A position that is no number is the first.
        let position =
            if position > 0.0 { position.min(f64::from(header.samples - 1)) } else { 0.0 };
        let sample = position as u32;
        let share = (position - f64::from(sample)) as f32;
        let coded =
            |sample: u32| if header.loops && sample == header.samples - 1 { 0 } else { sample };
        let (here, next) = (coded(sample), coded(sample + 1));
        let segment = segment_of(spans, here, *segments_a_sample);
        let bounds = [spans[segment], spans[segment + 1]];
        let is_one = next > here && next < bounds[1].start;
        let is_all = share == 0.0 || (is_one && !bounds[0].blends);
        let here = Part::new((source, bytes), bounds, here, if is_all { share } else { 0.0 });
        if is_all {
            return Self { here, behind: None };
        }
        let behind = if is_one {
            segment
        } else if next > 0 {
            segment + 1
        } else {
            0
        };
        Self {
            here,
            behind: Some((
                Part::new((source, bytes), [spans[behind], spans[behind + 1]], next, 0.0),
                share,
            )),
        }
    }
}

/// The segment of a sample.
#[inline(always)]
fn segment_of(spans: &[Span], sample: u32, segments_a_sample: f32) -> usize {
    // Right, or nearly.
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
    fn play<K: Kernel, T: Fixed, C: Choice, W: PoseWriter + ?Sized>(
        &mut self,
        kernel: K,
        groups: &[Group<T>],
        choice: &C,
        sums: &mut [Sums<K::Lanes>; 2],
        writer: &mut W,
    ) {
        // Where some joints are chosen, groups that have none of them are not decoded.
        let at_once = if C::ALL { RUN } else { 1 };
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
                let mut behind = None;
                if let Some((_, share)) = self.behind {
                    behind = Some((sums[1].take(kernel, &group.live), share));
                }
                let values = K::Lanes::transpose(group.fixed.values(here, behind));
                for (lane, (joint, value)) in group.joints.iter().zip(values).enumerate() {
                    if lanes >> lane & 1 != 0 {
                        group.fixed.write(lane, value, usize::from(*joint), writer);
                    }
                }
            }
        }
    }

    /// Decodes what the next groups have here and behind.
    #[inline(always)]
    fn decode<T, K: Kernel>(
        &mut self,
        kernel: K,
        groups: &[Group<T>],
        [here, behind]: &mut [Sums<K::Lanes>; 2],
    ) {
        let count = live(groups);
        kernel.decode(here, count, &mut self.here.segment, &self.here.weights);
        if let Some((part, _)) = &mut self.behind {
            kernel.decode(behind, count, &mut part.segment, &part.weights);
        }
    }

    /// Goes behind the next groups.
    #[inline(always)]
    fn skip<T>(&mut self, groups: &[Group<T>]) {
        let count = live(groups);
        self.here.segment.skip(count);
        if let Some((part, _)) = &mut self.behind {
            part.segment.skip(count);
        }
    }
}

/// Live components of some groups.
#[inline(always)]
fn live<T>(groups: &[Group<T>]) -> usize {
    groups.iter().map(|group| usize::from(group.live.count)).sum()
}

/// Which tracks of a group are of joints that are chosen: a bit for each.
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
