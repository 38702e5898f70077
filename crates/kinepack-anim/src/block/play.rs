//! Turns a position in a clip into the values of its tracks, group by group, in the order of the
//! file. `spec/ANIM.md`, section 12.

use std::ops::Range;

use super::basis::{Spot, Weights, smooth};
use super::far::Far;
use super::group::{Codes, Group, Groups};
use super::kernel::{
    GROUPS_AT_ONCE, Kernel, Lanes, Segment, Sums, Task, Vector, Wanted, prefetch, segment_scale,
};
use super::layout::{Counts, GROUP, Header, Interpolation, Kind, SKIP_GROUPS};
use super::parameters::{Parameters, Rotations, VectorTracks, Vectors};
use super::pose::{Choice, PoseWriter};
use super::tables::Heads;
use super::{Constant, Rig, joint, read};
use crate::{Channel, TrackId};

/// A clip's bytes, split into the parts that playback reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    pub(super) header: Header,
    /// The kinds of tracks, a byte for each joint.
    pub(super) kinds: &'a [u8],
    /// The bytes starting at the first constant.
    pub(super) constants: &'a [u8],
    pub(super) rotations: Groups<'a>,
    pub(super) codes: Codes,
    pub(super) vectors: Groups<'a>,
    /// The live components of all groups.
    pub(super) heads: Heads<'a>,
    pub(super) stored: VectorTracks,
    pub(super) far: Far<'a>,
    pub(super) counts: Counts,
    pub(super) segments: Segments<'a>,
    pub(super) rig: Option<&'a Rig>,
}

/// The segments of a clip.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segments<'a> {
    pub(super) count: usize,
    pub(super) blends: &'a [u8],
    pub(super) offsets: &'a [u8],
    /// From the first segment to the end of the clip.
    pub(super) bytes: &'a [u8],
    /// The end of the last segment.
    pub(super) end: usize,
}

impl Segments<'_> {
    /// Whether the segment blends: between two samples, it interpolates the decoded values instead
    /// of the coefficients.
    #[inline(always)]
    pub(super) fn blends(&self, segment: usize) -> bool {
        self.blends.get(segment / 8).is_some_and(|byte| byte >> (segment % 8) & 1 != 0)
    }

    /// The offset of a segment's first byte. If `segment` is the number of segments, the end of the
    /// last one.
    #[inline(always)]
    pub(super) fn at(&self, segment: usize, header: &Header) -> usize {
        if segment == self.count {
            self.end
        } else {
            read::offset(self.offsets, segment, header.offset_bytes)
        }
    }
}

impl Source<'_> {
    /// The way from the beginning of a segment to a group. `group` counts all groups of the clip.
    #[inline(always)]
    pub(super) fn way_to(&self, group: usize) -> Way {
        let point = group / SKIP_GROUPS;
        let skipped = self.heads.components_before(point);
        Way { point, skipped, count: self.heads.components(point * SKIP_GROUPS..group) }
    }

    /// Calls `take` with the clip's own constant tracks, then with those of the rig. Both are
    /// ordered by joint, then by channel.
    #[inline(always)]
    fn constants(&self, mut take: impl FnMut(TrackId, Constant)) {
        let mut rest = self.constants;
        for (first, kinds) in (0..).step_by(8).zip(self.kinds.chunks(8)) {
            let mut eight = [0; 8];
            eight[..kinds.len()].copy_from_slice(kinds);
            let kinds = u64::from_le_bytes(eight);
            // Kind 1 (constant) is the bit pair 01 of a channel.
            let mut constants = kinds & !(kinds >> 1) & (0x15 * (u64::MAX / 255));
            while constants != 0 {
                let bit = constants.trailing_zeros();
                constants &= constants - 1;
                let channel = Channel::ALL[(bit % 8 / 2) as usize];
                let track = TrackId { joint: first + (bit / 8) as u16, channel };
                take(track, Constant::read(channel, &mut rest));
            }
        }
        if let Some(rig) = self.rig {
            for (track, constant) in rig.all_constants() {
                let kinds = self.kinds.get(usize::from(track.joint)).copied().unwrap_or_default();
                if kinds >> (2 * track.channel as u8) & 3 == Kind::Shared as u8 {
                    take(*track, *constant);
                }
            }
        }
    }
}

/// The way from the beginning of a segment to the first component of a group.
#[derive(Clone, Copy)]
pub(super) struct Way {
    /// The last skip point on the way.
    point: usize,
    /// Number of components before that point.
    skipped: usize,
    /// Number of components from there to the group.
    count: usize,
}

impl Way {
    #[inline(always)]
    pub(super) fn go(self, segment: &mut Segment<'_>) {
        segment.go_to(self.point, self.skipped);
        segment.skip(self.count);
    }
}

