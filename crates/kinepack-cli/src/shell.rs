//! Shell completions and man pages, made from the options of all commands of a program.

use std::io::{self, Write};
use std::path::PathBuf;

use clap_complete::{Shell, generate};
use command_kit::{Failure, OutputError, print};

/// Prints completions for a shell, to be saved where the shell looks for them.
///
/// For bash: `PROGRAM completions bash > ~/.local/share/bash-completion/completions/PROGRAM`
#[derive(clap::Args)]
pub struct Completions {
    /// The shell.
    shell: Shell,
}

/// Writes a man page for each command.
#[derive(clap::Args)]
pub struct ManPages {
    /// An existing folder. Pages in it are replaced.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// The reason why completions or man pages could not be written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ShellError {
    #[error("{}: {source}", folder.display())]
    Folder { folder: PathBuf, source: io::Error },
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl Failure for ShellError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Folder { .. } => 2,
            Self::Output(error) => error.exit_code(),
        }
    }
}

pub(crate) fn print_completions(
    arguments: &Completions,
    program: &clap::Command,
) -> Result<(), ShellError> {
    let name = program.get_name().to_owned();
    let mut program = without_hidden(program);
    let mut script = Vec::new();
    generate(arguments.shell, &mut program, &name, &mut script);
    if arguments.shell == Shell::Bash && name.contains('-') {
        script = with_one_name(&script, &name);
    }
    Ok(print(|out| out.write_all(&script))?)
}

/// Returns a program without its hidden commands. `clap_complete` 4.6.11 offers them like all
/// others.
fn without_hidden(program: &clap::Command) -> clap::Command {
    let shown = program.get_subcommands().filter(|command| !command.is_hide_set());
    let all = clap::Command::new(program.get_name().to_owned())
        .args(program.get_arguments().cloned())
        .subcommands(shown.cloned());
    match program.get_version() {
        Some(version) => all.version(version.to_owned()),
        None => all,
    }
}

/// Returns the completion script for bash, corrected for a program whose name has a hyphen.
/// `clap_complete` 4.6.11 takes a hyphen for the beginning of a subcommand in the labels of its
/// `case`, so the original script completes nothing after the first word.
fn with_one_name(script: &[u8], name: &str) -> Vec<u8> {
    let [label, variable] = ["__subcmd__", "__"].map(|hyphen| name.replace('-', hyphen));
    String::from_utf8_lossy(script).replace(&label, &variable).into_bytes()
}

pub(crate) fn write_man_pages(
    arguments: &ManPages,
    program: clap::Command,
) -> Result<(), ShellError> {
    let folder = &arguments.folder;
    clap_mangen::generate_to(program, folder)
        .map_err(|source| ShellError::Folder { folder: folder.clone(), source })
}
