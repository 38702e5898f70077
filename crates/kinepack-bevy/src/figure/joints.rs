//! The entities of a body's joints, and the systems that read and write them.

use std::sync::Arc;

use bevy_ecs::change_detection::DetectChangesMut;
use bevy_ecs::lifecycle::Remove;
use bevy_ecs::prelude::*;
use bevy_transform::components::Transform;

use super::FigureBody;
use crate::joints::{FoundJoints, HasJoints, Parents, Target, Tree, in_cm, in_units, mark_above};
use crate::{Moving, Predicted};

/// The entities that are the joints of a [`FigureBody`]. The plugin fills this component, and
/// renews it when entities below the body are added, removed, moved or named.
#[derive(Component, Clone, Debug, Default)]
pub struct FigureJoints {
    found: FoundJoints,
}

impl FigureJoints {
    /// The entity of the joint with the index `joint` in the skeleton.
    pub fn entity(&self, joint: usize) -> Option<Entity> {
        self.found.entity(joint)
    }

    /// The names of the skeleton's joints that no entity has. The server sends what the
    /// [`FigureBody`] has there, which is the bind pose at first.
    pub fn missing(&self) -> impl Iterator<Item = &str> {
        self.found.missing()
    }

    /// Whether the entities are the joints of `body`.
    fn are_of(&self, body: &FigureBody) -> bool {
        let skeleton = body.kind().skeleton();
        self.found.is_current
            && self.found.skeleton().is_some_and(|found| Arc::ptr_eq(found, skeleton))
    }
}

impl HasJoints for FigureJoints {
    fn found(&mut self) -> &mut FoundJoints {
        &mut self.found
    }
}

/// Finds the joints of bodies that are new, or whose hierarchy changed.
pub(super) fn bind(
    mut commands: Commands,
    mut bodies: Query<(Entity, &FigureBody, &mut FigureJoints)>,
    mut tree: Tree<FigureBody>,
) {
    for (entity, body, mut joints) in &mut bodies {
        if !joints.are_of(body) {
            let kind = body.kind();
            let target = Target {
                skeleton: kind.skeleton(),
                names: kind.names(),
                units_per_m: kind.units_per_m(),
                advice: "make the figure's kind from the skeleton of the model",
            };
            tree.bind(&mut commands, entity, &target, &mut joints.found);
        }
    }
}

/// Reads the bodies' poses from the joints, on the server. A body that keeps its pose does not
/// count as changed.
pub(super) fn read(
    mut bodies: Query<(&mut FigureBody, &FigureJoints), With<Moving>>,
    transforms: Query<&Transform>,
) {
    for (mut body, joints) in &mut bodies {
        let mut is_changed = false;
        let own = body.bypass_change_detection();
        let units_per_m = own.kind().units_per_m();
        for (joint, pose) in own.joints_mut().iter_mut().enumerate() {
            let entity = joints.entity(joint);
            let Some(transform) = entity.and_then(|entity| transforms.get(entity).ok()) else {
                continue;
            };
            let new = in_cm(&joints.found.spaces.model(joint, *transform), units_per_m);
            if *pose != new {
                *pose = new;
                is_changed = true;
            }
        }
        if is_changed {
            body.set_changed();
        }
    }
}

/// Writes the bodies' poses to the joints, on a client. A transform that keeps its value does not
/// count as changed.
pub(super) fn write(
    bodies: Query<(&FigureBody, &FigureJoints), Without<Predicted>>,
    mut transforms: Query<&mut Transform>,
) {
    for (body, joints) in &bodies {
        let units_per_m = body.kind().units_per_m();
        for (joint, pose) in body.joints().iter().enumerate() {
            if let Some(entity) = joints.entity(joint)
                && body.has(joint)
                && let Ok(mut transform) = transforms.get_mut(entity)
            {
                let new = joints.found.spaces.local(joint, in_units(pose, units_per_m));
                transform.set_if_neq(new);
            }
        }
    }
}

pub(super) fn on_remove_body(
    remove: On<Remove, FigureBody>,
    mut commands: Commands,
    parents: Parents,
    mut joints: Query<&mut FigureJoints>,
) {
    mark_above(remove.entity, &parents, &mut joints);
    commands.entity(remove.entity).try_remove::<FigureJoints>();
}
