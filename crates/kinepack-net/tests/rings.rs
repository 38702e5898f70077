//! Tests of rings: each receiver holds each entity in the tier of its ring, and nothing that is
//! beyond all rings. A second description of the rings, by entity and cell, says what that is.

mod hub;
mod riders;

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_net::{
    Hub, HubConfig, Link, LinkConfig, Loss, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions,
    Refused, Ring, Rings,
};

use crate::support::{Random, TICK_HZ};

#[derive(Pack, Clone, Debug, PartialEq)]
pub(crate) struct Ship {
    #[pack(range = -256.0..256.0, precision = 1.0 / 64.0, clamp, coarser = 5)]
    pub(crate) position: [f32; 3],
    #[pack(spawn, max = 7)]
    pub(crate) model: u8,
    #[pack(range = -8.0..8.0, precision = 1.0 / 64.0, clamp, coarser = 2)]
    pub(crate) heading: f32,
    #[pack(max = 100)]
    pub(crate) heat: Option<u8>,
    pub(crate) alarm: bool,
}

/// A kind without a position, which distance does not hide.
#[derive(Pack, Clone, Debug, PartialEq)]
struct Score {
    points: u16,
}

/// A kind whose position has two axes.
#[derive(Pack, Clone, Debug, PartialEq)]
struct Mark {
    #[pack(range = -256.0..256.0, precision = 1.0, clamp)]
    on_map: [f32; 2],
    until: u8,
}

pub(crate) fn codec(level: Level) -> Codec {
    let schema = Schema::builder().kind::<Mark>("mark").kind::<Score>("score");
    let schema = schema.kind::<Ship>("ship").build().unwrap();
    Codec::new(schema.clone(), level, Profile::untrained(&schema)).unwrap()
}

/// The same rings. The farther two are sent in every n-th tick.
pub(crate) fn with_turns(every: [u32; 2], rings: Rings) -> Rings {
    let urgent = vec!["ship.alarm".into(), "mark.until".into()];
    let of_rings = [1].into_iter().chain(every);
    let of_rings = rings.rings.iter().zip(of_rings).map(|(ring, every)| Ring { every, ..*ring });
    Rings { urgent, rings: of_rings.collect(), ..rings }
}

/// The same rings, in which far ships are coarser while they move.
fn with_precision(coarser: [u8; 2], exact_after: Option<u32>, rings: Rings) -> Rings {
    let of_rings = [0].into_iter().chain(coarser);
    let of_rings = rings.rings.iter().zip(of_rings);
    let of_rings = of_rings.map(|(ring, coarser)| Ring { coarser, ..*ring });
    Rings { rings: of_rings.collect(), exact_after, ..rings }
}

pub(crate) fn rings(beyond: Option<usize>) -> Rings {
    Rings {
        positions: vec!["ship.position".into(), "mark.on_map".into()],
        urgent: vec![],
        rings: vec![
            Ring { within: 40.0, leave: 48.0, every: 1, tier: 0, coarser: 0 },
            Ring { within: 90.0, leave: 90.0, every: 1, tier: 2, coarser: 0 },
            Ring { within: 150.0, leave: 180.0, every: 1, tier: 1, coarser: 0 },
        ],
        beyond,
        cell: 25.0,
        exact_after: None,
    }
}

