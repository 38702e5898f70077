//! Measures foot slide. The module finds when a joint is at rest in the raw clip, and measures how
//! far the joint slides in another clip during that time.

use glam::DVec3;

use crate::RawClip;
use crate::additive::pose_of;

use super::{Frame, object_space};

/// If a joint stays within this distance in cm of the position at which it stopped, it counts as at
/// rest.
pub const STILL_CM: f64 = 0.1;

/// The minimum time in seconds for which a joint must be at rest to count.
const SHORTEST_S: f32 = 0.1;

/// The times at which a joint is at rest, as ranges of samples, and its offset in another clip.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stand {
    runs: Vec<(usize, usize)>,
    /// The index of the current run or, between runs, of the next one.
    next: usize,
    /// The offset from the raw clip at the beginning of the current run.
    offset: DVec3,
}

impl Stand {
    /// Returns the first and last sample of each range in which the joint is at rest.
    #[cfg(feature = "offline")]
    pub(crate) fn runs(&self) -> &[(usize, usize)] {
        &self.runs
    }

    /// Takes the joint's offset from the raw clip at a sample. Returns its distance from the offset
    /// at which the joint came to rest. Samples must be passed in ascending order.
    pub(crate) fn slid_cm(&mut self, sample: usize, offset: DVec3) -> f64 {
        match self.runs.get(self.next) {
            Some(&(first, last)) if sample >= first => {
                if sample == first {
                    self.offset = offset;
                }
                if sample == last {
                    self.next += 1;
                }
                (offset - self.offset).length()
            }
            _ => 0.0,
        }
    }
}

/// Returns the times at which each joint of a raw clip is at rest. If there is a base, the function
/// adds the clip to it first.
pub(crate) fn stands(raw: &RawClip, base: Option<&RawClip>) -> Vec<Stand> {
    let joints = raw.joints();
    let shortest = ((SHORTEST_S * raw.rate_hz()).ceil() as usize).max(2);
    let mut stands = vec![Stand::default(); joints];
    let mut since = vec![(0, DVec3::ZERO); joints];
    let mut local = vec![Frame::IDENTITY; joints];
    let mut object = local.clone();
    for (sample, pose) in raw.poses().enumerate() {
        for (local, transform) in local.iter_mut().zip(pose) {
            *local = Frame::from(transform);
        }
        if let Some(base) = base {
            for (local, base) in local.iter_mut().zip(pose_of(base, sample)) {
                *local = Frame::from(base).with(local);
            }
        }
        object_space(raw.skeleton(), &local, &mut object);
        for joint in 0..joints {
            let (first, place) = since[joint];
            if sample == 0 || object[joint].translation.distance(place) > STILL_CM {
                end_run(&mut stands[joint], first, sample, shortest);
                since[joint] = (sample, object[joint].translation);
            }
        }
    }
    for (stand, (first, _)) in stands.iter_mut().zip(since) {
        end_run(stand, first, raw.samples(), shortest);
    }
    stands
}

fn end_run(stand: &mut Stand, first: usize, end: usize, shortest: usize) {
    if end - first > shortest {
        stand.runs.push((first, end - 1));
    }
}
