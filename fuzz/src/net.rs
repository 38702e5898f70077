//! The drivers of the targets `net_receiver`, `net_hub`, `net_session`, `link` and `playout`. They
//! take any bytes as datagrams, as the losses and delays of a session, as a network, or as
//! arrivals. The tests of `kinepack-net` run them over the stored corpus.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use kinepack::quantize::IntegerLimits;
use kinepack::schema::{Field, FieldKind};
use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_net::{
    Acknowledgement, Audience, Budget, EventKinds, Hub, HubConfig, JitterBuffer, Link, LinkConfig,
    Loss, Playback, PlayoutConfig, Received, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions,
    Refused, Sequence,
};

const ID: ReceiverId = ReceiverId(1);
/// The maximum number of steps in one input.
const MOST_STEPS: usize = 400;
/// The maximum number of ticks in a session before it settles.
const MOST_TICKS: u32 = 1500;
/// The number of bytes from one state check to the next.
const MOST_UNCHECKED: u32 = 200;
/// The number of lanes of an entity, which is also their maximum.
const LANES: u32 = 4;
const MAX: u32 = 1 << 20;

/// Makes choices from the input. A `Source` takes bytes from the front, and zeros after the end.
pub(crate) struct Source<'a>(pub(crate) &'a [u8]);

impl<'a> Source<'a> {
    pub(crate) fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end
    }

    pub(crate) fn short(&mut self) -> u16 {
        u16::from_le_bytes([(); 2].map(|()| self.byte()))
    }

    pub(crate) fn word(&mut self) -> u32 {
        u32::from_le_bytes([(); 4].map(|()| self.byte()))
    }

    /// Takes a length, and then a piece of the input of that length.
    pub(crate) fn piece(&mut self) -> &'a [u8] {
        let len = self.below(256).min(self.0.len());
        let (piece, rest) = self.0.split_at(len);
        self.0 = rest;
        piece
    }

    /// Returns whether the data is used up, or the step is the last one.
    pub(crate) fn is_over(&self, step: usize) -> bool {
        self.0.is_empty() || step >= MOST_STEPS
    }
}

/// The coding of snapshots: packed, or predicted, with older views.
#[derive(Clone, Copy)]
struct Setup {
    codec: &'static Codec,
    older_views: u8,
}

impl Setup {
    fn choose(source: &mut Source<'_>) -> Self {
        setups()[source.below(3)]
    }
}

fn setups() -> [Setup; 3] {
    static CODECS: OnceLock<[Codec; 3]> = OnceLock::new();
    let [packed, adaptive, learning] = CODECS.get_or_init(|| {
        let lane = |lane| {
            let limits = IntegerLimits::new(0, i128::from(MAX), 1).expect("a range");
            Field::new(format!("lane {lane}"), FieldKind::Integer(limits))
        };
        let schema = Schema::new((0..LANES).map(lane).collect());
        [Level::PACKED, Level::ADAPTIVE, Level::LEARNING].map(|level| {
            Codec::new(schema.clone(), level, Profile::untrained(&schema)).expect("a codec")
        })
    });
    [
        Setup { codec: packed, older_views: 0 },
        Setup { codec: adaptive, older_views: 2 },
        Setup { codec: learning, older_views: 1 },
    ]
}

/// Two kinds of events. The first kind must arrive, and the second may be dropped.
fn events() -> &'static EventKinds {
    static EVENTS: OnceLock<EventKinds> = OnceLock::new();
    EVENTS.get_or_init(|| {
        let kinds = Schema::builder().kind::<Reliable>("reliable").kind::<Droppable>("droppable");
        let schema = kinds.build().expect("two kinds");
        let profile = Profile::untrained(&schema);
        let codec = Codec::new(schema, Level::ADAPTIVE, profile).expect("a codec");
        EventKinds::new(&codec).droppable::<Droppable>(4).expect("a kind")
    })
}

#[derive(Pack)]
struct Reliable {
    number: u32,
}

#[derive(Pack)]
struct Droppable {
    number: u32,
    value: u8,
}

