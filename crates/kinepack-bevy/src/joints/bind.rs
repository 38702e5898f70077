//! Finds the entities of joints by name, and detects when the search must be repeated.
//!
//! Observers mark the character above each entity that is moved, removed or named. So a frame
//! without such changes costs one check for each character.

use std::sync::Arc;

use bevy_ecs::component::Mutable;
use bevy_ecs::lifecycle::{Add, Discard, Insert};
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use bevy_transform::components::Transform;
use kinepack_anim::Skeleton;

use super::spaces::{Above, Rest};
use super::{FoundJoints, JointNames};

/// A component with the joints of a character, on the character's entity.
pub(crate) trait HasJoints: Component<Mutability = Mutable> {
    fn found(&mut self) -> &mut FoundJoints;
}

/// The hierarchy of entities. A character is an entity with the component `Owner`.
#[derive(SystemParam)]
pub(crate) struct Tree<'w, 's, Owner: Component> {
    children: Query<'w, 's, &'static Children>,
    parents: Parents<'w, 's>,
    names: Query<'w, 's, &'static Name>,
    transforms: Query<'w, 's, &'static Transform>,
    above: Query<'w, 's, &'static Above>,
    is_owner: Query<'w, 's, (), With<Owner>>,
    /// Scratch memory: the entities below a character, the upper ones first.
    queue: Local<'s, Vec<Entity>>,
}

/// The joints to find.
pub(crate) struct Target<'a> {
    pub(crate) skeleton: &'a Arc<Skeleton>,
    pub(crate) names: &'a JointNames,
    pub(crate) units_per_m: f32,
    /// The advice for the log if no entity is a joint.
    pub(crate) advice: &'static str,
}

impl<Owner: Component> Tree<'_, '_, Owner> {
    /// Finds the joints below a character, and the spaces of its root joints.
    pub(crate) fn bind(
        &mut self,
        commands: &mut Commands,
        owner: Entity,
        target: &Target,
        found: &mut FoundJoints,
    ) {
        found.reset(target.skeleton);
        let named = self.find(owner, target, found);
        report(found, named, owner, target.advice);
        self.place(commands, found, target);
    }

    /// Finds the joints below a character, the upper ones first, and returns the number of names.
    /// The search does not enter the hierarchy below other characters.
    fn find(&mut self, owner: Entity, target: &Target, found: &mut FoundJoints) -> usize {
        let mut named = 0;
        self.queue.clear();
        self.queue.extend(self.children.get(owner).into_iter().flatten());
        let mut next = 0;
        while let Some(&entity) = self.queue.get(next) {
            next += 1;
            if self.is_owner.contains(entity) {
                continue;
            }
            self.queue.extend(self.children.get(entity).into_iter().flatten());
            let Ok(name) = self.names.get(entity) else { continue };
            named += 1;
            if let Some(joint) = target.names.find(target.skeleton, name)
                && found.entities[joint].is_none()
            {
                found.entities[joint] = Some(entity);
            }
        }
        named
    }

    /// Finds the spaces of the root joints.
    fn place(&self, commands: &mut Commands, found: &mut FoundJoints, target: &Target) {
        let skeleton = target.skeleton;
        let rest = |entity: &Option<Entity>| self.transforms.get((*entity)?).ok().copied();
        let rest = found.entities.iter().map(rest).collect();
        let rest = Rest { skeleton, units_per_m: target.units_per_m, joints: rest };
        for root in (0..skeleton.len()).filter(|joint| skeleton.parent(*joint).is_none()) {
            let Some(entity) = found.entity(root) else { continue };
            let known = self.above.get(entity).ok().map(|above| above.0);
            let ancestors = self.parents.iter_ancestors(entity);
            let ancestors = ancestors
                .map(|ancestor| self.transforms.get(ancestor).copied().unwrap_or_default());
            if let Some(above) = known.or_else(|| rest.above(root, ancestors)) {
                found.spaces.put(root, above, skeleton);
                if known.is_none() {
                    commands.entity(entity).try_insert(Above(above));
                }
            }
        }
    }
}

fn report(found: &FoundJoints, named: usize, owner: Entity, advice: &str) {
    let missing = found.missing().count();
    if named > 0 && missing == found.entities.len() {
        log::warn!(
            "kinepack-bevy: none of the {named} named entities below {owner} is a joint: {advice}"
        );
    } else if missing > 0 {
        let names: Vec<&str> = found.missing().take(5).collect();
        log::debug!("kinepack-bevy: {missing} joints are not below {owner}: {names:?}");
    }
}

pub(crate) type Parents<'w, 's> = Query<'w, 's, &'static ChildOf>;

/// Marks the nearest character above an entity.
pub(crate) fn mark_above<J: HasJoints>(
    entity: Entity,
    parents: &Parents,
    joints: &mut Query<&mut J>,
) {
    for ancestor in parents.iter_ancestors(entity) {
        if let Ok(mut joints) = joints.get_mut(ancestor) {
            joints.found().is_current = false;
            return;
        }
    }
}

pub(crate) fn on_insert<J: HasJoints>(
    insert: On<Insert, (ChildOf, Name)>,
    parents: Parents,
    mut joints: Query<&mut J>,
) {
    mark_above(insert.entity, &parents, &mut joints);
}

pub(crate) fn on_discard<J: HasJoints>(
    discard: On<Discard, (ChildOf, Name)>,
    parents: Parents,
    mut joints: Query<&mut J>,
) {
    mark_above(discard.entity, &parents, &mut joints);
}

/// Marks the character above a new one, because the new one owns its part of the hierarchy.
pub(crate) fn on_add_owner<Owner: Component, J: HasJoints>(
    add: On<Add, Owner>,
    parents: Parents,
    mut joints: Query<&mut J>,
) {
    mark_above(add.entity, &parents, &mut joints);
}
