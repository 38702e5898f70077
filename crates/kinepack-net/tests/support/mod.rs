//! A world of random entities, and a hub and receivers connected by bad links under virtual time.

#![allow(dead_code, missing_docs, unreachable_pub, reason = "each test uses a part")]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::HashMap;
use std::time::Duration;

use kinepack::schema::TimePrecision;
use kinepack::{ArrayString, Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_net::{
    Audience, Event, EventKinds, Hub, HubConfig, Link, LinkConfig, NetError, Priority, Received,
    Receiver, ReceiverConfig, ReceiverId, ReceiverOptions, Refused, Ring, Rings, Sequence,
};

pub const TICK_HZ: u32 = 60;

#[derive(Pack, Clone, Debug, PartialEq)]
pub struct Thing {
    #[pack(range = [-256.0..256.0, -256.0..256.0, 0.0..32.0], precision = 1.0 / 512.0, clamp)]
    pub position: [f32; 3],
    #[pack(rotation, bits = 9)]
    pub orientation: [f32; 4],
    #[pack(max = 9)]
    pub kind: u8,
    pub awake: bool,
}

pub fn codec() -> Codec {
    codec_at(Level::PACKED)
}

pub fn codec_at(level: Level) -> Codec {
    let schema = Schema::of::<Thing>();
    Codec::new(schema.clone(), level, Profile::untrained(&schema)).unwrap()
}

/// The codec at `level` with a time precision. Values of moving entities are off by at most
/// [`most_off`].
pub fn coarse_codec(level: Level) -> Codec {
    let precision = TimePrecision::new(4.0, f64::from(TICK_HZ));
    let schema = Schema::of::<Thing>().with_time_precision(|field| {
        ["position", "orientation"].contains(&&*field.name).then_some(precision)
    });
    Codec::new(schema.clone(), level, Profile::untrained(&schema)).unwrap()
}

/// The largest allowed error of each lane of a [`Thing`] with a time precision: half of 16 steps of
/// the position, and half of 8 steps of a rotation's components.
pub fn most_off() -> Vec<u32> {
    vec![8, 8, 8, 0, 4, 4, 4, 0, 0]
}

/// An event that may be dropped.
#[derive(Pack, Clone, Debug, PartialEq)]
pub struct Shot {
    pub tick: u32,
    pub nth: u32,
    #[pack(range = -64.0..64.0, precision = 1.0 / 64.0)]
    pub at: [f32; 3],
}

/// An event that must arrive.
#[derive(Pack, Clone, Debug, PartialEq)]
pub struct Said {
    pub tick: u32,
    pub nth: u32,
    pub text: ArrayString<30>,
}

pub fn event_kinds() -> EventKinds {
    let schema = Schema::builder().kind::<Shot>("shot").kind::<Said>("said").build().unwrap();
    let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap();
    EventKinds::new(&codec).droppable::<Shot>(8).unwrap()
}

/// Emits 0 to 2 · `mean` events in this tick. Returns the numbers of the reliable events.
pub fn emit_some(hub: &mut Hub, tick: u32, mean: u64, random: &mut Random) -> Vec<(u32, u32)> {
    let mut reliable = Vec::new();
    for nth in 0..random.below(2 * mean + 1) as u32 {
        if random.chance(3) {
            let text = &"well played, number ".repeat(2)[..(tick % 31) as usize];
            let text = ArrayString::from(text).unwrap();
            hub.emit(&Said { tick, nth, text }, Audience::All).unwrap();
            reliable.push((tick, nth));
        } else {
            let at = [0; 3].map(|_| random.unit() * 60.0);
            hub.emit(&Shot { tick, nth, at }, Audience::All).unwrap();
        }
    }
    reliable
}

/// The tick and number of an event of [`emit_some`].
pub fn number_of(event: &Event<'_>) -> (u32, u32) {
    match (event.get::<Shot>().unwrap(), event.get::<Said>().unwrap()) {
        (Some(Shot { tick, nth, .. }), _) | (_, Some(Said { tick, nth, .. })) => (tick, nth),
        _ => panic!("{event:?}"),
    }
}

/// A xorshift64* generator.
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub fn chance(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }

    /// A random number from −1 to 1.
    pub fn unit(&mut self) -> f32 {
        self.below(20_001) as f32 / 10_000.0 - 1.0
    }
}

