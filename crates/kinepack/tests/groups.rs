//! Tests of groups (`spec/GROUP.md`): a reader gets what was written, however a file is cut into
//! groups. Other bytes are refused without effect, or are other groups.

use kinepack::group::{GroupReader, GroupWriter};
use kinepack::{
    Baselines, BaselinesError, Codec, DecodeError, DecodeLimits, EncodeError, Encoder, EntityId,
    Level, Profile, Schema, Snapshot, Tick, View,
};

use crate::support::{Ends, assert_valid, battery_of, frames, profiles, schema, schemas};

fn codecs(schema: &Schema) -> impl Iterator<Item = Codec> {
    let levels = [Level::TABLE[0], Level::PACKED, Level::ADAPTIVE, Level::LEARNING];
    let profiles = profiles(schema);
    let (_, profile) = profiles.into_iter().next().unwrap();
    levels.map(|level| Codec::new(schema.clone(), level, profile.clone()).unwrap()).into_iter()
}

/// Writes a group. Returns the group's bytes, and the view of each frame.
fn write(writer: &mut GroupWriter, given: Option<&View>, run: &[Snapshot]) -> (Vec<u8>, Vec<View>) {
    let mut group = Vec::new();
    writer.begin(given.cloned());
    let views = run.iter().map(|world| writer.write(world, &mut group).unwrap().clone()).collect();
    (group, views)
}

/// Reads a whole group.
fn read(
    reader: &mut GroupReader,
    given: Option<&View>,
    mut group: &[u8],
) -> Result<Vec<View>, DecodeError> {
    reader.begin(given.cloned());
    let mut views = Vec::new();
    while let Some(view) = reader.read(&mut group)? {
        views.push(view.clone());
    }
    Ok(views)
}

#[test]
fn groups_come_back_lane_for_lane() {
    for (name, schema) in
        schemas().into_iter().chain(["coarser", "breaks", "kinds"].map(|name| (name, schema(name))))
    {
        for (seed, codec) in codecs(&schema).enumerate() {
            let run = frames(&schema, seed as u64, 9, 24);
            let (mut writer, mut reader) = (GroupWriter::new(&codec), GroupReader::new(&codec));
            // Each group is read alone, and also after the previous group.
            let mut given = None;
            for part in run.chunks(8) {
                let (alone, views) = write(&mut writer, None, part);
                assert!(read(&mut reader, None, &alone).as_ref() == Ok(&views), "{name}");
                let (chained, views) = write(&mut writer, given.as_ref(), part);
                assert!(read(&mut reader, given.as_ref(), &chained).as_ref() == Ok(&views));
                assert_eq!(reader.last(), writer.last());
                let is_exact = |(view, world): (&View, &Snapshot)| **view.snapshot() == *world;
                assert!(codec.has_precision() || views.iter().zip(part).all(is_exact), "{name}");
                given = views.last().cloned();
            }
            // A new writer writes the same bytes as a writer that wrote other groups before.
            let again = write(&mut GroupWriter::new(&codec), None, &run[..8]);
            assert!(again == write(&mut writer, None, &run[..8]), "{name}");
        }
    }
}

#[test]
fn any_other_bytes_are_refused_or_other_groups() {
    for (name, schema) in [("cube", schema("cube")), ("kinds", schema("kinds"))] {
        for codec in codecs(&schema) {
            let run = frames(&schema, 3, 3, 4);
            let given = View::from(run[0].clone());
            for given in [None, Some(&given)] {
                let (group, views) = write(&mut GroupWriter::new(&codec), given, &run[1..]);
                let mut reader = GroupReader::new(&codec);
                battery_of(name, &group, Ends::OtherData, |bytes| {
                    let read = read(&mut reader, given, bytes)?;
                    read.iter().for_each(|view| assert_valid(&schema, view));
                    assert!(bytes != group || read == views, "{name}: other views");
                    Ok(())
                });
            }
        }
    }
}

#[test]
fn a_refused_frame_changes_nothing() {
    let schema = schema("cube");
    for codec in codecs(&schema) {
        let (group, views) = write(&mut GroupWriter::new(&codec), None, &frames(&schema, 5, 9, 6));
        let (mut reader, mut left) = (GroupReader::new(&codec), &group[..]);
        for view in &views {
            // A frame cannot end within its header, or have a packet without bytes.
            for refused in [&left[..1], &[0, 0], &[1, 0, 0]] {
                let mut bytes = refused;
                assert!(reader.read(&mut bytes).is_err());
                assert_eq!(bytes, refused);
            }
            assert_eq!(reader.read(&mut left), Ok(Some(view)));
        }
        assert_eq!(reader.read(&mut left), Ok(None));
    }
}

/// Makes a world of one entity that does not move, at these ticks.
fn resting(ticks: &[u32]) -> (Codec, Vec<Snapshot>) {
    let schema = schema("flag");
    let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap();
    let at = |tick: &u32| {
        let mut world = Snapshot::new(&schema, Tick(*tick));
        world.push_lanes(EntityId(1), &[1]).unwrap();
        world
    };
    let run = ticks.iter().map(at).collect();
    (codec, run)
}

