//! Checks the costs of each datagram's snapshot, by part and by entity, for any kind of snapshot.
//! Counting does not change the datagrams.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use kinepack::{EntityId, Level, Snapshot, Tick};
use kinepack_net::{
    Cost, Hub, HubConfig, Link, LinkConfig, Loss, Received, Receiver, ReceiverConfig, ReceiverId,
    ReceiverOptions, Sequence,
};

use crate::support::{
    TICK_HZ, World, codec_at, is_snapshot, lanes, older_sequences, sequence_of, unchecked,
};

const ID: ReceiverId = ReceiverId(1);
const LEFT_OUT: u8 = 1 << 3;
const MERGE: u8 = 1 << 4;

/// One receiver on a bad link, and the worlds that it was sent.
struct Path {
    hub: Hub,
    receiver: Receiver,
    down: Link,
    up: Link,
    world: World,
    worlds: HashMap<Tick, Snapshot>,
    tick: u32,
    /// The newest complete views, by sequence.
    whole: HashMap<u16, Snapshot>,
    sent: Vec<Vec<u8>>,
    /// The costs that the hub counted, by sequence.
    costs: HashMap<u16, Cost>,
    counts: Counts,
}

/// The number of snapshots of each kind.
#[derive(Debug, Default)]
struct Counts {
    whole: u32,
    parts: u32,
    /// The number of snapshots that are coded against a complete view.
    exact: u32,
    came: usize,
    /// The number of snapshots whose cost the receiver counted too.
    recounted: u32,
    fragments: u32,
}

impl Path {
    fn new(level: Level, config: HubConfig, options: &ReceiverOptions) -> Self {
        let codec = codec_at(level);
        let link = LinkConfig {
            latency: Duration::from_millis(40),
            loss: Loss::Independent { ratio: 0.05 },
            ..LinkConfig::default()
        };
        let mut hub = Hub::new(&codec, config).unwrap();
        hub.add(ID, options, Duration::ZERO).unwrap();
        Self {
            hub,
            receiver: Receiver::new(&codec, ReceiverConfig::at_hz(60)).unwrap().with_costs(),
            down: Link::new(link, 5).unwrap(),
            up: Link::new(link, 6).unwrap(),
            world: World::new(60, 7),
            worlds: HashMap::new(),
            tick: 0,
            whole: HashMap::new(),
            sent: Vec::new(),
            costs: HashMap::new(),
            counts: Counts::default(),
        }
    }

    fn step(&mut self) {
        self.tick += 1;
        let now = Duration::from_secs(1) * self.tick / TICK_HZ;
        while let Some(datagram) = self.down.poll(now) {
            let taken = self.receiver.handle(now, &datagram).unwrap();
            if let Received::Snapshot { left_out, .. } = taken
                && let Some(sent) = self.costs.remove(&sequence_of(&datagram).0)
            {
                self.recount(&sent, left_out);
            }
        }
        while let Some(datagram) = self.receiver.poll_transmit(now) {
            self.up.send(now, datagram);
        }
        while let Some(datagram) = self.up.poll(now) {
            self.hub.handle(ID, now, &datagram).unwrap();
        }
        self.world.step(Tick(self.tick));
        self.worlds.insert(Tick(self.tick), self.world.snapshot.clone());
        self.hub.tick(now, &self.world.snapshot).unwrap();
        let mut sent = Vec::new();
        while let Some((_, datagram)) = self.hub.poll_transmit() {
            sent.push(datagram.to_vec());
        }
        for datagram in sent {
            self.down.send(now, &datagram);
            let sequence = sequence_of(&datagram);
            match self.hub.cost(ID, sequence).cloned() {
                Some(cost) => {
                    self.check(&datagram, sequence, &cost);
                    self.costs.insert(sequence.0, Cost::clone(&cost));
                }
                None => self.counts.fragments += 1,
            }
            self.sent.push(datagram);
        }
    }

