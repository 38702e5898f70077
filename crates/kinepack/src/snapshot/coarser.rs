//! States whose fields are coarser in some entities: how they are made and checked, and the steps
//! of their values in a packet. See `spec/CODEC.md`, sections 5.9 and 14.

use alloc::vec::Vec;

use super::fields::FieldTable;
use super::precision::Shifts;
use super::store::Snapshot;
use crate::coarse::coarsened;

impl Snapshot {
    /// Returns the same state, with each field that may be [coarser](crate::schema::Coarser) by
    /// `bits` bits, or by as many as the field allows. An entity that is already coarser stays as
    /// it is.
    #[must_use]
    pub fn coarser(&self, bits: u8) -> Self {
        let mut made = self.clone();
        made.coarsen(bits, |_| true);
        made
    }

    /// Makes each field that may be [coarser](crate::schema::Coarser) coarser by `bits` bits, or by
    /// as many as the field allows, in the entities whose index `is_meant` accepts. An entity that
    /// is already coarser stays as it is.
    pub fn coarsen(&mut self, bits: u8, is_meant: impl Fn(usize) -> bool) {
        let Self { kinds, entities, columns, .. } = self;
        for (kind, range) in kinds.list.iter().zip(entities.ranges()) {
            let (rules, columns) = (kind.rules(), &mut columns[kind.lanes()]);
            for rule in rules.coarse() {
                let of = rule.coarseness.lane;
                let most = rules.maxima()[of].min(bits.into());
                for (row, index) in range.clone().enumerate() {
                    if columns[of][row] < most
                        && is_meant(index)
                        && rule.conditions.hold_at(columns, row)
                    {
                        columns[of][row] = most;
                    }
                    let shift = rule.coarseness.shift(columns[of][row]);
                    for lane in rule.lanes.clone().filter(|_| shift > 0) {
                        let value = &mut columns[lane][row];
                        *value = coarsened(*value, shift, rules.maxima()[lane]);
                    }
                }
            }
        }
    }

    /// Returns whether each value is as coarse as its entity's coarseness requires.
    pub(super) fn is_coarse_enough(&self) -> bool {
        self.kinds.list.iter().all(|kind| {
            let (rules, columns) = (kind.rules(), &self.columns[kind.lanes()]);
            rules.coarse().iter().all(|rule| {
                let mut rows = (0..).zip(&columns[rule.coarseness.lane]);
                rows.all(|(row, coarseness): (usize, &u32)| {
                    let shift = rule.coarseness.shift(*coarseness);
                    let is_right = |lane: usize| {
                        let value = columns[lane][row];
                        value == coarsened(value, shift, rules.maxima()[lane])
                    };
                    shift == 0 || rule.lanes.clone().all(is_right)
                })
            })
        })
    }
}

impl Shifts {
    /// Finds the shifts of a field that may be coarser, for entities with the columns `new` and
    /// the baseline's columns `base`. `is_added` returns whether the baseline lacks the entity at a
    /// row.
    pub(super) fn find_coarse(
        &mut self,
        field: &FieldTable,
        [base, new]: [&[Vec<u32>]; 2],
        is_added: impl Fn(usize) -> bool,
    ) {
        let Some(coarseness) = field.coarseness else { return };
        let columns = self.columns_mut(field.differenced(), new.len());
        let values = &new[coarseness.lane];
        let Some((first, others)) = columns.split_first_mut() else { return };
        first.clear();
        if values.iter().any(|value| *value != 0) {
            first.extend(values.iter().enumerate().map(|(row, value)| {
                let is_kept = *value != 0 && !is_added(row) && field.conditions.hold_at(base, row);
                if is_kept { coarseness.shift(*value) as u8 } else { 0 }
            }));
        }
        others.iter_mut().for_each(|column| column.clone_from(first));
    }
}
