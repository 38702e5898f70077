//! Tests joiners that play and their server. Some tests run the two ends of the stream of keys in
//! virtual time, and others run whole joiners and servers over loopback.

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use clap::Parser;
use cubes::{Config, FIRST_GUEST, Input, Script, Style};
use kinepack::EntityId;
use kinepack::stream::{StreamCodec, StreamLevel};
use kinepack_net::{
    DatagramKind, HubConfig, ReceiverId, StreamConfig, StreamSender, datagram_kind, split_datagram,
};
use kinepack_udp::{ClientOptions, ClientState, Secret, ServerOptions, UdpClient, UdpServer};

use super::joiner::{Joiner, Target};
use super::player::{Pilot, Player};
use crate::PROTOCOL_ID;
use crate::inputs::key_codec;
use crate::keys::Keys;
use crate::sender::{SendOptions, Sender, due};
use crate::serve::{Doors, PlayerRings, Players, Seat, Serving};
use crate::states::States;
use crate::viewer::Viewer;
use crate::world::Played;

const NONE: Input =
    Input { left: false, right: false, up: false, down: false, push: false, pull: false };
const RIGHT: Input = Input { right: true, ..NONE };
const LEFT: Input = Input { left: true, ..NONE };
const FIRST: EntityId = EntityId(FIRST_GUEST);
const SECOND: EntityId = EntityId(FIRST_GUEST + 1);

fn world() -> Played {
    Played::cubes(&Config { cubes: 25 }, Style::Rest, 1).expect("a valid number of cubes")
}

/// The players of a server with their world, and one guest. The test itself is the network between
/// them.
struct Pair {
    players: Players,
    world: Played,
    states: States,
    player: Player,
    tick: u32,
    seats: Vec<Seat>,
}

/// The answer to a guest that gets a cube.
fn plays(cube: EntityId) -> Seat {
    Seat { cube: Some(cube), notice: "plays; players: 1".to_owned() }
}

/// The answer to a guest for which no cube is free.
fn watches() -> Seat {
    let notice = "only watches: all places of players are taken".to_owned();
    Seat { cube: None, notice }
}

impl Pair {
    fn new(most: usize) -> Self {
        let player = Player::new().expect("valid streams");
        let states = States::default();
        Self {
            players: Players::new(most),
            world: world(),
            states,
            player,
            tick: 0,
            seats: Vec::new(),
        }
    }

    fn now(&self) -> Duration {
        due(self.tick)
    }

    /// Runs a tick with the keys `input`. A datagram arrives if `passes` returns true.
    fn step(&mut self, input: Input, mut passes: impl FnMut() -> bool) {
        self.tick += 1;
        let now = self.now();
        if self.player.step(now, &mut Pilot::Person(input), None) {
            let datagram = self.player.transmit(None);
            if passes() {
                self.seats.extend(self.players.handle(1, now, datagram, &mut self.world));
            }
        }
        self.players.release_silent(now, &mut self.world);
        self.world.next_frame(&mut self.states);
        while let Some((client, acknowledgement)) = self.players.poll_transmit(now) {
            if client == 1 && passes() {
                self.player.acknowledge(&acknowledgement).expect("it was sent");
            }
        }
    }

    fn x_m(&self) -> f32 {
        self.states.find(FIRST).expect("its cube is there").position[0]
    }
}

#[test]
fn lost_keys_arrive_as_repeats_and_silence_releases_all_keys() {
    let mut pair = Pair::new(1);
    let mut random = 1_u32;
    // Four of five datagrams pass in each direction.
    for _ in 0..300 {
        pair.step(RIGHT, || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            random >> 16 & 3 != 0 || random >> 24 & 3 == 0
        });
    }
    assert_eq!(pair.seats, [plays(FIRST)]);
    let counts = pair.players.counts();
    assert!(counts.recovered > 30 && counts.records >= 298, "{counts:?}");
    assert_eq!((counts.lost_bases, counts.limited, counts.malformed), (0, 0, 0), "{counts:?}");
    assert!(counts.full < 60 && counts.bits_a_packet() < 60.0, "{counts:?}");
    let moved = pair.x_m();
    for _ in 0..15 {
        pair.step(RIGHT, || false);
    }
    assert!(pair.x_m() > moved, "the keys are held for a while");
    for _ in 0..240 {
        pair.step(RIGHT, || false);
    }
    assert_eq!(pair.states.find(FIRST).expect("its cube is there").velocity, [0.0; 3], "released");
    let rest = pair.x_m();
    for _ in 0..60 {
        pair.step(LEFT, || true);
    }
    assert!(pair.x_m() < rest - 1.0, "keys count again after the silence");
}

