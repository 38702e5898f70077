//! Checks that a frame in which nothing changes allocates nothing. This is a program of its own,
//! because a program that counts allocations has another allocator.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[allow(dead_code, reason = "the other tests of clips use the rest")]
#[path = "clips/support.rs"]
mod support;

use std::path::Path;

use allocation_counter::measure;
use bevy_app::{App, TaskPoolOptions};
use bevy_asset::io::memory::Dir;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::SingleThreadedExecutor;
use bevy_time::{TimePlugin, TimeUpdateStrategy};
use bevy_transform::components::Transform;
use kinepack::Pack;
use kinepack_bevy::clips::{ClipLayer, ClipPlayer};
use kinepack_bevy::{
    AlwaysSeen, InputTick, MotionAppExt, MotionClient, MotionClientPlugin, MotionEntities,
    MotionId, MotionInputClock, MotionInputs, MotionPrediction, MotionServer, MotionServerPlugin,
    MotionSettings, Moving, Pose, Predicted, Viewpoint,
};
use kinepack_net::{Own, PredictConfig, ReceiverId, ReceiverOptions};
use support::*;

/// An app whose systems all run on this thread, with all features. The app does not propagate
/// transforms, because Bevy does that on several threads.
fn app_on_this_thread() -> App {
    TaskPoolOptions::with_num_threads(1).create_default_pools();
    let mut app = app_of(&Dir::new(Path::new("").into()), ());
    run_on_this_thread(&mut app);
    app
}

fn run_on_this_thread(app: &mut App) {
    for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
        schedule.set_executor(SingleThreadedExecutor::new());
    }
}

/// Checks that a frame with clips allocates as much as a frame without. Only this thread's
/// allocations count.
#[test]
fn frames_allocate_nothing() {
    let (mut app, skeleton) = (app_on_this_thread(), skeleton());
    let handles = [block, keyed].map(|scheme| {
        let clip = scheme(&raw(&skeleton, 1.0));
        add(&mut app, clip, &skeleton)
    });
    for index in 0..20 {
        let mut player = ClipPlayer::new(handles[index % 2].clone());
        let nod = ClipLayer::new(handles[1].clone()).on(["head"]).with_weight(0.5);
        player.layers.push(nod);
        let nod = ClipLayer::new(handles[0].clone()).on(["left arm", "leg"]);
        player.layers.push(nod);
        spawn(&mut app, player);
    }
    update(&mut app, 5);
    let mut frames = || update(&mut app, 1);
    let with_clips = (0..5).map(|_| measure(&mut frames).count_total).max();
    let mut players = app.world_mut().query_filtered::<Entity, With<ClipPlayer>>();
    let players: Vec<Entity> = players.iter(app.world()).collect();
    players.iter().for_each(|player| {
        app.world_mut().entity_mut(*player).remove::<ClipPlayer>();
    });
    update(&mut app, 5);
    let mut frames = || update(&mut app, 1);
    let without = (0..5).map(|_| measure(&mut frames).count_total).max();
    assert_eq!(with_clips, without, "Bevy's own allocations remain");
}

/// Checks that viewpoints cost no allocation. The clients never say hello, because a hub allocates
/// what it sends.
#[test]
fn viewpoints_allocate_nothing() {
    TaskPoolOptions::with_num_threads(1).create_default_pools();
    let mut app = App::new();
    app.add_plugins((TimePlugin, MotionServerPlugin::new(MotionSettings::at_hz(60))))
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
        .add_motion_kind::<(Pose<100, 100, 11>,)>("ship");
    app.finish();
    app.cleanup();
    run_on_this_thread(&mut app);
    let mut ticks = |has_viewpoints: bool| {
        let ships: Vec<Entity> = (0..8)
            .map(|number| {
                let place = Transform::from_xyz(number as f32, 0.0, 0.0);
                app.world_mut().spawn((Moving, place)).id()
            })
            .collect();
        for (number, ship) in (0..).zip(&ships).filter(|_| has_viewpoints) {
            let client = ReceiverId(number);
            let mut server = app.world_mut().resource_mut::<MotionServer>();
            server.connect(client, &ReceiverOptions::default()).unwrap();
            let team = AlwaysSeen(ships.clone());
            app.world_mut().entity_mut(*ship).insert((Viewpoint { client }, team));
        }
        (0..5).for_each(|_| app.update());
        let stats = app.world().resource::<MotionServer>().stats();
        assert_eq!((stats.unused_viewpoints, stats.ticks > 3), (0, true));
        (0..5).map(|_| measure(|| app.update()).count_total).max()
    };
    let without = ticks(false);
    assert_eq!(ticks(true), without, "the server's own allocations remain");
}

