//! A clip that plays as if it were live.

use crate::figure::{FigureCurve, FigureOptions, Motion};
use crate::{RawClip, Skeleton, Transform, blend};

/// Distances below this, in cm, are rounding: the bone keeps its length.
const SAME_CM: f32 = 1e-3;
/// The share of a range that is added, so that blends between samples stay within it.
const MARGIN: f32 = 0.01;

/// Plays a clip at its own time, once or again and again.
///
/// ```
/// use std::sync::Arc;
/// use kinepack_anim::live::ClipSource;
/// use kinepack_anim::{Joint, RawClip, Skeleton, Transform};
///
/// let root = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
/// let skeleton = Arc::new(Skeleton::new(vec![root])?);
/// let sample = |cm: i32| Transform { translation: [cm as f32, 0.0, 0.0], ..Transform::IDENTITY };
/// let clip = RawClip::new("slide", skeleton, 10.0, (0..11).map(sample).collect())?;
///
/// let source = ClipSource::new(clip, false);
/// let (mut pose, mut curves) = (Vec::new(), Vec::new());
/// assert!(source.sample(0.25, &mut pose, &mut curves));
/// assert_eq!(pose[0].translation[0], 2.5);
/// assert!(!source.sample(1.25, &mut pose, &mut curves), "the clip has ended");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ClipSource {
    clip: RawClip,
    loops: bool,
}

impl ClipSource {
    /// Plays `clip`, again and again if it `loops`.
    pub fn new(clip: RawClip, loops: bool) -> Self {
        Self { clip, loops }
    }

    /// The skeleton, for both sides.
    pub fn skeleton(&self) -> &Skeleton {
        self.clip.skeleton()
    }

    /// Returns the options of the clip's figure. Joints that never leave the bind pose stay still,
    /// joints move as far as in the clip, and curves have the range of their values. They are exact
    /// to a hundredth of the range, or to their own precision if that is coarser, but at most to a
    /// quarter. The method takes a pass over all samples.
    pub fn options(&self) -> FigureOptions {
        let joints = self.skeleton().joints().iter().enumerate();
        let motions = joints.filter_map(|(index, joint)| {
            let mut range_cm = 0.0_f32;
            let mut turns = false;
            for pose in self.clip.poses() {
                let own = &pose[index];
                let far = own.translation.iter().zip(joint.bind.translation);
                range_cm = far.map(|(own, bind)| (own - bind).abs()).fold(range_cm, f32::max);
                turns |= own.rotation != joint.bind.rotation
                    && own.rotation.map(|c| -c) != joint.bind.rotation;
            }
            let range_cm = range_cm * (1.0 + MARGIN);
            match joint.parent {
                None => Some((index, Motion::Moves { range_cm: range_cm.max(1.0) })),
                Some(_) if range_cm > SAME_CM => Some((index, Motion::Moves { range_cm })),
                Some(_) => (!turns).then_some((index, Motion::Still)),
            }
        });
        let curves = self.clip.curves().iter().map(|curve| {
            let values = || curve.values.iter().copied();
            let (min, max) =
                values().fold((f32::INFINITY, f32::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
            // A step of twice the precision must fit into the range. Without a range, any fits.
            let range = max - min;
            let precision = match range > 0.0 {
                true => curve.precision.max(range / 100.0).min(range / 4.0),
                false => 1.0,
            };
            FigureCurve { name: curve.name.clone(), min, max, precision }
        });
        FigureOptions {
            motions: motions.collect(),
            curves: curves.collect(),
            ..FigureOptions::default()
        }
    }

    /// Writes the pose at a time in seconds, relative to the parents, and the values of the curves.
    /// Returns false at and after the end of a clip that does not loop; the pose is then the last.
    pub fn sample(&self, time_s: f64, pose: &mut Vec<Transform>, curves: &mut Vec<f32>) -> bool {
        let last = (self.clip.samples() - 1) as f64;
        let mut at = time_s.max(0.0) * f64::from(self.clip.rate_hz());
        let plays = self.loops || at < last;
        if at >= last {
            at = if self.loops && last > 0.0 { at % last } else { last };
        }
        let from = at as usize;
        let to = (from + 1).min(self.clip.samples() - 1);
        let share = (at - from as f64) as f32;
        pose.clear();
        pose.extend_from_slice(self.clip.pose(from));
        if share > 0.0 {
            blend(pose, self.clip.pose(to), share);
        }
        curves.clear();
        curves.extend(self.clip.curves().iter().map(|curve| {
            let [from, to] = [curve.values[from], curve.values[to]];
            from + (to - from) * share
        }));
        plays
    }
}
