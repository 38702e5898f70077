//! The state that the world's thread and the pages share. The world's thread never waits for a
//! page. It replaces the newest world and status, and each page takes them when it can.

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cubes::Input;
use tokio::sync::watch;

use super::protocol::{Hello, Message, Packet, Sample, Status};
use super::settings::{Checked, Defaults};
use super::world::WorldMessage;

/// The most pages at once.
const MAX_PAGES: usize = 8;
/// Kept for the charts of a new page: a minute of samples, and of datagrams at one a tick.
const KEPT_SAMPLES: usize = 600;
const KEPT_PACKETS: usize = 3_600;

/// A page's order to the world's thread.
#[derive(Debug)]
pub(super) enum Order {
    Settings(Box<Checked>),
    Pause(bool),
    Step(u32),
    Restart,
    Keys(Input),
}

/// See the head of this file.
pub(super) struct Board {
    pub(super) defaults: Defaults,
    /// The message `hello`.
    pub(super) hello: String,
    pub(super) world: watch::Sender<WorldMessage>,
    pub(super) status: watch::Sender<Arc<Status>>,
    /// The message `end`, after the end.
    pub(super) end: watch::Sender<Option<Arc<str>>>,
    charts: Mutex<Charts>,
    pages: Mutex<Pages>,
    orders: SyncSender<Order>,
}

/// Samples and packets of the last minute.
#[derive(Debug, Default)]
struct Charts {
    samples: Tail<Sample>,
    packets: Tail<Packet>,
}

/// The last items of a series, and the number of dropped ones before.
#[derive(Debug)]
struct Tail<T> {
    kept: VecDeque<T>,
    dropped: u64,
}

/// A page's position in the charts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cursor {
    samples: u64,
    packets: u64,
}

/// The open pages in order of arrival, and the body that each looks at.
#[derive(Debug, Default)]
struct Pages {
    looks: BTreeMap<u64, Option<u32>>,
    /// The page that plays.
    hands: Option<u64>,
    /// The number of the next page.
    next: u64,
}

/// A page's place, which becomes free when this is dropped.
pub(super) struct Seat {
    board: Arc<Board>,
    number: u64,
}

impl<T> Default for Tail<T> {
    fn default() -> Self {
        Self { kept: VecDeque::new(), dropped: 0 }
    }
}

impl<T: Copy> Tail<T> {
    fn push(&mut self, item: T, most: usize) {
        if self.kept.len() == most {
            self.kept.pop_front();
            self.dropped += 1;
        }
        self.kept.push_back(item);
    }

    /// The items from number `cursor` on. Advances the cursor past them.
    fn after(&self, cursor: &mut u64) -> Vec<T> {
        let skipped = cursor.saturating_sub(self.dropped) as usize;
        *cursor = self.dropped + self.kept.len() as u64;
        self.kept.iter().skip(skipped).copied().collect()
    }
}

impl Board {
    pub(super) fn new(
        defaults: Defaults,
        hello: &Hello,
        status: Status,
        orders: SyncSender<Order>,
    ) -> Self {
        Self {
            defaults,
            hello: Message::Hello(hello).to_json(),
            world: watch::Sender::new(WorldMessage::default()),
            status: watch::Sender::new(Arc::new(status)),
            end: watch::Sender::new(None),
            charts: Mutex::default(),
            pages: Mutex::default(),
            orders,
        }
    }

    pub(super) fn add_packets(&self, packets: impl Iterator<Item = Packet>) {
        let mut charts = lock(&self.charts);
        packets.for_each(|packet| charts.packets.push(packet, KEPT_PACKETS));
    }

    pub(super) fn add_sample(&self, sample: Sample) {
        lock(&self.charts).samples.push(sample, KEPT_SAMPLES);
    }

    /// The samples and packets that a page has not received yet.
    pub(super) fn charts_after(&self, cursor: &mut Cursor) -> (Vec<Sample>, Vec<Packet>) {
        let charts = lock(&self.charts);
        (charts.samples.after(&mut cursor.samples), charts.packets.after(&mut cursor.packets))
    }

    /// The bodies that pages look at.
    pub(super) fn looked_at(&self) -> Vec<u32> {
        lock(&self.pages).looks.values().copied().flatten().collect()
    }

    pub(super) fn pages(&self) -> usize {
        lock(&self.pages).looks.len()
    }

    /// Passes an order to the world's thread. Returns false if too many orders wait.
    pub(super) fn order(&self, order: Order) -> bool {
        self.orders.try_send(order).is_ok()
    }
}

impl Seat {
    /// Takes a place for a page. Returns `None` if all are taken.
    pub(super) fn take(board: &Arc<Board>) -> Option<Self> {
        let mut pages = lock(&board.pages);
        if pages.looks.len() == MAX_PAGES {
            return None;
        }
        let number = pages.next;
        pages.next += 1;
        pages.looks.insert(number, None);
        pages.hands.get_or_insert(number);
        Some(Self { board: Arc::clone(board), number })
    }

    pub(super) fn has_hands(&self) -> bool {
        lock(&self.board.pages).hands == Some(self.number)
    }

    /// Makes this page the only one that plays.
    pub(super) fn take_over(&self) {
        lock(&self.board.pages).hands = Some(self.number);
        self.board.order(Order::Keys(Input::default()));
    }

    pub(super) fn look(&self, body: Option<u32>) {
        lock(&self.board.pages).looks.insert(self.number, body);
    }

    pub(super) fn looks_at(&self) -> Option<u32> {
        lock(&self.board.pages).looks.get(&self.number).copied().flatten()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut pages = lock(&self.board.pages);
        pages.looks.remove(&self.number);
        if pages.hands == Some(self.number) {
            // The page that has been open for the longest time plays next.
            pages.hands = pages.looks.keys().next().copied();
            self.board.order(Order::Keys(Input::default()));
        }
    }
}

/// Ignores poisoning, because no update here can be interrupted by a panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_returns_new_items_and_drops_the_oldest() {
        let mut tail = Tail::default();
        let mut cursor = 0;
        (0..3).for_each(|item| tail.push(item, 4));
        assert_eq!(tail.after(&mut cursor), [0, 1, 2]);
        assert_eq!(tail.after(&mut cursor), [0; 0]);
        (3..10).for_each(|item| tail.push(item, 4));
        assert_eq!(tail.after(&mut cursor), [6, 7, 8, 9]);
        tail.push(10, 4);
        assert_eq!(tail.after(&mut cursor), [10]);
        assert_eq!(tail.after(&mut 0), [7, 8, 9, 10]);
    }
}
