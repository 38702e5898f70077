//! Who shares an encoding, if many receivers could share and some do not.
//!
//! A receiver chooses by its acknowledgements what its snapshots are coded against. Honest
//! receivers acknowledge nearly everything, so those with the same round trip share an encoding. A
//! hostile one that acknowledges random views shares with nobody, and would cost as much as all
//! honest ones together. The rules:
//!
//! 1. Encodings that many receivers share are made first.
//! 2. An *outlier* is a receiver whose encoding few others share. If it has acknowledged all that a
//!    shared encoding is coded against, it gets that one.
//! 3. *Quick* outliers hold a whole view that is young, so their turn takes one encoding as a rule.
//!    They take one encoding for four shared ones, at least one; or all that the limit leaves, if
//!    most receivers are outliers. Each gives up what makes it different, as far as others then
//!    share with it: what was learned, and the older views. If those are still too many encodings,
//!    they are coded against the views that most of them hold, and those that hold none of these
//!    wait.
//! 4. *Slow* outliers hold no such view. Their turn often takes several datagrams, and many
//!    encodings. The one that has waited longest goes first; in the mean they take half an encoding
//!    a tick, or what the quick ones leave, if most receivers are outliers.
//!
//! Outliers that took more than they may wait until later ticks have made up for it, quick and slow
//! ones each by themselves. So hostile receivers cannot keep an honest one waiting by acknowledging
//! old views, even if nobody else has its round trip.
//!
//! Nothing changes for as many receivers as there may be encodings, nor while there are no more
//! groups of outliers than of receivers that share: losses on honest links make a few. Cost: a sort
//! of the receivers; for each outlier a look at the views that it has acknowledged.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use kinepack::Tick;

use super::history::Base;
use super::peer::{Moment, Peer, Turn};
use super::sending::Wanted;

/// Outliers may take one encoding for so many shared ones, and always one.
const SHARED_FOR_AN_OUTLIER: usize = 4;
/// A view of at most this age is young; so is one at most twice as old as the oldest view that a
/// shared encoding is relative to.
const YOUNG_TICKS: u32 = 24;
/// What one run of an encoder costs an outlier.
pub(super) const RUN_CREDITS: u64 = 2;
/// What slow outliers may spend in a tick, if most receivers share.
const SLOW_CREDITS: u64 = 1;
/// One in so many receivers, and at least two, make an encoding a shared one: a few hostile ones
/// must not be enough.
const SHARED_BY_ONE_IN: usize = 32;

/// The order in which receivers get what a tick may encode, as indices.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    /// These get theirs.
    pub(super) served: Vec<usize>,
    /// Then these, for each codec and subject.
    pub(super) outliers: Vec<Outliers>,
}

/// How many runs of an encoder a turn of an outlier takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pace {
    /// One as a rule: it holds a whole view that is young.
    Quick,
    /// Often several: what changed since its baseline may need more than a datagram.
    Slow,
}

/// What outliers spent beyond their credits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Overdrawn {
    quick: u64,
    slow: u64,
}

impl Overdrawn {
    pub(super) fn of(&mut self, pace: Pace) -> &mut u64 {
        match pace {
            Pace::Quick => &mut self.quick,
            Pace::Slow => &mut self.slow,
        }
    }
}

/// Outliers of one pace, codec and subject.
#[derive(Debug)]
pub(super) struct Outliers {
    pub(super) pace: Pace,
    /// Those of one group share an encoding. They get it, one group after the other, until all
    /// credits are spent.
    pub(super) groups: Vec<Vec<usize>>,
    /// These wait.
    pub(super) rest: Vec<usize>,
    /// What they may spend in this tick; nothing while they are overdrawn.
    pub(super) credits: u64,
}

/// A quick outlier.
#[derive(Debug)]
struct Outlier {
    index: usize,
    weight: u64,
    /// The young views that it holds and that can be a base without any other.
    held: Ages,
}

/// Receivers that want the same relative to the same.
#[derive(Debug)]
struct Group {
    members: Vec<usize>,
    /// The sum of its members' weights.
    score: u64,
}

type Ready<'p> = (&'p mut Peer, Turn);

