//! Tests clips that bodies play: times, the lanes, what is shown between two states, and mixing.

use kinepack::schema::{Field, FieldKind};
use kinepack::{
    Between, Codec, Decoder, Encoder, EntityId, Level, Profile, Schema, Snapshot, Tick, View,
};
use kinepack_anim::figure::{
    ClipPlay, Figure, FigureClips, FigureError, FigureOptions, FigurePart, FigurePose, Motion,
    ShownClip,
};
use kinepack_anim::{Skeleton, Transform, blend};

use super::{about, chain};
use crate::random::Random;

fn clips(slots: usize, names: &[&str]) -> FigureClips {
    FigureClips { slots, names: names.iter().map(ToString::to_string).collect() }
}

/// A body whose joints 3 and 4 are legs, and whose other joints are a part too.
fn body() -> (Skeleton, Figure) {
    let skeleton = chain(5, 20.0);
    // The chain is open at joint 3, so that the legs hang on nothing of the rest.
    let mut joints = skeleton.joints().to_vec();
    joints[3].parent = None;
    let skeleton = Skeleton::new(joints).unwrap();
    let part = |name: &str, joints: &[usize]| FigurePart {
        name: name.into(),
        joints: joints.to_vec(),
        curves: vec![],
    };
    let options = FigureOptions {
        parts: vec![part("legs", &[3, 4]), part("rest", &[0, 1, 2])],
        clips: clips(2, &["walk", "run", "wave"]),
        ..FigureOptions::default()
    };
    let figure = Figure::new(&skeleton, &options).unwrap();
    (skeleton, figure)
}

fn world(figure: &mut Figure, tick: u32, pose: &FigurePose<'_>) -> Snapshot {
    let mut world = Snapshot::new(&Schema::new(figure.fields()), Tick(tick));
    figure.push(&mut world, 0, EntityId(3), pose).unwrap();
    world
}

/// The state of a body that plays `plays` and nothing else.
fn playing(figure: &mut Figure, tick: u32, plays: &[Option<ClipPlay>]) -> Snapshot {
    let joints = vec![Transform::IDENTITY; figure.joint_count()];
    let pose = FigurePose { absent: &[0, 1], clips: plays, ..FigurePose::new(&joints) };
    world(figure, tick, &pose)
}

/// A time in steps of 1/1024 tick, as section 6 of the specification defines it: the number of 32
/// bits with a sign that differs by a multiple of 2³².
fn nearest(steps: i128) -> i128 {
    (steps + (1 << 31)).rem_euclid(1 << 32) - (1 << 31)
}

#[test]
fn both_sides_have_the_same_time_at_every_tick() {
    let (_, mut figure) = body();
    for seed in 0..300 {
        let random = &mut Random(seed);
        // The ticks of many plays wrap at 2³².
        let mut tick = u32::MAX.wrapping_sub(random.below(3000)).wrapping_add(random.below(4000));
        let clip = random.below(3) as usize;
        let mut play = ClipPlay::start(clip, Tick(tick));
        let (mut time, mut speed, mut weight) = (0_i128, 1024_i128, 255);
        for _ in 0..20 {
            let passed = if random.below(4) == 0 { random.below(1 << 20) } else { random.below(9) };
            tick = tick.wrapping_add(passed);
            time = nearest(time + speed * i128::from(passed));
            match random.below(6) {
                0 => {
                    time = i128::from(random.below(u32::MAX)) - (1 << 31);
                    play = play.with_time(Tick(tick), time as f64 / 1024.0).unwrap();
                }
                1 => {
                    speed = [0, 0, -16_384, 16_384][random.below(4) as usize];
                    play = play.with_speed(Tick(tick), speed as f64 / 1024.0).unwrap();
                }
                2 => {
                    speed = i128::from(random.below(32_769)) - 16_384;
                    play = play.with_speed(Tick(tick), speed as f64 / 1024.0).unwrap();
                }
                3 => {
                    weight = random.below(256);
                    play = play.with_weight(weight as f32 / 255.0).unwrap();
                }
                _ => {}
            }
            let world = playing(&mut figure, tick, &[None, Some(play)]);
            assert_eq!(figure.clip((&world, 0), 0), None);
            let read = figure.clip((&world, 0), 1).unwrap();
            assert_eq!(read, play);
            assert_eq!((read.clip(), read.speed()), (clip, speed as f64 / 1024.0));
            assert_eq!(read.weight(), weight as f32 / 255.0);
            assert_eq!(read.time_ticks(tick.into()), time as f64 / 1024.0, "seed {seed}");
            let later = read.time_ticks(f64::from(tick) + 0.25);
            assert_eq!(later, (time as f64 + speed as f64 * 0.25) / 1024.0);
        }
    }
}

