//! Reads and plays block clips as `spec/ANIM.md` says, bit by bit and track by track. It uses no
//! code of the crate.

use std::f64::consts::PI;
use std::sync::LazyLock;

use crate::widths::{pieces, profile};
use crate::write::fnv;

/// Rotation x, y, z, w, translation, scale.
pub(crate) type Floats = [f32; 10];
type Vector = [f32; 3];
type Quaternion = [f32; 4];

pub(crate) struct Naive {
    pub(crate) n: usize,
    pub(crate) loops: bool,
    /// By segment.
    blends: Vec<bool>,
    samples: usize,
    joints: usize,
    /// Joint, channel, value.
    constants: Vec<(usize, usize, Vec<f32>)>,
    pub(crate) curves: usize,
    pub(crate) names: Vec<String>,
    /// Positions and names.
    pub(crate) markers: Vec<(f32, String)>,
    pub(crate) tracks: Vec<NaiveTrack>,
    pub(crate) segments: Vec<NaiveSegment>,
}

pub(crate) struct NaiveTrack {
    pub(crate) joint: usize,
    /// 3 for a curve track, whose joint is then its number.
    pub(crate) channel: usize,
    /// A rotation's F and A.
    reference: Turn,
    axes: Turn,
    /// A vector's middle.
    middle: Vector,
    pub(crate) steps: [u8; 3],
    /// Whether the rig has what it shares.
    is_known: bool,
    is_far: bool,
}

#[derive(Default)]
pub(crate) struct NaiveSegment {
    first: usize,
    pub(crate) length: usize,
    pub(crate) step: u8,
    /// The anchors of far tracks: one, or one for each sample.
    anchors: Vec<(usize, Vec<Vector>)>,
    /// By track, then by component.
    pub(crate) components: Vec<[Component; 3]>,
}

/// A component of a segment. Dead components are empty.
#[derive(Clone, Default)]
pub(crate) struct Component {
    pub(crate) profiles: Vec<u8>,
    pub(crate) widths: Vec<u8>,
    coefficients: Vec<i32>,
}

/// A reader of bytes.
struct Bytes<'a> {
    all: &'a [u8],
    at: usize,
}

type Read<T> = Result<T, &'static str>;

