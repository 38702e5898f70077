//! Fades out the distance between the path that was shown and the path that is known now, so that
//! the shown motion keeps its place and its velocity.
//!
//! The distance follows a critically damped spring, in closed form: x(t) = (x₀ + (v₀ + ω x₀) t)
//! e^(−ω t). So the result depends on the time alone, not on the frame rate. The states themselves
//! hold x₀ and v₀, and [`Model::displace`] scales them. The results are only shown, never sent.
//! See "Game Programming Gems 4", 1.10 (Lowe).

use std::time::Duration;

use kinepack::schema::Share;

use crate::model::Model;

/// After ω t = 4.744, a twentieth of x₀ is left.
const OMEGA_T: f64 = 4.744;
/// After this many times the duration, less than a 2000th of x₀ is left.
const OVER: f64 = 2.2;

/// The times until a twentieth of a distance is left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lasts {
    /// That of numbers and vectors.
    pub(crate) position: Duration,
    /// That of rotations, and of numbers that wrap.
    pub(crate) rotation: Duration,
}

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
    began_s: f64,
    lasts: Lasts,
}

impl<S> Fade<S> {
    /// The distance from the path that is `known` at the moment `now_s`, in seconds, to the path
    /// that was `shown`.
    pub(crate) fn new(now_s: f64, shown: Step<S>, known: Step<S>, lasts: Lasts) -> Self {
        Self { shown, known, began_s: now_s, lasts }
    }

    /// Moves a state of the known path by what is left of the distance at `now_s`. Returns whether
    /// nothing is left.
    pub(crate) fn apply(&self, model: &impl Model<S>, state: &mut S, now_s: f64) -> bool {
        let [position, rotation] = self.springs(now_s);
        let offset = |spring: Option<Spring>| spring.map_or([0.0; 2], Spring::offset);
        self.displace(model, state, offset(position), offset(rotation));
        position.is_none() && rotation.is_none()
    }

    /// Moves a state as far as the distance changes in `seconds` at its speed at `now_s`.
    pub(crate) fn apply_speed(
        &self,
        model: &impl Model<S>,
        state: &mut S,
        now_s: f64,
        seconds: f64,
    ) {
        let speed = |spring: Option<Spring>| {
            spring.map_or([0.0; 2], |spring| spring.speed().map(|share| share * seconds))
        };
        let [position, rotation] = self.springs(now_s).map(speed);
        self.displace(model, state, position, rotation);
    }

    /// The springs of positions and of rotations; `None` if nothing is left.
    fn springs(&self, now_s: f64) -> [Option<Spring>; 2] {
        let passed_s = (now_s - self.began_s).max(0.0);
        [self.lasts.position, self.lasts.rotation].map(|lasts| {
            let lasts_s = lasts.as_secs_f64();
            (passed_s < OVER * lasts_s).then(|| Spring { passed_s, omega: OMEGA_T / lasts_s })
        })
    }

    /// Moves a state by these shares of x₀ and of v₀.
    fn displace(
        &self,
        model: &impl Model<S>,
        state: &mut S,
        position: [f64; 2],
        rotation: [f64; 2],
    ) {
        let share = |index: usize, seconds: f64| Share {
            position_ratio: position[index] / seconds,
            rotation_ratio: rotation[index] / seconds,
        };
        let Self { shown, known, .. } = self;
        model.displace(state, &known.at, &shown.at, share(0, 1.0));
        for (step, [from, to]) in
            [(shown, [&shown.beside, &shown.at]), (known, [&known.at, &known.beside])]
        {
            if step.seconds != 0.0 {
                model.displace(state, from, to, share(1, step.seconds));
            }
        }
    }
}

/// A spring at a moment.
#[derive(Clone, Copy)]
struct Spring {
    passed_s: f64,
    omega: f64,
}

impl Spring {
    /// x(t) as shares of x₀ and v₀.
    fn offset(self) -> [f64; 2] {
        let Self { passed_s, omega } = self;
        let decay = (-omega * passed_s).exp();
        [(1.0 + omega * passed_s) * decay, passed_s * decay]
    }

    /// The derivative of x(t) as shares of x₀ and v₀.
    fn speed(self) -> [f64; 2] {
        let Self { passed_s, omega } = self;
        let decay = (-omega * passed_s).exp();
        [-omega * omega * passed_s * decay, (1.0 - omega * passed_s) * decay]
    }
}
