//! Serves the page, which is part of the program, and answers its requests.

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, middleware};
use command_kit::page::{Answers, File, binary, guard, json, with_files};
use kinepack_replay::ReplayError;

use super::store::Store;
use crate::demo::page::server::WORLDS;

/// The files of the page itself.
#[rustfmt::skip]
const FILES: &[File] = command_kit::web_files![
    "api.js", "controls.js", "frame_sizes.js", "index.html", "main.js", "playhead.js", "style.css", "time_line.js",
];

type Shared = Answers<Store>;

/// The reason why a request gets no answer.
enum Refusal {
    NotThere,
    Replay(ReplayError),
    Failed,
}

/// Returns a router that serves the page's files and the data that the page asks for.
pub(super) fn router(store: Store) -> Router {
    let data = Router::new()
        .route("/replay", get(describe))
        .route("/world/{tick}", get(world))
        .route("/frames/{group}", get(frames));
    with_files(data, FILES.iter().chain(WORLDS))
        .with_state(Shared::new(store))
        .layer(middleware::from_fn(guard))
}

async fn describe(State(shared): State<Shared>) -> Result<Response, Refusal> {
    Ok(json(&compute(&shared, Store::describe).await?))
}

async fn world(State(shared): State<Shared>, Path(tick): Path<f64>) -> Result<Response, Refusal> {
    let world: Option<Bytes> = compute(&shared, move |store| store.world(tick)).await?;
    let bytes = world.ok_or(Refusal::NotThere)?;
    Ok(binary(bytes))
}

async fn frames(
    State(shared): State<Shared>,
    Path(group): Path<usize>,
) -> Result<Response, Refusal> {
    let frames = compute(&shared, move |store| store.frames(group)).await?;
    Ok(json(&frames.ok_or(Refusal::NotThere)?))
}

/// Computes `answer` on another thread, and returns its result.
async fn compute<A: Send + 'static>(
    shared: &Shared,
    answer: impl FnOnce(&Store) -> Result<A, ReplayError> + Send + 'static,
) -> Result<A, Refusal> {
    shared.compute(answer).await.ok_or(Refusal::Failed)?.map_err(Refusal::Replay)
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
