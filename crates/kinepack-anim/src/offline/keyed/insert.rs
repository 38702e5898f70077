//! Inserts keys. The module starts with two keys at the ends of a track. Each segment that is not
//! within its margin gets a key at the sample with the largest error, until all segments are within
//! their margins. Source: the article on the animations of League of Legends, which puts the key
//! into the middle of the segment.

use super::curve::Curve;

/// Where to put the next key in a segment that is not within its margin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyPosition {
    /// The key goes into the middle, as in the article.
    Middle,
    /// The key goes to the sample with the largest error relative to its tolerance.
    #[default]
    Worst,
    /// A few samples are tried, and the key goes to the one that leaves the smallest error.
    Best,
}

/// The number of places in a segment that are tried to find the best one.
const PLACES: usize = 5;

/// Adds keys until every sample is within its tolerance or has a key.
pub(super) fn insert(curve: &mut Curve, position: KeyPosition) {
    let mut added = Vec::new();
    loop {
        added.clear();
        for segment in 0..curve.keys.len() - 1 {
            let (begin, end) = (curve.keys[segment], curve.keys[segment + 1]);
            // Samples with keys are skipped, because they are already as close as quantization
            // allows.
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

/// Finds the place in a segment that leaves the smallest error in the segment and its neighbours.
/// Tries the worst sample and a few places spread over the segment.
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
