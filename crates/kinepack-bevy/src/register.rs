//! Registers what replicates: kinds of entities, events and inputs. A server and its clients must
//! register the same things, in the same order.

use std::any::{TypeId, type_name};
use std::time::Duration;

use bevy_app::{App, FixedLast};
use bevy_ecs::change_detection::Mut;
use bevy_ecs::schedule::IntoScheduleConfigs;
use bevy_ecs::schedule::common_conditions::resource_exists;
use bevy_ecs::world::World;
use kinepack::schema::SchemaBuilder;
use kinepack::stream::StreamCodec;
use kinepack::{Pack, Schema, Tick};
use kinepack_net::{EventKinds, Extrapolation, Own, PredictConfig};

use crate::client::{
    ClientPort, Corrected, Happened, MotionClient, Prediction, ShowKind, Shown, ShownState, hear,
};
use crate::late::KindSetup;
use crate::part::MotionKind;
use crate::registry::{InputType, PredictionType, Registry};
use crate::server::{
    CollectKind, Emit, Input, MotionServer, MotionServerSystems, ReadInputs, Rows, StateRows,
    emit_all, round,
};

/// Methods of [`App`] that register what replicates. Call them on the server and on its clients, in
/// the same order, before or after you add the plugins. They panic once the app runs.
pub trait MotionAppExt {
    /// Registers a kind of entity. The name distinguishes it from other kinds in messages and
    /// tools.
    ///
    /// An entity with [`Moving`](crate::Moving) belongs to the first registered kind whose
    /// components it has. So register a kind before another kind with fewer of the same components.
    /// Or give each kind a marker, such as `Ship` here.
    ///
    /// ```
    /// use bevy_app::App;
    /// use bevy_ecs::component::Component;
    /// use kinepack::Pack;
    /// use kinepack_bevy::{MotionAppExt, Pose};
    ///
    /// #[derive(Component, Pack, Clone, PartialEq)]
    /// struct Ship;
    ///
    /// #[derive(Component, Pack, Clone, PartialEq)]
    /// struct Shield(#[pack(max = 100)] u8);
    ///
    /// # let mut app = App::new();
    /// app.add_motion_kind::<(Ship, Pose<2_000, 100, 11>, Shield)>("ship");
    /// ```
    fn add_motion_kind<K: MotionKind>(&mut self, name: &str) -> &mut Self;

    /// Registers a kind of entity with a body: the components `K`, and a
    /// [`FigureBody`](crate::figure::FigureBody). The module [`figure`](crate::figure) has an
    /// example.
    ///
    /// The components determine an entity's kind, as for
    /// [`add_motion_kind`](Self::add_motion_kind). So two kinds of bodies need different markers.
    ///
    /// # Panics
    /// Panics if the figure's fields make no schema, for example because there are too many.
    #[cfg(feature = "figure")]
    fn add_motion_figure<K: MotionKind>(
        &mut self,
        name: &str,
        kind: &crate::figure::FigureKind,
    ) -> &mut Self;

    /// Sets what clients show of entities whose next state is late. At first, kinds are
    /// [held](Extrapolation::Hold). Call this on both sides: a server that
    /// [rewinds](crate::MotionRewind) must know what its clients show.
    ///
    /// If any kind is not held, playback runs on while it waits. All kinds then may return from a
    /// wrong place: see [`smooth_motion`](Self::smooth_motion).
    ///
    /// A plugin panics in `finish` if the time is above a second.
    ///
    /// ```
    /// use std::time::Duration;
    /// use bevy_app::App;
    /// use bevy_ecs::component::Component;
    /// use kinepack::Pack;
    /// use kinepack_bevy::{MotionAppExt, Pose};
    /// use kinepack_net::Extrapolation;
    ///
    /// #[derive(Component, Pack, Clone, PartialEq)]
    /// struct Car;
    /// type CarKind = (Car, Pose<2_000, 100, 11>);
    ///
    /// # let mut app = App::new();
    /// // Cars drive on for up to 100 ms, and return to their places within 200 ms.
    /// let straight = Extrapolation::Straight { at_most: Duration::from_millis(100) };
    /// app.add_motion_kind::<CarKind>("car")
    ///     .extrapolate_motion::<CarKind>(straight)
    ///     .smooth_motion::<CarKind>(Duration::from_millis(200));
    /// ```
    ///
    /// # Panics
    /// Panics if no kind with the components `K` is registered yet.
    fn extrapolate_motion<K: MotionKind>(&mut self, extrapolation: Extrapolation) -> &mut Self;

