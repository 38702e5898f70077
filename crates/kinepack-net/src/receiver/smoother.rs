//! Shows entities without jumps, although playback learns only later where they were: the return
//! from an extrapolated place.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Duration;

use kinepack::frame::FrameError;
use kinepack::schema::Share;
use kinepack::{EncodeError, EntityId, Pack, Schema};

use super::playback::{Playback, Sample};
use crate::fade::{Fade, Lasts, Step};
use crate::model::{BySchema, ByType, Model};

/// An entity that was not drawn for longer than this begins anew, without a fade.
const LONGEST_GAP: Duration = Duration::from_millis(250);

/// Shows entities without jumps, for kinds that are [extrapolated](crate::Extrapolation), and for
/// those that are held while others are. When the next state arrives, the shown place differs from
/// the true one. The smoother keeps this distance and fades it out, with a steady velocity.
///
/// Call [`begin`](Self::begin) once for each frame, then one of the other methods for each entity
/// that is drawn. As long as no entity has waited for a state, the results are those of
/// [`Sample::state`]. An entity that [jumps](Playback::cut), or was [added](Playback::added) again,
/// does not fade.
///
/// Use a smoother for each type. It keeps a few states for each entity that was drawn in the last
/// quarter of a second. It allocates memory only if there are more of them than ever before.
///
/// ```
/// use std::time::Duration;
/// use kinepack::Pack;
/// use kinepack_net::{Playback, Smoother};
///
/// #[derive(Pack, Clone)]
/// struct Unit {
///     #[pack(range = -256.0..256.0, precision = 0.01)]
///     position: [f32; 3],
/// }
///
/// fn draw(
///     smoother: &mut Smoother<Unit>,
///     now: Duration,
///     playback: &Playback<'_>,
/// ) -> Result<Vec<[f32; 3]>, kinepack::EncodeError> {
///     smoother.begin(now);
///     let samples = playback.samples_of::<Unit>()?;
///     samples.map(|sample| Ok(smoother.state(playback, &sample)?.position)).collect()
/// }
///
/// let smoother = Smoother::<Unit>::new(Duration::from_millis(150));
/// # let _ = (draw, smoother);
/// ```
#[derive(Debug)]
pub struct Smoother<T> {
    of: Smoothing<T>,
}

/// A [`Smoother`] for entities that no type describes: their states are
/// [raw words](kinepack::Schema::reconstruct_raw). It shows the same numbers as a smoother of a type
/// whose real numbers are `f64`. Use one for each kind.
///
/// ```
/// use std::time::Duration;
/// use kinepack::{EncodeError, Schema};
/// use kinepack_net::{Playback, WordSmoother};
///
/// fn draw(
///     smoother: &mut WordSmoother,
///     now: Duration,
///     playback: &Playback<'_>,
/// ) -> Result<Vec<Vec<u64>>, EncodeError> {
///     smoother.begin(now);
///     let samples = playback.samples_of_kind(0);
///     samples.map(|sample| Ok(smoother.state(playback, &sample)?.to_vec())).collect()
/// }
///
/// let schema = Schema::of::<u8>();
/// let smoother = WordSmoother::new(&schema, Duration::from_millis(150))?;
/// # let _ = (draw, smoother);
/// # Ok::<(), EncodeError>(())
/// ```
///
/// Each state is allocated.
#[derive(Debug)]
pub struct WordSmoother {
    model: BySchema,
    of: Smoothing<Vec<u64>>,
}

/// The entities that were drawn lately.
#[derive(Debug)]
struct Smoothing<T> {
    fade: Duration,
    now: Duration,
    drawn: HashMap<EntityId, Drawn<T>>,
}

/// An entity as it was drawn last.
#[derive(Debug)]
struct Drawn<T> {
    at: Duration,
    shown: T,
    /// The time before, and what was shown then. Equal if it was drawn once.
    before: (Duration, T),
    /// The tick since which it waited for a state, if it did.
    waits: Option<f64>,
    /// The entity that it was relative to.
    frame: Option<EntityId>,
    fade: Option<Fade<T>>,
}

impl<T> Default for Smoother<T> {
    /// Fades in 200 ms.
    fn default() -> Self {
        Self::new(Duration::from_millis(200))
    }
}

