//! A whole game server for browsers in one file: a world of ships, clients by WebTransport or
//! WebSocket, and the pages that show it.
//!
//! `cargo run --release -p kinepack-webtransport --example world`, then open
//! `http://127.0.0.1:8080/`. For the pages with three.js, first run `npm install three` in
//! `crates/kinepack-webtransport/examples/world/`.

use std::error::Error;
use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{Path as UrlPath, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_anim::offline::{BuildOptions, build};
use kinepack_anim::{Joint, RawClip, Skeleton, Transform};
use kinepack_net::{Hub, HubConfig, ReceiverId, ReceiverOptions};
use kinepack_udp::{Secret, ServerEvent};
use kinepack_webtransport::{PATH, SAFE_PAYLOAD_BYTES, Token, WebDoor, WebOptions, WebServer};
use serde_json::json;

const TICK_HZ: u32 = 60;
const SHIPS: u32 = 200;
const TOKEN_LIFE: Duration = Duration::from_secs(60);
/// The pages, and the folder of three.js.
const PAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/world");
/// The npm package, which a site of yours would have as files too.
const PACKAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../kinepack-web/package");

#[derive(Pack)]
struct Ship {
    #[pack(range = -64.0..64.0, precision = 0.01)] // metres
    position: [f32; 3],
    #[pack(rotation, bits = 9)]
    rotation: [f32; 4],
    #[pack(max = 100)]
    shield: u8,
}

/// What the site tells pages.
struct Site {
    secret: Secret,
    door: WebDoor,
    schema: String,
    clip: Vec<u8>,
    skeleton: Vec<u8>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1);
    let address: SocketAddr = address.as_deref().unwrap_or("127.0.0.1:8080").parse()?;
    let schema = Schema::of::<Ship>();
    let codec = Codec::new(schema.clone(), Level::ADAPTIVE, Profile::untrained(&schema))?;
    let config = HubConfig { datagram_bytes: SAFE_PAYLOAD_BYTES, ..HubConfig::default() };
    let mut hub = Hub::new(&codec, config)?;

    // A real site has one secret for all its servers, from a file.
    let digits: String =
        (0..4).map(|part| format!("{:016x}", RandomState::new().hash_one(part))).collect();
    let secret = Secret::parse(&digits)?;
    let listener = std::net::TcpListener::bind(address)?;
    let address = listener.local_addr()?;
    let mut server = WebServer::bind(address, &secret, WebOptions::default())?;
    let (clip, skeleton) = nodding_figure()?;
    let schema_hex = schema.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let site = Site { secret, door: server.door(), schema: schema_hex, clip, skeleton };
    std::thread::spawn(move || serve(listener, site));
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
                // An error names the receiver that it concerns, or concerns all of them.
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

/// Ships on circles, some of them at rest.
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

/// A clip of three joints and its skeleton, as files. A game has those that `kinepack anim build`
/// made.
fn nodding_figure() -> Result<(Vec<u8>, Vec<u8>), Box<dyn Error>> {
    let joint = |name: &str, parent, translation| {
        let bind = Transform { translation, ..Transform::IDENTITY };
        Joint { name: name.into(), parent, bind }
    };
    let (hip, spine) =
        (joint("hip", None, [0.0, 95.0, 0.0]), joint("spine", Some(0), [0.0, 45.0, 0.0]));
    let joints = vec![hip, spine, joint("head", Some(1), [0.0, 40.0, 0.0])];
    let skeleton = Arc::new(Skeleton::new(joints)?);
    let samples = (0..61).flat_map(|sample| {
        let phase = sample as f32 / 60.0 * std::f32::consts::TAU;
        let mut pose = skeleton.bind_pose();
        for (index, joint) in pose.iter_mut().enumerate() {
            let half = 0.2 * (phase + index as f32).sin();
            joint.rotation = [half.sin(), 0.0, 0.0, half.cos()];
        }
        pose
    });
    let raw = RawClip::new("nod", skeleton.clone(), 30.0, samples.collect())?;
    let built = build(&raw, &BuildOptions::default())?;
    Ok((built.clip.as_bytes().to_vec(), skeleton.to_bytes()))
}

/// Serves the pages, what they ask for, and WebSockets.
fn serve(listener: std::net::TcpListener, site: Site) -> std::io::Result<()> {
    let sockets = site.door.routes();
    let router = Router::new()
        .route("/join", get(join))
        .route("/clip", get(async |State(site): State<Arc<Site>>| site.clip.clone()))
        .route("/skeleton", get(async |State(site): State<Arc<Site>>| site.skeleton.clone()))
        .route("/", get(async || file(Path::new(PAGES), Path::new("index.html"))))
        .route("/kinepack-package/{*path}", get(package_file))
        .route("/favicon.ico", get(async || StatusCode::NO_CONTENT))
        .route("/{*path}", get(page_file))
        .with_state(Arc::new(site))
        .merge(sockets);
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        axum::serve(listener, router.into_make_service_with_connect_info::<SocketAddr>()).await
    })
}

/// All that a page needs to join.
async fn join(State(site): State<Arc<Site>>) -> Response {
    let token = || {
        let client = RandomState::new().hash_one("client");
        Token::new(&site.secret, client, TOKEN_LIFE).as_str().to_owned()
    };
    let hash: String =
        site.door.certificate_hash().iter().map(|byte| format!("{byte:02x}")).collect();
    let answer = json!({
        "path": PATH, "tokens": [token(), token()], "hash": hash, "schema": site.schema,
        "level": Level::ADAPTIVE.name(), "tickHz": TICK_HZ,
    });
    ([(header::CONTENT_TYPE, "application/json")], answer.to_string()).into_response()
}

async fn package_file(UrlPath(path): UrlPath<PathBuf>) -> Response {
    file(Path::new(PACKAGE), &path)
}

async fn page_file(UrlPath(path): UrlPath<PathBuf>) -> Response {
    file(Path::new(PAGES), &path)
}

fn file(folder: &Path, path: &Path) -> Response {
    let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    let kind = match path.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("wasm") => "application/wasm",
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    match std::fs::read(folder.join(path)) {
        Ok(bytes) if is_inside => ([(header::CONTENT_TYPE, kind)], bytes).into_response(),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}
