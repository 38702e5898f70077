//! The server, with connections, the ships, and a hub that sends the ships.

use std::collections::BTreeMap;
use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

use kinepack::{EntityId, Snapshot, Tick};
use kinepack_net::{
    Budget, DatagramKind, Hub, HubConfig, ReceiverId, ReceiverOptions, StreamReceiver,
    datagram_kind, split_datagram,
};
use kinepack_udp::{MAX_OVERHEAD_BYTES, ServerEvent, UdpServer, header_bytes};

use super::{INPUT_HZ, Input, Ship, TICK_HZ, codec, inputs};

struct Player {
    inputs: StreamReceiver,
    ship: EntityId,
}

struct Server {
    socket: UdpServer,
    hub: Hub,
    players: BTreeMap<u64, Player>,
    ships: BTreeMap<EntityId, Ship>,
    next_ship: u32,
}

/// Runs the server until the last client has left.
pub(crate) fn serve(socket: UdpServer) -> Result<(), Box<dyn Error>> {
    let codec = codec()?;
    // A budget counts the bytes that encryption, UDP and IP add.
    let overhead_bytes = MAX_OVERHEAD_BYTES + header_bytes(socket.local_addr());
    let hub = Hub::new(&codec, HubConfig { overhead_bytes, ..HubConfig::default() })?;
    let (players, ships) = (BTreeMap::new(), BTreeMap::new());
    let mut server = Server { socket, hub, players, ships, next_ship: 0 };
    let mut world = Snapshot::new(codec.schema(), Tick(0));
    let (mut events, start) = (Vec::new(), Instant::now());
    for tick in 1.. {
        thread::sleep((Duration::from_secs(1) * tick / TICK_HZ).saturating_sub(start.elapsed()));
        let now = start.elapsed();
        server.socket.poll(&mut events);
        for event in events.drain(..) {
            server.handle(&event, now)?;
        }
        if server.next_ship > 0 && server.players.is_empty() {
            break;
        }
        world.clear(Tick(tick));
        for (id, ship) in &server.ships {
            world.push(*id, ship)?; // ids must increase; a BTreeMap keeps them sorted
        }
        server.send(&world, now)?;
    }
    server.socket.close();
    Ok(())
}

impl Server {
    fn handle(&mut self, event: &ServerEvent, now: Duration) -> Result<(), Box<dyn Error>> {
        match event {
            ServerEvent::Connected { client, .. } => {
                // What the client's link carries, but at most 4 Mbit/s.
                let budget = Budget::Auto { at_most: 500_000 };
                let options = ReceiverOptions { budget, ..ReceiverOptions::default() };
                self.hub.add(ReceiverId(*client), &options, now)?;
                let ship = EntityId(self.next_ship);
                self.next_ship += 1; // a new id for each ship: removed ones are not used again
                self.ships.insert(ship, Ship { position: [0.0; 2], shield: 100 });
                let (codec, config) = inputs()?;
                let inputs = StreamReceiver::new(&codec, config)?;
                self.players.insert(*client, Player { inputs, ship });
            }
            ServerEvent::Disconnected { client, .. } => self.remove(*client),
            ServerEvent::Datagram { client, payload } => {
                let Some(player) = self.players.get_mut(client) else { return Ok(()) };
                let parts = split_datagram(self.socket.payload(payload));
                for part in parts.into_iter().flatten() {
                    match datagram_kind(part) {
                        Some(DatagramKind::ToHub) => {
                            // An error means that the hub refused the datagram and nothing changed.
                            if let Err(refused) = self.hub.handle(ReceiverId(*client), now, part) {
                                println!("server: refused: {refused}");
                            }
                        }
                        Some(DatagramKind::StreamPacket) => {
                            let Ok(handled) = player.inputs.handle(now, part) else { continue };
                            for record in handled.records() {
                                if let Some(ship) = self.ships.get_mut(&player.ship) {
                                    steer(ship, record.read()?);
                                }
                            }
                        }
                        _ => {}
                    }
                }
            }
        }
        Ok(())
    }

    fn remove(&mut self, client: u64) {
        self.hub.remove(ReceiverId(client));
        if let Some(player) = self.players.remove(&client) {
            self.ships.remove(&player.ship);
        }
    }

    /// Sends each client the changes since the newest state that it acknowledged.
    fn send(&mut self, world: &Snapshot, now: Duration) -> Result<(), Box<dyn Error>> {
        if let Err(failed) = self.hub.tick(now, world) {
            for error in failed.each() {
                // An error names the receiver that it concerns, or concerns all receivers.
                let Some(ReceiverId(client)) = error.receiver() else {
                    return Err(failed.into());
                };
                println!("server: {error}");
                self.remove(client);
                self.socket.disconnect(client);
            }
        }
        let mut datagram = Vec::new();
        while let Some((ReceiverId(client), state)) = self.hub.poll_transmit() {
            datagram.clear();
            // Three bytes before the snapshot acknowledge the client's inputs.
            let player = self.players.get(&client);
            if let Some(inputs) = player.and_then(|player| player.inputs.acknowledgement()) {
                datagram.extend_from_slice(&inputs.to_bytes());
            }
            datagram.extend_from_slice(state);
            self.socket.send(client, &datagram).ok();
        }
        Ok(())
    }
}

fn steer(ship: &mut Ship, input: Input) {
    for (position, steer) in ship.position.iter_mut().zip(input.steer) {
        *position = (*position + steer * 60.0 / INPUT_HZ as f32).clamp(-2000.0, 2000.0);
    }
}
