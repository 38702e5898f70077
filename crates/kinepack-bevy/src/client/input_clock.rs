//! The clock of inputs that are for ticks: it runs a schedule for each tick that the client
//! simulates ahead of the server. See `spec/NET.md`, section 8.4.

use std::time::Duration;

use bevy_ecs::resource::Resource;
use bevy_ecs::schedule::ScheduleLabel;
use bevy_ecs::world::World;
use bevy_time::{Fixed, Real, Time};
use kinepack::Tick;
use kinepack_net::{InputClock, InputClockConfig, Receiver, StreamAcknowledgement};

use super::prediction::{push_all, show_all};
use crate::settings::expect;

/// The schedule in which a client makes its inputs for ticks, and predicts what they do.
///
/// The client plugin runs it once for each tick of [`MotionInputClock`], in `RunFixedMainLoop`
/// after
/// `FixedUpdate`: in most frames once, and at times not at all or several times. In this schedule,
/// `Time` is that of the tick: its delta is the length of a tick, so a system of the server's
/// `FixedUpdate` computes the same here.
#[derive(ScheduleLabel, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct InputTick;

/// The client's clock for inputs that are for ticks. It leads the server just enough that inputs
/// arrive in time.
///
/// The client plugin adds the clock if the app has inputs of
/// [`add_motion_tick_input`](crate::MotionAppExt::add_motion_tick_input). It starts the clock when
/// the server's time is known, and feeds it with the acknowledgements of the inputs. The clock
/// begins anew with each connection.
///
/// ```
/// use bevy_app::App;
/// use bevy_ecs::error::Result;
/// use bevy_ecs::system::{Res, ResMut};
/// use kinepack::Pack;
/// use kinepack_bevy::{InputTick, MotionAppExt, MotionInputClock, MotionInputs};
///
/// #[derive(Pack)]
/// struct Steer {
///     #[pack(range = -1.0..=1.0, precision = 0.01)]
///     direction: [f32; 2],
/// }
///
/// fn client(app: &mut App) {
///     app.add_motion_tick_input::<Steer>().add_systems(InputTick, steer);
/// }
///
/// fn steer(clock: Res<MotionInputClock>, mut inputs: ResMut<MotionInputs<Steer>>) -> Result {
///     inputs.push_for_tick(clock.tick(), &Steer { direction: [1.0, 0.0] })?;
///     Ok(())
/// }
/// # client(&mut App::new());
/// ```
#[derive(Resource, Clone, Debug)]
pub struct MotionInputClock {
    clock: InputClock,
    tick: Tick,
}

impl MotionInputClock {
    /// Makes a clock that waits for its start.
    pub(super) fn new(config: InputClockConfig) -> Self {
        let clock = expect(InputClock::new(config), "the settings of the input clock");
        Self { clock, tick: Tick(0) }
    }

    /// The tick to simulate, in [`InputTick`]. Elsewhere, the tick that was simulated last.
    pub fn tick(&self) -> Tick {
        self.tick
    }

    /// The clock, for its measurements, and for the time between two ticks: the fraction of
    /// [`InputClock::tick`].
    pub fn clock(&self) -> &InputClock {
        &self.clock
    }

    /// Forgets what the clock learned, and waits for the next start.
    pub(super) fn stop(&mut self) {
        *self = Self::new(*self.clock.config());
    }

    /// Starts the clock if it waits for this, and the receiver knows the server's time.
    pub(super) fn start(&mut self, now: Duration, receiver: &Receiver) {
        if !self.clock.is_started() {
            self.clock.start_from(now, &receiver.status(now));
        }
    }
}

/// Passes an acknowledgement of inputs to the clock, if there is one.
pub(super) fn observe(world: &mut World, acknowledgement: &StreamAcknowledgement) {
    let now = world.resource::<Time<Real>>().elapsed();
    if let Some(mut clock) = world.get_resource_mut::<MotionInputClock>() {
        clock.clock.observe(now, acknowledgement);
    }
}

/// Runs [`InputTick`] for the ticks that are due, and shows what they predict.
pub(super) fn simulate(world: &mut World) {
    let now = world.resource::<Time<Real>>().elapsed();
    let Some(mut clock) = world.get_resource_mut::<MotionInputClock>() else { return };
    let ticks = clock.clock.ticks(now);
    // Between the last two ticks.
    let shown_tick = clock.clock.tick() - 1.0;
    let of_frame = *world.resource::<Time>();
    let tick_length = world.resource::<Time<Fixed>>().timestep();
    for tick in ticks {
        let mut time = Time::default();
        time.advance_to(tick_length * tick.0.saturating_sub(1));
        time.advance_by(tick_length);
        *world.resource_mut::<Time>() = time;
        world.resource_mut::<MotionInputClock>().tick = tick;
        world.run_schedule(InputTick);
        push_all(world, tick);
    }
    *world.resource_mut::<Time>() = of_frame;
    show_all(world, shown_tick);
}
