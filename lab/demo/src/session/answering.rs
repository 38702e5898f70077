//! A receiver that only acknowledges. It takes so little time that a session can have many of them.

use std::time::Duration;

use kinepack_net::{Acknowledgement, Link, datagram_sequence};

use crate::cube_stream::CubeStream;
use crate::session_error::SessionError;
use crate::viewer::Viewer;

/// Sends hellos, and acknowledges datagrams without decoding them.
pub(super) struct Answering {
    hello: Option<Vec<u8>>,
    received: Option<Acknowledgement>,
    must_answer: bool,
}

impl Answering {
    pub(super) fn new(stream: &CubeStream) -> Result<Self, SessionError> {
        let mut viewer = Viewer::new(stream)?;
        let hello = viewer.receiver.poll_transmit(Duration::ZERO).map(<[u8]>::to_vec);
        Ok(Self { hello, received: None, must_answer: false })
    }

    pub(super) fn take(&mut self, datagram: &[u8]) {
        let Some(sequence) = datagram_sequence(datagram) else { return };
        self.must_answer = true;
        self.hello = None;
        let received = self.received.unwrap_or(Acknowledgement { latest: sequence, before: 0 });
        self.received = Some(received.with(sequence));
    }

    pub(super) fn answer(&mut self, now: Duration, up: &mut Link) {
        if let Some(hello) = &self.hello
            && now.subsec_millis() < 17
        {
            up.send(now, hello);
        }
        if let Some(received) = self.received.filter(|_| std::mem::take(&mut self.must_answer)) {
            let mut datagram = Vec::new();
            received.write(&mut datagram);
            up.send(now, &datagram);
        }
    }
}
