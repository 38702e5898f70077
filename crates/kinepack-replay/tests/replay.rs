//! Tests that written replays can be read: every state, from any moment, with its events, markers
//! and notes.

use std::io::{self, Cursor, Write};
use std::sync::Arc;
use std::time::Duration;

use kinepack::schema::{FieldKind, TimePrecision};
use kinepack::{Codec, EntityId, Level, Profile, Schema, Snapshot, Tick};
use kinepack_replay::{
    KillCam, ReplayError, ReplayLimits, ReplayOptions, ReplayReader, ReplayWriter,
};

use crate::support::{
    Ball, Goal, Hit, codec, events, frames, hit, open, options, replay, ticks, world,
};

#[test]
fn every_state_comes_back() {
    for level in [Level::TABLE[0], Level::PACKED, Level::ADAPTIVE, Level::LEARNING] {
        let mut replay = open(&replay(level, 400));
        assert!(frames(&mut replay).into_iter().eq(ticks(400)));
        assert_eq!(replay.verify().unwrap(), ticks(400).count() as u64);
        assert!(replay.is_complete() && replay.damage().is_empty());
        assert_eq!(replay.ticks().unwrap(), Some((Tick(1_003), Tick(1_399))));
        assert_eq!(replay.info()["map"], "harbour");
        let markers: Vec<u32> = replay.markers().iter().map(|marker| marker.tick.0).collect();
        assert_eq!(markers, [1_050, 1_250]);
        assert_eq!(replay.markers()[1].name, "moment 1250");
        assert_eq!((replay.name(), replay.rate_hz()), ("world", 60.0));
    }
}

#[test]
fn any_moment_can_be_read_in_any_order_with_little_memory() {
    let file = replay(Level::LEARNING, 400);
    let small = ReplayLimits { frame_bytes: 2_000, ..ReplayLimits::default() };
    for limits in [ReplayLimits::default(), small] {
        let mut replay = open(&file).with_limits(limits);
        let written: Vec<u32> = ticks(400).collect();
        for nth in 0..600_u32 {
            // These are jumps forwards and backwards, near and far.
            let tick = 1_000 + nth.wrapping_mul(2_654_435_761) % 400;
            let before = written.iter().rev().find(|of| **of < tick).copied();
            let at = written.iter().rev().find(|of| **of <= tick).copied();
            let after = written.iter().find(|of| **of > tick).copied();
            let read = |frame: Option<Arc<Snapshot>>| frame.map(|frame| frame.tick.0);
            assert_eq!(read(replay.frame_before(Tick(tick)).unwrap()), before);
            assert_eq!(read(replay.frame_after(Tick(tick)).unwrap()), after);
            let frame = replay.frame_at(Tick(tick)).unwrap();
            assert!(frame.is_none_or(|frame| *frame == world(at.unwrap())));
        }
        // Steps backwards through the whole replay.
        let mut tick = Tick(1_400);
        for expected in written.into_iter().rev() {
            tick = replay.frame_before(tick).unwrap().unwrap().tick;
            assert_eq!(tick.0, expected);
        }
    }
}

#[test]
fn playback_interpolates_and_names_what_comes_and_goes() {
    let mut replay = open(&replay(Level::ADAPTIVE, 400));
    let mut shown = std::collections::BTreeSet::new();
    let mut tick = 1_003.0;
    while tick < 1_399.0 {
        let playback = replay.playback(tick).unwrap().unwrap();
        assert_eq!(playback.tick, tick);
        assert!(!playback.is_starved());
        shown.extend(playback.added().iter().copied());
        playback.removed().iter().for_each(|id| assert!(shown.remove(id)));
        assert!(playback.samples().map(|sample| sample.id).eq(shown.iter().copied()));
        for sample in playback.samples() {
            let ball: Ball = sample.state().unwrap();
            let [from, to] = [sample.from, sample.to]
                .map(|(state, index)| state.get_at_index::<Ball>(index).unwrap().position[0]);
            assert!((from.min(to)..=from.max(to)).contains(&ball.position[0]));
        }
        tick += 0.37;
    }
    // For ticks outside of the replay, the nearest state is shown.
    for (tick, nearest) in [(0.0, 1_003.0), (1e9, 1_399.0), (f64::NAN, 1_003.0)] {
        assert_eq!(replay.playback(tick).unwrap().unwrap().tick, nearest);
    }
}

