//! The built-in world. The module has its options on the command line, and its states in the form
//! that the codec takes.

use std::path::{Path, PathBuf};

use clap::Args;
use command_kit::{Failure, parse_seed, say};
use cube_data::cube::Measured;
use cube_data::{CapturedStates, Challenge, ChallengeError, Frame, is_capture};
use cubes::{Config, ConfigError, Input, Script, Style, World};
use kinepack::EntityId;
use kinepack_capture::CaptureError;
use kinepack_cli::captured::{CapturedError, refuse_once};
use kinepack_net::ReceiverId;

use crate::crowd::Crowd;
use crate::cube_stream::CubeStream;
use crate::game_events::GameEvent;
use crate::players::{CannotPlay, PlayedCubes};
use crate::states::States;

/// The length in seconds of a run without `--seconds`.
const DEFAULT_SECONDS: u32 = 20;

/// Options of the built-in world.
#[derive(Args, Clone, Debug)]
pub struct WorldArguments {
    /// Length of the run in seconds of the world's time [default: 20]
    #[arg(long, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub seconds: Option<u32>,
    /// Seed of the scripted player's choices.
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_parser = parse_seed)]
    pub seed: u64,
    /// How the scripted player plays: typical, push, pull or rest.
    #[arg(long, default_value_t = Style::Typical)]
    pub style: Style,
    /// Number of cubes, not counting the player's.
    #[arg(long, default_value_t = 900, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub cubes: u32,
}

/// Reads the frames of a challenge file or of a capture of cubes. The frames are not quantized yet,
/// so a stream can send them. If frames were lost, the result also has an error. A command plays
/// the other frames and then ends with that error.
pub fn read_capture(
    path: &Path,
    sent: &CubeStream,
) -> Result<(CapturedRun, Result<(), WorldError>), WorldError> {
    let path_of = || path.to_owned();
    refuse_once(path)?;
    if is_capture(path) {
        let CapturedStates { stream, frames, ids, ticks, rate_hz, damage } =
            CapturedStates::open(path)?;
        for ((states, ids), tick) in frames.iter().zip(&ids).zip(&ticks) {
            if let Err((index, error)) = sent.check(states) {
                let (entity, reason) = (ids[index].0, error.to_string());
                let (path, tick) = (path_of(), tick.0);
                return Err(CaptureError::BadState { path, stream, tick, entity, reason }.into());
            }
        }
        match damage.first() {
            Some(damage) if frames.is_empty() => {
                return Err(WorldError::NothingRead { path: path_of(), reason: damage.clone() });
            }
            None if frames.is_empty() => return Err(WorldError::NeedsFloats { path: path_of() }),
            _ => {}
        }
        damage.iter().for_each(|damage| say(format_args!("{}: {damage}", path.display())));
        let lost = WorldError::Incomplete { path: path_of() };
        let ending = if damage.is_empty() { Ok(()) } else { Err(lost) };
        let ticks = ticks.iter().map(|tick| tick.0).collect();
        return Ok((CapturedRun { frames, ticks, rate_hz, next: 0 }, ending));
    }
    let mut capture = Challenge::open(path)?;
    let rate_hz = f64::from(capture.rate_hz());
    let mut frames = Vec::new();
    while let Some(frame) = capture.next_frame()? {
        match frame {
            Frame::Floats(frame) => {
                let states: Vec<Measured> = frame.states().collect();
                sent.check(&states).map_err(|(object, error)| {
                    capture.bad_value(object as u32, error.to_string())
                })?;
                frames.push(states);
            }
            Frame::Quantized(_) => return Err(WorldError::NeedsFloats { path: path_of() }),
        }
    }
    let ticks = (0..frames.len() as u32).collect();
    Ok((CapturedRun { frames, ticks, rate_hz, next: 0 }, Ok(())))
}

/// The frames of a capture, which a run plays at the capture's pace. While ticks are missing, the
/// last frame stays.
pub struct CapturedRun {
    frames: Vec<Vec<Measured>>,
    /// The tick of each frame, in increasing order.
    ticks: Vec<u32>,
    /// The number of ticks per second.
    rate_hz: f64,
    /// The world's next tick. After the last frame, the run begins again with the first.
    next: u32,
}

impl CapturedRun {
    /// Returns the capture's length in ticks of the world.
    pub fn world_ticks(&self) -> u32 {
        let ends = self.ticks.first().zip(self.ticks.last());
        let ticks = ends.map_or(0.0, |(first, last)| f64::from(last - first) + 1.0);
        // The cast saturates at the limits of `u32`.
        (ticks * f64::from(cubes::TICK_HZ) / self.rate_hz).ceil() as u32
    }

    fn next_frame(&mut self) -> Option<&[Measured]> {
        let passed = f64::from(self.next) * self.rate_hz / f64::from(cubes::TICK_HZ);
        self.next = (self.next + 1) % self.world_ticks().max(1);
        let tick = f64::from(*self.ticks.first()?) + passed.floor();
        let after = self.ticks.partition_point(|of| f64::from(*of) <= tick);
        self.frames.get(after.checked_sub(1)?).map(Vec::as_slice)
    }
}

