//! Moves datagrams between a server's socket and [`MotionServer`], for all transports.

use core::marker::PhantomData;
use std::collections::HashSet;

use bevy_app::{App, Plugin, PostUpdate, PreUpdate};
use bevy_ecs::change_detection::ResMut;
use bevy_ecs::component::Mutable;
use bevy_ecs::resource::Resource;
use bevy_ecs::schedule::common_conditions::{resource_exists, resource_removed};
use bevy_ecs::schedule::{IntoScheduleConfigs, SystemSet};
use core::ops::Range;
use kinepack_net::{Budget, ReceiverId, ReceiverOptions};
use kinepack_udp::ServerEvent;

use crate::{MotionServer, MotionServerSystems};

/// A socket whose clients connect, send and leave.
pub(super) trait ServerSocket {
    /// Appends the events since the last call.
    fn poll(&mut self, events: &mut Vec<ServerEvent>);

    /// The datagram at `range`, which an event named. The slice is valid until the next call of
    /// [`poll`](Self::poll).
    fn payload(&self, range: &Range<usize>) -> &[u8];

    /// Sends a datagram. Errors do not matter, because the network may lose the datagram too.
    fn send(&mut self, client: u64, datagram: &[u8]);

    /// Ends a connection.
    fn disconnect(&mut self, client: u64);
}

/// A resource with a socket.
pub(super) trait Listener: Resource<Mutability = Mutable> {
    type Socket: ServerSocket;

    /// The socket, the options of new clients, and scratch memory. `None` if the socket is closed.
    fn open(&mut self) -> Option<(&mut Self::Socket, &ReceiverOptions, &mut Vec<ServerEvent>)>;

    /// The plugin calls this after the events of a frame.
    fn note(&mut self);
}

/// The options of clients at first: a budget that follows the link, up to 8 Mbit/s.
pub(super) fn following() -> ReceiverOptions {
    let budget = Budget::Auto { at_most: 1_000_000 };
    ReceiverOptions { budget, ..ReceiverOptions::default() }
}

/// The clients of one listener. This resource outlives the listener, so that its clients can still
/// be removed.
#[derive(Resource)]
struct ClientsOf<L> {
    clients: HashSet<u64>,
    of: PhantomData<fn() -> L>,
}

/// The set in which all listeners send, in `PostUpdate`.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Sending;

/// Clears the datagrams that all listeners have sent.
struct ClearSent;

impl Plugin for ClearSent {
    fn build(&self, app: &mut App) {
        app.add_systems(PostUpdate, clear.after(Sending).run_if(resource_exists::<MotionServer>));
    }
}

/// Adds the systems of a listener. Each system runs while the listener's resource exists.
pub(super) fn add<L: Listener>(app: &mut App) {
    if !app.is_plugin_added::<ClearSent>() {
        app.add_plugins(ClearSent);
    }
    let receive =
        (poll::<L>.run_if(resource_exists::<L>), leave::<L>.run_if(resource_removed::<L>));
    app.insert_resource(ClientsOf::<L> { clients: HashSet::new(), of: PhantomData })
        .add_systems(PreUpdate, receive.before(MotionServerSystems::Receive))
        .add_systems(PostUpdate, send::<L>.in_set(Sending).run_if(resource_exists::<L>));
}

/// Passes the datagrams that have arrived to the server.
fn poll<L: Listener>(
    mut listener: ResMut<'_, L>,
    mut of: ResMut<'_, ClientsOf<L>>,
    mut server: ResMut<'_, MotionServer>,
) {
    let Some((socket, receiver, events)) = listener.open() else { return };
    socket.poll(events);
    for event in events.drain(..) {
        match event {
            ServerEvent::Connected { client, .. } => {
                match server.connect(ReceiverId(client), receiver) {
                    Ok(()) => _ = of.clients.insert(client),
                    Err(error) => {
                        log::warn!("kinepack-bevy: client {client}: {error}");
                        socket.disconnect(client);
                    }
                }
            }
            ServerEvent::Datagram { client, payload } => {
                if of.clients.contains(&client) {
                    server.incoming.push(ReceiverId(client), socket.payload(&payload));
                }
            }
            ServerEvent::Disconnected { client, .. } => {
                if of.clients.remove(&client) {
                    server.disconnect(ReceiverId(client));
                }
            }
        }
    }
    listener.note();
}

/// Disconnects the clients after the program has removed the listener.
fn leave<L: Listener>(mut of: ResMut<'_, ClientsOf<L>>, mut server: ResMut<'_, MotionServer>) {
    for client in of.clients.drain() {
        server.disconnect(ReceiverId(client));
    }
}

fn send<L: Listener>(
    mut listener: ResMut<'_, L>,
    of: ResMut<'_, ClientsOf<L>>,
    server: ResMut<'_, MotionServer>,
) {
    let Some((socket, ..)) = listener.open() else { return };
    for (client, datagram) in server.outgoing.iter() {
        if of.clients.contains(&client.0) {
            socket.send(client.0, datagram);
        }
    }
}

fn clear(mut server: ResMut<'_, MotionServer>) {
    server.outgoing.clear();
}