/// Returns the ticks of the hits that playback shows. Checks that a goal of the same tick precedes
/// each hit.
fn hits(replay: &mut ReplayReader, tick: f64) -> Vec<u32> {
    let playback = replay.playback(tick).unwrap().unwrap();
    let events: Vec<_> = playback.events().collect();
    events
        .chunks(2)
        .map(|pair| {
            assert_eq!(pair[0].get::<Goal>().unwrap(), Some(Goal { team: 1 }));
            let damage = hit(pair[1].tick.0).unwrap();
            assert_eq!(pair[1].get::<Hit>().unwrap(), Some(Hit { damage }));
            assert!(!pair[0].late && pair[0].tick == pair[1].tick);
            pair[1].tick.0
        })
        .collect()
}

#[test]
fn events_are_shown_once_while_playing_and_not_after_a_jump() {
    let mut replay = open(&replay(Level::LEARNING, 400));
    let all: Vec<u32> = ticks(400).filter(|tick| hit(*tick).is_some()).collect();
    let mut shown = Vec::new();
    let mut tick = 1_003.0;
    while tick <= 1_399.0 {
        shown.extend(hits(&mut replay, tick));
        tick += 1.7;
    }
    shown.extend(hits(&mut replay, 1_399.0));
    assert_eq!(shown, all);
    // A step backwards shows no events, but a step forward again shows the events in between.
    assert_eq!(hits(&mut replay, 1_100.0), [0; 0]);
    assert_eq!(hits(&mut replay, 1_120.0), [1_106, 1_113, 1_120]);
    replay.seek(1_300.0);
    assert_eq!(hits(&mut replay, 1_310.0), [1_309]);
    // A step of more than five seconds counts as a jump.
    assert_eq!(hits(&mut replay, 1_000.0), [0; 0]);
    assert_eq!(hits(&mut replay, 1_301.0), [0; 0]);
}

#[test]
fn one_entity_s_path_is_read() {
    let mut replay = open(&replay(Level::LEARNING, 400));
    let path = replay.path::<Ball>(EntityId(5), Tick(1_000), Tick(1_200)).unwrap();
    // The sixth ball exists only in odd seconds.
    let expected = ticks(200).filter(|tick| (tick / 60) % 2 == 1);
    assert!(path.iter().map(|(tick, _)| tick.0).eq(expected));
    let refused = replay.path::<Hit>(EntityId(5), Tick(1_000), Tick(1_200));
    assert!(matches!(refused, Err(ReplayError::Encode(_))));
}

#[test]
fn a_cut_has_the_same_states_events_and_markers() {
    for level in [Level::PACKED, Level::LEARNING] {
        let file = replay(level, 400);
        let mut whole = open(&file);
        for (from, to) in
            [(0, 2_000), (1_040, 1_060), (1_045, 1_222), (1_250, 1_250), (1_310, 9_000)]
        {
            let mut part = Vec::new();
            let summary = whole.cut(Tick(from), Tick(to), &mut part).unwrap();
            let mut part = open(&part);
            let range = from..=to;
            let expected: Vec<u32> = ticks(400).filter(|tick| range.contains(tick)).collect();
            assert_eq!(frames(&mut part), expected);
            assert_eq!(summary.frames, expected.len() as u64);
            assert!(part.markers().iter().all(|marker| range.contains(&marker.tick.0)));
            let inside = whole.markers().iter().filter(|marker| range.contains(&marker.tick.0));
            assert_eq!(part.markers().len(), inside.count());
            assert_eq!(part.info()["map"], "harbour");
            let mut shown = Vec::new();
            for tick in &expected {
                shown.extend(hits(&mut part, f64::from(*tick)));
            }
            assert!(shown.into_iter().eq(expected.into_iter().filter(|tick| hit(*tick).is_some())));
        }
        for (from, to) in [(0, 900), (1_400, 9_999), (1_060, 1_040)] {
            let refused = whole.cut(Tick(from), Tick(to), Vec::new());
            assert!(matches!(refused, Err(ReplayError::NothingToCut)));
        }
    }
}

