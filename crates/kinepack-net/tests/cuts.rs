//! Tests of cuts in playback: an entity that jumps is shown at the one place, then at the other, and
//! nowhere between them.

use std::time::Duration;

use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_net::{
    Hub, HubConfig, Link, LinkConfig, Loss, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions,
    Ring, Rings,
};

use crate::support::TICK_HZ;

#[derive(Pack, Clone, Debug, PartialEq)]
struct Player {
    #[pack(range = -512.0..512.0, precision = 1.0 / 256.0)]
    place: [f32; 2],
    #[pack(velocity, range = -512.0..512.0, precision = 1.0 / 16.0)]
    velocity: [f32; 2],
    #[pack(cut)]
    teleports: u8,
}

const ID: ReceiverId = ReceiverId(1);
const LEAP: f32 = 200.0;

/// A player who walks at 4 m/s, and leaps to and fro in some ticks.
fn player(tick: u32, leaps: &[u32]) -> Player {
    let teleports = leaps.iter().filter(|leap| **leap <= tick).count();
    let x = tick as f32 * 4.0 / TICK_HZ as f32 + LEAP * (teleports % 2) as f32;
    Player { place: [x, 0.0], velocity: [4.0, 0.0], teleports: teleports as u8 }
}

/// How far each shown place is from the nearest one on the two paths, at most, and how often a cut
/// was shown.
fn shown(loss: Loss, rings: Option<&Rings>) -> (f32, u32) {
    let schema = Schema::of::<Player>();
    let codec = Codec::new(schema.clone(), Level::ADAPTIVE, Profile::untrained(&schema)).unwrap();
    let mut hub = Hub::new(&codec, HubConfig::default()).unwrap();
    hub.set_rings(rings).unwrap();
    hub.add(ID, &ReceiverOptions::default(), Duration::ZERO).unwrap();
    hub.set_viewpoint(ID, Some([0.0; 3])).unwrap();
    let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(TICK_HZ)).unwrap();
    let link = LinkConfig { latency: Duration::from_millis(20), loss, ..LinkConfig::default() };
    let [mut down, mut up] = [0, 1].map(|way| Link::new(link, 40 + way).unwrap());
    let leaps: Vec<u32> = (1..20).map(|nth| nth * 29).collect();
    let (mut farthest, mut cuts) = (0.0_f32, 0);
    for tick in 1..=600u32 {
        let now = Duration::from_secs(1) * tick / TICK_HZ;
        while let Some(datagram) = down.poll(now) {
            let _ = receiver.handle(now, &datagram);
        }
        while let Some(datagram) = receiver.poll_transmit(now) {
            up.send(now, datagram);
        }
        while let Some(datagram) = up.poll(now) {
            let _ = hub.handle(ID, now, &datagram);
        }
        let mut world = Snapshot::new(&schema, Tick(tick));
        world.push(EntityId(5), &player(tick, &leaps)).unwrap();
        hub.tick(now, &world).unwrap();
        while let Some((_, datagram)) = hub.poll_transmit() {
            down.send(now, datagram);
        }
        // Frames are drawn between ticks too.
        for part in 0..3 {
            let Some(playback) = receiver.playback(now + Duration::from_millis(5) * part) else {
                continue;
            };
            let along = playback.tick as f32 * 4.0 / TICK_HZ as f32;
            for sample in playback.samples() {
                let [x, _] = sample.state::<Player>().unwrap().place;
                let off = (x - along).abs().min((x - along - LEAP).abs());
                farthest = farthest.max(off);
                cuts += u32::from(sample.is_cut);
            }
        }
    }
    (farthest, cuts)
}

#[test]
fn an_entity_that_jumps_leaves_no_streak() {
    for loss in [Loss::None, Loss::bursts(0.1, 4.0)] {
        let (farthest, cuts) = shown(loss, None);
        // At a cut, the old place is held for as long as no other is known.
        assert!(farthest < 2.0, "{loss:?}: {farthest} m from both paths");
        assert!(cuts >= 15, "{loss:?}: {cuts}");
    }
}

#[test]
fn an_entity_that_jumps_does_not_wait_for_its_turn() {
    let rings = Rings {
        positions: vec!["place".into()],
        urgent: vec![],
        rings: vec![Ring { within: 600.0, leave: 600.0, every: 255, tier: 0, coarser: 0 }],
        beyond: None,
        // No jump is farther than this, which would be another reason not to wait.
        cell: 1_000.0,
        exact_after: None,
    };
    let (_, cuts) = shown(Loss::None, Some(&rings));
    assert!(cuts >= 15, "{cuts}");
}
