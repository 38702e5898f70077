//! Reads and plays clips as `spec/ANIM.md` specifies, without code of the crate. The player keeps
//! each track separate, and searches for the track's segment at each time.

use crate::clip_support::Floats;

/// The keys of a track, each with its tick and stored value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NaiveTrack {
    pub(crate) joint: usize,
    pub(crate) channel: usize,
    pub(crate) keys: Vec<(u16, [u16; 3])>,
}

pub(crate) struct Naive {
    pub(crate) parametrization: u8,
    pub(crate) slices: u16,
    pub(crate) samples: u32,
    pub(crate) rate_hz: f32,
    pub(crate) kinds: Vec<u8>,
    /// The smallest and largest values of translations and of scales.
    pub(crate) ranges: [[[f32; 3]; 2]; 2],
    pub(crate) constants: Vec<(usize, usize, Vec<f32>)>,
    /// The values of the rows, by sample, then by track.
    rows: Vec<Vec<(usize, usize, Vec<f32>)>>,
    /// The tracks, sorted by channel, then by joint.
    pub(crate) tracks: Vec<NaiveTrack>,
}

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, bytes: usize) -> &'a [u8] {
        let taken;
        (taken, self.0) = self.0.split_at(bytes);
        taken
    }

    fn number(&mut self, bytes: usize) -> u64 {
        self.take(bytes).iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    fn float(&mut self) -> f32 {
        f32::from_bits(self.number(4) as u32)
    }

    fn floats(&mut self) -> [f32; 3] {
        [(); 3].map(|()| self.float())
    }
}

/// Decodes a rotation, as section 2.1 specifies.
fn rotation(bits: u64, n: u32) -> Vec<f32> {
    let mask = (1_u64 << n) - 1;
    let step = f32::from_bits(0x3fb5_04f3) / mask as f32;
    let [a, b, c] = [2 * n, n, 0]
        .map(|shift| (bits >> shift & mask) as f32 * step - f32::from_bits(0x3f35_04f3));
    let r = a * a + b * b + c * c;
    let mut values = if r > 1.0 {
        vec![a * (1.0 / r.sqrt()), b * (1.0 / r.sqrt()), c * (1.0 / r.sqrt())]
    } else {
        vec![a, b, c]
    };
    values.insert((bits >> (3 * n) & 3) as usize, if r > 1.0 { 0.0 } else { (1.0 - r).sqrt() });
    values
}

