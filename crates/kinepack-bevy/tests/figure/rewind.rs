//! Tests that the server finds the bodies that a client showed.

use bevy_ecs::prelude::*;
use bevy_ecs::system::RunSystemOnce;
use bevy_transform::components::Transform;
use kinepack_bevy::figure::{FigureBody, FigureKind};
use kinepack_bevy::{MotionRewind, MotionServerPlugin, MotionSettings, Pose};
use kinepack_net::{ReceiverId, RewindConfig};

use super::support::*;
use crate::support::{LOSSY, Session, TICK_HZ};

type Kind = (Avatar, Pose<100, 100, 11>);

#[test]
fn a_body_is_rewound_to_the_one_that_was_shown() {
    let plugin = MotionServerPlugin::new(MotionSettings::at_hz(TICK_HZ));
    let rewind = Some(RewindConfig::at_hz(TICK_HZ));
    let plugin = MotionServerPlugin { rewind, ..plugin };
    let mut session = Session::by(plugin, register, LOSSY, 1, setup);
    let avatar = spawn_avatar(session.server.world_mut());
    spawn_joints(session.server.world_mut(), avatar);
    session.run(3);
    set_turning(session.server.world_mut(), avatar, true);
    session.run(60);
    for _ in 0..200 {
        session.step();
        let seen = session.clients[0].motion().seen().unwrap();
        let find = move |mut rewind: MotionRewind, kind: Res<FigureKind>| {
            let past = rewind.rewind(ReceiverId(0), seen).unwrap();
            let body = past.body::<Kind>(avatar, &kind).unwrap();
            (body, past.components::<Kind>(avatar).unwrap())
        };
        let (found, components) = session.server.world_mut().run_system_once(find).unwrap();
        let shown = shown(&session);
        let world = session.clients[0].app.world();
        assert_eq!(found.joints(), body(world, shown).joints());
        let of_client = world.entity(shown).get_components::<(&Avatar, &Transform)>().unwrap();
        assert_eq!((&components.0, &components.1), of_client);
    }
    let unmoved = FigureBody::new(session.server.world().resource::<FigureKind>());
    assert_ne!(body(session.server.world(), avatar).joints(), unmoved.joints());
}
