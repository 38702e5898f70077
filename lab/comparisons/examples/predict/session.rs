//! A client that predicts its character and a server, over bad links in virtual time.
//!
//! The client makes the input for a tick a fixed lead before the server needs it. The lead covers
//! the longest delay of the link and the repeats of a lost input. If an input is not there in time,
//! the server uses the last one again.

use std::collections::BTreeMap;
use std::time::Duration;

use character::{Move, Script};
use kinepack::stream::{StreamCodec, StreamLevel};
use kinepack::{Between, Codec, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_net::{
    Hub, HubConfig, Link, LinkConfig, Outcome as Happened, Own, PredictConfig, PredictStats,
    Predicted, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions, Sequence, StreamConfig,
    StreamReceiver, StreamSender,
};

use crate::Outcome;
use crate::character::{BEGIN, CHARACTER, Character, HZ, Input, step};

const CLIENT: ReceiverId = ReceiverId(1);
/// Each input is sent in this many packets more, which the lead waits for.
const REPEATS: u8 = 7;
/// The first input is for this tick.
const BEGIN_TICK: u32 = 200;

/// What a session is played with.
#[derive(Clone, Copy)]
pub(crate) struct Conditions {
    pub(crate) link: LinkConfig,
    pub(crate) frames_hz: u32,
    /// Pushes of 1 to 3 m/s in each second, which the client does not know.
    pub(crate) is_pushed: bool,
    /// Whether the player jumps. The bends of jumps would hide those of pushes.
    pub(crate) jumps: bool,
    /// Whether the server rounds its states.
    pub(crate) rounds: bool,
    pub(crate) config: PredictConfig,
    pub(crate) seconds: u32,
    pub(crate) seed: u64,
}

/// What a session found. Distances are in millimetres.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) stats: PredictStats,
    pub(crate) lead_ticks: u32,
    /// The ticks whose inputs the server did not have in time.
    pub(crate) missed: u32,
    /// The largest correction of the newest state.
    pub(crate) correction_mm: f64,
    /// How far what is shown moves at the moment of a correction, at most.
    pub(crate) jump_mm: f64,
    /// The largest second difference of the places in three frames: how much a step from frame to
    /// frame differs from the one before.
    pub(crate) bend_mm: f64,
    /// The same for the server's states at these moments.
    pub(crate) true_bend_mm: f64,
}

struct Server {
    inputs: StreamReceiver,
    known: BTreeMap<u32, Input>,
    last: Input,
    own: [Own<Character>; 1],
    truth: Vec<Character>,
    hub: Hub,
    missed: u32,
}

impl Server {
    /// Makes a tick.
    fn tick(&mut self, schema: &Schema, tick: u32, conditions: &Conditions) -> Outcome<()> {
        match self.known.remove(&tick) {
            Some(input) => self.last = input,
            None => self.missed += u32::from(tick >= BEGIN_TICK),
        }
        step(&mut self.own, &self.last, Tick(tick));
        let state = &mut self.own[0].state;
        if conditions.is_pushed && tick.is_multiple_of(HZ) {
            // The directions and sizes differ from push to push.
            let nth = tick / HZ;
            let speed = 1.0 + f64::from(nth % 5) / 2.0;
            let (sine, cosine) = f64::from(nth).sin_cos();
            state.velocity[0] += speed * cosine;
            state.velocity[1] += speed * sine;
        }
        if conditions.rounds {
            *state = state.rounded()?;
        }
        self.truth.push(*state);
        let mut world = Snapshot::new(schema, Tick(tick));
        world.push(CHARACTER, state)?;
        self.hub.tick(time(tick), &world)?;
        Ok(())
    }
}

fn time(tick: u32) -> Duration {
    Duration::from_secs(1) * tick / HZ
}

