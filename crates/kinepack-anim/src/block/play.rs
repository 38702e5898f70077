//! From a position in a clip to the values of its tracks, group by group, in the order of the file. `spec/ANIM.md`, section 12.

use super::Span;
use super::basis::Weights;
use super::group::Group;
use super::kernel::{self, Kernel, Lanes, Segment, Sums, Task, prefetch};
use super::layout::{GROUP, Header};
use super::pose::{Choice, PoseWriter};

/// What playback needs of a clip, without a way through it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) header: Header,
    /// That are live.
    pub(super) components: usize,
}

/// The tracks of some joints of a clip that move, at a position.
pub(super) struct Play<'a, C, W: ?Sized, F> {
    pub(super) source: &'a Source<'a>,
    /// Of its segments and of what is behind them.
    pub(super) spans: &'a [Span],
    pub(super) segments_a_sample: f32,
    pub(super) rotations: &'a [Group],
    /// Translations and scales.
    pub(super) vectors: &'a [Group],
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
        let weights = Weights::new(length, (sample - span.start) as usize, share);
        prefetch(source.bytes.get(span.at..end.at).unwrap_or_default());
        let bytes = source.bytes.get(span.at..).unwrap_or_default();
        Self { segment: Segment::new(bytes, source.components, source.header.block, length), weights }
    }

    /// Goes behind components.
    #[inline(always)]
    fn skip(&mut self, live: u32) {
        self.segment.skip(live.count_ones() as usize);
    }

    /// The components of the tracks of a group.
    #[inline(always)]
    fn components<K: Kernel>(&mut self, kernel: K, group: &Group, sums: &mut Sums<K::Lanes>) -> [K::Lanes; 3] {
        let step = self.segment.step();
        let mut components = kernel.components(sums, group.live, &mut self.segment, &self.weights);
        for (component, steps) in components.iter_mut().zip(&group.steps) {
            *component = component.mul(K::Lanes::scales(steps, step));
        }
        components
    }
}

impl<'a> Place<'a> {
    #[inline(always)]
    fn new(source: &Source<'a>, spans: &[Span], segments_a_sample: f32, position: f64) -> Self {
        let header = &source.header;
        // A position that is no number is the first.
        let position = if position > 0.0 { position.min(f64::from(header.samples - 1)) } else { 0.0 };
        let sample = position as u32;
        let share = (position - f64::from(sample)) as f32;
        let coded = |sample: u32| if header.loops && sample == header.samples - 1 { 0 } else { sample };
        let (here, next) = (coded(sample), coded(sample + 1));
        let segment = segment_of(spans, here, segments_a_sample);
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
        let Self { source, spans, segments_a_sample, rotations, vectors, position, choice, writer, begin } = self;
        let mut place = Place::new(source, spans, segments_a_sample, position);
        begin(writer);
        let mut sums = [K::Lanes::splat(0.0); 3 * GROUP];
        for group in rotations {
            let wanted = place.wanted(group, &choice);
            if wanted == 0 {
                continue;
            }
            let axes = group.quaternions(4);
            let mut value = kernel::inner(axes, place.here.components(kernel, group, &mut sums));
            if let Some((behind, share)) = &mut place.behind {
                let behind = kernel::inner(axes, behind.components(kernel, group, &mut sums));
                value = kernel::blend(value, behind, *share);
            }
            let values = K::Lanes::transpose(kernel::product(group.quaternions(0), value));
            for (lane, (joint, value)) in group.joints.iter().zip(values).enumerate() {
                if wanted >> lane & 1 != 0 {
                    writer.rotation(usize::from(*joint), value);
                }
            }
        }
        for group in vectors {
            let wanted = place.wanted(group, &choice);
            if wanted == 0 {
                continue;
            }
            let mut value = place.here.components(kernel, group, &mut sums);
            let mut other = [K::Lanes::splat(0.0); 3];
            if let Some((behind, _)) = &mut place.behind {
                other = behind.components(kernel, group, &mut sums);
            }
            for axis in 0..3 {
                let middle = K::Lanes::load(&group.fixed[axis]);
                value[axis] = middle.add(value[axis]);
                if let Some((_, share)) = &place.behind {
                    let (near, far) = (K::Lanes::splat(1.0 - *share), K::Lanes::splat(*share));
                    value[axis] = value[axis].mul(near).add(middle.add(other[axis]).mul(far));
                }
            }
            let [x, y, z] = value;
            let values = K::Lanes::transpose([x, y, z, z]);
            for (lane, (joint, [x, y, z, _])) in group.joints.iter().zip(values).enumerate() {
                if wanted >> lane & 1 == 0 {
                    continue;
                }
                match group.scales >> lane & 1 {
                    0 => writer.translation(usize::from(*joint), [x, y, z]),
                    _ => writer.scale(usize::from(*joint), [x, y, z]),
                }
            }
        }
    }
}

impl Place<'_> {
    /// Which tracks of the next group are wanted: a bit for each. Where none is it goes behind the group.
    #[inline(always)]
    fn wanted<C: Choice>(&mut self, group: &Group, choice: &C) -> u32 {
        let mut lanes = (1 << group.count) - 1;
        if !C::ALL {
            for (lane, joint) in group.joints.iter().enumerate() {
                lanes &= !(u32::from(!choice.contains(usize::from(*joint))) << lane);
            }
            if lanes == 0 {
                self.here.skip(group.live);
                if let Some((behind, _)) = &mut self.behind {
                    behind.skip(group.live);
                }
            }
        }
        lanes
    }
}
