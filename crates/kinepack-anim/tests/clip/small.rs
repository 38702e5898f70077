//! A small keyed clip with all kinds of tracks.

use super::naive::NaiveTrack;
use super::write::{Parts, end_of};

pub(crate) const SAMPLES: u32 = 5;

/// Returns a clip of three joints with tracks of all kinds. It has coarse rotations in rows, and
/// keys of a translation and a rotation in two slices.
pub(crate) fn small() -> Parts {
    let end = end_of(SAMPLES);
    let track = |joint, channel, ticks: &[u16]| {
        let keys = ticks.iter().map(|tick| (*tick, [tick.wrapping_mul(3), 500, 77])).collect();
        NaiveTrack { joint, channel, keys }
    };
    let tracks = vec![track(1, 0, &[0, 9000, 20_000, 50_000, end]), track(0, 1, &[0, 20_000, end])];
    let mut parts = Parts::keyed(1, 2, SAMPLES, tracks);
    parts.kinds = vec![0b00_10_01, 0b11_01_10, 0b0100_0000 | 0b11_00_11];
    parts.constants =
        [&[0, 0xc0, 0x26, 0x3b, 0, 0x70][..], &1.5_f32.to_le_bytes().repeat(3)].concat();
    parts.rows = (0..80).collect();
    parts
}