/// Puts receivers into an order if they ask for more different encodings than they may have; `None`
/// if not. What outliers are coded against may change.
pub(super) fn schedule(ready: &mut [Ready<'_>], moment: &Moment<'_>) -> Option<Schedule> {
    let most = moment.config.encodings_per_tick as usize;
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
        let split = Shares::new(grouped(ready, &indices), indices.len(), most);
        if split.alone.len() <= split.tolerated {
            schedule.served.extend(indices);
        } else {
            limit(ready, split, moment, &mut schedule);
        }
    }
    // In the order of their memory.
    schedule.served.sort_unstable();
    (!schedule.outliers.is_empty()).then_some(schedule)
}

/// The groups of one codec and subject.
struct Shares {
    shared: Vec<Group>,
    /// Groups of outliers.
    alone: Vec<Group>,
    /// How many groups of outliers are left as they are: as losses on honest links make now and
    /// then.
    tolerated: usize,
    /// How many encodings the outliers may take, if they are more.
    most_for_outliers: usize,
    /// Most receivers share.
    most_share: bool,
}

impl Shares {
    /// `groups` have the highest score first; `receivers` are in them.
    fn new(groups: Vec<Group>, receivers: usize, most: usize) -> Self {
        let fewest = (receivers / SHARED_BY_ONE_IN).max(2);
        let is_shared = |group: &Group| group.members.len() >= fewest;
        let (mut shared, mut alone): (Vec<_>, Vec<_>) = groups.into_iter().partition(is_shared);
        alone.extend(shared.drain(shared.len().min(most)..));
        let left = (most - shared.len()).max(1);
        let count =
            |groups: &[Group]| groups.iter().map(|group| group.members.len()).sum::<usize>();
        let most_share = count(&shared) >= count(&alone);
        let few = (shared.len() / SHARED_FOR_AN_OUTLIER).max(1);
        let tolerated = if most_share { left.min(shared.len()) } else { left };
        let most_for_outliers = if most_share { left.min(few) } else { left };
        Self { shared, alone, tolerated, most_for_outliers, most_share }
    }
}

/// Adds the receivers of one codec and subject, whose outliers want more encodings than they may
/// take.
fn limit(ready: &mut [Ready<'_>], split: Shares, moment: &Moment<'_>, schedule: &mut Schedule) {
    let Shares { shared, alone, most_for_outliers, most_share, .. } = split;
    let mut shared_ages = Ages::default();
    for group in &shared {
        shared_ages.insert(moment.tick, ready[group.members[0]].1.base.view.tick());
        schedule.served.extend(&group.members);
    }
    let oldest = shared_ages.oldest_young(moment.tick);
    let (mut quick, mut slow) = (Vec::new(), Vec::new());
    for index in alone.into_iter().flat_map(|group| group.members) {
        let peer = &*ready[index].0;
        let held = peer.history().plain_ages(moment.tick, oldest);
        let bases = shared.iter().map(|group| &ready[group.members[0]].1.base);
        let base =
            held.meet(shared_ages).then(|| peer.history().base_like(bases, moment)).flatten();
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
    let left = if most_share { 0 } else { most_for_outliers.saturating_sub(groups.len()) };
    let credits = most_for_outliers as u64 * RUN_CREDITS;
    schedule.outliers.push(Outliers { pace: Pace::Quick, groups: members(groups), rest, credits });

    let mut groups = grouped(ready, &slow);
    let rest = groups.split_off(left.max(1).min(groups.len()));
    let rest = rest.into_iter().flat_map(|group| group.members).collect();
    let credits = (left as u64 * RUN_CREDITS).max(SLOW_CREDITS);
    schedule.outliers.push(Outliers { pace: Pace::Slow, groups: members(groups), rest, credits });
}

fn members(groups: Vec<Group>) -> Vec<Vec<usize>> {
    groups.into_iter().map(|group| group.members).collect()
}

/// Receivers by what they are coded against, the highest score first; of equal ones, the one with
/// the first receiver.
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

/// Groups of receivers that share if they give up something: each gives up as little as makes its
/// group largest.
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
        // Of several with the same count the first: `max_by_key` takes the last.
        let best = variants(base).rev().max_by_key(|(_, base)| counts.get(base).copied());
        if let Some((given_up, _)) = best {
            given_up.apply(base);
        }
    }
    grouped(ready, outliers)
}

