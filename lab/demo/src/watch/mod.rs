//! `kinepack-lab watch`: a replay in the browser, with a time line. The page chooses a moment and
//! asks for the world at that moment. The program decodes only the groups that it needs for the
//! answer.

mod server;
mod store;

use std::fmt::Display;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;

use clap::Args;
use command_kit::interrupt::Interrupt;
use command_kit::page::{self, PageError};
use command_kit::{Failure, OutputError, say};
use kinepack_replay::ReplayError;
use store::Store;

use crate::broadcast::{self, BroadcastError, WatchOptions};

/// The page's default port.
const PORT: u16 = 4652;

/// Watch a replay in the browser: any moment, forwards and backwards, at any speed. Or watch a
/// broadcast in the terminal or, with --page, in the browser.
///
/// A replay that is still being written grows while it is watched.
#[derive(Args)]
pub struct Arguments {
    /// The replay, or the https: address of a broadcast. Broadcasts need a program built with
    /// `--features broadcast`.
    #[arg(value_name = "FILE or URL")]
    file: PathBuf,
    /// Address and port of the page. Port 0 takes any free port. Anybody who can reach the address
    /// can watch [default: 127.0.0.1:4652, or another port if that is taken]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Do not open the browser.
    #[arg(long)]
    no_open: bool,
    #[command(flatten, next_help_heading = "Broadcast")]
    broadcast: WatchOptions,
}

/// The reason why a replay cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    #[error("{}: {error}", path.display())]
    Replay { path: PathBuf, error: ReplayError },
    #[error("{}: its entities have no position to show", path.display())]
    NoBodies { path: PathBuf },
    #[error(transparent)]
    Broadcast(#[from] BroadcastError),
    #[error(transparent)]
    Page(#[from] PageError),
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl Failure for WatchError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Broadcast(error) => error.exit_code(),
            Self::Page(error) => error.exit_code(),
            Self::Output(error) => error.exit_code(),
            Self::Replay { .. } | Self::NoBodies { .. } => 2,
        }
    }
}

/// The address at which to serve a page, and whether to open it in the browser.
pub struct PageOptions {
    listen: Option<SocketAddr>,
    opens: bool,
}

impl PageOptions {
    /// Listens for the requests of a page, prints its address after `name`, and may open it in the
    /// browser.
    pub fn listen(&self, name: &dyn Display) -> Result<TcpListener, PageError> {
        let listener = page::listen(self.listen, PORT, "watch")?;
        let url = page::url(&listener)?;
        say(format_args!("{name} is at {url} (Ctrl-C ends this)"));
        if self.opens {
            page::open(&url);
        }
        Ok(listener)
    }
}

pub fn run(arguments: &Arguments) -> Result<(), WatchError> {
    let Arguments { file, listen, no_open, broadcast } = arguments;
    let interrupt = Interrupt::listen().map_err(OutputError::Signals)?;
    let page_options = PageOptions { listen: *listen, opens: !no_open };
    if let Some(url) = file.to_str().filter(|text| text.contains("://")) {
        return Ok(broadcast::watch(url, broadcast, &page_options, &interrupt)?);
    }
    let store = Store::open(file)?;
    page::serve_until(page_options.listen(&file.display())?, server::router(store), &interrupt)
        .map_err(|error| PageError::Page { error }.into())
}
