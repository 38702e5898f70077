//! The last snapshots of a stream, as a sender remembers them.

use kinepack::{Baselines, Codec, EncodeError, Encoder, Schema, Snapshot, Tick};

/// A ring of snapshots.
pub struct Past {
    ring: Vec<Snapshot>,
    /// Snapshots that were put in so far.
    count: usize,
    coarsening: Option<Coarsening>,
}

/// Makes snapshots as coarse as a time precision allows.
struct Coarsening {
    encoder: Encoder,
    lag: usize,
    snapshot: Snapshot,
}

impl Past {
    /// One that knows the newest snapshot and so many before it.
    pub fn new(schema: &Schema, before: usize) -> Self {
        Self { ring: vec![Snapshot::new(schema, Tick(0)); before + 1], count: 0, coarsening: None }
    }

    /// The same of snapshots as a receiver of this codec has them that acknowledges each one `lag` later: as coarse as the time precision of its
    /// fields makes them.
    pub fn received(codec: &Codec, before: usize, lag: usize) -> Self {
        let schema = codec.schema();
        let coarsening = codec.has_precision().then(|| Coarsening {
            encoder: Encoder::new(codec),
            lag,
            snapshot: Snapshot::new(schema, Tick(0)),
        });
        Self { coarsening, ..Self::new(schema, before.max(2 * lag)) }
    }

    /// Takes in the next snapshot.
    ///
    /// # Errors
    /// [`EncodeError`] for a snapshot of another schema.
    pub fn push(&mut self, newest: &Snapshot) -> Result<(), EncodeError> {
        let Some(mut coarsening) = self.coarsening.take() else {
            self.advance().clone_from(newest);
            return Ok(());
        };
        let Coarsening { encoder, lag, snapshot } = &mut coarsening;
        snapshot.clone_from(newest);
        let known = lag.checked_sub(1).and_then(|before| Some((self.back(before)?, self.back(before + *lag))));
        let coarsened = known
            .map_or(Ok(()), |(baseline, older)| encoder.coarsen(Baselines::new(baseline, older.as_slice()), snapshot));
        std::mem::swap(self.advance(), snapshot);
        self.coarsening = Some(coarsening);
        coarsened
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
    use kinepack::{EntityId, Field, FieldKind, FloatLimits, Level, Profile, TimePrecision};

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

    #[test]
    fn what_a_receiver_has_is_coarse_while_it_moves_and_exact_at_rest() {
        let limits = FloatLimits::new(-100.0, 100.0, 0.001).unwrap();
        let field = Field::new("position", FieldKind::Floats(vec![limits]));
        let precise = Schema::new(vec![field.clone()]);
        let schema = Schema::new(vec![field.with_time_precision(TimePrecision::new(4.0, 60.0))]);
        for (schema, is_coarse) in [(&schema, true), (&precise, false)] {
            let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(schema)).unwrap();
            let (mut received, mut exact) = (Past::received(&codec, 6, 2), Past::new(schema, 6));
            let mut differed = 0;
            for tick in 0..60_u32 {
                let mut snapshot = Snapshot::new(schema, Tick(tick));
                // It stops after 40 ticks.
                snapshot.push_lanes(EntityId(0), &[50_000 + 101 * tick.min(40)]).unwrap();
                received.push(&snapshot).unwrap();
                exact.push(&snapshot).unwrap();
                assert_eq!(exact.back(0), Some(&snapshot));
                differed += u32::from(received.back(0) != exact.back(0));
            }
            assert_eq!(differed > 0, is_coarse, "{differed}");
            assert_eq!(received.back(0), exact.back(0));
        }
    }
}
