//! The part of `anim info` for databases: a line for each clip of the index.

use std::io::{self, Write};
use std::path::Path;

use command_kit::table::{table, write_text};
use kinepack_anim::ClipDatabase;
use serde::Serialize;

use crate::anim::databases::DatabaseReport;

#[derive(Serialize)]
pub(super) struct DatabaseList {
    #[serde(flatten)]
    database: DatabaseReport,
    /// The clips, sorted by name.
    list: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    name: String,
    is_disk: bool,
    is_of_rig: bool,
    loops: bool,
    samples: usize,
    rate_hz: f32,
    seconds: f32,
    curves: usize,
    bytes: usize,
}

impl DatabaseList {
    pub(super) fn new(path: &Path, database: &ClipDatabase) -> Self {
        let list = database.entries().map(|entry| Line {
            name: entry.name.to_owned(),
            is_disk: entry.is_disk,
            is_of_rig: entry.is_of_rig,
            loops: entry.loops,
            samples: entry.samples,
            rate_hz: entry.rate_hz,
            seconds: entry.duration_s(),
            curves: entry.curves,
            bytes: entry.bytes,
        });
        Self { list: list.collect(), database: DatabaseReport::new(path, database) }
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        write_text(out, "", &self.database.text())?;
        let header = ["clip", "form", "rig", "loops", "samples", "Hz", "s", "curves", "bytes"];
        writeln!(out, "\n{}", table(header, 4, self.list.iter().map(Line::cells)).trim_fmt())
    }
}

impl Line {
    fn cells(&self) -> [String; 9] {
        let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
        [
            self.name.clone(),
            if self.is_disk { "disk" } else { "memory" }.to_owned(),
            yes(self.is_of_rig),
            yes(self.loops),
            self.samples.to_string(),
            self.rate_hz.to_string(),
            format!("{:.2}", self.seconds),
            self.curves.to_string(),
            self.bytes.to_string(),
        ]
    }
}
