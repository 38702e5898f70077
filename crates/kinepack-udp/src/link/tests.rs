//! Tests of the sending side with a socket whose room the test sets.

use std::cell::{Cell, RefCell};

use super::pacer::BURST_BYTES;
use super::*;

const MS: Duration = Duration::from_millis(1);

fn address(client: u64) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], client as u16))
}

/// A socket that takes `room` datagrams. After that, it is full.
#[derive(Default)]
struct Tap {
    room: Cell<usize>,
    /// What a datagram costs if its sender waits, and whether it is sent then.
    wait: Cell<Option<(Duration, bool)>>,
    /// The error that the socket returns for each datagram.
    error: Cell<Option<ErrorKind>>,
    /// The port and the first byte of each datagram that was sent.
    sent: RefCell<Vec<(u16, u8)>>,
    attempts: Cell<usize>,
}

impl Wire for &Tap {
    fn send(&self, address: SocketAddr, packet: &[u8]) -> io::Result<usize> {
        self.attempts.set(self.attempts.get() + 1);
        if let Some(kind) = self.error.get() {
            return Err(kind.into());
        }
        if self.room.get() == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        self.room.set(self.room.get() - 1);
        self.sent.borrow_mut().push((address.port(), packet[0]));
        Ok(packet.len())
    }

    fn send_waiting(&self, address: SocketAddr, packet: &[u8]) -> (io::Result<usize>, Duration) {
        match self.wait.get() {
            Some((time, true)) => {
                self.sent.borrow_mut().push((address.port(), packet[0]));
                (Ok(packet.len()), time)
            }
            Some((time, false)) => (Err(ErrorKind::TimedOut.into()), time),
            None => (Err(ErrorKind::WouldBlock.into()), Duration::ZERO),
        }
    }
}

impl Tap {
    fn sent(&self) -> usize {
        self.sent.borrow().len()
    }
}

fn link(tap: &Tap, now: Instant, change: impl FnOnce(&mut ServerOptions)) -> Link<&Tap> {
    let mut options = ServerOptions::new(1);
    change(&mut options);
    Link::new(tap, &options, now)
}

#[test]
fn what_a_full_socket_refuses_is_sent_later_in_order() {
    let (tap, now) = (Tap::default(), Instant::now());
    let mut link = link(&tap, now, |_| {});
    tap.room.set(3);
    for byte in 0..4 {
        (1..=2).for_each(|client| link.send(client, address(client), &[byte; 100], now));
    }
    assert_eq!((tap.sent(), link.datagrams(), link.unsent()), (3, 3, 0));
    assert_eq!(link.flush(now + MS), Some(MS), "five wait");
    tap.room.set(2);
    link.send(3, address(3), &[9; 100], now + MS);
    assert_eq!(tap.sent(), 5, "a send also sends what waits, and first");
    tap.room.set(100);
    assert_eq!(link.flush(now + MS * 2), None);
    let order = [(1, 0), (2, 0), (1, 1), (2, 1), (1, 2), (2, 2), (1, 3), (2, 3), (3, 9)];
    assert_eq!(*tap.sent.borrow(), order);
    assert_eq!((link.datagrams(), link.bytes(), link.unsent()), (9, 900, 0));
}

#[test]
fn a_full_queue_drops_the_oldest_of_the_client() {
    let (tap, now) = (Tap::default(), Instant::now());
    let mut link = link(&tap, now, |options| options.queue_bytes = 300);
    link.send(2, address(2), &[7; 100], now);
    (0..5).for_each(|byte| link.send(1, address(1), &[byte; 100], now));
    assert_eq!(link.unsent(), 2);
    tap.room.set(100);
    assert_eq!(link.flush(now), None);
    assert_eq!(*tap.sent.borrow(), [(2, 7), (1, 2), (1, 3), (1, 4)]);
}