/// Emits a few events, numbered from `next` on. Returns the last event that must arrive.
fn emit(hub: &mut Hub, count: u8, next: &mut u32) -> Option<u32> {
    let mut last = None;
    for _ in 0..count {
        let number = *next;
        *next += 1;
        if number.is_multiple_of(3) {
            hub.emit(&Reliable { number }, Audience::All).expect("a kind");
            last = Some(number);
        } else {
            hub.emit(&Droppable { number, value: count }, Audience::All).expect("a kind");
        }
    }
    last
}

/// The entities by id. The data change them.
#[derive(Default)]
struct World(std::collections::BTreeMap<u32, [u32; LANES as usize]>);

impl World {
    fn with(count: u32) -> Self {
        Self((0..count).map(|id| (id * 3, [id * 77; LANES as usize])).collect())
    }

    /// Makes one change: adds or removes an entity, moves one a little or far, or moves all.
    fn change(&mut self, source: &mut Source<'_>) {
        let control = source.byte();
        let id = u32::from(control >> 3);
        match control & 7 {
            0 => self.0.extend([(id, [source.word() % MAX; LANES as usize])]),
            1 => self.0.retain(|other, _| *other != id),
            2 => self.0.values_mut().for_each(|lanes| lanes[0] = (lanes[0] + id + 1) % MAX),
            3 => self
                .0
                .values_mut()
                .for_each(|lanes| *lanes = lanes.map(|lane| (lane * 5 + 99_991 + id) % MAX)),
            4 => self.0.extend((0..id).map(|id| (100 + id, [id * 9_999; LANES as usize]))),
            5 => self.0.retain(|other, _| *other < 100),
            _ => {
                if let Some(lanes) = self.0.get_mut(&id) {
                    lanes[usize::from(control & 1)] = source.word() % MAX;
                }
            }
        }
    }

    fn snapshot(&self, tick: u32) -> Snapshot {
        let mut snapshot = Snapshot::new(setups()[0].codec.schema(), Tick(tick));
        for (id, lanes) in &self.0 {
            snapshot.push_lanes(EntityId(*id), lanes).expect("sorted, and in range");
        }
        snapshot
    }
}

fn at(tick: u32) -> Duration {
    Duration::from_millis(16) * tick
}

/// Returns a datagram of the hub without the events and the state check that precede the snapshot.
fn unchecked(datagram: &[u8]) -> &[u8] {
    let datagram = match datagram {
        [0x1A, low @ 0..128, ..] => &datagram[2 + usize::from(*low)..],
        [0x1A, low, high, ..] => &datagram[3 + usize::from(low - 128) + 128 * usize::from(*high)..],
        _ => datagram,
    };
    if datagram[0] == 10 { &datagram[3..] } else { datagram }
}

fn sequence_of(datagram: &[u8]) -> u16 {
    let datagram = unchecked(datagram);
    u16::from_le_bytes([datagram[1], datagram[2]])
}

fn new_hub(setup: Setup, datagram_bytes: usize, options: &ReceiverOptions) -> Hub {
    let older_views = Some(setup.older_views);
    let config = HubConfig {
        datagram_bytes,
        older_views,
        check_every_bytes: Some(MOST_UNCHECKED),
        ..HubConfig::default()
    };
    let mut hub = Hub::new(setup.codec, config).expect("a configuration").with_events(events());
    hub.add(ID, options, Duration::ZERO).expect("a new receiver");
    hub
}

fn new_receiver(setup: Setup) -> Receiver {
    let config = ReceiverConfig { max_full_state_bytes: 20_000, ..ReceiverConfig::at_hz(60) };
    Receiver::new(setup.codec, config).expect("a configuration").with_events(events())
}

fn drain(hub: &mut Hub) -> Vec<Vec<u8>> {
    std::iter::from_fn(|| hub.poll_transmit().map(|(_, datagram)| datagram.to_vec())).collect()
}

/// Returns the datagrams of two sessions of each setup. The first session has a small world, and
/// the second a world that needs a full state and parts.
fn streams() -> &'static [[Vec<Vec<u8>>; 2]; 3] {
    static STREAMS: OnceLock<[[Vec<Vec<u8>>; 2]; 3]> = OnceLock::new();
    STREAMS.get_or_init(|| {
        setups().map(|setup| {
            let streams =
                [(3, 1200), (30, 128)].map(|(entities, bytes)| stream(setup, entities, bytes));
            let has_older =
                streams.iter().flatten().any(|datagram| unchecked(datagram)[0] & 7 == 3);
            assert_eq!(has_older, setup.older_views > 0);
            streams
        })
    })
}