    /// Moves entities whose next state is late by the game's own rules, for at most a second:
    /// [`Extrapolation::Game`]. `go_on` gets the newest known state, and for how long it has waited
    /// for the next one, up to `at_most`. Call this on both sides, as
    /// [`extrapolate_motion`](Self::extrapolate_motion).
    ///
    /// The state is in world coordinates. The function must depend on its arguments only. It is
    /// also called for an entity at rest, which has no later state either.
    ///
    /// ```
    /// use std::time::Duration;
    /// use bevy_app::App;
    /// use bevy_ecs::component::Component;
    /// use kinepack::Pack;
    /// use kinepack_bevy::MotionAppExt;
    ///
    /// #[derive(Component, Pack, Clone, PartialEq)]
    /// struct Ball {
    ///     #[pack(range = 0.0..64.0, precision = 0.01)]
    ///     height: f32,
    ///     #[pack(velocity, range = -64.0..64.0, precision = 0.01)]
    ///     climb: f32,
    /// }
    ///
    /// fn fall((ball,): &mut (Ball,), starved_for: Duration) {
    ///     let seconds = starved_for.as_secs_f32();
    ///     let height = ball.height + (ball.climb - 9.81 / 2.0 * seconds) * seconds;
    ///     ball.height = height.max(0.0);
    /// }
    ///
    /// # let mut app = App::new();
    /// app.add_motion_kind::<(Ball,)>("ball")
    ///     .continue_motion::<(Ball,)>(Duration::from_millis(250), fall);
    /// ```
    ///
    /// # Panics
    /// Panics if no kind with the components `K` is registered yet.
    fn continue_motion<K: MotionKind>(
        &mut self,
        at_most: Duration,
        go_on: fn(&mut K, Duration),
    ) -> &mut Self;

    /// Lets clients fade out the distance to the true place when a late state arrives, within the
    /// time `fade`: see [`Smoother`](kinepack_net::Smoother). The joints of bodies do not fade. A
    /// server ignores this.
    ///
    /// A server that [rewinds](crate::MotionRewind) does not know what is left to fade. So do not
    /// smooth kinds that players shoot at, or accept the difference.
    ///
    /// # Panics
    /// Panics if no kind with the components `K` is registered yet.
    fn smooth_motion<K: MotionKind>(&mut self, fade: Duration) -> &mut Self;

    /// Registers a kind of event that must arrive at each client. The server writes
    /// [`Emit`](crate::Emit) messages, and clients read [`Happened`](crate::Happened) messages.
    fn add_motion_event<E: Pack + Send + Sync>(&mut self, name: &str) -> &mut Self;

    /// Registers a kind of event that the server drops if it has not arrived after `longest_ticks`
    /// ticks.
    fn add_droppable_motion_event<E: Pack + Send + Sync>(
        &mut self,
        name: &str,
        longest_ticks: u32,
    ) -> &mut Self;

    /// Registers a type of inputs that clients send to the server in each tick. Clients push inputs
    /// into [`MotionInputs`](crate::MotionInputs), and the server reads [`Input`](crate::Input)
    /// messages. An app has at most 16 types of inputs.
    ///
    /// If there are more types, a plugin panics in `finish`.
    fn add_motion_input<I: Pack + Send + Sync>(&mut self) -> &mut Self;

