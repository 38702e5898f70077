//! Reads packets of one kind of entities.

use std::collections::{BTreeSet, HashMap};

use super::{
    Bits, CUT, Context, Differences, Entities, FRAME, Field, Gaps, Kind, Lane, Profile, Reference,
    Refused, Width, check_coarse, coarse_shift, is_present, refuse,
};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Bits,
    BitsOrIndices,
    BitsOrGaps,
}

pub(super) fn read_set(
    bits: &mut Bits,
    form: Form,
    count: usize,
    gaps: &Gaps,
) -> Result<BTreeSet<usize>, Refused> {
    let mut set = BTreeSet::new();
    if count == 0 {
        return Ok(set);
    }
    if form == Form::Bits || bits.bool()? {
        for index in 0..count {
            if bits.bool()? {
                set.insert(index);
            }
        }
        return Ok(set);
    }
    if form == Form::BitsOrIndices {
        for _ in 0..bits.up_to(count as i128)? {
            let index = bits.up_to(count as i128 - 1)? as usize;
            if set.last().is_some_and(|last| *last >= index) {
                return refuse("indices that do not increase");
            }
            set.insert(index);
        }
        return Ok(set);
    }
    let lists_others = bits.bool()?;
    let mut index = -1;
    for _ in 1..bits.gamma()? {
        index += 1 + gaps.read(bits, count)?;
        if index >= count as i128 {
            return refuse("an index above the last");
        }
        set.insert(index as usize);
    }
    Ok(if lists_others { (0..count).filter(|index| !set.contains(index)).collect() } else { set })
}

// The following code implements section 3.2.

/// Returns the components of `base`, a rotation's four lanes, in the form that drops `dropped`.
pub(super) fn turned(base: &[i128], dropped: usize, max: i128) -> Vec<i128> {
    let was = base[0] as usize;
    if was == dropped {
        return base[1..].to_vec();
    }
    let mut scaled = [0; 4];
    for (component, code) in (0..4).filter(|component| *component != was).zip(&base[1..]) {
        scaled[component] = 2 * code - max;
    }
    let squares: i128 = scaled.iter().map(|s| s * s).sum();
    scaled[was] = (2 * max * max - squares).max(0).isqrt();
    if scaled[dropped] < 0 {
        scaled = scaled.map(|s| -s);
    }
    let code = |component: usize| (scaled[component] + max + 1).div_euclid(2).clamp(0, max);
    (0..4).filter(|component| *component != dropped).map(code).collect()
}

// The following code implements sections 6, 8 and 9.

/// The parameters and views that a packet is read with.
pub(crate) struct Reader<'a> {
    pub(crate) schema: &'a [Field],
    pub(crate) profile: &'a Profile,
    pub(crate) level: u8,
    pub(crate) max_entities: usize,
    /// The first older view, and its distance before the baseline in ticks.
    pub(crate) older: Option<(&'a Entities, u32)>,
}

// The following code implements section 14.

/// Returns the code of a value, for a step of 2^shift.
pub(super) fn code_at(value: i128, shift: u32) -> i128 {
    (value + (1 << shift) / 2).div_euclid(1 << shift)
}

/// Returns the value of a code with a step of 2^shift.
pub(super) fn value_at(code: i128, shift: u32, max: i128) -> i128 {
    (code << shift).min(max)
}

