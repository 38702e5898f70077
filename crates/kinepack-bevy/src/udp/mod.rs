//! Connections over encrypted UDP, by `kinepack-udp`.

mod client;
mod server;

use std::sync::{Mutex, PoisonError};

pub use client::{MotionUdpClient, MotionUdpClientPlugin, UdpLost};
pub use server::{MotionUdpServer, MotionUdpServerPlugin};

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

    fn take(&mut self) -> Option<T> {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner).take()
    }
}
