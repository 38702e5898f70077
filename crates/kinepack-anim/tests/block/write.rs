//! Writes block clips in the layout of `spec/ANIM.md`, from any parts, valid or not. This module
//! uses no code of the crate.

use super::widths::{pieces, profile};
use crate::random::Random;

/// The kinds of a joint's rotation, translation and scale: default, constant, animated or shared.
pub(crate) const DEFAULT: u8 = 0;
pub(crate) const CONSTANT: u8 = 1;
pub(crate) const ANIMATED: u8 = 2;
pub(crate) const SHARED: u8 = 3;

/// The bit that marks a joint whose translation is far.
pub(crate) const FAR: u8 = 1 << 6;

pub(crate) const fn kinds(rotation: u8, translation: u8, scale: u8) -> u8 {
    rotation | translation << 2 | scale << 4
}

#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) n: usize,
    pub(crate) loops: bool,
    pub(crate) is_fine: bool,
    pub(crate) blends: bool,
    pub(crate) is_of_rig: bool,
    pub(crate) offset_bytes: usize,
    pub(crate) samples: u32,
    pub(crate) rate_hz: f32,
    pub(crate) kinds: Vec<u8>,
    pub(crate) constants: Vec<u8>,
    pub(crate) rotations: Vec<Track>,
    pub(crate) vectors: Vec<Track>,
    /// Number of curves. Their tracks are the last ones of `vectors`.
    pub(crate) curves: usize,
    /// The bytes of names and markers.
    pub(crate) labels: Option<Vec<u8>>,
    /// Whether the clip is cubic between samples.
    pub(crate) is_cubic: bool,
    /// The bytes of each segment. A segment begins where the previous one ends.
    pub(crate) segments: Vec<Vec<u8>>,
    /// The hash of the rig if the clip has one, otherwise of the skeleton.
    pub(crate) owner: u64,
}

/// The parameters of a track. A rotation has codes, and a vector a middle.
#[derive(Clone, Default)]
pub(crate) struct Track {
    pub(crate) codes: [u16; 6],
    pub(crate) middle: [f32; 3],
    /// The steps. If the track shares them, any number but 0 means that the component is live.
    pub(crate) steps: [u8; 3],
    /// Whether the rig supplies the reference or middle, and whether it supplies axes and steps.
    pub(crate) shares: [bool; 2],
}

/// A string of bits, the lowest bit first.
#[derive(Default)]
pub(crate) struct Bits {
    bytes: Vec<u8>,
    count: usize,
}

impl Bits {
    pub(crate) fn push(&mut self, number: u32, width: u8) {
        for bit in 0..width {
            if self.count.is_multiple_of(8) {
                self.bytes.push(0);
            }
            self.bytes[self.count / 8] |= ((number >> bit & 1) as u8) << (self.count % 8);
            self.count += 1;
        }
    }
}

impl Parts {
    /// Returns a clip with the kinds `kinds`, still without constants, tracks and segments.
    pub(crate) fn new(n: usize, samples: u32, kinds: Vec<u8>) -> Self {
        Self {
            n,
            loops: false,
            is_fine: false,
            blends: false,
            is_of_rig: false,
            offset_bytes: 1,
            samples,
            rate_hz: 30.0,
            kinds,
            constants: Vec::new(),
            rotations: Vec::new(),
            vectors: Vec::new(),
            curves: 0,
            labels: None,
            is_cubic: false,
            segments: Vec::new(),
            owner: 0x0807_0605_0403_0201,
        }
    }

    /// Returns the number of samples in each segment.
    pub(crate) fn lengths(&self) -> Vec<usize> {
        let coded = self.samples as usize - usize::from(self.loops);
        let count = coded.div_ceil(self.n);
        (0..count).map(|index| coded * (index + 1) / count - coded * index / count).collect()
    }

    pub(crate) fn live(&self) -> usize {
        self.rotations
            .iter()
            .chain(&self.vectors)
            .flat_map(|track| track.steps)
            .filter(|step| *step != 0)
            .count()
    }

    /// Returns the number of live components before each skip point.
    fn skips(&self) -> Vec<usize> {
        let groups = self.rotations.chunks(8).chain(self.vectors.chunks(8));
        let live: Vec<usize> = groups
            .map(|group| group.iter().flat_map(|track| track.steps).filter(|s| *s != 0).count())
            .collect();
        (8..live.len()).step_by(8).map(|group| live[..group].iter().sum()).collect()
    }

