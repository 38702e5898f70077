//! The vectors as commands that name everything they need, one a line. Bytes are hexadecimal, `-` is
//! nothing.
//!
//! | command | the program |
//! |---|---|
//! | `schema NAME HASH FILE` | reads a schema, which has this hash, and writes the same file |
//! | `codec NAME SCHEMA LEVEL PROFILE` | makes a codec |
//! | `view NAME CODEC TICK HASH WRITES VIEWS PACKET` | decodes a packet against views: a state with this hash. If `WRITES` is 1, it encodes the state to the same packet |
//! | `check VIEW CHECK` | compares the state check of a view, four hexadecimal digits |
//! | `group CODEC TICK:HASH,… FRAMES` | reads frames with these states, and writes them to the same bytes |
//! | `runs BASE BYTES RUNS`, `sparse BASE BYTES SPARSE` | encodes and decodes bytes |
//! | `magnitude FORM STEPS LIMITS BEFORE VALUES READ BITS BYTES` | writes numbers in a `KpMagnitudeForm`, and reads these. `STEPS` is the number of steps in a unit, `LIMITS` are `min:max:precision:is_cyclic` |
//! | `events NAME CODEC` | makes kinds of events |
//! | `receiver NAME CODEC EVENTS` | makes a receiver at 60 Hz |
//! | `sends RECEIVER DATAGRAM` | takes the datagram that the receiver sends next |
//! | `takes RECEIVER STATUS HASH EVENTS DATAGRAM` | gives it a datagram: `ok` or `data`, the hash of the newest state, and the events as `tick:kind:numbers` |
//! | `stream NAME SCHEMA LEVEL HZ REPEATS FIRST` | makes a receiver of a stream |
//! | `records STREAM MS RECORDS PACKET` | gives it a packet, whose new records are `number:numbers` |
//! | `acknowledges STREAM DATAGRAM` | takes its acknowledgement |
//! | `skeleton HASH FILE`, `rig NAME FILE`, `clip NAME RIG FILE` | reads them |
//! | `bind NAME POSE` | makes a player of the clip with this bind pose |
//! | `pose NAME POSITION POSE` | plays a pose: ten numbers of 32 bits a joint |
//! | `replay NAME FILE` | reads a replay |
//! | `frame REPLAY TICK HASH` | gets the state of a tick |
//! | `shows REPLAY TICK EVENTS` | plays a tick, with these events |

use std::fmt::Write as _;
use std::io::Cursor;
use std::time::Duration;

use kinepack::quantize::{IntegerLimits, SmallestThree};
use kinepack::schema::{Field, FieldKind};
use kinepack::{Codec, Decoder, Encoder, EntityId, Level, Profile, Schema, Snapshot, Tick, View};
use kinepack_net::{Event, EventKinds, Receiver, ReceiverConfig};
use kinepack_replay::ReplayReader;

use crate::hex::{from_hex, hex};
use crate::numbers;
use crate::vectors::{packets_profiles, packets_schema, packets_states};

/// The lines of a file without comments, as words.
pub(crate) fn lines(file: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let is_line = |line: &&str| !line.is_empty() && !line.starts_with('#');
    file.lines().filter(is_line).map(|line| line.split(' ').collect())
}

pub(crate) fn script() -> String {
    let mut script = String::new();
    for words in lines(vectors!("schemas.txt")) {
        write_schema(&mut script, words[0], &from_hex(words[1]));
    }
    write_packets(&mut script);
    for (name, file, level) in [
        ("adaptive", vectors!("adaptive.txt"), "adaptive"),
        ("learning", vectors!("learning.txt"), "learning"),
    ] {
        write_states(&mut script, name, "adaptive", file, Some(level));
    }
    write_groups(&mut script);
    write_checks(&mut script);
    write_states(&mut script, "kinds", "kinds", vectors!("kinds.txt"), None);
    write_states(&mut script, "optional", "optional", vectors!("optional.txt"), None);
    write_precision(&mut script);
    write_profiles(&mut script);
    numbers::write(&mut script);
    write_datagrams(&mut script);
    write_stream(&mut script);
    for words in lines(vectors!("clip.txt")).filter(|words| words[0] == "skeleton") {
        writeln!(script, "{}", words.join(" ")).unwrap();
    }
    let clips = |file| lines(file).filter(|words| words[0] != "skeleton");
    write_clips(&mut script, "keyed", clips(vectors!("clip.txt")), mixed_bind);
    write_clips(&mut script, "block", clips(vectors!("clip_block.txt")), mixed_bind);
    write_clips(&mut script, "rig", clips(vectors!("rig.txt")), plain_bind);
    for words in lines(vectors!("clip_disk.txt")) {
        writeln!(script, "clip disk_{} - {}", words[0], words[1]).unwrap();
    }
    write_replay(&mut script);
    script
}

