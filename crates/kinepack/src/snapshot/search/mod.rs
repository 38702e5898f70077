//! Searches the structure of a profile: the classes of each field, the context of its words, and
//! the classes of distances. [`Training`](super::Training) then trains the lengths of the words.
//!
//! [`samples`] collects the sizes of the differences in packets. [`cost`] computes the number of
//! bits that these differences would take: exactly, except that the lengths of words are ideal
//! ones. [`refine`] improves the classes of a field by one change at a time. [`gaps`] finds the
//! best classes of distances.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use cost::{Dependent, Pricer, States, states_of};
use samples::{FieldSamples, Samples, collect};

use super::profile::{Class, Context, FieldCode, Profile};
use super::store::Snapshot;
use super::training::TrainError;
use crate::{Schema, prefix};

mod cost;
mod gaps;
mod refine;
mod samples;
mod small_or_large;

pub use small_or_large::{SmallOrLarge, SmallOrLargeCosts};

/// The prior gives each magnitude the weight of one in this many values: see [`prior`].
const PRIOR_DIVISOR: u64 = 64;
/// A context that suits other data less well must save a share of 2 to the power of −`MARGIN_SHIFT`
/// of a field's cost.
const MARGIN_SHIFT: u32 = 6;
/// The number of times that the search goes through all fields. The second round takes into account
/// which later fields depend on each field.
const ROUNDS: usize = 2;

/// A search for the structure of a [`Profile`]: the classes and contexts of its fields, and the
/// classes of its distances. After a search, [`Training`](super::Training) or a
/// [`Trainer`](super::Trainer) trains the lengths of the words.
///
/// Each field begins with a class for each magnitude and reference. The search then adds further
/// classes, one at a time, as long as they save bits. Each half of the packets is priced with word
/// lengths trained on the other half. So a pattern that occurs in only one half saves no bits. The
/// search keeps the classes of the magnitudes, so slower or faster data can be coded as well.
///
/// The arithmetic is integer only, so the result depends on the data and not on the platform.
///
/// ```
/// use kinepack::quantize::IntegerLimits;
/// use kinepack::schema::{Field, FieldKind};
/// use kinepack::training::{ProfileSearch, Trainer};
/// use kinepack::{EntityId, Profile, Schema, Snapshot, Tick};
///
/// let height = FieldKind::Integer(IntegerLimits::new(0, 65535, 1)?);
/// let schema = Schema::new(vec![Field::new("height", height)]);
/// let mut run = Vec::new();
/// for tick in 0..200 {
///     let mut snapshot = Snapshot::new(&schema, Tick(tick));
///     for id in 0..20 {
///         snapshot.push_lanes(EntityId(id), &[(tick * tick * (id + 1)) & 0xFFFF])?;
///     }
///     run.push(snapshot);
/// }
/// let search = ProfileSearch { lag_ticks: 2, ..ProfileSearch::default() };
/// let structure = search.run(&schema, &[&run[..]], |_| ())?;
/// let mut trainer = Trainer::new(schema, structure)?;
/// for frame in 2..run.len() {
///     trainer.observe(&run[frame - 2], &[], &run[frame])?;
/// }
/// let profile: Profile = trainer.finish();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileSearch {
    /// The lag between snapshots and their baselines, in ticks. With a lag of 0, each snapshot is
    /// compared with itself and the search finds nothing.
    pub lag_ticks: u32,
    /// The maximum number of changed entities to use; at least one packet is always used. If the
    /// runs have more changed entities, some packets are left out. For each entity and field the
    /// search takes 9 bytes of memory, and for each lane up to 2 bytes plus some overhead.
    pub max_values: usize,
    /// The maximum number of lists of classes to price for a field in each of the two rounds.
    /// Pricing a list takes about 2 ns per value.
    pub max_trials: u64,
}

impl Default for ProfileSearch {
    /// Makes a search with a lag of 6 ticks, 2¹⁸ values and 4000 trials.
    fn default() -> Self {
        Self { lag_ticks: 6, max_values: 1 << 18, max_trials: 4000 }
    }
}

