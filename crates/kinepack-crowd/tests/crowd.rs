//! Tests viewers over a pipe that loses packets: each sees the publisher's world lane for lane,
//! joins within a group, and changes tiers without a break.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use kinepack::{Codec, EntityId, Level, Pack, Profile, Schema, Snapshot, Tick};
use kinepack_crowd::{
    Carried, Catalogue, CrowdError, Piece, Publisher, Refused, Tier, Track, Viewer, ViewerConfig,
};

use crate::support::{
    self, Ball, FAST, FULL, PAIRS, Pipe, RIGHT, THIRD, at, catalogue, is_right, show, world,
};

const BALLS: u32 = 40;
const LEVELS: [Level; 3] = [Level::PACKED, Level::ADAPTIVE, Level::LEARNING];

fn publisher(level: Level) -> Publisher {
    let mut publisher = Publisher::new(&catalogue(level));
    publisher.select(RIGHT, is_right).unwrap();
    publisher
}

fn viewer(level: Level, tier: usize) -> Viewer {
    let mut viewer = Viewer::new(&catalogue(level), ViewerConfig::at_hz(60)).unwrap();
    viewer.watch(tier).unwrap();
    viewer
}

/// Passes a piece to a viewer, if the viewer wants it. The viewer must not refuse it.
fn show_wanted(viewer: &mut Viewer, now: Duration, piece: &Piece) {
    if viewer.wanted().any(|track| track == piece.track) {
        show(viewer, now, piece).unwrap();
    }
}

/// Returns the part of the world that a tier contains.
fn of_tier(tier: usize, tick: Tick) -> Snapshot {
    let world = world(tick.0, BALLS);
    let indices: Vec<u32> = (0..world.len() as u32)
        .filter(|index| tier != RIGHT || is_right(&world, *index as usize))
        .collect();
    let mut selected = Snapshot::new_like(&world);
    selected.gather(&world, &indices).unwrap();
    selected
}

#[test]
fn every_view_is_the_publishers_world() {
    for level in LEVELS {
        let mut publisher = publisher(level);
        let mut viewers: Vec<(Viewer, Pipe)> = [FULL, THIRD, RIGHT, FAST, PAIRS]
            .into_iter()
            .flat_map(|tier| [1, 2].map(|seed| (tier, seed)))
            .map(|(tier, seed)| (viewer(level, tier), Pipe::new(seed, 0.02, 30)))
            .collect();
        let mut compared = vec![0; viewers.len()];
        for tick in 0..600 {
            let pieces = publisher.publish(&world(tick, BALLS)).unwrap();
            for (nth, (viewer, pipe)) in viewers.iter_mut().enumerate() {
                pieces.iter().for_each(|piece| pipe.send(at(tick), piece));
                let before = viewer.newest().map(|newest| newest.tick);
                pipe.deliver(at(tick), viewer);
                let Some(newest) = viewer.newest() else { continue };
                if Some(newest.tick) != before {
                    let tier = viewer.shown_tiers().next().unwrap();
                    assert!(**newest == of_tier(tier, newest.tick), "{} {tick}", level.row());
                    compared[nth] += 1;
                }
            }
        }
        for (nth, (viewer, _)) in viewers.iter().enumerate() {
            // If two snapshots arrive together, only the second one ever becomes the newest state,
            // so some snapshots are not compared.
            let all = [600, 200, 600, 600, 300][nth / 2];
            assert!(compared[nth] > all * 8 / 10, "{}: {compared:?}", level.row());
            // Some datagrams arrive before their head, which may be lost more than once.
            assert!(viewer.stats().refused < 3, "{:?}", viewer.stats());
            let newest = viewer.newest().unwrap();
            assert!(newest.tick.0 > 585, "viewer {nth}: {:?}", newest.tick);
        }
    }
}

