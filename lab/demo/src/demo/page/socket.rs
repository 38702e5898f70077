//! Serves the socket of one page. The program sends the newest world as fast as the page takes
//! worlds. It also sends the datagrams for the page's receiver each tick, and a status ten times
//! per second. It also executes the page's controls.
//!
//! At most two worlds are unanswered at a time. A slow or hidden page therefore gets fewer worlds,
//! but never an old one.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::extract::ws::{self, WebSocket};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use super::board::{Board, Brought, Order, Seat};
use super::datagrams::answered;
use super::protocol::{Control, Message, Packet, PageStatus, Sample};
use crate::keys::input;
use crate::page_socket::{Gone, PING_EVERY, PageSocket};

/// The maximum number of worlds that the page has not answered.
const UNANSWERED: usize = 2;
/// The maximum number of messages per second from a page: about four for each tick.
const MAX_MESSAGES_PER_S: u32 = 250;
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
        socket: PageSocket::new(socket, MAX_MESSAGES_PER_S),
        board,
        seat,
        arrivals,
        samples: Vec::new(),
        packets: Vec::new(),
        unanswered: VecDeque::new(),
    };
    if let Err(gone) = page.run().await {
        page.socket.close(gone).await;
    }
}

struct Page {
    socket: PageSocket,
    board: Arc<Board>,
    seat: Seat,
    arrivals: mpsc::Receiver<Brought>,
    /// The samples and packets for the next status.
    samples: Vec<Sample>,
    packets: Vec<Packet>,
    /// The numbers of the worlds that the page has not answered yet.
    unanswered: VecDeque<u32>,
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
        self.socket.send_text(board.hello.clone()).await?;
        loop {
            tokio::select! {
                biased;
                changed = end.changed() => {
                    let last = end.borrow_and_update().clone();
                    match last {
                        Some(last) => {
                            self.socket.send_text(last.to_string()).await?;
                            return Err(Gone::ended());
                        }
                        None => changed.map_err(|_| Gone::AWAY)?,
                    }
                }
                message = self.socket.receive() => {
                    self.take(message?).await?;
                }
                _ = statuses.changed() => {
                    if !self.seat.is_open() {
                        return Err(Gone::refused("the place was needed for another address"));
                    }
                    let status = statuses.borrow_and_update().clone();
                    let samples = std::mem::take(&mut self.samples);
                    let packets = std::mem::take(&mut self.packets);
                    let look = self.seat.looks_at().and_then(|body| status.looks.get(&body));
                    let pages = board.pages();
                    let has_control = self.seat.has_control();
                    let message = Message::Status(PageStatus { status: &status, pages, has_control, skipped: board.skipped(), samples, packets });
                    self.socket.send_text(message.to_json()).await?;
                    if let Some(look) = look {
                        self.socket.send_text(Message::Look(look).to_json()).await?;
                    }
                }
                Some(Brought { datagrams, packets, sample }) = self.arrivals.recv() => {
                    self.packets.extend(packets);
                    self.samples.extend(sample);
                    self.socket.send_bytes(datagrams).await?;
                }
                _ = worlds.changed(), if self.unanswered.len() < UNANSWERED => {
                    let world = worlds.borrow_and_update().clone();
                    if !world.bytes.is_empty() {
                        self.unanswered.push_back(world.number);
                        self.socket.send_bytes(world.bytes).await?;
                    }
                }
                _ = ping.tick() => self.socket.ping().await?,
            }
        }
    }

    async fn take(&mut self, message: ws::Message) -> Result<(), Gone> {
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
            _ => Ok(()),
        };
        match answer {
            Ok(()) => Ok(()),
            Err(reason) => self.socket.send_text(Message::Error(&reason).to_json()).await,
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