    /// Returns a segment of random coefficients, some with escaped widths.
    pub(crate) fn any_segment(&self, random: &mut Random, length: usize) -> Vec<u8> {
        let mut bytes =
            vec![[random.below(256), 80 + random.below(40)][random.below(2) as usize] as u8];
        let skips = self.skips();
        bytes.resize(1 + 4 * skips.len(), 0);
        for _ in self.kinds.iter().filter(|kinds| **kinds & FAR != 0) {
            let by_sample = random.below(3) == 0;
            bytes.push(u8::from(by_sample));
            for _ in 0..3 * if by_sample { length } else { 1 } {
                bytes.extend(random.between(-1e6, 1e6).to_le_bytes());
            }
        }
        let first = bytes.len();
        let first_bit = 8 * (first + self.live() * pieces(self.n, length).len());
        let mut bits = Bits::default();
        for component in 0..=self.live() {
            for index in (0..skips.len()).filter(|index| skips[*index] == component) {
                let point = (first_bit + bits.count) as u32;
                bytes[1 + 4 * index..][..4].copy_from_slice(&point.to_le_bytes());
            }
            if component == self.live() {
                break;
            }
            for (piece, range) in pieces(self.n, length).into_iter().enumerate() {
                let number = if random.below(4) == 0 { 255 } else { random.below(255) as u8 };
                bytes.push(number);
                let mut widths: Vec<u8> = if number == 255 {
                    let most = [1, 4, 12, 25][random.below(4) as usize];
                    range.map(|_| random.below(most) as u8).collect()
                } else {
                    profile(self.n, piece, number)[..range.len()].to_vec()
                };
                if number == 255 {
                    if random.below(3) == 0 {
                        let kept = random.below(1 + widths.len() as u32) as usize;
                        widths[kept..].fill(0);
                    }
                    widths.iter().for_each(|width| bits.push(u32::from(*width), 5));
                }
                widths.iter().for_each(|width| bits.push(random.below(u32::MAX), *width));
            }
        }
        bytes.extend(bits.bytes);
        bytes
    }

    /// Sets the smallest number of bytes that suffices for the offsets.
    pub(crate) fn fit_offsets(&mut self) {
        let last = self.segments.iter().rev().skip(1).map(Vec::len).sum::<usize>() as u64;
        self.offset_bytes = (1..5).find(|bytes| last < 1 << (8 * bytes)).unwrap();
    }

    pub(crate) fn offset_at(&self) -> usize {
        let extension = if self.extension().is_some() { 4 } else { 0 };
        16 + extension
            + self.kinds.len()
            + self.constants.len()
            + self.group_bytes().len()
            + self.blend_bytes().len()
    }

    /// Returns the extension that follows the header, if the clip has curves or markers or is
    /// cubic.
    fn extension(&self) -> Option<[u8; 4]> {
        let [first, second] = (self.curves as u16).to_le_bytes();
        let flags = u8::from(self.labels.is_some()) | u8::from(self.is_cubic) << 1;
        (self.curves > 0 || flags > 0).then_some([first, second, flags, 0])
    }

