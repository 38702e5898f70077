//! The scheme with keys, step by step.

use crate::clip::{Contents, JointKinds, Kind, PlacedTrack, ticks_per_sample};
use crate::measure::Frame;
use crate::quantize::{VectorRange, rotation_48, rotation_from_48};
use crate::{Channel, RawClip, RotationBits, TrackId};

use super::curve::{Curve, Value};
use super::scene::{Scene, differ, raw_kinds, value_of};
use super::{BuildOptions, KeyOptions, margins, pack, remove};

/// What is kept back of the precision for the arithmetic of playback, which is in `f32`.
const RESERVE: f64 = 0.005;

/// A track becomes rows where its keys would take more than this share of the bytes of rows.
const ROWS_SHARE: f64 = 1.0;

/// A clip of keys, constants and rows.
pub(super) fn keys(raw: &RawClip, options: &BuildOptions, key_options: &KeyOptions) -> Contents {
    let kinds =
        raw_kinds(raw).into_iter().map(|channels| JointKinds { channels, bits: RotationBits::Bits48 }).collect();
    let ranges = pack::ranges(raw);
    let can_have_keys = raw.samples() > 1 && ticks_per_sample(raw.samples() as u32) > 0;
    if !can_have_keys {
        return pack::quantized(raw, RotationBits::Bits48);
    }
    let mut scene = Scene::new(raw, options.precision_cm * (1.0 - RESERVE), options.error.shell_cm);
    if key_options.hold_still {
        scene.hold_still();
    }
    let mut work = Work { kinds, curves: Vec::new(), rows: Vec::new(), constants: Vec::new() };
    for joint in 0..raw.joints() {
        for channel in Channel::ALL {
            let id = TrackId { joint: joint as u16, channel };
            if !work.kinds[joint].channels[channel as usize].is_animated() {
                work.keep(&mut scene, id);
                continue;
            }
            let target = target(&scene, id, key_options.shortest_path);
            work.curves.push(Curve::new(id, key_options.parametrization, target, range_of(&ranges, channel)));
        }
    }
    margins::fit(&mut scene, &mut work.curves, key_options);
    if key_options.constants {
        work.find_constants(&mut scene);
    }
    for _ in 0..key_options.removal_passes {
        let removed = remove::remove(&mut scene, &mut work.curves, key_options.refit);
        if removed + work.find_rows(&mut scene, &ranges, key_options) == 0 {
            break;
        }
    }
    work.contents(raw, &scene, ranges, key_options)
}

/// What a track should be: the raw values, rotations on the side of the one before or all with a positive `w`.
fn target(scene: &Scene, id: TrackId, shortest_path: bool) -> Vec<Value> {
    let frames = scene.raw_local.iter().skip(usize::from(id.joint)).step_by(scene.joints());
    let mut values: Vec<Value> = frames.map(|frame| value_of(frame, id.channel)).collect();
    if id.channel == Channel::Rotation && !shortest_path {
        for value in values.iter_mut().filter(|value| value[3] < 0.0) {
            *value = value.map(|c| -c);
        }
    }
    values
}

fn range_of(ranges: &[VectorRange; 2], channel: Channel) -> VectorRange {
    ranges[usize::from(channel == Channel::Scale)]
}

/// The tracks, by what became of them.
struct Work {
    kinds: Vec<JointKinds>,
    curves: Vec<Curve>,
    rows: Vec<Curve>,
    constants: Vec<(TrackId, Value)>,
}

impl Work {
    fn set_kind(&mut self, id: TrackId, kind: Kind) {
        self.kinds[usize::from(id.joint)].channels[id.channel as usize] = kind;
    }

    /// Plays the one value of a track that does not change.
    fn keep(&mut self, scene: &mut Scene, id: TrackId) {
        let joint = usize::from(id.joint);
        let value = match self.kinds[joint].channels[id.channel as usize] {
            Kind::Default => value_of(&Frame::from(&scene.raw.skeleton().joints()[joint].bind), id.channel),
            _ => decoded(id.channel, &value_of(&scene.raw_local[joint], id.channel)),
        };
        scene.play_constant(id, &value);
        self.constants.push((id, value));
    }

