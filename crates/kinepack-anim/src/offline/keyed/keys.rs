//! Builds keyed clips, step by step.

use crate::keyed::quantize::{
    VectorRange, rotation_32, rotation_48, rotation_from_32, rotation_from_48,
};
use crate::keyed::{
    Contents, JointKinds, Key, Kind, PlacedTrack, RotationBits, pad, ticks_per_sample,
};
use crate::measure::Frame;
use crate::offline::BuildOptions;
use crate::{Channel, RawClip, TrackId};

use super::curve::{Curve, Value, normalize};
use super::remove::{self, Tried};
use super::scene::{Scene, differ, raw_kinds, value_of};
use super::{KeyedOptions, margins, pack};

/// The share of the precision that is reserved for the arithmetic of playback, which is in `f32`.
const RESERVE: f64 = 0.005;

/// Rotations in rows take 32 bits if their error is at most this share of the limit.
const COARSE_SHARE: f64 = 0.8;

/// Builds a clip of keys, constants and rows. If rotations of 32 bits leave too little room for
/// other errors, the function builds the clip again without them.
pub(crate) fn build(raw: &RawClip, options: &BuildOptions, key_options: &KeyedOptions) -> Contents {
    if raw.samples() < 2 || ticks_per_sample(raw.samples() as u32) == 0 {
        return pack::quantized(raw, RotationBits::Bits48);
    }
    let coarse = Work::new(raw, options, key_options, COARSE_SHARE);
    let is_final =
        coarse.is_within || coarse.kinds.iter().all(|kinds| kinds.bits == RotationBits::Bits48);
    let work = if is_final { coarse } else { Work::new(raw, options, key_options, 0.0) };
    work.contents(raw, key_options)
}

/// Returns the target values of a track. They are the raw values or, for a pin, the values that
/// cancel the errors of the ancestors. If `shortest_path` is true, each rotation is the one of its
/// two quaternions that is nearer to the previous rotation. Otherwise all rotations have a positive
/// `w`.
fn target(scene: &Scene, id: TrackId, is_pinned: bool, shortest_path: bool) -> Vec<Value> {
    let joint = usize::from(id.joint);
    let frame = |sample: usize| match is_pinned {
        true => scene.pinned(sample, joint),
        false => scene.raw_local[sample * scene.joints() + joint],
    };
    let mut values: Vec<Value> =
        (0..scene.samples()).map(|sample| value_of(&frame(sample), id.channel)).collect();
    if id.channel == Channel::Rotation {
        for sample in 0..values.len() {
            let before =
                if shortest_path && sample > 0 { values[sample - 1] } else { [0.0, 0.0, 0.0, 1.0] };
            if (0..4).map(|c| before[c] * values[sample][c]).sum::<f64>() < 0.0 {
                values[sample] = values[sample].map(|c| -c);
            }
        }
    }
    values
}

fn range_of(ranges: &[VectorRange; 2], channel: Channel) -> &VectorRange {
    &ranges[usize::from(channel == Channel::Scale)]
}

/// The tracks of a clip, grouped by how they are stored.
struct Work {
    kinds: Vec<JointKinds>,
    ranges: [VectorRange; 2],
    curves: Vec<Curve>,
    rows: Vec<Curve>,
    constants: Vec<(TrackId, Value)>,
    /// The curves whose keys are already chosen.
    fitted: Vec<Curve>,
    coarse_share: f64,
    is_within: bool,
}

impl Work {
    fn new(
        raw: &RawClip,
        options: &BuildOptions,
        key_options: &KeyedOptions,
        coarse_share: f64,
    ) -> Self {
        let kinds = raw_kinds(raw);
        let mut precisions_cm = options.precisions_cm(raw.joints());
        let coarsest_cm = precisions_cm.iter().copied().fold(0.0, f64::max);
        let ranges = pack::ranges(raw, &kinds, &key_options.pins, coarsest_cm);
        let rows_of_48 = |channels| JointKinds { channels, bits: RotationBits::Bits48 };
        let mut work = Self {
            kinds: kinds.into_iter().map(rows_of_48).collect(),
            ranges,
            curves: Vec::new(),
            rows: Vec::new(),
            constants: Vec::new(),
            fitted: Vec::new(),
            coarse_share,
            is_within: false,
        };
        precisions_cm.iter_mut().for_each(|precision_cm| *precision_cm *= 1.0 - RESERVE);
        let mut scene = Scene::new(raw, &precisions_cm, options.error.shells_cm(raw.joints()));
        if key_options.hold_still {
            scene.hold_still();
        }
        for stage in stages(raw, &key_options.pins) {
            work.fit(&mut scene, &stage, key_options);
        }
        work.is_within = scene.worst_ratio() <= 1.0;
        work
    }

