//! A grid over the places of a world's entities, which finds those near a box without a look at the
//! others.
//!
//! Cost: filling is two passes over the entities and one over the buckets. A search looks at the
//! entities in the buckets that the box and its reach touch, and at one bit for each entity.

/// The most buckets of a grid.
const MOST_BUCKETS: f64 = 65_536.0;
/// How many buckets are as long as the reach. More buckets fit a search better, but take longer.
const BUCKETS_IN_REACH: f64 = 4.0;

/// The grid.
#[derive(Debug)]
pub(super) struct Grid {
    origin: [f64; 3],
    /// The edge length of a bucket.
    edge: f64,
    /// The number of buckets along each axis.
    counts: [usize; 3],
    reach: f64,
    /// The index in `sorted` at which each bucket begins. One more entry is for the end.
    begins: Vec<u32>,
    /// The indices and places of the entities in buckets, bucket by bucket.
    sorted: Vec<(u32, [f64; 3])>,
    /// The entities that are near every box: those that have no place along some axis.
    everywhere: Vec<(u32, [f64; 3])>,
    /// Scratch memory: the bucket of each entity.
    buckets: Vec<u32>,
    /// Scratch memory: a bit for each entity that a search found.
    found: Vec<u64>,
    /// Scratch memory: the squared distance of each entity that a search found.
    distances: Vec<f64>,
}

impl Grid {
    /// Makes a grid between bounds, which are empty along an axis that no position has. `reach` is
    /// the distance from a box up to which entities are found.
    pub(super) fn new(bounds: [(f64, f64); 3], reach: f64) -> Self {
        let extents = bounds.map(|(low, high)| (high - low).clamp(0.0, f64::MAX / 2.0));
        let count = |extent: f64, edge: f64| (extent / edge).floor() + 1.0;
        let largest = extents.iter().fold(0.0, |largest: f64, extent| largest.max(*extent));
        let mut edge = (reach / BUCKETS_IN_REACH).max(largest / MOST_BUCKETS);
        while extents.iter().map(|extent| count(*extent, edge)).product::<f64>() > MOST_BUCKETS {
            edge *= 2.0;
        }
        let counts = extents.map(|extent| count(extent, edge) as usize);
        let origin = bounds.map(|(low, _)| if low.is_finite() { low } else { 0.0 });
        Self {
            origin,
            edge,
            counts,
            reach,
            begins: Vec::new(),
            sorted: Vec::new(),
            everywhere: Vec::new(),
            buckets: Vec::new(),
            found: Vec::new(),
            distances: Vec::new(),
        }
    }

    /// The bucket of a number along an axis, or the nearest one.
    fn along(&self, axis: usize, number: f64) -> usize {
        let bucket = (number - self.origin[axis]) / self.edge;
        (bucket.max(0.0) as usize).min(self.counts[axis] - 1)
    }

    /// The number of a bucket. Buckets with neighbouring places along the last axis are neighbours.
    fn bucket(&self, [x, y, z]: [usize; 3]) -> usize {
        (x * self.counts[1] + y) * self.counts[2] + z
    }

    /// Takes the places of all entities. Along an axis on which no place of the grid has a number,
    /// all entities are in the first bucket.
    pub(super) fn fill(&mut self, places: &[[f64; 3]]) {
        let Self { counts, .. } = *self;
        self.begins.clear();
        self.begins.resize(counts.iter().product::<usize>() + 1, 0);
        self.everywhere.clear();
        self.buckets.clear();
        for (index, place) in places.iter().enumerate() {
            let is_placed = |axis: usize| place[axis].is_finite() || counts[axis] == 1;
            let bucket = (0..3)
                .all(is_placed)
                .then(|| self.bucket([0, 1, 2].map(|axis| self.along(axis, place[axis]))) as u32);
            match bucket {
                Some(bucket) => self.begins[bucket as usize] += 1,
                None => self.everywhere.push((index as u32, *place)),
            }
            self.buckets.push(bucket.unwrap_or(u32::MAX));
        }
        let mut end = 0;
        for begin in &mut self.begins {
            // Each begin is at first the end of its bucket, and falls as the bucket is filled.
            end += *begin;
            *begin = end;
        }
        self.sorted.clear();
        self.sorted.resize(end as usize, (0, [0.0; 3]));
        for (index, (bucket, place)) in (0..).zip(self.buckets.iter().zip(places)) {
            if let Some(begin) = self.begins.get_mut(*bucket as usize) {
                *begin -= 1;
                self.sorted[*begin as usize] = (index, *place);
            }
        }
        self.found.clear();
        self.found.resize(places.len().div_ceil(64), 0);
        self.distances.clear();
        self.distances.resize(places.len(), 0.0);
    }

