//! The reasons why a command on clips fails.

use std::path::PathBuf;

use command_kit::page::PageError;
use command_kit::{Failure, OutputError, counted, escaped};
use kinepack_anim::FileKind;
use kinepack_anim::import::{ImportError, Skipped};
use kinepack_anim::offline::BuildError;

use super::file_types;

/// The reason why a command on clips fails.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AnimError {
    /// An animation cannot be read.
    #[error("{error}{}", advice(error))]
    Import {
        #[from]
        error: ImportError,
    },
    /// An animation or a channel of a file cannot be read.
    #[error("{0}")]
    Part(Box<Skipped>),
    /// Some parts of the input are bad. The command processed the others.
    #[error("{} and the rest is done:{}", skipped(parts), list(parts))]
    Skipped { parts: Vec<String> },
    /// All parts of the input are bad.
    #[error("nothing of the input can be read:{}", list(parts))]
    NothingLeft { parts: Vec<String> },
    /// The skeleton or the rig of a clip is missing.
    #[error(
        "{}: its {what} is missing: its directory has no file *-{hash:016x}.{extension}; {}",
        clip.display(),
        missing_advice(what)
    )]
    Missing { clip: PathBuf, what: &'static str, hash: u64, extension: &'static str },
    /// The command does not take files of this kind.
    #[error("{}: {}", path.display(), file_types::refused(takes, *found))]
    OtherFile { path: PathBuf, takes: &'static [&'static str], found: Option<FileKind> },
    /// A file is damaged or does not fit the command.
    #[error("{}: {reason}", path.display())]
    BadClip { path: PathBuf, reason: String },
    /// No joint has this name. `similar` lists some joints whose names contain it.
    #[error(
        "{option} {name}: no joint of that name in any skeleton; {}",
        suggestion(name, similar)
    )]
    UnknownJoint { option: &'static str, name: String, similar: Vec<String> },
    #[error(
        "{option} is for --scheme {}, and this is {given}: \
         remove the option or choose another scheme",
        schemes.join(" and ")
    )]
    OtherScheme { option: &'static str, schemes: Vec<&'static str>, given: &'static str },
    /// Additive clips cannot be built with this base.
    #[error("--base {given}: {reason}")]
    Base { given: String, reason: String },
    #[error("{}: {clip}: {error}", file.display())]
    Build { file: PathBuf, clip: String, error: BuildError },
    #[error("{}: {error}", path.display())]
    ClipFile { path: PathBuf, error: std::io::Error },
    #[error(transparent)]
    Page(#[from] PageError),
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl Failure for AnimError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Page(error) => error.exit_code(),
            Self::Output(error) => error.exit_code(),
            Self::Skipped { .. } => 1,
            _ => 2,
        }
    }
}

/// Returns a sentence that states the number of skipped parts.
fn skipped(parts: &[String]) -> String {
    let is = if parts.len() == 1 { "is" } else { "are" };
    format!("{} {is} skipped,", counted(parts.len(), "part"))
}

/// Lists each part on a line of its own.
fn list(parts: &[String]) -> String {
    parts.iter().map(|part| format!("\n  {}", escaped(part))).collect()
}

/// Advice for a file that exceeds a limit, or that this build cannot read.
fn advice(error: &ImportError) -> &'static str {
    match error {
        ImportError::TooMuchMemory { .. }
        | ImportError::TooManyTransforms { .. }
        | ImportError::TooManyBytes { .. } => "; if you trust it, allow more with --max-memory MIB",
        ImportError::NeedsFbx { .. } => {
            "; `cargo install --path crates/kinepack-cli --features fbx` turns it on"
        }
        _ => "",
    }
}

/// Advice for a missing skeleton or rig.
fn missing_advice(what: &str) -> &'static str {
    match what {
        "skeleton" => "copy it there, or name it with --skeleton",
        _ => "copy it there",
    }
}

/// Suggests a name if no joint has the name that the user gave.
fn suggestion(name: &str, similar: &[String]) -> String {
    if similar.is_empty() {
        return "anim view shows their names".to_owned();
    }
    format!("write '*{}*' for {}", name.trim_matches('*'), similar.join(", "))
}
