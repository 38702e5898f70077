//! Tests of one hub with several codecs. Each receiver gets its own codec, and receivers with the
//! same codec share the work.

use std::time::Duration;

use kinepack::quantize::IntegerLimits;
use kinepack::schema::{Field, FieldKind, SchemaBuilder};
use kinepack::{Codec, EntityId, Level, Profile, Schema, Snapshot, Tick};
use kinepack_net::{
    Handled, Hub, HubConfig, LinkConfig, Loss, Mismatch, NetError, Receiver, ReceiverConfig,
    ReceiverId, ReceiverOptions, Refused,
};

use crate::support::{self, Net, Thing, World, codec, codec_at};

const ID: ReceiverId = ReceiverId(1);

fn adaptive() -> Codec {
    codec_at(Level::ADAPTIVE)
}

/// A hub that offers all codecs.
fn net(config: HubConfig, entities: usize) -> Net {
    let mut net = Net::new(World::new(entities, 9), config);
    net.hub.offer(&adaptive()).unwrap();
    net.hub.offer(&codec_at(Level::LEARNING)).unwrap();
    net
}

fn lossy() -> LinkConfig {
    LinkConfig {
        latency: Duration::from_millis(40),
        jitter: Duration::from_millis(10),
        loss: Loss::Independent { ratio: 0.1 },
        duplicate_ratio: 0.05,
        ..LinkConfig::default()
    }
}

/// Runs until every receiver has the whole state of a world in which nothing moves any more.
fn settle(net: &mut Net) {
    (net.world.moving_one_in, net.world.change_one_in) = (u64::MAX, u64::MAX);
    (0..600).for_each(|_| net.step(None));
    for client in &net.clients {
        assert!(
            client.receiver.newest().is_some_and(|newest| newest.holds_same(&net.world.snapshot))
        );
    }
}

/// Adds receivers without and with a budget at each of `levels`, under loss. Datagrams are so small
/// that there are full states, splits and partial snapshots at first, and complete views later.
fn crowd(levels: &[Level], older_views: Option<u8>) -> Net {
    let config = HubConfig { datagram_bytes: 300, older_views, ..HubConfig::default() };
    let mut net = net(config, 150);
    for level in levels {
        for (nth, budget_bytes_per_s) in [None, None, Some(6_000)].into_iter().enumerate() {
            let seed = 10 * u64::from(level.row()) + nth as u64;
            let options =
                ReceiverOptions { budget: budget_bytes_per_s.into(), ..ReceiverOptions::default() };
            net.add_with(&codec_at(*level), lossy(), seed, options).unwrap();
        }
    }
    for moving_one_in in [1, 8] {
        net.world.moving_one_in = moving_one_in;
        (0..300).for_each(|_| net.step(None));
    }
    net
}

#[test]
fn each_receiver_gets_its_codec_and_the_same_bytes_as_alone() {
    for older_views in [None, Some(0), Some(3)] {
        let all = [Level::ADAPTIVE, Level::PACKED, Level::LEARNING];
        let mut mixed = crowd(&all, older_views);
        let mut alone = all.map(|level| crowd(&[level], older_views));
        for (client, single) in mixed.clients.iter().zip(alone.iter().flat_map(|net| &net.clients))
        {
            let level = Level::TABLE[client.id.0 as usize / 10 - 1];
            let status = mixed.hub.status(client.id).unwrap();
            assert_eq!((status.joined, status.level), (true, Some(level)));
            assert_eq!(status.codec_hash, Some(codec_at(level).hash()));
            assert!(
                client.snapshots > 200 && client.left_out > 0,
                "{} {:?}",
                client.snapshots,
                client.refused
            );
            // Further receivers do not change the counts.
            let count = |client: &support::Client| {
                (
                    client.id,
                    client.bytes,
                    client.snapshots,
                    client.with_older,
                    client.left_out,
                    client.full_states,
                )
            };
            assert_eq!(count(client), count(single));
            assert!(client.expected == single.expected && client.largest <= 300);
            let has_older = older_views.map_or(level.older_views() > 0, |count| count > 0);
            assert_eq!(client.with_older > 0, has_older, "{}", client.id.0);
        }
        std::iter::once(&mut mixed).chain(&mut alone).for_each(settle);
    }
}

