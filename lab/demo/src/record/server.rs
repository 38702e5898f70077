//! Records the states that a server sends, as a spectator.
//!
//! A recording covers one connection. After a reconnection, the server may have another world,
//! whose ticks start again.

use std::net::SocketAddr;
use std::time::Duration;

use command_kit::{announce, counted};
use indicatif::{ProgressBar, ProgressStyle};
use kinepack::Snapshot;
use kinepack_capture::{RecordError, RecordSummary, RecordedLanes, Recorder};

use super::gaps::Gaps;
use super::{CaptureFile, Frames, Recorded, RecordingError, STREAM};
use crate::join::{ConnectionArguments, ConnectionEvent, Course, JoinError, Joiner, Pilot, Target};
use crate::sender::due;
use crate::viewer::NewView;

/// Frames between two updates of the status line. The command also empties the playout buffer then,
/// because it does not show anything.
const ROUND_FRAMES: u32 = 6;

pub(super) fn run(
    file: &mut CaptureFile<'_>,
    server: SocketAddr,
    connection: &ConnectionArguments,
    seconds: Option<u32>,
) -> Result<Recorded, RecordingError> {
    let target = connection.target(server)?;
    let mut recording = Recording::begin(file, &target)?;
    let course = Course::begin(seconds)?;
    let status = Status::new();
    let mut joiner = Joiner::new(&target, Duration::ZERO, Pilot::Nobody);
    let followed = follow(&mut joiner, server, &course, &mut recording, &status);
    let cut = course.cut();
    joiner.end(course.now());
    status.0.finish_and_clear();
    followed?;
    let why_nothing_received = joiner.why_nothing_received(course.now());
    let (summary, gaps) = recording.finish()?;
    match (summary.frames, why_nothing_received) {
        (0, _) if course.interrupt.is_raised() => Ok(None),
        (0, None) => Err(RecordingError::NothingWhole { server }),
        (0, Some(reason)) => Err(JoinError::NothingReceived { server, reason }.into()),
        _ => Ok(Some(Frames { line: closing(&summary, &gaps), cut })),
    }
}

/// Records until the time or the connection ends.
fn follow(
    joiner: &mut Joiner<'_>,
    server: SocketAddr,
    course: &Course,
    recording: &mut Recording<'_, '_>,
    status: &Status,
) -> Result<(), RecordingError> {
    let mut frame = 0;
    loop {
        // The time is checked before the last step, so that states that arrive by the end are
        // recorded.
        let is_over = course.is_over();
        let now = course.now();
        let mut recorded = Ok(());
        let event = joiner.step_with(now, &mut |new, view| {
            if recorded.is_ok() {
                recorded = recording.take(new, view);
            }
        })?;
        recorded?;
        match event {
            Some(ConnectionEvent::Lost(reason)) if recording.gaps.has_frames() => {
                status.say(&format!("{server}: {reason}; the recording ends here"));
                return Ok(());
            }
            Some(event) => status.say(&event.line(server)),
            None => {}
        }
        if is_over {
            return Ok(());
        }
        if now >= due(frame) {
            joiner.pass(now)?;
            status.show(now, recording);
            frame = (now.as_secs_f64() * f64::from(cubes::TICK_HZ)) as u32 + ROUND_FRAMES;
        }
        joiner.wait(due(frame).saturating_sub(now));
    }
}

/// The file of a recording, and the ticks that it lacks.
struct Recording<'a, 'b> {
    file: &'a mut CaptureFile<'b>,
    recorder: Recorder,
    stream: RecordedLanes,
    gaps: Gaps,
    frames: u64,
}

impl<'a, 'b> Recording<'a, 'b> {
    fn begin(file: &'a mut CaptureFile<'b>, target: &Target) -> Result<Self, RecordingError> {
        let mut recorder = file.recorder()?;
        let codec = target.stream.codec();
        let stream = recorder.stream_of_lanes(STREAM, codec.schema(), f64::from(cubes::TICK_HZ))?;
        // With this flush, a full disk is reported now, instead of after the first frames.
        recorder.flush()?;
        Ok(Self { file, recorder, stream, gaps: Gaps::default(), frames: 0 })
    }

    fn take(&mut self, new: NewView, view: &Snapshot) -> Result<(), RecordError> {
        if self.gaps.take(view.tick, new.sequence, new.left_out) {
            self.recorder.record_snapshot(&self.stream, view)?;
            self.file.keep();
            self.frames += 1;
        }
        Ok(())
    }

    fn finish(self) -> Result<(RecordSummary, Gaps), RecordError> {
        Ok((self.recorder.finish()?, self.gaps))
    }
}

fn closing(summary: &RecordSummary, gaps: &Gaps) -> String {
    let RecordSummary { frames, bytes, .. } = summary;
    let mut line = format!(
        "{}, {}, {}",
        counted(frames, "frame"),
        counted(bytes, "byte"),
        counted(gaps.missing(), "missing tick")
    );
    if gaps.in_parts + gaps.late > 0 {
        line += &format!(
            "; left out: {} that arrived in parts, {} that arrived too late",
            counted(gaps.in_parts, "tick"),
            gaps.late
        );
    }
    line
}

/// A status line. It is hidden if standard error is not a terminal.
struct Status(ProgressBar);

impl Status {
    fn new() -> Self {
        let style = ProgressStyle::with_template("{wide_msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        Self(ProgressBar::new(1).with_style(style))
    }

    fn show(&self, now: Duration, recording: &Recording<'_, '_>) {
        if !self.0.is_hidden() {
            let Recording { frames, gaps, .. } = recording;
            self.0.set_message(format!(
                "{} s, {}, {}",
                now.as_secs(),
                counted(frames, "frame"),
                counted(gaps.missing(), "missing tick")
            ));
        }
    }

    /// Writes a line to standard error, above the status line.
    fn say(&self, line: &str) {
        self.0.suspend(|| announce(line));
    }
}