#[test]
fn playback_is_near_the_moment_and_never_goes_back() {
    // Lost objects arrive two latencies later than others.
    for (tier, most_ms) in [(FULL, 150.0), (THIRD, 180.0), (FAST, 110.0), (PAIRS, 170.0)] {
        let (mut publisher, mut viewer) =
            (publisher(Level::ADAPTIVE), viewer(Level::ADAPTIVE, tier));
        let mut pipe = Pipe::new(3, 0.02, 30);
        let (mut last, mut delays_ms) = (0.0, Vec::new());
        for tick in 0..900 {
            let pieces = publisher.publish(&world(tick, BALLS)).unwrap();
            pieces.iter().for_each(|piece| pipe.send(at(tick), piece));
            pipe.deliver(at(tick), &mut viewer);
            let Some(playback) = viewer.playback(at(tick)) else { continue };
            assert!(playback.tick >= last);
            last = playback.tick;
            for sample in playback.samples() {
                let ball: Ball = sample.state().unwrap();
                assert!(ball.position.iter().all(|axis| axis.abs() < 64.0));
            }
            delays_ms.push((f64::from(tick) - last) * 1e3 / 60.0);
        }
        delays_ms.drain(..300);
        delays_ms.sort_by(f64::total_cmp);
        let median_ms = delays_ms[delays_ms.len() / 2];
        assert!((30.0..most_ms).contains(&median_ms), "tier {tier}: {median_ms} ms");
    }
}

#[test]
fn a_viewer_joins_in_the_middle_of_a_group() {
    let mut publisher = publisher(Level::LEARNING);
    let mut group = Vec::new();
    for tick in 0..45 {
        group.extend_from_slice(publisher.publish(&world(tick, BALLS)).unwrap());
    }
    // The relay sends the objects that it has of the group, within 4 ms.
    let mut viewer = viewer(Level::LEARNING, FULL);
    let objects = group.iter().filter(|piece| piece.track.tier() == FULL);
    for (nth, piece) in objects.enumerate() {
        let now = at(45) + Duration::from_micros(90) * nth as u32;
        show(&mut viewer, now, piece).unwrap();
    }
    assert!(viewer.playback(at(45)).is_none() && viewer.stats().caught_up == 45);
    for tick in 45..60 {
        for piece in publisher.publish(&world(tick, BALLS)).unwrap() {
            if piece.track.tier() == FULL {
                show(&mut viewer, at(tick) + Duration::from_millis(5), piece).unwrap();
            }
        }
        if tick > 47 {
            let playback = viewer.playback(at(tick + 1)).unwrap();
            // The old states of the group must not increase the delay.
            assert!(f64::from(tick) - playback.tick < 4.0, "{tick}: {}", playback.tick);
        }
    }
}

#[test]
fn a_tier_changes_without_a_break() {
    let mut publisher = publisher(Level::ADAPTIVE);
    let (mut viewer, mut pipe) = (viewer(Level::ADAPTIVE, FULL), Pipe::new(9, 0.0, 20));
    let (mut last, mut seen) = (0.0, Vec::new());
    for tick in 0..1000 {
        match tick {
            205 => viewer.watch(THIRD).unwrap(),
            405 => viewer.watch(RIGHT).unwrap(),
            605 => viewer.watch(FAST).unwrap(),
            // The viewer switches back before the new tier has arrived.
            801 => viewer.watch(FULL).unwrap(),
            802 => viewer.watch(PAIRS).unwrap(),
            _ => {}
        }
        let pieces = publisher.publish(&world(tick, BALLS)).unwrap();
        pieces.iter().for_each(|piece| pipe.send(at(tick), piece));
        pipe.deliver(at(tick), &mut viewer);
        seen.extend(viewer.shown_tiers());
        let Some(playback) = viewer.playback(at(tick)) else { continue };
        let step = playback.tick - last;
        assert!(last == 0.0 || (0.5..1.5).contains(&step), "{tick}: a step of {step} ticks");
        last = playback.tick;
    }
    seen.dedup();
    assert_eq!(seen, [FULL, THIRD, RIGHT, FAST, PAIRS]);
    assert_eq!(viewer.wanted().collect::<Vec<_>>(), [Track::Snapshots(PAIRS)]);
}

