//! Serves the socket of one page. The program sends the newest world as fast as the page takes
//! worlds. It also sends the datagrams for the page's receiver each tick, and a status ten times
//! per second. It also executes the page's controls.
//!
//! At most two worlds are unanswered at a time. A slow or hidden page therefore gets fewer worlds,
//! but never an old one.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::ws::{self, CloseCode, CloseFrame, WebSocket, close_code};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use super::board::{Board, Brought, Order, Seat};
use super::datagrams::answered;
use super::protocol::{Control, Message, Packet, PageStatus, Sample};
use crate::keys::input;

/// The maximum number of worlds that the page has not answered.
const UNANSWERED: usize = 2;
/// The maximum number of messages per second from a page: about four for each tick.
const MAX_MESSAGES_PER_S: u32 = 250;
/// A page counts as disconnected if, for this time, it takes no message or answers no ping.
const PATIENCE: Duration = Duration::from_secs(20);
const PING_EVERY: Duration = Duration::from_secs(5);
/// The maximum number of ticks that a single step runs.
const MAX_STEPS: u32 = 60;

/// Serves a page until the page closes or the program ends.
pub(super) async fn talk(
    socket: WebSocket,
    board: Arc<Board>,
    seat: Seat,
    arrivals: mpsc::Receiver<Brought>,
) {
    let mut page = Page {
        socket,
        board,
        seat,
        arrivals,
        samples: Vec::new(),
        packets: Vec::new(),
        unanswered: VecDeque::new(),
        second: Instant::now(),
        messages: 0,
        heard: Instant::now(),
    };
    if let Err(gone) = page.run().await {
        // If the page takes no more messages, this call gives up after `PATIENCE`.
        let _ = timeout(PATIENCE, page.close(gone)).await;
    }
}

struct Page {
    socket: WebSocket,
    board: Arc<Board>,
    seat: Seat,
    arrivals: mpsc::Receiver<Brought>,
    /// The samples and packets for the next status.
    samples: Vec<Sample>,
    packets: Vec<Packet>,
    /// The numbers of the worlds that the page has not answered yet.
    unanswered: VecDeque<u32>,
    /// The beginning of the current second. The next field counts the page's messages since then.
    second: Instant,
    messages: u32,
    /// The time at which the page's last message arrived.
    heard: Instant,
}

/// The reason why a socket is closed.
struct Gone {
    code: CloseCode,
    reason: &'static str,
}

impl Gone {
    const AWAY: Self = Self { code: close_code::AWAY, reason: "" };
}

impl Page {
    async fn run(&mut self) -> Result<(), Gone> {
        let board = Arc::clone(&self.board);
        let mut worlds = board.world.subscribe();
        let mut statuses = board.status.subscribe();
        let mut end = board.end.subscribe();
        let mut ping = interval(PING_EVERY);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // If the program ended before this page opened, the mark makes the loop below send the end.
        // Worlds and statuses need no mark, because new ones follow soon.
        end.mark_changed();
        self.send_text(board.hello.clone()).await?;
        loop {
            tokio::select! {
                biased;
                changed = end.changed() => {
                    let last = end.borrow_and_update().clone();
                    match last {
                        Some(last) => {
                            self.send_text(last.to_string()).await?;
                            let reason = "the program has ended";
                            return Err(Gone { code: close_code::NORMAL, reason });
                        }
                        None => changed.map_err(|_| Gone::AWAY)?,
                    }
                }
                message = self.socket.recv() => {
                    let message = message.and_then(Result::ok).ok_or(Gone::AWAY)?;
                    self.take(message).await?;
                }
                _ = statuses.changed() => {
                    if !self.seat.is_open() {
                        let reason = "the place was needed for another address";
                        return Err(Gone { code: close_code::POLICY, reason });
                    }
                    let status = statuses.borrow_and_update().clone();
                    let samples = std::mem::take(&mut self.samples);
                    let packets = std::mem::take(&mut self.packets);
                    let look = self.seat.looks_at().and_then(|body| status.looks.get(&body));
                    let pages = board.pages();
                    let has_control = self.seat.has_control();
                    let message = Message::Status(PageStatus { status: &status, pages, has_control, skipped: board.skipped(), samples, packets });
                    self.send_text(message.to_json()).await?;
                    if let Some(look) = look {
                        self.send_text(Message::Look(look).to_json()).await?;
                    }
                }
                Some(Brought { datagrams, packets, sample }) = self.arrivals.recv() => {
                    self.packets.extend(packets);
                    self.samples.extend(sample);
                    self.send(ws::Message::Binary(datagrams)).await?;
                }
                _ = worlds.changed(), if self.unanswered.len() < UNANSWERED => {
                    let world = worlds.borrow_and_update().clone();
                    if !world.bytes.is_empty() {
                        self.unanswered.push_back(world.number);
                        self.send(ws::Message::Binary(world.bytes)).await?;
                    }
                }
                _ = ping.tick() => {
                    if self.heard.elapsed() > PATIENCE {
                        return Err(Gone::AWAY);
                    }
                    self.send(ws::Message::Ping(Bytes::new())).await?;
                }
            }
        }
    }

