//! Plays a single joint. Playback goes straight to the joint's constants and components. Segments
//! have a skip point every few groups, so the number of components to skip is bounded for any
//! number of joints. See `spec/ANIM.md`, section 12.

use super::constant::Constant;
use super::group::Groups;
use super::kernel::{Kernel, Lanes, Sums, Vector, Wanted};
use super::layout::{GROUP, Kind};
use super::moment::{Moment, WeightedSegment, joined};
use super::parameters::{Parameters, Rotations, Vectors};
use super::pose::PoseWriter;
use super::source::{GroupStart, Source};
use crate::{Channel, TrackId};

/// Writes the tracks of a joint at a position.
#[inline(always)]
pub(super) fn play<K: Kernel, W: PoseWriter + ?Sized>(
    kernel: K,
    source: &Source<'_>,
    position: f64,
    joint: usize,
    writer: &mut W,
) {
    source.write_constants_of(joint, writer);
    let Source { rotations, codes, vectors, stored, .. } = *source;
    let tracks = [
        rotations.track_of(joint, 0..rotations.tracks()),
        vectors.track_of(joint, 0..stored.translations),
        vectors.track_of(joint, stored.translations..stored.joints),
    ];
    if tracks == [None; 3] {
        return;
    }
    let moment = Moment::new(source, position);
    let [rotation, translation, scale] = tracks;
    if let Some(track) = rotation {
        let value = value::<K, Rotations>(kernel, source, &moment, (rotations, 0), track, codes);
        <Rotations as Parameters<K::Lanes>>::write(codes, track, value, joint, writer);
    }
    for track in [translation, scale].into_iter().flatten() {
        let from = (vectors, rotations.groups());
        let value = value::<K, Vectors>(kernel, source, &moment, from, track, stored);
        let value = moment.add_anchor(source.far, track, value);
        <Vectors as Parameters<K::Lanes>>::write(stored, track, value, joint, writer);
    }
}

/// Returns the value of a track in `groups`. `groups_before` is the number of the clip's groups
/// that precede `groups`.
#[inline(always)]
fn value<K: Kernel, P: Parameters<K::Lanes>>(
    kernel: K,
    source: &Source<'_>,
    moment: &Moment<'_>,
    (groups, groups_before): (Groups<'_>, usize),
    track: usize,
    stored: P::Stored,
) -> [f32; 4] {
    let (number, lane) = (track / GROUP, track % GROUP);
    let group = groups.from(number).take();
    let start = source.start_of(groups_before + number);
    let places = group.live.places_of(lane);
    let mut here = components(kernel, &moment.here, start, places);
    let mut next = None;
    if let Some((segment, join)) = &moment.next {
        next = joined(&mut here, components(kernel, segment, start, places), *join);
    }
    let relative = P::relative(kernel, &group, stored, here, next);
    K::Lanes::transpose(P::values(kernel, &group, stored, relative))[lane]
}

/// Returns the components at three places of a group, each broadcast to all lanes.
#[inline(always)]
fn components<K: Kernel>(
    kernel: K,
    WeightedSegment { segment, weights, .. }: &WeightedSegment<'_>,
    start: GroupStart,
    places: [Option<usize>; 3],
) -> Vector<K::Lanes> {
    let mut segment = *segment;
    start.seek(&mut segment);
    let mut sums = Sums::new();
    kernel.decode([&mut sums], Wanted::Three(places), &mut segment, [weights]);
    sums.take_three(kernel)
}

impl Source<'_> {
    /// Writes the constant tracks of a joint.
    #[inline(always)]
    fn write_constants_of<W: PoseWriter + ?Sized>(&self, joint: usize, writer: &mut W) {
        let kinds = u32::from(self.kinds.get(joint).copied().unwrap_or_default());
        if kinds & 0x15 == 0 {
            return;
        }
        let mut own = self.constants.get(self.constant_bytes(joint)..).unwrap_or_default();
        for channel in Channel::ALL {
            let kind = kinds >> (2 * channel as u32) & 3;
            let track = TrackId { joint: joint as u16, channel };
            let constant = if kind == Kind::Constant as u32 {
                Some(Constant::read(channel, &mut own))
            } else if kind == Kind::Shared as u32 {
                self.rig.and_then(|rig| rig.constant(track))
            } else {
                None
            };
            if let Some(constant) = constant {
                constant.write_to(track, writer);
            }
        }
    }

    /// Returns the number of bytes that the constants of all earlier joints occupy.
    #[inline(always)]
    fn constant_bytes(&self, joint: usize) -> usize {
        let (eights, rest) = self.kinds[..joint].as_chunks();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        let bytes_of = |eight: [u8; 8]| {
            let kinds = u64::from_le_bytes(eight);
            // Kind 1 (constant) is the bit pair 01. The next lines find this pair in all channels
            // of eight joints at once.
            let constants = kinds & !(kinds >> 1);
            let rotations = constants & u64::from_ne_bytes([0x01; 8]);
            let vectors = constants & u64::from_ne_bytes([0x14; 8]);
            8 * rotations.count_ones() as usize + 12 * vectors.count_ones() as usize
        };
        let mut bytes = bytes_of(last);
        for eight in eights {
            bytes += bytes_of(*eight);
        }
        bytes
    }
}
