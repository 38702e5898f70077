//! Reads the secret of a connection from a file or from the environment.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use clap::Args;
use command_kit::{Failure, program_name, say};
use kinepack_udp::{Secret, SecretError, SecretFile};

const VARIABLE: &str = "KINEPACK_SECRET";

/// The options that name the secret.
#[derive(Args, Clone, Debug, Default)]
pub struct SecretOptions {
    /// File with the shared secret: 64 hexadecimal digits or a passphrase of at least 16 characters
    /// [or: the environment variable KINEPACK_SECRET]
    #[arg(long, value_name = "PATH", conflicts_with = "insecure")]
    secret_file: Option<PathBuf>,
    /// Use a key that everybody knows, for trials on one machine
    #[arg(long)]
    insecure: bool,
}

/// The reason why there is no secret.
#[derive(Debug, thiserror::Error)]
pub enum SecretOptionsError {
    #[error(
        "no secret: the server and its clients must share one. Write one with\n\n    (umask 077; \
         openssl rand -hex 32 > kinepack.secret)\n\ncopy that file to both sides and give it with \
         --secret-file kinepack.secret, or put its text into the environment variable {VARIABLE}. \
         For a trial on one machine, --insecure works without a secret."
    )]
    Missing,
    #[error("--secret-file {}: {error}", path.display())]
    File { path: PathBuf, error: SecretError },
    #[error("{VARIABLE}: {error}")]
    Variable { error: SecretError },
}

impl Failure for SecretOptionsError {}

/// The reason why a usable secret is not safe.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Warning {
    Insecure,
    OthersCanRead { path: PathBuf, mode: u32 },
}

impl SecretOptions {
    /// Returns the file with the secret, if the user named one.
    pub fn file(&self) -> Option<&Path> {
        self.secret_file.as_deref()
    }

    /// Reads the secret. Prints a warning to stderr if the secret is not safe.
    ///
    /// # Errors
    /// Returns [`SecretOptionsError`] if there is no usable secret.
    pub fn resolve(&self) -> Result<Secret, SecretOptionsError> {
        let (secret, warning) = self.resolve_with(std::env::var_os(VARIABLE))?;
        if let Some(warning) = warning {
            warning.to_string().lines().for_each(say);
        }
        Ok(secret)
    }

    /// Reads the secret, given the value of the variable. A file takes precedence over the
    /// variable, because the user named the file for this call.
    fn resolve_with(
        &self,
        variable: Option<OsString>,
    ) -> Result<(Secret, Option<Warning>), SecretOptionsError> {
        if self.insecure {
            return Ok((Secret::insecure(), Some(Warning::Insecure)));
        }
        if let Some(path) = &self.secret_file {
            let SecretFile { secret, open_mode } = Secret::from_file(path)
                .map_err(|error| SecretOptionsError::File { path: path.clone(), error })?;
            let warning = open_mode.map(|mode| Warning::OthersCanRead { path: path.clone(), mode });
            return Ok((secret, warning));
        }
        let text = variable.ok_or(SecretOptionsError::Missing)?.into_encoded_bytes();
        let secret = Secret::from_bytes(&text);
        Ok((secret.map_err(|error| SecretOptionsError::Variable { error })?, None))
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
                 *  Use it on one machine, or in a network that you trust.            *\n\
                 **********************************************************************",
            ),
            Self::OthersCanRead { path, mode } => {
                let path = path.display();
                write!(
                    f,
                    "{}: warning: others can read the secret in {path} (mode {mode:03o}); chmod \
                     600 {path}",
                    program_name()
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGITS: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F";

    #[test]
    fn without_a_secret_the_error_says_what_to_do() {
        let error = SecretOptions::default().resolve_with(None).unwrap_err().to_string();
        for word in ["--secret-file", "KINEPACK_SECRET", "--insecure", "openssl rand -hex 32"] {
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn an_insecure_key_comes_with_a_loud_warning() {
        let options = SecretOptions { insecure: true, ..SecretOptions::default() };
        let (_, warning) = options.resolve_with(Some(DIGITS.into())).unwrap();
        let warning = warning.unwrap().to_string();
        assert!(warning.lines().count() > 5 && warning.contains("WARNING"));
        assert!(warning.lines().all(|line| line.len() == 70), "{warning}");
    }

    #[test]
    fn the_variable_holds_the_secret_or_the_error_names_it() {
        let options = SecretOptions::default();
        assert!(options.resolve_with(Some(DIGITS.into())).is_ok());
        let error = options.resolve_with(Some("short".into())).unwrap_err().to_string();
        assert!(error.starts_with("KINEPACK_SECRET: the secret has 5 characters"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn the_warning_names_a_file_that_others_can_read() {
        use std::os::unix::fs::PermissionsExt;
        let folder = std::env::temp_dir().join(format!("kinepack-secret-{}", std::process::id()));
        std::fs::write(&folder, DIGITS).unwrap();
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o644)).unwrap();
        let options = SecretOptions { secret_file: Some(folder.clone()), insecure: false };
        let (_, warning) = options.resolve_with(None).unwrap();
        std::fs::remove_file(&folder).unwrap();
        assert_eq!(warning, Some(Warning::OthersCanRead { path: folder, mode: 0o644 }));
    }
}
