//! The secret that a server and its clients share: 32 bytes, as hexadecimal digits or derived from
//! a passphrase. Anyone who knows the secret may connect, under any client id.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use argon2::{Algorithm, Argon2, Params, Version};
use blake2::digest::consts::U32;
use blake2::digest::{FixedOutput, KeyInit, Update};

/// Derives keys of 32 bytes.
type Mac = blake2::Blake2bMac<U32>;

const KEY_BYTES: usize = renetcode::NETCODE_KEY_BYTES;
const MIN_PASSPHRASE_CHARACTERS: usize = 16;
const MAX_TEXT_BYTES: usize = 4096;

/// An attacker who records one connection request can try passphrases offline, at the price of one
/// derivation for each. The derivation is therefore expensive: Argon2id (RFC 9106) with the memory
/// and rounds that OWASP recommends takes some hundredths of a second. With a plain hash, a
/// graphics card would try 10⁹ passphrases a second. No salt is stored, because both sides know
/// only the passphrase. `DOMAIN` separates this key from the keys of other programs.
const MEMORY_KIB: u32 = 19 << 10;
const ROUNDS: u32 = 2;
const DOMAIN: &[u8] = b"kinepack udp secret 1";

/// A key that is not secret. Its text explains itself in a memory dump.
const INSECURE_KEY: &[u8; KEY_BYTES] = b"kinepack --insecure: no secret!!";

/// The key that both sides know. `Debug` does not print it.
///
/// ```
/// use kinepack_udp::{Secret, SecretError};
///
/// let from_passphrase = Secret::parse("correct horse battery staple")?;
/// let from_digits = Secret::parse(&"0f".repeat(32))?; // `openssl rand -hex 32` makes one
/// assert!(matches!(Secret::parse("too short"), Err(SecretError::TooShort { characters: 9 })));
/// # let _ = (from_passphrase, from_digits);
/// # Ok::<(), SecretError>(())
/// ```
#[derive(Clone)]
pub struct Secret([u8; KEY_BYTES]);

/// A secret that was read from a file.
///
/// ```
/// use kinepack_udp::Secret;
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("secret");
/// # std::fs::write(&path, "correct horse battery staple")?;
/// let file = Secret::from_file(&path)?;
/// if let Some(mode) = file.open_mode {
///     eprintln!("{}: other users can read it (mode {mode:o})", path.display());
/// }
/// let secret = file.secret; // for `UdpServer::bind` and `UdpClient::connect`
/// assert_eq!(format!("{secret:?}"), "Secret(..)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SecretFile {
    /// The secret.
    pub secret: Secret,
    /// The file's permission bits, if other users can read or change the file. If so, warn the
    /// user. Always `None` on systems without Unix permissions.
    pub open_mode: Option<u32>,
}

/// Why a text or a file is not a secret.
#[derive(Debug)]
#[non_exhaustive]
pub enum SecretError {
    /// The file cannot be read.
    Unreadable(io::Error),
    /// The bytes are not text in UTF-8.
    NotText,
    /// The text is longer than 4,096 bytes.
    TooLong,
    /// The text is neither 64 hexadecimal digits nor a passphrase of at least 16 characters.
    TooShort {
        /// The number of characters in the text.
        characters: usize,
    },
}

impl Secret {
    /// Reads a secret from text. 64 hexadecimal digits are the key itself. Any other text is a
    /// passphrase of at least 16 characters, from which a slow function (Argon2id) derives the key.
    /// White space at both ends does not count.
    ///
    /// For a passphrase, this takes some hundredths of a second and 19 MiB.
    ///
    /// # Errors
    /// Returns [`SecretError::TooLong`] or [`SecretError::TooShort`].
    pub fn parse(text: &str) -> Result<Self, SecretError> {
        if text.len() > MAX_TEXT_BYTES {
            return Err(SecretError::TooLong);
        }
        let text = text.trim();
        if let Some(key) = parse_hexadecimal(text) {
            return Ok(Self(key));
        }
        let characters = text.chars().count();
        if characters < MIN_PASSPHRASE_CHARACTERS {
            return Err(SecretError::TooShort { characters });
        }
        let mut key = [0; KEY_BYTES];
        let parameters =
            Params::new(MEMORY_KIB, ROUNDS, 1, Some(KEY_BYTES)).expect("within Argon2's ranges");
        Argon2::new(Algorithm::Argon2id, Version::V0x13, parameters)
            .hash_password_into(text.as_bytes(), DOMAIN, &mut key)
            .expect("the lengths of text, salt and key are within Argon2's ranges");
        Ok(Self(key))
    }

    /// Like [`parse`](Self::parse), but reads bytes that may not be text.
    ///
    /// # Errors
    /// Returns the errors of [`parse`](Self::parse), and [`SecretError::NotText`].
    pub fn from_bytes(text: &[u8]) -> Result<Self, SecretError> {
        if text.len() > MAX_TEXT_BYTES {
            return Err(SecretError::TooLong);
        }
        Self::parse(std::str::from_utf8(text).map_err(|_| SecretError::NotText)?)
    }

