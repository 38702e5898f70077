//! Computes the table of widths. The trainer counts the widths that coefficients need over many
//! clips. For each piece, it then searches for the 255 profiles with which the coefficients take
//! the fewest bits. The method is agglomerative clustering: it repeatedly merges the two lists of
//! widths whose merger costs least. Finally, the trainer fits each profile to the coefficients that
//! choose it.

use std::collections::HashMap;

use crate::RawClip;
use crate::block::{
    BlockLength, MAX_FOUR_BITS, PIECE, PROFILES, Widths, max_width, piece_range, width_of,
};

use super::options::{BlockOptions, Effort};
use super::plan::{Choices, Plan};
use super::search::code;
use super::{spans, target};
use crate::offline::options::BuildOptions;

/// The maximum number of different lists of widths that the clustering takes. If there are more,
/// the clustering takes an even selection of them.
const MAX_MERGED: usize = 8000;
/// The number of profiles that are fixed instead of trained, so that any widths fit some profile
/// fairly well.
const FIXED: usize = 10;
/// The maximum number of rounds of fitting the profiles.
const FITS: usize = 40;
/// The approximate size of the widths that an escape stores, in bits.
const ESCAPE_BITS: u32 = 60;

/// Collects the widths that the coefficients of clips need, and computes [`WidthTable`]s from these
/// widths.
///
/// ```
/// # use std::sync::Arc;
/// # use kinepack_anim::{Joint, RawClip, Skeleton, Transform};
/// use kinepack_anim::block::BlockLength;
/// use kinepack_anim::offline::{BuildOptions, WidthTrainer};
/// # let joint = Joint { name: "root".into(), parent: None, bind: Transform::IDENTITY };
/// # let skeleton = Arc::new(Skeleton::new(vec![joint])?);
/// # let sample = |i: i32| Transform { translation: [i as f32, 0.0, 0.0], ..Transform::IDENTITY };
/// # let samples = (0..31).map(sample).collect();
/// # let raw = RawClip::new("slide", skeleton, 30.0, samples)?;
///
/// let mut trainer = WidthTrainer::default();
/// trainer.add(&raw, &BuildOptions::default());
/// let table = trainer.table(BlockLength::N8, 0);
/// assert_eq!((table.profiles.len(), table.profiles[0].len()), (255, 8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct WidthTrainer {
    /// The weight of each list of widths. The maps are for block length 8, for block length 16, and
    /// for the first and second piece of block length 32.
    counts: [HashMap<Widths, f64>; 4],
}

/// The profiles for a piece of a block length. [`WidthTrainer`] computes them.
#[derive(Clone, Debug, PartialEq)]
pub struct WidthTable {
    /// The block length.
    pub block: BlockLength,
    /// The piece of a component, which is 0 or, with a block length of 32, also 1.
    pub piece: usize,
    /// The widths of each profile. The profiles with the fewest bits come first.
    pub profiles: Vec<Vec<u8>>,
    /// The mean bits of a piece's coefficients if each had exactly the width that it needs. No
    /// table can take fewer bits.
    pub ideal_bits: f64,
    /// The mean bits of a piece's coefficients with this table.
    pub bits: f64,
}

impl WidthTrainer {
    /// Adds the widths that a clip needs with each block length.
    pub fn add(&mut self, raw: &RawClip, options: &BuildOptions) {
        let target = target(raw, options, 1.0);
        for block in BlockLength::ALL {
            let choices = Choices { block, is_fine: true, aim: 0.5, is_of_rig: false };
            let plan = Plan::new(&target, &BlockOptions::default(), choices, |_| [false; 2]);
            let coded =
                code(&target, &plan, &spans::all(&spans::header(&target, choices)), Effort::Fast);
            let moving = coded.segments.iter().flat_map(|segment| {
                let components = segment.coefficients.chunks_exact(segment.length).enumerate();
                let joints = components.take(3 * plan.tracks.len());
                joints.filter(|(index, _)| plan.tracks[index / 3].steps[index % 3] != 0)
            });
            let moving: Vec<&[i32]> = moving.map(|(_, coefficients)| coefficients).collect();
            // A clip's weight grows with the square root of its length.
            let weight = 1.0 / f64::sqrt(moving.len() as f64);
            for coefficients in moving {
                for piece in 0..block.pieces() {
                    let widths = widths(&coefficients[piece_range(piece, coefficients.len())]);
                    if can_be_profile(&widths) {
                        *self.counts[block as usize + piece].entry(widths).or_default() += weight;
                    }
                }
            }
        }
    }

