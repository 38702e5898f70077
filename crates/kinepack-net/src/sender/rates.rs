//! How often a hub sends each kind of entity, and how much a kind matters.
//!
//! A kind that is not due in a tick *rests*: the hub skips its changed entities, as it skips
//! entities that a budget has no room for. The snapshot is then partial, and spends nothing on
//! them. Added and removed entities are always due.
//!
//! At least every eighth tick all kinds are due, so that complete views stay frequent: they are the
//! preferred baselines, and older views must be complete. This is why the rates are powers of two.

use std::sync::Arc;

use kinepack::Schema;

use super::history::WHOLE_PREFERRED;
use super::hub::Hub;
use crate::NetError;

/// The largest [`KindOptions::every`]. A complete view must be near enough to be preferred as
/// baseline.
const MAX_EVERY: u32 = WHOLE_PREFERRED as u32;

/// How a hub sends the entities of one kind.
///
/// ```
/// # use kinepack::{Codec, Level, Pack, Profile, Schema};
/// # use kinepack_net::{Hub, HubConfig, KindOptions};
/// # #[derive(Pack)]
/// # struct Player {
/// #     #[pack(max = 100)]
/// #     health: u8,
/// # }
/// # #[derive(Pack)]
/// # struct Debris {
/// #     #[pack(range = -64.0..64.0, precision = 0.01)]
/// #     position: [f32; 3],
/// # }
/// let schema = Schema::builder().kind::<Player>("player").kind::<Debris>("debris").build()?;
/// # let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
/// let mut hub = Hub::new(&codec, HubConfig::default())?;
/// // Debris moves in every fourth snapshot, and a tight budget is for the players first.
/// hub.set_kind("debris", KindOptions { every: 4, priority: 0.1 })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KindOptions {
    /// With 4, changes of these entities are sent in every fourth tick of the hub. It can be 1, 2,
    /// 4 or 8. Added and removed entities are sent in any tick, but one that lives for less than
    /// `every` ticks may be removed only when its kind is due.
    pub every: u32,
    /// How much these entities matter if not everything fits, at least 0. It multiplies the
    /// priorities of [`Hub::tick_with`]. Receivers still share their snapshots.
    pub priority: f32,
}

impl Default for KindOptions {
    /// Every tick, with a priority of 1.
    fn default() -> Self {
        Self { every: 1, priority: 1.0 }
    }
}

/// The options of all kinds, and which kinds are due.
#[derive(Debug)]
pub(super) struct Rates {
    kinds: Arc<[KindOptions]>,
    /// The number of the hub's ticks, including the current one.
    ticks: u64,
}

impl Rates {
    pub(super) fn new(schema: &Schema) -> Self {
        let kinds = schema.kinds().iter().map(|_| KindOptions::default()).collect();
        Self { kinds, ticks: 0 }
    }

    pub(super) fn begin(&mut self) {
        self.ticks += 1;
    }

    pub(super) fn is_due(&self, kind: usize) -> bool {
        (self.ticks - 1).is_multiple_of(u64::from(self.kinds[kind].every))
    }

    /// Whether all kinds are due.
    pub(super) fn are_all_due(&self) -> bool {
        (0..self.kinds.len()).all(|kind| self.is_due(kind))
    }

    /// The options of all kinds.
    pub(super) fn options(&self) -> &Arc<[KindOptions]> {
        &self.kinds
    }
}

impl Hub {
    /// Sets how often changes of a kind of entities are sent, and how much they matter.
    ///
    /// With [`every`](KindOptions::every) above 1, those entities take fewer bits, and move in
    /// larger steps that playback blends. Playback then needs a state that is `every` ticks ahead,
    /// so the playout delay grows by the same. The other kinds take a few more bits, because
    /// snapshots are coded against states in which all kinds were due.
    ///
    /// # Errors
    /// [`NetError::NoSuchKind`], and [`NetError::KindOptions`] if a number is out of its range.
    pub fn set_kind(&mut self, kind: &str, options: KindOptions) -> Result<(), NetError> {
        let index = self.schema.kinds().iter().position(|known| known.name() == kind);
        let index = index.ok_or_else(|| NetError::NoSuchKind { name: kind.into() })?;
        let is_rate = options.every.is_power_of_two() && options.every <= MAX_EVERY;
        if !is_rate || !(0.0..=f32::MAX).contains(&options.priority) {
            return Err(NetError::KindOptions { options });
        }
        Arc::make_mut(&mut self.sending.rates.kinds)[index] = options;
        Ok(())
    }
}
