//! Computes data that a page asks for. Only one answer is computed at a time, which bounds the
//! memory.

use std::sync::Arc;

use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// The data of a page. Clones share it.
pub struct Answers<T> {
    data: Arc<T>,
    /// The permit that a computation holds while it runs.
    turn: Arc<Semaphore>,
}

impl<T> Clone for Answers<T> {
    fn clone(&self) -> Self {
        Self { data: Arc::clone(&self.data), turn: Arc::clone(&self.turn) }
    }
}

impl<T: Send + Sync + 'static> Answers<T> {
    pub fn new(data: T) -> Self {
        Self { data: Arc::new(data), turn: Arc::new(Semaphore::new(1)) }
    }

    pub fn data(&self) -> &T {
        &self.data
    }

    /// Computes an answer on another thread, after all answers that are being computed. Returns
    /// `None` if the thread fails.
    pub async fn compute<A: Send + 'static>(
        &self,
        answer: impl FnOnce(&T) -> A + Send + 'static,
    ) -> Option<A> {
        let turn = Arc::clone(&self.turn).acquire_owned().await.ok()?;
        let data = Arc::clone(&self.data);
        let computed = spawn_blocking(move || {
            let _turn = turn;
            answer(&data)
        });
        computed.await.ok()
    }
}

/// Returns a response with a document as JSON.
pub fn json(document: &impl Serialize) -> Response {
    let text = serde_json::to_string(document).expect("numbers and texts");
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

/// Returns a response with binary data.
pub fn binary(bytes: impl IntoResponse) -> Response {
    ([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response()
}
