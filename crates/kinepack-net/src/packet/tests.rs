//! Headers round trip, and bytes that are not a header are refused.

use kinepack::Tick;

use super::kinds::{EVENTS_IN_FRONT, TURNS};
use super::*;

const EMPTY: &[u8] = &[];

fn snapshot_bytes(header: &SnapshotHeader) -> Vec<u8> {
    let mut bytes = Vec::new();
    header.write(&mut bytes);
    bytes
}

fn stride(ticks: u8) -> Time {
    Time::Stride(Stride::new(ticks).unwrap())
}

/// The header of a snapshot that follows its baseline at a steady rate.
fn steady(sequence: u16, check: Option<u16>) -> SnapshotHeader {
    SnapshotHeader {
        sequence: Sequence(sequence),
        baseline: Baseline::Back(6),
        left_out: false,
        time: stride(1),
        merge: None,
        older: OlderViews::default(),
        check,
        turns: 1,
    }
}

#[test]
fn a_steady_header_has_four_bytes() {
    let header = SnapshotHeader { left_out: true, ..steady(0x1234, None) };
    let bytes = snapshot_bytes(&header);
    assert_eq!(bytes, [0b0010_1000, 0x34, 0x12, 6]);
    assert_eq!(Downstream::parse(&bytes), Ok(Downstream::Snapshot(header, EMPTY, None)));
    let older = OlderViews::new(Sequence(8), [Sequence(2), Sequence(65_531)]).unwrap();
    let header = SnapshotHeader { older, ..header };
    let bytes = snapshot_bytes(&header);
    assert_eq!(bytes, [0b0010_1011, 0x34, 0x12, 6, 0x86, 7]);
    assert_eq!(Downstream::parse(&bytes), Ok(Downstream::Snapshot(header, EMPTY, None)));
    let sequences: Vec<Sequence> = header.older.sequences(Sequence(8)).collect();
    assert_eq!(sequences, [Sequence(2), Sequence(65_531)]);
}

#[test]
fn a_state_check_precedes_snapshots_only() {
    let header = steady(16, Some(0xC5E1));
    let bytes = snapshot_bytes(&header);
    assert_eq!(bytes, [0x0A, 0xE1, 0xC5, 0x20, 16, 0, 6]);
    assert_eq!(Downstream::parse(&bytes), Ok(Downstream::Snapshot(header, EMPTY, None)));
    let fragment = [FRAGMENT, 0, 0, 1, 0, 0, 1, 0, 9];
    let refusal = [REFUSAL, 0, 1, 0, 0, 0, 0, 0, 0, 0];
    for rest in [&fragment[..], &refusal, &bytes] {
        let refused = Err(Refused::Kind { first_byte: rest[0] });
        assert_eq!(Downstream::parse(&[&[0x0A, 0, 0], rest].concat()), refused);
    }
    let known = [REFUSAL, CHECK, EVENTS_IN_FRONT, EVENTS_ALONE, TURNS];
    let unknown = |first: &u8| first & KIND_MASK == REFUSAL && !known.contains(first);
    for first_byte in (0..=u8::MAX).filter(unknown) {
        let datagram = [&[first_byte], &bytes[1..]].concat();
        assert_eq!(Downstream::parse(&datagram), Err(Refused::Kind { first_byte }));
    }
}

#[test]
fn turns_precede_snapshots_and_their_checks_only() {
    for turns in [2, 255] {
        let header = SnapshotHeader { turns, ..steady(16, Some(0xC5E1)) };
        let bytes = snapshot_bytes(&header);
        assert_eq!(bytes, [0x4A, turns, 0x0A, 0xE1, 0xC5, 0x20, 16, 0, 6]);
        assert_eq!(bytes.len(), header.bytes());
        assert_eq!(Downstream::parse(&bytes), Ok(Downstream::Snapshot(header, EMPTY, None)));
        let mut behind_events = Vec::new();
        write_in_front(&[7], &mut behind_events);
        behind_events.extend(&bytes);
        let parsed = Downstream::parse(&behind_events);
        assert_eq!(parsed, Ok(Downstream::Snapshot(header, EMPTY, Some(&[7]))));
    }
    let snapshot = [0x20, 16, 0, 6];
    for bad in [0, 1] {
        let refused = Err(Refused::Kind { first_byte: bad });
        assert_eq!(Downstream::parse(&[&[TURNS, bad], &snapshot[..]].concat()), refused);
    }
    assert_eq!(Downstream::parse(&[TURNS]), Err(Refused::Length { bytes: 1 }));
    let fragment = [FRAGMENT, 0, 0, 1, 0, 0, 1, 0, 9];
    let alone = [EVENTS_ALONE, 5, 0, 9, 0, 0, 0, 1, 2];
    let refusal = [REFUSAL, 0, 1, 0, 0, 0, 0, 0, 0, 0];
    for rest in [&fragment[..], &alone, &refusal, &[TURNS, 2, 0x20, 16, 0, 6]] {
        let refused = Err(Refused::Kind { first_byte: rest[0] });
        assert_eq!(Downstream::parse(&[&[TURNS, 2], rest].concat()), refused);
    }
}

