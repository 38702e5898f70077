//! A receiver outside of this program. It is a page that decodes the datagrams and answers.

use std::time::Duration;

/// The maximum number of answers that wait for the next tick.
const MAX_ANSWERS: usize = 64;

/// The program's end of a link to a receiver outside of this program.
#[derive(Debug, Default)]
pub struct Outside {
    arrived: Vec<(Duration, Vec<u8>)>,
    answers: Vec<Vec<u8>>,
}

impl Outside {
    /// Takes a datagram from the link.
    pub(super) fn take(&mut self, now: Duration, datagram: &[u8]) {
        self.arrived.push((now, datagram.to_vec()));
    }

    /// Returns the datagrams that arrived since the last call, and their times.
    pub fn take_arrived(&mut self) -> Vec<(Duration, Vec<u8>)> {
        std::mem::take(&mut self.arrived)
    }

    /// Adds a datagram that the page sends to the sender. The datagram is lost if too many wait.
    pub fn answer(&mut self, datagram: &[u8]) {
        if self.answers.len() < MAX_ANSWERS {
            self.answers.push(datagram.to_vec());
        }
    }

    pub(super) fn take_answers(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.answers)
    }
}