struct World {
    tick: u32,
    /// For each ship, the ticks in which it moved.
    moved: HashMap<u32, Vec<u32>>,
    ships: BTreeMap<u32, Ship>,
    marks: Vec<Mark>,
    points: u16,
    eyes: Vec<[f64; 3]>,
    random: Random,
    next_id: u32,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let marks = (0..6).map(|index| Mark {
            on_map: [random.unit() * 200.0, random.unit() * 200.0],
            until: index,
        });
        let marks = marks.collect();
        let mut made = Self {
            tick: 0,
            moved: HashMap::new(),
            ships: BTreeMap::new(),
            marks,
            points: 0,
            eyes: Vec::new(),
            random,
            next_id: 100,
        };
        (0..24).for_each(|_| made.add());
        made.eyes = (0..4).map(|_| made.place().map(f64::from)).collect();
        made
    }

    fn place(&mut self) -> [f32; 3] {
        [150.0, 150.0, 20.0].map(|extent| self.random.unit() * extent)
    }

    fn add(&mut self) {
        let (position, id) = (self.place(), self.next_id);
        let ship =
            Ship { position, model: (id % 8) as u8, heading: 0.0, heat: Some(0), alarm: false };
        self.ships.insert(id, ship);
        self.next_id += 1;
    }

    fn step(&mut self) {
        self.tick += 1;
        for (id, ship) in &mut self.ships {
            let before = (ship.position, ship.heading);
            // Every third ship rests now and then.
            if id % 3 != 0 || self.tick % 32 < 12 {
                for axis in &mut ship.position {
                    *axis = (*axis + self.random.unit() * 6.0).clamp(-250.0, 250.0);
                }
                ship.heading = self.random.unit() * 7.0;
            }
            ship.heat = Some(self.random.below(101) as u8);
            ship.alarm ^= self.random.chance(50);
            if self.random.chance(100) {
                ship.position[0] = -ship.position[0];
            }
            let lanes = |(position, heading): ([f32; 3], f32)| {
                (position.map(|axis| (axis * 64.0).round()), (heading * 64.0).round())
            };
            // Nobody saw where the ships were before the first tick.
            if self.tick > 1 && lanes(before) != lanes((ship.position, ship.heading)) {
                self.moved.entry(*id).or_default().push(self.tick);
            }
        }
        if self.random.chance(10) {
            self.marks[2].until = (self.marks[2].until + 1) % 100;
        }
        for axis in self.eyes.iter_mut().flatten() {
            *axis = (*axis + f64::from(self.random.unit()) * 5.0).clamp(-200.0, 200.0);
        }
        if self.random.chance(20) {
            self.points += 1;
            self.add();
        }
        if self.random.chance(20) {
            let nth = self.random.below(self.ships.len() as u64) as usize;
            let id = *self.ships.keys().nth(nth).unwrap();
            self.ships.remove(&id);
        }
    }

    /// Whether a ship counts as moving: it last moved less than `exact_after` ticks ago.
    fn moves(&self, id: u32, tick: u32, exact_after: Option<u32>) -> bool {
        let moved = self.moved.get(&id).map_or(&[][..], Vec::as_slice);
        let last = moved.iter().rev().find(|moved| **moved <= tick);
        // A ship that never moved is exact, unless no ship ever is.
        exact_after.is_none_or(|ticks| last.is_some_and(|last| tick - last < ticks))
    }

    /// The world of a tier.
    fn of_tier(&self, codec: &Codec, tick: u32, tier: usize) -> Snapshot {
        let mut made = Snapshot::new(codec.schema(), Tick(tick));
        for (id, mark) in (10..).zip(&self.marks) {
            let until = mark.until + 10 * tier as u8;
            made.push(EntityId(id), &Mark { until, ..mark.clone() }).unwrap();
        }
        made.push(EntityId(1), &Score { points: self.points }).unwrap();
        for (id, ship) in &self.ships {
            let heading = if tier == 0 { ship.heading } else { ship.heading.round() };
            let heat = if tier == 1 { None } else { ship.heat };
            made.push(EntityId(*id), &Ship { heading, heat, ..ship.clone() }).unwrap();
        }
        made
    }
}

/// What a receiver shows of the last world in `worlds`. The first world has tick 1. The score has
/// no place, so it is always shown.
fn shown(worlds: &[[Snapshot; 3]], seen: &HashMap<u32, Shown>) -> Snapshot {
    let [newest, ..] = &worlds[worlds.len() - 1];
    let mut shown = Snapshot::new_like(newest);
    for (_, id) in newest.entities() {
        let (tier, tick, coarser) = match seen.get(&id.0) {
            Some(of_entity) => *of_entity,
            None if id == EntityId(1) => (0, newest.tick.0, 0),
            None => continue,
        };
        let world = &worlds[tick as usize - 1][tier];
        let mut row = Snapshot::new_like(newest);
        row.push_row(world, world.position(id).unwrap()).unwrap();
        row.coarsen(coarser, |_| true);
        shown.push_row(&row, 0).unwrap();
    }
    shown
}

type Cell = [i64; 3];

/// What is seen of an entity: its tier, the tick that its values are from, and by how many bits they
/// are coarser.
type Shown = (usize, u32, u8);

/// The rings as a person would describe them.
#[derive(Default)]
struct Naive {
    cells: Vec<Option<Cell>>,
    /// The rings of the last tick, by cell and entity.
    before: HashMap<Cell, HashMap<u32, usize>>,
    /// For each entity, the last tick in which it did not have to wait for its turn.
    at_once: HashMap<u32, u32>,
    /// What an entity has that is sent at once: its place, and its urgent field.
    last: HashMap<u32, (Vec<f32>, u8)>,
}

