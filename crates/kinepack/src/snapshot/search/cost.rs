//! Computes the cost of a field's values with given classes: the bits of the differences, and the
//! ideal word lengths in each state of the context.
//!
//! Costs are integers in units of 2⁻¹⁶ bits, so they are the same on every platform.

use alloc::vec;
use alloc::vec::Vec;

use super::super::profile::{Class, LaneWidth, Reference};
use super::super::widths::SIZES;
use super::samples::FieldSamples;
use crate::entropy::log2_of;

/// log₂ of the number of units in a bit.
pub(super) const UNIT_BITS: u32 = 16;
/// The maximum number of symbols of a code: 63 classes, and the field in full.
pub(super) const SYMBOLS: usize = 64;
/// The word length, in bits, of symbols that do not occur in the data: the longest possible.
const RARE_WORD_BITS: u64 = 8;

/// The source of the context's state for each value of a field.
pub(super) enum States {
    /// The context has only one state.
    One,
    /// The state is the class of the field's previous value.
    Previous,
    /// The state of each value is given.
    Given(Vec<u8>),
}

/// The values of another field whose context depends on this field.
pub(super) struct Dependent {
    /// A pair for each value of the other field. The first item is the index of this field's value
    /// in the same entity, or [`Dependent::NONE`]. The second item is the class of the other
    /// field's value.
    values: Vec<(u32, u8)>,
    /// The [`FieldSamples::middle`] of the other field.
    middle: usize,
    /// The number of the other field's symbols: its classes, and one for the field in full.
    symbols: usize,
}

impl Dependent {
    const NONE: u32 = u32::MAX;

    pub(super) fn new(
        field: &FieldSamples,
        other: &FieldSamples,
        others_classes: &[u8],
        symbols: usize,
    ) -> Self {
        let links = links(field, other).zip(&other.kinds);
        let values = links.map(|(link, kind)| (link, others_classes[*kind as usize])).collect();
        Self { values, middle: other.middle, symbols }
    }
}

/// Returns, for each value of `other`, the index of the value of `field` in the same entity, or
/// [`Dependent::NONE`].
fn links<'a>(field: &'a FieldSamples, other: &'a FieldSamples) -> impl Iterator<Item = u32> + 'a {
    let mut next = 0;
    other.entities.iter().map(move |entity| {
        while field.entities.get(next).is_some_and(|before| before < entity) {
            next += 1;
        }
        if field.entities.get(next) == Some(entity) { next as u32 } else { Dependent::NONE }
    })
}

/// Returns the states of `other`'s values if their context is `field`. `classes` has the class of
/// each kind of value of `field`.
pub(super) fn states_of(field: &FieldSamples, classes: &[u8], other: &FieldSamples) -> Vec<u8> {
    let state = |link| match link {
        Dependent::NONE => 0,
        _ => 1 + classes[field.kinds[link as usize] as usize],
    };
    links(field, other).map(state).collect()
}

/// Computes the cost of lists of classes. A pricer keeps its memory from one list to the next.
pub(super) struct Pricer<'a> {
    pub(super) field: &'a FieldSamples,
    pub(super) states: States,
    pub(super) dependents: Vec<Dependent>,
    /// The weight of each kind of value, in 1/16 of a value, including the kinds of the prior.
    pub(super) weights: Vec<u64>,
    /// The cost of the words of the prior's kinds of values, in units.
    rare: u64,
    /// The class of each kind of value. The index after the last class means the field in full.
    pub(super) class_of_kind: Vec<u8>,
    fits: Vec<[u64; SIZES]>,
    /// For each half of the packets and each state, the number of times that each class is needed.
    counts: [Vec<u32>; 2],
    /// The number of lists of classes that were priced.
    pub(super) priced: u64,
}

