//! Tokens. Each token lets one client connect, under one id, until a certain time. A server's web
//! site gives a token to a page, and the page includes it in the address that it connects to.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use blake2::digest::consts::U16;
use blake2::digest::{FixedOutput, KeyInit, Update};
use kinepack_udp::Secret;

/// Signs and checks tokens with 16 bytes.
type Mac = blake2::Blake2bMac<U16>;

const BYTES: usize = 8 + 8 + 16;
const PURPOSE: &[u8] = b"kinepack webtransport token 1";

/// A permit for one connection, under one id.
///
/// A token consists of 64 hexadecimal digits: the client's id, the time at which the token expires,
/// and a signature that only the owner of the secret can make.
///
/// ```
/// use std::time::Duration;
/// use kinepack_udp::Secret;
/// use kinepack_webtransport::Token;
///
/// let secret = Secret::parse("a passphrase of your own")?;
/// let token = Token::new(&secret, 7, Duration::from_secs(60));
/// assert_eq!(token.as_str().len(), 64);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// Checks tokens.
#[derive(Clone)]
pub(crate) struct Checker(Mac);

/// The contents of a valid token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Permit {
    pub(crate) client: u64,
    pub(crate) until_unix_s: u64,
}

impl Token {
    /// Makes a token for the client with the id `client`, which must connect within `lifetime`.
    /// Choose ids at random, and use each id only once.
    pub fn new(secret: &Secret, client: u64, lifetime: Duration) -> Self {
        let until_unix_s = unix_s().saturating_add(lifetime.as_secs());
        Self(Checker::new(secret).sign(Permit { client, until_unix_s }))
    }

    /// The token's digits, for an address.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Hides the digits. For a minute, the token is as good as a password, so logs must not contain it.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

impl Checker {
    pub(crate) fn new(secret: &Secret) -> Self {
        let key = secret.derive(PURPOSE);
        Self(Mac::new_from_slice(&key).expect("32 bytes are a key"))
    }

    fn mac(&self, signed: &[u8]) -> [u8; 16] {
        let mut mac = self.0.clone();
        mac.update(signed);
        mac.finalize_fixed().into()
    }

    pub(crate) fn sign(&self, permit: Permit) -> String {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&permit.client.to_le_bytes());
        bytes[8..16].copy_from_slice(&permit.until_unix_s.to_le_bytes());
        let mac = self.mac(&bytes[..16]);
        bytes[16..].copy_from_slice(&mac);
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The contents of a token; `None` if the token is not valid now.
    pub(crate) fn check(&self, text: &str) -> Option<Permit> {
        let mut bytes = [0; BYTES];
        if text.len() != 2 * BYTES || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        }
        let (signed, mac) = bytes.split_at(16);
        // All bytes are compared, so that the time does not reveal which byte is the first wrong
        // one.
        let difference =
            self.mac(signed).iter().zip(mac).fold(0, |sum, (ours, theirs)| sum | (ours ^ theirs));
        let number = |bytes: &[u8]| Some(u64::from_le_bytes(*bytes.first_chunk()?));
        let permit = Permit { client: number(signed)?, until_unix_s: number(&signed[8..])? };
        (difference == 0 && permit.until_unix_s >= unix_s()).then_some(permit)
    }
}

pub(crate) fn unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> Secret {
        Secret::parse(text).expect("a secret")
    }

    /// Compares a token with the frozen bytes in `spec/NET.md`, section 11.
    #[test]
    fn a_token_has_its_frozen_bytes() {
        let digits: String = (0..32).map(|byte| format!("{byte:02x}")).collect();
        let token =
            Checker::new(&secret(&digits)).sign(Permit { client: 7, until_unix_s: 1 << 32 });
        assert_eq!(token, "070000000000000000000000010000000c0c0a60e2f761f573b81059d27705f8");
    }

    #[test]
    fn a_token_is_valid_for_its_secret_and_time_alone() {
        let ours = secret("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
        let other = secret("1123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
        let token = Token::new(&ours, 7, Duration::from_secs(60));
        let checker = Checker::new(&ours);
        assert_eq!(checker.check(token.as_str()).map(|permit| permit.client), Some(7));
        assert_eq!(Checker::new(&other).check(token.as_str()), None);
        let late = checker.sign(Permit { client: 7, until_unix_s: unix_s() - 1 });
        assert_eq!(checker.check(&late), None);
        for at in 0..64 {
            let mut digits = token.as_str().to_owned().into_bytes();
            digits[at] = if digits[at] == b'0' { b'1' } else { b'0' };
            assert_eq!(checker.check(&String::from_utf8(digits).expect("digits")), None, "{at}");
        }
        for wrong in ["", "7", &"é".repeat(32), &"z".repeat(64), &"+1".repeat(32)] {
            assert_eq!(checker.check(wrong), None, "{wrong}");
        }
    }
}
