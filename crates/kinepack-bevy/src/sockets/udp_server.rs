//! The server's UDP socket, which connects [`MotionServer`](crate::MotionServer) to the network.

use core::ops::Range;
use std::net::SocketAddr;

use bevy_app::{App, Plugin};
use bevy_ecs::resource::Resource;
use kinepack_net::ReceiverOptions;
use kinepack_udp::{Secret, ServerEvent, ServerOptions, SetupError, UdpServer, UdpStats};

use super::Socket;
use super::listener::{self, Listener, ServerSocket};

/// Connects a [`MotionServer`](crate::MotionServer) to its clients, while the resource
/// [`MotionUdpServer`] exists.
#[derive(Clone, Copy, Debug, Default)]
pub struct MotionUdpServerPlugin;

impl Plugin for MotionUdpServerPlugin {
    fn build(&self, app: &mut App) {
        listener::add::<MotionUdpServer>(app);
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
    /// The options of clients that connect from now on. At first, their budget follows the link,
    /// up to 1,000,000 bytes a second. [`Budget::Unlimited`](kinepack_net::Budget) turns this off. A budget counts
    /// [`HubConfig::overhead_bytes`](kinepack_net::HubConfig::overhead_bytes) for each datagram.
    /// Set `overhead_bytes` to the sum of [`MAX_OVERHEAD_BYTES`](kinepack_udp::MAX_OVERHEAD_BYTES)
    /// and [`header_bytes`](kinepack_udp::header_bytes).
    pub receiver: ReceiverOptions,
    address: SocketAddr,
    socket: Socket<UdpServer>,
    events: Vec<ServerEvent>,
    stats: UdpStats,
}

impl MotionUdpServer {
    /// Opens a socket at `address`. Port 0 takes any free port.
    ///
    /// # Errors
    /// Returns the errors of [`UdpServer::bind`].
    pub fn bind(
        address: SocketAddr,
        secret: &Secret,
        options: ServerOptions,
    ) -> Result<Self, SetupError> {
        let socket = UdpServer::bind(address, secret, options)?;
        Ok(Self {
            receiver: listener::following(),
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

    /// The socket's counters, as of the last frame.
    pub fn stats(&self) -> UdpStats {
        self.stats
    }
}

/// Notifies the clients, and frees the port.
impl Drop for MotionUdpServer {
    fn drop(&mut self) {
        if let Some(socket) = self.socket.take() {
            socket.close();
        }
    }
}

impl ServerSocket for UdpServer {
    fn poll(&mut self, events: &mut Vec<ServerEvent>) {
        self.poll(events);
    }

    fn payload(&self, range: &Range<usize>) -> &[u8] {
        self.payload(range)
    }

    fn send(&mut self, client: u64, datagram: &[u8]) {
        let _ = self.send(client, datagram);
    }

    fn disconnect(&mut self, client: u64) {
        self.disconnect(client);
    }
}

impl Listener for MotionUdpServer {
    type Socket = UdpServer;

    fn open(&mut self) -> Option<(&mut UdpServer, &ReceiverOptions, &mut Vec<ServerEvent>)> {
        Some((self.socket.open()?, &self.receiver, &mut self.events))
    }

    fn note(&mut self) {
        if let Some(socket) = self.socket.open() {
            self.stats = socket.stats();
        }
    }
}
