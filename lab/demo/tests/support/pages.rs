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

    /// Starts `arena` with its page at a free port. Returns the command and the page's address.
    pub(crate) fn arena(options: &[&str]) -> (Self, SocketAddr) {
        let arguments = [&["arena", "--no-open", "--listen", "127.0.0.1:0"], options].concat();
        let mut arena = Self::start(&arguments, None);
        let address = arena.page();
        (arena, address)
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

    /// Starts `figure watch` with its page at a free port. Returns the command, the page's address,
    /// and the address at which a body arrives.
    pub(crate) fn figure_watch() -> (Self, SocketAddr, SocketAddr) {
        let arguments = ["figure", "watch", "127.0.0.1:0", "--no-open", "--listen", "127.0.0.1:0"];
        let mut watch = Self::start(&arguments, None);
        let line = watch.until("http://127.0.0.1:");
        let [page, at] = ["http://", "arrives at "].map(|before| address_after(&line, before));
        (watch, page, at)
    }

    /// Starts `figure send` of a file, which is played again and again.
    pub(crate) fn figure_send(file: &Path, to: SocketAddr) -> Self {
        let file = file.to_str().unwrap();
        Self::start(&["figure", "send", file, "--loop", "--to", &to.to_string()], None)
    }

    /// Returns the page's address, from the line that names it.
    pub(crate) fn page(&mut self) -> SocketAddr {
        address_after(&self.until("http://127.0.0.1:"), "http://")
    }
}

/// Returns the address that follows `before` in a line.
fn address_after(line: &str, before: &str) -> SocketAddr {
    let address = line.split_once(before).unwrap().1.split(['/', ' ']).next().unwrap();
    address.parse().unwrap_or_else(|error| panic!("{error}: {line}"))
}
