//! Anchors for translations that travel far. With a single middle for the whole clip, their
//! components would need more bits than an `f32` has. So each segment stores anchors for such a
//! track: one for the whole segment, or one for each sample if the track jumps. Components then
//! stay small, and only the final addition of the anchor rounds. See `spec/ANIM.md`, sections 10.4
//! and 12.

/// The size of an anchor in bytes: three floats.
const ANCHOR_BYTES: usize = 12;

/// The anchors of a far track in a segment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Anchors {
    /// One anchor for all samples of the segment.
    Segment([f32; 3]),
    /// One anchor for each sample.
    Samples(Vec<[f32; 3]>),
}

impl Anchors {
    /// Returns the anchor of a sample of the segment.
    #[cfg(feature = "offline")]
    pub(crate) fn at(&self, sample: usize) -> [f32; 3] {
        match self {
            Self::Segment(anchor) => *anchor,
            Self::Samples(anchors) => anchors.get(sample).copied().unwrap_or_default(),
        }
    }

    /// Returns all anchors, in order.
    pub(crate) fn all(&self) -> &[[f32; 3]] {
        match self {
            Self::Segment(anchor) => std::slice::from_ref(anchor),
            Self::Samples(anchors) => anchors,
        }
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(matches!(self, Self::Samples(_))));
        bytes.extend(self.all().as_flattened().iter().flat_map(|number| number.to_le_bytes()));
    }
}

/// The anchors of a far track, as a segment stores them.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoredAnchors<'a> {
    /// Whether the segment stores an anchor for each sample, instead of one for all.
    by_sample: bool,
    numbers: &'a [u8],
}

impl<'a> StoredAnchors<'a> {
    /// Takes the next track's anchors off the front of `bytes`. Returns `None` if the bytes end too
    /// early, or if the first byte is neither 0 nor 1.
    #[inline]
    pub(super) fn take(bytes: &mut &'a [u8], length: usize) -> Option<Self> {
        let (mode, rest) = bytes.split_first()?;
        let count = if *mode == 0 { 1 } else { length };
        let (numbers, rest) = rest.split_at_checked(count * ANCHOR_BYTES)?;
        *bytes = rest;
        (*mode <= 1).then_some(Self { by_sample: *mode == 1, numbers })
    }

    /// Iterates over the anchors of the far tracks, which begin at the front of `bytes`.
    pub(super) fn each(mut bytes: &'a [u8], length: usize) -> impl Iterator<Item = Self> {
        std::iter::from_fn(move || Self::take(&mut bytes, length))
    }

    /// Returns the numbers of all anchors, three for each.
    pub(super) fn floats(&self) -> impl Iterator<Item = f32> + use<'a> {
        self.numbers.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes))
    }

    /// Decodes the anchors into [`Anchors`].
    pub(super) fn to_anchors(self) -> Anchors {
        let numbers: Vec<f32> = self.floats().collect();
        match numbers.as_chunks().0 {
            [anchor, ..] if !self.by_sample => Anchors::Segment(*anchor),
            anchors => Anchors::Samples(anchors.to_vec()),
        }
    }

    /// Returns the anchor at sample `sample`. A `share` above 0 interpolates from it towards the
    /// next sample's anchor.
    pub(super) fn at(&self, sample: usize, share: f32) -> [f32; 3] {
        let anchor = |index: usize| {
            let bytes = self.numbers.get(index * ANCHOR_BYTES..).unwrap_or_default();
            let number = |axis: usize| {
                let own = bytes.get(4 * axis..).and_then(<[u8]>::first_chunk);
                f32::from_le_bytes(own.copied().unwrap_or_default())
            };
            [number(0), number(1), number(2)]
        };
        if !self.by_sample {
            anchor(0)
        } else if share == 0.0 {
            anchor(sample)
        } else {
            mix(anchor(sample), anchor(sample + 1), share)
        }
    }
}

pub(super) fn mix(from: [f32; 3], to: [f32; 3], share: f32) -> [f32; 3] {
    [0, 1, 2].map(|axis| from[axis] * (1.0 - share) + to[axis] * share)
}

/// Returns the number of bytes that the anchors of `count` far tracks occupy at the front of
/// `bytes`.
#[inline]
pub(super) fn anchors_bytes(bytes: &[u8], count: usize, length: usize) -> usize {
    let mut rest = bytes;
    for _ in 0..count {
        if StoredAnchors::take(&mut rest, length).is_none() {
            return bytes.len();
        }
    }
    bytes.len() - rest.len()
}
