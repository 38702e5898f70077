//! The driver of the target `clip_disk`. The first byte selects whether the rest is a disk file, or
//! a packet of a disk file.

use kinepack::hash::Fnv1a;
use kinepack_anim::disk::{Unpacker, pack, unpack};
use kinepack_anim::{Clip, ClipError};

/// The maximum number of bytes that a packet may unpack to.
const MOST_BYTES: usize = 1 << 18;

/// Refuses the bytes, or unpacks a clip that round-trips through a file.
pub fn clip_disk(data: &[u8]) {
    let Some((selector, bytes)) = data.split_first() else { return };
    if selector & 1 == 0 { file(bytes, *selector) } else { packet(bytes) }
}

/// Checks that unpacking a file at once and in pieces gives the same result.
fn file(bytes: &[u8], seed: u8) {
    let whole = unpack(bytes);
    let mut pieces = Unpacker::new();
    let pushed = bytes.chunks(1 + usize::from(seed)).try_for_each(|piece| pieces.push(piece));
    match (&whole, pushed.and_then(|()| pieces.finish())) {
        (Ok(whole), Ok(pieces)) => assert!(*whole == pieces),
        (Err(_), Err(_)) => {}
        (whole, pieces) => panic!("{whole:?} and {pieces:?}"),
    }
    if let Ok(whole) = whole {
        round_trips(&whole);
    }
}

/// Takes bytes as a packet of a file of any length. The file has no end and no hash, because random
/// bytes almost never contain valid ones.
fn packet(bytes: &[u8]) {
    let mut unpacker = Unpacker::new();
    let _ = unpacker
        .push(&[&b"KPAD\x01"[..], &varint(MOST_BYTES), &varint(bytes.len()), bytes].concat());
    assert!(unpacker.as_bytes().len() <= MOST_BYTES);
    if unpacker.is_complete() {
        let mut clip = [unpacker.as_bytes(), &[7; 8]].concat();
        let mut hash = Fnv1a::new();
        hash.add(&clip);
        clip.extend((hash.finish() as u32).to_le_bytes());
        round_trips(&clip);
    }
}

fn varint(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// Checks that the bytes of a clip round-trip through a disk file.
fn round_trips(bytes: &[u8]) {
    let clip = match Clip::from_bytes(bytes) {
        // Unpacking does not check a clip's rig.
        Err(ClipError::Rig { .. }) => return,
        clip => clip.unwrap(),
    };
    assert!(unpack(&pack(&clip).unwrap()).unwrap() == bytes);
}
