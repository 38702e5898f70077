//! Compares the library with a receiver that was written from `spec/NET.md` alone, under virtual
//! time over bad links.
//!
//! Both receivers get the same datagrams. They must accept and refuse the same datagrams, hold the
//! same views lane for lane, and send the same bytes as acknowledgements. The hub must send only
//! what the specification allows ([`Audit`]). A second pair of receivers, whose answers are
//! discarded, also gets damaged datagrams.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kinepack::{Codec, EntityId, Level, Snapshot, Tick};
use kinepack_net::{
    EventKinds, Handled, Hub, HubConfig, Link, LinkConfig, Loss, Receiver, ReceiverConfig,
    ReceiverId, ReceiverOptions, Refused, Sequence, VERSION,
};

use crate::naive::{Header, NaiveReceiver, entities, since};
use crate::support::{
    Random, Said, Shot, TICK_HZ, World, coarse_codec, codec, emit_some, event_kinds, is_snapshot,
    sequence_of, split_events, unchecked,
};

const PLAYER: ReceiverId = ReceiverId(9);

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn at(tick: u32) -> Duration {
    Duration::from_secs(1) * tick / TICK_HZ
}

/// The library's receiver and the naive one.
struct Pair {
    library: Receiver,
    naive: NaiveReceiver,
    taken: u32,
    /// The number of events that the two receivers handed on.
    events: usize,
    refused: BTreeMap<&'static str, u32>,
}

impl Pair {
    fn new(codec: &Codec, events: Option<&EventKinds>) -> Self {
        let initial = Snapshot::new(codec.schema(), Tick(0));
        let mut library = Receiver::new(codec, ReceiverConfig::at_hz(60)).unwrap();
        let mut naive = NaiveReceiver::new(codec, &initial);
        if let Some(events) = events {
            library = library.with_events(events);
            naive = naive.with_events(events.codec());
        }
        Self { library, naive, events: 0, taken: 0, refused: BTreeMap::new() }
    }

    /// Gives a datagram to both receivers. Returns true if they accept it.
    fn handle(&mut self, now: Duration, datagram: &[u8]) -> bool {
        let is_choice = self.naive.is_choice(datagram);
        self.naive.now = now;
        let naive = self.naive.handle(datagram);
        let library = self.library.handle(now, datagram);
        let show = || {
            format!(
                "{naive:?}, {library:?} (choice: {is_choice}): {:02x?}",
                &datagram[..datagram.len().min(24)]
            )
        };
        assert_eq!(naive.is_ok(), library.is_ok(), "{}", show());
        self.taken += u32::from(naive.is_ok());
        self.compare_events();
        if let Err(refusal) = naive {
            *self.refused.entry(refusal).or_default() += 1;
            return false;
        }
        if is_snapshot(datagram) {
            self.compare(sequence_of(datagram).0);
        }
        true
    }

    fn compare_events(&mut self) {
        let mut library = self.library.take_events();
        for (tick, events, index) in self.naive.take_events() {
            let event = library.next().expect("the library lacks an event");
            assert_eq!(event.tick, Tick(tick));
            assert_eq!(Some(event.kind()), events.kind_at(index));
            match event.kind() {
                0 => assert_eq!(event.get::<Shot>(), events.get_at_index(index).map(Some)),
                _ => assert_eq!(event.get::<Said>(), events.get_at_index(index).map(Some)),
            }
            self.events += 1;
        }
        assert!(library.next().is_none(), "the library has an event too many");
    }

    fn compare(&self, sequence: u16) {
        let (naive, library) = (self.naive.view(sequence), self.library.view(Sequence(sequence)));
        assert_eq!(
            naive.is_some(),
            library.is_some(),
            "one holds {sequence}, newest {:?}",
            self.naive.newest()
        );
        if let (Some(naive), Some(library)) = (naive, library) {
            assert_eq!(naive.tick, library.tick.0, "sequence {sequence}");
            assert!(naive.entities == entities(library), "sequence {sequence}: the views differ");
        }
    }

    /// Makes a lane of the newest view wrong in both receivers. Returns false if there is no view.
    fn inject_fault(&mut self, random: &mut Random) -> bool {
        let Some(sequence) = self.library.newest_sequence() else { return false };
        let Some(view) = self.library.view(sequence).filter(|view| !view.is_empty()) else {
            return false;
        };
        let id = view.ids()[random.below(view.len() as u64) as usize];
        let lane = random.below(view.lane_count() as u64) as usize;
        let is_changed = self.library.inject_fault(id, lane);
        if is_changed {
            self.naive.inject_fault(sequence.0, id.0, lane);
        }
        is_changed
    }