    /// Chooses the keys of the joints `joints`. All other joints stay unchanged.
    fn fit(&mut self, scene: &mut Scene, joints: &[usize], options: &KeyedOptions) {
        for &joint in joints {
            for channel in Channel::ALL {
                let id = TrackId { joint: joint as u16, channel };
                let is_pinned = channel != Channel::Scale && options.pins.contains(&joint);
                if is_pinned {
                    self.set_kind(id, Kind::Keys);
                }
                if !self.kinds[joint].channels[channel as usize].is_animated() {
                    self.keep(scene, id);
                    continue;
                }
                let target = target(scene, id, is_pinned, options.shortest_path);
                self.curves.push(Curve::new(
                    id,
                    options.parametrization,
                    target,
                    *range_of(&self.ranges, channel),
                ));
            }
        }
        // This call plays the tracks that do not change.
        scene.play_all(&[]);
        margins::fit(scene, &mut self.curves, options);
        if options.constants {
            self.find_constants(scene);
        }
        let mut tried = Tried::All;
        for _ in 0..options.removal_passes {
            let removed = remove::remove(scene, &mut self.curves, tried, options.refit);
            let moved = self.find_rows(scene, options);
            if removed + moved == 0 {
                break;
            }
            // If tracks became rows, all other tracks have more room for errors.
            tried = if moved > 0 { Tried::All } else { Tried::NearRemoved };
        }
        self.fitted.append(&mut self.curves);
    }

    fn set_kind(&mut self, id: TrackId, kind: Kind) {
        self.kinds[usize::from(id.joint)].channels[id.channel as usize] = kind;
    }

    /// Plays the single value of a track that does not change.
    fn keep(&mut self, scene: &mut Scene, id: TrackId) {
        let joint = usize::from(id.joint);
        let value = match self.kinds[joint].channels[id.channel as usize] {
            Kind::Default => {
                value_of(&Frame::from(&scene.raw.skeleton().joints()[joint].bind), id.channel)
            }
            _ => constant(id.channel, &value_of(&scene.raw_local[joint], id.channel)),
        };
        scene.play_constant(id, &value);
        self.constants.push((id, value_of(&scene.raw_local[joint], id.channel)));
    }

    /// Turns tracks that need only one value into constants.
    fn find_constants(&mut self, scene: &mut Scene) {
        let skeleton = scene.raw.skeleton().clone();
        for mut curve in std::mem::take(&mut self.curves) {
            let before = curve.decoded.clone();
            let bind = Frame::from(&skeleton.joints()[usize::from(curve.id.joint)].bind);
            let bind = value_of(&bind, curve.id.channel);
            let all = 0..=scene.samples() - 1;
            let value = [bind, middle(curve.id.channel, &curve.target)].into_iter().find(|value| {
                curve.decoded.fill(constant(curve.id.channel, value));
                remove::breaks_at(scene, &curve, all.clone()).is_none()
            });
            if let Some(value) = value {
                let is_default = !differ(curve.id.channel, &value, &bind);
                self.set_kind(curve.id, if is_default { Kind::Default } else { Kind::Constant });
                self.constants.push((curve.id, value));
                scene.play(&curve, all);
            } else {
                curve.decoded = before;
                self.curves.push(curve);
            }
        }
    }

    /// Turns tracks into rows if their keys take more bytes. Then repairs the other tracks so that
    /// the scene stays within the limits. Returns the number of new rows.
    fn find_rows(&mut self, scene: &mut Scene, options: &KeyedOptions) -> usize {
        if !options.rows {
            return 0;
        }
        let samples = scene.samples();
        let before = self.rows.len();
        for mut curve in std::mem::take(&mut self.curves) {
            let keys_bytes = curve.keys.len() * Key::BYTES;
            let joint = usize::from(curve.id.joint);
            let range = *range_of(&self.ranges, curve.id.channel);
            let bits = [RotationBits::Bits32, RotationBits::Bits48].into_iter().find(|bits| {
                bits.row_bytes(curve.id.channel) * samples < keys_bytes && {
                    let error = |value: &Value| {
                        distance(value, &row_value(curve.id.channel, *bits, &range, value))
                    };
                    let worst = curve.target.iter().map(error).fold(0.0, f64::max);
                    *bits == RotationBits::Bits48
                        || 2.0 * worst * scene.reach_cm[joint]
                            < self.coarse_share * scene.limit_below_cm(0, joint)
                }
            });
            let Some(bits) = bits else {
                self.curves.push(curve);
                continue;
            };
            curve.decoded = curve
                .target
                .iter()
                .map(|value| row_value(curve.id.channel, bits, &range, value))
                .collect();
            scene.play(&curve, 0..=samples - 1);
            self.set_kind(curve.id, Kind::Rows);
            if curve.id.channel == Channel::Rotation {
                self.kinds[joint].bits = bits;
            }
            self.rows.push(curve);
        }
        if self.rows.len() > before {
            // New errors may exceed the limits, because some of the old ones had cancelled out.
            margins::repair(scene, &mut self.curves, options.position);
        }
        self.rows.len() - before
    }