#[test]
fn a_joiner_without_a_place_watches_and_asks_again() {
    let mut pair = Pair::new(1);
    let mut first = Player::new().expect("valid streams");
    assert!(first.step(Duration::ZERO, &mut Pilot::Person(RIGHT), None));
    let seat = pair.players.handle(7, Duration::ZERO, first.transmit(None), &mut pair.world);
    assert_eq!(seat, Some(plays(FIRST)));
    (0..90).for_each(|_| pair.step(RIGHT, || true));
    assert_eq!(pair.seats, [watches()], "reported once");
    pair.players.remove(7, &mut pair.world);
    (0..90).for_each(|_| pair.step(RIGHT, || true));
    // Numbers of removed players are not reused at once.
    assert_eq!(pair.seats, [watches(), plays(SECOND)]);
    assert!(pair.players.cubes().eq([(ReceiverId(1), SECOND)]));
    assert_eq!((pair.players.playing(), pair.players.peak()), (1, 1));
    pair.players.remove(1, &mut pair.world);
    assert_eq!(pair.players.playing(), 0);
    assert!(pair.players.counts().records > 100, "removed players count too");
}

#[test]
fn without_places_everybody_watches() {
    let mut pair = Pair::new(0);
    (0..30).for_each(|_| pair.step(RIGHT, || true));
    assert_eq!((pair.seats, pair.players.peak()), (vec![watches()], 0));
}

#[test]
fn another_codec_is_refused_and_reported_once_and_invalid_packets_are_counted() {
    let mut pair = Pair::new(4);
    let codec = StreamCodec::of::<Keys>(StreamLevel::Packed).expect("six bits are a schema");
    let mut stranger = StreamSender::new(&codec, StreamConfig::at_hz(60)).expect("valid");
    for tick in 0..3 {
        stranger.push(&Keys::default()).expect("within the range");
        let packet = stranger.poll_transmit().expect("something was pushed");
        let seat = pair.players.handle(1, due(tick), packet, &mut pair.world);
        let expected = format!(
            "cannot play: the two sides have different stream codecs: {:016x}",
            key_codec().hash()
        );
        let is_refused =
            seat.is_some_and(|seat| seat.cube.is_none() && seat.notice.starts_with(&expected));
        assert_eq!(is_refused, tick == 0);
    }
    // A guest that plays keeps its cube.
    let mut guest = Player::new().expect("valid streams");
    assert!(guest.step(due(4), &mut Pilot::Person(NONE), None));
    let seat = pair.players.handle(3, due(4), guest.transmit(None), &mut pair.world);
    assert_eq!(seat, Some(plays(FIRST)));
    stranger.push(&Keys::default()).expect("within the range");
    let packet = stranger.poll_transmit().expect("something was pushed");
    assert_eq!(pair.players.handle(3, due(5), packet, &mut pair.world), None);
    assert!(pair.players.cubes().eq([(ReceiverId(3), FIRST)]));
    pair.players.remove(3, &mut pair.world);
    let invalid: [&[u8]; 5] =
        [&[6], &[6, 0, 0], &[0xFE, 1, 2, 3], &[14, 0, 0, 9], &[6, 9, 9, 1, 0]];
    for packet in invalid {
        assert_eq!(pair.players.handle(2, due(9), packet, &mut pair.world), None);
    }
    let counts = pair.players.counts();
    assert_eq!((counts.malformed, counts.lost_bases, counts.packets), (4 + 4, 1, 1), "{counts:?}");
    assert_eq!(pair.players.playing(), 0);
}

