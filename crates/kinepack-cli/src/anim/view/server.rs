//! Serves the page, which is part of the program, and answers its requests. Only one answer is
//! computed at a time, which bounds the memory.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, middleware};
use command_kit::page::{File, guard, with_files};
use command_kit::web_files;
use kinepack_anim::Channel;
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::{Shown, buffers, describe};

/// The page's own files.
#[rustfmt::skip]
const FILES: &[File] = web_files![
    "api.js", "charts/error_curve.js", "charts/time_plot.js", "charts/track_curve.js",
    "charts/value_scale.js", "controls/clip_list.js", "controls/playback.js",
    "controls/transport.js", "index.html", "main.js", "panels/joints.js", "panels/numbers.js",
    "panels/track.js", "scene/figures.js", "scene/framing.js", "scene/motion.js",
    "scene/scene.js", "scene/shaders.js", "style.css",
];

#[derive(Clone)]
struct Store {
    clips: Arc<[Shown]>,
    /// Held while an answer is computed.
    turn: Arc<Semaphore>,
}

/// Why a request gets no answer.
enum Refusal {
    NoClip,
    NoTrack,
    Failed,
}

/// The page's files and the data that it asks for.
pub(super) fn router(clips: Arc<[Shown]>) -> Router {
    let store = Store { clips, turn: Arc::new(Semaphore::new(1)) };
    let data = Router::new()
        .route("/clips", get(list))
        .route("/clips/{clip}", get(clip))
        .route("/clips/{clip}/poses", get(poses))
        .route("/clips/{clip}/tracks/{joint}/{channel}", get(track));
    with_files(data, FILES).with_state(store).layer(middleware::from_fn(guard))
}

async fn list(State(store): State<Store>) -> Response {
    json(&store.clips.iter().map(describe::line).collect::<Vec<_>>())
}

async fn clip(State(store): State<Store>, Path(clip): Path<usize>) -> Result<Response, Refusal> {
    Ok(json(&describe::detail(store.clip(clip)?)))
}

async fn poses(State(store): State<Store>, Path(clip): Path<usize>) -> Result<Response, Refusal> {
    store.compute(clip, buffers::poses).await
}

async fn track(
    State(store): State<Store>,
    Path((clip, joint, channel)): Path<(usize, usize, String)>,
) -> Result<Response, Refusal> {
    let channel =
        Channel::ALL.into_iter().find(|known| known.name() == channel).ok_or(Refusal::NoTrack)?;
    if joint >= store.clip(clip)?.raw.joints() {
        return Err(Refusal::NoTrack);
    }
    store.compute(clip, move |shown| buffers::track(shown, joint, channel)).await
}

impl Store {
    fn clip(&self, index: usize) -> Result<&Shown, Refusal> {
        self.clips.get(index).ok_or(Refusal::NoClip)
    }

    /// Computes an answer on another thread, after other answers that are being computed.
    async fn compute(
        &self,
        index: usize,
        bytes: impl FnOnce(&Shown) -> Vec<u8> + Send + 'static,
    ) -> Result<Response, Refusal> {
        self.clip(index)?;
        let turn = Arc::clone(&self.turn).acquire_owned().await.map_err(|_| Refusal::Failed)?;
        let clips = Arc::clone(&self.clips);
        let computed = spawn_blocking(move || {
            let _turn = turn;
            bytes(&clips[index])
        });
        let bytes = computed.await.map_err(|_| Refusal::Failed)?;
        Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response())
    }
}

fn json(document: &impl Serialize) -> Response {
    let text = serde_json::to_string(document).expect("numbers and texts");
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
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
