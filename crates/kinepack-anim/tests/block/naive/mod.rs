//! Reads and plays block clips as `spec/ANIM.md` specifies, bit by bit and track by track. This
//! module uses no code of the crate.

mod bytes;
mod player;

use bytes::{Bytes, Read, bits, require};
use player::{Turn, turn};

use super::widths::{pieces, profile};
use super::write::fnv;
use crate::clip_support::Floats;

type Vector = [f32; 3];

pub(crate) struct Naive {
    pub(crate) n: usize,
    pub(crate) loops: bool,
    is_cubic: bool,
    /// Whether each segment blends.
    blends: Vec<bool>,
    samples: usize,
    joints: usize,
    /// The constants, each with its joint, channel and value.
    constants: Vec<(usize, usize, Vec<f32>)>,
    pub(crate) curves: usize,
    pub(crate) names: Vec<String>,
    /// The markers, each with its position and name.
    pub(crate) markers: Vec<(f32, String)>,
    pub(crate) tracks: Vec<NaiveTrack>,
    pub(crate) segments: Vec<NaiveSegment>,
}

pub(crate) struct NaiveTrack {
    pub(crate) joint: usize,
    /// The channel. It is 3 for a curve track, whose joint is then the track's number.
    pub(crate) channel: usize,
    /// F and A in section 12 of the specification, the turns of a rotation's reference and axes.
    reference: Turn,
    axes: Turn,
    /// The middle of a vector.
    middle: Vector,
    pub(crate) steps: [u8; 3],
    /// Whether the rig has the parameters that the track shares.
    is_known: bool,
    is_far: bool,
}

#[derive(Default)]
pub(crate) struct NaiveSegment {
    first: usize,
    pub(crate) length: usize,
    pub(crate) step: u8,
    /// The anchors of far tracks. Each has one anchor, or one for each sample.
    anchors: Vec<(usize, Vec<Vector>)>,
    /// The components, by track, then by axis.
    pub(crate) components: Vec<[Component; 3]>,
}

/// A component of a segment. A dead component is empty.
#[derive(Clone, Default)]
pub(crate) struct Component {
    pub(crate) profiles: Vec<u8>,
    pub(crate) widths: Vec<u8>,
    coefficients: Vec<i32>,
}

/// A rig, as section 15 specifies. Each constant has a joint, a channel and a value.
pub(crate) struct NaiveRig {
    joints: usize,
    pub(crate) skeleton: u64,
    hash: u64,
    constants: Vec<(usize, usize, Vec<f32>)>,
    tracks: Vec<NaiveTrack>,
}

impl NaiveSegment {
    /// Returns the number of anchors of the first far track.
    pub(crate) fn anchors(&self) -> usize {
        self.anchors.first().map_or(0, |(_, anchors)| anchors.len())
    }
}

impl NaiveRig {
    pub(crate) fn read(all: &[u8]) -> Read<Self> {
        let mut rest = Bytes { all, at: 0 };
        require(rest.take(4)? == b"KPAR", "another file")?;
        require(rest.number(1)? == 1 && rest.number(1)? == 0, "another version")?;
        let joints = rest.number(2)? as usize;
        require((1..=16_384).contains(&joints), "joints")?;
        let skeleton = rest.number(8)?;
        let has = rest.take(joints)?;
        require(has.iter().all(|byte| byte >> 6 == 0), "bits of a joint")?;
        let mut constants = Vec::new();
        for (joint, has) in has.iter().enumerate() {
            for channel in (0..3).filter(|channel| has >> (3 + channel) & 1 == 1) {
                constants.push((joint, channel, rest.constant(channel)?));
            }
        }
        let mut tracks = Vec::new();
        for channel in 0..3 {
            for joint in (0..joints).filter(|joint| has[*joint] >> channel & 1 == 1) {
                tracks.push(read_group(&mut rest, &[(joint, channel)], true, None)?.remove(0));
            }
        }
        require(tracks.iter().all(|track| !track.steps.contains(&0)), "a step of 0")?;
        let own = fnv(&all[..rest.at]);
        require(rest.number(8)? == own, "another hash")?;
        require(rest.at == all.len(), "bytes behind the end")?;
        Ok(Self { joints, skeleton, hash: own, constants, tracks })
    }
}

impl Naive {
    pub(crate) fn read(all: &[u8]) -> Read<Self> {
        Self::read_with(all, None)
    }

