//! The worlds that are measured, and how their entities are drawn.

use std::time::Duration;

use cube_data::cube::{self, Cube, Measured, SwiftCube};
use cubes::{Body, Config, Script, Style, World};
use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_net::{Playback, Smoother};

use crate::Outcome;
use crate::game::Game;
use crate::kinds::{self, Crate, Dart, Player};

pub(crate) const HZ: u32 = 60;
pub(crate) const SCENES: [&str; 5] =
    ["typical", "typical, velocities", "push", "push, velocities", "skirmish"];

/// A position in metres, and a rotation if the entity has one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) position: [f32; 3],
    pub(crate) rotation: Option<[f32; 4]>,
}

/// The worlds of a game, tick by tick from tick 1 on.
pub(crate) struct Scene {
    pub(crate) worlds: Vec<Snapshot>,
    pub(crate) codec: Codec,
    /// The places of each world, by id.
    pub(crate) places: Vec<Vec<(EntityId, Place)>>,
}

impl Scene {
    pub(crate) fn new(name: &str, seconds: u32) -> Outcome<Self> {
        let ticks = seconds * HZ;
        let style = if name.starts_with("push") { Style::Push } else { Style::Typical };
        let profile = if name == "skirmish" || name.ends_with("velocities") {
            None
        } else {
            Some(cube::profile())
        };
        let (schema, worlds) = match name {
            "skirmish" => skirmish(ticks)?,
            _ if name.ends_with("velocities") => cubes::<SwiftCube>(style, ticks)?,
            _ => cubes::<Cube>(style, ticks)?,
        };
        let profile = profile.unwrap_or_else(|| Profile::untrained(&schema));
        let codec = Codec::new(schema, Level::ADAPTIVE, profile)?;
        let places = worlds.iter().map(places).collect::<Outcome<_>>()?;
        Ok(Self { worlds, codec, places })
    }

    /// Where an entity truly is at a fractional tick.
    pub(crate) fn truth(&self, tick: f64, id: EntityId) -> Option<Place> {
        let last = self.places.len() as f64;
        let tick = tick.clamp(1.0, last);
        let [from, to] = [tick.floor(), tick.ceil()].map(|tick| {
            let places = &self.places[tick as usize - 1];
            places.binary_search_by_key(&id, |(id, _)| *id).ok().map(|index| places[index].1)
        });
        let (from, to, ratio) = (from?, to?, tick.fract() as f32);
        let blend = |from: f32, to: f32| from + (to - from) * ratio;
        Some(Place {
            position: std::array::from_fn(|axis| blend(from.position[axis], to.position[axis])),
            // Two ticks are so close that the chord is as good as the arc.
            rotation: from.rotation.zip(to.rotation).map(|(from, to)| {
                let dot: f32 = from.iter().zip(to).map(|(from, to)| from * to).sum();
                std::array::from_fn(|axis| blend(from[axis], to[axis] * dot.signum()))
            }),
        })
    }

    /// How the kinds of the scene are drawn.
    pub(crate) fn drawers(&self, fade: Duration) -> Vec<Box<dyn Draw>> {
        fn of<T: Placed>(fade: Duration) -> Box<dyn Draw> {
            Box::new(Drawer::<T>(Smoother::new(fade)))
        }
        match self.codec.schema().kinds().len() {
            1 if self.worlds[0].kind_of_type::<Cube>().is_ok() => vec![of::<Cube>(fade)],
            1 => vec![of::<SwiftCube>(fade)],
            _ => vec![of::<Player>(fade), of::<Crate>(fade), of::<Dart>(fade)],
        }
    }
}

