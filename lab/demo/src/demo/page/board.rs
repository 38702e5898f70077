//! The state that the world's thread and the pages share. The world's thread never waits for a
//! page. It replaces the newest world and status, and each page reads them at its own pace.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use cubes::Input;
use tokio::sync::{mpsc, watch};

use super::protocol::{Hello, Message, Packet, Sample, Status};
use super::settings::{Checked, Defaults};
use super::world::WorldMessage;

/// The maximum number of pages at once.
const MAX_PAGES: usize = 8;
/// If all places are taken, an address with more than one in `PART` of them loses a place to
/// another address.
const PART: usize = 4;
/// The maximum number of ticks that wait for a page: a quarter of a second. A slower page loses the
/// next ticks, as a full socket buffer loses datagrams.
const WAITING_TICKS: usize = 15;

/// A page's order to the world's thread.
#[derive(Debug)]
pub(super) enum Order {
    Settings(Box<Checked>),
    Pause(bool),
    Step(u32),
    Restart,
    Keys(Input),
    /// The datagrams of a page's receiver, in the form that [`datagrams`](super::datagrams)
    /// describes.
    Answers {
        page: u64,
        message: Bytes,
    },
}

/// The messages of one tick for a page.
#[derive(Debug)]
pub(super) struct Brought {
    pub(super) datagrams: Bytes,
    pub(super) packets: Vec<Packet>,
    pub(super) sample: Option<Sample>,
}

/// The state that the world's thread and the pages share.
pub(super) struct Board {
    pub(super) defaults: Defaults,
    /// The text of the message `hello`.
    pub(super) hello: String,
    /// The profile file of the world.
    pub(super) profile: Bytes,
    pub(super) world: watch::Sender<WorldMessage>,
    pub(super) status: watch::Sender<Arc<Status>>,
    /// The text of the message `end`. The value is `None` until the program ends.
    pub(super) end: watch::Sender<Option<Arc<str>>>,
    pages: Mutex<Pages>,
    orders: SyncSender<Order>,
    skipped: AtomicU64,
}

/// The open pages, in the order in which they opened.
#[derive(Debug, Default)]
struct Pages {
    open: BTreeMap<u64, Open>,
    /// The number of the page whose keys and settings apply.
    controlling: Option<u64>,
    /// The number of the next page.
    next: u64,
}

/// An open page.
#[derive(Debug)]
struct Open {
    address: IpAddr,
    /// The body that the page displays in detail.
    look: Option<u32>,
    brought: mpsc::Sender<Brought>,
}

/// A page's place. Dropping it frees the place.
pub(super) struct Seat {
    board: Arc<Board>,
    number: u64,
}

impl Board {
    pub(super) fn new(
        defaults: Defaults,
        hello: &Hello,
        profile: Bytes,
        status: Status,
        orders: SyncSender<Order>,
    ) -> Self {
        Self {
            defaults,
            hello: Message::Hello(hello).to_json(),
            profile,
            world: watch::Sender::new(WorldMessage::default()),
            status: watch::Sender::new(Arc::new(status)),
            end: watch::Sender::new(None),
            pages: Mutex::default(),
            orders,
            skipped: AtomicU64::new(0),
        }
    }

    /// Returns the bodies that pages display in detail.
    pub(super) fn looked_at(&self) -> Vec<u32> {
        lock(&self.pages).open.values().filter_map(|page| page.look).collect()
    }

    pub(super) fn pages(&self) -> usize {
        lock(&self.pages).open.len()
    }

    /// Returns the number of each open page, and the channel to it.
    pub(super) fn open_pages(&self) -> Vec<(u64, mpsc::Sender<Brought>)> {
        let pages = lock(&self.pages);
        pages.open.iter().map(|(number, page)| (*number, page.brought.clone())).collect()
    }

    /// Passes an order to the world's thread. Returns false if too many orders wait.
    pub(super) fn order(&self, order: Order) -> bool {
        let is_passed = self.orders.try_send(order).is_ok();
        if !is_passed {
            self.note_skipped();
        }
        is_passed
    }

