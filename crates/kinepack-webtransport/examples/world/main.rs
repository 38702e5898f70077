//! A whole game server for browsers, with a world of ships, and clients by WebTransport or
//! WebSocket. `site.rs` serves the pages that show the world.
//!
//! Run `cargo run --release -p kinepack-webtransport --example world`, then open
//! `http://127.0.0.1:8080/`. For the pages with three.js, first run `npm install three` in
//! `crates/kinepack-webtransport/examples/world/`.

mod site;

use std::error::Error;
use std::hash::{BuildHasher, RandomState};
use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};

use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_net::{Hub, HubConfig, ReceiverId, ReceiverOptions};
use kinepack_udp::{Secret, ServerEvent};
use kinepack_webtransport::{SAFE_PAYLOAD_BYTES, WebOptions, WebServer};
use site::Site;

const TICK_HZ: u32 = 60;
const LEVEL: Level = Level::ADAPTIVE;
const SHIPS: u32 = 200;

#[derive(Pack)]
struct Ship {
    #[pack(range = -64.0..64.0, precision = 0.01)] // metres
    position: [f32; 3],
    #[pack(rotation, bits = 9)]
    rotation: [f32; 4],
    #[pack(max = 100)]
    shield: u8,
}

fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1);
    let address: SocketAddr = address.as_deref().unwrap_or("127.0.0.1:8080").parse()?;
    let schema = Schema::of::<Ship>();
    let codec = Codec::new(schema.clone(), LEVEL, Profile::untrained(&schema))?;
    let config = HubConfig { datagram_bytes: SAFE_PAYLOAD_BYTES, ..HubConfig::default() };
    let mut hub = Hub::new(&codec, config)?;

    // A real site reads one secret for all its servers from a file.
    let digits: String =
        (0..4).map(|part| format!("{:016x}", RandomState::new().hash_one(part))).collect();
    let secret = Secret::parse(&digits)?;
    let listener = TcpListener::bind(address)?;
    let address = listener.local_addr()?;
    let mut server = WebServer::bind(address, &secret, WebOptions::default())?;
    let site = Site::new(secret, server.door(), &schema)?;
    std::thread::spawn(move || site.serve(listener));
    println!("open http://{address}/");

    let (start, mut events) = (Instant::now(), Vec::new());
    let mut world = Snapshot::new(&schema, Tick(0));
    for tick in 1.. {
        let now = start.elapsed();
        server.poll(&mut events);
        for event in events.drain(..) {
            match event {
                ServerEvent::Connected { client, .. } => {
                    hub.add(ReceiverId(client), &ReceiverOptions::default(), now)?;
                }
                ServerEvent::Datagram { client, payload } => {
                    // A refused datagram changes nothing.
                    hub.handle(ReceiverId(client), now, server.payload(&payload)).ok();
                }
                ServerEvent::Disconnected { client, .. } => {
                    hub.remove(ReceiverId(client));
                }
            }
        }
        fly(&mut world, tick)?;
        if let Err(failed) = hub.tick(now, &world) {
            for error in failed.each() {
                // An error names the receiver that it concerns, or concerns all receivers.
                let Some(ReceiverId(client)) = error.receiver() else {
                    return Err(failed.into());
                };
                eprintln!("{error}");
                hub.remove(ReceiverId(client));
                server.disconnect(client);
            }
        }
        while let Some((ReceiverId(client), datagram)) = hub.poll_transmit() {
            server.send(client, datagram).ok();
        }
        let due = Duration::from_secs(1) * tick / TICK_HZ;
        std::thread::sleep(due.saturating_sub(start.elapsed()));
    }
    Ok(())
}

/// Moves the ships on circles. Some of them rest.
fn fly(world: &mut Snapshot, tick: u32) -> Result<(), Box<dyn Error>> {
    world.clear(Tick(tick));
    let time_s = tick as f32 / TICK_HZ as f32;
    for ship in 0..SHIPS {
        let lane = (ship % 20) as f32;
        let speed = if ship % 3 == 0 { 0.0 } else { 0.1 + 0.02 * lane };
        let angle = ship as f32 * 0.7 + time_s * speed;
        let radius = 8.0 + 2.5 * lane;
        let position = [radius * angle.cos(), radius * angle.sin(), (angle * 3.0).sin()];
        let half = angle / 2.0;
        let rotation = [0.0, 0.0, half.sin(), half.cos()];
        let shield = if speed > 0.0 { (tick / 30 + ship) % 101 } else { 100 } as u8;
        world.push(EntityId(ship), &Ship { position, rotation, shield })?;
    }
    Ok(())
}