/// Plays a session.
pub(crate) fn play(conditions: &Conditions) -> Outcome<Found> {
    let Conditions { link, frames_hz, config, seconds, seed, .. } = *conditions;
    let schema = Schema::of::<Character>();
    let codec = Codec::new(schema.clone(), Level::ADAPTIVE, Profile::untrained(&schema))?;
    let stream = StreamCodec::of::<Input>(StreamLevel::Packed)?;
    let numbers = Sequence(BEGIN_TICK as u16);
    let of_stream =
        StreamConfig { repeats: REPEATS, first_number: numbers, ..StreamConfig::at_hz(HZ) };
    let mut hub = Hub::new(&codec, HubConfig::default())?;
    hub.add(CLIENT, &ReceiverOptions::default(), Duration::ZERO)?;
    let last = Input { acceleration: [0.0; 2], yaw_deg: 0.0, jumps: false }.rounded()?;
    let mut server = Server {
        inputs: StreamReceiver::new(&stream, of_stream)?,
        known: BTreeMap::new(),
        last,
        own: [Own { id: CHARACTER, state: BEGIN }],
        truth: Vec::new(),
        hub,
        missed: 0,
    };
    let mut links = Vec::new();
    for way in 0..3 {
        links.push(Link::new(link, 3 * seed + way)?);
    }
    let [down, up, inputs_up] = &mut links[..] else { return Err("three links".into()) };
    let mut sender = StreamSender::new(&stream, of_stream)?;
    let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(HZ))?;
    let mut predicted = Predicted::<Character, Input>::new(&schema, config)?;
    let mut script = Script::new(seed);

    let longest_s = (link.latency + link.jitter + link.reorder_delay).as_secs_f64();
    let lead_ticks = (longest_s * f64::from(HZ)).ceil() as u32 + u32::from(REPEATS) + 1;
    let mut found = Found { lead_ticks, ..Found::default() };
    let (mut server_tick, mut shown) = (0, Vec::<(f64, [f64; 3])>::new());
    for frame in 0..seconds * frames_hz {
        let now = Duration::from_secs(1) * frame / frames_hz;
        while time(server_tick + 1) <= now {
            server_tick += 1;
            let now = time(server_tick);
            while let Some(datagram) = inputs_up.poll(now) {
                let Ok(handled) = server.inputs.handle(now, &datagram) else { continue };
                for record in handled.records() {
                    let ahead = record.number.since(Sequence(server_tick as u16));
                    let tick = i64::from(server_tick) + i64::from(ahead);
                    if ahead >= 0 {
                        server.known.insert(tick as u32, record.read()?);
                    }
                }
            }
            while let Some(datagram) = up.poll(now) {
                // Late copies are refused.
                let _ = server.hub.handle(CLIENT, now, &datagram);
            }
            server.tick(&schema, server_tick, conditions)?;
            while let Some((_, datagram)) = server.hub.poll_transmit() {
                down.send(now, datagram);
            }
        }
        // The client's clock: it is a lead ahead of the server.
        let clock = now.as_secs_f64() * f64::from(HZ) + f64::from(lead_ticks);
        while predicted.newest().is_some_and(|newest| f64::from(newest.0 + 1) <= clock) {
            let tick = predicted.newest().map_or(0, |newest| newest.0 + 1);
            let played: Option<Move> = if tick >= BEGIN_TICK { script.next() } else { None };
            let mut input = played.as_ref().map_or(last, Input::of);
            input.jumps &= conditions.jumps;
            predicted.push(Tick(tick), &input, step)?;
            if tick >= BEGIN_TICK {
                sender.push(&input)?;
                while let Some(datagram) = sender.poll_transmit() {
                    inputs_up.send(now, datagram);
                }
            }
        }
        let at = clock - 1.0;
        let place = |predicted: &mut Predicted<Character, Input>| {
            predicted.shown(CHARACTER, at).map(|state| state.position)
        };
        let before = place(&mut predicted);
        while let Some(datagram) = down.poll(now) {
            // Late copies are refused.
            let _ = receiver.handle(now, &datagram);
        }
        while let Some(datagram) = receiver.poll_transmit(now) {
            up.send(now, datagram);
        }
        if predicted.newest().is_none()
            && let Some(world) = receiver.newest()
            && let Some(state) = world.get::<Character>(CHARACTER)?
        {
            predicted.add(CHARACTER, world.tick, &state, step)?;
        }
        let correction = predicted.correct_from(&receiver, step)?;
        let Some(after) = place(&mut predicted) else { continue };
        if correction.outcome == Happened::Corrected {
            found.correction_mm = found.correction_mm.max(correction.distance * 1e3);
            let jump = before.map_or(0.0, |before| distance(before, after));
            found.jump_mm = found.jump_mm.max(jump * 1e3);
        }
        // Before this, the client was still joining.
        if at > f64::from(BEGIN_TICK) {
            shown.push((at, after));
        }
    }
    found.bend_mm = bend_mm(shown.iter().map(|(_, place)| *place));
    let truth = |(at, _): &(f64, [f64; 3])| truth_at(&server.truth, *at);
    found.true_bend_mm = bend_mm(shown.iter().map_while(truth));
    (found.stats, found.missed) = (predicted.stats(), server.missed);
    Ok(found)
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|axis| (a[axis] - b[axis]) * (a[axis] - b[axis])).sum::<f64>().sqrt()
}

/// Where the server's character is at a moment; `None` after the last tick.
fn truth_at(truth: &[Character], at: f64) -> Option<[f64; 3]> {
    let mut lanes = [[0; Character::LANES]; 2];
    // The first state is that of tick 1.
    let first = at as usize - 1;
    for (lanes, state) in lanes.iter_mut().zip(truth.get(first..first + 2)?) {
        state.quantize(lanes).ok()?;
    }
    let between = Between { ratio: at.fract() as f32, seconds: 1.0 / HZ as f32 };
    Some(Character::interpolate(&lanes[0], &lanes[1], between).position)
}

/// The largest second difference of a path, in millimetres.
fn bend_mm(places: impl Iterator<Item = [f64; 3]>) -> f64 {
    let places: Vec<[f64; 3]> = places.collect();
    let bend = |three: &[[f64; 3]]| {
        distance([0, 1, 2].map(|axis| three[0][axis] + three[2][axis]), three[1].map(|at| 2.0 * at))
    };
    places.windows(3).map(bend).fold(0.0, f64::max) * 1e3
}