    /// Returns the bytes of the groups, as section 10.3 specifies.
    fn group_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let groups = self.rotations.chunks(8).map(|group| (group, true));
        for (group, is_rotation) in groups.chain(self.vectors.chunks(8).map(|group| (group, false)))
        {
            if self.is_of_rig {
                let bits = |of: &dyn Fn(&Track) -> bool| {
                    (0..group.len()).map(|i| u8::from(of(&group[i])) << i).sum::<u8>()
                };
                bytes.extend([0, 1].map(|part| bits(&|track| track.shares[part])));
                bytes.extend(
                    [0, 1, 2].map(|axis| bits(&|track| track.shares[1] && track.steps[axis] != 0)),
                );
            }
            write_group(group, is_rotation, self.is_fine, &mut bytes);
        }
        bytes
    }

    /// Returns the bits of the segments that blend. If the clip blends, two of three segments do.
    fn blend_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; if self.blends { self.segments.len().div_ceil(8) } else { 0 }];
        for (index, byte) in bytes.iter_mut().enumerate() {
            for segment in (8 * index..self.segments.len().min(8 * index + 8))
                .filter(|segment| segment % 3 != 1)
            {
                *byte |= 1 << (segment % 8);
            }
        }
        bytes
    }

    /// Returns the clip's bytes, as sections 10.1 to 10.5 specify.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = b"KPAB\x02".to_vec();
        let block = match self.n {
            8 => 0,
            16 => 1,
            _ => 2,
        };
        let flags = block
            | u8::from(self.loops) << 2
            | u8::from(self.is_fine) << 3
            | u8::from(self.blends) << 6;
        let flags = flags | u8::from(self.is_of_rig) << 7;
        bytes.push(flags | (self.offset_bytes as u8 - 1) << 4);
        let extended = if self.extension().is_some() { 1 << 15 } else { 0 };
        bytes.extend((self.kinds.len() as u16 | extended).to_le_bytes());
        bytes.extend(self.samples.to_le_bytes());
        bytes.extend(self.rate_hz.to_le_bytes());
        bytes.extend(self.extension().into_iter().flatten());
        bytes.extend(&self.kinds);
        bytes.extend(&self.constants);
        bytes.extend(self.group_bytes());
        bytes.extend(self.blend_bytes());
        assert_eq!(bytes.len(), self.offset_at());
        let mut offset = 0_u32;
        for segment in &self.segments {
            bytes.extend(&offset.to_le_bytes()[..self.offset_bytes]);
            offset += segment.len() as u32;
        }
        bytes.extend(self.segments.iter().flatten());
        bytes.extend(self.labels.iter().flatten());
        bytes.extend(self.owner.to_le_bytes());
        bytes.extend([0; 4]);
        sealed(bytes)
    }
}

/// Writes the parameters that the tracks of a group do not share.
pub(crate) fn write_group(group: &[Track], is_rotation: bool, is_fine: bool, bytes: &mut Vec<u8>) {
    for row in 0..if is_rotation { 6 } else { 3 } {
        for track in group.iter().filter(|track| !track.shares[row / 3]) {
            match is_rotation {
                true => bytes.extend(&track.codes[row].to_le_bytes()[..1 + usize::from(is_fine)]),
                false => bytes.extend(track.middle[row].to_le_bytes()),
            }
        }
    }
    for axis in 0..3 {
        bytes.extend(group.iter().filter(|track| !track.shares[1]).map(|track| track.steps[axis]));
    }
}

/// Returns the bytes, with the hash at their end corrected.
pub(crate) fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let Some(end) = bytes.len().checked_sub(4) else { return bytes };
    let hash = fnv(&bytes[..end]) as u32;
    bytes[end..].copy_from_slice(&hash.to_le_bytes());
    bytes
}

