//! Tests that a hub finds what a receiver showed (spec/NET.md, section 12): every sample of every
//! drawn frame, whatever was lost, late or left out.

use std::collections::VecDeque;
use std::time::Duration;

use kinepack::schema::TimePrecision;
use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_net::{
    Extrapolation, Hub, HubConfig, KindOptions, Link, LinkConfig, Loss, NetError, Receiver,
    ReceiverConfig, ReceiverId, ReceiverOptions, RewindConfig, RewindError, Sample, Seen, Sequence,
};

use crate::support::{Random, TICK_HZ, exchange, near_and_far};

const ID: ReceiverId = ReceiverId(3);

#[derive(Pack, Clone, Debug, PartialEq)]
struct Walker {
    #[pack(range = -512.0..512.0, precision = 1.0 / 64.0, clamp)]
    place: [f32; 2],
    #[pack(velocity, range = -64.0..64.0, precision = 1.0 / 16.0, clamp)]
    velocity: [f32; 2],
    #[pack(max = 3)]
    pose: u8,
    #[pack(spawn, max = 3)]
    team: u8,
    #[pack(cut)]
    jumps: u8,
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Crate {
    #[pack(range = -512.0..512.0, precision = 1.0 / 64.0, clamp)]
    place: [f32; 2],
    open: bool,
}

/// A sample to the bit: the entity, both ends, and how far between.
type Drawn = (EntityId, [(Option<usize>, Vec<u32>); 2], [u32; 2], bool);

fn drawn(sample: &Sample<'_>) -> Drawn {
    let end = |(state, at): (&Snapshot, usize)| (state.kind_at(at), state.lanes_at(at).collect());
    let between = [sample.between.ratio.to_bits(), sample.between.seconds.to_bits()];
    (sample.id, [end(sample.from), end(sample.to)], between, sample.is_cut)
}

struct Game {
    walkers: Vec<(u32, Walker)>,
    crates: Vec<(u32, Crate)>,
    random: Random,
    next_id: u32,
    /// The ids of walkers to add.
    gone: Vec<u32>,
    /// In how many ticks of this many nothing moves.
    rests: u32,
}

impl Game {
    fn new(walkers: u32, seed: u64) -> Self {
        let mut game = Self {
            walkers: Vec::new(),
            crates: Vec::new(),
            random: Random::new(seed),
            next_id: 1_000,
            gone: Vec::new(),
            rests: 0,
        };
        game.walkers = (1..=walkers).map(|id| (id, game.walker())).collect();
        game.crates = (101..=100 + walkers / 2)
            .map(|id| (id, Crate { place: [game.random.unit() * 300.0; 2], open: false }))
            .collect();
        game
    }

    fn walker(&mut self) -> Walker {
        let random = &mut self.random;
        Walker {
            place: [random.unit() * 300.0, random.unit() * 300.0],
            velocity: [random.unit() * 20.0, random.unit() * 20.0],
            pose: 0,
            team: random.below(4) as u8,
            jumps: 0,
        }
    }

    fn step(&mut self, schema: &Schema, tick: u32) -> Snapshot {
        if tick / 40 % 10 >= self.rests {
            self.advance();
        }
        let mut world = Snapshot::new(schema, Tick(tick));
        world.extend(self.walkers.iter().map(|(id, of)| (EntityId(*id), of.clone()))).unwrap();
        world.extend(self.crates.iter().map(|(id, of)| (EntityId(*id), of.clone()))).unwrap();
        world
    }

