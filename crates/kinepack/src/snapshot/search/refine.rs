//! The classes of one field: from a class for each magnitude, by moves that each take fewer bits,
//! until none does.

use alloc::vec::Vec;

use super::super::profile::{Class, LaneWidth, Reference};
use super::cost::{Pricer, SYMBOLS, payload_bits};
use super::samples::FieldSamples;

/// A reference is dropped that takes as much as 2 to the power of −`DROP_SHIFT` of the price.
const DROP_SHIFT: u32 = 8;

/// The widest differences that are looked for, in bits: with more, two lanes and their references
/// would not fit in 63 classes.
const MAX_BITS: u64 = 30;
/// What the widest class saves at least.
const IN_FULL_BITS: u64 = 4;

/// A move has to gain 2 to the power of −`MARGIN_SHIFT` of the price.
const MARGIN_SHIFT: u32 = 12;

/// A class for each magnitude and reference: where the search begins.
pub(super) fn magnitudes(field: &FieldSamples) -> Vec<Class> {
    let lanes = field.lanes_bits.len().max(1) as u64;
    // Wider ones save next to nothing against the field in full, and take words from the others.
    let saving_bits =
        (field.full_bits.saturating_sub(IN_FULL_BITS) / lanes).clamp(1, MAX_BITS) as u8;
    let widest_bits = field.lanes_bits.iter().copied().max().unwrap_or(0).min(saving_bits);
    let class = |reference, width: u8| {
        let lane = |bits: &u8| LaneWidth { bits: width.min(*bits), beyond_bits: 0 };
        Class { reference, lanes: field.lanes_bits.iter().map(lane).collect() }
    };
    let references = [Reference::Baseline, other_reference(field)];
    let classes =
        (1..=widest_bits).flat_map(|width| references.map(|reference| class(reference, width)));
    let mut classes: Vec<Class> = classes.collect();
    // An encoder takes the first class that fits: the narrower ones stand first.
    classes.sort_by_key(payload_bits);
    classes
}

fn other_reference(field: &FieldSamples) -> Reference {
    if field.is_rotation { Reference::Turned } else { Reference::Carried }
}

/// Improves `classes` until no move does, or `most` lists of classes were priced.
pub(super) fn refine(pricer: &mut Pricer<'_>, classes: Vec<Class>, most: u64) -> Vec<Class> {
    let price = pricer.price(&classes);
    let end = pricer.priced + most;
    let mut search = Descent { pricer, classes, price, end };
    search.drop_carried();
    loop {
        let before = search.price;
        search.insert();
        search.swap();
        // Each move gained as much as counts, or there was none.
        if search.is_over() || search.price == before {
            return search.classes;
        }
    }
}

struct Descent<'p, 'a> {
    pricer: &'p mut Pricer<'a>,
    classes: Vec<Class>,
    price: u64,
    end: u64,
}

impl Descent<'_, '_> {
    fn is_over(&self) -> bool {
        self.pricer.priced >= self.end
    }

    /// Takes `classes` where they cost less by more than nothing to speak of.
    fn offer(&mut self, classes: Vec<Class>) {
        if self.is_over() || classes.len() >= SYMBOLS {
            return;
        }
        let price = self.pricer.price(&classes);
        if price + (self.price >> MARGIN_SHIFT) < self.price {
            (self.classes, self.price) = (classes, price);
        }
    }

    /// All classes of what is carried along, where nothing is.
    fn drop_carried(&mut self) {
        let mut classes = self.classes.clone();
        classes.retain(|class| class.reference != Reference::Carried);
        let before = self.price;
        let price = self.pricer.price(&classes);
        if price + (before >> DROP_SHIFT) < before {
            (self.classes, self.price) = (classes, price);
        }
    }

    fn changed(&self, index: usize, lane: usize, change: Change) -> Option<Class> {
        let mut class = self.classes[index].clone();
        let width = &mut class.lanes[lane];
        *width = change.of(*width)?;
        Some(class)
    }