    /// Takes the keys from tracks that can do with one value.
    fn find_constants(&mut self, scene: &mut Scene) {
        let skeleton = scene.raw.skeleton().clone();
        for mut curve in std::mem::take(&mut self.curves) {
            let before = curve.decoded.clone();
            let bind = Frame::from(&skeleton.joints()[usize::from(curve.id.joint)].bind);
            let bind = value_of(&bind, curve.id.channel);
            let all = 0..=scene.samples() - 1;
            let value =
                [bind, decoded(curve.id.channel, &middle(curve.id.channel, &curve.target))].into_iter().find(|value| {
                    curve.decoded.fill(*value);
                    remove::holds(scene, &curve, all.clone())
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

    /// Makes rows of the tracks whose keys take more than those, and sees that all is within what is allowed. Says of how many.
    fn find_rows(&mut self, scene: &mut Scene, ranges: &[VectorRange; 2], options: &KeyOptions) -> usize {
        if !options.rows {
            return 0;
        }
        let samples = scene.samples();
        let has_many =
            |curve: &mut Curve| (curve.keys.len() * crate::Key::BYTES) as f64 > ROWS_SHARE * (6 * samples) as f64;
        let dense: Vec<Curve> = self.curves.extract_if(.., has_many).collect();
        let found = dense.len();
        for curve in dense {
            // A key at every sample is what a row is.
            let mut row = Curve::new(curve.id, curve.parametrization, curve.target, range_of(ranges, curve.id.channel));
            row.insert(&(1..samples - 1).collect::<Vec<_>>());
            row.evaluate_all();
            scene.play(&row, 0..=samples - 1);
            self.set_kind(row.id, Kind::Rows);
            self.rows.push(row);
        }
        if found > 0 {
            // Errors that cancelled what is gone now.
            margins::repair(scene, &mut self.curves, options.position);
        }
        found
    }

    fn contents(&self, raw: &RawClip, scene: &Scene, ranges: [VectorRange; 2], options: &KeyOptions) -> Contents {
        let ticks = ticks_per_sample(raw.samples() as u32);
        let value = |id: TrackId, sample: usize| {
            let constant = self.constants.iter().find(|(constant, _)| *constant == id);
            let row = self.rows.iter().find(|row| row.id == id);
            match (constant, row) {
                (Some((_, value)), _) => *value,
                (None, Some(row)) => row.target[sample],
                (None, None) => value_of(&scene.raw_local[sample * raw.joints() + usize::from(id.joint)], id.channel),
            }
        };
        let mut contents = pack::contents(raw, self.kinds.clone(), ranges, &value);
        contents.parametrization = options.parametrization;
        let keys = |curve: &Curve| {
            (0..curve.keys.len()).map(|key| ((curve.keys[key] as u32 * ticks) as u16, curve.code(key))).collect()
        };
        contents.tracks = self.curves.iter().map(|curve| PlacedTrack { id: curve.id, keys: keys(curve) }).collect();
        contents
    }
}

/// What a constant becomes in a clip.
fn decoded(channel: Channel, value: &Value) -> Value {
    match channel {
        Channel::Rotation => rotation_from_48(rotation_48(value.map(|c| c as f32))).map(f64::from),
        _ => *value,
    }
}

/// A value from which no value is far: in the middle of their range.
fn middle(channel: Channel, values: &[Value]) -> Value {
    let mut ends = [values[0]; 2];
    for value in values {
        for c in 0..4 {
            ends[0][c] = ends[0][c].min(value[c]);
            ends[1][c] = ends[1][c].max(value[c]);
        }
    }
    let middle: Value = std::array::from_fn(|c| 0.5 * (ends[0][c] + ends[1][c]));
    let length = middle.iter().map(|c| c * c).sum::<f64>().sqrt();
    if channel == Channel::Rotation && length > 0.0 { middle.map(|c| c / length) } else { middle }
}
