//! Bodies over a network: figures beside other layouts of poses, at the same largest error.
//!
//! ```text
//! cargo run --release -p comparisons --example figures -- *.bvh --rate-of salsa=60 --measure salsa
//! ```
//!
//! Takes motion captures of one skeleton. Each is measured with a profile that was trained on the
//! others. Which joints move also comes from the others. The captures in the book are four of the
//! CMU database, for Daz. Their files say 120 Hz, but those of salsa have 60 poses a second.
//!
//! - `sizes`: bytes a frame of Basis's layout, of Meta's 42 bits a joint and of the smallest three
//!   in 9 bits, and of figures whose largest error is the same: the measured error, or the proven
//!   one. The figure's baseline is 100 ms old. Headers do not count.
//! - `network`: a hub and a receiver over a link with a round trip of 100 ms, which loses
//!   datagrams. All bytes count. Compares the pose that is shown with the true one.
//! - `load`: the time of a server and of each viewer, for 64 bodies and 64 viewers.
//! - `profile`, only if it is asked for: bytes per frame with the built-in profile and untrained. The
//!   files may have different skeletons.
//!
//! Errors are distances in model space of points 3 cm from the joints, as in clips.

mod basis;
mod body;
mod figures;
mod load;
mod network;
mod profile;
mod recordings;
mod shown;
mod smallest_three;

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use command_kit::print;
use command_kit::table::{Table, table, write_json};
use kinepack_anim::RawClip;
use serde::Serialize;

use basis::Layout;
use body::Body;
use recordings::{RateOf, Recording};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Compare figures with other layouts of poses: bytes, errors over a network, and time.
#[derive(Parser)]
struct Arguments {
    /// Motion captures of one skeleton: .bvh, .bvh.zst, .glb or .gltf.
    #[arg(required = true, num_args = 2.., value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Frames a second that are sent. The rate of each capture must be a multiple.
    #[arg(long, value_name = "HZ", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=240))]
    hz: u32,
    /// BVH: the true rate of captures whose file has this in its name, if the frame time is wrong.
    #[arg(long, value_name = "NAME=HZ")]
    rate_of: Vec<RateOf>,
    /// BVH: frames to drop at the beginning. By default it depends on the collection: 10 for CMU's
    /// captures for Daz, which begin with a T-pose.
    #[arg(long, value_name = "FRAMES")]
    drop_frames: Option<usize>,
    /// Measure only the captures with this in their name. The others only train.
    #[arg(long, value_name = "NAME")]
    measure: Vec<String>,
    /// Only this part. The network needs the sizes first.
    #[arg(long, value_enum)]
    only: Option<Part>,
    /// The precision of the bodies under load, in cm.
    #[arg(long, value_name = "CM", default_value_t = 0.5)]
    load_precision: f64,
    /// Train the profile that is built into the library on all files, which may have different
    /// skeletons, and write it to this file. Nothing is measured.
    #[arg(long, value_name = "FILE")]
    train: Option<PathBuf>,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Part {
    Sizes,
    Network,
    Load,
    Profile,
}

/// All figures.
#[derive(Serialize)]
struct Report {
    recordings: Vec<RecordingReport>,
    load: Vec<load::Row>,
}

/// A recording that was measured.
#[derive(Serialize)]
struct RecordingReport {
    name: String,
    frames: usize,
    joints: usize,
    moving_joints: usize,
    sizes: Vec<figures::Row>,
    network: Vec<network::Row>,
}

fn main() -> Outcome<()> {
    let arguments = Arguments::parse();
    if let Some(file) = &arguments.train {
        let clips = arguments.clips()?;
        std::fs::write(file, profile::train(clips.iter())?.to_bytes())?;
        return Ok(());
    }
    if arguments.only == Some(Part::Profile) {
        return measure_profile(&arguments);
    }
    let wants = |part| arguments.only.is_none_or(|only| only == part);
    let mut recordings = Vec::new();
    for file in &arguments.files {
        let Arguments { hz, rate_of, drop_frames, .. } = &arguments;
        recordings.push(Recording::read(file, *hz, rate_of, *drop_frames)?);
    }
    let skeleton = recordings[0].skeleton().hash();
    if let Some(other) = recordings.iter().find(|other| other.skeleton().hash() != skeleton) {
        return Err(format!("{} has another skeleton", other.name()).into());
    }
    let mut report = Report { recordings: Vec::new(), load: Vec::new() };
    if wants(Part::Sizes) || wants(Part::Network) {
        for (index, recording) in recordings.iter().enumerate() {
            if arguments.measures(recording.name()) {
                eprintln!("measuring {}", recording.name());
                let measured = measure(&recordings, index, arguments.hz, wants(Part::Network))?;
                report.recordings.push(measured);
            }
        }
    }
    if wants(Part::Load) {
        eprintln!("measuring the load");
        report.load = load::measure(&recordings, arguments.load_precision, arguments.hz)?;
    }
    print(|out| {
        if arguments.json {
            return write_json(&report, out);
        }
        for of in &report.recordings {
            let RecordingReport { name, frames, joints, moving_joints, .. } = of;
            writeln!(out, "{name}: {frames} frames, {moving_joints} of {joints} joints move")?;
            writeln!(out, "\n{}\n", sizes_table(&of.sizes).trim_fmt())?;
            if !of.network.is_empty() {
                writeln!(out, "{}\n", network::bytes_table(&of.network).trim_fmt())?;
                writeln!(out, "{}\n", network::errors_table(&of.network).trim_fmt())?;
            }
        }
        if !report.load.is_empty() {
            writeln!(out, "{}", load::load_table(&report.load).trim_fmt())?;
        }
        Ok(())
    })?;
    let wrong_lanes =
        report.recordings.iter().flat_map(|of| &of.network).map(|row| row.wrong_lanes);
    if wrong_lanes.chain(report.load.iter().map(|row| row.wrong_lanes)).any(|count| count > 0) {
        return Err("a receiver's state is not the sender's".into());
    }
    Ok(())
}

impl Arguments {
    /// Reads all clips of the files.
    fn clips(&self) -> Outcome<Vec<RawClip>> {
        let mut clips = Vec::new();
        for file in &self.files {
            clips.extend(recordings::clips(file, &self.rate_of, self.drop_frames)?);
        }
        Ok(clips)
    }

