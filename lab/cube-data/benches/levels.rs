//! Measures encoding and decoding one frame at each level of the table, and detecting that no
//! entity changed.
//!
//! `encode/<source>/<level>` and `decode/<source>/<level>` loop over 120 consecutive frames in
//! memory, from the sixth second on. Each is coded against the frame 6 frames (100 ms) earlier. The
//! time is the mean of a frame. Sources are the built-in world (901 cubes, typical, seed 1) and a
//! challenge file, if the environment names one. `rest` is a snapshot that equals its baseline, at
//! the levels `packed` and `adaptive`. It measures the cost of a world at rest, per entity.
//! `growth` is the adaptive level with one world and with ten.
//!
//! A challenge file is named with `KINEPACK_CAPTURE=/absolute/path/typical.bin cargo bench -p
//! cube-data --bench levels`.

#![allow(missing_docs)]

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use cube_data::cube::{self, Measured, Quantized};
use cube_data::{Challenge, Frame};
use cubes::{Body, Config, Script, Style, World};
use kinepack::{
    Baselines, Codec, Decoder, Encoder, EntityId, Level, Profile, Snapshot, Tick, View,
};

/// The environment variable that names the challenge file.
const CAPTURE_VARIABLE: &str = "KINEPACK_CAPTURE";
/// The number of frames that are skipped at the beginning: 5 seconds, until many cubes move.
const SKIPPED_FRAMES: usize = 300;
/// The number of frames between a snapshot and its baseline.
const LAG: usize = 6;
/// The number of frames that are encoded and decoded.
const MEASURED_FRAMES: usize = 120;

/// Frames in memory, from one source.
enum Source {
    /// Frames before quantization, which can be measured at every level.
    Floats { name: &'static str, frames: Vec<Vec<Measured>> },
    /// Frames that are already quantized, which can be measured at levels that quantize all fields.
    Quantized { name: &'static str, frames: Vec<View> },
}

impl Source {
    fn world() -> Self {
        let mut world = World::new(&Config::default()).expect("the default is valid");
        let mut script = Script::new(Style::Typical, 1);
        let mut frames = Vec::new();
        for frame in 0..SKIPPED_FRAMES + 3 * LAG + MEASURED_FRAMES {
            if frame >= SKIPPED_FRAMES {
                frames.push(world.bodies().map(|(_, body)| measured(body)).collect());
            }
            let input = script.next_input(&world);
            world.step(input);
        }
        Self::Floats { name: "world", frames }
    }

    /// Reads the capture. Returns `None` if the environment names none. A file that cannot be read
    /// ends the run, because a missing row could go unnoticed.
    fn capture() -> Option<Self> {
        let Some(path) = std::env::var_os(CAPTURE_VARIABLE) else {
            eprintln!("{CAPTURE_VARIABLE} is not set: the real capture is left out");
            return None;
        };
        let mut challenge = Challenge::open(path).unwrap_or_else(|error| panic!("{error}"));
        let schema = cube::schema(Quantized::Everything);
        let (mut floats, mut quantized) = (Vec::new(), Vec::new());
        for frame in 0..SKIPPED_FRAMES + 3 * LAG + MEASURED_FRAMES {
            match challenge.next_frame().unwrap_or_else(|error| panic!("{error}")) {
                None => {
                    panic!("the capture ends after {frame} frames, before the frames to measure")
                }
                Some(_) if frame < SKIPPED_FRAMES => {}
                Some(Frame::Floats(states)) => floats.push(states.states().collect()),
                Some(Frame::Quantized(records)) => {
                    let mut snapshot = Snapshot::new(&schema, Tick(frame as u32));
                    records.push_into(&mut snapshot).unwrap_or_else(|error| panic!("{error}"));
                    quantized.push(View::from(snapshot));
                }
            }
        }
        Some(if challenge.is_quantized() {
            Self::Quantized { name: "capture", frames: quantized }
        } else {
            Self::Floats { name: "capture", frames: floats }
        })
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Floats { name, .. } | Self::Quantized { name, .. } => name,
        }
    }

    /// Returns the frames in the schema of a level, or `None` if they cannot have it.
    fn views(&self, quantized: Quantized) -> Option<Vec<View>> {
        match self {
            Self::Floats { frames, .. } => Some(
                (0..).zip(frames).map(|(tick, states)| view(quantized, tick, states)).collect(),
            ),
            Self::Quantized { frames, .. } => {
                (quantized == Quantized::Everything).then(|| frames.clone())
            }
        }
    }
}

fn measured(body: Body) -> Measured {
    let Body { position, orientation, velocity, interacting } = body;
    Measured { position, orientation, velocity, interacting }
}

fn view(quantized: Quantized, tick: u32, states: &[Measured]) -> View {
    let mut snapshot = Snapshot::new(&cube::schema(quantized), Tick(tick));
    for (id, state) in (0..).zip(states) {
        cube::push(&mut snapshot, quantized, EntityId(id), *state)
            .expect("cubes are within their schema");
    }
    View::from(snapshot)
}

fn codec(level: Level) -> Codec {
    let schema = cube::schema(Quantized::at(level));
    let profile = if Quantized::at(level) == Quantized::Everything {
        cube::profile()
    } else {
        Profile::untrained(&schema)
    };
    Codec::new(schema, level, profile).expect("the built-in profiles fit their schemas")
}

/// Each frame with its baseline and two older views, which only the adaptive level uses.
fn frames(views: &[View]) -> impl Iterator<Item = (Baselines<'_>, &View)> + Clone {
    (3 * LAG..views.len()).map(|frame| {
        let known = Baselines::new([1, 2, 3].map(|lags| &views[frame - lags * LAG]));
        (known.expect("each is older"), &views[frame])
    })
}

/// Encodes a frame like a sender that keeps the view for a while.
fn encode<'a>(
    encoder: &mut Encoder,
    known: impl Into<Baselines<'a>>,
    world: &Snapshot,
    packet: &mut Vec<u8>,
) {
    let view = encoder.encode(known, world, packet).expect("the schema is the codec's");
    encoder.recycle(black_box(view));
}

