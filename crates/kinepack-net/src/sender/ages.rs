//! Sets of recent ticks as bits, used to choose baselines that many receivers hold.

use kinepack::Tick;

/// A view of at most this age is young. A view at most twice as old as the oldest view that a
/// shared encoding is coded against is young too.
const YOUNG_TICKS: u32 = 24;

/// A set of earlier ticks, as ages. Age 0 is the previous tick.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ages(u128);

impl Ages {
    pub(super) const COUNT: usize = 128;

    /// Adds a tick before `now`, if it is not too old.
    pub(super) fn insert(&mut self, now: Tick, tick: Tick) {
        if let Some(age) = now.0.checked_sub(tick.0).and_then(|ticks| ticks.checked_sub(1)) {
            self.0 |= 1u128.checked_shl(age).unwrap_or(0);
        }
    }

    pub(super) fn insert_age(&mut self, age: usize) {
        self.0 |= 1 << age;
    }

    /// The first tick whose views are young relative to these ages; tick 0 if the set is empty.
    pub(super) fn oldest_young(self, now: Tick) -> Tick {
        let oldest = self.0.checked_ilog2();
        Tick(oldest.map_or(0, |oldest| now.0.saturating_sub((2 * oldest).max(YOUNG_TICKS))))
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn both(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn meet(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The tick that has the age `age` in tick `now`.
    pub(super) fn tick(now: Tick, age: usize) -> Tick {
        Tick(now.0 - 1 - age as u32)
    }

    /// Iterates from the newest age to the oldest.
    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        let mut remaining = self.0;
        std::iter::from_fn(move || {
            let age = (remaining != 0).then(|| remaining.trailing_zeros() as usize)?;
            remaining &= remaining - 1;
            Some(age)
        })
    }
}
