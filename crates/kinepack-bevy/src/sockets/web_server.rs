//! The server's WebTransport endpoint, between clients and [`MotionServer`](crate::MotionServer).

use core::ops::Range;

use bevy_app::{App, Plugin};
use bevy_ecs::resource::Resource;
use kinepack_net::ReceiverOptions;
use kinepack_udp::ServerEvent;
use kinepack_webtransport::{WebServer, WebStats};

use super::Socket;
use super::listener::{self, Listener, ServerSocket};

/// Connects a [`MotionServer`](crate::MotionServer) to clients over WebTransport, while the
/// resource [`MotionWebServer`] exists. It can run alongside `MotionUdpServerPlugin`, and all
/// clients see the same world.
///
/// A game with Bevy joins with `MotionWebClientPlugin`, natively or in a browser. A page without
/// Bevy uses the npm package of Kinepack: see the chapter *Show your server's world in a browser*
/// of the book. Datagrams must be smaller than over UDP: set
/// [`HubConfig::datagram_bytes`](kinepack_net::HubConfig::datagram_bytes) to
/// [`SAFE_PAYLOAD_BYTES`](kinepack_webtransport::SAFE_PAYLOAD_BYTES).
#[derive(Clone, Copy, Debug, Default)]
pub struct MotionWebServerPlugin;

impl Plugin for MotionWebServerPlugin {
    fn build(&self, app: &mut App) {
        listener::add::<MotionWebServer>(app);
    }
}

/// The server's WebTransport endpoint. Insert it as a resource.
///
/// ```
/// use bevy_app::App;
/// use kinepack_bevy::MotionWebServer;
/// use kinepack_udp::Secret;
/// use kinepack_webtransport::{WebOptions, WebServer};
///
/// let secret = Secret::parse("a passphrase of your own")?;
/// let options = WebOptions::new(["https://play.example"]); // where your page comes from
/// let server = WebServer::bind("127.0.0.1:0".parse()?, &secret, options)?;
/// // Your web site gives each page the address, the certificate's hash, and a token.
/// let (address, hash) = (server.local_addr(), server.certificate_hash());
/// # let mut app = App::new();
/// app.insert_resource(MotionWebServer::new(server));
/// # let _ = (address, hash);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Resource)]
pub struct MotionWebServer {
    /// The options of clients that connect from now on. At first, their budget follows the link,
    /// up to 1,000,000 bytes a second. [`Budget::Unlimited`](kinepack_net::Budget) turns this off.
    pub receiver: ReceiverOptions,
    socket: Socket<WebServer>,
    events: Vec<ServerEvent>,
    stats: WebStats,
}

impl MotionWebServer {
    /// Makes the resource of an endpoint that is already bound.
    pub fn new(server: WebServer) -> Self {
        Self {
            receiver: listener::following(),
            stats: server.stats(),
            socket: Socket::new(server),
            events: Vec::new(),
        }
    }

    /// The endpoint's counters, as of the last frame.
    pub fn stats(&self) -> WebStats {
        self.stats
    }
}

impl ServerSocket for WebServer {
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

impl Listener for MotionWebServer {
    type Socket = WebServer;

    fn open(&mut self) -> Option<(&mut WebServer, &ReceiverOptions, &mut Vec<ServerEvent>)> {
        Some((self.socket.open()?, &self.receiver, &mut self.events))
    }

    fn note(&mut self) {
        if let Some(server) = self.socket.open() {
            self.stats = server.stats();
        }
    }
}
