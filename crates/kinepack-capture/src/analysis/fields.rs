//! Collects statistics of each field and component: its values, and their differences from the
//! baseline.

use kinepack::schema::{Field, FieldKind};
use kinepack::{EntityId, Schema, Snapshot};
use serde::Serialize;

use super::carried::Carried;
use super::histogram::{Bins, Histogram};
use crate::kinds::field_names;

/// The number of distinct values that are counted separately.
const VALUES: usize = 4096;
/// The number of distinct differences that are counted separately.
const DIFFERENCES: usize = 65_536;
/// The number of distinct differences that are counted separately after each class of the previous
/// difference.
const AFTER: usize = 1024;
/// The number of classes of the previous difference.
const CLASSES: usize = 66;
/// The limit for all components together, for each of these three sorts of numbers. In a schema of
/// more than 32 lanes, each component counts fewer numbers separately, in wider bins.
const ALL: usize = 1 << 21;

/// Returns how many numbers each component counts separately, given the number of components.
fn share(wanted: usize, components: usize) -> usize {
    wanted.min(ALL / components.max(1)).max(1)
}

/// The analysis of one field of a stream. [`Analysis`](super::Analysis) has an example.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FieldAnalysis {
    /// The field's name in the schema. If there are several kinds, the name of the kind is in
    /// front: `player.position`.
    pub name: String,
    /// The field's quantization, in words.
    pub kind: String,
    /// The number of bits of the field in full.
    pub bits: u32,
    /// The share of the entities in which the field equals the baseline, over all frames.
    pub unchanged_share: f64,
    /// The number of values with a component outside of its limits, which was clamped to the
    /// nearest end.
    pub out_of_range: u64,
    /// The number of values that are not numbers, which were ignored.
    pub not_a_number: u64,
    /// The field's bits per frame at each level, in the order of `levels`.
    pub level_bits_per_frame: Vec<f64>,
    /// The analysis of each lane of the field.
    pub components: Vec<ComponentAnalysis>,
}

/// The analysis of one lane of a field.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComponentAnalysis {
    /// The component's name: `x`, `y`, `z`, `dropped`, or a number.
    pub name: String,
    /// The number of bits of the component in full.
    pub bits: u32,
    /// The bits per frame of the component's values at each level, in the order of `levels`. Bits
    /// that a level spends on all components together, such as those that select their width, count
    /// only for the field.
    pub level_bits_per_frame: Vec<f64>,
    /// The smallest and the largest allowed value, if the component is a number with limits.
    pub limits: Option<[f64; 2]>,
    /// The step, if the component is a number with limits.
    pub step: Option<f64>,
    /// The smallest and the largest recorded value: before quantization, if the capture has raw
    /// words. Components of rotations have `None`.
    pub seen: Option<[f64; 2]>,
    /// The coarsest power of two or of ten that divides all values. This field is `None` if the
    /// values are as fine as floats, or if the capture holds only lanes.
    pub carried_step: Option<f64>,
    /// The counts of the values, in steps from the smallest allowed one.
    pub values: Bins,
    /// The counts of the differences from the baseline, in steps.
    pub differences: Bins,
    /// The median size of the differences that are not zero, in steps. Half of these differences
    /// are not larger.
    pub difference_p50: u64,
    /// The size, in steps, that 99 % of these differences do not exceed.
    pub difference_p99: u64,
    /// The share of the entities in which the component equals the baseline, over all frames.
    pub unchanged_share: f64,
    /// The fewest bits per frame of the component's differences if each is coded separately
    /// (entropy of order 0).
    pub entropy_bits_per_frame: f64,
    /// The fewest bits per frame if the class of the previous difference is known. Both sides of a
    /// connection know that class.
    pub entropy_given_previous_bits_per_frame: f64,
}

/// Collects the statistics of a [`FieldAnalysis`].
pub(super) struct FieldStatistics {
    field: Field,
    /// The field's display name.
    name: String,
    /// The index of the field's kind.
    kind: usize,
    unchanged: u64,
    compared: u64,
    out_of_range: u64,
    not_a_number: u64,
    components: Vec<Component>,
}

struct Component {
    lane: kinepack::schema::Lane,
    values: Histogram,
    differences: Histogram,
    /// The differences, counted separately for each class of the previous difference.
    after: Vec<Histogram>,
    seen: [f64; 2],
    carried: Carried,
    /// The maximum number of bins in each histogram of `after`.
    most_after: usize,
}

