//! What the pages of this program have in common: where they listen, whom they answer, and the
//! files that both use. `demo` and `anim view` each add their own files and their own data.

mod files;
mod guard;
mod server;

use std::io::{self, IsTerminal};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use crate::failure::Failure;

pub(crate) use files::{File, web_files, with_files};
pub(crate) use guard::{guard, is_same_origin};
pub(crate) use server::serve;

/// Takes the address that was asked for, or the usual port of this machine, or any other port of
/// it. `powers` is what somebody who reaches the page can do.
pub(crate) fn listen(
    asked: Option<SocketAddr>,
    usual_port: u16,
    powers: &str,
) -> Result<TcpListener, Failure> {
    let bind = |address: SocketAddr| {
        let listener =
            TcpListener::bind(address).map_err(|error| Failure::Listen { address, error })?;
        listener.set_nonblocking(true).map_err(|error| Failure::Listen { address, error })?;
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
pub(crate) fn url(listener: &TcpListener) -> Result<String, Failure> {
    Ok(format!("http://{}/", listener.local_addr().map_err(|error| Failure::Page { error })?))
}

/// Opens the page in the desktop's browser, where there is one to be seen.
pub(crate) fn open(url: &str) {
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