/// The tick of the entity's last turn, which may be before the first tick.
fn last_turn(id: u32, every: u32, tick: u32) -> i64 {
    let spread = u64::from(id) * 0x9E37_79B9 % (1 << 32) * u64::from(every) / (1 << 32);
    i64::from(tick) - i64::from((tick + spread as u32) % every)
}

impl Naive {
    /// Notes which entities are sent at once.
    fn note_urgent(&mut self, world: &World, rings: &Rings, tick: u32) {
        let step = |to: f32| (to * 64.0).round() / 64.0;
        let ships = world
            .ships
            .iter()
            .map(|(id, ship)| (*id, (ship.position.map(step).to_vec(), u8::from(ship.alarm))));
        let marks = (10..).zip(&world.marks);
        let marks =
            marks.map(|(id, mark)| (id, (mark.on_map.map(f32::round).to_vec(), mark.until)));
        let now: HashMap<_, _> = ships.chain(marks).collect();
        for (id, (place, urgent)) in &now {
            let waits = self.last.get(id).is_some_and(|(before, urgent_before)| {
                let mut axes = place.iter().zip(before);
                let is_near = axes.all(|(a, b)| f64::from((a - b).abs()) <= rings.cell);
                is_near && urgent == urgent_before
            });
            if !waits {
                self.at_once.insert(*id, tick);
            }
        }
        self.last = now;
    }

    /// Returns for each receiver what it sees.
    fn look(&mut self, world: &World, rings: &Rings, tick: u32) -> Vec<HashMap<u32, Shown>> {
        self.note_urgent(world, rings, tick);
        let mut now: HashMap<Cell, HashMap<u32, usize>> = HashMap::new();
        self.cells.resize(world.eyes.len(), None);
        let edge = rings.cell;
        let mut seen = Vec::new();
        for (eye, last) in world.eyes.iter().zip(&mut self.cells) {
            let is_inside = |cell: &Cell| {
                let mut axes = eye.iter().zip(cell);
                axes.all(|(at, cell)| {
                    let along = at / edge - *cell as f64;
                    (-0.1..=1.1).contains(&along)
                })
            };
            let cell = last.filter(is_inside);
            let cell = cell.unwrap_or(eye.map(|at| (at / edge).floor() as i64));
            // A cell without a past continues that of the cell which its first viewer left.
            let past = last.and_then(|last| self.before.get(&last));
            let past = self.before.get(&cell).or(past).cloned().unwrap_or_default();
            *last = Some(cell);
            let of_cell =
                now.entry(cell).or_insert_with(|| rings_of_cell(world, rings, cell, &past, tick));
            let shown = of_cell.iter().filter_map(|(id, ring)| {
                let Some(ring) = rings.rings.get(*ring) else {
                    return rings.beyond.map(|tier| (*id, (tier, tick, 0)));
                };
                let sampled = last_turn(*id, ring.every, tick).max(self.at_once[id].into());
                let moves = world.moves(*id, sampled as u32, rings.exact_after);
                Some((*id, (ring.tier, sampled as u32, if moves { ring.coarser } else { 0 })))
            });
            seen.push(shown.collect());
        }
        self.before = now;
        seen
    }
}

/// Returns the ring of each entity that has a position. `past` has their rings in the last tick.
fn rings_of_cell(
    world: &World,
    rings: &Rings,
    cell: Cell,
    past: &HashMap<u32, usize>,
    tick: u32,
) -> HashMap<u32, usize> {
    let edge = rings.cell;
    let off = |place: &[f32]| {
        let squares = place.iter().zip(&cell).map(|(place, cell)| {
            let along = f64::from(*place) / edge - *cell as f64;
            let off = (-0.1 - along).max(along - 1.1).max(0.0) * edge;
            off * off
        });
        squares.sum::<f64>().sqrt()
    };
    let step = |to: f32| (to * 64.0).round() / 64.0;
    let ships = world.ships.iter().map(|(id, ship)| (*id, off(&ship.position.map(step))));
    let marks = (10..).zip(&world.marks);
    let marks = marks.map(|(id, mark)| (id, off(&mark.on_map.map(f32::round))));
    let ring = |(id, distance): (u32, f64)| {
        let inner = rings.rings.iter().position(|ring| distance <= ring.within);
        let mut ring = inner.unwrap_or(rings.rings.len());
        if let Some(before) = past.get(&id) {
            for nearer in (*before..ring).rev() {
                if distance <= rings.rings[nearer].leave {
                    ring = nearer;
                }
            }
            // An entity does not go back in time.
            let turn = |ring: usize| {
                let every = rings.rings.get(ring).map_or(1, |ring| ring.every);
                last_turn(id, every, tick)
            };
            let was_hidden = *before == rings.rings.len() && rings.beyond.is_none();
            if turn(ring) < turn(*before) && !was_hidden {
                ring = *before;
            }
        }
        (id, ring)
    };
    ships.chain(marks).map(ring).collect()
}

