//! Tests of clients over WebTransport on this machine.

#![cfg(feature = "web")]

use std::time::{Duration, Instant};

use bevy_app::App;
use bevy_ecs::prelude::*;
use kinepack_bevy::{
    MotionClient, MotionClientPlugin, MotionServer, MotionServerPlugin, MotionSettings,
    MotionWebClient, MotionWebClientPlugin, MotionWebServer, MotionWebServerPlugin, WebLost,
};
use kinepack_net::HubConfig;
use kinepack_udp::Secret;
use kinepack_webtransport::{
    SAFE_PAYLOAD_BYTES, Token, WebClientOptions, WebClientState, WebLostReason, WebOptions,
    WebServer,
};

use crate::support::{Ship, TICK_HZ, app, register};

struct Pair {
    server: App,
    client: App,
    address: String,
    certificate_hash: [u8; 32],
    /// The id of the last client.
    id: u64,
}

impl Pair {
    fn new() -> Self {
        let settings = MotionSettings::at_hz(TICK_HZ);
        let hub = HubConfig { datagram_bytes: SAFE_PAYLOAD_BYTES, ..HubConfig::default() };
        let of_server = MotionServerPlugin { hub, ..MotionServerPlugin::new(settings.clone()) };
        let (mut server, mut client) = (app(), app());
        server.add_plugins((of_server, MotionWebServerPlugin));
        client.add_plugins((MotionClientPlugin::new(settings), MotionWebClientPlugin));
        for app in [&mut server, &mut client] {
            register(app);
            app.finish();
            app.cleanup();
        }
        server.world_mut().spawn(Ship);
        let mut pair =
            Self { server, client, address: String::new(), certificate_hash: [0; 32], id: 0 };
        pair.listen();
        pair
    }

    fn listen(&mut self) {
        let local = "127.0.0.1:0".parse().expect("an address");
        let web = WebServer::bind(local, &Secret::insecure(), WebOptions::default());
        let web = web.expect("a free port");
        self.address = format!("https://{}/kinepack", web.local_addr());
        self.certificate_hash = web.certificate_hash();
        self.server.insert_resource(MotionWebServer::new(web));
    }

    fn connect(&mut self) {
        self.id += 1;
        let token = Token::new(&Secret::insecure(), self.id, Duration::from_secs(60));
        let url = format!("{}?token={}", self.address, token.as_str());
        let certificate_hash = Some(self.certificate_hash);
        let options = WebClientOptions { certificate_hash, ..WebClientOptions::default() };
        let connection = MotionWebClient::connect(&url, options).expect("a thread");
        self.client.insert_resource(connection);
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
        self.server.world().resource::<MotionServer>().clients().count()
    }

    /// Waits until the session is lost, and returns the reason.
    fn reason(&mut self) -> WebLostReason {
        let mut cursor = self.client.world().resource::<Messages<WebLost>>().get_cursor();
        let mut reasons = Vec::new();
        self.run_until("the session is lost", |pair| {
            let lost = pair.client.world().resource::<Messages<WebLost>>();
            reasons.extend(cursor.read(lost).map(|lost| lost.reason.clone()));
            !reasons.is_empty()
        });
        assert_eq!(reasons.len(), 1);
        reasons.remove(0)
    }
}

#[test]
fn a_client_connects_leaves_and_comes_back() {
    let mut pair = Pair::new();
    for _ in 0..2 {
        pair.connect();
        pair.run_until("the ship appears", |pair| pair.ships() == 1);
        let connection = pair.client.world().resource::<MotionWebClient>();
        assert_eq!(*connection.state(), WebClientState::Connected);
        let stats = connection.stats();
        assert!(stats.bytes_in > 0 && stats.bytes_out > 0);
        pair.client.world_mut().remove_resource::<MotionWebClient>();
        pair.run_until("the client leaves", |pair| pair.clients() == 0 && pair.ships() == 0);
    }
}

#[test]
fn a_client_hears_that_the_server_is_gone_and_joins_the_next_one() {
    let mut pair = Pair::new();
    pair.connect();
    pair.run_until("the ship appears", |pair| pair.ships() == 1);
    pair.server.world_mut().remove_resource::<MotionWebServer>();
    assert_eq!(pair.reason(), WebLostReason::Dropped);
    assert!(!pair.client.world().resource::<MotionClient>().is_connected());
    pair.run_until("the ship disappears", |pair| pair.ships() == 0 && pair.clients() == 0);
    pair.listen();
    pair.connect();
    pair.run_until("the ship appears again", |pair| pair.ships() == 1);
}

#[test]
fn a_client_with_a_used_token_hears_why() {
    let mut pair = Pair::new();
    pair.connect();
    pair.run_until("the ship appears", |pair| pair.ships() == 1);
    pair.id -= 1;
    pair.connect();
    let reason = pair.reason();
    assert!(matches!(reason, WebLostReason::NoSession { .. }), "{reason}");
    assert!(reason.to_string().contains("used"), "{reason}");
}
