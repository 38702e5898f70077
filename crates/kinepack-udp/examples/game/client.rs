//! The client, with a connection, the inputs that it sends, and the ships that it shows.

use std::collections::BTreeMap;
use std::error::Error;
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use kinepack::{EntityId, Schema};
use kinepack_net::{
    DatagramKind, Receiver, ReceiverConfig, StreamSender, datagram_kind, split_datagram,
};
use kinepack_udp::{ClientOptions, ClientState, Secret, UdpClient};

use super::{GAME, INPUT_HZ, Input, Ship, TICK_HZ, codec, inputs};

/// Plays for `time`. Returns the ships that the client shows at the end.
pub(crate) fn play(
    server: SocketAddr,
    secret: &Secret,
    time: Duration,
) -> Result<BTreeMap<EntityId, Ship>, Box<dyn Error>> {
    let mut socket = UdpClient::connect(server, secret, ClientOptions::new(GAME))?;
    let mut receiver = Receiver::new(&codec()?, ReceiverConfig::at_hz(TICK_HZ))?;
    let (input_codec, input_config) = inputs()?;
    let mut inputs = StreamSender::new(&input_codec, input_config)?;
    let mut scene: BTreeMap<EntityId, Ship> = BTreeMap::new();
    let start = Instant::now();
    while start.elapsed() < time {
        let now = start.elapsed();
        socket.poll(&mut |payload| {
            for part in split_datagram(payload).into_iter().flatten() {
                match datagram_kind(part) {
                    Some(DatagramKind::ToReceiver) => drop(receiver.handle(now, part)),
                    Some(DatagramKind::StreamAcknowledgement) => drop(inputs.handle(part)),
                    _ => {}
                }
            }
        });
        match socket.state() {
            ClientState::Connecting => {}
            ClientState::Lost { reason } => return Err(format!("no connection: {reason:?}").into()),
            ClientState::Connected => {
                // The receiver sends hellos and acknowledgements.
                while let Some(datagram) = receiver.poll_transmit(now) {
                    socket.send(datagram)?;
                }
                inputs.push(&Input { steer: [1.0, 0.5] })?; // from the keyboard
                while let Some(datagram) = inputs.poll_transmit() {
                    socket.send(datagram)?;
                }
            }
        }
        // The server refused this client, for example because it has another version of the game.
        if let Some(mismatch) = receiver.mismatch() {
            return Err(mismatch.describe(&Schema::of::<Ship>()).into());
        }
        if let Some(playback) = receiver.playback(now) {
            for id in playback.removed() {
                scene.remove(id); // despawn it
            }
            for sample in playback.samples() {
                if scene.insert(sample.id, sample.state()?).is_none() {
                    println!("client: ship {} appears", sample.id.0); // spawn it
                }
            }
        }
        thread::sleep((Duration::from_secs(1) / INPUT_HZ).saturating_sub(start.elapsed() - now));
    }
    socket.close();
    Ok(scene)
}