fn write_schema(script: &mut String, name: &str, file: &[u8]) -> Schema {
    let schema = Schema::from_bytes(file).unwrap();
    writeln!(script, "schema {name} {:016x} {}", schema.hash(), hex(file)).unwrap();
    schema
}

fn schema(name: &str) -> Schema {
    let stored = lines(vectors!("schemas.txt")).find(|words| words[0] == name);
    Schema::from_bytes(&from_hex(stored.unwrap()[1])).unwrap()
}

/// A codec that only carries states, and the command for it.
fn carrier(script: &mut String, schema_name: &str) -> Codec {
    let schema = schema(schema_name);
    writeln!(script, "codec carry_{schema_name} {schema_name} packed -").unwrap();
    Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap()
}

/// A state as a view, by a packet without a base.
fn write_state(script: &mut String, name: &str, schema: &str, carrier: &Codec, state: &Snapshot) {
    // A carrier may have a time precision; a view without a base is exact.
    let (empty, mut packet) = (View::empty(carrier.schema()), Vec::new());
    Encoder::new(carrier).encode(&empty, state, &mut packet).unwrap();
    let view = Decoder::new(carrier).decode(&empty, &packet, state.tick).unwrap();
    assert_eq!(**view.snapshot(), *state);
    let (tick, hash, packet) = (state.tick.0, state.state_hash(), hex(&packet));
    writeln!(script, "view {name} carry_{schema} {tick} {hash:016x} 1 - {packet}").unwrap();
}

/// `packets.txt`.
fn write_packets(script: &mut String) {
    let schema = packets_schema();
    let carrier = carrier(script, "packets");
    let [baseline, snapshot] = packets_states(&schema);
    write_state(script, "packets_1", "packets", &carrier, &baseline);
    for (name, profile) in packets_profiles(&schema) {
        for words in lines(vectors!("packets.txt")).filter(|words| words[1] == name) {
            let (level, packet) = (words[0], words[2]);
            let codec = format!("packets_{level}_{name}");
            let profile = hex(&profile.to_plain_bytes());
            let hash = snapshot.state_hash();
            writeln!(script, "codec {codec} packets {level} {profile}").unwrap();
            writeln!(script, "view {codec} {codec} 7 {hash:016x} 1 packets_1 {packet}").unwrap();
        }
    }
}

/// `groups.txt`.
fn write_groups(script: &mut String) {
    let schema = packets_schema();
    let [baseline, snapshot] = packets_states(&schema);
    let frames = [(1, &baseline), (7, &snapshot), (8, &baseline)]
        .map(|(tick, state)| format!("{tick}:{:016x}", state.state_hash()));
    for words in lines(vectors!("groups.txt")) {
        let (level, group) = (words[0], words[1]);
        writeln!(script, "codec groups_{level} packets {level} -").unwrap();
        writeln!(script, "group groups_{level} {} {group}", frames.join(",")).unwrap();
    }
}

/// `state_check.txt`.
fn write_checks(script: &mut String) {
    let fields = ["first", "second"].map(|name| integer(name, u32::MAX.into()));
    let schema = write_schema(script, "checks", &Schema::new(fields.to_vec()).to_bytes());
    script.push_str("codec carry_checks checks packed -\n");
    let carrier = packed(&schema);
    for (nth, words) in lines(vectors!("state_check.txt")).enumerate() {
        let mut state = Snapshot::new(&schema, Tick(words[0].parse().unwrap()));
        for entity in &words[2..] {
            let (id, lanes) = entity.split_once(':').unwrap();
            let lanes: Vec<u32> = lanes.split(',').map(|lane| lane.parse().unwrap()).collect();
            state.push_lanes(EntityId(id.parse().unwrap()), &lanes).unwrap();
        }
        write_state(script, &format!("checks_{nth}"), "checks", &carrier, &state);
        writeln!(script, "check checks_{nth} {}", words[1]).unwrap();
    }
}