    fn advance(&mut self) {
        let random = &mut self.random;
        for (_, walker) in &mut self.walkers {
            if random.chance(3) {
                continue;
            }
            for (along, speed) in walker.place.iter_mut().zip(&mut walker.velocity) {
                *speed = (*speed + random.unit() * 2.0).clamp(-20.0, 20.0);
                *along = (*along + *speed / 60.0).clamp(-400.0, 400.0);
            }
            walker.pose ^= u8::from(random.chance(100));
            if random.chance(200) {
                walker.place = [random.unit() * 300.0; 2];
                walker.jumps = walker.jumps.wrapping_add(1);
            }
        }
        for (_, open) in &mut self.crates {
            open.open ^= random.chance(150);
            open.place[0] += f32::from(u8::from(random.chance(9)));
        }
        // A new walker may get the id of one that is gone for a tick at least.
        if random.chance(3)
            && let Some(id) = self.gone.pop()
        {
            let at = self.walkers.partition_point(|(other, _)| *other < id);
            let walker = self.walker();
            self.walkers.insert(at, (id, walker));
        }
        if self.random.chance(12) {
            let gone = self.random.below(self.walkers.len() as u64) as usize;
            let (id, _) = self.walkers.remove(gone);
            self.next_id += 1;
            self.gone.push(if self.random.chance(2) { id } else { self.next_id });
        }
        // The id of a crate may be that of a walker later.
        if self.random.chance(40) && self.crates.len() > 2 {
            let gone = self.random.below(self.crates.len() as u64) as usize;
            self.gone.push(self.crates.remove(gone).0);
        }
    }
}

/// What a session is like.
#[derive(Clone)]
struct Session {
    level: Level,
    walkers: u32,
    precision_ms: Option<f64>,
    hub: HubConfig,
    budget: Option<u32>,
    /// Crates are sent in one tick of this many.
    every: u32,
    /// Far walkers have a turn in one tick of this many.
    turns: Option<u32>,
    rests: u32,
    link: LinkConfig,
    /// For this many ticks of each 200, neither direction carries anything.
    outage: u32,
    /// How long ago the player may have seen what he acts on.
    longest_s: f64,
    ticks: u32,
    /// What is shown of walkers and crates that wait for a state, and the longest playout delay.
    extrapolation: Option<([Extrapolation; 2], Duration)>,
}

fn rough() -> LinkConfig {
    LinkConfig {
        latency: Duration::from_millis(40),
        jitter: Duration::from_millis(45),
        loss: Loss::Independent { ratio: 0.08 },
        reorder_ratio: 0.1,
        reorder_delay: Duration::from_millis(90),
        ..LinkConfig::default()
    }
}

impl Session {
    fn new() -> Self {
        Self {
            level: Level::PACKED,
            walkers: 30,
            precision_ms: None,
            hub: HubConfig::default(),
            budget: None,
            every: 1,
            turns: None,
            rests: 2,
            link: rough(),
            outage: 0,
            longest_s: 4.0,
            ticks: 600,
            extrapolation: None,
        }
    }

    fn codec(&self) -> Codec {
        let schema =
            Schema::builder().kind::<Walker>("walker").kind::<Crate>("crate").build().unwrap();
        let precision = self.precision_ms.map(|ms| TimePrecision::new(ms, TICK_HZ.into()));
        let schema =
            schema.with_time_precision(|field| precision.filter(|_| field.name.contains("place")));
        Codec::new(schema.clone(), self.level, Profile::untrained(&schema)).unwrap()
    }

