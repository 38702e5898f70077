//! Decodes streams from another encoder, intact and damaged. `tests/import/packed/streams.mjs`
//! makes these streams.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::super::json::{Filter, Mode};
use super::Layout;

const STREAMS: &str = include_str!("../../../../tests/import/packed/streams.json");

#[derive(Deserialize)]
struct Case {
    mode: Mode,
    filter: Filter,
    version: u8,
    count: usize,
    stride: usize,
    stream: String,
    decoded: String,
}

impl Case {
    fn layout(&self) -> Layout {
        let &Self { mode, filter, count, stride, .. } = self;
        Layout { mode, filter, count, stride }
    }
}

fn cases() -> Vec<(Case, Vec<u8>)> {
    let cases: Vec<Case> = serde_json::from_str(STREAMS).unwrap();
    let stream = |case: &Case| STANDARD.decode(&case.stream).unwrap();
    cases
        .into_iter()
        .map(|case| (stream(&case), case))
        .map(|(stream, case)| (case, stream))
        .collect()
}

#[test]
fn streams_of_meshoptimizer_are_decoded() {
    let mut seen = Vec::new();
    for (case, stream) in cases() {
        let found = case.layout().decode(&stream).unwrap();
        let expected = STANDARD.decode(&case.decoded).unwrap();
        assert_eq!(found.len(), expected.len());
        // These filters may round up or down.
        let is_right = match (case.filter, case.stride) {
            (Filter::Octahedral, 4) => {
                found.iter().zip(&expected).all(|(a, b)| (*a as i8).abs_diff(*b as i8) <= 1)
            }
            (Filter::Octahedral | Filter::Quaternion, _) => {
                let halves = |bytes: &[u8]| -> Vec<i16> {
                    bytes.as_chunks::<2>().0.iter().map(|half| i16::from_le_bytes(*half)).collect()
                };
                halves(&found).iter().zip(halves(&expected)).all(|(a, b)| a.abs_diff(b) <= 1)
            }
            _ => found == expected,
        };
        let Case { mode, filter, version, count, stride, .. } = case;
        assert!(is_right, "{mode:?} {filter:?} version {version}, {count} of {stride} bytes");
        seen.push((mode, filter, version));
    }
    for filter in [Filter::None, Filter::Octahedral, Filter::Quaternion, Filter::Exponential] {
        assert!([0, 1].iter().all(|version| seen.contains(&(Mode::Attributes, filter, *version))));
    }
}

#[test]
fn streams_of_another_length_are_refused() {
    for (case, stream) in cases() {
        let layout = case.layout();
        for end in 0..stream.len() {
            assert!(layout.decode(&stream[..end]).is_err(), "{end} of {} bytes", stream.len());
        }
        assert!(layout.decode(&[&stream[..], &[0]].concat()).is_err());
        let whole = (layout.count, layout.stride);
        for (count, stride) in [(0, whole.1), (whole.0 + 300, whole.1), (whole.0, whole.1 + 4)] {
            assert!(Layout { count, stride, ..layout }.decode(&stream).is_err());
        }
    }
}

#[test]
fn damaged_streams_are_decoded_or_refused() {
    for (case, stream) in cases() {
        let layout = case.layout();
        let mut damaged = stream.clone();
        let whole = case.count * case.stride;
        for bit in 0..8 * stream.len().min(400) {
            damaged[bit / 8] ^= 1 << (bit % 8);
            let decoded = layout.decode(&damaged);
            // The first byte selects the version. In another version, the same bytes would decode
            // to a different length.
            assert!(decoded.is_err() || bit >= 8, "bit {bit}");
            assert!(decoded.map_or(whole, |decoded| decoded.len()) == whole);
            damaged[bit / 8] ^= 1 << (bit % 8);
        }
        let mut state = 1_u32;
        for _ in 0..200 {
            for byte in damaged.iter_mut().skip(1) {
                state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
                *byte = (state >> 16) as u8;
            }
            let _ = layout.decode(&damaged);
        }
    }
}

#[test]
fn layouts_that_do_not_exist_are_refused() {
    let bytes =
        |mode, filter, count, stride| Layout { mode, filter, count, stride }.bytes(&[0; 64]);
    let attributes = |filter, stride| bytes(Mode::Attributes, filter, 4, stride);
    for stride in [0, 3, 6, 260, usize::MAX] {
        assert!(attributes(Filter::None, stride).is_err());
        assert!(attributes(Filter::Exponential, stride).is_err());
        assert!(attributes(Filter::Octahedral, stride).is_err());
        assert!(attributes(Filter::Quaternion, stride).is_err());
        assert!(bytes(Mode::Indices, Filter::None, 4, stride).is_err());
    }
    assert!(attributes(Filter::Quaternion, 4).is_err());
    assert!(attributes(Filter::Other, 4).unwrap_err().contains("colours"));
    assert!(bytes(Mode::Other, Filter::None, 3, 2).unwrap_err().contains("triangles"));
    assert!(bytes(Mode::Indices, Filter::Exponential, 4, 4).is_err());
    // No memory is allocated for more data than 64 bytes can represent.
    assert_eq!(bytes(Mode::Attributes, Filter::None, 16_384, 4), Ok(65_536));
    for count in [17_000, 1 << 40, usize::MAX] {
        assert!(bytes(Mode::Attributes, Filter::None, count, 4).is_err());
    }
}
