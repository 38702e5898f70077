//! Decides which receivers get an encoding if many receivers could share one and some do not.
//!
//! The acknowledgements of a receiver determine what its snapshots are coded against. Honest
//! receivers acknowledge nearly everything, so receivers with the same round trip share an
//! encoding. A hostile receiver that acknowledges random views shares with no other receiver, and
//! would cost as much as all honest receivers together. These rules prevent such a cost:
//!
//! 1. Encodings that many receivers share are made first.
//! 2. An *outlier* is a receiver whose encoding few others share. If it has acknowledged all that a
//!    shared encoding is coded against, the outlier gets that encoding.
//! 3. *Quick* outliers hold a complete view that is young, so a snapshot for one of them usually
//!    takes one encoding. Together they get one encoding for every four shared encodings, and at
//!    least one. If most receivers are outliers, the quick ones get all that the limit leaves. Each
//!    outlier first gives up its learned models or its older views, if it then shares with others.
//!    If that is still too many encodings, the hub codes against the views that most outliers hold.
//!    Outliers that hold none of these views wait.
//! 4. *Slow* outliers hold no such view. A snapshot for one of them often takes several datagrams
//!    and many encodings. The slow outlier that has waited longest goes first. On average, slow
//!    outliers together take half an encoding a tick. If most receivers are outliers, the slow ones
//!    get what the quick ones leave.
//!
//! Outliers that exceeded their credits wait until later ticks have restored the credits. Quick and
//! slow outliers are counted separately. So hostile receivers cannot keep an honest receiver
//! waiting by acknowledging old views, even if no other receiver has the honest receiver's round
//! trip.
//!
//! The limit has no effect if there are no more receivers than allowed encodings. It also has no
//! effect if there are at most as many groups of outliers as groups of receivers that share. Losses
//! on honest links alone cause a few outliers. Cost: a sort of the receivers, and for each outlier
//! a scan of its acknowledged views.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use kinepack::Tick;

use super::ages::Ages;
use super::chosen_baseline::ChosenBaseline;
use super::moment::Moment;
use super::offered::Target;
use super::peer::{DueSnapshot, Peer};

/// The number of shared encodings for which the quick outliers get one encoding. They get at least
/// one.
const SHARED_FOR_AN_OUTLIER: usize = 4;
/// The cost of one encoder run for an outlier.
pub(super) const RUN_CREDITS: u64 = 2;
/// The credits that slow outliers get in a tick if most receivers share.
const SLOW_CREDITS: u64 = 1;
/// An encoding counts as shared if at least two receivers use it, and at least one receiver in this
/// many. So an encoding of a few hostile receivers does not count as shared.
const SHARED_BY_ONE_IN: usize = 32;

/// Which receivers get an encoding in a tick, as indices in increasing order.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    /// Receivers that get a snapshot in any case.
    pub(super) served: Vec<usize>,
    /// For each codec and visible state, the outliers that are served next until their credits are
    /// spent. The list is empty if the limit has no effect.
    pub(super) outliers: Vec<Outliers>,
}

/// How many encoder runs an outlier's snapshot takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pace {
    /// Usually one run, because the outlier holds a complete view that is young.
    Quick,
    /// Often several runs, because the changes since its baseline may need more than one datagram.
    Slow,
}

/// How much outliers exceeded their credits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Overdrawn {
    quick: u64,
    slow: u64,
}

impl Overdrawn {
    pub(super) fn for_pace(&mut self, pace: Pace) -> &mut u64 {
        match pace {
            Pace::Quick => &mut self.quick,
            Pace::Slow => &mut self.slow,
        }
    }
}

/// Outliers of one pace, codec and visible state.
#[derive(Debug)]
pub(super) struct Outliers {
    pub(super) pace: Pace,
    /// Groups of outliers whose members share an encoding. The groups are served in order until all
    /// credits are spent.
    pub(super) groups: Vec<Vec<usize>>,
    /// Outliers that wait for a later tick.
    pub(super) rest: Vec<usize>,
    /// The credits of the outliers in `rest` in this tick. These credits are not used while the
    /// outliers are overdrawn.
    pub(super) credits: u64,
}

/// A quick outlier.
#[derive(Debug)]
struct Outlier {
    index: usize,
    weight: u64,
    /// The ages of the young views that the outlier holds and that can be baselines without
    /// merging.
    held: Ages,
}

/// Receivers with the same target and baseline.
#[derive(Debug)]
struct Group {
    members: Vec<usize>,
    /// The sum of the members' weights.
    score: u64,
}

/// A receiver that should get a snapshot.
pub(super) type Ready<'p> = (&'p mut Peer, DueSnapshot);

