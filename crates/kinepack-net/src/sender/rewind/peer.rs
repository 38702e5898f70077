//! Checks a player's stamp, and collects the snapshots that had arrived when he made it.

use std::time::Duration;

use kinepack::Tick;

use super::past::{Limit, Step};
use super::{Past, RewindConfig, RewindError};
use crate::extrapolation::Extrapolations;
use crate::receiver::Pace;
use crate::seen::{MOMENTS, Missing, STEPS, Seen};
use crate::sender::history::Shown;
use crate::sender::hub::Hub;
use crate::sender::peer::Peer;
use crate::{NetError, ReceiverId, Sequence};

/// The last stamp of a receiver.
#[derive(Clone, Copy, Debug)]
pub(in crate::sender) struct LastSeen {
    /// The moment in steps.
    moment: u64,
    /// The newest sequence that had arrived.
    newest: Sequence,
}

impl Hub {
    /// Makes the hub keep what it sends for long enough to [rewind](Self::rewind), or not any more.
    /// Call this before the first receiver joins: what was sent before may be missing.
    ///
    /// Memory: the views of the last [`longest`](RewindConfig::longest), which receivers share if
    /// they get the same. For receivers that do not get everything, because of a budget, rates or
    /// rings, those of the last 255 datagrams.
    ///
    /// # Errors
    /// Returns the errors of [`RewindConfig::validate`]; then nothing has changed.
    pub fn set_rewind(&mut self, config: Option<RewindConfig>) -> Result<(), NetError> {
        config.iter().try_for_each(RewindConfig::validate)?;
        self.rewind = config;
        // This is before the loop, because an optimizer moves it out of the loop and in front of the
        // check for `None`. Then Valgrind reports a jump that depends on an uninitialised value.
        let ticks = kept_ticks(config);
        self.peers.values_mut().for_each(|peer| peer.keep_shown(ticks));
        Ok(())
    }

    /// What a receiver showed when its player made an input with the stamp `seen`: the states that
    /// its playback returned, bit for bit, whatever was lost, late or left out.
    ///
    /// The stamp comes from the client, so it is checked: the moment must not be longer ago than
    /// [`RewindConfig::longest`], nor be of a state that was not sent yet, nor go back behind an
    /// earlier stamp of the receiver. A client that lies may pretend that datagrams did not arrive,
    /// as one with a bad connection. This helps it up to the same limit: an entity's state is refused
    /// if a newer one was sent to the receiver longer ago. Pass on the stamps of all inputs in order,
    /// even if there is nothing to find: then a client cannot choose among moments.
    ///
    /// ```
    /// use std::time::Duration;
    /// use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
    /// use kinepack_net::{
    ///     Hub, HubConfig, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions, RewindConfig, Seen,
    /// };
    ///
    /// #[derive(Pack, Clone, Debug, PartialEq)]
    /// struct Ball {
    ///     #[pack(range = 0.0..64.0, precision = 0.01)]
    ///     height: f32,
    /// }
    ///
    /// let schema = Schema::of::<Ball>();
    /// let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
    /// let mut hub = Hub::new(&codec, HubConfig::default())?;
    /// hub.set_rewind(Some(RewindConfig::at_hz(60)))?;
    /// # let player = ReceiverId(7);
    /// # hub.add(player, &ReceiverOptions::default(), Duration::ZERO)?;
    /// # let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(60))?;
    /// let target = EntityId(1);
    /// let (mut drawn, mut shots): (Vec<Ball>, Vec<Seen>) = Default::default();
    /// for tick in 1..=60u32 {
    ///     let now = Duration::from_secs(1) * tick / 60;
    /// #   while let Some(datagram) = receiver.poll_transmit(now) {
    /// #       hub.handle(player, now, datagram)?;
    /// #   }
    ///     let mut world = Snapshot::new(&schema, Tick(tick));
    ///     world.push(target, &Ball { height: tick as f32 * 0.5 })?;
    ///     hub.tick(now, &world)?;
    /// #   while let Some((_, datagram)) = hub.poll_transmit() {
    /// #       receiver.handle(now, datagram)?;
    /// #   }
    ///     // The client draws, and sends the stamp in a field of its input.
    ///     let Some(playback) = receiver.playback(now) else { continue };
    ///     drawn.push(playback.samples().next().ok_or("nothing is shown")?.state()?);
    ///     shots.extend(receiver.seen());
    /// }
    /// // The server gets the input later, and finds just what the client drew.
    /// let (drawn, seen) = (drawn.pop().ok_or("none")?, shots.pop().ok_or("none")?);
    /// let past = hub.rewind(player, seen)?;
    /// assert_eq!(past.state::<Ball>(target)?, drawn);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`RewindError`]; then nothing has changed.
    pub fn rewind(&mut self, player: ReceiverId, seen: Seen) -> Result<Past<'_>, RewindError> {
        let config = self.rewind.ok_or(RewindError::Disabled)?;
        let peer = self.peers.get_mut(&player).ok_or(RewindError::UnknownReceiver)?;
        let (_, now) = self.last_tick.ok_or(RewindError::Ahead)?;
        let extrapolations = &self.extrapolations;
        let last_seen = peer.check_seen(&config, now, seen, extrapolations.reach())?;
        peer.last_seen = Some(last_seen);
        peer.past(&config, now, last_seen, seen, extrapolations).ok_or(RewindError::NothingShown)
    }
}

