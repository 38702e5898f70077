//! A small block clip with tracks of all kinds.

use super::widths::profile;
use super::write::{ANIMATED, CONSTANT, DEFAULT, Parts, Track, escaped, kinds};

/// Three joints with tracks of all kinds: a rotation, a translation and a scale are animated, in
/// three segments. All live components use profile 7, except that the first segment is escaped.
pub(crate) fn small() -> Parts {
    let own = [
        kinds(ANIMATED, CONSTANT, DEFAULT),
        kinds(CONSTANT, ANIMATED, DEFAULT),
        kinds(0, 0, ANIMATED),
    ];
    let mut parts = Parts::new(8, 19, own.to_vec());
    let vector = [1.5_f32, -2.0, 1e-3].iter().flat_map(|number| number.to_le_bytes());
    parts.constants = vector.chain([0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0x7e]).collect();
    let of =
        Track { codes: [128, 140, 90, 1, 250, 128], middle: [0.5, 40.0, -3.0], ..Track::default() };
    let track = |steps| Track { steps, ..of.clone() };
    parts.rotations = vec![track([160, 161, 0])];
    parts.vectors = vec![track([172, 0, 170]), track([0, 0, 150])];
    parts.segments = parts.lengths().into_iter().map(|length| segment(&parts, length)).collect();
    let own = (0..6).map(|k| (k - 3, [3, 3, 2, 1, 1, 2][k as usize])).collect();
    let of_none = vec![(0, 0); 6];
    parts.segments[0] = escaped(8, 100, &[&[own], &vec![of_none; 4][..]].concat());
    parts
}

fn segment(parts: &Parts, length: usize) -> Vec<u8> {
    let bits = profile(8, 0, 7)[..length].iter().map(|width| usize::from(*width)).sum::<usize>();
    let mut bytes = vec![100];
    bytes.extend(vec![7; parts.live()]);
    let count = bits * parts.live();
    bytes.extend((0..count / 8).map(|byte| (37 * byte) as u8));
    bytes.extend((!count.is_multiple_of(8)).then_some(((1_u16 << (count % 8)) - 1) as u8));
    bytes
}
