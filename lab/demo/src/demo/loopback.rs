//! Opens two UDP sockets on this machine. After the simulated link, the demo's datagrams travel
//! through real sockets.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, UdpSocket};
use std::time::Duration;

use crate::session::Carrier;
use crate::session_error::SessionError;

/// A datagram that has not arrived after this time counts as lost. The kernel delivers datagrams at
/// once or drops them.
const PATIENCE: Duration = Duration::from_millis(100);

/// The sockets, one for each side.
pub(super) struct Loopback {
    sender: UdpSocket,
    viewer: UdpSocket,
    buffer: Vec<u8>,
}

impl Loopback {
    pub(super) fn new() -> Result<Self, SessionError> {
        let (sender, viewer) = (bind()?, bind()?);
        let address = |socket: &UdpSocket| socket.local_addr().map_err(SessionError::Loopback);
        sender.connect(address(&viewer)?).map_err(SessionError::Loopback)?;
        viewer.connect(address(&sender)?).map_err(SessionError::Loopback)?;
        Ok(Self { sender, viewer, buffer: vec![0; 65_536] })
    }
}

impl Carrier for Loopback {
    fn down<'a>(&'a mut self, datagram: &'a [u8]) -> Result<Option<&'a [u8]>, SessionError> {
        carry(&self.sender, &self.viewer, datagram, &mut self.buffer)
    }

    fn up<'a>(&'a mut self, datagram: &'a [u8]) -> Result<Option<&'a [u8]>, SessionError> {
        carry(&self.viewer, &self.sender, datagram, &mut self.buffer)
    }
}

fn bind() -> Result<UdpSocket, SessionError> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(SessionError::Loopback)?;
    socket.set_read_timeout(Some(PATIENCE)).map_err(SessionError::Loopback)?;
    Ok(socket)
}

fn carry<'b>(
    from: &UdpSocket,
    to: &UdpSocket,
    datagram: &[u8],
    buffer: &'b mut [u8],
) -> Result<Option<&'b [u8]>, SessionError> {
    from.send(datagram).map_err(SessionError::Loopback)?;
    match to.recv(buffer) {
        Ok(bytes) => Ok(Some(&buffer[..bytes])),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            Ok(None)
        }
        Err(error) => Err(SessionError::Loopback(error)),
    }
}
