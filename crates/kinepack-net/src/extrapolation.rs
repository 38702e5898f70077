//! What playback shows of an entity whose next state has not arrived: a choice for each kind.
//!
//! Receivers and hubs compute this by the same rules, so that a hub finds what a client drew. The
//! arithmetic is only + − × ÷ on `f64`. See `spec/NET.md`, section 12.

use std::time::Duration;

use kinepack::Schema;

use crate::NetError;

/// What playback shows of an entity whose next state has not arrived. A choice for each kind of
/// entities: [`Receiver::set_extrapolation`](crate::Receiver::set_extrapolation).
///
/// Playback starves if a state is later than the playout delay, and after losses. An entity also
/// waits for its next state if a budget, a rate or a ring left it out.
///
/// ```
/// use std::time::Duration;
/// use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
/// use kinepack_net::{
///     Extrapolation, Hub, HubConfig, Receiver, ReceiverConfig, ReceiverId, ReceiverOptions,
/// };
///
/// #[derive(Pack)]
/// struct Car {
///     #[pack(range = 0.0..1024.0, precision = 0.01)]
///     place: f32,
///     #[pack(velocity, range = -64.0..64.0, precision = 0.01)]
///     speed: f32,
/// }
///
/// let schema = Schema::builder().kind::<Car>("car").build()?;
/// let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
/// # let mut hub = Hub::new(&codec, HubConfig::default())?;
/// # hub.add(ReceiverId(1), &ReceiverOptions::default(), Duration::ZERO)?;
/// let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(60))?;
/// let straight = Extrapolation::Straight { at_most: Duration::from_millis(100) };
/// receiver.set_extrapolation("car", straight)?;
/// let mut shown = Vec::new();
/// for tick in 1..=90u32 {
///     let now = Duration::from_secs(1) * tick / 60;
/// #   while let Some(datagram) = receiver.poll_transmit(now) {
/// #       hub.handle(ReceiverId(1), now, datagram)?;
/// #   }
///     // The car drives at 30 m/s. After a second, the connection fails.
/// #   let mut world = Snapshot::new(&schema, Tick(tick));
/// #   world.push(EntityId(1), &Car { place: tick as f32 * 0.5, speed: 30.0 })?;
/// #   hub.tick(now, &world)?;
/// #   while let Some((_, datagram)) = hub.poll_transmit() {
/// #       if tick <= 60 {
/// #           receiver.handle(now, datagram)?;
/// #       }
/// #   }
///     let Some(playback) = receiver.playback(now) else { continue };
///     let sample = playback.samples().next().ok_or("no car")?;
///     shown.push(sample.state::<Car>()?.place);
/// }
/// let last = shown.pop().ok_or("nothing")?;
/// assert!((last - 33.0).abs() < 0.1, "for 100 ms, the car drove on: {last}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extrapolation {
    /// The newest state is held. When the next state arrives, playback resumes where it stopped,
    /// and lags more after that. But if another kind is not held, playback runs on with it, and the
    /// entities of this kind leap to where they are by then. A [`Smoother`](crate::Smoother) fades
    /// out this leap.
    ///
    /// Keep this, and draw without a smoother, for kinds that players aim at if a server
    /// [rewinds](crate::Hub::rewind): then it finds exactly what they saw.
    #[default]
    Hold,
    /// The motion continues straight, as [`Pack::interpolate`](kinepack::Pack::interpolate) does
    /// above ratio 1: at the field's velocity, or else like the entity's last two states. It slows
    /// down after half of `at_most`, and stops after one and a half of it, as far on as it would
    /// have got in `at_most` at full speed. An entity that has just jumped, or has just changed its
    /// frame, is held.
    ///
    /// Without a velocity, an entity continues only if its newest state is new in the newest
    /// snapshot. If only other entities have newer states, it may be at rest. An entity with a
    /// velocity always continues, so its velocity must be zero at rest.
    ///
    /// A hub with the same choice [rewinds](crate::Hub::set_extrapolation) to the continued state
    /// exactly. It cannot know what a [`Smoother`](crate::Smoother) adds while the entity returns.
    ///
    /// When the next state arrives, the entity blends to it for longer than
    /// [`longest_blend`](crate::ReceiverConfig::longest_blend), by one and a half of `at_most`.
    Straight {
        /// The longest way, as a time at full speed, at most a second.
        at_most: Duration,
    },
    /// The newest state is held, and the game moves the entity on by its own rules:
    /// [`Sample::starved_for`](crate::Sample::starved_for) tells for how long.
    Game {
        /// For how long playback runs on if it starves, at most a second.
        at_most: Duration,
    },
}