/// A world of entities that move, rest, and are added and removed.
pub struct World {
    things: Vec<(EntityId, Thing, [f32; 3])>,
    next_id: u32,
    random: Random,
    /// One entity in this many moves.
    pub moving_one_in: u64,
    /// An entity is added or removed in one tick of this many.
    pub change_one_in: u64,
    pub snapshot: Snapshot,
}

impl World {
    pub fn new(count: usize, seed: u64) -> Self {
        let schema = Schema::of::<Thing>();
        let mut world = Self {
            things: Vec::new(),
            next_id: 0,
            random: Random::new(seed),
            moving_one_in: 4,
            change_one_in: 5,
            snapshot: Snapshot::new(&schema, Tick(0)),
        };
        (0..count).for_each(|_| world.spawn());
        world.capture(Tick(0));
        world
    }

    fn spawn(&mut self) {
        let random = &mut self.random;
        self.next_id += 1 + random.below(3) as u32;
        let thing = Thing {
            position: [random.unit() * 50.0, random.unit() * 50.0, random.unit().abs() * 9.0],
            orientation: [random.unit(), random.unit(), random.unit(), 1.5],
            kind: random.below(10) as u8,
            awake: false,
        };
        self.things.push((EntityId(self.next_id), thing, [0.0; 3]));
    }

    pub fn step(&mut self, tick: Tick) {
        if self.random.chance(self.change_one_in) {
            if self.random.chance(2) || self.things.is_empty() {
                self.spawn();
            } else {
                let index = self.random.below(self.things.len() as u64) as usize;
                self.things.remove(index);
            }
        }
        let Self { things, random, moving_one_in, .. } = self;
        for (id, thing, velocity) in things {
            if u64::from(id.0) % *moving_one_in != 0 {
                continue;
            }
            if random.chance(30) {
                thing.awake = !random.chance(3);
                *velocity = if thing.awake {
                    [random.unit() * 0.1, random.unit() * 0.1, 0.0]
                } else {
                    [0.0; 3]
                };
                thing.kind = random.below(10) as u8;
            }
            if thing.awake {
                for (axis, step) in thing.position.iter_mut().zip(*velocity) {
                    *axis += step + random.unit() * 0.01;
                }
                thing.orientation[random.below(3) as usize] += random.unit() * 0.05;
            }
        }
        self.capture(tick);
    }

    fn capture(&mut self, tick: Tick) {
        self.snapshot.clear(tick);
        for (id, thing, _) in &self.things {
            self.snapshot.push(*id, thing).unwrap();
        }
    }
}

/// Sends a world to a receiver over two links, down and up, and receives what has arrived before.
/// Returns the time.
pub fn exchange(
    hub: &mut Hub,
    id: ReceiverId,
    receiver: &mut Receiver,
    [down, up]: &mut [Link; 2],
    world: &Snapshot,
) -> Duration {
    let now = Duration::from_secs(1) * world.tick.0 / TICK_HZ;
    while let Some(datagram) = down.poll(now) {
        let _ = receiver.handle(now, &datagram);
    }
    while let Some(datagram) = receiver.poll_transmit(now) {
        up.send(now, datagram);
    }
    while let Some(datagram) = up.poll(now) {
        let _ = hub.handle(id, now, &datagram);
    }
    hub.tick(now, world).unwrap();
    while let Some((_, datagram)) = hub.poll_transmit() {
        down.send(now, datagram);
    }
    now
}

/// Two rings: what is near in each tick, and what is far in one tick of `every`.
pub fn near_and_far(positions: &[&str], near: f64, far: f64, every: u32) -> Rings {
    let ring = |within, every| Ring { within, leave: within + 10.0, every, tier: 0, coarser: 0 };
    Rings {
        positions: positions.iter().map(|name| (*name).into()).collect(),
        urgent: vec![],
        rings: vec![ring(near, 1), ring(far, every)],
        beyond: None,
        cell: 40.0,
        exact_after: None,
    }
}

