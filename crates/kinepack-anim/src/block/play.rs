//! From a position in a clip to the values of its tracks, group by group, in the order of the file. `spec/ANIM.md`, section 12.

use super::Clip;
use super::basis::Weights;
use super::kernel::{self, Kernel, Lanes, Segment, Sums, Task};
use super::layout::GROUP;
use super::pose::{Choice, PoseWriter};
use crate::{Channel, TrackId};

/// The tracks of some joints of a clip that move, at a position.
pub(super) struct Play<'a, B, C, W: ?Sized> {
    pub(super) clip: &'a Clip<B>,
    pub(super) position: f64,
    pub(super) choice: C,
    pub(super) writer: &'a mut W,
}

/// Where a position is in a clip.
struct Place<'a> {
    here: Part<'a>,
    /// Where that is not in the same segment: what is behind, and the share of the way to there.
    behind: Option<(Part<'a>, f32)>,
}

/// What a place has of one segment.
struct Part<'a> {
    segment: Segment<'a>,
    weights: Weights,
}

impl<'a> Part<'a> {
    #[inline(always)]
    fn new<B: AsRef<[u8]>>(clip: &'a Clip<B>, segment: usize, sample: usize, share: f32) -> Self {
        let start = clip.header.segment_start(segment, clip.segments);
        let length = clip.header.segment_start(segment + 1, clip.segments) - start;
        Self { segment: clip.segment(segment, length), weights: Weights::new(length, sample - start, share) }
    }

    /// Goes behind components.
    #[inline(always)]
    fn skip(&mut self, live: u32) {
        self.segment.skip(live.count_ones() as usize);
    }

    /// The components of the tracks of a group.
    #[inline(always)]
    fn components<K: Kernel>(&mut self, kernel: K, group: &Group<'_>, sums: &mut Sums<K::Lanes>) -> [K::Lanes; 3] {
        kernel.fill(sums, group.live, group.wanted, &mut self.segment, &self.weights);
        let step = self.segment.step();
        let sums = sums.as_chunks().0;
        let mut components = [K::Lanes::splat(0.0); 3];
        for axis in 0..3 {
            let scales = K::Lanes::scales(&group.numbers(group.steps, axis), step);
            components[axis] = K::Lanes::fold(&sums[axis]).mul(scales);
        }
        components
    }
}

impl<'a> Place<'a> {
    #[inline(always)]
    fn new<B: AsRef<[u8]>>(clip: &'a Clip<B>, position: f64) -> Self {
        let header = &clip.header;
        let last = clip.samples() - 1;
        // A position that is no number is the first.
        let position = if position > 0.0 { position.min(last as f64) } else { 0.0 };
        let sample = position as usize;
        let share = (position - sample as f64) as f32;
        let coded = |sample: usize| if sample == header.coded_samples() { 0 } else { sample };
        let here = coded(sample);
        let segment = header.segment_of(here, clip.segments);
        if share == 0.0 {
            return Self { here: Part::new(clip, segment, here, 0.0), behind: None };
        }
        let next = coded(sample + 1);
        let segment_behind = header.segment_of(next, clip.segments);
        if next > here && segment_behind == segment {
            return Self { here: Part::new(clip, segment, here, share), behind: None };
        }
        let behind = Part::new(clip, segment_behind, next, 0.0);
        Self { here: Part::new(clip, segment, here, 0.0), behind: Some((behind, share)) }
    }
}

/// Up to eight tracks.
struct Group<'a> {
    tracks: &'a [TrackId],
    bytes: &'a [u8],
    /// Where its steps begin.
    steps: usize,
    /// Which components there are in a segment, and of which the sum is wanted: a bit for each of eight first ones, then of eight second ones.
    live: u32,
    wanted: u32,
}

impl Group<'_> {
    /// Numbers of a component, N bytes for each eight, of those that begin at byte `first`.
    #[inline(always)]
    fn numbers<const N: usize>(&self, first: usize, axis: usize) -> [u8; N] {
        let bytes = &self.bytes[first + axis * (N / GROUP) * self.tracks.len()..];
        match bytes.first_chunk() {
            Some(bytes) => *bytes,
            None => {
                let mut padded = [0; N];
                padded[..bytes.len()].copy_from_slice(bytes);
                padded
            }
        }
    }

    /// The rotations of references or axes.
    #[inline(always)]
    fn rotations<L: Lanes>(&self, first: usize, is_fine: bool) -> kernel::Quaternion<L> {
        let mut p = [L::splat(0.0); 3];
        for (axis, number) in p.iter_mut().enumerate() {
            *number = if is_fine {
                kernel::unpack_fine(&self.numbers(2 * first * self.tracks.len(), axis))
            } else {
                kernel::unpack(&self.numbers(first * self.tracks.len(), axis))
            };
        }
        kernel::rotation(p)
    }

    /// The middles of a component.
    #[inline(always)]
    fn middles<L: Lanes>(&self, axis: usize) -> L {
        let bytes: [u8; 4 * GROUP] = self.numbers(0, axis);
        let mut numbers = [0.0; GROUP];
        for (number, bytes) in numbers.iter_mut().zip(bytes.as_chunks().0) {
            *number = f32::from_le_bytes(*bytes);
        }
        L::load(&numbers)
    }
}