#[test]
fn a_header_names_one_to_three_older_views() {
    for older in [&[0][..], &[0x80, 1], &[0x81, 0], &[0x81, 0x81, 0x81], &[0x81, 0x81, 0x80]] {
        let datagram = [&[0b0010_0011, 0, 0, 6], older].concat();
        assert_eq!(Downstream::parse(&datagram), Err(Refused::BadOlder), "{older:?}");
    }
    let from_reference = [3, 0, 0, 0, 9, 1, 0, 0, 0, 1, 1];
    assert_eq!(Downstream::parse(&from_reference), Err(Refused::BadOlder));
}

#[test]
fn events_precede_snapshots_only() {
    let snapshot = [CHECK, 0xE1, 0xC5, 0x20, 16, 0, 6];
    let in_front = |list: &[u8], rest: &[u8]| {
        let mut bytes = Vec::new();
        write_in_front(list, &mut bytes);
        [&bytes, rest].concat()
    };
    for len in [0, 1, 127, 128, 129, 255, 1_000, (1 << 14) - 1] {
        let list = vec![7; len];
        let bytes = in_front(&list, &snapshot);
        assert_eq!(bytes.len() - list.len() - 7, if len < 128 { 2 } else { 3 });
        let Ok(Downstream::Snapshot(header, rest, Some(events))) = Downstream::parse(&bytes) else {
            panic!("{len}")
        };
        assert_eq!((header.check, rest, events), (Some(0xC5E1), EMPTY, &list[..]));
        for end in 1..bytes.len() {
            assert!(Downstream::parse(&bytes[..end]).is_err(), "{len} {end}");
        }
    }
    let alone = [EVENTS_ALONE, 5, 0, 9, 0, 0, 0, 1, 2];
    let header = EventsAlone { sequence: Sequence(5), tick: Tick(9) };
    assert_eq!(Downstream::parse(&alone), Ok(Downstream::Events(header, &[1, 2])));
    assert_eq!(Downstream::parse(&alone[..6]), Err(Refused::Length { bytes: 6 }));
    let fragment = [FRAGMENT, 0, 0, 1, 0, 0, 1, 0, 9];
    let refusal = [REFUSAL, 0, 1, 0, 0, 0, 0, 0, 0, 0];
    for rest in [&fragment[..], &refusal, &alone, &in_front(&[1], &snapshot)] {
        let refused = Err(Refused::Kind { first_byte: rest[0] });
        assert_eq!(Downstream::parse(&in_front(&[1], rest)), refused);
    }
    // Refused: a length of two bytes whose high bits are 0, and one that has a bit too many.
    for high in [0, 0x80] {
        let bytes = [&[EVENTS_IN_FRONT, 0x81, high, 7][..], &snapshot].concat();
        assert_eq!(Downstream::parse(&bytes), Err(Refused::Length { bytes: bytes.len() }));
    }
}

#[test]
fn sequences_that_a_header_cannot_name_are_refused() {
    let views = |before: &[u16]| {
        let sequences = before.iter().map(|distance| Sequence(5).before(*distance));
        OlderViews::new(Sequence(5), sequences).map(|older| older.0)
    };
    assert_eq!(views(&[]), Some([0; 3]));
    assert_eq!(views(&[127, 128, 130]), Some([127, 1, 2]));
    for before in [&[0][..], &[128], &[3, 3], &[3, 2], &[1, 129], &[256], &[1, 2, 3, 4]] {
        assert_eq!(views(before), None, "{before:?}");
    }
    assert_eq!(
        [0, 1, 7, 8, 255].map(|ticks| Stride::new(ticks).is_some()),
        [false, true, true, false, false]
    );
}

