//! Records exchanges for the package's tests in `package/test/`: the inputs and outputs of a native
//! receiver, sender and player, call by call. The module must give the same outputs, byte by byte.
//!
//! Run `KINEPACK_WRITE_VECTORS=1 cargo test -p kinepack-web --test recorded` to rewrite the files.

#![allow(clippy::unwrap_used)]

#[path = "recorded/figures.rs"]
mod figures;
#[path = "recorded/frames.rs"]
mod frames;
#[path = "recorded/input_clock.rs"]
mod input_clock;
#[path = "recorded/seen.rs"]
mod seen;
#[path = "recorded/sent_figures.rs"]
mod sent_figures;

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use kinepack::hash::Fnv1a;
use kinepack::stream::{StreamCodec, StreamLevel};
use kinepack::values::{ValueTable, Values};
use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_anim::offline::{BuildOptions, build};
use kinepack_anim::{AnyClip, Curve, Joint, Marker, RawClip, Skeleton, Transform};
use kinepack_crowd::{Carried, Carry, Catalogue, Publisher, Tier, Viewer, ViewerConfig};
use kinepack_net::{
    Audience, EventKinds, Hub, HubConfig, Link, LinkConfig, Loss, Playback, Receiver,
    ReceiverConfig, ReceiverId, ReceiverOptions, StreamConfig, StreamReceiver, StreamSender,
};

const TICKS: u32 = 90;
const TICK_MS: f64 = 1000.0 / 60.0;
const PLAYER: ReceiverId = ReceiverId(1);

#[derive(Pack)]
struct Ship {
    #[pack(range = -64.0..64.0, precision = 0.01)]
    position: [f32; 3],
    #[pack(velocity, range = -16.0..16.0, precision = 0.1)]
    velocity: [f32; 3],
    #[pack(rotation, bits = 9)]
    rotation: [f32; 4],
    #[pack(max = 100)]
    health: u8,
    burning: bool,
    distance_mm: i64,
    #[pack(cut)]
    jumps: u8,
}

#[derive(Pack)]
struct Beacon {
    #[pack(range = -100.0..100.0, precision = 0.000_001)]
    place: [f64; 2],
    #[pack(wrap, range = 0.0..360.0, precision = 0.5)]
    heading_deg: f32,
    serial: u64,
    carrier: Option<u32>,
}

#[derive(Pack)]
struct Hit {
    #[pack(max = 100)]
    damage: u8,
    #[pack(range = -64.0..64.0, precision = 0.1)]
    place: [f32; 3],
}

#[derive(Pack)]
struct Input {
    #[pack(range = -1.0..=1.0, precision = 0.01)]
    thrust: [f32; 2],
    fire: bool,
    weapon: u8,
}

fn schema() -> Schema {
    Schema::builder().kind::<Ship>("ship").kind::<Beacon>("beacon").build().unwrap()
}

