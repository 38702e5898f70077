//! Tests of connections over real sockets on this machine.

#![cfg(feature = "udp")]

use std::time::{Duration, Instant};

use bevy_app::App;
use bevy_ecs::prelude::*;
use kinepack_bevy::{
    MotionClient, MotionClientPlugin, MotionServer, MotionServerPlugin, MotionSettings,
    MotionUdpClient, MotionUdpClientPlugin, MotionUdpServer, MotionUdpServerPlugin, UdpLost,
};
use kinepack_udp::{ClientOptions, ClientState, LostReason, Secret, ServerOptions};

use crate::support::{Ship, TICK_HZ, app, register};

const GAME: u64 = 7;

struct Pair {
    server: App,
    client: App,
    connection: Box<dyn Fn() -> MotionUdpClient>,
}

impl Pair {
    fn new() -> Self {
        let secret = Secret::insecure();
        let address = "127.0.0.1:0".parse().expect("an address");
        let socket = MotionUdpServer::bind(address, &secret, ServerOptions::new(GAME));
        let socket = socket.expect("a free port");
        let address = socket.local_addr();
        let settings = MotionSettings::at_hz(TICK_HZ);
        let (mut server, mut client) = (app(), app());
        server
            .add_plugins((MotionServerPlugin::new(settings.clone()), MotionUdpServerPlugin))
            .insert_resource(socket);
        client.add_plugins((MotionClientPlugin::new(settings), MotionUdpClientPlugin));
        for app in [&mut server, &mut client] {
            register(app);
            app.finish();
            app.cleanup();
        }
        let connection = move || {
            let options = ClientOptions::new(GAME);
            MotionUdpClient::connect(address, &secret, options).expect("a socket")
        };
        server.world_mut().spawn(Ship);
        Self { server, client, connection: Box::new(connection) }
    }

    fn connect(&mut self) {
        self.client.insert_resource((self.connection)());
    }

    /// Runs both apps until `is_met` returns true, for at most ten seconds.
    fn run_until(&mut self, what: &str, mut is_met: impl FnMut(&mut Self) -> bool) {
        let start = Instant::now();
        while !is_met(self) {
            assert!(start.elapsed() < Duration::from_secs(10), "never happened: {what}");
            self.server.update();
            self.client.update();
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn ships(&mut self) -> usize {
        let world = self.client.world_mut();
        world.query::<&Ship>().iter(world).count()
    }

    fn clients(&self) -> usize {
        let server = self.server.world().get_resource::<MotionServer>();
        server.map_or(0, |server| server.clients().count())
    }
}

#[test]
fn a_client_connects_leaves_and_comes_back() {
    let mut pair = Pair::new();
    for _ in 0..2 {
        pair.connect();
        pair.run_until("the ship appears", |pair| pair.ships() == 1);
        let connection = pair.client.world().resource::<MotionUdpClient>();
        assert_eq!(connection.state(), ClientState::Connected);
        assert!(connection.stats().bytes_in > 0);
        pair.client.world_mut().remove_resource::<MotionUdpClient>();
        pair.run_until("the client leaves", |pair| pair.clients() == 0 && pair.ships() == 0);
    }
}

#[test]
fn a_client_hears_that_the_server_is_gone() {
    let mut pair = Pair::new();
    pair.connect();
    pair.run_until("the ship appears", |pair| pair.ships() == 1);
    pair.server.world_mut().remove_resource::<MotionUdpServer>();
    let mut cursor = pair.client.world().resource::<Messages<UdpLost>>().get_cursor();
    let mut reasons = Vec::new();
    pair.run_until("the connection is lost", |pair| {
        let lost = pair.client.world().resource::<Messages<UdpLost>>();
        reasons.extend(cursor.read(lost).map(|lost| lost.reason));
        !reasons.is_empty()
    });
    assert_eq!(reasons, [LostReason::Dropped]);
    assert!(!pair.client.world().resource::<MotionClient>().is_connected());
    assert_eq!(pair.clients(), 0);
    pair.run_until("the ship disappears", |pair| pair.ships() == 0);
}