#[test]
fn every_header_round_trips_and_no_prefix_parses() {
    let explicit = Time::Explicit { tick: Tick(70_000), interval_ticks: 3 };
    let merge = Some(0x8000_0001);
    let headers = [
        (Baseline::Reference(9), explicit, None, [0, 0, 0], 10),
        (Baseline::Back(255), explicit, merge, [0, 0, 0], 13),
        (Baseline::Back(255), explicit, merge, [1, 127, 1], 16),
        (Baseline::Back(1), stride(7), merge, [0, 0, 0], 8),
        (Baseline::Back(1), stride(7), None, [64, 0, 0], 5),
    ];
    for (baseline, time, merge, older, len) in headers {
        let sequence = Sequence(65_535);
        let older = OlderViews(older);
        let header = SnapshotHeader {
            sequence,
            baseline,
            left_out: false,
            time,
            merge,
            older,
            check: None,
            turns: 1,
        };
        let bytes = snapshot_bytes(&header);
        assert_eq!(bytes.len(), len);
        assert_eq!(header.bytes(), len);
        assert!(len <= LONGEST_HEADER_BYTES + OLDER_VIEW_BYTES * older.count());
        assert_eq!(Downstream::parse(&bytes), Ok(Downstream::Snapshot(header, EMPTY, None)));
        for end in 0..len {
            assert_eq!(Downstream::parse(&bytes[..end]), Err(Refused::Length { bytes: end }));
        }
    }
}

#[test]
fn upstream_datagrams_round_trip() {
    let hello =
        Hello { version: 1, schema_hash: 2, codec_hash: 3, initial_hash: 4, events_hash: 5 };
    let mut bytes = Vec::new();
    hello.write(&mut bytes);
    assert_eq!(bytes.len(), 34);
    assert_eq!(Upstream::parse(&bytes), Ok(Upstream::Hello(hello, &[])));
    let other = Hello { codec_hash: 9, ..hello };
    assert_eq!(hello.mismatch(&hello), None);
    let mismatch = hello.mismatch(&other).unwrap();
    assert_eq!(mismatch, Mismatch::Codec { hash: 3 });
    let mut refusal = Vec::new();
    mismatch.write(&mut refusal);
    assert!(refusal.len() < 26, "no amplification");
    assert_eq!(Downstream::parse(&refusal), Ok(Downstream::Refusal(mismatch)));
    let acknowledgement = Acknowledgement { latest: Sequence(7), before: 0b101 };
    let mut bytes = Vec::new();
    acknowledgement.write(&mut bytes);
    assert_eq!(bytes, [5, 7, 0, 0b101, 0, 0, 0]);
    assert_eq!(Upstream::parse(&bytes), Ok(Upstream::Acknowledgement(acknowledgement)));
    bytes.push(0);
    assert_eq!(Upstream::parse(&bytes), Err(Refused::Length { bytes: 8 }));
    let mut bytes = Vec::new();
    write_anew(Sequence(16), &mut bytes);
    assert_eq!(bytes, [0x0C, 16, 0]);
    assert_eq!(Upstream::parse(&bytes), Ok(Upstream::Anew(Sequence(16))));
    assert_eq!(Upstream::parse(&bytes[..2]), Err(Refused::Length { bytes: 2 }));
    bytes.push(0);
    assert_eq!(Upstream::parse(&bytes), Err(Refused::Length { bytes: 4 }));
}

#[test]
fn foreign_kinds_and_reserved_bits_are_refused() {
    for first_byte in [6, 7, 4, 5, 8 | 1, 16 | 2] {
        let bytes = [first_byte; 40];
        assert_eq!(Downstream::parse(&bytes), Err(Refused::Kind { first_byte }));
    }
    for first_byte in [0, 1, 2, 3, 6, 7, 16 | 4, 128 | 5] {
        assert_eq!(Upstream::parse(&[first_byte; 40]), Err(Refused::Kind { first_byte }));
    }
    // Refused: a stride without a view to count from, a fragment outside its full state, and a
    // fragment of full state 0.
    assert!(Downstream::parse(&[0b0010_0000, 0, 0, 0, 0, 0, 0, 0, 0, 0]).is_err());
    assert_eq!(Downstream::parse(&[1, 0, 0, 1, 5, 0, 5, 0, 9]), Err(Refused::BadFragment));
    assert_eq!(Downstream::parse(&[1, 0, 0, 0, 0, 0, 5, 0, 9]), Err(Refused::BadFragment));
}
