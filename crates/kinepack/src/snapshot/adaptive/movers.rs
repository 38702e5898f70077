//! Finds the bodies that move others, and the order of a packet's entities, which follows from
//! these movers. See `spec/CODEC.md`, section 12.5.

use alloc::vec::Vec;

use super::body::position;
use super::coding::Coding;
use super::counters::{FAR, IS_MOVER};
use super::neighbours::CodedBody;
use super::plan::BodyPlan;
use super::predictor::Predictor;
use super::scratch::{Mover, NO_MOVER, Scratch};
use crate::entropy::Coder;
use crate::geometry::{dot, sub};
use crate::snapshot::status::ADDED;

/// The number of bodies whose distances are computed at once.
const BLOCK: usize = 16;

/// The maximum number of movers. See `spec/CODEC.md`, section 12.5.
const MAX_MOVERS: usize = 64;

/// The squared distances to the nearest mover, in half reaches, that separate the classes of
/// nearness. See `spec/CODEC.md`, section 12.5.
const NEARNESS_SQUARES: [f64; FAR as usize] = [1.0, 4.0, 9.0, 16.0, 25.0, 36.0];

impl<C: Coder, P: Predictor> Coding<'_, C, P> {
    /// Lists the movers, with their positions in the baseline.
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

    /// Finds each entity's nearest mover, and the entity's class of nearness. The class is 0 to 6
    /// by distance, 7 for a mover itself, and 0 for an entity without a body.
    pub(super) fn find_nearness(&mut self, scratch: &mut Scratch) {
        let Scratch { movers, nearness, nearest, .. } = scratch;
        let entities = self.past.entities();
        nearness.resize(entities.len(), 0);
        let Some(bodies) = &self.model.bodies else { return nearness.fill(0) };
        nearest.movers.resize(entities.len(), NO_MOVER);
        nearest.distances.resize(entities.len(), f64::INFINITY);
        let unit = f64::from(bodies.reach) * 0.5;
        let edges = NEARNESS_SQUARES.map(|square| square * unit * unit);
        for (kind, plan) in self.plan.kinds.iter().enumerate() {
            let range = entities.range(kind);
            let Some(body) = &plan.body else {
                nearness[range.clone()].fill(0);
                nearest.movers[range].fill(NO_MOVER);
                continue;
            };
            let nearness = nearness[range.clone()].chunks_mut(BLOCK);
            let distances = nearest.distances[range.clone()].chunks_mut(BLOCK);
            let numbers = nearest.movers[range].chunks_mut(BLOCK);
            let blocks = nearness.zip(distances.zip(numbers)).enumerate();
            for (block, (nearness, (distances, numbers))) in blocks {
                let positions = positions(body, self.past.base(), block * BLOCK, nearness.len());
                let (near, number) = nearest_movers(movers, &positions);
                distances.copy_from_slice(&near[..distances.len()]);
                numbers.copy_from_slice(&number[..numbers.len()]);
                let classes = nearness_of(&near, &edges);
                nearness.copy_from_slice(&classes[..nearness.len()]);
            }
        }
        movers.iter().for_each(|mover| nearness[mover.entity as usize] = IS_MOVER);
    }

    /// Sorts the changed entities: the movers first, then the other bodies by distance from a
    /// mover, the entities without a body, and the added ones last.
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
                Some(_) => match nearest.mover(index as usize) {
                    Some((mover, _)) if movers[mover as usize].entity == index => 0,
                    // Distances are not negative, so the bits of a distance increase with its
                    // value. NaN is excluded because its bits differ between platforms.
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

/// Returns the positions of `count` bodies from row `begin` on, axis by axis. Elements after the
/// first `count` are unused.
#[inline]
fn positions(
    body: &BodyPlan,
    columns: &[Vec<u32>],
    begin: usize,
    count: usize,
) -> [[f64; BLOCK]; 3] {
    let mut positions = [[0.0; BLOCK]; 3];
    for (axis, positions) in positions.iter_mut().enumerate() {
        let values = &columns[body.position[axis]][begin..begin + count];
        for (position, value) in positions.iter_mut().zip(values) {
            *position = body.coordinate(axis, *value);
        }
    }
    positions
}

/// Finds, for each position, the squared distance to the nearest mover, and that mover's number.
/// Without movers, the distance is infinite.
#[inline]
fn nearest_movers(movers: &[Mover], positions: &[[f64; BLOCK]; 3]) -> ([f64; BLOCK], [u32; BLOCK]) {
    let (mut near, mut numbers) = ([f64::INFINITY; BLOCK], [NO_MOVER; BLOCK]);
    for (number, mover) in (0..).zip(movers) {
        for index in 0..BLOCK {
            let [x, y, z] = positions;
            let away = sub([x[index], y[index], z[index]], mover.position);
            let distance = dot(away, away);
            // The first mover counts as nearer even at an infinite distance, so that every body
            // gets a mover.
            let is_nearer = distance < near[index] || number == 0;
            near[index] = if is_nearer { distance } else { near[index] };
            numbers[index] = if is_nearer { number } else { numbers[index] };
        }
    }
    (near, numbers)
}

/// Finds the class of each squared distance: the number of `edges` at or below it.
#[inline]
fn nearness_of(distances: &[f64; BLOCK], edges: &[f64; FAR as usize]) -> [u8; BLOCK] {
    let mut classes = [0u32; BLOCK];
    for edge in edges {
        for (class, distance) in classes.iter_mut().zip(distances) {
            *class += u32::from(distance >= edge);
        }
    }
    let mut bytes = [0; BLOCK];
    bytes.iter_mut().zip(classes).for_each(|(byte, class)| *byte = class as u8);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_of_all_movers_is_found() {
        let mover =
            |x: f64| Mover { entity: 7, position: [x, 0.0, 0.0], coded: CodedBody::default() };
        let mut positions = [[0.0; BLOCK]; 3];
        positions[0] = core::array::from_fn(|index| index as f64);
        assert_eq!(nearest_movers(&[], &positions), ([f64::INFINITY; BLOCK], [NO_MOVER; BLOCK]));
        // Of two movers at the same distance, `nearest_movers` takes the first.
        let (near, numbers) = nearest_movers(&[mover(2.0), mover(10.0), mover(2.0)], &positions);
        assert_eq!(near[..8], [4.0, 1.0, 0.0, 1.0, 4.0, 9.0, 16.0, 9.0]);
        assert_eq!(numbers[..8], [0, 0, 0, 0, 0, 0, 0, 1]);
        let far = mover(f64::INFINITY);
        assert_eq!(nearest_movers(&[far], &positions).1, [0; BLOCK]);
        assert_eq!(nearness_of(&near, &[1.0, 4.0, 5.0, 9.0, 16.0, 17.0])[..4], [2, 1, 0, 1]);
    }
}
