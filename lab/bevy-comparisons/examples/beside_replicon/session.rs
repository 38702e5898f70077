//! Runs a server and its clients over the network, in virtual time. Measures their traffic and the
//! server's time, and prints a table.

use std::error::Error;
use std::ops::Range;
use std::time::{Duration, Instant};

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use bevy_time::TimeUpdateStrategy;

use crate::network::{Connection, Traffic};

/// The number of ticks after the measured ones, in which the clients catch up.
const CATCH_UP_TICKS: u32 = 90;

/// A function that returns the positions of all entities, sorted by numbers that are the same on
/// all sides.
pub(crate) type Look = fn(&mut App) -> Vec<(u64, Vec3)>;

/// A server and its clients.
pub(crate) struct Session {
    server: App,
    clients: Vec<(App, Connection)>,
    tick_hz: u32,
    look: Look,
}

/// The time that the game itself took in this frame, which is subtracted from the measurement. A
/// server without this resource has a game that takes almost no time.
#[derive(Resource, Default)]
pub(crate) struct GameTime(pub(crate) Duration);

/// The traffic and the time of a run.
#[derive(Clone, Copy)]
pub(crate) struct Measured {
    down: Traffic,
    up: Traffic,
    /// The median time of the server's frames, without the game's time.
    frame: Duration,
}

impl Session {
    pub(crate) fn new(
        mut server: App,
        clients: Vec<App>,
        tick_hz: u32,
        look: Look,
    ) -> Result<Self, Box<dyn Error>> {
        prepare(&mut server);
        let connect = |(seed, mut client): (u64, App)| {
            prepare(&mut client);
            let connection = Connection::new(&mut server, &mut client, seed)?;
            Ok((client, connection))
        };
        let clients = (0..).zip(clients).map(connect).collect::<Result<_, Box<dyn Error>>>()?;
        Ok(Self { server, clients, tick_hz, look })
    }

    /// Runs one frame of all apps. Returns the time that the server took.
    fn step(&mut self, tick: u32) -> Duration {
        let now = Duration::from_secs(1) * tick / self.tick_hz;
        let start = Instant::now();
        self.server.update();
        let mut frame = start.elapsed();
        if let Some(mut game) = self.server.world_mut().get_resource_mut::<GameTime>() {
            frame = frame.saturating_sub(std::mem::take(&mut game.0));
        }
        for (client, connection) in &mut self.clients {
            connection.exchange_down(now, &mut self.server);
            client.update();
            connection.exchange_up(now, client);
        }
        frame
    }

    /// Returns the first client's traffic until now, in both directions.
    fn traffic(&self) -> [Traffic; 2] {
        self.clients.first().map_or_else(Default::default, |(_, first)| first.traffic())
    }

    /// Runs to the end of `ticks`, and calls `see` with the server after each tick.
    #[allow(dead_code, reason = "an example has a recording already")]
    pub(crate) fn watch(mut self, ticks: Range<u32>, mut see: impl FnMut(&mut App)) {
        for tick in 0..ticks.end {
            self.step(tick);
            if tick >= ticks.start {
                see(&mut self.server);
            }
        }
    }

    /// Runs to the end of `ticks`, and measures only these ticks. Nothing moves after them. At the
    /// end, an entity on a client may be `tolerance` away from the same entity on the server.
    pub(crate) fn measure(
        mut self,
        ticks: Range<u32>,
        tolerance: f32,
    ) -> Result<Measured, Box<dyn Error>> {
        (0..ticks.start).for_each(|tick| _ = self.step(tick));
        let before = self.traffic();
        let mut frames: Vec<Duration> = ticks.clone().map(|tick| self.step(tick)).collect();
        let after = self.traffic();
        (ticks.end..ticks.end + CATCH_UP_TICKS).for_each(|tick| _ = self.step(tick));
        let entities = (self.look)(&mut self.server);
        for (client, _) in &mut self.clients {
            let shown = (self.look)(client);
            let are_same =
                |(a, b): (&(u64, Vec3), &(u64, Vec3))| a.0 == b.0 && a.1.distance(b.1) <= tolerance;
            if shown.len() != entities.len() || !shown.iter().zip(&entities).all(are_same) {
                return Err("a client does not show what the server has".into());
            }
        }
        frames.sort_unstable();
        let [down, up] = [0, 1].map(|direction| after[direction] - before[direction]);
        Ok(Measured { down, up, frame: frames[frames.len() / 2] })
    }
}

fn prepare(app: &mut App) {
    app.insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    app.finish();
    app.cleanup();
}

/// Returns the value of an option such as `--clients`.
pub(crate) fn option(name: &str, default: u32) -> Result<u32, Box<dyn Error>> {
    let given = std::env::args().skip_while(|argument| argument != name).nth(1);
    Ok(given.map(|value| value.parse()).transpose()?.unwrap_or(default))
}

/// Prints a table. The other rows are compared with the first row. `silent` is the measurement of a
/// server that sends nothing.
pub(crate) fn print(rows: &[(&str, Measured)], silent: Measured, seconds: f64) {
    println!("| | kB/s | of alone | with headers | kB/s up, with headers | ms a tick |");
    println!("|---|--:|--:|--:|--:|--:|");
    let Some((_, alone)) = rows.first() else { return };
    let kb_per_s = |bytes: u64| bytes as f64 / 1_000.0 / seconds;
    let percent = |part: u64, all: u64| part as f64 / all as f64 * 100.0;
    for (name, Measured { down, up, frame }) in rows {
        println!(
            "| {name} | {:.1} | {:.1} % | {:.1} % | {:.1} | {:.2} |",
            kb_per_s(down.bytes),
            percent(down.bytes, alone.down.bytes),
            percent(down.bytes_with_headers(), alone.down.bytes_with_headers()),
            kb_per_s(up.bytes_with_headers()),
            frame.saturating_sub(silent.frame).as_secs_f64() * 1_000.0,
        );
    }
}
