//! Inputs from clients. Each client has a stream, which the plugin writes as messages.

use std::collections::HashMap;
use std::time::Duration;

use bevy_ecs::message::Message;
use bevy_ecs::world::World;
use kinepack::Pack;
use kinepack::stream::StreamCodec;
use kinepack_net::{Channel, ReceiverId, Sequence, StreamConfig, StreamReceiver};

/// An input of a client, as a message on the server. Each input arrives at most once.
///
/// The inputs of a client arrive in the order of their numbers, except [`late`](Self::late) ones.
/// If a number is missing, all packets that had the input were lost.
#[derive(Message, Clone, Copy, Debug, PartialEq)]
pub struct Input<I: Send + Sync + 'static> {
    /// The client that sent the input.
    pub client: ReceiverId,
    /// The number of the input. It counts the client's inputs from 0 on, and wraps.
    pub number: Sequence,
    /// Whether a packet with newer inputs arrived first.
    pub late: bool,
    /// The input.
    pub input: I,
}

/// The streams of one type of inputs.
pub(crate) trait ServerPort: Send + Sync {
    fn channel(&self) -> Channel;

    /// Writes the new inputs of a packet as messages. Returns false if the stream refuses the
    /// packet.
    fn take(&mut self, world: &mut World, from: ReceiverId, now: Duration, packet: &[u8]) -> bool;

    /// Appends the acknowledgement of a client's packets.
    fn acknowledge(&self, client: ReceiverId, out: &mut Vec<u8>);

    /// Forgets the stream of a client.
    fn forget(&mut self, client: ReceiverId);
}

/// Reads inputs of type `I`.
pub(crate) struct ReadInputs<I> {
    codec: StreamCodec,
    config: StreamConfig,
    clients: HashMap<ReceiverId, StreamReceiver>,
    /// Marks the type as which a record is read.
    read: core::marker::PhantomData<fn() -> I>,
}

impl<I> ReadInputs<I> {
    pub(crate) fn new(codec: StreamCodec, config: StreamConfig) -> Self {
        Self { codec, config, clients: HashMap::new(), read: core::marker::PhantomData }
    }
}

impl<I: Pack + Send + Sync> ServerPort for ReadInputs<I> {
    fn channel(&self) -> Channel {
        self.config.channel
    }

    fn take(&mut self, world: &mut World, from: ReceiverId, now: Duration, packet: &[u8]) -> bool {
        if !self.clients.contains_key(&from) {
            let Ok(stream) = StreamReceiver::new(&self.codec, self.config) else { return false };
            self.clients.insert(from, stream);
        }
        let Some(stream) = self.clients.get_mut(&from) else { return false };
        let Ok(handled) = stream.handle(now, packet) else { return false };
        for record in handled.records() {
            if let Ok(input) = record.read::<I>() {
                let (number, late) = (record.number, record.late);
                world.write_message(Input { client: from, number, late, input });
            }
        }
        true
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
