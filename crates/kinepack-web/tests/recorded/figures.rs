//! Records live bodies: what a receiver and a viewer get, and the poses that are shown.

use super::*;

use kinepack::schema::{Field, FieldKind};
use kinepack_anim::PoseAndCurves;
use kinepack_anim::figure::{
    ClipPlay, Figure, FigureClips, FigureCurve, FigureOptions, FigurePart, FigurePose, Motion,
};
use kinepack_net::{Playback, Sample};

/// The kinds of bodies: players are bodies alone, and riders have other fields too. Beacons are the
/// kind before them.
const PLAYERS: usize = 1;
const RIDERS: usize = 2;

/// The lanes of a rider before those of the body.
const RIDER_LANES: usize = 1;
/// The difference of the ids of a rider and of the player with the same pose.
const RIDER_ID: u32 = 50;

const HAND_PART: usize = 0;

pub(super) fn skeleton() -> Skeleton {
    let joint = |name: &str, parent, translation, rotation| {
        let bind = Transform { translation, rotation, ..Transform::IDENTITY };
        Joint { name: name.into(), parent, bind }
    };
    let straight = Transform::IDENTITY.rotation;
    Skeleton::new(vec![
        joint("hip", None, [0.0, 95.0, 0.0], straight),
        joint("spine", Some(0), [0.0, 20.5, 0.0], straight),
        joint("arm", Some(1), [18.0, 25.0, 0.0], [0.0, 0.0, 0.6, 0.8]),
        joint("hand", Some(2), [50.0, 0.0, 0.0], straight),
        joint("thumb", Some(3), [4.0, 0.0, 3.0], [0.0, 0.6, 0.0, 0.8]),
        joint("lamp", Some(1), [0.0, 45.0, 10.0], straight),
    ])
    .unwrap()
}

pub(super) fn options() -> FigureOptions {
    let curve = |name: &str, min| FigureCurve { name: name.into(), min, max: 1.0, precision: 0.01 };
    FigureOptions {
        precision_cm: 0.4,
        shell_cm: 2.0,
        joint_precisions_cm: vec![(3, 0.1)],
        motions: vec![
            (0, Motion::Moves { range_cm: 500.0 }),
            (4, Motion::Hinge([0.0, 1.0, 0.0])),
            (5, Motion::Still),
        ],
        curves: vec![curve("smile", -1.0), curve("grip", 0.0)],
        parts: vec![FigurePart { name: "hand".into(), joints: vec![3, 4], curves: vec![1] }],
        clips: FigureClips { slots: 2, names: ["walk", "wave"].map(String::from).to_vec() },
        coarser: vec![4.0],
    }
}

/// A walk whose speed changes at times, and a wave that fades in and out.
pub(super) fn plays(tick: u32, id: u32) -> [Option<ClipPlay>; 2] {
    let change = Tick(tick / 25 * 25);
    let speed = 0.75 + f64::from(change.0) / 100.0;
    let walk = ClipPlay::start(0, Tick(id)).with_speed(change, speed).unwrap();
    let wave = ClipPlay::start(1, Tick(tick / 20 * 20));
    let wave = wave.with_weight((tick % 20) as f32 / 19.0).unwrap();
    [Some(walk), (tick / 20 + id).is_multiple_of(2).then_some(wave)]
}

/// The transforms of a body's joints and its curves at a tick.
pub(super) fn motion(skeleton: &Skeleton, tick: u32, id: u32) -> (Vec<Transform>, [f32; 2]) {
    let time = tick as f32 / 20.0 + id as f32;
    let mut joints = skeleton.bind_pose();
    joints[0].translation[0] += 100.0 * time.sin();
    for (joint, turn) in [(0, 3.0 * time), (1, time.sin()), (2, (2.0 * time).cos())] {
        let (sin, cos) = (turn / 2.0).sin_cos();
        joints[joint].rotation = [0.6 * sin, 0.0, 0.8 * sin, cos];
    }
    let (sin, cos) = (time / 2.0).sin_cos();
    joints[4].rotation = [0.0, sin, 0.0, cos];
    (joints, [time.sin(), time.cos().abs()])
}

struct Bodies {
    skeleton: Skeleton,
    figure: Figure,
    schema: Schema,
}

impl Bodies {
    fn new() -> Self {
        let skeleton = skeleton();
        let figure = Figure::new(&skeleton, &options()).unwrap();
        let mut rider = vec![Field::new("is_seen", FieldKind::Bool)];
        rider.extend(figure.fields());
        rider.push(Field::new("is_armed", FieldKind::Bool));
        let schema = Schema::builder()
            .kind::<Beacon>("beacon")
            .kind_of_fields("player", figure.fields())
            .kind_of_fields("rider", rider)
            .build()
            .unwrap();
        assert_eq!(figure.find(&schema, RIDERS), Some(RIDER_LANES));
        Self { skeleton, figure, schema }
    }

    /// The world at a tick. Bodies are added and removed, and lose their hands at times.
    fn world(&mut self, tick: u32) -> Snapshot {
        let mut world = Snapshot::new(&self.schema, Tick(tick));
        let beacon = Beacon { place: [0.0; 2], heading_deg: 0.0, serial: 0, carrier: None };
        world.push(EntityId(100), &beacon).unwrap();
        let mut lanes = vec![1; self.figure.lane_count() + 2];
        for id in (0..4u32).filter(|id| (tick / 12 + id) % 5 != 2) {
            let (joints, curves) = motion(&self.skeleton, tick, id);
            let absent = [HAND_PART];
            let pose = FigurePose {
                curves: &curves,
                clips: &plays(tick, id),
                tier: ((tick / 9 + id) % 2) as usize,
                absent: if (tick / 7 + id).is_multiple_of(3) { &absent } else { &[] },
                ..FigurePose::new(&joints)
            };
            self.figure.push(&mut world, PLAYERS, EntityId(id), &pose).unwrap();
            let body = RIDER_LANES..RIDER_LANES + self.figure.lane_count();
            self.figure.quantize(&pose, &mut lanes[body]).unwrap();
            world.push_lanes_of(RIDERS, EntityId(id + RIDER_ID), &lanes).unwrap();
        }
        world
    }

