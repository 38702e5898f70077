//! Rounds components as the network does, on the server.

use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use bevy_ecs::query::{Or, With, Without};
use bevy_ecs::system::{Local, ParamSet, Query};

use super::Moving;
use super::collect::{OfKind, StateRows};
use crate::MotionId;
use crate::part::MotionKind;

/// Marks an entity of the server whose components are rounded after each tick of the game, to what
/// the clients get. A client that [predicts](crate::MotionAppExt::add_motion_prediction) the entity
/// then computes the same bits as the server.
///
/// The plugin rounds changed components in `FixedLast`, in
/// [`MotionServerSystems::Round`](super::MotionServerSystems::Round). Without this component, the
/// client's predictions are off by steps of the quantizer, and corrected all the time.
///
/// An entity that moves by less than half a step in a tick stays where it is. So use it for
/// entities that are predicted, and give these a fine precision.
///
/// ```
/// use bevy_ecs::component::Component;
/// use kinepack::Pack;
/// use kinepack_bevy::{Moving, Rounded};
///
/// #[derive(Component, Pack, Clone, Default, PartialEq)]
/// #[require(Moving, Rounded)]
/// struct Walker {
///     #[pack(range = -256.0..256.0, precision = 1.0 / 512.0)]
///     position: [f32; 2],
/// }
/// ```
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct Rounded;

/// Selects entities of the kind. In its first tick, an entity does not have a kind yet, and may be
/// of an earlier kind.
type IsOfKind<K> = Or<(With<OfKind<StateRows<K>>>, Without<MotionId>)>;
type IsChanged<K> = (With<Moving>, With<Rounded>, IsOfKind<K>, <K as MotionKind>::IsChanged);

type Changed<'w, 's, K> = Query<'w, 's, (Entity, <K as MotionKind>::Read), IsChanged<K>>;

/// Rounds the changed components of a kind.
pub(crate) fn round<K: MotionKind>(
    mut components: ParamSet<'_, '_, (Changed<'_, '_, K>, Query<K::Write>)>,
    mut rounded: Local<Vec<(Entity, K)>>,
) {
    for (entity, components) in &components.p0() {
        // If a value is refused, the tick counts that and sends nothing.
        let state = K::read(components).rounded();
        rounded.extend(state.ok().map(|state| (entity, state)));
    }
    let mut write = components.p1();
    for (entity, state) in rounded.drain(..) {
        if let Ok(components) = write.get_mut(entity) {
            state.write(components);
        }
    }
}