/// Each view has a check, so a receiver whose view differs from the hub's refuses it.
fn session(level: Level, seed: u64, rings: Rings, loss: Loss) {
    let codec = codec(level);
    let config = HubConfig { check_every_bytes: Some(0), ..HubConfig::default() };
    let mut hub = Hub::new(&codec, config).unwrap();
    hub.set_rings(Some(&rings)).unwrap();
    let link = LinkConfig { latency: Duration::from_millis(30), loss, ..LinkConfig::default() };
    let mut world = World::new(seed);
    let mut ends = Vec::new();
    for id in 0..world.eyes.len() as u64 {
        hub.add(ReceiverId(id), &ReceiverOptions::default(), Duration::ZERO).unwrap();
        let receiver = Receiver::new(&codec, ReceiverConfig::at_hz(TICK_HZ)).unwrap();
        let links = [0, 1].map(|way| Link::new(link, 10 * seed + 2 * id + way).unwrap());
        ends.push((receiver, links));
    }
    let takes_turns = rings.rings.iter().any(|ring| ring.every > 1);
    let (mut naive, mut expected) = (Naive::default(), HashMap::new());
    let (mut compared, mut late) = (0, 0);
    let mut coarse_seen = [0; 2];
    let (mut tiers_seen, mut worlds_seen) = ([0; 3], Vec::<[Snapshot; 3]>::new());
    for tick in 1..=400u32 {
        let now = Duration::from_secs(1) * tick / TICK_HZ;
        for (id, (receiver, [down, up])) in (0..).zip(&mut ends) {
            while let Some(datagram) = down.poll(now) {
                match receiver.handle(now, &datagram) {
                    Ok(_) | Err(Refused::Duplicate | Refused::TooOld | Refused::NoBaseline) => {}
                    Err(refused) => panic!("{refused}"),
                }
                if let Some(newest) = receiver.newest() {
                    compared += 1;
                    if newest.holds_same(&expected[&(id, newest.tick.0)]) {
                        continue;
                    }
                    let may_be_late = takes_turns && loss != Loss::None;
                    assert!(may_be_late, "{level:?} {seed}: {id}, {}", newest.tick.0);
                    late += 1;
                    check_late(newest, |tick| expected.get(&(id, tick)));
                }
            }
            while let Some(datagram) = receiver.poll_transmit(now) {
                up.send(now, datagram);
            }
            while let Some(datagram) = up.poll(now) {
                let _ = hub.handle(ReceiverId(id), now, &datagram);
            }
        }
        world.step();
        for (id, eye) in (0..).map(ReceiverId).zip(&world.eyes) {
            hub.set_viewpoint(id, Some(*eye)).unwrap();
        }
        worlds_seen.push([0, 1, 2].map(|tier| world.of_tier(&codec, tick, tier)));
        for (id, seen) in (0..).zip(naive.look(&world, &rings, tick)) {
            for (tier, _, coarser) in seen.values() {
                tiers_seen[*tier] += 1;
                coarse_seen[usize::from(*coarser > 0)] += 1;
            }
            expected.insert((id, tick), shown(&worlds_seen, &seen));
        }
        hub.tick(now, &worlds_seen.last().unwrap().each_ref()).unwrap();
        while let Some((to, datagram)) = hub.poll_transmit() {
            ends[to.0 as usize].1[0].send(now, datagram);
        }
    }
    assert!(compared > 1_000 && late < compared / 4, "{late} of {compared} states are late");
    let used = |tier| rings.rings.iter().any(|ring| ring.tier == tier);
    let are_seen = (0..3).all(|tier| !used(tier) || tiers_seen[tier] > 1_000);
    assert!(are_seen, "{tiers_seen:?}");
    if rings.rings.iter().any(|ring| ring.coarser > 0) {
        assert!(coarse_seen.into_iter().all(|seen| seen > 1_000), "{coarse_seen:?}");
    }
}

/// How long two packets lost in a row may delay what they sent, in ticks.
const LATEST_TICKS: u32 = 40;