/// A task for a kernel: writes the chosen joints at a position.
pub(super) struct Play<'a, C, W: ?Sized, F> {
    pub(super) source: Source<'a>,
    pub(super) position: f64,
    pub(super) choice: C,
    pub(super) writer: &'a mut W,
    /// Writes the bind pose. It is called after the prefetch, while the segment's bytes are on
    /// their way from memory.
    pub(super) begin: F,
}

/// A position in a clip, resolved to segments.
pub(super) struct Place<'a> {
    pub(super) here: Point<'a>,
    /// The next sample. Present only if a position between two samples must decode both, because
    /// they are in different segments or the segment blends.
    pub(super) next: Option<(Point<'a>, Join)>,
    /// Whether both points are in the same segment. The segment is then read only once, at the
    /// first point.
    pub(super) is_shared: bool,
}

/// How the components of two points become one value.
#[derive(Clone, Copy)]
pub(super) enum Join {
    /// Values are blended, with this share of the next one.
    Blend(f32),
    /// Components are added, because their weights already contain the shares. The number is the
    /// share of the next anchor.
    Sum(f32),
}

impl Join {
    /// The share of the next point's anchor.
    pub(super) fn share(self) -> f32 {
        match self {
            Self::Blend(share) | Self::Sum(share) => share,
        }
    }
}

/// A segment, and the weights of its coefficients at a position.
pub(super) struct Point<'a> {
    pub(super) segment: Segment<'a>,
    pub(super) weights: Weights,
    /// The sample's index in the segment.
    pub(super) sample: usize,
    /// The share of the next sample.
    pub(super) share: f32,
}

impl<'a> Point<'a> {
    #[inline(always)]
    fn new(source: &Source<'a>, number: usize, [start, end]: [usize; 2], spot: Spot) -> Self {
        let Source { header, segments, .. } = source;
        let at = segments.at(number, header);
        prefetch(segments.bytes.get(at..segments.at(number + 1, header)).unwrap_or_default());
        let bytes = segments.bytes.get(at..).unwrap_or_default();
        let length = end - start;
        let segment = Segment::new(bytes, source.counts, header.block, length);
        let weights = Weights::new(length, spot, segment_scale(segment.step()));
        let (sample, share) = match spot {
            Spot::Sample(sample) => (sample, 0.0),
            Spot::Linear(sample, share) | Spot::Cubic(sample, share) => (sample, share),
            Spot::Leaving(_) => (length - 1, 0.0),
            Spot::Arriving(_) => (0, 0.0),
        };
        Self { segment, weights, sample, share }
    }
}

impl<'a> Place<'a> {
    #[inline(always)]
    pub(super) fn new(source: &Source<'a>, position: f64) -> Self {
        let Source { header, segments, .. } = source;
        // NaN counts as the first sample.
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
            let spot = match header.interpolation {
                _ if share == 0.0 => Spot::Sample(here),
                Interpolation::Linear => Spot::Linear(here, share),
                Interpolation::Cubic => Spot::Cubic(here, share),
            };
            let here = Point::new(source, segment, bounds, spot);
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
        let mut spots = [Spot::Sample(here), Spot::Sample(next - next_bounds[0])];
        let mut join = Join::Blend(share);
        if header.is_cubic() && !blends && !segments.blends(next_segment) {
            spots = [Spot::Leaving(share), Spot::Arriving(share)];
            join = Join::Sum(smooth(share));
        }
        let here = Point::new(source, segment, bounds, spots[0]);
        let next = Point::new(source, next_segment, next_bounds, spots[1]);
        Self { here, next: Some((next, join)), is_shared: is_same_segment }
    }
}

impl<C: Choice, W: PoseWriter + ?Sized, F: FnOnce(&mut W)> Task for Play<'_, C, W, F> {
    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        let Self { source, position, choice, writer, begin } = self;
        if let Some(joint) = choice.single() {
            begin(writer);
            return joint::play(kernel, &source, position, joint, writer);
        }
        if C::JOINTS {
            source.rotations.prefetch();
        }
        source.vectors.prefetch();
        if source.segments.count == 0 {
            begin(writer);
            return source.write_constants(&choice, writer);
        }
        let mut place = Place::new(&source, position);
        begin(writer);
        if C::JOINTS {
            source.write_constants(&choice, writer);
        }
        let mut sums = [Sums::new(), Sums::new()];
        let VectorTracks { joints, .. } = source.stored;
        if C::JOINTS {
            place.play::<K, Rotations, _, _>(
                kernel,
                (source.rotations, 0..source.rotations.groups(), Far { tracks: &[] }),
                source.codes,
                &choice,
                &mut sums,
                writer,
            );
        } else {
            place.go(source.way_to(source.rotations.groups() + joints / GROUP));
        }
        // A group may have both scales and curves.
        let first = if C::JOINTS { 0 } else { joints / GROUP };
        let end = if C::CURVES { source.vectors.groups() } else { joints.div_ceil(GROUP) };
        place.play::<K, Vectors, _, _>(
            kernel,
            (source.vectors, first..end, source.far),
            source.stored,
            &choice,
            &mut sums,
            writer,
        );
    }
}