/// The lanes of an entity.
pub fn lanes(snapshot: &Snapshot, index: usize) -> Vec<u32> {
    (0..snapshot.lane_count()).map(|lane| snapshot.lane(lane)[index]).collect()
}

/// Splits a datagram of a hub into the events in front (spec/NET.md, section 10.1) and the rest.
pub fn split_events(datagram: &[u8]) -> (&[u8], &[u8]) {
    let bytes = match datagram {
        [0x1A, low @ 0..128, ..] => 2 + usize::from(*low),
        [0x1A, low, high, ..] => 3 + usize::from(low - 128) + 128 * usize::from(*high),
        _ => 0,
    };
    datagram.split_at(bytes)
}

/// A datagram of a hub without the events, the turns and the state check in front of it
/// (spec/NET.md, 4.6 and 4.7).
pub fn unchecked(datagram: &[u8]) -> &[u8] {
    let (_, datagram) = split_events(datagram);
    let datagram = if datagram[0] == 0x4A { &datagram[2..] } else { datagram };
    if datagram[0] == 10 { &datagram[3..] } else { datagram }
}

/// Whether a datagram of a hub is a snapshot: kind 0, or 3 with older views.
pub fn is_snapshot(datagram: &[u8]) -> bool {
    matches!(unchecked(datagram)[0] & 7, 0 | 3)
}

/// The sequence of a snapshot, a fragment, events or an acknowledgement.
pub fn sequence_of(datagram: &[u8]) -> Sequence {
    let datagram = unchecked(datagram);
    Sequence(u16::from_le_bytes([datagram[1], datagram[2]]))
}

/// The sequences of the older views that a snapshot names (spec/NET.md, 4.3).
pub fn older_sequences(datagram: &[u8]) -> Vec<Sequence> {
    let datagram = unchecked(datagram);
    if datagram[0] & 7 != 3 {
        return Vec::new();
    }
    let time_bytes = if datagram[0] >> 5 == 0 { 5 } else { 0 };
    let merge_bytes = if datagram[0] & 16 == 0 { 0 } else { 4 };
    let distances = &datagram[4 + time_bytes + merge_bytes..];
    let last = distances.iter().position(|byte| byte & 0x80 == 0).unwrap();
    let mut sequence = sequence_of(datagram).before(u16::from(datagram[3]));
    let before = |byte: &u8| {
        sequence = sequence.before(u16::from(byte & 0x7F));
        sequence
    };
    distances[..=last].iter().map(before).collect()
}

/// One receiver and its links.
pub struct Client {
    pub id: ReceiverId,
    pub receiver: Receiver,
    pub down: Link,
    pub up: Link,
    /// The sender's copy of this receiver's views, by sequence.
    pub expected: HashMap<u16, Snapshot>,
    /// The sender's copy of the older views of each snapshot, by sequence.
    pub older: HashMap<u16, Vec<Snapshot>>,
    pub snapshots: u64,
    /// The number of snapshots with older views.
    pub with_older: u64,
    pub left_out: u64,
    pub full_states: u64,
    pub largest: usize,
    pub bytes: u64,
    pub refused: HashMap<String, u64>,
}

/// A hub with receivers, which run tick by tick.
pub struct Net {
    pub hub: Hub,
    pub clients: Vec<Client>,
    pub world: World,
    pub tick: u32,
    pub ticks_per_snapshot: u32,
}

impl Net {
    pub fn new(world: World, config: HubConfig) -> Self {
        let hub = Hub::new(&codec(), config).unwrap();
        Self { hub, clients: Vec::new(), world, tick: 0, ticks_per_snapshot: 1 }
    }

    pub fn now(&self) -> Duration {
        Duration::from_secs(1) * self.tick / TICK_HZ
    }

