//! The report of `anim build`.

use std::io::{self, Write};

use command_kit::counted;
use command_kit::table::{percent, table, write_text};
use kinepack_anim::offline::animated_raw_bytes;
use serde::Serialize;

use crate::anim::databases::DatabaseReport;
use crate::anim::left_out::LeftOutReport;
use crate::anim::rigs::RigReport;
use crate::anim::scheme::SchemeArguments;
use crate::anim::sources::{BuiltClip, Source};
use crate::anim::timing;
use crate::anim::travel::Travel;

/// The report of a build.
#[derive(Serialize)]
pub(super) struct Report {
    pub(super) clips: Vec<ClipReport>,
    pub(super) rigs: Vec<RigReport>,
    /// The database that contains the clips.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) database: Option<DatabaseReport>,
    /// The parts of the files that the clips omit.
    pub(super) left_out: Vec<LeftOutReport>,
    pub(super) notes: Vec<String>,
    /// The bad parts of the input. The command exits with 1 if the list is not empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) skipped: Vec<String>,
}

/// The report of a clip.
#[derive(Serialize)]
pub(super) struct ClipReport {
    name: String,
    file: String,
    scheme: &'static str,
    joints: usize,
    samples: usize,
    rate_hz: f32,
    /// The size of the samples as ten floats for each joint and sample, in bytes.
    raw_bytes: usize,
    /// The size of the floats of the tracks that change, in bytes.
    animated_raw_bytes: usize,
    bytes: usize,
    /// The size of the clip as a disk file, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    disk_bytes: Option<usize>,
    precision_cm: f64,
    /// Whether every joint keeps its precision.
    is_within_precision: bool,
    max_error_cm: f64,
    p99_error_cm: f64,
    mean_error_cm: f64,
    /// The largest error half-way between samples, in cm.
    max_error_between_cm: f64,
    foot_slide_cm: f64,
    curves: usize,
    markers: usize,
    /// The largest error of each curve, in the order of the clip.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    curve_errors: Vec<f64>,
    /// The largest curve error, as a multiple of the curve's precision.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_curve_error_share: Option<f64>,
    /// Whether the clip travels, and the joint that carries the motion. The value is `None` for
    /// additive clips.
    #[serde(skip_serializing_if = "Option::is_none")]
    root_motion: Option<Travel>,
    build_ms: f64,
    sample_ns_per_joint: f64,
    /// The time to play random copies of the clip that together take 2.5 MB.
    #[serde(skip_serializing_if = "Option::is_none")]
    cold_2_5_mb_ns_per_joint: Option<f64>,
    /// The time to play random copies of the clip that together take 64 MB.
    #[serde(skip_serializing_if = "Option::is_none")]
    cold_64_mb_ns_per_joint: Option<f64>,
}

impl ClipReport {
    pub(super) fn new(
        source: &Source,
        built: &BuiltClip,
        scheme: &SchemeArguments,
        is_cold: bool,
        is_additive: bool,
    ) -> Self {
        let disk_bytes = built.packed().map(<[u8]>::len);
        let BuiltClip { built, build_ms, .. } = built;
        let (raw, errors) = (&source.raw, &built.errors);
        let cold = |bytes| is_cold.then(|| timing::cold_ns_per_joint(raw, built, bytes));
        let curve_share = errors.farthest_curve(raw).map(|(_, share)| share);
        Self {
            name: raw.name().to_owned(),
            file: source.file.display().to_string(),
            scheme: scheme.name(),
            joints: raw.joints(),
            samples: raw.samples(),
            rate_hz: raw.rate_hz(),
            raw_bytes: raw.raw_bytes(),
            animated_raw_bytes: animated_raw_bytes(raw),
            bytes: built.clip.as_bytes().len(),
            disk_bytes,
            precision_cm: scheme.precision_cm(),
            is_within_precision: scheme.options(raw).farthest_off(errors).1 <= 1.0
                && curve_share.is_none_or(|share| share <= 1.0),
            max_error_cm: errors.all.max_cm,
            p99_error_cm: errors.all.p99_cm,
            mean_error_cm: errors.all.mean_cm,
            max_error_between_cm: errors.between.max_cm,
            foot_slide_cm: errors.foot_slide_cm,
            curves: built.clip.curves(),
            markers: built.clip.markers().count(),
            curve_errors: errors.curves.clone(),
            max_curve_error_share: curve_share,
            root_motion: (!is_additive).then(|| Travel::of_raw(raw)),
            build_ms: *build_ms,
            sample_ns_per_joint: timing::warm_ns_per_joint(raw, built),
            cold_2_5_mb_ns_per_joint: cold(2_500_000),
            cold_64_mb_ns_per_joint: cold(64_000_000),
        }
    }

