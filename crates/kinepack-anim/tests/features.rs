//! The pages state the same features as the manifest, and each example of the pages states the
//! features that it needs. The test programs are built with all features, so compiling them would
//! not reveal a missing feature.

use std::collections::BTreeSet;
use std::path::Path;

type Names = BTreeSet<String>;

fn read(file: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

/// Returns the features of the manifest except `default`, each with the features that it implies.
fn features() -> Vec<(String, Names)> {
    let manifest = read("Cargo.toml");
    let (_, section) = manifest.split_once("[features]\n").unwrap();
    let lines = section.lines().take_while(|line| !line.starts_with('['));
    let features = lines.filter_map(|line| line.split_once(" = "));
    let own = features.filter(|(name, _)| *name != "default" && !name.starts_with('#'));
    own.map(|(name, implied)| (name.to_owned(), quoted(implied))).collect()
}

fn quoted(text: &str) -> Names {
    text.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Returns the modules and types of the crate root that need a feature, each with that feature.
fn gated() -> Vec<(String, String)> {
    let library = read("src/lib.rs");
    let (_, items) = library.split_once("#![deny").unwrap();
    let mut gated = Vec::new();
    for (attribute, item) in items.lines().zip(items.lines().skip(1)) {
        let Some(feature) = attribute.strip_prefix("#[cfg(feature = \"") else { continue };
        let feature = feature.trim_end_matches("\")]");
        let Some(item) = item.strip_prefix("pub ") else { continue };
        // An item is `mod name;`, `use module::Name;` or `use module::{Name, Name};`.
        let names = item.trim_start_matches("mod ").rsplit("::").next().unwrap();
        let names = names.split(|c: char| !c.is_alphanumeric() && c != '_');
        for name in names.filter(|name| !name.is_empty()) {
            gated.push((name.to_owned(), feature.to_owned()));
        }
    }
    gated
}

/// Returns the features that the names in a block of Rust need. Comments are ignored.
fn needed(code: &str) -> Names {
    let lines = code.lines().map(|line| line.split("//").next().unwrap());
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let words: BTreeSet<&str> = lines.flat_map(|line| line.split(|c| !is_part(c))).collect();
    let gated = gated().into_iter().filter(|(name, _)| words.contains(&**name));
    gated.map(|(_, feature)| feature).collect()
}

/// Returns all fenced blocks of a page with their languages.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let fenced = page.split("```").skip(1).step_by(2);
    fenced.filter_map(|block| block.split_once('\n')).collect()
}

#[test]
fn tables_of_features_are_complete() {
    let expected: Names = features().into_iter().map(|(name, _)| name).collect();
    assert_eq!(expected.len(), 7);
    for (file, start) in [("README.md", "| `"), ("src/lib.rs", "//! | `")] {
        let text = read(file);
        let rows = text.lines().filter_map(|line| line.strip_prefix(start));
        let named: Names =
            rows.filter_map(|row| row.split_once('`')).map(|(name, _)| name.to_owned()).collect();
        assert_eq!(named, expected, "{file}");
    }
    let manifest = read("Cargo.toml");
    assert!(manifest.contains("\ndefault = []\n"), "the README says that none is on by default");
}

#[test]
fn examples_need_only_the_features_that_stand_above_them() {
    let implied = features();
    let mut examples = 0;
    for file in ["README.md", "../../docs/src/clips.md"] {
        let page = read(file);
        let mut stated: Option<Names> = None;
        for (language, text) in blocks(&page) {
            if language == "toml" {
                // If there are several dependencies, the last one belongs to the build script,
                // whose code follows.
                let line = text.lines().rfind(|line| line.starts_with("kinepack-anim = ")).unwrap();
                let (_, list) = line.split_once("features = ").unwrap_or_default();
                let mut names = quoted(list);
                let more: Vec<_> =
                    implied.iter().filter(|(name, _)| names.contains(name)).collect();
                names.extend(more.into_iter().flat_map(|(_, implied)| implied.clone()));
                stated = Some(names);
            } else if language.starts_with("rust") {
                let needed = needed(text);
                let stated = stated.as_ref().expect("a dependency above the first example");
                assert!(needed.is_subset(stated), "{file} states {stated:?}, not {needed:?}");
                examples += 1;
            }
        }
    }
    assert!(examples >= 5, "only {examples} examples were found");
}

#[test]
fn the_features_of_code_are_found() {
    let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect::<Names>();
    let plays = "use kinepack_anim::{Clip, Sampler, disk}; // or import::read";
    assert_eq!(needed(plays), names(&[]));
    assert_eq!(
        needed("use kinepack_anim::offline::build;\nuse kinepack_anim::RawClip;"),
        names(&["offline", "raw"])
    );
    assert_eq!(needed("kinepack_anim::import::read(path)"), names(&["import"]));
}