/// A viewer that shows FULL then wants RIGHT too. The relay sends the objects that it has of
/// RIGHT's group. The viewer reads them in parts, as a page does when it draws between two reads.
#[test]
fn what_a_relay_kept_is_not_late_if_the_viewer_reads_it_with_a_pause() {
    let mut publisher = publisher(Level::LEARNING);
    let mut viewer = viewer(Level::LEARNING, FULL);
    let mut kept = Vec::new();
    for tick in 0..240 {
        for piece in publisher.publish(&world(tick, BALLS)).unwrap() {
            match piece.track.tier() {
                FULL => show_wanted(&mut viewer, at(tick), piece),
                RIGHT if tick >= 180 => kept.push(piece.clone()),
                _ => {}
            }
        }
        viewer.playback(at(tick));
        if tick == 230 {
            viewer.watch(RIGHT).unwrap();
        }
        // Each frame reads six objects, and the first of them arrives 16 ms after the previous
        // object.
        let ready = if tick > 230 { kept.len().min(6) } else { 0 };
        for piece in kept.drain(..ready) {
            show(&mut viewer, at(tick) + Duration::from_millis(1), &piece).unwrap();
        }
    }
    let stats = viewer.stats();
    assert_eq!((stats.late, stats.refused), (0, 0));
    assert!(stats.caught_up > 40, "{}", stats.caught_up);
}

#[test]
fn a_delayed_broadcast_comes_later_and_is_the_same() {
    let mut live = publisher(Level::PACKED);
    let mut delayed = publisher(Level::PACKED).with_delay(120);
    let (mut expected, mut came) = (Vec::new(), Vec::new());
    for tick in 0..300 {
        expected.extend_from_slice(live.publish(&world(tick, BALLS)).unwrap());
        let pieces = delayed.publish(&world(tick, BALLS)).unwrap();
        assert!(pieces.iter().all(|piece| piece.tick == Tick(tick.wrapping_sub(120))));
        came.extend_from_slice(pieces);
    }
    assert_eq!(came[..], expected[..came.len()]);
    assert_eq!(came.last().unwrap().tick, Tick(179));
    // The remaining pieces are returned without further worlds, with the same delay.
    for tick in 300..420 {
        assert!(!delayed.is_drained(), "{tick}");
        let pieces = delayed.drain(Tick(tick - 1));
        assert!(pieces.iter().all(|piece| piece.tick.0 + 120 < tick), "{tick}");
        came.extend_from_slice(pieces);
    }
    came.extend_from_slice(delayed.drain(Tick(419)));
    assert_eq!(came, expected);
    assert!(delayed.is_drained() && delayed.drain(Tick(500)).is_empty());
}

#[test]
fn the_end_of_a_broadcast_has_objects_that_are_not_full() {
    let mut publisher = publisher(Level::PACKED);
    let mut viewer = viewer(Level::PACKED, PAIRS);
    for tick in 0..11 {
        for piece in publisher.publish(&world(tick, BALLS)).unwrap() {
            show_wanted(&mut viewer, at(tick), piece);
        }
    }
    // The pair that contains the last snapshot would be returned with the next world.
    assert_eq!(viewer.newest().unwrap().tick, Tick(9));
    assert!(!publisher.is_drained());
    for piece in publisher.drain(Tick(10)) {
        show_wanted(&mut viewer, at(11), piece);
    }
    assert_eq!(**viewer.newest().unwrap(), world(10, BALLS));
    assert!(publisher.is_drained());
}

#[test]
fn large_worlds_travel_in_several_datagrams() {
    let (mut publisher, mut viewer) = (publisher(Level::PACKED), viewer(Level::PACKED, FAST));
    let mut parts = 0;
    for tick in 0..30 {
        let world = world(tick, 2_000);
        let mut pieces = publisher.publish(&world).unwrap().to_vec();
        pieces.retain(|piece| piece.track.tier() == FAST);
        // The pieces may arrive in any order.
        pieces.reverse();
        parts = parts.max(pieces.len());
        for piece in &pieces {
            assert!(piece.carried != Carried::Datagram || piece.bytes.len() <= 1150);
            show(&mut viewer, at(tick), piece).unwrap();
        }
        assert!(tick == 0 || **viewer.newest().unwrap() == world, "{tick}");
    }
    assert!(parts > 3, "{parts}");
    let moved = (0..200_000).map(|id| (id, 0.5)).collect::<Vec<_>>();
    let mut huge = Snapshot::new_like(&world(0, 1));
    let mut last = Ok(());
    for tick in 30..33 {
        huge.clear(Tick(tick));
        for (id, x) in &moved {
            let position = [x * tick as f32, 0.0, 0.0];
            huge.push(EntityId(*id), &Ball { position, lit: tick % 2 == 0 }).unwrap();
        }
        last = publisher.publish(&huge).map(drop);
        // The other tiers have encoded this world nevertheless.
        let pieces = publisher.pieces();
        assert!(pieces.iter().any(|piece| piece.track == Track::Snapshots(FULL)));
        assert!(pieces.iter().all(|piece| piece.tick == Tick(tick)), "none has waited");
    }
    assert!(matches!(last, Err(CrowdError::TooLarge { .. })), "{last:?}");
}

