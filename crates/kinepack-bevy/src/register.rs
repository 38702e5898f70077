//! Registers what replicates: kinds of entities, events and inputs. A server and its clients must
//! register the same things, in the same order.

use std::any::{TypeId, type_name};
use std::time::Duration;

use bevy_app::App;
use bevy_ecs::change_detection::Mut;
use bevy_ecs::resource::Resource;
use bevy_ecs::world::World;
use kinepack::schema::SchemaBuilder;
use kinepack::stream::{StreamCodec, StreamLevel};
use kinepack::{Codec, EncodeError, Pack, SetupError};
use kinepack_net::{Channel, EventKinds, Extrapolation, StreamConfig};

use crate::MotionSettings;
use crate::client::{
    ClientPort, Happened, Hear, MotionClient, Show, ShowKind, Shown, ShownState, hear,
};
use crate::late::KindSetup;
use crate::part::MotionKind;
use crate::server::{
    Collect, CollectKind, Emit, EmitAll, Input, MotionServer, ReadInputs, Rows, ServerPort,
    StateRows, emit_all,
};
use crate::settings::expect;

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
}

/// The number of bytes in front of a client's datagram of inputs: the acknowledgement of states.
const ACKNOWLEDGEMENT_BYTES: usize = 7;

/// Everything that an app has registered.
#[derive(Resource, Default)]
pub(crate) struct Registry {
    kinds: SchemaBuilder,
    pub(crate) setups: Vec<KindSetup>,
    pub(crate) collects: Vec<Box<dyn Collect>>,
    pub(crate) shows: Vec<Box<dyn Show>>,
    events: SchemaBuilder,
    droppable: Vec<(Droppable, u32)>,
    pub(crate) emits: Vec<EmitAll>,
    pub(crate) hears: Vec<Hear>,
    inputs: Vec<InputType>,
}

/// Makes one kind of events droppable after a number of ticks.
type Droppable = fn(EventKinds, u32) -> Result<EventKinds, EncodeError>;

/// One type of inputs.
struct InputType {
    codec: fn(StreamLevel) -> Result<StreamCodec, SetupError>,
    server: fn(StreamCodec, StreamConfig, bool) -> Box<dyn ServerPort>,
    client: fn(&mut World, StreamCodec, StreamConfig) -> ClientPort,
    is_for_ticks: bool,
}

fn add_input<I: Pack + Send + Sync>(app: &mut App, is_for_ticks: bool) -> &mut App {
    app.add_message::<Input<I>>();
    registry(app.world_mut()).inputs.push(InputType {
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

impl Registry {
    /// The kind with the components `K`.
    #[track_caller]
    fn setup<K: MotionKind>(&mut self) -> &mut KindSetup {
        let setup = self.setups.iter_mut().find(|setup| setup.of == TypeId::of::<K>());
        setup.unwrap_or_else(|| {
            panic!("kinepack-bevy: no kind has the components {}", type_name::<K>())
        })
    }

    pub(crate) fn codec(&mut self, settings: &MotionSettings) -> Codec {
        let schema = expect(std::mem::take(&mut self.kinds).build(), "the registered kinds");
        expect(settings.codec(schema), "the level or the profile")
    }

    /// The kinds of events; `None` if no events are registered.
    pub(crate) fn event_kinds(&mut self, settings: &MotionSettings) -> Option<EventKinds> {
        if self.hears.is_empty() {
            return None;
        }
        let schema = expect(std::mem::take(&mut self.events).build(), "the registered events");
        let kinds = EventKinds::new(&expect(settings.event_codec(schema), "the level"));
        let droppable = self.droppable.iter();
        let kinds = droppable.copied().try_fold(kinds, |kinds, (make, ticks)| make(kinds, ticks));
        Some(expect(kinds, "the registered events"))
    }

    pub(crate) fn server_ports(&self, settings: &MotionSettings) -> Vec<Box<dyn ServerPort>> {
        let of = |(input, codec, config): (&InputType, _, _)| {
            (input.server)(codec, config, input.is_for_ticks)
        };
        self.streams(settings).map(of).collect()
    }

    /// Whether any inputs are for ticks.
    pub(crate) fn has_tick_inputs(&self) -> bool {
        self.inputs.iter().any(|input| input.is_for_ticks)
    }

    pub(crate) fn client_ports(
        &self,
        settings: &MotionSettings,
        world: &mut World,
    ) -> Vec<ClientPort> {
        let of = |(input, codec, config): (&InputType, _, _)| (input.client)(world, codec, config);
        self.streams(settings).map(of).collect()
    }

    /// The codec and settings of each type of inputs, each with its own channel.
    fn streams(
        &self,
        settings: &MotionSettings,
    ) -> impl Iterator<Item = (&InputType, StreamCodec, StreamConfig)> {
        let (level, tick_hz) = (settings.inputs, settings.tick_hz);
        let datagram_bytes = StreamConfig::at_hz(tick_hz).datagram_bytes - ACKNOWLEDGEMENT_BYTES;
        (0..).zip(&self.inputs).map(move |(number, input)| {
            let codec = expect((input.codec)(level), "the type of an input");
            let channel = Channel::new(number).expect("kinepack-bevy: more than 16 inputs");
            (input, codec, StreamConfig { channel, datagram_bytes, ..StreamConfig::at_hz(tick_hz) })
        })
    }
}