    /// Runs the session. Returns the number of samples that were compared, and how many of the
    /// stamps were of a moment between two states.
    fn run(&self, seed: u64) -> usize {
        let codec = self.codec();
        let schema = codec.schema().clone();
        let config = RewindConfig {
            longest: Duration::from_secs_f64(self.longest_s),
            ..RewindConfig::at_hz(TICK_HZ)
        };
        let mut hub = Hub::new(&codec, self.hub.clone()).unwrap();
        hub.set_rewind(Some(config)).unwrap();
        hub.set_kind("crate", KindOptions { every: self.every, ..KindOptions::default() }).unwrap();
        if let Some(every) = self.turns {
            let positions = ["walker.place", "crate.place"];
            hub.set_rings(Some(&near_and_far(&positions, 80.0, 350.0, every))).unwrap();
        }
        let options = ReceiverOptions { budget: self.budget.into(), ..ReceiverOptions::default() };
        hub.add(ID, &options, Duration::ZERO).unwrap();
        let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(TICK_HZ)).unwrap();
        if let Some((kinds, longest_delay)) = self.extrapolation {
            for (kind, extrapolation) in ["walker", "crate"].into_iter().zip(kinds) {
                hub.set_extrapolation(kind, extrapolation).unwrap();
                receiver.set_extrapolation(kind, extrapolation).unwrap();
            }
            receiver.set_playout_delays(Duration::ZERO, longest_delay).unwrap();
        }
        let [mut down, mut up] = [0, 1].map(|way| Link::new(self.link, 2 * seed + way).unwrap());
        let mut random = Random::new(seed);
        let mut game = Game::new(self.walkers, seed);
        game.rests = self.rests;
        let mut stamps: VecDeque<(u32, Seen, f64, Vec<Drawn>)> = VecDeque::new();
        let (mut compared, mut refused, mut eye, mut extrapolated) = (0, 0, [0.0; 3], 0);
        for tick in 1..=self.ticks {
            let begin = Duration::from_secs(1) * tick / TICK_HZ;
            let is_out = tick % 200 >= 200 - self.outage;
            // Draws several times between two ticks, at irregular times.
            for part in 0..3u32 {
                let now =
                    begin + Duration::from_micros(5_000 * u64::from(part) + random.below(4_000));
                while let Some(datagram) = down.poll(now) {
                    let _ = receiver.handle(now, &datagram);
                }
                if random.chance(4) {
                    continue;
                }
                let Some(playback) = receiver.playback(now) else { continue };
                let (at, mut frame): (f64, Vec<Drawn>) =
                    (playback.tick, playback.samples().map(|sample| drawn(&sample)).collect());
                frame.sort_unstable_by_key(|(id, ..)| *id);
                let arrives =
                    tick + 3 + random.below(4) as u32 + if is_out { self.outage } else { 0 };
                let arrives = stamps.back().map_or(arrives, |(last, ..)| arrives.max(*last));
                stamps.push_back((arrives, receiver.seen().unwrap(), at, frame));
            }
            let now = begin + Duration::from_micros(16_000);
            while let Some(datagram) = receiver.poll_transmit(now) {
                if !is_out {
                    up.send(now, datagram);
                }
            }
            while let Some(datagram) = up.poll(now) {
                let _ = hub.handle(ID, now, &datagram);
            }
            while let Some((_, seen, at, frame)) = stamps.pop_front_if(|(at, ..)| *at <= tick) {
                if random.chance(3) {
                    continue;
                }
                let past = match hub.rewind(ID, seen) {
                    Ok(past) => past,
                    Err(RewindError::TooOld { .. }) if self.longest_s < 1.0 => continue,
                    Err(error) => panic!("seed {seed}, tick {tick}: {error}"),
                };
                assert_eq!(past.tick, at);
                let ids: Vec<EntityId> = past.ids().collect();
                let shown: Vec<EntityId> = frame.iter().map(|(id, ..)| *id).collect();
                let differs = |id: &&EntityId| ids.contains(id) != shown.contains(id);
                let differing: Vec<_> = ids.iter().chain(&shown).filter(differs).collect();
                assert!(
                    differing.is_empty(),
                    "seed {seed}, tick {tick}, moment {at}: {differing:?}"
                );
                for of in frame {
                    let beyond = of.2[0];
                    match past.sample(of.0).map(|sample| drawn(&sample)) {
                        Ok(found) => assert_eq!(found, of, "seed {seed}, tick {tick}, moment {at}"),
                        // What was sent later was lost, and the budget did not send it again.
                        Err(RewindError::TooOld { .. }) => refused += 1,
                        Err(error) => panic!("seed {seed}, tick {tick}: {error}"),
                    }
                    compared += 1;
                    extrapolated += u32::from(f32::from_bits(beyond) > 1.0);
                }
            }
            eye =
                eye.map(|along: f64| (along + f64::from(random.unit()) * 4.0).clamp(-200.0, 200.0));
            if self.turns.is_some() {
                hub.set_viewpoint(ID, Some(eye)).unwrap();
            }
            let world = game.step(&schema, tick);
            hub.tick(now, &world).unwrap();
            while let Some((_, datagram)) = hub.poll_transmit() {
                if !is_out {
                    down.send(now, datagram);
                }
            }
        }
        assert_eq!(receiver.stats().unmerged, 0);
        assert_eq!(extrapolated > 500, self.extrapolation.is_some(), "{extrapolated}");
        assert!(refused <= compared / if self.longest_s < 1.0 { 20 } else { 2_000 }, "{refused}");
        compared
    }