impl ProfileSearch {
    /// Finds a structure for data like `runs`. Each run is a list of consecutive snapshots of one
    /// world, all of `schema`. The search calls `progress` with the share that is done, up to 1.
    ///
    /// If the schema has a time precision, snapshots are as coarse as a receiver at this lag would
    /// hold them. In the result all words have nearly the same length, and there is no
    /// [`model`](Profile::model). A field that never changed has a class for each magnitude.
    ///
    /// The cost is that of encoding all snapshots twice, plus pricing. A search takes a few seconds
    /// for 2000 snapshots in which 100 bodies move.
    ///
    /// # Errors
    /// [`TrainError`] if a snapshot has another schema, the schema's time precision is not
    /// possible, or no run is longer than the lag.
    pub fn run<R: AsRef<[Snapshot]>>(
        &self,
        schema: &Schema,
        runs: &[R],
        mut progress: impl FnMut(f64),
    ) -> Result<Profile, TrainError> {
        let mut samples = collect(schema, runs, self.lag_ticks, self.max_values)?;
        let priors: Vec<Vec<(u32, u64)>> = samples.fields.iter_mut().map(prior).collect();
        let mut found: Vec<Found> = samples.fields.iter().map(Found::new).collect();
        for round in 0..ROUNDS {
            let kinds = schema.kinds().iter().flat_map(|kind| {
                let fields = kind.fields();
                fields.clone().map(move |index| (fields.start, index))
            });
            for (first, index) in kinds {
                if !samples.fields[index].kinds.is_empty() {
                    found[index] = self.search(&samples, &priors[index], &found, first..=index);
                }
                progress((round * found.len() + index + 1) as f64 / (ROUNDS * found.len()) as f64);
            }
        }
        let mut profile = Profile::untrained(schema);
        profile.entities = samples.entities.code();
        profile.flags = samples.flags.code();
        for (code, found) in
            profile.fields.iter_mut().zip(found).filter(|(code, _)| !code.classes.is_empty())
        {
            let lengths_bits = vec![prefix::lengths_bits(&vec![1; found.classes.len() + 1])];
            *code = FieldCode { context: found.context, classes: found.classes, lengths_bits };
        }
        profile.spread();
        Ok(profile)
    }

    /// Finds the best classes and the best context of a field, given those of the other fields. The
    /// range has the fields from the first one of the field's kind to the field itself.
    fn search(
        &self,
        samples: &Samples,
        prior: &[(u32, u64)],
        found: &[Found],
        fields: RangeInclusive<usize>,
    ) -> Found {
        let (first, index) = fields.into_inner();
        let field = &samples.fields[index];
        let mut pricer = Pricer::new(field, prior);
        for (other, of) in
            found.iter().enumerate().filter(|(_, other)| other.context == Context::Field(index))
        {
            let values = &samples.fields[other];
            pricer.dependents.push(Dependent::new(
                field,
                values,
                &of.class_of_kind,
                of.classes.len() + 1,
            ));
        }
        let states = |context| match context {
            Context::None => States::One,
            Context::Previous => States::Previous,
            Context::Field(other) => {
                States::Given(states_of(&samples.fields[other], &found[other].class_of_kind, field))
            }
        };
        // The relation between fields of the same entity is similar in other data. The relation
        // between neighbouring entities depends on their arrangement, so that context must save
        // more than the margin.
        let earlier = (first..index)
            .filter(|other| !samples.fields[*other].kinds.is_empty())
            .map(Context::Field);
        let contexts: Vec<Context> =
            [Context::None].into_iter().chain(earlier).chain([Context::Previous]).collect();
        let mut best = found[index].clone();
        for _ in 0..2 {
            let mut least = u64::MAX;
            let before = best.context;
            for &context in &contexts {
                pricer.states = states(context);
                let price = pricer.price(&best.classes);
                let is_same_entity = matches!(best.context, Context::Field(_)) && least < u64::MAX;
                let margin = if context == Context::Previous && is_same_entity {
                    price >> MARGIN_SHIFT
                } else {
                    0
                };
                if price.saturating_add(margin) < least {
                    (best.context, least) = (context, price);
                }
            }
            if best.is_searched && best.context == before {
                break;
            }
            pricer.states = states(best.context);
            best.classes = refine::refine(&mut pricer, best.classes, self.max_trials);
            best.is_searched = true;
        }
        pricer.classify(&best.classes);
        Found { class_of_kind: pricer.class_of_kind, ..best }
    }
}

/// The best classes and the best context of a field until now.
#[derive(Clone)]
struct Found {
    classes: Vec<Class>,
    context: Context,
    is_searched: bool,
    /// The class of each kind of value.
    class_of_kind: Vec<u8>,
}

impl Found {
    fn new(field: &FieldSamples) -> Self {
        Self {
            classes: refine::magnitudes(field),
            context: Context::Previous,
            is_searched: false,
            class_of_kind: Vec::new(),
        }
    }
}

/// Adds to `field` the kinds of values that other data may have more of: a few of each magnitude.
/// Returns these kinds and their weights, in 1/16 of a value.
fn prior(field: &mut FieldSamples) -> Vec<(u32, u64)> {
    if field.kinds.is_empty() {
        return Vec::new();
    }
    let weight = (field.kinds.len() as u64 / PRIOR_DIVISOR).max(16);
    let widest = field.lanes_bits.iter().copied().max().unwrap_or(0);
    let mut prior = Vec::new();
    for width in 0..=widest {
        // For numbers, the carried difference is smaller or larger. For rotations, the same
        // component is dropped or another.
        for other in [width.saturating_sub(2), width + 2] {
            let lanes_bits = field.lanes_bits.clone();
            let sizes = |width: u8| lanes_bits.iter().map(move |bits| width.min(*bits));
            let turned = field.is_rotation && other > width;
            let all: Vec<u8> = sizes(width).chain(sizes(other)).take(field.stride()).collect();
            prior.push((field.kind(&all, turned), weight));
        }
    }
    prior
}
