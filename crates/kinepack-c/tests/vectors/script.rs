//! The vectors as commands, one a line. A command names all that it needs. Bytes are hexadecimal, and
//! `-` means none.
//!
//! | command | the program |
//! |---|---|
//! | `schema NAME HASH FILE` | reads a schema with this hash, and writes the same file |
//! | `codec NAME SCHEMA LEVEL PROFILE` | creates a codec |
//! | `hash CODEC HASH` | compares the hash of a codec |
//! | `profile CODEC TEXT` | describes the profile with this text, whose bytes are in hex |
//! | `view NAME CODEC TICK HASH WRITES VIEWS PACKET` | decodes a packet against views: a state with this hash. If `WRITES` is 1, it encodes the state to the same packet |
//! | `check VIEW CHECK` | compares the state check of a view, four hexadecimal digits |
//! | `group CODEC TICK:HASH,… FRAMES` | reads frames with these states, and writes them to the same bytes |
//! | `runs BASE BYTES RUNS`, `sparse BASE BYTES SPARSE` | encodes and decodes bytes |
//! | `magnitude FORM STEPS LIMITS BEFORE VALUES READ BITS BYTES` | writes numbers in a `KpMagnitudeForm`, and reads these. `STEPS` is the number of steps in a unit, `LIMITS` are `min:max:precision:is_cyclic` |
//! | `events NAME CODEC TICKS` | creates kinds of events. `TICKS` has a number for each: the ticks that an event may wait, or -1 if it must arrive |
//! | `receiver NAME CODEC EVENTS` | creates a receiver at 60 Hz |
//! | `sends RECEIVER DATAGRAM` | takes the datagram that the receiver sends next |
//! | `takes RECEIVER STATUS HASH EVENTS DATAGRAM` | handles a datagram: `ok` or `data`, the hash of the newest state, and the events as `tick:kind:numbers` |
//! | `fault RECEIVER ENTITY LANE` | injects a memory fault |
//! | `stream NAME SCHEMA LEVEL HZ REPEATS FIRST` | creates a receiver of a stream |
//! | `records STREAM MS RECORDS PACKET` | handles a packet with the new records `number:numbers` |
//! | `acknowledges STREAM DATAGRAM` | writes the acknowledgement |
//! | `splits DATAGRAM SIZE` | splits a stream acknowledgement of this size from a snapshot |
//! | `stream_codec NAME SCHEMA LEVEL NUMBERS HASH` | creates a codec of streams with this hash. `NUMBERS` has a letter for each field: `f` for 64-bit floats, `i` for signed and `u` for unsigned integers |
//! | `packet NAME STREAM_CODEC BASE LAG COUNT HASH WRITES PACKET` | decodes records without headers against a base, which `-` is before the first. FNV-1a over the bytes of their 64-bit numbers has this hash. If `WRITES` is 1, it encodes the numbers to the same packet |
//! | `skeleton HASH FILE`, `rig NAME FILE`, `clip NAME RIG FILE` | reads them |
//! | `bind NAME POSE` | creates a player of the clip with this bind pose |
//! | `pose NAME POSITION POSE` | plays a pose: ten numbers of 32 bits a joint |
//! | `anm NAME FILE` | reads an `r3d2canm` file, and writes the same bytes |
//! | `anm_pose NAME SECONDS POSE` | samples the file at a time |
//! | `figure NAME PRECISION SHELL PRECISIONS MOTIONS CURVES PARTS SLOTS CLIPS COARSER SKELETON` | creates a figure of a skeleton's file. The lists, with `,` between, are `joint:cm`, `joint:KpMotion:x:y:z:range`, `name:min:max:precision`, `name:joints:curves`, names of clips and factors of tiers, with names as bytes in hex and a digit for each index |
//! | `pushes FIGURE SCHEMA OTHERS TIER CLIPS ABSENT CURVES POSE HASH` | pushes a pose without the absent parts (`0,1`) as entity 7 of tick 1: a state with this hash. `OTHERS` are the integers of the kind's other fields, and `CLIPS` are `slot:clip:since:time:speed:weight`. `CURVES` and `POSE` are numbers of 32 bits |
//! | `reads FIGURE SCHEMA VIEW ABSENT CURVES POSE` | reads the pose of entity 7 of a view, and of a replay of it, over numbers with the bits `11111111`, which those of absent parts keep |
//! | `replay NAME FILE HZ FIRST LAST COMPLETE MARKERS NOTES` | reads a replay with these ticks, markers (`tick:name;…`) and notes (`key:value;…`), whose texts are bytes in hex. `COMPLETE` is 1 if its writer ended it |
//! | `frame REPLAY TICK HASH` | reads the state of a tick |
//! | `shows REPLAY TICK EVENTS` | plays a tick, with these events |
//! | `catalogue NAME HZ TIERS FILE` | reads a catalogue with these tiers (`name:carry:frame:group:object;…`, in ticks and snapshots), and writes the same bytes |
//! | `publisher NAME CATALOGUE GROUP DELAY` | creates a publisher whose groups begin with this number |
//! | `selects PUBLISHER TIER IDS` | restricts a tier to these entities |
//! | `publishes PUBLISHER VIEW` | publishes the state of a view, after all pieces were taken |
//! | `gives PUBLISHER TIER TRACK GROUP OBJECT TICK PIECE` | takes the next piece. `TRACK` is a `KpTrackKind`, and `OBJECT` is `-` for a datagram |
//! | `viewer NAME CATALOGUE TIER` | creates a viewer of a tier |
//! | `piece VIEWER TIER TRACK GROUP OBJECT TICK NS READ HASH PIECE` | handles a piece at a time. If `READ` is 1, the snapshot of the tick could be read. The newest state has this hash |

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use kinepack::quantize::{IntegerLimits, SmallestThree};
use kinepack::schema::{Field, FieldKind};
use kinepack::{Codec, Decoder, Encoder, EntityId, Level, Profile, Schema, Snapshot, Tick, View};

