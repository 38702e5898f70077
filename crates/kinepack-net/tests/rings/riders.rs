//! Rings of worlds in which entities are relative to others: chains, cycles, frames that are gone,
//! have no place, or have become another kind. A second description says what a receiver has.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kinepack::frame::MOST_FRAMES;
use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_net::{
    Hub, HubConfig, Link, LinkConfig, Loss, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions,
    Refused, Ring, Rings,
};

use crate::support::{Random, TICK_HZ};

/// A raft, which may be on another one.
#[derive(Pack, Clone, Debug, PartialEq)]
struct Raft {
    #[pack(body, frame = on, range = -200.0..200.0, precision = 1.0 / 64.0, clamp)]
    position: [f64; 3],
    #[pack(body, frame = on, rotation, bits = 10)]
    rotation: [f32; 4],
    on: Option<EntityId>,
    #[pack(max = 100)]
    load: u8,
}

/// A kind without a position, which brings what it is on.
#[derive(Pack, Clone, Debug, PartialEq)]
struct Sign {
    #[pack(frame = on, rotation, bits = 9)]
    rotation: [f32; 4],
    on: EntityId,
}

/// A kind without a position that is on nothing.
#[derive(Pack, Clone, Debug, PartialEq)]
struct Score {
    points: u16,
}

#[derive(Clone, Debug)]
enum Thing {
    Raft(Raft),
    Sign(Sign),
    Score(Score),
}

const IDS: u32 = 60;
const CELL: f64 = 20.0;
const RECEIVERS: usize = 4;

fn rings() -> Rings {
    let ring = |within, tier| Ring { within, leave: within, every: 1, tier, coarser: 0 };
    Rings {
        positions: vec!["raft.position".into()],
        urgent: vec![],
        rings: vec![ring(40.0, 0), ring(80.0, 1)],
        beyond: None,
        cell: CELL,
        exact_after: None,
    }
}

fn codec(level: Level) -> Codec {
    let schema = Schema::builder().kind::<Score>("score").kind::<Sign>("sign");
    let schema = schema.kind::<Raft>("raft").build().unwrap();
    Codec::new(schema.clone(), level, Profile::untrained(&schema)).unwrap()
}

struct World {
    things: BTreeMap<u32, Thing>,
    eyes: [[f64; 3]; RECEIVERS],
    random: Random,
}

impl World {
    fn new(seed: u64) -> Self {
        let eyes = [[0.0; 3]; RECEIVERS];
        let mut world = Self { things: BTreeMap::new(), eyes, random: Random::new(seed) };
        (0..IDS).for_each(|id| world.put(id));
        world
    }

    fn place(&mut self, extent: f64) -> [f64; 3] {
        [extent, extent, 10.0].map(|extent| f64::from(self.random.unit()) * extent)
    }

    /// A raft that is not too far away, whose id may be that of anything else, or of nothing.
    fn frame(&mut self) -> Option<EntityId> {
        (!self.random.chance(2)).then(|| EntityId(self.random.below(u64::from(IDS) + 4) as u32))
    }

    fn put(&mut self, id: u32) {
        let rotation = [0.0, 0.0, 0.0, 0.0].map(|_: f32| self.random.unit());
        let thing = match self.random.below(12) {
            0 => Thing::Score(Score { points: 5 }),
            1 => Thing::Sign(Sign { rotation, on: EntityId(self.random.below(70) as u32) }),
            _ => {
                let on = self.frame();
                let position = self.place(if on.is_some() { 40.0 } else { 150.0 });
                Thing::Raft(Raft { position, rotation, on, load: 0 })
            }
        };
        self.things.insert(id, thing);
    }

    fn step(&mut self, tick: u32) {
        for id in 0..IDS {
            if self.random.chance(60) {
                // It may be another kind from now on.
                self.put(id);
            } else if self.random.chance(80) {
                self.things.remove(&id);
            }
            let (frame, by) = (self.frame(), self.place(1.0));
            match self.things.get_mut(&id) {
                Some(Thing::Raft(raft)) => {
                    raft.position.iter_mut().zip(by).for_each(|(axis, by)| *axis += by);
                    raft.load = self.random.below(101) as u8;
                    if self.random.chance(40) {
                        raft.on = frame;
                    }
                }
                Some(Thing::Sign(sign)) => sign.on = frame.unwrap_or(sign.on),
                _ => {}
            }
        }
        if tick % 50 == 1 {
            self.eyes = self.eyes.map(|_| {
                // The middle of a cell.
                self.place(120.0).map(|along| ((along / CELL).floor() + 0.5) * CELL)
            });
        }
    }