#[test]
fn a_time_survives_the_wrap_of_the_tick() {
    let play = ClipPlay::start(0, Tick(u32::MAX - 9)).with_speed(Tick(0), 0.3).unwrap();
    let speed = play.speed();
    assert!((speed - 0.3).abs() <= 1.0 / 2048.0);
    assert_eq!(play.time_ticks(0.0), 10.0);
    assert_eq!(play.time_ticks(4_294_967_296.0), 10.0);
    assert_eq!(play.time_ticks(-0.5), 10.0 - 0.5 * speed);
    assert_eq!(play.time_ticks(f64::NAN), 10.0);
    // Times wrap after 2²¹ ticks.
    let end = (1 << 21) as f64;
    assert_eq!(ClipPlay::start(0, Tick(0)).time_ticks(end - 0.5), end - 0.5);
    assert_eq!(ClipPlay::start(0, Tick(0)).time_ticks(end), -end);
}

#[test]
fn a_second_reader_finds_the_same_plays() {
    let (_, mut figure) = body();
    let schema = Schema::new(figure.fields());
    let play = ClipPlay::start(2, Tick(900)).with_time(Tick(900), -7.25).unwrap();
    let play = play.with_speed(Tick(900), -1.5).unwrap().with_weight(0.4).unwrap();
    let world = playing(&mut figure, 950, &[Some(play)]);
    let lanes: Vec<u32> = world.lanes_at(0).collect();
    let lane = |name: &str| {
        // The first field's name has the digest too.
        let (begin, end) = name.split_once(']').unwrap();
        let is_field = |field: &&Field| field.name.starts_with(begin) && field.name.ends_with(end);
        let field = schema.fields().iter().find(is_field).unwrap();
        let of_flag = field.condition.as_ref().map(|condition| condition.selector.as_str());
        assert_eq!(of_flag.is_some(), !name.ends_with('?'), "{name}");
        let lanes = &lanes[field.lanes()];
        assert_eq!(lanes.len(), 1);
        (i128::from(lanes[0]), field.kind.clone())
    };
    assert_eq!(lane("clips[0]?"), (1, FieldKind::Bool));
    assert_eq!(lane("clips[1]?"), (0, FieldKind::Bool));
    assert_eq!(lane("clips[0].clip"), (2, FieldKind::Choice { max: 2 }));
    assert_eq!(lane("clips[1].since").0, 0);
    let (since, FieldKind::Floats(kind)) = lane("clips[0].since") else { panic!("no number") };
    assert!(kind[0].wraps() && kind[0].max_code() == u32::MAX && kind[0].step() == 1.0);
    let (time, FieldKind::Floats(kind)) = lane("clips[0].time") else { panic!("no number") };
    assert!(kind[0].wraps() && kind[0].max_code() == u32::MAX && kind[0].step() == 1.0 / 1024.0);
    let (speed, FieldKind::Floats(kind)) = lane("clips[0].speed") else { panic!("no number") };
    assert_eq!(kind[0].reconstruct(speed as u32), -1.5);
    let (weight, FieldKind::Floats(kind)) = lane("clips[0].weight") else { panic!("no number") };
    assert_eq!((kind[0].reconstruct(255), weight), (1.0, 102));
    let time = nearest(time + (speed - 16_384) * (950 - since)) as f64 / 1024.0;
    assert_eq!(time, -7.25 - 1.5 * 50.0);
    assert_eq!(play.time_ticks(950.0), time);
}