    pub(crate) fn read_with(all: &[u8], rig: Option<&NaiveRig>) -> Read<Self> {
        let mut rest = Bytes { all, at: 0 };
        require(rest.take(4)? == b"KPAB", "another file")?;
        require(rest.number(1)? == 2, "another version")?;
        let flags = rest.number(1)?;
        require(flags & 3 != 3, "flags")?;
        let is_of_rig = flags >> 7 == 1;
        let rig = rig.filter(|_| is_of_rig);
        let (loops, is_fine, offset_bytes) =
            (flags & 4 != 0, flags & 8 != 0, (flags >> 4 & 3) as usize + 1);
        let joints = rest.number(2)? as usize;
        let (is_extended, joints) = (joints >> 15 == 1, joints & 0x7fff);
        require((1..=16_384).contains(&joints), "joints")?;
        let samples = rest.number(4)? as usize;
        require((1 + usize::from(loops)..=4_194_304).contains(&samples), "samples")?;
        let rate_hz = f32::from_bits(rest.number(4)? as u32);
        require(rate_hz > 0.0 && rate_hz < f32::INFINITY, "rate")?;
        let (mut curves, mut is_labelled, mut is_cubic) = (0, false, false);
        if is_extended {
            curves = rest.number(2)? as usize;
            let (flags, zero) = (rest.number(1)?, rest.number(1)?);
            (is_labelled, is_cubic) = (flags & 1 == 1, flags & 2 == 2);
            require(flags < 4 && zero == 0, "bits of the extension")?;
            require(curves <= 4096 && (curves > 0 || flags > 0), "the extension")?;
        }
        let kinds = rest.take(joints)?;
        let is_right = |byte: &u8| {
            byte >> 7 == 0
                && (byte >> 6 == 0 || byte >> 2 & 3 == 2)
                && (is_of_rig || [0, 2, 4].iter().all(|at| byte >> at & 3 != 3))
        };
        require(kinds.iter().all(is_right), "kinds")?;
        let n = 8 << (flags & 3);
        let mut clip = Self {
            n,
            loops,
            is_cubic,
            blends: Vec::new(),
            samples,
            joints,
            constants: Vec::new(),
            curves,
            names: Vec::new(),
            markers: Vec::new(),
            tracks: Vec::new(),
            segments: Vec::new(),
        };
        for (joint, channel) in of_kind(kinds, 1) {
            clip.constants.push((joint, channel, rest.constant(channel)?));
        }
        let (rotations, vectors): (Vec<_>, Vec<_>) =
            of_kind(kinds, 2).into_iter().partition(|track| track.1 == 0);
        let is_scale = |track: &(usize, usize)| track.1 == 2;
        let (scales, translations): (Vec<_>, Vec<_>) = vectors.into_iter().partition(is_scale);
        let curve_tracks = (0..curves.div_ceil(3)).map(|track| (track, 3)).collect();
        let vectors = [translations, scales, curve_tracks].concat();
        let mut groups = Vec::new();
        for tracks in rotations.chunks(8).chain(vectors.chunks(8)) {
            let begin = clip.tracks.len();
            clip.tracks.extend(read_group(&mut rest, tracks, is_fine, is_of_rig.then_some(rig))?);
            groups.push(begin..clip.tracks.len());
        }
        for track in clip.tracks.iter_mut().filter(|track| track.channel == 1) {
            track.is_far = kinds[track.joint] >> 6 == 1;
        }
        clip.read_segments(&mut rest, &groups, offset_bytes, flags & 64 != 0)?;
        clip.check_curves()?;
        if is_labelled {
            clip.read_labels(&mut rest)?;
        }
        let owner = rest.number(8)?;
        let own = fnv(&all[..rest.at]) as u32;
        let stored = rest.number(4)? as u32;
        require(rest.at == all.len(), "bytes behind the end")?;
        require(stored == own, "another hash")?;
        if is_of_rig {
            clip.take_constants(rig.filter(|rig| rig.hash == owner), kinds)?;
        }
        Ok(clip)
    }

    /// Checks, as section 10.3 specifies, that components after the last curve are dead.
    fn check_curves(&self) -> Read<()> {
        for track in self.tracks.iter().filter(|track| track.channel == 3) {
            let is_right = |axis: usize| {
                let is_dead = track.steps[axis] == 0 && track.middle[axis].to_bits() == 0;
                3 * track.joint + axis < self.curves || is_dead
            };
            require((0..3).all(is_right), "components after the last curve")?;
        }
        Ok(())
    }

