//! Tests the commands in the README, the book and the other pages. The programs understand them,
//! and the examples, benchmarks and tests that they name exist.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Subcommand;
use kinepack::Level;

/// Returns the lines of the shell blocks of a page.
fn shell_lines(page: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut in_shell = None;
    for line in page.lines() {
        match (line.trim().strip_prefix("```"), in_shell) {
            (Some(language), None) => {
                in_shell = Some(["sh", "bash", "console"].contains(&language));
            }
            (Some(_), Some(_)) => in_shell = None,
            (None, Some(true)) => lines.push(line.trim().trim_start_matches("$ ")),
            (None, _) => {}
        }
    }
    lines
}

/// Returns the program's arguments in a line, or `None` for other commands and for output.
fn arguments(line: &str) -> Option<Vec<&str>> {
    let before = [
        "cargo run --release -- ",
        "cargo run --release --features broadcast -- ",
        "cargo run --release --features web -- ",
        "kinepack ",
        "kinepack-lab ",
    ];
    let rest = before.iter().find_map(|words| line.strip_prefix(words))?;
    let words = rest.split_whitespace().take_while(|word| !["#", "|", ">", "&&"].contains(word));
    // A shell removes the quotes of a word.
    Some(
        words
            .map(|word| {
                word.strip_prefix('\'').and_then(|word| word.strip_suffix('\'')).unwrap_or(word)
            })
            .collect(),
    )
}

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The folders with crates.
const HOUSES: [&str; 2] = ["crates", "lab"];

/// Returns the pages with commands: the README, the book, the crates' READMEs, the tutorial.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(ROOT);
    let mut pages = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    pages.push(root.join("crates/kinepack-capture/src/guide.md"));
    let in_folder = |folder: PathBuf| std::fs::read_dir(folder).unwrap();
    for entry in in_folder(root.join("docs/src")) {
        pages.push(entry.unwrap().path());
    }
    for entry in HOUSES.into_iter().flat_map(|house| in_folder(root.join(house))) {
        pages.push(entry.unwrap().path().join("README.md"));
    }
    pages.retain(|page| page.is_file() && page.extension().is_some_and(|ending| ending == "md"));
    pages
}

/// Checks that the targets of a `cargo` command exist.
fn check_targets(line: &str) {
    let words: Vec<&str> = line.split_whitespace().take_while(|word| *word != "#").collect();
    let after =
        |option| words.iter().position(|word| *word == option).and_then(|at| words.get(at + 1));
    let Some(package) = after("-p") else { return };
    let mut folders = HOUSES.into_iter().map(|house| Path::new(ROOT).join(house).join(package));
    let folder = folders.find(|folder| folder.is_dir());
    let folder = folder.unwrap_or_else(|| panic!("{line}: no crate {package}"));
    let folders = [("--example", "examples"), ("--bench", "benches"), ("--test", "tests")];
    let exists =
        |path: &Path, main: &str| path.with_extension("rs").is_file() || path.join(main).is_file();
    for (option, inside) in folders {
        if let Some(name) = after(option) {
            // The program `tests` has the crate's tests as modules.
            let name = if *name == "tests" { "main" } else { name };
            let path = folder.join(inside).join(name);
            assert!(exists(&path, "main.rs"), "{line}: no {}", path.display());
        }
    }
    for module in words.iter().filter_map(|word| word.strip_suffix("::")) {
        let path = folder.join("tests").join(module);
        assert!(exists(&path, "mod.rs"), "{line}: no {}", path.display());
    }
}

#[test]
fn the_programs_understand_the_commands_of_all_pages() {
    let texts: Vec<String> =
        pages().iter().map(|page| std::fs::read_to_string(page).unwrap()).collect();
    assert!(texts.len() > 15, "the book's pages were not found");
    assert!(
        shell_lines(&texts[0]).iter().any(|line| line.starts_with("cargo test --workspace")),
        "the README says how to test"
    );
    let lines: Vec<&str> = texts.iter().flat_map(|text| shell_lines(text)).collect();
    for line in lines.iter().filter(|line| line.starts_with("cargo ")) {
        check_targets(line);
    }
    let of_users = lines.iter().filter_map(|line| line.strip_prefix("kinepack "));
    for words in of_users {
        let name = words.split(' ').next().unwrap();
        let is_known = kinepack_cli::Command::has_subcommand(name);
        assert!(is_known, "kinepack {words}: this is a command of kinepack-lab");
    }
    let mut commands: Vec<Vec<&str>> = lines.into_iter().filter_map(arguments).collect();
    commands.sort();
    commands.dedup();
    for subcommand in ["demo", "measure", "serve", "join", "simulate", "sweep"] {
        let shown = commands.iter().any(|command| command.first() == Some(&subcommand));
        assert!(shown, "no page shows `{subcommand}`");
    }
    for command in commands {
        // With `--help` the program parses all arguments and runs no command, because the files of
        // the examples are placeholders.
        let output = Command::new(crate::PROGRAM).args(&command).arg("--help").output().unwrap();
        assert!(
            output.status.success(),
            "{command:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        // `--help` does not check levels, because the program looks them up later.
        let levels = command.iter().skip_while(|word| **word != "--level").nth(1);
        assert!(
            levels.is_none_or(|names| names.split(',').all(|name| Level::named(name).is_some())),
            "{command:?}"
        );
    }
}

#[test]
fn the_captures_page_has_the_numbers_of_the_links() {
    let page = std::fs::read_to_string(format!("{ROOT}/docs/src/captures.md")).unwrap();
    for preset in kinepack_net::PRESETS {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{}` |", preset.name)));
        let cells: Vec<&str> = row.unwrap().split('|').map(str::trim).collect();
        let config = preset.config;
        let ms = |time: std::time::Duration| format!("{} ms", time.as_secs_f64() * 1e3);
        let percent = |ratio: f32| format!("{} %", (f64::from(ratio) * 1e5).round() / 1e3);
        assert_eq!(cells[3..5], [ms(2 * config.latency), ms(config.jitter)], "{row:?}");
        let lost = percent(config.loss.mean_ratio());
        assert!(cells[5].split(',').next() == Some(&lost), "{row:?}: {lost}");
        let [twice, overtaken] = [config.duplicate_ratio, config.reorder_ratio].map(percent);
        assert_eq!(cells[6], format!("{twice}; {overtaken}"));
        let bandwidth = match config.bandwidth_bps.unwrap() / 1_000_000 {
            1000 => "1 Gbit/s".to_owned(),
            mbps => format!("{mbps} Mbit/s"),
        };
        assert_eq!(cells[7..9], [bandwidth, format!("{} bytes", config.mtu_bytes)]);
    }
}

#[test]
fn a_wrong_option_would_be_noticed() {
    for command in [
        ["measure", "--loud", "--help"],
        ["measure", "--lag=loud", "--help"],
        ["loud", "--fast", "--help"],
    ] {
        let output = Command::new(crate::PROGRAM).args(command).output().unwrap();
        assert!(!output.status.success(), "{command:?}");
    }
}

#[test]
fn shell_blocks_are_found_and_read() {
    let page = "```rust\nkinepack no\n```\n```console\n$ kinepack demo # show\n\
                kinepack: output\n```\n```sh\n\
                cargo run --release -- measure 'a.bin' --json | head\n```\nkinepack no";
    let commands: Vec<_> = shell_lines(page).into_iter().filter_map(arguments).collect();
    assert_eq!(commands, [vec!["demo"], vec!["measure", "a.bin", "--json"]]);
}
