//! UDP sockets that do not wait.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};

use super::FigureFailure;

/// The largest packet of UDP.
pub(super) const MAX_PACKET_BYTES: usize = 1 << 16;

/// Opens a socket at an address, which does not wait.
pub(super) fn bind(address: SocketAddr) -> Result<UdpSocket, FigureFailure> {
    let failure = |error| FigureFailure::Bind { address, error };
    let socket = UdpSocket::bind(address).map_err(failure)?;
    socket.set_nonblocking(true).map_err(failure)?;
    Ok(socket)
}

/// Receives a packet if one has arrived. Its length, and its sender.
pub(super) fn receive(
    socket: &UdpSocket,
    packet: &mut [u8],
) -> Result<Option<(usize, SocketAddr)>, FigureFailure> {
    match socket.recv_from(packet) {
        Ok(received) => Ok(Some(received)),
        // The system reports here that an earlier packet of ours was refused, or that a packet is
        // larger than the buffer. Neither stops later ones.
        Err(error) => match error.kind() {
            ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset => Ok(None),
            ErrorKind::WouldBlock | ErrorKind::Interrupted => Ok(None),
            _ => Err(FigureFailure::Network { error }),
        },
    }
}

/// Sends a datagram. One that the system has no room for is lost, as it might be on the way.
pub(super) fn transmit(socket: &UdpSocket, to: SocketAddr, datagram: &[u8]) -> io::Result<()> {
    match socket.send_to(datagram, to) {
        Ok(_) => Ok(()),
        Err(error) => match error.kind() {
            ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset => Ok(()),
            ErrorKind::WouldBlock | ErrorKind::Interrupted => Ok(()),
            _ => Err(error),
        },
    }
}