impl Naive {
    /// Reads valid bytes.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let mut rest = Bytes(bytes);
        assert_eq!(rest.take(5), b"KPAC\x01");
        let parametrization = rest.number(1) as u8;
        assert_eq!(rest.number(2), 0);
        let joints = rest.number(2) as usize;
        let slices = rest.number(2) as u16;
        let samples = rest.number(4) as u32;
        let rate_hz = rest.float();
        let key_count = rest.number(4) as usize;
        rest.number(8);
        let kinds = rest.take(joints).to_vec();
        let mut clip = Self {
            parametrization,
            slices,
            samples,
            rate_hz,
            kinds,
            ranges: [[[0.0; 3]; 2]; 2],
            constants: Vec::new(),
            rows: Vec::new(),
            tracks: Vec::new(),
        };
        for channel in 1..3 {
            if (0..joints).any(|joint| clip.kind(joint, channel) >= 2) {
                clip.ranges[channel - 1] = [rest.floats(), rest.floats()];
            }
        }
        clip.constants = clip
            .of_kind(1)
            .map(|(joint, channel)| {
                let value = if channel == 0 {
                    rotation(rest.number(6), 15)
                } else {
                    rest.floats().to_vec()
                };
                (joint, channel, value)
            })
            .collect();
        for _ in 0..samples {
            let row = clip.of_kind(3).map(|(joint, channel)| {
                let value = match (channel, clip.kinds[joint] & 0x40) {
                    (0, 0) => rotation(rest.number(6), 15),
                    (0, _) => rotation(rest.number(4), 10),
                    _ => clip.vector(channel, [(); 3].map(|()| rest.number(2) as u16)),
                };
                (joint, channel, value)
            });
            let row = row.collect();
            clip.rows.push(row);
        }
        clip.read_keys(&mut rest, key_count);
        clip
    }

    fn read_keys(&mut self, rest: &mut Bytes<'_>, count: usize) {
        let mut tracks: Vec<_> = self
            .of_kind(2)
            .map(|(joint, channel)| NaiveTrack { joint, channel, keys: Vec::new() })
            .collect();
        tracks.sort_by_key(|track| (track.channel, track.joint));
        for _ in 0..count {
            let (tick, id) = (rest.number(2) as u16, rest.number(2) as usize);
            let value = [(); 3].map(|()| rest.number(2) as u16);
            let is_of =
                |track: &&mut NaiveTrack| (track.joint, track.channel) == (id & 0x3fff, id >> 14);
            tracks.iter_mut().find(is_of).unwrap().keys.push((tick, value));
        }
        let place_bytes = if count > 65_536 { 4 } else { 2 };
        rest.take((usize::from(self.slices) - 1) * tracks.len() * 4 * place_bytes);
        assert!(rest.0.is_empty());
        self.tracks = tracks;
    }

    fn kind(&self, joint: usize, channel: usize) -> u8 {
        self.kinds[joint] >> (2 * channel) & 3
    }

    /// Returns the tracks of the kind `kind`, by joint, then by channel.
    fn of_kind(&self, kind: u8) -> impl Iterator<Item = (usize, usize)> {
        let all = (0..self.kinds.len()).flat_map(|joint| [0, 1, 2].map(|channel| (joint, channel)));
        all.filter(move |(joint, channel)| self.kind(*joint, *channel) == kind)
    }

    /// Decodes a vector, as section 2.2 specifies.
    fn vector(&self, channel: usize, codes: [u16; 3]) -> Vec<f32> {
        let [min, max] = self.ranges[channel - 1];
        (0..3)
            .map(|axis| f32::from(codes[axis]) * ((max[axis] - min[axis]) / 65535.0) + min[axis])
            .collect()
    }

    /// Returns the pose at a position, as section 6 specifies.
    pub(crate) fn pose(&self, position: f64, bind: &[Floats]) -> Vec<Floats> {
        let last = f64::from(self.samples - 1);
        let position =
            if position.is_nan() || position < 0.0 { 0.0 } else { f64::min(position, last) };
        let mut pose = bind.to_vec();
        let mut set = |joint: usize, channel: usize, value: &[f32]| {
            pose[joint][[0, 4, 7][channel]..][..value.len()].copy_from_slice(value);
        };
        for (joint, channel, value) in &self.constants {
            set(*joint, *channel, value);
        }
        let row = position.floor() as usize;
        let share = (position - row as f64) as f32;
        let next = &self.rows[usize::min(row + 1, self.rows.len() - 1)];
        for ((joint, channel, from), (_, _, to)) in self.rows[row].iter().zip(next) {
            let sign = if *channel == 0 && dot(from, to) < 0.0 { -1.0 } else { 1.0 };
            let mixed: Vec<f32> = from
                .iter()
                .zip(to)
                .map(|(from, to)| from * (1.0 - share) + to * sign * share)
                .collect();
            set(*joint, *channel, &if *channel == 0 { unit(&mixed) } else { mixed });
        }
        let ticks = self.ticks_per_sample();
        let end = ((self.samples - 1) * ticks) as f32;
        let tick = ((position * f64::from(ticks)) as f32).min(end);
        for track in &self.tracks {
            set(track.joint, track.channel, &self.spline(track, tick));
        }
        pose
    }

    pub(crate) fn ticks_per_sample(&self) -> u32 {
        if self.samples == 1 { 1 } else { 65535 / (self.samples - 1) }
    }

    /// Returns the value of a track's spline at a tick, as section 4 specifies.
    fn spline(&self, track: &NaiveTrack, tick: f32) -> Vec<f32> {
        let last = track.keys.len() - 1;
        let first = track.keys[..last].partition_point(|(key, _)| f32::from(*key) <= tick) - 1;
        let keys = [first.saturating_sub(1), first, first + 1, usize::min(first + 2, last)]
            .map(|key| track.keys[key]);
        let t = keys.map(|(tick, _)| f32::from(tick));
        let raw = keys.map(|(_, [a, b, c])| match track.channel {
            0 => rotation(u64::from(a) | u64::from(b) << 16 | u64::from(c) << 32, 15),
            channel => self.vector(channel, [a, b, c]),
        });
        let mut p = raw.clone();
        let mut sign = 1.0;
        for key in 1..4 {
            if track.channel == 0 && dot(&raw[key], &raw[key - 1]) < 0.0 {
                sign = -sign;
            }
            p[key].iter_mut().for_each(|c| *c *= sign);
        }
        let distance = |key: usize| match self.parametrization {
            1 => t[key + 1] - t[key],
            form => {
                let squares = p[key].iter().zip(&p[key + 1]).map(|(a, b)| (b - a) * (b - a));
                let chord = squares.fold(0.0, |sum: f32, square| sum + square).sqrt();
                if form == 3 { chord.sqrt() } else { chord }
            }
        };
        let tangent = |other: usize| {
            let sum = distance(other) + distance(1);
            if self.parametrization == 0 || sum <= 0.0 { 0.5 } else { distance(1) / sum }
        };
        let (i, o) = (tangent(0), tangent(2));
        let u = f32::min((tick - t[1]) * (1.0 / (t[2] - t[1])), 1.0);
        let m0 = ((2.0 - u) * u - 1.0) * (u * i);
        let m1 = ((2.0 - o) * u + (o - 3.0)) * (u * u) + 1.0;
        let m2 = (((3.0 - 2.0 * i) + (i - 2.0) * u) * u + i) * u;
        let m3 = ((u - 1.0) * u) * (u * o);
        let value: Vec<f32> = (0..p[0].len())
            .map(|c| (m1 * p[1][c] + m0 * p[0][c]) + (m3 * p[3][c] + m2 * p[2][c]))
            .collect();
        if track.channel == 0 { unit(&value) } else { value }
    }
}

fn dot(p: &[f32], q: &[f32]) -> f32 {
    (p[0] * q[0] + p[1] * q[1]) + (p[2] * q[2] + p[3] * q[3])
}

fn unit(q: &[f32]) -> Vec<f32> {
    let d = dot(q, q).sqrt();
    if d > 0.0 { q.iter().map(|c| c * (1.0 / d)).collect() } else { vec![0.0, 0.0, 0.0, 1.0] }
}
