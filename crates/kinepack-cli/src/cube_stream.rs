//! The cube world as it goes over a network: with velocities or without, packed or adaptive.

use clap::{Args, ValueEnum};
use kinepack::{Codec, EncodeError, EntityId, Level, Schema, Snapshot, Tick};
use kinepack_capture::cube::{self, Cube, Measured, SwiftCube};
use kinepack_net::{Mismatch, Sample, VERSION};

/// What is sent of the cubes, and how: both sides must say the same.
#[derive(Args, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CubeStream {
    /// Send velocities too, so that playback follows curves: for few snapshots a second. Server and joiner must agree.
    #[arg(long)]
    velocities: bool,
    /// How snapshots are coded: packed takes the least work, adaptive the fewest bits. Server and joiner must agree.
    #[arg(long, value_enum, default_value_t = SentLevel::Packed)]
    level: SentLevel,
}

/// The levels that are fit for a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SentLevel {
    Packed,
    Adaptive,
}

/// What is shown of a cube.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown {
    pub(crate) position: [f32; 3],
    pub(crate) orientation: [f32; 4],
}

impl CubeStream {
    pub(crate) fn codec(self) -> Codec {
        let (schema, profile) = if self.velocities {
            (Schema::of::<SwiftCube>(), cube::swift_profile())
        } else {
            (Schema::of::<Cube>(), cube::profile())
        };
        Codec::new(schema, self.level(), profile).expect("the built-in profiles fit their schemas")
    }

    fn level(self) -> Level {
        match self.level {
            SentLevel::Packed => Level::PACKED,
            SentLevel::Adaptive => Level::ADAPTIVE,
        }
    }

    /// How a report names it, as options; empty where nothing was asked for.
    pub(crate) fn name(self) -> String {
        let mut name = String::new();
        if self.velocities {
            name.push_str(" --velocities");
        }
        if self.level != SentLevel::Packed {
            name.push_str(&format!(" --level {}", self.level().name));
        }
        name
    }

    /// This side's value of what differs.
    pub(crate) fn own_hash(self, mismatch: &Mismatch) -> u64 {
        let codec = self.codec();
        match mismatch {
            Mismatch::Schema { .. } => codec.schema().hash(),
            Mismatch::Codec { .. } => codec.hash(),
            Mismatch::Initial { .. } => Snapshot::new(codec.schema(), Tick(0)).state_hash(),
            _ => u64::from(VERSION),
        }
    }

    /// Quantizes all cubes into `snapshot`.
    pub(crate) fn quantize(self, states: &[Measured], tick: Tick, snapshot: &mut Snapshot) -> Result<(), EncodeError> {
        snapshot.clear(tick);
        for (object, state) in (0..).zip(states) {
            if self.velocities {
                snapshot.push(EntityId(object), &SwiftCube::from(*state))?;
            } else {
                snapshot.push(EntityId(object), &Cube::from(*state))?;
            }
        }
        Ok(())
    }

    /// What playback shows of a cube.
    pub(crate) fn shown(self, sample: &Sample<'_>) -> Result<Shown, EncodeError> {
        Ok(if self.velocities {
            let SwiftCube { position, orientation, .. } = sample.state()?;
            Shown { position, orientation }
        } else {
            let Cube { position, orientation, .. } = sample.state()?;
            Shown { position, orientation }
        })
    }
}