fn stream(setup: Setup, entities: u32, datagram_bytes: usize) -> Vec<Vec<u8>> {
    let mut hub = new_hub(setup, datagram_bytes, &ReceiverOptions::default());
    let mut receiver = new_receiver(setup);
    let (mut down, mut stream): (Vec<Vec<u8>>, _) = (Vec::new(), Vec::new());
    let (mut world, mut next) = (World::with(entities), 0);
    for tick in 1..40 {
        for datagram in std::mem::take(&mut down) {
            let _ = receiver.handle(at(tick), &datagram);
            stream.push(datagram);
        }
        while let Some(datagram) = receiver.poll_transmit(at(tick)) {
            let _ = hub.handle(ID, at(tick), datagram);
        }
        world.change(&mut Source(&[if tick % 3 == 0 { 3 } else { 2 }, 8]));
        emit(&mut hub, (tick % 3) as u8, &mut next);
        hub.tick(at(tick), &world.snapshot(tick)).expect("of one schema");
        down = drain(&mut hub);
        down.retain(|datagram| sequence_of(datagram) % 5 != 4);
    }
    stream
}

/// Sends datagrams to a receiver in the middle of a session. The receiver must accept them, or
/// refuse them without effect.
pub fn net_receiver(data: &[u8]) {
    let mut source = Source(data);
    let control = source.below(4);
    let (setup, stream) = (setups()[control >> 1], &streams()[control >> 1][control & 1]);
    let mut receiver = new_receiver(setup);
    let begun = source.below(stream.len() + 1);
    for datagram in &stream[..begun] {
        let _ = receiver.handle(Duration::ZERO, datagram);
    }
    let (mut now, mut next) = (Duration::ZERO, begun);
    for step in 0.. {
        if source.is_over(step) {
            break;
        }
        match source.below(8) {
            0..3 => feed(&mut receiver, now, source.piece()),
            3..6 => {
                // In most steps, the receiver gets the next datagram of the session. Most earlier
                // datagrams no longer have an effect, and datagrams far ahead have no baseline.
                let nth = if source.byte() < 192 { next } else { source.below(stream.len()) };
                let mut datagram = stream[nth.min(stream.len() - 1)].clone();
                for _ in 0..source.below(4) {
                    let at = source.below(datagram.len());
                    datagram[at] ^= source.byte();
                }
                datagram.extend_from_slice(&[0; 3][..source.below(8).min(3)]);
                match source.below(4) {
                    2 => drop(datagram.splice(..0, [0x4A, source.byte()])),
                    3 => name_older(&mut datagram, &mut source),
                    _ => {}
                }
                feed(&mut receiver, now, &datagram);
                if nth < stream.len() && nth == next && source.byte() & 1 == 0 {
                    feed(&mut receiver, now, &stream[next]);
                    next += 1;
                }
            }
            6 => {
                now += Duration::from_millis(u64::from(source.byte()));
                while receiver.poll_transmit(now).is_some() {}
            }
            _ => {
                now += Duration::from_micros(u64::from(source.short()));
                read_events(&mut receiver);
                for sample in receiver.playback(now).iter().flat_map(Playback::samples) {
                    let [(from, index), (to, to_index)] = [sample.from, sample.to];
                    assert!(from.ids()[index] == sample.id && to.ids()[to_index] == sample.id);
                    assert!(
                        (0.0..=1.0).contains(&sample.between.ratio)
                            && sample.between.seconds >= 0.0
                    );
                }
            }
        }
    }
}

/// Reads all events that follow. They may be of any kind, with any valid values.
fn read_events(receiver: &mut Receiver) {
    for event in receiver.take_events() {
        let reliable = event.get::<Reliable>().expect("a kind");
        let droppable = event.get::<Droppable>().expect("a kind");
        assert!(reliable.is_some() != droppable.is_some());
    }
}