impl Field {
    /// Returns the shifts of this field's lanes, for an entity with these lanes in the baseline and
    /// in the first older view.
    fn shifts(&self, base: &[i128], older: &[i128], ticks: u32) -> Vec<u32> {
        let lanes = self.lanes();
        let mut shifts = vec![0; lanes.len()];
        let Some(time) = self.time else { return shifts };
        let (first, steps, usual): (usize, Vec<f64>, f64) = match &self.kind {
            Kind::Floats(axes) => (0, axes.iter().map(|axis| axis.step).collect(), 16.0),
            Kind::Rotation { .. } => {
                let h = f64::from_bits(0x3FE6_A09E_667F_3BCD);
                (1, vec![4.0 * h / lanes[1].max as f64; 3], 8.0)
            }
            _ => panic!("no time precision"),
        };
        let older =
            if first == 1 { turned(older, base[0] as usize, lanes[1].max) } else { older.to_vec() };
        let in_ticks = (time.ms * time.ticks_per_s) / 1000.0;
        let mut speed = 0.0;
        for (nth, step) in steps.iter().enumerate() {
            let x = (base[first + nth] - older[nth]) as f64 * step;
            speed += x * x;
        }
        for (nth, step) in steps.iter().enumerate() {
            let x = step / (2.0 * in_ticks);
            let slow = x * x * (f64::from(ticks) * f64::from(ticks));
            let may = |shift: &u32| {
                2f64.powi(*shift as i32) * step <= time.max_step.unwrap_or(usual * step)
            };
            let can = |shift: &u32| may(shift) && 4f64.powi(*shift as i32) * slow <= speed;
            shifts[first + nth] = (1..=31).rev().find(can).unwrap_or(0);
        }
        shifts
    }
}