    fn compare_all(&self) {
        let newest = self.naive.newest().unwrap_or(0);
        // For sequences farther back, a receiver may choose whether it holds the view.
        (0..=255).for_each(|back| self.compare(newest.wrapping_sub(back)));
    }

    fn transmit(&mut self, now: Duration) -> Vec<Vec<u8>> {
        let mut sent = Vec::new();
        while let Some(datagram) = self.naive.poll_transmit(now) {
            sent.push(datagram);
        }
        let mut library = Vec::new();
        while let Some(datagram) = self.library.poll_transmit(now) {
            library.push(datagram.to_vec());
        }
        assert_eq!(sent, library);
        sent
    }
}

/// What a datagram of the hub contained, and whether it was acknowledged.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// The snapshot's header. `None` for a fragment.
    header: Option<Header>,
    tick: u32,
    is_acknowledged: bool,
}

/// Checks each rule of `spec/NET.md` that begins with "the sender must".
#[derive(Default)]
struct Audit {
    sent: BTreeMap<u16, Sent>,
    newest: Option<u16>,
    newest_used: Option<u16>,
    /// The sequence from which the state was last sent anew. The hub may not use earlier views.
    floor: Option<u16>,
    four_byte_headers: u32,
    snapshots: u32,
    left_out: u32,
    merges: [u32; 2],
    /// The number of snapshots with zero to three older views.
    older: [u32; 4],
    older_in_parts: u32,
    fragments: u32,
    events_alone: u32,
    full_state: Option<(u8, u16)>,
    full_states: u32,
}

impl Audit {
    fn sent(&mut self, datagram: &[u8], world_tick: u32, datagram_bytes: usize) {
        assert!(datagram.len() <= datagram_bytes, "{} bytes", datagram.len());
        let sequence = sequence_of(datagram).0;
        assert!(
            self.newest.is_none_or(|newest| newest.wrapping_add(1) == sequence),
            "one up each time"
        );
        self.newest = Some(sequence);
        self.sent.retain(|sent, _| since(sequence, *sent) < 400);
        let header = is_snapshot(datagram).then(|| Header::read(unchecked(datagram)).unwrap());
        match &header {
            None if datagram[0] == 0x2A => self.events_alone += 1,
            Some(header) => self.check_snapshot(header, world_tick),
            None => self.check_fragment(datagram),
        }
        self.sent.insert(sequence, Sent { header, tick: world_tick, is_acknowledged: false });
    }

    fn check_snapshot(&mut self, header: &Header, world_tick: u32) {
        self.snapshots += 1;
        self.four_byte_headers += u32::from(header.bytes == 4);
        self.left_out += u32::from(header.left_out);
        self.older[header.older_views().len()] += 1;
        if header.back == 0 {
            assert!(
                header.merge.is_none(),
                "merges a reference state: {header:?}, newest used {:?}",
                self.newest_used
            );
            return;
        }
        let baseline = self.usable(header.baseline(), header);
        let ahead = u32::from(header.back) * u32::from(header.stride);
        let tick = if header.stride == 0 {
            header.tick
        } else {
            self.sent[&header.baseline()].tick + ahead
        };
        assert_eq!(tick, world_tick);
        if baseline.left_out {
            let others = match header.merge {
                Some(field) => header.merged(field),
                None => {
                    let count = u16::from(baseline.back).saturating_sub(1).min(32);
                    let all = (1..=count).map(|back| header.baseline().wrapping_sub(back));
                    let is_left_out = |sequence: &u16| {
                        self.sent[sequence].header.is_some_and(|header| header.left_out)
                    };
                    all.filter(is_left_out).collect()
                }
            };
            self.merges[usize::from(header.merge.is_some())] += u32::from(!others.is_empty());
            for other in others {
                assert!(self.usable(other, header).left_out);
            }
        } else {
            assert!(header.merge.is_none());
        }
        if self.newest_used.is_none_or(|newest| since(header.baseline(), newest) > 0) {
            self.newest_used = Some(header.baseline());
        }
        let mut newer = self.sent[&header.baseline()].tick;
        assert!(newer < world_tick);
        for older in header.older_views() {
            let tick = self.sent[&older].tick;
            if self.usable(older, header).left_out {
                self.check_parts(older, tick, header);
            }
            assert!(tick < newer, "{tick} is not before {newer}: {header:?}");
            newer = tick;
        }
    }

