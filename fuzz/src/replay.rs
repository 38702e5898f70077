//! The driver of the target `replay`. It takes any bytes as a replay file, or as a part of one.

use std::io::Cursor;
use std::sync::OnceLock;

use kinepack::quantize::FloatLimits;
use kinepack::schema::{Field, FieldKind};
use kinepack::{Codec, EntityId, Level, Profile, Schema, Snapshot, Tick};
use kinepack_capture::container::{Channel, Container, Message, Packing};
use kinepack_capture::schema_document;
use kinepack_net::EventKinds;
use kinepack_replay::{ReplayLimits, ReplayOptions, ReplayReader, ReplayWriter};

const RATE_HZ: f64 = 60.0;
/// The maximum number of frames that are read.
const MOST_FRAMES: usize = 64;

fn codec() -> &'static Codec {
    static CODEC: OnceLock<Codec> = OnceLock::new();
    CODEC.get_or_init(|| {
        let height = FloatLimits::new(0.0, 32.0, 0.125).unwrap();
        let schema = Schema::new(vec![
            Field::new("height", FieldKind::Floats(vec![height])),
            Field::new("lit", FieldKind::Bool),
        ]);
        let profile = Profile::untrained(&schema);
        Codec::new(schema, Level::PACKED, profile).unwrap()
    })
}

/// The first byte selects the meaning of the rest. The rest may be a file, the data section of a
/// file without an end, or a group's message. It may also be the events of a group, or the values
/// of the world's channel.
pub fn replay(data: &[u8]) {
    let Some((&pick, data)) = data.split_first() else { return };
    match pick % 5 {
        0 => read(data.to_vec()),
        1 => {
            let mut file = good();
            file.truncate(head_bytes());
            file.extend_from_slice(data);
            read(file);
        }
        2 => read(file(&codec_metadata(), data, None)),
        3 => read(file(&codec_metadata(), &group(), Some(data))),
        _ => {
            let text = String::from_utf8_lossy(data);
            let mut values = text.split('\n');
            let mut next = || values.next().unwrap_or_default().to_owned();
            let pairs = ["version", "level", "profile", "codec"].map(|key| (key, next()));
            read(file(&pairs, &group(), None));
        }
    }
}

/// Plays a file. For any contents, the reader must keep the promises of its documentation.
fn read(file: Vec<u8>) {
    let bytes = file.len() as u64;
    let limits = ReplayLimits { frame_bytes: 4_096, ..ReplayLimits::default() };
    let Ok(replay) = ReplayReader::from_reader(Cursor::new(file)) else { return };
    let mut replay = replay.with_limits(limits);
    let firsts: Vec<u32> = replay.group_sizes().map(|(tick, _)| tick.0).collect();
    assert!(firsts.is_sorted_by(|a, b| a < b));
    let mut ticks = Vec::new();
    let mut next = replay.first_frame().unwrap();
    while let Some(frame) = next.filter(|_| ticks.len() < MOST_FRAMES) {
        assert!(ticks.last().is_none_or(|last| *last < frame.tick.0));
        ticks.push(frame.tick.0);
        next = replay.frame_after(frame.tick).unwrap();
    }
    // Playing backwards gives the same frames.
    for pair in ticks.windows(2).rev() {
        let before = replay.frame_before(Tick(pair[1])).unwrap();
        assert!(before.is_some_and(|frame| frame.tick.0 == pair[0]));
    }
    if let (Some(first), Some(last)) = (ticks.first(), ticks.last()) {
        let (begin, end) = (f64::from(*first), f64::from(*last));
        for moment in [begin, (begin + end) / 2.0, end] {
            let playback = replay.playback(moment).unwrap().unwrap();
            assert!(playback.samples().count() <= 65_536);
            let _ = playback.events().count();
        }
        let mut part = Vec::new();
        if let Ok(cut) = replay.cut(Tick(*first), Tick(*last), &mut part) {
            assert!(cut.frames > 0);
            let mut part = ReplayReader::from_reader(Cursor::new(part)).unwrap();
            assert!(part.first_frame().unwrap().is_some_and(|frame| frame.tick.0 == *first));
        }
    }
    assert!(replay.damage().iter().all(|damage| damage.at_byte <= bytes));
}