    /// Like [`parse`](Self::parse), but reads the text of a file.
    ///
    /// # Errors
    /// Returns the errors of [`parse`](Self::parse), [`SecretError::Unreadable`] and
    /// [`SecretError::NotText`].
    pub fn from_file(path: &Path) -> Result<SecretFile, SecretError> {
        let read = || {
            let file = File::open(path)?;
            let open_mode = open_mode(&file)?;
            let mut text = Vec::new();
            file.take(MAX_TEXT_BYTES as u64 + 1).read_to_end(&mut text)?;
            Ok((text, open_mode))
        };
        let (text, open_mode) = read().map_err(SecretError::Unreadable)?;
        Ok(SecretFile { secret: Self::from_bytes(&text)?, open_mode })
    }

    /// A key that anyone can read in this crate's source. Use it only for trials on one machine.
    pub fn insecure() -> Self {
        Self(*INSECURE_KEY)
    }

    /// Derives a key for another purpose, such as another transport, with keyed BLAKE2b. The
    /// derived key reveals neither the secret nor the keys of other purposes.
    pub fn derive(&self, purpose: &[u8]) -> [u8; KEY_BYTES] {
        let mac = Mac::new_from_slice(&self.0).expect("32 bytes are a key");
        mac.chain(purpose).finalize_fixed().into()
    }

    pub(crate) fn key(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }
}

fn parse_hexadecimal(text: &str) -> Option<[u8; KEY_BYTES]> {
    let mut key = [0; KEY_BYTES];
    if text.len() != 2 * KEY_BYTES {
        return None;
    }
    for (byte, digits) in key.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let digit = |at: usize| char::from(digits[at]).to_digit(16);
        *byte = (digit(0)? << 4 | digit(1)?) as u8;
    }
    Some(key)
}

/// The file's permission bits, if they give other users access.
#[cfg(unix)]
fn open_mode(file: &File) -> io::Result<Option<u32>> {
    use std::os::unix::fs::PermissionsExt;
    let mode = file.metadata()?.permissions().mode();
    Ok((mode & 0o077 != 0).then_some(mode & 0o777))
}

#[cfg(not(unix))]
fn open_mode(_: &File) -> io::Result<Option<u32>> {
    Ok(None)
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl fmt::Display for SecretError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(error) => error.fmt(f),
            Self::NotText => f.write_str("the secret is not text (UTF-8)"),
            Self::TooLong => write!(f, "the secret is longer than {MAX_TEXT_BYTES} bytes"),
            Self::TooShort { characters } => write!(
                f,
                "the secret has {characters} characters; it needs 64 hexadecimal digits or a \
                 passphrase of at least {MIN_PASSPHRASE_CHARACTERS} characters"
            ),
        }
    }
}

impl std::error::Error for SecretError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreadable(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGITS: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F";

    #[test]
    fn hexadecimal_digits_are_the_key_itself() {
        let secret = Secret::parse(&format!(" {DIGITS}\n")).unwrap();
        assert!(secret.key().iter().copied().eq(0..32));
    }

    #[test]
    fn a_passphrase_is_derived() {
        let secret = Secret::parse("correct horse battery staple").unwrap();
        let frozen = [219, 4, 214, 106];
        assert_eq!(secret.key()[..4], frozen, "both sides must derive the same key");
        let other = Secret::parse("correct horse battery stable").unwrap();
        assert_ne!(secret.key(), other.key());
        // With one digit less, the text is a passphrase.
        assert_ne!(Secret::parse(&DIGITS[1..]).unwrap().key()[0], 0);
    }

    #[test]
    fn short_long_and_binary_texts_are_refused() {
        for (text, expected) in [("", 0), ("fifteen letters", 15), ("ffffffffffffffä", 15)] {
            let error = Secret::parse(text).unwrap_err();
            assert!(
                matches!(error, SecretError::TooShort { characters } if characters == expected),
                "{error}"
            );
        }
        assert!(matches!(Secret::parse(&"x".repeat(5000)), Err(SecretError::TooLong)));
        assert!(matches!(Secret::from_bytes(&[0xff; 20]), Err(SecretError::NotText)));
    }

    #[test]
    fn debug_does_not_print_a_secret() {
        assert_eq!(format!("{:?}", Secret::parse(DIGITS).unwrap()), "Secret(..)");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_is_reported() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        std::fs::write(&path, format!("{DIGITS}\n")).unwrap();
        for (mode, expected) in [(0o600, None), (0o640, Some(0o640)), (0o604, Some(0o604))] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let file = Secret::from_file(&path).unwrap();
            assert_eq!(file.secret.key()[31], 31);
            assert_eq!(file.open_mode, expected, "{mode:o}");
        }
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(Secret::from_file(&path), Err(SecretError::Unreadable(_))));
    }
}
