//! Tests of a hub with rings: what receivers share, which events they get, what stays hidden, and
//! which settings and worlds are refused.

use std::time::Duration;

use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_net::{
    Audience, EventKinds, Hub, HubConfig, NetError, Receiver, ReceiverConfig, ReceiverId,
    ReceiverOptions, Ring, Rings,
};

use super::{Ship, at_places, join, join_with, rings};
use crate::support::TICK_HZ;

#[derive(Pack, Clone, Debug, PartialEq)]
struct Exploded {
    size: u8,
}

/// A receiver that may not see a field must not notice that it changes.
#[test]
fn a_hidden_field_does_not_make_an_entity_coarser() {
    #[derive(Pack, Clone)]
    struct Spy {
        #[pack(range = -256.0..256.0, precision = 1.0 / 64.0, coarser = 5)]
        place: [f32; 2],
        #[pack(range = -256.0..256.0, precision = 1.0 / 64.0, coarser = 5)]
        aims_at: Option<[f32; 2]>,
    }
    let schema = Schema::of::<Spy>();
    let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap();
    let mut hub = Hub::new(&codec, HubConfig::default()).unwrap();
    hub.add_group("aim", &["aims_at"]).unwrap();
    let far = Ring { within: 200.0, leave: 200.0, every: 1, tier: 0, coarser: 5 };
    let (positions, exact_after) = (vec!["place".into()], Some(2));
    let rings =
        Rings { positions, urgent: vec![], rings: vec![far], beyond: None, cell: 9.0, exact_after };
    hub.set_rings(Some(&rings)).unwrap();
    let id = ReceiverId(3);
    hub.add(id, &ReceiverOptions::default(), Duration::ZERO).unwrap();
    hub.set_viewpoint(id, Some([0.0; 3])).unwrap();
    hub.set_visible(id, "aim", Some([].into())).unwrap();
    let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(TICK_HZ)).unwrap();
    for tick in 1..=30u32 {
        let now = Duration::from_secs(1) * tick / TICK_HZ;
        while let Some(datagram) = receiver.poll_transmit(now) {
            let datagram = datagram.to_vec();
            hub.handle(id, now, &datagram).unwrap();
        }
        let mut world = Snapshot::new(&schema, Tick(tick));
        let spy = Spy { place: [50.2, 3.3], aims_at: Some([tick as f32, 7.7]) };
        world.push(EntityId(1), &spy).unwrap();
        hub.tick(now, &world).unwrap();
        while let Some((_, datagram)) = hub.poll_transmit() {
            receiver.handle(now, datagram).unwrap();
        }
        if let Some(newest) = receiver.newest() {
            let mut expected = Snapshot::new(&schema, Tick(tick));
            expected.push(EntityId(1), &Spy { aims_at: None, ..spy }).unwrap();
            assert!(newest.holds_same(&expected), "tick {tick}");
        }
    }
    assert!(receiver.newest().is_some());
}

#[test]
fn receivers_in_a_cell_share_an_encoding_and_those_without_a_viewpoint_see_all() {
    let (mut hub, [fine, coarse]) = at_places(&[0.0, 60.0, 120.0, 220.0]);
    let near = [3.0, 22.0, 10.0].map(|x| Some([x, 5.0, 5.0]));
    let far = [Some([130.0, 5.0, 5.0]), None];
    let mut receivers: Vec<Receiver> =
        (0..).zip(near.into_iter().chain(far)).map(|(id, at)| join(&mut hub, id, at)).collect();
    hub.tick(Duration::from_millis(16), &[&fine, &coarse]).unwrap();
    assert_eq!(hub.encoded(), 3, "one for the cell, one for the far one, one for the whole world");
    while let Some((ReceiverId(id), datagram)) = hub.poll_transmit() {
        receivers[id as usize].handle(Duration::from_millis(16), datagram).unwrap();
    }
    let heats = |receiver: &Receiver| -> Vec<(u32, Option<u8>)> {
        let newest = receiver.newest().unwrap();
        newest.iter::<Ship>().unwrap().map(|(id, ship)| (id.0, ship.heat)).collect()
    };
    // The third ring names tier 1, the second one tier 2, whose world is missing.
    let seen_near = [(100, Some(40)), (101, Some(40)), (102, None)];
    receivers[..3].iter().for_each(|receiver| assert_eq!(heats(receiver), seen_near));
    let seen_far = [(100, None), (101, None), (102, Some(40)), (103, None)];
    assert_eq!(heats(&receivers[3]), seen_far);
    assert!(receivers[4].newest().unwrap().holds_same(&fine));
}