fn cubes<T: Placed + From<Measured>>(style: Style, ticks: u32) -> Outcome<(Schema, Vec<Snapshot>)> {
    let schema = Schema::of::<T>();
    let mut world = World::new(&Config::default())?;
    let mut script = Script::new(style, 1);
    let mut worlds = Vec::new();
    for tick in 1..=ticks {
        let input = script.next_input(&world);
        world.step(input);
        let mut snapshot = Snapshot::new(&schema, Tick(tick));
        for (id, body) in world.bodies() {
            let Body { position, orientation, velocity, interacting } = body;
            let measured = Measured { position, orientation, velocity, interacting };
            snapshot.push(EntityId(id), &T::from(measured))?;
        }
        worlds.push(snapshot);
    }
    Ok((schema, worlds))
}

fn skirmish(ticks: u32) -> Outcome<(Schema, Vec<Snapshot>)> {
    let schema = kinds::schema()?;
    let mut game = Game::warmed_up(2)?;
    let world = |tick| -> Outcome<Snapshot> {
        game.step();
        Ok(game.world(&schema, Tick(tick))?)
    };
    let worlds = (1..=ticks).map(world).collect::<Outcome<_>>()?;
    Ok((schema, worlds))
}

/// The places of all entities that have one, by id.
fn places(world: &Snapshot) -> Outcome<Vec<(EntityId, Place)>> {
    fn add<T: Placed>(world: &Snapshot, places: &mut Vec<(EntityId, Place)>) -> Outcome<()> {
        let Ok(kind) = world.kind_of_type::<T>() else { return Ok(()) };
        for index in world.of_kind(kind) {
            let id = world.ids()[index];
            let state: T = world.get(id)?.ok_or("an id without an entity")?;
            places.push((id, state.place()));
        }
        Ok(())
    }
    let mut places = Vec::new();
    add::<Cube>(world, &mut places)?;
    add::<SwiftCube>(world, &mut places)?;
    add::<Player>(world, &mut places)?;
    add::<Crate>(world, &mut places)?;
    add::<Dart>(world, &mut places)?;
    places.sort_unstable_by_key(|(id, _)| *id);
    Ok(places)
}

/// An entity as it is drawn.
pub(crate) struct Drawn {
    pub(crate) id: EntityId,
    /// As the smoother shows it.
    pub(crate) smooth: Place,
    /// As the sample is.
    pub(crate) sample: Place,
    /// The newest state, if the sample continues it.
    pub(crate) held: Option<Place>,
}

/// Draws the entities of a kind.
pub(crate) trait Draw {
    fn draw(&mut self, now: Duration, playback: &Playback<'_>, all: &mut Vec<Drawn>)
    -> Outcome<()>;
}

struct Drawer<T>(Smoother<T>);

impl<T: Placed> Draw for Drawer<T> {
    fn draw(
        &mut self,
        now: Duration,
        playback: &Playback<'_>,
        all: &mut Vec<Drawn>,
    ) -> Outcome<()> {
        let Self(smoother) = self;
        smoother.begin(now);
        for sample in playback.samples_of::<T>()? {
            let is_beyond = sample.between.ratio > 1.0;
            let held = is_beyond.then(|| sample.to.0.get::<T>(sample.id)).transpose()?.flatten();
            all.push(Drawn {
                id: sample.id,
                smooth: smoother.state(playback, &sample)?.place(),
                sample: sample.state::<T>()?.place(),
                held: held.map(|state| state.place()),
            });
        }
        Ok(())
    }
}

pub(crate) trait Placed: Pack + Clone {
    fn place(&self) -> Place;
}

macro_rules! placed {
    ($($type:ty: $rotation:expr;)*) => {$(
        impl Placed for $type {
            fn place(&self) -> Place {
                let rotation: fn(&Self) -> Option<[f32; 4]> = $rotation;
                Place { position: self.position, rotation: rotation(self) }
            }
        }
    )*};
}

placed! {
    Cube: |cube| Some(cube.orientation);
    SwiftCube: |cube| Some(cube.orientation);
    Player: |player| Some(player.rotation);
    Crate: |of| Some(of.rotation);
    Dart: |_| None;
}