    /// Checks section 4.3: the receiver knows all parts of a partial older view, and knows that
    /// there are no others.
    fn check_parts(&mut self, older: u16, tick: u32, by: &Header) {
        self.older_in_parts += 1;
        for before in (1..=32).map(|back| older.wrapping_sub(back)) {
            let Sent { header, tick: of, .. } = self.sent[&before];
            let is_part = of == tick && header.is_some_and(|header| header.left_out);
            if !is_part {
                return self.check_within_limits(before, by);
            }
            self.usable(before, by);
        }
    }

    /// The header of a view, which must be allowed as a baseline or for a merge.
    fn usable(&self, sequence: u16, by: &Header) -> Header {
        let sent = self.sent[&sequence];
        assert!(sent.is_acknowledged, "{sequence} used by {by:?} is not acknowledged");
        self.check_within_limits(sequence, by);
        sent.header.expect("fragments are no baseline")
    }

    /// Checks section 4.2: the receiver has not dropped this view, if it ever held the view.
    fn check_within_limits(&self, sequence: u16, by: &Header) {
        assert!(
            self.floor.is_none_or(|floor| since(sequence, floor) >= 0),
            "{sequence} used by {by:?} is from before"
        );
        assert!(
            (1..=255).contains(&since(by.sequence, sequence)),
            "{sequence} used by {by:?} is too old"
        );
        let is_recent = self.newest_used.is_none_or(|newest| since(newest, sequence) <= 64);
        assert!(is_recent, "{sequence} used by {by:?} is behind {:?}", self.newest_used);
    }

    /// The header of the snapshot with this sequence, if it is complete.
    fn whole(&self, sequence: u16) -> Option<Header> {
        self.sent.get(&sequence)?.header.filter(|header| !header.left_out)
    }

    fn check_fragment(&mut self, datagram: &[u8]) {
        self.fragments += 1;
        let (number, index) = (datagram[3], u16::from_le_bytes([datagram[4], datagram[5]]));
        let count = u16::from_le_bytes([datagram[6], datagram[7]]);
        assert!(datagram[0] == 1 && datagram.len() > 8 && index < count);
        match self.full_state {
            Some((full_state, parts)) if full_state == number => assert_eq!(parts, count),
            before => {
                let expected = before.map_or(
                    1,
                    |(full_state, _)| if full_state == 255 { 1 } else { full_state + 1 },
                );
                assert_eq!(number, expected);
                self.full_states += 1;
            }
        }
        self.full_state = Some((number, count));
    }

    fn acknowledged(&mut self, datagram: &[u8]) {
        let latest = sequence_of(datagram).0;
        let before = u32::from_le_bytes([datagram[3], datagram[4], datagram[5], datagram[6]]);
        let bits =
            (0..32).filter(|bit| before >> bit & 1 == 1).map(|bit| latest.wrapping_sub(1 + bit));
        for sequence in std::iter::once(latest).chain(bits) {
            if let Some(sent) = self.sent.get_mut(&sequence) {
                sent.is_acknowledged = true;
            }
        }
    }
}

/// The conditions of a run.
#[derive(Clone)]
struct Scenario {
    config: HubConfig,
    /// Whether the schema has a time precision.
    has_precision: bool,
    options: ReceiverOptions,
    down: LinkConfig,
    up: LinkConfig,
    entities: usize,
    moving_one_in: u64,
    change_one_in: u64,
    ticks: u32,
    has_relevance: bool,
    /// The ticks of each period in which nothing arrives, and the length of the period.
    silent: (std::ops::Range<u32>, u32),
    /// The ticks of each period in which no acknowledgement arrives, and the length of the period.
    deaf: (std::ops::Range<u32>, u32),
    damaged_one_in: u64,
    /// The mean number of events in a tick.
    events: u64,
    /// The number of ticks between two faults in the newest view; 0 for no faults.
    fault_every: u32,
}

/// A configuration with zero to three older views, depending on the seed.
fn with_older(seed: u64) -> HubConfig {
    HubConfig { older_views: Some((seed % 4) as u8), ..HubConfig::default() }
}

impl Scenario {
    fn new(link: LinkConfig) -> Self {
        Self {
            config: HubConfig::default(),
            has_precision: false,
            options: ReceiverOptions {
                first_sequence: Sequence(65_400),
                ..ReceiverOptions::default()
            },
            down: link,
            up: link,
            entities: 40,
            moving_one_in: 3,
            change_one_in: 5,
            ticks: 600,
            has_relevance: false,
            silent: (0..0, 600),
            deaf: (0..0, 600),
            damaged_one_in: 8,
            events: 0,
            fault_every: 0,
        }
    }
}