#[test]
fn events_of_entities_reach_those_who_see_or_saw_them() {
    let schema = Schema::of::<Exploded>();
    let of_events = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap();
    let kinds = EventKinds::new(&of_events);
    let (hub, [mut fine, _]) = at_places(&[0.0, 220.0]);
    let mut hub = hub.with_events(&kinds);
    let mut receivers = [0.0, 220.0].map(|x| {
        let id = ReceiverId(x as u64);
        join_with(&mut hub, id, Some([x, 0.0, 0.0]), |receiver| receiver.with_events(&kinds))
    });
    let mut hear = |world: &Snapshot, of: [(u32, u8); 2]| {
        for (entity, size) in of {
            hub.emit(&Exploded { size }, Audience::Seeing(EntityId(entity))).unwrap();
        }
        hub.tick(Duration::from_millis(16) * world.tick.0, world).unwrap();
        while let Some((ReceiverId(id), datagram)) = hub.poll_transmit() {
            let receiver = &mut receivers[usize::from(id != 0)];
            receiver.handle(Duration::from_millis(16), datagram).unwrap();
        }
        receivers.each_mut().map(|receiver| {
            let events = receiver.take_events();
            events.map(|event| event.get::<Exploded>().unwrap().unwrap().size).collect::<Vec<_>>()
        })
    };
    assert_eq!(hear(&fine, [(100, 1), (101, 2)]), [[1], [2]]);
    // The far ship is gone, but was seen.
    fine.retain(&[EntityId(100)]);
    fine.tick = Tick(2);
    let gone = hear(&fine, [(101, 3), (100, 4)]);
    assert_eq!(gone, [[4], [3]], "the entity is gone, but was seen");
    fine.tick = Tick(3);
    // A ship that jumps out of sight still explodes where it was.
    let mut jumped = Snapshot::new_like(&fine);
    jumped.tick = Tick(4);
    let there =
        Ship { position: [220.0, 0.0, 0.0], model: 0, heading: 0.0, heat: None, alarm: false };
    jumped.push(EntityId(100), &there).unwrap();
    let unknown = hear(&fine, [(101, 5), (9, 6)]);
    assert_eq!(unknown, [[5, 6]; 2], "distance does not hide what is long gone or never was");
    assert_eq!(hear(&jumped, [(100, 7), (100, 8)]), [[7, 8], [7, 8]]);
}

#[test]
fn wrong_rings_and_worlds_are_refused() {
    let (mut hub, [fine, mut coarse]) = at_places(&[0.0, 60.0]);
    let _receiver = join(&mut hub, 0, None);
    let mut refuse = |change: fn(&mut Rings), error: NetError| {
        let mut rings = rings(None);
        change(&mut rings);
        assert_eq!(hub.set_rings(Some(&rings)), Err(error));
    };
    refuse(|rings| rings.rings.clear(), NetError::BadRing { ring: 0 });
    refuse(|rings| rings.rings[1].within = 40.0, NetError::BadRing { ring: 1 });
    refuse(|rings| rings.rings[2].leave = 149.0, NetError::BadRing { ring: 2 });
    refuse(|rings| rings.rings[0].within = f64::NAN, NetError::BadRing { ring: 0 });
    refuse(|rings| rings.rings[0].leave = f64::INFINITY, NetError::BadRing { ring: 0 });
    refuse(|rings| rings.rings[0].tier = 255, NetError::BadRing { ring: 0 });
    refuse(|rings| rings.beyond = Some(255), NetError::BadRing { ring: 3 });
    let many = |rings: &mut Rings| {
        let ring = |nth| {
            let within = f64::from(nth);
            Ring { within, leave: within, every: 1, tier: 0, coarser: 0 }
        };
        rings.rings = (1..=255).map(ring).collect();
    };
    refuse(many, NetError::BadRing { ring: 255 });
    refuse(|rings| rings.rings[1].coarser = 32, NetError::BadRing { ring: 1 });
    refuse(|rings| rings.rings[1].every = 0, NetError::BadRing { ring: 1 });
    refuse(|rings| rings.rings[1].every = 256, NetError::BadRing { ring: 1 });
    let unknown = NetError::NoSuchField { field: "ship.wings".into() };
    refuse(|rings| rings.urgent.push("ship.wings".into()), unknown);
    for length in [0.0, 5e-324, 1e-10, 1e101, f64::INFINITY] {
        let mut rings = rings(None);
        rings.cell = length;
        assert_eq!(hub.set_rings(Some(&rings)), Err(NetError::BadCell { cell: length }));
        rings.cell = 1.0;
        (rings.rings[2].within, rings.rings[2].leave) = (length, length);
        assert_eq!(hub.set_rings(Some(&rings)), Err(NetError::BadRing { ring: 2 }));
    }
    for field in ["position", "ship.heading", "ship.model", "score.points", "", "ship"] {
        let mut rings = rings(None);
        rings.positions.push(field.into());
        let missing = NetError::NoSuchPosition { field: field.into() };
        assert_eq!(hub.set_rings(Some(&rings)), Err(missing));
    }
    let nowhere = Some([0.0, f64::NAN, 0.0]);
    let refused = NetError::BadViewpoint { id: ReceiverId(0) };
    assert_eq!(hub.set_viewpoint(ReceiverId(0), nowhere), Err(refused));
    assert_eq!(hub.set_viewpoint(ReceiverId(9), None), Err(NetError::UnknownReceiver));

    coarse.retain(&[EntityId(100)]);
    let differs = Err(NetError::TierDiffers { tier: 2 });
    assert_eq!(hub.tick(Duration::ZERO, &[&fine, &fine, &coarse]), differs);
    assert_eq!(hub.tick(Duration::ZERO, &fine), Ok(()), "a refused tick changes nothing");
}