/// A predicted ship, and the input that moves it.
type Flown = Pose<100, 100, 11>;

#[derive(Pack, Clone, Copy)]
struct Steer {
    thrust: bool,
}

/// Checks that a client's frame with a predicted entity allocates as much as one without. No
/// datagrams arrive in these frames, because a receiver allocates what it gets.
#[test]
fn predicted_entities_allocate_nothing() {
    TaskPoolOptions::with_num_threads(1).create_default_pools();
    let app = || {
        let mut app = App::new();
        app.add_plugins(TimePlugin)
            .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
            .add_motion_kind::<(Flown,)>("ship")
            .add_motion_tick_input::<Steer>()
            .add_motion_prediction(
                PredictConfig::at_hz(60),
                |own: &mut [Own<(Flown,)>], steer: &Steer, _| {
                    let metres = if steer.thrust { 0.1 } else { 0.0 };
                    own.iter_mut().for_each(|own| own.state.0.position[0] += metres);
                },
            );
        app
    };
    let [mut server, mut client] = [app(), app()];
    server.add_plugins(MotionServerPlugin::new(MotionSettings::at_hz(60)));
    client.add_plugins(MotionClientPlugin::new(MotionSettings::at_hz(60)));
    client.add_systems(
        InputTick,
        |clock: Res<MotionInputClock>, mut steers: ResMut<MotionInputs<Steer>>| -> Result {
            steers.push_for_tick(clock.tick(), &Steer { thrust: true })?;
            Ok(())
        },
    );
    for app in [&mut server, &mut client] {
        app.finish();
        app.cleanup();
        run_on_this_thread(app);
    }
    server.world_mut().spawn((Moving, Transform::default()));
    let id = ReceiverId(1);
    let mut motion = server.world_mut().resource_mut::<MotionServer>();
    motion.connect(id, &ReceiverOptions::default()).unwrap();
    client.world_mut().resource_mut::<MotionClient>().connect();
    for _ in 0..60 {
        server.update();
        client.update();
        let mut of_server = server.world_mut().resource_mut::<MotionServer>();
        let mut of_client = client.world_mut().resource_mut::<MotionClient>();
        of_client.outgoing.iter().for_each(|((), datagram)| of_server.incoming.push(id, datagram));
        of_server.outgoing.iter().for_each(|(_, datagram)| of_client.incoming.push((), datagram));
        of_client.outgoing.clear();
        of_server.outgoing.clear();
    }
    let ship = client.world().resource::<MotionEntities>().get(MotionId(0)).unwrap();
    let mut frames = |is_predicted: bool| {
        let mut entity = client.world_mut().entity_mut(ship);
        if is_predicted {
            entity.insert(Predicted);
        } else {
            entity.remove::<Predicted>();
        }
        let mut frame = || {
            client.update();
            client.world_mut().resource_mut::<MotionClient>().outgoing.clear();
        };
        (0..5).for_each(|_| frame());
        let most = (0..5).map(|_| measure(&mut frame).count_total).max();
        let prediction = client.world().resource::<MotionPrediction<(Flown,), Steer>>();
        assert_eq!(prediction.ids().len(), usize::from(is_predicted));
        (most, client.world().get::<Transform>(ship).unwrap().translation.x)
    };
    let (without, place) = frames(false);
    let (with, predicted_place) = frames(true);
    assert_eq!(with, without, "the client's own allocations remain");
    assert!((place, predicted_place > 0.5) == (0.0, true), "{predicted_place}");
}