impl<B: AsRef<[u8]>, C: Choice, W: PoseWriter + ?Sized> Task for Play<'_, B, C, W> {
    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) {
        let Self { clip, position, choice, writer } = self;
        let mut place = Place::new(clip, position);
        let mut sums = [K::Lanes::splat(0.0); 3 * GROUP];
        let mut bytes = &clip.as_bytes()[clip.parts.rotations..];
        let (rotations, vectors) = clip.tracks.split_at(clip.rotations);
        let mut live = clip.live.iter();
        for tracks in rotations.chunks(GROUP) {
            let live = live.next().copied().unwrap_or_default();
            let Some(group) = next_group(&mut bytes, clip, true, tracks, live, &choice, &mut place) else { continue };
            let axes = group.rotations(3, clip.header.is_fine);
            let mut value = kernel::inner(axes, place.here.components(kernel, &group, &mut sums));
            if let Some((behind, share)) = &mut place.behind {
                let behind = kernel::inner(axes, behind.components(kernel, &group, &mut sums));
                value = kernel::blend(value, behind, *share);
            }
            let reference = group.rotations(0, clip.header.is_fine);
            let values = K::Lanes::transpose(kernel::product(reference, value));
            for (lane, (track, value)) in tracks.iter().zip(values).enumerate() {
                if C::ALL || group.wanted >> lane & 1 != 0 {
                    writer.rotation(usize::from(track.joint), value);
                }
            }
        }
        for tracks in vectors.chunks(GROUP) {
            let live = live.next().copied().unwrap_or_default();
            let Some(group) = next_group(&mut bytes, clip, false, tracks, live, &choice, &mut place) else { continue };
            let mut value = place.here.components(kernel, &group, &mut sums);
            let mut other = [K::Lanes::splat(0.0); 3];
            if let Some((behind, _)) = &mut place.behind {
                other = behind.components(kernel, &group, &mut sums);
            }
            for axis in 0..3 {
                let middle = group.middles::<K::Lanes>(axis);
                value[axis] = middle.add(value[axis]);
                if let Some((_, share)) = &place.behind {
                    let (near, far) = (K::Lanes::splat(1.0 - *share), K::Lanes::splat(*share));
                    value[axis] = value[axis].mul(near).add(middle.add(other[axis]).mul(far));
                }
            }
            let [x, y, z] = value;
            let values = K::Lanes::transpose([x, y, z, z]);
            for (lane, (track, [x, y, z, _])) in tracks.iter().zip(values).enumerate() {
                if C::ALL || group.wanted >> lane & 1 != 0 {
                    match track.channel {
                        Channel::Scale => writer.scale(usize::from(track.joint), [x, y, z]),
                        _ => writer.translation(usize::from(track.joint), [x, y, z]),
                    }
                }
            }
        }
    }
}

/// The next group; nothing where none of its tracks is wanted, and then it goes behind the group.
#[inline(always)]
fn next_group<'a, B, C: Choice>(
    bytes: &mut &'a [u8],
    clip: &Clip<B>,
    is_rotation: bool,
    tracks: &'a [TrackId],
    live: u32,
    choice: &C,
    place: &mut Place<'_>,
) -> Option<Group<'a>> {
    let track_bytes = clip.header.track_bytes(is_rotation);
    let own = *bytes;
    *bytes = &bytes[track_bytes * tracks.len()..];
    let mut lanes = (1 << tracks.len()) - 1;
    if !C::ALL {
        for (lane, track) in tracks.iter().enumerate() {
            lanes &= !(u32::from(!choice.contains(usize::from(track.joint))) << lane);
        }
    }
    let wanted = lanes * 0x01_0101;
    if wanted != 0 {
        return Some(Group { tracks, bytes: own, steps: (track_bytes - 3) * tracks.len(), live, wanted });
    }
    place.here.skip(live);
    if let Some((behind, _)) = &mut place.behind {
        behind.skip(live);
    }
    None
}
