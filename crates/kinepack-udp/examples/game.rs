//! A small game over encrypted UDP: a server, two clients, ships, and inputs from the clients.
//!
//! `cargo run -p kinepack-udp --example game`
//!
//! The server simulates 20 ticks a second. The clients draw 60 frames a second and send an input
//! with each. Copy `serve` to your server and `play` to your client.

use std::collections::BTreeMap;
use std::error::Error;
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use kinepack::stream::{StreamCodec, StreamLevel};
use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_net::{
    DatagramKind, Hub, HubConfig, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions,
    StreamConfig, StreamReceiver, StreamSender, datagram_kind, split_datagram,
};
use kinepack_udp::{
    ClientOptions, ClientState, MAX_OVERHEAD_BYTES, Secret, ServerEvent, ServerOptions, UdpClient,
    UdpServer, header_bytes,
};

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

// Both sides make the same codecs and settings.

fn codec() -> Result<Codec, Box<dyn Error>> {
    let schema = Schema::of::<Ship>();
    Ok(Codec::new(schema.clone(), Level::ADAPTIVE, Profile::untrained(&schema))?)
}

fn inputs() -> Result<(StreamCodec, StreamConfig), Box<dyn Error>> {
    Ok((StreamCodec::of::<Input>(StreamLevel::Packed)?, StreamConfig::at_hz(INPUT_HZ)))
}

/// What the server has for each client.
struct Player {
    inputs: StreamReceiver,
    ship: EntityId,
}

/// The server. Ends when the last client has left.
fn serve(mut socket: UdpServer) -> Result<(), Box<dyn Error>> {
    let codec = codec()?;
    let (input_codec, input_config) = inputs()?;
    // A budget counts the bytes that encryption, UDP and IP add.
    let overhead_bytes = MAX_OVERHEAD_BYTES + header_bytes(socket.local_addr());
    let mut hub = Hub::new(&codec, HubConfig { overhead_bytes, ..HubConfig::default() })?;
    let mut players: BTreeMap<u64, Player> = BTreeMap::new();
    let mut ships: BTreeMap<EntityId, Ship> = BTreeMap::new();
    let (mut next_id, mut had_players) = (0, false);
    let mut snapshot = Snapshot::new(codec.schema(), Tick(0));
    let (mut events, mut datagram) = (Vec::new(), Vec::new());
    let start = Instant::now();
    for tick in 1.. {
        thread::sleep((Duration::from_secs(1) * tick / TICK_HZ).saturating_sub(start.elapsed()));
        let now = start.elapsed();

        events.clear();
        socket.poll(&mut events);
        for event in &events {
            match event {
                ServerEvent::Connected { client, .. } => {
                    hub.add(ReceiverId(*client), &ReceiverOptions::default(), now)?;
                    let ship = EntityId(next_id);
                    next_id += 1; // a new id for each ship: ids of removed ones are not used again
                    ships.insert(ship, Ship { position: [0.0; 2], shield: 100 });
                    let inputs = StreamReceiver::new(&input_codec, input_config)?;
                    players.insert(*client, Player { inputs, ship });
                }
                ServerEvent::Disconnected { client, .. } => {
                    hub.remove(ReceiverId(*client));
                    if let Some(player) = players.remove(client) {
                        ships.remove(&player.ship);
                    }
                }
                ServerEvent::Datagram { client, payload } => {
                    let Some(player) = players.get_mut(client) else { continue };
                    let Ok(parts) = split_datagram(socket.payload(payload)) else { continue };
                    for part in parts {
                        match datagram_kind(part) {
                            Some(DatagramKind::ToHub) => {
                                // An error means that the datagram was refused. Nothing changed.
                                if let Err(refused) = hub.handle(ReceiverId(*client), now, part) {
                                    println!("server: refused: {refused}");
                                }
                            }
                            Some(DatagramKind::StreamPacket) => {
                                let Ok(handled) = player.inputs.handle(now, part) else { continue };
                                for record in handled.records() {
                                    let input: Input = record.read()?;
                                    if let Some(ship) = ships.get_mut(&player.ship) {
                                        steer(ship, input);
                                    }
                                }
                            }
                            _ => {}
                        }
                    }
                }
            }
        }
        had_players |= !players.is_empty();
        if had_players && players.is_empty() {
            break;
        }

        snapshot.clear(Tick(tick));
        for (id, ship) in &ships {
            snapshot.push(*id, ship)?; // ids must increase; a BTreeMap keeps them sorted
        }
        if let Err(failed) = hub.tick(now, &snapshot) {
            for error in failed.each() {
                // An error names the receiver that it concerns, or concerns all of them.
                let Some(ReceiverId(client)) = error.receiver() else {
                    return Err(failed.into());
                };
                println!("server: {error}");
                hub.remove(ReceiverId(client));
                socket.disconnect(client);
                if let Some(player) = players.remove(&client) {
                    ships.remove(&player.ship);
                }
            }
        }
        while let Some((receiver, state)) = hub.poll_transmit() {
            datagram.clear();
            // Three bytes in front acknowledge the client's inputs.
            let player = players.get(&receiver.0);
            if let Some(acknowledgement) = player.and_then(|player| player.inputs.acknowledgement())
            {
                datagram.extend_from_slice(&acknowledgement.to_bytes());
            }
            datagram.extend_from_slice(state);
            socket.send(receiver.0, &datagram).ok();
        }
    }
    socket.close();
    Ok(())
}

