//! Serves the page, which is part of the program, and accepts its sockets. Pages from other origins
//! cannot open a socket.

use std::sync::Arc;

use axum::extract::{State, WebSocketUpgrade};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, middleware};
use command_kit::page::{File, guard_with_modules, is_same_origin, with_files};

use super::board::{Board, Seat};
use super::socket;
use crate::module::MODULE;

/// The largest message that a page may send, in bytes: a datagram.
const MAX_MESSAGE_BYTES: usize = 1_500;

/// The page's own files.
#[rustfmt::skip]
const FILES: &[File] = command_kit::web_files![
    "connection.js", "controls.js", "draw.js", "index.html", "main.js", "numbers.js", "player.js", "shots.js",
    "state.js", "style.css",
];

/// Returns all routes of the program.
pub(super) fn router(board: Arc<Board>) -> Router {
    let router = Router::new().route("/socket", get(open_socket));
    with_files(router, FILES.iter().chain(MODULE))
        .with_state(board)
        .layer(middleware::from_fn(guard_with_modules))
}

async fn open_socket(
    State(board): State<Arc<Board>>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    if !is_same_origin(&headers) {
        return (StatusCode::FORBIDDEN, "Only this program's own page may open the socket.\n")
            .into_response();
    }
    let Some(seat) = Seat::take(&board) else {
        return (StatusCode::SERVICE_UNAVAILABLE, "Too many pages are open already.\n")
            .into_response();
    };
    let upgrade = upgrade.max_message_size(MAX_MESSAGE_BYTES).max_frame_size(MAX_MESSAGE_BYTES);
    upgrade.on_upgrade(move |socket| socket::talk(socket, board, seat))
}
