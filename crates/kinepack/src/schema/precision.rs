//! Time precision: the exactness of a moving field, given as a time.

/// Lets a field be coarser while it moves: a value may be off by the distance that it moves in a
/// given time. Both sides know the field's speed from acknowledged states. The coarse step is the
/// field's step times a power of two, and half of the coarse step is at most that distance. The
/// packet spends no bits on the choice of the step. An entity that comes to rest is refined until
/// it is exact. `spec/CODEC.md`, section 14, defines the arithmetic.
///
/// Floats that do not wrap and rotations can have a time precision. With `n` lanes (3 for a
/// rotation), `time_precision_ms` must be below the duration of a tick divided by 2·√n. This limit
/// ensures that each packet refines an entity at rest until it is exact. A time precision changes
/// the [`Codec`](crate::Codec)'s hash, but neither the lanes nor the schema's hash.
///
/// ```
/// use kinepack::{
///     Baselines, Codec, Encoder, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick, View,
/// };
///
/// #[derive(Pack)]
/// #[pack(ticks_per_s = 60.0)]
/// struct Ball {
///     #[pack(range = -100.0..100.0, precision = 0.001, time_precision_ms = 2.0)]
///     height: f32,
/// }
///
/// let schema = Schema::of::<Ball>();
/// let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
/// let at = |tick, height| -> Result<Snapshot, kinepack::EncodeError> {
///     let mut snapshot = Snapshot::new(&schema, Tick(tick));
///     snapshot.push(EntityId(1), &Ball { height })?;
///     Ok(snapshot)
/// };
/// // At 3 units a second, the ball falls by 6 steps in 2 ms, so a step of 8 is fine enough.
/// let [older, baseline] = [at(0, 10.0)?, at(6, 9.7)?].map(View::from);
/// let mut packet = Vec::new();
/// let known = Baselines::new([&baseline, &older])?;
/// let view = Encoder::new(&codec).encode(known, &at(12, 9.397)?, &mut packet)?;
/// assert_eq!(view.get::<Ball>(EntityId(1))?.map(|ball| ball.height), Some(9.4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimePrecision {
    /// A value may be off by the distance that the field moves in this time, in milliseconds.
    pub time_precision_ms: f64,
    /// Ticks per second, which convert speeds per tick to speeds per second.
    pub ticks_per_s: f64,
    /// The coarsest step, in the field's unit; for a rotation an angle in radians. `None` means 16
    /// of the field's steps, or 8 for a rotation.
    pub max_step: Option<f64>,
}

impl TimePrecision {
    /// Makes a time precision with the default coarsest step.
    pub const fn new(time_precision_ms: f64, ticks_per_s: f64) -> Self {
        Self { time_precision_ms, ticks_per_s, max_step: None }
    }

    /// Returns the same time precision with this coarsest step.
    #[must_use]
    pub const fn with_max_step(self, max_step: f64) -> Self {
        Self { max_step: Some(max_step), ..self }
    }

    /// Returns the time in ticks.
    pub(crate) const fn ticks(&self) -> f64 {
        self.time_precision_ms * self.ticks_per_s / 1000.0
    }

    /// Returns true if a field of `lanes` lanes can have this time precision.
    pub(crate) const fn is_possible(&self, lanes: usize) -> bool {
        let ticks = self.ticks();
        is_positive(self.time_precision_ms)
            && is_positive(self.ticks_per_s)
            && 4.0 * ticks * ticks * (lanes as f64) < 1.0
            && match self.max_step {
                Some(step) => is_positive(step),
                None => true,
            }
    }
}

const fn is_positive(value: f64) -> bool {
    value > 0.0 && value < f64::INFINITY
}
