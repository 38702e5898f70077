//! Budgets that follow the link, and the uplink that receivers share.

use std::time::Duration;

use kinepack::{EntityId, Snapshot, Tick};
use kinepack_net::{
    Budget, CongestionControl, HEADER_BYTES, Hub, HubConfig, LinkConfig, LinkLimit, Loss, NetError,
    Receiver, ReceiverConfig, ReceiverId, ReceiverOptions, Ring, Rings,
};

use crate::support::{Net, Random, TICK_HZ, Thing, World, codec, lanes};

const LATENCY: Duration = Duration::from_millis(20);
const AUTO: Budget = Budget::Auto { at_most: 1_000_000 };

/// A world in which everything moves, with one receiver.
fn net(entities: usize, budget: Budget, link: LinkConfig) -> Net {
    let mut world = World::new(entities, 7);
    (world.moving_one_in, world.change_one_in) = (1, 1_000);
    let mut net = Net::new(world, HubConfig { datagrams_per_tick: 16, ..HubConfig::default() });
    net.add(link, 1, ReceiverOptions { budget, ..ReceiverOptions::default() }).unwrap();
    net
}

fn link(bandwidth_bps: Option<u32>) -> LinkConfig {
    let queue_bytes = 256 << 10;
    LinkConfig { latency: LATENCY, bandwidth_bps, queue_bytes, ..LinkConfig::PERFECT }
}

/// Runs for some seconds. Returns the sent bits per second, with headers, and the 95th percentile
/// of the queueing delay.
fn run(net: &mut Net, seconds: u32) -> (f64, Duration) {
    let before = net.clients[0].down.stats().sent;
    let mut waits = Vec::new();
    for _ in 0..seconds * TICK_HZ {
        net.step(None);
        waits.push(net.clients[0].down.queueing(net.now()));
    }
    let sent = net.clients[0].down.stats().sent;
    let headers = (sent.count - before.count) * u64::from(HEADER_BYTES);
    let bits = (sent.bytes - before.bytes + headers) * 8;
    waits.sort();
    (bits as f64 / f64::from(seconds), waits[waits.len() * 95 / 100])
}

#[test]
fn a_budget_follows_the_link_down_and_up() {
    let mut net = net(600, AUTO, link(Some(1_000_000)));
    run(&mut net, 4);
    for bits_per_s in [1_000_000, 256_000, 800_000] {
        net.clients[0].down.reconfigure(link(Some(bits_per_s))).unwrap();
        // The queue of the step empties first.
        run(&mut net, 4);
        let (used, wait) = run(&mut net, 6);
        assert!(used > 0.8 * f64::from(bits_per_s), "{used} of {bits_per_s}");
        assert!(wait < Duration::from_millis(90), "{wait:?} at {bits_per_s}");
        let status = net.hub.status(ReceiverId(1)).unwrap().link.unwrap();
        assert!(status.bytes_per_s < bits_per_s / 8 * 5 / 4, "{status:?}");
        assert!([LinkLimit::Queue, LinkLimit::Probing].contains(&status.limit), "{status:?}");
    }
    assert_eq!(net.clients[0].down.stats().queue_dropped.count, 0);
}

#[test]
fn random_loss_does_not_lower_the_rate() {
    let loss = Loss::Independent { ratio: 0.05 };
    let [without, with] = [Loss::None, loss].map(|loss| {
        let mut net = net(400, AUTO, LinkConfig { loss, ..link(None) });
        run(&mut net, 4);
        run(&mut net, 10).0
    });
    assert!(with > 0.95 * without, "{with} of {without}");
}

