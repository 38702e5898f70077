//! The files of pages, which are part of the program.

use axum::Router;
use axum::http::header;
use axum::routing::get;

/// A name, which is also the path after the first slash, and a text.
pub type File = (&'static str, &'static str);

/// The files of these names in the folder `web` beside the file in which this stands.
#[macro_export]
macro_rules! web_files {
    ($($name:literal,)*) => { &[$(($name, include_str!(concat!("web/", $name)))),*] };
}

/// What all pages use.
#[rustfmt::skip]
const SHARED: &[File] = crate::web_files![
    "shared/base.css", "shared/camera_input.js", "shared/favicon.svg", "shared/floor.js", "shared/format.js",
    "shared/matrix.js", "shared/orbit.js", "shared/plot.js", "shared/programs.js", "shared/scale.js", "shared/theme.js",
];

/// Answers with a page's own files and the shared ones; `index.html` is what is at the root.
pub fn with_files<S: Clone + Send + Sync + 'static>(
    mut router: Router<S>,
    own: &'static [File],
) -> Router<S> {
    for &(name, text) in own.iter().chain(SHARED) {
        let path = if name == "index.html" { "/".to_owned() } else { format!("/{name}") };
        router = router
            .route(&path, get(move || async move { ([(header::CONTENT_TYPE, kind(name))], text) }));
    }
    router
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