struct Outcome {
    audit: Audit,
    pair: Pair,
    damaged: Pair,
    sent_at: Vec<(u32, usize)>,
    /// Headers of complete snapshots whose interval claims that the previous complete state was
    /// valid for longer than it was.
    false_intervals: Vec<Header>,
}

fn run(scenario: &Scenario, seed: u64) -> Outcome {
    let mut world = World::new(scenario.entities, seed);
    (world.moving_one_in, world.change_one_in) = (scenario.moving_one_in, scenario.change_one_in);
    let mut random = Random::new(seed ^ 0xDA4A);
    let codec = if scenario.has_precision { coarse_codec(Level::PACKED) } else { codec() };
    let mut hub = Hub::new(&codec, scenario.config.clone()).unwrap();
    let events = (scenario.events > 0).then(event_kinds);
    if let Some(events) = &events {
        hub = hub.with_events(events);
    }
    hub.add(PLAYER, &scenario.options, Duration::ZERO).unwrap();
    let mut down = Link::new(scenario.down, seed * 2).unwrap();
    let mut up = Link::new(scenario.up, seed * 2 + 1).unwrap();
    let mut outcome = Outcome {
        audit: Audit::default(),
        pair: Pair::new(&codec, events.as_ref()),
        damaged: Pair::new(&codec, events.as_ref()),
        sent_at: Vec::new(),
        false_intervals: Vec::new(),
    };
    let mut is_faulty = false;
    let mut meant = BTreeMap::<u16, Snapshot>::new();
    let mut worlds = Vec::from([world.snapshot.clone()]);
    for tick in 1..=scenario.ticks {
        let now = at(tick);
        let is_in = |(range, of): &(std::ops::Range<u32>, u32)| range.contains(&(tick % of));
        let Outcome { audit, pair, damaged, sent_at, false_intervals } = &mut outcome;
        while let Some(datagram) = down.poll(now) {
            if is_in(&scenario.silent) {
                continue;
            }
            let mismatches = pair.library.stats().mismatches;
            let newest = (pair.naive.newest(), pair.naive.newest_baseline());
            let header = Header::read(unchecked(&datagram));
            if pair.handle(now, &datagram) && is_snapshot(&datagram) {
                let sequence = sequence_of(&datagram).0;
                let view = pair.library.view(Sequence(sequence));
                let hubs: Option<&Snapshot> = meant.get(&sequence);
                let is_same = view.is_none() || hubs.is_none() || view == hubs;
                assert!(
                    is_same || is_faulty,
                    "the sides differ, newest and newest baseline {newest:?}: {header:?}"
                );
            }
            // A damaged snapshot with a check would end the comparison for this pair.
            is_faulty &= pair.library.stats().mismatches == mismatches;
            let (list, datagram) = (split_events(&datagram).0, unchecked(&datagram));
            let datagram = &[list, datagram].concat()[..];
            if random.chance(scenario.damaged_one_in) {
                let bad = damage(datagram, &mut random);
                if !damaged.naive.is_choice(&bad) {
                    damaged.handle(now, &bad);
                }
            }
            // After earlier damage, this datagram may depend on a view that a receiver is allowed
            // to drop.
            if !damaged.naive.is_choice(datagram) {
                damaged.handle(now, datagram);
            }
        }
        damaged.transmit(now);
        if scenario.fault_every > 0 && tick % scenario.fault_every == 0 {
            is_faulty |= pair.inject_fault(&mut random);
        }
        for datagram in pair.transmit(now) {
            up.send(now, &datagram);
        }
        while let Some(datagram) = up.poll(now) {
            let is_hello = datagram[0] & 7 == 4;
            if (is_in(&scenario.deaf) || is_in(&scenario.silent)) && !is_hello {
                continue;
            }
            let anew = hub.status(PLAYER).unwrap().sent_anew;
            match hub.handle(PLAYER, now, &datagram) {
                Ok(Handled::Acknowledged) => audit.acknowledged(&datagram),
                Ok(Handled::Anew) if hub.status(PLAYER).unwrap().sent_anew > anew => {
                    audit.floor = audit.newest.map(|newest| newest.wrapping_add(1));
                }
                _ => {}
            }
        }
        world.step(Tick(tick));
        worlds.push(world.snapshot.clone());
        if scenario.has_relevance && tick % 20 == 0 {
            let near = world
                .snapshot
                .ids()
                .iter()
                .copied()
                .filter(|_| !random.chance(4))
                .collect::<Vec<EntityId>>();
            hub.set_relevant(PLAYER, (!random.chance(5)).then(|| Arc::from(near))).unwrap();
        }
        emit_some(&mut hub, tick, scenario.events, &mut random);
        hub.tick(now, &world.snapshot).unwrap();
        let mut sent = Vec::new();
        while let Some((_, datagram)) = hub.poll_transmit() {
            sent.push(datagram.to_vec());
        }
        for datagram in sent {
            audit.sent(&datagram, tick, scenario.config.datagram_bytes);
            sent_at.push((tick, datagram.len()));
            let sequence = sequence_of(&datagram).0;
            let before = sequence.wrapping_sub(1);
            if let (Some(header), Some(shown)) = (audit.whole(sequence), meant.get(&before))
                && audit.whole(before).is_some()
                // The shown state is coarser than the world at its tick.
                && !(if scenario.has_precision { &worlds[shown.tick.0 as usize] } else { shown })
                    .holds_same(&worlds[(tick - u32::from(header.interval)) as usize])
            {
                false_intervals.push(header);
            }
            meant.remove(&sequence);
            if let Some(view) = hub.view(PLAYER, Sequence(sequence)) {
                meant.insert(sequence, view);
            }
            down.send(now, &datagram);
        }
        if tick % 50 == 0 {
            outcome.pair.compare_all();
            outcome.damaged.compare_all();
        }
    }
    outcome
}