impl<T> Smoother<T> {
    /// Makes a smoother. After the time `fade`, a twentieth of the distance is left. With zero,
    /// nothing fades.
    pub fn new(fade: Duration) -> Self {
        Self { of: Smoothing::new(fade) }
    }

    /// Begins a frame at `now`, and forgets the entities that were not drawn for a while.
    ///
    /// Cost: a look at each entity that was drawn lately.
    pub fn begin(&mut self, now: Duration) {
        self.of.begin(now);
    }
}

impl<T: Pack + Clone> Smoother<T> {
    /// The state to draw: [`Sample::state`], and what is left of a distance to it.
    ///
    /// # Errors
    /// Returns the errors of [`Sample::state`]; then nothing has changed.
    pub fn state(
        &mut self,
        playback: &Playback<'_>,
        sample: &Sample<'_>,
    ) -> Result<&T, EncodeError> {
        self.of.draw(&ByType, playback, sample, frame_of(sample), |_, sample| sample.state())
    }

    /// The state to draw in world coordinates: [`Playback::in_world`], and what is left of a
    /// distance to it.
    ///
    /// # Errors
    /// Returns the errors of [`Playback::in_world`]; then nothing has changed.
    pub fn in_world(
        &mut self,
        playback: &Playback<'_>,
        sample: &Sample<'_>,
    ) -> Result<&T, FrameError> {
        self.state_with(playback, sample, Playback::in_world)
    }

    /// The state to draw by the game's own function, for [`Extrapolation::Game`] and others: what
    /// `state` returns for a sample, and what is left of a distance to it. `state` may be called
    /// for another moment too, and must depend on its arguments only.
    ///
    /// ```
    /// # use kinepack::{EncodeError, Pack};
    /// # use kinepack_net::{Playback, Sample, Smoother};
    /// # #[derive(Pack, Clone)]
    /// # struct Ball {
    /// #     #[pack(range = 0.0..64.0, precision = 0.01)]
    /// #     height: f32,
    /// #     #[pack(velocity, range = -64.0..64.0, precision = 0.01)]
    /// #     climb: f32,
    /// # }
    /// fn ball<'s>(
    ///     smoother: &'s mut Smoother<Ball>,
    ///     playback: &Playback<'_>,
    ///     sample: &Sample<'_>,
    /// ) -> Result<&'s Ball, EncodeError> {
    ///     smoother.state_with(playback, sample, |_, sample| {
    ///         let mut ball: Ball = sample.state()?;
    ///         // While no state arrives, the ball falls.
    ///         let seconds = sample.starved_for().as_secs_f32().min(0.25);
    ///         ball.height += (ball.climb - 9.81 / 2.0 * seconds) * seconds;
    ///         ball.height = ball.height.max(0.0);
    ///         Ok(ball)
    ///     })
    /// }
    /// # let _ = ball;
    /// ```
    ///
    /// # Errors
    /// Returns the errors of `state`; then nothing has changed.
    ///
    /// [`Extrapolation::Game`]: crate::Extrapolation::Game
    pub fn state_with<'a, E>(
        &mut self,
        playback: &Playback<'a>,
        sample: &Sample<'a>,
        state: impl FnMut(&Playback<'a>, &Sample<'a>) -> Result<T, E>,
    ) -> Result<&T, E> {
        self.of.draw(&ByType, playback, sample, None, state)
    }
}

impl WordSmoother {
    /// Makes a smoother for entities of a schema with one kind, such as
    /// [`Schema::of_kind`](kinepack::Schema::of_kind). `fade` is as for [`Smoother::new`].
    ///
    /// # Errors
    /// Returns [`EncodeError::LaneCount`] if the schema has several kinds.
    pub fn new(schema: &Schema, fade: Duration) -> Result<Self, EncodeError> {
        // Only a schema of one kind has raw words.
        let count = schema.lanes().len();
        schema.reconstruct_raw(&vec![0; count], &mut vec![0; count])?;
        Ok(Self { model: BySchema::new(schema.clone()), of: Smoothing::new(fade) })
    }

    /// Begins a frame: see [`Smoother::begin`].
    pub fn begin(&mut self, now: Duration) {
        self.of.begin(now);
    }