#[test]
fn a_world_of_another_schema_changes_nothing() {
    let mut publisher = publisher(Level::PACKED);
    publisher.publish(&world(0, BALLS)).unwrap();
    let other = Schema::builder().kind::<Ball>("ball").build().unwrap();
    let refused = publisher.publish(&Snapshot::new(&other, Tick(1)));
    assert!(matches!(refused, Err(CrowdError::Encode(_))), "{refused:?}");
    assert!(publisher.pieces().is_empty());
    // The refused world did not use up tick 1, so that tick can be published.
    assert!(!publisher.publish(&world(1, BALLS)).unwrap().is_empty());
}

#[test]
fn a_missed_object_costs_the_rest_of_its_group() {
    let (mut publisher, mut viewer) = (publisher(Level::LEARNING), viewer(Level::LEARNING, FULL));
    let mut refusals = 0;
    for tick in 0..150 {
        for piece in publisher.publish(&world(tick, BALLS)).unwrap() {
            if piece.track.tier() != FULL || tick == 20 {
                continue;
            }
            let taken = show(&mut viewer, at(tick), piece);
            assert_eq!(taken.is_err(), (21..60).contains(&tick), "{tick}: {taken:?}");
            refusals += u32::from(taken == Err(Refused::Broken));
        }
    }
    assert_eq!(refusals, 39);
    assert!(**viewer.newest().unwrap() == world(149, BALLS));
}

#[test]
fn ticks_may_skip_but_not_go_back() {
    let mut publisher = publisher(Level::PACKED);
    let mut viewers = [FULL, THIRD, FAST].map(|tier| viewer(Level::PACKED, tier));
    // A pause of minutes is longer than a datagram can express, so a new group begins.
    let ticks = (0..50).chain(20_000..20_050).chain([20_100, 20_227, 20_228, 20_300, 20_301]);
    for tick in ticks {
        for piece in publisher.publish(&world(tick, BALLS)).unwrap() {
            for viewer in &mut viewers {
                if viewer.wanted().any(|track| track == piece.track) {
                    assert!(show(viewer, at(tick), piece).unwrap().is_none_or(|of| of.0 == tick));
                }
            }
        }
    }
    for viewer in viewers {
        let newest = viewer.newest().unwrap();
        assert!(newest.tick.0 >= 20_300 && **newest == world(newest.tick.0, BALLS));
    }
    for tick in [20_301, 20_300, 0] {
        assert!(matches!(publisher.publish(&world(tick, BALLS)), Err(CrowdError::Encode(_))));
    }
}

#[test]
fn states_are_shared_and_not_copied() {
    let (mut publisher, mut viewer) = (publisher(Level::PACKED), viewer(Level::PACKED, FULL));
    for tick in 0..10 {
        for piece in publisher.publish(&world(tick, BALLS)).unwrap() {
            if piece.track.tier() == FULL {
                show(&mut viewer, at(tick), piece).unwrap();
            }
        }
    }
    assert!(Arc::strong_count(viewer.newest().unwrap()) > 1);
}

#[test]
fn a_viewer_needs_key_snapshots_only_to_join() {
    for (tier, first) in [(FULL, 119), (THIRD, 100), (RIGHT, 80), (FAST, 100), (PAIRS, 130)] {
        let mut publisher = publisher(Level::LEARNING);
        let (mut viewer, mut pipe) = (viewer(Level::LEARNING, tier), Pipe::new(1, 0.0, 20));
        for tick in 0..first + 200 {
            let pieces = publisher.publish(&world(tick, BALLS)).unwrap();
            pieces.iter().for_each(|piece| pipe.send(at(tick), piece));
            if tick < first {
                assert!(viewer.wanted().eq([Track::Snapshots(tier), Track::Keys(tier)]));
                continue;
            }
            pipe.deliver(at(tick), &mut viewer);
            assert!(viewer.wanted().eq([Track::Snapshots(tier)]));
        }
        let newest = viewer.newest().unwrap();
        assert!(newest.tick.0 > first + 190 && **newest == of_tier(tier, newest.tick), "{tier}");
        assert_eq!(viewer.stats().refused, 0);
    }
}

