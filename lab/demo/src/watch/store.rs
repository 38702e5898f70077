//! The replay that a page watches. A store gives its description, the world at a moment, and the
//! size of each frame.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use command_kit::bodies::{Bodies, Pose};
use cube_data::cube::Measured;
use cubes::{CUBE_EDGE_M, PLAYER_EDGE_M};
use kinepack::{Schema, Snapshot, Tick};
use kinepack_cli::open_replay;
use kinepack_replay::{ReplayError, ReplayReader};
use serde::Serialize;

use super::WatchError;
use crate::cube_stream;
use crate::demo::page::world::WorldMessage;

/// The edge of a body whose size is not known, as a fraction of half the floor's width.
const EDGE_RATIO: f32 = 1.0 / 40.0;
/// The smallest half width of the floor.
const LEAST_HALF_WIDTH_M: f32 = 1.0;

/// A replay that several pages watch.
pub(super) struct Store {
    file: String,
    player: Mutex<Player>,
    /// This second reader serves sizes and the description, so that `player` keeps the groups
    /// around the shown moment loaded.
    sizes: Mutex<ReplayReader>,
    stage: Stage,
}

struct Player {
    replay: ReplayReader,
    bodies: Bodies,
}

/// The size of the scene that the page draws.
#[derive(Clone, Copy)]
struct Stage {
    half_width_m: f32,
    cube_edge_m: f32,
    player_edge_m: f32,
}

/// The facts about the replay that the page loads first.
#[derive(Serialize)]
pub(super) struct Description {
    program: &'static str,
    file: String,
    name: String,
    level: &'static str,
    rate_hz: f64,
    /// The first and the last tick. JSON has `null` here if the replay has no frame.
    ticks: Option<[u32; 2]>,
    bodies: usize,
    half_width_m: f32,
    cube_edge_m: f32,
    player_edge_m: f32,
    /// The size of the whole file in bytes.
    bytes: u64,
    /// The first tick of each group, and the group's size in bytes.
    groups: Vec<(u32, u64)>,
    markers: Vec<(u32, String)>,
    info: Vec<(String, String)>,
    is_complete: bool,
    damage: Vec<String>,
}

impl Store {
    pub(super) fn open(file: &Path) -> Result<Self, WatchError> {
        let failed = |error| WatchError::Replay { path: file.to_owned(), error };
        let open = || open_replay(file).map_err(failed);
        let (mut replay, sizes) = (open()?, open()?);
        let mut bodies = Bodies::new(replay.schema());
        if bodies.is_empty() {
            return Err(WatchError::NoBodies { path: file.to_owned() });
        }
        let first = replay.first_frame().map_err(failed)?;
        let stage = match first {
            Some(first) => Stage::of(replay.schema(), &mut bodies, &first),
            None => Stage::with_edge(LEAST_HALF_WIDTH_M),
        };
        Ok(Self {
            file: file.display().to_string(),
            player: Mutex::new(Player { replay, bodies }),
            sizes: Mutex::new(sizes),
            stage,
        })
    }

    /// Describes the replay with the groups that have been written until now.
    pub(super) fn describe(&self) -> Result<Description, ReplayError> {
        let damage: Vec<String> = {
            let replay = &mut lock(&self.player).replay;
            replay.refresh()?;
            replay.damage().iter().map(ToString::to_string).collect()
        };
        let mut replay = lock(&self.sizes);
        replay.refresh()?;
        let ticks = replay.ticks()?;
        let bodies = match ticks {
            Some((first, _)) => replay.frame_at(first)?.map_or(0, |frame| frame.len()),
            None => 0,
        };
        let Stage { half_width_m, cube_edge_m, player_edge_m } = self.stage;
        Ok(Description {
            program: concat!("kinepack ", env!("CARGO_PKG_VERSION")),
            file: self.file.clone(),
            name: replay.name().to_owned(),
            level: replay.codec().level().name(),
            rate_hz: replay.rate_hz(),
            ticks: ticks.map(|(first, last)| [first.0, last.0]),
            bodies,
            half_width_m,
            cube_edge_m,
            player_edge_m,
            bytes: replay.file_bytes()?,
            groups: replay.group_sizes().map(|(tick, bytes)| (tick.0, bytes)).collect(),
            markers: replay.markers().iter().map(|of| (of.tick.0, of.name.clone())).collect(),
            info: replay.info().iter().map(|(key, value)| (key.clone(), value.clone())).collect(),
            is_complete: replay.is_complete(),
            damage,
        })
    }

