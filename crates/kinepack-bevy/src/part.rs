//! Components that replicate, and the tuples of components that make a kind of entity.
//!
//! A [`Part`] converts a component into a state with a schema, and back. A [`MotionKind`] is a
//! tuple of parts. Kinepack quantizes such a tuple as one state, so each kind of entity is one kind
//! of the schema.

use bevy_ecs::bundle::Bundle;
use bevy_ecs::change_detection::{DetectChangesMut, Mut};
use bevy_ecs::component::{Component, Mutable};
use bevy_ecs::query::{ArchetypeFilter, Changed, Or, QueryData, QueryFilter, ReadOnlyQueryData};
use kinepack::frame::Moment;
use kinepack::{EncodeError, Pack};

/// A state that the server reads from a component, and that the client writes into it.
///
/// Every component that implements [`Pack`], `Clone` and `PartialEq` is its own part. For a
/// component of another crate, write a part by hand, or use one that this crate provides: `Pose`,
/// `CoarserPose` and `ScaledPose` for `Transform`.
///
/// ```
/// use bevy_ecs::change_detection::Mut;
/// use bevy_ecs::component::Component;
/// use kinepack::Pack;
/// use kinepack_bevy::Part;
///
/// /// A component of another crate.
/// #[derive(Component)]
/// struct Door {
///     angle_deg: f32,
///     creaks: bool,
/// }
///
/// /// The part of a door that clients need.
/// #[derive(Pack, Clone)]
/// struct Angle {
///     #[pack(range = 0.0..=90.0, precision = 1.0)]
///     angle_deg: f32,
/// }
///
/// impl Part for Angle {
///     type Component = Door;
///
///     fn read(door: &Door) -> Self {
///         Self { angle_deg: door.angle_deg }
///     }
///
///     fn write(self, mut door: Mut<'_, Door>) {
///         // Write only a real change, so that `Changed<Door>` works on the client.
///         if door.angle_deg != self.angle_deg {
///             door.angle_deg = self.angle_deg;
///         }
///     }
///
///     fn into_component(self) -> Door {
///         Door { angle_deg: self.angle_deg, creaks: false }
///     }
/// }
/// ```
pub trait Part: Pack + Clone + Send + Sync {
    /// The component that the state is read from and written to.
    type Component: Component<Mutability = Mutable>;

    /// Reads the state of a component on the server.
    fn read(component: &Self::Component) -> Self;

    /// Writes the state into the component of an entity on the client. Do not touch a component
    /// that already has this state, so that change detection works.
    fn write(self, component: Mut<'_, Self::Component>);

    /// Makes the component of an entity that appears on the client.
    fn into_component(self) -> Self::Component;
}

impl<C: Component<Mutability = Mutable> + Pack + Clone + PartialEq> Part for C {
    type Component = C;

    fn read(component: &C) -> C {
        component.clone()
    }

    fn write(self, mut component: Mut<'_, C>) {
        component.set_if_neq(self);
    }

    fn into_component(self) -> C {
        self
    }
}

/// The parts that entities of one kind have: a tuple of one to eight [`Part`]s. This crate
/// implements the trait for these tuples, so there is no need to implement it yourself.
pub trait MotionKind: Pack + Clone + Send + Sync {
    /// Reads the components.
    type Read: ReadOnlyQueryData;
    /// Writes the components.
    type Write: QueryData;
    /// Selects entities with a component that was added or changed.
    type IsChanged: QueryFilter;
    /// Selects entities that have the components.
    type Has: ArchetypeFilter;
    /// The components of an entity that appears on the client.
    type Components: Bundle;

    /// Reads the state of an entity's components.
    fn read(components: <Self::Read as QueryData>::Item<'_, '_>) -> Self;

    /// Writes the state into an entity's components.
    fn write(self, components: <Self::Write as QueryData>::Item<'_, '_>);

    /// Makes new components with this state.
    fn into_components(self) -> Self::Components;
}

/// The state of the first fields of an entity at a moment. The kind of the entity begins with the
/// fields of `K`.
pub(crate) fn prefix<K: Pack>(moment: &Moment<'_>) -> Result<K, EncodeError> {
    let Moment { from, to, at } = moment;
    let rows = [from, to].map(|(state, index)| state.lanes_at(*index));
    let lanes = rows.iter().map(ExactSizeIterator::len).min().unwrap_or(0);
    if lanes < K::LANES {
        return Err(EncodeError::LaneCount { expected_lanes: K::LANES, lanes });
    }
    let [from, to] = rows.map(|row| row.take(K::LANES).collect::<Vec<u32>>());
    Ok(K::interpolate(&from, &to, *at))
}

macro_rules! kinds {
    ($($($part:ident $index:tt),+;)*) => {$(
        impl<$($part: Part),+> MotionKind for ($($part,)+) {
            type Read = ($(&'static $part::Component,)+);
            type Write = ($(&'static mut $part::Component,)+);
            type IsChanged = Or<($(Changed<$part::Component>,)+)>;
            type Has = ($(bevy_ecs::query::With<$part::Component>,)+);
            type Components = ($($part::Component,)+);

            fn read(components: <Self::Read as QueryData>::Item<'_, '_>) -> Self {
                ($($part::read(components.$index),)+)
            }

            fn write(self, components: <Self::Write as QueryData>::Item<'_, '_>) {
                $(self.$index.write(components.$index);)+
            }

            fn into_components(self) -> Self::Components {
                ($(self.$index.into_component(),)+)
            }
        }
    )*};
}

kinds! {
    A 0;
    A 0, B 1;
    A 0, B 1, C 2;
    A 0, B 1, C 2, D 3;
    A 0, B 1, C 2, D 3, E 4;
    A 0, B 1, C 2, D 3, E 4, F 5;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6;
    A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7;
}
