//! Tests that bytes from outside harm nothing.

use bevy_transform::components::Transform;
use kinepack_bevy::{MotionClient, MotionServer};
use kinepack_net::{LinkConfig, ReceiverId};

use crate::support::{Session, Shield, Ship, of_all};

/// A small generator, so that each run has the same bytes.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn bytes(&mut self) -> Vec<u8> {
        let len = self.next() % 80;
        (0..len).map(|_| self.next() as u8).collect()
    }

    /// Cuts a datagram, or changes one of its bits.
    fn spoil(&mut self, datagram: &[u8]) -> Vec<u8> {
        let mut bytes = datagram.to_vec();
        let at = self.next() as usize % bytes.len().max(1);
        if self.next().is_multiple_of(2) {
            bytes.truncate(at);
        } else if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 1 << (self.next() % 8);
        }
        bytes
    }
}

#[test]
fn a_hostile_client_harms_no_other() {
    let mut session = Session::new(LinkConfig::PERFECT, 1, |_| {});
    session.server.world_mut().spawn((Ship, Shield(70)));
    let mut random = Random(7);
    let attacker = ReceiverId(99);
    let world = session.server.world_mut();
    world.resource_mut::<MotionServer>().connect(attacker, &Default::default()).expect("new");
    let mut seen = Vec::new();
    for _ in 0..300 {
        let client = session.clients[0].motion();
        seen.extend(client.outgoing.iter().map(|((), datagram)| datagram.to_vec()));
        let mut server = session.server.world_mut().resource_mut::<MotionServer>();
        for _ in 0..20 {
            let bytes = match random.next() as usize {
                at if !seen.is_empty() && at % 2 == 0 => {
                    let datagram = seen[at / 2 % seen.len()].clone();
                    random.spoil(&datagram)
                }
                _ => random.bytes(),
            };
            server.incoming.push(attacker, &bytes);
            // The bytes are also sent as if from a client that is not connected.
            server.incoming.push(ReceiverId(1_000), &bytes);
        }
        session.step();
        session.check_states();
    }
    assert!(session.server().stats().refused > 1_000);
    let shields = of_all::<Shield>(&mut session.server);
    assert_eq!(session.clients[0].entities::<Shield>(), shields);
    assert_eq!(session.clients[0].motion().stats().receiver.mismatches, 0);
}

#[test]
fn noise_from_a_server_causes_no_panic_and_the_client_recovers() {
    let mut session = Session::new(LinkConfig::PERFECT, 1, |_| {});
    let world = session.server.world_mut();
    (0..30).for_each(|x| _ = world.spawn((Ship, Transform::from_xyz(x as f32, 0.0, 0.0))));
    let mut random = Random(11);
    session.run(30);
    for step in 0..600 {
        let world = session.server.world_mut();
        let mut ships = world.query::<&mut Transform>();
        ships.iter_mut(world).for_each(|mut ship| ship.translation.y = step as f32 * 0.1);
        session.step();
        let mut client = session.clients[0].app.world_mut().resource_mut::<MotionClient>();
        // A transport that spoils datagrams breaks its promise, so wrong values may be shown for a
        // while.
        (0..5).for_each(|_| client.incoming.push((), &random.bytes()));
    }
    session.run(300);
    let ships = of_all::<Transform>(&mut session.server);
    let shown = session.clients[0].entities::<Transform>();
    assert!(shown.keys().eq(ships.keys()));
    for (id, ship) in &ships {
        assert!(shown[id].translation.distance(ship.translation) < 0.01);
    }
}
