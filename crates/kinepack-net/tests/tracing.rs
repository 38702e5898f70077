//! Tests of the events that the feature `tracing` reports.

#![cfg(feature = "tracing")]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kinepack_net::{HubConfig, LinkConfig, ReceiverOptions};
use support::{Net, World};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Collects each event as a line: module, message and fields.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("kinepack_net")
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().target().to_owned());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// The lines that a session on a link of 20 ms reports.
fn lines(budget_bytes_per_s: Option<u32>, disturb: impl Fn(&mut Net, u32)) -> Vec<String> {
    let lines = Lines::default();
    tracing::subscriber::with_default(lines.clone(), || {
        let config = HubConfig { check_every_bytes: Some(0), ..HubConfig::default() };
        let mut world = World::new(300, 1);
        world.moving_one_in = 1;
        let mut net = Net::new(world, config);
        let link = LinkConfig { latency: Duration::from_millis(20), ..LinkConfig::PERFECT };
        let options =
            ReceiverOptions { budget: budget_bytes_per_s.into(), ..ReceiverOptions::default() };
        net.add(link, 5, options).unwrap();
        for tick in 0..600 {
            disturb(&mut net, tick);
            net.step(None);
        }
    });
    let lines = lines.0.lock().unwrap();
    lines.clone()
}

fn count(lines: &[String], text: &str) -> usize {
    lines.iter().filter(|line| line.contains(text)).count()
}

#[test]
fn a_session_reports_its_connection_and_its_block_once() {
    let lines = lines(None, |_, _| {});
    for text in [
        "receiver connected receiver=5",
        "connected to the sender",
        "sender::peer::turn message=full state started receiver=5 full_state=1",
        "sender::peer message=full state finished receiver=5 full_state=1",
        "assembly message=full state started full_state=1",
        "endpoint::take message=full state finished full_state=1",
    ] {
        assert_eq!(count(&lines, text), 1, "{text}: {lines:#?}");
    }
    assert!(lines.len() < 10, "{lines:#?}");
}

#[test]
fn a_failed_state_check_is_reported_and_healed() {
    let lines = lines(None, |net, tick| {
        if tick == 300 {
            // A state in several datagrams merges some entities from older views, so the test
            // changes all views.
            let receiver = &mut net.clients[0].receiver;
            for id in receiver.newest().unwrap().ids().to_vec() {
                assert!(receiver.inject_fault(id, 0));
            }
        }
    });
    for text in ["state check failed:", "the state is sent anew", "the state came anew"] {
        assert_eq!(count(&lines, text), 1, "{text}: {lines:#?}");
    }
}

#[test]
fn refused_datagrams_are_reported_with_their_reason() {
    let lines = lines(None, |net, tick| {
        if tick == 100 {
            let now = net.now();
            assert!(net.hub.handle(net.clients[0].id, now, &[9]).is_err());
            assert!(net.clients[0].receiver.handle(now, &[]).is_err());
        }
    });
    assert_eq!(count(&lines, "hub message=datagram refused receiver=5 reason="), 1, "{lines:#?}");
    assert_eq!(count(&lines, "endpoint message=datagram refused reason="), 1, "{lines:#?}");
}

#[test]
fn a_budget_that_is_too_small_is_reported_when_that_begins() {
    let lines = lines(Some(6_000), |_, _| {});
    let starved = count(&lines, "budget too small receiver=5 waiting=");
    assert!((1..20).contains(&starved), "{starved}: {lines:#?}");
}
