//! Finds the table of widths: which widths the coefficients of components need, over many clips, and the 255 profiles of each block length with
//! which they take the fewest bits. Agglomerative: of the widths that occur, those are merged again and again that cost least together; then profiles are
//! fitted to what chooses them.

use std::collections::HashMap;

use crate::RawClip;
use crate::block::{BlockLength, MAX_FOUR_BITS, MAX_LENGTH, MAX_WIDTH, PROFILES};

use super::plan::{Choices, Plan};
use super::{BlockOptions, header, spans, target};

/// The widths of a component of a segment.
type Widths = [u8; MAX_LENGTH];

/// How many different widths are merged at most; of more, the rarest go to the profile that fits them best.
const MERGED: usize = 5000;
/// Profiles that are given: so that for any widths there is something not too bad.
const GIVEN: usize = 8;
const FITS: usize = 8;

/// What was seen of the widths of coefficients.
#[derive(Clone, Debug, Default)]
pub struct WidthTrainer {
    counts: [HashMap<Widths, f64>; 3],
}

/// Profiles for one block length.
#[derive(Clone, Debug, PartialEq)]
pub struct WidthTable {
    /// For which blocks.
    pub block: BlockLength,
    /// Widths of each profile, those with the fewest bits first.
    pub profiles: Vec<Vec<u8>>,
    /// Bits of a component's coefficients, each with the width that it needs: what no table can do better.
    pub ideal_bits: f64,
    /// Bits with the table.
    pub bits: f64,
}

impl WidthTrainer {
    /// Takes what a clip needs, built to a precision, with blocks of each length.
    pub fn add(&mut self, raw: &RawClip, precision_cm: f64, shell_cm: f64, options: &BlockOptions) {
        let target = target(raw, precision_cm, shell_cm, 1.0);
        for block in BlockLength::ALL {
            let choices = Choices { block, is_fine: true, aim: 0.5 };
            let plan = Plan::new(&target, &options.pins, choices);
            let coded = super::code(&target, &plan, &spans(&header(&target, choices)));
            let mut seen: HashMap<Widths, f64> = HashMap::new();
            let mut all = 0.0;
            for segment in coded.segments {
                for (component, coefficients) in segment.coefficients.chunks_exact(segment.length).enumerate() {
                    let widths = widths(coefficients);
                    if plan.tracks[component / 3].steps[component % 3] != 0 && can_be_profile(&widths) {
                        *seen.entry(widths).or_default() += 1.0;
                        all += 1.0;
                    }
                }
            }
            // A long clip says more than a short one, but not as much more as it is long.
            let weight = 1.0 / f64::sqrt(all);
            for (widths, count) in seen {
                *self.counts[block as usize].entry(widths).or_default() += weight * count;
            }
        }
    }

    /// Takes what another has seen.
    pub fn merge(&mut self, other: Self) {
        for (counts, others) in self.counts.iter_mut().zip(other.counts) {
            others.into_iter().for_each(|(widths, count)| *counts.entry(widths).or_default() += count);
        }
    }

    /// The profiles for a block length.
    pub fn table(&self, block: BlockLength) -> WidthTable {
        let mut seen: Vec<(Widths, f64)> =
            self.counts[block as usize].iter().map(|(widths, count)| (*widths, *count)).collect();
        seen.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let length = block.samples();
        let mut profiles = merge(&seen[..seen.len().min(MERGED)], PROFILES - GIVEN, length);
        for level in [4.0, 8.0, 12.0, 16.0] {
            for slope in [1.0, 0.5] {
                profiles.push(given(level, slope, length));
            }
        }
        let mut bits = 0.0;
        for _ in 0..FITS {
            bits = fit(&seen, &mut profiles, length);
        }
        // No two alike, and as many as the format has.
        profiles.sort_by_key(|widths| (sum(widths), *widths));
        profiles.dedup();
        while profiles.len() < PROFILES {
            profiles.push(profiles.last().copied().unwrap_or([0; MAX_LENGTH]));
        }
        let all: f64 = seen.iter().map(|(_, count)| count).sum();
        let ideal_bits = seen.iter().map(|(widths, count)| count * f64::from(sum(widths))).sum::<f64>() / all;
        let profiles = profiles.iter().map(|widths| widths[..length].to_vec()).collect();
        WidthTable { block, profiles, ideal_bits, bits: bits / all }
    }
}

fn widths(coefficients: &[i32]) -> Widths {
    let mut widths = [0; MAX_LENGTH];
    widths.iter_mut().zip(coefficients).for_each(|(width, value)| *width = crate::block::width_of(*value));
    widths
}

