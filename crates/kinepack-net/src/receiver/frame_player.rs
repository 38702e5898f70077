//! Plays states that are all known in advance, such as the states of a replay, as the same
//! [`Playback`] that a receiver returns. So a game can show replays and live states with the same
//! code.

use std::collections::VecDeque;
use std::sync::Arc;

use kinepack::{Snapshot, Tick};

use super::playback::Playback;
use super::playout_point::PlayoutPoint;
use super::shown::Shown;
use super::spawns::Spawns;
use crate::ReceiverConfig;
use crate::events::Played;
use crate::extrapolation::Extrapolations;
use crate::playout::{Entry, Playout};

/// Makes a [`Playback`] without a network. The caller chooses the moment, and passes the states
/// before and after it.
///
/// ```
/// use std::sync::Arc;
/// use kinepack::{EntityId, Pack, Schema, Snapshot, Tick};
/// use kinepack_net::FramePlayer;
///
/// #[derive(Pack)]
/// struct Ball {
///     #[pack(range = 0.0..8.0, precision = 0.5)]
///     height: f32,
/// }
///
/// let state = |tick, height| -> Result<_, Box<dyn std::error::Error>> {
///     let mut state = Snapshot::new(&Schema::of::<Ball>(), Tick(tick));
///     state.push(EntityId(1), &Ball { height })?;
///     Ok(Arc::new(state))
/// };
/// let (from, to) = (state(60, 2.0)?, state(66, 4.0)?);
/// let mut player = FramePlayer::new(60.0);
/// let playback = player.show(63.0, &from, &to, []);
/// assert_eq!(playback.added(), [EntityId(1)]);
/// let ball: Ball = playback.samples().next().ok_or("no ball")?.state()?;
/// assert_eq!(ball.height, 3.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FramePlayer {
    tick_hz: f64,
    longest_blend_ticks: f64,
    /// The state before the moment, and the state after it if that is a different one.
    entries: VecDeque<Entry<Shown>>,
    spawns: Spawns,
    played: Vec<Played>,
    /// All states are known, so none is extrapolated.
    held: Extrapolations,
}

impl FramePlayer {
    /// Plays states with `tick_hz` ticks per second. No entity is
    /// [extrapolated](crate::Extrapolation), because all states are known. Motion between two
    /// states is blended over at most [`ReceiverConfig::longest_blend`], at its default.
    pub fn new(tick_hz: f64) -> Self {
        Self {
            tick_hz,
            longest_blend_ticks: ReceiverConfig::at_hz(1).longest_blend.as_secs_f64() * tick_hz,
            entries: VecDeque::with_capacity(2),
            spawns: Spawns::default(),
            played: Vec::new(),
            held: Extrapolations::default(),
        }
    }

    /// The world to show at `tick`, between `from` and `to`. If `tick` is outside of their ticks,
    /// the nearer state is shown. If there is no later state, pass the same state twice.
    ///
    /// `events` are the events since the previous moment, in order, each as a row of a snapshot of
    /// events. No event is marked as [late](crate::Event::late).
    ///
    /// Cost: a comparison with the entities of the previous call, and with their cut fields.
    pub fn show(
        &mut self,
        tick: f64,
        from: &Arc<Snapshot>,
        to: &Arc<Snapshot>,
        events: impl IntoIterator<Item = (Tick, Arc<Snapshot>, usize)>,
    ) -> Playback<'_> {
        let tick = tick.max(from.tick.0.into()).min(to.tick.0.max(from.tick.0).into());
        self.entries.clear();
        self.entries.push_back(entry(from));
        if to.tick > from.tick {
            self.entries.push_back(entry(to));
        }
        self.played.clear();
        let events = events.into_iter();
        self.played.extend(events.map(|(tick, rows, index)| Played::in_time(tick, rows, index)));
        let to_index = self.entries.len() - 1;
        let [begin, end] = [0, to_index].map(|index| f64::from(self.entries[index].tick.0));
        let ratio = if end > begin { ((tick - begin) / (end - begin)) as f32 } else { 1.0 };
        let playout = Playout::between(&self.entries, [0, to_index], tick, ratio);
        let point = PlayoutPoint::new(playout, self.tick_hz, self.longest_blend_ticks, &self.held);
        self.spawns.update(&point);
        Playback::new(point, &self.spawns, &self.played)
    }
}

fn entry(state: &Arc<Snapshot>) -> Entry<Shown> {
    let (tick, unchanged_until) = (state.tick, Tick(0));
    Entry { tick, unchanged_until, state: Shown::whole(Arc::clone(state), None) }
}