/// A file of states and packets between them.
fn write_states(
    script: &mut String,
    name: &str,
    schema_name: &str,
    file: &'static str,
    level: Option<&str>,
) {
    let schema = schema(schema_name);
    let has_kinds = schema.kinds().len() > 1;
    let carrier = carrier(script, schema_name);
    let (mut profile, mut states) = ("", Vec::<Snapshot>::new());
    let mut codecs = std::collections::BTreeSet::new();
    // The name of the view that a tick has at a level.
    let mut views = std::collections::BTreeMap::new();
    let mut is_written = false;
    for words in lines(file) {
        let number = |word: &str| word.parse::<u32>().unwrap();
        match words[..] {
            ["profile", of] => profile = of,
            ["state", tick] => states.push(Snapshot::new(&schema, Tick(number(tick)))),
            ["entity", ref lanes @ ..] => {
                let numbers: Vec<u32> = lanes.iter().map(|word| number(word)).collect();
                let (kind, of_kind) = if has_kinds {
                    (numbers[0] as usize, &numbers[1..])
                } else {
                    (0, &numbers[..])
                };
                let state = states.last_mut().unwrap();
                state.push_lanes_of(kind, EntityId(of_kind[0]), &of_kind[1..]).unwrap();
            }
            ["packet", ref rest @ ..] => {
                if !is_written {
                    for state in &states {
                        let name = format!("{name}_{}", state.tick.0);
                        write_state(script, &name, schema_name, &carrier, state);
                    }
                    is_written = true;
                }
                let (level, rest) = match level {
                    Some(level) => (level, rest),
                    None => (rest[0], &rest[1..]),
                };
                let [tick, "against", ref known @ .., packet] = *rest else { panic!("{rest:?}") };
                let codec = format!("{name}_{level}");
                if codecs.insert(codec.clone()) {
                    writeln!(script, "codec {codec} {schema_name} {level} {profile}").unwrap();
                }
                let of_tick = |word: &&str| {
                    let tick = word.trim_end_matches(':');
                    let known = views.get(&(level.to_owned(), tick.to_owned())).cloned();
                    known.unwrap_or_else(|| format!("{name}_{tick}"))
                };
                let known: Vec<String> =
                    known.iter().filter(|word| **word != ":").map(of_tick).collect();
                let known = if known.is_empty() { "-".to_owned() } else { known.join(",") };
                let state = states.iter().find(|state| state.tick.0 == number(tick)).unwrap();
                let (view, hash) = (format!("{codec}_{tick}"), state.state_hash());
                writeln!(script, "view {view} {codec} {tick} {hash:016x} 1 {known} {packet}")
                    .unwrap();
                views.insert((level.to_owned(), tick.to_owned()), view);
            }
            _ => {}
        }
    }
}

/// `precision.txt`: packets whose states are coarser than those that were encoded.
fn write_precision(script: &mut String) {
    let schema = schema("precision");
    let profile = |file| lines(file).find(|words| words[0] == "profile").unwrap()[1];
    let profiles = [
        ("12", profile(vectors!("adaptive.txt"))),
        ("13", profile(vectors!("adaptive.txt"))),
        ("14", profile(vectors!("learning.txt"))),
    ];
    for (level, profile) in profiles {
        writeln!(script, "codec precision_{level} precision {level} {profile}").unwrap();
    }
    let mut state: Option<Snapshot> = None;
    let mut is_view = false;
    for words in lines(vectors!("precision.txt")) {
        let number = |word: &str| word.parse::<u32>().unwrap();
        match words[..] {
            ["exact", _] => is_view = false,
            ["view", tick] => {
                is_view = true;
                state = Some(Snapshot::new(&schema, Tick(number(tick))));
            }
            ["entity", id, ref lanes @ ..] if is_view => {
                let lanes: Vec<u32> = lanes.iter().map(|lane| number(lane)).collect();
                state.as_mut().unwrap().push_lanes(EntityId(number(id)), &lanes).unwrap();
            }
            ["packet", level, tick, "against", ref known @ .., packet] => {
                let of_tick =
                    |word: &&str| format!("precision_{level}_{}", word.trim_end_matches(':'));
                let known: Vec<String> =
                    known.iter().filter(|word| **word != ":").map(of_tick).collect();
                let known = if known.is_empty() { "-".to_owned() } else { known.join(",") };
                let codec = format!("precision_{level}");
                let hash = state.as_ref().unwrap().state_hash();
                writeln!(
                    script,
                    "view {codec}_{tick} {codec} {tick} {hash:016x} 0 {known} {packet}"
                )
                .unwrap();
            }
            _ => {}
        }
    }
}