#[test]
fn loss_by_a_limit_without_a_queue_lowers_the_rate() {
    let policed = LinkConfig { queue_bytes: 4_000, ..link(Some(400_000)) };
    let mut net = net(600, AUTO, policed);
    run(&mut net, 10);
    let before = *net.clients[0].down.stats();
    let (sent, _) = run(&mut net, 20);
    let after = *net.clients[0].down.stats();
    let lost = (after.queue_dropped.count - before.queue_dropped.count) as f64
        / (after.sent.count - before.sent.count) as f64;
    assert!(lost < 0.15, "{lost}");
    assert!(sent > 0.75 * 400_000.0, "{sent}");
}

#[test]
fn a_budget_that_is_never_short_changes_no_datagram() {
    let datagrams = [Budget::Unlimited, AUTO].map(|budget| {
        let mut net = net(20, budget, link(None));
        run(&mut net, 10);
        let client = &net.clients[0];
        (client.bytes, client.snapshots, client.down.stats().sent)
    });
    assert_eq!(datagrams[0], datagrams[1]);
}

#[test]
fn receivers_divide_the_uplink() {
    let mut world = World::new(500, 3);
    world.moving_one_in = 1;
    let mut net = Net::new(world, HubConfig::default());
    assert_eq!(net.hub.set_uplink(Some(255)), Err(NetError::BudgetTooSmall { bytes_per_s: 255 }));
    net.hub.set_uplink(Some(40_000)).unwrap();
    for seed in 1..=4 {
        net.add(link(None), seed, ReceiverOptions::default()).unwrap();
    }
    // One receiver needs little, and leaves the rest to the others.
    let few: Vec<_> = net.world.snapshot.ids()[..4].to_vec();
    net.hub.set_relevant(ReceiverId(4), Some(few.into())).unwrap();
    let sent = |net: &Net| -> Vec<u64> {
        let paid = |sent: kinepack_net::Tally| sent.bytes + sent.count * u64::from(HEADER_BYTES);
        net.clients.iter().map(|client| paid(client.down.stats().sent)).collect()
    };
    (0..5 * TICK_HZ).for_each(|_| net.step(None));
    let before = sent(&net);
    (0..10 * TICK_HZ).for_each(|_| net.step(None));
    let bytes: Vec<u64> =
        std::iter::zip(sent(&net), &before).map(|(now, then)| now - then).collect();
    let total: u64 = bytes.iter().sum();
    assert!((380_000..=404_000).contains(&total), "{bytes:?}");
    assert!(bytes[3] < 60_000, "{bytes:?}");
    for of_receiver in &bytes[..3] {
        assert!(of_receiver.abs_diff((total - bytes[3]) / 3) < total / 50, "{bytes:?}");
    }
    net.hub.set_uplink(None).unwrap();
    (0..TICK_HZ).for_each(|_| net.step(None));
    assert!(sent(&net)[0] - before[0] > bytes[0] * 3 / 2, "no limit any more");
}

#[test]
fn the_status_says_that_the_uplink_is_the_limit() {
    let mut world = World::new(500, 3);
    world.moving_one_in = 1;
    let mut net = Net::new(world, HubConfig::default());
    net.hub.set_uplink(Some(20_000)).unwrap();
    for seed in 1..=2 {
        net.add(link(None), seed, ReceiverOptions { budget: AUTO, ..Default::default() }).unwrap();
    }
    (0..5 * TICK_HZ).for_each(|_| net.step(None));
    let limit = |net: &Net, id| net.hub.status(ReceiverId(id)).unwrap().link.unwrap().limit;
    assert_eq!([1, 2].map(|id| limit(&net, id)), [LinkLimit::Uplink; 2]);
    net.hub.set_uplink(None).unwrap();
    (0..TICK_HZ).for_each(|_| net.step(None));
    assert!([1, 2].iter().all(|id| limit(&net, *id) != LinkLimit::Uplink));
}