/// Flips bits of a datagram, cuts it, extends it, or invents one. In most cases the sequence does
/// not change, because a sequence from far ahead would end the session.
fn damage(datagram: &[u8], random: &mut Random) -> Vec<u8> {
    let (list, rest) = split_events(datagram);
    if !list.is_empty() && random.chance(2) {
        let mut bad = list.to_vec();
        match random.below(4) {
            0 => bad[2] ^= 1 << random.below(8), // the first number, or the length
            1 => bad.truncate(random.below(bad.len() as u64) as usize),
            _ => {
                let bit = random.below(8 * bad.len() as u64) as usize;
                bad[bit / 8] ^= 1 << (bit % 8);
            }
        }
        return [&bad, rest].concat();
    }
    let mut bad = datagram.to_vec();
    match random.below(9) {
        0 => bad.truncate(random.below(bad.len() as u64 + 1) as usize),
        1 => bad.push(random.below(256) as u8),
        2 => {
            let bit = random.below(8 * bad.len() as u64) as usize;
            if !(8..24).contains(&bit) {
                bad[bit / 8] ^= 1 << (bit % 8);
            }
        }
        3 => bad[0] ^= 1 << (3 + random.below(5)),
        4 => bad[0] = random.below(256) as u8,
        5 if bad.len() > 8 => bad[3 + random.below(5) as usize] = random.below(256) as u8,
        6 => {
            let sequence =
                sequence_of(&bad).0.wrapping_add(random.below(60) as u16).wrapping_sub(40);
            bad[1..3].copy_from_slice(&sequence.to_le_bytes());
        }
        7 if is_snapshot(&bad) => bad[0] ^= 3,
        _ => {
            bad.truncate(3);
            bad.extend((0..random.below(40)).map(|_| random.below(256) as u8));
        }
    }
    bad
}

fn bad_link() -> LinkConfig {
    LinkConfig {
        latency: millis(60),
        jitter: millis(30),
        loss: Loss::bursts(0.1, 3.0),
        duplicate_ratio: 0.1,
        reorder_ratio: 0.1,
        reorder_delay: millis(300),
        ..LinkConfig::default()
    }
}

#[test]
fn a_good_link_costs_four_bytes_of_header() {
    let outcome =
        run(&Scenario::new(LinkConfig { latency: millis(40), ..LinkConfig::default() }), 1);
    let audit = &outcome.audit;
    assert!(
        audit.four_byte_headers > audit.snapshots * 9 / 10,
        "{} of {}",
        audit.four_byte_headers,
        audit.snapshots
    );
    assert!(outcome.pair.refused.is_empty(), "{:?}", outcome.pair.refused);
    assert!(outcome.damaged.refused.len() > 4, "{:?}", outcome.damaged.refused);
}