    /// Takes the constants that the clip shares with its rig, as section 15 specifies.
    fn take_constants(&mut self, rig: Option<&NaiveRig>, kinds: &[u8]) -> Read<()> {
        let is_right = rig.is_some_and(|rig| rig.joints == self.joints);
        require(is_right && self.tracks.iter().all(|track| track.is_known), "not of this rig")?;
        for (joint, channel) in of_kind(kinds, 3) {
            let shared = rig.and_then(|rig| {
                rig.constants.iter().find(|own| (own.0, own.1) == (joint, channel))
            });
            self.constants.push(shared.ok_or("no such constant")?.clone());
        }
        Ok(())
    }

    /// Reads the names of curves and the markers, as section 10.5 specifies.
    fn read_labels(&mut self, rest: &mut Bytes<'_>) -> Read<()> {
        let name = |rest: &mut Bytes<'_>| {
            let length = rest.number(2)? as usize;
            String::from_utf8(rest.take(length)?.to_vec()).map_err(|_| "a name")
        };
        for _ in 0..self.curves {
            self.names.push(name(rest)?);
        }
        let count = rest.number(2)?;
        require(count <= 16_384 && (self.curves > 0 || count > 0), "the number of markers")?;
        for _ in 0..count {
            let bits = rest.number(4)? as u32;
            let position = f32::from_bits(bits);
            let before = self.markers.last().map_or(0.0, |(position, _)| *position);
            let is_right = position >= before && position <= (self.samples - 1) as f32;
            require(bits >> 31 == 0 && is_right, "a marker's position")?;
            self.markers.push((position, name(rest)?));
        }
        Ok(())
    }

    /// Returns the numbers of coded samples and of segments.
    fn counts(&self) -> (usize, usize) {
        let coded = self.samples - usize::from(self.loops);
        (coded, coded.div_ceil(self.n))
    }

    /// Reads the segments, as section 10.4 specifies.
    fn read_segments(
        &mut self,
        rest: &mut Bytes<'_>,
        groups: &[std::ops::Range<usize>],
        offset_bytes: usize,
        blends: bool,
    ) -> Read<()> {
        if self.tracks.is_empty() {
            return Ok(());
        }
        let (coded, count) = self.counts();
        if blends {
            let bits = rest.take(count.div_ceil(8))?;
            require(
                (count..8 * bits.len()).all(|bit| bits[bit / 8] >> (bit % 8) & 1 == 0),
                "blends behind the last",
            )?;
            self.blends = (0..count).map(|bit| bits[bit / 8] >> (bit % 8) & 1 != 0).collect();
        }
        let mut offsets = Bytes { all: rest.take(count * offset_bytes)?, at: 0 };
        let begin = rest.at;
        for index in 0..count {
            require(offsets.number(offset_bytes)? as usize == rest.at - begin, "an offset")?;
            let first_byte = rest.at;
            let first = coded * index / count;
            let length = coded * (index + 1) / count - first;
            let components = vec![<[Component; 3]>::default(); self.tracks.len()];
            let mut segment = NaiveSegment {
                first,
                length,
                step: rest.number(1)? as u8,
                anchors: Vec::new(),
                components,
            };
            let mut order = Vec::new();
            for group in groups {
                for axis in 0..3 {
                    order.extend(group.clone().map(|track| (track, axis)));
                }
            }
            let is_live = |&(track, axis): &(usize, usize)| self.tracks[track].steps[axis] != 0;
            order.retain(is_live);
            let mut skip_points = Vec::new();
            for number in 1..groups.len().div_ceil(8) {
                let before = order.iter().filter(|(track, _)| *track < groups[8 * number].start);
                skip_points.push((before.count(), rest.number(4)? as usize));
            }
            for track in (0..self.tracks.len()).filter(|track| self.tracks[*track].is_far) {
                let mode = rest.number(1)?;
                require(mode < 2, "a kind of anchors")?;
                let mut anchors = Vec::new();
                for _ in 0..if mode == 1 { length } else { 1 } {
                    anchors.push([rest.float()?, rest.float()?, rest.float()?]);
                }
                segment.anchors.push((track, anchors));
            }
            for &(track, axis) in &order {
                segment.components[track][axis].profiles =
                    rest.take(if self.n == 32 { 2 } else { 1 })?.to_vec();
            }
            let (string, mut at) = (&rest.all[rest.at..], 0);
            let before_bits = 8 * (rest.at - first_byte);
            for (number, &(track, axis)) in order.iter().enumerate() {
                let is_right =
                    |point: &(usize, usize)| point.0 != number || point.1 == before_bits + at;
                require(skip_points.iter().all(is_right), "a skip point")?;
                segment.components[track][axis].read(self.n, length, string, &mut at)?;
            }
            let is_right =
                |point: &(usize, usize)| point.0 != order.len() || point.1 == before_bits + at;
            require(skip_points.iter().all(is_right), "a skip point")?;
            while at % 8 != 0 {
                require(bits(string, &mut at, 1)? == 0, "bits behind the last coefficient")?;
            }
            rest.take(at / 8)?;
            self.segments.push(segment);
        }
        Ok(())
    }
}