#[test]
fn every_receiver_gets_its_part_of_a_small_uplink() {
    let mut net = Net::new(World::new(4, 3), HubConfig::default());
    net.hub.set_uplink(Some(3_000)).unwrap();
    for seed in 1..=64 {
        net.add(link(None), seed, ReceiverOptions::default()).unwrap();
    }
    (0..60 * TICK_HZ).for_each(|_| net.step(None));
    let sent = net.clients.iter().map(|client| client.down.stats().sent.bytes);
    let (least, most) = (sent.clone().min().unwrap(), sent.max().unwrap());
    assert!(most <= 2 * least, "{least} to {most}");
}

#[test]
fn a_longer_path_is_not_another_sender() {
    let mut net = net(600, AUTO, link(Some(1_000_000)));
    run(&mut net, 10);
    let latency = Duration::from_millis(220);
    let longer = LinkConfig { latency, ..link(Some(1_000_000)) };
    net.clients[0].down.reconfigure(longer).unwrap();
    run(&mut net, 25);
    let (used, wait) = run(&mut net, 10);
    assert!(used > 750_000.0 && wait < Duration::from_millis(90), "{used} {wait:?}");
}

#[test]
fn losses_in_bursts_do_not_lower_the_rate() {
    let [without, with] = [Loss::None, Loss::bursts(0.05, 10.0)].map(|loss| {
        let mut net = net(400, AUTO, LinkConfig { loss, ..link(None) });
        run(&mut net, 4);
        run(&mut net, 20).0
    });
    assert!(with > 0.8 * without, "{with} of {without}");
}

#[test]
fn a_slow_link_has_a_short_queue() {
    let mut net = net(200, AUTO, link(Some(24_000)));
    run(&mut net, 30);
    let (_, wait) = run(&mut net, 20);
    assert!(wait < Duration::from_millis(500), "{wait:?}");
}

#[test]
fn a_control_takes_any_numbers() {
    for seed in 1..200 {
        let mut random = Random::new(seed);
        let at_most = random.below(1 << 32) as u32;
        let mut control = CongestionControl::new(at_most);
        let time = |random: &mut Random| match random.below(8) {
            0 => Duration::MAX,
            1 => Duration::ZERO,
            _ => Duration::from_nanos(random.next() >> random.below(40)),
        };
        for _ in 0..400 {
            let (now, then) = (time(&mut random), time(&mut random));
            let bytes = (random.next() >> random.below(60)) as usize;
            match random.below(6) {
                0 => control.note_sent(now, bytes),
                1 => control.note_acknowledged(now, then, bytes),
                2 => control.note_lost(now, bytes),
                3 => control.note_limited(now),
                4 => control.feedback(now),
                _ => control.set_at_most(random.next() as u32),
            }
            let status = control.status(now);
            assert!((0.0..=1.0).contains(&status.lost_ratio));
            let _ = (control.window_bytes(), control.free_bytes());
        }
        control.set_at_most(at_most);
        let rate = control.bytes_per_s(Duration::ZERO);
        let least = at_most.clamp(1, 256);
        assert!((least..=at_most.max(1)).contains(&rate), "{rate} of {at_most}");
    }
}

