//! Keeps the bodies that a packet has already coded, and searches for those near a position. See
//! `spec/CODEC.md`, section 12.6, "Surroundings".

use alloc::vec::Vec;
use core::hint::select_unpredictable;
use core::ops::Range;

use crate::geometry::{Quaternion, Vector, dot, sub};

/// A body that is already coded: where it was, how it moved, and the errors of its predictions.
#[derive(Clone, Copy, Debug)]
pub(super) struct CodedBody {
    /// The body's position in the baseline, and its position one lag before the baseline.
    pub(super) position: Vector,
    pub(super) position_before: Vector,
    /// The distance that the body moved, and the distance if its last motion had continued.
    pub(super) moved: Vector,
    pub(super) moved_before: Vector,
    /// The body's turn, and its turn if the last one had continued: as quaternions, then as
    /// vectors.
    pub(super) turn: Quaternion,
    pub(super) turn_before: Quaternion,
    pub(super) turned: Vector,
    pub(super) turned_before: Vector,
    /// The errors of the predictions of the body's position and turn.
    pub(super) position_error: Vector,
    pub(super) turn_error: Vector,
    /// log₂ of the size of these errors, in 1/256.
    pub(super) position_error_log2: i32,
    pub(super) turn_error_log2: i32,
}

/// A body in the linked list of a bucket.
#[derive(Clone, Copy, Debug)]
struct Link {
    position: Vector,
    cell: Cell,
    next: u32,
}

/// The column and the row of a cell.
type Cell = [i32; 2];

/// The maximum number of neighbours that a prediction uses.
const NEAREST: usize = 4;

/// The maximum number of bodies that a search visits. This limit bounds the work if all bodies are
/// in one place.
const MAX_VISITED: usize = 96;

const NONE: u32 = u32::MAX;

/// The largest distance of a neighbour, in sizes of a body.
const RADIUS: f64 = 7.0;

/// The number of cells that a search extends from the centre cell to each side. Together these
/// cells span the radius.
const RINGS: usize = 2;

/// The number of cells that a search spans in each direction.
const SPAN: usize = 2 * RINGS + 1;

/// The column and the row of each cell of a search, ring by ring, and within a ring row by row.
const CELLS: [[usize; 2]; SPAN * SPAN] = {
    let mut cells = [[0; 2]; SPAN * SPAN];
    let (mut ring, mut count) = (0, 0);
    while ring <= RINGS {
        let mut place = 0;
        while place < SPAN * SPAN {
            let (column, row) = (place % SPAN, place / SPAN);
            let (across, along) = (column.abs_diff(RINGS), row.abs_diff(RINGS));
            if (if across > along { across } else { along }) == ring {
                cells[count] = [column, row];
                count += 1;
            }
            place += 1;
        }
        ring += 1;
    }
    cells
};

/// Returns the range of a ring's cells in [`CELLS`].
const fn ring_cells(ring: usize) -> Range<usize> {
    let inside = if ring == 0 { 0 } else { (2 * ring - 1) * (2 * ring - 1) };
    inside..(2 * ring + 1) * (2 * ring + 1)
}

/// The number of cells in the longest ring.
const LONGEST_RING: usize = 8 * RINGS;

/// The coded bodies in a hashed grid of square cells, seen from above. Each bucket is a linked list
/// that begins with the body coded last.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    pub(super) coded: Vec<CodedBody>,
    /// The part of each coded body that a search needs.
    links: Vec<Link>,
    heads: Vec<u32>,
    /// The inverse of `side`.
    per_cell: f64,
    side: f64,
    radius_squared: f64,
}

impl Neighbours {
    /// Removes all bodies, and makes room for `count` bodies with half edges of `size`.
    pub(super) fn reset(&mut self, count: usize, size: f64) {
        let radius = RADIUS * size;
        self.coded.clear();
        self.links.clear();
        self.heads.clear();
        self.heads.resize((8 * count).next_power_of_two().max(16), NONE);
        self.side = radius / RINGS as f64;
        self.per_cell = 1.0 / self.side;
        self.radius_squared = radius * radius;
    }

    /// Returns the cell of a position. Positions are not negative, so the casts round down.
    fn cell(&self, [x, y, _]: Vector) -> Cell {
        [(x * self.per_cell) as i32, (y * self.per_cell) as i32]
    }

    /// Returns the bucket of a cell, from the hashes of the cell's column and row.
    #[inline]
    fn bucket(&self, column: u32, row: u32) -> usize {
        let hash = column ^ row;
        (hash ^ hash >> 15) as usize & (self.heads.len() - 1)
    }

    /// Adds a body.
    pub(super) fn push(&mut self, body: CodedBody) {
        let cell = self.cell(body.position);
        let bucket = self.bucket(column_hash(cell[0]), row_hash(cell[1]));
        let next = core::mem::replace(&mut self.heads[bucket], self.coded.len() as u32);
        self.links.push(Link { position: body.position, cell, next });
        self.coded.push(body);
    }

