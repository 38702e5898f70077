//! Connections over encrypted UDP, by `kinepack-udp`, and over WebTransport, by
//! `kinepack-webtransport`. A browser has no sockets, so only the WebTransport client exists there.

#[cfg(not(target_family = "wasm"))]
mod listener;
#[cfg(all(feature = "udp", not(target_family = "wasm")))]
mod udp_client;
#[cfg(all(feature = "udp", not(target_family = "wasm")))]
mod udp_server;
#[cfg(feature = "web")]
mod web_client;
#[cfg(all(feature = "web", not(target_family = "wasm")))]
mod web_server;

use std::sync::{Mutex, PoisonError};

#[cfg(all(feature = "udp", not(target_family = "wasm")))]
pub use udp_client::{MotionUdpClient, MotionUdpClientPlugin, UdpLost};
#[cfg(all(feature = "udp", not(target_family = "wasm")))]
pub use udp_server::{MotionUdpServer, MotionUdpServerPlugin};
#[cfg(feature = "web")]
pub use web_client::{MotionWebClient, MotionWebClientPlugin, WebLost};
#[cfg(all(feature = "web", not(target_family = "wasm")))]
pub use web_server::{MotionWebServer, MotionWebServerPlugin};

/// A socket in a resource, which must be `Sync`. Locking never blocks, because all access is
/// exclusive.
struct Socket<T>(Mutex<Option<T>>);

impl<T> Socket<T> {
    fn new(socket: T) -> Self {
        Self(Mutex::new(Some(socket)))
    }

    /// The socket. `None` once it was [taken](Self::take).
    fn open(&mut self) -> Option<&mut T> {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner).as_mut()
    }

    #[cfg(all(feature = "udp", not(target_family = "wasm")))]
    fn take(&mut self) -> Option<T> {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner).take()
    }
}