    /// Sends the reason to the page, and then reads until the page closes, unless it is gone.
    /// Otherwise the system would reset the connection because of unread messages, and the page
    /// would lose messages that it has not read, such as `end` and the reason itself.
    async fn close(&mut self, Gone { code, reason }: Gone) {
        let frame = CloseFrame { code, reason: reason.into() };
        // The page may already be closed.
        let is_sent = self.socket.send(ws::Message::Close(Some(frame))).await.is_ok();
        if is_sent && code != close_code::AWAY {
            while let Some(Ok(_)) = self.socket.recv().await {}
        }
    }

    async fn send_text(&mut self, text: String) -> Result<(), Gone> {
        self.send(ws::Message::Text(text.into())).await
    }

    async fn send(&mut self, message: ws::Message) -> Result<(), Gone> {
        match timeout(PATIENCE, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            _ => Err(Gone::AWAY),
        }
    }

    async fn take(&mut self, message: ws::Message) -> Result<(), Gone> {
        self.heard = Instant::now();
        if self.second.elapsed() >= Duration::from_secs(1) {
            (self.second, self.messages) = (self.heard, 0);
        }
        self.messages += 1;
        if self.messages > MAX_MESSAGES_PER_S {
            return Err(Gone { code: close_code::POLICY, reason: "too many messages" });
        }
        let answer = match message {
            ws::Message::Text(text) => match serde_json::from_str(&text) {
                Ok(control) => self.obey(control),
                Err(error) => Err(format!("the program does not know this message: {error}")),
            },
            ws::Message::Binary(message) if answered(&message).is_none() => {
                Err("a binary message takes datagrams of this page's receiver".to_owned())
            }
            // If the program is too busy, the datagrams are lost, as on any network.
            ws::Message::Binary(message) => {
                let page = self.seat.number();
                self.board.order(Order::Answers { page, message });
                Ok(())
            }
            ws::Message::Close(_) => return Err(Gone::AWAY),
            ws::Message::Ping(_) | ws::Message::Pong(_) => Ok(()),
        };
        match answer {
            Ok(()) => Ok(()),
            Err(reason) => self.send_text(Message::Error(&reason).to_json()).await,
        }
    }

    /// Executes a control of the page.
    ///
    /// # Errors
    /// Returns the reason for a refusal, as a sentence.
    fn obey(&mut self, control: Control) -> Result<(), String> {
        let board = &self.board;
        let order = match control {
            Control::Taken(number) => {
                while self
                    .unanswered
                    .front()
                    .is_some_and(|sent| number.wrapping_sub(*sent) as i32 >= 0)
                {
                    self.unanswered.pop_front();
                }
                return Ok(());
            }
            Control::Look(body) => {
                self.seat.look(body);
                return Ok(());
            }
            Control::TakeOver(takes) => {
                if takes {
                    self.seat.take_over();
                }
                return Ok(());
            }
            _ if !self.seat.has_control() => {
                return Err("another page plays; take over first".to_owned());
            }
            Control::Settings(settings) => {
                Order::Settings(Box::new(board.defaults.check(settings)?))
            }
            Control::Pause(pause) => Order::Pause(pause),
            Control::Step(_) if !board.status.borrow().paused => {
                return Err("pause before a step".to_owned());
            }
            Control::Restart(true) => Order::Restart,
            Control::Restart(false) => return Ok(()),
            Control::Step(ticks @ 1..=MAX_STEPS) => Order::Step(ticks),
            Control::Step(_) => return Err(format!("a step takes 1 to {MAX_STEPS} ticks")),
            Control::Keys(keys) => Order::Keys(input(|key| keys.contains(&key))),
        };
        if board.order(order) {
            Ok(())
        } else {
            Err("the program is too busy; try again".to_owned())
        }
    }
}