    /// Counts a message that was not passed between the program and a page, because a queue was
    /// full.
    pub(super) fn note_skipped(&self) {
        self.skipped.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of messages that were not passed because a queue was full: ticks for slow
    /// pages, and orders for a busy program.
    pub(super) fn skipped(&self) -> u64 {
        self.skipped.load(Ordering::Relaxed)
    }
}

impl Pages {
    /// Adds a page. If all places are taken, the address with the most pages loses its newest one.
    /// That address must have more than its share, and more pages than the new page's address will
    /// have. Returns the page's number, or `None` if there is no place.
    fn add(&mut self, page: Open) -> Option<u64> {
        if self.open.len() == MAX_PAGES {
            let held = |of: IpAddr| self.open.values().filter(|page| page.address == of).count();
            // If several addresses have the most pages, this is the one with the newest page.
            let (&newest, of) = self.open.iter().max_by_key(|(_, page)| held(page.address))?;
            let most = held(of.address);
            if most <= MAX_PAGES / PART || most <= held(page.address) + 1 {
                return None;
            }
            self.open.remove(&newest);
        }
        let number = self.next;
        self.next += 1;
        self.open.insert(number, page);
        self.controlling.get_or_insert(number);
        Some(number)
    }
}

impl Seat {
    /// Takes a place for a page. Returns the place and the channel of the ticks' messages, or
    /// `None` if all places are taken. A page of another address may lose its place: see
    /// [`is_open`](Self::is_open).
    pub(super) fn take(
        board: &Arc<Board>,
        address: IpAddr,
    ) -> Option<(Self, mpsc::Receiver<Brought>)> {
        let (brought, arrivals) = mpsc::channel(WAITING_TICKS);
        let number = lock(&board.pages).add(Open { address, look: None, brought })?;
        Some((Self { board: Arc::clone(board), number }, arrivals))
    }

    /// Returns whether the page still has its place.
    pub(super) fn is_open(&self) -> bool {
        lock(&self.board.pages).open.contains_key(&self.number)
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn has_control(&self) -> bool {
        lock(&self.board.pages).controlling == Some(self.number)
    }

    /// Gives this page the controls, so that it is the only one that plays.
    pub(super) fn take_over(&self) {
        lock(&self.board.pages).controlling = Some(self.number);
        self.board.order(Order::Keys(Input::default()));
    }

    pub(super) fn look(&self, body: Option<u32>) {
        if let Some(page) = lock(&self.board.pages).open.get_mut(&self.number) {
            page.look = body;
        }
    }

    pub(super) fn looks_at(&self) -> Option<u32> {
        lock(&self.board.pages).open.get(&self.number)?.look
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut pages = lock(&self.board.pages);
        pages.open.remove(&self.number);
        if pages.controlling == Some(self.number) {
            // The page that has been open for the longest time plays next.
            pages.controlling = pages.open.keys().next().copied();
            self.board.order(Order::Keys(Input::default()));
        }
    }
}

/// Locks a mutex. Poisoning is ignored, because a panic cannot interrupt an update here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_with_more_than_its_share_of_the_places_gives_one_up() {
        let mut pages = Pages::default();
        let mut add = |last: u8| {
            let (address, brought) = (IpAddr::from([10, 0, 0, last]), mpsc::channel(1).0);
            pages.add(Open { address, look: None, brought })
        };
        let first: Vec<Option<u64>> = (0..MAX_PAGES).map(|_| add(1)).collect();
        assert!(first.iter().all(Option::is_some), "one address may hold all");
        assert_eq!(add(1), None);
        assert!((2..=4).all(|last| add(last).is_some()), "others get in");
        assert_eq!(add(1), None, "and stay");
        assert!(add(2).is_some());
        let of = |last: u8| {
            let address = IpAddr::from([10, 0, 0, last]);
            pages.open.values().filter(|page| page.address == address).count()
        };
        assert_eq!([1, 2, 3, 4].map(of), [4, 2, 1, 1]);
        assert_eq!(pages.controlling, Some(0), "the oldest page plays on");
    }
}