    pub fn add(
        &mut self,
        link: LinkConfig,
        seed: u64,
        options: ReceiverOptions,
    ) -> Result<usize, NetError> {
        self.add_with(&codec(), link, seed, options)
    }

    /// Adds a receiver that chooses `codec`.
    pub fn add_with(
        &mut self,
        codec: &Codec,
        link: LinkConfig,
        seed: u64,
        options: ReceiverOptions,
    ) -> Result<usize, NetError> {
        let id = ReceiverId(seed);
        self.hub.add(id, &options, self.now())?;
        self.clients.push(Client {
            id,
            receiver: Receiver::new(codec, ReceiverConfig::at_hz(60))?,
            down: Link::new(link, seed * 2).unwrap(),
            up: Link::new(link, seed * 2 + 1).unwrap(),
            expected: HashMap::new(),
            older: HashMap::new(),
            snapshots: 0,
            with_older: 0,
            left_out: 0,
            full_states: 0,
            largest: 0,
            bytes: 0,
            refused: HashMap::new(),
        });
        Ok(self.clients.len() - 1)
    }

    /// Runs a tick: datagrams that are due arrive, the world moves, and snapshots are sent.
    /// Compares each view that arrives with the sender's.
    pub fn step(&mut self, priority: Option<Priority<'_>>) {
        self.tick += 1;
        let now = self.now();
        for client in &mut self.clients {
            client.receive(now);
            while let Some(datagram) = client.receiver.poll_transmit(now) {
                client.up.send(now, datagram);
            }
            while let Some(datagram) = client.up.poll(now) {
                let _ = self.hub.handle(client.id, now, &datagram);
            }
        }
        self.world.step(Tick(self.tick));
        if !self.tick.is_multiple_of(self.ticks_per_snapshot) {
            return;
        }
        self.hub.tick_with(now, &self.world.snapshot, priority).unwrap();
        let mut sent = Vec::new();
        while let Some((to, datagram)) = self.hub.poll_transmit() {
            sent.push((to, datagram.to_vec()));
        }
        for (to, datagram) in sent {
            let client = self.clients.iter_mut().find(|client| client.id == to).unwrap();
            client.bytes += datagram.len() as u64;
            client.largest = client.largest.max(datagram.len());
            let Sequence(sequence) = sequence_of(&datagram);
            client.expected.remove(&sequence);
            if let Some(view) = self.hub.view(to, Sequence(sequence)) {
                client.expected.insert(sequence, view);
            }
            let older = older_sequences(&datagram).into_iter();
            client
                .older
                .insert(sequence, older.map(|older| self.hub.view(to, older).unwrap()).collect());
            client.down.send(now, &datagram);
        }
    }
}

impl Client {
    fn receive(&mut self, now: Duration) {
        while let Some(datagram) = self.down.poll(now) {
            let Sequence(sequence) = sequence_of(&datagram);
            let older: Vec<Option<Snapshot>> = older_sequences(&datagram)
                .into_iter()
                .map(|older| self.receiver.view(older).cloned())
                .collect();
            match self.receiver.handle(now, &datagram) {
                Ok(Received::Snapshot { tick, left_out, .. }) => {
                    self.snapshots += 1;
                    self.with_older += u64::from(!older.is_empty());
                    assert!(
                        older.into_iter().eq(self.older[&sequence].iter().cloned().map(Some)),
                        "older views differ"
                    );
                    self.left_out += u64::from(left_out);
                    let view =
                        self.receiver.view(Sequence(sequence)).expect("the newest views are held");
                    assert_eq!(view.tick, tick);
                    assert!(
                        *view == self.expected[&sequence],
                        "sequence {sequence}: the views of both sides differ"
                    );
                }
                Ok(Received::FullState { .. }) => self.full_states += 1,
                Ok(_) => {}
                Err(refused) => {
                    assert!(
                        !matches!(
                            refused,
                            Refused::Snapshot(_) | Refused::BadMerge | Refused::BadOlder
                        ),
                        "{refused}"
                    );
                    *self.refused.entry(refused.to_string()).or_default() += 1;
                }
            }
        }
    }
}
