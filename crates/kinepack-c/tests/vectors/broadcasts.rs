//! The script commands for broadcasts.

use std::fmt::Write as _;

use kinepack::Tick;
use kinepack_crowd::{Carried, Carry, Catalogue, Piece, Track, Viewer, ViewerConfig};

use super::crowd::{RIGHT, at, is_right, show, world};
use super::hex::{from_hex, hex};
use super::script::{lines, packed, write_schema, write_state};

/// `crowd.txt`.
pub(crate) fn write(script: &mut String) {
    let mut all = lines(vectors!("crowd.txt"));
    let file = from_hex(all.next().unwrap()[0]);
    let catalogue = Catalogue::from_bytes(&file).unwrap();
    write_catalogue(script, &catalogue, &file);
    let pieces: Vec<Piece> = all.map(|words| piece(&words)).collect();
    write_publisher(script, &catalogue, &pieces);
    for tier in 0..catalogue.tiers().len() {
        write_viewer(script, &catalogue, tier, &pieces);
    }
}

fn write_catalogue(script: &mut String, catalogue: &Catalogue, file: &[u8]) {
    let tiers = catalogue.tiers().iter().map(|tier| {
        let carry = u8::from(tier.carry == Carry::Datagrams);
        let (frame, group, object) =
            (tier.ticks_per_frame, tier.ticks_per_group, tier.frames_per_object);
        format!("{}:{carry}:{frame}:{group}:{object}", tier.name)
    });
    let tiers = tiers.collect::<Vec<_>>().join(";");
    writeln!(script, "catalogue crowd {} {tiers} {}", catalogue.tick_hz(), hex(file)).unwrap();
}

fn piece(words: &[&str]) -> Piece {
    let [tier, group, number, tick, digits] = *words else { panic!("{words:?}") };
    let track = match tier.strip_suffix('k') {
        Some(tier) => Track::Keys(tier.parse().unwrap()),
        None => Track::Snapshots(tier.parse().unwrap()),
    };
    Piece {
        track,
        group: group.parse().unwrap(),
        carried: number.parse().map_or(Carried::Datagram, Carried::Object),
        tick: Tick(tick.parse().unwrap()),
        bytes: from_hex(digits),
    }
}

/// The words of a piece without its bytes.
fn words_of(Piece { track, group, carried, tick, .. }: &Piece) -> String {
    let kind = u8::from(matches!(track, Track::Keys(_)));
    let object = match carried {
        Carried::Object(number) => number.to_string(),
        Carried::Datagram => "-".to_owned(),
    };
    format!("{} {kind} {group} {object} {}", track.tier(), tick.0)
}

/// Encodes the published world again.
fn write_publisher(script: &mut String, catalogue: &Catalogue, pieces: &[Piece]) {
    let schema = catalogue.tiers()[0].codec.schema();
    write_schema(script, "crowd", &schema.to_bytes());
    script.push_str("codec carry_crowd crowd packed -\n");
    let carrier = packed(schema);
    writeln!(script, "publisher crowd crowd {} 0", pieces[0].group).unwrap();
    let last = pieces.iter().map(|piece| piece.tick.0).max().unwrap();
    let mut left = pieces;
    for tick in 0..=last {
        // Once, a snapshot that does not fit into one datagram.
        let world = world(tick, if tick == 45 { 300 } else { 5 });
        write_state(script, &format!("crowd_{tick}"), "crowd", &carrier, &world);
        let right = world.ids().iter().enumerate().filter(|(index, _)| is_right(&world, *index));
        let ids: Vec<String> = right.map(|(_, id)| id.0.to_string()).collect();
        let ids = if ids.is_empty() { "-".to_owned() } else { ids.join(",") };
        writeln!(script, "selects crowd {RIGHT} {ids}").unwrap();
        writeln!(script, "publishes crowd crowd_{tick}").unwrap();
        let of_tick = left.iter().take_while(|piece| piece.tick.0 == tick).count();
        let (now, after) = left.split_at(of_tick);
        for piece in now {
            let bytes = hex(&piece.bytes);
            writeln!(script, "gives crowd {} {bytes}", words_of(piece)).unwrap();
        }
        left = after;
    }
    assert!(left.is_empty());
}

/// Watches a tier.
fn write_viewer(script: &mut String, catalogue: &Catalogue, tier: usize, pieces: &[Piece]) {
    let config = ViewerConfig::at_hz(catalogue.tick_hz().into());
    let mut viewer = Viewer::new(catalogue, config).unwrap();
    viewer.watch(tier).unwrap();
    writeln!(script, "viewer crowd_{tier} crowd {tier}").unwrap();
    for piece in pieces.iter().filter(|piece| piece.track.tier() == tier) {
        let now = at(piece.tick.0);
        let read = show(&mut viewer, now, piece).unwrap();
        assert!(read.is_none_or(|tick| tick == piece.tick));
        let newest = viewer.newest().map(|state| format!("{:016x}", state.state_hash()));
        let newest = newest.unwrap_or_else(|| "-".into());
        let (words, now_ns, read) = (words_of(piece), now.as_nanos(), u8::from(read.is_some()));
        let bytes = hex(&piece.bytes);
        writeln!(script, "piece crowd_{tier} {words} {now_ns} {read} {newest} {bytes}").unwrap();
    }
}
