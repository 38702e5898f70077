//! Everything that an app has registered, until its plugin makes a server or a client from it.

use std::any::{TypeId, type_name};

use bevy_ecs::resource::Resource;
use bevy_ecs::world::World;
use kinepack::schema::SchemaBuilder;
use kinepack::stream::{StreamCodec, StreamLevel};
use kinepack::{Codec, EncodeError, Schema, SetupError};
use kinepack_net::{Channel, EventKinds, StreamConfig};

use crate::MotionSettings;
use crate::client::{ClientPort, Hear, Prediction, Show};
use crate::late::KindSetup;
use crate::part::MotionKind;
use crate::server::{Collect, EmitAll, ServerPort};
use crate::settings::expect;

/// The number of bytes in front of a client's datagram of inputs: the acknowledgement of states.
const ACKNOWLEDGEMENT_BYTES: usize = 7;

/// Everything that an app has registered.
#[derive(Resource, Default)]
pub(crate) struct Registry {
    pub(crate) kinds: SchemaBuilder,
    pub(crate) setups: Vec<KindSetup>,
    pub(crate) collects: Vec<Box<dyn Collect>>,
    pub(crate) shows: Vec<Box<dyn Show>>,
    pub(crate) events: SchemaBuilder,
    pub(crate) droppable: Vec<(Droppable, u32)>,
    pub(crate) emits: Vec<EmitAll>,
    pub(crate) hears: Vec<Hear>,
    pub(crate) inputs: Vec<InputType>,
    pub(crate) predictions: Vec<PredictionType>,
}

/// Makes one kind of events droppable after a number of ticks.
pub(crate) type Droppable = fn(EventKinds, u32) -> Result<EventKinds, EncodeError>;

/// One prediction.
pub(crate) struct PredictionType {
    pub(crate) input: TypeId,
    pub(crate) input_name: &'static str,
    pub(crate) make: MakePrediction,
}

/// Makes the resource of a prediction.
pub(crate) type MakePrediction = Box<dyn FnOnce(&Schema, &mut World) -> Prediction + Send + Sync>;

/// One type of inputs.
pub(crate) struct InputType {
    pub(crate) of: TypeId,
    pub(crate) codec: fn(StreamLevel) -> Result<StreamCodec, SetupError>,
    pub(crate) server: fn(StreamCodec, StreamConfig, bool) -> Box<dyn ServerPort>,
    pub(crate) client: fn(&mut World, StreamCodec, StreamConfig) -> ClientPort,
    pub(crate) is_for_ticks: bool,
}

impl Registry {
    /// The kind with the components `K`.
    #[track_caller]
    pub(crate) fn setup<K: MotionKind>(&mut self) -> &mut KindSetup {
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

    /// Makes the resources of predictions.
    pub(crate) fn predictions(&mut self, schema: &Schema, world: &mut World) -> Vec<Prediction> {
        let predictions = std::mem::take(&mut self.predictions).into_iter();
        let make = |PredictionType { input, input_name, make }| {
            let is_its = |known: &InputType| known.is_for_ticks && known.of == input;
            let is_known = self.inputs.iter().any(is_its);
            assert!(is_known, "kinepack-bevy: {input_name} is no input for ticks");
            make(schema, world)
        };
        predictions.map(make).collect()
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
        let MotionSettings { inputs: level, input_repeats: repeats, tick_hz, .. } = *settings;
        let datagram_bytes = StreamConfig::at_hz(tick_hz).datagram_bytes - ACKNOWLEDGEMENT_BYTES;
        (0..).zip(&self.inputs).map(move |(number, input)| {
            let codec = expect((input.codec)(level), "the type of an input");
            let channel = Channel::new(number).expect("kinepack-bevy: more than 16 inputs");
            (
                input,
                codec,
                StreamConfig { channel, datagram_bytes, repeats, ..StreamConfig::at_hz(tick_hz) },
            )
        })
    }
}