#[test]
fn each_codec_is_encoded_once_for_all_its_receivers() {
    let link = LinkConfig { latency: Duration::from_millis(40), ..LinkConfig::default() };
    let mixed = [Level::PACKED, Level::ADAPTIVE, Level::LEARNING];
    for (levels, most) in [(&[Level::PACKED][..], 1), (&mixed, 3)] {
        let mut net = net(HubConfig::default(), 30);
        net.world.moving_one_in = 1;
        for seed in 0..8 {
            net.add_with(
                &codec_at(levels[seed % levels.len()]),
                link,
                seed as u64,
                ReceiverOptions::default(),
            )
            .unwrap();
        }
        for tick in 0..200 {
            net.step(None);
            assert!(
                tick < 20 || net.hub.encoded() <= most,
                "tick {tick}: {} encoded",
                net.hub.encoded()
            );
        }
        assert_eq!(net.hub.encoded(), most);
    }
}

#[test]
fn codecs_do_not_share_partial_snapshots_of_one_baseline() {
    let config = HubConfig {
        datagram_bytes: 300,
        datagrams_per_tick: 1,
        older_views: Some(0),
        ..HubConfig::default()
    };
    let mut hub = Hub::new(&codec(), config).unwrap();
    hub.offer(&adaptive()).unwrap();
    let mut receivers = [codec(), adaptive()]
        .map(|codec| Receiver::new(&codec, ReceiverConfig::at_hz(60)).unwrap());
    (0..2).for_each(|id| {
        hub.add(ReceiverId(id), &ReceiverOptions::default(), Duration::ZERO).unwrap();
    });
    let mut world = Snapshot::new(codec().schema(), Tick(0));
    let mut most_encoded = 0;
    for tick in 1..40 {
        let now = Duration::from_millis(16) * tick;
        for (id, receiver) in (0..).zip(&mut receivers) {
            while let Some(datagram) = receiver.poll_transmit(now) {
                hub.handle(ReceiverId(id), now, datagram).unwrap();
            }
        }
        // Both receivers hold the same state. Then more entities change than a datagram can hold.
        world.clear(Tick(tick));
        for id in 0..if tick < 5 { 5 } else { 100 } {
            let position = [id as f32, 3.0, 1.0];
            let thing =
                Thing { position, orientation: [0.0, 0.0, 0.0, 1.0], kind: 3, awake: id % 3 == 0 };
            world.push(EntityId(id), &thing).unwrap();
        }
        hub.tick(now, &world).unwrap();
        most_encoded = most_encoded.max(hub.encoded());
        while let Some((to, datagram)) = hub.poll_transmit() {
            receivers[to.0 as usize].handle(now, datagram).unwrap();
        }
    }
    assert!(
        receivers
            .iter()
            .all(|receiver| receiver.newest().is_some_and(|newest| newest.holds_same(&world)))
    );
    assert!(most_encoded > 2, "nothing was skipped");
}

#[test]
fn views_are_kept_for_as_long_as_the_codec_can_use_them() {
    let mut net = net(HubConfig::default(), 20);
    net.world.moving_one_in = 1;
    let link = LinkConfig { latency: Duration::from_millis(300), ..LinkConfig::default() };
    net.add_with(&adaptive(), link, 1, ReceiverOptions::default()).unwrap();
    (0..300).for_each(|_| net.step(None));
    // The baseline is 36 ticks old. The oldest view is 18 + 36 ticks before the baseline.
    let client = &net.clients[0];
    let older = &client.older[&client.receiver.newest_sequence().unwrap().0];
    let newest_tick = client.receiver.newest().unwrap().tick.0;
    assert_eq!(older.len(), Level::ADAPTIVE.older_views());
    assert!(older.last().is_some_and(|view| newest_tick - view.tick.0 >= 85), "{newest_tick}");
}

