//! Describes which components of a group are live, and where the group's sums contain them.

use super::segment::ONES;
use crate::block::layout::GROUP;
use crate::computed::computed;

/// The live components of a group.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Live {
    /// For each of the three components, a mask with a bit for each lane in which it is live.
    masks: [u8; 3],
    /// Number of live components.
    pub(crate) count: u8,
}

/// The place of a dead component. It is beyond the sixteen sums that a place can select.
pub(super) const DEAD: u8 = 1 << 7;

impl Live {
    /// The live components are those whose step in `steps` is not 0.
    pub(crate) fn new(steps: impl Iterator<Item = [u8; 3]>) -> Self {
        let mut live = Self::default();
        for (lane, steps) in steps.take(GROUP).enumerate() {
            for (mask, step) in live.masks.iter_mut().zip(steps) {
                *mask |= u8::from(step != 0) << lane;
                live.count += u8::from(step != 0);
            }
        }
        live
    }

    /// Encodes the live components in their stored form.
    pub(crate) fn words(self) -> [u16; 2] {
        let [x, y, z] = self.masks;
        [u16::from_le_bytes([x, y]), u16::from_le_bytes([z, self.count])]
    }

    /// Decodes the stored form, which [`words`](Self::words) returns.
    #[inline(always)]
    pub(crate) fn from_words([first, second]: [u16; 2]) -> Self {
        let ([x, y], [z, count]) = (first.to_le_bytes(), second.to_le_bytes());
        Self { masks: [x, y, z], count }
    }

    /// Returns the places of a lane's first, second and third component among the sums of the
    /// group. A dead component has `None`.
    #[inline(always)]
    pub(crate) fn places_of(&self, lane: usize) -> [Option<usize>; 3] {
        let mut before = 0;
        self.masks.map(|mask| {
            let lower = (mask & ((1 << lane) - 1)).count_ones();
            let place = (before + lower) as usize;
            before += mask.count_ones();
            (mask >> lane & 1 != 0).then_some(place)
        })
    }

    /// Returns the place of each lane's first, second and third component among the sums of the
    /// group, or [`DEAD`]. The second result is the index of the sum at which the third components
    /// begin. If it is 8 or more, the places of third components count from the ninth sum.
    #[inline(always)]
    pub(super) fn places(&self) -> ([[u8; GROUP]; 3], usize) {
        let [x, y, z] = self.masks;
        let (second, third) = (x.count_ones(), x.count_ones() + y.count_ones());
        let from = |mask: u8, first: u32| {
            (PLACES[usize::from(mask)] + u64::from(first) * ONES).to_le_bytes()
        };
        let skipped = if third < GROUP as u32 { 0 } else { GROUP as u32 };
        ([from(x, 0), from(y, second), from(z, third - skipped)], third as usize)
    }
}

computed! {
    /// The table is indexed by a mask, and has a byte for each bit of the mask. If the bit is set,
    /// its byte is the number of set bits below it. Otherwise the byte is [`DEAD`].
    static PLACES: [u64; 256] = places();
}

const fn places() -> [u64; 256] {
    let mut places = [0; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut lane, mut count) = (0, 0);
        while lane < 8 {
            let place = if mask >> lane & 1 == 0 { DEAD as u64 } else { count };
            places[mask] |= place << (8 * lane);
            count += (mask >> lane & 1) as u64;
            lane += 1;
        }
        mask += 1;
    }
    places
}