#[test]
fn a_cut_of_coarse_values_does_not_make_them_coarser() {
    let precision = TimePrecision::new(4.0, 60.0);
    let schema = Schema::of::<Ball>().with_time_precision(|field| {
        matches!(field.kind, FieldKind::Floats(_)).then_some(precision)
    });
    let codec = Codec::new(schema.clone(), Level::LEARNING, Profile::untrained(&schema)).unwrap();
    assert!(codec.has_precision());
    let options = ReplayOptions { events: None, ..options() };
    let mut file = Vec::new();
    let mut writer = ReplayWriter::to_writer(&mut file, &codec, &options).unwrap();
    let mut last = KillCam::new(&codec, &options, Duration::from_secs(3));
    for tick in ticks(400) {
        writer.write(&world(tick)).unwrap();
        last.write(&world(tick)).unwrap();
    }
    writer.finish().unwrap();
    let mut whole = open(&file);
    let (from, to) = (Tick(1_280), Tick(1_330));
    let (mut of_file, mut of_kill_cam) = (Vec::new(), Vec::new());
    whole.cut(from, to, &mut of_file).unwrap();
    last.cut(from, to, &mut of_kill_cam).unwrap();
    for part in [of_file, of_kill_cam] {
        let mut part = open(&part);
        let mut next = part.first_frame().unwrap();
        assert!(next.as_ref().is_some_and(|first| first.tick <= from));
        let mut coarse = 0;
        while let Some(frame) = next {
            assert_eq!(whole.frame_at(frame.tick).unwrap(), Some(Arc::clone(&frame)));
            coarse += usize::from(*frame != world(frame.tick.0));
            next = part.frame_after(frame.tick).unwrap();
        }
        assert!(coarse > 40);
        assert_eq!(part.ticks().unwrap().map(|(_, last)| last), Some(to));
    }
}

#[test]
fn a_kill_cam_keeps_the_last_seconds() {
    let length = Duration::from_secs(3);
    let mut last = KillCam::new(&codec(Level::LEARNING), &options(), length);
    assert_eq!(last.ticks(), None);
    for tick in ticks(1_000) {
        if let Some(damage) = hit(tick) {
            last.emit(&Goal { team: 1 }).unwrap();
            last.emit(&Hit { damage }).unwrap();
        }
        last.write(&world(tick)).unwrap();
        if tick.is_multiple_of(100) {
            last.mark("hundred");
        }
        let (first, newest) = last.ticks().unwrap();
        assert_eq!(newest.0, tick);
        // The kill cam holds three seconds, and at most one group of half a second more.
        let oldest = ticks(1_000).find(|of| tick - of < 180).unwrap();
        assert!(first.0 <= oldest && tick - first.0 < 180 + 30);
        if tick.is_multiple_of(37) {
            let (from, to) = (Tick(tick.saturating_sub(100)), Tick(tick.saturating_sub(20)));
            let mut file = Vec::new();
            let Ok(cut) = last.cut(from, to, &mut file) else {
                assert!(to.0 < 1_003);
                continue;
            };
            let mut part = open(&file);
            let expected: Vec<u32> =
                ticks(1_000).filter(|tick| (from.0..=to.0).contains(tick)).collect();
            assert_eq!(cut.frames, expected.len() as u64);
            assert_eq!(frames(&mut part), expected);
            assert_eq!(
                hits(&mut part, f64::from(expected[0])).len(),
                hit(expected[0]).iter().len()
            );
        }
    }
    assert!(last.memory_bytes() < 20_000);
}

#[test]
fn markers_of_a_kill_cam_stay_while_no_group_is_complete() {
    let mut last = KillCam::new(&codec(Level::PACKED), &options(), Duration::from_secs(3));
    for tick in 0..20 {
        last.write(&world(tick)).unwrap();
        if tick % 5 == 0 {
            last.mark(&format!("at {tick}"));
        }
    }
    let mut part = Vec::new();
    last.cut(Tick(3), Tick(15), &mut part).unwrap();
    let names: Vec<String> = open(&part).markers().iter().map(|of| of.name.clone()).collect();
    assert_eq!(names, ["at 5", "at 10", "at 15"]);
}

