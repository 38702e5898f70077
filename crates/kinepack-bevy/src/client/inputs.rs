//! Inputs on the client: what a player does in each tick. The client sends them as a stream.

use bevy_ecs::resource::Resource;
use bevy_ecs::world::World;
use kinepack::stream::StreamCodec;
use kinepack::{EncodeError, Pack, Tick};
use kinepack_net::{Channel, Sequence, StreamConfig, StreamSender, StreamSenderStats};

use super::input_clock::observe;
use crate::settings::expect;

/// The inputs of one type that the client sends to the server. Push one in each run of
/// `FixedUpdate`, or one for each tick of the [clock](crate::MotionInputClock) if the inputs are
/// for ticks. The server accepts hardly more than one for each tick.
///
/// ```
/// use bevy_ecs::error::Result;
/// use bevy_ecs::system::ResMut;
/// use kinepack::Pack;
/// use kinepack_bevy::MotionInputs;
///
/// #[derive(Pack)]
/// struct Steer {
///     #[pack(range = -1.0..=1.0, precision = 0.01)]
///     direction: [f32; 2],
///     fire: bool,
/// }
///
/// fn steer(mut inputs: ResMut<MotionInputs<Steer>>) -> Result {
///     inputs.push(&Steer { direction: [1.0, 0.0], fire: false })?;
///     Ok(())
/// }
/// ```
#[derive(Resource)]
pub struct MotionInputs<I: Send + Sync + 'static> {
    codec: StreamCodec,
    config: StreamConfig,
    stream: StreamSender,
    /// The newest input for a tick, as the server reads it.
    newest: Option<(Tick, I)>,
}

impl<I: Pack + Send + Sync> MotionInputs<I> {
    /// Adds an input, which is sent at the end of the frame. Returns the input's number. Without a
    /// connection, the input is dropped.
    ///
    /// # Errors
    /// Returns [`EncodeError`] for values that are not numbers or out of range. Then nothing has
    /// changed.
    pub fn push(&mut self, input: &I) -> Result<Sequence, EncodeError> {
        self.stream.push(input)
    }

    /// Adds the input of a tick, which is sent at the end of the frame. Returns the input's number,
    /// which is the tick modulo 2¹⁶. [`MotionInputClock`](crate::MotionInputClock) has an example.
    ///
    /// Push one input for each tick, in the order of the ticks. An input that is not after the
    /// newest one begins the stream anew.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub fn push_for_tick(&mut self, tick: Tick, input: &I) -> Result<Sequence, EncodeError> {
        let number = self.stream.push_for_tick(tick, input)?;
        self.newest = Some((tick, input.rounded()?));
        Ok(number)
    }

    /// The input that was pushed last, if it is for this tick.
    pub(super) fn of_tick(&self, tick: Tick) -> Option<&I> {
        self.newest.as_ref().filter(|(of, _)| *of == tick).map(|(_, input)| input)
    }

    /// The stream's counters since the client connected.
    pub fn stats(&self) -> StreamSenderStats {
        self.stream.stats()
    }
}

/// The stream of one type of inputs, which is in the resource [`MotionInputs`].
pub(crate) struct ClientPort {
    pub(crate) channel: Channel,
    /// Begins a new stream, for a new connection.
    pub(crate) begin: fn(&mut World),
    /// Takes an acknowledgement. Returns false if the stream refuses it.
    pub(crate) take: fn(&mut World, &[u8]) -> bool,
    /// Appends the packet that is due to a datagram. Returns false if no packet is due.
    pub(crate) send: fn(&mut World, &mut Vec<u8>) -> bool,
}

impl ClientPort {
    /// Adds the resource for inputs of type `I`.
    pub(crate) fn new<I: Pack + Send + Sync>(
        world: &mut World,
        codec: StreamCodec,
        config: StreamConfig,
    ) -> Self {
        let stream = expect(StreamSender::new(&codec, config), "the settings of inputs");
        world.insert_resource(MotionInputs::<I> { codec, config, stream, newest: None });
        Self { channel: config.channel, begin: begin::<I>, take: take::<I>, send: send::<I> }
    }
}

fn begin<I: Pack + Send + Sync>(world: &mut World) {
    if let Some(mut inputs) = world.get_resource_mut::<MotionInputs<I>>() {
        let stream = StreamSender::new(&inputs.codec, inputs.config);
        inputs.stream = expect(stream, "the settings of inputs");
        inputs.newest = None;
    }
}

fn take<I: Pack + Send + Sync>(world: &mut World, acknowledgement: &[u8]) -> bool {
    let Some(mut inputs) = world.get_resource_mut::<MotionInputs<I>>() else { return false };
    let Ok(acknowledgement) = inputs.stream.handle(acknowledgement) else { return false };
    observe(world, &acknowledgement);
    true
}

fn send<I: Pack + Send + Sync>(world: &mut World, out: &mut Vec<u8>) -> bool {
    let Some(mut inputs) = world.get_resource_mut::<MotionInputs<I>>() else { return false };
    let Some(packet) = inputs.stream.poll_transmit() else { return false };
    out.extend_from_slice(packet);
    true
}
