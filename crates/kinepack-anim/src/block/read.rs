//! Reads a clip from bytes, and checks every length, every number and every segment. Playback of a
//! clip that passes these checks needs no further ones. See `spec/ANIM.md`, section 13.

use std::sync::Arc;

use super::anchors::StoredAnchors;
use super::clip::{Clip, Lengths, Shared};
use super::constant::is_constant;
use super::kernel::{Live, Segment};
use super::labels;
use super::layout::{
    CONSTANT_BYTES, CURVES_OF_TRACK, Counts, END_BYTES, EXTENSION_BYTES, FAR, GROUP, HEADER_BYTES,
    Header, Interpolation, Kind, SKIP_BYTES, SKIP_GROUPS, VERSION, animated, checksum, curve_track,
    is_number, kinds_from_byte, tracks_of,
};
use super::rig::Rig;
use super::source::offset;
use super::tables::Tables;
use super::tracks::{Track, min_group_bytes, read_group};
use super::widths::BlockLength;
use crate::file_kind::magic;
use crate::rest::{self, Rest};
use crate::{Channel, ClipError, TrackId};

impl<B: AsRef<[u8]>> Clip<B> {
    /// Reads the clip in `bytes` and checks all of it, so that playback needs no further checks.
    /// The bytes are not copied.
    ///
    /// # Errors
    /// Returns [`ClipError`], with the reason, for anything that `spec/ANIM.md` does not allow.
    /// Returns [`ClipError::Rig`] for a clip of a rig. The memory is proportional to the length of
    /// `bytes`.
    pub fn from_bytes(bytes: B) -> Result<Self, ClipError> {
        Self::read(bytes, None)
    }

    /// Works like [`from_bytes`](Self::from_bytes), but the clip may use `rig`.
    ///
    /// # Errors
    /// Fails as [`from_bytes`](Self::from_bytes) does, and with [`ClipError::Rig`] for a clip of
    /// another rig.
    pub fn with_rig(bytes: B, rig: &Arc<Rig>) -> Result<Self, ClipError> {
        Self::read(bytes, Some(rig))
    }

    /// Reads a clip, which may use `rig`.
    pub(crate) fn read(storage: B, rig: Option<&Arc<Rig>>) -> Result<Self, ClipError> {
        let bytes = storage.as_ref();
        let header = read_header(bytes)?;
        let mut rest = Rest::new(bytes, header.bytes());
        let kind_bytes = rest.take(usize::from(header.joints), 1, "kinds")?;
        let kinds = kinds_of(kind_bytes, &header)?;
        let constants_at = rest.at();
        check_constants(&mut rest, &kinds)?;
        // This check precedes the allocation of a list of tracks, since the kinds may claim more
        // tracks than the file has room for.
        let animated_count = tracks_of(&kinds, Kind::Animated).count() + header.curve_tracks();
        if min_group_bytes(&header, animated_count) > rest.bytes().len() {
            return Err(ClipError::EndOfData { part: "groups" });
        }
        let tracks = Tracks::new(&kinds, &header);
        let groups_at = rest.at();
        let groups = read_groups(&mut rest, &tracks, &header)?;
        let blends_at = rest.at();
        let segments = if tracks.ids.is_empty() { 0 } else { header.segments() };
        check_blends(&mut rest, segments, &header)?;
        let far = tracks.far(kind_bytes);
        let counts = Counts {
            components: groups.components,
            skip_points: groups.skips.len(),
            far: far.len(),
        };
        check_segments(&mut rest, segments, counts, &groups.skips, &header)?;
        let labels_at = rest.at();
        let markers_at = labels::check(&mut rest, &header)?;
        let lengths = Lengths {
            constants: (groups_at - constants_at) as u32,
            groups: (blends_at - groups_at) as u32,
            segments: segments as u32,
            names: (markers_at - labels_at) as u32,
            markers: (rest.at() - markers_at) as u32,
        };
        let owner = check_end(&mut rest, bytes)?;
        let rig = rig.filter(|_| header.is_of_rig).cloned();
        if header.is_of_rig {
            let own = rig.as_ref().filter(|rig| rig.hash() == owner && rig.joints() == kinds.len());
            check_rig(own.ok_or(ClipError::Rig { hash: owner })?, &kinds, &groups.shares)?;
        }
        let joints: Vec<u16> = tracks.ids.iter().map(|track| track.joint).collect();
        let mut clip = Self {
            header,
            lengths,
            tables: Tables::new(
                [tracks.rotations, tracks.translations, groups.components],
                [&joints, &far],
                &groups.lives,
            ),
            shared: rig.map(|rig| Box::new(Shared { rig, groups: Box::default() })),
            bytes: storage,
        };
        let filled = clip.shared.is_some().then(|| clip.filled_groups());
        if let (Some(shared), Some(filled)) = (&mut clip.shared, filled) {
            shared.groups = filled;
        }
        Ok(clip)
    }
}

