//! Any bytes: an error, or a replay whose intact groups play. Nothing panics.

use std::io::Cursor;

use kinepack::{Codec, Level, Profile, Schema, Tick};
use kinepack_capture::container::{Channel, Container, Message, Packing};
use kinepack_capture::schema_document;
use kinepack_replay::{ReplayError, ReplayReader};

use crate::support::{self, codec, events, frames, open, replay, ticks, world};

/// The frames that can be read. They are as they were written.
fn readable(file: Vec<u8>) -> Result<Vec<u32>, ReplayError> {
    let mut replay = ReplayReader::from_reader(Cursor::new(file))?;
    replay.verify()?;
    Ok(frames(&mut replay))
}

/// The groups of a file: the first ticks, and where the chunks begin and end.
fn groups(file: &[u8]) -> Vec<(u32, usize, usize)> {
    let summary = mcap::Summary::read(file).unwrap().unwrap();
    let ticks = open(file).group_sizes().map(|(tick, _)| tick.0).collect::<Vec<_>>();
    // The first chunk has the channels.
    let places = summary.chunk_indexes[1..].iter().map(|chunk| {
        let begin = chunk.chunk_start_offset as usize;
        (begin, begin + chunk.chunk_length as usize)
    });
    ticks.into_iter().zip(places).map(|(tick, (begin, end))| (tick, begin, end)).collect()
}

#[test]
fn other_programs_read_the_container() {
    let file = replay(Level::ADAPTIVE, 200);
    let summary = mcap::Summary::read(&file).unwrap().unwrap();
    let statistics = summary.stats.unwrap();
    let groups = open(&file).groups();
    assert_eq!(statistics.chunk_count as usize, 1 + groups);
    assert_eq!(statistics.attachment_count, 2);
    assert_eq!(statistics.metadata_count, 2);
    let messages: Vec<_> = mcap::MessageStream::new(&file).unwrap().map(Result::unwrap).collect();
    let of = |topic| messages.iter().filter(move |message| message.channel.topic == topic);
    assert_eq!(of("world").count(), groups);
    assert_eq!(of("world.events").count(), groups);
    for (place, message) in summary.chunk_indexes[1..].iter().zip(of("world")) {
        assert_eq!(place.message_start_time, message.log_time);
        assert_eq!(message.log_time, (f64::from(message.sequence) * 1e9 / 60.0).round() as u64);
        assert_eq!(message.channel.message_encoding, "kinepack-groups");
    }
    let name =
        &summary.channels.values().find(|of| of.topic == "world").unwrap().metadata["profile"];
    let index = summary.attachment_indexes.iter().find(|of| of.name == *name).unwrap();
    let profile = mcap::read::attachment(&file, index).unwrap();
    assert_eq!(&*profile.data, Profile::untrained(codec(Level::ADAPTIVE).schema()).to_bytes());
    let metadata = &summary.metadata_indexes[0];
    assert_eq!(mcap::read::metadata(&file, metadata).unwrap().metadata["map"], "harbour");
}

#[test]
fn a_file_that_was_cut_off_anywhere_has_all_groups_before() {
    let file = replay(Level::PACKED, 90);
    let groups = groups(&file);
    for length in 0..file.len() {
        match readable(file[..length].to_vec()) {
            Ok(found) => {
                let whole = groups.iter().filter(|(.., end)| *end <= length).count();
                let end = groups.get(whole).map_or(u32::MAX, |(tick, ..)| *tick);
                assert!(found.into_iter().eq(ticks(90).filter(|tick| *tick < end)));
            }
            Err(ReplayError::NotReplay { .. }) => assert!(length < 8),
            Err(error) => {
                assert!(matches!(error, ReplayError::Empty), "{error}");
                assert!(length < groups[0].1);
            }
        }
    }
}

#[test]
fn damage_anywhere_costs_one_group_and_what_needs_it_or_is_an_error() {
    let file = replay(Level::LEARNING, 90);
    let groups = groups(&file);
    for at in 0..file.len() {
        let mut damaged = file.clone();
        damaged[at] ^= 1 << (at % 8);
        let Ok(mut replay) = ReplayReader::from_reader(Cursor::new(damaged)) else {
            // The magic, the header, or the profile.
            assert!(at < groups[0].1, "byte {at}");
            continue;
        };
        replay.verify().unwrap();
        let hit = groups.iter().position(|(_, begin, end)| (*begin..*end).contains(&at));
        let (begin, end) = match hit {
            // Every second group is given the first frame of the one before.
            Some(hit) => {
                let next = if hit.is_multiple_of(2) { hit + 2 } else { hit + 1 };
                (groups[hit].0, groups.get(next).map_or(u32::MAX, |group| group.0))
            }
            None => (0, 0),
        };
        let lost = ticks(90).filter(|tick| (begin..end).contains(tick)).count();
        let found = frames(&mut replay);
        let is_lost = found.len() + lost == ticks(90).count();
        // A changed bit may be in a part that nothing depends on, such as the length of an index.
        assert!(is_lost || found.len() == ticks(90).count(), "byte {at}");
        if is_lost && lost > 0 {
            let damage = &replay.damage()[0];
            assert_eq!(damage.at_byte as usize, groups[hit.unwrap()].1);
            assert!(!damage.to_string().is_empty());
            // The moment shows the last state before it, and then moves on.
            let before = ticks(90).take_while(|tick| *tick < begin).last();
            let shown = replay.playback(f64::from(begin) + 1.0).unwrap().unwrap().tick();
            assert!(before.is_none_or(|before| shown >= f64::from(before)));
        }
    }
}