#[test]
fn loss_bursts_duplicates_and_a_second_of_reordering() {
    let second = LinkConfig {
        loss: Loss::Independent { ratio: 0.4 },
        reorder_delay: millis(1000),
        ..bad_link()
    };
    for seed in 1..5 {
        for link in [bad_link(), second] {
            let config = with_older(seed);
            let count = usize::from(config.older_views.unwrap());
            let outcome =
                run(&Scenario { config, has_relevance: seed == 2, ..Scenario::new(link) }, seed);
            let Audit { older, snapshots, .. } = outcome.audit;
            assert!(
                older[count] > snapshots / 2 && older[count + 1..].iter().all(|more| *more == 0),
                "{older:?}"
            );
            assert!(outcome.pair.taken > 150, "{} {:?}", outcome.pair.taken, outcome.pair.refused);
            assert!(outcome.pair.refused.contains_key("received already"));
        }
    }
}

#[test]
fn budgets_merge() {
    for seed in 1..4 {
        let options =
            ReceiverOptions { budget: Some(12_000).into(), first_sequence: Sequence(65_300) };
        let scenario = Scenario {
            config: with_older(seed),
            options,
            entities: 250,
            moving_one_in: 1,
            has_relevance: seed == 2,
            ..Scenario::new(bad_link())
        };
        let outcome = run(&scenario, seed);
        let audit = &outcome.audit;
        assert!(
            audit.left_out > 100 && audit.merges.iter().all(|merges| *merges > 10),
            "{:?}",
            audit.merges
        );
    }
}

/// Runs a session with four small datagrams a tick, and no answer in the ticks `silent` of every
/// 450.
fn several_small(silent: std::ops::Range<u32>, seed: u64) {
    let config = HubConfig { datagram_bytes: 200, ..with_older(seed) };
    let silent = (silent, 450);
    let scenario = Scenario {
        config,
        entities: 120,
        moving_one_in: 1,
        silent,
        ticks: 500,
        ..Scenario::new(bad_link())
    };
    let outcome = run(&scenario, seed);
    assert!(outcome.audit.left_out > 100 && outcome.audit.full_states >= 1);
    let older = outcome.audit.older_in_parts;
    assert!(older > 100 || seed.is_multiple_of(4), "{older} older views in parts");
    assert!(outcome.sent_at.windows(2).any(|pair| pair[0].0 == pair[1].0));
}

#[test]
fn several_small_datagrams_a_tick() {
    (1..4).for_each(|seed| several_small(200..230, seed));
}

#[test]
fn several_small_datagrams_a_tick_until_the_baseline_is_out_of_reach() {
    (1..4).for_each(|seed| several_small(200..420, seed));
}

#[test]
fn blocks_after_outages() {
    for seed in 1..4 {
        let config = HubConfig {
            datagram_bytes: 200,
            datagrams_per_tick: 1,
            silence: Duration::from_secs(6),
            ..with_older(seed)
        };
        let silent = (120..400, 500);
        let scenario = Scenario {
            config,
            entities: 60,
            moving_one_in: 2,
            silent,
            ticks: 1100,
            ..Scenario::new(bad_link())
        };
        let outcome = run(&scenario, seed);
        assert!(outcome.audit.full_states >= 3, "{} full states", outcome.audit.full_states);
        assert!(outcome.pair.library.stats().full_states >= 3);
    }
}

#[test]
fn baselines_jump_when_acknowledgements_arrive_in_bursts() {
    for seed in 1..7 {
        let options =
            ReceiverOptions { budget: Some(15_000).into(), first_sequence: Sequence(65_300) };
        let down = LinkConfig { reorder_ratio: 0.4, ..bad_link() };
        let deaf = (20..90, 130);
        let config = with_older(seed);
        let scenario = Scenario {
            config,
            options,
            entities: 200,
            moving_one_in: 1,
            deaf,
            ..Scenario::new(down)
        };
        let outcome = run(&scenario, seed);
        assert!(
            outcome.audit.merges[0] + outcome.audit.merges[1] > 10,
            "{:?}",
            outcome.audit.merges
        );
    }
}

#[test]
fn a_late_datagram_of_an_old_baseline_merges_all_or_is_refused() {
    for seed in 1..3 {
        let config = HubConfig { datagram_bytes: 200, ..with_older(seed) };
        let down = LinkConfig {
            latency: millis(90),
            reorder_ratio: 0.3,
            reorder_delay: millis(60),
            ..LinkConfig::default()
        };
        let up = LinkConfig { latency: millis(60), ..LinkConfig::default() };
        let deaf = (20..20 + 7 + (seed as u32), 40);
        let scenario =
            Scenario { config, entities: 150, moving_one_in: 1, up, deaf, ..Scenario::new(down) };
        let outcome = run(&scenario, seed);
        assert!(outcome.audit.merges[0] > 10, "{:?}", outcome.audit.merges);
    }
}