/// Decodes the kinds of all joints from their bytes.
fn kinds_of(bytes: &[u8], header: &Header) -> Result<Vec<[Kind; 3]>, ClipError> {
    let mut kinds = Vec::new();
    for (joint, &byte) in bytes.iter().enumerate() {
        let own = kinds_from_byte(byte).filter(|kinds| header.allows(*kinds));
        kinds.push(own.ok_or(ClipError::BadKind { joint, byte })?);
    }
    Ok(kinds)
}

/// Checks the constants.
fn check_constants(rest: &mut Rest<'_>, kinds: &[[Kind; 3]]) -> Result<(), ClipError> {
    for track in tracks_of(kinds, Kind::Constant) {
        let bytes = rest.take(1, CONSTANT_BYTES[track.channel as usize], "constants")?;
        if !is_constant(track.channel, bytes) {
            return Err(ClipError::BadConstant { track });
        }
    }
    Ok(())
}

/// The tracks of a clip in the order of the groups.
struct Tracks {
    /// Rotations, translations and scales of joints, then curve tracks.
    ids: Vec<TrackId>,
    /// Number of rotations.
    rotations: usize,
    /// Number of translations.
    translations: usize,
    /// Number of tracks that belong to joints.
    of_joints: usize,
}

impl Tracks {
    /// Lists the tracks of a clip whose joints have the kinds `kinds`.
    fn new(kinds: &[[Kind; 3]], header: &Header) -> Self {
        let mut ids = animated(kinds);
        let of_joints = ids.len();
        let count =
            |channel| ids.iter().filter(|track: &&TrackId| track.channel == channel).count();
        let [rotations, translations] = [Channel::Rotation, Channel::Translation].map(count);
        ids.extend((0..header.curve_tracks()).map(curve_track));
        Self { ids, rotations, translations, of_joints }
    }

    /// Returns the indices of the far tracks among the translations. `kind_bytes` has a byte for
    /// each joint.
    fn far(&self, kind_bytes: &[u8]) -> Vec<u16> {
        self.ids[self.rotations..]
            .iter()
            .zip(0..)
            .filter(|(track, _)| {
                track.channel == Channel::Translation
                    && kind_bytes[usize::from(track.joint)] & FAR != 0
            })
            .map(|(_, number)| number)
            .collect()
    }
}

/// The results of reading the groups. Checks of later parts need them.
#[derive(Default)]
struct GroupContents {
    /// Number of live components.
    components: usize,
    /// The live components of each group.
    lives: Vec<Live>,
    /// The number of live components before each skip point.
    skips: Vec<usize>,
    /// The tracks that share parameters with the rig.
    shares: Vec<TrackId>,
}