#[test]
fn a_damaged_profile_is_replaced_by_the_caller_s_codec() {
    let file = replay(Level::ADAPTIVE, 130);
    let summary = mcap::Summary::read(&file).unwrap().unwrap();
    let mut damaged = file.clone();
    for profile in &summary.attachment_indexes {
        damaged[(profile.offset + profile.length) as usize - 6] ^= 1;
    }
    let refused = ReplayReader::from_reader(Cursor::new(damaged.clone())).err().unwrap();
    assert!(refused.to_string().contains("profile"), "{refused}");
    let read = |codec: &Codec| {
        ReplayReader::with_codec(Cursor::new(damaged.clone()), codec, Some(&events()))
    };
    assert!(frames(&mut read(&codec(Level::ADAPTIVE)).unwrap()).into_iter().eq(ticks(130)));
    let other = read(&codec(Level::PACKED)).err();
    assert!(matches!(other, Some(ReplayError::OtherCodec { .. })));
    let other = read(events().codec()).err();
    assert!(matches!(other, Some(ReplayError::OtherCodec { .. })));
}

/// A file with these groups, as a hostile writer makes it.
fn forged(metadata: &[(&str, &str)], groups: &[(u32, u32, &[u8])]) -> Vec<u8> {
    let codec = codec(Level::ADAPTIVE);
    let mut file = Vec::new();
    let mut container = Container::new(&mut file, "kinepack-replay", "", Packing::None).unwrap();
    container.attach("world.profile", "", &codec.profile().to_bytes()).unwrap();
    let schema = schema_document::to_json(codec.schema(), 60.0).unwrap();
    let channel = container.add_channel(&Channel {
        topic: "world",
        encoding: "kinepack-groups",
        metadata,
        schema_name: "",
        schema_encoding: schema_document::ENCODING,
        schema: &schema,
    });
    for (sequence, time_tick, data) in groups {
        let time_ns = schema_document::tick_time_ns(Tick(*time_tick), 60.0);
        container.add_message(&Message { channel, sequence: *sequence, time_ns, data });
        container.end_chunk().unwrap();
    }
    container.finish().unwrap();
    file
}