#[test]
fn groups_wait_for_what_they_stand_on() {
    let mut publisher = publisher(Level::LEARNING);
    let pieces: Vec<Piece> = (0..240)
        .flat_map(|tick| publisher.publish(&world(tick, BALLS)).unwrap().to_vec())
        .filter(|piece| piece.track.tier() == FULL)
        .collect();
    let of = |group: u64| {
        pieces
            .iter()
            .filter(move |piece| piece.group == group && piece.track == Track::Snapshots(FULL))
    };
    let key = |group: u64| {
        pieces
            .iter()
            .find(|piece| piece.group == group && piece.track == Track::Keys(FULL))
            .unwrap()
    };
    let mut viewer = viewer(Level::LEARNING, FULL);
    // The key snapshot arrives after the objects of its group.
    for piece in of(0).take(30) {
        assert_eq!(show(&mut viewer, at(0), piece), Ok(None));
    }
    assert_eq!(show(&mut viewer, at(30), key(0)), Ok(Some(Tick(29))));
    assert_eq!(viewer.stats().snapshots, 30);
    // The second group overtakes the end of the first.
    for piece in of(1).take(20) {
        assert_eq!(show(&mut viewer, at(40), piece), Ok(None));
    }
    for piece in of(0).skip(30) {
        // The last object of the first group makes the second group readable.
        let tick = if piece.tick == Tick(59) { Tick(79) } else { piece.tick };
        assert_eq!(show(&mut viewer, at(41), piece), Ok(Some(tick)));
    }
    assert_eq!(viewer.stats().snapshots, 80);
    // The third group is lost, so the fourth waits until the viewer wants its key snapshot.
    for piece in of(3) {
        assert_eq!(show(&mut viewer, at(180), piece), Ok(None));
    }
    viewer.playback(at(181));
    assert!(viewer.wanted().eq([Track::Snapshots(FULL)]));
    viewer.playback(at(200));
    assert!(viewer.wanted().eq([Track::Snapshots(FULL), Track::Keys(FULL)]));
    assert_eq!(show(&mut viewer, at(200), key(3)), Ok(Some(Tick(239))));
    assert!(viewer.wanted().eq([Track::Snapshots(FULL)]));
    assert_eq!((viewer.stats().snapshots, viewer.stats().refused), (140, 0));
}

#[test]
fn a_viewer_follows_a_simulation_that_begins_again() {
    let mut viewer = viewer(Level::LEARNING, FULL);
    let mut shown = None;
    // The second publisher continues the ticks after a pause, and the third one starts at tick 1
    // again.
    for (begin, now) in [(500, 0), (640, 140), (1, 280)] {
        let mut publisher = publisher(Level::LEARNING);
        let mut pipe = Pipe::new(5, 0.0, 30);
        viewer.rejoin();
        let mut first = None;
        for nth in 0..120 {
            let pieces = publisher.publish(&world(begin + nth, BALLS)).unwrap();
            pieces.iter().for_each(|piece| pipe.send(at(now + nth), piece));
            pipe.deliver(at(now + nth), &mut viewer);
            let Some(playback) = viewer.playback(at(now + nth)) else { continue };
            first = first.or(Some(playback.tick));
        }
        // The old world is shown until there is a new one.
        assert!(shown.is_none() || first >= shown, "{first:?} after {shown:?}");
        shown = viewer.playback(at(now + 120)).map(|playback| playback.tick);
        // The delay still covers the pause between the publishers.
        let last = f64::from(begin + 120);
        assert!(shown.is_some_and(|tick| (last - 40.0..last).contains(&tick)), "{shown:?}");
        assert!(viewer.newest().unwrap().tick.0 + 5 > begin + 120);
    }
}

