//! Checks the pages for readers: their links have targets, their Rust blocks are compiled, and the
//! README's example is the file that runs.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Returns the Markdown files of the repository.
fn pages() -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![PathBuf::from(ROOT)]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap_or_default();
            let hidden = name.starts_with('.') && name != ".github";
            if path.is_dir() {
                if !hidden && !["target", "corpus", "artifacts", "node_modules"].contains(&name) {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Returns the text of a page without its fenced blocks.
fn prose(page: &str) -> String {
    let (mut prose, mut fenced) = (String::new(), false);
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    prose
}

/// Returns the anchors of a page's headings, as GitHub and mdBook make them.
fn anchors(page: &str) -> Vec<String> {
    let (mut seen, mut anchors) = (HashMap::<String, u32>::new(), Vec::new());
    for line in prose(page).lines().filter(|line| line.starts_with('#')) {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let slug: String = heading
            .chars()
            .filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        let count = seen.entry(slug.clone()).or_default();
        anchors.push(if *count == 0 { slug } else { format!("{slug}-{count}") });
        *count += 1;
    }
    anchors
}

/// Returns the targets of a page's links and pictures, except those in code spans.
fn targets(page: &str) -> Vec<String> {
    let prose = prose(page);
    prose
        .match_indices("](")
        .filter(|(at, _)| {
            let before = &prose[..*at];
            let paragraph = before.rfind("\n\n").map_or(before, |start| &before[start..]);
            let in_link = paragraph.rfind('[').map_or(paragraph, |start| &paragraph[..start]);
            in_link.matches('`').count().is_multiple_of(2)
        })
        .filter_map(|(at, _)| prose[at + 2..].split_once(')').map(|(target, _)| target.to_owned()))
        .collect()
}

/// Returns the text of a page, with the file that it includes, if any.
fn with_included(path: &Path) -> String {
    let page = std::fs::read_to_string(path).unwrap();
    let included = page.split_once("{{#include ").and_then(|(_, rest)| rest.split_once("}}"));
    match included {
        Some((file, _)) => {
            std::fs::read_to_string(path.parent().unwrap().join(file.trim())).unwrap()
        }
        None => page,
    }
}

#[test]
fn relative_links_lead_to_files_and_headings() {
    let (mut broken, mut checked) = (Vec::new(), 0);
    for path in pages() {
        for target in targets(&std::fs::read_to_string(&path).unwrap()) {
            // The targets of rustdoc links are paths of items.
            if target.contains("://") || target.contains("::") || target.starts_with("mailto:") {
                continue;
            }
            checked += 1;
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let file =
                if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            let found = file.exists()
                && (anchor.is_empty()
                    || anchors(&with_included(&file)).iter().any(|a| a == anchor));
            if !found {
                broken.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
    assert!(checked > 50, "only {checked} links were found");
}

#[test]
fn the_readme_shows_the_example_that_runs() {
    let readme = std::fs::read_to_string(format!("{ROOT}/README.md")).unwrap();
    let example = std::fs::read_to_string(format!("{ROOT}/crates/kinepack-net/examples/udp.rs"));
    let example = example.unwrap();
    let (_, code) = example.split_once("\n\n").unwrap();
    assert!(readme.contains(&format!("```rust\n{code}```\n")), "README and udp.rs differ");
}

#[test]
fn every_rust_block_is_compiled() {
    let compiled = std::fs::read_to_string(format!("{ROOT}/lab/book/src/lib.rs")).unwrap();
    for path in pages() {
        let page = std::fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(ROOT).unwrap().to_str().unwrap().replace('\\', "/");
        let is_for_readers = name == "README.md"
            || name.starts_with("docs/")
            || (name.starts_with("crates/") && name.ends_with("/README.md"));
        if is_for_readers && page.contains("```rust") {
            let listed = compiled.contains(&format!("/{}\"", name.trim_start_matches("crates/")));
            // If a crate needs its features for its README, the crate itself compiles the README.
            let library = std::fs::read_to_string(path.with_file_name("src").join("lib.rs"));
            let by_itself =
                library.is_ok_and(|code| code.contains("include_str!(\"../README.md\")"));
            assert!(
                listed || by_itself,
                "{name} has Rust blocks and is not in lab/book/src/lib.rs"
            );
        }
    }
}

/// Returns the lines of Rust blocks that rustdoc hides. There must be none, because GitHub shows
/// them.
fn hidden_lines(page: &str) -> Vec<&str> {
    let (mut hidden, mut in_rust, mut fenced) = (Vec::new(), false, false);
    for line in page.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            fenced = !fenced;
            in_rust = fenced && language.starts_with("rust");
        } else if in_rust && (line.trim() == "#" || line.trim_start().starts_with("# ")) {
            hidden.push(line);
        }
    }
    hidden
}

#[test]
fn blocks_show_all_of_their_code() {
    for path in pages() {
        let page = std::fs::read_to_string(&path).unwrap();
        let hidden = hidden_lines(&page);
        assert!(hidden.is_empty(), "{}: GitHub shows {hidden:?}", path.display());
    }
    let page = "```rust\n# let x = 1;\n#[test]\n```\n# no\n```sh\n# no\n```\n";
    assert_eq!(hidden_lines(page), ["# let x = 1;"]);
}

#[test]
fn pages_that_include_a_file_link_to_it() {
    for path in pages() {
        let page = std::fs::read_to_string(&path).unwrap();
        for (at, _) in page.match_indices("{{#include ") {
            let file = page[at..].split([' ', '}']).nth(1).unwrap();
            let links = targets(&page);
            assert!(links.iter().any(|link| link == file), "{}: no link", path.display());
        }
    }
}

#[test]
fn broken_links_would_be_noticed() {
    let page =
        "# A `b` c\n\n## A b c\n\n[x](y.md#z) `[no](no.md)`\n\n```\n[no](no.md)\n# no\n```\n";
    assert_eq!(anchors(page), ["a-b-c", "a-b-c-1"]);
    assert_eq!(targets(page), ["y.md#z"]);
}
