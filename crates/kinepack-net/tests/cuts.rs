//! Tests of cuts in playback: an entity that jumps is shown at the one place, then at the other, and
//! nowhere between them. One playback call reports the jump.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_net::{
    Budget, FramePlayer, Hub, HubConfig, Link, LinkConfig, Loss, Receiver, ReceiverConfig,
    ReceiverId, ReceiverOptions, Ring, Rings,
};

use crate::support::{Random, TICK_HZ, exchange};

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

/// How far each shown place is from the nearest one on the two paths, at most, how many calls
/// showed the entity before a cut, and how many reported the cut.
fn shown(loss: Loss, rings: Option<&Rings>) -> (f32, u32, u32) {
    let schema = Schema::of::<Player>();
    let codec = Codec::new(schema.clone(), Level::ADAPTIVE, Profile::untrained(&schema)).unwrap();
    let mut hub = Hub::new(&codec, HubConfig::default()).unwrap();
    hub.set_rings(rings).unwrap();
    hub.add(ID, &ReceiverOptions::default(), Duration::ZERO).unwrap();
    hub.set_viewpoint(ID, Some([0.0; 3])).unwrap();
    let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(TICK_HZ)).unwrap();
    let link = LinkConfig { latency: Duration::from_millis(20), loss, ..LinkConfig::default() };
    let mut links = [0, 1].map(|way| Link::new(link, 40 + way).unwrap());
    let leaps: Vec<u32> = (1..20).map(|nth| nth * 29).collect();
    let (mut farthest, mut cuts, mut reports) = (0.0_f32, 0, 0);
    for tick in 1..=600u32 {
        let mut world = Snapshot::new(&schema, Tick(tick));
        world.push(EntityId(5), &player(tick, &leaps)).unwrap();
        let now = exchange(&mut hub, ID, &mut receiver, &mut links, &world);
        // Frames are drawn between ticks too.
        for part in 0..3 {
            let Some(playback) = receiver.playback(now + Duration::from_millis(5) * part) else {
                continue;
            };
            reports += playback.cut().len() as u32;
            let along = playback.tick as f32 * 4.0 / TICK_HZ as f32;
            for sample in playback.samples() {
                let [x, _] = sample.state::<Player>().unwrap().place;
                let off = (x - along).abs().min((x - along - LEAP).abs());
                farthest = farthest.max(off);
                cuts += u32::from(sample.is_cut);
            }
        }
    }
    (farthest, cuts, reports)
}

