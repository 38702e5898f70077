//! Rewinding: what a player saw when he made an input. A client sends a stamp in its inputs, and
//! the server finds the very components that the client's plugin had written.

use std::any::TypeId;
use std::fmt;

use bevy_ecs::change_detection::ResMut;
use bevy_ecs::entity::Entity;
use bevy_ecs::message::MessageReader;
use bevy_ecs::system::{Query, SystemParam};
use kinepack::{EncodeError, EntityId};
use kinepack_net::{Past, ReceiverId, RewindError, Sample, Seen};

use super::{Input, MotionServer};
use crate::MotionId;
use crate::late::KindSetup;
use crate::part::{MotionKind, prefix};

/// An input with a stamp of what the client showed when the player made it. The client gets the
/// stamp from [`MotionClient::seen`](crate::MotionClient::seen).
///
/// ```
/// use kinepack::Pack;
/// use kinepack_bevy::SeenInput;
/// use kinepack_net::Seen;
///
/// #[derive(Pack)]
/// struct Aim {
///     #[pack(range = 0.0..360.0, bits = 16, wrap)]
///     angle_deg: f32,
///     fires: bool,
///     seen: Option<Seen>,
/// }
///
/// impl SeenInput for Aim {
///     fn seen(&self) -> Option<Seen> {
///         self.seen
///     }
/// }
/// ```
pub trait SeenInput: Send + Sync + 'static {
    /// The stamp. `None` if the client had no state yet.
    fn seen(&self) -> Option<Seen>;
}

/// Reads the inputs of clients, each with the world as its player saw it: a system's parameter.
///
/// Every input is rewound, even if it does not need the past, so that a client cannot choose among
/// moments afterwards. So read all inputs with this, in one system. The server must have
/// [`MotionServerPlugin::rewind`](crate::MotionServerPlugin::rewind).
///
/// ```
/// use bevy_app::{App, FixedUpdate};
/// use bevy_ecs::prelude::*;
/// use bevy_transform::components::Transform;
/// use kinepack::Pack;
/// use kinepack_bevy::{
///     InputTick, MotionAppExt, MotionClient, MotionInputClock, MotionInputs, MotionServerPlugin,
///     MotionSettings, Moving, Pose, RewoundInputs, SeenInput,
/// };
/// use kinepack_net::{RewindConfig, Seen};
///
/// #[derive(Component, Pack, Clone, Default, PartialEq)]
/// #[require(Moving, Transform)]
/// struct Ship;
/// type ShipKind = (Ship, Pose<2_000, 100, 11>);
///
/// #[derive(Pack)]
/// struct Aim {
///     #[pack(range = -2_000.0..=2_000.0, precision = 0.01)]
///     at: [f32; 2],
///     fires: bool,
///     seen: Option<Seen>,
/// }
///
/// impl SeenInput for Aim {
///     fn seen(&self) -> Option<Seen> {
///         self.seen
///     }
/// }
///
/// fn aim(
///     client: Res<MotionClient>,
///     clock: Res<MotionInputClock>,
///     mut aims: ResMut<MotionInputs<Aim>>,
/// ) -> Result {
///     let aim = Aim { at: [3.0, 4.0], fires: true, seen: client.seen() };
///     aims.push_for_tick(clock.tick(), &aim)?;
///     Ok(())
/// }
///
/// fn shoot(
///     mut aims: RewoundInputs<Aim>,
///     ships: Query<Entity, With<Ship>>,
///     mut commands: Commands,
/// ) {
///     while let Some((aim, past)) = aims.read_next() {
///         let Ok(past) = past else { continue };
///         for ship in ships.iter().filter(|_| aim.input.fires) {
///             // The components as they were on the player's screen.
///             let Ok((_, seen)) = past.components::<ShipKind>(ship) else { continue };
///             if seen.translation.truncate().distance(aim.input.at.into()) < 1.0 {
///                 commands.entity(ship).despawn();
///             }
///         }
///     }
/// }
///
/// /// Both sides call this.
/// fn register(app: &mut App) {
///     app.add_motion_kind::<ShipKind>("ship").add_motion_tick_input::<Aim>();
/// }
///
/// fn server(app: &mut App) {
///     let rewind = Some(RewindConfig::at_hz(60));
///     let plugin = MotionServerPlugin::new(MotionSettings::at_hz(60));
///     app.add_plugins(MotionServerPlugin { rewind, ..plugin }).add_systems(FixedUpdate, shoot);
/// }
///
/// fn client(app: &mut App) {
///     app.add_systems(InputTick, aim);
/// }
/// # let [mut at_server, mut at_client] = [App::new(), App::new()];
/// # at_server.add_plugins(bevy_time::TimePlugin);
/// # [&mut at_server, &mut at_client].map(register);
/// # server(&mut at_server);
/// # client(&mut at_client);
/// # at_server.finish();
/// # at_server.update();
/// ```
#[derive(SystemParam)]
pub struct RewoundInputs<'w, 's, I: SeenInput> {
    inputs: MessageReader<'w, 's, Input<I>>,
    rewind: MotionRewind<'w, 's>,
}