/// A receiver's hello.
fn hello(codec: &Codec) -> Vec<u8> {
    let mut receiver = Receiver::new(codec, ReceiverConfig::at_hz(60)).unwrap();
    receiver.poll_transmit(Duration::ZERO).unwrap().to_vec()
}

/// Gives a codec's hello to the hub, and returns the answer. A mismatch must also be in a refusal.
fn greet(hub: &mut Hub, codec: &Codec) -> Result<Handled, Refused> {
    let result = hub.handle(ID, Duration::ZERO, &hello(codec));
    let refusal = hub.poll_transmit().map(|(_, datagram)| datagram.to_vec());
    if let Err(Refused::Mismatch(mismatch)) = result {
        let mut receiver = Receiver::new(codec, ReceiverConfig::at_hz(60)).unwrap();
        let heard = receiver.handle(Duration::ZERO, &refusal.unwrap());
        assert_eq!(heard, Err(Refused::Mismatch(mismatch)));
    } else {
        assert_eq!(refusal, None);
    }
    result
}

fn other_codec(hash: u64) -> Result<Handled, Refused> {
    Err(Refused::Mismatch(Mismatch::Codec { hash }))
}

#[test]
fn the_first_hello_chooses_the_codec() {
    let [first, second, third] = [codec(), adaptive(), codec_at(Level::TABLE[8])];
    let mut hub = Hub::new(&first, HubConfig::default()).unwrap();
    hub.add(ID, &ReceiverOptions::default(), Duration::ZERO).unwrap();
    assert_eq!(greet(&mut hub, &second), other_codec(first.hash()), "not offered yet");
    for codec in [&second, &second, &first] {
        hub.offer(codec).unwrap();
    }
    assert_eq!(greet(&mut hub, &third), other_codec(first.hash()));
    assert_eq!(hub.status(ID).unwrap().level, None);
    assert_eq!(greet(&mut hub, &second), Ok(Handled::Joined));
    let before = hub.status(ID);
    for other in [&first, &third] {
        assert_eq!(greet(&mut hub, other), other_codec(second.hash()), "the choice is final");
    }
    assert_eq!(greet(&mut hub, &second), Ok(Handled::HelloAgain));
    assert_eq!((hub.status(ID), before.unwrap().level), (before, Some(Level::ADAPTIVE)));
}

#[test]
fn a_codec_of_another_schema_is_not_offered() {
    let number = FieldKind::Integer(IntegerLimits::new(0, 9, 1).unwrap());
    let schema = Schema::new(vec![Field::new("number", number)]);
    let other = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap();
    let mut hub = Hub::new(&codec(), HubConfig::default()).unwrap();
    let (expected_hash, hash) = (codec().schema().hash(), schema.hash());
    assert_eq!(hub.offer(&other), Err(NetError::SchemaMismatch { expected_hash, hash }));
    hub.add(ID, &ReceiverOptions::default(), Duration::ZERO).unwrap();
    let mismatch = Mismatch::Schema { hash: expected_hash, part: Some(0) };
    assert_eq!(greet(&mut hub, &other), Err(Refused::Mismatch(mismatch)));
}