/// Turns a snapshot's datagram into one of kind 3 with any older views. A datagram that is already
/// of kind 3 gets other older views.
fn name_older(datagram: &mut Vec<u8>, source: &mut Source<'_>) {
    let [first, _, _, back, ..] = datagram[..] else { return };
    let explicit_tick = if first >> 5 == 0 { 5 } else { 0 };
    let merge = if first & 16 != 0 { 4 } else { 0 };
    let begin = 4 + usize::from(back == 0) + explicit_tick + merge;
    let kind = first & 7;
    if datagram.len() < begin || !matches!(kind, 0 | 3) {
        return;
    }
    let mut end = begin;
    while kind == 3 && end < datagram.len() && datagram[end] & 0x80 != 0 {
        end += 1;
    }
    let end = if kind == 3 { datagram.len().min(end + 1) } else { begin };
    let mut older: Vec<u8> = (0..=source.below(4)).map(|_| source.byte() & 15 | 0x80).collect();
    if let Some(last) = older.last_mut() {
        // In most cases, the last byte ends the list.
        *last &= if source.byte() == 255 { 0xFF } else { 0x7F };
    }
    datagram.splice(begin..end, older);
    datagram[0] = first & !7 | 3;
}

fn feed(receiver: &mut Receiver, now: Duration, datagram: &[u8]) {
    let held = |receiver: &Receiver| {
        let newest = receiver.newest().map(|newest| (newest.tick, newest.state_hash()));
        (newest, receiver.newest_sequence(), receiver.full_state_progress(), receiver.stats().views)
    };
    let (before, mismatches) = (held(receiver), receiver.stats().mismatches);
    let is_refused = receiver.handle(now, datagram).is_err();
    if receiver.stats().mismatches > mismatches {
        assert!(is_refused && receiver.stats().views == 0);
    } else if is_refused {
        assert_eq!(held(receiver), before, "a refusal changed something");
    }
    assert!(receiver.stats().views <= 256);
}

/// A budget of `least` bytes per second or more, or none. Every second one follows the link.
fn budget(byte: u8, least: u32) -> Budget {
    match (256 * u32::from(byte), byte % 2) {
        (bytes_per_s, _) if bytes_per_s < least => Budget::Unlimited,
        (bytes_per_s, 0) => Budget::Fixed { bytes_per_s },
        (at_most, _) => Budget::Auto { at_most },
    }
}

/// Sends answers to a hub in the middle of a session. The hub must accept them, or refuse them
/// without effect.
pub fn net_hub(data: &[u8]) {
    let mut source = Source(data);
    let setup = Setup::choose(&mut source);
    let first_sequence = Sequence(source.short());
    let budget = budget(source.byte(), 256);
    let mut hub = new_hub(setup, 128, &ReceiverOptions { first_sequence, budget });
    let mut world = World::with(u32::from(source.byte() % 40));
    let (mut tick, mut next) = (0, 0);
    for step in 0.. {
        if source.is_over(step) {
            break;
        }
        let sent = hub.status(ID).expect("added").sent as u16;
        match source.below(8) {
            0 => answer(&mut hub, at(tick), source.piece()),
            1..4 => {
                // The sequence is near the newest one, as in most answers.
                let latest = first_sequence
                    .after(sent)
                    .before(source.byte().into())
                    .after(source.byte().into());
                let acknowledgement = Acknowledgement { latest, before: source.word() };
                let anew = [&[12], &latest.0.to_le_bytes()[..]].concat();
                let is_anew = acknowledgement.before % 8 == 5;
                let acknowledged = [&[5], &acknowledgement.to_bytes()[..]].concat();
                answer(&mut hub, at(tick), if is_anew { &anew } else { &acknowledged });
            }
            4 => {
                let mut hello = new_receiver(setup)
                    .poll_transmit(Duration::ZERO)
                    .map_or(Vec::new(), <[u8]>::to_vec);
                let at_byte = source.below(hello.len());
                hello[at_byte] ^= source.byte() & 1;
                answer(&mut hub, at(tick), &hello);
            }
            5 => {
                let mut ids: Vec<EntityId> =
                    source.piece().iter().map(|id| EntityId(u32::from(*id))).collect();
                ids.sort_unstable();
                ids.dedup();
                let relevant = (!ids.is_empty()).then(|| Arc::from(ids));
                hub.set_relevant(ID, relevant).expect("sorted");
            }
            _ => {
                world.change(&mut source);
                tick += 1 + u32::from(source.byte()) / 64;
                emit(&mut hub, source.byte() / 80, &mut next);
                hub.tick(at(tick), &world.snapshot(tick)).expect("of one schema");
                for datagram in drain(&mut hub) {
                    assert!(datagram.len() <= 128);
                }
            }
        }
    }
}