#[test]
fn a_queue_of_no_bytes_lets_nothing_wait() {
    let (tap, now) = (Tap::default(), Instant::now());
    let mut link = link(&tap, now, |options| options.queue_bytes = 0);
    link.send(1, address(1), &[1; 100], now);
    assert_eq!((link.flush(now), link.unsent()), (None, 1));
}

#[test]
fn a_stale_datagram_is_dropped() {
    let (tap, now) = (Tap::default(), Instant::now());
    let mut link = link(&tap, now, |options| options.max_wait = MS * 20);
    link.send(1, address(1), &[0; 100], now);
    link.send(1, address(1), &[1; 100], now + MS * 10);
    assert_eq!((link.flush(now + MS * 20), link.unsent()), (Some(MS), 0));
    assert_eq!((link.flush(now + MS * 21), link.unsent()), (Some(MS), 1));
    tap.room.set(100);
    assert_eq!(link.flush(now + MS * 30), None);
    assert_eq!((*tap.sent.borrow()).as_slice(), [(1, 1)]);
}

#[test]
fn the_longest_times_cause_no_overflow() {
    let (tap, now) = (Tap::default(), Instant::now());
    let mut link = link(&tap, now, |options| {
        (options.max_wait, options.pace) = (Duration::MAX, Some(Duration::MAX));
    });
    tap.room.set(1000);
    (0..100).for_each(|byte| link.send(1, address(1), &[byte; 1200], now));
    assert!(link.flush(now + MS).is_some() && tap.sent() > 0);
}

#[test]
fn a_client_that_is_gone_leaves_nothing_in_the_queue() {
    let (tap, now) = (Tap::default(), Instant::now());
    let mut link = link(&tap, now, |_| {});
    for byte in 0..3 {
        (1..=3).for_each(|client| link.send(client, address(client), &[byte; 100], now));
    }
    link.forget(2);
    assert_eq!(link.unsent(), 3);
    tap.room.set(2);
    link.finish(1);
    assert_eq!(*tap.sent.borrow(), [(1, 0), (1, 1)], "what the socket takes");
    assert_eq!(link.unsent(), 4);
    tap.room.set(100);
    assert_eq!(link.flush(now), None);
    assert_eq!(tap.sent.borrow()[2..], [(3, 0), (3, 1), (3, 2)]);
}

#[test]
fn a_refused_datagram_does_not_block_the_queue() {
    let (tap, now) = (Tap::default(), Instant::now());
    let mut link = link(&tap, now, |_| {});
    (0..3).for_each(|byte| link.send(1, address(1), &[byte; 100], now));
    tap.error.set(Some(ErrorKind::PermissionDenied)); // such as by a firewall
    assert_eq!((link.flush(now), link.unsent()), (None, 3));
    link.send(1, address(1), &[4; 100], now);
    assert_eq!((link.flush(now), link.unsent()), (None, 4));
}

#[test]
fn what_strangers_get_never_waits() {
    let (tap, now) = (Tap::default(), Instant::now());
    let mut link = link(&tap, now, |_| {});
    tap.wait.set(Some((MS, true)));
    link.send_at_once(address(1), &[1; 300], false);
    assert_eq!((link.flush(now), link.unsent(), tap.sent()), (None, 1, 0));
    tap.room.set(1);
    link.send_at_once(address(1), &[1; 300], false);
    assert_eq!((link.datagrams(), link.unsent()), (1, 1));
}

