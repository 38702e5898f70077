//! The worlds that are measured: cubes, the game of `skirmish`, and live bodies.
//!
//! A scene has a world for each tick, and finds the points of an entity whose errors count: the
//! centre of a cube, a player or a dart, and all joints of a body.

use std::path::PathBuf;
use std::sync::Arc;

use comparisons::runs::simulated;
use cube_data::cube::{self, Cube};
use cubes::Style;
use kinepack::schema::{Field, Role, TimePrecision};
use kinepack::{Between, Codec, EntityId, Level, Profile, Schema, Snapshot, Tick};
use kinepack_anim::figure::{Figure, FigureOptions, FigurePose};
use kinepack_anim::live::ClipSource;
use kinepack_anim::{RawClip, Skeleton, Transform};
use kinepack_net::{Ring, Rings};

use crate::game::Game;
use crate::kinds::{self, Crate, Dart, FIRST_PLAYER, Player};
use crate::{Outcome, recordings, walks};

pub(crate) const HZ: u32 = 60;
const BODIES: u32 = 12;
/// The distance between two bodies, and the time by which each begins later than the one before.
const APART_CM: f32 = 300.0;
const LATER_S: f64 = 0.7;

/// An entity in a world, by its index.
pub(crate) type Row<'a> = (&'a Snapshot, usize);
/// A point in the world, in cm.
pub(crate) type Point = [f32; 3];

/// How entities look.
pub(crate) enum Looks {
    Cubes,
    Skirmish,
    Bodies(Box<Bodies>),
}

pub(crate) struct Bodies {
    figure: Figure,
    skeleton: Arc<Skeleton>,
    pose: Vec<Transform>,
    model: Vec<Transform>,
}

/// The worlds of a game, tick by tick from tick 1 on.
pub(crate) struct Scene {
    pub(crate) worlds: Vec<Snapshot>,
    pub(crate) schema: Schema,
    pub(crate) looks: Looks,
    /// The entity from which the client looks.
    pub(crate) viewer: EntityId,
    /// The kinds that need not be sent in each tick, and in which ticks they are sent instead.
    pub(crate) slow_kinds: &'static [(&'static str, u32)],
    /// How far the first ring reaches, in the units of positions.
    near: f64,
}

impl Scene {
    /// The cubes of the built-in world.
    pub(crate) fn cubes(style: Style, ticks: u32) -> Outcome<Self> {
        let worlds = simulated(style)?.skip(1).take(ticks as usize);
        let (viewer, slow_kinds, near) = (EntityId(0), &[][..], 4.0);
        let (schema, looks) = (Schema::of::<Cube>(), Looks::Cubes);
        Ok(Self {
            worlds: worlds.collect::<Outcome<_>>()?,
            schema,
            looks,
            viewer,
            slow_kinds,
            near,
        })
    }

    /// Five kinds of entities.
    pub(crate) fn skirmish(ticks: u32) -> Outcome<Self> {
        let schema = kinds::schema()?;
        let mut game = Game::warmed_up(2)?;
        let world = |tick| -> Outcome<Snapshot> {
            game.step();
            Ok(game.world(&schema, Tick(tick))?)
        };
        let worlds = (1..=ticks).map(world).collect::<Outcome<_>>()?;
        let slow_kinds = &[("crate", 4), ("door", 8), ("pickup", 8)][..];
        let (looks, viewer, near) = (Looks::Skirmish, EntityId(FIRST_PLAYER), 8.0);
        Ok(Self { worlds, schema, looks, viewer, slow_kinds, near })
    }

    /// Live bodies that walk to and fro: each plays a clip forwards and backwards. Without files,
    /// the clips are walks from formulas.
    pub(crate) fn bodies(ticks: u32, files: &[PathBuf]) -> Outcome<Self> {
        let mut clips = Vec::new();
        for file in files {
            clips.extend(recordings::clips(file, &[], None)?);
        }
        if clips.is_empty() {
            clips = walks::clips(1)?;
        }
        let skeleton = clips[0].skeleton().clone();
        if clips.iter().any(|clip| clip.skeleton().hash() != skeleton.hash()) {
            return Err("the files have several skeletons".into());
        }
        let mut figure = Figure::new(&skeleton, &FigureOptions::default())?;
        let schema = Schema::builder().kind_of_fields("body", figure.fields()).build()?;
        let clips: Vec<ToAndFro> = clips.into_iter().map(ToAndFro::new).collect();
        let (mut pose, mut worlds) = (skeleton.bind_pose(), Vec::new());
        for tick in 1..=ticks {
            let mut world = Snapshot::new(&schema, Tick(tick));
            for id in 0..BODIES {
                let time_s = f64::from(tick) / f64::from(HZ) + f64::from(id) * LATER_S;
                clips[id as usize % clips.len()].sample(time_s, &mut pose);
                pose[0].translation[0] += APART_CM * id as f32;
                figure.push(&mut world, 0, EntityId(id), &FigurePose::new(&pose))?;
            }
            worlds.push(world);
        }
        let model = skeleton.bind_pose();
        let looks = Looks::Bodies(Box::new(Bodies { figure, skeleton, pose, model }));
        let (viewer, slow_kinds, near) = (EntityId(0), &[][..], 500.0);
        Ok(Self { worlds, schema, looks, viewer, slow_kinds, near })
    }

