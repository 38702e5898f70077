//! How to reach a server: the options of all that join one.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use clap::Args;

use super::joiner::Target;
use crate::cube_stream::CubeStream;
use crate::join::JoinError;
use crate::secret_options::SecretOptions;

/// See the head of this file. The server itself is an argument or an option, as the command wants
/// it.
#[derive(Args, Clone, Debug)]
#[command(mut_arg("level", |argument| argument
    .help("How snapshots are coded: packed takes the least work, adaptive the fewest bits. One that the server offers")))]
pub struct ConnectionArguments {
    #[command(flatten)]
    secret: SecretOptions,
    #[command(flatten)]
    stream: CubeStream,
    /// Seconds of silence after which a connection is lost, or an attempt at one is given up.
    #[arg(long, default_value_t = 5, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3_600))]
    time_out: u64,
}

impl ConnectionArguments {
    pub fn target(&self, server: SocketAddr) -> Result<Target, JoinError> {
        Ok(Target {
            server,
            secret: self.secret.resolve()?,
            stream: self.stream.clone(),
            timeout: Duration::from_secs(self.time_out),
        })
    }
}

/// An address of the server; of several, one of IPv4, as `serve` listens there where nothing else
/// is said.
pub fn parse_server(text: &str) -> Result<SocketAddr, String> {
    let found: Vec<SocketAddr> =
        text.to_socket_addrs().map_err(|error| error.to_string())?.collect();
    let address = found.iter().find(|address| address.is_ipv4()).or(found.first());
    address.copied().ok_or_else(|| "no address has this name".to_owned())
}
