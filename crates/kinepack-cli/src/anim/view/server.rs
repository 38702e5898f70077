//! Serves the page, whose files are part of the program, and answers its requests.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, middleware};
use command_kit::page::{Answers, File, binary, guard, json, with_files};
use command_kit::web_files;
use kinepack_anim::Channel;

use super::{Shown, buffers, describe};

/// The files that only this page uses.
#[rustfmt::skip]
const FILES: &[File] = web_files![
    "api.js", "charts/error_curve.js", "charts/time_plot.js", "charts/track_curve.js",
    "charts/value_scale.js", "controls/clip_list.js", "controls/playback.js",
    "controls/transport.js", "index.html", "main.js", "panels/joints.js", "panels/numbers.js",
    "panels/track.js", "scene/motion.js", "style.css",
];

/// The files that draw skeletons, which the page of `figure watch` has too.
pub(crate) const SCENE: &[File] =
    web_files!["scene/figures.js", "scene/framing.js", "scene/scene.js", "scene/shaders.js",];

type Store = Answers<Vec<Shown>>;

/// The reason why a request gets no answer.
enum Refusal {
    NoClip,
    NoTrack,
    Failed,
}

/// Returns the routes to the page's files and to the data that it requests.
pub(super) fn router(clips: Vec<Shown>) -> Router {
    let data = Router::new()
        .route("/clips", get(list))
        .route("/clips/{clip}", get(clip))
        .route("/clips/{clip}/poses", get(poses))
        .route("/clips/{clip}/tracks/{joint}/{channel}", get(track));
    with_files(data, FILES.iter().chain(SCENE))
        .with_state(Store::new(clips))
        .layer(middleware::from_fn(guard))
}

async fn list(State(store): State<Store>) -> Response {
    json(&store.data().iter().map(describe::line).collect::<Vec<_>>())
}

async fn clip(State(store): State<Store>, Path(clip): Path<usize>) -> Result<Response, Refusal> {
    Ok(json(&describe::detail(at(&store, clip)?)))
}

async fn poses(State(store): State<Store>, Path(clip): Path<usize>) -> Result<Response, Refusal> {
    compute(&store, clip, buffers::poses).await
}

async fn track(
    State(store): State<Store>,
    Path((clip, joint, channel)): Path<(usize, usize, String)>,
) -> Result<Response, Refusal> {
    let channel =
        Channel::ALL.into_iter().find(|known| known.name() == channel).ok_or(Refusal::NoTrack)?;
    if joint >= at(&store, clip)?.raw.joints() {
        return Err(Refusal::NoTrack);
    }
    compute(&store, clip, move |shown| buffers::track(shown, joint, channel)).await
}

fn at(store: &Store, index: usize) -> Result<&Shown, Refusal> {
    store.data().get(index).ok_or(Refusal::NoClip)
}

/// Computes an answer about a clip.
async fn compute(
    store: &Store,
    index: usize,
    bytes: impl FnOnce(&Shown) -> Vec<u8> + Send + 'static,
) -> Result<Response, Refusal> {
    at(store, index)?;
    let computed = store.compute(move |clips| bytes(&clips[index])).await;
    Ok(binary(computed.ok_or(Refusal::Failed)?))
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, reason) = match self {
            Self::NoClip => (StatusCode::NOT_FOUND, "This clip does not exist.\n"),
            Self::NoTrack => (StatusCode::NOT_FOUND, "This track does not exist.\n"),
            Self::Failed => {
                (StatusCode::INTERNAL_SERVER_ERROR, "The answer could not be computed.\n")
            }
        };
        (status, reason).into_response()
    }
}
