//! Serves the page, which is part of the program, and answers its requests. Only one answer is
//! computed at a time, which bounds the memory.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, middleware};
use command_kit::page::{File, guard, with_files};
use kinepack_replay::ReplayError;
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::store::Store;
use crate::demo::page::server::WORLDS;

/// The page's own files.
#[rustfmt::skip]
const FILES: &[File] = command_kit::web_files![
    "api.js", "controls.js", "frame_sizes.js", "index.html", "main.js", "playhead.js", "style.css", "time_line.js",
];

#[derive(Clone)]
struct Shared {
    store: Arc<Store>,
    /// Held while an answer is computed.
    turn: Arc<Semaphore>,
}

/// Why a request gets no answer.
enum Refusal {
    NotThere,
    Replay(ReplayError),
    Failed,
}

/// The page's files and the data that it asks for.
pub(super) fn router(store: Store) -> Router {
    let shared = Shared { store: Arc::new(store), turn: Arc::new(Semaphore::new(1)) };
    let data = Router::new()
        .route("/replay", get(describe))
        .route("/world/{tick}", get(world))
        .route("/frames/{group}", get(frames));
    with_files(data, FILES.iter().chain(WORLDS))
        .with_state(shared)
        .layer(middleware::from_fn(guard))
}

async fn describe(State(shared): State<Shared>) -> Result<Response, Refusal> {
    Ok(json(&shared.compute(Store::describe).await?))
}

async fn world(State(shared): State<Shared>, Path(tick): Path<f64>) -> Result<Response, Refusal> {
    let world: Option<Bytes> = shared.compute(move |store| store.world(tick)).await?;
    let bytes = world.ok_or(Refusal::NotThere)?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response())
}

async fn frames(
    State(shared): State<Shared>,
    Path(group): Path<usize>,
) -> Result<Response, Refusal> {
    let frames = shared.compute(move |store| store.frames(group)).await?;
    Ok(json(&frames.ok_or(Refusal::NotThere)?))
}

impl Shared {
    /// Computes an answer on another thread, after other answers that are being computed.
    async fn compute<T: Send + 'static>(
        &self,
        answer: impl FnOnce(&Store) -> Result<T, ReplayError> + Send + 'static,
    ) -> Result<T, Refusal> {
        let turn = Arc::clone(&self.turn).acquire_owned().await.map_err(|_| Refusal::Failed)?;
        let store = Arc::clone(&self.store);
        let computed = spawn_blocking(move || {
            let _turn = turn;
            answer(&store)
        });
        computed.await.map_err(|_| Refusal::Failed)?.map_err(Refusal::Replay)
    }
}

fn json(document: &impl Serialize) -> Response {
    let text = serde_json::to_string(document).expect("numbers and texts");
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let failed = StatusCode::INTERNAL_SERVER_ERROR;
        match self {
            Self::NotThere => {
                (StatusCode::NOT_FOUND, "The replay has no such part.\n").into_response()
            }
            Self::Replay(error) => (failed, format!("{error}\n")).into_response(),
            Self::Failed => (failed, "The answer could not be computed.\n").into_response(),
        }
    }
}