#[test]
fn near_entities_come_first_and_far_ones_still_come() {
    let mut world = World::new(300, 5);
    (world.moving_one_in, world.change_one_in) = (1, 1_000_000);
    let mut hub = Hub::new(&codec(), HubConfig::default()).unwrap();
    let ring =
        |within: f64, every| Ring { within, leave: within + 2.0, every, tier: 0, coarser: 0 };
    let rings = Rings {
        positions: vec!["position".into()],
        urgent: Vec::new(),
        rings: vec![ring(15.0, 1), ring(500.0, 8)],
        beyond: None,
        cell: 4.0,
        exact_after: None,
    };
    hub.set_rings(Some(&rings)).unwrap();
    let id = ReceiverId(1);
    let budget = Budget::Fixed { bytes_per_s: 20_000 };
    let options = ReceiverOptions { budget, ..ReceiverOptions::default() };
    hub.add(id, &options, Duration::ZERO).unwrap();
    hub.set_viewpoint(id, Some([0.0; 3])).unwrap();
    let mut receiver = Receiver::new(&codec(), ReceiverConfig::at_hz(TICK_HZ)).unwrap();
    let (mut right, mut near) = (0, 0);
    let mut last_right = vec![0; world.snapshot.len()];
    for tick in 1..=900u32 {
        let now = Duration::from_secs(1) * tick / TICK_HZ;
        while let Some(datagram) = receiver.poll_transmit(now) {
            hub.handle(id, now, datagram).unwrap();
        }
        world.step(Tick(tick));
        hub.tick(now, &world.snapshot).unwrap();
        while let Some((_, datagram)) = hub.poll_transmit() {
            receiver.handle(now, datagram).unwrap();
        }
        if tick < 300 {
            continue;
        }
        let newest = receiver.newest().unwrap();
        for (index, last_right) in last_right.iter_mut().enumerate() {
            let is_right = lanes(newest, index) == lanes(&world.snapshot, index);
            *last_right = if is_right { tick } else { *last_right };
            let thing: Thing = world.snapshot.get(world.snapshot.ids()[index]).unwrap().unwrap();
            let [x, y, _] = thing.position;
            if x.hypot(y) < 10.0 {
                near += 1;
                right += u32::from(is_right);
            }
        }
    }
    assert!(hub.status(id).unwrap().waiting > 50, "the budget is too small for all");
    assert!(near > 1_000 && right * 100 > near * 97, "{right} of {near} near ones are right");
    // Far ones are shown as they were some ticks ago, and are right at the moment of their turn.
    let never = last_right.iter().filter(|tick| **tick == 0).count();
    assert!(never < 3, "{never} were never right");
}

/// The acknowledgements of what sent a change are lost, and then the entity returns to the state
/// that the sender believes to be known, so it is not sent again.
#[test]
fn a_state_whose_acknowledgements_were_lost_is_not_shown_for_ever() {
    let schema = codec().schema().clone();
    let mut hub = Hub::new(&codec(), HubConfig::default()).unwrap();
    let options = ReceiverOptions { budget: Some(6_000).into(), ..ReceiverOptions::default() };
    let id = ReceiverId(1);
    hub.add(id, &options, Duration::ZERO).unwrap();
    let mut receiver = Receiver::new(&codec(), ReceiverConfig::at_hz(TICK_HZ)).unwrap();
    let (mut was_shown, mut random) = (false, Random::new(5));
    for tick in 1..=700u32 {
        let now = Duration::from_secs(1) * tick / TICK_HZ;
        let is_open = (300..303).contains(&tick);
        let mut world = Snapshot::new(&schema, Tick(tick));
        for id in 1..=200 {
            let walks = if tick < 50 { 0.0 } else { random.unit() };
            let thing = Thing {
                position: [id as f32, walks, 1.0],
                orientation: [0.0, 0.0, 0.0, 1.0],
                kind: if id == 1 && is_open { 9 } else { 0 },
                awake: false,
            };
            let thing = if id == 1 { Thing { position: [0.0; 3], ..thing } } else { thing };
            world.push(EntityId(id), &thing).unwrap();
        }
        let first = |_: ReceiverId, entity: EntityId| if entity == EntityId(1) { 1e6 } else { 1.0 };
        hub.tick_with(now, &world, Some(&first)).unwrap();
        while let Some((_, datagram)) = hub.poll_transmit() {
            receiver.handle(now, datagram).unwrap();
        }
        while let Some(datagram) = receiver.poll_transmit(now) {
            if !(299..345).contains(&tick) {
                hub.handle(id, now, datagram).unwrap();
            }
        }
        let shown = receiver.newest().and_then(|state| state.get::<Thing>(EntityId(1)).unwrap());
        was_shown |= shown.as_ref().is_some_and(|shown| shown.kind == 9);
        assert!(tick < 500 || shown.is_some_and(|shown| shown.kind == 0), "tick {tick}");
    }
    assert!(was_shown);
}
