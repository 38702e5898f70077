//! Sockets with large buffers, and sending that never fails: a datagram that the system does not
//! take is one lost on the way.

use std::net::{SocketAddr, UdpSocket};

use socket2::{Domain, Protocol, Socket, Type};

use crate::failure::Failure;

/// Opens a socket at `address` (port 0: any free one).
///
/// Its buffers ask for `buffer_bytes` each way; the system may grant less.
pub(super) fn open(address: SocketAddr, buffer_bytes: usize) -> Result<UdpSocket, Failure> {
    let bind = || {
        let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
        // Smaller buffers lose more in a burst, which is no reason not to run.
        let _ = socket.set_recv_buffer_size(buffer_bytes);
        let _ = socket.set_send_buffer_size(buffer_bytes);
        socket.bind(&address.into())?;
        Ok(socket.into())
    };
    bind().map_err(|error| Failure::Socket { address, error })
}