/// Decides which receivers to serve: all of them, unless they need more different encodings than
/// allowed. May change the baselines of outliers.
pub(super) fn schedule(ready: &mut [Ready<'_>], moment: &Moment<'_>) -> Schedule {
    let most = moment.config.encodings_per_tick as usize;
    if ready.len() <= most {
        return Schedule { served: (0..ready.len()).collect(), outliers: Vec::new() };
    }
    let mut by_target: BTreeMap<Target, Vec<usize>> = BTreeMap::new();
    let mut schedule = Schedule::default();
    for (index, (peer, due)) in ready.iter().enumerate() {
        match peer.is_always_alone(due) {
            true => schedule.served.push(index),
            false => by_target.entry(due.target).or_default().push(index),
        }
    }
    for indices in by_target.into_values() {
        if indices.len() <= most {
            schedule.served.extend(indices);
            continue;
        }
        let split = Shares::new(grouped(ready, &indices), indices.len(), most);
        if split.alone.len() <= split.tolerated {
            schedule.served.extend(indices);
        } else {
            limit(ready, split, moment, &mut schedule);
        }
    }
    // Sorted indices let the caller visit the peers in the order of their memory.
    schedule.served.sort_unstable();
    schedule
}

/// The groups of one codec and visible state.
struct Shares {
    shared: Vec<Group>,
    /// Groups of outliers.
    alone: Vec<Group>,
    /// The number of groups of outliers that are served without a limit. Losses on honest links
    /// cause a few such groups now and then.
    tolerated: usize,
    /// How many encodings the outliers may take if there are more groups than `tolerated`.
    most_for_outliers: usize,
    /// Whether at least half of the receivers share encodings.
    most_share: bool,
}

impl Shares {
    /// `groups` are sorted by score, highest first. `receivers` is the number of all members.
    fn new(groups: Vec<Group>, receivers: usize, most: usize) -> Self {
        let fewest = (receivers / SHARED_BY_ONE_IN).max(2);
        let is_shared = |group: &Group| group.members.len() >= fewest;
        let (mut shared, mut alone): (Vec<_>, Vec<_>) = groups.into_iter().partition(is_shared);
        alone.extend(shared.drain(shared.len().min(most)..));
        let remaining = (most - shared.len()).max(1);
        let count =
            |groups: &[Group]| groups.iter().map(|group| group.members.len()).sum::<usize>();
        let most_share = count(&shared) >= count(&alone);
        let few = (shared.len() / SHARED_FOR_AN_OUTLIER).max(1);
        let tolerated = if most_share { remaining.min(shared.len()) } else { remaining };
        let most_for_outliers = if most_share { remaining.min(few) } else { remaining };
        Self { shared, alone, tolerated, most_for_outliers, most_share }
    }
}

/// Schedules the receivers of one codec and visible state if its outliers need more encodings than
/// allowed.
fn limit(ready: &mut [Ready<'_>], split: Shares, moment: &Moment<'_>, schedule: &mut Schedule) {
    let Shares { shared, alone, most_for_outliers, most_share, .. } = split;
    let mut shared_ages = Ages::default();
    for group in &shared {
        shared_ages.insert(moment.tick, ready[group.members[0]].1.base.view.tick());
        schedule.served.extend(&group.members);
    }
    let oldest = shared_ages.oldest_young(moment.tick);
    let datagrams = moment.config.datagrams_per_tick;
    let (mut quick, mut slow) = (Vec::new(), Vec::new());
    for index in alone.into_iter().flat_map(|group| group.members) {
        let peer = &*ready[index].0;
        let held = peer.history().plain_ages(moment.tick, oldest);
        let bases = shared.iter().map(|group| &ready[group.members[0]].1.base);
        let base =
            held.meet(shared_ages).then(|| peer.history().base_like(bases, datagrams)).flatten();
        if let Some(base) = base {
            ready[index].1.base = base;
            schedule.served.push(index);
        } else if !held.is_empty() {
            quick.push(Outlier { index, weight: peer.weight(), held });
        } else {
            slow.push(index);
        }
    }

    let indices = quick.iter().map(|outlier| outlier.index).collect::<Vec<_>>();
    let (mut groups, mut rest) = (simplified(ready, &indices), Vec::new());
    if groups.len() > most_for_outliers {
        (groups, rest) = covered(ready, &quick, moment.tick, most_for_outliers);
    }
    let remaining = if most_share { 0 } else { most_for_outliers.saturating_sub(groups.len()) };
    let credits = most_for_outliers as u64 * RUN_CREDITS;
    schedule.outliers.push(Outliers { pace: Pace::Quick, groups: members(groups), rest, credits });

    let mut groups = grouped(ready, &slow);
    let rest = groups.split_off(remaining.max(1).min(groups.len()));
    let rest = rest.into_iter().flat_map(|group| group.members).collect();
    let credits = (remaining as u64 * RUN_CREDITS).max(SLOW_CREDITS);
    schedule.outliers.push(Outliers { pace: Pace::Slow, groups: members(groups), rest, credits });
}

fn members(groups: Vec<Group>) -> Vec<Vec<usize>> {
    groups.into_iter().map(|group| group.members).collect()
}

/// Groups receivers by what their snapshots are coded against, highest score first. Of groups with
/// equal scores, the one with the first receiver comes first.
fn grouped(ready: &[Ready<'_>], indices: &[usize]) -> Vec<Group> {
    // A sort takes less time than a hash table of groups.
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

/// Groups outliers that can share once they give up learned models or older views. Each outlier
/// joins the largest possible group, and gives up as little as possible to join it.
fn simplified(ready: &mut [Ready<'_>], outliers: &[usize]) -> Vec<Group> {
    let is_plain = |index: &usize| variants(&ready[*index].1.base).nth(1).is_none();
    if outliers.iter().all(is_plain) {
        return grouped(ready, outliers);
    }
    let mut counts: HashMap<u64, usize> = HashMap::new();
    for index in outliers {
        for (_, base) in variants(&ready[*index].1.base) {
            *counts.entry(base).or_default() += 1;
        }
    }
    for index in outliers {
        let base = &mut ready[*index].1.base;
        // `max_by_key` returns the last of equal variants, so `rev` makes it the first.
        let best = variants(base).rev().max_by_key(|(_, base)| counts.get(base).copied());
        if let Some((given_up, _)) = best {
            given_up.apply(base);
        }
    }
    grouped(ready, outliers)
}

/// Groups outliers by at most `most` views to code against. The views are chosen greedily so that
/// many outliers hold one of them. Also returns the outliers that hold none of these views.
fn covered(
    ready: &mut [Ready<'_>],
    outliers: &[Outlier],
    now: Tick,
    most: usize,
) -> (Vec<Group>, Vec<usize>) {
    let mut chosen = Ages::default();
    for _ in 0..most {
        let mut weights = [0; Ages::COUNT];
        for outlier in outliers.iter().filter(|outlier| !outlier.held.meet(chosen)) {
            outlier.held.iter().for_each(|age| weights[age] += outlier.weight);
        }
        // `max_by_key` returns the last of equal ages, so `rev` makes it the newest.
        let heaviest = (0..Ages::COUNT).rev().max_by_key(|age| weights[*age]);
        match heaviest.filter(|age| weights[*age] > 0) {
            Some(age) => chosen.insert_age(age),
            None => break,
        }
    }
    let (mut covered, mut rest) = (Vec::new(), Vec::new());
    for Outlier { index, held, .. } in outliers {
        let (peer, due) = &mut ready[*index];
        let newest = held.both(chosen).iter().next();
        match newest.and_then(|age| peer.history().plain_base(Ages::tick(now, age))) {
            Some(base) => {
                due.base = base;
                covered.push(*index);
            }
            None => rest.push(*index),
        }
    }
    (grouped(ready, &covered), rest)
}

/// A hash of everything that a baseline consists of. A collision is harmless: it only affects the
/// order, and which encodings are made ahead.
pub(super) fn fingerprint(base: &ChosenBaseline) -> u64 {
    base.history_ids().fold(fingerprint_alone(base), mixed)
}

/// A hash of the views that make up the baseline, without older views and learned models.
fn fingerprint_alone(base: &ChosenBaseline) -> u64 {
    base.view_ids().fold(0, mixed)
}

/// Adds an id to a hash.
pub(super) fn mixed(hash: u64, id: u64) -> u64 {
    (hash ^ id).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
}

/// The parts that a baseline may give up so that more receivers share it.
#[derive(Clone, Copy, Debug)]
enum GivenUp {
    Nothing,
    Learned,
    /// The older views and the learned models.
    Older,
}

impl GivenUp {
    fn apply(self, base: &mut ChosenBaseline) {
        match self {
            Self::Nothing => {}
            Self::Learned => base.models = None,
            Self::Older => {
                base.models = None;
                base.older.clear();
            }
        }
    }
}

/// The fingerprints of a baseline's variants: unchanged, without learned models, and also without
/// older views. Leaves out variants that give up nothing.
fn variants(base: &ChosenBaseline) -> impl DoubleEndedIterator<Item = (GivenUp, u64)> + use<> {
    let alone = fingerprint_alone(base);
    let unlearned = base.older.iter().map(|(_, view)| view.id).fold(alone, mixed);
    let whole = base.models.iter().map(|models| models.id).fold(unlearned, mixed);
    let learned = base.models.is_some().then_some((GivenUp::Learned, unlearned));
    let older = (!base.older.is_empty()).then_some((GivenUp::Older, alone));
    std::iter::once((GivenUp::Nothing, whole)).chain(learned).chain(older)
}