fn codec_metadata() -> [(&'static str, String); 4] {
    [
        ("version", "1".to_owned()),
        ("level", codec().level().row().to_string()),
        ("profile", "world.profile".to_owned()),
        ("codec", format!("{:016x}", codec().hash())),
    ]
}

/// Returns a file with the message of one group, and its events if they are given.
fn file(metadata: &[(&str, String); 4], group: &[u8], events: Option<&[u8]>) -> Vec<u8> {
    let mut file = Vec::new();
    let mut container = Container::new(&mut file, "kinepack-replay", "", Packing::None).unwrap();
    let profile = codec().profile().to_bytes();
    container.attach("world.profile", "", &profile).unwrap();
    let schema = schema_document::to_json(codec().schema(), RATE_HZ).unwrap();
    let pairs: Vec<(&str, &str)> = metadata.iter().map(|(key, value)| (*key, &**value)).collect();
    let mut add = |topic, encoding| {
        container.add_channel(&Channel {
            topic,
            encoding,
            metadata: &pairs,
            schema_name: "",
            schema_encoding: schema_document::ENCODING,
            schema: &schema,
        })
    };
    let (world, of_events) = (add("world", "kinepack-groups"), add("events", "kinepack-events"));
    let time_ns = schema_document::tick_time_ns(Tick(0), RATE_HZ);
    for (channel, data) in [(world, Some(group)), (of_events, events)] {
        if let Some(data) = data {
            container.add_message(&Message { channel, sequence: 0, time_ns, data });
        }
    }
    container.end_chunk().unwrap();
    container.finish().unwrap();
    file
}

fn world(tick: u32) -> Snapshot {
    let mut world = Snapshot::new(codec().schema(), Tick(tick));
    world.push_lanes(EntityId(1), &[tick % 256, 1]).unwrap();
    world.push_lanes(EntityId(2), &[7, tick % 2]).unwrap();
    world
}

/// Returns the message of a group.
fn group() -> Vec<u8> {
    let mut writer = kinepack::group::GroupWriter::new(codec());
    // The message begins with the tick of the key group. The group itself is a key group.
    let mut bytes = vec![0; 4];
    for tick in 0..4 {
        writer.write(&world(tick), &mut bytes).unwrap();
    }
    bytes
}

/// Returns a replay of three groups with a marker.
fn good() -> Vec<u8> {
    let mut file = Vec::new();
    let options =
        ReplayOptions { events: Some(EventKinds::new(codec())), ..ReplayOptions::at_hz(RATE_HZ) };
    let mut writer = ReplayWriter::to_writer(&mut file, codec(), &options).unwrap();
    writer.mark(Tick(2), "two").unwrap();
    for tick in (0..4).chain(100..104).chain(700..704) {
        writer.write(&world(tick)).unwrap();
    }
    writer.finish().unwrap();
    file
}

/// Returns the bytes before the first group of [`good`].
fn head_bytes() -> usize {
    let file = good();
    let records = file.windows(9).position(|head| head[0] == 6 && head[1..].ends_with(&[0; 4]));
    records.unwrap_or(file.len())
}

pub fn replay_corpus() -> Vec<Vec<u8>> {
    let with = |pick: u8, data: &[u8]| [&[pick], data].concat();
    let good = good();
    // There is one event at the first tick, and another at the third.
    let mut events = Vec::new();
    let mut encoder = kinepack::Encoder::new(codec());
    let (empty, mut rows) = (kinepack::View::empty(codec().schema()), world(1));
    rows.clear(Tick(1));
    rows.push_lanes(EntityId(0), &[3, 1]).unwrap();
    rows.push_lanes(EntityId(1), &[4, 0]).unwrap();
    // The codes are γ(2), γ(1) and γ(3).
    let mut bits = kinepack::bits::BitWriter::append(&mut events);
    for number in [2, 1, 3] {
        kinepack::bits::BitSink::write_gamma(&mut bits, number);
    }
    bits.finish().unwrap();
    encoder.encode(&empty, &rows, &mut events).unwrap();
    let values = codec_metadata().map(|(_, value)| value).join("\n");
    vec![
        with(0, &good),
        with(1, &good[head_bytes()..]),
        with(2, &group()),
        with(3, &events),
        with(4, values.as_bytes()),
    ]
}
