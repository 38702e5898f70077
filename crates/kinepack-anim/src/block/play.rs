//! From a position in a clip to the values of its tracks, group by group, in the order of the file. `spec/ANIM.md`, section 12.

use super::Span;
use super::basis::Weights;
use super::group::{Group, Rotations, Vectors};
use super::kernel::{self, Kernel, Lanes, RUN, Segment, Sums, Task, prefetch, segment_scale};
use super::layout::Header;
use super::pose::{Choice, PoseWriter};

/// What playback needs of a clip, without a way through it.
#[derive(Clone, Debug)]
pub(super) struct Source<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) header: Header,
    /// That are live.
    pub(super) components: usize,
    /// Of its segments and of what is behind them.
    pub(super) spans: Vec<Span>,
    pub(super) segments_a_sample: f32,
}

/// The tracks of some joints of a clip that move, at a position.
pub(super) struct Play<'a, C, W: ?Sized, F> {
    pub(super) source: &'a Source<'a>,
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
    /// Where that is not in the same segment, or it blends: what is behind, and the share of the way to there.
    behind: Option<(Part<'a>, f32)>,
}

/// What a place has of one segment.
struct Part<'a> {
    segment: Segment<'a>,
    weights: Weights,
}

impl<'a> Part<'a> {
    #[inline(always)]
    fn new(source: &Source<'a>, [span, end]: [Span; 2], sample: u32, share: f32) -> Self {
        let length = (end.start - span.start) as usize;
        prefetch(source.bytes.get(span.at..end.at).unwrap_or_default());
        let bytes = source.bytes.get(span.at..).unwrap_or_default();
        let segment = Segment::new(bytes, source.components, source.header.block, length);
        let weights = Weights::new(length, (sample - span.start) as usize, share, segment_scale(segment.step()));
        Self { segment, weights }
    }
}

impl<'a> Place<'a> {
    #[inline(always)]
    fn new(source: &Source<'a>, position: f64) -> Self {
        let Source { header, spans, segments_a_sample, .. } = source;
        // A position that is no number is the first.
        let position = if position > 0.0 { position.min(f64::from(header.samples - 1)) } else { 0.0 };
        let sample = position as u32;
        let share = (position - f64::from(sample)) as f32;
        let coded = |sample: u32| if header.loops && sample == header.samples - 1 { 0 } else { sample };
        let (here, next) = (coded(sample), coded(sample + 1));
        let segment = segment_of(spans, here, *segments_a_sample);
        let bounds = [spans[segment], spans[segment + 1]];
        let is_one = next > here && next < bounds[1].start;
        let is_all = share == 0.0 || (is_one && !bounds[0].blends);
        let here = Part::new(source, bounds, here, if is_all { share } else { 0.0 });
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
        Self { here, behind: Some((Part::new(source, [spans[behind], spans[behind + 1]], next, 0.0), share)) }
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
        let Self { source, rotations, vectors, position, choice, writer, begin } = self;
        let mut place = Place::new(source, position);
        begin(writer);
        let mut sums = [Sums::new(), Sums::new()];
        // Where some joints are chosen, what has none of them is not decoded.
        let at_once = if C::ALL { RUN } else { 1 };
        for groups in rotations.chunks(at_once) {
            let some = wanted(&groups[0], &choice);
            if !C::ALL && some == 0 {
                place.skip(groups);
                continue;
            }
            place.decode(kernel, groups, &mut sums);
            for group in groups {
                let wanted = if C::ALL { group.lanes } else { some };
                let components = sums[0].take(&group.live);
                let mut value = kernel::rotation(group.fixed.along_axes(components));
                if let Some((_, share)) = place.behind {
                    let components = sums[1].take(&group.live);
                    value = kernel::blend(value, kernel::rotation(group.fixed.along_axes(components)), share);
                }
                let values = K::Lanes::transpose(kernel::product(group.fixed.references(), value));
                for (lane, (joint, value)) in group.joints.iter().zip(values).enumerate() {
                    if wanted >> lane & 1 != 0 {
                        writer.rotation(usize::from(*joint), value);
                    }
                }
            }
        }
        for groups in vectors.chunks(at_once) {
            let some = wanted(&groups[0], &choice);
            if !C::ALL && some == 0 {
                place.skip(groups);
                continue;
            }
            place.decode(kernel, groups, &mut sums);
            for group in groups {
                let wanted = if C::ALL { group.lanes } else { some };
                let mut value = group.fixed.values(sums[0].take(&group.live));
                if let Some((_, share)) = place.behind {
                    let (near, far) = (K::Lanes::splat(1.0 - share), K::Lanes::splat(share));
                    let behind = group.fixed.values(sums[1].take(&group.live));
                    for (number, other) in value.iter_mut().zip(behind) {
                        *number = number.mul(near).add(other.mul(far));
                    }
                }
                let [x, y, z] = value;
                let values = K::Lanes::transpose([x, y, z, z]);
                for (lane, (joint, [x, y, z, _])) in group.joints.iter().zip(values).enumerate() {
                    if wanted >> lane & 1 == 0 {
                        continue;
                    }
                    match group.fixed.scales >> lane & 1 {
                        0 => writer.translation(usize::from(*joint), [x, y, z]),
                        _ => writer.scale(usize::from(*joint), [x, y, z]),
                    }
                }
            }
        }
    }
}

impl Place<'_> {
    /// Decodes what the next groups have here and behind.
    #[inline(always)]
    fn decode<T, K: Kernel>(&mut self, kernel: K, groups: &[Group<T>], [here, behind]: &mut [Sums<K::Lanes>; 2]) {
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

/// Which tracks of a group are wanted: a bit for each.
#[inline(always)]
fn wanted<T, C: Choice>(group: &Group<T>, choice: &C) -> u32 {
    let mut wanted = group.lanes;
    if !C::ALL {
        for (lane, joint) in group.joints.iter().enumerate() {
            wanted &= !(u32::from(!choice.contains(usize::from(*joint))) << lane);
        }
    }
    wanted
}
