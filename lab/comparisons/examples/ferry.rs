//! Measures passengers of a ferry with frames of reference and without: how many bits they take, and
//! how far they are shown from their places on the deck.
//!
//! ```text
//! cargo run --release -p comparisons --example ferry -- [--link wifi]
//! ```
//!
//! The ferry sails at 10 m/s, turns at up to 45°/s, and rolls and heaves in the waves. Of its
//! passengers, each third one walks to and fro on the deck, and the others stand or sit. With
//! frames, a passenger's position and rotation are relative to the ferry. Without, both are those in
//! the world. Positions are in steps of 2 mm, and rotations have 11 bits a component.
//!
//! Bits are of packets with a lag of six ticks at 60 Hz, less those of the ferry alone. The profiles
//! were trained on another voyage. The error is that of playback over the link: the distance of a
//! shown passenger who stands still from his place on the deck of the shown ferry.

use std::error::Error;
use std::time::Duration;

use clap::Parser;
use command_kit::Distribution;
use command_kit::table::table;
use kinepack::frame::Place;
use kinepack::training::Training;
use kinepack::{
    Baselines, Codec, Encoder, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick, View,
};
use kinepack_net::{
    Hub, HubConfig, Link, LinkConfig, Playback, Receiver, ReceiverConfig, ReceiverId,
    ReceiverOptions,
};

type Outcome<T> = Result<T, Box<dyn Error>>;

const HZ: u32 = 60;
const LAG_TICKS: usize = 6;
const FERRY: EntityId = EntityId(0);
const RECEIVER: ReceiverId = ReceiverId(1);

#[derive(Parser)]
struct Arguments {
    /// The number of passengers.
    #[arg(long, default_value_t = 20)]
    passengers: u32,
    /// The length of the voyage.
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// The link over which the voyage is played: perfect, lan, cable, wifi, mobile or terrible.
    #[arg(long, default_value = "wifi")]
    link: String,
}

#[derive(Pack, Clone, Copy)]
struct Ferry {
    #[pack(body, range = -2048.0..2048.0, precision = 1.0 / 512.0)]
    position: [f64; 3],
    #[pack(body, rotation, bits = 11)]
    rotation: [f64; 4],
}

/// A passenger relative to the ferry.
#[derive(Pack, Clone, Copy)]
struct Passenger {
    #[pack(body, frame = ferry, range = -2048.0..2048.0, precision = 1.0 / 512.0)]
    position: [f64; 3],
    #[pack(body, frame = ferry, rotation, bits = 11)]
    rotation: [f64; 4],
    ferry: Option<EntityId>,
}

/// A passenger in the world.
#[derive(Pack, Clone, Copy)]
struct Person {
    #[pack(body, range = -2048.0..2048.0, precision = 1.0 / 512.0)]
    position: [f64; 3],
    #[pack(body, rotation, bits = 11)]
    rotation: [f64; 4],
}

/// What is sent.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Frames,
    World,
}

impl Way {
    fn schema(self) -> Outcome<Schema> {
        let builder = Schema::builder().kind::<Ferry>("ferry");
        Ok(match self {
            Self::Frames => builder.kind::<Passenger>("passenger").build()?,
            Self::World => builder.kind::<Person>("passenger").build()?,
        })
    }

    /// The state of a voyage at a tick, with this number of passengers.
    fn state(self, schema: &Schema, tick: u32, passengers: u32, seed: u32) -> Outcome<Snapshot> {
        let mut state = Snapshot::new(schema, Tick(tick));
        let ferry = ferry(tick, seed);
        state.push(FERRY, &Ferry { position: ferry.position, rotation: ferry.rotation })?;
        for nth in 0..passengers {
            let (id, Place { position, rotation }) = (EntityId(1 + nth), on_deck(nth, tick));
            match self {
                Self::Frames => {
                    state.push(id, &Passenger { position, rotation, ferry: Some(FERRY) })?;
                }
                Self::World => {
                    let (position, rotation) = (ferry.point(position), ferry.rotation(rotation));
                    state.push(id, &Person { position, rotation })?;
                }
            }
        }
        Ok(state)
    }

