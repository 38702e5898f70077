//! Writes keys as an `.ozz` archive. The archive is an `ozz-animation` of version 7, which
//! ozz-animation 0.15 and newer read. `ozz-animation-rs` reads the same layout, and ozz's own
//! builder sorts the keys in the same way.

use half::f16;

use crate::reduce::{JointKeys, Key};

const TAG: &[u8] = b"ozz-animation\0";
const VERSION: u32 = 7;
const LITTLE_ENDIAN: u8 = 1;
/// Seconds from one snapshot of the player's state to the next, as in ozz's default configuration.
const SNAPSHOT_INTERVAL_S: f32 = 10.0;
/// The number of tracks that a player plays together.
const LANES: usize = 4;

/// A key, with the number of its track among all tracks.
struct Entry<const N: usize> {
    track: usize,
    /// The time of the track's previous key, or −1 for the track's first key.
    previous_s: f32,
    time_s: f32,
    value: [f64; N],
}

/// The keys of one kind, in the order in which a player needs them.
struct Keys {
    times_s: Vec<f32>,
    /// For each key, how many keys before it the previous key of its track is.
    previous: Vec<u16>,
    /// The three numbers of each key.
    values: Vec<[u16; 3]>,
    snapshots: Snapshots,
}

/// Lists of the keys that are current at certain times. A player can jump to these times.
#[derive(Default)]
struct Snapshots {
    entries: Vec<u8>,
    /// The place where each snapshot begins, and the snapshot's last key.
    places: Vec<u32>,
}

/// Returns the archive of an animation. Returns an error if the animation has more keys or times
/// than the format can hold.
pub(crate) fn write(
    joints: &[JointKeys],
    rate_hz: f32,
    samples: usize,
) -> Result<Vec<u8>, &'static str> {
    // An animation with a single pose still needs two times.
    let duration_s = (samples - 1).max(1) as f32 / rate_hz;
    let clock = Clock { rate_hz, duration_s };
    let tracks = joints.len().next_multiple_of(LANES);
    let translations = clock.keys(joints, tracks, |own| &own.translations, [0.0; 3], halves)?;
    let identity = [0.0, 0.0, 0.0, 1.0];
    let rotations = clock.keys(joints, tracks, |own| &own.rotations, identity, smallest_three)?;
    let scales = clock.keys(joints, tracks, |own| &own.scales, [1.0; 3], halves)?;
    let kinds = [translations, rotations, scales];

    let mut times_s: Vec<f32> =
        kinds.iter().flat_map(|keys| keys.times_s.iter().copied()).collect();
    times_s.sort_by(f32::total_cmp);
    times_s.dedup();
    if times_s.len() > usize::from(u16::MAX) {
        return Err("more times than ozz can number");
    }

    let mut out = Output(vec![LITTLE_ENDIAN]);
    out.0.extend(TAG);
    out.number(VERSION);
    out.0.extend(duration_s.to_le_bytes());
    let no_name = 0;
    out.numbers(&[joints.len() as u32, no_name, times_s.len() as u32]);
    for keys in &kinds {
        out.number(keys.times_s.len() as u32);
    }
    for Keys { snapshots, .. } in &kinds {
        out.numbers(&[snapshots.entries.len() as u32, snapshots.places.len() as u32]);
    }
    times_s.iter().for_each(|time_s| out.0.extend((time_s / duration_s).to_le_bytes()));
    for keys in &kinds {
        for time_s in &keys.times_s {
            let index = times_s.partition_point(|other| other < time_s);
            if times_s.len() <= usize::from(u8::MAX) {
                out.0.push(index as u8);
            } else {
                out.0.extend((index as u16).to_le_bytes());
            }
        }
        keys.previous.iter().for_each(|offset| out.0.extend(offset.to_le_bytes()));
        out.0.extend(&keys.snapshots.entries);
        out.numbers(&keys.snapshots.places);
        out.0.extend(keys.snapshots.interval().to_le_bytes());
        keys.values.as_flattened().iter().for_each(|word| out.0.extend(word.to_le_bytes()));
    }
    Ok(out.0)
}

struct Output(Vec<u8>);

impl Output {
    fn number(&mut self, number: u32) {
        self.0.extend(number.to_le_bytes());
    }

    fn numbers(&mut self, numbers: &[u32]) {
        numbers.iter().for_each(|number| self.number(*number));
    }
}

struct Clock {
    rate_hz: f32,
    duration_s: f32,
}

impl Clock {
    /// Returns the keys of one kind. Every track has a key at the beginning and a key at the end.
    /// The tracks that fill up the last group of four have only those keys.
    fn keys<const N: usize>(
        &self,
        joints: &[JointKeys],
        tracks: usize,
        kind: impl Fn(&JointKeys) -> &Vec<Key<N>>,
        identity: [f64; N],
        pack: impl Fn(&[f64; N]) -> [u16; 3],
    ) -> Result<Keys, &'static str> {
        let mut entries: Vec<Entry<N>> = Vec::new();
        for track in 0..tracks {
            let filler = vec![(0, identity)];
            let keys = joints.get(track).map_or(&filler, &kind);
            let mut previous_s = -1.0;
            let mut add = |time_s: f32, value: [f64; N]| {
                entries.push(Entry { track, previous_s, time_s, value });
                previous_s = time_s;
            };
            let mut end = (0.0, identity);
            for (sample, value) in keys {
                let time_s = (*sample as f32 / self.rate_hz).min(self.duration_s);
                add(time_s, *value);
                end = (time_s, *value);
            }
            if end.0 < self.duration_s {
                add(self.duration_s, end.1);
            }
        }
        entries.sort_by(|a, b| a.previous_s.total_cmp(&b.previous_s).then(a.track.cmp(&b.track)));