    /// Adds everything that the trainer `other` has collected.
    pub fn merge(&mut self, other: Self) {
        for (counts, others) in self.counts.iter_mut().zip(other.counts) {
            others
                .into_iter()
                .for_each(|(widths, count)| *counts.entry(widths).or_default() += count);
        }
    }

    /// Returns the profiles for all pieces. The tables are for block length 8, for block length 16,
    /// and for the first and second piece of block length 32.
    pub fn tables(&self) -> [WidthTable; 4] {
        [(BlockLength::N8, 0), (BlockLength::N16, 0), (BlockLength::N32, 0), (BlockLength::N32, 1)]
            .map(|(block, piece)| self.table(block, piece))
    }

    /// Returns the profiles for a piece.
    pub fn table(&self, block: BlockLength, piece: usize) -> WidthTable {
        let counts = &self.counts[block as usize + piece];
        let mut seen: Vec<(Widths, f64)> =
            counts.iter().map(|(widths, count)| (*widths, *count)).collect();
        seen.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let length = block.samples().min(PIECE);
        // `spread` is an even selection of frequent and rare widths.
        let every = seen.len().div_ceil(MAX_MERGED).max(1);
        let spread: Vec<_> = seen.iter().copied().step_by(every).collect();
        let mut profiles = merge(&spread, PROFILES - FIXED);
        let bits = fit(&seen, &mut profiles);
        for level in [4.0, 8.0, 12.0, 16.0] {
            for slope in [1.0, 0.5] {
                profiles.push(fixed_profile(level, slope, length));
            }
        }
        // These profiles are for a joint that is far away and moves a little.
        for level in [4.0, 8.0] {
            let mut far = fixed_profile(level, 1.0, length);
            far[0] = max_width(0);
            profiles.push(far);
        }
        // The next lines remove duplicates, and pad the list to the number of profiles in the
        // format.
        profiles.sort_by_key(|widths| (sum(widths), *widths));
        profiles.dedup();
        while profiles.len() < PROFILES {
            profiles.push(profiles.last().copied().unwrap_or([0; PIECE]));
        }
        let all: f64 = seen.iter().map(|(_, count)| count).sum();
        let ideal_bits =
            seen.iter().map(|(widths, count)| count * f64::from(sum(widths))).sum::<f64>() / all;
        let profiles = profiles.iter().map(|widths| widths[..length].to_vec()).collect();
        WidthTable { block, piece, profiles, ideal_bits, bits: bits / all }
    }
}

fn widths(coefficients: &[i32]) -> Widths {
    let mut widths = [0; PIECE];
    widths.iter_mut().zip(coefficients).for_each(|(width, value)| *width = width_of(*value));
    widths
}

fn can_be_profile(widths: &Widths) -> bool {
    let is_loadable =
        |four: &[u8]| four.iter().copied().map(u32::from).sum::<u32>() <= MAX_FOUR_BITS;
    widths.iter().enumerate().all(|(k, width)| *width <= max_width(k))
        && widths.chunks_exact(4).all(is_loadable)
}

fn sum(widths: &Widths) -> u32 {
    widths.iter().copied().map(u32::from).sum()
}

/// Returns a profile whose widths fall with the frequency.
fn fixed_profile(level: f64, slope: f64, length: usize) -> Widths {
    let mut widths = [0; PIECE];
    for (k, width) in widths[..length].iter_mut().enumerate() {
        let eighths = ((k + 1) as f64 * 8.0 / length as f64).log2().max(0.0);
        // Four coefficients of such widths have at most `MAX_FOUR_BITS` together.
        let most = if k == 0 { 17.0 } else { 13.0 };
        *width = (level + 2.0 - 2.0 * slope * eighths).clamp(1.0, most) as u8;
    }
    widths
}

#[derive(Clone, Copy)]
struct Cluster {
    widths: Widths,
    count: f64,
    /// The cluster that is cheapest to merge with this one, and the cost of the merger.
    nearest: (usize, f64),
}