    /// Finds the bodies nearest to a position. The search visits at most [`MAX_VISITED`] bodies.
    pub(super) fn nearest(&self, position: Vector) -> Found {
        let mut found = Found::within(self.radius_squared);
        let mut left = MAX_VISITED;
        let [x, y] = self.cell(position);
        let offsets: [i32; SPAN] = core::array::from_fn(|nth| nth as i32 - RINGS as i32);
        let columns = offsets.map(|offset| column_hash(x.wrapping_add(offset)));
        let rows = offsets.map(|offset| row_hash(y.wrapping_add(offset)));
        for ring in 0..=RINGS {
            // All cells of this ring are at least this far away.
            let beyond = ring.saturating_sub(1) as f64 * self.side;
            if found.is_full() && found.limit() <= beyond * beyond {
                break;
            }
            // Most buckets are empty. Adding 0 or 1 to `count` skips the empty ones without a
            // branch, which would be hard to predict.
            let mut lists = [(NONE, [0; 2]); LONGEST_RING];
            let mut count = 0;
            for &[column, row] in &CELLS[ring_cells(ring)] {
                let head = self.heads[self.bucket(columns[column], rows[row])];
                let cell = [x.wrapping_add(offsets[column]), y.wrapping_add(offsets[row])];
                lists[count] = (head, cell);
                count += usize::from(head != NONE);
            }
            for &(head, cell) in &lists[..count] {
                self.search_list(head, position, cell, &mut found, &mut left);
            }
        }
        found
    }

    /// Searches the list of a bucket, from the body `head` on, for bodies in `cell`. The function
    /// visits at most `left` bodies.
    #[inline]
    fn search_list(
        &self,
        head: u32,
        position: Vector,
        cell: Cell,
        found: &mut Found,
        left: &mut usize,
    ) {
        let mut index = head;
        while index != NONE && *left > 0 {
            *left -= 1;
            let link = &self.links[index as usize];
            let away = sub(position, link.position);
            let distance = dot(away, away);
            // A bucket may hold bodies of several cells.
            if distance < found.limit() && link.cell == cell {
                found.add(distance, index);
            }
            index = link.next;
        }
    }
}

fn column_hash(column: i32) -> u32 {
    (column as u32).wrapping_mul(0x9E37_79B1)
}

fn row_hash(row: i32) -> u32 {
    (row as u32).wrapping_mul(0x85EB_CA6B)
}

/// The nearest bodies that a search has found, sorted by distance. If two bodies have the same
/// distance, the one found first comes first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// The squared distances of the bodies. Unused elements hold the squared radius.
    distances: [f64; NEAREST],
    /// The bodies' indices into `coded`. Unused elements hold [`NONE`].
    bodies: [u32; NEAREST],
}

impl Found {
    fn within(radius_squared: f64) -> Self {
        Self { distances: [radius_squared; NEAREST], bodies: [NONE; NEAREST] }
    }

    /// Returns the squared distance from which on a body is not added.
    #[inline]
    fn limit(&self) -> f64 {
        self.distances[NEAREST - 1]
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.bodies[NEAREST - 1] != NONE
    }

    /// Adds a body whose squared distance is below [`limit`](Self::limit). The code has no
    /// branches, because the body's place is hard to predict.
    #[inline]
    fn add(&mut self, distance: f64, body: u32) {
        let Self { distances, bodies } = self;
        for place in (1..NEAREST).rev() {
            let (moves, is_nearer) = (distances[place - 1] > distance, distances[place] > distance);
            bodies[place] = select_unpredictable(is_nearer, body, bodies[place]);
            bodies[place] = select_unpredictable(moves, bodies[place - 1], bodies[place]);
            distances[place] = select_unpredictable(is_nearer, distance, distances[place]);
            distances[place] = select_unpredictable(moves, distances[place - 1], distances[place]);
        }
        let is_nearer = distances[0] > distance;
        bodies[0] = select_unpredictable(is_nearer, body, bodies[0]);
        distances[0] = select_unpredictable(is_nearer, distance, distances[0]);
    }

    /// Returns the squared distances of the bodies, and their indices into `coded`.
    pub(super) fn iter(self) -> impl Iterator<Item = (f64, u32)> {
        let all = self.distances.into_iter().zip(self.bodies);
        all.take_while(|(_, body)| *body != NONE)
    }
}

impl Default for CodedBody {
    fn default() -> Self {
        Self {
            position: [0.0; 3],
            position_before: [0.0; 3],
            moved: [0.0; 3],
            moved_before: [0.0; 3],
            turn: crate::geometry::NO_TURN,
            turn_before: crate::geometry::NO_TURN,
            turned: [0.0; 3],
            turned_before: [0.0; 3],
            position_error: [0.0; 3],
            turn_error: [0.0; 3],
            position_error_log2: 0,
            turn_error_log2: 0,
        }
    }
}