fn steer(ship: &mut Ship, input: Input) {
    for (position, steer) in ship.position.iter_mut().zip(input.steer) {
        *position = (*position + steer * 60.0 / INPUT_HZ as f32).clamp(-2000.0, 2000.0);
    }
}

/// A client. Plays for some time and returns the ships that it shows at the end.
fn play(
    server: SocketAddr,
    secret: &Secret,
    time: Duration,
) -> Result<BTreeMap<EntityId, Ship>, Box<dyn Error>> {
    let mut socket = UdpClient::connect(server, secret, ClientOptions::new(GAME))?;
    let mut receiver = Receiver::new(&codec()?, ReceiverConfig::at_hz(TICK_HZ))?;
    let (input_codec, input_config) = inputs()?;
    let mut inputs = StreamSender::new(&input_codec, input_config)?;
    let mut scene: BTreeMap<EntityId, Ship> = BTreeMap::new();
    let start = Instant::now();
    while start.elapsed() < time {
        let now = start.elapsed();
        socket.poll(&mut |payload| {
            for part in split_datagram(payload).into_iter().flatten() {
                match datagram_kind(part) {
                    Some(DatagramKind::ToReceiver) => drop(receiver.handle(now, part)),
                    Some(DatagramKind::StreamAcknowledgement) => drop(inputs.handle(part)),
                    _ => {}
                }
            }
        });
        match socket.state() {
            ClientState::Connecting => {}
            ClientState::Lost { reason } => return Err(format!("no connection: {reason:?}").into()),
            ClientState::Connected => {
                // Hellos and acknowledgements.
                while let Some(datagram) = receiver.poll_transmit(now) {
                    socket.send(datagram)?;
                }
                inputs.push(&Input { steer: [1.0, 0.5] })?;
                while let Some(datagram) = inputs.poll_transmit() {
                    socket.send(datagram)?;
                }
            }
        }
        // The server refused this client: another version of the game, for example.
        if let Some(mismatch) = receiver.mismatch() {
            return Err(mismatch.describe(&Schema::of::<Ship>()).into());
        }
        if let Some(playback) = receiver.playback(now) {
            for id in playback.removed() {
                scene.remove(id); // despawn it
            }
            for sample in playback.samples() {
                if scene.insert(sample.id, sample.state()?).is_none() {
                    println!("client: ship {} appears", sample.id.0); // spawn it
                }
            }
        }
        thread::sleep((Duration::from_secs(1) / INPUT_HZ).saturating_sub(start.elapsed() - now));
    }
    socket.close();
    Ok(scene)
}

/// Runs a server and two clients. Returns the ships that each client shows at the end.
pub(crate) fn run(time: Duration) -> Result<Vec<BTreeMap<EntityId, Ship>>, Box<dyn Error>> {
    let secret = Secret::parse("a passphrase of your own")?;
    let socket = UdpServer::bind("127.0.0.1:0".parse()?, &secret, ServerOptions::new(GAME))?;
    let address = socket.local_addr();
    // Errors of the threads become texts, because not all of them can change threads.
    thread::scope(|scope| {
        let server = scope.spawn(|| serve(socket).map_err(|error| error.to_string()));
        let play = || play(address, &secret, time).map_err(|error| error.to_string());
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
