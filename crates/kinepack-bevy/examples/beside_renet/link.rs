//! The four systems between Kinepack and renet, for copying into a game.
//!
//! Renet's unreliable channel carries the motion, unchanged. The reliable one carries the game's
//! own messages.

use bevy_ecs::prelude::*;
use bevy_time::{Real, Time};
use kinepack_bevy::{MotionClient, MotionServer};
use kinepack_net::{HubConfig, ReceiverId, ReceiverOptions};
use renet::DefaultChannel::{ReliableOrdered, Unreliable};
use renet::{RenetClient, RenetServer, ServerEvent};
use renet_netcode::{NetcodeClientTransport, NetcodeServerTransport};

/// The longest headers of one message: 14 bytes by renet, 25 by netcode.
const HEADER_BYTES: usize = 14 + 25;

#[derive(Resource)]
pub(crate) struct Server(pub(crate) RenetServer, pub(crate) NetcodeServerTransport);

/// The client, with the lines of chat that have arrived.
#[derive(Resource)]
pub(crate) struct Client(
    pub(crate) RenetClient,
    pub(crate) NetcodeClientTransport,
    pub(crate) Vec<String>,
);

/// Settings with which each datagram is one packet of at most 1,200 bytes. Renet splits longer
/// messages, and the loss of one part loses the whole message.
pub(crate) fn hub() -> HubConfig {
    HubConfig {
        datagram_bytes: 1_200 - HEADER_BYTES,
        overhead_bytes: HubConfig::default().overhead_bytes + HEADER_BYTES,
        ..HubConfig::default()
    }
}

/// Receives on the server. Runs before `MotionServerSystems::Receive`.
pub(crate) fn receive_on_server(
    mut server: ResMut<Server>,
    mut motion: ResMut<MotionServer>,
    time: Res<Time<Real>>,
) -> Result {
    let Server(renet, transport) = &mut *server;
    renet.update(time.delta());
    transport.update(time.delta(), renet)?;
    while let Some(event) = renet.get_event() {
        match event {
            ServerEvent::ClientConnected { client_id } => {
                motion.connect(ReceiverId(client_id), &ReceiverOptions::default())?;
                renet.send_message(client_id, ReliableOrdered, "Welcome!");
            }
            ServerEvent::ClientDisconnected { client_id, .. } => {
                motion.disconnect(ReceiverId(client_id));
            }
        }
    }
    for client in renet.clients_id() {
        while let Some(datagram) = renet.receive_message(client, Unreliable) {
            motion.incoming.push(ReceiverId(client), &datagram);
        }
    }
    Ok(())
}

/// Sends from the server. Runs in `PostUpdate`.
pub(crate) fn send_from_server(mut server: ResMut<Server>, mut motion: ResMut<MotionServer>) {
    let Server(renet, transport) = &mut *server;
    for (client, datagram) in motion.outgoing.iter() {
        renet.send_message(client.0, Unreliable, datagram.to_vec());
    }
    motion.outgoing.clear();
    transport.send_packets(renet);
}

/// Receives on the client. Runs before `MotionClientSystems::Receive`.
pub(crate) fn receive_on_client(
    mut client: ResMut<Client>,
    mut motion: ResMut<MotionClient>,
    time: Res<Time<Real>>,
) -> Result {
    let Client(renet, transport, chat) = &mut *client;
    renet.update(time.delta());
    transport.update(time.delta(), renet)?;
    match (renet.is_connected(), motion.is_connected()) {
        (true, false) => motion.connect(),
        (false, true) => motion.disconnect(),
        _ => {}
    }
    while let Some(datagram) = renet.receive_message(Unreliable) {
        motion.incoming.push((), &datagram);
    }
    while let Some(line) = renet.receive_message(ReliableOrdered) {
        chat.push(String::from_utf8(line.into())?);
    }
    Ok(())
}

/// Sends from the client. Runs after `MotionClientSystems::Send`.
pub(crate) fn send_from_client(
    mut client: ResMut<Client>,
    mut motion: ResMut<MotionClient>,
) -> Result {
    let Client(renet, transport, _) = &mut *client;
    for ((), datagram) in motion.outgoing.iter() {
        renet.send_message(Unreliable, datagram.to_vec());
    }
    motion.outgoing.clear();
    Ok(transport.send_packets(renet)?)
}