    /// How far the passengers who stand still are from their places on the deck, in metres.
    fn errors(self, playback: &Playback<'_>, errors: &mut Distribution) -> Outcome<()> {
        let ferry = playback.samples_of::<Ferry>()?.next().ok_or("no ferry")?;
        let ferry = playback.motion(&ferry)?.place;
        for sample in playback.samples_of_kind(1) {
            let nth = sample.id.0 - 1;
            if walks(nth) {
                continue;
            }
            let shown = match self {
                Self::Frames => playback.in_world::<Passenger>(&sample)?.position,
                Self::World => sample.state::<Person>()?.position,
            };
            let place = ferry.point(on_deck(nth, 0).position);
            let squares = shown.iter().zip(place).map(|(a, b)| (a - b) * (a - b));
            errors.add(squares.sum::<f64>().sqrt() * 1e3);
        }
        Ok(())
    }
}

/// The rotation by an angle around an axis.
fn around(axis: [f64; 3], angle_rad: f64) -> [f64; 4] {
    let (sine, cosine) = (angle_rad / 2.0).sin_cos();
    [axis[0] * sine, axis[1] * sine, axis[2] * sine, cosine]
}

/// Where the ferry is.
fn ferry(tick: u32, seed: u32) -> Place {
    let seconds = f64::from(tick) / f64::from(HZ) + 1_000.0 * f64::from(seed);
    // The heading swings; its speed is at most 45°/s.
    let swing = 0.25;
    let heading = 45_f64.to_radians() / swing * (seconds * swing).sin();
    // The way at 10 m/s is summed up from the beginning of the voyage.
    let begin = 1_000.0 * f64::from(seed);
    let mut position = [0.0, 0.0, 2.0 + 0.4 * (seconds * 0.9).sin()];
    for past in 0..tick {
        let then = begin + f64::from(past) / f64::from(HZ);
        let heading = 45_f64.to_radians() / swing * (then * swing).sin();
        position[0] += heading.cos() * 10.0 / f64::from(HZ);
        position[1] += heading.sin() * 10.0 / f64::from(HZ);
    }
    let yaw = Place { position, rotation: around([0.0, 0.0, 1.0], heading) };
    let roll = around([1.0, 0.0, 0.0], 0.06 * (seconds * 1.1).sin());
    Place { rotation: yaw.rotation(roll), ..yaw }
}

fn walks(passenger: u32) -> bool {
    passenger.is_multiple_of(3)
}

/// Where a passenger is on the deck.
fn on_deck(passenger: u32, tick: u32) -> Place {
    let number = f64::from(passenger);
    let place = [number * 1.7 - 15.0, f64::from(passenger % 5) * 2.0 - 4.0, 6.0];
    let rotation = around([0.0, 0.0, 1.0], number);
    if !walks(passenger) {
        return Place { position: place, rotation };
    }
    // To and fro over 10 m at 1.4 m/s.
    let along = f64::from(tick) / f64::from(HZ) * 1.4 + number;
    let (leg, along) = ((along / 10.0).floor(), along % 10.0);
    let is_back = leg as u32 % 2 == 1;
    let x = place[0] + if is_back { 10.0 - along } else { along };
    let heading = if is_back { std::f64::consts::PI } else { 0.0 };
    Place { position: [x, place[1], place[2]], rotation: around([0.0, 0.0, 1.0], heading) }
}

/// The mean bits of a packet of these states.
fn bits(codec: &Codec, states: &[Snapshot]) -> Outcome<f64> {
    let mut encoder = Encoder::new(codec);
    let mut views: Vec<View> = Vec::new();
    let (mut bytes, mut packets) = (0, 0);
    for state in states {
        let known: Vec<&View> = match views.len().checked_sub(LAG_TICKS) {
            Some(newest) => views[..=newest].iter().rev().take(1 + Baselines::OLDER).collect(),
            None => {
                views.push(View::from(state.clone()));
                continue;
            }
        };
        let mut packet = Vec::new();
        views.push(encoder.encode(Baselines::new(known)?, state, &mut packet)?);
        bytes += packet.len();
        packets += 1;
    }
    Ok(bytes as f64 * 8.0 / f64::from(packets))
}

