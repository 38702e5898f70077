//! `kinepack analyze`: where the bits of a capture go, and what to change.

mod text;

use std::iter;
use std::path::PathBuf;

use clap::Args;
use command_kit::interrupt::{Interrupt, Interrupted};
use command_kit::output::Force;
use command_kit::table::write_json;
use command_kit::{Failure, OutputError, print, progress, report_page};
use indicatif::ProgressBar;
use kinepack_capture::analysis::{Analysis, AnalysisError, AnalysisOptions, Analyzer};
use serde::Serialize;

use crate::captured::{CaptureArguments, Captured, CapturedError, Ending, lag_of, profile};
use crate::ladder::{Parameters, ProfileError, Shortage, TooShort};

/// Show where the bits of a capture go, and what to change in the schema first.
///
/// Each proposal is measured. The report also has the sizes at each level, the fields and their
/// components, the age of the baseline, and the entities that take the most.
#[derive(Args)]
pub struct Arguments {
    /// A capture (.mcap), a replay (.kpz), or a file of the 2015 physics data compression challenge
    /// (.bin or .f32, plain or as .zst).
    file: PathBuf,
    /// The stream of the capture, by name [default: all streams]
    #[arg(long, value_name = "NAME")]
    stream: Option<String>,
    /// How many ticks older the baseline is: the newest frame of that age [default: 100 ms, which is
    /// 6 at 60 Hz, but at most 60]
    #[arg(long, value_name = "TICKS", value_parser = clap::value_parser!(u32).range(1..=60))]
    lag: Option<u32>,
    /// The profile, which levels 9 to 14 (relative-indices to learning) use: a file that `tune` or
    /// `train` wrote, untrained, built-in or article. `built-in` is trained for the cubes of the
    /// challenge files; for other data it is untrained. `article` uses the word lengths of the
    /// article "Snapshot Compression".
    #[arg(long, default_value = "built-in")]
    profile: Parameters,
    #[command(flatten)]
    capture: CaptureArguments,
    /// The maximum memory in MiB for the frames of a stream that are kept for comparison. If frames
    /// are too large for this limit, the command fails.
    #[arg(
        long,
        value_name = "MIB",
        default_value_t = 512,
        value_parser = clap::value_parser!(u32).range(1..=1 << 20)
    )]
    max_memory: u32,
    /// Also write the report as an HTML file with charts. The file needs no network.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// Print one JSON document instead of tables.
    #[arg(long)]
    json: bool,
}

/// The analysis of a file.
#[derive(Serialize)]
pub(crate) struct Report {
    file: String,
    streams: Vec<StreamReport>,
}

#[derive(Serialize)]
pub(crate) struct StreamReport {
    name: String,
    #[serde(flatten)]
    analysis: Analysis,
}

/// The reason why a capture cannot be analyzed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AnalyzeError {
    #[error(transparent)]
    Captured(#[from] CapturedError),
    #[error(transparent)]
    Profile(#[from] ProfileError),
    #[error(transparent)]
    TooShort(#[from] TooShort),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    #[error("{}: stream {stream}: {error}{}", path.display(), advice(error))]
    Analysis { path: PathBuf, stream: String, error: AnalysisError },
}

impl Failure for AnalyzeError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Captured(error) => error.exit_code(),
            Self::Output(error) => error.exit_code(),
            Self::Interrupted(error) => error.exit_code(),
            _ => 2,
        }
    }
}

/// Advice for a capture above its limits.
fn advice(error: &AnalysisError) -> &'static str {
    match error {
        AnalysisError::TooLarge { .. } => "; if you trust it, allow more with --max-memory MIB",
        _ => "",
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), AnalyzeError> {
    let inputs = iter::once(arguments.file.as_path()).chain(arguments.profile.file());
    let [html] = arguments.force.reading(inputs).targets([arguments.html.as_deref()])?;
    let interrupt = Interrupt::listen().map_err(OutputError::Signals)?;
    let Analyzed { report, done, all, ending } = analyze(arguments, &interrupt)?;
    if let Some(html) = &html {
        report_page::write(html, "Where the bits go", include_str!("web/analyze.js"), &report)?;
    }
    print(|out| if arguments.json { write_json(&report, out) } else { text::write(&report, out) })?;
    if interrupt.is_raised() {
        let then = "the report is of these";
        return Err(Interrupted::after_frames(done, all, then).into());
    }
    Ok(ending.result()?)
}

/// The report, with the number of analyzed frames and the number of all frames.
struct Analyzed {
    report: Report,
    done: u64,
    all: Option<u64>,
    /// Whether the file was read completely.
    ending: Ending,
}

fn analyze(arguments: &Arguments, interrupt: &Interrupt) -> Result<Analyzed, AnalyzeError> {
    let mut captured = Captured::open(&arguments.file, arguments.capture.limits())?;
    let streams = captured.streams().to_vec();
    let names: Vec<String> = streams.iter().map(|stream| stream.name.clone()).collect();
    let failed = |stream: &str, error: AnalysisError| AnalyzeError::Analysis {
        path: arguments.file.clone(),
        stream: stream.to_owned(),
        error,
    };
    let wanted = arguments.stream.as_deref().map(|name| captured.named(name)).transpose()?;
    let mut analyzers = Vec::new();
    for (index, stream) in captured.streams().iter().enumerate() {
        if wanted.is_some_and(|wanted| wanted != index) {
            analyzers.push(None);
            continue;
        }
        let profile = profile(&arguments.profile, &stream.schema)
            .map_err(|failure| failure.of_stream(&stream.name))?;
        let lag = lag_of(arguments.lag, stream.rate_hz);
        let frames = stream.frames.unwrap_or(10_000);
        let max_bytes = (arguments.max_memory as usize) << 20;
        let options = AnalysisOptions { lag, max_bytes, ..AnalysisOptions::new(profile, frames) };
        let analyzer = Analyzer::new(&stream.schema, stream.rate_hz, options);
        analyzers.push(Some(analyzer.map_err(|error| failed(&stream.name, error))?));
    }
    let all = captured.frames();
    let bar: ProgressBar = progress(all);
    let mut done = 0;
    while !interrupt.is_raised() {
        let Some(frame) = captured.next_frame()? else { break };
        done += 1;
        let Some(analyzer) = &mut analyzers[frame.stream] else { continue };
        frame.check(&arguments.file, &streams[frame.stream])?;
        let added = analyzer.add_kinds(frame.tick, &frame.ids, frame.columns);
        added.map_err(|error| failed(&names[frame.stream], error))?;
        bar.inc(1);
    }
    let ending = captured.end(wanted, done)?;
    let analyzed =
        names.into_iter().zip(analyzers).filter_map(|(name, analyzer)| Some((name, analyzer?)));
    let analyzed = analyzed.map(|(name, analyzer)| {
        let analysis = analyzer.finish().map_err(|error| failed(&name, error))?;
        if analysis.compared == 0 {
            if interrupt.is_raised() {
                let nothing = "they are too few for a report";
                return Err(Interrupted::after_frames(done, all, nothing).into());
            }
            let (frames, lag) = (analysis.frames as u32, analysis.lag);
            let of = format!("{}: stream {name}", arguments.file.display());
            return Err(AnalyzeError::from(Shortage::for_baselines(frames, lag).of(of)));
        }
        Ok(StreamReport { name, analysis })
    });
    let streams = analyzed.collect::<Result<_, _>>()?;
    bar.finish_and_clear();
    let report = Report { file: arguments.file.display().to_string(), streams };
    Ok(Analyzed { report, done, all, ending })
}
