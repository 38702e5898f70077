//! Sends motion over the connections of `bevy_replicon`.
//!
//! Replicon spawns and despawns the entities, and replicates gameplay components. One of these is
//! [`MotionId`], so that the client finds the entity of each moving thing. Kinepack's datagrams use
//! one unreliable channel in each direction. Replicon adds nothing to them.

use bevy_app::{App, Plugin, PostUpdate, PreUpdate};
use bevy_ecs::change_detection::{Res, ResMut};
use bevy_ecs::entity::Entity;
use bevy_ecs::lifecycle::{Add, Remove};
use bevy_ecs::message::Message;
use bevy_ecs::observer::On;
use bevy_ecs::query::With;
use bevy_ecs::resource::Resource;
use bevy_ecs::schedule::IntoScheduleConfigs;
use bevy_ecs::schedule::common_conditions::resource_exists;
use bevy_ecs::system::Query;
use bevy_replicon::bytes::Bytes;
use bevy_replicon::prelude::{
    AppRuleExt, Channel, ClientMessageAppExt, ClientMessages, ClientState, ClientSystems,
    ConnectedClient, Replicated, ServerMessageAppExt, ServerMessages, ServerSystems,
};
use bevy_replicon::shared::message::registry::RemoteMessageRegistry;
use bevy_state::state::State;
use kinepack_net::{ReceiverId, ReceiverOptions};
use serde::{Deserialize, Serialize};

use crate::{
    MotionClient, MotionClientSystems, MotionId, MotionServer, MotionServerSystems, Moving,
};

/// Sends motion over the connections of `bevy_replicon`. Add this plugin to the server and its
/// clients, after `RepliconPlugins`, and at the same place among your registrations for replicon.
///
/// Replicon's `ServerEntityMap` pairs the entities of both sides. Replicon replicates the component
/// [`MotionId`], which contains the entity's id in Kinepack. The entity's own index cannot be the
/// id, because Bevy reuses the index immediately, while clients still show the previous entity.
///
/// On the server, [`Moving`] entities become `Replicated`. On the client, replicon spawns and
/// despawns these entities, and this crate only writes the components of their kinds. So do not
/// register these components with replicon. An entity gets the components when playback first shows
/// it, which is some ticks after replicon spawned it.
///
/// A client's [`ReceiverId`] has the bits of the server's entity that has `ConnectedClient`.
///
/// A datagram must fit into one packet of your messaging backend. If `ConnectedClient::max_size` is
/// smaller than [`HubConfig::datagram_bytes`](kinepack_net::HubConfig::datagram_bytes), set
/// `datagram_bytes` to that size.
#[derive(Clone, Copy, Debug, Default)]
pub struct MotionRepliconPlugin;

/// Reserves a channel in each direction. No message of this type is ever sent.
#[derive(Message, Serialize, Deserialize)]
struct MotionDatagram;

/// The numbers of the two channels.
#[derive(Resource, Clone, Copy)]
struct Channels {
    server: usize,
    client: usize,
}

impl Plugin for MotionRepliconPlugin {
    fn build(&self, app: &mut App) {
        let (is_server, is_client) =
            (resource_exists::<MotionServer>, resource_exists::<MotionClient>);
        app.replicate::<MotionId>()
            .add_server_message::<MotionDatagram>(Channel::Unreliable)
            .add_client_message::<MotionDatagram>(Channel::Unreliable)
            .add_observer(connect)
            .add_observer(disconnect)
            .add_systems(
                PreUpdate,
                (
                    receive_on_server
                        .after(ServerSystems::ReceivePackets)
                        .before(ServerSystems::Receive)
                        .before(MotionServerSystems::Receive)
                        .run_if(is_server),
                    receive_on_client
                        .after(ClientSystems::ReceivePackets)
                        .before(ClientSystems::Receive)
                        .before(MotionClientSystems::Receive)
                        .run_if(is_client),
                ),
            )
            // Entities that replicon spawns in a frame then exist before their motion is written.
            .configure_sets(PreUpdate, MotionClientSystems::Play.after(ClientSystems::Receive))
            .add_systems(
                PostUpdate,
                (
                    send_from_server.before(ServerSystems::SendPackets).run_if(is_server),
                    send_from_client
                        .after(MotionClientSystems::Send)
                        .before(ClientSystems::SendPackets)
                        .run_if(is_client),
                ),
            )
            .register_required_components::<Moving, Replicated>();
    }

    fn finish(&self, app: &mut App) {
        let registry = app.world().resource::<RemoteMessageRegistry>();
        let server = registry.server_message_channel::<MotionDatagram>();
        let client = registry.client_message_channel::<MotionDatagram>();
        let (Some(server), Some(client)) = (server, client) else { return };
        app.insert_resource(Channels { server, client });
    }

    fn cleanup(&self, app: &mut App) {
        // All plugins have finished, so the client exists.
        if let Some(mut client) = app.world_mut().get_resource_mut::<MotionClient>() {
            client.leave_spawning();
        }
    }
}

fn receiver(client: Entity) -> ReceiverId {
    ReceiverId(client.to_bits())
}

fn connect(add: On<'_, '_, Add, ConnectedClient>, server: Option<ResMut<'_, MotionServer>>) {
    let Some(mut server) = server else { return };
    if let Err(error) = server.connect(receiver(add.entity), &ReceiverOptions::default()) {
        log::warn!("kinepack-bevy: client {}: {error}", add.entity);
    }
}

fn disconnect(
    remove: On<'_, '_, Remove, ConnectedClient>,
    server: Option<ResMut<'_, MotionServer>>,
) {
    if let Some(mut server) = server {
        server.disconnect(receiver(remove.entity));
    }
}

fn receive_on_server(
    mut messages: ResMut<'_, ServerMessages>,
    mut server: ResMut<'_, MotionServer>,
    channels: Res<'_, Channels>,
) {
    for (client, datagram) in messages.drain_received(channels.client) {
        server.incoming.push(receiver(client), &datagram);
    }
}

fn receive_on_client(
    mut messages: ResMut<'_, ClientMessages>,
    mut client: ResMut<'_, MotionClient>,
    state: Res<'_, State<ClientState>>,
    channels: Res<'_, Channels>,
) {
    let is_connected = *state.get() == ClientState::Connected;
    match (is_connected, client.is_connected()) {
        (true, false) => client.connect(),
        (false, true) => client.disconnect(),
        _ => {}
    }
    if is_connected {
        for datagram in messages.drain_received(channels.server) {
            client.incoming.push((), &datagram);
        }
    }
}

fn send_from_server(
    mut messages: ResMut<'_, ServerMessages>,
    mut server: ResMut<'_, MotionServer>,
    clients: Query<'_, '_, (), With<ConnectedClient>>,
    channels: Res<'_, Channels>,
) {
    for (to, datagram) in server.outgoing.iter() {
        if let Some(client) = Entity::try_from_bits(to.0).filter(|client| clients.contains(*client))
        {
            messages.send(client, channels.server, Bytes::copy_from_slice(datagram));
        }
    }
    server.outgoing.clear();
}

fn send_from_client(
    mut messages: ResMut<'_, ClientMessages>,
    mut client: ResMut<'_, MotionClient>,
    channels: Res<'_, Channels>,
) {
    for ((), datagram) in client.outgoing.iter() {
        messages.send(channels.client, Bytes::copy_from_slice(datagram));
    }
    client.outgoing.clear();
}
