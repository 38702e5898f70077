//! Recordings of bodies. They have the poses that are sent, and the true poses between them.
//!
//! A motion capture has 60 or 120 poses a second, and a game sends perhaps 20. The other poses tell
//! what a receiver should show between two sent poses.

use std::path::Path;
use std::str::FromStr;

use kinepack_anim::import::{self, ImportOptions};
use kinepack_anim::{RawClip, Skeleton, Transform, blend};

use crate::Outcome;

/// The true rate of the recordings whose names contain a text. Files with a wrong frame time need
/// it.
#[derive(Clone, Debug)]
pub(crate) struct RateOf {
    name: String,
    rate_hz: f32,
}

impl FromStr for RateOf {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, rate) = text.split_once('=').ok_or("expected NAME=HZ")?;
        let rate_hz = rate.parse().map_err(|_| format!("{rate} is not a rate"))?;
        Ok(Self { name: name.to_owned(), rate_hz })
    }
}

/// Reads the clips of a file.
pub(crate) fn clips(
    path: &Path,
    rates: &[RateOf],
    drop_frames: Option<usize>,
) -> Outcome<Vec<RawClip>> {
    let file = path.display().to_string();
    let is_bvh = file.contains(".bvh");
    let rate = rates.iter().find(|of| is_bvh && file.contains(&of.name));
    let frame_rate_hz = rate.map(|of| of.rate_hz);
    let options = ImportOptions { frame_rate_hz, drop_frames, ..ImportOptions::default() };
    Ok(import::read(path, &options)?.complete()?.clips)
}

/// A motion capture.
pub(crate) struct Recording {
    captured: RawClip,
    /// The number of captured poses from one sent frame to the next.
    pub(crate) captured_per_frame: usize,
}

impl Recording {
    /// Reads a file, of which `hz` frames per second are sent.
    pub(crate) fn read(
        path: &Path,
        hz: u32,
        rates: &[RateOf],
        drop_frames: Option<usize>,
    ) -> Outcome<Self> {
        let file = path.display();
        let clips = clips(path, rates, drop_frames)?;
        let captured = clips.into_iter().next().ok_or_else(|| format!("{file} has no motion"))?;
        let ratio = captured.rate_hz() / hz as f32;
        if ratio < 1.0 || ratio.fract() != 0.0 {
            let rate_hz = captured.rate_hz();
            return Err(format!("{file} has {rate_hz} poses a second, no multiple of {hz}").into());
        }
        Ok(Self { captured, captured_per_frame: ratio as usize })
    }

    pub(crate) fn name(&self) -> &str {
        self.captured.name()
    }

    /// Returns the name without the number of the take.
    pub(crate) fn performer(&self) -> &str {
        self.name().rsplit_once('_').map_or(self.name(), |(performer, _)| performer)
    }

    pub(crate) fn captured(&self) -> &RawClip {
        &self.captured
    }

    pub(crate) fn skeleton(&self) -> &Skeleton {
        self.captured.skeleton()
    }

    pub(crate) fn captured_hz(&self) -> f32 {
        self.captured.rate_hz()
    }

    /// Returns the number of captured poses from the first sent frame to the last.
    pub(crate) fn captured_poses(&self) -> usize {
        (self.frames() - 1) * self.captured_per_frame + 1
    }

    /// Returns the number of frames that are sent.
    pub(crate) fn frames(&self) -> usize {
        (self.captured.samples() - 1) / self.captured_per_frame + 1
    }

    /// Returns the pose of a frame that is sent.
    pub(crate) fn frame(&self, index: usize) -> &[Transform] {
        self.captured.pose(index * self.captured_per_frame)
    }

    /// Returns all poses that are sent, in the order of time.
    pub(crate) fn poses(&self) -> impl ExactSizeIterator<Item = &[Transform]> {
        self.captured.poses().step_by(self.captured_per_frame)
    }

    /// Writes the true pose at `moment`, which is a frame with its fraction.
    pub(crate) fn at(&self, moment: f64, pose: &mut [Transform]) {
        let last = self.captured.samples() - 1;
        let sample = (moment * self.captured_per_frame as f64).clamp(0.0, last as f64);
        let before = sample as usize;
        pose.copy_from_slice(self.captured.pose(before));
        blend(pose, self.captured.pose((before + 1).min(last)), (sample - before as f64) as f32);
    }
}
