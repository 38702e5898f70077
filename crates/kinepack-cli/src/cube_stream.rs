//! The cube world as it goes over a network: with velocities or without.

use kinepack::{Codec, EncodeError, EntityId, Level, Schema, Snapshot, Tick};
use kinepack_capture::cube::{self, Cube, Measured, SwiftCube};
use kinepack_net::{Mismatch, Sample, VERSION};

/// Which cubes are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CubeStream {
    /// Position, orientation and flag: for many snapshots a second.
    Plain,
    /// Velocity too: for few.
    Swift,
}

/// What is shown of a cube.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown {
    pub(crate) position: [f32; 3],
    pub(crate) orientation: [f32; 4],
}

impl CubeStream {
    pub(crate) fn codec(self) -> Codec {
        let (schema, profile) = match self {
            Self::Plain => (Schema::of::<Cube>(), cube::profile()),
            Self::Swift => (Schema::of::<SwiftCube>(), cube::swift_profile()),
        };
        Codec::new(schema, Level::PACKED, profile).expect("the built-in profiles fit their schemas")
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
            match self {
                Self::Plain => snapshot.push(EntityId(object), &Cube::from(*state))?,
                Self::Swift => snapshot.push(EntityId(object), &SwiftCube::from(*state))?,
            }
        }
        Ok(())
    }

    /// What playback shows of a cube.
    pub(crate) fn shown(self, sample: &Sample<'_>) -> Result<Shown, EncodeError> {
        Ok(match self {
            Self::Plain => {
                let Cube { position, orientation, .. } = sample.state()?;
                Shown { position, orientation }
            }
            Self::Swift => {
                let SwiftCube { position, orientation, .. } = sample.state()?;
                Shown { position, orientation }
            }
        })
    }
}