/// The longest `at_most`.
const MOST: Duration = Duration::from_secs(1);

impl Extrapolation {
    /// For how long an entity continues without a newer state.
    fn reach(self) -> Duration {
        match self {
            Self::Hold => Duration::ZERO,
            Self::Straight { at_most } => at_most * 3 / 2,
            Self::Game { at_most } => at_most,
        }
    }

    /// For how many ticks an entity continues without a newer state. When that state arrives, the
    /// entity blends to it over a time that is longer by as much, so that it does not first return
    /// to where it was.
    pub(crate) fn reach_ticks(self, tick_hz: f64) -> f64 {
        self.reach().as_secs_f64() * tick_hz
    }

    /// For how many ticks at full speed the motion has continued, `passed_ticks` after the newest
    /// state. The speed is full at first, and then falls evenly to 0.
    pub(crate) fn beyond_ticks(self, passed_ticks: f64, tick_hz: f64) -> f64 {
        let Self::Straight { at_most } = self else { return 0.0 };
        let most_ticks = at_most.as_secs_f64() * tick_hz;
        let slower_ticks = passed_ticks - most_ticks / 2.0;
        if slower_ticks <= 0.0 {
            passed_ticks
        } else if slower_ticks < most_ticks {
            passed_ticks - slower_ticks * slower_ticks / (2.0 * most_ticks)
        } else {
            most_ticks
        }
    }
}

/// The choice for each kind of a schema.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extrapolations {
    /// Empty as long as all kinds are held.
    by_kind: Vec<Extrapolation>,
    reach: Duration,
}

impl Extrapolations {
    /// Sets the choice for a kind.
    ///
    /// # Errors
    /// Returns [`NetError::NoSuchKind`] and [`NetError::ExtrapolationTooLong`]; then nothing has
    /// changed.
    pub(crate) fn set(
        &mut self,
        schema: &Schema,
        kind: &str,
        extrapolation: Extrapolation,
    ) -> Result<(), NetError> {
        let kinds = schema.kinds();
        let index = kinds.iter().position(|known| known.name() == kind);
        let index = index.ok_or_else(|| NetError::NoSuchKind { name: kind.into() })?;
        if let Extrapolation::Straight { at_most } | Extrapolation::Game { at_most } = extrapolation
            && at_most > MOST
        {
            return Err(NetError::ExtrapolationTooLong { at_most });
        }
        self.by_kind.resize(kinds.len(), Extrapolation::Hold);
        self.by_kind[index] = extrapolation;
        self.reach = self.by_kind.iter().map(|of| of.reach()).max().unwrap_or_default();
        Ok(())
    }

    pub(crate) fn of(&self, kind: usize) -> Extrapolation {
        self.by_kind.get(kind).copied().unwrap_or_default()
    }

    /// For how long playback runs on without a newer state.
    pub(crate) fn reach(&self) -> Duration {
        self.reach
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn motion_slows_down_evenly_and_stops() {
        let straight = Extrapolation::Straight { at_most: Duration::from_millis(100) };
        let beyond = |passed_ms: f64| straight.beyond_ticks(passed_ms, 1000.0);
        assert_eq!([0.0, 20.0, 50.0].map(beyond), [0.0, 20.0, 50.0]);
        assert_eq!([150.0, 151.0, 1e9].map(beyond), [100.0; 3]);
        let mut speed = 1.0;
        for passed_ms in 1..=160 {
            let next = beyond(f64::from(passed_ms)) - beyond(f64::from(passed_ms - 1));
            assert!((-1e-9..=0.011).contains(&(speed - next)), "at {passed_ms} ms");
            speed = next;
        }
        assert_eq!(Extrapolation::Hold.beyond_ticks(5.0, 60.0), 0.0);
    }
}
