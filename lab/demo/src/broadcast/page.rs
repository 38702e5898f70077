//! Shows a broadcast in the browser. The page connects to the relay by itself. The program serves
//! the page, or writes it as static files.

use std::net::TcpListener;
use std::path::Path;

use axum::routing::get;
use axum::{Router, middleware};
use command_kit::OutputError;
use command_kit::interrupt::Interrupt;
use command_kit::output::Force;
use command_kit::page::{self, File, PageError, guard_with_relays, json, with_files};
use cubes::{CUBE_EDGE_M, PLAYER_EDGE_M};
use kinepack_crowd::moq::Address;
use serde::Serialize;

use super::WatchOptions;
use crate::codes::hex;
use crate::cube_stream::schema_hashes;
use crate::demo::page::server::WORLDS;
use crate::module::WATCHING;
use crate::static_files;

/// The files that only this page uses.
#[rustfmt::skip]
const FILES: &[File] = command_kit::web_files![
    "fields.js", "index.html", "main.js", "moment.js", "regions.js", "style.css",
];
/// The file that contains the address of the broadcast.
const BROADCAST: &str = "broadcast.json";

/// The settings that the page reads from `broadcast.json`.
#[derive(Clone, Serialize)]
pub(super) struct Place {
    program: &'static str,
    address: String,
    certificate_hash: Option<String>,
    tiers: Vec<String>,
    /// The schemas of worlds with cubes of the edges below.
    cube_schemas: Vec<String>,
    cube_edge_m: f32,
    player_edge_m: f32,
}

impl Place {
    pub(super) fn new(address: &Address, options: &WatchOptions) -> Self {
        Self {
            program: concat!("kinepack ", env!("CARGO_PKG_VERSION")),
            address: address.to_url().into(),
            certificate_hash: options.relay.relay_certificate.map(|hash| hex(&hash)),
            tiers: options.tier.clone(),
            cube_schemas: schema_hashes().iter().map(|hash| format!("{hash:016x}")).collect(),
            cube_edge_m: CUBE_EDGE_M,
            player_edge_m: PLAYER_EDGE_M,
        }
    }

    /// Serves the page until a signal arrives.
    pub(super) fn serve(
        self,
        listener: TcpListener,
        interrupt: &Interrupt,
    ) -> Result<(), PageError> {
        let place = get(move || async move { json(&self) });
        let router = with_files(Router::new().route(&format!("/{BROADCAST}"), place), files())
            .layer(middleware::from_fn(guard_with_relays));
        page::serve_until(listener, router, interrupt).map_err(|error| PageError::Page { error })
    }

    /// Writes the page as a folder of static files.
    pub(super) fn export(&self, directory: &Path, force: Force) -> Result<(), OutputError> {
        let place = serde_json::to_vec_pretty(self).expect("it has only texts and numbers");
        static_files::write(directory, &force.outputs(), [(BROADCAST, place)], files())
    }
}

fn files() -> impl Iterator<Item = &'static File> {
    FILES.iter().chain(WORLDS).chain(WATCHING)
}