#[test]
fn the_hash_covers_slots_and_the_order_of_clips() {
    let hash = |clips: FigureClips| {
        let options = FigureOptions { clips, ..FigureOptions::default() };
        Schema::new(Figure::new(&chain(3, 30.0), &options).unwrap().fields()).hash()
    };
    let own = hash(clips(2, &["walk", "run"]));
    assert_eq!(own, hash(clips(2, &["walk", "run"])));
    for other in [
        clips(1, &["walk", "run"]),
        clips(2, &["run", "walk"]),
        clips(2, &["wal", "krun"]),
        clips(2, &["walk", "run", "sit"]),
        FigureClips::default(),
    ] {
        assert_ne!(own, hash(other));
    }
}

/// What is shown in slot 0 at a ratio between tick 10 and tick 20.
fn shown(from: Option<ClipPlay>, to: Option<ClipPlay>, ratio: f32) -> Option<ShownClip> {
    let (_, mut figure) = body();
    let worlds = [(10, from), (20, to)].map(|(tick, play)| playing(&mut figure, tick, &[play]));
    let at = Between { ratio, seconds: 0.1 };
    let tick = 10.0 + 10.0 * f64::from(ratio);
    figure.interpolate_clip((&worlds[0], 0), (&worlds[1], 0), at, tick, 0)
}

#[test]
fn the_same_clip_continues_exactly() {
    let play = ClipPlay::start(1, Tick(4)).with_speed(Tick(7), 0.3).unwrap();
    let faded = play.with_weight(0.0).unwrap();
    for ratio in [0.0, 0.25, 0.5, 1.0] {
        let shown = shown(Some(play), Some(faded), ratio).unwrap();
        assert_eq!(shown.clip, 1);
        assert_eq!(shown.time_ticks, play.time_ticks(10.0 + 10.0 * f64::from(ratio)));
        assert_eq!((shown.weight, shown.speed), (1.0 - ratio, play.speed()));
    }
}

#[test]
fn a_change_of_speed_is_exact_between_two_states() {
    let slow = ClipPlay::start(1, Tick(0));
    let at = |to: ClipPlay| {
        [0.0, 0.25, 0.5, 0.75, 1.0].map(|ratio| {
            let shown = shown(Some(slow), Some(to), ratio).unwrap();
            (shown.time_ticks, shown.speed)
        })
    };
    // The shown ticks are 10 to 20, and the speed changes at 15.
    let fast = at(slow.with_speed(Tick(15), 3.0).unwrap());
    assert_eq!(fast, [(10.0, 1.0), (12.5, 1.0), (15.0, 3.0), (22.5, 3.0), (30.0, 3.0)]);
    let paused = at(slow.with_speed(Tick(15), 0.0).unwrap());
    assert_eq!(paused, [(10.0, 1.0), (12.5, 1.0), (15.0, 0.0), (15.0, 0.0), (15.0, 0.0)]);
    // A jump by less than a tick is spread over the time between.
    let corrected = at(ClipPlay::start(1, Tick(15)).with_time(Tick(15), 15.5).unwrap());
    let times = corrected.map(|(time_ticks, _)| time_ticks);
    assert_eq!(times, [10.0, 12.625, 15.25, 17.875, 20.5]);
}

#[test]
fn before_another_clip_the_first_runs_on() {
    let walk = ClipPlay::start(0, Tick(2));
    let again = ClipPlay::start(0, Tick(19));
    for to in [None, Some(again), Some(ClipPlay::start(2, Tick(20)))] {
        let before = shown(Some(walk), to, 0.9).unwrap();
        assert_eq!((before.clip, before.weight), (0, 1.0));
        assert!((before.time_ticks - 17.0).abs() < 1e-6, "{before:?}");
        assert_eq!(shown(to, Some(walk), 1.0).map(|shown| shown.time_ticks), Some(18.0));
        let after = shown(Some(walk), to, 1.0);
        assert_eq!(after.map(|shown| shown.time_ticks), to.map(|play| play.time_ticks(20.0)));
    }
    assert_eq!(shown(None, Some(walk), 0.9), None);
    assert!(shown(Some(walk), None, f32::NAN).is_some());
}

