//! `kinepack convert`: writes a capture as CSV, and converts challenge files to captures and back.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::Args;
use command_kit::output::{Force, Problem};
use command_kit::{Failure, OutputError, counted, progress, say};
use cube_data::{
    Challenge, ChallengeError, ConvertError, capture_to_challenge, challenge_to_capture, is_capture,
};
use kinepack_capture::{Capture, CaptureError, RecordError, Recorder, component_names};

use crate::captured::{
    CaptureArguments, Captured, CapturedError, Ending, Stream, StreamArguments, refuse_once,
};
use crate::format::Format;

/// Write the numbers of a capture as CSV, or convert between captures and challenge files.
///
/// The CSV has the columns tick, id and one for each number, as it was recorded: not quantized,
/// unless the capture holds lanes. Challenge files are those of the 2015 networked physics data
/// compression challenge. Conversions from them to captures and back keep every bit. Other commands
/// read all of these files, so only other tools need the conversion.
#[derive(Args)]
pub struct Arguments {
    /// A capture (.mcap), a replay (.kpz), or a challenge file (.bin or .f32, plain or as .zst).
    from: PathBuf,
    /// The file to write. The name ends in .csv for numbers, and in .mcap for a capture of a
    /// challenge file. To turn a capture back into the challenge file that it was made from, the
    /// name ends in .bin if the capture holds lanes, and in .f32 if it holds floats.
    to: PathBuf,
    #[command(flatten)]
    stream: StreamArguments,
    #[command(flatten)]
    capture: CaptureArguments,
    #[command(flatten)]
    force: Force,
}

/// The reason why a file cannot be converted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConversionError {
    #[error(transparent)]
    Captured(#[from] CapturedError),
    #[error(transparent)]
    Record(RecordError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error("{}: {error}{}", path.display(), advice(error))]
    Convert { path: PathBuf, error: ConvertError },
    #[error(
        "{}: this is {kind}; give the other file a name that ends in {endings}",
        path.display()
    )]
    Same { path: PathBuf, kind: &'static str, endings: &'static str },
    #[error(
        "{}: the name must end in .mcap for a capture of a challenge file, in .csv for the \
         numbers of a capture, and for a challenge file of a capture of cubes in .bin if the \
         capture holds lanes or in .f32 if it holds floats",
        path.display()
    )]
    Name { path: PathBuf },
}

impl Failure for ConversionError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Captured(error) => error.exit_code(),
            Self::Output(error) => error.exit_code(),
            _ => 2,
        }
    }
}

/// Advice for a capture that was not made from a challenge file.
fn advice(error: &ConvertError) -> &'static str {
    match error {
        ConvertError::NotCubes { .. } => {
            "; only a capture that `convert` made from a challenge file can; any capture can \
             become a .csv"
        }
        _ => "",
    }
}

impl From<RecordError> for ConversionError {
    fn from(error: RecordError) -> Self {
        OutputError::of_recorder(error).map_or_else(Self::Record, Self::Output)
    }
}

impl From<ChallengeError> for ConversionError {
    fn from(error: ChallengeError) -> Self {
        Self::Captured(error.into())
    }
}