fn world(schema: &Schema, tick: u32) -> Snapshot {
    let mut world = Snapshot::new(schema, Tick(tick));
    let time = f64::from(tick) / 60.0;
    for id in 0..12u32 {
        // Ships are added and removed.
        if (tick / 20 + id) % 7 == 3 {
            continue;
        }
        let turn = time * (0.3 + 0.1 * f64::from(id)) + f64::from(id);
        let (sin, cos) = ((turn / 2.0).sin() as f32, (turn / 2.0).cos() as f32);
        let radius = 10.0 + id as f32;
        let position = [radius * turn.cos() as f32, radius * turn.sin() as f32, 0.1 * id as f32];
        let speed = 0.3 + 0.1 * id as f32;
        let velocity = [-position[1] * speed, position[0] * speed, 0.0];
        let ship = Ship {
            position,
            velocity: velocity.map(|axis| axis.clamp(-15.9, 15.9)),
            rotation: [0.0, 0.0, sin, cos],
            health: (100 - tick % 90) as u8,
            burning: tick % 30 > 20,
            distance_mm: -(i64::from(tick) << 33) - i64::from(id),
            jumps: ((tick + 5 * id) / 30) as u8,
        };
        world.push(EntityId(id), &ship).unwrap();
    }
    for id in 0..3u32 {
        let beacon = Beacon {
            place: [time * 0.01 * f64::from(id + 1), -1.0 / 3.0],
            heading_deg: (350.0 + time as f32 * 20.0 * (id + 1) as f32) % 360.0,
            serial: u64::MAX - u64::from(id),
            carrier: (tick % 40 > 15).then_some(id + 7),
        };
        world.push(EntityId(100 + id), &beacon).unwrap();
    }
    world
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A hash of everything that a frame contains.
fn hash(table: &ValueTable, lists: &[&[EntityId]]) -> u64 {
    let mut hash = Fnv1a::new();
    for list in lists {
        list.iter().for_each(|id| hash.add(&id.0.to_le_bytes()));
    }
    for kind in table.kinds() {
        kind.ids().iter().for_each(|id| hash.add(&id.to_le_bytes()));
        for values in kind.fields() {
            match values {
                Values::F32(list) => list.iter().for_each(|n| hash.add(&n.to_le_bytes())),
                Values::F64(list) => list.iter().for_each(|n| hash.add(&n.to_le_bytes())),
                Values::I32(list) => list.iter().for_each(|n| hash.add(&n.to_le_bytes())),
                Values::U32(list) => list.iter().for_each(|n| hash.add(&n.to_le_bytes())),
                Values::I64(list) => list.iter().for_each(|n| hash.add(&n.to_le_bytes())),
                Values::U64(list) => list.iter().for_each(|n| hash.add(&n.to_le_bytes())),
                Values::U8(list) => hash.add(list),
                _ => unreachable!("a type that this test does not know"),
            }
        }
    }
    hash.finish()
}

/// Adds the numbers of a pose, as JavaScript has them, to a hash.
fn hash_pose(hash: &mut Fnv1a, pose: &[Transform], curves: &[f32]) {
    for of in [
        pose.iter().flat_map(Transform::translation_m).collect::<Vec<f32>>(),
        pose.iter().flat_map(|joint| joint.rotation).collect(),
        pose.iter().flat_map(|joint| joint.scale).collect(),
        curves.to_vec(),
    ] {
        of.iter().for_each(|number| hash.add(&number.to_le_bytes()));
    }
}

/// Compares a file of the package with what this version records, or writes the file.
fn check(name: &str, text: &str) {
    let path = format!(concat!(env!("CARGO_MANIFEST_DIR"), "/package/test/recorded/{}.txt"), name);
    if std::env::var_os("KINEPACK_WRITE_VECTORS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    assert!(std::fs::read_to_string(&path).unwrap() == text, "{path} is of another version");
}

/// Records the session of a receiver behind a simulated link with loss and jitter.
fn record(level: Level) -> String {
    let schema = schema();
    let profile = Profile::untrained(&schema);
    let of_events = Schema::builder().kind::<Hit>("hit").build().unwrap();
    let events = Profile::untrained(&of_events);
    let mut text = format!(
        "# A receiver's calls at level {name}: recorded by tests/recorded.rs.\n\
         receiver {name} 60 {} {} {name} {} {}\n",
        hex(&schema.to_bytes()),
        hex(&profile.to_bytes()),
        hex(&of_events.to_bytes()),
        hex(&events.to_bytes()),
        name = level.name(),
    );
    let codec = Codec::new(schema.clone(), level, profile).unwrap();
    let kinds = EventKinds::new(&Codec::new(of_events, level, events).unwrap());
    let mut hub = Hub::new(&codec, HubConfig::default()).unwrap().with_events(&kinds);
    hub.add(PLAYER, &ReceiverOptions::default(), Duration::ZERO).unwrap();
    let mut receiver =
        Receiver::new(&codec, ReceiverConfig::at_hz(60)).unwrap().with_events(&kinds);
    let config = LinkConfig {
        latency: Duration::from_millis(40),
        jitter: Duration::from_millis(15),
        loss: Loss::Independent { ratio: 0.08 },
        ..LinkConfig::PERFECT
    };
    let [mut down, mut up] = [1, 2].map(|seed| Link::new(config, seed).unwrap());
    let mut table = ValueTable::new(&schema);
    for tick in 1..=TICKS {
        let ms = f64::from(tick) * TICK_MS;
        let now = Duration::try_from_secs_f64(ms / 1e3).unwrap();
        while let Some(datagram) = up.poll(now) {
            hub.handle(PLAYER, now, &datagram).unwrap();
        }
        if tick % 25 == 0 {
            let hit = Hit { damage: tick as u8, place: [1.0, 2.0, tick as f32 / 4.0] };
            hub.emit(&hit, Audience::All).unwrap();
        }
        hub.tick(now, &world(&schema, tick)).unwrap();
        while let Some((_, datagram)) = hub.poll_transmit() {
            down.send(now, datagram);
        }
        while let Some(datagram) = down.poll(now) {
            let taken = receiver.handle(now, &datagram).is_ok();
            let word = if taken { "handle" } else { "refuse" };
            let _ = writeln!(text, "{word} {ms} {}", hex(&datagram));
        }
        while let Some(datagram) = receiver.poll_transmit(now) {
            let _ = writeln!(text, "transmit {ms} {}", hex(datagram));
            up.send(now, datagram);
        }
        let Some(playback) = receiver.playback(now) else { continue };
        table.clear();
        for sample in playback.samples() {
            table.push(sample.from, sample.to, sample.between).unwrap();
        }
        let lists = [playback.added(), playback.removed(), playback.cut()];
        let damage: Vec<String> = playback
            .events()
            .map(|event| event.get::<Hit>().unwrap().unwrap().damage.to_string())
            .collect();
        let _ = writeln!(
            text,
            "play {ms} {} {:016x} {}",
            playback.tick,
            hash(&table, &lists),
            damage.join(",")
        );
    }
    let mut newest = ValueTable::new(&schema);
    newest.extend(receiver.newest().unwrap()).unwrap();
    let _ = writeln!(text, "newest {:016x}", hash(&newest, &[]));
    text
}

#[test]
fn receivers_at_three_levels() {
    for level in [Level::PACKED, Level::ADAPTIVE, Level::LEARNING] {
        check(level.name(), &record(level));
    }
}

/// Records a viewer's session with a broadcast. The viewer changes its tier twice, reads all tracks
/// anew once, and rewinds at the end.
#[test]
fn a_viewer_of_a_broadcast() {
    let schema = schema();
    let codec = Codec::new(schema.clone(), Level::LEARNING, Profile::untrained(&schema)).unwrap();
    let new = |name, ticks| Tier::new(name, &codec, ticks);
    let catalogue = Catalogue::new(
        60,
        vec![
            Tier { frames_per_object: 2, ..new("full", 30) },
            Tier { ticks_per_frame: 3, ..new("third", 30) },
            Tier { carry: Carry::Datagrams, ..new("fast", 15) },
        ],
    )
    .unwrap();
    let mut publisher = Publisher::new(&catalogue);
    let config = ViewerConfig { history: Duration::from_secs(2), ..ViewerConfig::at_hz(60) };
    let mut viewer = Viewer::new(&catalogue, config).unwrap();
    let mut text = format!(
        "# A viewer's calls: recorded by tests/recorded.rs.\nviewer 2 {}\n",
        hex(&catalogue.to_bytes())
    );
    let mut table = ValueTable::new(&schema);
    let mut play = |text: &mut String, what: &str, ms: f64, playback: Option<Playback<'_>>| {
        let Some(playback) = playback else { return };
        table.clear();
        for sample in playback.samples() {
            table.push(sample.from, sample.to, sample.between).unwrap();
        }
        let lists = [playback.added(), playback.removed(), playback.cut()];
        let _ = writeln!(text, "{what} {ms} {} {:016x}", playback.tick, hash(&table, &lists));
    };
    for tick in 0..3 * TICKS {
        let ms = f64::from(tick) * TICK_MS;
        let now = Duration::try_from_secs_f64(ms / 1e3).unwrap();
        if tick % TICKS == 0 {
            let tier = (tick / TICKS) as usize;
            viewer.watch(tier).unwrap();
            let _ = writeln!(text, "watch {}", catalogue.tiers()[tier].name);
        }
        if tick == TICKS / 2 {
            viewer.rejoin();
            let _ = writeln!(text, "rejoin");
        }
        for piece in publisher.publish(&world(&schema, tick)).unwrap() {
            if !viewer.wanted().any(|track| track == piece.track) {
                continue;
            }
            let track = catalogue.name_of(piece.track).unwrap();
            let (what, taken) = match piece.carried {
                Carried::Object(number) => {
                    let taken = viewer.object(now, piece.track, piece.group, number, &piece.bytes);
                    (format!("object {ms} {track} {} {number}", piece.group), taken)
                }
                Carried::Datagram => {
                    let taken = viewer.datagram(now, piece.track.tier(), &piece.bytes);
                    (format!("datagram {ms} {track}"), taken)
                }
            };
            let taken =
                taken.map_or("refused", |tick| if tick.is_some() { "read" } else { "kept" });
            let _ = writeln!(text, "{what} {taken} {}", hex(&piece.bytes));
        }
        play(&mut text, "play", ms, viewer.playback(now));
    }
    let (first, last) = viewer.history().unwrap();
    let _ = writeln!(text, "history {} {}", first.0, last.0);
    let middle = f64::from(first.0 + last.0) / 2.0 + 0.25;
    play(&mut text, "back", f64::from(3 * TICKS) * TICK_MS, viewer.playback_at(middle));
    let mut newest = ValueTable::new(&schema);
    newest.extend(viewer.newest().unwrap()).unwrap();
    let _ = writeln!(text, "newest {:016x}", hash(&newest, &[]));
    check("crowd", &text);
}

#[test]
fn inputs_at_both_levels() {
    for (name, level) in [("packed", StreamLevel::Packed), ("adaptive", StreamLevel::Adaptive)] {
        let codec = StreamCodec::of::<Input>(level).unwrap();
        let config = StreamConfig { repeats: 2, ..StreamConfig::at_hz(60) };
        let mut sender = StreamSender::new(&codec, config).unwrap();
        let mut server = StreamReceiver::new(&codec, config).unwrap();
        let mut text = format!(
            "# A sender's calls at level {name}: recorded by tests/recorded.rs.\n\
             sender {name} 60 2 {}\n",
            hex(&codec.schema().to_bytes())
        );
        for tick in 0..60u8 {
            let now = Duration::from_millis(17) * u32::from(tick);
            let thrust = [f32::from(tick) / 60.0, -0.25];
            let input = Input { thrust, fire: tick % 9 == 0, weapon: tick / 16 };
            let number = sender.push(&input).unwrap().0;
            let _ = writeln!(
                text,
                "push {number} {} {} {} {}",
                thrust[0], thrust[1], input.fire, input.weapon
            );
            let datagram = sender.poll_transmit().unwrap().to_vec();
            let _ = writeln!(text, "transmit {}", hex(&datagram));
            if tick % 5 != 3 {
                server.handle(now, &datagram).unwrap();
                let mut acknowledgement = Vec::new();
                server.write_acknowledgement(&mut acknowledgement);
                sender.handle(&acknowledgement).unwrap();
                let _ = writeln!(text, "acknowledge {}", hex(&acknowledgement));
            }
        }
        check(&format!("inputs-{name}"), &text);
    }
}

#[test]
fn poses_of_a_clip() {
    let joint = |name: &str, parent, translation| {
        let bind = Transform { translation, ..Transform::IDENTITY };
        Joint { name: name.into(), parent, bind }
    };
    let joints = vec![
        joint("hip", None, [0.0, 95.0, 0.0]),
        joint("spine", Some(0), [0.0, 20.0, 0.0]),
        joint("head \"top\"", Some(1), [0.0, 45.0, 0.0]),
    ];
    let skeleton = Arc::new(Skeleton::new(joints).unwrap());
    let clip = |speed: f32, has_curves: bool| {
        let samples = (0..61).flat_map(|sample| {
            let angle = (sample as f32 / 60.0 * speed).sin() * 0.4;
            let rotation = [angle.sin(), 0.0, 0.0, angle.cos()];
            let mut pose = skeleton.bind_pose();
            pose.iter_mut().for_each(|joint| joint.rotation = rotation);
            pose[0].translation[0] = sample as f32;
            pose
        });
        let mut raw = RawClip::new("nod", skeleton.clone(), 30.0, samples.collect()).unwrap();
        if has_curves {
            let curve = |name: &str, speed: f32| Curve {
                name: name.into(),
                precision: Curve::WEIGHT_PRECISION,
                values: (0..61).map(|sample| (sample as f32 * speed).sin()).collect(),
            };
            let marker = Marker { name: "nod".into(), time_s: 0.5 };
            raw = raw
                .with_curves(vec![curve("smile", 0.1), curve("blink", 0.4)])
                .and_then(|raw| raw.with_markers(vec![marker]))
                .unwrap();
        }
        build(&raw, &BuildOptions::default()).unwrap().clip.as_bytes().to_vec()
    };
    let files = [clip(5.0, true), clip(9.0, false)];
    let mut text = format!(
        "# Two clips, the second blended in by a quarter: recorded by tests/recorded.rs.\n\
         skeleton {}\nclips {} {}\n",
        hex(&skeleton.to_bytes()),
        hex(&files[0]),
        hex(&files[1])
    );
    let mut players = files
        .each_ref()
        .map(|file| AnyClip::from_bytes(&file[..]).unwrap().player(&skeleton).unwrap());
    let mut poses = [skeleton.bind_pose(), skeleton.bind_pose()];
    let mut curves = [0.0; 2];
    for step in 0..40u8 {
        let time_s = f32::from(step) / 16.0;
        for (player, pose) in players.iter_mut().zip(&mut poses) {
            player.sample(time_s, pose);
        }
        let [pose, other] = &mut poses;
        kinepack_anim::blend(pose, other, 0.25);
        players[0].curves(time_s, &mut curves);
        let mut hash = Fnv1a::new();
        hash_pose(&mut hash, pose, &curves);
        let _ = writeln!(text, "pose {time_s} {:016x}", hash.finish());
    }
    check("clips", &text);
}
