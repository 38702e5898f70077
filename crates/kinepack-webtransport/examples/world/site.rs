//! The web site, with the pages, the data that they need to join, and a clip for the page with a
//! character.

use std::error::Error;
use std::hash::{BuildHasher, RandomState};
use std::net::{SocketAddr, TcpListener};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path as UrlPath, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use kinepack::Schema;
use kinepack_anim::offline::{BuildOptions, build};
use kinepack_anim::{Joint, RawClip, Skeleton, Transform};
use kinepack_udp::Secret;
use kinepack_webtransport::{PATH, Token, WebDoor};
use serde_json::json;

use crate::{LEVEL, TICK_HZ};

const TOKEN_LIFE: Duration = Duration::from_secs(60);
/// The folder of the pages and of three.js.
const PAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/world");
/// The npm package. Your own site would serve its files too.
const PACKAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../kinepack-web/package");

/// The contents of the site, except its files.
pub(crate) struct Site {
    secret: Secret,
    door: WebDoor,
    schema: Vec<u8>,
    clip: Vec<u8>,
    skeleton: Vec<u8>,
}

impl Site {
    pub(crate) fn new(
        secret: Secret,
        door: WebDoor,
        schema: &Schema,
    ) -> Result<Self, Box<dyn Error>> {
        let (clip, skeleton) = nodding_figure()?;
        Ok(Self { secret, door, schema: schema.to_bytes(), clip, skeleton })
    }

    /// Serves the pages, their requests, and WebSockets.
    pub(crate) fn serve(self, listener: TcpListener) -> std::io::Result<()> {
        let sockets = self.door.routes();
        let router = Router::new()
            .route("/join", get(join))
            .route("/clip", get(async |State(site): State<Arc<Site>>| site.clip.clone()))
            .route("/skeleton", get(async |State(site): State<Arc<Site>>| site.skeleton.clone()))
            .route("/", get(async || file(Path::new(PAGES), Path::new("index.html"))))
            .route("/kinepack-package/{*path}", get(package_file))
            .route("/favicon.ico", get(async || StatusCode::NO_CONTENT))
            .route("/{*path}", get(page_file))
            .with_state(Arc::new(self))
            .merge(sockets);
        tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
            listener.set_nonblocking(true)?;
            let listener = tokio::net::TcpListener::from_std(listener)?;
            axum::serve(listener, router.into_make_service_with_connect_info::<SocketAddr>()).await
        })
    }
}

/// Answers with the data that a page needs to join.
async fn join(State(site): State<Arc<Site>>) -> Response {
    let token = || {
        let client = RandomState::new().hash_one("client");
        Token::new(&site.secret, client, TOKEN_LIFE).as_str().to_owned()
    };
    let answer = json!({
        "path": PATH, "tokens": [token(), token()], "hash": hex(&site.door.certificate_hash()),
        "schema": hex(&site.schema), "level": LEVEL.name(), "tickHz": TICK_HZ,
    });
    ([(header::CONTENT_TYPE, "application/json")], answer.to_string()).into_response()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
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

/// Returns a clip of three joints and its skeleton, as files. In a game, `kinepack anim build`
/// makes such files.
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
