//! Tests that any bytes give an error or a replay whose intact groups play. No input may cause a
//! panic.

use std::io::Cursor;

use kinepack::group::{FrameHeaders, GroupReader, GroupWriter};
use kinepack::{Codec, Level, Profile, Schema, Tick, View};
use kinepack_capture::container::{Channel, Container, MAGIC, Message, Packing, op};
use kinepack_capture::schema_document;
use kinepack_replay::{ReplayError, ReplayReader, ReplayWriter};

use crate::support::{self, codec, events, frames, open, replay, ticks, world};

/// Returns the ticks of the frames that can be read. Checks that these frames equal those that were
/// written.
fn readable(file: Vec<u8>) -> Result<Vec<u32>, ReplayError> {
    let mut replay = ReplayReader::from_reader(Cursor::new(file))?;
    replay.verify()?;
    Ok(frames(&mut replay))
}

/// Returns the groups of a file: each group's first tick, and the offsets at which its chunk begins
/// and ends.
fn groups(file: &[u8]) -> Vec<(u32, usize, usize)> {
    let summary = mcap::Summary::read(file).unwrap().unwrap();
    let ticks = open(file).group_sizes().map(|(tick, _)| tick.0).collect::<Vec<_>>();
    // The first chunk holds only the channels.
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
            // The damage is in the magic, the header, or the profile.
            assert!(at < groups[0].1, "byte {at}");
            continue;
        };
        replay.verify().unwrap();
        let hit = groups.iter().position(|(_, begin, end)| (*begin..*end).contains(&at));
        let (begin, end) = match hit {
            // Every second group is coded against the first frame of the previous group.
            Some(hit) => {
                let next = if hit.is_multiple_of(2) { hit + 2 } else { hit + 1 };
                (groups[hit].0, groups.get(next).map_or(u32::MAX, |group| group.0))
            }
            None => (0, 0),
        };
        let lost = ticks(90).filter(|tick| (begin..end).contains(tick)).count();
        let found = frames(&mut replay);
        let is_lost = found.len() + lost == ticks(90).count();
        // A changed bit may be in a part that the reader does not need, such as the length of an
        // index.
        assert!(is_lost || found.len() == ticks(90).count(), "byte {at}");
        if is_lost && lost > 0 {
            let damage = &replay.damage()[0];
            assert_eq!(damage.at_byte as usize, groups[hit.unwrap()].1);
            assert!(!damage.to_string().is_empty());
            // At a moment within the lost group, playback shows the last state before the group or
            // a later one.
            let before = ticks(90).take_while(|tick| *tick < begin).last();
            let shown = replay.playback(f64::from(begin) + 1.0).unwrap().unwrap().tick;
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

/// Makes a file with these groups, as a hostile writer might.
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

/// Makes the message of a key group with these ticks.
fn group(ticks: impl IntoIterator<Item = u32>) -> Vec<u8> {
    let mut writer = GroupWriter::new(&codec(Level::ADAPTIVE));
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
    // Some keys of the metadata are missing or wrong.
    for (at, value) in [(0, "2"), (1, "0"), (1, "15"), (1, "x"), (2, "other"), (3, "0"), (3, "x")] {
        let mut changed = good.clone();
        changed[at].1 = value;
        readable(forged(&changed, &[(5, 5, &one)])).unwrap_err();
        changed.remove(at);
        readable(forged(&changed, &[(5, 5, &one)])).unwrap_err();
    }
    // The ticks of these groups contradict the index, or each other.
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
    // Some groups are empty or broken. The frames before the broken one can be read.
    let mut broken = one.clone();
    broken.truncate(one.len() - 1);
    assert_eq!(readable(forged(&good, &[(5, 5, &broken), (9, 9, &two)])).unwrap().len(), 6);
    readable(forged(&good, &[(5, 5, &[])])).unwrap();
    readable(forged(&good, &[(5, 5, &5_u32.to_le_bytes())])).unwrap();
    // These key groups do not exist, are later, or are not key groups.
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
    // This group has more frames, of two bytes each, than the format allows.
    let mut many = group([5]);
    let mut writer = GroupWriter::new(&codec);
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
    // The file has the schema of another type, but the codec's hash belongs to the first schema.
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

/// Returns the same file with further records in its summary, whose checksum is corrected.
fn with_summary(file: &[u8], further: &[u8]) -> Vec<u8> {
    const FOOTER_BYTES: usize = 9 + 20;
    let footer = file.len() - MAGIC.len() - FOOTER_BYTES;
    let begin = u64::from_le_bytes(file[footer + 9..footer + 17].try_into().unwrap()) as usize;
    let mut out = file[..footer].to_vec();
    out.extend_from_slice(further);
    out.extend_from_slice(&file[footer..footer + FOOTER_BYTES - 4]);
    let checksum = crc32fast::hash(&out[begin..]);
    out.extend(checksum.to_le_bytes());
    out.extend_from_slice(MAGIC);
    out
}

fn record(opcode: u8, data: &[u8]) -> Vec<u8> {
    [&[opcode][..], &(data.len() as u64).to_le_bytes(), data].concat()
}

fn metadata_index(at_byte: u64, bytes: u64) -> Vec<u8> {
    let data = [&at_byte.to_le_bytes()[..], &bytes.to_le_bytes(), &0_u32.to_le_bytes()].concat();
    record(op::METADATA_INDEX, &data)
}

#[test]
fn an_index_that_names_a_byte_twice_is_not_used() {
    let file = replay(Level::PACKED, 90);
    let summary = mcap::Summary::read(&file).unwrap().unwrap();
    let is_read_as_written = |file: Vec<u8>, markers: usize| {
        let mut replay = open(&file);
        assert_eq!(replay.markers().len(), markers);
        assert!(frames(&mut replay).into_iter().eq(ticks(90)));
        assert!(replay.is_complete() && replay.damage().is_empty());
    };
    is_read_as_written(with_summary(&file, &[]), 1);

    // The index names the same marker a thousand times.
    let marker = &summary.metadata_indexes[1];
    let again = metadata_index(marker.offset, marker.length).repeat(1_000);
    is_read_as_written(with_summary(&file, &again), 1);

    // The index lists a chunk a second time, at a later time.
    let chunk = &summary.chunk_indexes[1];
    let mut data = schema_document::tick_time_ns(Tick(5_000), 60.0).to_le_bytes().repeat(2);
    data.extend(chunk.chunk_start_offset.to_le_bytes());
    data.extend(chunk.chunk_length.to_le_bytes());
    data.extend(10_u32.to_le_bytes());
    data.extend([0; 10]);
    is_read_as_written(with_summary(&file, &record(op::CHUNK_INDEX, &data)), 1);

    // The name of a marker contains records.
    let pair = |key: &str, value: &str| {
        let part = |text: &str| [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
        [part(key), part(value)].concat()
    };
    let pairs = [pair("tick", "7"), pair("name", "inner")].concat();
    let mut inner = [&15_u32.to_le_bytes()[..], b"kinepack-marker"].concat();
    inner.extend((pairs.len() as u32).to_le_bytes());
    inner.extend(pairs);
    let inner = record(op::METADATA, &inner);
    let mut file = Vec::new();
    let codec = codec(Level::PACKED);
    let mut writer = ReplayWriter::to_writer(&mut file, &codec, &support::options()).unwrap();
    ticks(90).for_each(|tick| writer.write(&world(tick)).unwrap());
    writer.mark(Tick(1_010), str::from_utf8(&inner).unwrap()).unwrap();
    writer.finish().unwrap();
    let at_byte = file.windows(inner.len()).position(|window| window == inner).unwrap();
    let nested = metadata_index(at_byte as u64, inner.len() as u64);
    is_read_as_written(with_summary(&file, &nested), 1);
    // The index names a record that ends within the summary.
    let last = with_summary(&file, &metadata_index(file.len() as u64 - 60, 60));
    is_read_as_written(last, 1);
}

#[test]
fn many_bad_records_do_not_take_much_memory() {
    let file = replay(Level::PACKED, 90);
    let end = record(op::DATA_END, &[0; 4]);
    let place = file.windows(9).rposition(|window| window == &end[..9]).unwrap();
    let bad = record(op::METADATA, &[]).repeat(5_000);
    let mut replay = open(&[&file[..place], &bad].concat());
    assert_eq!(replay.damage().len(), 1_000);
    replay.verify().unwrap();
    assert!(frames(&mut replay).into_iter().eq(ticks(90)));
}

/// Makes the messages of groups with these ticks, each with the tick of its key group.
fn groups_of(codec: &Codec, groups: &[(std::ops::Range<u32>, u32)]) -> Vec<Vec<u8>> {
    let mut keys: Vec<View> = Vec::new();
    let message = |(ticks, key): &(std::ops::Range<u32>, u32)| {
        let mut writer = GroupWriter::new(codec);
        let given = keys.iter().find(|view| view.tick.0 == *key && ticks.start != *key).cloned();
        writer.begin(given);
        let mut bytes = key.to_le_bytes().to_vec();
        for tick in ticks.clone() {
            writer.write(&world(tick), &mut bytes).unwrap();
        }
        if ticks.start == *key {
            let mut reader = GroupReader::new(codec);
            let first = reader.read(&mut &bytes[4..]).unwrap().unwrap();
            keys.push(View::from(std::sync::Arc::clone(first.snapshot())));
        }
        bytes
    };
    groups.iter().map(message).collect()
}

#[test]
fn a_cut_of_groups_that_go_back_to_earlier_key_groups_has_them_all() {
    let codec = codec(Level::ADAPTIVE);
    let owned = metadata(&codec);
    let good: Vec<(&str, &str)> = owned.iter().map(|(key, value)| (*key, value.as_str())).collect();
    // The third group is a key group, and the fourth depends on the first.
    let groups = [(10..14, 10), (14..18, 10), (18..22, 18), (22..26, 10), (26..30, 18)];
    let messages = groups_of(&codec, &groups);
    let of = |(nth, (ticks, _)): (usize, &(std::ops::Range<u32>, u32))| {
        (ticks.start, ticks.start, messages[nth].as_slice())
    };
    let all: Vec<(u32, u32, &[u8])> = groups.iter().enumerate().map(of).collect();
    let mut whole = open(&forged(&good, &all));
    assert_eq!(whole.verify().unwrap(), 20);
    for (from, to) in [(10, 29), (15, 29), (18, 29), (18, 23), (20, 24), (23, 28)] {
        let mut part = Vec::new();
        let summary = whole.cut(Tick(from), Tick(to), &mut part).unwrap();
        let mut part = open(&part);
        assert!(frames(&mut part).into_iter().eq(from..=to), "{from} to {to}");
        assert_eq!(summary.frames, u64::from(to - from + 1));
        assert!(part.damage().is_empty(), "{:?}", part.damage());
    }
    assert!(whole.damage().is_empty());
}

/// Writes the same messages to a new file, some of them changed.
fn rewritten(file: &[u8], edit: impl Fn(&mcap::Message<'_>) -> Vec<u8>) -> Vec<u8> {
    let summary = mcap::Summary::read(file).unwrap().unwrap();
    let mut out = Vec::new();
    let mut container = Container::new(&mut out, "kinepack-replay", "", Packing::None).unwrap();
    for index in &summary.attachment_indexes {
        let profile = mcap::read::attachment(file, index).unwrap();
        container.attach(&profile.name, &profile.media_type, &profile.data).unwrap();
    }
    let mut channels = Vec::new();
    for message in mcap::MessageStream::new(file).unwrap().map(Result::unwrap) {
        let of = &message.channel;
        let known = channels.iter().position(|topic| *topic == of.topic);
        if known.is_none() {
            let schema = of.schema.as_ref().unwrap();
            let pairs: Vec<(&str, &str)> =
                of.metadata.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
            container.add_channel(&Channel {
                topic: &of.topic,
                encoding: &of.message_encoding,
                metadata: &pairs,
                schema_name: &schema.name,
                schema_encoding: &schema.encoding,
                schema: &schema.data,
            });
            channels.push(of.topic.clone());
        }
        let channel = known.unwrap_or(channels.len() - 1);
        if channel == 0 {
            container.end_chunk().unwrap();
        }
        let (sequence, time_ns) = (message.sequence, message.log_time);
        let data = &edit(&message);
        container.add_message(&Message { channel: channel as u16, sequence, time_ns, data });
    }
    container.finish().unwrap();
    out
}

/// Returns a message in which the frame of this tick has two bytes too many. The frames of the
/// message must be one tick apart.
fn with_a_broken_frame(message: &[u8], given: Option<Tick>, tick: u32) -> Vec<u8> {
    let group = &message[4..];
    let heads: Vec<_> = FrameHeaders::new(group, given).map(Result::unwrap).collect();
    let nth = heads.iter().position(|(of, _)| of.0 == tick).unwrap();
    let (begin, end) = (heads[nth - 1].1, heads[nth].1);
    // The frame begins with twice its size, coded in one byte or in two.
    let packet = &group[begin + 1 + usize::from(group[begin] >> 7)..end];
    let size = (packet.len() as u16 + 2) << 1;
    let head = match size {
        ..0x80 => vec![size as u8],
        _ => vec![size as u8 | 0x80, (size >> 7) as u8],
    };
    [&message[..4 + begin], &head, packet, &[0xff, 0xff], &group[end..]].concat()
}

#[test]
fn a_cut_after_a_frame_that_failed_has_the_frames_before_it_and_their_events() {
    let mut file = Vec::new();
    let codec = codec(Level::TABLE[0]);
    let mut writer = ReplayWriter::to_writer(&mut file, &codec, &support::options()).unwrap();
    for tick in 0..60 {
        writer.emit(&support::Hit { damage: tick as u8 }).unwrap();
        writer.write(&world(tick)).unwrap();
    }
    writer.finish().unwrap();
    // The changed group is the second of two groups of 30 ticks. It is coded against the first
    // frame of the first group.
    let broken = rewritten(&file, |message| match message.channel.topic.as_str() {
        "world" if message.sequence == 30 => with_a_broken_frame(&message.data, Some(Tick(0)), 40),
        _ => message.data.to_vec(),
    });
    for (from, is_fresh) in [(0, false), (35, false), (35, true)] {
        let mut whole = open(&broken);
        if !is_fresh {
            assert_eq!(whole.frame_at(Tick(45)).unwrap().unwrap().tick, Tick(39));
        }
        let mut part = Vec::new();
        let summary = whole.cut(Tick(from), Tick(59), &mut part).unwrap();
        assert_eq!(whole.damage().len(), 1, "the frame of tick 40");
        let mut part = open(&part);
        assert!(frames(&mut part).into_iter().eq(from..40), "from {from}");
        assert_eq!((summary.frames, part.damage().len()), (u64::from(40 - from), 0));
        for tick in from..40 {
            let playback = part.playback(tick.into()).unwrap().unwrap();
            let hits: Vec<u8> = playback
                .events()
                .map(|event| event.get::<support::Hit>().unwrap().unwrap().damage)
                .collect();
            assert_eq!(hits, [tick as u8]);
        }
    }
}
