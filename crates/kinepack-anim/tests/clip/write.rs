//! Writes clips as section 5 of `spec/ANIM.md` specifies, without the writer of the crate. The
//! caller may choose any slices and kinds.

use super::naive::{Naive, NaiveTrack};
use crate::random::Random;

/// The contents of a clip, without the order of keys and the jump table.
#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) parametrization: u8,
    pub(crate) slices: u16,
    pub(crate) samples: u32,
    pub(crate) rate_hz: f32,
    pub(crate) kinds: Vec<u8>,
    /// The smallest and largest values of translations and of scales.
    pub(crate) ranges: [[[f32; 3]; 2]; 2],
    /// The constants, as the bytes of the file.
    pub(crate) constants: Vec<u8>,
    pub(crate) rows: Vec<u8>,
    pub(crate) tracks: Vec<NaiveTrack>,
}

pub(crate) const SKELETON: u64 = 0x0807_0605_0403_0201;

impl Parts {
    /// Returns a clip that has only the keyed tracks `tracks`. The clip has as many joints as these
    /// tracks need.
    pub(crate) fn keyed(
        parametrization: u8,
        slices: u16,
        samples: u32,
        mut tracks: Vec<NaiveTrack>,
    ) -> Self {
        tracks.sort_by_key(|track| (track.channel, track.joint));
        let mut kinds = vec![0; tracks.iter().map(|track| track.joint + 1).max().unwrap_or(1)];
        for track in &tracks {
            kinds[track.joint] |= 2 << (2 * track.channel);
        }
        Self {
            parametrization,
            slices,
            samples,
            rate_hz: 30.0,
            kinds,
            ranges: [[[-2.0, 0.0, 5.0], [6.0, 90.0, 5.0]], [[0.5; 3], [2.0, 1.5, 1.0]]],
            constants: Vec::new(),
            rows: Vec::new(),
            tracks,
        }
    }

    pub(crate) fn end(&self) -> u16 {
        end_of(self.samples)
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let keys: usize = self.tracks.iter().map(|track| track.keys.len()).sum();
        let mut bytes = b"KPAC\x01".to_vec();
        bytes.extend([self.parametrization, 0, 0]);
        bytes.extend((self.kinds.len() as u16).to_le_bytes());
        bytes.extend(self.slices.to_le_bytes());
        bytes.extend(self.samples.to_le_bytes());
        bytes.extend(self.rate_hz.to_le_bytes());
        bytes.extend((keys as u32).to_le_bytes());
        bytes.extend(SKELETON.to_le_bytes());
        bytes.extend(&self.kinds);
        for channel in 1..3 {
            if self.kinds.iter().any(|kinds| kinds >> (2 * channel) & 3 >= 2) {
                bytes.extend(
                    self.ranges[channel - 1].iter().flatten().flat_map(|end| end.to_le_bytes()),
                );
            }
        }
        bytes.extend(&self.constants);
        bytes.extend(&self.rows);
        let order = self.order();
        for &(track, key) in &order {
            let NaiveTrack { joint, channel, keys } = &self.tracks[track];
            let (tick, [a, b, c]) = keys[key];
            bytes.extend(
                [tick, (joint | channel << 14) as u16, a, b, c]
                    .iter()
                    .flat_map(|word| word.to_le_bytes()),
            );
        }
        let places = self.places(&order);
        bytes.extend(places.iter().flat_map(|place| {
            place.to_le_bytes().into_iter().take(if keys > 65_536 { 4 } else { 2 })
        }));
        bytes
    }

    /// Returns the order of the block, in which each element is a track and the index of a key.
    fn order(&self) -> Vec<(usize, usize)> {
        let all = self.tracks.iter().enumerate();
        let mut order: Vec<_> = all
            .flat_map(|(track, placed)| (0..placed.keys.len()).map(move |key| (track, key)))
            .collect();
        order.sort_by_key(|&(track, key)| match key {
            0..=2 => (0, 0, track, key),
            _ => (1, self.tracks[track].keys[key - 2].0, track, key),
        });
        order
    }

    /// Returns the jump table. For each slice and track, the table has the last key that is needed
    /// by the start of the slice, and the three keys before that key.
    fn places(&self, order: &[(usize, usize)]) -> Vec<u32> {
        let mut place_of: Vec<Vec<u32>> =
            self.tracks.iter().map(|track| vec![0; track.keys.len()]).collect();
        for (place, &(track, key)) in order.iter().enumerate() {
            place_of[track][key] = place as u32;
        }
        let mut places = Vec::new();
        for slice in 1..u32::from(self.slices) {
            let begin = (slice * u32::from(self.end())).div_ceil(u32::from(self.slices));
            for (track, place_of) in self.tracks.iter().zip(&place_of) {
                let needed = track.keys.partition_point(|(tick, _)| u32::from(*tick) <= begin) + 1;
                let newest = usize::min(needed.max(2), track.keys.len() - 1);
                let four = match newest {
                    _ if track.keys.len() == 2 => [0, 0, 1, 1],
                    2 => [0, 0, 1, 2],
                    _ => [newest - 3, newest - 2, newest - 1, newest],
                };
                places.extend(four.map(|key| place_of[key]));
            }
        }
        places
    }
}

/// Returns the parts of a clip, to be written again. The bytes of constants and rows are copied.
pub(crate) fn parts_of(naive: &Naive, bytes: &[u8]) -> Parts {
    let ranges = (1..3)
        .filter(|channel| naive.kinds.iter().any(|kinds| kinds >> (2 * channel) & 3 >= 2))
        .count();
    let constants_at = 32 + naive.kinds.len() + 24 * ranges;
    let constant_bytes: usize =
        naive.constants.iter().map(|(_, channel, _)| if *channel == 0 { 6 } else { 12 }).sum();
    let of_rows = naive.kinds.iter().flat_map(|kinds| [0, 1, 2].map(|channel| (kinds, channel)));
    let row_bytes: usize = of_rows
        .filter(|(kinds, channel)| *kinds >> (2 * channel) & 3 == 3)
        .map(|(kinds, channel)| if channel == 0 && kinds & 0x40 != 0 { 4 } else { 6 })
        .sum();
    let rows_at = constants_at + constant_bytes;
    Parts {
        parametrization: naive.parametrization,
        slices: naive.slices,
        samples: naive.samples,
        rate_hz: naive.rate_hz,
        kinds: naive.kinds.clone(),
        ranges: naive.ranges,
        constants: bytes[constants_at..rows_at].to_vec(),
        rows: bytes[rows_at..][..row_bytes * naive.samples as usize].to_vec(),
        tracks: naive.tracks.clone(),
    }
}

pub(crate) fn end_of(samples: u32) -> u16 {
    if samples < 2 { 0 } else { ((samples - 1) * (65535 / (samples - 1))) as u16 }
}

/// Returns a track of random codes, at random ticks or at sample times.
pub(crate) fn any_track(
    random: &mut Random,
    joint: usize,
    channel: usize,
    samples: u32,
    most: u32,
) -> NaiveTrack {
    let end = end_of(samples);
    let mut ticks: Vec<u16> =
        (0..random.below(most)).map(|_| random.below(u32::from(end)) as u16).collect();
    ticks.extend([0, end]);
    ticks.sort_unstable();
    ticks.dedup();
    let mut code = || random.below(1 << 16) as u16;
    NaiveTrack {
        joint,
        channel,
        keys: ticks.into_iter().map(|tick| (tick, [code(), code(), code()])).collect(),
    }
}