    /// The codec, with a time precision if one is given.
    pub(crate) fn codec(&self, level: Level, precision_ms: Option<f64>) -> Outcome<Codec> {
        let precision = precision_ms.map(|ms| TimePrecision::new(ms, HZ.into()));
        let is_motion = |field: &Field| match self.looks {
            Looks::Bodies(_) => true,
            _ => field.role == Role::Body || field.name.ends_with("position"),
        };
        let schema = self.schema.clone().with_time_precision(|field| {
            precision.filter(|_| is_motion(field) && field.takes_time_precision())
        });
        let profile = match self.looks {
            Looks::Cubes if precision.is_some() => cube::coarse_profile(),
            Looks::Cubes => cube::profile(),
            Looks::Skirmish => Profile::untrained(&schema),
            Looks::Bodies(_) => Figure::profile(&schema),
        };
        Ok(Codec::new(schema, level, profile)?)
    }

    /// Rings around the viewer, in which far entities take turns.
    pub(crate) fn rings(&self) -> Rings {
        let is_position =
            |name: &str| ["position", "translation"].iter().any(|end| name.ends_with(end));
        let names = self.schema.kinds().iter().filter_map(|kind| {
            let field = self.schema.fields()[kind.fields()]
                .iter()
                .find(|field| is_position(&field.name))?;
            let is_only = kind.name().is_empty();
            Some(if is_only {
                field.name.clone()
            } else {
                format!("{}.{}", kind.name(), field.name)
            })
        });
        rings(names.collect(), self.near)
    }

    /// Where the viewer is in the world of a tick, in the units of positions.
    pub(crate) fn viewpoint(&mut self, tick: u32) -> Outcome<Option<[f64; 3]>> {
        let mut points = Vec::new();
        let world = &self.worlds[tick as usize - 1];
        let Some(at) = world.position(self.viewer) else { return Ok(None) };
        let here = Between { ratio: 0.0, seconds: 0.0 };
        self.looks.add_points((world, at), (world, at), here, &mut points)?;
        let is_metres = !matches!(self.looks, Looks::Bodies(_));
        let unit_cm = if is_metres { 100.0 } else { 1.0 };
        Ok(points.first().map(|point| point.map(|cm| f64::from(cm) / unit_cm)))
    }
}

impl Looks {
    /// Appends the points of an entity between two states. There are none for doors and pickups.
    pub(crate) fn add_points(
        &mut self,
        from: Row<'_>,
        to: Row<'_>,
        at: Between,
        points: &mut Vec<Point>,
    ) -> Outcome<()> {
        let ((before, index), (after, to_index)) = (from, to);
        macro_rules! position {
            ($kind:ty) => {
                before.interpolate_at_index::<$kind>(index, after, to_index, at)?.position
            };
        }
        let metres = match self {
            Self::Cubes => position!(Cube),
            Self::Skirmish => match before.kind_at(index) {
                Some(0) => position!(Player),
                Some(1) => position!(Crate),
                Some(2) => position!(Dart),
                _ => return Ok(()),
            },
            Self::Bodies(bodies) => {
                let Bodies { figure, skeleton, pose, model } = &mut **bodies;
                figure.interpolate(from, to, at, &mut pose[..]);
                skeleton.model_pose(pose, model);
                points.extend(model.iter().map(|joint| joint.translation));
                return Ok(());
            }
        };
        points.push(metres.map(|metres| metres * 100.0));
        Ok(())
    }
}

/// A ring of each tick, one of each second tick, and a last one without an end.
pub(crate) fn rings(positions: Vec<String>, near: f64) -> Rings {
    let ring =
        |within: f64, every| Ring { within, leave: within * 1.1, every, tier: 0, coarser: 0 };
    Rings {
        positions,
        urgent: Vec::new(),
        rings: vec![ring(near, 1), ring(near * 3.0, 2), ring(near * 1_000.0, 8)],
        beyond: None,
        cell: near / 2.0,
        exact_after: None,
    }
}

/// A clip that plays forwards and backwards, so that its root never jumps.
struct ToAndFro {
    source: ClipSource,
    length_s: f64,
}

impl ToAndFro {
    fn new(clip: RawClip) -> Self {
        let length_s = (clip.samples() - 1) as f64 / f64::from(clip.rate_hz());
        Self { source: ClipSource::new(clip, false), length_s }
    }

    fn sample(&self, time_s: f64, pose: &mut Vec<Transform>) {
        let part_s = time_s % (2.0 * self.length_s);
        // At the end of a clip, the source returns false and the last pose.
        self.source.sample(part_s.min(2.0 * self.length_s - part_s), pose, &mut Vec::new());
    }
}