impl FieldStatistics {
    pub(super) fn for_schema(schema: &Schema) -> Vec<Self> {
        let lanes = schema.lanes().len();
        let component = |lane: &kinepack::schema::Lane| Component {
            lane: *lane,
            values: Histogram::new(share(VALUES, lanes)),
            differences: Histogram::new(share(DIFFERENCES, lanes)),
            most_after: share(AFTER, CLASSES * lanes),
            after: Vec::new(),
            seen: [f64::INFINITY, f64::NEG_INFINITY],
            carried: Carried::new(),
        };
        let kinds = schema.kinds().iter().enumerate();
        let kinds = kinds.flat_map(|(index, kind)| kind.fields().map(move |_| index));
        let of_field = |((field, name), kind): ((&Field, String), usize)| Self {
            kind,
            name,
            components: schema.lanes()[field.lanes()].iter().map(component).collect(),
            field: field.clone(),
            unchanged: 0,
            compared: 0,
            out_of_range: 0,
            not_a_number: 0,
        };
        schema.fields().iter().zip(field_names(schema)).zip(kinds).map(of_field).collect()
    }

    /// Adds the raw words of an entity, which are either recorded or reconstructed from lanes.
    pub(super) fn see(&mut self, raw: &[u64], is_exact: bool) {
        for (index, component) in self.components.iter_mut().enumerate() {
            if let Some(number) = number(&self.field.kind, index, raw) {
                let [low, high] = component.seen;
                component.seen = [low.min(number), high.max(number)];
                if is_exact {
                    component.carried.add(number);
                }
            }
        }
    }

    /// Quantizes the raw words of an entity. Values that are not numbers become zero.
    pub(super) fn quantize(&mut self, raw: &[u64], lanes: &mut [u32]) {
        match self.field.quantize_raw(raw, lanes) {
            Ok(is_within) => self.out_of_range += u64::from(!is_within),
            Err(_) => {
                self.not_a_number += 1;
                lanes.fill(0);
            }
        }
    }

    /// Adds the lanes of an entity.
    pub(super) fn add_lanes(&mut self, lanes: &[u32]) {
        self.components
            .iter_mut()
            .zip(lanes)
            .for_each(|(component, lane)| component.values.add(i64::from(*lane)));
    }

    /// Adds a snapshot, its baseline, and an older snapshot. The older snapshot precedes the
    /// baseline by the same time as the baseline precedes the first snapshot.
    pub(super) fn compare(
        &mut self,
        newest: &Snapshot,
        baseline: &Snapshot,
        older: Option<&Snapshot>,
    ) {
        let (kind, lanes) = (self.kind, self.field.lanes());
        for (index, id) in newest.ids()[newest.of_kind(kind)].iter().enumerate() {
            let Some(base) = row(baseline, kind, *id, index) else { continue };
            let is_present = |snapshot: &Snapshot, at: usize| {
                self.field.is_present_in(|lane| snapshot.lane(lane)[at])
            };
            if !is_present(newest, index) || !is_present(baseline, base) {
                continue;
            }
            let before = older
                .and_then(|older| row(older, kind, *id, index).map(|at| (older, at)))
                .filter(|(older, at)| is_present(older, *at));
            let is_same = |lane: usize| newest.lane(lane)[index] == baseline.lane(lane)[base];
            self.compared += 1;
            let is_unchanged = lanes.clone().all(is_same);
            self.unchanged += u64::from(is_unchanged);
            // If another component is dropped, the remaining components have a different meaning.
            let is_rotation = matches!(self.field.kind, FieldKind::Rotation(_));
            let is_turned = is_rotation && !is_same(lanes.start);
            for (nth, (component, lane)) in
                self.components.iter_mut().zip(lanes.clone()).enumerate()
            {
                if is_turned && nth > 0 {
                    continue;
                }
                let known = baseline.lane(lane)[base];
                let now = component.lane.difference(known, newest.lane(lane)[index]);
                component.differences.add(now);
                if let Some((older, at)) = before {
                    component
                        .add_after(component.lane.difference(older.lane(lane)[at], known), now);
                }
            }
        }
    }

    /// Returns the analysis. `lanes_bits_per_frame` has the bits of each of the field's lanes, at
    /// each level.
    pub(super) fn finish(
        self,
        frames: u64,
        level_bits_per_frame: Vec<f64>,
        mut lanes_bits_per_frame: Vec<Vec<f64>>,
    ) -> FieldAnalysis {
        if let [only] = &mut lanes_bits_per_frame[..] {
            // All bits of the field belong to this lane.
            only.clone_from(&level_bits_per_frame);
        }
        let Self {
            field, name, unchanged, compared, out_of_range, not_a_number, components, ..
        } = self;
        let components: Vec<ComponentAnalysis> = components
            .into_iter()
            .enumerate()
            .zip(lanes_bits_per_frame)
            .map(|((index, component), bits)| component.finish(&field, index, frames, bits))
            .collect();
        FieldAnalysis {
            kind: describe(&field.kind),
            bits: components.iter().map(|component| component.bits).sum(),
            unchanged_share: unchanged as f64 / compared.max(1) as f64,
            out_of_range,
            not_a_number,
            level_bits_per_frame,
            components,
            name,
        }
    }
}

impl Component {
    fn add_after(&mut self, previous: i64, now: i64) {
        // There is a class for each sign and number of bits.
        let bits = kinepack::bits::bits_for(previous.unsigned_abs()) as usize;
        let class = 2 * bits + usize::from(previous < 0);
        if self.after.len() <= class {
            self.after.resize_with(class + 1, || Histogram::new(self.most_after));
        }
        self.after[class].add(now);
    }

