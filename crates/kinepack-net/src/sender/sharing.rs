//! Who shares an encoding, if many receivers could share and some do not.
//!
//! A receiver chooses by its acknowledgements what its snapshots are coded against. Honest receivers acknowledge nearly
//! everything, so those with the same round trip share an encoding. A hostile one that acknowledges random views shares
//! with nobody, and would cost as much as all honest ones together. The rule:
//!
//! 1. Encodings that many receivers share are made first, those first that most receivers wait for.
//! 2. An *outlier*, whose encoding few others share, is moved to such a one if it has acknowledged all that this is coded
//!    against.
//! 3. The other outliers take one encoding for four shared ones, at least one; or all that the limit leaves, if most
//!    receivers are outliers. Each gives up what makes it different, as far as others then share with it: what was learned,
//!    and the older views. If those are still too many different ones, they are coded against the views that most of them
//!    have acknowledged, and those that have none of these wait for a later tick. Who waits counts for more. A state in several
//!    datagrams takes many encodings: the outliers then wait until later ticks have made up for it, and who got it counts
//!    for less.
//!
//! Nothing changes for as many receivers as there may be encodings, nor while there are no more groups of outliers than of
//! receivers that share: losses on honest links make a few. Cost: a sort of the receivers; for each outlier a look at the
//! views that it has acknowledged.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use kinepack::Tick;

use super::history::Base;
use super::hub::HubConfig;
use super::peer::{Peer, Turn};
use super::sending::Wanted;

/// Outliers may take one encoding for so many shared ones, and always one.
const SHARED_FOR_AN_OUTLIER: usize = 4;
/// One in so many receivers, and at least two, make an encoding a shared one: a few hostile ones must not be enough.
const SHARED_BY_ONE_IN: usize = 32;
/// How many of the newest views that an outlier has acknowledged are looked at.
const NEWEST_VIEWS: usize = 8;

/// The order in which receivers get what a tick may encode, as indices.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    /// These get theirs.
    pub(super) served: Vec<usize>,
    /// Then these, for each codec and subject.
    pub(super) outliers: Vec<Outliers>,
}

/// Receivers that share with few others, or nobody.
#[derive(Debug)]
pub(super) struct Outliers {
    /// Those of one group share an encoding. They get it, one group after the other, until `most_encodings` were made.
    pub(super) groups: Vec<Vec<usize>>,
    pub(super) most_encodings: usize,
}

/// Receivers that want the same relative to the same.
#[derive(Debug)]
struct Group {
    members: Vec<usize>,
    /// The sum of its members' weights.
    score: u64,
}

type Ready<'p> = (&'p mut Peer, Turn);