/// Plays a voyage over a link. Returns the errors in millimetres.
fn play(way: Way, codec: &Codec, states: &[Snapshot], config: LinkConfig) -> Outcome<Distribution> {
    let mut hub = Hub::new(codec, HubConfig::default())?;
    hub.add(RECEIVER, &ReceiverOptions::default(), Duration::ZERO)?;
    let mut receiver = Receiver::new(codec, ReceiverConfig::at_hz(HZ))?;
    let (mut down, mut up) = (Link::new(config, 1)?, Link::new(config, 2)?);
    let mut errors = Distribution::default();
    for state in states {
        let now = Duration::from_secs(1) * state.tick.0 / HZ;
        while let Some(datagram) = up.poll(now) {
            hub.handle(RECEIVER, now, &datagram)?;
        }
        hub.tick(now, state)?;
        while let Some((_, datagram)) = hub.poll_transmit() {
            down.send(now, datagram);
        }
        // Frames are drawn at 144 Hz, which is not a multiple of the ticks.
        let first = u64::from(state.tick.0) * 144 / u64::from(HZ);
        let next = u64::from(state.tick.0 + 1) * 144 / u64::from(HZ);
        for frame in first..next {
            let now = now.max(Duration::from_secs(frame) / 144);
            while let Some(datagram) = down.poll(now) {
                // Copies are refused.
                let _ = receiver.handle(now, &datagram);
            }
            while let Some(datagram) = receiver.poll_transmit(now) {
                up.send(now, datagram);
            }
            if let Some(playback) = receiver.playback(now) {
                way.errors(&playback, &mut errors)?;
            }
        }
    }
    Ok(errors)
}

fn main() -> Outcome<()> {
    let arguments = Arguments::parse();
    let config = LinkConfig::named(&arguments.link).ok_or("no such link")?;
    let mut rows: Vec<[String; 6]> = Vec::new();
    for way in [Way::World, Way::Frames] {
        let schema = way.schema()?;
        let voyage = |seed, passengers, seconds: u32| -> Outcome<Vec<Snapshot>> {
            (1..=seconds * HZ).map(|tick| way.state(&schema, tick, passengers, seed)).collect()
        };
        let other = voyage(1, arguments.passengers, 30)?;
        let training = Training {
            packed_lag_ticks: LAG_TICKS as u32,
            ..Training::new(Profile::magnitudes(&schema), None)
        };
        let trained = training.run(&schema, &[other], |_| ())?;
        let states = voyage(0, arguments.passengers, arguments.seconds)?;
        let alone = voyage(0, 0, arguments.seconds)?;
        let untrained = Profile::untrained(&schema);
        for (name, level, profile) in [
            ("packed, untrained", Level::PACKED, &untrained),
            ("adaptive, untrained", Level::ADAPTIVE, &untrained),
            ("adaptive, trained", Level::ADAPTIVE, &trained),
        ] {
            let codec = Codec::new(schema.clone(), level, profile.clone())?;
            let of_riders = bits(&codec, &states)? - bits(&codec, &alone)?;
            let errors = play(way, &codec, &states, config)?.summary();
            rows.push([
                if way == Way::Frames { "frames" } else { "in the world" }.to_owned(),
                name.to_owned(),
                format!("{of_riders:.0}"),
                format!("{:.1}", of_riders / f64::from(arguments.passengers)),
                format!("{:.2}", errors.p99),
                format!("{:.2}", errors.max),
            ]);
        }
    }
    let titles = ["passengers", "level", "bits a packet", "bits a passenger", "p99 mm", "max mm"];
    println!("{}", table(titles, 2, rows).trim_fmt());
    Ok(())
}