    fn finish(
        self,
        field: &Field,
        index: usize,
        frames: u64,
        level_bits_per_frame: Vec<f64>,
    ) -> ComponentAnalysis {
        let axis = match &field.kind {
            FieldKind::Floats(axes) => axes.get(index),
            _ => None,
        };
        let per_frame = |bits: f64| bits / frames.max(1) as f64;
        let after: f64 = self.after.iter().map(Histogram::entropy_bits).sum();
        let after_share = self.after.iter().map(Histogram::total).sum::<u64>() as f64
            / self.differences.total().max(1) as f64;
        ComponentAnalysis {
            name: component_name(&field.kind, index),
            bits: self.lane.bits(),
            level_bits_per_frame,
            limits: match &field.kind {
                FieldKind::Integer(limits) => Some([limits.min() as f64, limits.max() as f64]),
                _ => axis.map(|axis| [axis.min(), axis.max()]),
            },
            step: match &field.kind {
                FieldKind::Integer(limits) => Some(limits.step() as f64),
                _ => axis.map(kinepack::quantize::FloatLimits::step),
            },
            seen: (self.seen[0] <= self.seen[1]).then_some(self.seen),
            carried_step: self.carried.step(),
            values: self.values.bins(),
            differences: self.differences.bins(),
            difference_p50: self.differences.size_percentile(0.5),
            difference_p99: self.differences.size_percentile(0.99),
            unchanged_share: self.differences.zeros() as f64
                / self.differences.total().max(1) as f64,
            entropy_bits_per_frame: per_frame(self.differences.entropy_bits()),
            // The first frames have no previous difference.
            entropy_given_previous_bits_per_frame: if after_share > 0.0 {
                per_frame(after / after_share)
            } else {
                0.0
            },
        }
    }
}

/// Returns the row of an entity among those of its kind in another snapshot. In most cases the row
/// is `guess`.
pub(super) fn row(snapshot: &Snapshot, kind: usize, id: EntityId, guess: usize) -> Option<usize> {
    let ids = &snapshot.ids()[snapshot.of_kind(kind)];
    if ids.get(guess) == Some(&id) { Some(guess) } else { ids.binary_search(&id).ok() }
}

/// Returns the number that a raw word stands for, if it is one.
fn number(kind: &FieldKind, index: usize, raw: &[u64]) -> Option<f64> {
    let number = match kind {
        FieldKind::Floats(_) => f64::from_bits(raw[index]),
        FieldKind::Integer(limits) if index == 0 => Field::raw_integer(limits, raw[0]) as f64,
        // Most bare words are `f32` values.
        FieldKind::Raw { .. } => f64::from(f32::from_bits(raw[index] as u32)),
        FieldKind::Choice { .. } => raw[index] as f64,
        _ => return None,
    };
    number.is_finite().then_some(number)
}

fn component_name(kind: &FieldKind, index: usize) -> String {
    let named = |names: &[&str]| {
        names.get(index).map_or_else(|| index.to_string(), |name| (*name).to_owned())
    };
    match kind {
        FieldKind::Floats(axes) if (2..=4).contains(&axes.len()) => named(&["x", "y", "z", "w"]),
        FieldKind::Rotation(_) => named(&["dropped", "first", "second", "third"]),
        FieldKind::Integer(limits) if limits.max_code() > u64::from(u32::MAX) => {
            named(&["low", "high"])
        }
        _ => index.to_string(),
    }
}

fn describe(kind: &FieldKind) -> String {
    match kind {
        FieldKind::Floats(axes) => {
            format!("{} in steps of {}", counted(axes.len(), "number"), axes[0].step())
        }
        FieldKind::Integer(limits) => format!("integer from {} to {}", limits.min(), limits.max()),
        FieldKind::Rotation(rotation) => {
            format!("rotation, {} bits a component", rotation.component_bits())
        }
        FieldKind::Bool => "flag".to_owned(),
        FieldKind::Choice { max } => format!("one of {}", max + 1),
        FieldKind::Raw { lanes } => {
            format!("{}, bit for bit", counted(usize::from(*lanes), "float"))
        }
        FieldKind::Bytes { len } => counted(usize::from(*len), "byte"),
        _ => "other".to_owned(),
    }
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_lanes_have_no_more_bins_in_total_than_few() {
        for lanes in [1, 8, 32, 33, 100, 512, 4096] {
            assert!(
                lanes * share(VALUES, lanes) <= ALL && lanes * share(DIFFERENCES, lanes) <= ALL
            );
            assert!(lanes * CLASSES * share(AFTER, CLASSES * lanes) <= ALL);
        }
        assert_eq!([share(VALUES, 32), share(DIFFERENCES, 32)], [VALUES, DIFFERENCES]);
        assert_eq!(share(AFTER, CLASSES * 31), AFTER);
    }
}
