//! Serves the socket of one page, which is one player.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::ws::{self, WebSocket};
use kinepack::EntityId;
use kinepack_net::LinkConfig;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{MissedTickBehavior, interval};

use super::board::{Board, Joined, Order, Seat, WAITING};
use super::protocol::{self, Control};
use crate::page_socket::{Gone, PING_EVERY, PageSocket};

/// The maximum number of messages per second from a page: one for each frame of a fast screen.
const MAX_MESSAGES_PER_S: u32 = 600;

/// Serves a page until the page closes or the program ends.
pub(super) async fn talk(socket: WebSocket, board: Arc<Board>, seat: Seat) {
    let mut socket = PageSocket::new(socket, MAX_MESSAGES_PER_S);
    let (messages, arrivals) = mpsc::channel(WAITING);
    let (joined, answer) = oneshot::channel();
    board.order(Order::Join { joined, messages });
    // Without an answer, the game is over or has no time.
    let gone = match answer.await {
        Ok(Joined { me, hello }) => {
            let gone = match socket.send_text(hello).await {
                Ok(()) => Page { socket: &mut socket, board: &board, me, arrivals }.run().await,
                Err(gone) => Err(gone),
            };
            // The game may be too busy for an order. A player who stays would be a ghost.
            while !board.order(Order::Leave(me)) && !*board.end.borrow() {
                tokio::time::sleep(PING_EVERY / 50).await;
            }
            gone
        }
        Err(_) => Err(Gone::refused("the program is too busy")),
    };
    if let Err(gone) = gone {
        socket.close(gone).await;
    }
    drop(seat);
}

struct Page<'a> {
    socket: &'a mut PageSocket,
    board: &'a Board,
    me: EntityId,
    arrivals: mpsc::Receiver<Bytes>,
}

impl Page<'_> {
    async fn run(mut self) -> Result<(), Gone> {
        let mut statuses = self.board.status.subscribe();
        let mut end = self.board.end.subscribe();
        // If the program ended before this page opened.
        end.mark_changed();
        let mut ping = interval(PING_EVERY);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                _ = end.changed() => {
                    if *end.borrow_and_update() {
                        self.socket.send_text(protocol::end()).await?;
                        return Err(Gone::ended());
                    }
                }
                message = self.socket.receive() => self.take(message?).await?,
                Some(message) = self.arrivals.recv() => self.socket.send_bytes(message).await?,
                _ = statuses.changed() => {
                    let status = statuses.borrow_and_update().to_string();
                    self.socket.send_text(status).await?;
                }
                _ = ping.tick() => self.socket.ping().await?,
            }
        }
    }

    async fn take(&mut self, message: ws::Message) -> Result<(), Gone> {
        let order = match message {
            ws::Message::Binary(datagram) => {
                // If the game is too busy, the datagram is lost, as on any network.
                self.board.order(Order::Datagram(self.me, datagram));
                return Ok(());
            }
            ws::Message::Text(text) => match serde_json::from_str(&text) {
                Ok(Control::Rules(rules)) => Ok(Order::Rules(rules)),
                Ok(Control::Net(net)) => {
                    // The link of the command line has a known name too.
                    let checked = net.config(("", LinkConfig::PERFECT));
                    checked.map(|_| Order::Net(net)).map_err(str::to_owned)
                }
                Err(error) => Err(format!("the program does not know this message: {error}")),
            },
            _ => return Ok(()),
        };
        let answer = order.and_then(|order| match self.board.order(order) {
            true => Ok(()),
            false => Err("the program is too busy; try again".to_owned()),
        });
        match answer {
            Ok(()) => Ok(()),
            Err(reason) => self.socket.send_text(protocol::error(&reason)).await,
        }
    }
}
