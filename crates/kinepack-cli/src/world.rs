//! The built-in world: its options on the command line, and its states as the codec takes them.

use std::path::Path;

use clap::Args;
use cubes::{Body, Config, Script, Style, World};
use kinepack_capture::cube::Measured;
use kinepack_capture::{Challenge, Frame};

use crate::crowd::Crowd;
use crate::failure::Failure;

/// Options of the built-in world.
#[derive(Args, Clone, Debug)]
pub(crate) struct WorldArguments {
    /// Seconds of the world's time.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub(crate) seconds: u32,
    /// Seed of the scripted player.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// How the player plays: typical, push, pull or rest.
    #[arg(long, default_value_t = Style::Typical)]
    pub(crate) style: Style,
    /// Number of cubes, without the player's.
    #[arg(long, default_value_t = 900, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) cubes: u32,
}

/// The frames of a capture of floats.
pub(crate) fn read_capture(path: &Path) -> Result<Vec<Vec<Measured>>, Failure> {
    let mut capture = Challenge::open(path)?;
    let mut frames = Vec::new();
    while let Some(frame) = capture.next_frame()? {
        match frame {
            Frame::Floats(frame) => frames.push(frame.states().collect()),
            Frame::Quantized(_) => return Err(Failure::NeedsFloats { what: "a world to send".to_owned() }),
        }
    }
    Ok(frames)
}

/// A world, and who moves in it.
pub(crate) enum Played {
    /// The cubes, with a scripted player.
    Cubes(Box<World>, Script),
    /// Objects that walk about.
    Crowd(Crowd),
    /// What was captured, frame by frame; at the end it stands still.
    Captured(std::vec::IntoIter<Vec<Measured>>),
}

impl WorldArguments {
    pub(crate) fn frames(&self) -> u32 {
        self.seconds * cubes::TICK_HZ
    }

    /// How a report names this run: the options that make it again.
    pub(crate) fn name(&self) -> String {
        let Self { seconds, seed, style, cubes } = self;
        format!("world --style {style} --seconds {seconds} --seed {seed} --cubes {cubes}")
    }

    pub(crate) fn play(&self) -> Result<Played, Failure> {
        let world = World::new(&Config { cubes: self.cubes })?;
        Ok(Played::Cubes(Box::new(world), Script::new(self.style, self.seed)))
    }
}

impl Played {
    /// The current state into `states`, and a step of the world after it.
    pub(crate) fn next_frame(&mut self, states: &mut Vec<Measured>) {
        match self {
            Self::Captured(frames) => {
                if let Some(frame) = frames.next() {
                    *states = frame;
                }
            }
            Self::Crowd(crowd) => {
                states.clear();
                crowd.next_frame(states);
            }
            Self::Cubes(world, script) => {
                states.clear();
                states.extend(world.bodies().map(|Body { position, orientation, velocity, interacting }| Measured {
                    position,
                    orientation,
                    velocity,
                    interacting,
                }));
                let input = script.next_input(world);
                world.step(input);
            }
        }
    }
}
