//! Measures a server's tick without clients in three forms. The first form is the game alone. The
//! second form is the game with the plugin, which quantizes what changed. The third form is the
//! game with a system that quantizes everything.

use bevy_app::{App, FixedPostUpdate, FixedUpdate};
use bevy_ecs::prelude::*;
use bevy_time::{Fixed, Time, TimePlugin, TimeUpdateStrategy};
use bevy_transform::components::Transform;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use kinepack::{EntityId, Schema, Snapshot, Tick};
use kinepack_bevy::{
    MotionAppExt, MotionServer, MotionServerPlugin, MotionSettings, Moving, Part, Pose,
};

type Kind = (Pose<1_000, 100, 11>,);

/// The share of entities that move in each tick, in percent.
#[derive(Resource, Clone, Copy)]
struct Percent(usize);

fn play(mut entities: Query<&mut Transform>, percent: Res<Percent>) {
    for (number, mut transform) in entities.iter_mut().enumerate() {
        if number % 100 < percent.0 {
            transform.translation.x = (transform.translation.x + 0.01) % 900.0;
        }
    }
}

#[derive(Resource)]
struct All(Snapshot);

fn quantize_all(entities: Query<&Transform, With<Moving>>, mut all: ResMut<All>) {
    let tick = Tick(all.0.tick.0 + 1);
    all.0.clear(tick);
    let poses = entities.iter().map(|transform| (Pose::read(transform),));
    all.0.extend::<Kind>((0..).map(EntityId).zip(poses)).expect("all are in range");
}

fn app(entities: u32, percent: usize) -> App {
    let mut app = App::new();
    app.add_plugins(TimePlugin)
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
        .insert_resource(Time::<Fixed>::from_hz(60.0))
        .insert_resource(Percent(percent))
        .add_systems(FixedUpdate, play);
    let spawn = |number| (Moving, Transform::from_xyz(number as f32 * 0.05, 1.0, 2.0));
    app.world_mut().spawn_batch((0..entities).map(spawn));
    app
}

fn ready(mut app: App) -> App {
    app.finish();
    app.cleanup();
    (0..10).for_each(|_| app.update());
    app
}

fn ticks(criterion: &mut Criterion) {
    for entities in [901, 10_000] {
        let mut group = criterion.benchmark_group(format!("{entities} entities"));
        for percent in [0, 10, 100] {
            let mut alone = ready(app(entities, percent));
            let moving = format!("{percent} % move");
            group.bench_function(BenchmarkId::new("game alone", &moving), |bencher| {
                bencher.iter(|| alone.update());
            });

            let mut with = app(entities, percent);
            with.add_motion_kind::<Kind>("body")
                .add_plugins(MotionServerPlugin::new(MotionSettings::at_hz(60)));
            let mut with = ready(with);
            group.bench_function(BenchmarkId::new("with the plugin", &moving), |bencher| {
                bencher.iter(|| with.update());
            });
            let server = with.world().resource::<MotionServer>();
            assert_eq!(server.state().len(), entities as usize);

            let mut all = app(entities, percent);
            let schema = Schema::builder().kind::<Kind>("body").build().expect("a valid kind");
            all.insert_resource(All(Snapshot::new(&schema, Tick(0))))
                .add_systems(FixedPostUpdate, quantize_all);
            let mut all = ready(all);
            group.bench_function(BenchmarkId::new("quantizes everything", &moving), |bencher| {
                bencher.iter(|| all.update());
            });
        }
        group.finish();
    }
}

criterion_group!(benches, ticks);
criterion_main!(benches);