    /// Calls `each` with the indices of the entities within the reach of a box, in increasing order,
    /// and with their squared distances from it. Some other entities are among them, but none beyond
    /// the squared distance `farthest`. An entity without a place has no distance, and is near
    /// everything.
    pub(super) fn near(
        &mut self,
        low: [f64; 3],
        high: [f64; 3],
        farthest: f64,
        mut each: impl FnMut(usize, Option<f64>),
    ) {
        let axes = [0, 1, 2];
        let first = axes.map(|axis| self.along(axis, low[axis] - self.reach));
        let last = axes.map(|axis| self.along(axis, high[axis] + self.reach));
        let (mut found, mut distances) =
            (std::mem::take(&mut self.found), std::mem::take(&mut self.distances));
        let mut mark = |entities: &[(u32, [f64; 3])]| {
            for (index, place) in entities {
                let squared = squared_distance(*place, low, high);
                // The bit is set without a branch, which would be hard to predict.
                let is_far = squared.is_some_and(|squared| squared > farthest);
                found[*index as usize / 64] |= u64::from(!is_far) << (index % 64);
                distances[*index as usize] = squared.unwrap_or(f64::NAN);
            }
        };
        mark(&self.everywhere);
        for x in first[0]..=last[0] {
            if first[2] == 0 && last[2] + 1 == self.counts[2] {
                mark(self.between([x, first[1], 0], [x, last[1], last[2]]));
                continue;
            }
            for y in first[1]..=last[1] {
                mark(self.between([x, y, first[2]], [x, y, last[2]]));
            }
        }
        for (word, bits) in found.iter_mut().enumerate() {
            let mut rest = std::mem::take(bits);
            while rest != 0 {
                let index = word * 64 + rest.trailing_zeros() as usize;
                each(index, Some(distances[index]).filter(|squared| !squared.is_nan()));
                rest &= rest - 1;
            }
        }
        (self.found, self.distances) = (found, distances);
    }

    /// The entities in the buckets from `first` to `last`, whose numbers have no gap.
    fn between(&self, first: [usize; 3], last: [usize; 3]) -> &[(u32, [f64; 3])] {
        let begin = self.begins[self.bucket(first)];
        let end = self.begins[self.bucket(last) + 1];
        &self.sorted[begin as usize..end as usize]
    }
}

/// The squared distance of a place from a box. `None` for an entity without a position, which has
/// no number along any axis. Along an axis that the position does not have, its number is infinite
/// and the distance is 0.
pub(super) fn squared_distance(place: [f64; 3], low: [f64; 3], high: [f64; 3]) -> Option<f64> {
    if place[0].is_nan() {
        return None;
    }
    let off = |axis: usize| {
        let along = place[axis];
        let off = (low[axis] - along).max(along - high[axis]).max(0.0);
        if along.is_infinite() { 0.0 } else { off }
    };
    let [x, y, z] = [off(0), off(1), off(2)];
    Some(x * x + y * y + z * z)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers from 0 to 1, always the same.
    fn numbers() -> impl FnMut() -> f64 {
        let mut state = 1u64;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as f64 / f64::from(1 << 24)
        }
    }

    #[test]
    fn everything_within_the_reach_is_found_in_order() {
        let mut number = numbers();
        for (extents, reach) in [
            ([100.0, 100.0, 100.0], 30.0),
            ([1e6, 1e6, 10.0], 40.0),
            ([500.0, 300.0, f64::NEG_INFINITY], 20.0),
            ([f64::NEG_INFINITY; 3], 5.0),
            ([f64::MAX; 3], 1e-9),
            ([1e-30, 1e30, 1.0], 1e-9),
        ] {
            let bounds = extents.map(|extent: f64| (-extent, extent));
            let mut grid = Grid::new(bounds, reach);
            assert!(grid.counts.iter().product::<usize>() <= MOST_BUCKETS as usize);
            let places: Vec<[f64; 3]> = (0..300)
                .map(|nth| {
                    let missing = if nth % 7 == 0 { f64::NAN } else { f64::INFINITY };
                    extents.map(|extent| {
                        let along = (number() * 2.0 - 1.0) * extent.min(200.0);
                        if extent < 0.0 || nth % 7 == 0 { missing } else { along }
                    })
                })
                .collect();
            grid.fill(&places);
            for _ in 0..40 {
                let low = extents.map(|extent| (number() * 3.0 - 1.5) * extent.clamp(0.0, 200.0));
                let high = low.map(|along| along + 10.0);
                let mut found = Vec::new();
                grid.near(low, high, f64::INFINITY, |index, _| found.push(index));
                assert!(found.is_sorted_by(|a, b| a < b));
                let is_near = |place: &[f64; 3]| {
                    (0..3).all(|axis| {
                        !place[axis].is_finite()
                            || (low[axis] - reach..=high[axis] + reach).contains(&place[axis])
                    })
                };
                for (index, place) in places.iter().enumerate() {
                    assert!(!is_near(place) || found.contains(&index), "{place:?} {low:?}");
                }
            }
        }
    }

    #[test]
    fn what_is_far_away_is_not_looked_at() {
        let mut grid = Grid::new([(0.0, 1000.0), (0.0, 1000.0), (0.0, 10.0)], 20.0);
        let places: Vec<[f64; 3]> =
            (0..1000).map(|nth| [f64::from(nth), f64::from(nth), 5.0]).collect();
        grid.fill(&places);
        let mut found = Vec::new();
        let (low, high) = ([500.0, 500.0, 0.0], [510.0, 510.0, 10.0]);
        grid.near(low, high, f64::INFINITY, |index, _| found.push(index));
        assert!((51..=70).contains(&found.len()), "{found:?}");
        found.clear();
        grid.near(low, high, 200.0, |index, squared| {
            assert!(squared.is_some_and(|squared| squared <= 200.0));
            found.push(index);
        });
        assert!(found.iter().copied().eq(490..=520), "{found:?}");
    }
}
