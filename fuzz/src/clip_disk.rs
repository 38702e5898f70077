//! The driver of the target `clip_disk`: any bytes as a disk file, or as the packet of one, by the
//! first byte.

use kinepack::hash::Fnv1a;
use kinepack_anim::disk::{Unpacker, pack, unpack};
use kinepack_anim::{Clip, ClipError};

/// What a packet may become at most.
const MOST_BYTES: usize = 1 << 18;

/// Refuses what it is given or makes a clip of it, which packed comes back.
pub fn clip_disk(data: &[u8]) {
    let Some((selector, bytes)) = data.split_first() else { return };
    if selector & 1 == 0 { file(bytes, *selector) } else { packet(bytes) }
}

/// What comes at once and what comes in pieces is the same.
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
        comes_back(&whole);
    }
}

/// A packet of a file of any length, without the end and the hash that hardly any bytes have.
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
        comes_back(&clip);
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

/// The bytes are a clip, and come back from a file.
fn comes_back(bytes: &[u8]) {
    let clip = match Clip::from_bytes(bytes) {
        // What it shares is not looked at on disk.
        Err(ClipError::Rig { .. }) => return,
        clip => clip.unwrap(),
    };
    assert!(unpack(&pack(&clip).unwrap()).unwrap() == bytes);
}