/// `profile_file.txt`: the same profile, compressed and not.
fn write_profiles(script: &mut String) {
    let fields = ["a", "b", "c"]
        .map(|name| Field::new(name, FieldKind::Rotation(SmallestThree::new(9).unwrap())));
    write_schema(script, "rotations", &Schema::new(fields.to_vec()).to_bytes());
    for words in lines(vectors!("profile_file.txt")) {
        writeln!(script, "codec rotations_{} rotations adaptive {}", words[0], words[1]).unwrap();
    }
}

fn integer(name: impl Into<String>, max: i128) -> Field {
    Field::new(name.into(), FieldKind::Integer(IntegerLimits::new(0, max, 1).unwrap()))
}

fn packed(schema: &Schema) -> Codec {
    Codec::new(schema.clone(), Level::PACKED, Profile::untrained(schema)).unwrap()
}

/// `net.txt`, without its session that needs a fault in memory.
fn write_datagrams(script: &mut String) {
    let lanes = (0..12).map(|lane| integer(format!("lane {lane}"), (1 << 31) - 1));
    let schema = Schema::new(lanes.collect());
    let raw = || Field::new("number", FieldKind::Raw { lanes: 1 });
    let event_schema = Schema::builder()
        .kind_of_fields("hit", vec![raw(), integer("damage", 100)])
        .kind_of_fields("noise", vec![raw(), Field::new("loud", FieldKind::Bool)])
        .build()
        .unwrap();
    write_schema(script, "net", &schema.to_bytes());
    write_schema(script, "net_events", &event_schema.to_bytes());
    script.push_str("codec net net packed -\ncodec net_events net_events packed -\n");
    script.push_str("events net_events net_events\n");
    let events = EventKinds::new(&packed(&event_schema));
    let codec = packed(&schema);
    let mut receiver = Receiver::new(&codec, ReceiverConfig::at_hz(60)).unwrap();
    let (mut session, mut name) = (0, String::new());
    for words in lines(vectors!("net.txt")) {
        let (form, datagram) = (words[0], words[1]);
        match form {
            // The rest of its session needs the fault.
            "fault" => break,
            "hello" | "hello-events" => {
                session += 1;
                name = format!("net_{session}");
                receiver = Receiver::new(&codec, ReceiverConfig::at_hz(60)).unwrap();
                let with = if form == "hello" { "-" } else { "net_events" };
                if form != "hello" {
                    receiver = receiver.with_events(&events);
                }
                writeln!(script, "receiver {name} net {with}").unwrap();
                writeln!(script, "sends {name} {datagram}").unwrap();
                receiver.poll_transmit(Duration::ZERO).unwrap();
            }
            "acknowledgement" | "anew" => {
                writeln!(script, "sends {name} {datagram}").unwrap();
                let sent = receiver.poll_transmit(Duration::ZERO).unwrap();
                assert_eq!(hex(sent), datagram);
            }
            _ => {
                let taken = receiver.handle(Duration::ZERO, &from_hex(datagram));
                let status = if taken.is_ok() { "ok" } else { "data" };
                let newest = receiver.newest().map(|state| format!("{:016x}", state.state_hash()));
                let newest = newest.unwrap_or_else(|| "-".into());
                let events = described(receiver.take_events());
                writeln!(script, "takes {name} {status} {newest} {events} {datagram}").unwrap();
            }
        }
    }
    assert!(session >= 2);
}

