//! The ways in which games usually rewind, and how far each is from what the client showed.
//!
//! Each takes the server's own worlds at a moment. The moment is the one that the client drew,
//! which these ways would have to be told too, or it follows from a delay number.

use command_kit::Distribution;
use kinepack::{Between, EntityId, Snapshot};
use serde::Serialize;

use crate::Outcome;
use crate::scene::{HZ, Looks, Point};
use crate::shown::Shown;

const WAYS: usize = 3;

/// The errors of each way.
#[derive(Default)]
pub(crate) struct Approximations {
    errors_cm: [Distribution; WAYS],
    absent: [u64; WAYS],
    /// The number of entities that count.
    moving: u64,
    points: Vec<Point>,
}

/// How far entities are from where the client showed them.
#[derive(Serialize)]
pub(crate) struct Errors {
    pub(crate) mean_cm: f64,
    pub(crate) p95_cm: f64,
    pub(crate) max_cm: f64,
    /// The number of entities that the world does not have at that moment.
    pub(crate) absent: u64,
}

/// The errors of three ways, for the entities that count.
#[derive(Serialize)]
pub(crate) struct Summary {
    pub(crate) moving: u64,
    /// The world of the tick that is nearest to the drawn moment.
    pub(crate) nearest_tick: Errors,
    /// The worlds before and after the drawn moment, interpolated.
    pub(crate) interpolated: Errors,
    /// The same at a moment that the server computes from a delay number.
    pub(crate) by_delay: Errors,
}

impl Approximations {
    /// Adds the errors of a frame. `worlds` are those of the ticks from 1 on that the server had,
    /// and `by_delay` is the moment that it computes. An entity that all ways show exactly rests,
    /// and does not count.
    pub(crate) fn add(
        &mut self,
        shown: &Shown,
        worlds: &[Snapshot],
        by_delay: f64,
        looks: &mut Looks,
    ) -> Outcome<()> {
        for entity in &shown.entities {
            let drawn = shown.points(entity);
            if drawn.is_empty() {
                continue;
            }
            let mut errors_cm = [None; WAYS];
            let moments = [shown.tick.round(), shown.tick, by_delay];
            for (error_cm, moment) in errors_cm.iter_mut().zip(moments) {
                self.points.clear();
                if add_points_at(worlds, moment, entity.id, looks, &mut self.points)? {
                    *error_cm = Some(largest_distance(drawn, &self.points));
                }
            }
            if errors_cm == [Some(0.0); WAYS] {
                continue;
            }
            self.moving += 1;
            for (way, error_cm) in errors_cm.into_iter().enumerate() {
                match error_cm {
                    Some(error_cm) => self.errors_cm[way].add(error_cm),
                    None => self.absent[way] += 1,
                }
            }
        }
        Ok(())
    }

    pub(crate) fn summary(&self) -> Summary {
        let errors = |way: usize| Errors {
            mean_cm: self.errors_cm[way].mean(),
            p95_cm: self.errors_cm[way].percentile(0.95),
            max_cm: self.errors_cm[way].summary().max,
            absent: self.absent[way],
        };
        Summary {
            moving: self.moving,
            nearest_tick: errors(0),
            interpolated: errors(1),
            by_delay: errors(2),
        }
    }
}

/// Appends an entity's points at a moment between two worlds. Returns false if the entity is not
/// there. An entity that is gone in the later world stays where it was.
fn add_points_at(
    worlds: &[Snapshot],
    moment: f64,
    id: EntityId,
    looks: &mut Looks,
    points: &mut Vec<Point>,
) -> Outcome<bool> {
    let moment = moment.clamp(1.0, worlds.len() as f64);
    let before = &worlds[moment as usize - 1];
    let after = worlds.get(moment as usize).unwrap_or(before);
    let Some(at) = before.position(id) else { return Ok(false) };
    let is_same = |to: &usize| {
        after.kind_at(*to) == before.kind_at(at) && after.spawn_hash(*to) == before.spawn_hash(at)
    };
    let from = (before, at);
    let to = after.position(id).filter(is_same).map_or(from, |to| (after, to));
    let between = Between { ratio: moment.fract() as f32, seconds: 1.0 / HZ as f32 };
    looks.add_points(from, to, between, points)?;
    Ok(!points.is_empty())
}

fn largest_distance(one: &[Point], other: &[Point]) -> f64 {
    let distance = |(a, b): (&Point, &Point)| {
        let squares = a.iter().zip(b).map(|(a, b)| f64::from(a - b) * f64::from(a - b));
        squares.sum::<f64>().sqrt()
    };
    one.iter().zip(other).map(distance).fold(0.0, f64::max)
}