#[derive(Parser)]
struct Options {
    #[command(flatten)]
    send: SendOptions,
}

/// Returns a server, and the target for joining it. The socket is real, but the test passes virtual
/// time.
fn serve(max_players: usize) -> (Serving, Target) {
    serve_world(world(), max_players, None)
}

fn serve_world(world: Played, max_players: usize, rings: Option<&str>) -> (Serving, Target) {
    let send = Options::parse_from(["test"]).send;
    let mut options = ServerOptions::new(PROTOCOL_ID);
    // Virtual time runs faster than the server's rate limits assume.
    options.per_client.per_second = 100_000;
    options.per_client.burst = 10_000;
    let server =
        UdpServer::bind(SocketAddr::from(([127, 0, 0, 1], 0)), &Secret::insecure(), options)
            .expect("a free port");
    let config = HubConfig { datagram_bytes: 1_000, ..HubConfig::default() };
    let mut sender = Sender::new(world, &send, config).expect("valid options");
    let rings = rings.map(|rings| PlayerRings::parse(rings).expect("valid rings").of_hub());
    sender.hub.set_rings(rings.as_ref()).expect("valid rings");
    let timeout = Duration::from_secs(10);
    let stream = send.stream.clone();
    let serving = Serving::new(Doors::new(server, None), sender, send, timeout, max_players);
    let target =
        Target { server: serving.local_addr(), secret: Secret::insecure(), stream, timeout };
    (serving, target)
}

