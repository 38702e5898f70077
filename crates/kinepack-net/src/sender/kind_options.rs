//! The rate at which the entities of a kind are sent, and their priority.

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
/// // Only every fourth snapshot moves debris, and a tight budget serves the players first.
/// hub.set_kind("debris", KindOptions { every: 4, priority: 0.1 })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KindOptions {
    /// The hub sends changes of these entities in one out of this many ticks: 1, 2, 4 or 8. It
    /// sends added and removed entities in any tick. But an entity that lives for less than `every`
    /// ticks may be removed only when its kind is due.
    pub every: u32,
    /// How much these entities matter if not everything fits, at least 0. The hub multiplies the
    /// priorities of [`Hub::tick_with`](crate::Hub::tick_with) by this value. Receivers still share
    /// their snapshots.
    pub priority: f32,
}

impl Default for KindOptions {
    /// Sends the kind in every tick, with a priority of 1.
    fn default() -> Self {
        Self { every: 1, priority: 1.0 }
    }
}