/// Makes a catalogue of the whole world and its quarters, with two snapshots in each object.
fn quarters() -> (Catalogue, Publisher) {
    let codec = support::codec(Level::LEARNING);
    let mut tiers = vec![Tier::new("full", &codec, 60)];
    tiers.extend(QUARTERS.map(|nth| Tier {
        frames_per_object: 2,
        ..Tier::new(&format!("quarter-{nth}"), &codec, 60)
    }));
    let catalogue = Catalogue::new(60, tiers).unwrap();
    let mut publisher = Publisher::new(&catalogue);
    for quarter in QUARTERS {
        publisher.select(quarter, move |world, index| quarter_of(world, index) == quarter).unwrap();
    }
    (catalogue, publisher)
}

const QUARTERS: [usize; 4] = [1, 2, 3, 4];

fn quarter_of(world: &Snapshot, index: usize) -> usize {
    let [x, y, _] = world.get_at_index::<Ball>(index).unwrap().position;
    1 + usize::from(x > 0.0) + 2 * usize::from(y > 0.0)
}

#[test]
fn regions_are_shown_together() {
    let (catalogue, mut publisher) = quarters();
    let config = ViewerConfig { history: Duration::from_secs(9), ..ViewerConfig::at_hz(60) };
    let mut viewer = Viewer::new(&catalogue, config).unwrap();
    let mut pipe = Pipe::new(7, 0.02, 30);
    let mut last = 0.0;
    // The viewer watches all quarters, two of them, all again, the whole world, all quarters, and
    // one.
    let watched: [&[usize]; 6] = [&QUARTERS, &[2, 4], &QUARTERS, &[0], &QUARTERS, &[3]];
    for (phase, tiers) in watched.into_iter().enumerate() {
        viewer.watch_all(tiers).unwrap();
        for tick in 0..180 {
            let tick = 180 * phase as u32 + tick;
            let pieces = publisher.publish(&world(tick, BALLS)).unwrap();
            pieces.iter().for_each(|piece| pipe.send(at(tick), piece));
            pipe.deliver(at(tick), &mut viewer);
            // A request of the same tiers again changes nothing.
            viewer.watch_all(tiers).unwrap();
            let Some(playback) = viewer.playback(at(tick)) else { continue };
            assert!(playback.tick >= last);
            last = playback.tick;
            assert!(!playback.is_starved() || phase == 0, "tick {tick}");
            // When the viewer switches between the whole world and its parts, no entity vanishes
            // for a moment.
            let shown = playback.samples().count();
            let near = [last.floor(), last.ceil()].map(|tick| world(tick as u32, BALLS).len());
            assert!((phase != 3 && phase != 4) || shown >= near[0].min(near[1]), "{tick}: {shown}");
        }
        assert!(viewer.shown_tiers().eq(tiers.iter().copied()), "{tiers:?}");
        // In the last second, the viewer must have shown exactly the entities of these tiers.
        let (_, end) = viewer.history().unwrap();
        let mut compared = 0;
        for tick in end.0 - 60..end.0 - 20 {
            let playback = viewer.playback_at(tick.into()).unwrap();
            let samples = playback.samples();
            let shown: Vec<(EntityId, Ball)> =
                samples.map(|sample| (sample.id, sample.state().unwrap())).collect();
            let world = world(tick, BALLS);
            let of_tiers =
                |index: &usize| tiers == [0] || tiers.contains(&quarter_of(&world, *index));
            let indices = (0..world.len()).filter(of_tiers);
            let ball = |index| (world.ids()[index], world.get_at_index::<Ball>(index).unwrap());
            let wanted: Vec<(EntityId, Ball)> = indices.map(ball).collect();
            // Between two kept states, the history interpolates, so only some moments are equal.
            compared += u32::from(shown == wanted);
        }
        assert!(compared >= 13, "{tiers:?}: {compared}");
    }
    let no_tier = CrowdError::NoTier { number: 5 };
    assert_eq!(viewer.watch_all(&[1, 5]), Err(no_tier));
    assert!(viewer.watch_all(&[]).is_err());
    assert!(viewer.shown_tiers().eq([3]));
}

