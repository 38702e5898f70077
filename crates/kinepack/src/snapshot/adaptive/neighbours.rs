//! Bodies that a packet has coded, and those of them that are near another.

use alloc::vec::Vec;

use super::geometry::{Quaternion, Vector, dot, sub};

/// A body that both sides know by now: where it was, how it moved, and how well that was predicted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coded {
    /// Where it was in the baseline, and a lag before.
    pub(super) position: Vector,
    pub(super) position_before: Vector,
    /// How far it moved, and would have as before.
    pub(super) moved: Vector,
    pub(super) moved_before: Vector,
    /// How it turned, and would have as before.
    pub(super) turn: Quaternion,
    pub(super) turn_before: Quaternion,
    pub(super) turned: Vector,
    pub(super) turned_before: Vector,
    /// What the predictions missed.
    pub(super) position_error: Vector,
    pub(super) turn_error: Vector,
    /// log₂ of that, in 1/256.
    pub(super) position_error_log2: i32,
    pub(super) turn_error_log2: i32,
}

/// The nearest few.
pub(super) const NEAREST: usize = 4;

/// Bodies that are looked at for each that is coded, at most: what bounds the work where all are in one place.
const MOST_SEEN: usize = 96;

const NONE: u32 = u32::MAX;

/// The coded bodies in a grid of cells, each cell a list that begins with the one coded last.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    pub(super) coded: Vec<Coded>,
    next: Vec<u32>,
    heads: Vec<u32>,
    /// 1 / the side of a cell, which is twice the radius.
    per_cell: f64,
    radius_squared: f64,
}

impl Neighbours {
    /// Forgets all; room for `count` bodies with neighbours up to `radius` away.
    pub(super) fn reset(&mut self, count: usize, radius: f64) {
        self.coded.clear();
        self.next.clear();
        self.heads.clear();
        self.heads.resize((2 * count).next_power_of_two().max(16), NONE);
        self.per_cell = 0.5 / radius;
        self.radius_squared = radius * radius;
    }

    /// Positions are not negative, so the cast rounds down.
    fn cell(&self, position: Vector) -> [i32; 3] {
        position.map(|x| (x * self.per_cell) as i32)
    }

    fn bucket(&self, cell: [i32; 3]) -> usize {
        let [x, y, z] = cell.map(|x| x as u32);
        let hash = x.wrapping_mul(0x9E37_79B1) ^ y.wrapping_mul(0x85EB_CA6B) ^ z.wrapping_mul(0xC2B2_AE35);
        (hash ^ hash >> 15) as usize & (self.heads.len() - 1)
    }

    /// Adds a body.
    pub(super) fn push(&mut self, body: Coded) {
        let bucket = self.bucket(self.cell(body.position));
        self.next.push(core::mem::replace(&mut self.heads[bucket], self.coded.len() as u32));
        self.coded.push(body);
    }

    /// The nearest, by rising distance: squared distances and numbers. Returns how many.
    pub(super) fn nearest(&self, position: Vector, found: &mut [(f64, u32); NEAREST]) -> usize {
        let mut count = 0;
        let mut seen = 0;
        // The cells that a ball of the radius can reach: two in each direction.
        let low = position.map(|x| (x * self.per_cell - 0.5) as i32);
        let mut buckets = [usize::MAX; 8];
        for corner in 0..8usize {
            let cell = [0, 1, 2].map(|axis| low[axis] + (corner >> axis & 1) as i32);
            let bucket = self.bucket(cell);
            // Two cells may share a bucket.
            if buckets[..corner].contains(&bucket) {
                continue;
            }
            buckets[corner] = bucket;
            let mut index = self.heads[bucket];
            while index != NONE && seen < MOST_SEEN {
                seen += 1;
                let away = sub(position, self.coded[index as usize].position);
                let distance = dot(away, away);
                if distance < self.radius_squared && (count < NEAREST || distance < found[NEAREST - 1].0) {
                    let mut place = if count < NEAREST { count } else { NEAREST - 1 };
                    count = place + 1;
                    while place > 0 && found[place - 1].0 > distance {
                        found[place] = found[place - 1];
                        place -= 1;
                    }
                    found[place] = (distance, index);
                }
                index = self.next[index as usize];
            }
        }
        count
    }
}

impl Default for Coded {
    fn default() -> Self {
        Self {
            position: [0.0; 3],
            position_before: [0.0; 3],
            moved: [0.0; 3],
            moved_before: [0.0; 3],
            turn: super::geometry::NO_TURN,
            turn_before: super::geometry::NO_TURN,
            turned: [0.0; 3],
            turned_before: [0.0; 3],
            position_error: [0.0; 3],
            turn_error: [0.0; 3],
            position_error_log2: 0,
            turn_error_log2: 0,
        }
    }
}