pub(crate) fn fnv(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |h, byte| (h ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

/// Returns a segment of escaped coefficients with their widths, by component, in the order of the
/// file.
pub(crate) fn escaped(n: usize, step: u8, components: &[Vec<(i32, u8)>]) -> Vec<u8> {
    let mut bytes = vec![step];
    let mut bits = Bits::default();
    for component in components {
        for range in pieces(n, component.len()) {
            bytes.push(255);
            component[range.clone()].iter().for_each(|(_, width)| bits.push(u32::from(*width), 5));
            for &(number, width) in &component[range] {
                bits.push(number as u32, width);
            }
        }
    }
    bytes.extend(bits.bytes);
    bytes
}

/// Returns a random clip, with random kinds, constants, steps (some are 0) and coefficients.
pub(crate) fn any_parts(random: &mut Random, joints: usize, samples: u32) -> Parts {
    any_parts_with_curves(random, joints, samples, None)
}

/// Returns a random clip, which uses the rig if one is given. The clip may have curves and markers.
pub(crate) fn any_parts_with_curves(
    random: &mut Random,
    joints: usize,
    samples: u32,
    rig: Option<&RigParts>,
) -> Parts {
    let mut parts = unfilled(random, joints, samples, rig);
    if random.below(3) == 0 {
        let most = [4, 20, 70][random.below(3) as usize];
        parts.curves = random.below(most) as usize;
    }
    if random.below(4) == 0 {
        let markers = random.below(5) + u32::from(parts.curves == 0);
        parts.labels = Some(any_labels(random, parts.curves, samples, markers));
    }
    parts.filled_of(random, rig)
}

/// Returns a random clip, which uses the rig if one is given.
pub(crate) fn any_parts_of(
    random: &mut Random,
    joints: usize,
    samples: u32,
    rig: Option<&RigParts>,
) -> Parts {
    unfilled(random, joints, samples, rig).filled_of(random, rig)
}

/// Returns the header and the kinds of a random clip.
fn unfilled(random: &mut Random, joints: usize, samples: u32, rig: Option<&RigParts>) -> Parts {
    let any_kind = |random: &mut Random, joint: usize, channel: usize| match rig {
        Some(rig) if rig.constant(joint, channel).is_some() => random.below(4) as u8,
        _ => random.below(3) as u8,
    };
    let any_kinds = |random: &mut Random, joint| {
        let [rotation, translation, scale] =
            [0, 1, 2].map(|channel| any_kind(random, joint, channel));
        let is_far = translation == ANIMATED && random.below(6) == 0;
        kinds(rotation, translation, scale) | if is_far { FAR } else { 0 }
    };
    let own = (0..joints).map(|joint| any_kinds(random, joint)).collect();
    let mut parts = Parts::new([8, 16, 32][random.below(3) as usize], samples, own);
    parts.loops = samples > 1 && random.below(3) == 0;
    parts.is_fine = random.below(2) == 0;
    parts.blends = random.below(4) == 0;
    parts.is_cubic = random.below(3) == 0;
    if let Some(rig) = rig {
        (parts.is_of_rig, parts.owner) = (true, rig.hash());
    }
    parts
}

/// Returns the bytes of random names and markers.
fn any_labels(random: &mut Random, curves: usize, samples: u32, markers: u32) -> Vec<u8> {
    let any_name = |random: &mut Random| {
        let length = random.below(6) as usize;
        let name: String =
            (0..length).map(|_| ['a', '.', 'ü', '脸'][random.below(4) as usize]).collect();
        [&(name.len() as u16).to_le_bytes()[..], name.as_bytes()].concat()
    };
    let mut bytes: Vec<u8> = (0..curves).flat_map(|_| any_name(random)).collect();
    bytes.extend((markers as u16).to_le_bytes());
    let last = (samples - 1) as f32;
    let mut positions: Vec<f32> = (0..markers).map(|_| random.between(0.0, 1.0) * last).collect();
    positions.sort_by(f32::total_cmp);
    for position in positions {
        bytes.extend(position.to_le_bytes());
        bytes.extend(any_name(random));
    }
    bytes
}

impl Parts {
    /// Returns the clip with random constants, tracks and segments.
    pub(crate) fn filled(self, random: &mut Random) -> Self {
        self.filled_of(random, None)
    }

    fn filled_of(mut self, random: &mut Random, rig: Option<&RigParts>) -> Self {
        let parts = &mut self;
        for byte in parts.kinds.clone() {
            for channel in 0..3 {
                match byte >> (2 * channel) & 3 {
                    CONSTANT => parts.constants.extend(any_constant(random, channel)),
                    ANIMATED if channel == 0 => {
                        parts.rotations.push(any_track(random, parts.is_fine));
                    }
                    ANIMATED => parts.vectors.push(any_track(random, parts.is_fine)),
                    _ => {}
                }
            }
        }
        for first in (0..parts.curves).step_by(3) {
            let mut track = any_track(random, parts.is_fine);
            for axis in parts.curves.saturating_sub(first).min(3)..3 {
                (track.middle[axis], track.steps[axis]) = (0.0, 0);
            }
            parts.vectors.push(track);
        }
        if let Some(rig) = rig {
            parts.share(random, rig);
        }
        if !parts.rotations.is_empty() || !parts.vectors.is_empty() {
            parts.segments = parts
                .lengths()
                .into_iter()
                .map(|length| parts.any_segment(random, length))
                .collect();
        }
        parts.fit_offsets();
        self
    }
}

/// Returns the joints and channels of the kind `kind`, in the order of the groups.
pub(crate) fn tracks_of(kinds: &[u8], kind: u8) -> Vec<(usize, usize)> {
    let all = (0..3).flat_map(|channel| (0..kinds.len()).map(move |joint| (joint, channel)));
    all.filter(|(joint, channel)| kinds[*joint] >> (2 * channel) & 3 == kind).collect()
}

impl Parts {
    /// Makes some tracks share parameters with the rig.
    fn share(&mut self, random: &mut Random, rig: &RigParts) {
        let ids = tracks_of(&self.kinds, ANIMATED);
        for (track, (joint, channel)) in self.rotations.iter_mut().chain(&mut self.vectors).zip(ids)
        {
            if rig.track(joint, channel).is_some() {
                track.shares = [random.below(2) == 0, random.below(2) == 0];
            }
        }
    }
}

/// A rig: the parameters and constants that clips of a skeleton share.
#[derive(Clone)]
pub(crate) struct RigParts {
    pub(crate) joints: usize,
    pub(crate) skeleton: u64,
    /// The constants by joint, each with its joint, channel and bytes.
    pub(crate) constants: Vec<(usize, usize, Vec<u8>)>,
    /// The tracks, each with its joint and channel. Rotations come first, and within each channel
    /// tracks are sorted by joint.
    pub(crate) tracks: Vec<(usize, usize, Track)>,
}

impl RigParts {
    pub(crate) fn constant(&self, joint: usize, channel: usize) -> Option<&[u8]> {
        let own = self.constants.iter().find(|own| (own.0, own.1) == (joint, channel));
        own.map(|(_, _, bytes)| &bytes[..])
    }

    pub(crate) fn track(&self, joint: usize, channel: usize) -> Option<&Track> {
        let own = self.tracks.iter().find(|own| (own.0, own.1) == (joint, channel));
        own.map(|(_, _, track)| track)
    }

    /// Returns the rig's bytes, as section 15 specifies.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = b"KPAR\x01\0".to_vec();
        bytes.extend((self.joints as u16).to_le_bytes());
        bytes.extend(self.skeleton.to_le_bytes());
        bytes.extend((0..self.joints).map(|joint| {
            let has = |channel| u8::from(self.track(joint, channel).is_some()) << channel;
            let keeps =
                |channel| u8::from(self.constant(joint, channel).is_some()) << (3 + channel);
            (0..3).map(|channel| has(channel) | keeps(channel)).sum::<u8>()
        }));
        bytes.extend(self.constants.iter().flat_map(|(_, _, constant)| constant));
        for (_, channel, track) in &self.tracks {
            write_group(std::slice::from_ref(track), *channel == 0, true, &mut bytes);
        }
        bytes.extend(fnv(&bytes).to_le_bytes());
        bytes
    }

    pub(crate) fn hash(&self) -> u64 {
        u64::from_le_bytes(*self.to_bytes().last_chunk().unwrap())
    }
}

/// Returns a rig with some tracks and some constants.
pub(crate) fn any_rig(random: &mut Random, joints: usize) -> RigParts {
    let skeleton = u64::from(random.below(u32::MAX)) << 32 | 5;
    let mut rig = RigParts { joints, skeleton, constants: Vec::new(), tracks: Vec::new() };
    for joint in 0..joints {
        for channel in 0..3 {
            if random.below(3) == 0 {
                rig.constants.push((joint, channel, any_constant(random, channel)));
            }
        }
    }
    for channel in 0..3 {
        for joint in 0..joints {
            if random.below(4) != 0 {
                let track = any_track(random, true);
                rig.tracks.push((
                    joint,
                    channel,
                    Track { steps: track.steps.map(|step| step.max(1)), ..track },
                ));
            }
        }
    }
    rig
}

fn any_constant(random: &mut Random, channel: usize) -> Vec<u8> {
    if channel == 0 {
        let code = u64::from(random.below(u32::MAX)) << 31 | u64::from(random.below(1 << 31));
        return (code & (u64::MAX >> 1)).to_le_bytes().to_vec();
    }
    [(); 3].map(|()| random.between(-2.0, 2.0).to_le_bytes()).concat()
}

fn any_track(random: &mut Random, is_fine: bool) -> Track {
    let codes = [(); 6].map(|()| random.below(if is_fine { 65_536 } else { 256 }) as u16);
    let middle = [(); 3].map(|()| random.between(-100.0, 100.0));
    let steps = [(); 3].map(|()| match random.below(6) {
        0 => 0,
        1 => 1 + random.below(255) as u8,
        _ => 145 + random.below(40) as u8,
    });
    Track { codes, middle, steps, shares: [false; 2] }
}