/// Events as tick:kind:numbers, whose lanes are their numbers.
fn described<'a>(events: impl Iterator<Item = Event<'a>>) -> String {
    let one = |event: Event<'_>| {
        let (rows, index) = event.state();
        let numbers: Vec<_> = rows.lanes_at(index).collect();
        format!("{}:{}:{}", event.tick.0, event.kind(), listed(&numbers))
    };
    let events: Vec<String> = events.map(one).collect();
    if events.is_empty() { "-".into() } else { events.join(";") }
}

fn listed(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

/// `net_stream.txt`.
fn write_stream(script: &mut String) {
    let call = vec![
        integer("aim", 1000),
        integer("serial", 65_535),
        Field::new("fires", FieldKind::Bool),
        Field::new("arguments", FieldKind::Bytes { len: 4 }),
    ];
    write_schema(script, "net_stream", &Schema::new(call).to_bytes());
    script.push_str("stream calls net_stream packed 60 2 65525\n");
    let mut packets = 0;
    for words in lines(vectors!("net_stream.txt")) {
        if words[0] == "acknowledgement" {
            writeln!(script, "acknowledges calls {}", words[1]).unwrap();
            continue;
        }
        // A record as number:numbers, without the brackets.
        let records: Vec<String> =
            words[2..].iter().map(|record| record.replace(['[', ']'], "")).collect();
        let records = if records.is_empty() { "-".into() } else { records.join(";") };
        writeln!(script, "records calls {} {records} {}", 1000 * packets, words[1]).unwrap();
        packets += 1;
    }
}

/// Files of clips and the poses that they play.
fn write_clips(
    script: &mut String,
    prefix: &str,
    lines: impl Iterator<Item = Vec<&'static str>>,
    bind: fn(usize) -> [f32; 10],
) {
    // The number of joints follows from the first pose.
    let mut is_new = false;
    for words in lines {
        let name = format!("{prefix}_{}", words[0]);
        let is_pose = words.len() == 3 && words[1].parse::<f64>().is_ok();
        match words[1..] {
            [position, pose] if is_pose => {
                if is_new {
                    let joints = pose.len() / 80;
                    let numbers = (0..joints).flat_map(bind);
                    let bind: String =
                        numbers.map(|number| format!("{:08x}", number.to_bits())).collect();
                    writeln!(script, "bind {name} {bind}").unwrap();
                    is_new = false;
                }
                writeln!(script, "pose {name} {position} {pose}").unwrap();
            }
            [clip] => {
                writeln!(script, "clip {name} - {clip}").unwrap();
                is_new = true;
            }
            [rig, clip, ref disk @ ..] => {
                writeln!(script, "rig {name} {rig}").unwrap();
                for file in disk {
                    writeln!(script, "clip {name}_disk {name} {file}").unwrap();
                }
                writeln!(script, "clip {name} {name} {clip}").unwrap();
                is_new = true;
            }
            _ => panic!("{words:?}"),
        }
    }
}

fn mixed_bind(joint: usize) -> [f32; 10] {
    [0.0, -0.6, 0.0, 0.8, joint as f32, -2.5, 0.0, 1.0, 1.0, 0.5]
}

fn plain_bind(_: usize) -> [f32; 10] {
    [0.0, 0.0, 0.0, 1.0, 1.0, -2.5, 0.0, 1.0, 1.0, 1.0]
}

/// `replay.txt`.
fn write_replay(script: &mut String) {
    let digits: String = lines(vectors!("replay.txt")).map(|words| words[0]).collect();
    writeln!(script, "replay replay {digits}").unwrap();
    let file = from_hex(&digits);
    let mut reader = ReplayReader::from_reader(Cursor::new(file)).unwrap();
    let (first, last) = reader.ticks().unwrap().unwrap();
    for tick in first.0..=last.0 {
        if let Some(frame) = reader.frame_at(Tick(tick)).unwrap() {
            writeln!(script, "frame replay {tick} {:016x}", frame.state_hash()).unwrap();
        }
        let playback = reader.playback(tick.into()).unwrap().unwrap();
        let events = described(playback.events());
        writeln!(script, "shows replay {tick} {events}").unwrap();
    }
}