    /// Registers a type of inputs that are for ticks of the server. A client simulates ticks ahead
    /// of the server, in the schedule [`InputTick`](crate::InputTick), and pushes an input for each
    /// one: [`MotionInputs::push_for_tick`](crate::MotionInputs::push_for_tick).
    ///
    /// The server writes the [`Input`](crate::Input) message of each client in `FixedFirst` of the
    /// input's tick. If the input is late or lost, there is no message in this tick and none later;
    /// most games then repeat the client's last input. [`MotionServer::input_stats`] counts the
    /// inputs that arrived in time and the missed ones. Otherwise, these inputs are like those of
    /// [`add_motion_input`](Self::add_motion_input).
    ///
    /// An input that arrives early waits for its tick. So this suits games in which the client
    /// predicts what its inputs do. Use `add_motion_input` if the server should use the newest
    /// input at once.
    ///
    /// If there are more types, a plugin panics in `finish`.
    fn add_motion_tick_input<I: Pack + Send + Sync>(&mut self) -> &mut Self;

    /// Predicts a client's own entities with the components `K`, such as the player's character:
    /// shows the effect of the inputs `I` at once, and corrects them by the server's states.
    /// `I` must be registered with [`add_motion_tick_input`](Self::add_motion_tick_input).
    ///
    /// The game marks own entities with [`Predicted`](crate::Predicted). After each
    /// [`InputTick`](crate::InputTick), the plugin calls `step` with the tick's input. After the
    /// frame's ticks, it writes the shown components, in
    /// [`MotionClientSystems::Simulate`](crate::MotionClientSystems::Simulate): between the last two
    /// ticks, plus what fades out after corrections. The message [`Corrected`](crate::Corrected)
    /// reports each correction, and the resource [`MotionPrediction`](crate::MotionPrediction) has
    /// states and counters. A new connection begins anew.
    ///
    /// `step` moves all marked entities by a tick. The server must do the same with the same input,
    /// and [round](crate::Rounded) the components. [`kinepack_net::Predicted`] says what makes the
    /// results equal. Fields that are relative to a [frame](kinepack::frame) remain so, in `step`
    /// and in the shown components. Two kinds are stepped one after the other, in the order of
    /// registration, and do not see each other.
    ///
    /// A server ignores this. A client's plugin panics in `finish` if the settings are not valid,
    /// if no kind has just the components `K`, or if `I` is not for ticks.
    ///
    /// ```
    /// use bevy_app::{App, FixedUpdate};
    /// use bevy_ecs::prelude::*;
    /// use kinepack::{Pack, Tick};
    /// use kinepack_bevy::{
    ///     Input, InputTick, MotionAppExt, MotionInputClock, MotionInputs, Moving, Predicted, Rounded,
    /// };
    /// use kinepack_net::{Own, PredictConfig, ReceiverId};
    ///
    /// #[derive(Component, Pack, Clone, Default, PartialEq)]
    /// #[require(Moving, Rounded)]
    /// struct Walker {
    ///     #[pack(range = -256.0..256.0, precision = 1.0 / 512.0)]
    ///     position: [f32; 2],
    ///     /// The number of the client that it belongs to.
    ///     owner: u32,
    /// }
    ///
    /// #[derive(Pack, Clone, Copy, Default)]
    /// struct Stick {
    ///     #[pack(range = -1.0..=1.0, precision = 1.0 / 64.0)]
    ///     at: [f32; 2],
    /// }
    ///
    /// impl Walker {
    ///     /// A tick of the game, on both sides.
    ///     fn step(&mut self, stick: &Stick) {
    ///         self.position = [0, 1].map(|axis| self.position[axis] + stick.at[axis] / 12.0);
    ///     }
    /// }
    ///
    /// fn step(own: &mut [Own<(Walker,)>], stick: &Stick, _: Tick) {
    ///     own.iter_mut().for_each(|own| own.state.0.step(stick));
    /// }
    ///
    /// /// Both sides call this.
    /// fn register(app: &mut App) {
    ///     app.add_motion_kind::<(Walker,)>("walker")
    ///         .add_motion_tick_input::<Stick>()
    ///         .add_motion_prediction(PredictConfig::at_hz(60), step);
    /// }
    ///
    /// fn server(app: &mut App) {
    ///     app.add_systems(FixedUpdate, walk);
    /// }
    ///
    /// /// The last input of a walker's client.
    /// #[derive(Component)]
    /// struct Player(ReceiverId, Stick);
    ///
    /// fn walk(mut inputs: MessageReader<Input<Stick>>, mut all: Query<(&mut Player, &mut Walker)>) {
    ///     for input in inputs.read() {
    ///         let mut players = all.iter_mut().map(|(player, _)| player);
    ///         if let Some(mut player) = players.find(|player| player.0 == input.client) {
    ///             player.1 = input.input;
    ///         }
    ///     }
    ///     all.iter_mut().for_each(|(player, mut walker)| walker.step(&player.1));
    /// }
    ///
    /// /// The number that this client got from the server.
    /// #[derive(Resource)]
    /// struct Me(u32);
    ///
    /// fn client(app: &mut App) {
    ///     app.insert_resource(Me(1)).add_systems(InputTick, read_stick).add_observer(mark);
    /// }
    ///
    /// fn read_stick(
    ///     clock: Res<MotionInputClock>,
    ///     mut sticks: ResMut<MotionInputs<Stick>>,
    /// ) -> Result {
    ///     sticks.push_for_tick(clock.tick(), &Stick { at: [1.0, 0.0] })?;
    ///     Ok(())
    /// }
    ///
    /// fn mark(new: On<Add, Walker>, walkers: Query<&Walker>, me: Res<Me>, mut commands: Commands) {
    ///     if walkers.get(new.entity).is_ok_and(|walker| walker.owner == me.0) {
    ///         commands.entity(new.entity).insert(Predicted);
    ///     }
    /// }
    /// # let [mut at_server, mut at_client] = [App::new(), App::new()];
    /// # for app in [&mut at_server, &mut at_client] {
    /// #     app.add_plugins(bevy_time::TimePlugin);
    /// #     register(app);
    /// # }
    /// # let settings = kinepack_bevy::MotionSettings::at_hz(60);
    /// # at_server.add_plugins(kinepack_bevy::MotionServerPlugin::new(settings.clone()));
    /// # at_client.add_plugins(kinepack_bevy::MotionClientPlugin::new(settings));
    /// # server(&mut at_server);
    /// # client(&mut at_client);
    /// # for app in [&mut at_server, &mut at_client] {
    /// #     app.finish();
    /// #     app.update();
    /// # }
    /// ```
    fn add_motion_prediction<K: MotionKind, I: Pack + Send + Sync>(
        &mut self,
        config: PredictConfig,
        step: impl Fn(&mut [Own<K>], &I, Tick) + Send + Sync + 'static,
    ) -> &mut Self;
}

