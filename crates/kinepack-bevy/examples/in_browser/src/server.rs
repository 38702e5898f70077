//! The server, with the world, the sessions, and the page with its module.

use std::error::Error;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use bevy_app::{App, FixedUpdate};
use bevy_ecs::prelude::*;
use bevy_time::{Fixed, Time};
use bevy_transform::components::Transform;
use kinepack_bevy::{MotionServerPlugin, MotionSettings, MotionWebServer, MotionWebServerPlugin};
use kinepack_net::HubConfig;
use kinepack_udp::Secret;
use kinepack_webtransport::{PATH, SAFE_PAYLOAD_BYTES, Token, WebOptions, WebServer};

use crate::{Ship, TICK_HZ};

const SHIPS: usize = 200;
const PATIENCE: Duration = Duration::from_secs(90);

/// The data that the web site serves to pages, and the reports of a page under test.
struct Site {
    module: PathBuf,
    secret: Secret,
    address: SocketAddr,
    hash: Mutex<[u8; 32]>,
    shown: AtomicUsize,
}

pub(crate) fn run(mut app: App, settings: MotionSettings) -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let module = arguments.first().ok_or("usage: in-browser MODULE [--check]")?;
    let is_check = arguments.get(1).is_some_and(|argument| argument == "--check");
    let port = if is_check { 0 } else { 8_080 };
    let listener = TcpListener::bind(("127.0.0.1", port))?;
    // A real site reads one secret for all its servers from a file.
    let digits: String =
        (0..4).map(|part| format!("{:016x}", RandomState::new().hash_one(part))).collect();
    let site = Arc::new(Site {
        module: module.into(),
        secret: Secret::parse(&digits)?,
        address: listener.local_addr()?,
        hash: Mutex::default(),
        shown: AtomicUsize::new(usize::MAX),
    });

    let hub = HubConfig { datagram_bytes: SAFE_PAYLOAD_BYTES, ..HubConfig::default() };
    app.add_plugins((
        MotionServerPlugin { hub, ..MotionServerPlugin::new(settings) },
        MotionWebServerPlugin,
    ))
    .insert_resource(site.listen()?)
    .add_systems(FixedUpdate, fly);
    let ship = |number: usize| Ship { number: number as u8 };
    app.world_mut().spawn_batch((0..SHIPS).map(ship));
    app.finish();
    app.cleanup();

    let of_pages = Arc::clone(&site);
    thread::spawn(move || serve(listener, of_pages));
    if is_check {
        return check(&mut app, &site);
    }
    println!("open http://{}/", site.address);
    loop {
        frame(&mut app);
    }
}

fn frame(app: &mut App) {
    let begin = Instant::now();
    app.update();
    thread::sleep((Duration::from_secs(1) / TICK_HZ).saturating_sub(begin.elapsed()));
}

/// Moves the ships on circles.
fn fly(mut ships: Query<(&Ship, &mut Transform)>, time: Res<Time<Fixed>>) {
    for (ship, mut transform) in &mut ships {
        let number = f32::from(ship.number);
        let (sin, cos) = (number + time.elapsed_secs() * 0.2).sin_cos();
        let radius = 50.0 + number;
        transform.translation = [radius * cos, 0.0, radius * sin].into();
    }
}

impl Site {
    /// Opens the endpoint, at the same address as the page.
    fn listen(&self) -> Result<MotionWebServer, Box<dyn Error>> {
        let server = WebServer::bind(self.address, &self.secret, WebOptions::default())?;
        *self.hash.lock().unwrap_or_else(PoisonError::into_inner) = server.certificate_hash();
        Ok(MotionWebServer::new(server))
    }

    /// Returns everything that a page needs to join, for a single use.
    fn invitation(&self) -> String {
        let client = RandomState::new().hash_one("client");
        let token = Token::new(&self.secret, client, Duration::from_secs(60));
        let hash = *self.hash.lock().unwrap_or_else(PoisonError::into_inner);
        let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("https://{}{PATH}?token={} {digits}", self.address, token.as_str())
    }

    fn file(&self, name: &str, kind: &'static str) -> Response {
        match std::fs::read(self.module.join(name)) {
            Ok(bytes) => ([(header::CONTENT_TYPE, kind)], bytes).into_response(),
            Err(_) => StatusCode::NOT_FOUND.into_response(),
        }
    }
}

fn serve(listener: TcpListener, site: Arc<Site>) -> std::io::Result<()> {
    let [join, script, module, shown] = [0; 4].map(|_| Arc::clone(&site));
    let shown = move |Path(count): Path<usize>| async move {
        shown.shown.store(count, Ordering::Relaxed);
    };
    let router = Router::new()
        .route("/", get(async || Html(include_str!("../index.html"))))
        .route("/join", get(async move || join.invitation()))
        .route("/client.js", get(async move || script.file("client.js", "text/javascript")))
        .route(
            "/client_bg.wasm",
            get(async move || module.file("client_bg.wasm", "application/wasm")),
        )
        .route("/shown/{count}", get(shown));
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        listener.set_nonblocking(true)?;
        axum::serve(tokio::net::TcpListener::from_std(listener)?, router).await
    })
}

/// A browser that is closed when this is dropped.
struct Chromium {
    process: Child,
    profile: PathBuf,
}

impl Chromium {
    fn open(url: &str) -> std::io::Result<Self> {
        let profile = std::env::temp_dir().join(format!("in-browser-{}", std::process::id()));
        let mut process = Command::new("chromium")
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"])
            .args(["--disable-sync", "--disable-background-networking"])
            .args(["--disable-component-update", "--enable-logging=stderr"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(url)
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(log) = process.stderr.take() {
            // The thread prints only messages of the page, not messages of the browser.
            let lines = BufReader::new(log).lines().map_while(Result::ok);
            thread::spawn(|| {
                lines.filter(|line| line.contains("CONSOLE")).for_each(|line| eprintln!("{line}"));
            });
        }
        Ok(Self { process, profile })
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

/// Opens the page in Chromium. The page must show all ships, then no ships without the endpoint,
/// and all ships again with a new endpoint.
fn check(app: &mut App, site: &Site) -> Result<(), Box<dyn Error>> {
    let _browser = Chromium::open(&format!("http://{}/?check", site.address))?;
    shows(app, site, SHIPS)?;
    app.world_mut().remove_resource::<MotionWebServer>();
    shows(app, site, 0)?;
    app.insert_resource(site.listen()?);
    shows(app, site, SHIPS)
}

fn shows(app: &mut App, site: &Site, count: usize) -> Result<(), Box<dyn Error>> {
    let begin = Instant::now();
    while site.shown.load(Ordering::Relaxed) != count {
        if begin.elapsed() > PATIENCE {
            let shown = site.shown.load(Ordering::Relaxed);
            return Err(format!("the page shows {shown} ships, not {count}").into());
        }
        frame(app);
    }
    println!("ok the page shows {count} ships");
    Ok(())
}
