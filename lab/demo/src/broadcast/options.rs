//! The options of commands that broadcast or watch.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use command_kit::output::Force;

use crate::cube_stream::CubeStream;
use crate::world::WorldArguments;

/// Broadcast the built-in world to spectators, all on this machine: a publisher, a relay inside of
/// the program, and three spectators with different tiers (built with `--features broadcast`).
///
/// More spectators join with the `kinepack-lab watch` command that it prints. For a relay of your
/// own, use `kinepack-lab serve --publish URL`.
#[derive(Args)]
pub struct Arguments {
    /// Address and port of the relay, on UDP. Port 0 takes any free port.
    #[arg(long, default_value = "127.0.0.1:4443", value_name = "ADDRESS")]
    pub(super) listen: SocketAddr,
    #[command(flatten)]
    pub(super) regions: RegionOptions,
    /// Print the summary as one JSON document instead of a table.
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten, next_help_heading = "Built-in world")]
    pub(super) world: WorldArguments,
    #[command(flatten, next_help_heading = "Sending")]
    pub(super) stream: CubeStream,
}

/// Whether a command publishes to a relay.
#[derive(Args, Clone, Debug)]
pub struct PublishOptions {
    /// Also publish the world to spectators, through a relay of Media over QUIC such as moq-relay, if
    /// the program was built with `--features broadcast`. The last part of the path is the
    /// broadcast's name; a token follows as ?jwt=TOKEN.
    #[arg(long, value_name = "URL")]
    pub publish: Option<String>,
    /// Publish this many seconds later, so that players gain nothing by watching their own match.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, allow_negative_numbers = true, value_parser = parse_delay)]
    pub(super) delay: f64,
    #[command(flatten)]
    pub(super) regions: RegionOptions,
    #[command(flatten)]
    pub relay: RelayOptions,
}

/// Whether a broadcast has regions.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct RegionOptions {
    /// Also divide the world into COUNT by COUNT regions, each a tier of its own with 20 snapshots
    /// per second. A spectator's page watches the regions in its view.
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true, value_parser = clap::value_parser!(u8).range(2..=7))]
    pub(super) regions: Option<u8>,
}

/// The longest delay of a broadcast.
const MAX_DELAY_S: f64 = 3_600.0;

fn parse_delay(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.trim_end_matches('s').parse().map_err(|_| "not a number".to_owned())?;
    if (0.0..=MAX_DELAY_S).contains(&seconds) {
        Ok(seconds)
    } else {
        Err("give 0 to 3600 seconds".to_owned())
    }
}

/// How to watch a broadcast.
#[derive(Args, Clone, Debug)]
pub struct WatchOptions {
    /// Show the broadcast in the browser instead, in a page that connects to the relay itself.
    #[arg(long)]
    pub(super) page: bool,
    /// Write that page as a folder of static files instead, for any web host. It contains the URL with
    /// its token.
    #[arg(long, value_name = "DIR", conflicts_with = "page")]
    pub(super) export: Option<PathBuf>,
    #[command(flatten)]
    pub(super) force: Force,
    /// The tier of the broadcast to show, or several together, such as regions [default: the first
    /// one]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(super) tier: Vec<String>,
    /// Seconds to watch [default: until Ctrl-C]
    #[arg(long, conflicts_with_all = ["page", "export"], allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) seconds: Option<u32>,
    /// Print the summary as one JSON document instead of a table.
    #[arg(long, conflicts_with_all = ["page", "export"])]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) relay: RelayOptions,
}

/// The relay's certificate.
#[derive(Args, Clone, Debug, Default)]
pub struct RelayOptions {
    /// SHA-256 hash of the relay's certificate, as 64 hexadecimal digits, for a relay that made its
    /// own [default: certificates that this system trusts]
    #[arg(long, value_name = "HASH", value_parser = parse_hash)]
    pub relay_certificate: Option<Hash>,
}

/// A hash of SHA-256.
pub type Hash = [u8; 32];

fn parse_hash(text: &str) -> Result<Hash, String> {
    let digits: String = text.chars().filter(|letter| *letter != ':').collect();
    let mut hash = [0; 32];
    let is_hash = digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hash {
        return Err("a hash has 64 hexadecimal digits".to_owned());
    }
    for (place, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&digits[2 * place..2 * place + 2], 16).unwrap_or(0);
    }
    Ok(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_hexadecimal() {
        let text = "AB".repeat(32);
        assert_eq!(parse_hash(&text), Ok([0xAB; 32]));
        assert_eq!(
            parse_hash(&text.as_bytes().chunks(2).map(|_| "ab").collect::<Vec<_>>().join(":")),
            Ok([0xAB; 32])
        );
        for wrong in ["", "ab", &"g".repeat(64), &"é".repeat(32)] {
            assert!(parse_hash(wrong).is_err(), "{wrong}");
        }
    }
}
