//! The component that plays clips on a character.

use bevy_asset::Assets;
use bevy_ecs::component::Component;

use super::{ClipAsset, ClipJoints, ClipLayer};

/// The maximum number of clips that fade out at the same time. If there are more, the oldest one
/// stops immediately.
const MAX_FADING: usize = 4;

/// Plays clips on the joints of a character, which are the named entities below this component's
/// entity.
///
/// Add this component to the entity that shows the model, such as the one with Bevy's scene root.
/// The plugin finds the entities of the joints by their `Name` when they appear. Joints may be
/// missing.
///
/// A player has a *current* layer, which [`crossfade`](Self::crossfade) and [`play`](Self::play)
/// replace, and any number of [`layers`](Self::layers) above it. Each layer covers the layers below
/// it by its weight. All layers must have the skeleton of the current one. A clip that was built as
/// *additive* adds its motion instead of covering.
///
/// Joints that no layer moves keep their transforms, so Bevy's own animation can move them.
///
/// ```
/// # use bevy_asset::Handle;
/// # use kinepack_bevy::clips::{ClipAsset, ClipLayer, ClipPlayer};
/// # let [walk, run, wave] = [(); 3].map(|()| Handle::<ClipAsset>::default());
/// let mut player = ClipPlayer::new(walk);
/// player.current_mut().speed = 1.2;
/// // Change from walking to running within 0.2 s.
/// player.crossfade(run, 0.2);
/// // Add half of a wave, with one arm.
/// player.layers.push(ClipLayer::new(wave).on(["left shoulder"]).with_weight(0.5));
/// ```
#[derive(Component, Clone, Debug)]
#[require(ClipJoints)]
pub struct ClipPlayer {
    current: ClipLayer,
    /// The layers that the current one replaces, the oldest first.
    fading: Vec<ClipLayer>,
    /// The layers above the current one, the lowest first. A layer remains until you remove it,
    /// even after its clip has ended.
    pub layers: Vec<ClipLayer>,
    /// The number of the model's units of length in a metre. It is 1 for models in metres, the unit
    /// of Bevy and glTF, and 100 for models in centimetres.
    pub units_per_m: f32,
}

impl ClipPlayer {
    /// Plays a clip on all joints.
    pub fn new(clip: impl Into<ClipLayer>) -> Self {
        Self { current: clip.into(), fading: Vec::new(), layers: Vec::new(), units_per_m: 1.0 }
    }

    /// Replaces the current layer immediately.
    pub fn play(&mut self, clip: impl Into<ClipLayer>) {
        self.fading.clear();
        self.current = clip.into();
    }

    /// Replaces the current layer. The old clip continues to play while the new layer's weight
    /// rises from 0 to 1. The weight begins to rise as soon as the new clip is loaded.
    pub fn crossfade(&mut self, clip: impl Into<ClipLayer>, over_s: f32) {
        let mut clip = clip.into().with_weight(0.0);
        clip.fade_to(1.0, over_s);
        if self.fading.len() == MAX_FADING {
            self.fading.remove(0);
            self.fading[0].finish_fade();
        }
        self.fading.push(std::mem::replace(&mut self.current, clip));
    }

    /// The layer that plays, or that fades in.
    pub fn current(&self) -> &ClipLayer {
        &self.current
    }

    /// The layer that plays, or that fades in.
    pub fn current_mut(&mut self) -> &mut ClipLayer {
        &mut self.current
    }

    /// The current layer and the layers that it replaces, the oldest first.
    pub(super) fn base(&self) -> impl Iterator<Item = &ClipLayer> {
        self.fading.iter().chain([&self.current])
    }

    /// All layers, the lowest first.
    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut ClipLayer> {
        self.fading.iter_mut().chain([&mut self.current]).chain(&mut self.layers)
    }

    /// Advances the layers whose clips are loaded, and forgets the layers that have been replaced.
    pub(super) fn advance(&mut self, delta_s: f32, clips: &Assets<ClipAsset>) {
        let is_loaded = |layer: &ClipLayer| clips.contains(&layer.clip);
        if !self.fading.is_empty() && !self.fading.iter().any(is_loaded) && is_loaded(&self.current)
        {
            // There is no pose to fade from, so the new layer is shown immediately.
            self.current.finish_fade();
        }
        for layer in self.all_mut() {
            if let Some(clip) = clips.get(&layer.clip) {
                layer.advance(delta_s, clip);
            }
        }
        if !self.current.is_fading() {
            self.fading.clear();
        }
    }
}
