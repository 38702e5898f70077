//! What the pages of this program have in common: where they listen, whom they answer, and the
//! files that both use. `demo` and `anim view` each add their own files and their own data.

mod files;
mod guard;
mod server;

use std::io::{self, IsTerminal};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

pub use files::{File, with_files};
pub use guard::{guard, is_same_origin};
pub use server::serve;

use crate::Failure;

/// Why a page cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// No page can be served at this address.
    #[error(
        "no page can be served at {address}: {error}; --listen takes another address, and port 0 \
         takes any free port"
    )]
    Listen { address: SocketAddr, error: io::Error },
    /// The page's server has failed.
    #[error("the page's server failed: {error}")]
    Page { error: io::Error },
}

impl Failure for PageError {
    fn exit_code(&self) -> u8 {
        if matches!(self, Self::Page { .. }) { 1 } else { 2 }
    }
}

/// Takes the address that was asked for, or the usual port of this machine, or any other port of
/// it. `powers` is what somebody who reaches the page can do.
pub fn listen(
    asked: Option<SocketAddr>,
    usual_port: u16,
    powers: &str,
) -> Result<TcpListener, PageError> {
    let bind = |address: SocketAddr| {
        let listener =
            TcpListener::bind(address).map_err(|error| PageError::Listen { address, error })?;
        listener.set_nonblocking(true).map_err(|error| PageError::Listen { address, error })?;
        Ok(listener)
    };
    if let Some(address) = asked {
        if !address.ip().is_loopback() {
            eprintln!("WARNING: whoever reaches {address} can {powers}");
        }
        return bind(address);
    }
    let local = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    bind(local(usual_port)).or_else(|_| bind(local(0)))
}

/// Where a page is.
pub fn url(listener: &TcpListener) -> Result<String, PageError> {
    Ok(format!("http://{}/", listener.local_addr().map_err(|error| PageError::Page { error })?))
}

/// Opens the page in the desktop's browser, where there is one to be seen.
pub fn open(url: &str) {
    if is_desktop() && open::that_detached(url).is_err() {
        eprintln!("no browser could be opened");
    }
}

/// Whether a browser would be seen by who started this program.
fn is_desktop() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let has_screen = !cfg!(all(unix, not(target_os = "macos")))
        || is_set("DISPLAY")
        || is_set("WAYLAND_DISPLAY");
    io::stderr().is_terminal() && has_screen && !is_set("SSH_CONNECTION")
}
