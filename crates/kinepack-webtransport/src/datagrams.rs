//! Datagrams of QUIC, for both ends. Unlike quinn's own call, [`send`] reports a full queue.

use wtransport::Connection;
use wtransport::error::SendDatagramError;

/// The longest session id before a datagram.
const SESSION_BYTES: usize = 8;

/// The session has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotConnected;

/// Sends a datagram. Returns false if the datagram is too long for the path, or if too many
/// datagrams already wait. Only one thread may send on a connection.
///
/// quinn itself makes room for a datagram by dropping the oldest waiting ones, and does not report
/// this. So this function checks for room first. No other code sends datagrams on the connection,
/// so the room can only grow before quinn takes the datagram.
pub(crate) fn send(connection: &Connection, datagram: &[u8]) -> Result<bool, NotConnected> {
    let room_bytes = connection.quic_connection().datagram_send_buffer_space();
    if room_bytes < datagram.len() + SESSION_BYTES {
        let is_open = connection.quic_connection().close_reason().is_none();
        return if is_open { Ok(false) } else { Err(NotConnected) };
    }
    match connection.send_datagram(datagram) {
        Ok(()) => Ok(true),
        Err(SendDatagramError::NotConnected) => Err(NotConnected),
        Err(_) => Ok(false),
    }
}