impl<'a> Bytes<'a> {
    fn take(&mut self, bytes: usize) -> Read<&'a [u8]> {
        let taken = self.all[self.at..].get(..bytes).ok_or("it ends too early")?;
        self.at += bytes;
        Ok(taken)
    }

    fn number(&mut self, bytes: usize) -> Read<u64> {
        Ok(self.take(bytes)?.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn float(&mut self) -> Read<f32> {
        let float = f32::from_bits(self.number(4)? as u32);
        if float.abs() <= 1e18 { Ok(float) } else { Err("a number too large, or none") }
    }

    /// Section 10.2.
    fn constant(&mut self, channel: usize) -> Read<Vec<f32>> {
        if channel > 0 {
            return Ok(vec![self.float()?, self.float()?, self.float()?]);
        }
        let code = self.number(8)?;
        require(code >> 63 == 0, "bit 63 of a constant")?;
        let number = |axis: u32| {
            ((code >> (21 * axis) & 0x1f_ffff) as f32 - 1_048_576.0) * (1.0 / 1_048_575.0)
        };
        Ok(q([number(0), number(1), number(2)]).to_vec())
    }
}

/// Reads a number from a string of bits, its lowest bit first.
fn bits(bytes: &[u8], at: &mut usize, count: u8) -> Read<u32> {
    let mut number = 0;
    for bit in 0..count {
        let byte = bytes.get(*at / 8).ok_or("a segment ends behind the file")?;
        number |= u32::from(byte >> (*at % 8) & 1) << bit;
        *at += 1;
    }
    Ok(number)
}

fn require(is_right: bool, reason: &'static str) -> Read<()> {
    if is_right { Ok(()) } else { Err(reason) }
}

/// A rig, by section 15. Constants have a joint, a channel and a value.
pub(crate) struct NaiveRig {
    joints: usize,
    pub(crate) skeleton: u64,
    hash: u64,
    constants: Vec<(usize, usize, Vec<f32>)>,
    tracks: Vec<NaiveTrack>,
}

impl NaiveSegment {
    /// Number of anchors of the first far track.
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
        let (mut curves, mut is_labelled) = (0, false);
        if is_extended {
            curves = rest.number(2)? as usize;
            let (flags, zero) = (rest.number(1)?, rest.number(1)?);
            is_labelled = flags == 1;
            require(flags < 2 && zero == 0, "bits of the extension")?;
            require(curves <= 4096 && (curves > 0 || is_labelled), "the extension")?;
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
        for track in clip.tracks.iter().filter(|track| track.channel == 3) {
            let is_right = |axis: usize| {
                let is_dead = track.steps[axis] == 0 && track.middle[axis].to_bits() == 0;
                3 * track.joint + axis < curves || is_dead
            };
            require((0..3).all(is_right), "components after the last curve")?;
        }
        if is_labelled {
            clip.read_labels(&mut rest)?;
        }
        let owner = rest.number(8)?;
        let own = fnv(&all[..rest.at]) as u32;
        let stored = rest.number(4)? as u32;
        require(rest.at == all.len(), "bytes behind the end")?;
        require(stored == own, "another hash")?;
        if is_of_rig {
            let is_right = rig.is_some_and(|rig| rig.hash == owner && rig.joints == joints);
            require(is_right && clip.tracks.iter().all(|track| track.is_known), "not of this rig")?;
            for (joint, channel) in of_kind(kinds, 3) {
                let shared = rig.and_then(|rig| {
                    rig.constants.iter().find(|own| (own.0, own.1) == (joint, channel))
                });
                clip.constants.push(shared.ok_or("no such constant")?.clone());
            }
        }
        Ok(clip)
    }

    /// Section 10.5.
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

    /// The numbers of coded samples and of segments.
    fn counts(&self) -> (usize, usize) {
        let coded = self.samples - usize::from(self.loops);
        (coded, coded.div_ceil(self.n))
    }

    /// Section 10.4.
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
                let component = &mut segment.components[track][axis];
                for (piece, range) in pieces(self.n, length).into_iter().enumerate() {
                    let mut widths = Vec::new();
                    for k in range.clone() {
                        widths.push(match component.profiles[piece] {
                            255 => bits(string, &mut at, 5)? as u8,
                            number => profile(self.n, piece, number)[k - range.start],
                        });
                    }
                    require(widths.iter().all(|width| *width <= 24), "a width above 24")?;
                    for &width in &widths {
                        let x = bits(string, &mut at, width)? as i32;
                        let is_negative = width > 0 && x >> (width - 1) != 0;
                        component.coefficients.push(if is_negative { x - (1 << width) } else { x });
                    }
                    component.widths.extend(widths);
                }
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

    /// Section 12.
    pub(crate) fn pose(&self, position: f64, bind: &[Floats]) -> Vec<Floats> {
        assert_eq!(bind.len(), self.joints);
        let (n, a) = self.sample_of(position);
        let mut pose = bind.to_vec();
        let mut set = |joint: usize, channel: usize, value: &[f32]| {
            pose[joint][[0, 4, 7][channel]..][..value.len()].copy_from_slice(value);
        };
        for (joint, channel, value) in &self.constants {
            set(*joint, *channel, value);
        }
        let tracks = self.tracks.iter().enumerate();
        for (index, track) in tracks.filter(|(_, track)| track.channel < 3) {
            let value = self.value(index, n, a);
            set(track.joint, track.channel, &value);
        }
        pose
    }

    /// The values of all curves.
    pub(crate) fn curve_values(&self, position: f64) -> Vec<f32> {
        let (n, a) = self.sample_of(position);
        let tracks = self.tracks.iter().enumerate().filter(|(_, track)| track.channel == 3);
        let mut values: Vec<f32> = tracks.flat_map(|(index, _)| self.value(index, n, a)).collect();
        values.truncate(self.curves);
        values
    }

    /// The sample before a position, and the share of the next one.
    fn sample_of(&self, position: f64) -> (usize, f32) {
        let last = (self.samples - 1) as f64;
        let position =
            if position.is_nan() || position < 0.0 { 0.0 } else { f64::min(position, last) };
        (position.floor() as usize, (position - position.floor()) as f32)
    }

    /// The segment that has a sample, and the sample's index in it.
    fn place(&self, sample: usize) -> (usize, usize) {
        let (coded, count) = self.counts();
        let sample = if sample == coded { 0 } else { sample };
        let segment = ((sample + 1) * count - 1) / coded;
        (segment, sample - self.segments[segment].first)
    }

    /// The anchor of a far track at sample t of a segment and, if a is above 0, towards the next.
    fn anchor(&self, index: usize, segment: usize, t: usize, a: f32) -> Option<Vector> {
        let (_, anchors) =
            self.segments[segment].anchors.iter().find(|(track, _)| *track == index)?;
        Some(match anchors.len() {
            1 if self.segments[segment].length > 1 || a == 0.0 => anchors[0],
            _ if a == 0.0 => anchors[t],
            _ => mixed3(anchors[t], anchors[t + 1], a),
        })
    }

    fn value(&self, index: usize, n: usize, a: f32) -> Vec<f32> {
        let track = &self.tracks[index];
        let (segment, t) = self.place(n);
        let components = |segment: usize, t: usize, a: f32| {
            let segment = &self.segments[segment];
            [0, 1, 2].map(|axis| component(segment, &segment.components[index][axis], t, a))
        };
        let scales = track.steps.map(|step| scale(2 * usize::from(step), 0));
        let inner = |z: Vector| [0, 1, 2].map(|axis| z[axis] * scales[axis]);
        let outer = |z: Vector| [0, 1, 2].map(|axis| track.middle[axis] + z[axis] * scales[axis]);
        let blends = self.blends.get(segment).is_some_and(|blends| *blends);
        let is_within = a == 0.0 || (!blends && self.place(n + 1) == (segment, t + 1));
        if is_within {
            let z = components(segment, t, a);
            return if track.channel == 0 {
                value(track.reference, track.axes, turn(inner(z)))
            } else {
                anchored(self.anchor(index, segment, t, a), outer(z))
            };
        }
        let (next, next_t) = self.place(n + 1);
        let (v, w) = (components(segment, t, 0.0), components(next, next_t, 0.0));
        if track.channel > 0 {
            let anchors = [(segment, t), (next, next_t)]
                .map(|(segment, t)| self.anchor(index, segment, t, 0.0));
            let anchor = match anchors {
                [Some(v), Some(w)] => Some(mixed3(v, w, a)),
                _ => None,
            };
            return anchored(anchor, mixed3(outer(v), outer(w), a));
        }
        let (v, w) = (q(inner(v)), q(inner(w)));
        let sign = if dot(v, w) < 0.0 { -1.0 } else { 1.0 };
        let mixed = [0, 1, 2, 3].map(|i| v[i] * (1.0 - a) + w[i] * sign * a);
        let d = dot(mixed, mixed).sqrt();
        let unit = if d > 0.0 { mixed.map(|c| c * (1.0 / d)) } else { [0.0, 0.0, 0.0, 1.0] };
        value(track.reference, track.axes, (unit, 1.0))
    }
}

/// Section 10.3. `rig` is `None` unless the clip is of a rig. The inner `None` is an unknown rig.
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

/// By joint, then by channel.
fn of_kind(kinds: &[u8], kind: u8) -> Vec<(usize, usize)> {
    let all = (0..kinds.len()).flat_map(|joint| [0, 1, 2].map(|channel| (joint, channel)));
    all.filter(|(joint, channel)| kinds[*joint] >> (2 * channel) & 3 == kind).collect()
}

/// P(e) · 2^whole.
fn scale(e: usize, whole: i32) -> f32 {
    let octave: [u32; 8] = [
        0x3f80_0000,
        0x3f8b_95c2,
        0x3f98_37f0,
        0x3fa5_fed7,
        0x3fb5_04f3,
        0x3fc5_672a,
        0x3fd7_44fd,
        0x3fea_c0c7,
    ];
    f32::from_bits(octave[e % 8]) * 2.0_f32.powi(e as i32 / 8 + whole)
}

/// The sum over the coefficients of a component. Skips the eights of both pieces that have no
/// widths above 0.
fn component(segment: &NaiveSegment, component: &Component, t: usize, a: f32) -> f32 {
    let s = scale(usize::from(segment.step), -64);
    let mut sums: [Option<f32>; 8] = [None; 8];
    for piece in [0..16, 16..32] {
        let own = component.widths.get(piece.start..).unwrap_or_default();
        let own = &own[..own.len().min(16)];
        let present = own.iter().rposition(|width| *width > 0).map_or(0, |last| last / 8 * 8 + 8);
        for k in piece.start..(piece.start + present).min(component.widths.len()) {
            let weight = match a {
                0.0 => basis(k, t, segment.length),
                a => (1.0 - a) * basis(k, t, segment.length) + a * basis(k, t + 1, segment.length),
            };
            let m = component.coefficients[k] as f32 * (weight * s);
            sums[k % 8] = Some(sums[k % 8].map_or(m, |sum| sum + m));
        }
    }
    let m = sums.map(Option::unwrap_or_default);
    ((m[0] + m[1]) + (m[2] + m[3])) + ((m[4] + m[5]) + (m[6] + m[7]))
}

/// Computed once for each length, sample and coefficient.
fn basis(k: usize, t: usize, length: usize) -> f32 {
    static BASIS: LazyLock<Vec<f32>> = LazyLock::new(|| {
        let number = |index: usize| {
            let (length, t, k) = (index / 1024, index / 32 % 32, index % 32);
            let l = length as f64;
            match k {
                _ if t >= length || k >= length => f64::NAN,
                0 => (1.0 / l).sqrt(),
                _ => (2.0 / l).sqrt() * cosine((2 * t + 1) * k, length),
            }
        };
        (0..33 * 1024).map(|index| number(index) as f32).collect()
    });
    BASIS[1024 * length + 32 * t + k]
}

/// Section 12.1.
fn cosine(j: usize, l: usize) -> f64 {
    let mut j = j % (4 * l);
    if j > 2 * l {
        j = 4 * l - j;
    }
    let sign = if j > l { -1.0 } else { 1.0 };
    if j > l {
        j = 2 * l - j;
    }
    let x = j as f64 * (PI / (2 * l) as f64);
    let y = x * x;
    let c = |i: u64| if i % 2 == 1 { -1.0 } else { 1.0 } / (1..=2 * i).product::<u64>() as f64;
    sign * (1.0 + (1..10).rev().fold(0.0, |sum, i| y * (c(i) + sum)))
}

/// Section 10.2.
fn q([x, y, z]: Vector) -> Quaternion {
    let n = (x * x + y * y) + z * z;
    let d = 1.0 / (1.0 + n);
    let e = d + d;
    [x * e, y * e, z * e, (1.0 - n) * d]
}

/// Section 12: a quaternion that is not normalized, and its length.
type Turn = (Quaternion, f32);

fn turn([x, y, z]: Vector) -> Turn {
    let n = (x * x + y * y) + z * z;
    ([x + x, y + y, z + z, 1.0 - n], 1.0 + n)
}

fn cross([ax, ay, az]: Vector, [bx, by, bz]: Vector) -> Vector {
    [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx]
}

fn mixed3(v: Vector, w: Vector, a: f32) -> Vector {
    [0, 1, 2].map(|axis| v[axis] * (1.0 - a) + w[axis] * a)
}

fn anchored(anchor: Option<Vector>, vector: Vector) -> Vec<f32> {
    match anchor {
        Some(anchor) => (0..3).map(|axis| anchor[axis] + vector[axis]).collect(),
        None => vector.to_vec(),
    }
}

/// The rotation C about the axes A, and after that the reference F.
fn value((f, f_length): Turn, ([ax, ay, az, aw], a_length): Turn, (c, c_length): Turn) -> Vec<f32> {
    let square = a_length * a_length;
    let a = [ax, ay, az];
    let d = cross(a, [c[0], c[1], c[2]]).map(|number| number + number);
    let e = cross(a, d);
    let [x, y, z] = [0, 1, 2].map(|axis| (c[axis] * square + aw * d[axis]) + e[axis]);
    let inverse = 1.0 / (f_length * (c_length * square));
    product(f, [x, y, z, c[3] * square]).map(|number| number * inverse).to_vec()
}

fn product([ax, ay, az, aw]: Quaternion, [bx, by, bz, bw]: Quaternion) -> Quaternion {
    [
        (aw * bx + ax * bw) + (ay * bz - az * by),
        (aw * by + ay * bw) + (az * bx - ax * bz),
        (aw * bz + az * bw) + (ax * by - ay * bx),
        (aw * bw - ax * bx) - (ay * by + az * bz),
    ]
}

fn dot(p: Quaternion, q: Quaternion) -> f32 {
    (p[0] * q[0] + p[1] * q[1]) + (p[2] * q[2] + p[3] * q[3])
}
