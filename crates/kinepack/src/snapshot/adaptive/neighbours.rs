//! The bodies that a packet has already coded, and the search for those near a position.
//! `spec/CODEC.md`, section 12.6, "Surroundings".

use alloc::vec::Vec;

use super::geometry::{Quaternion, Vector, dot, sub};

/// A body that is already coded: where it was, how it moved, and how well that was predicted.
#[derive(Clone, Copy, Debug)]
pub(super) struct CodedBody {
    /// Its position in the baseline, and a lag before that.
    pub(super) position: Vector,
    pub(super) position_before: Vector,
    /// How far it moved, and would have moved if its last motion had continued.
    pub(super) moved: Vector,
    pub(super) moved_before: Vector,
    /// How it turned, and would have turned if its last turn had continued: as quaternions, then as
    /// vectors.
    pub(super) turn: Quaternion,
    pub(super) turn_before: Quaternion,
    pub(super) turned: Vector,
    pub(super) turned_before: Vector,
    /// The errors of its predictions.
    pub(super) position_error: Vector,
    pub(super) turn_error: Vector,
    /// log₂ of the errors, in 1/256.
    pub(super) position_error_log2: i32,
    pub(super) turn_error_log2: i32,
}

/// A body in the list of a bucket.
#[derive(Clone, Copy, Debug)]
struct Link {
    position: Vector,
    cell: [i32; 2],
    next: u32,
}

/// How many neighbours are used.
pub(super) const NEAREST: usize = 4;

/// The largest number of bodies that a search visits. Bounds the work if all bodies are in one
/// place.
const MAX_VISITED: usize = 96;

const NONE: u32 = u32::MAX;

/// The largest distance of a neighbour, in sizes of a body.
const RADIUS: f64 = 7.0;

/// How many cells a search extends to each side; together they span the radius.
const RINGS: i32 = 2;

/// The coded bodies in a hashed grid of square cells, seen from above. Each bucket is a linked list
/// that begins with the body coded last.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    pub(super) coded: Vec<CodedBody>,
    /// For each coded body, what a search needs of it.
    links: Vec<Link>,
    heads: Vec<u32>,
    /// 1 ÷ `side`.
    per_cell: f64,
    side: f64,
    radius_squared: f64,
}

impl Neighbours {
    /// Removes all bodies, and makes room for `count` bodies of this size.
    pub(super) fn reset(&mut self, count: usize, size: f64) {
        let radius = RADIUS * size;
        self.coded.clear();
        self.links.clear();
        self.heads.clear();
        self.heads.resize((8 * count).next_power_of_two().max(16), NONE);
        self.side = radius / f64::from(RINGS);
        self.per_cell = 1.0 / self.side;
        self.radius_squared = radius * radius;
    }

    /// The cell of a position. Positions are not negative, so the casts round down.
    fn cell(&self, [x, y, _]: Vector) -> [i32; 2] {
        [(x * self.per_cell) as i32, (y * self.per_cell) as i32]
    }

    fn bucket(&self, [x, y]: [i32; 2]) -> usize {
        let hash = (x as u32).wrapping_mul(0x9E37_79B1) ^ (y as u32).wrapping_mul(0x85EB_CA6B);
        (hash ^ hash >> 15) as usize & (self.heads.len() - 1)
    }

    /// Adds a body.
    pub(super) fn push(&mut self, body: CodedBody) {
        let cell = self.cell(body.position);
        let bucket = self.bucket(cell);
        let next = core::mem::replace(&mut self.heads[bucket], self.coded.len() as u32);
        self.links.push(Link { position: body.position, cell, next });
        self.coded.push(body);
    }

    /// Finds the nearest bodies, the nearest first: squared distances and indices into `coded`.
    /// Returns how many were found. Visits at most [`MAX_VISITED`] bodies.
    pub(super) fn nearest(&self, position: Vector, found: &mut [(f64, u32); NEAREST]) -> usize {
        let mut search = Search { found, count: 0, visited: 0, limit: self.radius_squared };
        let [x, y] = self.cell(position);
        for ring in 0..=RINGS {
            // Cells of this ring are at least this far away.
            let beyond = f64::from(ring - 1).max(0.0) * self.side;
            if search.count == NEAREST && search.limit <= beyond * beyond {
                break;
            }
            for row in -ring..=ring {
                // All cells of the first and last row, but only the ends of the other rows.
                let step = if row.abs() == ring { 1 } else { 2 * ring };
                for column in (-ring..=ring).step_by(step.max(1) as usize) {
                    self.search_cell(
                        position,
                        [x.wrapping_add(column), y.wrapping_add(row)],
                        &mut search,
                    );
                }
            }
        }
        search.count
    }

    fn search_cell(&self, position: Vector, cell: [i32; 2], search: &mut Search<'_>) {
        let mut index = self.heads[self.bucket(cell)];
        while index != NONE && search.visited < MAX_VISITED {
            search.visited += 1;
            let link = &self.links[index as usize];
            let away = sub(position, link.position);
            let distance = dot(away, away);
            // A bucket may hold bodies of several cells.
            if distance < search.limit && link.cell == cell {
                search.add(distance, index);
            }
            index = link.next;
        }
    }
}

/// A search and its results so far.
struct Search<'a> {
    found: &'a mut [(f64, u32); NEAREST],
    count: usize,
    visited: usize,
    /// Bodies at this squared distance or farther are ignored: the square of the radius, or that of
    /// the farthest result once all places are taken.
    limit: f64,
}

impl Search<'_> {
    /// Adds a body within the limit.
    fn add(&mut self, distance: f64, index: u32) {
        let mut place = self.count.min(NEAREST - 1);
        self.count = place + 1;
        while place > 0 && self.found[place - 1].0 > distance {
            self.found[place] = self.found[place - 1];
            place -= 1;
        }
        self.found[place] = (distance, index);
        if self.count == NEAREST {
            self.limit = self.found[NEAREST - 1].0;
        }
    }
}

impl Default for CodedBody {
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