/// Puts receivers into an order if they ask for more different encodings than they may have; `None` if not. What outliers
/// are coded against may change. If the outliers are overdrawn, they all wait.
pub(super) fn schedule(ready: &mut [Ready<'_>], config: &HubConfig, is_overdrawn: bool) -> Option<Schedule> {
    let most = config.encodings_per_tick as usize;
    if ready.len() <= most {
        return None;
    }
    let mut by_wanted: BTreeMap<Wanted, Vec<usize>> = BTreeMap::new();
    let mut schedule = Schedule::default();
    for (index, (peer, turn)) in ready.iter().enumerate() {
        match peer.is_always_alone(turn) {
            true => schedule.served.push(index),
            false => by_wanted.entry(turn.wanted).or_default().push(index),
        }
    }
    for indices in by_wanted.into_values() {
        if indices.len() <= most {
            schedule.served.extend(indices);
            continue;
        }
        let split = Split::new(grouped(ready, &indices), indices.len(), most);
        if split.alone.len() <= split.tolerated {
            schedule.served.extend(indices);
        } else {
            limit(ready, split, config, is_overdrawn, &mut schedule);
        }
    }
    // In the order of their memory.
    schedule.served.sort_unstable();
    (!schedule.outliers.is_empty()).then_some(schedule)
}

/// The groups of one codec and subject.
struct Split {
    shared: Vec<Group>,
    /// Groups of outliers.
    alone: Vec<Group>,
    /// How many groups of outliers are left as they are: as losses on honest links make now and then.
    tolerated: usize,
    /// How many encodings the outliers may take, if they are more.
    most_for_outliers: usize,
}

impl Split {
    /// `groups` have the highest score first; `receivers` are in them.
    fn new(groups: Vec<Group>, receivers: usize, most: usize) -> Self {
        let fewest = (receivers / SHARED_BY_ONE_IN).max(2);
        let is_shared = |group: &Group| group.members.len() >= fewest;
        let (mut shared, mut alone): (Vec<_>, Vec<_>) = groups.into_iter().partition(is_shared);
        alone.extend(shared.drain(shared.len().min(most)..));
        let left = (most - shared.len()).max(1);
        let count = |groups: &[Group]| groups.iter().map(|group| group.members.len()).sum::<usize>();
        let most_share = count(&shared) >= count(&alone);
        let few = (shared.len() / SHARED_FOR_AN_OUTLIER).max(1);
        let tolerated = if most_share { left.min(shared.len()) } else { left };
        Self { most_for_outliers: if most_share { left.min(few) } else { left }, tolerated, shared, alone }
    }
}

/// Adds the receivers of one codec and subject, whose outliers want more encodings than they may take.
fn limit(ready: &mut [Ready<'_>], split: Split, config: &HubConfig, is_overdrawn: bool, schedule: &mut Schedule) {
    let Split { shared, alone, most_for_outliers: most_encodings, .. } = split;
    // The first receiver of each shared group, by the id of the view that its base is.
    let mut by_view: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut oldest = Tick(u32::MAX);
    for group in &shared {
        let first = group.members[0];
        let view = &ready[first].1.base.view;
        by_view.entry(view.id).or_default().push(first);
        oldest = oldest.min(view.tick());
        schedule.served.extend(&group.members);
    }
    let mut outliers: Vec<usize> = alone.into_iter().flat_map(|group| group.members).collect();
    outliers.retain(|&index| {
        let bases = |id| by_view.get(&id).into_iter().flatten().map(|first| &ready[*first].1.base);
        let base = ready[index].0.history().base_like(bases, oldest, config.datagrams_per_tick);
        if let Some(base) = base {
            ready[index].1.base = base;
            schedule.served.push(index);
            return false;
        }
        true
    });

    if is_overdrawn {
        schedule.outliers.push(Outliers { groups: vec![outliers], most_encodings });
        return;
    }
    let mut groups = simplified(ready, &outliers);
    if groups.len() > most_encodings {
        groups = covered(ready, &outliers, most_encodings);
    }
    let groups = groups.into_iter().map(|group| group.members).collect();
    schedule.outliers.push(Outliers { groups, most_encodings });
}

/// Receivers by what they are coded against, the highest score first; of equal ones, the one with the first receiver.
fn grouped(ready: &[Ready<'_>], indices: &[usize]) -> Vec<Group> {
    // Sorting takes less time than a table of groups.
    let mut keyed: Vec<(u64, usize)> =
        indices.iter().map(|index| (fingerprint(&ready[*index].1.base), *index)).collect();
    keyed.sort_unstable();
    let of_one = |members: &[(u64, usize)]| {
        let members = members.iter().map(|(_, index)| *index);
        let score = members.clone().map(|index| ready[index].0.weight()).sum();
        Group { score, members: members.collect() }
    };
    let mut groups: Vec<Group> = keyed.chunk_by(|a, b| a.0 == b.0).map(of_one).collect();
    groups.sort_unstable_by_key(|group| (Reverse(group.score), group.members[0]));
    groups
}

/// Groups of receivers that share if they give up something: each gives up as little as makes its group largest.
fn simplified(ready: &mut [Ready<'_>], outliers: &[usize]) -> Vec<Group> {
    let is_plain = |index: &usize| variants(&ready[*index].1.base).nth(1).is_none();
    if outliers.iter().all(is_plain) {
        return grouped(ready, outliers);
    }
    let mut counts: HashMap<u64, usize> = HashMap::new();
    for index in outliers {
        for base in variants(&ready[*index].1.base) {
            *counts.entry(fingerprint(&base)).or_default() += 1;
        }
    }
    for index in outliers {
        let base = &mut ready[*index].1.base;
        // Of several with the same count the first: `max_by_key` takes the last.
        let best = variants(base).rev().max_by_key(|base| counts.get(&fingerprint(base)).copied());
        if let Some(best) = best {
            *base = best;
        }
    }
    grouped(ready, outliers)
}

/// The receivers, coded against at most `most` views that together most of them have acknowledged. Those who have none of
/// these come last, by themselves.
fn covered(ready: &mut [Ready<'_>], outliers: &[usize], most: usize) -> Vec<Group> {
    let views: Vec<Vec<u64>> =
        outliers.iter().map(|index| ready[*index].0.history().plain_views().take(NEWEST_VIEWS).collect()).collect();
    let mut is_covered = vec![false; outliers.len()];
    let mut chosen = Vec::new();
    while chosen.len() < most {
        let uncovered = outliers.iter().zip(&views).zip(&is_covered).filter(|(_, is_covered)| !**is_covered);
        let weighted = uncovered.flat_map(|((index, views), _)| {
            let weight = ready[*index].0.weight();
            views.iter().map(move |view| (*view, weight))
        });
        let mut all: Vec<(u64, u64)> = weighted.collect();
        all.sort_unstable();
        // Of several with the same weight, the newest.
        let weight = |same: &&[(u64, u64)]| same.iter().map(|(_, weight)| weight).sum::<u64>();
        let Some(best) = all.chunk_by(|a, b| a.0 == b.0).max_by_key(weight).map(|same| same[0].0) else { break };
        chosen.push(best);
        for (views, is_covered) in views.iter().zip(&mut is_covered) {
            *is_covered |= views.contains(&best);
        }
    }
    for (index, views) in outliers.iter().zip(&views) {
        let newest = views.iter().find(|view| chosen.contains(view));
        let (peer, turn) = &mut ready[*index];
        if let Some(base) = newest.and_then(|view| peer.history().plain_base(*view)) {
            turn.base = base;
        }
    }
    let (covered, alone): (Vec<_>, Vec<_>) =
        std::iter::zip(outliers, is_covered).partition(|(_, is_covered)| *is_covered);
    let [covered, alone] = [covered, alone].map(|part| part.into_iter().map(|(index, _)| *index).collect::<Vec<_>>());
    let mut groups = grouped(ready, &covered);
    groups.extend(grouped(ready, &alone));
    groups
}

/// A number for all that a base is; bases with the same number may be taken for the same here, where only the order is at stake.
fn fingerprint(base: &Base) -> u64 {
    let older = base.older.iter().map(|(_, view)| view.id);
    let merged = base.merged.iter().map(|view| view.id);
    let ids =
        std::iter::once(base.view.id).chain(merged).chain(older).chain(base.lesson.iter().map(|lesson| lesson.id));
    ids.fold(0, |hash, id| (hash ^ id).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29))
}

/// A base, the same without what was learned, and without older views too, as far as these differ.
fn variants(base: &Base) -> impl DoubleEndedIterator<Item = Base> + use<> {
    let unlearned = Base { lesson: None, ..base.clone() };
    let alone = (!base.older.is_empty()).then(|| Base { older: Vec::new(), ..unlearned.clone() });
    let unlearned = base.lesson.is_some().then_some(unlearned);
    std::iter::once(base.clone()).chain(unlearned).chain(alone)
}
