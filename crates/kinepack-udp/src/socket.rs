//! Sockets with large buffers.

use std::net::{SocketAddr, UdpSocket};

use socket2::{Domain, Protocol, Socket, Type};

use crate::SetupError;

/// Opens a socket at `address` (port 0: any free one). Requests `buffer_bytes` of buffer in each
/// direction; the system may grant less.
pub(crate) fn open(address: SocketAddr, buffer_bytes: usize) -> Result<UdpSocket, SetupError> {
    let bind = || {
        let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
        // Smaller buffers lose more datagrams in a burst, but the socket works.
        let _ = socket.set_recv_buffer_size(buffer_bytes);
        let _ = socket.set_send_buffer_size(buffer_bytes);
        socket.bind(&address.into())?;
        Ok(socket.into())
    };
    bind().map_err(|error| SetupError::Socket { address, error })
}
