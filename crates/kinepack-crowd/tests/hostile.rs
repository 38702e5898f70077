//! Tests that any bytes as a catalogue, an object or a datagram give an error or a valid value, and
//! that a refused input changes nothing.

use kinepack::schema::{Field, FieldKind};
use kinepack::{Codec, Level, Profile, Schema, SetupError, Tick};
use kinepack_crowd::{
    Carried, Carry, Catalogue, CrowdError, Piece, Publisher, Refused, Tier, Track, Viewer,
    ViewerConfig,
};
use proptest::prelude::*;

use crate::support::{FAST, FULL, PAIRS, Random, at, catalogue, codec, show, world};

const BALLS: u32 = 12;

#[test]
fn no_beginning_of_a_catalogue_is_one() {
    let bytes = catalogue(Level::PACKED).to_bytes();
    for length in 0..bytes.len() {
        assert!(Catalogue::from_bytes(&bytes[..length]).is_err(), "{length}");
    }
    assert!(Catalogue::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
    assert_eq!(Catalogue::from_bytes(&bytes).unwrap().to_bytes(), bytes);
}

#[test]
fn altered_catalogues_are_refused_or_other_catalogues() {
    let bytes = catalogue(Level::PACKED).to_bytes();
    let mut others = 0;
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut altered = bytes.clone();
            altered[at] ^= 1 << bit;
            if let Ok(other) = Catalogue::from_bytes(&altered) {
                others += 1;
                assert_eq!(Catalogue::from_bytes(&other.to_bytes()).unwrap().tiers().len(), 5);
            }
        }
    }
    assert!(others > 10, "{others}: names and times have other values");
}

#[test]
fn tiers_that_contradict_each_other_are_refused() {
    let codec = codec(Level::PACKED);
    let tier = |name: &str| Tier::new(name, &codec, 60);
    let refused = |tiers: Vec<Tier>| Catalogue::new(60, tiers).unwrap_err();
    for wrong in ["", "Full", "a b", "catalogue", "full.keys", "ä", &"n".repeat(65)] {
        let error = refused(vec![tier("full"), tier(wrong)]);
        assert!(matches!(&error, CrowdError::Tier { name, .. } if name == wrong), "{error}");
    }
    refused(vec![]);
    refused(vec![tier("full"), tier("full")]);
    refused(vec![Tier { ticks_per_frame: 0, ..tier("full") }]);
    refused(vec![Tier { ticks_per_frame: 61, ..tier("full") }]);
    refused(vec![Tier { carry: Carry::Datagrams, ..Tier::new("fast", &codec, 128) }]);
    refused(vec![Tier { frames_per_object: 0, ..tier("full") }]);
    refused(vec![Tier { frames_per_object: 17, ..tier("full") }]);
    refused(vec![Tier { carry: Carry::Datagrams, frames_per_object: 2, ..tier("full") }]);
    refused((0..65).map(|nth| tier(&format!("t{nth}"))).collect());
    assert!(Catalogue::new(0, vec![tier("full")]).is_err());
    let mut viewer = Viewer::new(&catalogue(Level::PACKED), ViewerConfig::at_hz(60)).unwrap();
    assert_eq!(viewer.watch(9), Err(CrowdError::NoTier { number: 9 }));
}

/// Makes a catalogue with `count` tiers of one codec, and returns it with the number of bytes of a
/// tier.
fn many_tiers(codec: &Codec, count: usize) -> (Vec<u8>, usize) {
    let tiers = (0..count).map(|nth| Tier::new(&format!("tier{nth:02}"), codec, 60)).collect();
    let level_bytes = codec.level().name().len();
    (Catalogue::new(60, tiers).unwrap().to_bytes(), 1 + 6 + 1 + 2 + 2 + 1 + 1 + level_bytes + 2)
}

