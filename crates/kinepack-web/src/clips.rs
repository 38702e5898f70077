//! Playback of animation clips.

use kinepack_anim::{AnyClip, AnyPlayer, PoseWriter, Skeleton, blend};
use wasm_bindgen::prelude::*;

use crate::failed;

/// The joints of a rig.
#[wasm_bindgen]
pub struct ClipSkeleton(Skeleton);

#[wasm_bindgen]
impl ClipSkeleton {
    /// Reads a skeleton file.
    ///
    /// # Errors
    /// Fails if the bytes are not a skeleton file.
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: &[u8]) -> Result<Self, JsError> {
        Skeleton::from_bytes(bytes).map(Self).map_err(failed)
    }

    /// The number of joints.
    pub fn joints(&self) -> usize {
        self.0.len()
    }

    /// The name of a joint.
    pub fn name(&self, joint: usize) -> String {
        self.0.joints().get(joint).map_or_else(String::new, |joint| joint.name.clone())
    }

    /// The parent of a joint; −1 for a root.
    pub fn parent(&self, joint: usize) -> i32 {
        let joint = self.0.joints().get(joint);
        joint.and_then(|joint| joint.parent).map_or(-1, |parent| parent as i32)
    }
}

/// Plays one clip. Translations are in metres.
#[wasm_bindgen]
pub struct ClipPlayer {
    clip: AnyClip,
    player: AnyPlayer,
    pose: Vec<kinepack_anim::Transform>,
    /// The values of all curves, which JavaScript reads.
    curves: Vec<f32>,
    /// The numbers of the pose, which JavaScript reads.
    shown: Columns,
}

#[derive(Default)]
struct Columns {
    translations: Vec<f32>,
    rotations: Vec<f32>,
    scales: Vec<f32>,
}

#[wasm_bindgen]
impl ClipPlayer {
    /// Reads a clip, and plays it on a skeleton.
    ///
    /// # Errors
    /// Fails if the bytes are not a clip, or if the clip was built for another skeleton.
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: Vec<u8>, skeleton: &ClipSkeleton) -> Result<Self, JsError> {
        let clip = AnyClip::from_bytes(bytes).map_err(failed)?;
        let player = clip.player(&skeleton.0).map_err(failed)?;
        let joints = skeleton.0.len();
        let shown = Columns {
            translations: vec![0.0; 3 * joints],
            rotations: vec![0.0; 4 * joints],
            scales: vec![0.0; 3 * joints],
        };
        let (pose, curves) = (skeleton.0.bind_pose(), vec![0.0; clip.curves()]);
        Ok(Self { clip, player, pose, curves, shown })
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
        self.player.curves(time_s, &mut self.curves);
        self.curves.as_ptr() as usize as u32
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

    /// The addresses of the translations (metres), the rotations (x, y, z, w) and the scales.
    pub fn places(&self) -> Vec<u32> {
        let Columns { translations, rotations, scales } = &self.shown;
        [translations, rotations, scales].map(|list| list.as_ptr() as usize as u32).to_vec()
    }

    fn show(&mut self) {
        kinepack_anim::Metres(&mut self.shown).pose(&self.pose);
    }
}

impl PoseWriter for Columns {
    fn rotation(&mut self, joint: usize, rotation: [f32; 4]) {
        self.rotations[4 * joint..][..4].copy_from_slice(&rotation);
    }

    fn translation(&mut self, joint: usize, translation: [f32; 3]) {
        self.translations[3 * joint..][..3].copy_from_slice(&translation);
    }

    fn scale(&mut self, joint: usize, scale: [f32; 3]) {
        self.scales[3 * joint..][..3].copy_from_slice(&scale);
    }
}
