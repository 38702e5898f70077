//! Plays a clip that was read, as section 12 of `spec/ANIM.md` specifies.

use std::f64::consts::PI;
use std::sync::LazyLock;

use super::{Component, Floats, Naive, NaiveSegment, Vector};

type Quaternion = [f32; 4];

impl Naive {
    /// Returns the pose at a position, as section 12 specifies.
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

    /// Returns the values of all curves.
    pub(crate) fn curve_values(&self, position: f64) -> Vec<f32> {
        let (n, a) = self.sample_of(position);
        let tracks = self.tracks.iter().enumerate().filter(|(_, track)| track.channel == 3);
        let mut values: Vec<f32> = tracks.flat_map(|(index, _)| self.value(index, n, a)).collect();
        values.truncate(self.curves);
        values
    }

    /// Returns the sample before a position, and the share of the next one.
    fn sample_of(&self, position: f64) -> (usize, f32) {
        let last = (self.samples - 1) as f64;
        let position =
            if position.is_nan() || position < 0.0 { 0.0 } else { f64::min(position, last) };
        (position.floor() as usize, (position - position.floor()) as f32)
    }

    /// Returns the segment that contains `sample`, and the sample's index in it.
    fn place(&self, sample: usize) -> (usize, usize) {
        let (coded, count) = self.counts();
        let sample = if sample == coded { 0 } else { sample };
        let segment = ((sample + 1) * count - 1) / coded;
        (segment, sample - self.segments[segment].first)
    }

    /// Returns the anchor of a far track at sample `t` of a segment. If `a` is above 0, the anchor
    /// is interpolated towards the next one.
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
        let components = |segment: usize, rows: &[(usize, f32)]| {
            let segment = &self.segments[segment];
            [0, 1, 2].map(|axis| component(segment, &segment.components[index][axis], rows))
        };
        let scales = track.steps.map(|step| scale(2 * usize::from(step), 0));
        let inner = |z: Vector| [0, 1, 2].map(|axis| z[axis] * scales[axis]);
        let outer = |z: Vector| [0, 1, 2].map(|axis| track.middle[axis] + z[axis] * scales[axis]);
        let whole = |z: Vector, anchor: Option<Vector>| {
            if track.channel == 0 {
                value(track.reference, track.axes, turn(inner(z)))
            } else {
                anchored(anchor, outer(z))
            }
        };
        let blends = |segment: usize| self.blends.get(segment).is_some_and(|blends| *blends);
        let b = 1.0 - a;
        let m = (0.5 * a) * b;
        let (u, v) = (m * b, m * a);
        let (g, h) = ((b * b) * (3.0 - (b + b)), (a * a) * (3.0 - (a + a)));
        let is_next = a != 0.0 && self.place(n + 1) == (segment, t + 1);
        if a == 0.0 || (is_next && !blends(segment)) {
            let rows = match (a, self.is_cubic) {
                (0.0, _) => vec![(t + 1, 1.0)],
                (_, false) => vec![(t + 1, b), (t + 2, a)],
                (_, true) => vec![(t + 1, g + v), (t, -u), (t + 2, h + u), (t + 3, -v)],
            };
            return whole(components(segment, &rows), self.anchor(index, segment, t, a));
        }
        let (next, next_t) = self.place(n + 1);
        let anchors =
            [(segment, t), (next, next_t)].map(|(segment, t)| self.anchor(index, segment, t, 0.0));
        let anchor = |share: f32| match anchors {
            [Some(v), Some(w)] => Some(mixed3(v, w, share)),
            _ => None,
        };
        if self.is_cubic && !blends(segment) && !blends(next) {
            let l = self.segments[segment].length;
            let own = components(segment, &[(l, g), (l - 1, -u), (l + 1, u)]);
            let other = components(next, &[(1, h), (0, v), (2, -v)]);
            return whole([0, 1, 2].map(|axis| own[axis] + other[axis]), anchor(h));
        }
        let (v, w) = (components(segment, &[(t + 1, 1.0)]), components(next, &[(next_t + 1, 1.0)]));
        if track.channel > 0 {
            return anchored(anchor(a), mixed3(outer(v), outer(w), a));
        }
        let (v, w) = (q(inner(v)), q(inner(w)));
        let sign = if dot(v, w) < 0.0 { -1.0 } else { 1.0 };
        let mixed = [0, 1, 2, 3].map(|i| v[i] * (1.0 - a) + w[i] * sign * a);
        let d = dot(mixed, mixed).sqrt();
        let unit = if d > 0.0 { mixed.map(|c| c * (1.0 / d)) } else { [0.0, 0.0, 0.0, 1.0] };
        value(track.reference, track.axes, (unit, 1.0))
    }
}