#[test]
fn tiers_of_one_codec_share_it_and_the_caller_limits_the_memory() {
    let codec = codec(Level::LEARNING);
    let read = |bytes: &[u8], most: usize| {
        let mut read = None;
        let memory = allocation_counter::measure(|| {
            read = Some(Catalogue::from_bytes_within(bytes, most));
        });
        (read.unwrap(), memory.bytes_max as usize)
    };
    let ((one, _), (many, tier_bytes)) = (many_tiers(&codec, 1), many_tiers(&codec, 64));
    let (catalogue, of_one) = read(&one, 1 << 20);
    assert_eq!(catalogue.unwrap().memory_bytes(), codec.memory_bytes());
    let (catalogue, of_many) = read(&many, 1 << 20);
    let catalogue = catalogue.unwrap();
    assert_eq!(catalogue.memory_bytes(), codec.memory_bytes());
    assert!(of_many < of_one + 64 * 1_024, "{of_many} bytes, for one tier {of_one}");
    assert_eq!(catalogue.to_bytes(), many);

    let (refused, memory) = read(&many, codec.memory_bytes() - 1);
    let is_reason = matches!(
        refused,
        Err(CrowdError::Codec(SetupError::CodecTooLarge { memory_bytes, .. }))
            if memory_bytes == codec.memory_bytes()
    );
    assert!(is_reason && memory < of_one, "{memory} bytes");
    let config =
        ViewerConfig { max_memory_bytes: codec.memory_bytes() - 1, ..ViewerConfig::at_hz(60) };
    let refused = Viewer::new(&catalogue, config);
    assert!(matches!(refused, Err(CrowdError::Codec(SetupError::CodecTooLarge { .. }))));

    // Too many tiers are refused before a codec is built.
    let count = many.len() - 64 * tier_bytes - 1;
    assert_eq!(many[count], 64);
    let mut more = many.clone();
    more.extend_from_slice(&many[many.len() - tier_bytes..]);
    more[count] = 65;
    let (refused, memory) = read(&more, 1 << 20);
    assert!(matches!(refused, Err(CrowdError::Catalogue { .. })), "{refused:?}");
    assert!(memory < 10_000, "{memory} bytes");
}

/// Makes a catalogue of `count` tiers, each with its own schema of 2,000 flags.
fn many_schemas(count: u8) -> Vec<u8> {
    let schema = |nth: u8| {
        let flag = |lane| Field::new(format!("{nth}.{lane}"), FieldKind::Bool);
        Schema::new((0..2_000).map(flag).collect())
    };
    let mut bytes = b"KPCT\x02\x3c\x00".to_vec();
    let add = |files: &[Vec<u8>], bytes: &mut Vec<u8>| {
        bytes.push(files.len() as u8);
        for file in files {
            bytes.extend((file.len() as u32).to_le_bytes());
            bytes.extend(file);
        }
    };
    add(&(0..count).map(|nth| schema(nth).to_bytes()).collect::<Vec<_>>(), &mut bytes);
    add(&[Profile::untrained(&schema(0)).to_bytes()], &mut bytes);
    bytes.push(count);
    for nth in 0..count {
        bytes.push(6);
        bytes.extend(format!("tier{nth:02}").as_bytes());
        bytes.extend([0, 1, 0, 60, 0, 1, 6]);
        bytes.extend(b"packed");
        bytes.extend([nth, 0]);
    }
    bytes
}

#[test]
fn schemas_are_read_one_by_one_within_the_memory() {
    let read = |bytes: &[u8], most| {
        let mut read = None;
        let memory = allocation_counter::measure(|| {
            read = Some(Catalogue::from_bytes_within(bytes, most));
        });
        (read.unwrap(), memory.bytes_max)
    };
    let (one, many) = (many_schemas(1), many_schemas(40));
    assert_eq!(read(&one, 64 << 20).0.unwrap().tiers().len(), 1);
    let (refused, of_one) = read(&one, 1 << 20);
    assert!(matches!(refused, Err(CrowdError::Codec(SetupError::CodecTooLarge { .. }))));
    let (refused, of_many) = read(&many, 1 << 20);
    assert!(matches!(refused, Err(CrowdError::Codec(SetupError::CodecTooLarge { .. }))));
    assert!(of_many < of_one + (64 << 10), "{of_many} bytes, for one schema {of_one}");
}

