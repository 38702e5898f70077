//! `kinepack-lab serve`: sends the built-in world over UDP, in real time, to every client that has
//! the secret.
//!
//! One thread ticks 60 times per second. A tick steps the world, encodes snapshots for all
//! receivers and sends them. Between ticks, the thread takes arrived datagrams about once per
//! millisecond, because acknowledgements measure the round trip. Another thread reads the socket
//! and drops junk (see [`kinepack_udp`]).
//!
//! A client that sends keys plays (see `players.rs`). With `--rings`, it sees only what is near its
//! cube (see `rings.rs`).

#[cfg(not(feature = "web"))]
mod absent;
mod doors;
mod guests;
#[cfg(feature = "web")]
mod page;
mod players;
mod report;
mod rings;
mod serving;
mod timing;

use std::net::SocketAddr;
use std::time::Duration;

#[cfg(not(feature = "web"))]
use absent::{SAFE_PAYLOAD_BYTES, WebServer, WebSetupError};
use clap::Args;
use command_kit::interrupt::Interrupt;
use command_kit::page::PageError;
use command_kit::{Failure, OutputError, announce, print};
pub use doors::Doors;
use kinepack_net::{HubConfig, NetError};
use kinepack_udp::{
    MAX_OVERHEAD_BYTES, Secret, ServerOptions, SetupError, UdpServer, header_bytes,
};
#[cfg(feature = "web")]
use kinepack_webtransport::{SAFE_PAYLOAD_BYTES, WebOptions, WebServer, WebSetupError};
#[cfg(test)]
pub use players::{Players, Seat};
#[cfg(test)]
pub use rings::PlayerRings;
use rings::RingOptions;
pub use serving::Serving;

use crate::PROTOCOL_ID;
use crate::broadcast::{BroadcastError, PublishOptions};
use crate::inputs::{MAX_GUESTS, with_keys};
use crate::recording::RecordOptions;
use crate::secret_options::{SecretOptions, SecretOptionsError};
use crate::sender::{SendOptions, Sender};
use crate::session_error::SessionError;
use crate::world::{WorldArguments, WorldError};

/// The largest UDP payload. Such a datagram passes every path of the Internet in one piece (RFC
/// 9000, section 14).
const UDP_PAYLOAD_BYTES: usize = 1_200;

/// Simulate a physics world in real time, and send it over UDP to everybody who joins.
///
/// Server and joiners share a secret. Start a joiner with `kinepack-lab join ADDRESS:PORT`.
#[derive(Args)]
#[command(mut_arg("seconds", |argument| argument
    .help("Seconds to run [default: until Ctrl-C, which prints the summary]")
    .value_parser(clap::value_parser!(u32).range(1..))))]
#[command(mut_arg("level", |argument| argument
    .help("How snapshots are coded: packed takes the least work, adaptive the fewest bits. \
           If there are several, separated by commas, each joiner chooses one")
    .value_delimiter(',')))]
pub struct Arguments {
    /// Address and port to listen at. Port 0 takes any free port. 0.0.0.0 means all addresses of
    /// this machine.
    #[arg(long, default_value = "127.0.0.1:40000", value_name = "ADDRESS")]
    listen: SocketAddr,
    /// Also serve a page at this address, from which browsers join: TCP for the page and for
    /// WebSockets, UDP for WebTransport. Anybody who can reach the address can join.
    #[arg(long, value_name = "ADDRESS")]
    web: Option<SocketAddr>,
    /// Print the summary as one JSON document instead of a table.
    #[arg(long)]
    json: bool,
    #[command(flatten, next_help_heading = "Connections")]
    secret: SecretOptions,
    /// The maximum number of clients at once.
    #[arg(long, default_value_t = 64, help_heading = "Connections", value_name = "COUNT", allow_negative_numbers = true, value_parser = clap::value_parser!(u32))]
    max_clients: u32,
    /// The maximum number of clients that play, each with its own cube. The others only watch. With
    /// 0, all watch.
    #[arg(long, default_value_t = 16, help_heading = "Connections", value_name = "COUNT", allow_negative_numbers = true, value_parser = clap::value_parser!(u8).range(..=MAX_GUESTS as i64))]
    max_players: u8,
    /// Seconds of silence after which a client counts as lost.
    #[arg(long, default_value_t = 5, help_heading = "Connections", value_name = "SECONDS", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    time_out: u64,
    #[command(flatten, next_help_heading = "Built-in world")]
    world: WorldArguments,
    #[command(flatten)]
    recording: RecordOptions,
    #[command(flatten, next_help_heading = "Spectators")]
    publish: PublishOptions,
    #[command(flatten, next_help_heading = "Sending")]
    send: SendOptions,
    #[command(flatten, next_help_heading = "Sending")]
    rings: RingOptions,
}