    fn of_tier(&self, codec: &Codec, tick: u32, tier: usize) -> Snapshot {
        let mut world = Snapshot::new(codec.schema(), Tick(tick));
        for (id, thing) in &self.things {
            let id = EntityId(*id);
            match thing {
                Thing::Raft(raft) => {
                    let load = if tier == 0 { raft.load } else { 0 };
                    world.push(id, &Raft { load, ..raft.clone() }).unwrap();
                }
                Thing::Sign(sign) => world.push(id, sign).unwrap(),
                Thing::Score(score) => world.push(id, score).unwrap(),
            }
        }
        world
    }
}

/// Turns a vector by a quaternion.
fn turned([x, y, z, w]: [f64; 4], [a, b, c]: [f64; 3]) -> [f64; 3] {
    let row = |along: f64, cross: f64, own: f64, dot: f64| {
        2.0 * dot * along + (w * w - x * x - y * y - z * z) * own + 2.0 * w * cross
    };
    let dot = x * a + y * b + z * c;
    [row(x, y * c - z * b, a, dot), row(y, z * a - x * c, b, dot), row(z, x * b - y * a, c, dot)]
}

/// The position of a raft in the world, if everything that it is on has one.
fn position(world: &Snapshot, id: EntityId) -> Option<[f64; 3]> {
    let raft: Raft = world.get(id).unwrap()?;
    let mut position = raft.position;
    let mut on = raft.on;
    // From the raft out to the world, each one that it is on moves the position into its own frame.
    // Hubs place what is on something that has a place, so they follow a frame more than players.
    for _ in 0..MOST_FRAMES + 2 {
        let Some(frame) = on else { return Some(position) };
        let frame: Raft = world.get(frame).unwrap()?;
        let moved = turned(frame.rotation.map(f64::from), position);
        position = [0, 1, 2].map(|axis| frame.position[axis] + moved[axis]);
        on = frame.on;
    }
    None
}

/// The entities that a receiver has, by index in the world, each with its tier.
type Rows = BTreeMap<usize, usize>;

/// What is seen from the middle of a cell.
fn rows_near(world: &Snapshot, eye: [f64; 3]) -> Rows {
    let off = |place: [f64; 3]| {
        let beyond = |axis: usize| ((place[axis] - eye[axis]).abs() - 0.6 * CELL).max(0.0);
        [0, 1, 2].map(beyond).iter().map(|off| off * off).sum::<f64>().sqrt()
    };
    let row = |(index, (kind, id)): (usize, (usize, EntityId))| {
        let place = if kind == 2 { position(world, id) } else { None };
        let Some(place) = place else { return Some((index, 0)) };
        let rings = rings().rings;
        let ring = rings.iter().find(|ring| off(place) <= ring.within)?;
        Some((index, ring.tier))
    };
    world.entities().enumerate().filter_map(row).collect()
}

/// Adds what the entities are on, and what that is on.
fn with_frames(world: &Snapshot, mut rows: Rows) -> Rows {
    for _ in 0..MOST_FRAMES {
        let before = rows.clone();
        for (index, tier) in before {
            let frame = world.frame_at(index).and_then(|frame| world.position(frame));
            if let Some(frame) = frame {
                rows.entry(frame).or_insert(tier);
            }
        }
    }
    rows
}

/// What a receiver shows. Receiver 1 always sees some entities, and receivers 2 and 3 may only see
/// some. Receiver 3 has no viewpoint.
fn expected(worlds: &[Snapshot; 2], receiver: usize, eye: [f64; 3]) -> Snapshot {
    let world = &worlds[0];
    let mut rows: Rows = match receiver {
        3 => (0..world.len()).map(|index| (index, 0)).collect(),
        _ => with_frames(world, rows_near(world, eye)),
    };
    if receiver == 1 {
        let always = always().into_iter().filter_map(|id| world.position(id));
        for index in always {
            rows.entry(index).or_insert(1);
        }
    }
    if receiver >= 2 {
        rows.retain(|index, _| relevant().contains(&world.ids()[*index]));
    }
    let mut shown = Snapshot::new_like(world);
    for (index, tier) in with_frames(world, rows) {
        shown.push_row(&worlds[tier], index).unwrap();
    }
    shown
}

fn always() -> Vec<EntityId> {
    (0..IDS).filter(|id| id % 9 == 4).map(EntityId).collect()
}

fn relevant() -> Vec<EntityId> {
    (0..IDS).filter(|id| id % 3 == 1).map(EntityId).collect()
}

