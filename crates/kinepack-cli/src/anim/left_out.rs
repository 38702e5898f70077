//! Reports the parts of files that clips omit.

use std::io::{self, Write};
use std::path::Path;

use command_kit::table::table;
use kinepack_anim::RawClip;
use kinepack_anim::import::{LeftOut, LeftOutKind};
use serde::Serialize;

/// Parts of a file or a clip that are omitted.
#[derive(Clone, PartialEq, Serialize)]
pub(crate) struct LeftOutReport {
    file: String,
    /// The kind of the parts.
    what: &'static str,
    /// The name that the parts share, or an empty text if they have no name.
    name: String,
    count: usize,
}

impl LeftOutReport {
    /// Returns the parts of a file that its importer omitted.
    pub(crate) fn of_file<'a>(
        file: &'a Path,
        left_out: &'a [LeftOut],
    ) -> impl Iterator<Item = Self> + 'a {
        left_out.iter().map(|part| Self {
            file: file.display().to_string(),
            what: part.kind.name(),
            name: part.name.clone(),
            count: part.count,
        })
    }

    /// Returns the curves and the markers of a clip, which formats with joints only omit.
    pub(crate) fn of_clip(file: &Path, raw: &RawClip) -> impl Iterator<Item = Self> + use<> {
        Self::of_counts(file, raw.name(), [raw.curves().len(), raw.markers().len()])
    }

    /// Numbers of curves and markers, which formats with joints only omit.
    pub(crate) fn of_counts(
        file: &Path,
        name: &str,
        [curves, markers]: [usize; 2],
    ) -> impl Iterator<Item = Self> + use<> {
        let counts = [
            ("curves: the clip's file holds joints only", curves),
            ("markers: the clip's file holds joints only", markers),
        ];
        let (file, name) = (file.display().to_string(), name.to_owned());
        counts.into_iter().filter(|(_, count)| *count > 0).map(move |(what, count)| Self {
            file: file.clone(),
            what,
            name: name.clone(),
            count,
        })
    }

    /// Returns the report as a line, for commands that do not print a table of omitted parts.
    pub(crate) fn line(&self) -> String {
        format!("{}: left out: {}", self.file, self.part())
    }

    /// Returns the part, without its file.
    pub(crate) fn part(&self) -> String {
        let Self { what, name, count, .. } = self;
        let space = if name.is_empty() { "" } else { " " };
        format!("{what}:{space}{name} ({count})")
    }

    /// Returns whether the part is an animation that moves nothing of the skeleton.
    pub(crate) fn is_empty_animation(&self) -> bool {
        self.what == LeftOutKind::EmptyAnimation.name()
    }

    /// Writes a table of the omitted parts, if there are any.
    pub(crate) fn write_table(all: &[Self], out: &mut impl Write) -> io::Result<()> {
        if all.is_empty() {
            return Ok(());
        }
        let cells = |own: &Self| {
            [own.what.to_owned(), own.name.clone(), own.file.clone(), own.count.to_string()]
        };
        let table = table(["left out", "name", "file", "count"], 3, all.iter().map(cells));
        writeln!(out, "\n{}", table.trim_fmt())
    }
}
