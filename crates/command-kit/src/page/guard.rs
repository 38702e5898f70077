//! The checks and headers of a page's server. The server trusts no request, because a foreign page
//! must not reach this program through a name that leads to this machine.

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// The content security policy of a page, given the sources of its scripts and the servers that it
/// may connect to.
macro_rules! policy {
    ($scripts:literal, $connections:literal) => {
        concat!(
            "default-src 'none'; script-src ",
            $scripts,
            "; style-src 'self'; connect-src ",
            $connections,
            "; img-src 'self' data:; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'none'",
        )
    };
}

/// The headers of every response. With them, pages load nothing from other origins, cannot be
/// framed, and keep their content type. Pages are also not cached, so that a new version of the
/// program shows its own page.
const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, policy!("'self'", "'self'")),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// Works like [`guard`], for pages that run modules of WebAssembly.
pub async fn guard_with_modules(request: Request, next: Next) -> Response {
    let policy = policy!("'self' 'wasm-unsafe-eval'", "'self'");
    ([(header::CONTENT_SECURITY_POLICY, policy)], guard(request, next).await).into_response()
}

/// Works like [`guard_with_modules`], for pages that connect to a relay.
pub async fn guard_with_relays(request: Request, next: Next) -> Response {
    let policy = policy!("'self' 'wasm-unsafe-eval'", "'self' https:");
    ([(header::CONTENT_SECURITY_POLICY, policy)], guard(request, next).await).into_response()
}

/// Refuses requests under a foreign name, and adds the headers of every response.
pub async fn guard(request: Request, next: Next) -> Response {
    let response = if request
        .headers()
        .get(header::HOST)
        .is_some_and(|host| host.to_str().is_ok_and(is_own))
    {
        next.run(request).await
    } else {
        let reason = "This page is reached by an address or as localhost, not by another name.\n";
        (StatusCode::FORBIDDEN, reason).into_response()
    };
    (HEADERS, response).into_response()
}

/// Returns whether a host is `localhost` or an IP address. Anyone can make another name lead to
/// this machine (DNS rebinding).
fn is_own(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => host.split(':').next(),
    };
    name.is_some_and(|name| {
        name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
    })
}

/// Returns whether a page comes from the server that its socket connects to. Browsers send the
/// origin, and a page cannot forge it.
pub fn is_same_origin(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let (Some(origin), Some(host)) = (text(header::ORIGIN), text(header::HOST)) else {
        return false;
    };
    ["http://", "https://"].iter().any(|scheme| {
        origin.strip_prefix(scheme).is_some_and(|from| from.eq_ignore_ascii_case(host))
    })
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn hosts_are_addresses_or_this_machine() {
        for own in [
            "localhost",
            "LOCALHOST:4650",
            "127.0.0.1",
            "127.0.0.1:4650",
            "[::1]:4650",
            "[::1]",
            "192.168.1.7:80",
        ] {
            assert!(is_own(own), "{own}");
        }
        for foreign in [
            "",
            ":",
            "evil.example",
            "evil.example:4650",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "[evil]",
        ] {
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
        for origin in [
            None,
            Some("null"),
            Some("http://localhost:3000"),
            Some("http://localhost"),
            Some("file://"),
        ] {
            assert!(!is_same_origin(&headers(origin, "localhost:4650")), "{origin:?}");
        }
    }
}
