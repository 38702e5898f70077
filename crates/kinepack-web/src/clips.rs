//! Playback of animation clips.

use kinepack_anim::{AnyClip, AnyPlayer, PoseWriter, blend};
use wasm_bindgen::prelude::*;

use crate::failed;
use crate::pose::Columns;
use crate::skeleton::SkeletonJoints;

/// Plays one clip. Translations are in metres.
#[wasm_bindgen]
pub struct ClipPlayer {
    clip: AnyClip,
    player: AnyPlayer,
    pose: Vec<kinepack_anim::Transform>,
    /// The numbers of the pose and the values of all curves, which JavaScript reads.
    shown: Columns,
}

#[wasm_bindgen]
impl ClipPlayer {
    /// Reads a clip, and plays it on a skeleton.
    ///
    /// # Errors
    /// Fails if the bytes are not a clip, or if the clip was built for another skeleton.
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: Vec<u8>, skeleton: &SkeletonJoints) -> Result<Self, JsError> {
        let clip = AnyClip::from_bytes(bytes).map_err(failed)?;
        let player = clip.player(&skeleton.0).map_err(failed)?;
        let shown = Columns::new(skeleton.0.len(), clip.curves());
        Ok(Self { clip, player, pose: skeleton.0.bind_pose(), shown })
    }

    /// The names of the curves.
    pub fn curve_names(&self) -> Vec<String> {
        self.clip.curve_names().map(str::to_owned).collect()
    }

    /// The names of the markers, in the order of their times.
    pub fn marker_names(&self) -> Vec<String> {
        self.clip.markers().map(|marker| marker.name.to_owned()).collect()
    }

    /// The times of the markers, in seconds.
    pub fn marker_times_s(&self) -> Vec<f32> {
        self.clip.markers().map(|marker| marker.time_s).collect()
    }

    /// Computes the values of all curves at the time `time_s`, and returns their address.
    pub fn sample_curves(&mut self, time_s: f32) -> u32 {
        let curves = &mut self.shown.curves;
        self.player.curves(time_s, curves);
        curves.as_ptr() as usize as u32
    }

    /// The number of seconds from the first sample to the last.
    pub fn duration_s(&self) -> f32 {
        self.clip.duration_s()
    }

    /// Computes the pose at the time `time_s`.
    pub fn sample(&mut self, time_s: f32) {
        self.player.sample(time_s, &mut self.pose);
        self.show();
    }

    /// Blends the pose with that of another player. A weight of 0 keeps this pose, and 1 takes the
    /// other.
    ///
    /// # Errors
    /// Fails if the other player's skeleton has a different number of joints.
    pub fn blend(&mut self, other: &Self, weight: f32) -> Result<(), JsError> {
        if other.pose.len() != self.pose.len() {
            return Err(failed("the two players have different numbers of joints"));
        }
        blend(&mut self.pose, &other.pose, weight);
        self.show();
        Ok(())
    }

    /// The addresses of the translations (metres), the rotations (x, y, z, w), the scales and the
    /// curves.
    pub fn places(&self) -> Vec<u32> {
        self.shown.places()
    }

    fn show(&mut self) {
        self.shown.pose(&self.pose);
    }
}
