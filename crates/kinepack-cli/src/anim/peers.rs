//! Reads the sizes and errors of another codec on the same clips from a table of measurements.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use command_kit::counted;
use command_kit::table::{percent, table, write_text};
use kinepack_anim::Sampler;
use serde::Serialize;

use super::file_types::RAW_CLIP;
use super::sources::{BuiltClip, Source};
use crate::anim::error::AnimError;

/// The figures of another codec, the peer, by clip and number of samples.
pub(crate) struct Peers {
    name: String,
    clips: HashMap<(String, usize), Figures>,
}

#[derive(Clone, Copy)]
struct Figures {
    bytes: usize,
    max_error_cm: f64,
}

/// Our clips next to the peer's.
#[derive(Serialize)]
pub(crate) struct Comparison {
    peer: String,
    clips: Vec<Pair>,
    /// The size of the rigs that our clips share, in bytes. The sums include it.
    rig_bytes: usize,
    /// The number of clips that are not in the peer's table.
    missing: usize,
}

#[derive(Serialize)]
struct Pair {
    name: String,
    samples: usize,
    /// The number of the peer's samples. Some programs produce one sample more or fewer.
    peer_samples: usize,
    peer_bytes: usize,
    peer_max_error_cm: f64,
    bytes: usize,
    /// The number of bytes in memory while the clip plays. Keyed clips do not report this number.
    #[serde(skip_serializing_if = "Option::is_none")]
    playing_bytes: Option<usize>,
    /// The size as a disk file, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    disk_bytes: Option<usize>,
    max_error_cm: f64,
}

impl Peers {
    /// Reads a table in CSV without quotes. The first line names the columns. The peer's name is
    /// the part of a column's name before `_bytes`.
    pub(crate) fn read(path: &Path) -> Result<Self, AnimError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| AnimError::ClipFile { path: path.to_owned(), error })?;
        let bad = |reason: String| AnimError::BadClip { path: path.to_owned(), reason };
        let mut lines = text.lines().enumerate();
        let header: Vec<&str> =
            lines.next().map(|(_, line)| line.split(',').collect()).unwrap_or_default();
        let peer = header
            .iter()
            .filter_map(|column| column.strip_suffix("_bytes"))
            .find(|name| *name != "raw");
        let name = peer.ok_or_else(|| bad("no column NAME_bytes".to_owned()))?.to_owned();
        let column = |column: &str| {
            header
                .iter()
                .position(|name| *name == column)
                .ok_or_else(|| bad(format!("no column {column}")))
        };
        let [file, clip, samples] = [column("file")?, column("clip")?, column("samples")?];
        let [bytes, error] =
            [column(&format!("{name}_bytes"))?, column(&format!("{name}_max_error_cm"))?];
        let mut clips = HashMap::new();
        for (line, text) in lines.filter(|(_, text)| !text.is_empty()) {
            let cells: Vec<&str> = text.split(',').collect();
            let row = (|| {
                let key = (
                    clip_name(cells.get(file)?, cells.get(clip)?),
                    cells.get(samples)?.parse().ok()?,
                );
                Some((
                    key,
                    Figures {
                        bytes: cells.get(bytes)?.parse().ok()?,
                        max_error_cm: cells.get(error)?.parse().ok()?,
                    },
                ))
            })();
            let (key, figures) =
                row.ok_or_else(|| bad(format!("line {}: not a clip with numbers", line + 1)))?;
            clips.insert(key, figures);
        }
        Ok(Self { name, clips })
    }

    /// Returns the figures of a clip with this number of samples, or with one more or fewer.
    fn find(&self, name: &str, samples: usize) -> Option<(usize, Figures)> {
        let near = [samples, samples + 1, samples - 1];
        near.into_iter()
            .find_map(|samples| Some((samples, *self.clips.get(&(name.to_owned(), samples))?)))
    }

    /// Compares the built clips with the peer's.
    pub(crate) fn compare(
        &self,
        sources: &[Source],
        built: &[BuiltClip],
        rig_bytes: usize,
    ) -> Comparison {
        let mut clips = Vec::new();
        let mut missing = 0;
        for (source, built) in sources.iter().zip(built) {
            let samples = source.raw.samples();
            let Some((peer_samples, peer)) = self.find(source.raw.name(), samples) else {
                missing += 1;
                continue;
            };
            clips.push(Pair {
                name: source.raw.name().to_owned(),
                samples,
                peer_samples,
                peer_bytes: peer.bytes,
                peer_max_error_cm: peer.max_error_cm,
                bytes: built.built.clip.as_bytes().len(),
                playing_bytes: built
                    .built
                    .clip
                    .as_block()
                    .map(|clip| clip.memory_bytes() + size_of::<Sampler>()),
                disk_bytes: built.packed().map(<[u8]>::len),
                max_error_cm: built.built.errors.all.max_cm,
            });
        }
        Comparison { peer: self.name.clone(), clips, rig_bytes, missing }
    }
}