impl Reader<'_> {
    /// Returns whether a break is between two states of an entity: section 5.2.
    fn is_broken(&self, older: &[i128], newer: &[i128]) -> bool {
        self.fields().any(|(_, first, field)| {
            let lanes = first..first + field.lanes().len();
            matches!(field.role, CUT | FRAME) && older[lanes.clone()] != newer[lanes]
        })
    }

    /// Returns the shifts of an entity's lanes in a field, by section 14 or 5.9. The new lanes of
    /// all fields before it must be known.
    fn shifts(
        &self,
        (baseline, after): (&Entities, &Entities),
        added: &BTreeSet<u32>,
        id: u32,
        (index, first, field): (usize, usize, &Field),
    ) -> Vec<u32> {
        let is_there = |lanes: &Vec<i128>| is_present(self.schema, index, lanes);
        if let Some(shift) = coarse_shift(self.schema, index, &after[&id]) {
            let is_kept = !added.contains(&id) && baseline.get(&id).is_some_and(is_there);
            let of = |lane: Lane| if lane.differences == Differences::None { 0 } else { shift };
            let lanes = field.lanes().into_iter();
            return lanes.map(|lane| if is_kept { of(lane) } else { 0 }).collect();
        }
        let lanes = first..first + field.lanes().len();
        match (
            baseline.get(&id),
            self.older.and_then(|(older, ticks)| Some((older.get(&id)?, ticks))),
        ) {
            (Some(base), Some((older, ticks)))
                if is_there(base) && is_there(older) && !self.is_broken(older, base) =>
            {
                field.shifts(&base[lanes.clone()], &older[lanes], ticks.max(1))
            }
            _ => vec![0; lanes.len()],
        }
    }

    /// Reads the entities of the snapshot that `packet` holds relative to `baseline`.
    pub(crate) fn decode(&self, baseline: &Entities, packet: &[u8]) -> Result<Entities, Refused> {
        let bits = &mut Bits::of(packet);
        let (before, added) = if bits.bool()? {
            self.read_entities(bits, baseline)?
        } else {
            (baseline.clone(), BTreeSet::new())
        };
        if before.len() > self.max_entities {
            return refuse("too many entities");
        }
        let mut after = before.clone();
        if self.level <= 6 {
            self.read_every_entity(bits, &mut after)?;
        } else {
            let ids: Vec<u32> = before.keys().copied().collect();
            let changed = read_set(bits, self.form(), ids.len(), &self.profile.entities)?;
            let changed: Vec<u32> = changed.into_iter().map(|index| ids[index]).collect();
            self.read_fields(bits, baseline, (&before, &mut after), (&changed, &added))?;
        }
        bits.end()?;
        check_coarse(self.schema, &after)?;
        Ok(after)
    }

    /// Reads the entities of the new snapshot with their lanes in the baseline, and the ids of
    /// those that were added.
    pub(super) fn read_entities(
        &self,
        bits: &mut Bits,
        baseline: &Entities,
    ) -> Result<(Entities, BTreeSet<u32>), Refused> {
        let (mut entities, mut added) = (baseline.clone(), BTreeSet::new());
        // At every level this set is coded with the gap code of the entities.
        let removed = read_set(bits, Form::BitsOrGaps, baseline.len(), &self.profile.entities)?;
        for (index, id) in baseline.keys().enumerate() {
            if removed.contains(&index) {
                entities.remove(id);
            }
        }
        let may_return = self.schema.iter().any(|field| field.spawn);
        let lanes: usize = self.schema.iter().map(|field| field.lanes().len()).sum();
        let mut next = 0;
        for _ in 1..bits.gamma()? {
            let id = next + bits.gamma()? - 1;
            let Ok(held) = u32::try_from(id) else { return refuse("an id above 2^32 - 1") };
            let is_there = if may_return { &entities } else { baseline }.contains_key(&held);
            if is_there && !added.contains(&held) {
                return refuse("the baseline has an added entity");
            }
            added.insert(held);
            entities.insert(held, vec![0; lanes]);
            next = id + 1;
        }
        Ok((entities, added))
    }

    /// Returns the form of the set of changed entities.
    pub(super) fn form(&self) -> Form {
        match self.level {
            7 => Form::Bits,
            8 => Form::BitsOrIndices,
            _ => Form::BitsOrGaps,
        }
    }

    /// Iterates over the fields: each field's index, the index of its first lane, and the field.
    fn fields(&self) -> impl Iterator<Item = (usize, usize, &Field)> {
        let mut first = 0;
        self.schema.iter().enumerate().map(move |(index, field)| {
            let lane = first;
            first += field.lanes().len();
            (index, lane, field)
        })
    }

    pub(super) fn read_every_entity(
        &self,
        bits: &mut Bits,
        entities: &mut Entities,
    ) -> Result<(), Refused> {
        for (index, first, field) in self.fields() {
            let at_rest = field.at_rest().filter(|_| self.level == 4);
            let lanes = field.lanes();
            for values in entities.values_mut() {
                if !is_present(self.schema, index, values) {
                    values[first..first + lanes.len()].fill(0);
                    continue;
                }
                let values = &mut values[first..first + lanes.len()];
                match &at_rest {
                    Some(zero) if bits.bool()? => values.clone_from_slice(zero),
                    _ => values.clone_from_slice(&read_in_full(bits, &lanes)?),
                }
            }
        }
        Ok(())
    }

    /// Reads the fields of the changed entities. `added` are the entities that the packet adds.
    pub(super) fn read_fields(
        &self,
        bits: &mut Bits,
        baseline: &Entities,
        (before, after): (&Entities, &mut Entities),
        (changed, added): (&[u32], &BTreeSet<u32>),
    ) -> Result<(), Refused> {
        // The class that an entity had in a field; the class after the last means "in full".
        let mut classes: HashMap<(usize, u32), usize> = HashMap::new();
        for (index, first, field) in self.fields() {
            let lanes = field.lanes();
            let (present, absent): (Vec<u32>, Vec<u32>) =
                changed.iter().partition(|id| is_present(self.schema, index, &after[id]));
            for id in absent {
                after.get_mut(&id).unwrap()[first..first + lanes.len()].fill(0);
            }
            let may_have = |id: &u32| !field.spawn || added.contains(id);
            let present: Vec<u32> = present.into_iter().filter(may_have).collect();
            let flagged = if self.level == 12 {
                let flagged = read_set(bits, Form::BitsOrGaps, present.len(), &self.profile.flags)?;
                flagged.into_iter().map(|nth| present[nth]).collect()
            } else {
                present
            };
            let has_differences = lanes.iter().any(|lane| lane.differences != Differences::None);
            let from_level = if field.is_rotation() { 11 } else { 10 };
            let shifts = |after: &Entities, id| {
                self.shifts((baseline, after), added, id, (index, first, field))
            };
            let mut previous = None;
            for id in flagged {
                let base = &before[&id][first..first + lanes.len()];
                let values = if has_differences && self.level >= from_level {
                    let code = &self.profile.fields[index];
                    let class_before = match code.context {
                        Context::None => None,
                        Context::Previous => previous.map(|previous| classes[&(index, previous)]),
                        Context::Field(field) => classes.get(&(field, id)).copied(),
                    };
                    let state = class_before.map_or(0, |class| 1 + class);
                    let words = code.words.get(state).unwrap_or(&code.words[0]);
                    let class = words.read(bits)?;
                    classes.insert((index, id), class);
                    let carried = match previous {
                        Some(other) => motion(
                            &before[&other][first..],
                            &after[&other][first..],
                            &lanes,
                            &shifts(after, other),
                        ),
                        None => vec![0; lanes.len()],
                    };
                    let shifts = shifts(after, id);
                    previous = Some(id);
                    match code.classes.get(class) {
                        Some((reference, widths)) => read_differences(
                            bits,
                            &lanes,
                            base,
                            *reference,
                            widths,
                            (&carried, &shifts),
                        )?,
                        None => read_in_full(bits, &lanes)?,
                    }
                } else if self.level == 12 && lanes.len() == 1 && !has_differences {
                    if lanes[0].max == 0 {
                        return refuse("a lane of one value cannot change");
                    }
                    let other = bits.up_to(lanes[0].max - 1)?;
                    vec![if other < base[0] { other } else { other + 1 }]
                } else {
                    read_in_full(bits, &lanes)?
                };
                after.get_mut(&id).unwrap()[first..first + lanes.len()].clone_from_slice(&values);
            }
        }
        Ok(())
    }
}

