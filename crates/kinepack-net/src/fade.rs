//! Fades out the distance between the path that was shown and the path that is known now, so that
//! the shown motion keeps its place and its velocity.
//!
//! The distance follows a critically damped spring, in closed form: x(t) = (x₀ + (v₀ + ω x₀) t)
//! e^(−ω t). So the result depends on the time alone, not on the frame rate. The states themselves
//! hold x₀ and v₀, and [`Pack::displace`] scales them. The results are only shown, never sent.

use std::time::Duration;

use kinepack::Pack;

/// After ω t = 4.744, a twentieth of x₀ is left.
const OMEGA_T: f64 = 4.744;
/// After this many times the duration, less than a 2000th of x₀ is left.
const OVER: f64 = 2.2;

/// Two states of a path: one at a moment, the other a little earlier or later.
#[derive(Clone, Debug)]
pub(crate) struct Step<S> {
    pub(crate) at: S,
    pub(crate) beside: S,
    /// The time from `beside` to `at`, negative if `beside` is later.
    pub(crate) seconds: f64,
}

/// The distance between two paths at a moment, and how it changes.
#[derive(Clone, Debug)]
pub(crate) struct Fade<S> {
    shown: Step<S>,
    known: Step<S>,
    began: Duration,
}

impl<S: Pack> Fade<S> {
    /// The distance from the path that is `known` at the moment `now`, to the path that was `shown`.
    pub(crate) fn new(now: Duration, shown: Step<S>, known: Step<S>) -> Self {
        Self { shown, known, began: now }
    }

    /// Moves a state of the known path by what is left of the distance at `now`. `lasts` is the time
    /// until a twentieth is left. Returns whether nothing is left.
    pub(crate) fn apply(&self, state: &mut S, now: Duration, lasts: Duration) -> bool {
        let passed_s = now.saturating_sub(self.began).as_secs_f64();
        let lasts_s = lasts.as_secs_f64();
        if passed_s >= OVER * lasts_s {
            return true;
        }
        let omega = OMEGA_T / lasts_s;
        let decay = (-omega * passed_s).exp();
        let Self { shown, known, .. } = self;
        state.displace(&known.at, &shown.at, (1.0 + omega * passed_s) * decay);
        for (step, [from, to]) in
            [(shown, [&shown.beside, &shown.at]), (known, [&known.at, &known.beside])]
        {
            let share = passed_s * decay / step.seconds;
            if share.is_finite() {
                state.displace(from, to, share);
            }
        }
        false
    }
}
