//! Runs the commands that have a page.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::running::Running;

impl Running {
    /// Starts `demo` with its page at a free port. Returns the command and the page's address.
    pub(crate) fn demo(options: &[&str]) -> (Self, SocketAddr) {
        Self::demo_at(0, options)
    }

    pub(crate) fn demo_at(port: u16, options: &[&str]) -> (Self, SocketAddr) {
        let listen = format!("127.0.0.1:{port}");
        let mut demo = Self::start(
            &[&["demo", "--no-open", "--json", "--listen", &listen], options].concat(),
            None,
        );
        let address = demo.page();
        (demo, address)
    }

    /// Starts `anim view` with its page at a free port. Returns the command and the page's address.
    pub(crate) fn view(files: &[PathBuf]) -> (Self, SocketAddr) {
        Self::view_of("block", files)
    }

    /// Starts `anim view` with a clip scheme. Returns the command and the page's address.
    pub(crate) fn view_of(scheme: &str, files: &[PathBuf]) -> (Self, SocketAddr) {
        let files = files.iter().map(|file| file.to_str().unwrap());
        let options = ["anim", "view", "--no-open", "--listen", "127.0.0.1:0", "--scheme", scheme];
        let mut view = Self::start(&options.into_iter().chain(files).collect::<Vec<_>>(), None);
        let address = view.page();
        (view, address)
    }

    /// Starts `watch` with its page at a free port. Returns the command and the page's address.
    pub(crate) fn watch(file: &Path) -> (Self, SocketAddr) {
        let file = file.to_str().unwrap();
        let mut watch = Self::start(&["watch", file, "--no-open", "--listen", "127.0.0.1:0"], None);
        let address = watch.page();
        (watch, address)
    }

    /// Returns the page's address, from the line that names it.
    pub(crate) fn page(&mut self) -> SocketAddr {
        let line = self.until("http://127.0.0.1:");
        let address = line.split_once("http://").unwrap().1.split('/').next().unwrap();
        address.parse().unwrap_or_else(|error| panic!("{error}: {line}"))
    }
}