impl Source<'_> {
    /// Writes the constant tracks of the chosen joints.
    #[inline(always)]
    fn write_constants<C: Choice, W: PoseWriter + ?Sized>(&self, choice: &C, writer: &mut W) {
        self.constants(|track, constant| {
            if !C::ALL && !choice.contains(usize::from(track.joint)) {
                return;
            }
            constant.write_to(track, writer);
        });
    }
}

impl<'a> Place<'a> {
    /// Advances both points from the beginning of their segments to a group.
    #[inline(always)]
    fn go(&mut self, way: Way) {
        way.go(&mut self.here.segment);
        if let Some((point, _)) = &mut self.next {
            way.go(&mut point.segment);
        }
    }

    /// Plays the groups `numbers`, which must be the next ones.
    #[inline(always)]
    fn play<K: Kernel, P: Parameters<K::Lanes>, C: Choice, W: PoseWriter + ?Sized>(
        &mut self,
        kernel: K,
        (groups, numbers, far): (Groups<'_>, Range<usize>, Far<'_>),
        stored: P::Stored,
        choice: &C,
        sums: &mut [Sums<K::Lanes>; 2],
        writer: &mut W,
    ) {
        let mut rest = groups.from(numbers.start);
        let is_blend = matches!(self.next, Some((_, Join::Blend(_))));
        let mut relatives = [None; GROUPS_AT_ONCE];
        for number in numbers.clone() {
            let nth = if C::ALL { (number - numbers.start) % GROUPS_AT_ONCE } else { 0 };
            let mut ahead = rest;
            let group = rest.take();
            let chosen = chosen(&group, choice);
            if !C::ALL && chosen == 0 {
                // A group without a chosen joint is skipped instead of decoded.
                self.skip(usize::from(group.live.count));
                continue;
            }
            let end = if C::ALL { numbers.end.min(number + GROUPS_AT_ONCE) } else { number + 1 };
            if nth == 0 {
                self.decode(kernel, groups.components(number..end), sums);
            }
            // Blending several groups together takes less time; other components gain nothing from
            // it.
            let (at, count) = if is_blend { (nth, end - number) } else { (0, 1) };
            if at == 0 {
                for relative in relatives.iter_mut().take(count) {
                    let group = ahead.take();
                    let mut here = sums[0].take(kernel, &group.live);
                    let mut next = None;
                    if let Some((_, join)) = self.next {
                        next = joined(&mut here, sums[1].take(kernel, &group.live), join);
                    }
                    *relative = Some(P::relative(kernel, &group, stored, here, next));
                }
            }
            let Some(relative) = relatives[at] else { continue };
            let values = K::Lanes::transpose(P::values(kernel, &group, stored, relative));
            for (lane, (joint, value)) in group.joints.iter().zip(values).enumerate() {
                if C::ALL || chosen >> lane & 1 != 0 {
                    let track = GROUP * number + lane;
                    let value = far.add(self, track, value);
                    P::write(stored, track, value, usize::from(*joint), writer);
                }
            }
        }
    }

    /// Decodes the next components, at both points.
    #[inline(always)]
    fn decode<K: Kernel>(
        &mut self,
        kernel: K,
        count: usize,
        [here, next]: &mut [Sums<K::Lanes>; 2],
    ) {
        let (own, wanted) = (&mut self.here, Wanted::Next(count));
        match &mut self.next {
            Some((point, _)) if self.is_shared => {
                let weights = [&own.weights, &point.weights];
                kernel.decode([here, next], wanted, &mut own.segment, weights);
            }
            Some((point, _)) => {
                kernel.decode([here], wanted, &mut own.segment, [&own.weights]);
                kernel.decode([next], wanted, &mut point.segment, [&point.weights]);
            }
            None => kernel.decode([here], wanted, &mut own.segment, [&own.weights]),
        }
    }

    /// Skips the next components.
    #[inline(always)]
    fn skip(&mut self, count: usize) {
        self.here.segment.skip(count);
        if let Some((point, _)) = &mut self.next {
            point.segment.skip(count);
        }
    }
}

/// Adds the next point's components to `here`, or returns them with their share.
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

/// A mask with a bit for each lane of a group whose track belongs to a chosen joint.
#[inline(always)]
fn chosen<C: Choice>(group: &Group<'_>, choice: &C) -> u32 {
    let mut chosen = group.lanes();
    if !C::ALL {
        for (lane, joint) in group.joints.iter().enumerate() {
            chosen &= !(u32::from(!choice.contains(usize::from(*joint))) << lane);
        }
    }
    chosen
}
