//! A playing clip, with its time, its weight, and the joints that it moves.

use std::ops::Range;
use std::sync::Arc;

use bevy_asset::Handle;
use kinepack_anim::keyed::{Cursor, KeyedClip};
use kinepack_anim::{AnyPlayer, Transform};

use super::ClipAsset;
use super::mask::Mask;

/// A clip that plays on a character, alone or as one of the layers of a
/// [`ClipPlayer`](super::ClipPlayer).
///
/// While its clip is being loaded, a layer waits: it does not move the character, and its time and
/// its weight do not change.
///
/// ```
/// # use bevy_asset::Handle;
/// # use kinepack_bevy::clips::{ClipAsset, ClipLayer};
/// # let wave = Handle::<ClipAsset>::default();
/// // Waves once with the left arm, beginning 0.2 s into the clip.
/// let layer = ClipLayer::new(wave).once().starting_at(0.2).on(["left shoulder"]);
/// assert_eq!((layer.time_s, layer.repeats), (0.2, false));
/// ```
#[derive(Clone, Debug)]
pub struct ClipLayer {
    /// The clip. If you replace the clip, the new one plays from the same time.
    pub clip: Handle<ClipAsset>,
    /// Seconds from the clip's first sample. Write this field to seek. Each frame wraps or clamps
    /// the time to the clip's duration.
    pub time_s: f32,
    /// Seconds of the clip for each second of the app's `Time`. Negative values play backwards.
    pub speed: f32,
    /// Whether the clip begins again at its end.
    pub repeats: bool,
    /// Whether playback is paused. The layer then keeps its pose.
    pub is_paused: bool,
    /// The weight of the layer. 0 keeps the layers below unchanged, and 1 replaces them.
    pub weight: f32,
    fade: Option<Fade>,
    /// The names of the joints that the layer moves with all joints below; `None` for all joints.
    joints: Option<Arc<[String]>>,
    mask: Option<Mask>,
    is_finished: bool,
    /// The playback state of a keyed clip.
    cursor: Option<Box<(Arc<KeyedClip>, Cursor)>>,
    /// The hash of the skeleton for which an error was already logged.
    reported: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Fade {
    to: f32,
    over_s: f32,
}

impl ClipLayer {
    /// A layer that repeats a clip on all joints.
    pub fn new(clip: Handle<ClipAsset>) -> Self {
        Self {
            clip,
            time_s: 0.0,
            speed: 1.0,
            repeats: true,
            is_paused: false,
            weight: 1.0,
            fade: None,
            joints: None,
            mask: None,
            is_finished: false,
            cursor: None,
            reported: None,
        }
    }

    /// Plays the clip once and keeps its last pose.
    #[must_use]
    pub fn once(self) -> Self {
        Self { repeats: false, ..self }
    }

    /// Starts playback at the time `time_s`.
    #[must_use]
    pub fn starting_at(self, time_s: f32) -> Self {
        Self { time_s, ..self }
    }

    /// Plays at the speed `speed`.
    #[must_use]
    pub fn with_speed(self, speed: f32) -> Self {
        Self { speed, ..self }
    }

    /// Plays with the weight `weight`.
    #[must_use]
    pub fn with_weight(self, weight: f32) -> Self {
        Self { weight, ..self }
    }

    /// Moves only the joints with the names `joints`, and all joints below them in the skeleton.
    #[must_use]
    pub fn on<N: Into<String>>(self, joints: impl IntoIterator<Item = N>) -> Self {
        Self { joints: Some(joints.into_iter().map(Into::into).collect()), mask: None, ..self }
    }

    /// Changes the weight evenly to `weight` over `over_s` seconds. The change begins as soon as
    /// the clip is loaded.
    pub fn fade_to(&mut self, weight: f32, over_s: f32) {
        self.fade = Some(Fade { to: weight, over_s });
    }

    /// Whether a clip that does not repeat has reached its end, or its beginning if it plays
    /// backwards.
    pub fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Whether the weight is still changing.
    pub fn is_fading(&self) -> bool {
        self.fade.is_some()
    }

    pub(super) fn advance(&mut self, delta_s: f32, clip: &ClipAsset) {
        if let Some(fade) = &mut self.fade {
            if fade.over_s > delta_s {
                self.weight += (fade.to - self.weight) * delta_s / fade.over_s;
                fade.over_s -= delta_s;
            } else {
                self.weight = fade.to;
                self.fade = None;
            }
        }
        let duration_s = clip.duration_s();
        let step_s = if self.is_paused { 0.0 } else { self.speed * delta_s };
        let time_s = self.time_s + step_s;
        let can_repeat = self.repeats && duration_s > 0.0;
        self.is_finished =
            !self.repeats && if self.speed < 0.0 { time_s <= 0.0 } else { time_s >= duration_s };
        self.time_s = if !can_repeat {
            time_s.clamp(0.0, duration_s)
        } else if (0.0..=duration_s).contains(&time_s) {
            time_s
        } else {
            time_s.rem_euclid(duration_s)
        };
    }

    /// Sets the weight to the end of its fade, if there is one.
    pub(super) fn finish_fade(&mut self) {
        if let Some(fade) = self.fade.take() {
            self.weight = fade.to;
        }
    }

    /// Samples the joints that the layer moves. May also overwrite other joints of `pose`.
    pub(super) fn sample(&mut self, clip: &ClipAsset, pose: &mut [Transform]) {
        if let Some(names) = &self.joints
            && self.mask.as_ref().is_none_or(|mask| !mask.fits(clip))
        {
            self.mask = Some(Mask::new(names, clip));
        }
        match (clip.player(), &self.mask) {
            (AnyPlayer::Block(sampler), None) => sampler.sample(self.time_s, pose),
            (AnyPlayer::Block(sampler), Some(mask)) => {
                sampler.sample_joints(self.time_s, mask.joints(), pose);
            }
            (AnyPlayer::Keyed(fresh), _) => {
                let time_s = self.time_s;
                if let Some(keyed) = clip.clip().as_keyed() {
                    self.cursor(keyed, fresh).sample(time_s, pose);
                }
            }
        }
    }

    /// The joints that the layer moved when it was last [sampled](Self::sample), as runs of
    /// neighbours. `None` if it moved all joints.
    pub(super) fn runs(&self) -> Option<&[Range<usize>]> {
        self.mask.as_ref().map(Mask::runs)
    }

    /// Whether the layer moves all joints.
    pub(super) fn is_whole(&self) -> bool {
        self.joints.is_none()
    }

    /// The layer's own playback state of a keyed clip, which begins anew if the clip was replaced.
    fn cursor(&mut self, clip: &Arc<KeyedClip>, fresh: &Cursor) -> &mut Cursor {
        let own = self.cursor.take().filter(|own| Arc::ptr_eq(&own.0, clip));
        let own = own.unwrap_or_else(|| Box::new((Arc::clone(clip), fresh.clone())));
        &mut self.cursor.insert(own).1
    }

    /// Logs once that a clip was built for another skeleton.
    pub(super) fn report_other_skeleton(&mut self, clip: &ClipAsset, skeleton: u64) {
        if self.reported.replace(skeleton) != Some(skeleton) {
            log::error!(
                "kinepack-bevy: the clip {:?} was built for the skeleton {:016x}, and its \
                 character has {skeleton:016x}: it does not play; build all clips of a character \
                 for one skeleton",
                self.clip.path(),
                clip.skeleton_hash(),
            );
        }
    }
}

impl From<Handle<ClipAsset>> for ClipLayer {
    fn from(clip: Handle<ClipAsset>) -> Self {
        Self::new(clip)
    }
}