#[test]
fn a_schema_that_no_tier_has_must_be_one_too() {
    let (mut bytes, before) = (catalogue(Level::PACKED).to_bytes(), 7);
    bytes[before] += 1;
    let file = [1, 0, 0, 0, b'x'];
    let first = u32::from_le_bytes(bytes[before + 1..before + 5].try_into().unwrap()) as usize;
    let end = before + 5 + first;
    bytes.splice(end..end, file);
    assert!(Catalogue::from_bytes(&bytes).is_err());
}

#[test]
fn what_views_learn_is_part_of_the_memory() {
    let codec = codec(Level::LEARNING);
    assert!(codec.learned_bytes() > 10_000);
    let (bytes, _) = many_tiers(&codec, 1);
    let catalogue = Catalogue::from_bytes(&bytes).unwrap();
    let first = |max_memory_bytes: usize| {
        let config = ViewerConfig { max_memory_bytes, ..ViewerConfig::at_hz(60) };
        let mut viewer = Viewer::new(&catalogue, config).unwrap();
        viewer.watch(0).unwrap();
        let mut publisher = Publisher::new(&catalogue);
        let pieces = publisher.publish(&world(0, BALLS)).unwrap();
        pieces.iter().all(|piece| show(&mut viewer, at(0), piece).is_ok())
    };
    assert!(first(4 << 20));
    assert!(!first(codec.memory_bytes() + 10 * codec.learned_bytes()));
}

#[test]
fn a_group_with_the_largest_number_does_not_end_a_tier() {
    let all = pieces(Level::PACKED, 200);
    let of = |track: Track, tick: u32| {
        all.iter().find(|piece| piece.track == track && piece.tick == Tick(tick)).unwrap()
    };
    let (full, keys) = (Track::Snapshots(FULL), Track::Keys(FULL));
    // The first forged object can never be read, but the second can.
    for forged in [vec![9; 40], of(full, 60).bytes.clone()] {
        let mut viewer = viewer(Level::PACKED, FULL);
        let first_of = |viewer: &mut Viewer, tick: u32| {
            show(viewer, at(tick), of(keys, tick)).unwrap();
            show(viewer, at(tick), of(full, tick))
        };
        first_of(&mut viewer, 60).unwrap();
        viewer.object(at(60), full, u64::MAX, 0, &forged).unwrap();
        for tick in [120, 180] {
            assert_eq!(first_of(&mut viewer, tick), Ok(Some(Tick(tick))));
            let next = tick + 1;
            assert_eq!(show(&mut viewer, at(next), of(full, next)), Ok(Some(Tick(next))));
        }
        assert_eq!(show(&mut viewer, at(182), of(full, 60)), Err(Refused::Late));
    }
}

#[test]
fn a_refused_object_of_a_group_that_waited_is_counted() {
    let all = pieces(Level::PACKED, 70);
    let of = |track: Track| {
        all.iter().find(|piece| piece.track == track && piece.tick == Tick(60)).unwrap()
    };
    let mut viewer = viewer(Level::PACKED, FULL);
    let mut broken = of(Track::Snapshots(FULL)).clone();
    broken.bytes.truncate(broken.bytes.len() - 1);
    assert_eq!(show(&mut viewer, at(60), &broken), Ok(None), "it waits");
    assert_eq!(show(&mut viewer, at(60), of(Track::Keys(FULL))), Ok(None));
    assert_eq!((viewer.stats().refused, viewer.stats().snapshots), (1, 0));
}

fn pieces(level: Level, ticks: u32) -> Vec<Piece> {
    let mut publisher = Publisher::new(&catalogue(level));
    (0..ticks).flat_map(|tick| publisher.publish(&world(tick, BALLS)).unwrap().to_vec()).collect()
}