/// The receivers, coded against at most `most` views that together most of them hold; and those who
/// hold none of these.
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
        // Of several that are as heavy, the newest: `max_by_key` takes the last.
        let heaviest = (0..Ages::COUNT).rev().max_by_key(|age| weights[*age]);
        match heaviest.filter(|age| weights[*age] > 0) {
            Some(age) => chosen.insert_age(age),
            None => break,
        }
    }
    let (mut covered, mut rest) = (Vec::new(), Vec::new());
    for Outlier { index, held, .. } in outliers {
        let (peer, turn) = &mut ready[*index];
        let newest = held.both(chosen).iter().next();
        match newest.and_then(|age| peer.history().plain_base(Ages::tick(now, age))) {
            Some(base) => {
                turn.base = base;
                covered.push(*index);
            }
            None => rest.push(*index),
        }
    }
    (grouped(ready, &covered), rest)
}

/// A number for all that a base is; bases with the same number may be taken for the same here,
/// where only the order is at stake.
fn fingerprint(base: &Base) -> u64 {
    let lesson = base.lesson.iter().map(|lesson| lesson.id);
    let older = base.older.iter().map(|(_, view)| view.id);
    older.chain(lesson).fold(fingerprint_alone(base), mixed)
}

/// That of the views that make the baseline.
fn fingerprint_alone(base: &Base) -> u64 {
    std::iter::once(&base.view).chain(&base.merged).map(|view| view.id).fold(0, mixed)
}

fn mixed(hash: u64, id: u64) -> u64 {
    (hash ^ id).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
}

/// What a base may give up, so that more receivers share it.
#[derive(Clone, Copy, Debug)]
enum GivenUp {
    Nothing,
    Learned,
    /// The older views, and with them what was learned.
    Older,
}

impl GivenUp {
    fn apply(self, base: &mut Base) {
        match self {
            Self::Nothing => {}
            Self::Learned => base.lesson = None,
            Self::Older => {
                base.lesson = None;
                base.older.clear();
            }
        }
    }
}

/// The fingerprints of a base, of the same without what was learned, and without older views too,
/// as far as these differ.
fn variants(base: &Base) -> impl DoubleEndedIterator<Item = (GivenUp, u64)> + use<> {
    let alone = fingerprint_alone(base);
    let unlearned = base.older.iter().map(|(_, view)| view.id).fold(alone, mixed);
    let whole = base.lesson.iter().map(|lesson| lesson.id).fold(unlearned, mixed);
    let learned = base.lesson.is_some().then_some((GivenUp::Learned, unlearned));
    let older = (!base.older.is_empty()).then_some((GivenUp::Older, alone));
    std::iter::once((GivenUp::Nothing, whole)).chain(learned).chain(older)
}

/// Ticks before the present one, as far as they count here. The first is that just before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ages(u128);

impl Ages {
    const COUNT: usize = 128;

    /// Adds a tick before `now`, if it is not too old.
    pub(super) fn insert(&mut self, now: Tick, tick: Tick) {
        if let Some(age) = now.0.checked_sub(tick.0).and_then(|ticks| ticks.checked_sub(1)) {
            self.0 |= 1u128.checked_shl(age).unwrap_or(0);
        }
    }

    fn insert_age(&mut self, age: usize) {
        self.0 |= 1 << age;
    }

    /// The first tick whose views are young beside these ages; where there are none, all are.
    fn oldest_young(self, now: Tick) -> Tick {
        let oldest = self.0.checked_ilog2();
        Tick(oldest.map_or(0, |oldest| now.0.saturating_sub((2 * oldest).max(YOUNG_TICKS))))
    }

    fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn both(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    fn meet(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The tick of an age.
    fn tick(now: Tick, age: usize) -> Tick {
        Tick(now.0 - 1 - age as u32)
    }

    /// From the newest on.
    fn iter(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let age = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(age)
        })
    }
}
