//! The server's socket, between the network and [`MotionServer`].

use std::net::SocketAddr;

use bevy_app::{App, Plugin, PostUpdate, PreUpdate};
use bevy_ecs::change_detection::ResMut;
use bevy_ecs::resource::Resource;
use bevy_ecs::schedule::IntoScheduleConfigs;
use bevy_ecs::schedule::common_conditions::{resource_exists, resource_removed};
use kinepack_net::{ReceiverId, ReceiverOptions};
use kinepack_udp::{Secret, ServerEvent, ServerOptions, SetupError, UdpServer, UdpStats};

use super::Socket;
use crate::{MotionServer, MotionServerSystems};

/// Connects a [`MotionServer`] to its clients, while the resource [`MotionUdpServer`] exists.
#[derive(Clone, Copy, Debug, Default)]
pub struct MotionUdpServerPlugin;

impl Plugin for MotionUdpServerPlugin {
    fn build(&self, app: &mut App) {
        let is_open = resource_exists::<MotionUdpServer>;
        let receive = (poll.run_if(is_open), leave.run_if(resource_removed::<MotionUdpServer>));
        app.add_systems(PreUpdate, receive.before(MotionServerSystems::Receive))
            .add_systems(PostUpdate, send.run_if(is_open));
    }
}

/// The server's socket. Insert it as a resource.
///
/// ```
/// use bevy_app::App;
/// use kinepack_bevy::MotionUdpServer;
/// use kinepack_udp::{Secret, ServerOptions};
///
/// const MY_GAME: u64 = u64::from_le_bytes(*b"my game ");
/// let secret = Secret::parse("a passphrase of your own")?;
/// let address = "127.0.0.1:0".parse()?;
/// let socket = MotionUdpServer::bind(address, &secret, ServerOptions::new(MY_GAME))?;
/// # let mut app = App::new();
/// app.insert_resource(socket);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Resource)]
pub struct MotionUdpServer {
    /// The options of clients that connect from now on, such as a budget. A budget counts
    /// [`HubConfig::overhead_bytes`](kinepack_net::HubConfig::overhead_bytes) for each datagram.
    /// Set that to [`MAX_OVERHEAD_BYTES`](kinepack_udp::MAX_OVERHEAD_BYTES) and
    /// [`header_bytes`](kinepack_udp::header_bytes) together.
    pub receiver: ReceiverOptions,
    address: SocketAddr,
    socket: Socket<UdpServer>,
    events: Vec<ServerEvent>,
    stats: UdpStats,
}

impl MotionUdpServer {
    /// Opens a socket at `address` (port 0: any free one).
    ///
    /// # Errors
    /// As [`UdpServer::bind`].
    pub fn bind(
        address: SocketAddr,
        secret: &Secret,
        options: ServerOptions,
    ) -> Result<Self, SetupError> {
        let socket = UdpServer::bind(address, secret, options)?;
        Ok(Self {
            receiver: ReceiverOptions::default(),
            address: socket.local_addr(),
            socket: Socket::new(socket),
            events: Vec::new(),
            stats: UdpStats::default(),
        })
    }

    /// The socket's address, with its actual port.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// What the socket has received, dropped and sent until the last frame.
    pub fn stats(&self) -> UdpStats {
        self.stats
    }
}

/// Tells the clients, and frees the port.
impl Drop for MotionUdpServer {
    fn drop(&mut self) {
        if let Some(socket) = self.socket.take() {
            socket.close();
        }
    }
}

/// Takes what arrived.
fn poll(mut udp: ResMut<'_, MotionUdpServer>, mut server: ResMut<'_, MotionServer>) {
    let MotionUdpServer { receiver, socket, events, stats, .. } = &mut *udp;
    let Some(socket) = socket.open() else { return };
    socket.poll(events);
    for event in events.drain(..) {
        match event {
            ServerEvent::Connected { client, .. } => {
                if let Err(error) = server.connect(ReceiverId(client), receiver) {
                    log::warn!("kinepack-bevy: client {client}: {error}");
                    socket.disconnect(client);
                }
            }
            ServerEvent::Datagram { client, payload } => {
                server.incoming.push(ReceiverId(client), socket.payload(&payload));
            }
            ServerEvent::Disconnected { client, .. } => {
                server.disconnect(ReceiverId(client));
            }
        }
    }
    *stats = socket.stats();
}

/// The program removed the socket.
fn leave(mut server: ResMut<'_, MotionServer>) {
    let clients: Vec<ReceiverId> = server.clients().collect();
    clients.into_iter().for_each(|client| _ = server.disconnect(client));
}

fn send(mut udp: ResMut<'_, MotionUdpServer>, mut server: ResMut<'_, MotionServer>) {
    let Some(socket) = udp.socket.open() else { return };
    for (client, datagram) in server.outgoing.iter() {
        // The network may lose a datagram too.
        let _ = socket.send(client.0, datagram);
    }
    server.outgoing.clear();
}