    /// The hashes of all players and of all riders at a moment.
    fn hashes(&mut self, playback: &Playback<'_>) -> String {
        let players = self.hash(0, playback, playback.samples_of_kind(PLAYERS));
        let riders = self.hash(RIDER_LANES, playback, playback.samples_of_kind(RIDERS));
        format!("{players:016x} {riders:016x}")
    }

    /// A hash of the bodies in `samples`: their ids, and of each its pose, parts and clips.
    fn hash<'a>(
        &mut self,
        first: usize,
        playback: &Playback<'_>,
        samples: impl Iterator<Item = Sample<'a>>,
    ) -> u64 {
        let samples: Vec<_> = samples.collect();
        self.figure.set_first_lane(first);
        let mut hash = Fnv1a::new();
        samples.iter().for_each(|sample| hash.add(&sample.id.0.to_le_bytes()));
        for sample in samples {
            // What the figure does not write is as in the bind pose.
            let (mut joints, mut curves) = (self.skeleton.bind_pose(), [0.0; 2]);
            let mut shown = PoseAndCurves { pose: &mut joints[..], curves: &mut curves };
            self.figure.interpolate(sample.from, sample.to, sample.between, &mut shown);
            hash_pose(&mut hash, &joints, &curves);
            let state = sample.between.step(sample.from, sample.to);
            hash.add(&[u8::from(self.figure.is_present(state, HAND_PART))]);
            let Sample { from, to, between, .. } = sample;
            for slot in 0..self.figure.clip_slot_count() {
                match self.figure.interpolate_clip(from, to, between, playback.tick, slot) {
                    None => hash.add(&[0]),
                    Some(clip) => {
                        [clip.clip as f64, clip.time_ticks, clip.speed, clip.weight.into()]
                            .iter()
                            .for_each(|number| hash.add(&number.to_le_bytes()));
                    }
                }
            }
        }
        hash.finish()
    }
}

#[test]
fn bodies_of_a_receiver_and_a_viewer() {
    let mut bodies = Bodies::new();
    let schema = bodies.schema.clone();
    let mut text = format!(
        "# Live bodies, for a receiver and then for a viewer: recorded by tests/recorded.rs.\n\
         skeleton {}\nreceiver adaptive 60 {}\n",
        hex(&bodies.skeleton.to_bytes()),
        hex(&schema.to_bytes()),
    );
    let codec = Codec::new(schema.clone(), Level::ADAPTIVE, Profile::untrained(&schema)).unwrap();
    let mut hub = Hub::new(&codec, HubConfig::default()).unwrap();
    hub.add(PLAYER, &ReceiverOptions::default(), Duration::ZERO).unwrap();
    let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(60)).unwrap();
    let config = LinkConfig {
        latency: Duration::from_millis(40),
        jitter: Duration::from_millis(15),
        loss: Loss::Independent { ratio: 0.08 },
        ..LinkConfig::PERFECT
    };
    let mut down = Link::new(config, 1).unwrap();
    for tick in 1..=TICKS {
        let ms = f64::from(tick) * TICK_MS;
        let now = Duration::try_from_secs_f64(ms / 1e3).unwrap();
        hub.tick(now, &bodies.world(tick)).unwrap();
        while let Some((_, datagram)) = hub.poll_transmit() {
            down.send(now, datagram);
        }
        while let Some(datagram) = down.poll(now) {
            if receiver.handle(now, &datagram).is_ok() {
                let _ = writeln!(text, "handle {ms} {}", hex(&datagram));
            }
        }
        while let Some(datagram) = receiver.poll_transmit(now) {
            let _ = writeln!(text, "transmit {ms} {}", hex(datagram));
            hub.handle(PLAYER, now, datagram).unwrap();
        }
        let Some(playback) = receiver.playback(now) else { continue };
        let _ = writeln!(text, "play {ms} {}", bodies.hashes(&playback));
    }
    record_viewer(&mut bodies, &codec, &mut text);
    check("figures", &text);
}

fn record_viewer(bodies: &mut Bodies, codec: &Codec, text: &mut String) {
    let catalogue = Catalogue::new(60, vec![Tier::new("full", codec, 10)]).unwrap();
    let mut publisher = Publisher::new(&catalogue);
    let mut viewer = Viewer::new(&catalogue, ViewerConfig::at_hz(60)).unwrap();
    viewer.watch(0).unwrap();
    let _ = writeln!(text, "viewer {}", hex(&catalogue.to_bytes()));
    for tick in 0..30 {
        let ms = f64::from(tick) * TICK_MS;
        let now = Duration::try_from_secs_f64(ms / 1e3).unwrap();
        for piece in publisher.publish(&bodies.world(tick)).unwrap() {
            let (Carried::Object(number), true) =
                (piece.carried, viewer.wanted().any(|track| track == piece.track))
            else {
                continue;
            };
            let track = catalogue.name_of(piece.track).unwrap();
            let _ = writeln!(
                text,
                "object {ms} {track} {} {number} {}",
                piece.group,
                hex(&piece.bytes)
            );
            viewer.object(now, piece.track, piece.group, number, &piece.bytes).unwrap();
        }
        let Some(playback) = viewer.playback(now) else { continue };
        let _ = writeln!(text, "show {ms} {}", bodies.hashes(&playback));
    }
}