fn viewer(level: Level, tier: usize) -> Viewer {
    let mut viewer = Viewer::new(&catalogue(level), ViewerConfig::at_hz(60)).unwrap();
    viewer.watch(tier).unwrap();
    viewer
}

#[test]
fn altered_datagrams_do_not_change_what_comes_after() {
    for level in [Level::PACKED, Level::ADAPTIVE, Level::LEARNING] {
        let (mut viewer, mut random) = (viewer(level, FAST), Random(7));
        for piece in pieces(level, 90).iter().filter(|piece| piece.track.tier() == FAST) {
            let now = at(piece.tick.0);
            if piece.carried == Carried::Datagram {
                for _ in 0..4 {
                    let mut altered = piece.bytes.clone();
                    let place = random.next() as usize % altered.len();
                    altered[place] ^= 1 << (random.next() % 8);
                    altered.truncate(1 + random.next() as usize % altered.len());
                    let _ = viewer.datagram(now, FAST, &altered);
                }
            }
            let tick = show(&mut viewer, now, piece).unwrap();
            assert!(tick == Some(piece.tick) || matches!(piece.track, Track::Keys(_)));
        }
        // Some altered datagrams decode to other states of close ticks, which the next true state
        // replaces.
        assert!(viewer.stats().refused > 50);
        assert!(viewer.newest().unwrap().tick >= Tick(89));
    }
}

#[test]
fn memory_limits_the_entities() {
    let config = ViewerConfig { max_memory_bytes: 200_000, ..ViewerConfig::at_hz(60) };
    let mut viewer = Viewer::new(&catalogue(Level::PACKED), config).unwrap();
    viewer.watch(FULL).unwrap();
    let mut publisher = Publisher::new(&catalogue(Level::PACKED));
    // The third group is refused because it is coded against the world that was too large.
    for (tick, balls, fits) in
        [(0, 20, true), (60, 2_000, false), (120, 20, false), (180, 20, true)]
    {
        let mut refused = 0;
        for piece in publisher.publish(&world(tick, balls)).unwrap() {
            if piece.track.tier() == FULL {
                refused += u32::from(show(&mut viewer, at(tick), piece).is_err());
            }
        }
        assert_eq!(refused == 0, fits, "{tick}");
        assert_eq!(viewer.stats().snapshots, if tick < 180 { 1 } else { 2 });
    }
}

#[test]
fn strange_orders_are_refused() {
    let all = pieces(Level::PACKED, 200);
    let of = |track: Track, tick: u32| {
        all.iter().find(|piece| piece.track == track && piece.tick == Tick(tick)).unwrap()
    };
    let mut viewer = viewer(Level::PACKED, FULL);
    let mut take = |track, tick| show(&mut viewer, at(tick), of(track, tick)).map(drop);
    let (full, keys) = (Track::Snapshots(FULL), Track::Keys(FULL));
    assert_eq!(take(full, 5), Err(Refused::Broken), "without the beginning of its group");
    assert_eq!(take(Track::Snapshots(FAST), 30), Err(Refused::NotWatched));
    assert_eq!(take(Track::Keys(FAST), 30), Err(Refused::NotWatched));
    assert_eq!(take(keys, 60), Ok(()));
    assert_eq!(take(full, 60), Ok(()));
    assert_eq!(take(full, 0), Err(Refused::Late));
    assert_eq!(take(keys, 120), Ok(()));
    assert_eq!(take(full, 120), Ok(()), "a second group at the same time");
    assert_eq!(take(full, 61), Ok(()));
    assert_eq!(take(full, 61), Err(Refused::Broken), "twice");
    assert_eq!(take(full, 62), Err(Refused::Broken));
    assert_eq!(take(full, 121), Ok(()));
    assert_eq!(take(full, 180), Ok(()), "which waits");
    assert_eq!(take(full, 182), Err(Refused::Broken), "one is missing");
    assert_eq!(take(keys, 180), Ok(()));
    assert_eq!(take(full, 181), Err(Refused::Broken));
    assert_eq!(take(full, 63), Err(Refused::Late), "a third group ends the first");
}

