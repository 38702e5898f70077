//! Tests of absent parts, and of curves.

use bevy_ecs::prelude::*;
use bevy_math::Quat;
use bevy_transform::components::Transform;
use kinepack_bevy::figure::FigureBody;

use super::support::*;
use crate::support::{LOSSY, Session};

fn shown_body(session: &Session) -> &FigureBody {
    body(session.clients[0].app.world(), shown(session))
}

fn server_body(session: &mut Session, avatar: Entity) -> Mut<'_, FigureBody> {
    session.server.world_mut().get_mut::<FigureBody>(avatar).unwrap()
}

#[test]
fn the_joints_of_an_absent_part_stay() {
    let (mut session, avatar) = session(LOSSY);
    session.run(60);
    let legs = kind().part("legs").unwrap();
    server_body(&mut session, avatar).set_absent(legs, true);
    session.run(60);
    assert_eq!(shown_body(&session).absent(), [legs]);
    // The client moves the leg itself, as inverse kinematics does.
    let own = bind(LEG).with_rotation(Quat::from_rotation_x(1.0));
    let leg = joint_of(session.clients[0].app.world(), shown(&session), LEG);
    *session.clients[0].app.world_mut().get_mut::<Transform>(leg).unwrap() = own;
    set_turning(session.server.world_mut(), avatar, true);
    for _ in 0..120 {
        session.step();
        assert_eq!(session.clients[0].app.world().get::<Transform>(leg), Some(&own));
    }
    let arm = locals(session.clients[0].app.world(), shown(&session))[3];
    assert!(arm.rotation.angle_between(Quat::IDENTITY) > 0.5, "the arm moves");
    // The leg returns.
    set_turning(session.server.world_mut(), avatar, false);
    server_body(&mut session, avatar).set_absent(legs, false);
    session.run(60);
    assert!(shown_body(&session).absent().is_empty());
    let exact = locals(session.server.world(), avatar);
    let own = locals(session.clients[0].app.world(), shown(&session));
    assert!(distance_m(&own, &exact) <= PRECISION_M);
    assert_eq!(session.server().stats().refused_values, 0);
}

#[test]
fn a_body_may_appear_without_a_part() {
    let (mut session, avatar) = session(LOSSY);
    let legs = kind().part("legs").unwrap();
    server_body(&mut session, avatar).set_absent(legs, true);
    session.run(60);
    assert!(shown_body(&session).is_absent(legs));
    let world = session.clients[0].app.world();
    assert_eq!(locals(world, shown(&session))[LEG], bind(LEG));
}

#[test]
fn curves_are_within_their_precision_and_may_be_absent() {
    let (mut session, avatar) = session(LOSSY);
    let curves = ["grip", "jaw"].map(|name| kind().curve(name).unwrap());
    assert_eq!(curves, [0, 1]);
    server_body(&mut session, avatar).curves_mut().copy_from_slice(&[0.337, 0.771]);
    session.run(90);
    let shown = shown_body(&session).curves().to_vec();
    for (shown, exact) in shown.iter().zip([0.337, 0.771]) {
        assert!((shown - exact).abs() <= 0.01, "{shown} {exact}");
    }
    let mut body = server_body(&mut session, avatar);
    body.curves_mut().copy_from_slice(&[1.0, 0.1]);
    body.set_absent(1, true);
    session.run(90);
    // The jaw keeps its value, because the face is absent.
    assert_eq!(shown_body(&session).curves(), [1.0, shown[1]]);
}