/// Checks that `newest` shows each entity as it was to be shown not long ago.
fn check_late<'a>(newest: &Snapshot, expected: impl Fn(u32) -> Option<&'a Snapshot>) {
    let tick = newest.tick.0;
    let lately: Vec<&Snapshot> =
        (tick.saturating_sub(LATEST_TICKS)..=tick).filter_map(&expected).collect();
    for (index, (kind, id)) in newest.entities().enumerate() {
        let was_shown = lately.iter().any(|then| {
            let at = then.position_of(kind, id);
            at.is_some_and(|at| then.lanes_at(at).eq(newest.lanes_at(index)))
        });
        assert!(was_shown, "{id:?} at {tick}");
    }
    let now = lately.last().unwrap();
    for (kind, id) in now.entities().filter(|(kind, id)| newest.position_of(*kind, *id).is_none()) {
        let is_new = lately.iter().any(|then| then.position_of(kind, id).is_none());
        assert!(is_new, "{id:?} is missing at {tick}");
    }
}

#[test]
fn each_receiver_holds_what_the_rings_say() {
    let loss = Loss::bursts(0.1, 3.0);
    session(Level::PACKED, 1, rings(None), loss);
    session(Level::ADAPTIVE, 2, rings(None), loss);
    session(Level::ADAPTIVE, 3, rings(Some(1)), loss);
    session(Level::LEARNING, 4, rings(Some(2)), loss);
}

#[test]
fn entities_of_far_rings_keep_the_values_of_their_last_turn() {
    for (seed, loss) in [(5, Loss::None), (15, Loss::bursts(0.1, 3.0))] {
        session(Level::PACKED, seed, with_turns([2, 4], rings(None)), loss);
        session(Level::ADAPTIVE, seed + 1, with_turns([3, 7], rings(Some(0))), loss);
        session(Level::LEARNING, seed + 2, with_turns([4, 1], rings(None)), loss);
        // Both rings have the same values.
        let mut alike = with_turns([8, 8], rings(None));
        alike.rings[1].tier = 1;
        session(Level::PACKED, seed + 3, alike, loss);
    }
}

#[test]
fn moving_entities_of_far_rings_are_coarser() {
    for (seed, loss) in [(25, Loss::None), (35, Loss::bursts(0.1, 3.0))] {
        session(Level::PACKED, seed, with_precision([2, 4], Some(5), rings(None)), loss);
        session(Level::ADAPTIVE, seed + 1, with_precision([3, 31], None, rings(Some(1))), loss);
        let turns = with_turns([2, 4], rings(None));
        session(Level::PACKED, seed + 2, with_precision([1, 5], Some(9), turns), loss);
        // The rings have the same rate and tier, but not the same precision.
        let mut alike = with_turns([4, 4], rings(Some(0)));
        alike.rings[1].tier = 1;
        session(Level::LEARNING, seed + 3, with_precision([0, 3], Some(1), alike), loss);
    }
}

/// A hub with rings, and a world of ships at these places along x.
pub(crate) fn at_places(places: &[f32]) -> (Hub, [Snapshot; 2]) {
    let codec = codec(Level::PACKED);
    let mut hub = Hub::new(&codec, HubConfig::default()).unwrap();
    hub.set_rings(Some(&rings(None))).unwrap();
    let worlds = [0, 1].map(|tier| {
        let mut world = Snapshot::new(codec.schema(), Tick(1));
        for (id, x) in (100..).zip(places) {
            let heat = (tier == 0).then_some(40);
            let ship =
                Ship { position: [*x, 0.0, 0.0], model: 0, heading: 0.0, heat, alarm: false };
            world.push(EntityId(id), &ship).unwrap();
        }
        world
    });
    (hub, worlds)
}

pub(crate) fn join(hub: &mut Hub, id: u64, viewpoint: Option<[f64; 3]>) -> Receiver {
    join_with(hub, ReceiverId(id), viewpoint, |receiver| receiver)
}

fn join_with(
    hub: &mut Hub,
    id: ReceiverId,
    viewpoint: Option<[f64; 3]>,
    with: impl Fn(Receiver) -> Receiver,
) -> Receiver {
    hub.add(id, &ReceiverOptions::default(), Duration::ZERO).unwrap();
    hub.set_viewpoint(id, viewpoint).unwrap();
    let codec = codec(Level::PACKED);
    let mut receiver = with(Receiver::new(&codec, ReceiverConfig::at_hz(TICK_HZ)).unwrap());
    let hello = receiver.poll_transmit(Duration::ZERO).unwrap().to_vec();
    hub.handle(id, Duration::ZERO, &hello).unwrap();
    receiver
}