/// Returns the name that our importer gives to a clip.
fn clip_name(file: &str, clip: &str) -> String {
    let file = PathBuf::from(file);
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    // A file of `anim raw` has the clip's name, which may contain dots.
    let stem = name.strip_suffix(RAW_CLIP).or_else(|| name.split('.').next()).unwrap_or_default();
    if clip.is_empty() {
        return stem.to_owned();
    }
    format!("{stem}__{clip}").replace(' ', "_").replace(['|', '/'], "-")
}

impl Comparison {
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let peer = &self.peer;
        let verdict = |pair: &Pair| {
            let smaller = (pair.bytes > pair.peer_bytes).then(|| format!("{peer} is smaller"));
            let other = match pair.peer_samples.cmp(&pair.samples) {
                Ordering::Equal => None,
                Ordering::Less => Some(format!("{peer} has a sample fewer")),
                Ordering::Greater => Some(format!("{peer} has a sample more")),
            };
            smaller.into_iter().chain(other).collect::<Vec<_>>().join(", ")
        };
        let rows = self.clips.iter().map(|pair| {
            [
                pair.name.clone(),
                pair.peer_bytes.to_string(),
                format!("{:.4}", pair.peer_max_error_cm),
                pair.bytes.to_string(),
                format!("{:.4}", pair.max_error_cm),
                percent(pair.bytes, pair.peer_bytes),
                pair.playing_bytes
                    .map_or_else(String::new, |bytes| percent(bytes, pair.peer_bytes)),
                pair.disk_bytes.map_or_else(String::new, |bytes| percent(bytes, pair.peer_bytes)),
                verdict(pair),
            ]
        });
        let peer_header = format!("{peer} bytes");
        let header = [
            "clip",
            &peer_header,
            "max cm",
            "our bytes",
            "max cm",
            "ours of it",
            "playing",
            "on disk",
            "",
        ];
        writeln!(out, "{}", table(header, 1, rows).trim_fmt())?;
        let sum = |bytes: fn(&Pair) -> usize| self.clips.iter().map(bytes).sum::<usize>();
        let (theirs, ours) = (sum(|pair| pair.peer_bytes), sum(|pair| pair.bytes) + self.rig_bytes);
        let worse = self.clips.iter().filter(|pair| pair.bytes > pair.peer_bytes).count();
        writeln!(out)?;
        let sums =
            format!("{peer}: {theirs} bytes; ours: {ours} bytes, {} of it", percent(ours, theirs));
        write_text(out, "", &sums)?;
        let clips = counted(self.clips.len(), "clip");
        writeln!(out, "{peer} is smaller on {worse} of {clips}")?;
        writeln!(out, "Compare bytes only where the errors are alike.")?;
        let playing = self.clips.iter().map(|pair| pair.playing_bytes).sum::<Option<usize>>();
        if let Some(playing) = playing {
            let playing = playing + self.rig_bytes;
            let share = percent(playing, theirs);
            let all = format!(
                "ours while they play, with what a clip keeps and a player for each: \
                 {playing} bytes, {share} of it"
            );
            write_text(out, "", &all)?;
        }
        if let Some(disk) = self.clips.iter().map(|pair| pair.disk_bytes).sum::<Option<usize>>() {
            let disk = disk + self.rig_bytes;
            writeln!(out, "ours as disk files: {disk} bytes, {} of it", percent(disk, theirs))?;
        }
        if self.missing > 0 {
            writeln!(out, "not in the table of {peer}: {}", counted(self.missing, "clip"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_name_clips_by_file_and_animation_or_by_file_alone() {
        for (file, clip, name) in [
            ("gltf/Fox.glb", "Walk slow|1", "Fox__Walk_slow-1"),
            ("bvh/walk.bvh.zst", "", "walk"),
            ("raw/Fox__Take.001.clip", "", "Fox__Take.001"),
        ] {
            assert_eq!(clip_name(file, clip), name);
        }
    }
}
