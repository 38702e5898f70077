//! Records the built-in world, as a capture or as a challenge file of floats.

use std::fs::File;
use std::io::{self, BufWriter};

use command_kit::interrupt::Interrupt;
use command_kit::output::Problem;
use command_kit::{OutputError, counted, progress};
use cube_data::F32Frames;
use cube_data::cube::{self, Cube, Player};
use kinepack::Tick;
use kinepack_capture::{RecordError, RecordSummary, RecordedKinds, RecordedStream, Recorder};
use kinepack_cli::Format;
use kinepack_cli::ladder::CubeKinds;

use super::{CaptureFile, Frames, Recorded, RecordingError, STREAM};
use crate::states::States;
use crate::world::WorldArguments;

pub(super) fn run(
    file: &mut CaptureFile<'_>,
    arguments: &WorldArguments,
    kinds: Option<CubeKinds>,
) -> Result<Recorded, RecordingError> {
    let interrupt = Interrupt::listen().map_err(OutputError::Signals)?;
    let mut world = arguments.play()?;
    let objects = world.extent().0;
    let mut sink = match file.format {
        Format::Floats => Sink::floats(file, objects)?,
        _ => Sink::capture(file, kinds)?,
    };
    let bar = progress(Some(arguments.frames()));
    let mut states = States::default();
    for tick in (0..arguments.frames()).take_while(|_| !interrupt.is_raised()) {
        world.next_frame(&mut states);
        sink.record(file, Tick(tick), &states)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let (frames, bytes) = sink.finish(file)?;
    let recorded = || Frames {
        line: format!("{}, {}", counted(frames, "frame"), counted(bytes, "byte")),
        cut: (frames < u64::from(arguments.frames())).then(|| {
            let seconds = frames as f64 / f64::from(cubes::TICK_HZ);
            (seconds, arguments.frames() / cubes::TICK_HZ)
        }),
    };
    Ok((frames > 0).then(recorded))
}

/// A file that takes frames.
enum Sink {
    /// A capture of cubes.
    Cubes(Recorder, RecordedStream<Cube>),
    /// A capture of players and cubes.
    Kinds(Recorder, RecordedKinds),
    /// A challenge file.
    Floats(F32Frames<BufWriter<File>>),
}

impl Sink {
    fn capture(file: &CaptureFile<'_>, kinds: Option<CubeKinds>) -> Result<Self, RecordingError> {
        let mut recorder = file.recorder()?;
        let rate_hz = f64::from(cubes::TICK_HZ);
        Ok(match kinds {
            None => {
                let stream = recorder.stream(STREAM, rate_hz)?;
                Self::Cubes(recorder, stream)
            }
            Some(CubeKinds::Player) => {
                let schema = cube::players_and_cubes()?;
                let stream = recorder.stream_of_kinds(STREAM, &schema, rate_hz)?;
                Self::Kinds(recorder, stream)
            }
        })
    }

    fn floats(file: &CaptureFile<'_>, objects: usize) -> Result<Self, RecordingError> {
        let out = BufWriter::new(file.output.file()?);
        let frames = F32Frames::new(out, objects as u32, cubes::TICK_HZ);
        Ok(Self::Floats(frames.map_err(|error| unwritten(file, error))?))
    }

    fn record(
        &mut self,
        file: &mut CaptureFile<'_>,
        tick: Tick,
        states: &States,
    ) -> Result<(), RecordingError> {
        match self {
            Self::Cubes(recorder, stream) => {
                let cubes = states.iter().map(|(id, state)| (id, Cube::from(*state)));
                recorder.record(stream, tick, cubes)?;
            }
            Self::Kinds(recorder, stream) => record_kinds(recorder, stream, tick, states)?,
            Self::Floats(frames) => {
                let written = frames.write(states.measured());
                // An incomplete challenge file is not kept, because it cannot be read without its
                // number of frames.
                return written.map_err(|error| unwritten(file, error));
            }
        }
        file.keep();
        Ok(())
    }

    /// Completes the file. Returns its frames and bytes.
    fn finish(self, file: &CaptureFile<'_>) -> Result<(u64, u64), RecordingError> {
        match self {
            Self::Cubes(recorder, _) | Self::Kinds(recorder, _) => {
                let RecordSummary { frames, bytes, .. } = recorder.finish()?;
                Ok((frames, bytes))
            }
            Self::Floats(frames) => {
                let finished = frames.finish().and_then(|(out, frames)| {
                    Ok((u64::from(frames), out.get_ref().metadata()?.len()))
                });
                finished.map_err(|error| unwritten(file, error))
            }
        }
    }
}

fn record_kinds(
    recorder: &mut Recorder,
    stream: &RecordedKinds,
    tick: Tick,
    states: &States,
) -> Result<(), RecordError> {
    let mut frame = recorder.frame(stream, tick)?;
    for (id, state) in states.iter() {
        match cubes::is_player(id.0) {
            true => frame.push(id, &Player::from(*state))?,
            false => frame.push(id, &Cube::from(*state))?,
        }
    }
    frame.finish()
}

fn unwritten(file: &CaptureFile<'_>, error: io::Error) -> RecordingError {
    OutputError::File { path: file.name.to_owned(), problem: Problem::System(error) }.into()
}
