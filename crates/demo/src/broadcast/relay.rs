//! Which relay to trust.

use clap::Args;
use kinepack_crowd::moq::{Connector, Trust};
use tokio::runtime::{Builder, Runtime};

use super::BroadcastError;

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

impl RelayOptions {
    /// Threads for a connection, and the connector.
    pub fn connector(&self) -> Result<(Runtime, Connector), BroadcastError> {
        let trust = match self.relay_certificate {
            Some(hash) => Trust::Certificates(vec![hash]),
            None => Trust::System,
        };
        connector(&trust)
    }
}

/// Threads for a connection, and the connector.
pub(super) fn connector(trust: &Trust) -> Result<(Runtime, Connector), BroadcastError> {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.map_err(BroadcastError::Threads)?;
    let connector = {
        let _within = runtime.enter();
        Connector::new(trust)?
    };
    Ok((runtime, connector))
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
