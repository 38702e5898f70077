//! Tests that sending and showing figures allocates nothing.

use allocation_counter::measure;
use kinepack::{EntityId, Schema, Snapshot, Tick};
use kinepack_anim::figure::{Figure, FigureOptions, FigurePose};
use kinepack_anim::{Joint, Skeleton, Transform};

#[test]
fn quantizing_and_writing_allocate_nothing() {
    let bind = Transform { translation: [10.0, 0.0, 0.0], ..Transform::IDENTITY };
    let joint = |index: u16| Joint { name: String::new(), parent: index.checked_sub(1), bind };
    let skeleton = Skeleton::new((0..30).map(joint).collect()).unwrap();
    let mut figure = Figure::new(&skeleton, &FigureOptions::default()).unwrap();
    let mut world = Snapshot::new(&Schema::new(figure.fields()), Tick(1));
    let mut pose = skeleton.bind_pose();
    figure.push(&mut world, 0, EntityId(1), &FigurePose::new(&pose)).unwrap();
    let info = measure(|| {
        for tick in 2..50 {
            world.clear(Tick(tick));
            pose[3].rotation = [0.0, 0.0, 0.01 * tick as f32, 1.0];
            figure.push(&mut world, 0, EntityId(1), &FigurePose::new(&pose)).unwrap();
            figure.write((&world, 0), &mut pose[..]);
        }
    });
    assert_eq!(info.count_total, 0);
}