    fn contents(&self, raw: &RawClip, options: &KeyedOptions) -> Contents {
        let ticks = ticks_per_sample(raw.samples() as u32);
        let value = |id: TrackId, sample: usize| {
            let constant = self
                .constants
                .iter()
                .find(|(constant, _)| *constant == id)
                .map(|(_, value)| *value);
            let row = || self.rows.iter().find(|row| row.id == id).map(|row| row.target[sample]);
            constant.or_else(row).unwrap_or_default()
        };
        let mut contents = pack::contents(raw, self.kinds.clone(), self.ranges, &value);
        contents.parametrization = options.parametrization;
        let keys = |curve: &Curve| {
            (0..curve.keys.len())
                .map(|key| ((curve.keys[key] as u32 * ticks) as u16, curve.values[key].code))
                .collect()
        };
        contents.tracks = self
            .fitted
            .iter()
            .map(|curve| PlacedTrack { id: curve.id, keys: keys(curve) })
            .collect();
        contents
    }
}

/// The value of a row after a clip has encoded and decoded it.
fn row_value(channel: Channel, bits: RotationBits, range: &VectorRange, value: &Value) -> Value {
    let [x, y, z, w] = value.map(|c| c as f32);
    let decoded = match (channel, bits) {
        (Channel::Rotation, RotationBits::Bits48) => rotation_from_48(rotation_48([x, y, z, w])),
        (Channel::Rotation, RotationBits::Bits32) => rotation_from_32(rotation_32([x, y, z, w])),
        _ => pad(range.reconstruct(range.quantize([x, y, z]))),
    };
    decoded.map(f64::from)
}

/// Returns the distance between two values. Rotations may have opposite signs, which makes no
/// difference.
fn distance(a: &Value, b: &Value) -> f64 {
    let along = |sign: f64| (0..4).map(|c| (a[c] - sign * b[c]).powi(2)).sum::<f64>().sqrt();
    along(1.0).min(along(-1.0))
}

/// The value of a constant after a clip has encoded and decoded it.
fn constant(channel: Channel, value: &Value) -> Value {
    match channel {
        Channel::Rotation => rotation_from_48(rotation_48(value.map(|c| c as f32))).map(f64::from),
        _ => *value,
    }
}

/// Groups the joints in the order in which their keys are chosen. Joints that are not below a pin
/// come first. The joints below each pin follow, unless they are below a further pin. By then the
/// errors that the pin must cancel are known.
fn stages(raw: &RawClip, pins: &[usize]) -> Vec<Vec<usize>> {
    let mut pin_of = vec![None; raw.joints()];
    for joint in 0..raw.joints() {
        let above = raw.skeleton().parent(joint).and_then(|parent| pin_of[parent]);
        pin_of[joint] = if pins.contains(&joint) { Some(joint) } else { above };
    }
    let of = |pin: Option<usize>| (0..raw.joints()).filter(|joint| pin_of[*joint] == pin).collect();
    let below = (0..raw.joints()).filter(|joint| pins.contains(joint)).map(|joint| of(Some(joint)));
    std::iter::once(of(None)).chain(below).collect()
}

/// Returns the middle of the range of `values`, so that none of them is far from it.
fn middle(channel: Channel, values: &[Value]) -> Value {
    let mut ends = [values[0]; 2];
    for value in values {
        for c in 0..4 {
            ends[0][c] = ends[0][c].min(value[c]);
            ends[1][c] = ends[1][c].max(value[c]);
        }
    }
    let mut middle: Value = std::array::from_fn(|c| 0.5 * (ends[0][c] + ends[1][c]));
    if channel == Channel::Rotation {
        normalize(&mut middle);
    }
    middle
}
