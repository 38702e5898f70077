//! Makes file names from the names of clips. The name of a clip comes from a file that somebody
//! else made, and two clips may have the same name.

use std::collections::HashMap;
use std::path::Path;

use kinepack_anim::RawClip;

/// The longest name in bytes. File systems allow 255 bytes, including the number and the extension.
const MAX_BYTES: usize = 200;
/// The names that are devices on Windows, regardless of the extension.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// The names of the clips of several files. They give different file names, even if case is
/// ignored.
#[derive(Default)]
pub(crate) struct Names {
    /// For each lower-case file name, the last number that was tried after it.
    taken: HashMap<String, usize>,
}

impl Names {
    /// Returns the clip under a name that no earlier clip has: the second clip of a name gets `-2`,
    /// the third `-3`. Also returns a note if the clip was renamed.
    pub(crate) fn take(&mut self, clip: RawClip, file: &Path) -> (RawClip, Option<String>) {
        let stem = file_stem(clip.name());
        let key = stem.to_lowercase();
        let Some(last) = self.taken.get(&key) else {
            self.taken.insert(key, 1);
            return (clip, None);
        };
        let mut number = last + 1;
        let mut name = format!("{stem}-{number}");
        while self.taken.contains_key(&name.to_lowercase()) {
            number += 1;
            name = format!("{stem}-{number}");
        }
        self.taken.insert(name.to_lowercase(), 1);
        self.taken.insert(key, number);
        let note = format!(
            "{}: the clip {} is named {name}: another clip has its name",
            file.display(),
            clip.name()
        );
        (clip.with_name(name), Some(note))
    }
}

/// Converts a clip's name to the name of a file, without extension.
pub(crate) fn file_stem(clip: &str) -> String {
    let is_bad = |c: char| c.is_control() || r#"/\:*?"<>|"#.contains(c);
    let mut stem = clip.replace(is_bad, "-");
    let mut end = stem.len().min(MAX_BYTES);
    while !stem.is_char_boundary(end) {
        end -= 1;
    }
    stem.truncate(end);
    let device = stem.split('.').next().unwrap_or_default().trim().to_lowercase();
    let is_port = (device.starts_with("com") || device.starts_with("lpt"))
        && device.len() == 4
        && device.ends_with(|c: char| c.is_ascii_digit());
    if stem.is_empty() || is_port || DEVICES.contains(&device.as_str()) {
        stem.insert_str(0, "clip-");
    }
    stem
}

/// Returns the name of the asset that a clip belongs to. Importers name a clip of glTF after its
/// file and its animation, with `__` between the two.
pub(crate) fn asset(clip: &str) -> String {
    file_stem(clip.split_once("__").map_or(clip, |(file, _)| file))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kinepack_anim::{Joint, Skeleton, Transform};

    use super::*;

    fn clip(name: &str) -> RawClip {
        let root = Joint { name: String::new(), parent: None, bind: Transform::IDENTITY };
        let skeleton = Arc::new(Skeleton::new(vec![root]).expect("one joint"));
        RawClip::new(name, skeleton, 30.0, vec![Transform::IDENTITY]).expect("one sample")
    }

    #[test]
    fn clips_of_one_name_are_numbered() {
        let mut names = Names::default();
        let mut name = |given| {
            let (clip, note) = names.take(clip(given), Path::new("a.glb"));
            assert_eq!(note.is_some(), clip.name() != given, "{note:?}");
            clip.name().to_owned()
        };
        let given = ["walk", "walk-3", "Walk", "walk", "walk", "a/b", "a?b", "walk-2"];
        let expected = ["walk", "walk-3", "Walk-2", "walk-4", "walk-5", "a/b", "a-b-2", "walk-2-2"];
        assert_eq!(given.map(&mut name), expected);
    }

    #[test]
    fn names_are_made_safe_as_file_names() {
        for (clip, stem) in [
            ("arm__Move", "arm__Move"),
            ("../up\\to:it\n", "..-up-to-it-"),
            ("", "clip-"),
            ("nul", "clip-nul"),
            ("COM1.x", "clip-COM1.x"),
            ("common", "common"),
        ] {
            assert_eq!(file_stem(clip), stem);
        }
        assert_eq!(file_stem(&"é".repeat(150)), "é".repeat(100));
        assert_eq!(file_stem(&format!("a{}", "é".repeat(150))).len(), 199);
    }

    #[test]
    fn an_asset_is_the_file_of_a_clip() {
        assert_eq!(["fox__Run", "walk", "__x"].map(asset), ["fox", "walk", "clip-"]);
    }
}