        let mut latest = vec![None; tracks];
        let mut previous = Vec::with_capacity(entries.len());
        for (index, entry) in entries.iter().enumerate() {
            let offset = latest[entry.track].map_or(0, |latest: usize| index - latest);
            let offset = u16::try_from(offset)
                .map_err(|_| "a track without keys for so long that ozz would insert one")?;
            previous.push(offset);
            latest[entry.track] = Some(index);
        }
        Ok(Keys {
            times_s: entries.iter().map(|entry| entry.time_s).collect(),
            previous,
            values: entries.iter().map(|entry| pack(&entry.value)).collect(),
            snapshots: Snapshots::of(&entries, tracks, self.duration_s),
        })
    }
}

impl Snapshots {
    fn of<const N: usize>(keys: &[Entry<N>], tracks: usize, duration_s: f32) -> Self {
        let mut snapshots = Self::default();
        let count = (duration_s / SNAPSHOT_INTERVAL_S).max(1.0) as usize;
        for number in 1..=count {
            let time_s = duration_s * number as f32 / count as f32;
            let known = keys.partition_point(|key| key.previous_s <= time_s);
            let is_beginning = known <= 2 * tracks;
            let last = known.saturating_sub(1) as u32;
            if is_beginning || snapshots.places.last().is_some_and(|before| last <= *before) {
                continue;
            }
            let mut current = vec![0_u32; tracks];
            for (index, key) in keys[..known].iter().enumerate() {
                current[key.track] = index as u32;
            }
            snapshots.places.extend([snapshots.entries.len() as u32, last]);
            for four in current.chunks(LANES) {
                write_group(four, &mut snapshots.entries);
            }
        }
        snapshots
    }

    /// Returns the interval of snapshots as a fraction of the duration.
    fn interval(&self) -> f32 {
        if self.places.is_empty() { 1.0 } else { 1.0 / (self.places.len() / 2) as f32 }
    }
}

/// Writes four numbers with as many bytes as each needs. A byte with their lengths comes first, and
/// then their low bytes.
fn write_group(four: &[u32], out: &mut Vec<u8>) {
    let lengths = four.iter().map(|number| (4 - number.leading_zeros() as usize / 8).max(1));
    let head = lengths.clone().enumerate().map(|(at, length)| ((length - 1) as u8) << (2 * at));
    out.push(head.fold(0, |sum, bits| sum | bits));
    for (number, length) in four.iter().zip(lengths) {
        out.extend(&number.to_le_bytes()[..length]);
    }
}

fn halves(value: &[f64; 3]) -> [u16; 3] {
    value.map(|number| f16::from_f32(number as f32).to_bits())
}

/// Packs a rotation into 48 bits: the number of the largest component, its sign, and the other
/// components in 15 bits each.
fn smallest_three(rotation: &[f64; 4]) -> [u16; 3] {
    const MOST: f64 = 32_767.0;
    let by_size = |a: &usize, b: &usize| rotation[*a].abs().total_cmp(&rotation[*b].abs());
    let largest = (0..4).rev().max_by(by_size).unwrap_or(3);
    let half_root = std::f64::consts::FRAC_1_SQRT_2;
    let others = (0..4).filter(|part| *part != largest).map(|part| {
        let code = (rotation[part] + half_root) * MOST / std::f64::consts::SQRT_2 + 0.5;
        code.clamp(0.0, MOST) as u64
    });
    let head = largest as u64 | u64::from(rotation[largest] < 0.0) << 2;
    let bits = others.enumerate().fold(head, |bits, (at, code)| bits | code << (3 + 15 * at));
    [bits as u16, (bits >> 16) as u16, (bits >> 32) as u16]
}

#[cfg(test)]
mod tests {
    use ozz_animation_rs::animation::QuaternionKey;

    use super::*;

    #[test]
    fn rotations_come_back() {
        for seed in 0..200_u32 {
            let part = |at: u32| f64::from(seed * 37 + at * 101).sin();
            let raw = [part(1), part(2), part(3), part(4)];
            let length = raw.iter().map(|part| part * part).sum::<f64>().sqrt();
            let rotation = raw.map(|part| part / length);
            let read = QuaternionKey::new(smallest_three(&rotation)).decompress().to_array();
            for (one, other) in rotation.iter().zip(read) {
                assert!((one - f64::from(other)).abs() < 1e-4, "{rotation:?} {read:?}");
            }
        }
    }

    #[test]
    fn groups_have_the_lengths_of_their_numbers() {
        let mut out = Vec::new();
        write_group(&[0, 0x1ff, 0x10000, 0x0100_0000], &mut out);
        assert_eq!(out, [0b1110_0100, 0, 0xff, 1, 0, 0, 1, 0, 0, 0, 1]);
    }
}
