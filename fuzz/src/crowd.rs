//! The driver of the target `crowd`. It takes any bytes as a catalogue, or as objects and datagrams
//! of two tiers.

use std::sync::OnceLock;
use std::time::Duration;

use kinepack::schema::{Field, FieldKind};
use kinepack::{Codec, EntityId, Level, Profile, Schema, Snapshot, Tick};
use kinepack_crowd::{
    Carried, Carry, Catalogue, Piece, Publisher, Tier, Track, Viewer, ViewerConfig,
};

const GROUPS: usize = 0;
const DATAGRAMS: usize = 1;

fn catalogue() -> &'static Catalogue {
    static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
    CATALOGUE.get_or_init(|| {
        let schema = Schema::new(vec![
            Field::new("cell", FieldKind::Raw { lanes: 2 }),
            Field::new("lit", FieldKind::Bool),
        ]);
        let profile = Profile::untrained(&schema);
        let codec = Codec::new(schema, Level::LEARNING, profile).unwrap();
        let groups = Tier { frames_per_object: 2, ..Tier::new("groups", &codec, 8) };
        let datagrams = Tier { carry: Carry::Datagrams, ..Tier::new("datagrams", &codec, 8) };
        Catalogue::new(60, vec![groups, datagrams]).unwrap()
    })
}

fn pieces(ticks: u32) -> Vec<Piece> {
    let mut publisher = Publisher::new(catalogue());
    let mut world = Snapshot::new(catalogue().tiers()[0].codec.schema(), Tick(0));
    let mut pieces = Vec::new();
    for tick in 0..ticks {
        world.clear(Tick(tick));
        for id in 0..3 + tick % 2 {
            world.push_lanes(EntityId(id), &[tick * id, 7 - tick % 3, tick / 5 % 2]).unwrap();
        }
        pieces.extend_from_slice(publisher.publish(&world).unwrap());
    }
    pieces
}

/// The first byte selects the meaning of the rest: a catalogue, or inputs of a viewer. The viewer
/// changes from one tier to the other or shows both together. Each input has a byte for its type, a
/// byte for its group and number, a byte for its length, and then its contents.
pub fn crowd(data: &[u8]) {
    let Some((&pick, mut rest)) = data.split_first() else { return };
    if pick % 2 == 0 {
        if let Ok(catalogue) = Catalogue::from_bytes(rest) {
            let again = Catalogue::from_bytes(&catalogue.to_bytes()).unwrap();
            assert_eq!(again.tiers().len(), catalogue.tiers().len());
        }
        return;
    }
    let mut viewer = Viewer::new(catalogue(), ViewerConfig::at_hz(60)).unwrap();
    if pick % 4 == 1 {
        viewer.watch(GROUPS).unwrap();
        viewer.watch(DATAGRAMS).unwrap();
    } else {
        viewer.watch_all(&[GROUPS, DATAGRAMS]).unwrap();
    }
    let mut now = Duration::ZERO;
    while let Some((&[what, place, length], after)) = rest.split_first_chunk() {
        let (bytes, after) = after.split_at(after.len().min(length.into()));
        rest = after;
        now += Duration::from_millis(u64::from(what >> 3));
        let before = viewer.newest().cloned();
        let tier = if what & 1 == 0 { GROUPS } else { DATAGRAMS };
        let track = if what & 4 == 0 { Track::Snapshots(tier) } else { Track::Keys(tier) };
        let refused = if what & 2 == 0 {
            viewer.object(now, track, u64::from(place >> 4), u64::from(place & 15), bytes).is_err()
        } else {
            viewer.datagram(now, tier, bytes).is_err()
        };
        if refused {
            assert!(viewer.newest() == before.as_ref());
        }
        if let Some(playback) = viewer.playback(now) {
            assert!(playback.samples().count() <= 2 * 65_536);
        }
    }
}

pub fn crowd_corpus() -> Vec<Vec<u8>> {
    let inputs = |pick: u8, tiers: &[usize]| {
        let mut inputs = vec![pick];
        for piece in pieces(20).iter().filter(|piece| tiers.contains(&piece.track.tier())) {
            let tier = piece.track.tier();
            let key = if piece.track == Track::Keys(tier) { 4 } else { 0 };
            let (what, number) = match piece.carried {
                Carried::Object(number) => (tier as u8 | key, number as u8),
                Carried::Datagram => (tier as u8 | 2, 0),
            };
            inputs.extend([what | 17 << 3, (piece.group as u8) << 4 | number]);
            inputs.push(piece.bytes.len() as u8);
            inputs.extend(&piece.bytes);
        }
        inputs
    };
    let file = [&[0], &catalogue().to_bytes()[..]].concat();
    vec![file, inputs(1, &[GROUPS]), inputs(1, &[DATAGRAMS]), inputs(3, &[GROUPS, DATAGRAMS])]
}