/// Returns the motion of an entity's lanes in a field, in whole codes of its shifts.
fn motion(before: &[i128], after: &[i128], lanes: &[Lane], shifts: &[u32]) -> Vec<i128> {
    let at = |values: &[i128], lane: usize| code_at(values[lane], shifts[lane]);
    (0..lanes.len())
        .map(|lane| lanes[lane].difference(at(before, lane), at(after, lane)) << shifts[lane])
        .collect()
}

fn read_in_full(bits: &mut Bits, lanes: &[Lane]) -> Result<Vec<i128>, Refused> {
    lanes.iter().map(|lane| bits.up_to(lane.max)).collect()
}

/// Reads a field's lanes in a class other than "in full".
fn read_differences(
    bits: &mut Bits,
    lanes: &[Lane],
    base: &[i128],
    reference: Reference,
    widths: &[Width],
    (carried, shifts): (&[i128], &[u32]),
) -> Result<Vec<i128>, Refused> {
    let mut values = base.to_vec();
    match reference {
        Reference::Baseline => {}
        Reference::Turned => {
            let Some(dropped) =
                (0..4).filter(|component| *component != base[0]).nth(bits.value(2)? as usize)
            else {
                return refuse("turned into none of the three forms");
            };
            values = vec![dropped];
            values.extend(turned(base, dropped as usize, lanes[1].max));
        }
        Reference::Carried => {}
    }
    let differenced: Vec<usize> =
        (0..lanes.len()).filter(|lane| lanes[*lane].differences != Differences::None).collect();
    assert_eq!(differenced.len(), widths.len());
    for (lane, width) in differenced.into_iter().zip(widths) {
        let (Lane { max, differences }, shift) = (lanes[lane], shifts[lane]);
        let mut new = code_at(values[lane], shift) + width.read(bits)?;
        if reference == Reference::Carried {
            new += carried[lane].div_euclid(1 << shift);
        }
        if differences == Differences::Cyclic {
            new = new.rem_euclid(max + 1);
        }
        if !(0..=code_at(max, shift)).contains(&new) {
            return refuse("a difference leads out of the lane");
        }
        values[lane] = value_at(new, shift, max);
    }
    Ok(values)
}
