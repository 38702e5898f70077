//! Opens sockets with large buffers.

use std::io;
use std::net::{SocketAddr, UdpSocket};

use socket2::{Domain, Protocol, SockRef, Socket, Type};

/// The smallest size that is requested. If the system refuses it too, the system's default remains.
const LEAST_BYTES: usize = 64 << 10;

/// Opens a UDP socket at `address`. Port 0 takes any free port. Requests `buffer_bytes` of buffer
/// in each direction. The system may grant less, and [`receive_buffer_bytes`] returns how much it
/// granted.
///
/// Linux grants twice the requested size, because its own bookkeeping counts too. The most that it
/// grants is twice `net.core.rmem_max` and `net.core.wmem_max`.
///
/// # Errors
/// Returns the system's error if the system refuses the address.
pub fn open_socket(address: SocketAddr, buffer_bytes: usize) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    // Smaller buffers lose more datagrams in a burst, but the socket works.
    ask(buffer_bytes, |bytes| socket.set_recv_buffer_size(bytes));
    ask(buffer_bytes, |bytes| socket.set_send_buffer_size(bytes));
    socket.bind(&address.into())?;
    Ok(socket.into())
}

/// The bytes that the system keeps for datagrams that wait to be read, as the system counts them. 0
/// if the system does not report the size.
pub fn receive_buffer_bytes(socket: &UdpSocket) -> usize {
    SockRef::from(socket).recv_buffer_size().unwrap_or_default()
}

/// The bytes that the system keeps for datagrams that wait to be sent, as the system counts them. 0
/// if the system does not report the size.
pub(crate) fn send_buffer_bytes(socket: &UdpSocket) -> usize {
    SockRef::from(socket).send_buffer_size().unwrap_or_default()
}

/// Requests a send buffer of `bytes`.
pub(crate) fn ask_for_send_buffer(socket: &UdpSocket, bytes: usize) {
    ask(bytes, |bytes| SockRef::from(socket).set_send_buffer_size(bytes));
}

/// Sends a datagram without waiting, although `socket` waits when it reads.
#[cfg(unix)]
pub(crate) fn send_without_waiting(
    socket: &UdpSocket,
    address: SocketAddr,
    packet: &[u8],
) -> io::Result<usize> {
    SockRef::from(socket).send_to_with_flags(packet, &address.into(), libc::MSG_DONTWAIT)
}

/// Sends a datagram. Other systems than Unix have no flag for a single call, so the socket's write
/// time-out bounds the wait.
#[cfg(not(unix))]
pub(crate) fn send_without_waiting(
    socket: &UdpSocket,
    address: SocketAddr,
    packet: &[u8],
) -> io::Result<usize> {
    socket.send_to(packet, address)
}

/// Requests ever smaller buffers until the system agrees. Linux grants a part of each request, and
/// other systems may refuse it.
fn ask(buffer_bytes: usize, set: impl Fn(usize) -> io::Result<()>) {
    let sizes = std::iter::successors(Some(buffer_bytes), |bytes| Some(bytes / 2));
    let _ = sizes.take_while(|bytes| *bytes >= LEAST_BYTES).find(|bytes| set(*bytes).is_ok());
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn a_smaller_buffer_is_asked_for_where_the_large_one_is_refused() {
        let asked = RefCell::new(Vec::new());
        ask(4 << 20, |bytes| {
            asked.borrow_mut().push(bytes);
            if bytes > 1 << 20 { Err(io::Error::other("too much")) } else { Ok(()) }
        });
        assert_eq!(asked.take(), [4 << 20, 2 << 20, 1 << 20]);
        ask(256 << 10, |bytes| {
            asked.borrow_mut().push(bytes);
            Err(io::Error::other("always"))
        });
        assert_eq!(asked.take(), [256 << 10, 128 << 10, 64 << 10]);
    }

    #[test]
    fn a_socket_says_what_the_system_granted() {
        let small = open_socket(([127, 0, 0, 1], 0).into(), LEAST_BYTES).unwrap();
        let large = open_socket(([127, 0, 0, 1], 0).into(), 4 << 20).unwrap();
        assert!(receive_buffer_bytes(&small) >= LEAST_BYTES);
        assert!(receive_buffer_bytes(&large) >= receive_buffer_bytes(&small));
    }
}