#[test]
fn what_waits_is_bounded() {
    let mut viewer = viewer(Level::PACKED, FULL);
    let track = Track::Snapshots(FULL);
    let mut count = 0;
    while viewer.object(at(0), track, 7, count, &[9; 2_000]) == Ok(None) {
        count += 1;
    }
    assert!((500..550).contains(&count), "{count}");
    let long = vec![9; 2 << 20];
    assert_eq!(viewer.object(at(0), track, 8, 0, &long), Err(Refused::Waiting));
    count = 0;
    while viewer.object(at(0), track, 9, count, &[9; 4]) == Ok(None) {
        count += 1;
    }
    assert_eq!(count, 1024);
    assert_eq!(viewer.object(at(0), track, 9, 3, &[9; 4]), Err(Refused::Broken));
}

proptest! {
    #[test]
    fn any_bytes_are_refused_or_states(
        inputs in prop::collection::vec(
            (0..5usize, 0..3u64, 0..3u64, any::<bool>(), prop::collection::vec(any::<u8>(), 0..80)),
            0..20,
        ),
    ) {
        let mut viewer = viewer(Level::LEARNING, FULL);
        if inputs.len() % 2 == 0 {
            viewer.watch(FAST).unwrap();
        } else {
            viewer.watch_all(&[FULL, FAST]).unwrap();
        }
        for (nth, (tier, group, number, is_object, bytes)) in inputs.iter().enumerate() {
            let now = at(nth as u32);
            if *is_object {
                let track = if *tier == 4 { Track::Keys(FAST) } else { Track::Snapshots(*tier) };
                let _ = viewer.object(now, track, *group, *number, bytes);
            } else {
                let _ = viewer.datagram(now, *tier, bytes);
            }
            if let Some(playback) = viewer.playback(now) {
                prop_assert!(playback.samples().count() <= 65_536);
            }
        }
        let _ = Catalogue::from_bytes(&inputs.iter().flat_map(|input| input.4.clone()).collect::<Vec<_>>());
    }
}

#[test]
fn a_refused_object_shows_none_of_its_snapshots() {
    let mut viewer = viewer(Level::PACKED, PAIRS);
    let mut all = pieces(Level::PACKED, 200);
    all.retain(|piece| piece.track.tier() == PAIRS);
    for piece in &all[..20] {
        show(&mut viewer, at(piece.tick.0), piece).unwrap();
    }
    let (newest, stats) = (viewer.newest().unwrap().tick, viewer.stats());
    let mut altered = all[20].clone();
    altered.bytes.extend_from_slice(&all[21].bytes);
    assert_eq!(show(&mut viewer, at(42), &altered), Err(Refused::Length), "four snapshots");
    assert_eq!(
        (viewer.newest().unwrap().tick, viewer.stats().snapshots),
        (newest, stats.snapshots)
    );
    assert_eq!(show(&mut viewer, at(42), &all[20]), Err(Refused::Broken));
    // The next group can be read, with its key snapshot.
    for piece in &all[31..33] {
        assert!(show(&mut viewer, at(61), piece).is_ok(), "{:?}", piece.track);
    }
    assert_eq!(viewer.newest().unwrap().tick, Tick(61));
    let given = viewer.newest().unwrap().tick.0.to_le_bytes();
    let none = viewer.object(at(62), Track::Snapshots(PAIRS), 9, 0, &given);
    assert_eq!(none, Err(Refused::Length), "no snapshot");
    assert_eq!(
        viewer.object(at(62), Track::Snapshots(PAIRS), 10, 0, &[1, 2]),
        Err(Refused::Length)
    );
}
