//! What clients show of entities whose next state is late: a choice for each kind, which the server
//! knows too, so that it can rewind.

use std::any::{Any, TypeId};
use std::sync::Arc;
use std::time::Duration;

use kinepack::frame::FrameError;
use kinepack_net::{Extrapolation, Playback, Sample, Smoother};

use crate::part::MotionKind;

/// The game's function that moves an entity on, and for how long it may.
#[derive(Clone)]
pub(crate) struct Continuation<K> {
    pub(crate) at_most: Duration,
    pub(crate) go_on: fn(&mut K, Duration),
}

impl<K> Continuation<K> {
    /// Moves on the state of an entity that has waited for its next state for `starved_for`.
    pub(crate) fn apply(&self, state: &mut K, starved_for: Duration) {
        if !starved_for.is_zero() {
            (self.go_on)(state, starved_for.min(self.at_most));
        }
    }
}

/// A registered kind, and what is shown of its entities when states are late.
#[derive(Clone)]
pub(crate) struct KindSetup {
    /// The type of the components.
    pub(crate) of: TypeId,
    pub(crate) name: String,
    pub(crate) extrapolation: Extrapolation,
    /// How long a client fades out the return from a place that was wrong.
    pub(crate) fade: Option<Duration>,
    /// The [`Continuation`] of the type.
    continuation: Option<Arc<dyn Any + Send + Sync>>,
}

impl KindSetup {
    pub(crate) fn new<K: MotionKind>(name: &str) -> Self {
        Self {
            of: TypeId::of::<K>(),
            name: name.into(),
            extrapolation: Extrapolation::Hold,
            fade: None,
            continuation: None,
        }
    }

    /// Sets the game's function.
    pub(crate) fn go_on<K: MotionKind>(&mut self, at_most: Duration, go_on: fn(&mut K, Duration)) {
        self.extrapolation = Extrapolation::Game { at_most };
        self.continuation = Some(Arc::new(Continuation { at_most, go_on }));
    }

    /// The game's function for the type `K`.
    pub(crate) fn continuation<K: MotionKind>(&self) -> Option<Continuation<K>> {
        self.continuation.as_ref()?.downcast_ref::<Continuation<K>>().cloned()
    }
}

/// Shows the entities of a kind, also if their states are late.
pub(crate) struct Late<K> {
    smoother: Option<Smoother<K>>,
    continuation: Option<Continuation<K>>,
}

impl<K> Default for Late<K> {
    fn default() -> Self {
        Self { smoother: None, continuation: None }
    }
}

impl<K: MotionKind> Late<K> {
    pub(crate) fn set_up(&mut self, setup: &KindSetup) {
        self.smoother = setup.fade.map(Smoother::new);
        self.continuation = setup.continuation();
    }

    /// Begins a frame at `now`.
    pub(crate) fn begin(&mut self, now: Duration) {
        if let Some(smoother) = &mut self.smoother {
            smoother.begin(now);
        }
    }

    /// The state to show of a sample. `in_world` is the state that playback knows.
    pub(crate) fn state<'a>(
        &mut self,
        playback: &Playback<'a>,
        sample: &Sample<'a>,
        mut in_world: impl FnMut(&Playback<'a>, &Sample<'a>) -> Result<K, FrameError>,
    ) -> Result<K, FrameError> {
        let continuation = &self.continuation;
        let mut known = |playback: &Playback<'a>, sample: &Sample<'a>| {
            let mut state = in_world(playback, sample)?;
            if let Some(continuation) = continuation {
                continuation.apply(&mut state, sample.starved_for());
            }
            Ok(state)
        };
        match &mut self.smoother {
            Some(smoother) => smoother.state_with(playback, sample, known).cloned(),
            None => known(playback, sample),
        }
    }
}