impl<'a> Pricer<'a> {
    /// Makes a pricer for the values of `field`, without a context at first. `prior` lists kinds of
    /// values that other data may have more of, with their weights in 1/16 of a value.
    pub(super) fn new(field: &'a FieldSamples, prior: &[(u32, u64)]) -> Self {
        let mut weights = vec![0; field.turned.len()];
        field.kinds.iter().for_each(|kind| weights[*kind as usize] += 16);
        let mut rare = 0;
        for &(kind, weight) in prior {
            weights[kind as usize] += weight;
            rare += (weight * RARE_WORD_BITS) << (UNIT_BITS - 4);
        }
        Self {
            class_of_kind: vec![0; weights.len()],
            fits: vec![[0; SIZES]; field.lanes_bits.len()],
            counts: [0, 1].map(|_| vec![0; (SYMBOLS + 1) * SYMBOLS]),
            states: States::One,
            dependents: Vec::new(),
            priced: 0,
            weights,
            rare,
            field,
        }
    }

    /// Computes the class of each kind of value as an encoder does: the first class that holds all
    /// lanes.
    pub(super) fn classify(&mut self, classes: &[Class]) {
        self.fits.iter_mut().for_each(|fits| *fits = [0; SIZES]);
        let (mut plain_mask, mut turned_mask, mut carried_mask) = (0u64, 0u64, 0u64);
        for (index, class) in classes.iter().enumerate() {
            let bit = 1u64 << index;
            match class.reference {
                Reference::Baseline => plain_mask |= bit,
                Reference::Turned => turned_mask |= bit,
                Reference::Carried => carried_mask |= bit,
            }
            for (fits, width) in self.fits.iter_mut().zip(&class.lanes) {
                let [first, last] = sizes_of(*width);
                fits[first..=last].iter_mut().for_each(|mask| *mask |= bit);
            }
        }
        let (lanes, stride, full) =
            (self.fits.len(), self.field.stride().max(1), classes.len() as u32);
        let rows = self.field.sizes.chunks_exact(stride).zip(&self.field.turned);
        for ((sizes, turned), class) in rows.zip(&mut self.class_of_kind) {
            let (plain, carried) = sizes.split_at(lanes);
            let held = |sizes: &[u8], mask| {
                sizes
                    .iter()
                    .zip(&self.fits)
                    .fold(mask, |mask: u64, (size, fits)| mask & fits[usize::from(*size)])
            };
            let mut mask = held(plain, if *turned { turned_mask } else { plain_mask });
            if carried_mask != 0 {
                mask |= held(carried, carried_mask);
            }
            *class = mask.trailing_zeros().min(full) as u8;
        }
    }

    /// Computes the cost of all values with these classes, in units. Each half of the packets is
    /// priced with a code learned from the other half.
    pub(super) fn price(&mut self, classes: &[Class]) -> u64 {
        self.priced += 1;
        self.classify(classes);
        let mut bits = [self.field.full_bits; SYMBOLS];
        bits.iter_mut().zip(classes).for_each(|(bits, class)| *bits = payload_bits(class));
        let values = self.class_of_kind.iter().zip(&self.weights);
        let payload: u64 = values.map(|(class, weight)| weight * bits[usize::from(*class)]).sum();
        (payload << (UNIT_BITS - 4))
            + self.rare
            + self.price_words(classes.len() + 1)
            + self.price_dependents()
    }

    fn price_words(&mut self, symbols: usize) -> u64 {
        let class = |kind: &u32| usize::from(self.class_of_kind[*kind as usize]);
        let (kinds, middle) = (&self.field.kinds, self.field.middle);
        for (counts, range) in self.counts.iter_mut().zip([0..middle, middle..kinds.len()]) {
            counts.fill(0);
            let kinds = &kinds[range.clone()];
            match &self.states {
                States::One => kinds.iter().for_each(|kind| counts[class(kind)] += 1),
                States::Given(states) => {
                    kinds.iter().zip(&states[range]).for_each(|(kind, state)| {
                        counts[usize::from(*state) * SYMBOLS + class(kind)] += 1;
                    });
                }
                States::Previous => {
                    let mut state = 0;
                    for (kind, first) in kinds.iter().zip(&self.field.first[range]) {
                        let class = class(kind);
                        counts[if *first { 0 } else { state } * SYMBOLS + class] += 1;
                        state = class + 1;
                    }
                }
            }
        }
        self.price_counts(symbols)
    }