/// Computes P(e) · 2^whole.
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

/// Returns the sum over the coefficients of a component. A weight is the sum of the numbers in the
/// rows of `rows`, each times the row's factor. Rows are counted from the row of sample −1. The sum
/// skips the eights of both pieces that have no widths above 0.
fn component(segment: &NaiveSegment, component: &Component, rows: &[(usize, f32)]) -> f32 {
    let s = scale(usize::from(segment.step), -64);
    let mut sums: [Option<f32>; 8] = [None; 8];
    for piece in [0..16, 16..32] {
        let own = component.widths.get(piece.start..).unwrap_or_default();
        let own = &own[..own.len().min(16)];
        let present = own.iter().rposition(|width| *width > 0).map_or(0, |last| last / 8 * 8 + 8);
        for k in piece.start..(piece.start + present).min(component.widths.len()) {
            let products = rows.iter().map(|(row, by)| basis(k, *row, segment.length) * by);
            let weight = products.reduce(|sum, product| sum + product).unwrap();
            let m = component.coefficients[k] as f32 * (weight * s);
            sums[k % 8] = Some(sums[k % 8].map_or(m, |sum| sum + m));
        }
    }
    let m = sums.map(Option::unwrap_or_default);
    ((m[0] + m[1]) + (m[2] + m[3])) + ((m[4] + m[5]) + (m[6] + m[7]))
}

/// Returns the weight B(k, row − 1), computed once for each length, as sections 12 and 12.2
/// specify.
fn basis(k: usize, row: usize, length: usize) -> f32 {
    static BASIS: LazyLock<Vec<f32>> = LazyLock::new(|| {
        let own = |k: usize, t: usize, length: usize| match k {
            0 => (1.0 / length as f64).sqrt(),
            _ => (2.0 / length as f64).sqrt() * cosine((2 * t + 1) * k, length),
        };
        let beyond = |k: usize, near: [usize; 3], length: usize| match length {
            1 => own(k, 0, length),
            2 => 2.0 * own(k, near[0], length) - own(k, near[1], length),
            _ => {
                let [first, second, third] = near.map(|t| own(k, t, length));
                (3.0 * first - 3.0 * second) + third
            }
        };
        let number = |index: usize| {
            let (length, row, k) = (index / 2048, index / 32 % 64, index % 32);
            let before = |t: usize| (length - 1).saturating_sub(t);
            match row {
                _ if row > length + 1 || k >= length => f64::NAN,
                0 => beyond(k, [0, 1, 2], length),
                _ if row == length + 1 => beyond(k, [0, 1, 2].map(before), length),
                _ => own(k, row - 1, length),
            }
        };
        (0..33 * 2048).map(|index| number(index) as f32).collect()
    });
    BASIS[2048 * length + 32 * row + k]
}

/// Returns the cosine, as section 12.1 specifies.
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

/// Returns the quaternion of a vector, as section 10.2 specifies.
pub(super) fn q([x, y, z]: Vector) -> Quaternion {
    let n = (x * x + y * y) + z * z;
    let d = 1.0 / (1.0 + n);
    let e = d + d;
    [x * e, y * e, z * e, (1.0 - n) * d]
}

/// A quaternion that is not normalized, and its length, as section 12 specifies.
pub(super) type Turn = (Quaternion, f32);

pub(super) fn turn([x, y, z]: Vector) -> Turn {
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

/// Returns the rotation C about the axes A, and after that the reference F.
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