#[test]
fn playback_waits_for_the_slowest_region() {
    let (catalogue, mut publisher) = quarters();
    let mut viewer = Viewer::new(&catalogue, ViewerConfig::at_hz(60)).unwrap();
    viewer.watch_all(&QUARTERS).unwrap();
    // One quarter arrives 150 ms after the others, and at the end it does not arrive at all.
    let mut behind = VecDeque::new();
    let (mut starved, mut late) = (0, 0);
    for tick in 0..900 {
        for piece in publisher.publish(&world(tick, BALLS)).unwrap() {
            if piece.track.tier() == QUARTERS[2] {
                behind.push_back((tick + 9, piece.clone()));
            } else {
                show_wanted(&mut viewer, at(tick), piece);
            }
        }
        while let Some((_, piece)) = behind.pop_front_if(|(due, _)| *due <= tick && tick < 600) {
            show_wanted(&mut viewer, at(tick), &piece);
        }
        let Some(playback) = viewer.playback(at(tick)) else { continue };
        if (300..600).contains(&tick) || tick >= 700 {
            starved += u32::from(playback.is_starved());
            let lag_ticks = f64::from(tick) - playback.tick;
            let expected = if tick < 600 { 9.0..20.0 } else { 2.0..40.0 };
            assert!(expected.contains(&lag_ticks), "{tick}: {lag_ticks}");
        }
        late = if tick == 200 { viewer.stats().late } else { late };
    }
    assert!(late < 30, "{late} until the delay suffices");
    assert_eq!((starved, viewer.stats().late), (0, late));
}

/// A page pauses while pieces arrive. Afterwards it gets them one track after the other, and may
/// draw between two tracks.
#[test]
fn regions_that_come_one_after_the_other_after_a_stall_are_not_late() {
    let (catalogue, mut publisher) = quarters();
    let mut viewer = Viewer::new(&catalogue, ViewerConfig::at_hz(60)).unwrap();
    viewer.watch_all(&QUARTERS).unwrap();
    let mut waiting = QUARTERS.map(|_| Vec::new());
    for tick in 0..600 {
        for piece in publisher.publish(&world(tick, BALLS)).unwrap() {
            if let Some(place) = QUARTERS.iter().position(|tier| *tier == piece.track.tier()) {
                waiting[place].push(piece.clone());
            }
        }
        // The page pauses for 200 ms, then for 400 ms, and so on up to a second.
        if tick % 120 < 12 * (1 + tick / 120) {
            continue;
        }
        for (nth, pieces) in waiting.iter_mut().enumerate() {
            for piece in pieces.drain(..) {
                show_wanted(&mut viewer, at(tick), &piece);
            }
            viewer.playback(at(tick) + Duration::from_millis(nth as u64));
        }
    }
    assert_eq!(viewer.stats().late, 0);
    assert!(viewer.newest().is_some_and(|newest| newest.tick.0 > 590));
}

#[derive(Pack)]
struct Crate {
    #[pack(body, range = -64.0..64.0, precision = 0.002)]
    position: [f32; 3],
    #[pack(body, rotation, bits = 9)]
    rotation: [f32; 4],
    #[pack(touched)]
    touched: bool,
}

#[test]
fn the_coarse_tier_is_what_the_publisher_says() {
    let plain = Catalogue::standard(60, &support::codec(Level::PACKED)).unwrap();
    assert_eq!(plain.find("coarse"), None, "no bodies");
    let schema = Schema::of::<Crate>();
    let codec = Codec::new(schema.clone(), Level::LEARNING, Profile::untrained(&schema)).unwrap();
    let catalogue = Catalogue::standard(60, &codec).unwrap();
    let coarse = catalogue.find("coarse").unwrap();
    let read = Catalogue::from_bytes(&catalogue.to_bytes()).unwrap();
    let mut publisher = Publisher::new(&catalogue);
    let mut viewer = Viewer::new(&read, ViewerConfig::at_hz(60)).unwrap();
    viewer.watch(coarse).unwrap();
    let mut world = Snapshot::new(&schema, Tick(0));
    let (mut differing, mut largest) = (0, 0.0_f32);
    for tick in 0..300 {
        world.clear(Tick(tick));
        for id in 0..20 {
            // One ball in three is at rest.
            let way = if id % 3 == 0 { id as f32 } else { 0.05 * (tick * id % 900) as f32 };
            let rotation = [0.0, 0.0, 0.0, 1.0];
            let state = Crate { position: [way - 20.0, 1.0, way], rotation, touched: true };
            world.push(EntityId(id), &state).unwrap();
        }
        for piece in publisher.publish(&world).unwrap().to_vec() {
            if viewer.wanted().any(|track| track == piece.track) {
                show(&mut viewer, at(tick), &piece).unwrap();
            }
        }
        let sent = publisher.last_of(coarse).unwrap();
        let Some(seen) = viewer.newest().filter(|seen| seen.tick == sent.tick) else { continue };
        assert!(**seen == *sent, "{tick}");
        differing += u32::from(sent.tick == world.tick && !sent.holds_same(&world));
        for index in (0..world.len()).filter(|_| sent.tick == world.tick) {
            let [sent, exact] =
                [sent, &world].map(|state| state.get_at_index::<Crate>(index).unwrap().position);
            largest = largest.max((sent[0] - exact[0]).abs());
        }
    }
    assert!(differing > 20 && largest > 0.002, "{differing}, {largest}");
    // This is half of the coarsest step, which is 16 of the field's steps.
    assert!(largest < 0.017, "{largest}");
}

