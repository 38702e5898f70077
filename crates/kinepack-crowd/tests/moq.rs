//! Tests broadcasts over QUIC, through a relay in the same process.

#![cfg(feature = "moq")]

use std::time::Duration;

use kinepack::Level;
use kinepack_crowd::Publisher;
use kinepack_crowd::moq::{
    Address, Connector, Identity, Link, LocalRelay, Publication, Trust, Watching,
};
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::support::{FAST, FULL, PAIRS, RIGHT, THIRD, TICK_HZ, at, catalogue, is_right, world};

const BALLS: u32 = 40;
const NAMES: [&str; 5] = ["full", "third", "right", "fast", "pairs"];

struct Stage {
    relay: LocalRelay,
    identity: Identity,
    connector: Connector,
    address: Address,
}

fn stage() -> Stage {
    let identity = Identity::self_signed().unwrap();
    let relay = LocalRelay::listen("[::1]:0".parse().unwrap(), &identity).unwrap();
    let connector = Connector::new(&Trust::Certificates(vec![identity.hash()])).unwrap();
    let address = format!("https://{}/balls", relay.address()).parse().unwrap();
    Stage { relay, identity, connector, address }
}

/// Publishes the world of the balls at 60 ticks per second, from tick `first` on.
async fn publish(connector: Connector, address: Address, first: u32, group: u64) {
    let catalogue = catalogue(Level::LEARNING);
    let mut publication = Publication::start(&connector, &address, &catalogue, group).unwrap();
    let mut publisher = Publisher::starting_at(&catalogue, group);
    publisher.select(RIGHT, is_right).unwrap();
    let mut clock = interval(at(1));
    clock.set_missed_tick_behavior(MissedTickBehavior::Burst);
    for tick in first.. {
        clock.tick().await;
        publication.send(publisher.publish(&world(tick, BALLS)).unwrap()).unwrap();
    }
}

/// Watches until `enough` states of a tier were compared with the true states.
async fn compare(watching: &mut Watching, enough: u32) -> u32 {
    let (mut compared, mut before, mut newest_tick) = (0, None, 0);
    while compared < enough {
        watching.changed().await;
        let Some(viewer) = watching.viewer() else { continue };
        let Some(newest) = viewer.newest().cloned() else { continue };
        if viewer.shown_tiers().eq([RIGHT]) || Some(newest.tick) == before {
            continue;
        }
        before = Some(newest.tick);
        assert!(*newest == world(newest.tick.0, BALLS), "{:?}", newest.tick);
        (compared, newest_tick) = (compared + 1, newest.tick.0);
    }
    newest_tick
}

#[tokio::test(flavor = "multi_thread")]
async fn viewers_of_all_tiers_see_the_world() {
    let Stage { relay: _relay, connector, address, .. } = stage();
    let publisher = tokio::spawn(publish(connector.clone(), address.clone(), 0, 7));
    let mut viewers = Vec::new();
    for (tier, name) in NAMES.iter().enumerate().filter(|(tier, _)| *tier != RIGHT) {
        let mut watching = Watching::start(&connector, &address, &[*name]);
        viewers.push(tokio::spawn(async move {
            compare(&mut watching, 40).await;
            let viewer = watching.viewer().unwrap();
            assert_eq!(viewer.shown_tiers().next(), Some(tier));
            // Some datagrams may arrive before their head.
            assert!(tier == FAST || viewer.stats().refused == 0);
            assert!(watching.link() == &Link::Connected);
        }));
    }
    for viewer in viewers {
        timeout(Duration::from_secs(20), viewer).await.unwrap().unwrap();
    }
    publisher.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_viewer_that_joins_late_changes_tiers() {
    let Stage { relay: _relay, connector, address, .. } = stage();
    let mut watching = Watching::start(&connector, &address, &[]);
    let publisher = tokio::spawn(publish(connector.clone(), address.clone(), 1_000, 7));
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    let followed = timeout(Duration::from_secs(20), async {
        for (tier, name) in [(FULL, "full"), (FAST, "fast"), (PAIRS, "pairs"), (THIRD, "third")] {
            watching.watch(&[name]);
            while watching.viewer().and_then(|viewer| viewer.shown_tiers().next()) != Some(tier) {
                watching.changed().await;
                let now = watching.now();
                // On a busy machine, the catalogue arrives later than the first event.
                if let Some(viewer) = watching.viewer() {
                    viewer.playback(now);
                }
            }
            compare(&mut watching, 15).await;
        }
    });
    followed.await.unwrap();
    assert_eq!(watching.catalogue().unwrap().tick_hz(), TICK_HZ as u16);
    publisher.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_that_comes_back_is_found_again() {
    let Stage { relay, identity, connector, address } = stage();
    let publisher = tokio::spawn(publish(connector.clone(), address.clone(), 0, 7));
    let mut watching = Watching::start(&connector, &address, &[]);
    timeout(Duration::from_secs(10), compare(&mut watching, 20)).await.unwrap();
    let local = relay.address();
    drop(relay);
    let _relay = loop {
        match LocalRelay::listen(local, &identity) {
            Ok(relay) => break relay,
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    let back = timeout(Duration::from_secs(15), async {
        while watching.link() == &Link::Connected {
            watching.changed().await;
        }
        while watching.link() != &Link::Connected {
            watching.changed().await;
        }
        compare(&mut watching, 20).await
    });
    back.await.unwrap();
    publisher.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_publisher_that_starts_again_is_followed() {
    let Stage { relay: _relay, connector, address, .. } = stage();
    let first = tokio::spawn(publish(connector.clone(), address.clone(), 0, 7));
    let mut watching = Watching::start(&connector, &address, &[]);
    timeout(Duration::from_secs(10), compare(&mut watching, 20)).await.unwrap();
    first.abort();
    assert!(first.await.is_err());
    let second = tokio::spawn(publish(connector.clone(), address.clone(), 5_000, 1_000));
    until(&mut watching, |newest| newest >= 5_000).await;
    second.abort();
    assert!(second.await.is_err());
    // The simulation starts again.
    let third = tokio::spawn(publish(connector.clone(), address.clone(), 0, 2_000));
    until(&mut watching, |newest| newest < 5_000).await;
    third.abort();
}

/// Watches until `is_one` returns true for the newest tick.
async fn until(watching: &mut Watching, is_one: impl Fn(u32) -> bool) {
    let seen = async { while !is_one(compare(watching, 1).await) {} };
    timeout(Duration::from_secs(10), seen).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_said() {
    let Stage { relay, identity, address, .. } = stage();
    let stranger = Connector::new(&Trust::Certificates(vec![[0; 32]])).unwrap();
    let mut watching = Watching::start(&stranger, &address, &[]);
    timeout(Duration::from_secs(10), watching.changed()).await.unwrap();
    let Link::Connecting { because: Some(because) } = watching.link() else { panic!() };
    assert!(because.to_string().contains("cannot be reached"), "{because}");
    let taken = LocalRelay::listen(relay.address(), &identity).unwrap_err();
    assert!(taken.to_string().contains("cannot listen"), "{taken}");
}