fn add_input<I: Pack + Send + Sync>(app: &mut App, is_for_ticks: bool) -> &mut App {
    app.add_message::<Input<I>>();
    registry(app.world_mut()).inputs.push(InputType {
        of: TypeId::of::<I>(),
        codec: StreamCodec::of::<I>,
        server: ReadInputs::<I>::boxed,
        client: ClientPort::new::<I>,
        is_for_ticks,
    });
    app
}

impl MotionAppExt for App {
    fn add_motion_kind<K: MotionKind>(&mut self, name: &str) -> &mut Self {
        let (rows, shown) = (StateRows::<K>::new(), ShownState::<K>::new());
        let setup = KindSetup::new::<K>(name);
        add_kind(self.world_mut(), setup, rows, shown, |kinds| kinds.kind::<K>(name));
        self.add_systems(
            FixedLast,
            round::<K>.in_set(MotionServerSystems::Round).run_if(resource_exists::<MotionServer>),
        );
        self
    }

    #[cfg(feature = "figure")]
    fn add_motion_figure<K: MotionKind>(
        &mut self,
        name: &str,
        kind: &crate::figure::FigureKind,
    ) -> &mut Self {
        crate::figure::add_figure::<K>(self, name, kind);
        self
    }

    #[track_caller]
    fn extrapolate_motion<K: MotionKind>(&mut self, extrapolation: Extrapolation) -> &mut Self {
        registry(self.world_mut()).setup::<K>().extrapolation = extrapolation;
        self
    }