impl Component {
    /// Reads the coefficients at bit `at` of `string`, as section 11 specifies.
    fn read(&mut self, n: usize, length: usize, string: &[u8], at: &mut usize) -> Read<()> {
        for (piece, range) in pieces(n, length).into_iter().enumerate() {
            let mut widths = Vec::new();
            for k in range.clone() {
                widths.push(match self.profiles[piece] {
                    255 => bits(string, at, 5)? as u8,
                    number => profile(n, piece, number)[k - range.start],
                });
            }
            require(widths.iter().all(|width| *width <= 24), "a width above 24")?;
            for &width in &widths {
                let x = bits(string, at, width)? as i32;
                let is_negative = width > 0 && x >> (width - 1) != 0;
                self.coefficients.push(if is_negative { x - (1 << width) } else { x });
            }
            self.widths.extend(widths);
        }
        Ok(())
    }
}

/// Reads a group, as section 10.3 specifies. `rig` is `None` unless the clip is of a rig. The inner
/// `None` is an unknown rig.
fn read_group(
    rest: &mut Bytes<'_>,
    ids: &[(usize, usize)],
    is_fine: bool,
    rig: Option<Option<&NaiveRig>>,
) -> Read<Vec<NaiveTrack>> {
    let is_rotation = ids[0].1 == 0;
    let mut bits = [0; 5];
    if rig.is_some() {
        bits = *rest.take(5)?.first_chunk().unwrap();
        require(
            bits.iter().all(|byte| u32::from(*byte) >> ids.len() == 0),
            "bits behind the last track",
        )?;
        require(
            bits[2..].iter().all(|live| live & !bits[1] == 0),
            "a live bit of what is not shared",
        )?;
    }
    let has = |index: usize, part: usize| bits[part] >> index & 1 == 0;
    let mut rows = Vec::new();
    for row in 0..if is_rotation { 6 } else { 3 } {
        let mut numbers = vec![0.0; ids.len()];
        for index in (0..ids.len()).filter(|index| has(*index, row / 3)) {
            numbers[index] = match (is_rotation, is_fine) {
                (false, _) => rest.float()?,
                (true, false) => (rest.number(1)? as f32 - 128.0) * (1.0 / 127.0),
                (true, true) => (rest.number(2)? as f32 - 32768.0) * (1.0 / 32767.0),
            };
        }
        rows.push(numbers);
    }
    let mut steps = vec![[0; 3]; ids.len()];
    for axis in 0..3 {
        for (_, steps) in steps.iter_mut().enumerate().filter(|(index, _)| has(*index, 1)) {
            steps[axis] = rest.number(1)? as u8;
        }
    }
    let mut tracks = Vec::new();
    for (index, &(joint, channel)) in ids.iter().enumerate() {
        let three = |first: usize| [0, 1, 2].map(|axis| rows[first + axis][index]);
        let mut track = NaiveTrack {
            joint,
            channel,
            reference: turn(three(0)),
            axes: if is_rotation { turn(three(3)) } else { turn([0.0; 3]) },
            middle: three(0),
            steps: steps[index],
            is_known: true,
            is_far: false,
        };
        let shared = rig.flatten().and_then(|rig| {
            rig.tracks.iter().find(|own| (own.joint, own.channel) == (joint, channel))
        });
        match shared {
            None => track.is_known = has(index, 0) && has(index, 1),
            Some(shared) => {
                if !has(index, 0) {
                    (track.reference, track.middle) = (shared.reference, shared.middle);
                }
                if !has(index, 1) {
                    track.axes = shared.axes;
                    track.steps =
                        [0, 1, 2].map(|axis| shared.steps[axis] * (bits[2 + axis] >> index & 1));
                }
            }
        }
        if shared.is_none() && !has(index, 1) {
            track.steps = [0, 1, 2].map(|axis| bits[2 + axis] >> index & 1);
        }
        tracks.push(track);
    }
    Ok(tracks)
}

/// Returns the tracks of the kind `kind`, by joint, then by channel.
fn of_kind(kinds: &[u8], kind: u8) -> Vec<(usize, usize)> {
    let all = (0..kinds.len()).flat_map(|joint| [0, 1, 2].map(|channel| (joint, channel)));
    all.filter(|(joint, channel)| kinds[*joint] >> (2 * channel) & 3 == kind).collect()
}
