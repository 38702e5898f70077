//! Tests of worlds of several kinds of entities over bad links. They check views, playback, and
//! entities that change to another kind.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use kinepack::{Codec, EncodeError, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_net::{
    Hub, HubConfig, KindOptions, Link, LinkConfig, Loss, NetError, Playback, Received, Receiver,
    ReceiverConfig, ReceiverId, ReceiverOptions, Refused, Sequence,
};

use crate::support::{Random, TICK_HZ, sequence_of};

const ID: ReceiverId = ReceiverId(1);

#[derive(Pack, Clone, Debug, PartialEq)]
struct Player {
    #[pack(body, range = -64.0..64.0, precision = 1.0 / 256.0, clamp)]
    position: [f32; 3],
    #[pack(body, rotation, bits = 9)]
    rotation: [f32; 4],
    weapon: Option<u8>,
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Bullet {
    #[pack(spawn, max = 90)]
    maker: u8,
    #[pack(range = -64.0..64.0, precision = 1.0 / 256.0, clamp)]
    position: [f32; 3],
    #[pack(velocity, range = -32.0..32.0, precision = 1.0 / 16.0, clamp)]
    velocity: [f32; 3],
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Door {
    open: bool,
}

#[derive(Clone, Debug)]
enum Thing {
    Player(Player),
    Bullet(Bullet),
    Door(Door),
}

fn schema() -> Schema {
    let builder = Schema::builder().kind::<Player>("player").kind::<Bullet>("bullet");
    builder.kind::<Door>("door").build().unwrap()
}

fn codec(level: Level) -> Codec {
    let schema = schema();
    Codec::new(schema.clone(), level, Profile::untrained(&schema)).unwrap()
}

/// Things that move, are added and removed, and sometimes become things of another kind.
struct World {
    things: BTreeMap<u32, Thing>,
    random: Random,
    snapshot: Snapshot,
}

impl World {
    fn new(seed: u64) -> Self {
        let snapshot = Snapshot::new(&schema(), Tick(0));
        Self { things: BTreeMap::new(), random: Random::new(seed), snapshot }
    }

    fn any(&mut self) -> Thing {
        let random = &mut self.random;
        let mut vector = |scale: f32| [0; 3].map(|_| random.unit() * scale);
        let (position, velocity, turn) = (vector(60.0), vector(30.0), vector(1.0));
        match random.below(3) {
            0 => Thing::Player(Player {
                position,
                rotation: [turn[0], turn[1], turn[2], 1.5],
                weapon: random.chance(2).then_some(7),
            }),
            1 => Thing::Bullet(Bullet { maker: random.below(91) as u8, position, velocity }),
            _ => Thing::Door(Door { open: random.chance(2) }),
        }
    }

    fn step(&mut self, tick: Tick, is_quiet: bool) {
        if !is_quiet {
            for _ in 0..3 {
                // The id often exists already, perhaps as another kind of entity.
                let (id, mut thing) = (self.random.below(90) as u32, self.any());
                // In consecutive ticks, a bullet keeps its maker.
                let before = self.snapshot.get::<Bullet>(EntityId(id)).unwrap();
                if let (Thing::Bullet(bullet), Some(before)) = (&mut thing, before) {
                    bullet.maker = before.maker;
                }
                match self.random.below(3) {
                    0 => drop(self.things.remove(&id)),
                    1 if self.things.contains_key(&id) => {}
                    _ => drop(self.things.insert(id, thing)),
                }
            }
            for thing in self.things.values_mut() {
                match thing {
                    Thing::Player(player) => player.position[0] += self.random.unit() * 0.1,
                    Thing::Bullet(Bullet { position, velocity, .. }) => {
                        position.iter_mut().zip(velocity).for_each(|(p, v)| *p += *v / 60.0);
                    }
                    Thing::Door(door) => door.open ^= self.random.chance(60),
                }
            }
        }
        self.snapshot.clear(tick);
        for (id, thing) in &self.things {
            let id = EntityId(*id);
            match thing {
                Thing::Player(player) => self.snapshot.push(id, player),
                Thing::Bullet(bullet) => self.snapshot.push(id, bullet),
                Thing::Door(door) => self.snapshot.push(id, door),
            }
            .unwrap();
        }
    }
}

/// The scene that a program shows: the kind of each entity, and the hash of its spawn fields.
#[derive(Default)]
struct Scene(BTreeMap<EntityId, (usize, u64)>);

impl Scene {
    fn update(&mut self, playback: &Playback<'_>) {
        for id in playback.removed() {
            assert!(self.0.remove(id).is_some(), "{id:?} was removed but not shown");
        }
        let kinds: HashMap<EntityId, (usize, u64)> = playback
            .samples()
            .map(|sample| {
                let (state, index) = sample.from;
                let (to, at) = sample.to;
                assert_eq!(to.spawn_hash(at), state.spawn_hash(index), "{:?}", sample.id);
                (sample.id, (state.kind_at(index).unwrap(), state.spawn_hash(index)))
            })
            .collect();
        for id in playback.added() {
            assert_eq!(self.0.insert(*id, kinds[id]), None, "{id:?} was added twice");
        }
        assert!(
            self.0
                .iter()
                .map(|(id, kind)| (*id, *kind))
                .eq(kinds.into_iter().collect::<BTreeMap<_, _>>())
        );
        let mut count = 0;
        for sample in playback.samples_of::<Player>().unwrap() {
            sample.state::<Player>().unwrap();
            assert_eq!(sample.state::<Door>(), Err(EncodeError::AnotherKind { id: sample.id.0 }));
            count += 1;
        }
        for sample in playback.samples_of::<Bullet>().unwrap() {
            sample.state::<Bullet>().unwrap();
            count += 1;
        }
        for sample in playback.samples_of::<Door>().unwrap() {
            sample.state::<Door>().unwrap();
            count += 1;
        }
        assert_eq!(count, self.0.len());
    }
}

/// The options of a session besides its level and seed.
#[derive(Clone, Copy, Default)]
struct Options {
    budget: Option<u32>,
    /// Whether the set of entities that the receiver sees changes from time to time.
    relevance: bool,
    /// Whether some kinds are not sent in each tick.
    rates: bool,
}

/// Runs a session of some seconds, then lets the world rest until the receiver has the whole world.
fn session(level: Level, seed: u64, options: Options) {
    let Options { budget, relevance, rates } = options;
    let codec = codec(level);
    let mut world = World::new(seed);
    let mut hub =
        Hub::new(&codec, HubConfig { datagram_bytes: 300, ..HubConfig::default() }).unwrap();
    let options = ReceiverOptions { budget: budget.into(), ..ReceiverOptions::default() };
    hub.add(ID, &options, Duration::ZERO).unwrap();
    if rates {
        // Without a budget, everything that is due is sent, whatever its priority.
        let priority = if budget.is_some() { 0.5 } else { 0.0 };
        hub.set_kind("player", KindOptions { every: 4, priority }).unwrap();
        hub.set_kind("door", KindOptions { every: 8, priority: 2.0 }).unwrap();
    }
    let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(TICK_HZ)).unwrap();
    let link = LinkConfig {
        latency: Duration::from_millis(40),
        jitter: Duration::from_millis(15),
        loss: Loss::bursts(0.15, 3.0),
        ..LinkConfig::default()
    };
    let [mut down, mut up] = [0, 1].map(|way| Link::new(link, 2 * seed + way).unwrap());
    let (mut sent, mut scene) = (HashMap::new(), Scene::default());
    let (mut snapshots, mut partial, mut changes) = (0, 0, 0);
    let mut before = Snapshot::new(&schema(), Tick(0));
    for tick in 1..=900u32 {
        let now = Duration::from_secs(1) * tick / TICK_HZ;
        while let Some(datagram) = down.poll(now) {
            let Sequence(sequence) = sequence_of(&datagram);
            match receiver.handle(now, &datagram) {
                Ok(Received::Snapshot { left_out, .. }) => {
                    let view = receiver.view(Sequence(sequence)).unwrap();
                    assert!(*view == sent[&sequence], "{level:?} {seed}: the views differ");
                    snapshots += 1;
                    partial += u32::from(left_out);
                }
                Ok(_) | Err(Refused::Duplicate | Refused::TooOld | Refused::NoBaseline) => {}
                Err(refused) => panic!("{level:?} {seed}: {refused}"),
            }
        }
        if let Some(playback) = receiver.playback(now) {
            scene.update(&playback);
        }
        while let Some(datagram) = receiver.poll_transmit(now) {
            up.send(now, datagram);
        }
        while let Some(datagram) = up.poll(now) {
            let handled = hub.handle(ID, now, &datagram);
            assert!(matches!(handled, Ok(_) | Err(Refused::LongAgo)), "{handled:?}");
        }
        world.step(Tick(tick), tick > 600);
        let has_changed = |(kind, id): (usize, EntityId)| {
            before.position(id).is_some() && before.position_of(kind, id).is_none()
        };
        changes += world.snapshot.entities().filter(|entity| has_changed(*entity)).count();
        before.copy_from(&world.snapshot);
        if relevance && tick % 40 == 0 {
            let ids = (0..90).filter(|id| (id + tick / 40) % 3 > 0).map(EntityId);
            let is_all = tick > 600;
            hub.set_relevant(ID, (!is_all).then(|| ids.collect())).unwrap();
        }
        hub.tick(now, &world.snapshot).unwrap();
        while let Some((to, datagram)) = hub.poll_transmit() {
            let (datagram, sequence) = (datagram.to_vec(), sequence_of(datagram));
            sent.remove(&sequence.0);
            sent.extend(hub.view(to, sequence).map(|view| (sequence.0, view)));
            down.send(now, &datagram);
        }
    }
    assert!(changes > 50 && snapshots > 200, "{changes} {snapshots}");
    assert_eq!(partial > 50, budget.is_some() || rates, "{partial}");
    assert!(receiver.newest().unwrap().holds_same(&world.snapshot), "{level:?} {seed}");
    let kinds = scene.0.into_iter().map(|(id, (kind, _))| (kind, id));
    let mut shown: Vec<(usize, EntityId)> = kinds.collect();
    shown.sort_unstable();
    assert!(shown.into_iter().eq(world.snapshot.entities()), "the scene is the world");
}

#[test]
fn views_and_scenes_stay_equal_if_everything_fits() {
    for (seed, level) in (1..).zip([Level::PACKED, Level::ADAPTIVE, Level::LEARNING]) {
        session(level, seed, Options::default());
        session(level, 10 + seed, Options { relevance: true, ..Options::default() });
    }
}

#[test]
fn views_and_scenes_stay_equal_within_a_small_budget() {
    for (seed, level) in (1..).zip([Level::PACKED, Level::ADAPTIVE, Level::LEARNING]) {
        let budget = Some(4_000);
        session(level, 20 + seed, Options { budget, ..Options::default() });
        session(level, 30 + seed, Options { budget, relevance: true, ..Options::default() });
    }
}

#[test]
fn views_and_scenes_stay_equal_if_kinds_rest() {
    for (seed, level) in (1..).zip([Level::PACKED, Level::ADAPTIVE, Level::LEARNING]) {
        session(level, 40 + seed, Options { rates: true, ..Options::default() });
        let options = Options { budget: Some(4_000), relevance: true, rates: true };
        session(level, 50 + seed, options);
    }
}

fn bullet(maker: u8) -> Bullet {
    Bullet { maker, position: [0.0; 3], velocity: [1.0; 3] }
}

#[test]
fn a_spawn_field_that_changes_is_refused_by_name() {
    let codec = codec(Level::PACKED);
    let mut hub = Hub::new(&codec, HubConfig::default()).unwrap();
    let state = |tick, maker| {
        let mut world = Snapshot::new(&schema(), Tick(tick));
        world.push(EntityId(5), &bullet(maker)).unwrap();
        world
    };
    hub.tick(Duration::ZERO, &state(1, 7)).unwrap();
    let refused = hub.tick(Duration::ZERO, &state(2, 8)).unwrap_err();
    let field = String::from("bullet.maker");
    assert_eq!(refused, NetError::SpawnChanged { id: EntityId(5), field });
    assert_eq!(
        refused.to_string(),
        "entity 5: the spawn field `bullet.maker` changed; it must not"
    );
    // The refused tick changed nothing. After a tick without the entity, its id may return.
    hub.tick(Duration::ZERO, &state(2, 7)).unwrap();
    hub.tick(Duration::ZERO, &Snapshot::new(&schema(), Tick(3))).unwrap();
    hub.tick(Duration::ZERO, &state(4, 8)).unwrap();
}

#[test]
fn an_id_may_be_reused_after_a_refused_tick() {
    let mut hub = Hub::new(&codec(Level::PACKED), HubConfig::default()).unwrap();
    let state = |tick, bullets: &[(u32, u8)]| {
        let mut world = Snapshot::new(&schema(), Tick(tick));
        let mut push = |(id, maker): &(u32, u8)| world.push(EntityId(*id), &bullet(*maker));
        bullets.iter().try_for_each(&mut push).unwrap();
        world
    };
    let at = Duration::from_secs;
    let is_changed = |refused, id| match refused {
        Err(NetError::SpawnChanged { id: EntityId(changed), .. }) => changed == id,
        _ => false,
    };
    hub.tick(at(1), &state(1, &[(5, 7), (6, 1), (9, 3)])).unwrap();
    // Both refused worlds lack bullet 5, and the second also lacks bullet 9. Their ids may
    // therefore return with another maker.
    assert!(is_changed(hub.tick(at(2), &state(2, &[(6, 2), (9, 3)])), 6));
    assert!(matches!(hub.tick(at(2), &state(1, &[(6, 1)])), Err(NetError::TickNotRising { .. })));
    // Both refused worlds contain bullet 6, so it is still the same entity and must not change its
    // maker.
    assert!(is_changed(hub.tick(at(2), &state(3, &[(5, 8), (6, 2), (9, 4)])), 6));
    hub.tick(at(2), &state(3, &[(5, 8), (6, 1), (9, 4)])).unwrap();
    // From the next tick on, these bullets count as the earlier ones.
    assert!(is_changed(hub.tick(at(3), &state(4, &[(5, 7), (6, 1)])), 5));
    assert!(is_changed(hub.tick(at(3), &state(4, &[(5, 8), (6, 2)])), 6));
}

#[test]
fn an_id_of_two_kinds_is_refused_and_changes_nothing() {
    let codec = codec(Level::PACKED);
    let mut world = Snapshot::new(&schema(), Tick(1));
    world.push(EntityId(5), &Door { open: true }).unwrap();
    let mut hub = Hub::new(&codec, HubConfig::default()).unwrap();
    hub.tick(Duration::ZERO, &world).unwrap();
    let mut bad = world.clone();
    bad.tick = Tick(2);
    bad.push(EntityId(5), &bullet(1)).unwrap();
    let refused = Err(NetError::SharedId { id: EntityId(5) });
    assert_eq!(hub.tick(Duration::ZERO, &bad), refused);
    world.tick = Tick(2);
    hub.tick(Duration::ZERO, &world).unwrap();
    let refused = Hub::with_initial(&codec, HubConfig::default(), &bad).err();
    assert_eq!(refused, Some(NetError::SharedId { id: EntityId(5) }));
    let refused = Receiver::with_initial(&codec, ReceiverConfig::at_hz(60), &bad).err();
    assert_eq!(refused, Some(NetError::SharedId { id: EntityId(5) }));
}
