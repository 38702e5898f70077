//! An app with a crowd, and a clock that measures the systems that animate it.

use std::time::{Duration, Instant};

use bevy_animation::{AnimationPlayer, AnimationPlugin};
use bevy_app::{AnimationSystems, App, PostUpdate};
use bevy_asset::{AssetPlugin, Assets};
use bevy_ecs::prelude::*;
use bevy_time::{TimePlugin, TimeUpdateStrategy};
use bevy_transform::components::Transform;
use bevy_transform::{TransformPlugin, TransformSystems};
use kinepack_bevy::clips::{ClipAsset, ClipLayer, ClipPlayer, ClipsPlugin};

use crate::bevy;
use crate::figure::spawn_joints;
use crate::scenario::Scenario;
use crate::walks::Random;

pub(crate) const CHARACTERS: usize = 1000;
const FRAME: Duration = Duration::from_nanos(16_666_667);

/// The clips of one side.
pub(crate) enum Clips {
    Bevy(Vec<bevy_animation::AnimationClip>),
    Kinepack(Vec<ClipAsset>),
}

/// A crowd that plays clips of one side.
pub(crate) struct Crowd {
    app: App,
    roots: Vec<Entity>,
    joints: Vec<Vec<Entity>>,
}

/// The time that the systems took in one frame.
#[derive(Resource, Clone, Copy)]
pub(crate) struct Frame {
    begun: Instant,
    pub(crate) animated: Duration,
    pub(crate) propagated: Duration,
}

impl Crowd {
    pub(crate) fn new(scenario: &Scenario, clips: Clips) -> Self {
        let mut app = App::new();
        let zero = Duration::ZERO;
        app.add_plugins((TimePlugin, TransformPlugin, AssetPlugin::default()))
            .insert_resource(TimeUpdateStrategy::ManualDuration(FRAME))
            .insert_resource(Frame { begun: Instant::now(), animated: zero, propagated: zero });
        // Each side has only its own plugin.
        match clips {
            Clips::Bevy(_) => app.add_plugins(AnimationPlugin),
            Clips::Kinepack(_) => app.add_plugins(ClipsPlugin),
        };
        app.add_systems(
            PostUpdate,
            (
                (|mut frame: ResMut<Frame>| frame.begun = Instant::now())
                    .before(AnimationSystems)
                    .before(TransformSystems::Propagate),
                (|mut frame: ResMut<Frame>| frame.animated = frame.begun.elapsed())
                    .after(AnimationSystems)
                    .before(TransformSystems::Propagate),
                (|mut frame: ResMut<Frame>| frame.propagated = frame.begun.elapsed())
                    .after(TransformSystems::Propagate),
            ),
        );
        app.finish();
        app.cleanup();
        let mut crowd = Self { app, roots: Vec::new(), joints: Vec::new() };
        crowd.spawn(scenario, clips);
        crowd
    }

    fn spawn(&mut self, scenario: &Scenario, clips: Clips) {
        let (skeleton, mut random) = (scenario.skeleton(), Random(1));
        let count = scenario.raw.len();
        let (mut graphs, mut handles) = (Vec::new(), Vec::new());
        match clips {
            Clips::Bevy(clips) => graphs = bevy::graphs(&mut self.app, scenario, clips),
            Clips::Kinepack(clips) => {
                let mut assets = self.app.world_mut().resource_mut::<Assets<ClipAsset>>();
                handles = clips.into_iter().map(|clip| assets.add(clip)).collect();
            }
        }
        let world = self.app.world_mut();
        for character in 0..CHARACTERS {
            let root = world.spawn(Transform::from_xyz(character as f32, 0.0, 0.0)).id();
            let joints = spawn_joints(world, root, skeleton);
            let played = scenario.played(character % count);
            let times_s: Vec<f32> =
                played.map(|index| random.between(0.0, scenario.raw[index].duration_s())).collect();
            if let Some(graph) = graphs.get(character % count) {
                bevy::animate(world, (root, &joints), graph, &times_s, skeleton);
            } else {
                let mut layers = scenario.played(character % count).zip(&times_s).enumerate().map(
                    |(above, (index, time_s))| {
                        // Each layer is blended with all layers below it. This weight gives all
                        // clips equal weights.
                        let layer = ClipLayer::new(handles[index].clone()).starting_at(*time_s);
                        layer.with_weight(1.0 / (above + 1) as f32)
                    },
                );
                if let Some(first) = layers.next() {
                    let mut player = ClipPlayer::new(first);
                    player.layers.extend(layers);
                    world.entity_mut(root).insert(player);
                }
            }
            self.roots.push(root);
            self.joints.push(joints);
        }
    }

    pub(crate) fn frame(&mut self) -> Frame {
        self.app.update();
        *self.app.world().resource::<Frame>()
    }

    /// Shows all characters at the time `sample`, in samples of 1/30 s, and returns the joints'
    /// transforms.
    pub(crate) fn poses_at(&mut self, sample: f32) -> Vec<Vec<Transform>> {
        let world = self.app.world_mut();
        for root in &self.roots {
            if let Some(mut player) = world.get_mut::<AnimationPlayer>(*root) {
                for (_, playing) in player.playing_animations_mut() {
                    playing.pause().set_seek_time(sample / 30.0);
                }
            }
            if let Some(mut player) = world.get_mut::<ClipPlayer>(*root) {
                let show = |layer: &mut ClipLayer| {
                    (layer.time_s, layer.is_paused) = (sample / 30.0, true);
                };
                show(player.current_mut());
                player.layers.iter_mut().for_each(show);
            }
        }
        self.app.update();
        let world = self.app.world();
        let transform =
            |joint: &Entity| world.get::<Transform>(*joint).copied().unwrap_or_default();
        self.joints.iter().map(|joints| joints.iter().map(transform).collect()).collect()
    }
}
