//! Time precision: how exact a moving field has to be, as a time.

/// Lets a field be coarser while it moves: a value may be off by what it moves in a time, as both
/// sides know its speed from acknowledged states. In steps of the field times a power of two, so
/// that half a step is no more than that. No bit says so; what comes to rest is refined until it is
/// exact. `spec/CODEC.md`, section 14.
///
/// For floats that do not wrap and for rotations. With `n` lanes (3 of a rotation),
/// `time_precision_ms` must be below the duration of a tick divided by 2·√n, so that what rests is
/// told finer with every step until it is exact. It changes neither lanes nor the schema's hash,
/// but the [`Codec`](crate::Codec)'s.
///
/// ```
/// use kinepack::{Baselines, Codec, Encoder, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick, View};
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
/// // 3 units a second: in 2 ms it falls by 6 of its steps, so that steps of 8 are fine enough.
/// let [older, baseline] = [at(0, 10.0)?, at(6, 9.7)?].map(View::from);
/// let mut packet = Vec::new();
/// let known = Baselines::new([&baseline, &older])?;
/// let view = Encoder::new(&codec).encode(known, &at(12, 9.397)?, &mut packet)?;
/// assert_eq!(view.get::<Ball>(EntityId(1))?.map(|ball| ball.height), Some(9.4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimePrecision {
    /// The time, in milliseconds.
    pub time_precision_ms: f64,
    /// Ticks of a second, which give speeds their unit.
    pub ticks_per_s: f64,
    /// The coarsest step: in the field's unit, of a rotation the angle in radians. Without it 16 of
    /// the field's steps, of a rotation 8.
    pub max_step: Option<f64>,
}

impl TimePrecision {
    /// A time precision without a coarsest step of its own.
    pub const fn new(time_precision_ms: f64, ticks_per_s: f64) -> Self {
        Self { time_precision_ms, ticks_per_s, max_step: None }
    }

    /// The same with a coarsest step.
    #[must_use]
    pub const fn with_max_step(self, max_step: f64) -> Self {
        Self { max_step: Some(max_step), ..self }
    }

    /// The time in ticks.
    pub(crate) const fn ticks(&self) -> f64 {
        self.time_precision_ms * self.ticks_per_s / 1000.0
    }

    /// True where a field of so many lanes can have it.
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
