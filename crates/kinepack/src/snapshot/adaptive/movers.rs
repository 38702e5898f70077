//! Bodies that move others, and the order of a packet's entities, which follows from them.
//! `spec/CODEC.md`, section 12.5.

use super::body::position;
use super::coding::{Coding, Predictor};
use super::geometry::{Vector, dot, sub};
use super::neighbours::CodedBody;
use super::scratch::{Mover, Scratch};
use crate::entropy::Coder;
use crate::snapshot::history::ADDED;

/// The largest number of movers. Section 12.5.
const MAX_MOVERS: usize = 64;

/// The nearness of a mover itself, and of a body far from all movers.
const IS_MOVER: u8 = 7;
const FAR: u8 = 6;

/// The squared distances to the nearest mover, in half reaches, that separate the classes of
/// nearness. Section 12.5.
const NEARNESS_SQUARES: [f64; FAR as usize] = [1.0, 4.0, 9.0, 16.0, 25.0, 36.0];

impl<C: Coder, P: Predictor> Coding<'_, C, P> {
    /// Finds the movers, at their positions in the baseline.
    pub(super) fn find_movers(&mut self, scratch: &mut Scratch) {
        scratch.movers.clear();
        let Some(bodies) = &self.model.bodies else { return };
        for (kind, plan) in self.plan.kinds.iter().enumerate() {
            let Some(body) = &plan.body else { continue };
            self.past.enter(kind);
            let ids = self.past.ids();
            let movers = bodies.mover_ranges().flat_map(|(first, end)| {
                let begin = ids.partition_point(|id| u64::from(id.0) < first);
                let end = ids.partition_point(|id| u64::from(id.0) < end);
                begin..end
            });
            let flagged = body.mover.map(|lane| &self.past.base()[lane][..]).unwrap_or_default();
            let flagged = (0..).zip(flagged).filter(|(_, flag)| **flag != 0);
            let movers = movers.chain(flagged.map(|(entity, _)| entity));
            for entity in movers.take(MAX_MOVERS - scratch.movers.len()) {
                if !self.past.is_added(entity) {
                    let position = position(body, self.past.base(), entity);
                    let coded =
                        CodedBody { position, position_before: position, ..CodedBody::default() };
                    let entity = self.past.index(entity) as u32;
                    scratch.movers.push(Mover { entity, position, coded });
                }
            }
        }
    }

    /// Finds each entity's nearest mover and its nearness: 0 to 6 by the distance to the nearest
    /// mover, 7 for a mover, and 0 for an entity without a body.
    pub(super) fn find_nearness(&mut self, scratch: &mut Scratch) {
        let Scratch { movers, nearness, nearest, .. } = scratch;
        nearness.clear();
        nearest.clear();
        let Some(bodies) = &self.model.bodies else {
            nearness.resize(self.past.entities().len(), 0);
            return;
        };
        let unit = f64::from(bodies.reach) * 0.5;
        let edges = NEARNESS_SQUARES.map(|square| square * unit * unit);
        for (kind, plan) in self.plan.kinds.iter().enumerate() {
            self.past.enter(kind);
            let Some(body) = &plan.body else {
                nearness.resize(nearness.len() + self.past.ids().len(), 0);
                nearest.resize(nearness.len(), None);
                continue;
            };
            nearest.extend(
                (0..self.past.ids().len())
                    .map(|entity| nearest_mover(movers, position(body, self.past.base(), entity))),
            );
            nearness.extend(nearest[nearness.len()..].iter().map(|nearest| {
                nearest.map_or(FAR, |(_, distance)| {
                    edges.iter().map(|edge| u8::from(distance >= *edge)).sum()
                })
            }));
        }
        movers.iter().for_each(|mover| nearness[mover.entity as usize] = IS_MOVER);
    }

    /// Sorts the changed entities: the movers first, then the others by distance from a mover,
    /// those without a body, and the added ones last.
    pub(super) fn sort(&mut self, scratch: &mut Scratch) {
        let Scratch { order, changed, movers, nearest, neighbours, .. } = scratch;
        order.clear();
        let statuses = self.past.all_statuses();
        let by_key = |order: &(u64, u32)| (statuses[order.1 as usize] & ADDED != 0, *order);
        let Some(bodies) = &self.model.bodies else {
            order.extend(changed.iter().map(|entity| (0, *entity)));
            order.sort_unstable_by_key(by_key);
            return;
        };
        for &index in &*changed {
            self.past.enter_at(index as usize);
            let key = match self.plan.kinds[self.past.kind()].body {
                Some(_) => match nearest[index as usize] {
                    Some((mover, _)) if movers[mover as usize].entity == index => 0,
                    // Distances are not negative, so their bits increase with their value. NaN is
                    // excluded because its bits differ between platforms.
                    Some((_, distance)) if distance < f64::INFINITY => distance.to_bits() + 1,
                    Some(_) => u64::MAX,
                    None => 0,
                },
                None => u64::MAX,
            };
            order.push((key, index));
        }
        order.sort_unstable_by_key(by_key);
        neighbours.reset(changed.len(), f64::from(bodies.size));
    }
}

/// The nearest mover and the squared distance to it.
fn nearest_mover(movers: &[Mover], position: Vector) -> Option<(u32, f64)> {
    let mut best = None;
    for (index, mover) in (0..).zip(movers) {
        let away = sub(position, mover.position);
        let distance = dot(away, away);
        if best.is_none_or(|(_, least)| distance < least) {
            best = Some((index, distance));
        }
    }
    best
}