    /// The raw words of the state to draw: see [`Smoother::state`].
    ///
    /// # Errors
    /// Returns [`EncodeError::LaneCount`] if the sample is of a kind with other lanes; then nothing
    /// has changed.
    pub fn state(
        &mut self,
        playback: &Playback<'_>,
        sample: &Sample<'_>,
    ) -> Result<&[u64], EncodeError> {
        let Self { model, of } = self;
        let words = |_: &Playback<'_>, sample: &Sample<'_>| {
            let [from, to] = [sample.from, sample.to]
                .map(|(state, index)| state.lanes_at(index).collect::<Vec<u32>>());
            let mut words = vec![0; model.schema().lanes().len()];
            model.schema().interpolate_raw(&from, &to, sample.between, &mut words)?;
            Ok(words)
        };
        of.draw(model, playback, sample, frame_of(sample), words).map(Vec::as_slice)
    }
}

/// The entity that a sample's entity is relative to at the moment.
fn frame_of(sample: &Sample<'_>) -> Option<EntityId> {
    let is_after = sample.between.ratio >= 1.0;
    let (state, index) = if is_after { sample.to } else { sample.from };
    state.frame_at(index)
}

impl<T> Smoothing<T> {
    fn new(fade: Duration) -> Self {
        Self { fade, now: Duration::ZERO, drawn: HashMap::new() }
    }

    fn begin(&mut self, now: Duration) {
        self.now = self.now.max(now);
        self.drawn.retain(|_, drawn| self.now - drawn.at <= LONGEST_GAP);
    }
}

impl<T: Clone> Smoothing<T> {
    fn draw<'a, E>(
        &mut self,
        model: &impl Model<T>,
        playback: &Playback<'a>,
        sample: &Sample<'a>,
        frame: Option<EntityId>,
        mut state: impl FnMut(&Playback<'a>, &Sample<'a>) -> Result<T, E>,
    ) -> Result<&T, E> {
        let (now, id) = (self.now, sample.id);
        let known = state(playback, sample)?;
        let waits = sample.starved.filter(|of| of.passed_s > 0.0).map(|of| of.since);
        let drawn = match self.drawn.entry(id) {
            Entry::Occupied(drawn) => drawn.into_mut(),
            Entry::Vacant(vacant) => {
                let before = (now, known.clone());
                let drawn = Drawn { at: now, shown: known, before, waits, frame, fade: None };
                return Ok(&vacant.insert(drawn).shown);
            }
        };
        let begins =
            drawn.frame != frame || playback.added().contains(&id) || playback.cut().contains(&id);
        if begins {
            let before = (now, known.clone());
            *drawn = Drawn { at: now, shown: known, before, waits, frame, fade: None };
            return Ok(&drawn.shown);
        }
        // The entity was drawn in this frame already.
        if drawn.at == now {
            return Ok(&drawn.shown);
        }
        let is_revised = drawn.waits.is_some() && drawn.waits != waits && !self.fade.is_zero();
        if is_revised && let Some((playback, sample, seconds)) = playback.nearby(id) {
            let beside = state(&playback, &sample)?;
            let known = Step { at: known.clone(), beside, seconds };
            let lasts = Lasts { position: self.fade, rotation: self.fade };
            let shown = drawn.carried_on(model, now);
            drawn.fade = Some(Fade::new(now.as_secs_f64(), shown, known, lasts));
        }
        let mut shown = known;
        let fade = drawn.fade.as_ref();
        let is_over = fade.is_some_and(|fade| fade.apply(model, &mut shown, now.as_secs_f64()));
        drawn.fade = drawn.fade.take().filter(|_| !is_over);
        let last = std::mem::replace(&mut drawn.shown, shown);
        drawn.before = (drawn.at, last);
        (drawn.at, drawn.waits) = (now, waits);
        Ok(&drawn.shown)
    }
}

impl<T: Clone> Drawn<T> {
    /// The path that was shown, continued straight to `now`.
    fn carried_on(&self, model: &impl Model<T>, now: Duration) -> Step<T> {
        let (before_at, before) = &self.before;
        let seconds = (now - self.at).as_secs_f64();
        let ratio = seconds / (self.at - *before_at).as_secs_f64();
        let mut at = self.shown.clone();
        if ratio.is_finite() {
            model.displace(&mut at, before, &self.shown, Share::of(ratio));
        }
        Step { at, beside: self.shown.clone(), seconds }
    }
}