#[test]
fn an_entity_that_jumps_leaves_no_streak() {
    for loss in [Loss::None, Loss::bursts(0.1, 4.0)] {
        let (farthest, cuts, reports) = shown(loss, None);
        // At a cut, the old place is held for as long as no other is known.
        assert!(farthest < 2.0, "{loss:?}: {farthest} m from both paths");
        assert!(cuts >= 15, "{loss:?}: {cuts}");
        assert_eq!(reports, 19, "{loss:?}: one report of each jump");
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
    let (_, cuts, reports) = shown(Loss::None, Some(&rings));
    assert!(cuts >= 15, "{cuts}");
    assert_eq!(reports, 19, "one report of each jump");
}

/// An entity of a kind that never jumps.
#[derive(Pack, Clone, Copy)]
struct Crate {
    place: u16,
    dents: u16,
}

/// An entity that jumps if either of two fields changes.
#[derive(Pack, Clone, Copy, Debug, PartialEq)]
struct Ghost {
    place: u16,
    #[pack(cut)]
    teleports: u64,
    health: u16,
    #[pack(cut)]
    is_alive: bool,
}

impl Ghost {
    /// The fields whose changes are cuts.
    fn cut_fields(&self) -> (u64, bool) {
        (self.teleports, self.is_alive)
    }
}

/// A world of both kinds that changes at random in each tick.
struct Haunted {
    schema: Schema,
    crates: BTreeMap<u32, Crate>,
    ghosts: BTreeMap<u32, Ghost>,
    random: Random,
}

impl Haunted {
    fn new(seed: u64) -> Self {
        let schema = Schema::builder().kind::<Crate>("crate").kind::<Ghost>("ghost").build();
        Self {
            schema: schema.unwrap(),
            crates: BTreeMap::new(),
            ghosts: BTreeMap::new(),
            random: Random::new(seed),
        }
    }

    fn tick(&mut self, tick: u32) -> Snapshot {
        let random = &mut self.random;
        for id in 0..12 {
            if random.chance(if tick == 1 { 2 } else { 60 }) && self.crates.remove(&id).is_none() {
                self.crates.insert(id, Crate { place: id as u16, dents: 0 });
            }
            if random.chance(if tick == 1 { 2 } else { 60 })
                && self.ghosts.remove(&(20 + id)).is_none()
            {
                let ghost = Ghost { place: 0, teleports: 0, health: 9, is_alive: true };
                self.ghosts.insert(20 + id, ghost);
            }
        }
        for thing in self.crates.values_mut().filter(|_| random.chance(3)) {
            thing.place += 1;
            thing.dents = thing.place / 7;
        }
        for ghost in self.ghosts.values_mut() {
            ghost.place += 1;
            ghost.health = random.below(100) as u16;
            if random.chance(25) {
                // In some jumps, only the upper lane changes.
                ghost.teleports += 1 << (32 * random.below(2));
            }
            ghost.is_alive ^= random.chance(40);
        }
        let mut world = Snapshot::new(&self.schema, Tick(tick));
        self.crates.iter().for_each(|(id, it)| world.push(EntityId(*id), it).unwrap());
        self.ghosts.iter().for_each(|(id, it)| world.push(EntityId(*id), it).unwrap());
        world
    }
}

/// Shows a random world over a random link, budget and frame rate. Checks each call's list of cuts
/// against the shown states of two calls, and returns the number of cuts.
fn reported(seed: u64) -> usize {
    let (mut haunted, mut random) = (Haunted::new(seed), Random::new(seed + 1000));
    let schema = haunted.schema.clone();
    let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap();
    let mut hub = Hub::new(&codec, HubConfig::default()).unwrap();
    let budget = match random.below(2) {
        0 => Budget::Unlimited,
        _ => Budget::Fixed { bytes_per_s: 1_000 + random.below(4_000) as u32 },
    };
    hub.add(ID, &ReceiverOptions { budget, ..ReceiverOptions::default() }, Duration::ZERO).unwrap();
    let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(TICK_HZ)).unwrap();
    let link = LinkConfig {
        latency: Duration::from_millis(random.below(60)),
        jitter: Duration::from_millis(random.below(40)),
        loss: Loss::bursts(random.below(40) as f32 / 100.0, 1.0 + random.below(6) as f32),
        ..LinkConfig::default()
    };
    let mut links = [seed, seed + 1].map(|seed| Link::new(link, seed).unwrap());
    let frame_one_in = 1 + random.below(4);
    let mut before = BTreeMap::new();
    let mut cuts = 0;
    for tick in 1..=400u32 {
        let now = exchange(&mut hub, ID, &mut receiver, &mut links, &haunted.tick(tick));
        for part in 0..3 {
            if !random.chance(frame_one_in) {
                continue;
            }
            let Some(playback) = receiver.playback(now + Duration::from_millis(5) * part) else {
                continue;
            };
            let samples = playback.samples_of::<Ghost>().unwrap();
            let shown: BTreeMap<EntityId, (u64, bool)> = samples
                .map(|sample| (sample.id, sample.state::<Ghost>().unwrap().cut_fields()))
                .collect();
            let jumped = |id: &&EntityId| before.get(*id).is_some_and(|was| *was != shown[*id]);
            let expected: Vec<EntityId> = shown.keys().filter(jumped).copied().collect();
            assert_eq!(playback.cut(), expected, "seed {seed}, tick {tick}");
            assert!(playback.added().iter().all(|id| !expected.contains(id)));
            cuts += expected.len();
            before = shown;
        }
    }
    cuts
}

#[test]
fn one_call_reports_each_jump_between_two_shown_moments() {
    for seed in 0..24 {
        let cuts = reported(seed);
        assert!(cuts > 20, "seed {seed}: {cuts}");
    }
}

/// An entity whose team tells it from an earlier one with the same id.
#[derive(Pack, Clone, Copy)]
struct Member {
    #[pack(spawn)]
    team: u8,
    #[pack(cut)]
    jumps: u8,
}

#[test]
fn an_entity_that_replaces_another_one_has_not_jumped() {
    let schema = Schema::of::<Member>();
    let state = |tick, members: &[(u32, u8, u8)]| {
        let mut state = Snapshot::new(&schema, Tick(tick));
        for (id, team, jumps) in members {
            state.push(EntityId(*id), &Member { team: *team, jumps: *jumps }).unwrap();
        }
        Arc::new(state)
    };
    let mut player = FramePlayer::new(60.0);
    let mut cuts = |tick, members| {
        let state = state(tick, members);
        player.show(tick.into(), &state, &state, []).cut().to_vec()
    };
    assert_eq!(cuts(1, &[(1, 0, 0), (2, 0, 0), (3, 0, 0)]), []);
    // Entity 1 is replaced, 2 is removed, 3 jumps, and 4 is added.
    assert_eq!(cuts(2, &[(1, 1, 5), (3, 0, 5), (4, 0, 5)]), [EntityId(3)]);
    assert_eq!(cuts(3, &[(1, 1, 6), (2, 0, 1), (3, 0, 5), (4, 0, 4)]), [1, 4].map(EntityId));
}