    fn check(&self) {
        for seed in 0..4 {
            let compared = self.run(seed);
            assert!(compared > 2_000, "{compared}");
        }
    }
}

#[test]
fn complete_states_are_found() {
    Session::new().check();
    Session { rests: 9, ..Session::new() }.check();
    Session { link: LinkConfig::default(), ..Session::new() }.check();
}

/// What continues straight is found too, to the bit.
#[test]
fn extrapolated_states_are_found() {
    let straight = |ms| Extrapolation::Straight { at_most: Duration::from_millis(ms) };
    let session = Session {
        extrapolation: Some(([straight(100), straight(250)], Duration::from_millis(40))),
        ..Session::new()
    };
    session.check();
    Session { outage: 20, ..session.clone() }.check();
    Session { budget: Some(4_000), walkers: 60, ..session.clone() }.check();
    Session { every: 4, rests: 5, ..session.clone() }.check();
    Session { turns: Some(4), ..session.clone() }.check();
    // Kinds that hold are found beside those that do not.
    let kinds = [Extrapolation::Game { at_most: Duration::from_millis(100) }, straight(50)];
    let delay = Duration::from_millis(100);
    Session { extrapolation: Some((kinds, delay)), ..session.clone() }.check();
    let kinds = [straight(50), Extrapolation::Hold];
    Session { extrapolation: Some((kinds, delay)), outage: 30, ..session }.check();
}

#[test]
fn states_left_out_by_a_budget_are_found() {
    Session { budget: Some(6_000), walkers: 60, ..Session::new() }.check();
    Session { budget: Some(2_500), walkers: 60, rests: 5, ..Session::new() }.check();
}

/// The hub gives up what is older than the limit.
#[test]
fn states_are_found_up_to_a_short_limit() {
    let session = Session { longest_s: 0.6, ..Session::new() };
    session.check();
    Session { budget: Some(4_000), walkers: 60, ..session.clone() }.check();
    Session { turns: Some(4), ..session.clone() }.check();
    Session { every: 4, precision_ms: Some(4.0), ..session }.check();
}

#[test]
fn states_after_an_outage_are_found() {
    Session { outage: 60, ..Session::new() }.check();
    Session { outage: 40, budget: Some(6_000), walkers: 60, ..Session::new() }.check();
    Session { outage: 60, turns: Some(4), ..Session::new() }.check();
}

#[test]
fn states_in_several_datagrams_are_found() {
    let hub = HubConfig { datagram_bytes: 200, ..HubConfig::default() };
    Session { hub: hub.clone(), walkers: 90, ..Session::new() }.check();
    Session { hub, walkers: 90, budget: Some(12_000), ..Session::new() }.check();
}

#[test]
fn states_of_kinds_that_rest_are_found() {
    Session { every: 4, ..Session::new() }.check();
    Session { every: 2, budget: Some(4_000), walkers: 60, ..Session::new() }.check();
}

#[test]
fn coarse_states_are_found() {
    for level in [Level::PACKED, Level::ADAPTIVE] {
        let session = Session { level, precision_ms: Some(4.0), ticks: 400, ..Session::new() };
        session.check();
        Session { budget: Some(4_000), walkers: 60, ..session }.check();
    }
}

