//! The last snapshots of a stream, as a sender remembers them.

use kinepack::{Baselines, Schema, Snapshot, Tick};

/// A ring of snapshots.
#[derive(Clone, Debug)]
pub struct Past {
    ring: Vec<Snapshot>,
    /// Snapshots that were put in so far.
    count: usize,
}

impl Past {
    /// One that knows the newest snapshot and so many before it.
    pub fn new(schema: &Schema, before: usize) -> Self {
        Self { ring: vec![Snapshot::new(schema, Tick(0)); before + 1], count: 0 }
    }

    /// Room for the next snapshot, which becomes the newest. What the oldest held is still in it.
    pub fn advance(&mut self) -> &mut Snapshot {
        self.count += 1;
        let at = (self.count - 1) % self.ring.len();
        &mut self.ring[at]
    }

    /// The snapshot so many before the newest; `None` before the first, and where it is forgotten.
    pub fn back(&self, before: usize) -> Option<&Snapshot> {
        let index = self.count.checked_sub(1 + before).filter(|_| before < self.ring.len())?;
        Some(&self.ring[index % self.ring.len()])
    }

    /// What the newest is coded against where each snapshot is acknowledged `lag` later: calls `then` with the newest, the baseline and the
    /// older states; `None` where there is no baseline.
    pub fn with_baselines<R>(&self, lag: usize, then: impl FnOnce(&Snapshot, Baselines<'_>) -> R) -> Option<R> {
        let (newest, baseline) = (self.back(0)?, self.back(lag)?);
        let older: Vec<&Snapshot> = (2..=3).map_while(|times| self.back(times * lag)).collect();
        Some(then(newest, Baselines::new(baseline, &older)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kinepack::{Field, FieldKind};

    #[test]
    fn the_last_are_known() {
        let schema = Schema::new(vec![Field::new("flag", FieldKind::Bool)]);
        let mut past = Past::new(&schema, 4);
        assert!(past.back(0).is_none());
        for tick in 0..8 {
            past.advance().clear(Tick(tick));
            assert_eq!(past.back(0).map(|snapshot| snapshot.tick), Some(Tick(tick)));
        }
        assert_eq!(past.back(4).map(|snapshot| snapshot.tick), Some(Tick(3)));
        assert!(past.back(5).is_none());
        let ticks = past.with_baselines(2, |newest, known| {
            (newest.tick.0, known.baseline.tick.0, known.older.iter().map(|older| older.tick.0).collect::<Vec<_>>())
        });
        assert_eq!(ticks, Some((7, 5, vec![3])));
        assert!(past.with_baselines(5, |_, _| ()).is_none());
    }
}
