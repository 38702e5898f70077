//! Tests of clips that bodies play.

use bevy_ecs::prelude::*;
use kinepack::Tick;
use kinepack_anim::figure::{ClipPlay, FigureError};
use kinepack_bevy::MotionClient;
use kinepack_bevy::figure::{FigureBody, FigureRefusal, FigureRefused};

use super::support::*;
use crate::support::{LOSSY, Session};

fn set_clip(session: &mut Session, avatar: Entity, slot: usize, play: Option<ClipPlay>) {
    let world = session.server.world_mut();
    world.get_mut::<FigureBody>(avatar).unwrap().set_clip(slot, play);
}

fn shown_tick(session: &Session) -> f64 {
    session.clients[0].app.world().resource::<MotionClient>().tick().unwrap()
}

#[test]
fn clients_show_the_clip_at_the_shown_tick() {
    let (mut session, avatar) = session(LOSSY);
    session.run(30);
    let started = session.server().state().tick;
    let bow = kind().clip("bow").unwrap();
    let play = ClipPlay::start(bow, started).with_speed(Tick(started.0 + 9), 0.5).unwrap();
    set_clip(&mut session, avatar, 1, Some(play.with_weight(0.8).unwrap()));
    session.run(60);
    for _ in 0..60 {
        session.step();
        let tick = shown_tick(&session);
        let body = body(session.clients[0].app.world(), shown(&session));
        let clip = body.shown_clip(1, tick).expect("a clip");
        assert_eq!((clip.clip, clip.speed), (bow, 0.5));
        assert_eq!(clip.time_ticks, play.time_ticks(tick));
        assert!((clip.weight - 0.8).abs() < 0.002);
        assert_eq!(body.shown_clip(0, tick), None);
    }
    set_clip(&mut session, avatar, 1, None);
    session.run(60);
    let body = body(session.clients[0].app.world(), shown(&session));
    assert_eq!((body.clip(1), body.shown_clip(1, shown_tick(&session))), (None, None));
    assert_eq!(session.server().stats().refused_values, 0);
}

#[test]
fn a_clip_that_the_kind_does_not_have_is_refused() {
    let (mut session, avatar) = session(LOSSY);
    session.run(10);
    let wrong =
        [(0, 2, FigureError::NoClip { slot: 0, clip: 2 }), (5, 0, FigureError::NoSlot { slot: 5 })];
    for (slot, clip, error) in wrong {
        set_clip(&mut session, avatar, slot, Some(ClipPlay::start(clip, Tick(1))));
        session.run(2);
        let refused = session.server.world().resource::<Messages<FigureRefused>>();
        let mut cursor = refused.get_cursor();
        let last = cursor.read(refused).last().map(|refused| refused.reason.clone());
        assert_eq!(last, Some(FigureRefusal::Pose(error)));
        set_clip(&mut session, avatar, slot, None);
    }
    session.run(2);
}