fn metadata(codec: &Codec) -> [(&'static str, String); 4] {
    [
        ("version", "1".to_owned()),
        ("level", codec.level().row().to_string()),
        ("profile", "world.profile".to_owned()),
        ("codec", format!("{:016x}", codec.hash())),
    ]
}

/// The message of a key group of these ticks.
fn group(ticks: impl IntoIterator<Item = u32>) -> Vec<u8> {
    let mut writer = kinepack::group::GroupWriter::new(&codec(Level::ADAPTIVE));
    let mut bytes = Vec::new();
    let mut key = None;
    for tick in ticks {
        if key.is_none() {
            key = Some(tick);
            bytes.extend(tick.to_le_bytes());
        }
        writer.write(&world(tick), &mut bytes).unwrap();
    }
    bytes
}

#[test]
fn forged_files_are_refused_or_read_as_far_as_they_are_valid() {
    let codec = codec(Level::ADAPTIVE);
    let owned = metadata(&codec);
    let good: Vec<(&str, &str)> = owned.iter().map(|(key, value)| (*key, value.as_str())).collect();
    let (one, two) = (group(5..9), group(9..12));
    let all = forged(&good, &[(5, 5, &one), (9, 9, &two)]);
    assert_eq!(readable(all).unwrap(), [5, 6, 7, 8, 9, 10, 11]);
    // Keys that are missing or wrong.
    for (at, value) in [(0, "2"), (1, "0"), (1, "15"), (1, "x"), (2, "other"), (3, "0"), (3, "x")] {
        let mut changed = good.clone();
        changed[at].1 = value;
        readable(forged(&changed, &[(5, 5, &one)])).unwrap_err();
        changed.remove(at);
        readable(forged(&changed, &[(5, 5, &one)])).unwrap_err();
    }
    // Groups whose ticks contradict the index, or each other.
    for (groups, expected) in [
        (vec![(6, 6, &one), (9, 9, &two)], vec![9, 10, 11]),
        (vec![(6, 5, &one), (9, 9, &two)], vec![9, 10, 11]),
        (vec![(9, 9, &two), (5, 5, &one)], vec![9, 10, 11]),
        (vec![(5, 5, &one), (5, 5, &one)], vec![5, 6, 7, 8]),
    ] {
        let groups: Vec<(u32, u32, &[u8])> =
            groups.iter().map(|(tick, time, bytes)| (*tick, *time, bytes.as_slice())).collect();
        assert_eq!(readable(forged(&good, &groups)).unwrap(), expected);
    }
    // Empty and broken groups. The frames before the broken one are there.
    let mut broken = one.clone();
    broken.truncate(one.len() - 1);
    assert_eq!(readable(forged(&good, &[(5, 5, &broken), (9, 9, &two)])).unwrap().len(), 6);
    readable(forged(&good, &[(5, 5, &[])])).unwrap();
    readable(forged(&good, &[(5, 5, &5_u32.to_le_bytes())])).unwrap();
    // A key group that is not there, is later, or is not one.
    let mut others = two.clone();
    for (key, groups) in [(7, 2), (9, 1), (12, 2)] {
        others[..4].copy_from_slice(&u32::to_le_bytes(key));
        let third = group(12..14);
        let all = [(5, 5, &one[..]), (9, 9, &others[..]), (12, 12, &third[..])];
        let found = readable(forged(&good, &all[..groups + 1])).unwrap();
        let expected = if key == 9 { 7 } else { 6 };
        assert_eq!(found.len(), expected, "{key}");
    }
    let mut third = group(12..14);
    others[..4].copy_from_slice(&u32::to_le_bytes(5));
    third[..4].copy_from_slice(&u32::to_le_bytes(9));
    let all = [(5, 5, &one[..]), (9, 9, &others[..]), (12, 12, &third[..])];
    let mut replay = open(&forged(&good, &all));
    replay.verify().unwrap();
    assert!(replay.damage().last().unwrap().reason.contains("key group"));
    let ticks_wrap = group([u32::MAX]);
    assert_eq!(readable(forged(&good, &[(u32::MAX, u32::MAX, &ticks_wrap)])).unwrap().len(), 1);
    // A frame of two bytes, more often than a group may have it.
    let mut many = group([5]);
    let mut writer = kinepack::group::GroupWriter::new(&codec);
    let mut same = world(5);
    let mut unchanged = Vec::new();
    for tick in 5..9 {
        same.tick = Tick(tick);
        unchanged.clear();
        writer.write(&same, &mut unchanged).unwrap();
    }
    many.extend(unchanged.iter().cycle().take(unchanged.len() * 70_000));
    let mut replay = open(&forged(&good, &[(5, 5, &many)]));
    assert_eq!(replay.ticks().unwrap(), Some((Tick(5), Tick(5 + 65_535))));
    assert_eq!(replay.damage().len(), 1);
}

#[test]
fn schemas_and_captures_of_others_are_refused_with_advice() {
    let mut file = Vec::new();
    let container = Container::new(&mut file, "kinepack", "", Packing::None).unwrap();
    container.finish().unwrap();
    let refused = readable(file).unwrap_err().to_string();
    assert!(refused.contains("kinepack pack"), "{refused}");
    for bytes in [&b""[..], b"MCAP", b"\x89MCAP0\r\n", b"{\"not\": \"a replay\"}"] {
        readable(bytes.to_vec()).unwrap_err();
    }
    // The schema of another type, with the codec's hash of the first.
    let codec = codec(Level::ADAPTIVE);
    let owned = metadata(&codec);
    let pairs: Vec<(&str, &str)> =
        owned.iter().map(|(key, value)| (*key, value.as_str())).collect();
    let mut file = Vec::new();
    let mut container = Container::new(&mut file, "kinepack-replay", "", Packing::None).unwrap();
    container.attach("world.profile", "", &codec.profile().to_bytes()).unwrap();
    let schema = schema_document::to_json(&Schema::of::<support::Hit>(), 60.0).unwrap();
    container.add_channel(&Channel {
        topic: "world",
        encoding: "kinepack-groups",
        metadata: &pairs,
        schema_name: "",
        schema_encoding: schema_document::ENCODING,
        schema: &schema,
    });
    container.end_chunk().unwrap();
    container.finish().unwrap();
    assert!(matches!(readable(file), Err(ReplayError::Profile(_))));
}