#[test]
fn ticks_may_skip_and_wrap() {
    for ticks in [
        &[0, 1, 2][..],
        &[1, 3, 4],
        &[7, 700, 70_000, 70_001],
        &[u32::MAX - 1, u32::MAX, 0, 5],
        &[u32::MAX],
        &[3, 3 + ((1 << 31) - 1)],
    ] {
        let (codec, run) = resting(ticks);
        let (group, views) = write(&mut GroupWriter::new(&codec), None, &run);
        assert_eq!(read(&mut GroupReader::new(&codec), None, &group), Ok(views.clone()));
        assert!(views.iter().zip(ticks).all(|(view, tick)| view.tick == Tick(*tick)));
    }
    // An entity at rest takes two bytes per frame.
    let (codec, run) = resting(&[0, 1, 2, 3]);
    let mut writer = GroupWriter::new(&codec);
    let first = write(&mut writer, None, &run[..1]).0.len();
    assert_eq!(write(&mut writer, None, &run).0.len(), first + 3 * 2);
}

#[test]
fn ticks_must_increase() {
    for [last, next] in [[5, 5], [5, 4], [0, 1 << 31], [5, u32::MAX]] {
        let (codec, run) = resting(&[last, next]);
        let (mut writer, mut group) = (GroupWriter::new(&codec), Vec::new());
        let first = writer.write(&run[0], &mut group).unwrap().clone();
        let written = group.clone();
        let refused = BaselinesError::NotOlder { tick: last, newer: next };
        assert_eq!(
            writer.write(&run[1], &mut group).err(),
            Some(EncodeError::Baselines(refused)),
            "{last} {next}"
        );
        assert_eq!((group, writer.last()), (written, Some(&first)));
    }
}

#[test]
fn heads_have_one_form() {
    let (codec, run) = resting(&[0, 1]);
    let (group, _) = write(&mut GroupWriter::new(&codec), None, &run);
    let read = |bytes: &[u8]| read(&mut GroupReader::new(&codec), None, bytes).map(|_| ());
    assert_eq!(read(&group), Ok(()));
    let first = 1 + usize::from(group[0] >> 1);
    let packet = &group[first + 1..];
    let second = |head: &[u8]| read(&[&group[..first], head, packet].concat());
    assert_eq!(second(&[2]), Ok(()));
    assert_eq!(second(&[3, 0]), Ok(()));
    // The largest gap, 2³¹ − 3, is valid. The refused headers have larger gaps, or longer varints
    // than needed.
    assert_eq!(second(&[3, 0xFD, 0xFF, 0xFF, 0xFF, 7]), Ok(()));
    for refused in [
        &[0][..],
        &[1, 0],
        &[0x82, 0],
        &[3, 0x80, 0],
        &[3, 0xFE, 0xFF, 0xFF, 0xFF, 7],
        &[3, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F],
        &[3, 0x80, 0x80, 0x80, 0x80, 0x80],
    ] {
        assert!(matches!(second(refused), Err(DecodeError::OutOfRange { .. })), "{refused:?}");
    }
    for cut in [&[3][..], &[3, 0x80], &[0xFE, 0xFF, 0xFF, 0xFF, 0x0F]] {
        assert!(matches!(
            second(cut),
            Err(DecodeError::EndOfData { .. } | DecodeError::OutOfRange { .. })
        ));
    }
}

#[test]
fn limits_hold() {
    let schema = schema("cube");
    let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap();
    let (group, _) = write(&mut GroupWriter::new(&codec), None, &frames(&schema, 1, 9, 3)[2..]);
    let mut reader = GroupReader::with_limits(&codec, DecodeLimits { max_entities: 1 });
    let refused = read(&mut reader, None, &group);
    assert!(matches!(refused, Err(DecodeError::TooManyEntities { limit: 1, .. })), "{refused:?}");
}

/// A plain encoder follows the specification's rules for baselines.
#[test]
fn a_packet_is_coded_against_up_to_three_views() {
    let schema = schema("cube");
    for codec in codecs(&schema) {
        let run = frames(&schema, 8, 6, 7);
        let (group, views) = write(&mut GroupWriter::new(&codec), None, &run);
        let mut encoder = Encoder::new(&codec);
        let mut expected = Vec::new();
        for (nth, world) in run.iter().enumerate() {
            let before = Tick(world.tick.0.wrapping_sub(1));
            let nothing = View::from(Snapshot::new(&schema, before));
            let mut known: Vec<&View> = views[..nth].iter().rev().take(3).collect();
            if known.is_empty() {
                known.push(&nothing);
            }
            let mut packet = Vec::new();
            encoder.encode(Baselines::new(known).unwrap(), world, &mut packet).unwrap();
            let last = if nth == 0 { u32::MAX } else { run[nth - 1].tick.0 };
            let step = world.tick.0.wrapping_sub(last);
            let mut head = vec![packet.len() << 1 | usize::from(step != 1)];
            head.extend((step != 1).then(|| step as usize - 2));
            for mut number in head {
                while number > 127 {
                    expected.push(number as u8 | 128);
                    number >>= 7;
                }
                expected.push(number as u8);
            }
            expected.extend(packet);
        }
        assert_eq!(group, expected);
    }
}