fn answer(hub: &mut Hub, now: Duration, datagram: &[u8]) {
    let before = hub.status(ID);
    let result = hub.handle(ID, now, datagram);
    let answers = drain(hub);
    match result {
        Ok(_) => assert!(answers.is_empty()),
        Err(refused) => {
            assert_eq!(hub.status(ID), before, "{refused:?} changed something");
            let is_told = usize::from(matches!(refused, Refused::Mismatch(_)));
            assert!(
                answers.len() == is_told
                    && answers.iter().all(|answer| answer.len() <= datagram.len())
            );
        }
    }
}

/// Runs a whole session. The data decide the world, and the losses and delays of each datagram.
/// Both sides must hold the same views. Once there is no more loss or motion, the receiver must get
/// the whole state.
pub fn net_session(data: &[u8]) {
    let mut source = Source(data);
    let setup = Setup::choose(&mut source);
    let budget = budget(source.byte(), 2_000);
    let first_sequence = Sequence(source.short());
    let datagram_bytes = 128 + 4 * usize::from(source.byte());
    let mut session = Session {
        hub: new_hub(setup, datagram_bytes, &ReceiverOptions { first_sequence, budget }),
        receiver: new_receiver(setup),
        world: World::with(u32::from(source.byte() % 64)),
        tick: 0,
        down: Vec::new(),
        up: Vec::new(),
        sent: HashMap::new(),
        is_faulty: false,
        emits: true,
        next_event: 0,
        last_reliable: None,
        last_event: None,
    };
    for step in 0.. {
        if source.is_over(step) || session.tick > MOST_TICKS {
            break;
        }
        let control = source.byte();
        (0..control & 3).for_each(|_| session.world.change(&mut source));
        if control >= 0xF8 {
            let (id, lane) = (EntityId(source.byte().into()), source.below(LANES as usize));
            session.is_faulty |= session.receiver.inject_fault(id, lane);
        }
        // Few bytes can cause long pauses and outages.
        let ticks = if control >> 2 & 7 == 7 { 1 + source.below(120) } else { 1 };
        let fate = source.byte();
        (0..ticks).for_each(|_| session.step(fate));
    }
    session.emits = false;
    let world = session.world.snapshot(0);
    for _ in 0..4000 {
        session.step(0);
        let has_events = session.last_event >= session.last_reliable;
        if has_events && session.receiver.newest().is_some_and(|newest| newest.holds_same(&world)) {
            return;
        }
    }
    panic!("never settled: {:?} {:?}", session.hub.status(ID), session.receiver.stats());
}

struct Session {
    hub: Hub,
    receiver: Receiver,
    world: World,
    tick: u32,
    /// The datagrams in flight, with their arrival ticks.
    down: Vec<(u32, Vec<u8>)>,
    up: Vec<(u32, Vec<u8>)>,
    /// The sent views by sequence. If no entity was skipped, the whole state is stored too.
    sent: HashMap<u16, (Snapshot, Option<Snapshot>)>,
    /// Whether a view has a fault that no state check has found yet.
    is_faulty: bool,
    emits: bool,
    next_event: u32,
    /// The last event that must arrive, and the last such event that arrived.
    last_reliable: Option<u32>,
    last_event: Option<u32>,
}

