//! Key insertion: from two keys at the ends, a key into each segment that is not within its margin,
//! where the error is worst, until all are. Source: the article on the animations of League of
//! Legends, which puts it into the middle of the segment.

use super::curve::Curve;

/// Where in a segment that is not within its margin the next key goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyPosition {
    /// Into the middle, as in the article.
    Middle,
    /// To the sample at which the error is worst, relative to what is allowed there.
    #[default]
    Worst,
    /// To the sample that leaves the smallest error, of some that are tried.
    Best,
}

/// How many places are tried in a segment for the best of them.
const PLACES: usize = 5;

/// Adds keys until every sample is within its tolerance or has a key.
pub(super) fn insert(curve: &mut Curve, position: KeyPosition) {
    let mut added = Vec::new();
    loop {
        added.clear();
        for segment in 0..curve.keys.len() - 1 {
            let (begin, end) = (curve.keys[segment], curve.keys[segment + 1]);
            // The keys themselves are as near as their quantization lets them.
            let inner = (begin + 1..end)
                .map(|sample| (curve.error(sample) / curve.tolerance[sample], sample));
            let worst = inner.fold((1.0, None), |worst, (ratio, sample)| {
                if ratio > worst.0 { (ratio, Some(sample)) } else { worst }
            });
            if let (_, Some(worst)) = worst {
                added.push(match position {
                    KeyPosition::Middle => (begin + end) / 2,
                    KeyPosition::Worst => worst,
                    KeyPosition::Best => best(curve, segment, worst),
                });
            }
        }
        if added.is_empty() {
            return;
        }
        curve.insert(&added);
        curve.evaluate_all();
    }
}

/// The place in a segment that leaves the smallest error in it and its neighbours, of the worst
/// sample and some spread over it.
fn best(curve: &mut Curve, segment: usize, worst: usize) -> usize {
    let (begin, end) = (curve.keys[segment], curve.keys[segment + 1]);
    let mut best = (f64::INFINITY, worst);
    let spread = (1..=PLACES).map(|place| begin + place * (end - begin) / (PLACES + 1));
    let mut last = begin;
    for place in spread.chain([worst]) {
        if place <= begin || place >= end || place == last {
            continue;
        }
        last = place;
        curve.insert(&[place]);
        let segments = curve.segments_around(segment + 1..segment + 2);
        let samples = curve.keys[segments.start]..=curve.keys[segments.end];
        curve.evaluate(segments);
        let worst =
            samples.map(|sample| curve.error(sample) / curve.tolerance[sample]).fold(0.0, f64::max);
        if worst < best.0 {
            best = (worst, place);
        }
        curve.remove(segment + 1);
        let segments = curve.segments_around(segment..segment + 2);
        curve.evaluate(segments);
    }
    best.1
}
