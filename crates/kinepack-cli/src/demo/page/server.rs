//! Serves the page, which is part of the program, and takes its sockets. Trusts no request: a foreign page must not reach the world by a name that
//! leads here, nor open a socket.

use std::net::IpAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State, WebSocketUpgrade};
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::board::{Board, Seat};
use super::socket;

/// The largest message of a page.
const MAX_MESSAGE_BYTES: usize = 4_096;

/// What every answer says: nothing from elsewhere, in nobody's frame, of no other type, and a new program brings a new page.
const HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// Names and texts.
macro_rules! files {
    ($($name:literal,)*) => { &[$(($name, include_str!(concat!("web/", $name)))),*] };
}
/// The page.
#[rustfmt::skip]
const FILES: &[(&str, &str)] = files![
    "charts/chart.js", "charts/chart_bars.js", "charts/chart_lines.js", "charts/chart_stack.js", "charts/charts.js",
    "charts/history.js", "charts/scale.js", "charts/timeline.js", "connection.js", "controls/address.js",
    "controls/controls.js", "controls/playing.js", "controls/settings.js", "controls/slider.js",
    "controls/touch_pad.js", "favicon.svg", "index.html", "main.js", "panels/format.js", "panels/look.js",
    "panels/now.js", "panels/report.js", "panels/state.js", "protocol.js", "style.css", "theme.js",
    "worlds/body_arrays.js", "worlds/camera.js", "worlds/camera_input.js", "worlds/matrix.js", "worlds/pick.js",
    "worlds/programs.js", "worlds/shaders.js", "worlds/worlds.js",
];

/// All that the program answers.
pub(super) fn router(board: Arc<Board>) -> Router {
    let mut router = Router::new().route("/socket", get(open_socket));
    for (name, text) in FILES {
        let path = if *name == "index.html" { "/".to_owned() } else { format!("/{name}") };
        router = router.route(&path, get(move || async move { ([(header::CONTENT_TYPE, kind(name))], *text) }));
    }
    router.with_state(board).layer(middleware::from_fn(guard))
}

/// What a browser is to take a file for.
fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.') {
        Some((_, "html")) => "text/html; charset=utf-8",
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "svg")) => "image/svg+xml",
        _ => "text/javascript; charset=utf-8",
    }
}

/// Refuses requests under a name that is not ours, and adds what every answer says.
async fn guard(request: Request, next: Next) -> Response {
    let response = if request.headers().get(header::HOST).is_some_and(|host| host.to_str().is_ok_and(is_own)) {
        next.run(request).await
    } else {
        let reason = "This page is reached by an address or as localhost, not by another name.\n";
        (StatusCode::FORBIDDEN, reason).into_response()
    };
    (HEADERS, response).into_response()
}

/// Whether a host is `localhost` or a bare address: names can be made to lead here by anyone (DNS rebinding).
fn is_own(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => host.split(':').next(),
    };
    name.is_some_and(|name| name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok())
}

/// Whether a page came from where its socket goes to. Browsers say the origin, and no page can make them lie.
fn is_same_origin(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let (Some(origin), Some(host)) = (text(header::ORIGIN), text(header::HOST)) else { return false };
    ["http://", "https://"]
        .iter()
        .any(|scheme| origin.strip_prefix(scheme).is_some_and(|from| from.eq_ignore_ascii_case(host)))
}

async fn open_socket(State(board): State<Arc<Board>>, headers: HeaderMap, upgrade: WebSocketUpgrade) -> Response {
    if !is_same_origin(&headers) {
        return (StatusCode::FORBIDDEN, "Only this program's own page may open the socket.\n").into_response();
    }
    let Some(seat) = Seat::take(&board) else {
        return (StatusCode::SERVICE_UNAVAILABLE, "As many pages as may be are open already.\n").into_response();
    };
    let upgrade = upgrade.max_message_size(MAX_MESSAGE_BYTES).max_frame_size(MAX_MESSAGE_BYTES);
    upgrade.on_upgrade(move |socket| socket::talk(socket, board, seat))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn hosts_are_addresses_or_this_machine() {
        for own in
            ["localhost", "LOCALHOST:4650", "127.0.0.1", "127.0.0.1:4650", "[::1]:4650", "[::1]", "192.168.1.7:80"]
        {
            assert!(is_own(own), "{own}");
        }
        for foreign in
            ["", ":", "evil.example", "evil.example:4650", "localhost.evil.example", "127.0.0.1.evil.example", "[evil]"]
        {
            assert!(!is_own(foreign), "{foreign}");
        }
    }

    #[test]
    fn an_origin_is_that_of_the_host() {
        let headers = |origin: Option<&'static str>, host: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_static(host));
            origin.map(|origin| headers.insert(header::ORIGIN, HeaderValue::from_static(origin)));
            headers
        };
        assert!(is_same_origin(&headers(Some("http://127.0.0.1:4650"), "127.0.0.1:4650")));
        assert!(is_same_origin(&headers(Some("http://localhost:4650"), "localhost:4650")));
        for origin in [None, Some("null"), Some("http://localhost:3000"), Some("http://localhost"), Some("file://")] {
            assert!(!is_same_origin(&headers(origin, "localhost:4650")), "{origin:?}");
        }
    }
}