impl<I: SeenInput> RewoundInputs<'_, '_, I> {
    /// The next input that this system has not read, and the world as the player saw it. `None` if
    /// there are no more inputs.
    ///
    /// The past is an error if the stamp is refused: see [`RewindError`]. Without a stamp, it is
    /// [`RewindError::NothingShown`]. A [late](Input::late) input may be [`RewindError::RunsBack`].
    ///
    /// Cost: that of [`Hub::rewind`](kinepack_net::Hub::rewind).
    pub fn read_next(&mut self) -> Option<(&Input<I>, Result<MotionPast<'_>, RewindError>)> {
        let input = self.inputs.read().next()?;
        let past = match input.input.seen() {
            Some(seen) => self.rewind.rewind(input.client, seen),
            None => Err(RewindError::NothingShown),
        };
        Some((input, past))
    }
}

/// Rewinds the world to what a player saw: a system's parameter. [`RewoundInputs`] does this for
/// each input, and has an example. Use this one instead if a game keeps its inputs elsewhere.
#[derive(SystemParam)]
pub struct MotionRewind<'w, 's> {
    server: ResMut<'w, MotionServer>,
    ids: Query<'w, 's, &'static MotionId>,
}

impl MotionRewind<'_, '_> {
    /// What a client showed when its player made an input with the stamp `seen`. Call this for each
    /// input, in order, even if there is nothing to find: then a client cannot choose among
    /// moments.
    ///
    /// # Errors
    /// Returns the errors of [`Hub::rewind`](kinepack_net::Hub::rewind).
    pub fn rewind(
        &mut self,
        client: ReceiverId,
        seen: Seen,
    ) -> Result<MotionPast<'_>, RewindError> {
        let MotionServer { hub, setups, .. } = &mut *self.server;
        Ok(MotionPast { past: hub.rewind(client, seen)?, ids: &self.ids, setups })
    }
}

/// The world as a client showed it at a moment. Entities are those of the server.
pub struct MotionPast<'a> {
    past: Past<'a>,
    ids: &'a Query<'a, 'a, &'static MotionId>,
    setups: &'a [KindSetup],
}