/// For how many ticks a hub keeps what it sends.
pub(in crate::sender) fn kept_ticks(config: Option<RewindConfig>) -> u32 {
    config.map_or(0, |config| config.longest_ticks().ceil() as u32)
}

impl Peer {
    /// Keeps what was sent for this many ticks.
    pub(in crate::sender) fn keep_shown(&mut self, ticks: u32) {
        self.history.keep_shown(ticks);
    }

    /// Completes the numbers of a stamp, and checks them. The receiver's playback may run on for
    /// `reach` after its newest state.
    fn check_seen(
        &self,
        config: &RewindConfig,
        now: Tick,
        seen: Seen,
        reach: Duration,
    ) -> Result<LastSeen, RewindError> {
        // The stamp has the lower bits of numbers that are not above these.
        let now = u64::from(now.0) * STEPS;
        let moments = u64::from(MOMENTS);
        let behind = (now + moments - u64::from(seen.moment)) % moments;
        let moment = now.checked_sub(behind).ok_or(RewindError::Ahead)?;
        let last_sent = self.next_sequence().before(1);
        let newest = last_sent.before(u16::from((last_sent.0 as u8).wrapping_sub(seen.newest)));
        let ticks = behind as f64 / STEPS as f64;
        let longest_ticks = config.longest_ticks();
        if ticks > longest_ticks {
            return Err(RewindError::TooOld { ticks, longest_ticks });
        }
        let is_earlier = |last: LastSeen| moment < last.moment || newest.since(last.newest) < 0;
        if self.last_seen.is_some_and(is_earlier) {
            return Err(RewindError::RunsBack);
        }
        let missing = seen.missing(newest);
        let snapshots = self.history.snapshots(newest);
        let arrived = snapshots.filter(|shown| has_arrived(&missing, shown));
        let mut ticks = arrived
            .map(|shown| shown.tick)
            .chain(self.full_state_shown(seen.full_state).map(|view| view.tick()))
            .map(|tick| u64::from(tick.0) * STEPS);
        let reach_ticks = reach.as_secs_f64() * f64::from(config.tick_hz);
        let reach_steps = (reach_ticks * STEPS as f64).ceil() as u64;
        let (mut is_before, mut is_after) = (false, false);
        while !(is_before && is_after)
            && let Some(tick) = ticks.next()
        {
            is_before |= tick <= moment;
            is_after |= tick + reach_steps >= moment;
        }
        match (is_before, is_after) {
            (true, true) => Ok(LastSeen { moment, newest }),
            (true, false) => Err(RewindError::Ahead),
            (false, _) => Err(RewindError::NothingShown),
        }
    }

    /// The past at a checked stamp.
    fn past<'a>(
        &'a self,
        config: &RewindConfig,
        now: Tick,
        last_seen: LastSeen,
        seen: Seen,
        extrapolations: &'a Extrapolations,
    ) -> Option<Past<'a>> {
        let LastSeen { moment, newest } = last_seen;
        let pace = Pace {
            tick: moment as f64 / STEPS as f64,
            tick_hz: config.tick_hz.into(),
            longest_blend_ticks: config.longest_blend.as_secs_f64() * f64::from(config.tick_hz),
        };
        let missing = seen.missing(newest);
        let sent = self.history.snapshots(newest).map(|shown| {
            let Shown { sequence, view, tick, turns, interval_ticks, .. } = shown;
            let step = Step { sequence: Some(sequence), view, tick, turns, interval_ticks };
            (step, has_arrived(&missing, &shown))
        });
        let limit = Limit { now, longest_ticks: config.longest_ticks() };
        let full_state = self.full_state_shown(seen.full_state);
        let past = Past::new(pace, sent, full_state, self.history.oldest_of_more(), limit)?;
        Some(past.with_extrapolations(extrapolations))
    }
}

/// Whether a snapshot had arrived, according to a stamp. Long after it was sent, the
/// acknowledgements tell.
fn has_arrived(missing: &Missing, shown: &Shown<'_>) -> bool {
    missing.has(shown.sequence).map_or(shown.is_acknowledged, |is_missing| !is_missing)
}
