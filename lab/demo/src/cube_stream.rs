//! The cube world in the form in which it is sent: players and cubes, with or without velocities,
//! at one of the available levels.

use clap::{ArgAction, Args};
use command_kit::SentLevel;
use command_kit::cube_precision::Precision;
use cube_data::cube::{self, Cube, Measured, Player, SwiftCube, SwiftPlayer};
use cubes::{FIRST_GUEST, is_player};
use kinepack::{Codec, EncodeError, EntityId, Pack, Profile, Schema, SetupError, Snapshot, Tick};
use kinepack_net::{Mismatch, Sample};

use crate::session_error::SessionError;
use crate::states::States;

/// The kinds of entities, by their number in the schema.
const PLAYER: usize = 0;
pub const CUBE: usize = 1;

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
    // The list has exactly one level, except that `serve` allows several.
    #[arg(long, action = ArgAction::Set, default_values_t = [SentLevel::PACKED], value_parser = SentLevel::named, value_name = "LEVEL")]
    level: Vec<SentLevel>,
    /// Server and joiner must agree.
    #[command(flatten)]
    precision: Precision,
}

/// Returns the hashes of all schemas of the cube world, live or recorded.
pub fn schema_hashes() -> Vec<u64> {
    let recorded = cube::schema(cube::Quantized::Everything);
    let live = [cube::players_and_cubes(), cube::swift_players_and_cubes()];
    live.into_iter().flatten().chain([recorded]).map(|schema| schema.hash()).collect()
}

/// A cube in the state in which playback shows it.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    pub id: EntityId,
    pub position: [f32; 3],
    pub orientation: [f32; 4],
    pub interacting: bool,
}

impl CubeStream {
    /// Returns the same stream, but at another level.
    pub fn at(&self, level: SentLevel) -> Self {
        Self { level: vec![level], ..self.clone() }
    }

    /// Returns the first level.
    pub fn level(&self) -> SentLevel {
        self.level[0]
    }

    /// Returns the first level's codec.
    pub fn codec(&self) -> Codec {
        self.codec_at(self.level[0])
    }

    /// Returns a codec for each level.
    pub fn codecs(&self) -> impl Iterator<Item = Codec> {
        self.level.iter().map(|level| self.codec_at(*level))
    }

    fn codec_at(&self, level: SentLevel) -> Codec {
        self.try_codec_at(level).expect("the built-in profiles fit their schemas")
    }

    fn try_codec_at(&self, level: SentLevel) -> Result<Codec, SetupError> {
        let (cubes, profile, schema) = if self.velocities {
            (Schema::of::<SwiftCube>(), cube::swift_profile(), cube::swift_players_and_cubes()?)
        } else {
            (Schema::of::<Cube>(), self.precision.profile(), cube::players_and_cubes()?)
        };
        let profile = with_players(profile.carried(&cubes, &schema)?);
        Codec::new(self.precision.apply_to(schema), level.row(), profile)
    }

    /// Returns the options as text for a report. The text is empty for the defaults.
    pub fn name(&self) -> String {
        let mut name = String::new();
        if self.velocities {
            name.push_str(" --velocities");
        }
        if self.level != [SentLevel::PACKED] {
            let levels: Vec<&str> = self.level.iter().map(|level| level.row().name()).collect();
            name.push_str(&format!(" --level {}", levels.join(",")));
        }
        name + &self.precision.name()
    }

    /// Describes how a server differs from this side.
    pub fn describe(&self, mismatch: &Mismatch) -> String {
        let codec = self.codec();
        let own_hash = match mismatch {
            Mismatch::Codec { .. } => codec.hash(),
            Mismatch::Initial { .. } => Snapshot::new(codec.schema(), Tick(0)).state_hash(),
            _ => return mismatch.describe(codec.schema()),
        };
        format!("{mismatch}, this side's is {own_hash:016x}")
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
            let pushed = match (self.velocities, is_player(id.0)) {
                (false, true) => snapshot.push(id, &Player::from(*state)),
                (false, false) => snapshot.push(id, &Cube::from(*state)),
                (true, true) => snapshot.push(id, &SwiftPlayer::from(*state)),
                (true, false) => snapshot.push(id, &SwiftCube::from(*state)),
            };
            pushed.map_err(|error| SessionError::OutOfRange {
                object: id.0,
                reason: error.to_string(),
            })?;
        }
        Ok(())
    }

    /// Checks that states can be sent. If not, returns the index of the first state that cannot be
    /// sent, and the reason.
    pub fn check(&self, states: &[Measured]) -> Result<(), (usize, EncodeError)> {
        // Players and cubes have the same fields.
        let mut lanes = [0; SwiftCube::LANES];
        states.iter().enumerate().try_for_each(|(index, state)| {
            let checked = match self.velocities {
                false => Cube::from(*state).quantize(&mut lanes[..Cube::LANES]),
                true => SwiftCube::from(*state).quantize(&mut lanes),
            };
            checked.map_err(|error| (index, error))
        })
    }

    /// Returns the position of the body at `index` of a snapshot, or `None` if the snapshot has
    /// another schema.
    pub fn position(&self, snapshot: &Snapshot, index: usize) -> Option<[f32; 3]> {
        self.cube(&(snapshot, index)).ok().map(|cube| cube.position)
    }

    /// Reconstructs a cube from playback.
    pub fn shown(&self, sample: &Sample<'_>) -> Result<Shown, EncodeError> {
        let Cube { position, orientation, interacting } = self.cube(sample)?;
        Ok(Shown { id: sample.id, position, orientation, interacting })
    }

    /// Returns the fields that a body of any kind has in common with a cube.
    fn cube(&self, body: &impl Body) -> Result<Cube, EncodeError> {
        Ok(match (self.velocities, body.kind() == Some(PLAYER)) {
            (false, true) => body.state::<Player>()?.into(),
            (false, false) => body.state()?,
            (true, true) => SwiftCube::from(body.state::<SwiftPlayer>()?).into(),
            (true, false) => body.state::<SwiftCube>()?.into(),
        })
    }
}

/// A body of any kind.
trait Body {
    fn kind(&self) -> Option<usize>;
    fn state<T: Pack>(&self) -> Result<T, EncodeError>;
}

/// A body of a snapshot, given by its index.
impl Body for (&Snapshot, usize) {
    fn kind(&self) -> Option<usize> {
        self.0.kind_at(self.1)
    }

    fn state<T: Pack>(&self) -> Result<T, EncodeError> {
        self.0.get_at_index(self.1)
    }
}

impl Body for Sample<'_> {
    fn kind(&self) -> Option<usize> {
        self.from.kind()
    }

    fn state<T: Pack>(&self) -> Result<T, EncodeError> {
        Sample::state(self)
    }
}

/// The trained profile knows only the first player. This function adds the other players' ids to
/// it. The ids are the same in all worlds, so both sides know them before anything is sent.
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
