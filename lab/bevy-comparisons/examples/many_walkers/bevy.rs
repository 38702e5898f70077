//! Plays the motion as Bevy's own clips.

use std::error::Error;
use std::fmt::Debug;

use bevy_animation::graph::{AnimationGraph, AnimationGraphHandle, AnimationNodeIndex};
use bevy_animation::prelude::{AnimatableCurve, AnimatableProperty, AnimatedField};
use bevy_animation::{
    AnimatedBy, AnimationClip, AnimationPlayer, AnimationTargetId, animated_field,
};
use bevy_app::App;
use bevy_asset::{Assets, Handle};
use bevy_ecs::prelude::*;
use bevy_math::curve::{Interval, SampleAutoCurve, UnevenSampleAutoCurve};
use bevy_math::{Quat, StableInterpolate, Vec3};
use bevy_reflect::{FromReflect, Reflectable};
use bevy_transform::components::Transform;
use kinepack_anim::{RawClip, Skeleton};

use crate::scenario::Scenario;

/// How a clip stores its samples.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Keys {
    /// Each key has a time and a value, as Bevy's glTF loader stores them.
    Timed,
    /// Values are at evenly spaced times. This takes less memory, and needs no search for a time.
    Even,
}

/// Makes Bevy's clip for each raw clip. As in a glTF file, the clip has only tracks that change.
pub(crate) fn clips(scenario: &Scenario, keys: Keys) -> Result<Vec<AnimationClip>, Box<dyn Error>> {
    scenario.raw.iter().map(|raw| clip(raw, keys)).collect()
}

fn clip(raw: &RawClip, keys: Keys) -> Result<AnimationClip, Box<dyn Error>> {
    let mut clip = AnimationClip::default();
    for (joint, target) in targets(raw.skeleton()).into_iter().enumerate() {
        let values = |value: fn(&kinepack_anim::Transform) -> Vec3| {
            raw.poses().map(|pose| value(&pose[joint])).collect::<Vec<_>>()
        };
        let rotations =
            raw.poses().map(|pose| Quat::from_array(pose[joint].rotation)).collect::<Vec<_>>();
        let translations = values(|joint| joint.translation_m().into());
        let scales = values(|joint| joint.scale.into());
        add(&mut clip, target, (raw, keys), animated_field!(Transform::rotation), rotations)?;
        add(&mut clip, target, (raw, keys), animated_field!(Transform::translation), translations)?;
        add(&mut clip, target, (raw, keys), animated_field!(Transform::scale), scales)?;
    }
    clip.set_duration(raw.duration_s());
    Ok(clip)
}

/// Adds the curve of a track if the track changes. Other tracks have the values of the bind pose.
fn add<P>(
    clip: &mut AnimationClip,
    target: AnimationTargetId,
    (raw, keys): (&RawClip, Keys),
    property: P,
    values: Vec<P::Property>,
) -> Result<(), Box<dyn Error>>
where
    P: AnimatableProperty + Clone,
    P::Property: StableInterpolate + PartialEq + Clone + Debug + FromReflect + Reflectable,
{
    if values.windows(2).all(|pair| pair[0] == pair[1]) {
        return Ok(());
    }
    match keys {
        Keys::Timed => {
            let times = (0..values.len()).map(|sample| sample as f32 / raw.rate_hz());
            let curve = UnevenSampleAutoCurve::new(times.zip(values))?;
            clip.add_curve_to_target(target, AnimatableCurve::new(property, curve));
        }
        Keys::Even => {
            let domain = Interval::new(0.0, raw.duration_s())?;
            let curve = SampleAutoCurve::new(domain, values)?;
            clip.add_curve_to_target(target, AnimatableCurve::new(property, curve));
        }
    }
    Ok(())
}

/// Returns the target of each joint, from the names of the joints above it.
fn targets(skeleton: &Skeleton) -> Vec<AnimationTargetId> {
    (0..skeleton.len())
        .map(|joint| {
            let above = std::iter::successors(Some(joint), |joint| skeleton.parent(*joint));
            let mut names: Vec<Name> =
                above.map(|joint| Name::new(skeleton.joints()[joint].name.clone())).collect();
            names.reverse();
            AnimationTargetId::from_names(names.iter())
        })
        .collect()
}

/// Makes a graph for each character, which contains only that character's clips.
pub(crate) fn graphs(
    app: &mut App,
    scenario: &Scenario,
    clips: Vec<AnimationClip>,
) -> Vec<(Handle<AnimationGraph>, Vec<AnimationNodeIndex>)> {
    let mut assets = app.world_mut().resource_mut::<Assets<AnimationClip>>();
    let clips: Vec<_> = clips.into_iter().map(|clip| assets.add(clip)).collect();
    let graphs: Vec<_> = (0..clips.len())
        .map(|first| {
            let played = scenario.played(first).map(|index| clips[index].clone());
            AnimationGraph::from_clips(played.collect::<Vec<_>>())
        })
        .collect();
    let mut assets = app.world_mut().resource_mut::<Assets<AnimationGraph>>();
    graphs.into_iter().map(|(graph, nodes)| (assets.add(graph), nodes)).collect()
}

/// Lets Bevy animate a character, with the same weight for each of its clips.
pub(crate) fn animate(
    world: &mut World,
    (root, joints): (Entity, &[Entity]),
    (graph, nodes): &(Handle<AnimationGraph>, Vec<AnimationNodeIndex>),
    times_s: &[f32],
    skeleton: &Skeleton,
) {
    let mut player = AnimationPlayer::default();
    for (node, time_s) in nodes.iter().zip(times_s) {
        let weight = 1.0 / nodes.len() as f32;
        player.play(*node).repeat().set_weight(weight).seek_to(*time_s);
    }
    world.entity_mut(root).insert((player, AnimationGraphHandle(graph.clone())));
    for (entity, target) in joints.iter().zip(targets(skeleton)) {
        world.entity_mut(*entity).insert((target, AnimatedBy(root)));
    }
}