#[test]
fn clips_that_do_not_fit_are_refused() {
    let skeleton = chain(3, 20.0);
    let refused = |clips: FigureClips| {
        let options = FigureOptions { clips, ..FigureOptions::default() };
        Figure::new(&skeleton, &options).unwrap_err()
    };
    assert_eq!(refused(clips(0, &["walk"])), FigureError::BadClips { slots: 0, clips: 1 });
    assert_eq!(refused(clips(1, &[])), FigureError::BadClips { slots: 1, clips: 0 });
    let many = refused(clips(65, &["walk"]));
    assert_eq!(many, FigureError::BadClips { slots: 65, clips: 1 });
    assert!(many.to_string().starts_with("65 slots cannot play 1 clips"), "{many}");

    let (_, mut figure) = body();
    assert_eq!((figure.clip_slot_count(), figure.clip_count()), (2, 3));
    let mut world = playing(&mut figure, 1, &[]);
    let before = world.clone();
    let joints = vec![Transform::IDENTITY; 5];
    let play = |clip| Some(ClipPlay::start(clip, Tick(1)));
    let mut push = |plays: &[Option<ClipPlay>]| {
        let pose = FigurePose { absent: &[0, 1], clips: plays, ..FigurePose::new(&joints) };
        figure.push(&mut world, 0, EntityId(9), &pose).unwrap_err()
    };
    assert_eq!(push(&[None, play(3)]), FigureError::NoClip { slot: 1, clip: 3 });
    assert_eq!(push(&[play(usize::MAX)]), FigureError::NoClip { slot: 0, clip: usize::MAX });
    assert_eq!(push(&[None, None, None, play(0)]), FigureError::NoSlot { slot: 3 });
    assert_eq!(world, before);
}

#[test]
fn plays_out_of_range_are_refused() {
    let play = ClipPlay::start(0, Tick(5));
    let end = (1 << 21) as f64;
    for time in [f64::NAN, f64::INFINITY, end, -end - 1.0] {
        let error = play.with_time(Tick(5), time).unwrap_err();
        assert!(matches!(error, FigureError::BadPlay { number: "time", .. }), "{error}");
    }
    for speed in [f64::NAN, 16.001, -17.0, f64::NEG_INFINITY] {
        let error = play.with_speed(Tick(5), speed).unwrap_err();
        assert!(matches!(error, FigureError::BadPlay { number: "speed", .. }), "{error}");
    }
    for weight in [f32::NAN, -0.001, 1.001] {
        let error = play.with_weight(weight).unwrap_err();
        assert!(matches!(error, FigureError::BadPlay { number: "weight", .. }), "{error}");
    }
    let error = play.with_speed(Tick(5), 17.0).unwrap_err();
    assert_eq!(error.to_string(), "the speed of a clip is 17, out of range");
}

#[test]
fn any_lanes_give_a_play_that_can_be_shown() {
    let (_, figure) = body();
    let schema = Schema::new(figure.fields());
    let random = &mut Random(5);
    for _ in 0..2000 {
        let worlds = [0, 1].map(|_| {
            let pick = |max: u32, random: &mut Random| match random.below(3) {
                0 => max,
                1 => random.below(max.saturating_add(1)),
                _ => 0,
            };
            let mut lanes: Vec<u32> =
                schema.lanes().iter().map(|lane| pick(lane.max, random)).collect();
            schema.clear_absent(&mut lanes);
            let mut world = Snapshot::new(&schema, Tick(pick(u32::MAX, random)));
            world.push_lanes(EntityId(1), &lanes).unwrap();
            world
        });
        let at = Between { ratio: random.between(-0.5, 1.5), seconds: 0.1 };
        let tick = f64::from(random.between(-1e12, 1e12));
        let [from, to] = worlds.each_ref().map(|world| (world, 0));
        if let Some(shown) = figure.interpolate_clip(from, to, at, tick, 1) {
            assert!(shown.clip < 3 && shown.time_ticks.is_finite(), "{shown:?}");
            assert!((0.0..=1.0).contains(&shown.weight) && shown.speed.abs() <= 16.0);
        }
    }
}

