//! Tests a client that joins over WebTransport, as a page does, alongside a client over UDP.

#![cfg(all(feature = "udp", feature = "web"))]

use std::time::{Duration, Instant};

use bevy_app::App;
use kinepack_bevy::{
    MotionAppExt, MotionClientPlugin, MotionServer, MotionServerPlugin, MotionSettings,
    MotionUdpClient, MotionUdpClientPlugin, MotionUdpServer, MotionUdpServerPlugin,
    MotionWebServer, MotionWebServerPlugin,
};
use kinepack_net::{HubConfig, Receiver, ReceiverConfig};
use kinepack_udp::{ClientOptions, Secret, ServerOptions};
use kinepack_webtransport::{SAFE_PAYLOAD_BYTES, Token, WebOptions, WebServer};
use wtransport::endpoint::ConnectOptions;
use wtransport::tls::Sha256Digest;
use wtransport::{ClientConfig, Connection, Endpoint};

use crate::support::{Shield, Ship, ShipPose, TICK_HZ, app};

const GAME: u64 = 7;
const ORIGIN: &str = "http://127.0.0.1:8080";
const PATIENCE: Duration = Duration::from_secs(20);

fn register(app: &mut App) {
    app.add_motion_kind::<(Ship, ShipPose, Shield)>("ship");
}

/// A page, with a connection and the receiver of the npm package.
struct Page {
    connection: Connection,
    receiver: Receiver,
    start: Instant,
}

impl Page {
    async fn step(&mut self) {
        let now = self.start.elapsed();
        while let Some(datagram) = self.receiver.poll_transmit(now) {
            self.connection.send_datagram(datagram).ok();
        }
        let wait = Duration::from_millis(1);
        while let Ok(Ok(datagram)) =
            tokio::time::timeout(wait, self.connection.receive_datagram()).await
        {
            self.receiver.handle(self.start.elapsed(), &datagram).ok();
        }
    }
}

fn ready(app: &mut App) {
    app.finish();
    app.cleanup();
}

#[test]
fn a_page_and_a_native_client_see_one_world() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(run());
}

async fn run() {
    let secret = Secret::insecure();
    let address = "127.0.0.1:0".parse().expect("an address");
    let udp = MotionUdpServer::bind(address, &secret, ServerOptions::new(GAME)).expect("a port");
    let udp_address = udp.local_addr();
    let web = WebServer::bind(address, &secret, WebOptions::new([ORIGIN])).expect("a port");
    let (web_address, hash) = (web.local_addr(), web.certificate_hash());
    let settings = MotionSettings::at_hz(TICK_HZ);
    let hub = HubConfig { datagram_bytes: SAFE_PAYLOAD_BYTES, ..HubConfig::default() };
    let (mut server, mut client) = (app(), app());
    server
        .add_plugins((
            MotionServerPlugin { hub, ..MotionServerPlugin::new(settings.clone()) },
            MotionUdpServerPlugin,
            MotionWebServerPlugin,
        ))
        .insert_resource(udp)
        .insert_resource(MotionWebServer::new(web));
    client.add_plugins((MotionClientPlugin::new(settings), MotionUdpClientPlugin));
    register(&mut server);
    register(&mut client);
    ready(&mut server);
    ready(&mut client);
    let connection = MotionUdpClient::connect(udp_address, &secret, ClientOptions::new(GAME));
    client.insert_resource(connection.expect("a socket"));
    server.world_mut().spawn(Ship);
    server.world_mut().spawn(Ship);

    let token = Token::new(&secret, 4_711, Duration::from_secs(60));
    let config = ClientConfig::builder()
        .with_bind_default()
        .with_server_certificate_hashes([Sha256Digest::new(hash)])
        .build();
    let endpoint = Endpoint::client(config).expect("a socket");
    let url = format!("https://{web_address}/kinepack?token={}", token.as_str());
    let options = ConnectOptions::builder(url).add_header("origin", ORIGIN).build();
    let connection = endpoint.connect(options).await.expect("a session");
    let codec = server.world().resource::<MotionServer>().codec().clone();
    let receiver = Receiver::new(&codec, ReceiverConfig::at_hz(TICK_HZ)).expect("settings");
    let mut page = Page { connection, receiver, start: Instant::now() };

    let ships = |client: &mut App| {
        let world = client.world_mut();
        world.query::<&Ship>().iter(world).count()
    };
    loop {
        assert!(page.start.elapsed() < PATIENCE, "the ships never appear");
        server.update();
        client.update();
        page.step().await;
        let on_page = page.receiver.newest().map_or(0, |state| state.ids().len());
        if on_page == 2 && ships(&mut client) == 2 {
            break;
        }
    }
    let clients = |server: &App| server.world().resource::<MotionServer>().clients().count();
    assert_eq!(clients(&server), 2);
    assert!(server.world().resource::<MotionWebServer>().stats().datagrams_out > 0);

    // Without the endpoint, the server loses the page but keeps the other client.
    server.world_mut().remove_resource::<MotionWebServer>();
    server.world_mut().spawn(Ship);
    loop {
        assert!(page.start.elapsed() < PATIENCE, "the third ship never appears");
        server.update();
        client.update();
        tokio::time::sleep(Duration::from_millis(1)).await;
        if ships(&mut client) == 3 {
            break;
        }
    }
    assert_eq!(clients(&server), 1);
}