    /// Compares the cost that the receiver counts with the cost that the hub counted.
    fn recount(&mut self, sent: &Cost, left_out: bool) {
        let received = self.receiver.cost().unwrap();
        assert!(received.baseline == sent.baseline && received.bytes == sent.bytes);
        let ids = |cost: &Cost| cost.entities.iter().map(|(id, _)| *id).collect::<Vec<_>>();
        assert_eq!(ids(received), ids(sent));
        if left_out {
            let bits = |cost: &Cost| cost.entities.iter().map(|(_, bits)| bits).sum::<u32>();
            let off = bits(received).abs_diff(bits(sent));
            assert!(off <= 8 + bits(sent) / 4, "{received:?} {sent:?}");
        } else {
            let mut pairs = received.entities.iter().zip(&sent.entities);
            assert!(pairs.all(|(one, other)| one.1.abs_diff(other.1) <= 1));
            assert_eq!(received.size.fields_bits, sent.size.fields_bits);
        }
        self.counts.recounted += 1;
    }

    /// Checks that the reported cost of a datagram matches its content.
    fn check(&mut self, datagram: &[u8], sequence: Sequence, cost: &Cost) {
        assert!(is_snapshot(datagram));
        assert_eq!(cost.bytes + header_bytes(datagram), datagram.len());
        let fields_bits: u64 = cost.size.fields_bits.iter().sum();
        assert_eq!((cost.size.sets_bits + fields_bits).div_ceil(8), cost.bytes as u64);
        let bits: u64 = cost.entities.iter().map(|(_, bits)| u64::from(*bits)).sum();
        assert!(bits <= 8 * cost.bytes as u64);
        if self.hub.status(ID).unwrap().level == Some(Level::PACKED) {
            assert_eq!(bits, fields_bits);
        }
        assert_eq!(cost.entities.len(), cost.size.changed_entities);
        assert_eq!(cost.baseline.tick, cost.baseline_tick);

        // The baseline has earlier values of the entities, which differ from the sent ones.
        let view = self.hub.view(ID, sequence).unwrap();
        for (index, id) in cost.baseline.ids().iter().enumerate() {
            let row = lanes(&cost.baseline, index);
            let was_so = |world: &Snapshot| row_of(world, *id).is_some_and(|then| then == row);
            assert!(
                self.worlds.values().any(|world| world.tick <= cost.baseline_tick && was_so(world)),
                "{id:?}"
            );
            assert_ne!(row_of(&view, *id).unwrap(), row, "{id:?} was not sent");
        }
        let sent: Vec<EntityId> = cost.entities.iter().map(|(id, _)| *id).collect();
        assert!(
            sent.is_sorted_by(|a, b| a < b)
                && cost.baseline.ids().iter().all(|id| sent.contains(id))
        );
        for id in &sent {
            assert_eq!(
                row_of(&view, *id),
                row_of(&self.world.snapshot, *id),
                "{id:?} as it is now"
            );
        }
        self.counts.came += sent.len() - cost.baseline.len();

        let datagram = unchecked(datagram);
        let left_out = datagram[0] & LEFT_OUT != 0;
        *if left_out { &mut self.counts.parts } else { &mut self.counts.whole } += 1;
        // If the baseline is complete, it is a view of the receiver.
        let baseline = self.whole.get(&sequence.before(u16::from(datagram[3])).0);
        if let Some(baseline) = baseline.filter(|_| datagram[3] > 0 && datagram[0] & MERGE == 0) {
            let held = self.receiver.view(sequence.before(u16::from(datagram[3]))).unwrap();
            assert!(held == baseline && cost.baseline_tick == held.tick);
            let differs = |id: &&EntityId| row_of(held, **id) != row_of(&view, **id);
            assert!(view.ids().iter().filter(differs).eq(&sent));
            assert!(
                cost.baseline
                    .ids()
                    .iter()
                    .all(|id| row_of(held, *id) == row_of(&cost.baseline, *id))
            );
            assert!(sent.iter().all(|id| held.position(*id).is_some() == cost.baseline.position(*id).is_some()));
            self.counts.exact += 1;
        }
        self.whole.remove(&sequence.0);
        if !left_out {
            self.whole.insert(sequence.0, view);
        }
    }
}

fn row_of(snapshot: &Snapshot, id: EntityId) -> Option<Vec<u32>> {
    snapshot.position(id).map(|index| lanes(snapshot, index))
}