#[test]
fn a_viewer_goes_back() {
    let mut publisher = publisher(Level::PACKED);
    let config = ViewerConfig { history: Duration::from_secs(5), ..ViewerConfig::at_hz(60) };
    let mut viewer = Viewer::new(&catalogue(Level::PACKED), config).unwrap();
    viewer.watch(FULL).unwrap();
    assert!(viewer.history().is_none() && viewer.playback_at(0.0).is_none());
    let mut seen = Vec::new();
    for tick in 0..600 {
        for piece in publisher.publish(&world(tick, BALLS)).unwrap() {
            if piece.track.tier() == FULL {
                show(&mut viewer, at(tick), piece).unwrap();
            }
        }
        viewer.playback(at(tick));
    }
    let (first, last) = viewer.history().unwrap();
    assert!(last.0 > 596 && (295..=300).contains(&(last.0 - first.0)), "{first:?} {last:?}");
    for tick in [first.0, first.0 + 3, first.0 + 99, last.0] {
        let playback = viewer.playback_at(tick.into()).unwrap();
        for sample in playback.samples() {
            seen.push((tick, sample.id, sample.state::<Ball>().unwrap()));
        }
    }
    for (tick, id, ball) in seen {
        assert_eq!(Some(ball), world(tick, BALLS).get(id).unwrap(), "{tick}");
    }
    // The ticks are between two states, and outside of all states.
    for (tick, shown) in [(400.5, 400.5), (0.0, first.0.into()), (9e9, last.0.into())] {
        assert_eq!(viewer.playback_at(tick).unwrap().tick, shown);
    }
    // Live playback continues as before.
    assert!(viewer.playback(at(600)).unwrap().tick > 590.0);
}

#[test]
fn a_history_that_is_too_long_is_refused() {
    let of = |history: Duration, max_memory_bytes: usize| {
        let config = ViewerConfig { history, max_memory_bytes, ..ViewerConfig::at_hz(60) };
        Viewer::new(&catalogue(Level::PACKED), config).map(drop)
    };
    let day = Duration::from_secs(24 * 3_600);
    assert_eq!(of(day, 1 << 30), Ok(()));
    for history in [Duration::MAX, 500 * day] {
        assert_eq!(of(history, usize::MAX), Err(CrowdError::History));
    }
    // The memory has no room for one entity in each state.
    assert_eq!(of(day, 20 << 20), Err(CrowdError::History));
}

#[test]
fn a_history_takes_its_part_of_the_memory() {
    let of = |history| {
        let config =
            ViewerConfig { history, max_memory_bytes: 2_000_000, ..ViewerConfig::at_hz(60) };
        let mut viewer = Viewer::new(&catalogue(Level::PACKED), config).unwrap();
        viewer.watch(FULL).unwrap();
        let mut publisher = publisher(Level::PACKED);
        let pieces = publisher.publish(&world(0, 300)).unwrap().to_vec();
        let taken = pieces.iter().filter(|piece| piece.track.tier() == FULL);
        taken.map(|piece| show(&mut viewer, at(0), piece)).all(|taken| taken.is_ok())
    };
    assert!(of(Duration::ZERO) && !of(Duration::from_secs(600)));
}