/// The reason why a server fails.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Secret(#[from] SecretOptionsError),
    #[error(transparent)]
    Setup(#[from] SetupError),
    #[error("--web: {0}")]
    Web(#[from] WebSetupError),
    #[error(transparent)]
    Broadcast(#[from] BroadcastError),
    #[error(transparent)]
    Page(#[from] PageError),
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl Failure for ServeError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Session(error) => error.exit_code(),
            Self::Output(error) => error.exit_code(),
            Self::Broadcast(error) => error.exit_code(),
            Self::Page(error) => error.exit_code(),
            Self::Secret(_) | Self::Setup(_) | Self::Web(_) => 2,
        }
    }
}

impl From<WorldError> for ServeError {
    fn from(error: WorldError) -> Self {
        Self::Session(error.into())
    }
}

impl From<NetError> for ServeError {
    fn from(error: NetError) -> Self {
        Self::Session(error.into())
    }
}

pub fn run(arguments: &Arguments) -> Result<(), ServeError> {
    let secret = arguments.secret.resolve()?;
    let mut options = ServerOptions::new(PROTOCOL_ID);
    options.max_clients = arguments.max_clients as usize;
    options.timeout = Duration::from_secs(arguments.time_out);
    let interrupt = Interrupt::listen().map_err(OutputError::Signals)?;
    let world = arguments.world.play()?;
    let half_width_m = world.grid_half_width_m();
    let mut sender = Sender::new(world, &arguments.send, hub_config(arguments))?;
    arguments.rings.apply(&mut sender.hub)?;
    let server = UdpServer::bind(arguments.listen, &secret, options)?;
    let web = match arguments.web {
        Some(address) => Some(arguments.open_web(address, &secret, &sender)?),
        None => None,
    };
    let (web, page) = web.unzip();
    let (stream, name) = (&arguments.send.stream, arguments.world.name());
    let outgoing = arguments.publish.begin(&stream.codec(), cubes::TICK_HZ as u16, half_width_m)?;
    // Only now is nothing left that could fail, so a failed start replaces no file.
    sender.recording = arguments.recording.begin(stream, &name, arguments.secret.file())?;
    let max_players = usize::from(arguments.max_players);
    let mut serving = Serving::new(
        Doors::new(server, web),
        sender,
        arguments.send.or_auto_budget(),
        options.timeout,
        max_players,
    );
    serving.outgoing = outgoing;
    serving.say(&format!("listening on {}", serving.local_addr()));
    if let Some(page) = page {
        serving.say(&format!("browsers join at http://{page}/"));
    }
    // If the disk is full, the clients still get a farewell, and the user the report.
    let ran = serving.run(&interrupt, arguments.world.seconds);
    let report = serving.report(arguments);
    let closed = serving.close(&interrupt);
    let printed =
        print(|out| if arguments.json { report.write_json(out) } else { report.write_table(out) });
    ran?;
    let published = closed?;
    printed?;
    if let Some(published) = published {
        announce(published.line());
        published.check()?;
    }
    Ok(())
}

#[cfg(not(feature = "web"))]
impl Arguments {
    #[allow(clippy::unused_self, reason = "as with browsers")]
    fn open_web(
        &self,
        _: SocketAddr,
        _: &Secret,
        _: &Sender,
    ) -> Result<(WebServer, SocketAddr), ServeError> {
        Err(WebSetupError.into())
    }
}

#[cfg(feature = "web")]
impl Arguments {
    /// Opens the door for browsers, and its page. Returns the page's address.
    fn open_web(
        &self,
        address: SocketAddr,
        secret: &Secret,
        sender: &Sender,
    ) -> Result<(WebServer, SocketAddr), ServeError> {
        let listener = command_kit::page::listen(Some(address), 0, "join")?;
        // If the port was 0, the system has chosen a free one.
        let address = listener.local_addr().map_err(|error| PageError::Page { error })?;
        let options = WebOptions {
            max_clients: self.max_clients as usize,
            timeout: Duration::from_secs(self.time_out),
            ..WebOptions::default()
        };
        let web = WebServer::bind(address, secret, options)?;
        let extent = sender.world.extent();
        let page = page::open(listener, secret, web.door(), &self.send.stream, extent)?;
        Ok((web, page))
    }
}

/// Returns the hub's configuration. It limits datagrams so that they fit UDP together with
/// encryption and an acknowledgement of keys. If browsers may join, datagrams also fit
/// WebTransport.
fn hub_config(arguments: &Arguments) -> HubConfig {
    let udp_bytes = UDP_PAYLOAD_BYTES - MAX_OVERHEAD_BYTES;
    let web_bytes = arguments.web.map_or(udp_bytes, |_| SAFE_PAYLOAD_BYTES);
    with_keys(HubConfig {
        datagram_bytes: udp_bytes.min(web_bytes),
        overhead_bytes: MAX_OVERHEAD_BYTES + header_bytes(arguments.listen),
        ..HubConfig::default()
    })
}