/// The length of a snapshot's header (spec/NET.md, section 4).
fn header_bytes(datagram: &[u8]) -> usize {
    let check_bytes = datagram.len() - unchecked(datagram).len();
    let datagram = unchecked(datagram);
    let reference = usize::from(datagram[3] == 0);
    let time = if datagram[0] >> 5 == 0 { 5 } else { 0 };
    let merge = if datagram[0] & MERGE == 0 { 0 } else { 4 };
    check_bytes + 4 + reference + time + merge + older_sequences(datagram).len()
}

const LEVELS: [Level; 3] = [Level::PACKED, Level::ADAPTIVE, Level::LEARNING];

fn counting(datagram_bytes: usize) -> HubConfig {
    HubConfig { datagram_bytes, count_costs: true, ..HubConfig::default() }
}

/// Runs `ticks` ticks in which everything moves and entities are added and removed, and then
/// `ticks` ticks in which few entities move.
fn run(path: &mut Path, ticks: u32) -> &Counts {
    for moving_one_in in [1, 8] {
        path.world.moving_one_in = moving_one_in;
        (0..ticks).for_each(|_| path.step());
    }
    &path.counts
}

#[test]
fn complete_snapshots() {
    for level in LEVELS {
        let mut path = Path::new(level, counting(1200), &ReceiverOptions::default());
        let counts = run(&mut path, 150);
        assert!(
            counts.whole > 250 && counts.exact > 200 && counts.came > 20 && counts.recounted > 200,
            "{}: {counts:?}",
            level.row()
        );
    }
}

#[test]
fn states_in_several_datagrams() {
    for level in LEVELS {
        let mut path = Path::new(level, counting(250), &ReceiverOptions::default());
        let counts = run(&mut path, 150);
        assert!(
            counts.parts > 20 && counts.exact > 50 && counts.came > 20 && counts.recounted > 100,
            "{}: {counts:?}",
            level.row()
        );
        assert!(counts.fragments > 0, "a full state came first, which reports no cost");
    }
}

#[test]
fn partial_snapshots_within_a_budget() {
    for level in LEVELS {
        let options = ReceiverOptions { budget: Some(6_000).into(), ..ReceiverOptions::default() };
        let mut path = Path::new(level, counting(1200), &options);
        let counts = run(&mut path, 200);
        assert!(counts.parts > 80 && counts.came > 20, "{}: {counts:?}", level.row());
    }
}

#[test]
fn counting_does_not_change_the_datagrams() {
    for level in LEVELS {
        for budget_bytes_per_s in [None, Some(6_000)] {
            let options =
                ReceiverOptions { budget: budget_bytes_per_s.into(), ..ReceiverOptions::default() };
            let config = HubConfig { datagram_bytes: 300, ..HubConfig::default() };
            assert!(!config.count_costs);
            let mut plain = Path::new(level, config, &options);
            run(&mut plain, 60);
            assert_eq!(
                plain.counts.fragments as usize,
                plain.sent.len(),
                "no datagram reports a cost"
            );
            let mut counted = Path::new(level, counting(300), &options);
            run(&mut counted, 60);
            assert!(plain.sent == counted.sent);
        }
    }
}

#[test]
fn receivers_of_one_encoding_share_its_cost() {
    let codec = codec_at(Level::PACKED);
    let mut hub = Hub::new(&codec, counting(1200)).unwrap();
    for id in [1, 2] {
        let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(60)).unwrap();
        hub.add(ReceiverId(id), &ReceiverOptions::default(), Duration::ZERO).unwrap();
        hub.handle(ReceiverId(id), Duration::ZERO, receiver.poll_transmit(Duration::ZERO).unwrap())
            .unwrap();
    }
    let mut world = World::new(10, 1);
    world.step(Tick(1));
    hub.tick(Duration::ZERO, &world.snapshot).unwrap();
    let [one, two] = [1, 2].map(|id| hub.cost(ReceiverId(id), Sequence(0)).unwrap());
    assert!(Arc::ptr_eq(one, two));
    assert_eq!(
        (one.entities.len(), one.baseline.len(), one.baseline_tick),
        (world.snapshot.len(), 0, Tick(0))
    );
    assert!(hub.cost(ReceiverId(3), Sequence(0)).is_none() && hub.cost(ID, Sequence(1)).is_none());
}
