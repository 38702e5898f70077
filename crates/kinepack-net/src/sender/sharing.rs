//! Who shares an encoding, if a tick asks for more different ones than it may make.
//!
//! A receiver chooses by its acknowledgements what its snapshots are coded against. Honest receivers acknowledge nearly
//! everything, so those with the same round trip share an encoding. A hostile one that acknowledges random views shares
//! with nobody, and would cost as much as all honest ones together. The rule:
//!
//! 1. Encodings that several receivers share are made first, those first that most receivers wait for.
//! 2. An *outlier*, whose encoding is its own, is moved to a shared one if it has acknowledged all that this is coded
//!    against.
//! 3. The other outliers give up what makes them different: what was learned, then the older views. If most receivers share,
//!    the outliers together may then take a quarter of the encodings that the shared ones take, at least four; else all that
//!    the limit leaves. Those that wait for longest come first; the rest wait for a later tick.
//!
//! Cost: nothing below the limit but a look-up a receiver. Above it, a sort, and for each outlier a look at the views that
//! it has acknowledged.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::history::Base;
use super::hub::HubConfig;
use super::peer::{Peer, Turn};
use super::sending::{CodedKey, Wanted, coded_key};

/// Outliers may always take so many encodings.
const FEWEST_FOR_OUTLIERS: usize = 4;

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
#[derive(Debug, Default)]
struct Group {
    members: Vec<usize>,
    /// For each member one, and the ticks for which it waits.
    score: u64,
}

impl Group {
    fn add(&mut self, index: usize, peer: &Peer) {
        self.members.push(index);
        self.score += 1 + u64::from(peer.waited_ticks());
    }
}

type Ready<'p> = (&'p mut Peer, Turn);

/// Puts receivers into an order if they ask for more different encodings than a tick may make; `None` if not. What outliers
/// are coded against may change.
pub(super) fn schedule(ready: &mut [Ready<'_>], config: &HubConfig) -> Option<Schedule> {
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
        let groups = grouped(ready, &indices);
        if groups.len() <= most {
            schedule.served.extend(indices);
        } else {
            limit(ready, groups, config, &mut schedule);
        }
    }
    (!schedule.outliers.is_empty()).then_some(schedule)
}

/// Adds the receivers of one codec and subject, in more groups than may be encoded.
fn limit(ready: &mut [Ready<'_>], groups: Vec<Group>, config: &HubConfig, schedule: &mut Schedule) {
    let most = config.encodings_per_tick as usize;
    // The highest scores come first, so that groups of one are last.
    let shared = groups.iter().filter(|group| group.members.len() > 1).take(most).collect::<Vec<_>>();
    let mut is_shared: HashSet<usize> = HashSet::new();
    // The first receiver of each shared group, by the id of the view that its base is.
    let mut by_view: HashMap<u64, Vec<usize>> = HashMap::new();
    for group in &shared {
        let first = group.members[0];
        by_view.entry(ready[first].1.base.view.id).or_default().push(first);
        is_shared.extend(&group.members);
        schedule.served.extend(&group.members);
    }
    let outliers = groups.iter().flat_map(|group| &group.members).filter(|index| !is_shared.contains(index));
    let mut rest = Vec::new();
    for index in outliers {
        let bases = |id| by_view.get(&id).into_iter().flatten().map(|first| &ready[*first].1.base);
        match ready[*index].0.base_like(bases, config) {
            Some(base) => {
                ready[*index].1.base = base;
                schedule.served.push(*index);
            }
            None => rest.push(*index),
        }
    }
    let left = (most - shared.len()).max(1);
    let most_share = is_shared.len() >= rest.len();
    let most_encodings = if most_share { left.min(FEWEST_FOR_OUTLIERS.max(shared.len() / 4)) } else { left };
    let groups = simplified(ready, &rest).into_iter().map(|group| group.members).collect();
    schedule.outliers.push(Outliers { groups, most_encodings });
}

/// Receivers by what they are coded against, the highest score first; of equal ones, the one with the first receiver.
fn grouped(ready: &[Ready<'_>], indices: &[usize]) -> Vec<Group> {
    let mut groups: HashMap<CodedKey, Group> = HashMap::new();
    for index in indices {
        let (peer, turn) = &ready[*index];
        groups.entry(coded_key(&turn.base)).or_default().add(*index, peer);
    }
    let mut groups: Vec<Group> = groups.into_values().collect();
    groups.sort_unstable_by_key(|group| (std::cmp::Reverse(group.score), group.members[0]));
    groups
}

/// Groups of receivers that share if they give up something: each gives up as little as makes its group largest.
fn simplified(ready: &mut [Ready<'_>], rest: &[usize]) -> Vec<Group> {
    let mut counts: HashMap<CodedKey, usize> = HashMap::new();
    for index in rest {
        for base in variants(&ready[*index].1.base) {
            *counts.entry(coded_key(&base)).or_default() += 1;
        }
    }
    for index in rest {
        let base = &mut ready[*index].1.base;
        // Of several with the same count the first: `max_by_key` takes the last.
        let best = variants(base).rev().max_by_key(|base| counts.get(&coded_key(base)).copied());
        if let Some(best) = best {
            *base = best;
        }
    }
    grouped(ready, rest)
}

/// A base, the same without what was learned, and without older views too, as far as these differ.
fn variants(base: &Base) -> impl DoubleEndedIterator<Item = Base> + use<> {
    let unlearned = Base { lesson: None, ..base.clone() };
    let alone = (!base.older.is_empty()).then(|| Base { older: Vec::new(), ..unlearned.clone() });
    let unlearned = base.lesson.is_some().then_some(unlearned);
    std::iter::once(base.clone()).chain(unlearned).chain(alone)
}