/// Decodes a frame like a receiver that keeps the view for a while.
fn decode<'a>(decoder: &mut Decoder, known: impl Into<Baselines<'a>>, packet: &[u8], tick: Tick) {
    let view = decoder.decode(known, packet, tick).expect("it was just encoded");
    decoder.recycle(black_box(view));
}

/// Encodes and decodes every frame once. Returns the packets.
fn packets(codec: &Codec, views: &[View]) -> Vec<Vec<u8>> {
    let (mut encoder, mut decoder) = (Encoder::new(codec), Decoder::new(codec));
    frames(views)
        .map(|(known, view)| {
            let mut packet = Vec::new();
            let sent = encoder.encode(known, view, &mut packet).expect("the schema is the codec's");
            let decoded = decoder.decode(known, &packet, view.tick).expect("it was just encoded");
            let is_same = decoded == sent && *decoded == **view;
            assert!(is_same, "{} does not come back as it was", codec.level().name());
            packet
        })
        .collect()
}

fn levels(criterion: &mut Criterion) {
    for source in [Some(Source::world()), Source::capture()].into_iter().flatten() {
        for level in Level::TABLE {
            let Some(views) = source.views(Quantized::at(level)) else { continue };
            let codec = codec(level);
            measure(criterion, source.name(), level.name(), &codec, &views);
        }
    }
}

/// Measures encoding and decoding, as `encode/<source>/<row>` and `decode/<source>/<row>`.
fn measure(criterion: &mut Criterion, source: &str, row: &str, codec: &Codec, views: &[View]) {
    let packets = packets(codec, views);
    let mut group = criterion.benchmark_group(format!("encode/{source}"));
    let mut encoder = Encoder::new(codec);
    let mut packet = Vec::new();
    let mut pairs = frames(views).cycle();
    group.bench_function(row, |bencher| {
        bencher.iter(|| {
            let (known, view) = pairs.next().expect("it goes round");
            packet.clear();
            encode(&mut encoder, black_box(known), black_box(view), &mut packet);
        });
    });
    group.finish();

    let mut group = criterion.benchmark_group(format!("decode/{source}"));
    let mut decoder = Decoder::new(codec);
    let mut pairs = frames(views).zip(&packets).cycle();
    group.bench_function(row, |bencher| {
        bencher.iter(|| {
            let ((known, view), packet) = pairs.next().expect("it goes round");
            decode(&mut decoder, black_box(known), black_box(packet), view.tick);
        });
    });
    group.finish();
}

/// Measures the adaptive level with one world, and with ten worlds side by side, which have ten
/// times as many cubes and moving cubes.
fn growth(criterion: &mut Criterion) {
    let Source::Floats { frames, .. } = Source::world() else { return };
    let codec = codec(Level::ADAPTIVE);
    for worlds in [1, 10] {
        let side_by_side = |states: &Vec<Measured>| -> Vec<Measured> {
            let moved = |world: usize| {
                let [x, y] = [(world % 5) as f32 * 80.0 - 160.0, (world / 5) as f32 * 80.0 - 40.0];
                states.iter().map(move |state| {
                    let [px, py, pz] = state.position;
                    Measured { position: [px + x, py + y, pz], ..*state }
                })
            };
            (0..worlds).flat_map(moved).collect()
        };
        let views: Vec<View> = (0..)
            .zip(&frames)
            .map(|(tick, states)| view(Quantized::Everything, tick, &side_by_side(states)))
            .collect();
        measure(criterion, "growth", &(901 * worlds).to_string(), &codec, &views);
    }
}

fn rest(criterion: &mut Criterion) {
    for level in [Level::PACKED, Level::ADAPTIVE] {
        rest_at(criterion, level);
    }
}

fn rest_at(criterion: &mut Criterion, level: Level) {
    let codec = codec(level);
    let world = World::new(&Config::default()).expect("the default is valid");
    let states: Vec<Measured> = world.bodies().map(|(_, body)| measured(body)).collect();
    for entities in [states.len(), 10_000] {
        let states: Vec<Measured> = states.iter().copied().cycle().take(entities).collect();
        let baseline = view(Quantized::at(*codec.level()), 0, &states);
        let same = view(Quantized::at(*codec.level()), 6, &states);
        let (mut encoder, mut decoder) = (Encoder::new(&codec), Decoder::new(&codec));
        let mut packet = Vec::new();

        let mut group = criterion.benchmark_group(format!("rest/{}", level.name()));
        group.throughput(Throughput::Elements(entities as u64));
        encoder.encode(&baseline, &same, &mut packet).expect("the schema is the codec's");
        group.bench_function(BenchmarkId::new("decode", entities), |bencher| {
            bencher
                .iter(|| decode(&mut decoder, black_box(&baseline), black_box(&packet), same.tick));
        });
        group.bench_function(BenchmarkId::new("encode", entities), |bencher| {
            bencher.iter(|| {
                packet.clear();
                encode(&mut encoder, black_box(&baseline), black_box(&same), &mut packet);
            });
        });
        group.finish();
    }
}

criterion_group! {
    name = benches;
    // The table has tens of rows, so each gets only one second, to keep the run short.
    config = Criterion::default().warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    targets = levels, growth, rest
}
criterion_main!(benches);
