//! The files of pages, which are compiled into the program.

use axum::Router;
use axum::http::header;
use axum::routing::get;

/// A file's name, which is also its path on the server, and its contents.
pub type File = (&'static str, &'static [u8]);

/// Includes the files with the given names, from the folder `web` next to the calling source file.
#[macro_export]
macro_rules! web_files {
    ($($name:literal,)*) => { &[$(($name, include_bytes!(concat!("web/", $name)).as_slice())),*] };
}

/// The files that all pages use.
#[rustfmt::skip]
pub const SHARED: &[File] = crate::web_files![
    "shared/ask.js", "shared/base.css", "shared/camera_input.js", "shared/favicon.svg", "shared/floor.js", "shared/format.js",
    "shared/matrix.js", "shared/orbit.js", "shared/plot.js", "shared/programs.js", "shared/scale.js", "shared/theme.js",
];

/// Serves a page's own files and the shared ones. `index.html` is at the root.
pub fn with_files<S: Clone + Send + Sync + 'static>(
    mut router: Router<S>,
    own: impl IntoIterator<Item = &'static File>,
) -> Router<S> {
    for &(name, bytes) in own.into_iter().chain(SHARED) {
        let path = if name == "index.html" { "/".to_owned() } else { format!("/{name}") };
        router = router.route(
            &path,
            get(move || async move { ([(header::CONTENT_TYPE, kind(name))], bytes) }),
        );
    }
    router
}

/// Returns the content type of a file.
fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.') {
        Some((_, "html")) => "text/html; charset=utf-8",
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "wasm")) => "application/wasm",
        Some((_, "svg")) => "image/svg+xml",
        _ => "text/javascript; charset=utf-8",
    }
}
