//! The client's UDP socket, which connects [`MotionClient`] to the network.

use std::net::SocketAddr;

use bevy_app::{App, Plugin, PostUpdate, PreUpdate};
use bevy_ecs::change_detection::ResMut;
use bevy_ecs::message::{Message, MessageWriter};
use bevy_ecs::resource::Resource;
use bevy_ecs::schedule::IntoScheduleConfigs;
use bevy_ecs::schedule::common_conditions::{resource_exists, resource_removed};
use kinepack_udp::{
    ClientOptions, ClientState, ClientStats, LostReason, Secret, SetupError, UdpClient,
};

use super::Socket;
use crate::{MotionClient, MotionClientSystems};

/// Connects a [`MotionClient`] to its server, while the resource [`MotionUdpClient`] exists.
#[derive(Clone, Copy, Debug, Default)]
pub struct MotionUdpClientPlugin;

impl Plugin for MotionUdpClientPlugin {
    fn build(&self, app: &mut App) {
        let is_open = resource_exists::<MotionUdpClient>;
        let receive = (poll.run_if(is_open), leave.run_if(resource_removed::<MotionUdpClient>));
        app.add_message::<UdpLost>()
            .add_systems(PreUpdate, receive.before(MotionClientSystems::Receive))
            .add_systems(PostUpdate, send.after(MotionClientSystems::Send).run_if(is_open));
    }
}

/// The message that the connection has ended, or never began. To connect again, insert a new
/// [`MotionUdpClient`].
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpLost {
    /// Why the connection ended.
    pub reason: LostReason,
}

/// The client's connection. Insert it as a resource to connect, and remove it to disconnect.
///
/// ```
/// use bevy_app::App;
/// use kinepack_bevy::MotionUdpClient;
/// use kinepack_udp::{ClientOptions, Secret};
///
/// const MY_GAME: u64 = u64::from_le_bytes(*b"my game ");
/// let secret = Secret::parse("a passphrase of your own")?;
/// let server = "127.0.0.1:40999".parse()?;
/// let connection = MotionUdpClient::connect(server, &secret, ClientOptions::new(MY_GAME))?;
/// # let mut app = App::new();
/// app.insert_resource(connection);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Resource)]
pub struct MotionUdpClient {
    socket: Socket<UdpClient>,
    /// The state as of the last frame.
    state: ClientState,
    stats: ClientStats,
}

impl MotionUdpClient {
    /// Begins to connect to `server`.
    ///
    /// # Errors
    /// Returns the errors of [`UdpClient::connect`].
    pub fn connect(
        server: SocketAddr,
        secret: &Secret,
        options: ClientOptions,
    ) -> Result<Self, SetupError> {
        let socket = UdpClient::connect(server, secret, options)?;
        Ok(Self {
            state: ClientState::Connecting,
            stats: socket.stats(),
            socket: Socket::new(socket),
        })
    }

    /// The state of the connection, as of the last frame.
    pub fn state(&self) -> ClientState {
        self.state
    }

    /// The socket's counters, as of the last frame.
    pub fn stats(&self) -> ClientStats {
        self.stats
    }
}

/// Closes the connection, and notifies the server.
impl Drop for MotionUdpClient {
    fn drop(&mut self) {
        if let Some(socket) = self.socket.take() {
            socket.close();
        }
    }
}

/// Passes the datagrams that have arrived to the client.
fn poll(
    mut udp: ResMut<'_, MotionUdpClient>,
    mut client: ResMut<'_, MotionClient>,
    mut lost: MessageWriter<'_, UdpLost>,
) {
    let before = udp.state;
    let Some(socket) = udp.socket.open() else { return };
    socket.poll(&mut |datagram| client.incoming.push((), datagram));
    let (state, stats) = (socket.state(), socket.stats());
    if state != before {
        match state {
            ClientState::Connecting => {}
            ClientState::Connected => client.connect(),
            ClientState::Lost { reason } => {
                client.disconnect();
                lost.write(UdpLost { reason });
            }
        }
    }
    (udp.state, udp.stats) = (state, stats);
}

/// Disconnects the client after the program has removed the connection.
fn leave(mut client: ResMut<'_, MotionClient>) {
    client.disconnect();
}

fn send(mut udp: ResMut<'_, MotionUdpClient>, mut client: ResMut<'_, MotionClient>) {
    let Some(socket) = udp.socket.open() else { return };
    for ((), datagram) in client.outgoing.iter() {
        // Errors do not matter, because the network may lose the datagram too.
        let _ = socket.send(datagram);
    }
    client.outgoing.clear();
}