/// Merges lists of widths until `wanted` lists remain.
fn merge(seen: &[(Widths, f64)], wanted: usize) -> Vec<Widths> {
    let mut clusters: Vec<Cluster> = seen
        .iter()
        .map(|&(widths, count)| Cluster { widths, count, nearest: (0, f64::INFINITY) })
        .collect();
    for index in 0..clusters.len() {
        clusters[index].nearest = nearest(&clusters, index);
    }
    while clusters.len() > wanted {
        let Some(first) = (0..clusters.len())
            .min_by(|&a, &b| clusters[a].nearest.1.total_cmp(&clusters[b].nearest.1))
        else {
            break;
        };
        let second = clusters[first].nearest.0;
        let (keep, drop) = (first.min(second), first.max(second));
        let dropped = clusters[drop];
        clusters[keep].widths.iter_mut().zip(dropped.widths).for_each(|(a, b)| *a = (*a).max(b));
        clusters[keep].count += dropped.count;
        let last = clusters.len() - 1;
        clusters.swap_remove(drop);
        for index in 0..clusters.len() {
            let near = clusters[index].nearest.0;
            if index == keep || near == keep || near == drop {
                clusters[index].nearest = nearest(&clusters, index);
            } else {
                if near == last {
                    clusters[index].nearest.0 = drop;
                }
                let cost = cost(&clusters[index], &clusters[keep]);
                if cost < clusters[index].nearest.1 && is_allowed(&clusters[index], &clusters[keep])
                {
                    clusters[index].nearest = (keep, cost);
                }
            }
        }
    }
    clusters.into_iter().map(|cluster| cluster.widths).collect()
}

fn nearest(clusters: &[Cluster], of: usize) -> (usize, f64) {
    let mut best = (of, f64::INFINITY);
    for (index, cluster) in clusters.iter().enumerate() {
        let cost = cost(&clusters[of], cluster);
        if cost < best.1 && index != of && is_allowed(&clusters[of], cluster) {
            best = (index, cost);
        }
    }
    best
}

/// Returns the bits that merging two clusters adds.
fn cost(a: &Cluster, b: &Cluster) -> f64 {
    f64::from(missing(&a.widths, &b.widths)) * a.count
        + f64::from(missing(&b.widths, &a.widths)) * b.count
}

/// Returns the number of bits by which `a` must grow to be as wide as `b`.
fn missing(a: &Widths, b: &Widths) -> u32 {
    a.iter().zip(b).map(|(a, b)| u32::from(b.saturating_sub(*a))).sum()
}

/// Returns whether merging two clusters gives a profile that the format allows.
fn is_allowed(a: &Cluster, b: &Cluster) -> bool {
    can_be_profile(&std::array::from_fn(|k| a.widths[k].max(b.widths[k])))
}

/// The profile that a list of widths chooses.
struct Choice {
    best: usize,
    /// The number of bits with that profile.
    bits: u32,
    /// The number of bits with the second-best profile.
    second_bits: u32,
}

fn choose(widths: &Widths, profiles: &[Widths], sums: &[u32]) -> Choice {
    let escape = sum(widths) + ESCAPE_BITS;
    let mut choice = Choice { best: usize::MAX, bits: escape, second_bits: escape };
    for (index, profile) in profiles.iter().enumerate() {
        if sums[index] < choice.second_bits && missing(profile, widths) == 0 {
            if sums[index] < choice.bits {
                choice = Choice { best: index, bits: sums[index], second_bits: choice.bits };
            } else {
                choice.second_bits = sums[index];
            }
        }
    }
    choice
}

/// Narrows profiles as long as this saves bits overall. The widths that still fit a narrower
/// profile take fewer bits, and the others must choose another profile. Returns the total bits of
/// all widths.
fn fit(seen: &[(Widths, f64)], profiles: &mut [Widths]) -> f64 {
    let mut before = f64::INFINITY;
    for _ in 0..FITS {
        let sums: Vec<u32> = profiles.iter().map(sum).collect();
        let choices: Vec<Choice> =
            seen.iter().map(|(widths, _)| choose(widths, profiles, &sums)).collect();
        let bits = choices
            .iter()
            .zip(seen)
            .map(|(choice, (_, count))| count * f64::from(choice.bits))
            .sum();
        if bits >= before * 0.9999 {
            return bits;
        }
        before = bits;
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); profiles.len()];
        for (index, choice) in choices.iter().enumerate() {
            if let Some(members) = members.get_mut(choice.best) {
                members.push(index);
            }
        }
        for (profile, mut members) in profiles.iter_mut().zip(members) {
            loop {
                let mut gains = [0.0; PIECE];
                for &member in &members {
                    let (widths, count) = &seen[member];
                    let lost = f64::from(choices[member].second_bits) - f64::from(sum(profile));
                    for k in 0..PIECE {
                        gains[k] += if widths[k] < profile[k] { *count } else { -lost * count };
                    }
                }
                let best = (0..PIECE)
                    .filter(|&k| profile[k] > 0)
                    .max_by(|&a, &b| gains[a].total_cmp(&gains[b]));
                let Some(best) = best.filter(|&k| gains[k] > 0.0) else { break };
                profile[best] -= 1;
                let still_fits = |member: &usize| seen[*member].0[best] <= profile[best];
                members.retain(still_fits);
            }
        }
    }
    before
}
