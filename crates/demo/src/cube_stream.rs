//! The cube world as it is sent: with velocities or without, at one of the levels that can be sent.

use clap::{ArgAction, Args};
use command_kit::SentLevel;
use command_kit::cube_precision::Precision;
use cube_data::cube::{self, Cube, SwiftCube};
use cubes::FIRST_GUEST;
use kinepack::{Codec, EncodeError, EntityId, Profile, Schema, Snapshot, Tick};
use kinepack_capture::levels;
use kinepack_net::{Mismatch, Sample, VERSION};

use crate::session_error::SessionError;
use crate::states::States;

/// Options of the cubes' schema and codec. Server and joiner need the same ones, except that a
/// joiner names one of the server's levels.
#[derive(Args, Clone, Debug, PartialEq)]
pub struct CubeStream {
    /// Send velocities too, so that playback follows curves. This is for low send rates. A server
    /// and its joiners must agree.
    #[arg(long)]
    velocities: bool,
    /// How snapshots are coded: packed takes the least work, and adaptive few bits. Learning takes
    /// the fewest if play differs from what the profile was trained on, but then receivers that
    /// lost different packets share no work. Rows 7 to 11 of the ladder, by name or number, show
    /// what each stage gains.
    // Exactly one, except that `serve` allows several.
    #[arg(long, action = ArgAction::Set, default_values_t = [SentLevel::PACKED], value_parser = SentLevel::named, value_name = "LEVEL")]
    level: Vec<SentLevel>,
    /// Server and joiner must agree.
    #[command(flatten)]
    precision: Precision,
}

/// A cube as playback shows it.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    pub id: EntityId,
    pub position: [f32; 3],
    pub orientation: [f32; 4],
    pub interacting: bool,
}

impl CubeStream {
    /// The same stream at another level.
    pub fn at(&self, level: SentLevel) -> Self {
        Self { level: vec![level], ..self.clone() }
    }

    /// The first level.
    pub fn level(&self) -> SentLevel {
        self.level[0]
    }

    /// The first level's codec.
    pub fn codec(&self) -> Codec {
        self.codec_at(self.level[0])
    }

    /// A codec for each level.
    pub fn codecs(&self) -> impl Iterator<Item = Codec> {
        self.level.iter().map(|level| self.codec_at(*level))
    }

    fn codec_at(&self, level: SentLevel) -> Codec {
        let (schema, profile) = if self.velocities {
            (Schema::of::<SwiftCube>(), cube::swift_profile())
        } else {
            (Schema::of::<Cube>(), with_players(self.precision.profile()))
        };
        Codec::new(self.precision.of(schema), level.row(), profile)
            .expect("the built-in profiles fit their schemas")
    }

    /// The options as a report names them. Empty for the defaults.
    pub fn name(&self) -> String {
        let mut name = String::new();
        if self.velocities {
            name.push_str(" --velocities");
        }
        if self.level != [SentLevel::PACKED] {
            let levels: Vec<&str> =
                self.level.iter().map(|level| levels::name(level.row())).collect();
            name.push_str(&format!(" --level {}", levels.join(",")));
        }
        name + &self.precision.name()
    }

    /// This side's value of the hash or version that differs.
    pub fn own_hash(&self, mismatch: &Mismatch) -> u64 {
        let codec = self.codec();
        match mismatch {
            Mismatch::Schema { .. } => codec.schema().hash(),
            Mismatch::Codec { .. } => codec.hash(),
            Mismatch::Initial { .. } => Snapshot::new(codec.schema(), Tick(0)).state_hash(),
            _ => u64::from(VERSION),
        }
    }

    /// Quantizes all cubes into `snapshot`.
    pub fn quantize(
        &self,
        states: &States,
        tick: Tick,
        snapshot: &mut Snapshot,
    ) -> Result<(), SessionError> {
        snapshot.clear(tick);
        for (id, state) in states.iter() {
            let pushed = if self.velocities {
                snapshot.push(id, &SwiftCube::from(*state))
            } else {
                snapshot.push(id, &Cube::from(*state))
            };
            pushed.map_err(|error| SessionError::OutOfRange {
                object: id.0,
                reason: error.to_string(),
            })?;
        }
        Ok(())
    }

    /// The position of the body at `index` of a snapshot. `None` if the snapshot has another
    /// schema.
    pub fn position(&self, snapshot: &Snapshot, index: usize) -> Option<[f32; 3]> {
        if self.velocities {
            snapshot.get_at_index::<SwiftCube>(index).ok().map(|cube| cube.position)
        } else {
            snapshot.get_at_index::<Cube>(index).ok().map(|cube| cube.position)
        }
    }

    /// Reconstructs a cube from playback.
    pub fn shown(&self, sample: &Sample<'_>) -> Result<Shown, EncodeError> {
        let id = sample.id;
        Ok(if self.velocities {
            let SwiftCube { position, orientation, interacting, .. } = sample.state()?;
            Shown { id, position, orientation, interacting }
        } else {
            let Cube { position, orientation, interacting } = sample.state()?;
            Shown { id, position, orientation, interacting }
        })
    }
}

/// The trained profile knows only the first player. This adds the other players' ids to it. The ids
/// are the same in all worlds, so both sides know them before anything is sent.
fn with_players(mut profile: Profile) -> Profile {
    if let Some(model) = &mut profile.model {
        let mut kind_of_ids =
            model.bodies().map(|bodies| bodies.kind_of_ids.clone()).unwrap_or_default();
        if let Some((_, kind)) = kind_of_ids.first().copied() {
            kind_of_ids.push((FIRST_GUEST, kind));
            model.set_kind_of_ids(kind_of_ids);
        }
    }
    profile
}
