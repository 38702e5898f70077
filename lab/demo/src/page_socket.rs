//! The socket between the program and one of its pages: limits, pings, and how it ends.

use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::ws::{self, CloseCode, CloseFrame, WebSocket, close_code};
use tokio::time::timeout;

/// A page counts as disconnected if, for this time, it takes no message or answers no ping.
const PATIENCE: Duration = Duration::from_secs(20);
/// The time between two pings.
pub(crate) const PING_EVERY: Duration = Duration::from_secs(5);

/// The reason why a socket is closed.
pub(crate) struct Gone {
    code: CloseCode,
    reason: &'static str,
}

impl Gone {
    pub(crate) const AWAY: Self = Self { code: close_code::AWAY, reason: "" };

    /// The page has done what it must not do.
    pub(crate) fn refused(reason: &'static str) -> Self {
        Self { code: close_code::POLICY, reason }
    }

    /// The program has ended.
    pub(crate) fn ended() -> Self {
        Self { code: close_code::NORMAL, reason: "the program has ended" }
    }
}

/// An open socket.
pub(crate) struct PageSocket {
    socket: WebSocket,
    messages_per_s: u32,
    /// The beginning of the current second. The next field counts the page's messages since then.
    second: Instant,
    messages: u32,
    /// The time at which the page's last message arrived.
    heard: Instant,
}

impl PageSocket {
    /// A page that sends more than `messages_per_s` messages in a second is closed.
    pub(crate) fn new(socket: WebSocket, messages_per_s: u32) -> Self {
        let now = Instant::now();
        Self { socket, messages_per_s, second: now, messages: 0, heard: now }
    }

    /// Waits for the page's next message. Nothing is lost if the wait is given up.
    pub(crate) async fn receive(&mut self) -> Result<ws::Message, Gone> {
        let message = self.socket.recv().await.and_then(Result::ok).ok_or(Gone::AWAY)?;
        self.heard = Instant::now();
        if self.second.elapsed() >= Duration::from_secs(1) {
            (self.second, self.messages) = (self.heard, 0);
        }
        self.messages += 1;
        match message {
            _ if self.messages > self.messages_per_s => Err(Gone::refused("too many messages")),
            ws::Message::Close(_) => Err(Gone::AWAY),
            message => Ok(message),
        }
    }

    pub(crate) async fn send_text(&mut self, text: String) -> Result<(), Gone> {
        self.send(ws::Message::Text(text.into())).await
    }

    pub(crate) async fn send_bytes(&mut self, bytes: Bytes) -> Result<(), Gone> {
        self.send(ws::Message::Binary(bytes)).await
    }

    /// Pings the page, unless it is silent for too long.
    pub(crate) async fn ping(&mut self) -> Result<(), Gone> {
        if self.heard.elapsed() > PATIENCE {
            return Err(Gone::AWAY);
        }
        self.send(ws::Message::Ping(Bytes::new())).await
    }

    async fn send(&mut self, message: ws::Message) -> Result<(), Gone> {
        match timeout(PATIENCE, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(Gone::AWAY),
        }
    }

    /// Sends the reason to the page, and then reads until the page closes, unless it is gone.
    /// Otherwise the system would reset the connection because of unread messages, and the page
    /// would lose messages that it has not read, such as `end` and the reason itself.
    pub(crate) async fn close(mut self, Gone { code, reason }: Gone) {
        let frame = CloseFrame { code, reason: reason.into() };
        let farewell = async {
            // The page may already be closed.
            let is_sent = self.socket.send(ws::Message::Close(Some(frame))).await.is_ok();
            if is_sent && code != close_code::AWAY {
                while let Some(Ok(_)) = self.socket.recv().await {}
            }
        };
        // If the page takes no more messages, this gives up.
        let _ = timeout(PATIENCE, farewell).await;
    }
}
