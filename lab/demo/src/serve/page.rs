//! The page of `serve --web`, in which a browser joins the world. With the npm package of this
//! repository, it decodes, buffers and interpolates the datagrams that arrive through WebTransport
//! or a WebSocket.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use axum::{Router, middleware};
use command_kit::page::{self, File, PageError, binary, guard_with_modules, json, with_files};
use command_kit::say;
use cubes::{CUBE_EDGE_M, FIRST_GUEST, PLAYER_EDGE_M};
use kinepack_udp::Secret;
use kinepack_webtransport::{PATH, Token, WebDoor};
use serde::Serialize;

use crate::codes::{Codes, hex};
use crate::cube_stream::CubeStream;
use crate::demo::page::server::{PLAYING, WORLDS};
use crate::game_events::GameEvent;
use crate::inputs::{key_codec, key_config};
use crate::module::JOINING;
use crate::session_error::SessionError;

/// The files that only this page uses.
#[rustfmt::skip]
const FILES: &[File] = command_kit::web_files![
    "index.html", "joined.js", "main.js", "style.css",
];

/// The time for which a page may use its token.
const TOKEN_LIFE: Duration = Duration::from_secs(60);

/// The state that the request handlers share.
struct PageState {
    secret: Secret,
    door: WebDoor,
    stream: CubeStream,
    extent: (usize, f32),
    profile: Bytes,
}

/// The data that a page needs to join.
#[derive(Serialize)]
struct Invitation {
    program: &'static str,
    /// The path to connect to. The two tokens are for WebTransport and for a WebSocket.
    path: &'static str,
    tokens: [String; 2],
    certificate_hash: String,
    level: &'static str,
    tick_hz: u32,
    schema: String,
    events: Codes,
    keys: Codes,
    key_rate_hz: u32,
    key_repeats: u8,
    /// The id of the cube of player 1. The cubes of further players have the next ids.
    first_guest: u32,
    bodies: usize,
    half_width_m: f32,
    cube_edge_m: f32,
    player_edge_m: f32,
}

/// Serves the page on its own thread for as long as the program runs. Returns the page's address.
pub(super) fn open(
    listener: TcpListener,
    secret: &Secret,
    door: WebDoor,
    stream: &CubeStream,
    (bodies, half_width_m): (usize, Option<f32>),
) -> Result<SocketAddr, PageError> {
    let failed = |error| PageError::Page { error };
    let address = listener.local_addr().map_err(failed)?;
    let state = PageState {
        secret: secret.clone(),
        profile: stream.codec().profile().to_bytes().into(),
        door,
        stream: stream.clone(),
        extent: (bodies, half_width_m.unwrap_or(0.0)),
    };
    let router = router(state);
    let serve = move || {
        if let Err(error) = page::serve(listener, router, std::future::pending()) {
            say(format_args!("the page's server failed: {error}"));
        }
    };
    thread::Builder::new().name("page".into()).spawn(serve).map_err(failed)?;
    Ok(address)
}

fn router(state: PageState) -> Router {
    let sockets = state.door.routes();
    let data = Router::new().route("/join", get(join)).route("/profile", get(profile));
    with_files(data, FILES.iter().chain(PLAYING).chain(WORLDS).chain(JOINING))
        .with_state(Arc::new(state))
        .merge(sockets)
        .layer(middleware::from_fn(guard_with_modules))
}

async fn join(State(state): State<Arc<PageState>>) -> Response {
    match invite(&state) {
        Ok(invitation) => json(&invitation),
        Err(error) => json(&serde_json::json!({ "error": error.to_string() })),
    }
}

async fn profile(State(state): State<Arc<PageState>>) -> Response {
    binary(state.profile.clone())
}

fn invite(state: &PageState) -> Result<Invitation, SessionError> {
    let (codec, kinds, keys) = (state.stream.codec(), GameEvent::kinds()?, key_codec());
    let token = || Token::new(&state.secret, random_id(), TOKEN_LIFE).as_str().to_owned();
    let (bodies, half_width_m) = state.extent;
    Ok(Invitation {
        program: concat!("kinepack ", env!("CARGO_PKG_VERSION")),
        path: PATH,
        tokens: [token(), token()],
        certificate_hash: hex(&state.door.certificate_hash()),
        level: codec.level().name(),
        tick_hz: cubes::TICK_HZ,
        schema: hex(&codec.schema().to_bytes()),
        events: Codes::of(kinds.codec()),
        keys: Codes { schema: hex(&keys.schema().to_bytes()), level: "adaptive" },
        key_rate_hz: key_config().rate_hz,
        key_repeats: key_config().repeats,
        first_guest: FIRST_GUEST,
        bodies,
        half_width_m,
        cube_edge_m: CUBE_EDGE_M,
        player_edge_m: PLAYER_EDGE_M,
    })
}

/// Returns an id that no other client has. It need not be secret, because the token is signed.
fn random_id() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one("client")
}
