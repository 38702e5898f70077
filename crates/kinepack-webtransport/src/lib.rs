//! Lets players in browsers join a game server.
//!
//! A browser has no UDP, but it has WebTransport: encrypted datagrams over HTTP/3, which the
//! network may lose and reorder. [`WebServer`] accepts these connections. It has the same calls and
//! events as [`kinepack_udp::UdpServer`], so that one game loop serves both. If a network blocks
//! UDP, [`WebDoor::routes`] accepts WebSockets, with the same tokens and limits.
//!
//! - A [`Token`], made with the game's [`Secret`](kinepack_udp::Secret), lets one page connect
//!   once. The web site that serves the page makes the token.
//! - Only pages of the allowed origins connect.
//! - Handshakes and datagrams have limits: for each address, for each client, and for all together.
//!   Memory is bounded, no matter what arrives.
//! - A self-signed certificate is enough if the page knows its hash.
//!
//! ```
//! use std::time::Duration;
//! use kinepack_udp::{Secret, ServerEvent};
//! use kinepack_webtransport::{Token, WebOptions, WebServer};
//!
//! let secret = Secret::parse("a passphrase of your own")?;
//! let options = WebOptions::new(["http://127.0.0.1:8080"]);
//! let mut server = WebServer::bind("127.0.0.1:0".parse()?, &secret, options)?;
//!
//! // The page needs an address with a token, and the certificate's hash.
//! let token = Token::new(&secret, 7, Duration::from_secs(60));
//! let url = format!("https://{}/kinepack?token={}", server.local_addr(), token.as_str());
//! let hash = server.certificate_hash();
//!
//! // In the game's loop:
//! let mut events = Vec::new();
//! server.poll(&mut events);
//! for event in events.drain(..) {
//!     if let ServerEvent::Datagram { client, payload } = event {
//!         let answer = server.payload(&payload).to_vec();
//!         server.send(client, &answer)?;
//!     }
//! }
//! # assert!(url.len() > 64 && hash != [0; 32]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`WebClient`] joins natively, and in a browser from Rust that is compiled to WebAssembly. In
//! browsers, the other items of this crate are absent. A page without Rust uses the npm package:
//!
//! ```js
//! const transport = new WebTransport(url, {
//!   serverCertificateHashes: [{ algorithm: "sha-256", value: hash }],
//! });
//! ```

#![forbid(unsafe_code)]

mod client;
#[cfg(not(target_family = "wasm"))]
mod clients;
#[cfg(not(target_family = "wasm"))]
mod datagrams;
#[cfg(not(target_family = "wasm"))]
mod handshakes;
#[cfg(not(target_family = "wasm"))]
mod inbox;
#[cfg(not(target_family = "wasm"))]
mod leash;
#[cfg(not(target_family = "wasm"))]
mod options;
mod protocol;
#[cfg(not(target_family = "wasm"))]
mod server;
#[cfg(not(target_family = "wasm"))]
mod sessions;
#[cfg(all(feature = "websocket", not(target_family = "wasm")))]
mod sockets;
#[cfg(not(target_family = "wasm"))]
mod stats;
#[cfg(all(test, not(target_family = "wasm")))]
mod tests;
#[cfg(not(target_family = "wasm"))]
mod token;
#[cfg(not(target_family = "wasm"))]
mod window;

pub use client::{
    WebClient, WebClientError, WebClientOptions, WebClientState, WebClientStats, WebLostReason,
    WebSendError,
};
#[cfg(not(target_family = "wasm"))]
pub use options::{Certificate, Origins, WebOptions};
pub use protocol::{MAX_PAYLOAD_BYTES, PATH, SAFE_PAYLOAD_BYTES};
#[cfg(not(target_family = "wasm"))]
pub use server::{WebDoor, WebServer, WebSetupError};
#[cfg(not(target_family = "wasm"))]
pub use stats::WebStats;
#[cfg(not(target_family = "wasm"))]
pub use token::Token;
