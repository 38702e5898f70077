//! Writes block clips as `spec/ANIM.md` lays them out, of any parts, right or wrong, without anything of the crate.

use crate::support::Random;
use crate::widths::{pieces, profile};

/// Kinds by joint: default, constant or animated rotation, translation, scale.
pub(crate) const DEFAULT: u8 = 0;
pub(crate) const CONSTANT: u8 = 1;
pub(crate) const ANIMATED: u8 = 2;

pub(crate) const fn kinds(rotation: u8, translation: u8, scale: u8) -> u8 {
    rotation | translation << 2 | scale << 4
}

#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) n: usize,
    pub(crate) loops: bool,
    pub(crate) is_fine: bool,
    pub(crate) blends: bool,
    pub(crate) offset_bytes: usize,
    pub(crate) samples: u32,
    pub(crate) rate_hz: f32,
    pub(crate) kinds: Vec<u8>,
    pub(crate) constants: Vec<u8>,
    pub(crate) rotations: Vec<Track>,
    pub(crate) vectors: Vec<Track>,
    /// Each begins where the one before it ends.
    pub(crate) segments: Vec<Vec<u8>>,
    pub(crate) skeleton: u64,
}

/// What the groups have of a track: of a rotation codes, of a vector a middle.
#[derive(Clone, Default)]
pub(crate) struct Track {
    pub(crate) codes: [u16; 6],
    pub(crate) middle: [f32; 3],
    pub(crate) steps: [u8; 3],
}

/// A string of bits, the lowest first.
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
    /// A clip of these kinds of which nothing is animated yet.
    pub(crate) fn new(n: usize, samples: u32, kinds: Vec<u8>) -> Self {
        Self {
            n,
            loops: false,
            is_fine: false,
            blends: false,
            offset_bytes: 1,
            samples,
            rate_hz: 30.0,
            kinds,
            constants: Vec::new(),
            rotations: Vec::new(),
            vectors: Vec::new(),
            segments: Vec::new(),
            skeleton: 0x0807_0605_0403_0201,
        }
    }

    /// How many samples each segment has.
    pub(crate) fn lengths(&self) -> Vec<usize> {
        let coded = self.samples as usize - usize::from(self.loops);
        let count = coded.div_ceil(self.n);
        (0..count).map(|index| coded * (index + 1) / count - coded * index / count).collect()
    }

    pub(crate) fn live(&self) -> usize {
        self.rotations.iter().chain(&self.vectors).flat_map(|track| track.steps).filter(|step| *step != 0).count()
    }

    /// A segment of any coefficients, some of them with widths of their own.
    pub(crate) fn any_segment(&self, random: &mut Random, length: usize) -> Vec<u8> {
        let mut bytes = vec![[random.below(256), 80 + random.below(40)][random.below(2) as usize] as u8];
        let mut bits = Bits::default();
        for _ in 0..self.live() {
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

    /// Enough bytes for the offsets.
    pub(crate) fn fit_offsets(&mut self) {
        let last = self.segments.iter().rev().skip(1).map(Vec::len).sum::<usize>() as u64;
        self.offset_bytes = (1..5).find(|bytes| last < 1 << (8 * bytes)).unwrap();
    }

    pub(crate) fn offset_at(&self) -> usize {
        let track = if self.is_fine { 15 } else { 9 };
        let tracks = track * self.rotations.len() + 15 * self.vectors.len();
        16 + self.kinds.len() + self.constants.len() + tracks + self.blend_bytes().len()
    }

    /// Where some segments blend, two of three do.
    fn blend_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; if self.blends { self.segments.len().div_ceil(8) } else { 0 }];
        for (index, byte) in bytes.iter_mut().enumerate() {
            for segment in (8 * index..self.segments.len().min(8 * index + 8)).filter(|segment| segment % 3 != 1) {
                *byte |= 1 << (segment % 8);
            }
        }
        bytes
    }

    /// As sections 10.1 to 10.5 have it.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = b"KPAB\x01".to_vec();
        let block = match self.n {
            8 => 0,
            16 => 1,
            _ => 2,
        };
        let flags = block | u8::from(self.loops) << 2 | u8::from(self.is_fine) << 3 | u8::from(self.blends) << 6;
        bytes.push(flags | (self.offset_bytes as u8 - 1) << 4);
        bytes.extend((self.kinds.len() as u16).to_le_bytes());
        bytes.extend(self.samples.to_le_bytes());
        bytes.extend(self.rate_hz.to_le_bytes());
        bytes.extend(&self.kinds);
        bytes.extend(&self.constants);
        for group in self.rotations.chunks(8) {
            for code in 0..6 {
                for track in group {
                    bytes.extend(&track.codes[code].to_le_bytes()[..1 + usize::from(self.is_fine)]);
                }
            }
            write_steps(group, &mut bytes);
        }
        for group in self.vectors.chunks(8) {
            for axis in 0..3 {
                bytes.extend(group.iter().flat_map(|track| track.middle[axis].to_le_bytes()));
            }
            write_steps(group, &mut bytes);
        }
        bytes.extend(self.blend_bytes());
        assert_eq!(bytes.len(), self.offset_at());
        let mut offset = 0_u32;
        for segment in &self.segments {
            bytes.extend(&offset.to_le_bytes()[..self.offset_bytes]);
            offset += segment.len() as u32;
        }
        bytes.extend(self.segments.iter().flatten());
        bytes.extend(self.skeleton.to_le_bytes());
        bytes.extend([0; 4]);
        sealed(bytes)
    }
}