#[test]
fn legs_play_a_clip_while_the_rest_is_live() {
    let (skeleton, mut figure) = body();
    let walk = about([1.0, 0.0, 0.0], 0.7);
    let mut live = skeleton.bind_pose();
    live[2].rotation = about([0.0, 0.0, 1.0], 0.9);
    let plays = [Some(ClipPlay::start(0, Tick(10)))];
    let pose = FigurePose { absent: &[0], clips: &plays, ..FigurePose::new(&live) };
    let world = world(&mut figure, 30, &pose);

    let mut shown = skeleton.bind_pose();
    let play = figure.clip((&world, 0), 0).unwrap();
    assert_eq!(play.time_ticks(30.0), 20.0);
    // The clip, sampled at this time, has all joints. The live parts are written over it.
    shown.iter_mut().for_each(|joint| joint.rotation = walk);
    figure.write((&world, 0), &mut shown[..]);
    assert_eq!([shown[3].rotation, shown[4].rotation], [walk; 2]);
    assert!((shown[2].rotation[2] - live[2].rotation[2]).abs() < 0.02);
    assert!(shown[0].rotation[0].abs() < 0.02);
}

#[test]
fn a_whole_body_fades_into_a_clip() {
    let (skeleton, mut figure) = body();
    let play = ClipPlay::start(2, Tick(10)).with_weight(1.0 / 3.0).unwrap();
    let live = skeleton.bind_pose();
    let pose = FigurePose { clips: &[Some(play)], ..FigurePose::new(&live) };
    let fading = world(&mut figure, 30, &pose);
    let wave = vec![Transform { translation: [3.0; 3], ..Transform::IDENTITY }; 5];
    let mut shown = wave.clone();
    figure.write((&fading, 0), &mut shown[..]);
    blend(&mut shown, &wave, figure.clip((&fading, 0), 0).unwrap().weight());
    assert!((shown[1].translation[0] - (20.0 * 2.0 / 3.0 + 1.0)).abs() < 0.01);

    // When the clip has all the weight, no part needs to be present, and none is written.
    let alone = playing(&mut figure, 31, &[Some(play.with_weight(1.0).unwrap())]);
    let mut shown = wave.clone();
    figure.write((&alone, 0), &mut shown[..]);
    assert_eq!(shown, wave);
}

#[test]
fn a_clip_that_plays_takes_no_bits() {
    let (_, mut figure) = body();
    let schema = Schema::new(figure.fields());
    let play = ClipPlay::start(1, Tick(2)).with_speed(Tick(2), 1.25).unwrap();
    for level in [Level::PACKED, Level::ADAPTIVE] {
        let codec = Codec::new(schema.clone(), level, Profile::magnitudes(&schema)).unwrap();
        let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
        let mut view = View::from(Snapshot::new(&schema, Tick(0)));
        let mut bytes = Vec::new();
        for tick in 1..12 {
            let plays = [(tick > 5).then_some(play)];
            let world = playing(&mut figure, tick, &plays);
            let mut packet = Vec::new();
            encoder.encode(&view, &world, &mut packet).unwrap();
            view = decoder.decode(&view, &packet, Tick(tick)).unwrap();
            assert_eq!(*view, world);
            bytes.push(packet.len());
        }
        // The body rests in ticks 2 to 5, and plays the clip from tick 6 on.
        assert!(bytes[5] > bytes[4], "{bytes:?}");
        assert!(bytes[6..].iter().all(|later| *later == bytes[4]), "{bytes:?}");
    }
}

#[test]
fn a_figure_without_joints_plays_clips() {
    let skeleton = chain(2, 20.0);
    let options = FigureOptions {
        motions: vec![(0, Motion::Still), (1, Motion::Still)],
        clips: clips(1, &["open"]),
        ..FigureOptions::default()
    };
    let mut figure = Figure::new(&skeleton, &options).unwrap();
    let digest = figure.fields()[0].name.clone();
    assert!(digest.starts_with("clips[0 ") && digest.len() == "clips[0 ]?".len() + 16, "{digest}");
    let play = ClipPlay::start(0, Tick(3));
    let joints = skeleton.bind_pose();
    let pose = FigurePose { clips: &[Some(play)], ..FigurePose::new(&joints) };
    let world = world(&mut figure, 5, &pose);
    assert_eq!(figure.clip((&world, 0), 0), Some(play));
}
