//! Any bytes as a catalogue, an object or a datagram: an error or a valid value, and a refused input
//! changes nothing.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use kinepack::{Level, Tick};
use kinepack_crowd::{
    Carried, Carry, Catalogue, CrowdError, Piece, Publisher, Refused, Tier, Viewer, ViewerConfig,
};
use proptest::prelude::*;
use support::{FAST, FULL, Random, at, catalogue, codec, show, world};

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
                assert_eq!(Catalogue::from_bytes(&other.to_bytes()).unwrap().tiers().len(), 4);
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
    for wrong in ["", "Full", "a b", "catalogue", "ä", &"n".repeat(65)] {
        let error = refused(vec![tier("full"), tier(wrong)]);
        assert!(matches!(&error, CrowdError::Tier { name, .. } if name == wrong), "{error}");
    }
    refused(vec![]);
    refused(vec![tier("full"), tier("full")]);
    refused(vec![Tier { ticks_per_frame: 0, ..tier("full") }]);
    refused(vec![Tier { ticks_per_frame: 61, ..tier("full") }]);
    refused(vec![Tier { carry: Carry::Datagrams, ..Tier::new("fast", &codec, 128) }]);
    refused((0..65).map(|nth| tier(&format!("t{nth}"))).collect());
    assert!(Catalogue::new(0, vec![tier("full")]).is_err());
    let mut viewer = Viewer::new(&catalogue(Level::PACKED), ViewerConfig::at_hz(60)).unwrap();
    assert_eq!(viewer.watch(9), Err(CrowdError::NoTier { number: 9 }));
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
        for piece in pieces(level, 90).iter().filter(|piece| piece.tier == FAST) {
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
            assert_eq!(tick, Some(piece.tick));
        }
        // Some alterations are other states, of ticks near by; the next true one replaces them.
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
    for (tick, balls, fits) in [(0, 20, true), (60, 2_000, false), (120, 20, true)] {
        let pieces = publisher.publish(&world(tick, balls)).unwrap();
        let piece = pieces.iter().find(|piece| piece.tier == FULL).unwrap();
        assert_eq!(show(&mut viewer, at(tick), piece).is_ok(), fits, "{balls}");
    }
}

#[test]
fn strange_orders_are_refused() {
    let all = pieces(Level::PACKED, 200);
    let of = |tier: usize, tick: u32| {
        all.iter().find(|piece| piece.tier == tier && piece.tick == Tick(tick)).unwrap()
    };
    let mut viewer = viewer(Level::PACKED, FULL);
    let mut take = |tier, tick| show(&mut viewer, at(tick), of(tier, tick)).map(drop);
    assert_eq!(take(FULL, 5), Err(Refused::Broken), "without the beginning of its group");
    assert_eq!(take(FAST, 30), Err(Refused::NotWatched));
    assert_eq!(take(FULL, 60), Ok(()));
    assert_eq!(take(FULL, 0), Err(Refused::Late));
    assert_eq!(take(FULL, 120), Ok(()), "a second group at the same time");
    assert_eq!(take(FULL, 61), Ok(()));
    assert_eq!(take(FULL, 61), Err(Refused::Broken), "twice");
    assert_eq!(take(FULL, 62), Err(Refused::Broken));
    assert_eq!(take(FULL, 121), Ok(()));
    assert_eq!(take(FULL, 180), Ok(()));
    assert_eq!(take(FULL, 63), Err(Refused::Late), "a third group ends the first");
}

proptest! {
    #[test]
    fn any_bytes_are_refused_or_states(
        inputs in prop::collection::vec(
            (0..4usize, 0..3u64, 0..3u64, any::<bool>(), prop::collection::vec(any::<u8>(), 0..80)),
            0..20,
        ),
    ) {
        let mut viewer = viewer(Level::LEARNING, FULL);
        viewer.watch(FAST).unwrap();
        for (nth, (tier, group, number, is_object, bytes)) in inputs.iter().enumerate() {
            let now = at(nth as u32);
            if *is_object {
                let _ = viewer.object(now, *tier, *group, *number, bytes);
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
