//! The commands of the README are ones that the program understands.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::process::Command;

use kinepack_capture::levels;

/// The lines of the shell blocks of a page.
fn shell_lines(page: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut in_shell = None;
    for line in page.lines() {
        match (line.trim().strip_prefix("```"), in_shell) {
            (Some(language), None) => {
                in_shell = Some(["sh", "bash", "console"].contains(&language))
            }
            (Some(_), Some(_)) => in_shell = None,
            (None, Some(true)) => lines.push(line.trim().trim_start_matches("$ ")),
            (None, _) => {}
        }
    }
    lines
}

/// The arguments that a line gives to the program; `None` for other commands and for output.
fn arguments(line: &str) -> Option<Vec<&str>> {
    let rest =
        line.strip_prefix("cargo run --release -- ").or_else(|| line.strip_prefix("kinepack "))?;
    let words = rest.split_whitespace().take_while(|word| !["#", "|", ">", "&&"].contains(word));
    // As a shell takes away the quotes of a word.
    Some(
        words
            .map(|word| {
                word.strip_prefix('\'').and_then(|word| word.strip_suffix('\'')).unwrap_or(word)
            })
            .collect(),
    )
}

#[test]
fn the_program_understands_the_commands_of_the_readme() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
    let lines = shell_lines(&page);
    assert!(
        lines.iter().any(|line| line.starts_with("cargo test --workspace")),
        "the README says how to test"
    );
    let commands: Vec<Vec<&str>> = lines.into_iter().filter_map(arguments).collect();
    for subcommand in ["demo", "measure", "serve", "join", "simulate", "sweep"] {
        let shown = commands.iter().any(|command| command.first() == Some(&subcommand));
        assert!(shown, "the README shows no `{subcommand}`");
    }
    for command in commands {
        // The arguments are parsed, up to the last, and nothing runs: the files of the examples are
        // placeholders.
        let output = Command::new(env!("CARGO_BIN_EXE_kinepack"))
            .args(&command)
            .arg("--help")
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{command:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        // Levels are looked up later than that.
        let levels = command.iter().skip_while(|word| **word != "--level").nth(1);
        assert!(
            levels.is_none_or(|names| names.split(',').all(|name| levels::named(name).is_some())),
            "{command:?}"
        );
    }
}

#[test]
fn a_wrong_option_would_be_noticed() {
    for command in [
        ["measure", "--loud", "--help"],
        ["measure", "--lag=loud", "--help"],
        ["loud", "--fast", "--help"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_kinepack")).args(command).output().unwrap();
        assert!(!output.status.success(), "{command:?}");
    }
}

#[test]
fn shell_blocks_are_found_and_read() {
    let page = "```rust\nkinepack no\n```\n```console\n$ kinepack demo # show\nkinepack: output\n```\n```sh\n\
                cargo run --release -- measure 'a.bin' --json | head\n```\nkinepack no";
    let commands: Vec<_> = shell_lines(page).into_iter().filter_map(arguments).collect();
    assert_eq!(commands, [vec!["demo"], vec!["measure", "a.bin", "--json"]]);
}