#[test]
fn events_follow_in_the_same_order() {
    for seed in 0..6 {
        let scenario = Scenario {
            config: with_older(seed),
            options: ReceiverOptions {
                budget: (seed % 3 == 1).then_some(6_000).into(),
                ..ReceiverOptions::default()
            },
            events: 1 + seed % 3,
            silent: if seed == 5 { (200..290, 600) } else { (0..0, 600) },
            damaged_one_in: 3,
            ..Scenario::new(bad_link())
        };
        let Outcome { pair, damaged, audit, .. } = run(&scenario, seed);
        assert!(pair.events > 100 && damaged.events > 10, "{} {}", pair.events, damaged.events);
        assert!(pair.taken > 300 && audit.snapshots > 400);
        for reason in ["events that do not decode", "an event after its datagram"] {
            assert!(seed > 0 || damaged.refused.contains_key(reason), "{:?}", damaged.refused);
        }
    }
}

#[test]
fn faults_are_found_and_the_state_is_sent_anew() {
    let mut mismatches = 0;
    for seed in 1..7 {
        let check_every_bytes = Some(if seed % 2 == 0 { 0 } else { 400 });
        let config = HubConfig { datagram_bytes: 300, check_every_bytes, ..with_older(seed) };
        let budget_bytes_per_s = (seed > 3).then_some(15_000);
        let options =
            ReceiverOptions { budget: budget_bytes_per_s.into(), first_sequence: Sequence(65_300) };
        let down = if seed % 3 == 0 {
            bad_link()
        } else {
            LinkConfig { latency: millis(40), ..LinkConfig::default() }
        };
        let scenario = Scenario {
            config,
            options,
            entities: 60,
            fault_every: 90,
            ticks: 900,
            ..Scenario::new(down)
        };
        let outcome = run(&scenario, seed);
        let stats = outcome.pair.library.stats();
        assert!(stats.mismatches > 0 && stats.checked > 20, "{seed}: {stats:?}");
        assert!(outcome.pair.taken > 200, "{}", outcome.pair.taken);
        mismatches += stats.mismatches;
    }
    assert!(mismatches > 20, "{mismatches}");
}

#[test]
fn shown_states_hold_until_the_interval() {
    let link = LinkConfig { latency: millis(20), ..LinkConfig::default() };
    let outcome = run(&Scenario { deaf: (100..400, 600), ..Scenario::new(link) }, 3);
    assert!(outcome.false_intervals.is_empty(), "{:?}", &outcome.false_intervals[..1]);
}

#[test]
fn coarse_values() {
    let link = LinkConfig { latency: millis(20), ..LinkConfig::default() };
    for (seed, moving_one_in) in [(1, 1), (2, 25)] {
        let quiet = Scenario {
            has_precision: true,
            moving_one_in,
            deaf: (100..400, 600),
            ..Scenario::new(link)
        };
        let outcome = run(&Scenario { change_one_in: 40, ..quiet }, seed);
        assert!(outcome.false_intervals.is_empty(), "{:?}", &outcome.false_intervals[..1]);
        assert!(
            outcome.pair.taken > 150 && outcome.audit.older[1] > 100,
            "{:?}",
            outcome.audit.older
        );
        // This scenario has losses, merges and older views, with skipped entities.
        let options =
            ReceiverOptions { budget: Some(12_000).into(), first_sequence: Sequence(65_300) };
        let scenario = Scenario {
            has_precision: true,
            entities: 100,
            options,
            has_relevance: true,
            ..Scenario::new(bad_link())
        };
        let outcome = run(&scenario, seed);
        assert!(
            outcome.pair.taken > 150 && outcome.audit.left_out > 20 && outcome.audit.older[1] > 50
        );
    }
}

#[test]
fn keep_alives_are_four_a_second_if_nothing_changes_or_answers() {
    let link = LinkConfig { latency: millis(20), ..LinkConfig::default() };
    let still =
        Scenario { moving_one_in: u64::MAX, change_one_in: u64::MAX, ..Scenario::new(link) };
    let outcome = run(&still, 5);
    let kept = outcome.sent_at.iter().filter(|(tick, _)| (121..=600).contains(tick)).count();
    assert!((30..=34).contains(&kept), "{kept} in 8 s");
    let unheard = Scenario { silent: (120..600, 1000), ..Scenario::new(link) };
    let outcome = run(&unheard, 6);
    let kept = outcome.sent_at.iter().filter(|(tick, _)| (201..=500).contains(tick)).count();
    assert!((18..=22).contains(&kept), "{kept} in 5 s");
}

