//! The secret that a server and its clients share: 32 bytes, from a file, from the environment, or
//! derived from a passphrase. Who knows it may connect, under any id.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use argon2::{Algorithm, Argon2, Params, Version};
use clap::Args;

use crate::failure::Failure;

const VARIABLE: &str = "KINEPACK_SECRET";
const KEY_BYTES: usize = renetcode::NETCODE_KEY_BYTES;
const MIN_PASSPHRASE_CHARACTERS: usize = 16;
const MAX_TEXT_BYTES: usize = 4096;

/// Who records one request to connect can try passphrases at home, each at the price of one
/// derivation. So it is made dear: Argon2id (RFC 9106), from the authors of the ciphers that
/// `renetcode` uses, with the memory and rounds that OWASP asks for, a few hundredths of a second.
/// A plain hash would let a graphics card try 10⁹ a second. No salt is stored, as both sides know
/// the passphrase alone; the text below keeps the key from being that of another program.
const MEMORY_KIB: u32 = 19 << 10;
const ROUNDS: u32 = 2;
const DOMAIN: &[u8] = b"kinepack udp secret 1";

/// Not secret. Its text says what it is to whoever finds it in a memory dump.
const INSECURE_KEY: &[u8; KEY_BYTES] = b"kinepack --insecure: no secret!!";

/// Where the secret comes from.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct SecretArguments {
    /// File with the shared secret: 64 hexadecimal digits or a passphrase of at least 16 characters
    /// [or: the environment variable KINEPACK_SECRET]
    #[arg(long, value_name = "PATH", conflicts_with = "insecure")]
    secret_file: Option<PathBuf>,
    /// Use a key that everybody knows, for trials on one machine
    #[arg(long)]
    insecure: bool,
}

/// The key that both sides know. Never printed.
#[derive(Clone)]
pub(crate) struct Secret([u8; KEY_BYTES]);

/// Why there is no secret.
#[derive(Debug)]
pub(crate) enum SecretError {
    Missing,
    Unreadable { path: PathBuf, error: io::Error },
    NotText { source: Source },
    TooLong { source: Source },
    TooShort { source: Source, characters: usize },
}

/// Where a secret was looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    File(PathBuf),
    Variable,
}

/// What a user should know about a secret that is used all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Warning {
    Insecure,
    OthersCanRead { path: PathBuf, mode: u32 },
}

impl SecretArguments {
    /// The secret, after warnings on stderr if there is something to say.
    pub(crate) fn resolve(&self) -> Result<Secret, Failure> {
        let (secret, warning) =
            self.resolve_with(std::env::var_os(VARIABLE)).map_err(Failure::Secret)?;
        if let Some(warning) = warning {
            eprintln!("{warning}");
        }
        Ok(secret)
    }

    /// A file goes before the variable: it was named for this call.
    fn resolve_with(
        &self,
        variable: Option<OsString>,
    ) -> Result<(Secret, Option<Warning>), SecretError> {
        if self.insecure {
            return Ok((Secret(*INSECURE_KEY), Some(Warning::Insecure)));
        }
        if let Some(path) = &self.secret_file {
            let (text, warning) = read(path)
                .map_err(|error| SecretError::Unreadable { path: path.clone(), error })?;
            return Ok((Secret::parse(text, Source::File(path.clone()))?, warning));
        }
        let text = variable.ok_or(SecretError::Missing)?;
        Ok((Secret::parse(text.into_encoded_bytes(), Source::Variable)?, None))
    }
}

impl Secret {
    pub(super) fn key(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }

