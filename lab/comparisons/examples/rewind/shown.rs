//! What a client showed in a frame, to the bit.

use std::ops::Range;

use kinepack::{Between, EntityId};
use kinepack_net::Sample;

use crate::Outcome;
use crate::scene::{Looks, Point};

/// All samples of a frame.
#[derive(Default)]
pub(crate) struct Shown {
    /// The moment, as a tick with its fraction.
    pub(crate) tick: f64,
    /// In the order of the ids.
    pub(crate) entities: Vec<Entity>,
    /// The lanes of both states of each entity.
    lanes: Vec<u32>,
    points: Vec<Point>,
}

pub(crate) struct Entity {
    pub(crate) id: EntityId,
    kinds: [Option<usize>; 2],
    /// The bits of the ratio and of the seconds.
    between: [u32; 2],
    is_cut: bool,
    lanes: Range<usize>,
    points: Range<usize>,
}

impl Shown {
    pub(crate) fn new<'a>(
        tick: f64,
        samples: impl Iterator<Item = Sample<'a>>,
        looks: &mut Looks,
    ) -> Outcome<Self> {
        let mut samples: Vec<Sample<'_>> = samples.collect();
        samples.sort_unstable_by_key(|sample| sample.id);
        let mut shown = Self { tick, ..Self::default() };
        for sample in &samples {
            shown.add(sample, looks)?;
        }
        Ok(shown)
    }

    fn add(&mut self, sample: &Sample<'_>, looks: &mut Looks) -> Outcome<()> {
        let Sample { id, from, to, between, is_cut, .. } = *sample;
        let (lanes, points) = (self.lanes.len(), self.points.len());
        self.lanes.extend(from.0.lanes_at(from.1));
        self.lanes.extend(to.0.lanes_at(to.1));
        looks.add_points(from, to, between, &mut self.points)?;
        self.entities.push(Entity {
            id,
            kinds: [from.0.kind_at(from.1), to.0.kind_at(to.1)],
            between: bits(between),
            is_cut,
            lanes: lanes..self.lanes.len(),
            points: points..self.points.len(),
        });
        Ok(())
    }

    pub(crate) fn points(&self, entity: &Entity) -> &[Point] {
        &self.points[entity.points.clone()]
    }

    /// The first entity that differs from another frame, if any, and how many do.
    pub(crate) fn differences(&self, other: &Self) -> (usize, Option<EntityId>) {
        if self.tick.to_bits() != other.tick.to_bits() {
            return (self.entities.len(), self.entities.first().map(|entity| entity.id));
        }
        let (mut count, mut first) = (0, None);
        let (mut ours, mut theirs) =
            (self.entities.iter().peekable(), other.entities.iter().peekable());
        loop {
            let id = match (ours.peek(), theirs.peek()) {
                (Some(a), Some(b)) => a.id.min(b.id),
                (Some(one), None) | (None, Some(one)) => one.id,
                (None, None) => return (count, first),
            };
            let a = ours.next_if(|entity| entity.id == id);
            let b = theirs.next_if(|entity| entity.id == id);
            let is_same = a.zip(b).is_some_and(|(a, b)| self.is_same(a, other, b));
            if !is_same {
                count += 1;
                first = first.or(Some(id));
            }
        }
    }

    fn is_same(&self, a: &Entity, other: &Self, b: &Entity) -> bool {
        (a.kinds, a.between, a.is_cut) == (b.kinds, b.between, b.is_cut)
            && self.lanes[a.lanes.clone()] == other.lanes[b.lanes.clone()]
            && bits_of(self.points(a)).eq(bits_of(other.points(b)))
    }

    /// An entity as text, to find out why it differs.
    pub(crate) fn described(&self, id: EntityId) -> String {
        let Some(of) = self.entities.iter().find(|entity| entity.id == id) else {
            return "not shown".into();
        };
        let [ratio, seconds] = of.between.map(f32::from_bits);
        format!("{ratio} of {seconds} s, cut {}, {:?}", of.is_cut, &self.lanes[of.lanes.clone()])
    }
}

fn bits_of(points: &[Point]) -> impl Iterator<Item = u32> {
    points.iter().flatten().map(|axis| axis.to_bits())
}

fn bits(at: Between) -> [u32; 2] {
    [at.ratio.to_bits(), at.seconds.to_bits()]
}