#[test]
fn the_hub_compares_in_order_and_answers_each_hello_once() {
    let codec = codec();
    let mut hub = Hub::new(&codec, HubConfig::default()).unwrap();
    hub.add(PLAYER, &ReceiverOptions::default(), Duration::ZERO).unwrap();
    let initial = Snapshot::new(codec.schema(), Tick(0));
    let hello = NaiveReceiver::new(&codec, &initial).poll_transmit(Duration::ZERO).unwrap();
    let values = [VERSION.into(), codec.schema().hash(), codec.hash(), initial.state_hash(), 0];
    let places = [1, 2, 10, 18, 26];
    for first in 0..5 {
        let mut other = hello.clone();
        places[first..].iter().for_each(|place| other[*place] ^= 0x20);
        assert!(matches!(hub.handle(PLAYER, Duration::ZERO, &other), Err(Refused::Mismatch(_))));
        let mut expected = vec![2, first as u8];
        expected.extend(values[first].to_le_bytes());
        assert_eq!(
            hub.poll_transmit().map(|(_, datagram)| datagram.to_vec()),
            Some(expected.clone())
        );
        assert!(hub.poll_transmit().is_none());
        // The receiver must not accept this refusal, and must stay unchanged.
        let mut pair = Pair::new(&codec, None);
        assert!(pair.transmit(Duration::ZERO) == [hello.clone()]);
        let _ = pair.library.handle(Duration::ZERO, &expected);
        let _ = pair.naive.handle(&expected);
        assert!(pair.transmit(millis(249)).is_empty());
        assert!(pair.transmit(millis(250)) == [hello.clone()]);
    }
    // The outline has up to 256 parts of four bytes. It is compared only if the schemas differ.
    for length in (0..34).chain([35, 36, 37, 34 + 4 * 257]) {
        let mut other = hello.clone();
        other.resize(length, 0);
        assert!(hub.handle(PLAYER, Duration::ZERO, &other).is_err(), "{length} bytes");
    }
    assert_eq!(hub.handle(PLAYER, Duration::ZERO, &hello), Ok(Handled::Joined));
    assert_eq!(hub.handle(PLAYER, Duration::ZERO, &hello), Ok(Handled::HelloAgain));
}

#[test]
fn the_hub_refuses_acknowledgements_of_datagrams_never_sent() {
    let codec = codec();
    let mut hub = Hub::new(&codec, HubConfig::default()).unwrap();
    let options =
        ReceiverOptions { first_sequence: Sequence(65_530), ..ReceiverOptions::default() };
    hub.add(PLAYER, &options, Duration::ZERO).unwrap();
    let mut pair = Pair::new(&codec, None);
    for hello in pair.transmit(Duration::ZERO) {
        hub.handle(PLAYER, Duration::ZERO, &hello).unwrap();
    }
    let mut world = World::new(5, 1);
    let mut newest = 0;
    for tick in 1..=10 {
        world.step(Tick(tick));
        hub.tick(at(tick), &world.snapshot).unwrap();
        while let Some((_, datagram)) = hub.poll_transmit() {
            newest = sequence_of(datagram).0;
        }
    }
    let acknowledgement = |latest: u16, before: u32| {
        let [low, high] = latest.to_le_bytes();
        let mut datagram = vec![5, low, high];
        datagram.extend(before.to_le_bytes());
        datagram
    };
    let count = newest.wrapping_sub(65_530) + 1;
    assert_eq!(count, 10);
    let bad = [
        acknowledgement(newest.wrapping_add(1), 0),
        acknowledgement(65_529, 0),
        acknowledgement(newest, 1 << (count - 1)),
        acknowledgement(newest.wrapping_sub(256), 0),
        acknowledgement(newest, 0)[..6].to_vec(),
        [&acknowledgement(newest, 0)[..], &[0]].concat(),
        [&[5 | 8], &acknowledgement(newest, 0)[1..]].concat(),
    ];
    for (index, datagram) in bad.iter().enumerate() {
        assert!(hub.handle(PLAYER, at(11), datagram).is_err(), "case {index}");
    }
    assert_eq!(
        hub.handle(PLAYER, at(11), &acknowledgement(newest, (1 << (count - 1)) - 1)),
        Ok(Handled::Acknowledged)
    );
}
