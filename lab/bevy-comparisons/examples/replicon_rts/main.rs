//! Replicates the world of `bevy_replicon`'s example `authoritative_rts` by replicon alone, and
//! with Kinepack for the motion. Measures the bytes on the wire, and the server's time for a tick.
//!
//! `cargo run --release -p bevy-comparisons --example replicon_rts`
//!
//! `alone.rs` replicates the game as the original does, and `beside.rs` replicates it with both
//! libraries. `diff` shows the differences. `by_hand.rs` is `alone.rs` with transforms that the
//! game quantizes itself.
//!
//! The program has three options. `--seconds 30` sets the length, and `--clients 1` the number of
//! clients, up to 7. `--units 200` sets the number of units for each player. Without `--units`, the
//! program runs with 20 and then with 200.

mod alone;
mod beside;
mod by_hand;
mod game;
#[path = "../beside_replicon/network.rs"]
mod network;
mod players;
#[path = "../beside_replicon/session.rs"]
mod session;

use std::error::Error;
use std::ops::Range;
use std::time::Instant;

use beside::UnitKind;
use bevy_app::{App, FixedUpdate};
use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use bevy_replicon::shared::server_entity_map::ServerEntityMap;
use bevy_time::TimePlugin;
use bevy_transform::components::Transform;
use game::{LocalTeam, Marching, Team, Unit};
use kinepack::profile::Bodies;
use kinepack::training::Training;
use kinepack::{EncodeError, EntityId, Level, Profile, Schema, Snapshot, Tick};
use kinepack_bevy::{MotionClientPlugin, MotionServerPlugin, MotionSettings, Part, Pose};
use kinepack_net::HubConfig;
use players::Player;
use session::{GameTime, Session, option};

/// The usual rate of Bevy's `FixedUpdate`.
pub(crate) const TICK_HZ: u32 = 64;

/// Half the length of a unit, in points.
const RADIUS: f64 = 8.0;

/// A battle to be measured.
#[derive(Clone, Copy)]
struct Battle {
    /// The number of units of each player. The server has one player, and each client has one.
    units: u32,
    clients: u32,
    ticks: u32,
    seed: u64,
}

impl Battle {
    /// Returns the number of ticks in which players connect and place their units. These two
    /// seconds are not measured.
    fn warm_up_ticks(&self) -> u32 {
        self.units + 2 * TICK_HZ
    }

    fn end_tick(&self) -> u32 {
        self.warm_up_ticks() + self.ticks
    }

    fn player(&self, number: u32) -> Player {
        Player {
            team: Team::ALL[number as usize % Team::ALL.len()],
            units: self.units as usize,
            last_tick: self.end_tick(),
            seed: self.seed * 100 + u64::from(number),
        }
    }

    /// Makes the server's app. The server has a player too.
    fn server(&self, mut app: App) -> App {
        let player = self.player(0);
        app.insert_resource(LocalTeam(player.team)).init_resource::<GameTime>().add_systems(
            FixedUpdate,
            (
                (|mut commands: Commands| commands.insert_resource(Begin(Instant::now())))
                    .before(Marching),
                (|begin: Res<Begin>, mut time: ResMut<GameTime>| time.0 += begin.0.elapsed())
                    .after(Marching),
            ),
        );
        players::add(&mut app, player);
        app
    }

    fn clients(&self, app: &dyn Fn() -> App) -> Vec<App> {
        let client = |number| {
            let mut app = app();
            players::add(&mut app, self.player(number));
            app
        };
        (1..=self.clients).map(client).collect()
    }

    fn session(&self, server: App, client: &dyn Fn() -> App) -> Result<Session, Box<dyn Error>> {
        Session::new(self.server(server), self.clients(client), TICK_HZ, units_of)
    }

    fn ticks(&self) -> Range<u32> {
        self.warm_up_ticks()..self.end_tick()
    }

    /// Returns a profile for the units, trained on another battle.
    fn train(&self) -> Result<Vec<u8>, Box<dyn Error>> {
        let schema = Schema::builder().kind::<UnitKind>("unit").build()?;
        let mut ticks = Vec::new();
        let another = Self { seed: self.seed + 1, ..*self };
        let session = another.session(alone::app(), &alone::app)?;
        session.watch(another.ticks(), |server| ticks.push(transforms_of(server)));
        let snapshot = |(tick, units): (u32, &Vec<(u64, Transform)>)| {
            let mut snapshot = Snapshot::new(&schema, Tick(tick));
            let poses = units.iter().map(|(_, transform)| (Pose::read(transform),));
            snapshot.extend::<UnitKind>((0..).map(EntityId).zip(poses))?;
            Ok(snapshot)
        };
        let run: Vec<Snapshot> =
            (0..).zip(&ticks).map(snapshot).collect::<Result<_, EncodeError>>()?;
        let structure = Profile::untrained(&schema);
        let training = Training {
            passes: 4,
            snapshots_per_pass: 400,
            ..Training::new(
                Profile { model: None, ..structure },
                Bodies::from_schema(&schema, 2, [RADIUS; 3], None),
            )
        };
        Ok(training.run(&schema, &[run], |_| ())?.to_bytes())
    }
}

