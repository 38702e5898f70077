//! Tests that a pose that cannot be sent harms nothing, and is reported.

use bevy_app::{App, Last};
use bevy_ecs::prelude::*;
use bevy_math::Quat;
use bevy_transform::components::Transform;
use kinepack_anim::figure::FigureError;
use kinepack_bevy::figure::{FigureBody, FigureRefusal, FigureRefused};
use kinepack_bevy::{MotionClient, MotionClientPlugin, MotionServer, MotionSettings};
use kinepack_net::{LinkConfig, ReceiverId, ReceiverOptions};

use super::support::*;
use crate::support::{Session, TICK_HZ};

#[derive(Resource, Default)]
struct Refused(Vec<FigureRefused>);

fn note(mut messages: MessageReader<FigureRefused>, mut refused: ResMut<Refused>) {
    refused.0.extend(messages.read().cloned());
}

fn noting(link: LinkConfig) -> (Session, Entity) {
    let (mut session, avatar) = session(link);
    session.server.init_resource::<Refused>().add_systems(Last, note);
    session.run(30);
    (session, avatar)
}

fn reasons(session: &mut Session) -> Vec<FigureRefusal> {
    let mut refused = session.server.world_mut().resource_mut::<Refused>();
    let refused = std::mem::take(&mut refused.0);
    assert!(refused.iter().all(|refused| refused.id.0 == 0));
    refused.into_iter().map(|refused| refused.reason).collect()
}

#[test]
fn a_refused_pose_keeps_the_last_one() {
    let (mut session, avatar) = noting(LinkConfig::PERFECT);
    let spine = joint_of(session.server.world(), avatar, 1);
    let own = locals(session.clients[0].app.world(), shown(&session));
    let rest = bind(1);
    let longer = rest.with_translation(rest.translation * 1.2);
    let broken = rest.with_rotation(Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0));
    for wrong in [longer, broken] {
        *session.server.world_mut().get_mut::<Transform>(spine).unwrap() = wrong;
        let before = session.server().stats().refused_values;
        session.run(20);
        assert!(session.server().stats().refused_values > before);
        let reasons = reasons(&mut session);
        let is_right = |reason: &FigureRefusal| match reason {
            FigureRefusal::Pose(FigureError::Unsent { joint: 1, off_cm, .. }) => {
                wrong == longer && *off_cm > 5.0
            }
            FigureRefusal::Pose(FigureError::NotANumber { joint: 1 }) => wrong != longer,
            _ => false,
        };
        assert!(!reasons.is_empty() && reasons.iter().all(is_right), "{reasons:?}");
        assert_eq!(locals(session.clients[0].app.world(), shown(&session)), own);
    }
    let turned = rest.with_rotation(Quat::from_rotation_x(0.3));
    *session.server.world_mut().get_mut::<Transform>(spine).unwrap() = turned;
    session.run(30);
    assert_eq!(reasons(&mut session), []);
    let exact = locals(session.server.world(), avatar);
    let own = locals(session.clients[0].app.world(), shown(&session));
    assert!(distance_m(&own, &exact) <= PRECISION_M);
}

#[test]
fn a_hip_out_of_range_a_wrong_curve_and_a_wrong_part() {
    let (mut session, avatar) = noting(LinkConfig::PERFECT);
    let hips = joint_of(session.server.world(), avatar, 0);
    session.server.world_mut().get_mut::<Transform>(hips).unwrap().translation.x = 200.0;
    session.step();
    let out_of_range = reasons(&mut session);
    assert!(
        matches!(out_of_range[..], [FigureRefusal::Pose(FigureError::OutOfRange { joint: 0, .. })]),
        "{out_of_range:?}"
    );
    *session.server.world_mut().get_mut::<Transform>(hips).unwrap() = bind(0);
    let mut body = session.server.world_mut().get_mut::<FigureBody>(avatar).unwrap();
    body.curves_mut()[1] = 3.0;
    session.step();
    let bad_curve = FigureError::BadCurve { curve: 1, value: 3.0 };
    assert_eq!(reasons(&mut session), [FigureRefusal::Pose(bad_curve)]);
    let mut body = session.server.world_mut().get_mut::<FigureBody>(avatar).unwrap();
    body.curves_mut()[1] = 0.5;
    body.set_absent(7, true);
    session.step();
    let no_part = FigureError::NoPart { part: 7 };
    assert_eq!(reasons(&mut session), [FigureRefusal::Pose(no_part)]);
    assert_eq!(session.server().stats().refused_values, 3);
}

#[test]
fn a_body_of_another_kind_is_refused() {
    let (mut session, avatar) = noting(LinkConfig::PERFECT);
    let other = FigureBody::new(&kind());
    session.server.world_mut().entity_mut(avatar).insert(other);
    session.run(2);
    let reasons = reasons(&mut session);
    assert!(!reasons.is_empty());
    assert!(reasons.iter().all(|reason| *reason == FigureRefusal::AnotherKind));
}

#[test]
fn a_client_with_another_skeleton_is_refused() {
    let (mut session, _) = noting(LinkConfig::PERFECT);
    let mut other: App = crate::support::app();
    register_longer(&mut other);
    other.add_plugins(MotionClientPlugin::new(MotionSettings::at_hz(TICK_HZ)));
    other.finish();
    let id = ReceiverId(50);
    let mut server = session.server.world_mut().resource_mut::<MotionServer>();
    server.connect(id, &ReceiverOptions::default()).unwrap();
    other.world_mut().resource_mut::<MotionClient>().connect();
    for _ in 0..3 {
        other.update();
        let mut client = other.world_mut().resource_mut::<MotionClient>();
        let mut server = session.server.world_mut().resource_mut::<MotionServer>();
        client.outgoing.iter().for_each(|((), datagram)| server.incoming.push(id, datagram));
        client.outgoing.clear();
        session.server.update();
        let mut server = session.server.world_mut().resource_mut::<MotionServer>();
        let refusals = server.outgoing.iter().filter(|(to, _)| *to == id);
        refusals.for_each(|(_, datagram)| client.incoming.push((), datagram));
        server.outgoing.clear();
    }
    other.update();
    assert!(other.world().resource::<MotionClient>().mismatch().is_some());
}
