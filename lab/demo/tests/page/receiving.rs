//! Tests the receiver of a page. The program's messages suffice to receive the world, and no answer
//! of the page does harm.

use std::time::Duration;

use kinepack::{Codec, Level, Profile, Schema};
use kinepack_net::{EventKinds, Receiver, ReceiverConfig};
use serde_json::{Value, json};

use super::http::get;
use super::socket::{Datagrams, Page, Said};
use crate::support::running::{Running, number};

const SMALL: &[&str] = &["--cubes", "20", "--link", "lan"];

fn bytes(hex: &Value) -> Vec<u8> {
    let digits = hex.as_str().unwrap();
    let pair = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(pair).collect()
}

/// The receiver's settings. They come from the message `hello` and the profile.
struct Making {
    schema: Schema,
    profile: Profile,
    events: EventKinds,
    levels: Value,
}

impl Making {
    fn of(hello: &Value, profile: &[u8]) -> Self {
        let schema = Schema::from_bytes(&bytes(&hello["schema"])).unwrap();
        let events = Schema::from_bytes(&bytes(&hello["events"]["schema"])).unwrap();
        let level = Level::named(hello["events"]["level"].as_str().unwrap()).unwrap();
        let untrained = Profile::untrained(&events);
        Self {
            profile: Profile::from_bytes(profile, &schema).unwrap(),
            schema,
            events: EventKinds::new(&Codec::new(events, level, untrained).unwrap()),
            levels: hello["levels"].clone(),
        }
    }

    fn receiver(&self, row: u32) -> Receiver {
        let levels = self.levels.as_array().unwrap();
        let level = levels.iter().find(|level| level["row"] == row).expect("a known level");
        let level = Level::named(level["name"].as_str().unwrap()).unwrap();
        let codec = Codec::new(self.schema.clone(), level, self.profile.clone()).unwrap();
        let config = ReceiverConfig::at_hz(60);
        Receiver::new(&codec, config).unwrap().with_events(&self.events).with_costs()
    }
}

/// Passes datagrams to a receiver, and its answers to the program. Panics if either side refuses a
/// datagram.
fn receive(page: &mut Page, receiver: &mut Receiver, datagrams: &Datagrams) {
    for (at_s, datagram) in &datagrams.list {
        receiver.handle(Duration::from_secs_f64(*at_s), datagram).unwrap();
    }
    let now = Duration::from_secs_f64(datagrams.time_s);
    while let Some(answer) = receiver.poll_transmit(now).map(<[u8]>::to_vec) {
        page.answer(datagrams.connection, &[&answer]);
    }
}

#[test]
fn a_page_receives_the_world_itself() {
    let (_demo, address) = Running::demo(SMALL);
    let mut page = Page::open(address);
    let making = Making::of(&page.hear("hello"), &get(address, "/profile").bytes);
    let settings = page.hear("status")["settings"].clone();
    let mut connections = Vec::new();
    for level in ["packed", "learning"] {
        let mut settings = settings.clone();
        settings["level"] = json!(level);
        settings["playout_ms"] = json!(80);
        page.say(&json!({ "settings": settings }));
        page.status("the level", |status| status["settings"]["level"] == level);
        let first = page.datagrams();
        assert!(!connections.contains(&first.connection), "a new connection");
        assert_eq!(first.delays_ms, [80.0; 2]);
        let mut receiver = making.receiver(first.row);
        receive(&mut page, &mut receiver, &first);
        while receiver.status(Duration::ZERO).server_tick.is_none()
            || receiver.stats().received < 60
        {
            let datagrams = page.datagrams();
            assert_eq!(datagrams.connection, first.connection);
            receive(&mut page, &mut receiver, &datagrams);
        }
        let newest = receiver.newest().unwrap();
        assert_eq!(newest.len(), 21);
        let cost = receiver.cost().unwrap();
        assert!(cost.baseline_tick <= newest.tick && receiver.stats().mismatches == 0);
        connections.push(first.connection);
    }
}

#[test]
fn every_sample_and_packet_is_sent_once() {
    let (_demo, address) = Running::demo(SMALL);
    let mut first = Page::open(address);
    first.status("half a second", |status| number(status, "tick") > 30.0);
    // Each page has a link of its own, so its charts begin when it opens.
    let mut page = Page::open(address);
    let making = Making::of(&page.hear("hello"), &get(address, "/profile").bytes);
    let datagrams = page.datagrams();
    let mut receiver = making.receiver(datagrams.row);
    receive(&mut page, &mut receiver, &datagrams);
    let opened = datagrams.time_s * 60.0;
    let (mut samples, mut packets, mut arrived) = (Vec::new(), Vec::new(), 0);
    while samples.len() < 10 {
        match page.next() {
            Said::Text(key, status) if key == "status" => {
                let list = |key: &str| status[key].as_array().unwrap().clone();
                samples.extend(list("samples").iter().map(|sample| number(sample, "tick")));
                packets.extend(list("packets").iter().map(|packet| packet[0].as_f64().unwrap()));
            }
            Said::Datagrams(datagrams) => {
                arrived += datagrams.list.len();
                receive(&mut page, &mut receiver, &datagrams);
            }
            Said::Closed(code) => panic!("closed: {code:?}"),
            _ => {}
        }
    }
    assert!((opened..opened + 12.0).contains(&samples[0]), "{opened}: {samples:?}");
    assert!(samples.windows(2).all(|pair| pair[1] - pair[0] == 6.0), "{samples:?}");
    assert!(packets.windows(2).all(|pair: &[f64]| pair[1] >= pair[0]), "{packets:?}");
    assert!(packets.len() > 40 && arrived > 40, "{packets:?}, {arrived} arrived");
}

#[test]
fn answers_to_another_connection_or_of_noise_do_no_harm() {
    let (demo, address) = Running::demo(SMALL);
    let mut page = Page::open(address);
    let connection = page.datagrams().connection;
    let noise: Vec<u8> = (0..200u8).map(|byte| byte.wrapping_mul(37)).collect();
    page.answer(connection, &[&noise, &[], &[0], &noise[..3]]);
    page.answer(connection + 1, &[&noise]);
    // The page sends more answers than the program keeps for a tick.
    page.answer(connection, &[&[7][..]; 500]);
    let status = page.status("later ticks", |status| number(status, "tick") > 60.0);
    assert_eq!(status["report"]["wrong_lanes"], 0);
    drop(page);
    assert_eq!(demo.interrupt().document()["wrong_lanes"], 0);
}

#[test]
fn a_closed_page_frees_its_receiver() {
    let (_demo, address) = Running::demo(SMALL);
    let mut kept = Page::open(address);
    // The loop opens more pages than a session could keep.
    for _ in 0..20 {
        let mut page = Page::open(address);
        page.datagrams();
        drop(page);
        kept.status("one page", |status| status["pages"] == 1);
    }
    kept.datagrams();
}
