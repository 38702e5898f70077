//! A receiver's viewpoint.

use std::sync::Arc;

use kinepack::{EntityId, Snapshot};

use super::Sight;

/// How far beyond its cell a viewpoint may be, in cells, before it belongs to another cell. So a
/// viewpoint at the border of two cells does not change its cell in every tick.
const MARGIN: f64 = 0.1;

/// The largest index of a cell, up to which whole numbers are exact. A viewpoint that is farther
/// away belongs to the last cell.
const MOST_CELLS: f64 = (1u64 << 53) as f64;

/// A cell of space, by its index along each axis.
pub(super) type Cell = [i64; 3];

/// What a receiver looks at the world from.
#[derive(Clone, Debug, Default)]
pub(in crate::sender) struct Eye {
    /// The place; `None` for a receiver that sees everything.
    viewpoint: Option<[f64; 3]>,
    /// The cell that the viewpoint belonged to in the last tick.
    cell: Option<Cell>,
    /// What the receiver sees in this tick by distance; `None` if distance hides and changes
    /// nothing.
    pub(in crate::sender) sight: Option<Arc<Sight>>,
    /// The same for the last tick.
    last: Option<Arc<Sight>>,
}

impl Eye {
    /// Returns whether an entity is seen by distance in `world`, or was seen in `before`, the world
    /// of the last tick. Distance does not hide an entity that is in neither.
    pub(in crate::sender) fn sees(
        &self,
        world: &Snapshot,
        before: Option<&Snapshot>,
        entity: EntityId,
    ) -> bool {
        if self.sight.is_none() && self.last.is_none() {
            return true;
        }
        let sees = |sight: &Option<Arc<Sight>>, index: usize| {
            sight.as_ref().is_none_or(|sight| sight.sees(index))
        };
        let now = world.position(entity).map(|index| sees(&self.sight, index));
        let then = before.and_then(|before| before.position(entity));
        let then = then.map(|index| sees(&self.last, index));
        now.into_iter().chain(then).max().unwrap_or(true)
    }

    /// Takes what is seen in this tick.
    pub(super) fn look(&mut self, sight: Option<Arc<Sight>>) {
        self.last = std::mem::replace(&mut self.sight, sight);
    }

    pub(in crate::sender) fn set(&mut self, viewpoint: Option<[f64; 3]>) {
        self.viewpoint = viewpoint;
    }

    /// Forgets the cell, for example because the rings changed.
    pub(in crate::sender) fn reset(&mut self) {
        (self.cell, self.sight, self.last) = (None, None, None);
    }

    /// Returns the cell of the viewpoint, if there is one, for cells of this edge length, and the
    /// cell in which it was in the last tick. If positions have two axes, the third does not count.
    pub(super) fn find_cell(&mut self, edge: f64, axes: usize) -> Option<(Cell, Option<Cell>)> {
        let mut viewpoint = self.viewpoint?;
        viewpoint[axes..].fill(0.0);
        let last = self.cell;
        let is_in = |cell: &Cell| {
            let (low, high) = bounds(*cell, edge);
            (0..3).all(|axis| (low[axis]..=high[axis]).contains(&viewpoint[axis]))
        };
        if !self.cell.as_ref().is_some_and(is_in) {
            let index = |along: f64| (along / edge).floor().clamp(-MOST_CELLS, MOST_CELLS);
            self.cell = Some(viewpoint.map(|along| index(along) as i64));
        }
        self.cell.map(|cell| (cell, last))
    }
}

/// Returns the corners of a cell with its margin.
pub(super) fn bounds(cell: Cell, edge: f64) -> ([f64; 3], [f64; 3]) {
    let corner = |beyond: f64| cell.map(|index| (index as f64 + beyond) * edge);
    (corner(-MARGIN), corner(1.0 + MARGIN))
}