/// The world that a command plays.
pub enum Played {
    /// The cubes and their players.
    Cubes(Box<PlayedCubes>),
    /// Objects that walk about.
    Crowd(Crowd),
    /// The frames of a capture.
    Captured(CapturedRun),
}

/// The reason why a world cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Challenge(#[from] ChallengeError),
    #[error(transparent)]
    Capture(#[from] CaptureError),
    #[error(transparent)]
    Captured(#[from] CapturedError),
    #[error(
        "{}: it has no cubes before quantization; use a .f32 file, or a capture that `record` made \
         without --from",
        path.display()
    )]
    NeedsFloats { path: PathBuf },
    #[error("{}: no frame can be read: {reason}", path.display())]
    NothingRead { path: PathBuf, reason: String },
    /// The capture lost some frames. The run played all other frames.
    #[error("{}: frames were lost; all others were played", path.display())]
    Incomplete { path: PathBuf },
}

impl Failure for WorldError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Incomplete { .. } => 1,
            _ => 2,
        }
    }
}

impl WorldArguments {
    pub fn frames(&self) -> u32 {
        self.asked_frames().unwrap_or(DEFAULT_SECONDS * cubes::TICK_HZ)
    }

    /// Returns the number of frames that `--seconds` asks for, or `None` without that option.
    pub fn asked_frames(&self) -> Option<u32> {
        self.seconds.map(|seconds| seconds * cubes::TICK_HZ)
    }

    /// Returns the run's name in a report, which consists of the options that repeat the run.
    pub fn name(&self) -> String {
        let Self { seconds, seed, style, cubes } = self;
        let seconds = seconds.map_or_else(String::new, |seconds| format!(" --seconds {seconds}"));
        format!("world --style {style}{seconds} --seed {seed} --cubes {cubes}")
    }

    pub fn play(&self) -> Result<Played, WorldError> {
        Played::cubes(&Config { cubes: self.cubes }, self.style, self.seed)
    }
}

impl Played {
    /// Makes cubes with a scripted player.
    pub fn cubes(config: &Config, style: Style, seed: u64) -> Result<Self, WorldError> {
        Ok(Self::Cubes(Box::new(PlayedCubes::new(World::new(config)?, Script::new(style, seed)))))
    }

    /// From now on, holds `keys` for the first player. If `keys` is `None`, the script plays.
    pub fn hold(&mut self, keys: Option<Input>) {
        if let Some(cubes) = self.cubes_mut() {
            cubes.hold(keys);
        }
    }

    /// Returns the first player's keys in the last step, or `None` if the world has no player.
    pub fn pressed(&self) -> Option<Input> {
        match self {
            Self::Cubes(cubes) => cubes.pressed(),
            Self::Crowd(_) | Self::Captured(..) => None,
        }
    }

    /// Returns the number of bodies. If the world has walls, also returns the limit of |x| and |y|
    /// in metres.
    pub fn extent(&self) -> (usize, Option<f32>) {
        match self {
            Self::Cubes(cubes) => (cubes.world().len(), Some(cubes.world().half_width_m())),
            Self::Crowd(crowd) => (crowd.len(), None),
            Self::Captured(run) => (run.frames.first().map_or(0, Vec::len), None),
        }
    }

    /// Returns half the width of the square that the bodies fill at the beginning. Each body has
    /// one square metre.
    pub fn grid_half_width_m(&self) -> f64 {
        (self.extent().0 as f64).sqrt() / 2.0
    }

    /// Writes the current state into `states`, then steps the world.
    pub fn next_frame(&mut self, states: &mut States) {
        match self {
            Self::Captured(run) => {
                if let Some(frame) = run.next_frame() {
                    states.clear();
                    states.extend(frame.iter().copied());
                }
            }
            Self::Crowd(crowd) => {
                states.clear();
                crowd.next_frame(states);
            }
            Self::Cubes(cubes) => cubes.next_frame(states),
        }
    }

    /// Takes the game events that happened since the last call.
    pub fn take_events(&mut self) -> impl Iterator<Item = GameEvent> {
        self.cubes_mut().into_iter().flat_map(PlayedCubes::take_events)
    }

    fn cubes_mut(&mut self) -> Option<&mut PlayedCubes> {
        match self {
            Self::Cubes(cubes) => Some(cubes),
            Self::Crowd(_) | Self::Captured(..) => None,
        }
    }

    /// Gives a guest a cube, which appears in the next state and has no keys held. A guest that has
    /// a cube keeps it.
    pub fn admit(&mut self, guest: ReceiverId) -> Result<EntityId, CannotPlay> {
        self.cubes_mut().ok_or(CannotPlay::NoCubes)?.admit(guest)
    }

    /// Holds `keys` for the guest until the next call. Returns false if the guest has no cube.
    pub fn hold_for(&mut self, guest: ReceiverId, keys: Input) -> bool {
        self.cubes_mut().is_some_and(|cubes| cubes.hold_for(guest, keys))
    }

    /// Removes a guest's cube from the world. Returns false if the guest has none.
    pub fn dismiss(&mut self, guest: ReceiverId) -> bool {
        self.cubes_mut().is_some_and(|cubes| cubes.dismiss(guest))
    }
}