/// Reads the groups, and checks the parameters of their tracks.
fn read_groups(
    rest: &mut Rest<'_>,
    tracks: &Tracks,
    header: &Header,
) -> Result<GroupContents, ClipError> {
    let mut contents = GroupContents::default();
    let mut first = 0_usize;
    let (rotations, vectors) = tracks.ids.split_at(tracks.rotations);
    for group in rotations.chunks(GROUP).chain(vectors.chunks(GROUP)) {
        let own = read_group(rest, group, header.group_format())?;
        for (index, (track, id)) in (first..).zip(own.iter().zip(group)) {
            match index.checked_sub(tracks.of_joints) {
                None if track.middle.iter().all(|number| is_number(*number)) => {}
                None => return Err(ClipError::BadConstant { track: *id }),
                Some(index) => check_curves(track, index, header)?,
            }
        }
        first += group.len();
        let live = Live::new(own.iter().map(|track| track.steps));
        if !contents.lives.is_empty() && contents.lives.len().is_multiple_of(SKIP_GROUPS) {
            contents.skips.push(contents.components);
        }
        contents.lives.push(live);
        contents.components += usize::from(live.count);
        let shared = own.iter().zip(group).filter(|(track, _)| track.shares.contains(&true));
        contents.shares.extend(shared.map(|(_, id)| *id));
    }
    Ok(contents)
}

/// Checks the bit set that marks the segments that blend.
fn check_blends(rest: &mut Rest<'_>, segments: usize, header: &Header) -> Result<(), ClipError> {
    let blends = rest.take(header.blend_bytes(segments), 1, "blends")?;
    if blends.last().is_some_and(|last| !segments.is_multiple_of(8) && last >> (segments % 8) != 0)
    {
        return Err(ClipError::BadHeader { field: "blends" });
    }
    Ok(())
}

/// Checks all segments and their offsets.
fn check_segments(
    rest: &mut Rest<'_>,
    segments: usize,
    counts: Counts,
    skips: &[usize],
    header: &Header,
) -> Result<(), ClipError> {
    let offsets = rest.take(segments, usize::from(header.offset_bytes), "offsets")?;
    let segments_at = rest.at();
    for segment in 0..segments {
        if offset(offsets, segment, header.offset_bytes) != rest.at() - segments_at {
            return Err(ClipError::BadSegment {
                segment,
                reason: "it does not begin at its offset",
            });
        }
        let bytes = check_segment(
            rest.bytes(),
            counts,
            skips,
            header.segment_length(segment),
            header.block,
        );
        let bytes = bytes.map_err(|reason| ClipError::BadSegment { segment, reason })?;
        rest.take(1, bytes, "segments")?;
    }
    Ok(())
}

/// Checks that the clip ends with the hash of its bytes. Returns the hash of the clip's skeleton or
/// rig.
fn check_end(rest: &mut Rest<'_>, bytes: &[u8]) -> Result<u64, ClipError> {
    let end: [u8; END_BYTES] = rest.take(1, END_BYTES, "hashes")?.try_into().unwrap_or_default();
    rest.end()?;
    let [a, b, c, d, e, f, g, h, hash @ ..] = end;
    if u32::from_le_bytes(hash) != checksum(&bytes[..rest.at() - 4]) {
        return Err(ClipError::BadHash);
    }
    Ok(u64::from_le_bytes([a, b, c, d, e, f, g, h]))
}

/// Checks the parameters of a curve track. Components after the last curve must be dead, with the
/// middle 0.
fn check_curves(track: &Track, index: usize, header: &Header) -> Result<(), ClipError> {
    if track.shares != [false; 2] {
        return Err(ClipError::BadHeader { field: "shared tracks" });
    }
    for (axis, curve) in (CURVES_OF_TRACK * index..).take(CURVES_OF_TRACK).enumerate() {
        let is_used = curve < usize::from(header.curves);
        let is_empty = track.steps[axis] == 0 && track.middle[axis].to_bits() == 0;
        if !is_number(track.middle[axis]) || !(is_used || is_empty) {
            return Err(ClipError::BadCurve { curve });
        }
    }
    Ok(())
}