impl Session {
    fn step(&mut self, fate: u8) {
        self.tick += 1;
        let now = at(self.tick);
        for (_, datagram) in self.down.extract_if(.., |(due, _)| *due <= self.tick) {
            let sequence = sequence_of(&datagram);
            let mismatches = self.receiver.stats().mismatches;
            let taken = self.receiver.handle(now, &datagram);
            if self.receiver.stats().mismatches > mismatches {
                assert!(std::mem::take(&mut self.is_faulty) && taken.is_err());
                continue;
            }
            match taken {
                Ok(_) | Err(Refused::Snapshot(_) | Refused::BadOlder | Refused::BadMerge)
                    if self.is_faulty => {}
                Ok(Received::Snapshot { left_out, .. }) => {
                    let (view, whole) = &self.sent[&sequence];
                    let held = self.receiver.view(Sequence(sequence));
                    assert!(
                        held == Some(view),
                        "sequence {sequence}: {held:?} instead of {view:?}"
                    );
                    assert!(
                        left_out || whole.as_ref() == Some(view),
                        "sequence {sequence}: not the world"
                    );
                }
                Ok(_) | Err(Refused::Duplicate | Refused::TooOld) => {}
                // The receiver dropped a full state whose repeated parts arrived in a different
                // order from the original ones, or it found a fault.
                Err(Refused::NoBaseline) => {}
                Err(refused) => panic!("sequence {sequence}: {refused:?}"),
            }
        }
        while let Some(datagram) = self.receiver.poll_transmit(now) {
            send(&mut self.up, fate >> 4, self.tick, datagram);
        }
        for (_, datagram) in self.up.extract_if(.., |(due, _)| *due <= self.tick) {
            let result = self.hub.handle(ID, now, &datagram);
            assert!(
                matches!(result, Ok(_) | Err(Refused::LongAgo | Refused::NoHello)),
                "{result:?}"
            );
        }
        if self.emits && self.hub.status(ID).expect("added").joined {
            let last = emit(&mut self.hub, fate % 3, &mut self.next_event);
            self.last_reliable = last.or(self.last_reliable);
        }
        let world = self.world.snapshot(self.tick);
        self.hub.tick(now, &world).expect("of one schema");
        for datagram in drain(&mut self.hub) {
            let (sequence, first) = (sequence_of(&datagram), unchecked(&datagram)[0]);
            if matches!(first & 7, 0 | 3) {
                let view = self.hub.view(ID, Sequence(sequence)).expect("just sent");
                self.sent.insert(sequence, (view, (first & 8 == 0).then(|| world.clone())));
            }
            send(&mut self.down, fate & 15, self.tick, &datagram);
        }
        let Some(playback) = self.receiver.playback(now) else { return };
        let _ = playback.samples().count();
        for event in playback.events() {
            let reliable = event.get::<Reliable>().expect("a kind").map(|event| event.number);
            let droppable = event.get::<Droppable>().expect("a kind").map(|event| event.number);
            let number = reliable.or(droppable).expect("one of two kinds");
            // Every third event must arrive, so fewer than three may be missing.
            let last = self.last_event.map_or(-1, i64::from);
            assert!((1..=3).contains(&(i64::from(number) - last)), "{number} after {last}");
            self.last_event = Some(number);
        }
    }
}

/// Loses, delays, repeats or delivers a datagram.
fn send(flight: &mut Vec<(u32, Vec<u8>)>, fate: u8, tick: u32, datagram: &[u8]) {
    let due = match fate {
        12.. => return,
        8..12 => vec![1, u32::from(fate) - 4],
        5..8 if datagram.get(1).is_some_and(|byte| byte & 3 == 0) => vec![u32::from(fate) * 4],
        4 if datagram.get(1).is_some_and(|byte| byte & 1 == 0) => vec![],
        _ => vec![1 + u32::from(fate & 3)],
    };
    flight.extend(due.into_iter().map(|after| (tick + after, datagram.to_vec())));
}

/// Runs a network that the data describe. Either its configuration is refused, or every output
/// datagram must have been an input.
pub fn link(data: &[u8]) {
    let mut source = Source(data);
    let Ok(mut link) = Link::new(link_config(&mut source), u64::from(source.word())) else {
        return;
    };
    let (mut now, mut sent, mut delivered) = (Duration::ZERO, 0u64, 0u64);
    for step in 0.. {
        if source.is_over(step) {
            break;
        }
        match source.below(8) {
            0..4 => {
                let piece = source.piece();
                link.send(now, piece);
                sent += 1;
            }
            4 => {
                let _ = link.reconfigure(link_config(&mut source));
            }
            5 => now = now.saturating_sub(Duration::from_millis(u64::from(source.byte()))),
            6 => {
                now = now.saturating_add(Duration::from_nanos(
                    u64::from(source.word()) << source.below(32),
                ));
            }
            _ => now = now.saturating_add(Duration::from_micros(u64::from(source.short()))),
        }
        while let Some(datagram) = link.poll(now) {
            delivered += 1;
            assert!(datagram.len() <= 255);
        }
        assert!(delivered + link.in_flight() as u64 <= 2 * sent);
        assert!(link.next_due().is_some() == (link.in_flight() > 0));
    }
    while link.poll(Duration::MAX).is_some() {}
    assert_eq!(link.in_flight(), 0);
}