    /// White space around the text does not count, so that a file may end its line.
    fn parse(text: Vec<u8>, source: Source) -> Result<Self, SecretError> {
        if text.len() > MAX_TEXT_BYTES {
            return Err(SecretError::TooLong { source });
        }
        let Ok(text) = String::from_utf8(text) else { return Err(SecretError::NotText { source }) };
        let text = text.trim();
        if let Some(key) = parse_hexadecimal(text) {
            return Ok(Self(key));
        }
        let characters = text.chars().count();
        if characters < MIN_PASSPHRASE_CHARACTERS {
            return Err(SecretError::TooShort { source, characters });
        }
        let mut key = [0; KEY_BYTES];
        let parameters =
            Params::new(MEMORY_KIB, ROUNDS, 1, Some(KEY_BYTES)).expect("within Argon2's ranges");
        Argon2::new(Algorithm::Argon2id, Version::V0x13, parameters)
            .hash_password_into(text.as_bytes(), DOMAIN, &mut key)
            .expect("the lengths of text, salt and key are within Argon2's ranges");
        Ok(Self(key))
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

/// The file's bytes, cut off where they are too many.
fn read(path: &Path) -> io::Result<(Vec<u8>, Option<Warning>)> {
    let file = File::open(path)?;
    let warning = warning(path, &file)?;
    let mut text = Vec::new();
    file.take(MAX_TEXT_BYTES as u64 + 1).read_to_end(&mut text)?;
    Ok((text, warning))
}

#[cfg(unix)]
fn warning(path: &Path, file: &File) -> io::Result<Option<Warning>> {
    use std::os::unix::fs::PermissionsExt;
    let mode = file.metadata()?.permissions().mode();
    Ok((mode & 0o077 != 0)
        .then(|| Warning::OthersCanRead { path: path.to_owned(), mode: mode & 0o777 }))
}

#[cfg(not(unix))]
fn warning(_: &Path, _: &File) -> io::Result<Option<Warning>> {
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
            Self::Missing => write!(
                f,
                "no secret: the server and its clients must share one. Write one with\n\n    \
                 (umask 077; openssl rand -hex 32 > kinepack.secret)\n\n\
                 copy that file to both sides and give it with --secret-file kinepack.secret, or put its text into \
                 the environment variable {VARIABLE}. For a trial on one machine, --insecure goes without."
            ),
            Self::Unreadable { path, error } => {
                write!(f, "--secret-file {}: {error}", path.display())
            }
            Self::NotText { source } => write!(f, "{source}: the secret is not text (UTF-8)"),
            Self::TooLong { source } => {
                write!(f, "{source}: the secret is longer than {MAX_TEXT_BYTES} bytes")
            }
            Self::TooShort { source, characters } => write!(
                f,
                "{source}: the secret has {characters} characters; it needs 64 hexadecimal digits or a passphrase of \
                 at least {MIN_PASSPHRASE_CHARACTERS} characters"
            ),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "--secret-file {}", path.display()),
            Self::Variable => f.write_str(VARIABLE),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Insecure => f.write_str(
                "**********************************************************************\n\
                 *  WARNING: --insecure                                               *\n\
                 *  The key of this connection is printed in the program's source.    *\n\
                 *  Anybody who reaches this port can join, read everything that is   *\n\
                 *  sent, change it, and pose as the server or as any client.         *\n\
                 *  Use it on one machine, or in a network where all are trusted.     *\n\
                 **********************************************************************",
            ),
            Self::OthersCanRead { path, mode } => {
                let path = path.display();
                write!(
                    f,
                    "kinepack: warning: others can read the secret in {path} (mode {mode:03o}); chmod 600 {path}"
                )
            }
        }
    }
}

#[cfg(test)]
impl Secret {
    pub(crate) fn of(byte: u8) -> Self {
        Self([byte; KEY_BYTES])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGITS: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F";

    fn from_variable(text: &str) -> Result<Secret, SecretError> {
        SecretArguments::default().resolve_with(Some(text.into())).map(|(secret, _)| secret)
    }

    #[test]
    fn digits_are_the_key_itself() {
        let secret = from_variable(&format!(" {DIGITS}\n")).unwrap();
        assert!(secret.key().iter().copied().eq(0..32));
    }

    #[test]
    fn passphrases_are_derived() {
        let secret = from_variable("correct horse battery staple").unwrap();
        assert_eq!(
            secret.key()[..4],
            [219, 4, 214, 106],
            "frozen: both sides must derive the same"
        );
        assert_ne!(secret.key(), from_variable("correct horse battery stable").unwrap().key());
        // One digit short of a key, it is a passphrase like any other.
        assert_ne!(from_variable(&DIGITS[1..]).unwrap().key()[0], 0);
    }

    #[test]
    fn what_is_too_short_or_long_or_no_text_is_refused() {
        for (text, expected) in [("", 0), ("fifteen letters", 15), ("ffffffffffffffä", 15)] {
            let error = from_variable(text).unwrap_err();
            assert!(
                matches!(error, SecretError::TooShort { characters, .. } if characters == expected),
                "{error}"
            );
        }
        assert!(matches!(from_variable(&"x".repeat(5000)), Err(SecretError::TooLong { .. })));
        let error = Secret::parse(vec![0xff; 20], Source::Variable).unwrap_err();
        assert!(matches!(error, SecretError::NotText { .. }));
    }

    #[test]
    fn without_a_secret_it_says_what_to_do() {
        let error = SecretArguments::default().resolve_with(None).unwrap_err().to_string();
        for word in ["--secret-file", "KINEPACK_SECRET", "--insecure", "openssl rand -hex 32"] {
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn insecure_is_loud() {
        let arguments = SecretArguments { insecure: true, ..SecretArguments::default() };
        let (secret, warning) = arguments.resolve_with(Some(DIGITS.into())).unwrap();
        assert_eq!(secret.key(), INSECURE_KEY);
        let warning = warning.unwrap().to_string();
        assert!(warning.lines().count() > 5 && warning.contains("WARNING"));
        assert!(warning.lines().all(|line| line.len() == 70), "{warning}");
    }

    #[test]
    fn a_secret_is_not_printed() {
        assert_eq!(format!("{:?}", from_variable(DIGITS).unwrap()), "Secret(..)");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_is_warned_of() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        std::fs::write(&path, format!("{DIGITS}\n")).unwrap();
        let arguments = SecretArguments { secret_file: Some(path.clone()), insecure: false };
        for (mode, warns) in [(0o600, false), (0o640, true), (0o604, true)] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let (secret, warning) = arguments.resolve_with(None).unwrap();
            assert_eq!(secret.key()[31], 31);
            assert_eq!(warning.is_some(), warns, "{mode:o}");
        }
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(arguments.resolve_with(None), Err(SecretError::Unreadable { .. })));
    }
}