fn session(level: Level, seed: u64, loss: Loss) {
    let codec = codec(level);
    let config = HubConfig { check_every_bytes: Some(0), ..HubConfig::default() };
    let mut hub = Hub::new(&codec, config).unwrap();
    hub.set_rings(Some(&rings())).unwrap();
    let link = LinkConfig { latency: Duration::from_millis(30), loss, ..LinkConfig::default() };
    let ids = (0..RECEIVERS as u64).map(ReceiverId);
    let mut ends = Vec::new();
    for id in ids.clone() {
        hub.add(id, &ReceiverOptions::default(), Duration::ZERO).unwrap();
        let receiver = Receiver::new(&codec, ReceiverConfig::at_hz(TICK_HZ)).unwrap();
        ends.push((receiver, [0, 1].map(|way| Link::new(link, seed + 2 * id.0 + way).unwrap())));
    }
    hub.set_always_seen(ReceiverId(1), always().into()).unwrap();
    hub.set_relevant(ReceiverId(2), Some(Arc::from(relevant()))).unwrap();
    hub.set_relevant(ReceiverId(3), Some(Arc::from(relevant()))).unwrap();
    let (mut world, mut shown) = (World::new(seed), BTreeMap::new());
    let (mut compared, mut brought) = (0, 0);
    for tick in 1..=300u32 {
        let now = Duration::from_secs(1) * tick / TICK_HZ;
        for (id, (receiver, [down, up])) in ids.clone().zip(&mut ends) {
            while let Some(datagram) = down.poll(now) {
                match receiver.handle(now, &datagram) {
                    Ok(_) | Err(Refused::Duplicate | Refused::TooOld | Refused::NoBaseline) => {}
                    Err(refused) => panic!("{refused}"),
                }
                if let Some(newest) = receiver.newest() {
                    let at = newest.tick.0;
                    compared += 1;
                    let expected: &Snapshot = &shown[&(id, at)];
                    assert!(
                        newest.holds_same(expected),
                        "{seed}: {id:?} at {at}: {:?} instead of {:?}",
                        newest.ids(),
                        expected.ids()
                    );
                }
            }
            while let Some(datagram) = receiver.poll_transmit(now) {
                up.send(now, datagram);
            }
            while let Some(datagram) = up.poll(now) {
                let _ = hub.handle(id, now, &datagram);
            }
        }
        world.step(tick);
        let worlds = [0, 1].map(|tier| world.of_tier(&codec, tick, tier));
        for (id, eye) in ids.clone().zip(world.eyes) {
            hub.set_viewpoint(id, (id.0 < 3).then_some(eye)).unwrap();
            let rows = rows_near(&worlds[0], eye);
            brought += with_frames(&worlds[0], rows.clone()).len() - rows.len();
            shown.insert((id, tick), expected(&worlds, id.0 as usize, eye));
        }
        hub.tick(now, &worlds.each_ref()).unwrap();
        while let Some((to, datagram)) = hub.poll_transmit() {
            ends[to.0 as usize].1[0].send(now, datagram);
        }
    }
    assert!(compared > 500 && brought > 1_000, "{compared}, {brought}");
}

#[test]
fn riders_are_seen_where_they_are_and_bring_their_frames() {
    for (seed, loss) in [(1, Loss::None), (11, Loss::bursts(0.1, 3.0))] {
        session(Level::PACKED, seed, loss);
        session(Level::ADAPTIVE, seed + 1, loss);
    }
}

#[test]
fn riders_far_away_change_nothing() {
    let codec = codec(Level::PACKED);
    let sent = |others: u32| {
        let mut hub = Hub::new(&codec, HubConfig::default()).unwrap();
        hub.set_rings(Some(&rings())).unwrap();
        hub.add(ReceiverId(0), &ReceiverOptions::default(), Duration::ZERO).unwrap();
        hub.set_viewpoint(ReceiverId(0), Some([-190.0, -190.0, 0.0])).unwrap();
        let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(TICK_HZ)).unwrap();
        let raft = |x: f64, on: Option<u32>| Raft {
            position: [x, x, 0.0],
            rotation: [0.0, 0.0, 0.0, 1.0],
            on: on.map(EntityId),
            load: 3,
        };
        for tick in 1..=20 {
            let now = Duration::from_secs(1) * tick / TICK_HZ;
            let mut world = Snapshot::new(codec.schema(), Tick(tick));
            world.push(EntityId(1), &raft(-190.0, None)).unwrap();
            world.push(EntityId(2), &raft(5.0, Some(1))).unwrap();
            world.push(EntityId(3), &raft(190.0, None)).unwrap();
            for id in 4..4 + others {
                world.push(EntityId(id), &raft(1.0, Some(id - 1))).unwrap();
            }
            while let Some(datagram) = receiver.poll_transmit(now) {
                hub.handle(ReceiverId(0), now, datagram).unwrap();
            }
            hub.tick(now, &[&world, &world]).unwrap();
            while let Some((_, datagram)) = hub.poll_transmit() {
                receiver.handle(now, datagram).unwrap();
            }
        }
        receiver.newest().unwrap().ids().to_vec()
    };
    assert_eq!(sent(0), [1, 2].map(EntityId));
    // The others are in one chain. The 11 that are on too many others have no place, so they are
    // seen, and bring 8 others.
    assert_eq!(sent(7), [1, 2].map(EntityId));
    let many = sent(20);
    assert_eq!(many.len(), 2 + 11 + 8, "{many:?}");
}