fn write_steps(group: &[Track], bytes: &mut Vec<u8>) {
    for axis in 0..3 {
        bytes.extend(group.iter().map(|track| track.steps[axis]));
    }
}

/// The bytes with the hash at their end made right.
pub(crate) fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let Some(end) = bytes.len().checked_sub(4) else { return bytes };
    let step = |h: u64, byte: &u8| (h ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    let hash = bytes[..end].iter().fold(0xcbf2_9ce4_8422_2325, step) as u32;
    bytes[end..].copy_from_slice(&hash.to_le_bytes());
    bytes
}

/// A segment of numbers of given widths, which stand in front of them: by component, in the order of the file.
pub(crate) fn escaped(n: usize, step: u8, components: &[Vec<(i32, u8)>]) -> Vec<u8> {
    let mut bytes = vec![step];
    let mut bits = Bits::default();
    for component in components {
        for range in pieces(n, component.len()) {
            bytes.push(255);
            component[range.clone()].iter().for_each(|(_, width)| bits.push(u32::from(*width), 5));
            for &(number, width) in component[range].iter().filter(|(_, width)| *width > 0) {
                bits.push((number + (1 << (width - 1))) as u32, width);
            }
        }
    }
    bytes.extend(bits.bytes);
    bytes
}

/// A clip of any of what there may be: kinds, constants, steps of which some are 0, coefficients.
pub(crate) fn any_parts(random: &mut Random, joints: usize, samples: u32) -> Parts {
    let any_kinds = |random: &mut Random| kinds(random.below(3) as u8, random.below(3) as u8, random.below(3) as u8);
    let own = (0..joints).map(|_| any_kinds(random)).collect();
    let mut parts = Parts::new([8, 16, 32][random.below(3) as usize], samples, own);
    parts.loops = samples > 1 && random.below(3) == 0;
    parts.is_fine = random.below(2) == 0;
    parts.blends = random.below(4) == 0;
    parts.filled(random)
}

impl Parts {
    /// With any constants, tracks and segments.
    pub(crate) fn filled(mut self, random: &mut Random) -> Self {
        let parts = &mut self;
        for byte in parts.kinds.clone() {
            for channel in 0..3 {
                match byte >> (2 * channel) & 3 {
                    CONSTANT if channel == 0 => {
                        let code = u64::from(random.below(u32::MAX)) << 31 | u64::from(random.below(1 << 31));
                        parts.constants.extend((code & (u64::MAX >> 1)).to_le_bytes());
                    }
                    CONSTANT => {
                        let vector = [(); 3].map(|()| random.between(-2.0, 2.0).to_le_bytes());
                        parts.constants.extend(vector.concat());
                    }
                    ANIMATED if channel == 0 => parts.rotations.push(any_track(random, parts.is_fine)),
                    ANIMATED => parts.vectors.push(any_track(random, parts.is_fine)),
                    _ => {}
                }
            }
        }
        if !parts.rotations.is_empty() || !parts.vectors.is_empty() {
            parts.segments = parts.lengths().into_iter().map(|length| parts.any_segment(random, length)).collect();
        }
        parts.fit_offsets();
        self
    }
}

fn any_track(random: &mut Random, is_fine: bool) -> Track {
    let codes = [(); 6].map(|()| random.below(if is_fine { 65_536 } else { 256 }) as u16);
    let middle = [(); 3].map(|()| random.between(-100.0, 100.0));
    let steps = [(); 3].map(|()| match random.below(6) {
        0 => 0,
        1 => 1 + random.below(255) as u8,
        _ => 145 + random.below(40) as u8,
    });
    Track { codes, middle, steps }
}