/// Runs a tick of the server and its joiners. It waits in real time for the datagrams to arrive.
fn tick(serving: &mut Serving, joiners: &mut [Joiner<'_>], number: &mut u32) {
    *number += 1;
    let now = due(*number);
    for joiner in joiners {
        joiner.step(now).expect("the server understands it");
        joiner.pass(now).expect("it knows all events");
    }
    thread::sleep(Duration::from_millis(1));
    serving.poll(now).expect("nothing to fail");
    serving.tick(now).expect("nothing to fail");
    thread::sleep(Duration::from_millis(1));
}

/// Returns a cube's position in a joiner's newest state.
fn place(joiner: &Joiner<'_>, target: &Target, id: EntityId) -> Option<[f32; 3]> {
    let snapshot = joiner.viewer()?.receiver.newest()?;
    target.stream.position(snapshot, snapshot.position(id)?)
}

/// Runs ticks until each joiner has a cube and has received both cubes. Returns the cubes.
fn begin(
    serving: &mut Serving,
    joiners: &mut [Joiner<'_>; 2],
    target: &Target,
    number: &mut u32,
) -> [EntityId; 2] {
    while *number < 2_000 {
        tick(serving, joiners, number);
        if let [Some(first), Some(second)] = joiners.each_ref().map(Joiner::entity) {
            let cubes = [first, second];
            if joiners
                .iter()
                .all(|joiner| cubes.iter().all(|id| place(joiner, target, *id).is_some()))
            {
                return cubes;
            }
        }
    }
    panic!("no cubes: {:?}", joiners.each_ref().map(Joiner::entity));
}

#[test]
fn each_joiner_steers_its_own_cube_which_is_removed_with_it() {
    let (mut serving, target) = serve(16);
    let person = || Joiner::new(&target, Duration::ZERO, Pilot::Person(NONE));
    let (mut joiners, mut now) = ([person(), person()], 0);
    let cubes = begin(&mut serving, &mut joiners, &target, &mut now);
    assert_ne!(cubes[0], cubes[1]);
    let mut run = |serving: &mut Serving, joiners: &mut [Joiner<'_>; 2], ticks| {
        (0..ticks).for_each(|_| tick(serving, joiners, &mut now));
        let x_m = |joiner: &Joiner<'_>| {
            cubes.map(|id| place(joiner, &target, id).expect("it is seen")[0])
        };
        joiners.each_ref().map(x_m)
    };
    let mut before = run(&mut serving, &mut joiners, 30);
    // The two cubes are steered away from each other.
    let signs = if before[0][0] < before[0][1] { [-1.0, 1.0] } else { [1.0, -1.0] };
    for (steers, sign) in signs.into_iter().enumerate() {
        joiners[steers].hold(if sign < 0.0 { LEFT } else { RIGHT });
        let after = run(&mut serving, &mut joiners, 60);
        for (before, after) in before.iter().zip(&after) {
            let moved_m = [0, 1].map(|cube| after[cube] - before[cube]);
            let (own_m, other_m) = (moved_m[steers] * sign, moved_m[1 - steers]);
            assert!(own_m > 0.5 && other_m.abs() < 0.05, "{steers} alone: {before:?}, {after:?}");
        }
        joiners[steers].hold(NONE);
        // These ticks run until the cube rests.
        before = run(&mut serving, &mut joiners, 240);
    }
    let keys = joiners[0].tally(due(now)).keys;
    assert!(keys.records > 500 && keys.full * 10 < keys.packets, "{keys:?}");
    joiners[0].end(due(now));
    while place(&joiners[1], &target, cubes[0]).is_some() {
        assert!(now < 4_000, "the cube of the removed joiner stays");
        tick(&mut serving, &mut joiners[1..], &mut now);
    }
    assert!(place(&joiners[1], &target, cubes[1]).is_some());
    assert_eq!(joiners[1].tally(due(now)).wrong, 0);
}

#[test]
fn scripts_play_by_the_received_states() {
    let (mut serving, target) = serve(16);
    let script = |seed| Pilot::Script(Box::new(Script::new(Style::Typical, seed)));
    let mut joiners = [1, 2].map(|seed| Joiner::new(&target, Duration::ZERO, script(seed)));
    let mut now = 0;
    let cubes = begin(&mut serving, &mut joiners, &target, &mut now);
    // For each joiner, `most_m` is the largest distance of each cube from its start.
    let mut most_m = [[0.0_f32; 2]; 2];
    let seen =
        |joiner: &Joiner<'_>| cubes.map(|id| place(joiner, &target, id).expect("it is seen"));
    let before = seen(&joiners[0]);
    for _ in 0..300 {
        tick(&mut serving, &mut joiners, &mut now);
        for (most_m, joiner) in most_m.iter_mut().zip(&joiners) {
            for ((most_m, now), before) in most_m.iter_mut().zip(seen(joiner)).zip(before) {
                *most_m = most_m.max((now[0] - before[0]).hypot(now[1] - before[1]));
            }
        }
    }
    assert!(
        most_m.iter().flatten().all(|most_m| *most_m > 1.0),
        "each joiner sees both move: {most_m:?}"
    );
    assert_eq!(joiners.each_ref().map(|joiner| joiner.tally(due(now)).wrong), [0, 0]);
}

#[test]
fn a_flooding_joiner_is_limited_and_the_other_still_plays() {
    let (mut serving, target) = serve(16);
    let mut honest = [Joiner::new(&target, Duration::ZERO, Pilot::Person(RIGHT))];
    let mut client =
        UdpClient::connect(target.server, &target.secret, ClientOptions::new(PROTOCOL_ID))
            .expect("a socket");
    let mut viewer = Viewer::new(&target.stream).expect("a valid stream");
    let mut keys =
        StreamSender::new(&key_codec(), StreamConfig { repeats: 0, ..StreamConfig::at_hz(60) })
            .expect("valid");
    let mut number = 0;
    while number < 2_000 && (serving.counts().limited < 200 || honest[0].entity().is_none()) {
        client.poll(&mut |datagram| {
            for part in split_datagram(datagram).expect("an honest server") {
                match datagram_kind(part) {
                    Some(DatagramKind::ToReceiver) => drop(viewer.handle(due(number), part)),
                    Some(DatagramKind::StreamAcknowledgement) => drop(keys.handle(part)),
                    _ => {}
                }
            }
        });
        while client.state() == ClientState::Connected
            && let Some(datagram) = viewer.receiver.poll_transmit(due(number))
        {
            client.send(datagram).expect("connected");
        }
        if viewer.receiver.newest().is_some() {
            for _ in 0..8 {
                keys.push(&Keys::from(LEFT)).expect("within the range");
                client
                    .send(keys.poll_transmit().expect("something was pushed"))
                    .expect("connected");
                client.send(&[6, number as u8, 1]).expect("connected");
            }
        }
        tick(&mut serving, &mut honest, &mut number);
    }
    let counts = serving.counts();
    assert!(counts.limited >= 200 && counts.malformed > 200, "{counts:?}");
    let own = honest[0].entity().expect("seated");
    let x_m = |joiner: &Joiner<'_>| place(joiner, &target, own).expect("it is there")[0];
    let (before, records) = (x_m(&honest[0]), serving.counts().records);
    (0..60).for_each(|_| tick(&mut serving, &mut honest, &mut number));
    assert!(x_m(&honest[0]) > before, "it still plays");
    assert!(
        (30..=75).contains(&(serving.counts().records - records)),
        "each of its records counts once"
    );
}

/// Returns the distances of all bodies in a joiner's newest state from the body `own`.
fn distances_m(joiner: &Joiner<'_>, target: &Target, own: EntityId) -> Vec<(EntityId, f32)> {
    let snapshot = joiner.viewer().and_then(|viewer| viewer.receiver.newest());
    let own = place(joiner, target, own).expect("its own cube is seen");
    let distance_m = |id: EntityId| {
        let other = place(joiner, target, id).expect("it is in the state");
        own.iter().zip(other).map(|(own, other)| (own - other).powi(2)).sum::<f32>().sqrt()
    };
    let ids = snapshot.expect("a state has arrived").ids();
    ids.iter().map(|id| (*id, distance_m(*id))).collect()
}

#[test]
fn with_rings_a_joiner_that_plays_sees_what_is_near_and_one_that_watches_sees_all() {
    const CUBES: u32 = 400;
    let world = Played::cubes(&Config { cubes: CUBES }, Style::Rest, 1).expect("a valid number");
    let (mut serving, target) = serve_world(world, 16, Some("6,9:2"));
    let pilots = [Pilot::Person(NONE), Pilot::Nobody];
    let mut joiners = pilots.map(|pilot| Joiner::new(&target, Duration::ZERO, pilot));
    let mut now = 0;
    while joiners[0].entity().is_none() {
        assert!(now < 2_000, "the joiner gets no cube");
        tick(&mut serving, &mut joiners, &mut now);
    }
    let own = joiners[0].entity().expect("it plays");
    let mut run = |joiners: &mut [Joiner<'_>; 2], ticks| {
        (0..ticks).for_each(|_| tick(&mut serving, joiners, &mut now));
        let seen = distances_m(&joiners[0], &target, own);
        let all = distances_m(&joiners[1], &target, own);
        assert_eq!(all.len(), CUBES as usize + 2, "with the players' cubes");
        let is_seen = |id: EntityId| seen.iter().any(|(seen, _)| *seen == id);
        // Entities leave a ring a tenth later. A cell has 1.5 m, and its diagonal 2.6 m.
        assert!(seen.iter().all(|(_, metres)| *metres < 9.9 + 1.2 * 2.6), "{seen:?}");
        assert!(all.iter().all(|(id, metres)| *metres > 8.9 || is_seen(*id)), "{seen:?}");
        seen.into_iter().map(|(id, _)| id).collect::<Vec<_>>()
    };
    let before = run(&mut joiners, 30);
    assert!((20..200).contains(&before.len()), "{before:?}");
    // The cube starts at the edge of the grid and walks along it.
    joiners[0].hold(RIGHT);
    let after = run(&mut joiners, 120);
    assert!(after.iter().any(|id| !before.contains(id)), "walking brings new cubes: {after:?}");
    assert!(before.iter().any(|id| !after.contains(id)), "and hides others: {after:?}");
    assert_eq!(joiners.each_ref().map(|joiner| joiner.tally(due(now)).wrong), [0, 0]);
}