impl From<CaptureError> for ConversionError {
    fn from(error: CaptureError) -> Self {
        Self::Captured(error.into())
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), ConversionError> {
    let Arguments { from, to, stream, capture, force } = arguments;
    let limits = capture.limits();
    let failed = |error| match error {
        ConvertError::Write(error) => {
            OutputError::File { path: to.clone(), problem: Problem::System(error) }.into()
        }
        ConvertError::Record(error @ RecordError::Write { .. }) => error.into(),
        ConvertError::Read(error @ CaptureError::TooManyValues { .. }) => error.into(),
        ConvertError::Challenge(error @ ChallengeError::TooManyValues { .. }) => error.into(),
        error => ConversionError::Convert { path: from.clone(), error },
    };
    let Some(format) = Format::of_name(to).filter(|format| *format != Format::Replay) else {
        return Err(ConversionError::Name { path: to.clone() });
    };
    refuse_once(from)?;
    let path = || from.clone();
    match (is_capture(from), format) {
        (true, Format::Capture) => {
            let (kind, endings) = ("a capture already", ".csv, .bin or .f32");
            return Err(ConversionError::Same { path: path(), kind, endings });
        }
        (false, Format::Quantized | Format::Floats) if from.exists() => {
            let (kind, endings) = ("not a capture", ".csv or .mcap");
            return Err(ConversionError::Same { path: path(), kind, endings });
        }
        _ => {}
    }
    let target = force.reading([from]).target(to)?;
    if format == Format::Floats {
        target.check_seekable()?;
    }
    let mut read = Ending::default();
    let (frames, output) = if format == Format::Table {
        let mut captured = Captured::open(from, limits)?;
        let index = captured.find(stream, &[], &[])?;
        let mut out = BufWriter::new(target.create()?);
        let unwritten = |error| failed(ConvertError::Write(error));
        let frames = write_csv(&mut captured, index, None, &mut out, unwritten)?;
        read = captured.end(Some(index), frames)?;
        let output = out.into_inner().map_err(|error| unwritten(error.into_error()))?;
        (frames, output)
    } else if format == Format::Capture {
        let mut challenge = Challenge::open(from)?.with_limits(limits);
        let output = target.create()?;
        let mut recorder = Recorder::to_writer(to, output.file()?)?;
        let converted = challenge_to_capture(&mut challenge, &mut recorder).map_err(failed)?;
        recorder.finish()?;
        (u64::from(converted.frames), output)
    } else {
        let mut capture = Capture::open(from)?.with_limits(limits);
        let mut out = BufWriter::new(target.create()?);
        let converted = capture_to_challenge(&mut capture, &mut out).map_err(failed)?;
        if converted.is_quantized != (format == Format::Quantized) {
            return Err(ConversionError::Name { path: to.clone() });
        }
        let output =
            out.into_inner().map_err(|error| failed(ConvertError::Write(error.into_error())))?;
        (u64::from(converted.frames), output)
    };
    output.commit()?;
    say(format_args!("{}: {}", to.display(), counted(frames, "frame")));
    Ok(read.result()?)
}

/// Writes a row for each entity of each frame, or only for the entities of one kind. Returns the
/// number of frames.
pub(crate) fn write_csv<E: From<CapturedError>>(
    captured: &mut Captured,
    index: usize,
    only: Option<usize>,
    out: &mut impl Write,
    unwritten: impl Fn(io::Error) -> E,
) -> Result<u64, E> {
    let Stream { schema, of_kinds, .. } = captured.streams()[index].clone();
    let is_shown = |kind: usize| only.is_none_or(|only| only == kind);
    let has_several = of_kinds.len() > 1 && only.is_none();
    let mut header = if has_several { "tick,id,kind" } else { "tick,id" }.to_owned();
    // `begins` holds the column at which the components of each kind begin.
    let mut begins = Vec::new();
    let mut count = 0;
    for (index, (kind, of_kind)) in schema.kinds().iter().zip(&of_kinds).enumerate() {
        begins.push(count);
        for name in component_names(of_kind).into_iter().filter(|_| is_shown(index)) {
            let name = if has_several { format!("{}.{name}", kind.name()) } else { name };
            header.push(',');
            header.push_str(&quoted(&name));
            count += 1;
        }
    }
    writeln!(out, "{header}").map_err(&unwritten)?;
    let mut frames = 0;
    let mut line = String::new();
    let bar = progress(captured.streams()[index].frames);
    while let Some(frame) = captured.next_frame()? {
        if frame.stream != index {
            continue;
        }
        for (kind, (ids, of_kind)) in frame.ids.iter().zip(&of_kinds).enumerate() {
            if !is_shown(kind) {
                continue;
            }
            let columns = frame.columns.of_lanes(schema.kinds()[kind].lanes());
            for (row, id) in ids.iter().enumerate() {
                line.clear();
                line.push_str(&format!("{},{}", frame.tick.0, id.0));
                if has_several {
                    line.push(',');
                    line.push_str(&quoted(schema.kinds()[kind].name()));
                }
                // The cells of other kinds are empty.
                let values = columns.components(row, of_kind);
                line.extend(std::iter::repeat_n(',', begins[kind]));
                let after = count - begins[kind] - values.len();
                for value in values {
                    line.push(',');
                    line.push_str(&number(value));
                }
                line.extend(std::iter::repeat_n(',', after));
                writeln!(out, "{line}").map_err(&unwritten)?;
            }
        }
        frames += 1;
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(frames)
}

/// Formats a name as a cell. Adds quotes if the name contains characters that CSV reserves.
fn quoted(name: &str) -> String {
    if name.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}

/// Formats a number with the fewest decimals that read back as the same number.
fn number(value: f64) -> String {
    if value == 0.0 || (1e-5..1e17).contains(&value.abs()) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back_and_names_stay_one_cell() {
        for value in [0.0, -0.5, f64::from(0.1_f32), 1e-300, 1e17, f64::MAX, 123_456.0] {
            assert_eq!(number(value).parse(), Ok(value));
        }
        assert_eq!([number(2.0), number(f64::NAN), number(1e20)], ["2", "NaN", "1e20"]);
        assert_eq!([quoted("a.x"), quoted("a,\"b\"")], ["a.x", "\"a,\"\"b\"\"\""]);
    }
}