    #[track_caller]
    fn continue_motion<K: MotionKind>(
        &mut self,
        at_most: Duration,
        go_on: fn(&mut K, Duration),
    ) -> &mut Self {
        registry(self.world_mut()).setup::<K>().go_on(at_most, go_on);
        self
    }

    #[track_caller]
    fn smooth_motion<K: MotionKind>(&mut self, fade: Duration) -> &mut Self {
        registry(self.world_mut()).setup::<K>().fade = Some(fade);
        self
    }

    fn add_motion_event<E: Pack + Send + Sync>(&mut self, name: &str) -> &mut Self {
        self.add_message::<Emit<E>>().add_message::<Happened<E>>();
        let mut registry = registry(self.world_mut());
        registry.events = std::mem::take(&mut registry.events).kind::<E>(name);
        registry.emits.push(emit_all::<E>);
        registry.hears.push(hear::<E>);
        self
    }

    fn add_droppable_motion_event<E: Pack + Send + Sync>(
        &mut self,
        name: &str,
        longest_ticks: u32,
    ) -> &mut Self {
        self.add_motion_event::<E>(name);
        registry(self.world_mut()).droppable.push((EventKinds::droppable::<E>, longest_ticks));
        self
    }

    fn add_motion_input<I: Pack + Send + Sync>(&mut self) -> &mut Self {
        add_input::<I>(self, false)
    }

    fn add_motion_tick_input<I: Pack + Send + Sync>(&mut self) -> &mut Self {
        add_input::<I>(self, true)
    }

    fn add_motion_prediction<K: MotionKind, I: Pack + Send + Sync>(
        &mut self,
        config: PredictConfig,
        step: impl Fn(&mut [Own<K>], &I, Tick) + Send + Sync + 'static,
    ) -> &mut Self {
        self.add_message::<Corrected<K>>();
        let make = move |schema: &Schema, world: &mut World| {
            Prediction::new::<K, I>(schema, config, Box::new(step), world)
        };
        registry(self.world_mut()).predictions.push(PredictionType {
            input: TypeId::of::<I>(),
            input_name: type_name::<I>(),
            make: Box::new(make),
        });
        self
    }
}

/// Registers a kind. `add` adds it to the schema.
#[track_caller]
pub(crate) fn add_kind(
    world: &mut World,
    setup: KindSetup,
    rows: impl Rows,
    shown: impl Shown,
    add: impl FnOnce(SchemaBuilder) -> SchemaBuilder,
) {
    let (collect, show) = (CollectKind::new(world, rows), ShowKind::new(world, shown));
    let mut registry = registry(world);
    registry.kinds = add(std::mem::take(&mut registry.kinds));
    registry.setups.push(setup);
    registry.collects.push(Box::new(collect));
    registry.shows.push(Box::new(show));
}

#[track_caller]
fn registry(world: &mut World) -> Mut<'_, Registry> {
    let runs =
        world.contains_resource::<MotionServer>() || world.contains_resource::<MotionClient>();
    assert!(!runs, "kinepack-bevy: register kinds, events and inputs before the app runs");
    world.get_resource_or_init::<Registry>()
}
