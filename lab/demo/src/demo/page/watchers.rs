//! Connects the open pages to the session as receivers. Each has its own link, with the same
//! settings as that of the program's receiver.

use axum::body::Bytes;
use command_kit::budget_now;
use kinepack_net::ReceiverId;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::board::{Board, Brought};
use super::datagrams::{Receiving, answered, delivered};
use super::ledger::Ledger;
use super::settings::Checked;
use crate::sender::due;
use crate::session::{Outside, Session};
use crate::session_error::SessionError;

/// The open pages, each as a receiver of the session.
#[derive(Default)]
pub(super) struct Watchers {
    open: Vec<Watcher>,
    /// The number of connections that were made so far.
    connections: u32,
}

struct Watcher {
    page: u64,
    receiver: ReceiverId,
    connection: u32,
    brought: mpsc::Sender<Brought>,
    ledger: Ledger,
}

impl Watchers {
    /// Adds the pages that opened, and removes those that closed.
    pub(super) fn update(
        &mut self,
        board: &Board,
        session: &mut Session,
        checked: &Checked,
    ) -> Result<(), SessionError> {
        let pages = board.open_pages();
        self.open.retain(|watcher| {
            let is_open = pages.iter().any(|(page, _)| *page == watcher.page);
            if !is_open {
                session.remove(watcher.receiver);
            }
            is_open
        });
        for (page, brought) in pages {
            if self.open.iter().any(|watcher| watcher.page == page) {
                continue;
            }
            // The first seed is that of the program's own link, and those of the pages follow.
            let seed = checked.link.link_seed.wrapping_add(1 + page);
            let receiver = session.add_outside(&checked.send, checked.link_config, seed)?;
            self.connections += 1;
            let ledger = Ledger::new(checked.send.stream.codec().schema());
            let connection = self.connections;
            self.open.push(Watcher { page, receiver, connection, brought, ledger });
        }
        Ok(())
    }

    /// Updates the pages after the session has reconnected all receivers.
    pub(super) fn reconnected(&mut self, checked: &Checked) {
        for watcher in &mut self.open {
            self.connections += 1;
            watcher.connection = self.connections;
            watcher.ledger = Ledger::new(checked.send.stream.codec().schema());
        }
    }

    /// Takes a message of a page's receiver. Malformed messages are ignored, as on any port.
    pub(super) fn answer(&self, session: &mut Session, page: u64, message: &Bytes) {
        let Some((connection, datagrams)) = answered(message) else { return };
        let sender = self.open.iter().find(|watcher| watcher.page == page);
        let sender = sender.filter(|watcher| watcher.connection == connection);
        let peer = sender.and_then(|watcher| session.peer_mut(watcher.receiver));
        if let Some(outside) = peer.and_then(|peer| peer.outside_mut()) {
            datagrams.into_iter().for_each(|datagram| outside.answer(datagram));
        }
    }

    /// Passes a tick's datagrams, packets and samples to the pages.
    pub(super) fn bring(&mut self, board: &Board, session: &mut Session, checked: &Checked) {
        let tick = session.sender.tick();
        let keys_sent = session.peers[0].keys_sent();
        let budget = checked.send.receiver_options().budget;
        for watcher in &mut self.open {
            let budget = budget_now(&session.sender.hub, watcher.receiver, budget);
            let Some(peer) = session.peer_mut(watcher.receiver) else { continue };
            let queueing = peer.down.queueing(due(tick));
            let packets = watcher.ledger.add(tick, &peer.sent, queueing).collect();
            let sample = watcher.ledger.sample(tick, keys_sent, budget);
            let arrived = peer.outside_mut().map(Outside::take_arrived);
            let receiving = Receiving {
                connection: watcher.connection,
                row: checked.send.stream.level().row().row(),
                playout_delays: checked.playout_delays,
            };
            let datagrams = delivered(&receiving, due(tick), &arrived.unwrap_or_default());
            // If a page does not keep up, it loses the tick.
            let sent = watcher.brought.try_send(Brought { datagrams, packets, sample });
            if matches!(sent, Err(TrySendError::Full(_))) {
                board.note_skipped();
            }
        }
    }
}
