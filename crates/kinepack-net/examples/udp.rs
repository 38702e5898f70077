//! A server and a client on one machine, over plain UDP. The README shows this example.
//!
//! `cargo run -p kinepack-net --example udp`

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_net::{Hub, HubConfig, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions};

#[derive(Pack)]
struct Ship {
    #[pack(range = -4096.0..4096.0, precision = 0.01)] // metres
    position: [f32; 3],
    #[pack(max = 100)]
    shield: u8,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let schema = Schema::of::<Ship>(); // both sides make the same codec
    let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
    let (server, client) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
    server.connect(client.local_addr()?)?;
    client.connect(server.local_addr()?)?;
    server.set_nonblocking(true)?;
    client.set_nonblocking(true)?;

    let (mut hub, player) = (Hub::new(&codec, HubConfig::default())?, ReceiverId(1));
    hub.add(player, &ReceiverOptions::default(), Duration::ZERO)?;
    let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(60))?; // ticks a second
    let mut world = Snapshot::new(&schema, Tick(0));
    let (start, mut buffer) = (Instant::now(), [0; 1_200]);
    for tick in 1..=60 {
        let now = start.elapsed();
        // The client sends hellos until a datagram arrives, then acknowledgements.
        while let Some(datagram) = receiver.poll_transmit(now) {
            client.send(datagram)?;
        }
        // The server reads datagrams and sends the world. A refused datagram changes nothing.
        while let Ok(bytes) = server.recv(&mut buffer) {
            hub.handle(player, now, &buffer[..bytes]).ok();
        }
        world.clear(Tick(tick));
        for id in 0..100 {
            let position = [id as f32, tick as f32 * 0.1, 0.0];
            world.push(EntityId(id), &Ship { position, shield: 100 })?; // ids must increase
        }
        hub.tick(now, &world)?;
        while let Some((_, datagram)) = hub.poll_transmit() {
            server.send(datagram)?;
        }
        // The client draws a moment between two states.
        while let Ok(bytes) = client.recv(&mut buffer) {
            receiver.handle(now, &buffer[..bytes]).ok();
        }
        if let Some(playback) = receiver.playback(now) {
            for sample in playback.samples() {
                let ship: Ship = sample.state()?;
                assert_eq!(ship.shield, 100); // draw it here
            }
        }
        std::thread::sleep(Duration::from_micros(16_667));
    }
    println!("{:?}", receiver.stats());
    assert!(receiver.stats().received > 0);
    Ok(())
}