    /// Returns whether a recording with this name is measured.
    fn measures(&self, name: &str) -> bool {
        self.measure.is_empty() || self.measure.iter().any(|text| name.contains(text.as_str()))
    }
}

/// Measures the built-in profile.
fn measure_profile(arguments: &Arguments) -> Outcome<()> {
    let mut measured = Vec::new();
    for clip in arguments.clips()?.iter().filter(|clip| arguments.measures(clip.name())) {
        eprintln!("measuring {}", clip.name());
        measured.push((clip.name().to_owned(), profile::measure(clip)?));
    }
    measured.retain(|(_, rows)| !rows.is_empty());
    print(|out| {
        if arguments.json {
            return write_json(&measured, out);
        }
        for (name, rows) in &measured {
            writeln!(out, "{name}\n\n{}\n", profile::profile_table(rows).trim_fmt())?;
        }
        Ok(())
    })?;
    Ok(())
}

/// Measures one recording with what the others say.
fn measure(
    recordings: &[Recording],
    index: usize,
    hz: u32,
    has_network: bool,
) -> Outcome<RecordingReport> {
    let recording = &recordings[index];
    let others = recordings.iter().enumerate().filter(|(other, _)| *other != index);
    let training: Vec<&Recording> = others.map(|(_, other)| other).collect();
    let body = Body::of(&training)?;
    body.check(recording)?;
    let others = training.iter().filter(|other| other.performer() != recording.performer());
    let built_in = profile::train(others.map(|other| other.captured()))
        .map_err(|error| format!("a profile needs another performer's recording: {error}"))?;
    let known = (&training[..], &built_in);
    let (mut sizes, mut network) = (Vec::new(), Vec::new());
    for layout in Layout::basis(&body, hz)? {
        let sent = layout.send(&body, recording)?;
        let peer = (&layout, &sent);
        let (row, trained) = figures::compare(&body, peer, recording, known, hz)?;
        sizes.push(row);
        if has_network {
            network.extend(network::measure(&body, peer, trained, recording, hz)?);
        }
    }
    for layout in Layout::plain(&body) {
        let sent = layout.send(&body, recording)?;
        sizes.push(figures::compare(&body, (&layout, &sent), recording, known, hz)?.0);
    }
    Ok(RecordingReport {
        name: recording.name().to_owned(),
        frames: recording.frames(),
        joints: body.skeleton.len(),
        moving_joints: body.moving.len(),
        sizes,
        network,
    })
}

fn sizes_table(rows: &[figures::Row]) -> Table {
    let header = [
        "peer",
        "largest\nerror, cm",
        "bytes\na frame",
        "figure:\nprecision, cm",
        "\nproven, cm",
        "\nlargest, cm",
        "bytes a frame:\npacked",
        "adaptive:\nuntrained",
        "\nbuilt in",
        "\ntrained",
        "\nlearning",
        "proven as the peer's:\npacked",
        "\nadaptive",
    ];
    let cells = rows.iter().map(|row| {
        [
            row.peer.clone(),
            format!("{:.3}", row.error_cm),
            format!("{:.1}", row.peer_bytes),
            format!("{:.3}", row.precision_cm),
            format!("{:.3}", row.bound_cm),
            format!("{:.3}", row.figure_error_cm),
            format!("{:.1}", row.packed_bytes),
            format!("{:.1}", row.untrained_bytes),
            format!("{:.1}", row.built_in_bytes),
            format!("{:.1}", row.adaptive_bytes),
            format!("{:.1}", row.learning_bytes),
            format!("{:.1}", row.proven.packed_bytes),
            format!("{:.1}", row.proven.adaptive_bytes),
        ]
    });
    table(header, 1, cells)
}