/// Checks that a rig has the tracks in `shares`, and a constant for each track of kind
/// [`Kind::Shared`].
fn check_rig(rig: &Rig, kinds: &[[Kind; 3]], shares: &[TrackId]) -> Result<(), ClipError> {
    let animated = shares.iter().copied().find(|id| rig.track(*id).is_none());
    let missing =
        animated.or_else(|| tracks_of(kinds, Kind::Shared).find(|id| rig.constant(*id).is_none()));
    missing.map_or(Ok(()), |track| Err(ClipError::NotInRig { track }))
}

fn read_header(bytes: &[u8]) -> Result<Header, ClipError> {
    let head: &[u8; HEADER_BYTES] = rest::head(bytes, magic::BLOCK_CLIP, VERSION)?;
    let Some(&block) = BlockLength::ALL.get(usize::from(head[5] & 3)) else {
        return Err(ClipError::BadHeader { field: "block length" });
    };
    let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let (joints, is_extended) = Header::split_joints(u16::from_le_bytes([head[6], head[7]]));
    let mut header = Header {
        block,
        loops: head[5] & 4 != 0,
        is_fine: head[5] & 8 != 0,
        blends: head[5] & 64 != 0,
        is_of_rig: head[5] & 128 != 0,
        offset_bytes: (head[5] >> 4 & 3) + 1,
        joints,
        samples: word(8),
        rate_hz: f32::from_bits(word(12)),
        curves: 0,
        is_labelled: false,
        interpolation: Interpolation::Linear,
    };
    if is_extended {
        let extension = bytes.get(HEADER_BYTES..).and_then(<[u8]>::first_chunk);
        let extension: &[u8; EXTENSION_BYTES] =
            extension.ok_or(ClipError::EndOfData { part: "header" })?;
        let [first, second, flags, zero] = *extension;
        header.curves = u16::from_le_bytes([first, second]);
        header.is_labelled = flags & 1 != 0;
        header.interpolation = Interpolation::from_bit(flags & 2 != 0);
        // An extension without any flag or curve is refused.
        if flags > 3 || zero != 0 || !header.is_extended() {
            return Err(ClipError::BadHeader { field: "extension" });
        }
    }
    header.check()?;
    Ok(header)
}

/// Checks the segment at the front of `bytes`, and returns its length in bytes.
fn check_segment(
    bytes: &[u8],
    counts: Counts,
    skips: &[usize],
    length: usize,
    block: BlockLength,
) -> Result<usize, &'static str> {
    const SHORT: &str = "it ends after the end of the file";
    let Counts { components, skip_points, far } = counts;
    let mut anchors = bytes.get(1 + SKIP_BYTES * skip_points..).ok_or(SHORT)?;
    for _ in 0..far {
        if anchors.first().is_some_and(|mode| *mode > 1) {
            return Err("anchors are neither of the segment nor of samples");
        }
        let stored = StoredAnchors::take(&mut anchors, length).ok_or(SHORT)?;
        if !stored.floats().all(is_number) {
            return Err("an anchor is out of range");
        }
    }
    if anchors.len() < components * block.pieces() {
        return Err(SHORT);
    }
    let mut segment = Segment::new(bytes, counts, block, length);
    let mut points = skips.iter().copied();
    let (mut next_point, mut passed) = (points.next(), 0);
    // The last groups may have no live components, so a skip point may follow the last component.
    for component in 0..=components {
        while passed < skip_points && next_point == Some(component) {
            if segment.skip_point(passed) != segment.bit() {
                return Err("a skip point is wrong");
            }
            (next_point, passed) = (points.next(), passed + 1);
        }
        if component == components {
            break;
        }
        for piece in 0..block.pieces() {
            if segment.is_bad(piece) {
                return Err("a coefficient has more than 24 bits");
            }
            segment.skip_piece(piece);
            if segment.bit() > 8 * bytes.len() {
                return Err(SHORT);
            }
        }
    }
    let end = segment.bit().div_ceil(8);
    if bytes
        .get(end.wrapping_sub(1))
        .is_some_and(|byte| u32::from(*byte) >> (8 - (8 * end - segment.bit())) != 0)
    {
        return Err("its padding bits are not 0");
    }
    Ok(end)
}