#[test]
fn a_cut_has_worlds_above_the_default_limit_of_entities() {
    const ENTITIES: u32 = 66_000;
    let schema = Schema::of::<Goal>();
    let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema)).unwrap();
    let options =
        ReplayOptions { group: Duration::from_secs(1), key_every: 8, ..ReplayOptions::at_hz(2.0) };
    let world = |tick: u32| {
        let mut world = Snapshot::new(&schema, Tick(tick));
        for id in 0..ENTITIES {
            let team = u8::from(id % 3 == tick % 3);
            world.push(EntityId(id), &Goal { team }).unwrap();
        }
        world
    };
    let mut file = Vec::new();
    let mut writer = ReplayWriter::to_writer(&mut file, &codec, &options).unwrap();
    let mut last = KillCam::new(&codec, &options, Duration::from_secs(60));
    for tick in 0..4 {
        writer.write(&world(tick)).unwrap();
        last.write(&world(tick)).unwrap();
    }
    writer.finish().unwrap();
    let limits = ReplayLimits {
        decode: kinepack::DecodeLimits { max_entities: ENTITIES },
        ..ReplayLimits::default()
    };
    let mut whole = open(&file).with_limits(limits);
    let (mut of_file, mut of_kill_cam) = (Vec::new(), Vec::new());
    whole.cut(Tick(1), Tick(3), &mut of_file).unwrap();
    last.cut(Tick(1), Tick(3), &mut of_kill_cam).unwrap();
    for part in [of_file, of_kill_cam] {
        let mut part = open(&part).with_limits(limits);
        for tick in 1..4 {
            assert_eq!(*part.frame_at(Tick(tick)).unwrap().unwrap(), world(tick));
        }
    }
}

#[test]
fn a_cut_that_joins_groups_keeps_all_of_their_events() {
    const EVENTS: usize = 40_000;
    let kinds = Schema::builder().kind::<Goal>("goal").build().unwrap();
    let profile = Profile::untrained(&kinds);
    let kinds = Codec::new(kinds, Level::TABLE[0], profile).unwrap();
    // The groups last a tenth of a second, and a cut encodes them again in groups of a second.
    let options = ReplayOptions {
        group: Duration::from_millis(100),
        key_every: 1_000,
        events: Some(kinepack_net::EventKinds::new(&kinds)),
        ..ReplayOptions::at_hz(60.0)
    };
    let mut file = Vec::new();
    let mut writer = ReplayWriter::to_writer(&mut file, &codec(Level::PACKED), &options).unwrap();
    for tick in 0..30 {
        if tick == 10 || tick == 20 {
            (0..EVENTS).for_each(|_| writer.emit(&Goal { team: 1 }).unwrap());
        }
        writer.write(&world(tick)).unwrap();
    }
    writer.finish().unwrap();
    let mut part = Vec::new();
    open(&file).cut(Tick(8), Tick(29), &mut part).unwrap();
    let mut part = open(&part);
    assert!(frames(&mut part).into_iter().eq(8..30));
    assert!(part.damage().is_empty(), "{:?}", part.damage());
    part.seek(7.0);
    let counts = [8, 9, 10, 15, 20, 29]
        .map(|tick| part.playback(f64::from(tick)).unwrap().unwrap().events().count());
    assert_eq!(counts, [0, 0, EVENTS, 0, EVENTS, 0]);
}

#[test]
fn a_file_is_read_while_it_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("live.kpz");
    let mut writer = ReplayWriter::create(&path, &codec(Level::ADAPTIVE), &options()).unwrap();
    let mut reader = ReplayReader::open(&path).unwrap();
    assert_eq!(reader.ticks().unwrap(), None);
    for tick in 1..=300 {
        writer.write(&world(tick)).unwrap();
        if tick == 32 {
            writer.mark(Tick(10), "start").unwrap();
        }
        let is_new = reader.refresh().unwrap();
        // The file has all groups except the last one, and a group has 30 frames.
        let last = (tick - 1) / 30 * 30;
        assert_eq!(is_new, tick > 1 && tick % 30 == 1);
        if last == 0 {
            continue;
        }
        assert_eq!(reader.ticks().unwrap(), Some((Tick(1), Tick(last))));
        assert_eq!(*reader.frame_at(Tick(last)).unwrap().unwrap(), world(last));
        assert!(!reader.is_complete());
    }
    writer.finish().unwrap();
    assert!(reader.refresh().unwrap() && reader.is_complete());
    assert!(!reader.refresh().unwrap());
    assert_eq!(reader.ticks().unwrap(), Some((Tick(1), Tick(300))));
    assert_eq!(reader.markers().len(), 1);
    assert_eq!(reader.verify().unwrap(), 300);
    assert!(reader.damage().is_empty());
}

