//! Tests of what a client shows while states are late.

use std::time::Duration;

use bevy_app::{App, FixedUpdate};
use bevy_ecs::prelude::*;
use kinepack_bevy::{MotionAppExt, MotionServer};
use kinepack_net::{Extrapolation, LinkConfig, Loss};

use crate::support::{Bullet, LOSSY, Session};

/// The link fails for some ticks at a time.
const FAILING: LinkConfig = LinkConfig { loss: Loss::bursts(0.25, 12.0), ..LOSSY };
const FRAMES: usize = 280;
/// In metres per tick.
const SPEED: f32 = 0.5;

fn fly(mut bullets: Query<&mut Bullet>) {
    bullets.iter_mut().for_each(|mut bullet| bullet.position[0] += SPEED);
}

fn hold(app: &mut App) {
    app.add_motion_kind::<(Bullet,)>("bullet");
}

fn extrapolate(app: &mut App) {
    hold(app);
    let at_most = Duration::from_millis(100);
    app.extrapolate_motion::<(Bullet,)>(Extrapolation::Straight { at_most });
}

fn smooth(app: &mut App) {
    extrapolate(app);
    app.smooth_motion::<(Bullet,)>(Duration::from_millis(300));
}

fn go_on(app: &mut App) {
    hold(app);
    app.continue_motion::<(Bullet,)>(Duration::from_millis(150), |(bullet,), starved_for| {
        assert!(starved_for <= Duration::from_millis(150));
        bullet.position[0] += 60.0 * SPEED * starved_for.as_secs_f32();
    });
}

/// The frames in which a bullet stood still, and the largest step from frame to frame.
fn flight(register: fn(&mut App)) -> (usize, f32) {
    let setup = |app: &mut App| {
        if app.world().contains_resource::<MotionServer>() {
            app.add_systems(FixedUpdate, fly);
        }
    };
    let mut session = Session::of(register, FAILING, 1, setup);
    session.server.world_mut().spawn(Bullet { position: [-400.0, 0.0], ..Bullet::default() });
    session.run(60);
    let mut places = Vec::new();
    for _ in 0..FRAMES {
        session.step();
        places.extend(session.clients[0].entities::<Bullet>().values().map(|of| of.position[0]));
    }
    assert_eq!(places.len(), FRAMES);
    let steps = places.windows(2).map(|pair| pair[1] - pair[0]);
    let still = steps.clone().filter(|step| step.abs() < 0.05).count();
    (still, steps.fold(0.0, |largest: f32, step| largest.max(step.abs())))
}

#[test]
fn bullets_fly_on_and_return_smoothly() {
    let [held, extrapolated, smoothed, continued] =
        [hold, extrapolate, smooth, go_on].map(|register| flight(register));
    assert!(held.0 > extrapolated.0 + 8 && held.0 > continued.0 + 8);
    assert!(smoothed.1 < 0.7 * extrapolated.1);
}

#[test]
#[should_panic(expected = "no kind has the components")]
fn only_registered_kinds_extrapolate() {
    App::new().extrapolate_motion::<(Bullet,)>(Extrapolation::Hold);
}