    /// Computes the cost of the words of the fields whose context depends on this field.
    fn price_dependents(&mut self) -> u64 {
        let mut sum = 0;
        for index in 0..self.dependents.len() {
            let Dependent { values, middle, symbols } = &self.dependents[index];
            for (counts, values) in
                self.counts.iter_mut().zip([&values[..*middle], &values[*middle..]])
            {
                counts.fill(0);
                for &(link, class) in values {
                    let state = match link {
                        Dependent::NONE => 0,
                        _ => {
                            1 + usize::from(
                                self.class_of_kind[self.field.kinds[link as usize] as usize],
                            )
                        }
                    };
                    counts[state * SYMBOLS + usize::from(class)] += 1;
                }
            }
            sum += self.price_counts(*symbols);
        }
        sum
    }

    /// Computes the cost of the words of each half, with a code learned from the other half.
    fn price_counts(&self, symbols: usize) -> u64 {
        let [first, second] = &self.counts;
        let halves = [(first, second), (second, first)];
        halves.into_iter().map(|(counts, learned)| price_half(counts, learned, symbols)).sum()
    }
}

fn price_half(counts: &[u32], learned: &[u32], symbols: usize) -> u64 {
    let mut pooled = [0u64; SYMBOLS];
    for state in learned.chunks_exact(SYMBOLS) {
        pooled.iter_mut().zip(state).for_each(|(pooled, count)| *pooled += u64::from(*count));
    }
    let all = pooled.iter().sum::<u64>().max(1);
    // As in `Trainer`, each state counts as if it had seen 64 further values, distributed like
    // those of the whole field. The counts are in 1/16 of a value.
    pooled.iter_mut().for_each(|count| *count = *count * 64 * 16 / all);
    let states = counts.chunks_exact(SYMBOLS).zip(learned.chunks_exact(SYMBOLS));
    states.map(|(counts, learned)| price_state(&counts[..symbols], learned, &pooled)).sum()
}

/// Computes the cost of the words of one state. The words' lengths approximate those of a Huffman
/// code for the learned counts.
fn price_state(counts: &[u32], learned: &[u32], pooled: &[u64; SYMBOLS]) -> u64 {
    if counts.iter().all(|count| *count == 0) {
        return 0;
    }
    let mut weights = [0u64; SYMBOLS];
    let weights = &mut weights[..counts.len()];
    for ((weight, count), pooled) in weights.iter_mut().zip(learned).zip(pooled) {
        *weight = u64::from(*count) * 16 + pooled;
    }
    // No word is longer than 8 bits, so rare words take code space from the other words.
    let rarest = (weights.iter().sum::<u64>() >> RARE_WORD_BITS).max(1);
    weights.iter_mut().for_each(|weight| *weight = (*weight).max(rarest));
    let all: u64 = weights.iter().sum();
    let largest = weights.iter().copied().max().unwrap_or(0);
    // A word has at least one bit. A symbol that makes up more than half of the values gets a word
    // of one bit, so all other words begin with the other bit value.
    let has_frequent = largest * 2 > all && weights.len() > 1;
    let [rest, first_bits] = if has_frequent { [all - largest, 1] } else { [all, 0] };
    let whole = log2_of(rest) + (first_bits << UNIT_BITS);
    let mut sum = 0;
    for (count, weight) in counts.iter().zip(weights).filter(|(count, _)| **count > 0) {
        let word = if has_frequent && *weight == largest {
            1 << UNIT_BITS
        } else {
            whole - log2_of(*weight).min(whole)
        };
        sum += u64::from(*count) * word;
    }
    sum
}

/// Returns the smallest and the largest size that a width holds. The search uses only widths that
/// hold all sizes from zero, or a single size.
fn sizes_of(width: LaneWidth) -> [usize; 2] {
    match width.beyond_bits {
        0 => [0, usize::from(width.bits)],
        _ => [usize::from(width.bits) + 1; 2],
    }
}

/// Returns the number of bits that a value of this class takes after its word.
pub(super) fn payload_bits(class: &Class) -> u64 {
    let lanes: u64 = class.lanes.iter().map(|width| u64::from(width.bits)).sum();
    lanes + if class.reference == Reference::Turned { 2 } else { 0 }
}
