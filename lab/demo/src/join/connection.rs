//! The options for connecting to a server. All commands that join a server share them.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::time::Duration;

use clap::Args;

use super::joiner::Target;
use crate::cube_stream::CubeStream;
use crate::join::JoinError;
use crate::secret_options::SecretOptions;

/// The options for reaching a server. Its address is not among them, because it is an argument of
/// some commands and an option of others.
#[derive(Args, Clone, Debug)]
#[command(mut_arg("level", |argument| argument
    .help("How snapshots are coded: packed takes the least work, adaptive the fewest bits. \
           The server must offer this level")))]
pub struct ConnectionArguments {
    #[command(flatten)]
    secret: SecretOptions,
    #[command(flatten)]
    stream: CubeStream,
    /// Seconds of silence after which a connection counts as lost, or an attempt to connect as
    /// failed.
    #[arg(long, default_value_t = 5, value_name = "SECONDS", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    time_out: u64,
}

impl ConnectionArguments {
    /// Returns the file with the secret, if the user named one.
    pub fn secret_file(&self) -> Option<&Path> {
        self.secret.file()
    }

    pub fn target(&self, server: SocketAddr) -> Result<Target, JoinError> {
        Ok(Target {
            server,
            secret: self.secret.resolve()?,
            stream: self.stream.clone(),
            timeout: Duration::from_secs(self.time_out),
        })
    }
}

/// Resolves the server's address. Prefers IPv4, because `serve` listens there by default.
pub fn parse_server(text: &str) -> Result<SocketAddr, String> {
    let wrong = |error: io::Error| format!("{error}; give ADDRESS:PORT, such as 127.0.0.1:40000");
    let found: Vec<SocketAddr> = text.to_socket_addrs().map_err(wrong)?.collect();
    let address = found.iter().find(|address| address.is_ipv4()).or(found.first());
    address.copied().ok_or_else(|| "no address has this name".to_owned())
}