use super::hex::{from_hex, hex};
use super::states::{packets_profiles, packets_schema, packets_states};
use super::{broadcasts, figures, network, numbers, played, streams};

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
    write_states(&mut script, "coarser", "coarser", vectors!("coarser.txt"), None);
    write_states(&mut script, "breaks", "breaks", vectors!("breaks.txt"), None);
    write_precision(&mut script);
    write_profiles(&mut script);
    numbers::write(&mut script);
    network::write(&mut script);
    streams::write(&mut script);
    played::write(&mut script);
    figures::write(&mut script);
    broadcasts::write(&mut script);
    script
}

pub(crate) fn write_schema(script: &mut String, name: &str, file: &[u8]) -> Schema {
    let schema = Schema::from_bytes(file).unwrap();
    writeln!(script, "schema {name} {:016x} {}", schema.hash(), hex(file)).unwrap();
    schema
}

pub(crate) fn schema(name: &str) -> Schema {
    let stored = lines(vectors!("schemas.txt")).find(|words| words[0] == name);
    Schema::from_bytes(&from_hex(stored.unwrap()[1])).unwrap()
}

/// A codec that serves only to carry states, and its command.
pub(crate) fn carrier(script: &mut String, schema_name: &str) -> Codec {
    let schema = schema(schema_name);
    writeln!(script, "codec carry_{schema_name} {schema_name} packed -").unwrap();
    Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap()
}

/// Creates the view of a state, by a packet without a base.
pub(crate) fn write_state(
    script: &mut String,
    name: &str,
    schema: &str,
    carrier: &Codec,
    state: &Snapshot,
) {
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
    assert_eq!(format!("{:016x}", schema.hash()), vectors!("schema_hash.txt").trim());
    let carrier = carrier(script, "packets");
    let [baseline, snapshot] = packets_states(&schema);
    write_state(script, "packets_1", "packets", &carrier, &baseline);
    let mut listed = profile_texts();
    for (name, profile) in packets_profiles(&schema) {
        for words in lines(vectors!("packets.txt")).filter(|words| words[1] == name) {
            let (level, packet) = (words[0], words[2]);
            let codec = format!("packets_{level}_{name}");
            let profile = hex(&profile.to_plain_bytes());
            let hash = snapshot.state_hash();
            writeln!(script, "codec {codec} packets {level} {profile}").unwrap();
            writeln!(script, "view {codec} {codec} 7 {hash:016x} 1 packets_1 {packet}").unwrap();
            if let Some(text) = listed.remove(name) {
                writeln!(script, "profile {codec} {}", hex(text.as_bytes())).unwrap();
            }
        }
    }
    assert!(listed.is_empty());
}

/// `profiles.txt`: the text of each profile, without its name.
fn profile_texts() -> BTreeMap<&'static str, String> {
    let (mut texts, mut name) = (BTreeMap::<_, String>::new(), "");
    for line in vectors!("profiles.txt").lines() {
        let text = if line.starts_with(' ') {
            line
        } else {
            let (of, text) = line.split_once(' ').unwrap();
            name = of;
            text
        };
        let all = texts.entry(name).or_default();
        all.push_str(text);
        all.push('\n');
    }
    texts
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
    let mut codecs = BTreeSet::new();
    // The name of the view that a tick has at a level.
    let mut views = BTreeMap::new();
    let mut is_written = false;
    for words in lines(file) {
        let number = |word: &str| word.parse::<u32>().unwrap();
        match words[..] {
            ["profile", of] => profile = of,
            ["schema", hash] => assert_eq!(format!("{:016x}", schema.hash()), hash),
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
            ["codec", level, hash] => {
                writeln!(script, "hash precision_{level} {hash}").unwrap();
            }
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

pub(crate) fn integer(name: impl Into<String>, max: i128) -> Field {
    Field::new(name.into(), FieldKind::Integer(IntegerLimits::new(0, max, 1).unwrap()))
}

pub(crate) fn packed(schema: &Schema) -> Codec {
    at_level(schema, Level::PACKED)
}

pub(crate) fn at_level(schema: &Schema, level: Level) -> Codec {
    Codec::new(schema.clone(), level, Profile::untrained(schema)).unwrap()
}