fn link_config(source: &mut Source<'_>) -> LinkConfig {
    // The ratios have all sorts of values, including values that a link refuses.
    fn ratio(source: &mut Source<'_>) -> f32 {
        match source.byte() {
            255 => f32::from_bits(source.word()),
            byte => f32::from(byte) / 200.0,
        }
    }
    let loss = match source.below(4) {
        0 => Loss::None,
        1 => Loss::Independent { ratio: ratio(source) },
        2 => Loss::bursts(ratio(source), f32::from(source.byte())),
        _ => Loss::GilbertElliott {
            to_bad_ratio: ratio(source),
            to_good_ratio: ratio(source),
            good_loss_ratio: ratio(source),
            bad_loss_ratio: ratio(source),
        },
    };
    let mut delay = || Duration::from_millis(u64::from(source.byte()) << (4 * source.below(5)));
    let (latency, jitter, reorder_delay) = (delay(), delay(), delay());
    LinkConfig {
        latency,
        jitter,
        loss,
        duplicate_ratio: ratio(source),
        reorder_ratio: ratio(source),
        reorder_delay,
        bandwidth_bps: Some(source.word() >> source.below(32))
            .filter(|bandwidth| bandwidth & 1 == 1),
        queue_bytes: source.word() >> source.below(32),
        mtu_bytes: source.word() >> source.below(32),
    }
}

/// Lets states arrive at any time, and draws frames at any time. The shown tick must never go
/// backwards.
pub fn playout(data: &[u8]) {
    let mut source = Source(data);
    let config = PlayoutConfig {
        tick_hz: [0, 1, 10, 60, 128, u32::MAX][source.below(6)],
        min_delay: Duration::from_millis(u64::from(source.byte())),
        max_delay: Duration::from_millis(u64::from(source.short())),
        coverage_ratio: f32::from(source.byte()) / 250.0,
        slew_ratio: f32::from(source.byte()) / 500.0,
        window: Duration::from_millis(u64::from(source.short())),
        max_states: source.below(40),
    };
    let Ok(mut buffer) = JitterBuffer::new(config) else { return };
    let (mut now, mut tick, mut shown) = (Duration::ZERO, 0u32, f64::MIN);
    for step in 0.. {
        if source.is_over(step) {
            break;
        }
        match source.below(8) {
            0..4 => {
                now = now.saturating_add(Duration::from_micros(u64::from(source.short())));
                tick = tick.saturating_add(u32::from(source.byte() & 3));
                let _ = buffer.push(
                    now,
                    Tick(tick),
                    Tick(tick.saturating_sub(u32::from(source.byte() & 7))),
                    tick,
                );
            }
            4 => {
                let (tick, until) =
                    (source.word() >> source.below(32), source.word() >> source.below(32));
                let _ = buffer.push(now, Tick(tick), Tick(until), tick);
            }
            5 => {
                now = now.saturating_add(Duration::from_nanos(
                    u64::from(source.word()) << source.below(33),
                ));
            }
            6 if source.byte() == 0 => {
                buffer.reset();
                (tick, shown) = (0, f64::MIN);
            }
            _ => now = now.saturating_add(Duration::from_micros(u64::from(source.short()))),
        }
        if let Some(frame) = buffer.at(now) {
            assert!(frame.tick >= shown, "from {shown} back to {}", frame.tick);
            shown = frame.tick;
            assert!(frame.from.tick <= frame.to.tick && (0.0..=1.0).contains(&frame.ratio));
            assert!(frame.from.state == frame.from.tick.0);
        }
        assert!(buffer.len() <= config.max_states);
        let stats = buffer.stats();
        assert!((0.0..=1.0).contains(&stats.starved_ratio));
    }
}