fn can_be_profile(widths: &Widths) -> bool {
    let is_loadable = |four: &[u8]| four.iter().copied().map(u32::from).sum::<u32>() <= MAX_FOUR_BITS;
    widths.iter().all(|width| *width <= MAX_WIDTH) && widths.chunks_exact(4).all(is_loadable)
}

fn sum(widths: &Widths) -> u32 {
    widths.iter().copied().map(u32::from).sum()
}

/// A profile that falls with the frequency.
fn given(level: f64, slope: f64, length: usize) -> Widths {
    let mut widths = [0; MAX_LENGTH];
    for (k, width) in widths[..length].iter_mut().enumerate() {
        let eighths = ((k + 1) as f64 * 8.0 / length as f64).log2().max(0.0);
        *width = (level + 2.0 - 2.0 * slope * eighths).clamp(1.0, f64::from(MAX_WIDTH) - 2.0) as u8;
    }
    widths
}

#[derive(Clone, Copy)]
struct Cluster {
    widths: Widths,
    count: f64,
    /// The cluster with which it costs least to be one, and what that costs.
    nearest: (usize, f64),
}

/// Merges widths until there are `wanted`.
fn merge(seen: &[(Widths, f64)], wanted: usize, length: usize) -> Vec<Widths> {
    let mut clusters: Vec<Cluster> =
        seen.iter().map(|&(widths, count)| Cluster { widths, count, nearest: (0, f64::INFINITY) }).collect();
    for index in 0..clusters.len() {
        clusters[index].nearest = nearest(&clusters, index, length);
    }
    while clusters.len() > wanted {
        let Some(first) = (0..clusters.len()).min_by(|&a, &b| clusters[a].nearest.1.total_cmp(&clusters[b].nearest.1))
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
                clusters[index].nearest = nearest(&clusters, index, length);
            } else {
                if near == last {
                    clusters[index].nearest.0 = drop;
                }
                let cost = cost(&clusters[index], &clusters[keep], length);
                if cost < clusters[index].nearest.1 {
                    clusters[index].nearest = (keep, cost);
                }
            }
        }
    }
    clusters.into_iter().map(|cluster| cluster.widths).collect()
}

fn nearest(clusters: &[Cluster], of: usize, length: usize) -> (usize, f64) {
    let mut best = (of, f64::INFINITY);
    for (index, cluster) in clusters.iter().enumerate() {
        if index != of {
            let cost = cost(&clusters[of], cluster, length);
            if cost < best.1 {
                best = (index, cost);
            }
        }
    }
    best
}

/// The bits that two take more as one; infinite where the one could be no profile.
fn cost(a: &Cluster, b: &Cluster, length: usize) -> f64 {
    let (mut more_a, mut more_b) = (0_u32, 0_u32);
    let mut four = 0_u32;
    for k in 0..length {
        let (x, y) = (a.widths[k], b.widths[k]);
        more_a += u32::from(y.saturating_sub(x));
        more_b += u32::from(x.saturating_sub(y));
        four = if k % 4 == 0 { 0 } else { four } + u32::from(x.max(y));
        if four > MAX_FOUR_BITS {
            return f64::INFINITY;
        }
    }
    f64::from(more_a) * a.count + f64::from(more_b) * b.count
}

/// Gives each profile just the widths that those need which choose it. The bits that all take.
fn fit(seen: &[(Widths, f64)], profiles: &mut [Widths], length: usize) -> f64 {
    let mut needed: Vec<Option<Widths>> = vec![None; profiles.len()];
    let mut bits = 0.0;
    for (widths, count) in seen {
        let has_room = |profile: &Widths| (0..length).all(|k| profile[k] >= widths[k]);
        let best = (0..profiles.len()).filter(|&index| has_room(&profiles[index])).min_by_key(|&index| sum(&profiles[index]));
        let Some(best) = best else {
            bits += count * f64::from(sum(widths) + 5 * length as u32);
            continue;
        };
        bits += count * f64::from(sum(&profiles[best]));
        let needed = needed[best].get_or_insert([0; MAX_LENGTH]);
        needed.iter_mut().zip(widths).for_each(|(needed, width)| *needed = (*needed).max(*width));
    }
    // The last ones are given, and stay as they are.
    let fitted = profiles.len() - GIVEN;
    for (profile, needed) in profiles[..fitted].iter_mut().zip(needed) {
        if let Some(needed) = needed {
            *profile = needed;
        }
    }
    bits
}
