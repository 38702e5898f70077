//! Improves the classes of one field: starts with a class for each magnitude, and makes changes
//! until no further change saves bits.

use alloc::vec::Vec;

use super::super::profile::{Class, LaneWidth, Reference};
use super::cost::{Pricer, SYMBOLS, payload_bits};
use super::samples::FieldSamples;

/// The search drops the carried classes if the price without them is lower by a share of 2 to the
/// power of −`DROP_SHIFT`.
const DROP_SHIFT: u32 = 8;

/// The largest width that the search tries, in bits. With this limit, a class for each width and
/// reference fits within 63 classes.
const MAX_BITS: u64 = 30;
/// The number of bits that the widest class must save against the field in full.
const IN_FULL_BITS: u64 = 4;

/// A change must save a share of 2 to the power of −`MARGIN_SHIFT` of the price.
const MARGIN_SHIFT: u32 = 12;

/// Makes a class for each magnitude and reference. The search begins with these classes.
pub(super) fn magnitudes(field: &FieldSamples) -> Vec<Class> {
    let lanes = field.lanes_bits.len().max(1) as u64;
    // Wider classes save almost nothing against the field in full, and lengthen the words of the
    // other classes.
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
    // An encoder takes the first class that holds the differences, so narrower classes come first.
    classes.sort_by_key(payload_bits);
    classes
}

fn other_reference(field: &FieldSamples) -> Reference {
    if field.is_rotation { Reference::Turned } else { Reference::Carried }
}

/// Improves `classes` until no change saves bits, or until `most` lists of classes were priced.
pub(super) fn refine(pricer: &mut Pricer<'_>, classes: Vec<Class>, most: u64) -> Vec<Class> {
    let price = pricer.price(&classes);
    let end = pricer.priced + most;
    let mut search = Descent { pricer, classes, price, end };
    search.drop_carried();
    loop {
        let before = search.price;
        search.insert();
        search.swap();
        // Every accepted change lowered the price, so an equal price means that no change was
        // accepted.
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

    /// Accepts `classes` if they lower the price by more than the margin.
    fn offer(&mut self, classes: Vec<Class>) {
        if self.is_over() || classes.len() >= SYMBOLS {
            return;
        }
        let price = self.pricer.price(&classes);
        if price + (self.price >> MARGIN_SHIFT) < self.price {
            (self.classes, self.price) = (classes, price);
        }
    }

    /// Drops all classes relative to the carried baseline, unless these classes save enough.
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
        *width = change.apply(*width)?;
        Some(class)
    }

    /// Offers further classes, derived from each existing class: with one narrower lane, with all
    /// lanes narrower, and with the other reference. Also offers, for each existing class, a class
    /// that exactly fits the kind of value for which that saves the most bits.
    fn insert(&mut self) {
        let lanes = self.pricer.field.lanes_bits.len();
        let other = other_reference(self.pricer.field);
        for index in (0..self.classes.len()).rev() {
            for lane in 0..lanes {
                for change in [Change::Narrower, Change::ToggleSingleSize] {
                    if let Some(class) = self.changed(index, lane, change) {
                        self.offer_with(class);
                    }
                }
            }
            let mut narrower = self.classes[index].clone();
            narrower
                .lanes
                .iter_mut()
                .for_each(|width| *width = Change::Narrower.apply(*width).unwrap_or(*width));
            self.offer_with(narrower);
            let mut turned = self.classes[index].clone();
            turned.reference =
                if turned.reference == Reference::Baseline { other } else { Reference::Baseline };
            self.offer_with(turned);
        }
        for class in self.exact_fits() {
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

    /// Returns, for each class, a new class that exactly fits one kind of its values: the kind for
    /// which that saves the most bits.
    fn exact_fits(&mut self) -> Vec<Class> {
        self.pricer.classify(&self.classes);
        let (field, other) = (self.pricer.field, other_reference(self.pricer.field));
        let lanes = field.lanes_bits.len();
        let mut fits: Vec<(u64, Option<Class>)> =
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
                if gain > fits[class].0 {
                    let lanes = sizes.iter().zip(&field.lanes_bits).map(lane).collect();
                    fits[class] = (gain, Some(Class { reference, lanes }));
                }
            }
        }
        fits.into_iter().filter_map(|(_, class)| class).collect()
    }

    /// Offers each pair of neighbouring classes in swapped order, so that a value that both hold is
    /// coded by the other class.
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
    /// Switches between all sizes up to a width and the largest of these sizes alone, whose highest
    /// bit is then implied.
    ToggleSingleSize,
}

impl Change {
    fn apply(self, width: LaneWidth) -> Option<LaneWidth> {
        let LaneWidth { bits, beyond_bits } = width;
        let single_size = |bits: u8| LaneWidth { bits, beyond_bits: bits };
        match (self, beyond_bits) {
            (Self::Narrower, 0) => Some(LaneWidth { bits: bits.checked_sub(1)?, beyond_bits }),
            (Self::Narrower, _) => (bits > 1).then(|| single_size(bits - 1)),
            (Self::ToggleSingleSize, 0) => (bits > 1).then(|| single_size(bits - 1)),
            (Self::ToggleSingleSize, _) => Some(LaneWidth { bits: bits + 1, beyond_bits: 0 }),
        }
    }
}