#[test]
fn a_refusal_names_the_first_part_in_which_schemas_differ() {
    let lit = || vec![Field::new("lit", FieldKind::Bool)];
    let choice = |max| vec![Field::new("colour", FieldKind::Choice { max })];
    let schema = |kinds: &[(&str, Vec<Field>)]| {
        let add = |builder: SchemaBuilder, (name, fields): &(&str, Vec<Field>)| {
            builder.kind_of_fields(*name, fields.clone())
        };
        kinds.iter().fold(Schema::builder(), add).build().unwrap()
    };
    let codec = |schema: &Schema| {
        Codec::new(schema.clone(), Level::PACKED, Profile::untrained(schema)).unwrap()
    };
    let ours = schema(&[("lamp", lit()), ("fire", choice(7))]);
    for (theirs, part, name) in [
        (schema(&[("lamp", lit()), ("fire", choice(8))]), 3, "in fire.colour"),
        (schema(&[("lamp", lit()), ("flame", choice(7))]), 2, "in flame"),
        (schema(&[("lamp", choice(7)), ("fire", lit())]), 1, "in lamp.colour"),
        (schema(&[("lamp", lit())]), 2, "and more"),
        (schema(&[("lamp", lit()), ("fire", choice(7)), ("door", lit())]), 4, "in door"),
        (Schema::new(lit()), 0, "in lit"),
    ] {
        let mut hub = Hub::new(&codec(&ours), HubConfig::default()).unwrap();
        hub.add(ID, &ReceiverOptions::default(), Duration::ZERO).unwrap();
        let mismatch = Mismatch::Schema { hash: ours.hash(), part: Some(part) };
        assert_eq!(greet(&mut hub, &codec(&theirs)), Err(Refused::Mismatch(mismatch)));
        let text = mismatch.describe(&theirs);
        assert!(text.ends_with(name), "{text}");
    }
    // Parts of the schema after the 256th are not compared.
    let many = |last| {
        let field = |number| Field::new(format!("part {number}"), FieldKind::Bool);
        Schema::new((0..256).map(field).chain([Field::new(last, FieldKind::Bool)]).collect())
    };
    let mut hub = Hub::new(&codec(&many("one")), HubConfig::default()).unwrap();
    hub.add(ID, &ReceiverOptions::default(), Duration::ZERO).unwrap();
    let mismatch = Mismatch::Schema { hash: many("one").hash(), part: None };
    assert_eq!(greet(&mut hub, &codec(&many("two"))), Err(Refused::Mismatch(mismatch)));
}

#[test]
fn a_receiver_can_return_at_another_level() {
    let mut net = net(HubConfig::default(), 40);
    for seed in 1..=2 {
        net.add(lossy(), seed, ReceiverOptions::default()).unwrap();
    }
    for level in [Level::ADAPTIVE, Level::PACKED, Level::ADAPTIVE] {
        (0..150).for_each(|_| net.step(None));
        let before = net.clients[0].snapshots;
        // The client returns with a new endpoint on new links, with the same id.
        let client = net.clients.pop().unwrap();
        assert!(net.hub.remove(client.id) && net.hub.status(client.id).is_none());
        net.add_with(&codec_at(level), lossy(), client.id.0, ReceiverOptions::default()).unwrap();
        (0..150).for_each(|_| net.step(None));
        let [other, changed] = &net.clients[..] else { panic!("two") };
        assert_eq!(net.hub.status(changed.id).unwrap().level, Some(level));
        assert!(changed.snapshots > 100 && (changed.with_older > 0) == level.adaptive());
        assert!(other.snapshots > before + 100, "the other receiver is not affected");
    }
    settle(&mut net);
}

#[test]
fn all_codecs_start_from_the_same_initial_state() {
    let mut world = World::new(40, 3);
    let initial = world.snapshot.clone();
    let mut hub = Hub::with_initial(&codec(), HubConfig::default(), &initial).unwrap();
    hub.offer(&adaptive()).unwrap();
    world.step(Tick(1));
    let mut seen: Vec<Snapshot> = Vec::new();
    for (id, codec) in [(ID, codec()), (ReceiverId(2), adaptive())] {
        let mut receiver =
            Receiver::with_initial(&codec, ReceiverConfig::at_hz(60), &initial).unwrap();
        hub.add(id, &ReceiverOptions::default(), Duration::ZERO).unwrap();
        hub.handle(id, Duration::ZERO, receiver.poll_transmit(Duration::ZERO).unwrap()).unwrap();
        world.snapshot.tick = Tick(id.0 as u32);
        hub.tick(Duration::ZERO, &world.snapshot).unwrap();
        while let Some((to, datagram)) = hub.poll_transmit() {
            if to == id {
                receiver.handle(Duration::ZERO, datagram).unwrap();
            }
        }
        seen.extend(receiver.newest().cloned());
    }
    assert!(seen.len() == 2 && seen.iter().all(|seen| seen.holds_same(&world.snapshot)));
}
