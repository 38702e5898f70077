//! A small game over encrypted UDP, with a server, two clients, ships, and inputs from the clients.
//!
//! `cargo run -p kinepack-udp --example game`
//!
//! The server simulates 20 ticks per second. The clients draw 60 frames per second and send an
//! input with each frame. Copy `server.rs` to your server, `client.rs` to your client, and the
//! types and settings below to both.

mod client;
mod server;

use std::collections::BTreeMap;
use std::error::Error;
use std::thread;
use std::time::Duration;

use kinepack::stream::{StreamCodec, StreamLevel};
use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema};
use kinepack_net::StreamConfig;
use kinepack_udp::{Secret, ServerOptions, UdpServer};

const GAME: u64 = u64::from_le_bytes(*b"ships   ");
const TICK_HZ: u32 = 20;
const INPUT_HZ: u32 = 60;

#[derive(Pack, Clone, Copy)]
pub(crate) struct Ship {
    #[pack(range = -2000.0..=2000.0, precision = 0.01)] // metres
    position: [f32; 2],
    #[pack(max = 100)]
    shield: u8,
}

#[derive(Pack, Clone, Copy)]
struct Input {
    #[pack(range = -1.0..=1.0, precision = 0.01)]
    steer: [f32; 2],
}

fn codec() -> Result<Codec, Box<dyn Error>> {
    let schema = Schema::of::<Ship>();
    Ok(Codec::new(schema.clone(), Level::ADAPTIVE, Profile::untrained(&schema))?)
}

fn inputs() -> Result<(StreamCodec, StreamConfig), Box<dyn Error>> {
    Ok((StreamCodec::of::<Input>(StreamLevel::Packed)?, StreamConfig::at_hz(INPUT_HZ)))
}

/// Runs a server and two clients. Returns the ships that each client shows at the end.
pub(crate) fn run(time: Duration) -> Result<Vec<BTreeMap<EntityId, Ship>>, Box<dyn Error>> {
    let secret = Secret::parse("a passphrase of your own")?;
    let socket = UdpServer::bind("127.0.0.1:0".parse()?, &secret, ServerOptions::new(GAME))?;
    let address = socket.local_addr();
    // Threads return their errors as text, because not all error types are `Send`.
    thread::scope(|scope| {
        let server = scope.spawn(|| server::serve(socket).map_err(|error| error.to_string()));
        let play = || client::play(address, &secret, time).map_err(|error| error.to_string());
        let clients = [(); 2].map(|()| scope.spawn(play));
        let scenes = clients.map(|client| client.join().unwrap_or(Err("a client panicked".into())));
        server.join().unwrap_or(Err("the server panicked".into()))?;
        Ok(scenes.into_iter().collect::<Result<_, String>>()?)
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    for (client, scene) in run(Duration::from_secs(3))?.iter().enumerate() {
        for (id, ship) in scene {
            let ([x, y], shield) = (ship.position, ship.shield);
            println!("client {client}: ship {} at {x:.1}, {y:.1} m, shield {shield}", id.0);
        }
    }
    Ok(())
}