    /// Returns the world at moment `tick`, or `None` if the replay has no frame.
    pub(super) fn world(&self, tick: f64) -> Result<Option<Bytes>, ReplayError> {
        let mut player = lock(&self.player);
        let Player { replay, bodies } = &mut *player;
        let Some(playback) = replay.playback(tick)? else { return Ok(None) };
        let mut list = Vec::new();
        for sample in playback.samples() {
            let (state, index) = sample.from;
            let kind = state.kind_at(index).unwrap_or(0);
            let pose = bodies.kinds[kind].pose((state, index), sample.to, sample.between)?;
            list.push(measured(&pose));
        }
        Ok(Some(WorldMessage::new(0, playback.tick, &list).bytes))
    }

    /// Returns the tick and the size in bytes of each frame of `group`. Returns `None` if the
    /// replay has no such group.
    pub(super) fn frames(&self, group: usize) -> Result<Option<Vec<(u32, usize)>>, ReplayError> {
        let sizes = lock(&self.sizes).frame_sizes(group)?;
        let plain = |(tick, bytes): (Tick, usize)| (tick.0, bytes);
        Ok(sizes.map(|sizes| sizes.into_iter().map(plain).collect()))
    }
}

impl Stage {
    fn of(schema: &Schema, bodies: &mut Bodies, first: &Snapshot) -> Self {
        let half_width_m = bodies.half_width_m(first) as f32;
        match cube_stream::schema_hashes().contains(&schema.hash()) {
            true => Self {
                half_width_m: half_width_m.ceil() + CUBE_EDGE_M,
                cube_edge_m: CUBE_EDGE_M,
                player_edge_m: PLAYER_EDGE_M,
            },
            false => Self::with_edge(half_width_m * 1.25),
        }
    }

    fn with_edge(half_width_m: f32) -> Self {
        let edge_m = half_width_m * EDGE_RATIO;
        Self { half_width_m, cube_edge_m: edge_m, player_edge_m: edge_m }
    }
}

fn measured(pose: &Pose) -> Measured {
    Measured {
        position: pose.position.map(|number| number as f32),
        orientation: pose.rotation.map(|number| number as f32),
        velocity: [0.0; 3],
        interacting: pose.is_touched,
    }
}

/// Locks `mutex`, even after a panic under the lock. Such a panic does no harm, because every call
/// finds its place anew.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use kinepack::{Codec, EntityId, Level, Pack, Profile};
    use kinepack_replay::{ReplayOptions, ReplayWriter};

    use super::*;

    #[derive(Pack)]
    struct Mote {
        #[pack(range = -16.0..16.0, precision = 0.5)]
        position: [f32; 3],
    }

    #[test]
    fn a_replay_of_more_than_65_536_bodies_is_shown() {
        const BODIES: u32 = 65_600;
        let file = tempfile::NamedTempFile::new().unwrap();
        let schema = Schema::of::<Mote>();
        let profile = Profile::untrained(&schema);
        let codec = Codec::new(schema.clone(), Level::PACKED, profile).unwrap();
        let options = ReplayOptions::at_hz(60.0);
        let mut writer = ReplayWriter::to_writer(file.as_file(), &codec, &options).unwrap();
        let mut world = Snapshot::new(&schema, Tick(1));
        for id in 0..BODIES {
            world.push(EntityId(id), &Mote { position: [1.0; 3] }).unwrap();
        }
        writer.write(&world).unwrap();
        writer.finish().unwrap();
        let store = Store::open(file.path()).unwrap();
        let described = store.describe().unwrap();
        assert_eq!((described.bodies, described.damage.len()), (BODIES as usize, 0));
        assert!(store.world(1.0).unwrap().unwrap().len() > 32 * BODIES as usize);
    }
}
