//! Inputs from clients. Each client has a stream, which the plugin writes as messages: when an
//! input arrives, or in the tick that it is for.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::time::Duration;

use bevy_ecs::message::Message;
use bevy_ecs::world::World;
use kinepack::stream::StreamCodec;
use kinepack::{Pack, Tick};
use kinepack_net::{
    Channel, ReceiverId, Sequence, StreamConfig, StreamReceiver, StreamReceiverStats,
};

/// An input of a client, as a message on the server. Each input arrives at most once.
///
/// The inputs of a client arrive in the order of their numbers, except [`late`](Self::late) ones.
/// If a number is missing, all packets that had the input were lost.
///
/// An input of [`add_motion_tick_input`](crate::MotionAppExt::add_motion_tick_input) is never late:
/// there is a message only in the input's tick, and only if it arrived in time. The messages of a
/// tick are in the order of the clients' ids.
#[derive(Message, Clone, Copy, Debug, PartialEq)]
pub struct Input<I: Send + Sync + 'static> {
    /// The client that sent the input.
    pub client: ReceiverId,
    /// The number of the input. It counts the client's inputs from 0 on, and wraps. If the input is
    /// for a tick, the number is the tick modulo 2¹⁶.
    pub number: Sequence,
    /// Whether a packet with newer inputs arrived first.
    pub late: bool,
    /// The input.
    pub input: I,
}

/// The streams of one type of inputs.
pub(crate) trait ServerPort: Send + Sync {
    fn channel(&self) -> Channel;

    /// The type of the inputs.
    fn input_type(&self) -> TypeId;

    /// Takes a packet, and writes its new inputs as messages unless they are for ticks. Returns
    /// false if the stream refuses the packet.
    fn take(&mut self, world: &mut World, from: ReceiverId, now: Duration, packet: &[u8]) -> bool;

    /// Writes the inputs for a tick as messages, which the server simulates now.
    fn read_tick(&mut self, world: &mut World, now: Duration, tick: Tick);

    /// The counters of a client's stream. `None` before its first packet.
    fn stats(&self, client: ReceiverId) -> Option<StreamReceiverStats>;

    /// Appends the acknowledgement of a client's packets.
    fn acknowledge(&self, client: ReceiverId, out: &mut Vec<u8>);

    /// Forgets the stream of a client.
    fn forget(&mut self, client: ReceiverId);
}

/// Reads inputs of type `I`.
pub(crate) struct ReadInputs<I> {
    codec: StreamCodec,
    config: StreamConfig,
    is_for_ticks: bool,
    /// In an order that does not change from run to run.
    clients: BTreeMap<ReceiverId, StreamReceiver>,
    /// Marks the type as which a record is read.
    read: core::marker::PhantomData<fn() -> I>,
}

impl<I: Pack + Send + Sync> ReadInputs<I> {
    pub(crate) fn boxed(
        codec: StreamCodec,
        config: StreamConfig,
        is_for_ticks: bool,
    ) -> Box<dyn ServerPort> {
        let (clients, read) = (BTreeMap::new(), core::marker::PhantomData);
        Box::new(Self { codec, config, is_for_ticks, clients, read })
    }
}

impl<I: Pack + Send + Sync> ServerPort for ReadInputs<I> {
    fn channel(&self) -> Channel {
        self.config.channel
    }

    fn input_type(&self) -> TypeId {
        TypeId::of::<I>()
    }

    fn take(&mut self, world: &mut World, from: ReceiverId, now: Duration, packet: &[u8]) -> bool {
        if !self.clients.contains_key(&from) {
            let Ok(stream) = StreamReceiver::new(&self.codec, self.config) else { return false };
            self.clients.insert(from, stream);
        }
        let Some(stream) = self.clients.get_mut(&from) else { return false };
        let Ok(handled) = stream.handle(now, packet) else { return false };
        if self.is_for_ticks {
            return true;
        }
        for record in handled.records() {
            if let Ok(input) = record.read::<I>() {
                let (number, late) = (record.number, record.late);
                world.write_message(Input { client: from, number, late, input });
            }
        }
        true
    }

    fn read_tick(&mut self, world: &mut World, now: Duration, tick: Tick) {
        if !self.is_for_ticks {
            return;
        }
        for (client, stream) in &mut self.clients {
            if let Ok(Some(input)) = stream.read_for_tick::<I>(now, tick) {
                let (client, number) = (*client, tick.into());
                world.write_message(Input { client, number, late: false, input });
            }
        }
    }

    fn stats(&self, client: ReceiverId) -> Option<StreamReceiverStats> {
        self.clients.get(&client).map(StreamReceiver::stats)
    }

    fn acknowledge(&self, client: ReceiverId, out: &mut Vec<u8>) {
        if let Some(stream) = self.clients.get(&client) {
            stream.write_acknowledgement(out);
        }
    }

    fn forget(&mut self, client: ReceiverId) {
        self.clients.remove(&client);
    }
}