    fn cells(&self) -> [String; 7] {
        [
            self.name.clone(),
            self.joints.to_string(),
            self.samples.to_string(),
            self.bytes.to_string(),
            percent(self.bytes, self.raw_bytes),
            format!("{:.4}", self.max_error_cm),
            format!("{:.1}", self.sample_ns_per_joint),
        ]
    }
}

impl Report {
    pub(super) fn write_table(&self, out: &mut impl Write) -> io::Result<()> {
        let header = ["clip", "joints", "samples", "bytes", "of raw", "max cm", "ns/joint"];
        writeln!(out, "{}", table(header, 1, self.clips.iter().map(ClipReport::cells)).trim_fmt())?;
        let sum = |number: fn(&ClipReport) -> usize| self.clips.iter().map(number).sum::<usize>();
        let (raw, animated, bytes) = (
            sum(|clip| clip.raw_bytes),
            sum(|clip| clip.animated_raw_bytes),
            sum(|clip| clip.bytes),
        );
        let seconds = self.clips.iter().map(|clip| clip.build_ms).sum::<f64>() / 1e3;
        let worst = self.clips.iter().map(|clip| clip.max_error_cm).fold(0.0, f64::max);
        writeln!(out)?;
        writeln!(out, "{}: {bytes} bytes", counted(self.clips.len(), "clip"))?;
        let shares = format!(
            "{} of the raw floats, {} of the floats that change",
            percent(bytes, raw),
            percent(bytes, animated)
        );
        write_text(out, "", &shares)?;
        writeln!(out, "at most {worst:.4} cm off")?;
        let (curves, markers) = (sum(|clip| clip.curves), sum(|clip| clip.markers));
        if curves + markers > 0 {
            let (curves, markers) = (counted(curves, "curve"), counted(markers, "marker"));
            let shares = self.clips.iter().filter_map(|clip| clip.max_curve_error_share);
            let share = shares.fold(0.0, f64::max);
            writeln!(out, "{curves}, {markers}; curves at most {share:.2} of their precision off")?;
        }
        self.write_travel(out)?;
        writeln!(
            out,
            "built at {:.1} MB of raw samples a second on one core",
            raw as f64 / 1e6 / seconds
        )?;
        if let Some(disk) = self.clips.iter().map(|clip| clip.disk_bytes).sum::<Option<usize>>() {
            writeln!(
                out,
                "as disk files (--disk): {disk} bytes, {} of that",
                percent(disk, bytes)
            )?;
        }
        if !self.rigs.is_empty() {
            let rigs: usize = self.rigs.iter().map(RigReport::bytes).sum();
            let header = ["rig", "joints", "tracks", "constants", "bytes", "clips"];
            writeln!(
                out,
                "\n{}",
                table(header, 1, self.rigs.iter().map(RigReport::cells)).trim_fmt()
            )?;
            writeln!(
                out,
                "\nwith rigs: {} bytes, {} of the raw floats",
                bytes + rigs,
                percent(bytes + rigs, raw)
            )?;
        }
        if let Some(database) = &self.database {
            writeln!(out)?;
            write_text(out, "", &database.text())?;
        }
        let mean = |number: fn(&ClipReport) -> Option<f64>| {
            Some(
                self.clips.iter().map(number).sum::<Option<f64>>()?
                    / self.clips.len().max(1) as f64,
            )
        };
        let cold =
            (mean(|clip| clip.cold_2_5_mb_ns_per_joint), mean(|clip| clip.cold_64_mb_ns_per_joint));
        if let (Some(near), Some(far)) = cold {
            let random =
                format!("random clips: {near:.1} ns a joint from 2.5 MB, {far:.1} ns from 64 MB");
            write_text(out, "", &random)?;
        }
        LeftOutReport::write_table(&self.left_out, out)?;
        if !self.left_out.is_empty() && !self.notes.is_empty() {
            writeln!(out)?;
        }
        self.notes.iter().try_for_each(|note| write_text(out, "", note))
    }

    /// Writes which clips travel.
    fn write_travel(&self, out: &mut impl Write) -> io::Result<()> {
        /// The maximum number of clips that are listed.
        const LISTED: usize = 5;
        let known = |clip: &ClipReport| clip.root_motion.is_some();
        if !self.clips.iter().any(known) {
            return Ok(());
        }
        let travel = |clip: &ClipReport| {
            let own = clip.root_motion.as_ref().filter(|own| own.travels)?;
            Some(format!("{} {}", clip.name, own.short()))
        };
        let all: Vec<String> = self.clips.iter().filter_map(travel).collect();
        let list = match all.len().checked_sub(LISTED) {
            None | Some(0) => all.join(", "),
            Some(more) => format!("{} and {more} more (--json)", all[..LISTED].join(", ")),
        };
        match all.len() {
            0 => writeln!(out, "no clip travels"),
            1 => write_text(out, "", &format!("1 clip travels: {list}")),
            many => write_text(out, "", &format!("{many} clips travel: {list}")),
        }
    }
}
