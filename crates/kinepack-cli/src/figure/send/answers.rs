//! Notes errors of the system and answers of others, to explain why no receiver joined.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use command_kit::say;

use crate::figure::FigureFailure;

/// A receiver that stays busy for this long shows the body of another sender. A shorter time may be
/// that of this program's own last session.
const BUSY: Duration = Duration::from_secs(2);

/// The answers since the session began.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// Another address that answered for this session.
    other: Option<SocketAddr>,
    /// When the receiver first said that it is busy, and when last.
    busy: Option<(Duration, Duration)>,
    is_busy_said: bool,
    /// The first error of the system when it sent a datagram.
    failed: Option<io::Error>,
}

impl Answers {
    /// Notes an answer from another address than that of the receiver.
    pub(super) fn note_other(&mut self, from: SocketAddr) {
        if self.other.is_none() {
            say(format_args!("an answer came from {from}, and is ignored"));
            self.other = Some(from);
        }
    }

    /// Notes that the receiver shows the body of another sender.
    pub(super) fn note_busy(&mut self, now: Duration, to: SocketAddr) {
        let (first, last) = self.busy.get_or_insert((now, now));
        *last = now;
        if now.saturating_sub(*first) >= BUSY && !self.is_busy_said {
            say(format_args!("{to} shows the body of another sender; waiting for its end"));
            self.is_busy_said = true;
        }
    }

    /// Notes the system's answer to a datagram that was sent.
    pub(super) fn note_sent(&mut self, to: SocketAddr, sent: io::Result<()>) {
        match sent {
            Ok(()) => self.failed = None,
            Err(error) if self.failed.is_none() => {
                say(format_args!("the system cannot send to {to}: {error}"));
                self.failed = Some(error);
            }
            Err(_) => {}
        }
    }

    /// Returns the error of a receiver that did not join within `patience`.
    pub(super) fn failure(
        &self,
        now: Duration,
        to: SocketAddr,
        patience: Duration,
    ) -> FigureFailure {
        let is_busy = self.busy.is_some_and(|(_, last)| now.saturating_sub(last) < BUSY);
        let why = match (&self.failed, self.other) {
            _ if is_busy => return FigureFailure::Busy { to, patience },
            (Some(error), _) => format!("the system cannot send there: {error}"),
            (None, Some(other)) => {
                format!("an answer came from {other}: give that address with --to")
            }
            (None, None) => "start `kinepack figure watch` there first".to_owned(),
        };
        FigureFailure::NoAnswer { to, patience, why }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_says_why_nobody_joined() {
        let [to, other] = ["127.0.0.2:70", "127.0.0.1:70"].map(|text| text.parse().unwrap());
        let seconds = Duration::from_secs;
        let message = |answers: &Answers| answers.failure(seconds(9), to, seconds(9)).to_string();
        let mut answers = Answers::default();
        assert!(message(&answers).contains("within 9 s: start `kinepack figure watch`"));
        answers.note_other(other);
        assert_eq!(
            message(&answers),
            "127.0.0.2:70 did not answer within 9 s: an answer came from 127.0.0.1:70: give that \
             address with --to"
        );
        answers.note_sent(to, Ok(()));
        answers.note_sent(to, Err(io::ErrorKind::NetworkUnreachable.into()));
        answers.note_sent(to, Err(io::ErrorKind::PermissionDenied.into()));
        assert!(message(&answers).contains("the system cannot send there: network unreachable"));
        // The receiver was busy earlier, but then was silent.
        answers.note_busy(seconds(5), to);
        assert!(message(&answers).contains("cannot send there"));
        answers.note_busy(seconds(8), to);
        assert!(answers.is_busy_said && message(&answers).starts_with("127.0.0.2:70 is busy"));
    }
}