#[test]
fn states_of_entities_that_take_turns_are_found() {
    Session { turns: Some(4), ..Session::new() }.check();
    Session { turns: Some(8), rests: 6, ..Session::new() }.check();
    Session { turns: Some(4), budget: Some(3_000), walkers: 60, ..Session::new() }.check();
    Session { turns: Some(3), every: 2, ..Session::new() }.check();
}

/// With small datagrams, the first state is a full state. Late datagrams come soon after it.
#[test]
fn states_of_turns_after_a_full_state_are_found() {
    let hub = HubConfig { datagram_bytes: 160, ..HubConfig::default() };
    for turns in [4, 8, 24] {
        Session { hub: hub.clone(), turns: Some(turns), ticks: 300, ..Session::new() }.check();
    }
}

/// A hub at tick `last` that rewinds by at most 30 ticks, what a receiver drew in each tick, and the
/// world 30 ticks ago.
fn short_session(last: u32) -> (Hub, Vec<(Seen, f64)>, Snapshot) {
    let session = Session::new();
    let (codec, mut game) = (session.codec(), Game::new(5, 1));
    let mut hub = Hub::new(&codec, HubConfig::default()).unwrap();
    hub.set_rewind(Some(RewindConfig::at_hz(TICK_HZ))).unwrap();
    hub.add(ID, &ReceiverOptions::default(), Duration::ZERO).unwrap();
    let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(TICK_HZ)).unwrap();
    let link = LinkConfig { latency: Duration::from_millis(20), ..LinkConfig::default() };
    let mut links = [0, 1].map(|seed| Link::new(link, seed).unwrap());
    let (mut seen, mut at_limit) = (Vec::new(), Snapshot::new(codec.schema(), Tick(0)));
    for tick in 1..=last {
        let world = game.step(codec.schema(), tick);
        if tick == last - 30 {
            at_limit.copy_from(&world);
        }
        let now = exchange(&mut hub, ID, &mut receiver, &mut links, &world);
        if let Some(playback) = receiver.playback(now) {
            let tick = playback.tick;
            seen.extend(receiver.seen().map(|seen| (seen, tick)));
        }
    }
    (hub, seen, at_limit)
}

/// The stamp with one lane changed.
fn forged(seen: Seen, lane: usize, change: impl Fn(u32) -> u32) -> Seen {
    let mut lanes = [0; Seen::LANES];
    seen.quantize(&mut lanes).unwrap();
    lanes[lane] = change(lanes[lane]);
    Seen::reconstruct(&lanes)
}

/// The lower eight bits of the newest sequence that had arrived.
fn newest_sequence(seen: Seen) -> u32 {
    let mut lanes = [0; Seen::LANES];
    seen.quantize(&mut lanes).unwrap();
    lanes[1]
}

#[test]
fn stamps_are_checked() {
    let (mut hub, seen, _) = short_session(300);
    let (newest, drawn) = *seen.last().unwrap();
    assert_eq!(hub.rewind(ReceiverId(9), newest).unwrap_err(), RewindError::UnknownReceiver);
    let behind = ((300.0 - drawn) * 64.0) as u32;
    let later = forged(newest, 0, |moment| (moment + behind + 64) % (256 * 64));
    assert!(matches!(hub.rewind(ID, later), Err(RewindError::TooOld { .. })), "not sent yet");
    let ahead = forged(newest, 0, |moment| (moment + behind - 12) % (256 * 64));
    assert_eq!(hub.rewind(ID, ahead).unwrap_err(), RewindError::Ahead);
    let (old, _) = seen[seen.len() - 60];
    assert!(matches!(hub.rewind(ID, old), Err(RewindError::TooOld { .. })));
    let nothing = forged(forged(newest, 3, |_| newest_sequence(newest)), 4, |_| 255);
    assert_eq!(hub.rewind(ID, nothing).unwrap_err(), RewindError::NothingShown);

    // None of these changed what is accepted.
    let (before, _) = seen[seen.len() - 20];
    assert!(hub.rewind(ID, before).is_ok());
    assert_eq!(hub.rewind(ID, newest).unwrap().tick, drawn);
    assert_eq!(hub.rewind(ID, before).unwrap_err(), RewindError::RunsBack);
    assert_eq!(hub.rewind(ID, newest).unwrap().tick, drawn, "the same moment again");
    let past = hub.rewind(ID, newest).unwrap();
    let absent = EntityId(5_000);
    assert_eq!(past.state::<Walker>(absent).unwrap_err(), RewindError::NotShown { id: absent });
    let crates = past.ids().find(|id| id.0 > 100).unwrap();
    assert!(matches!(past.state::<Walker>(crates), Err(RewindError::State(_))));
    assert!(past.state::<Crate>(crates).is_ok());

    hub.set_rewind(None).unwrap();
    assert_eq!(hub.rewind(ID, newest).unwrap_err(), RewindError::Disabled);
    let endless = RewindConfig { longest: Duration::from_secs(5), ..RewindConfig::at_hz(60) };
    assert_eq!(hub.set_rewind(Some(endless)), Err(NetError::RewindTooLong { ticks: 300 }));
}

