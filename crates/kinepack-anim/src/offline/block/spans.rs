//! The segments of a clip while it is built.

use crate::block::{Header, Interpolation};

use super::curves;
use super::plan::Choices;
use super::target::Target;

/// The number of segments on which choices are compared.
const TRIED: usize = 12;

/// The samples of a segment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    pub(super) first: usize,
    pub(super) length: usize,
}

/// Returns the header of a clip with the choices `choices`.
pub(super) fn header(target: &Target, choices: Choices) -> Header {
    Header {
        block: choices.block,
        loops: target.loops(),
        is_fine: choices.is_fine,
        blends: false,
        is_of_rig: choices.is_of_rig,
        offset_bytes: 1,
        joints: target.joints() as u16,
        samples: target.raw.samples() as u32,
        rate_hz: target.raw.rate_hz(),
        curves: target.raw.curves().len() as u16,
        is_labelled: curves::is_labelled(target.raw),
        interpolation: Interpolation::default(),
    }
}

/// Returns the segments of a clip.
pub(super) fn all(header: &Header) -> Vec<Span> {
    let span = |segment| {
        let first = header.segment_start(segment, header.segments());
        Span { first, length: header.segment_length(segment) }
    };
    (0..header.segments()).map(span).collect()
}

/// Selects up to [`TRIED`] segments, evenly spread.
pub(super) fn some(all: &[Span]) -> Vec<Span> {
    match all.len() {
        0..=TRIED => all.to_vec(),
        many => (0..TRIED).map(|index| all[index * many / TRIED]).collect(),
    }
}