#[test]
fn sends_wait_for_the_socket_for_a_quarter_of_the_time() {
    let (tap, start) = (Tap::default(), Instant::now());
    let mut link = link(&tap, start, |_| {});
    tap.wait.set(Some((MS, true)));
    (0..100).for_each(|byte| link.send(1, address(1), &[byte; 100], start));
    assert_eq!(tap.sent(), 10, "10 ms at first; the others wait in memory");
    assert!(link.flush(start + MS * 8).is_some());
    assert_eq!(tap.sent(), 10, "a flush does not wait");
    link.send(1, address(1), &[100; 100], start + MS * 8);
    assert_eq!(tap.sent(), 12);
    link.send_from_poll(1, address(1), &[101; 100], start + MS * 100);
    link.send_at_once(address(1), &[102; 100], false);
    assert_eq!(tap.sent(), 12, "a poll does not wait either");

    // A network that takes a datagram every 4 ms, and sends that never pause.
    tap.wait.set(Some((MS * 4, true)));
    let (begin, sent) = (start + MS * 1000, tap.sent());
    let mut now = begin;
    while now < begin + MS * 1000 {
        let (before, attempts) = (tap.sent(), tap.attempts.get());
        link.send(1, address(1), &[0; 100], now);
        let waits = (tap.sent() - before) as u32;
        assert!(tap.attempts.get() - attempts <= waits as usize + 1, "once more if it is full");
        now += MS * 4 * waits + MS / 10;
    }
    let waited_ms = 4 * (tap.sent() - sent);
    assert!((240..=264).contains(&waited_ms), "{waited_ms} of 1,000 ms");
}

#[test]
fn the_pace_spreads_a_tick() {
    let (tap, mut now) = (Tap::default(), Instant::now());
    let mut link = link(&tap, now, |options| options.pace = Some(MS * 8));
    tap.room.set(usize::MAX);
    for tick in 1..=3 {
        let before = tap.sent();
        (0..1000).for_each(|client| link.send(client, address(client), &[tick; 1200], now));
        assert!(tap.sent() - before <= BURST_BYTES / 1200, "at first, one burst");
        for ms in 1..8 {
            assert_eq!(link.flush(now + MS * ms), Some(MS));
            let (sent, even) = (tap.sent() - before, 1000 * ms as usize / 8);
            assert!((even..even + 20).contains(&sent), "{sent} after {ms} ms");
        }
        assert_eq!(link.flush(now + MS * 8), None);
        assert_eq!(tap.sent() - before, 1000);
        now += MS * 16;
    }
    assert_eq!(link.unsent(), 0);
}

#[test]
fn the_pace_does_not_delay_a_few_clients() {
    let (tap, mut now) = (Tap::default(), Instant::now());
    let mut link = link(&tap, now, |options| options.pace = Some(MS * 8));
    tap.room.set(usize::MAX);
    for tick in 1..=100 {
        (0..16).for_each(|client| link.send(client, address(client), &[1; 1200], now));
        assert_eq!(tap.sent(), 16 * tick);
        now += MS * 16;
    }
    // With 64 clients, the last datagrams leave after 3 ms and not after 8.
    (0..64).for_each(|client| link.send(client, address(client), &[1; 1200], now));
    assert!((1..=3).any(|ms| link.flush(now + MS * ms).is_none()));
}

#[test]
fn a_tick_that_comes_before_the_last_one_has_left_is_spread_too() {
    let (tap, mut now) = (Tap::default(), Instant::now());
    let mut link = link(&tap, now, |options| options.pace = Some(MS * 20));
    tap.room.set(usize::MAX);
    let mut most = 0;
    for _ in 0..20 {
        (0..1000).for_each(|client| link.send(client, address(client), &[1; 1200], now));
        for _ in 0..10 {
            now += MS;
            let before = tap.sent();
            link.flush(now);
            most = most.max(tap.sent() - before);
        }
    }
    assert!(most <= 150, "100 would be even; {most}");
    assert_eq!(link.unsent(), 0);
    while link.flush(now).is_some() {
        now += MS;
    }
    assert_eq!(tap.sent(), 20_000);
}

#[test]
fn a_full_socket_delays_what_the_pace_allows() {
    let (tap, now) = (Tap::default(), Instant::now());
    let mut link = link(&tap, now, |options| options.pace = Some(MS * 8));
    tap.wait.set(Some((MS, true)));
    (0..100).for_each(|client| link.send(client, address(client), &[1; 1200], now));
    assert_eq!((link.flush(now + MS * 8), tap.sent()), (Some(MS), 0), "with a pace, no send waits");
    tap.room.set(100);
    assert_eq!((link.flush(now + MS * 9), tap.sent()), (None, 100));
}
