//! The memory of unpacking depends on the bytes that arrived, not on the lengths that a file
//! states.

#[path = "../disk/made.rs"]
mod made;

use allocation_counter::measure;
use kinepack_anim::disk::{UnpackLimits, Unpacker, pack, unpack, unpack_with};
use kinepack_anim::{Clip, ClipError};
use made::{basic, of_segments};

#[test]
fn a_large_stated_length_reserves_no_memory() {
    let clip = basic();
    let (file, bytes) = (pack(&clip).unwrap(), clip.as_bytes());
    let huge = [&file[..5], &[0xff, 0xff, 0xff, 0xff, 0x0f], &file[5 + 2..]].concat();
    let measured = measure(|| assert!(unpack(&huge).is_err()));
    assert!(measured.bytes_max < 1 << 18, "{measured:?}");
    let measured = measure(|| {
        let mut unpacker = Unpacker::new();
        unpacker.push(&huge).unwrap();
        assert!(unpacker.finish().is_err());
    });
    assert!(measured.bytes_max < (1 << 18) + 200 * bytes.len() as u64, "{measured:?}");
}

/// Returns a clip that hardly moves, with `segments` segments of two bytes each.
fn still(segments: usize) -> Clip<Vec<u8>> {
    Clip::from_bytes(of_segments(8 * segments as u32, &vec![vec![96, 0]; segments])).unwrap()
}

#[test]
fn the_limits_hold_however_the_file_is_cut() {
    let clip = still(200_000);
    let (file, bytes) = (pack(&clip).unwrap(), clip.as_bytes());
    assert!(bytes.len() > 1000 * file.len());
    assert!(unpack(&file).unwrap() == bytes);
    for limits in [
        UnpackLimits { min_bytes: 1 << 18, bytes_per_byte: 256 },
        UnpackLimits { min_bytes: 0, bytes_per_byte: 900 },
        UnpackLimits { min_bytes: 700_000, bytes_per_byte: 1 },
    ] {
        let refused = |result: Result<Vec<u8>, ClipError>| {
            let error = result.unwrap_err();
            assert!(matches!(error, ClipError::TooLong { .. }), "{error}");
        };
        refused(unpack_with(&file, limits));
        for piece in [1, 100, file.len()] {
            let most = 3 * limits.most_bytes(file.len() as u64) + (1 << 18);
            let measured = measure(|| {
                let mut unpacker = Unpacker::with_limits(limits);
                let pushed = file.chunks(piece).try_for_each(|piece| unpacker.push(piece));
                refused(pushed.and_then(|()| unpacker.finish()));
            });
            assert!(measured.bytes_max < most, "{measured:?}");
        }
    }
    let raised = UnpackLimits { min_bytes: bytes.len() as u64 + 1024, bytes_per_byte: 0 };
    assert!(unpack_with(&file, raised).unwrap() == bytes);
}
