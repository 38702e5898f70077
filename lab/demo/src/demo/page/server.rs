//! Serves the page, which is part of the program, and accepts its sockets. Pages from other origins
//! cannot open a socket.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, State, WebSocketUpgrade};
use axum::http::{Extensions, HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, middleware};
use command_kit::page::{File, binary, guard_with_modules, is_same_origin, with_files};

use super::board::{Board, Seat};
use super::socket;
use crate::module::MODULE;

/// The largest message that a page may send, in bytes.
const MAX_MESSAGE_BYTES: usize = 4_096;

/// The page's own files, besides [`WORLDS`].
#[rustfmt::skip]
const FILES: &[File] = command_kit::web_files![
    "charts/chart.js", "charts/chart_bars.js", "charts/chart_lines.js", "charts/chart_stack.js", "charts/charts.js",
    "charts/history.js", "charts/timeline.js", "connection.js", "controls/address.js", "controls/controls.js",
    "controls/settings.js", "controls/slider.js", "controls/squeeze.js", "controls/touch_pad.js", "index.html",
    "main.js", "panels/look.js", "panels/now.js", "panels/report.js", "panels/state.js", "style.css",
    "receiving/clock.js", "receiving/errors.js", "receiving/receiver.js", "worlds/past.js", "worlds/pick.js",
    "worlds/uncompressed.js",
];

/// The files that turn a receiver's columns into bodies. The exported demo also uses them.
pub(crate) const RECEIVING: &[File] = command_kit::web_files!["receiving/columns.js",];

/// The files that turn keys into actions. The page of `serve` also uses them.
pub(crate) const PLAYING: &[File] = command_kit::web_files!["controls/playing.js",];

/// The files that draw worlds. The pages of `watch` and `serve` also use them.
pub(crate) const WORLDS: &[File] = command_kit::web_files![
    "protocol.js",
    "worlds/body_arrays.js",
    "worlds/camera.js",
    "worlds/bodies.js",
    "worlds/shaders.js",
    "worlds/worlds.js",
];

/// Returns all routes of the program.
pub(super) fn router(board: Arc<Board>) -> Router {
    let router = with_files(
        Router::new().route("/socket", get(open_socket)).route("/profile", get(profile)),
        FILES.iter().chain(PLAYING).chain(RECEIVING).chain(WORLDS).chain(MODULE),
    );
    router.with_state(board).layer(middleware::from_fn(guard_with_modules))
}

async fn profile(State(board): State<Arc<Board>>) -> Response {
    binary(board.profile.clone())
}

async fn open_socket(
    State(board): State<Arc<Board>>,
    extensions: Extensions,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    if !is_same_origin(&headers) {
        return (StatusCode::FORBIDDEN, "Only this program's own page may open the socket.\n")
            .into_response();
    }
    let from = extensions.get::<ConnectInfo<SocketAddr>>();
    let address = from.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |from| from.0.ip());
    let Some((seat, arrivals)) = Seat::take(&board, kinepack_udp::source(address)) else {
        return (StatusCode::SERVICE_UNAVAILABLE, "Too many pages are open already.\n")
            .into_response();
    };
    let upgrade = upgrade.max_message_size(MAX_MESSAGE_BYTES).max_frame_size(MAX_MESSAGE_BYTES);
    upgrade.on_upgrade(move |socket| socket::talk(socket, board, seat, arrivals))
}