impl<'a> MotionPast<'a> {
    /// An entity's components as the client's plugin had written them, bit for bit: in world
    /// coordinates, and [extrapolated](crate::MotionAppExt::extrapolate_motion) or
    /// [continued](crate::MotionAppExt::continue_motion) if the next state was late. It does not
    /// have what [`smooth_motion`](crate::MotionAppExt::smooth_motion) adds.
    ///
    /// `K` are the components of the entity's kind, as it was registered. What a component has
    /// besides is as in [`Part::into_component`](crate::Part::into_component).
    ///
    /// # Errors
    /// Returns [`PastError::NoId`], and in [`PastError::Rewind`]: [`RewindError::NotShown`],
    /// [`RewindError::TooOld`], [`RewindError::State`] for another kind than the entity's, and
    /// [`RewindError::Frame`] if the client did not know the entity's place either.
    pub fn components<K: MotionKind>(&self, entity: Entity) -> Result<K::Components, PastError> {
        let (id, sample, setup) = self.sample_of::<K>(entity)?;
        let mut state = self.past.in_world_with(id, prefix::<K>)?;
        if let Some(continuation) = setup.continuation::<K>() {
            continuation.apply(&mut state, sample.starved_for());
        }
        Ok(state.into_components())
    }

    /// An entity's state as the client had it, bit for bit. Fields that are relative to a
    /// [frame](kinepack::frame) remain so.
    ///
    /// # Errors
    /// As for [`components`](Self::components).
    pub fn state<K: MotionKind>(&self, entity: Entity) -> Result<K, PastError> {
        let (_, sample, _) = self.sample_of::<K>(entity)?;
        let (from, to) = (sample.from, sample.to);
        let moment = kinepack::frame::Moment { from, to, at: sample.between };
        Ok(prefix(&moment).map_err(RewindError::State)?)
    }

    /// The body of a figure as the client showed it. `kind` is the figure's kind, and `K` are the
    /// other components, as they were registered. The joints and curves of absent parts are in the
    /// bind pose, because the client may show them as it likes.
    ///
    /// # Errors
    /// As for [`components`](Self::components).
    #[cfg(feature = "figure")]
    pub fn body<K: MotionKind>(
        &self,
        entity: Entity,
        kind: &crate::figure::FigureKind,
    ) -> Result<crate::figure::FigureBody, PastError> {
        let (_, sample, _) = self.sample_of::<K>(entity)?;
        Ok(crate::figure::body_of::<K>(kind, &sample).map_err(RewindError::State)?)
    }

    /// The past itself, for what the other methods do not read, such as
    /// [`Past::tick`] and [`Past::motion`].
    pub fn past(&self) -> &Past<'a> {
        &self.past
    }

    /// The id of an entity.
    ///
    /// # Errors
    /// Returns [`PastError::NoId`].
    pub fn id(&self, entity: Entity) -> Result<EntityId, PastError> {
        let id = self.ids.get(entity).map_err(|_| PastError::NoId { entity })?;
        Ok(id.entity_id())
    }

    /// An entity's id, its sample and its kind, if that has the components `K`.
    fn sample_of<K: MotionKind>(
        &self,
        entity: Entity,
    ) -> Result<(EntityId, Sample<'a>, &'a KindSetup), PastError> {
        let id = self.id(entity)?;
        let sample = self.past.sample(id)?;
        let (state, index) = sample.from;
        let setup = state.kind_at(index).and_then(|kind| self.setups.get(kind));
        let setup = setup.filter(|setup| setup.of == TypeId::of::<K>());
        let setup = setup.ok_or(RewindError::State(EncodeError::AnotherKind { id: id.0 }))?;
        Ok((id, sample, setup))
    }
}

impl fmt::Debug for MotionPast<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MotionPast").field("past", &self.past).finish_non_exhaustive()
    }
}

/// Why an entity's past is not known.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PastError {
    /// The entity has no [`MotionId`], so no client has ever shown it.
    NoId {
        /// The entity.
        entity: Entity,
    },
    /// The hub does not know it.
    Rewind(RewindError),
}

impl From<RewindError> for PastError {
    fn from(error: RewindError) -> Self {
        Self::Rewind(error)
    }
}

impl fmt::Display for PastError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoId { entity } => write!(f, "entity {entity} has no `MotionId`"),
            Self::Rewind(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PastError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Rewind(error) => Some(error),
            Self::NoId { .. } => None,
        }
    }
}