#[test]
fn a_refused_snapshot_or_event_is_left_out() {
    let mut file = Vec::new();
    let mut writer =
        ReplayWriter::to_writer(&mut file, &codec(Level::PACKED), &ReplayOptions::at_hz(60.0))
            .unwrap();
    assert!(matches!(writer.emit(&Hit { damage: 1 }), Err(ReplayError::NoEvents)));
    writer.write(&world(7)).unwrap();
    for tick in [7, 3] {
        let refused = writer.write(&world(tick));
        assert!(matches!(refused, Err(ReplayError::TicksNotIncreasing { last: 7, .. })));
    }
    let other = Snapshot::new(events().codec().schema(), Tick(8));
    assert!(matches!(writer.write(&other), Err(ReplayError::Encode(_))));
    writer.write(&world(8)).unwrap();
    writer.finish().unwrap();
    assert_eq!(frames(&mut open(&file)), [7, 8]);

    let slow = ReplayOptions::at_hz(0.001);
    let mut writer = ReplayWriter::to_writer(Vec::new(), &codec(Level::PACKED), &slow).unwrap();
    writer.write(&world(7)).unwrap();
    let refused = writer.write(&world(u32::MAX));
    assert!(matches!(refused, Err(ReplayError::TickTooLate { tick: u32::MAX })));
    for rate_hz in [0.0, -1.0, f64::NAN, 1e7] {
        let options = ReplayOptions::at_hz(rate_hz);
        let refused = ReplayWriter::to_writer(Vec::new(), &codec(Level::PACKED), &options);
        assert!(matches!(refused.err(), Some(ReplayError::Schema(_))));
    }
}

/// A disk that is full after a given number of bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.0.min(bytes.len());
        self.0 -= room;
        if room == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(room) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_an_error_in_each_later_call() {
    for room in [0, 100, 3_000, 5_000, 9_000] {
        let written = ReplayWriter::to_writer(Full(room), &codec(Level::PACKED), &options());
        let Ok(mut writer) = written else { continue };
        let results: Vec<bool> = (0..600).map(|tick| writer.write(&world(tick)).is_ok()).collect();
        let failed = results.iter().position(|is_ok| !is_ok).unwrap();
        assert!(failed > 0);
        assert!(matches!(writer.finish(), Err(ReplayError::Io(_))));
    }
}

#[test]
fn a_file_without_its_profile_needs_the_codec() {
    let options = ReplayOptions { store_profile: false, ..options() };
    let codec = codec(Level::ADAPTIVE);
    let mut last = KillCam::new(&codec, &options, Duration::from_secs(3));
    ticks(100).for_each(|tick| last.write(&world(tick)).unwrap());
    let mut file = Vec::new();
    last.cut(Tick(1_020), Tick(1_050), &mut file).unwrap();
    let refused = ReplayReader::from_reader(Cursor::new(file.clone())).err().unwrap();
    assert!(refused.to_string().contains("needs the codec"), "{refused}");
    let read = ReplayReader::with_codec(Cursor::new(file), &codec, Some(&events()));
    assert!(frames(&mut read.unwrap()).into_iter().eq(1_020..=1_050));
}

#[test]
fn a_replay_without_snapshots_shows_nothing() {
    let mut replay = open(&replay(Level::PACKED, 0));
    assert_eq!((replay.ticks().unwrap(), replay.groups()), (None, 0));
    assert!(replay.playback(7.0).unwrap().is_none() && replay.is_complete());
    assert_eq!(replay.verify().unwrap(), 0);
}
