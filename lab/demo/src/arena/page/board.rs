//! What the game's thread and the pages share. The game never waits for a page.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;

use arena::rules::Rules;
use axum::body::Bytes;
use kinepack::EntityId;
use tokio::sync::{mpsc, oneshot, watch};

use super::protocol::Net;

/// The maximum number of pages at once.
const MAX_PAGES: usize = 8;
/// The maximum number of messages that wait for a page: about a second. A slower page loses the next
/// ones, as a full socket buffer loses datagrams.
pub(super) const WAITING: usize = 128;

/// What a page wants.
#[derive(Debug)]
pub(super) enum Order {
    /// A new player. His datagrams and everybody's places go to `messages`.
    Join {
        joined: oneshot::Sender<Joined>,
        messages: mpsc::Sender<Bytes>,
    },
    Leave(EntityId),
    Datagram(EntityId, Bytes),
    Rules(Rules),
    Net(Net),
}

/// A new player.
#[derive(Debug)]
pub(super) struct Joined {
    pub(super) me: EntityId,
    pub(super) hello: String,
}

/// What the game's thread and the pages share.
#[derive(Debug)]
pub(super) struct Board {
    /// The newest status as JSON.
    pub(super) status: watch::Sender<Arc<str>>,
    pub(super) end: watch::Sender<bool>,
    pages: AtomicUsize,
    orders: SyncSender<Order>,
}

/// A page's place. Dropping it frees the place.
#[derive(Debug)]
pub(super) struct Seat {
    board: Arc<Board>,
}

impl Board {
    pub(super) fn new(orders: SyncSender<Order>) -> Self {
        Self {
            status: watch::Sender::new("".into()),
            end: watch::Sender::new(false),
            pages: AtomicUsize::new(0),
            orders,
        }
    }

    pub(super) fn pages(&self) -> usize {
        self.pages.load(Ordering::Relaxed)
    }

    /// Passes an order on. Returns whether the game had room for it.
    pub(super) fn order(&self, order: Order) -> bool {
        self.orders.try_send(order).is_ok()
    }
}

impl Seat {
    /// Takes a place for a page, if one is free.
    pub(super) fn take(board: &Arc<Board>) -> Option<Self> {
        let more = |pages| (pages < MAX_PAGES).then_some(pages + 1);
        let taken = board.pages.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        taken.is_ok().then(|| Self { board: Arc::clone(board) })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.board.pages.fetch_sub(1, Ordering::Relaxed);
    }
}