/// The time at which the game's systems began in the present tick.
#[derive(Resource)]
struct Begin(Instant);

/// Returns the transforms of all units, each with the unit's entity on the server.
fn transforms_of(app: &mut App) -> Vec<(u64, Transform)> {
    let world = app.world_mut();
    let mut units = world.query_filtered::<(Entity, &Transform), With<Unit>>();
    let map = world.resource::<ServerEntityMap>().to_server();
    let number = |unit: Entity| map.get(&unit).copied().unwrap_or(unit).to_bits();
    let numbered = |(unit, transform): (Entity, &Transform)| (number(unit), *transform);
    let mut units: Vec<_> = units.iter(world).map(numbered).collect();
    units.sort_unstable_by_key(|(number, _)| *number);
    units
}

fn units_of(app: &mut App) -> Vec<(u64, Vec3)> {
    let units = transforms_of(app).into_iter();
    units.map(|(number, transform)| (number, transform.translation)).collect()
}

/// Returns the share of units that move in a tick, on average.
fn moving_ratio(battle: Battle) -> Result<f64, Box<dyn Error>> {
    let (mut before, mut moving, mut all) = (Vec::new(), 0, 0);
    let session = battle.session(alone::app(), &alone::app)?;
    session.watch(battle.ticks(), |server| {
        let now = transforms_of(server);
        if !before.is_empty() {
            moving += now.iter().zip(&before).filter(|(a, b)| a != b).count();
            all += now.len();
        }
        before = now;
    });
    Ok(moving as f64 / f64::from(all.max(1) as u32))
}

/// Measures all ways to replicate a battle, and prints a table.
fn compare(battle: Battle) -> Result<(), Box<dyn Error>> {
    let profile = battle.train()?;
    let measure = |server: App, client: &dyn Fn() -> App, tolerance| {
        battle.session(server, client)?.measure(battle.ticks(), tolerance)
    };
    let mut silent = App::new();
    silent.add_plugins(TimePlugin);
    let silent =
        Session::new(silent, Vec::new(), TICK_HZ, |_| Vec::new())?.measure(0..1_000, 0.0)?;
    let alone = measure(alone::app(), &alone::app, 0.0)?;
    let by_hand = measure(by_hand::app(), &by_hand::app, 0.1)?;
    let beside = |settings: MotionSettings| {
        let of_client = MotionClientPlugin::new(settings.clone());
        // All units of eight players together need this number of datagrams.
        let hub = HubConfig { datagrams_per_tick: 16, ..HubConfig::default() };
        let server = beside::app(MotionServerPlugin { hub, ..MotionServerPlugin::new(settings) });
        measure(server, &|| beside::app(of_client.clone()), 0.1)
    };
    let at = |level| MotionSettings { level, ..MotionSettings::at_hz(TICK_HZ) };
    let trained =
        || MotionSettings { profile: Some(profile.clone().into()), ..at(Level::LEARNING) };
    let late = MotionSettings { time_precision_ms: Some(2.0), ..trained() };
    let rows = [
        ("`bevy_replicon` alone", alone),
        ("alone, transforms quantized by hand", by_hand),
        ("with Kinepack, `PACKED`", beside(at(Level::PACKED))?),
        ("with Kinepack, `ADAPTIVE`, the default", beside(at(Level::ADAPTIVE))?),
        ("with Kinepack, `LEARNING`", beside(at(Level::LEARNING))?),
        ("`LEARNING`, trained", beside(trained())?),
        ("`LEARNING`, trained, 2 ms", beside(late)?),
    ];
    session::print(&rows, silent, f64::from(battle.ticks) / f64::from(TICK_HZ));
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let (seconds, clients) = (option("--seconds", 30)?, option("--clients", 1)?);
    println!(
        "{TICK_HZ} Hz for {seconds} s, {clients} clients, 100 ms round trip, 1 % loss. Bytes are \
         those of the first client.\nThe time is the server's, for all clients, without the game \
         itself."
    );
    let units = match option("--units", 0)? {
        0 => vec![20, 200],
        units => vec![units],
    };
    for units in units {
        let battle = Battle { units, clients, ticks: seconds * TICK_HZ, seed: 1 };
        let moving = moving_ratio(battle)? * 100.0;
        println!(
            "\n{} players with {units} units each, {moving:.0} % of them moving:\n",
            clients + 1
        );
        compare(battle)?;
    }
    Ok(())
}
