//! Connections over encrypted UDP, by `kinepack-udp`, and over WebTransport, by
//! `kinepack-webtransport`.

mod listener;
#[cfg(feature = "udp")]
mod udp_client;
#[cfg(feature = "udp")]
mod udp_server;
#[cfg(feature = "web")]
mod web_server;

use std::sync::{Mutex, PoisonError};

#[cfg(feature = "udp")]
pub use udp_client::{MotionUdpClient, MotionUdpClientPlugin, UdpLost};
#[cfg(feature = "udp")]
pub use udp_server::{MotionUdpServer, MotionUdpServerPlugin};
#[cfg(feature = "web")]
pub use web_server::{MotionWebServer, MotionWebServerPlugin};

/// A socket in a resource, which must be `Sync`. The lock is never waited for, because all access
/// is exclusive.
struct Socket<T>(Mutex<Option<T>>);

impl<T> Socket<T> {
    fn new(socket: T) -> Self {
        Self(Mutex::new(Some(socket)))
    }

    /// `None` once it was [taken](Self::take).
    fn open(&mut self) -> Option<&mut T> {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner).as_mut()
    }

    #[cfg(feature = "udp")]
    fn take(&mut self) -> Option<T> {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner).take()
    }
}
