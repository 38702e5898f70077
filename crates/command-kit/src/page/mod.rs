//! The shared parts of the program's pages: the address, the server with its limits and checks, and
//! common files. `demo` and `anim view` each add their own files and data.

mod answers;
mod files;
mod guard;
mod patient;
mod server;

use std::io::{self, IsTerminal};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::time::Duration;

pub use answers::{Answers, binary, json};
use axum::Router;
pub use files::{File, SHARED, with_files};
pub use guard::{guard, guard_with_modules, guard_with_relays, is_same_origin};
pub use server::serve;

use crate::interrupt::Interrupt;
use crate::{Failure, say};

/// The time between two checks of the signal's flag.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The reason why a page cannot be served.
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

/// Listens at the address `asked`. If it is `None`, listens at the usual port of this machine, or
/// at any free port if the usual one is taken. `powers` completes "anyone who can reach this
/// address can".
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
            say(format_args!("WARNING: anyone who can reach {address} can {powers}"));
        }
        return bind(address);
    }
    let local = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    bind(local(usual_port)).or_else(|_| bind(local(0)))
}

/// Serves a page until a signal ends the program.
pub fn serve_until(listener: TcpListener, router: Router, interrupt: &Interrupt) -> io::Result<()> {
    let ended = async {
        while !interrupt.is_raised() {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    serve(listener, router, ended)
}

/// Returns the address of a page.
pub fn url(listener: &TcpListener) -> Result<String, PageError> {
    Ok(format!("http://{}/", listener.local_addr().map_err(|error| PageError::Page { error })?))
}

/// Opens the page in the desktop's browser, if the user can see one.
pub fn open(url: &str) {
    if is_desktop() && open::that_detached(url).is_err() {
        say("no browser could be opened");
    }
}

/// Returns whether the user of this program would see a browser.
fn is_desktop() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let has_screen = !cfg!(all(unix, not(target_os = "macos")))
        || is_set("DISPLAY")
        || is_set("WAYLAND_DISPLAY");
    io::stderr().is_terminal() && has_screen && !is_set("SSH_CONNECTION")
}
