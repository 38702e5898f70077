//! `kinepack anim train`: finds widths of coefficients for block clips.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use command_kit::output::{Batch, Force};
use command_kit::table::{table, write_json, write_text};
use command_kit::{counted, print};
use kinepack_anim::block::BlockLength;
use kinepack_anim::offline::{
    BuildOptions, WidthTable, WidthTrainer, widths_to_bytes, widths_to_text,
};
use serde::Serialize;

use super::import_options::ImportArguments;
use super::sources;
use crate::anim::error::AnimError;

/// Find the widths of coefficients that suit clips best. The widths are part of the format, so the
/// result is for a new version of the format.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Animations: .glb, .gltf, .vrm, .vrma, .bvh, .bvh.zst, .clip or, with the feature
    /// fbx, .fbx.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The file for the widths, as text.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The file for the widths as bytes, with which the library is built.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// The precision that clips are built for; may be given several times.
    #[arg(long, value_name = "CM", default_values_t = [0.01], value_parser = parse_precision)]
    precision: Vec<f64>,
    #[command(flatten)]
    import: ImportArguments,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

fn parse_precision(text: &str) -> Result<f64, String> {
    let precision =
        text.parse().ok().filter(|precision: &f64| precision.is_finite() && *precision > 0.0);
    precision.ok_or_else(|| format!("{text} is not a positive number"))
}

#[derive(Serialize)]
struct Report {
    clips: usize,
    precisions_cm: Vec<f64>,
    pieces: Vec<PieceReport>,
    notes: Vec<String>,
    /// The bad parts of the input. The command exits with 1 if the list is not empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped: Vec<String>,
}

#[derive(Serialize)]
struct PieceReport {
    block_samples: usize,
    piece: usize,
    profiles: usize,
    /// The number of bits of a component's coefficients if each takes only the width that it needs.
    ideal_bits: f64,
    /// The number of bits with the profiles.
    bits: f64,
}

/// All pieces, in the order of the table.
const PIECES: [(BlockLength, usize); 4] =
    [(BlockLength::N8, 0), (BlockLength::N16, 0), (BlockLength::N32, 0), (BlockLength::N32, 1)];

pub(crate) fn run(arguments: &Arguments) -> Result<(), AnimError> {
    let outputs = arguments.force.reading(&arguments.files);
    let [out, binary] = outputs.targets([Some(&arguments.out), arguments.binary.as_deref()])?;
    let read = sources::read_some(&arguments.files, &arguments.import)?;
    let (clips, notes, skipped) = read.into_parts();
    let items: Vec<_> = clips
        .iter()
        .flat_map(|clip| arguments.precision.iter().map(move |precision| (clip, *precision)))
        .collect();
    let mut trainer = WidthTrainer::default();
    let add = |(clip, precision_cm): &(&sources::Source, f64)| {
        let mut own = WidthTrainer::default();
        own.add(
            &clip.raw,
            &BuildOptions { precision_cm: *precision_cm, ..BuildOptions::default() },
        );
        Ok(own)
    };
    sources::take_from_all_cores(&items, "coded", None, add, |own| trainer.merge(own))?;
    let tables =
        sources::on_all_cores(
            &PIECES,
            "found",
            |(block, piece)| Ok(trainer.table(*block, *piece)),
        )?;
    let mut batch = Batch::default();
    if let Some(out) = out {
        batch.write(&out, widths_to_text(&tables).as_bytes())?;
    }
    if let Some(binary) = binary {
        batch.write(&binary, &widths_to_bytes(&tables))?;
    }
    batch.commit()?;
    let report = Report {
        clips: clips.len(),
        precisions_cm: arguments.precision.clone(),
        pieces: tables.iter().map(PieceReport::new).collect(),
        notes,
        skipped: skipped.lines(),
    };
    print(|out| if arguments.json { write_json(&report, out) } else { report.write(out) })?;
    skipped.finish()
}

impl PieceReport {
    fn new(table: &WidthTable) -> Self {
        Self {
            block_samples: table.block.samples(),
            piece: table.piece,
            profiles: table.profiles.len(),
            ideal_bits: table.ideal_bits,
            bits: table.bits,
        }
    }
}

impl Report {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let rows = self.pieces.iter().map(|piece| {
            [
                piece.block_samples.to_string(),
                piece.piece.to_string(),
                piece.profiles.to_string(),
                format!("{:.2}", piece.ideal_bits),
                format!("{:.2}", piece.bits),
            ]
        });
        let header = ["block", "piece", "profiles", "ideal bits", "bits"];
        writeln!(out, "{}", table(header, 0, rows).trim_fmt())?;
        writeln!(
            out,
            "\n{}; bits of a component, without the byte that selects the profile",
            counted(self.clips, "clip")
        )?;
        self.notes.iter().try_for_each(|note| write_text(out, "", note))
    }
}