    /// Classes between those that there are: with a narrower lane, with all lanes narrower, with
    /// the other reference, and for the kind of value that would gain most.
    fn insert(&mut self) {
        let lanes = self.pricer.field.lanes_bits.len();
        let other = other_reference(self.pricer.field);
        for index in (0..self.classes.len()).rev() {
            for lane in 0..lanes {
                for change in [Change::Narrower, Change::Other] {
                    if let Some(class) = self.changed(index, lane, change) {
                        self.offer_with(class);
                    }
                }
            }
            let mut narrower = self.classes[index].clone();
            narrower
                .lanes
                .iter_mut()
                .for_each(|width| *width = Change::Narrower.of(*width).unwrap_or(*width));
            self.offer_with(narrower);
            let mut turned = self.classes[index].clone();
            turned.reference =
                if turned.reference == Reference::Baseline { other } else { Reference::Baseline };
            self.offer_with(turned);
        }
        for class in self.wanted() {
            self.offer_with(class);
        }
    }

    fn offer_with(&mut self, class: Class) {
        if self.classes.contains(&class) {
            return;
        }
        let mut classes = self.classes.clone();
        let place = classes.iter().position(|other| payload_bits(other) > payload_bits(&class));
        classes.insert(place.unwrap_or(classes.len()), class);
        self.offer(classes);
    }

    /// For each class, one as narrow as the kind of its values that would gain most.
    fn wanted(&mut self) -> Vec<Class> {
        self.pricer.classify(&self.classes);
        let (field, other) = (self.pricer.field, other_reference(self.pricer.field));
        let lanes = field.lanes_bits.len();
        let mut wanted: Vec<(u64, Option<Class>)> =
            (0..=self.classes.len()).map(|_| (0, None)).collect();
        for (kind, (&class, &weight)) in
            self.pricer.class_of_kind.iter().zip(&self.pricer.weights).enumerate()
        {
            let class = usize::from(class);
            let taken_bits = self.classes.get(class).map_or(field.full_bits, payload_bits);
            for (reference, sizes) in field.kind_sizes(kind).chunks(lanes).enumerate() {
                let reference =
                    if reference == 1 || field.turned[kind] { other } else { Reference::Baseline };
                let lane = |(size, bits): (&u8, &u8)| LaneWidth {
                    bits: (*size).min(*bits),
                    beyond_bits: 0,
                };
                if sizes.iter().zip(&field.lanes_bits).any(|(size, bits)| size > bits) {
                    continue;
                }
                let bits: u64 = sizes.iter().map(|size| u64::from(*size)).sum();
                let gain = weight * taken_bits.saturating_sub(bits);
                if gain > wanted[class].0 {
                    let lanes = sizes.iter().zip(&field.lanes_bits).map(lane).collect();
                    wanted[class] = (gain, Some(Class { reference, lanes }));
                }
            }
        }
        wanted.into_iter().filter_map(|(_, class)| class).collect()
    }

    /// Neighbours the other way round: a value that both hold goes to the other one.
    fn swap(&mut self) {
        for index in 1..self.classes.len() {
            let mut classes = self.classes.clone();
            classes.swap(index - 1, index);
            self.offer(classes);
        }
    }
}

#[derive(Clone, Copy)]
enum Change {
    Narrower,
    /// From all sizes up to the width to that one alone, whose highest bit is known; and back.
    Other,
}

impl Change {
    fn of(self, width: LaneWidth) -> Option<LaneWidth> {
        let LaneWidth { bits, beyond_bits } = width;
        let alone = |bits: u8| LaneWidth { bits, beyond_bits: bits };
        match (self, beyond_bits) {
            (Self::Narrower, 0) => Some(LaneWidth { bits: bits.checked_sub(1)?, beyond_bits }),
            (Self::Narrower, _) => (bits > 1).then(|| alone(bits - 1)),
            (Self::Other, 0) => (bits > 1).then(|| alone(bits - 1)),
            (Self::Other, _) => Some(LaneWidth { bits: bits + 1, beyond_bits: 0 }),
        }
    }
}