/// A client that pretends not to have got what was sent to it wants its targets to stand where they
/// were. It gets none that was sent anew longer ago than the limit.
#[test]
fn a_client_gains_nothing_beyond_the_limit() {
    let (mut hub, seen, at_limit) = short_session(200);
    let (newest, tick) = *seen.last().unwrap();
    // Everything is missing but the newest snapshot and one from 33 ticks before.
    let mut lanes = [0; Seen::LANES];
    newest.quantize(&mut lanes).unwrap();
    let last = lanes[1];
    let before = |behind: u32| (last + 256 - behind) % 256;
    lanes[3..].fill(0);
    lanes[3..7].copy_from_slice(&[before(1), 32, before(34), 200]);
    let past = hub.rewind(ID, Seen::reconstruct(&lanes)).unwrap();
    assert_eq!(past.tick, tick);
    let forged: Vec<_> = past.ids().map(|id| past.sample(id).map(|of| drawn(&of))).collect();
    let refused = forged.iter().filter(|of| matches!(of, Err(RewindError::TooOld { .. })));
    assert!(refused.count() > 2);
    for (id, [(_, from), _], ..) in forged.into_iter().flatten() {
        let then = at_limit.position(id).unwrap();
        assert!(at_limit.lanes_at(then).eq(from), "only what was so at the limit");
    }
}

/// A client pretends that, after the full state it began with, only the newest snapshot arrived.
#[test]
fn a_client_gains_nothing_from_an_old_full_state() {
    let hub_config = HubConfig { datagram_bytes: 256, ..HubConfig::default() };
    for first in [0, 40_000] {
        let (codec, mut game) = (Session::new().codec(), Game::new(30, 1));
        let mut hub = Hub::new(&codec, hub_config.clone()).unwrap();
        hub.set_rewind(Some(RewindConfig::at_hz(TICK_HZ))).unwrap();
        let options =
            ReceiverOptions { first_sequence: Sequence(first), ..ReceiverOptions::default() };
        hub.add(ID, &options, Duration::ZERO).unwrap();
        let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(TICK_HZ)).unwrap();
        let mut links = [0, 1].map(|seed| Link::new(LinkConfig::default(), seed).unwrap());
        for tick in 1..=400 {
            let world = game.step(codec.schema(), tick);
            let now = exchange(&mut hub, ID, &mut receiver, &mut links, &world);
            let _ = receiver.playback(now);
        }
        assert_eq!(receiver.stats().full_states, 1);
        let mut lanes = [0; Seen::LANES];
        receiver.seen().unwrap().quantize(&mut lanes).unwrap();
        lanes[3..].fill(0);
        (lanes[3], lanes[4]) = ((lanes[1] + 255) % 256, 255);
        let past = hub.rewind(ID, Seen::reconstruct(&lanes)).unwrap();
        let given = past.ids().filter(|id| past.sample(*id).is_ok()).count();
        // Some crates have not moved since.
        assert!(given < past.ids().count() / 2, "{given}");
    }
}
