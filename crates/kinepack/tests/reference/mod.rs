//! A second reader of snapshots, written from `spec/CODEC.md` alone: straightforward, slow, and
//! without code of the crate. If it and the crate's decoder disagree, one of them or the
//! specification is wrong.

// Each test binary compiles this module and uses a part of it.
#![allow(dead_code)]

pub(crate) mod kinds;
mod range;
pub(crate) mod stream;

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Entities by id, each with its lanes.
pub(crate) type Entities = BTreeMap<u32, Vec<i128>>;

/// Why a packet is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused(pub(crate) &'static str);

fn refuse<T>(why: &'static str) -> Result<T, Refused> {
    Err(Refused(why))
}

// Section 1: bits.

/// Bits that hold 0 to `max`.
pub(crate) fn bits_for(max: i128) -> usize {
    let mut bits = 0;
    while max >> bits > 0 {
        bits += 1;
    }
    bits
}

struct Bits {
    bits: Vec<bool>,
    at: usize,
}

impl Bits {
    fn of(packet: &[u8]) -> Self {
        let bits =
            packet.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1)).collect();
        Self { bits, at: 0 }
    }

    fn bool(&mut self) -> Result<bool, Refused> {
        let bit = self.bits.get(self.at).copied();
        self.at += 1;
        bit.ok_or(Refused("the data end within a value"))
    }

    fn value(&mut self, bits: usize) -> Result<i128, Refused> {
        let mut value = 0;
        for bit in 0..bits {
            value |= i128::from(self.bool()?) << bit;
        }
        Ok(value)
    }

    fn up_to(&mut self, max: i128) -> Result<i128, Refused> {
        let value = self.value(bits_for(max))?;
        if value > max { refuse("a number is above its maximum") } else { Ok(value) }
    }

    fn gamma(&mut self) -> Result<i128, Refused> {
        let mut zeros = 0;
        while !self.bool()? {
            zeros += 1;
            if zeros > 32 {
                return refuse("more than 32 zeros");
            }
        }
        Ok(1 << zeros | self.value(zeros)?)
    }

    fn end(&self) -> Result<(), Refused> {
        let rest = &self.bits[self.at..];
        if rest.len() >= 8 {
            return refuse("bytes after the last");
        }
        if rest.contains(&true) { refuse("the padding is not zero") } else { Ok(()) }
    }
}

// Section 5: schemas.

/// The kind of a lane's differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Differences {
    None,
    Linear,
    Cyclic,
}

/// One integer, 0 to `max`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lane {
    pub(crate) max: i128,
    pub(crate) differences: Differences,
}

impl Lane {
    /// Section 5.1.
    fn difference(&self, base: i128, new: i128) -> i128 {
        let codes = self.max + 1;
        match self.differences {
            Differences::Cyclic => {
                let up = (new - base).rem_euclid(codes);
                if 2 * up > codes { up - codes } else { up }
            }
            _ => new - base,
        }
    }
}

/// One axis of a field of floats.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    pub(crate) min: f64,
    pub(crate) max: f64,
    pub(crate) step: f64,
    pub(crate) cyclic: bool,
}

impl Axis {
    /// The range from `min` to `end`, excluding the end.
    pub(crate) fn until(min: f64, end: f64, step: f64) -> Self {
        Self { min, max: end - step, step, cyclic: false }
    }

    /// The same if the end equals the beginning.
    pub(crate) fn cyclic(self) -> Self {
        Self { cyclic: true, ..self }
    }

    fn max_code(&self) -> i128 {
        ((self.max - self.min) / self.step + 0.5).trunc() as i128
    }

    /// The code of 0, if the limits hold it.
    fn code_of_zero(&self) -> Option<i128> {
        let codes = self.max_code() + 1;
        if self.cyclic {
            let offset = (0.0 - self.min).rem_euclid(codes as f64 * self.step);
            return Some((offset / self.step + 0.5).trunc() as i128 % codes);
        }
        let code = ((0.0 - self.min) / self.step + 0.5).trunc() as i128;
        (self.min <= 0.0 && self.max >= 0.0).then_some(code.min(self.max_code()))
    }
}

/// What a field is.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Floats(Vec<Axis>),
    Integer { min: i128, max: i128, step: u64 },
    Rotation { bits: u8 },
    Bool,
    Choice { max: u32 },
    Raw { lanes: u8 },
    Bytes { len: u8 },
}

/// One field.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    /// By its number: section 5.2.
    pub(crate) role: u8,
    pub(crate) kind: Kind,
    pub(crate) time: Option<Time>,
    /// The name of the field whose velocity it is.
    pub(crate) velocity_of: Option<&'static str>,
    /// Section 5.5: the selector's name and values.
    pub(crate) condition: Option<(&'static str, u32, u32)>,
    /// Section 5.7.
    pub(crate) spawn: bool,
}

/// The role of a velocity.
pub(crate) const VELOCITY: u8 = 1;

/// Section 5.4: a time in ms, the ticks of a second, the coarsest step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Time {
    pub(crate) ms: f64,
    pub(crate) ticks_per_s: f64,
    pub(crate) max_step: Option<f64>,
}

impl Field {
    pub(crate) fn lanes(&self) -> Vec<Lane> {
        use Differences::{Cyclic, Linear, None};
        let lane = |max, differences| Lane { max, differences };
        match &self.kind {
            Kind::Floats(axes) => axes
                .iter()
                .map(|axis| lane(axis.max_code(), if axis.cyclic { Cyclic } else { Linear }))
                .collect(),
            Kind::Integer { min, max, step } => {
                let (span, step) = (max - min, i128::from(*step));
                let max_code = (2 * span + step - 1) / (2 * step);
                if bits_for(max_code) <= 32 {
                    vec![lane(max_code, Linear)]
                } else {
                    vec![lane((1 << 32) - 1, Cyclic), lane(max_code >> 32, Linear)]
                }
            }
            Kind::Rotation { bits } => {
                let component = lane((1 << bits) - 1, Linear);
                vec![lane(3, None), component, component, component]
            }
            Kind::Bool => vec![lane(1, None)],
            Kind::Choice { max } => vec![lane(i128::from(*max), None)],
            Kind::Raw { lanes } => vec![lane((1 << 32) - 1, Linear); usize::from(*lanes)],
            Kind::Bytes { len } => vec![lane(255, Cyclic); usize::from(*len)],
        }
    }

    fn is_rotation(&self) -> bool {
        matches!(self.kind, Kind::Rotation { .. })
    }

    /// The lanes of 0 for a velocity whose limits hold it.
    fn at_rest(&self) -> Option<Vec<i128>> {
        match &self.kind {
            Kind::Floats(axes) if self.role == VELOCITY => {
                axes.iter().map(Axis::code_of_zero).collect()
            }
            _ => None,
        }
    }
}

/// Section 5.5: the index of a field's selector.
fn selector(schema: &[Field], index: usize) -> Option<usize> {
    let (name, _, _) = schema[index].condition?;
    (0..index).rev().find(|other| schema[*other].name == name)
}

/// Whether a field is present in an entity or record. The fields before it must be known.
pub(crate) fn is_present(schema: &[Field], index: usize, lanes: &[i128]) -> bool {
    let Some((_, first, last)) = schema[index].condition else { return true };
    let selector = selector(schema, index).unwrap();
    let lane: usize = schema[..selector].iter().map(|field| field.lanes().len()).sum();
    let is_selected = (i128::from(first)..=i128::from(last)).contains(&lanes[lane]);
    is_selected && is_present(schema, selector, lanes)
}

/// Sets the lanes of absent fields to 0.
pub(crate) fn clear_absent(schema: &[Field], lanes: &mut [i128]) {
    let mut first = 0;
    for (index, field) in schema.iter().enumerate() {
        let end = first + field.lanes().len();
        if !is_present(schema, index, lanes) {
            lanes[first..end].fill(0);
        }
        first = end;
    }
}

/// Section 5.3.
pub(crate) fn hash(schema: &[Field]) -> u64 {
    hash_of(&hashed_bytes(schema))
}

/// What the hash takes of the fields of a kind.
fn hashed_bytes(schema: &[Field]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, field) in schema.iter().enumerate() {
        bytes.extend((field.name.len() as u32).to_le_bytes());
        bytes.extend(field.name.as_bytes());
        let flags = if field.condition.is_some() { 128 } else { 0 };
        bytes.push(field.role + flags + if field.spawn { 64 } else { 0 });
        match &field.kind {
            Kind::Floats(axes) => {
                bytes.extend([0, axes.len() as u8]);
                for axis in axes {
                    for number in [axis.min, axis.max, axis.step] {
                        bytes.extend(number.to_bits().to_le_bytes());
                    }
                    bytes.push(u8::from(axis.cyclic));
                }
            }
            Kind::Integer { min, max, step } => {
                bytes.push(1);
                bytes.extend(min.to_le_bytes());
                bytes.extend(max.to_le_bytes());
                bytes.extend(step.to_le_bytes());
            }
            Kind::Rotation { bits } => bytes.extend([2, *bits]),
            Kind::Bool => bytes.push(3),
            Kind::Choice { max } => {
                bytes.push(4);
                bytes.extend(max.to_le_bytes());
            }
            Kind::Raw { lanes } => bytes.extend([5, *lanes]),
            Kind::Bytes { len } => bytes.extend([6, *len]),
        }
        if let Some((_, first, last)) = field.condition {
            let selector = selector(schema, index).unwrap();
            [selector as u32, first, last]
                .iter()
                .for_each(|number| bytes.extend(number.to_le_bytes()));
        }
    }
    bytes
}

fn hash_of(bytes: &[u8]) -> u64 {
    let mut hash: u128 = 0xcbf2_9ce4_8422_2325;
    for byte in bytes {
        hash = (hash ^ u128::from(*byte)) * 0x100_0000_01b3 % (1 << 64);
    }
    hash as u64
}

// Sections 7 and 9.1: profiles.

/// A prefix code: the symbol of each word.
#[derive(Clone, Debug)]
pub(crate) struct Words(HashMap<Vec<bool>, usize>);

impl Words {
    /// Numbered as in section 7.1.
    pub(crate) fn of_lengths(lengths: &[usize]) -> Self {
        if lengths.len() == 1 {
            return Self(HashMap::from([(Vec::new(), 0)]));
        }
        let (mut words, mut next) = (HashMap::new(), 0);
        for length in 1..=8 {
            for symbol in (0..lengths.len()).filter(|symbol| lengths[*symbol] == length) {
                words.insert((0..length).rev().map(|bit| next >> bit & 1 == 1).collect(), symbol);
                next += 1;
            }
            next *= 2;
        }
        assert_eq!(words.len(), lengths.len(), "lengths of 1 to 8");
        assert_eq!(next, 512, "a complete code");
        Self(words)
    }

    fn read(&self, bits: &mut Bits) -> Result<usize, Refused> {
        let mut word = Vec::new();
        loop {
            if let Some(symbol) = self.0.get(&word) {
                return Ok(*symbol);
            }
            word.push(bits.bool()?);
        }
    }
}

/// A code of gaps.
#[derive(Clone, Debug)]
pub(crate) struct Gaps {
    pub(crate) widths: Vec<usize>,
    pub(crate) words: Words,
}

impl Gaps {
    fn read(&self, bits: &mut Bits, count: usize) -> Result<i128, Refused> {
        let class = self.words.read(bits)?;
        let first: i128 = self.widths[..class].iter().map(|width| 1 << width).sum();
        let width =
            self.widths.get(class).copied().unwrap_or_else(|| bits_for(count as i128 - 1 - first));
        Ok(first + bits.value(width)?)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    Baseline,
    Turned,
    Carried,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Context {
    None,
    Previous,
    Field(usize),
}

/// Width of a lane in a class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Width {
    pub(crate) bits: usize,
    pub(crate) beyond: usize,
}

impl Width {
    fn read(self, bits: &mut Bits) -> Result<i128, Refused> {
        if self.bits == 0 {
            return Ok(0);
        }
        let large = 1 << (self.bits - 1);
        let small = if self.beyond == 0 { 0 } else { 1 << (self.beyond - 1) };
        let held = bits.value(self.bits)? - large;
        Ok(if held >= 0 { held + small } else { held - small })
    }
}

/// A profile's code for a field.
#[derive(Clone, Debug)]
pub(crate) struct FieldCode {
    pub(crate) context: Context,
    pub(crate) classes: Vec<(Reference, Vec<Width>)>,
    /// One for each state, or a single one for all.
    pub(crate) words: Vec<Words>,
}

#[derive(Clone, Debug)]
pub(crate) struct Profile {
    pub(crate) entities: Gaps,
    pub(crate) flags: Gaps,
    pub(crate) fields: Vec<FieldCode>,
}

/// `[2, 3]`.
fn list(text: &str) -> Vec<usize> {
    let inner = text.trim().trim_start_matches('[').trim_end_matches(']');
    inner
        .split(',')
        .filter(|number| !number.trim().is_empty())
        .map(|number| number.trim().parse().unwrap())
        .collect()
}

/// Reads `profiles.txt` of the vectors.
pub(crate) fn parse_profiles(text: &str) -> HashMap<String, Profile> {
    let mut gaps: HashMap<(String, String), Gaps> = HashMap::new();
    let mut fields: HashMap<String, Vec<FieldCode>> = HashMap::new();
    let mut open = String::new();
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let tokens: Vec<&str> = line.split_whitespace().collect();
        if line.starts_with(' ') {
            let field = fields.get_mut(&open).unwrap().last_mut().unwrap();
            let reference = match tokens[0] {
                "words" => {
                    field
                        .words
                        .push(Words::of_lengths(&list(line.trim().strip_prefix("words").unwrap())));
                    continue;
                }
                "Baseline" => Reference::Baseline,
                "Turned" => Reference::Turned,
                "Carried" => Reference::Carried,
                other => panic!("no reference: {other}"),
            };
            let width = |token: &&str| {
                let (bits, beyond) = token.split_once('/').unwrap();
                Width { bits: bits.parse().unwrap(), beyond: beyond.parse().unwrap() }
            };
            field.classes.push((reference, tokens[1..].iter().map(width).collect()));
        } else if tokens[2] == "widths" {
            let (_, lists) = line.split_once("widths").unwrap();
            let (widths, lengths) = lists.split_once("words").unwrap();
            let code = Gaps { widths: list(widths), words: Words::of_lengths(&list(lengths)) };
            gaps.insert((tokens[0].into(), tokens[1].into()), code);
        } else {
            open = tokens[0].into();
            let context = match tokens[2] {
                "None" => Context::None,
                "Previous" => Context::Previous,
                field => Context::Field(
                    field.trim_start_matches("Field(").trim_end_matches(')').parse().unwrap(),
                ),
            };
            let code = FieldCode { context, classes: Vec::new(), words: Vec::new() };
            fields.entry(open.clone()).or_default().push(code);
        }
    }
    let profile = |(name, fields): (String, Vec<FieldCode>)| {
        let mut gaps = |of: &str| gaps.remove(&(name.clone(), of.into())).unwrap();
        let profile = Profile { entities: gaps("entities"), flags: gaps("flags"), fields };
        (name, profile)
    };
    fields.into_iter().map(profile).collect()
}

// Section 7: sets.

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Bits,
    BitsOrIndices,
    BitsOrGaps,
}

fn read_set(
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

// Section 3.2.

/// The components of `base`, a rotation's four lanes, in the form that drops `dropped`.
fn turned(base: &[i128], dropped: usize, max: i128) -> Vec<i128> {
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

// Sections 6, 8 and 9.

/// The reference values of a packet's lane.
pub(crate) struct Reader<'a> {
    pub(crate) schema: &'a [Field],
    pub(crate) profile: &'a Profile,
    pub(crate) level: u8,
    pub(crate) max_entities: usize,
    /// Older 1, and its distance before the baseline in ticks.
    pub(crate) older: Option<(&'a Entities, u32)>,
}

// Section 14.

/// The code of a value at a shift.
fn code_at(value: i128, shift: u32) -> i128 {
    (value + (1 << shift) / 2).div_euclid(1 << shift)
}

/// The value of a code at a shift.
fn value_at(code: i128, shift: u32, max: i128) -> i128 {
    (code << shift).min(max)
}

impl Field {
    /// The shifts of this field's lanes, for an entity with these lanes in the baseline and in
    /// older 1.
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
    /// The shifts of an entity's lanes in a field; `before` are its lanes in the baseline.
    fn shifts(&self, baseline: &Entities, id: u32, (first, field): (usize, &Field)) -> Vec<u32> {
        let index =
            self.fields().position(|(_, lane, other)| (lane, &other.name) == (first, &field.name));
        let is_there = |lanes: &Vec<i128>| is_present(self.schema, index.unwrap(), lanes);
        let lanes = first..first + field.lanes().len();
        match (
            baseline.get(&id),
            self.older.and_then(|(older, ticks)| Some((older.get(&id)?, ticks))),
        ) {
            (Some(base), Some((older, ticks))) if is_there(base) && is_there(older) => {
                field.shifts(&base[lanes.clone()], &older[lanes], ticks.max(1))
            }
            _ => vec![0; lanes.len()],
        }
    }

    /// The entities of the snapshot that `packet` holds relative to `baseline`.
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
        Ok(after)
    }

    /// The entities of the new snapshot with their lanes in the baseline, and those that were added.
    fn read_entities(
        &self,
        bits: &mut Bits,
        baseline: &Entities,
    ) -> Result<(Entities, BTreeSet<u32>), Refused> {
        let (mut entities, mut added) = (baseline.clone(), BTreeSet::new());
        // At every level, with the gap code of the entities.
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

    /// The form of the set of changed entities.
    fn form(&self) -> Form {
        match self.level {
            7 => Form::Bits,
            8 => Form::BitsOrIndices,
            _ => Form::BitsOrGaps,
        }
    }

    /// Each field with the place of its first lane.
    fn fields(&self) -> impl Iterator<Item = (usize, usize, &Field)> {
        let mut first = 0;
        self.schema.iter().enumerate().map(move |(index, field)| {
            let lane = first;
            first += field.lanes().len();
            (index, lane, field)
        })
    }

    fn read_every_entity(&self, bits: &mut Bits, entities: &mut Entities) -> Result<(), Refused> {
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

    /// Reads the fields of the changed entities. `added` are those that the packet adds.
    fn read_fields(
        &self,
        bits: &mut Bits,
        baseline: &Entities,
        (before, after): (&Entities, &mut Entities),
        (changed, added): (&[u32], &BTreeSet<u32>),
    ) -> Result<(), Refused> {
        // The class that an entity had in a field; the one after the last means "in full".
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
                    // The motion of the entity written before.
                    let carried: Vec<i128> = match previous {
                        Some(other) => {
                            let shifts = self.shifts(baseline, other, (first, field));
                            let at = |of: &Entities, lane: usize| {
                                code_at(of[&other][first + lane], shifts[lane])
                            };
                            (0..lanes.len())
                                .map(|lane| {
                                    lanes[lane].difference(at(before, lane), at(after, lane))
                                        << shifts[lane]
                                })
                                .collect()
                        }
                        None => vec![0; lanes.len()],
                    };
                    let shifts = self.shifts(baseline, id, (first, field));
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

fn read_in_full(bits: &mut Bits, lanes: &[Lane]) -> Result<Vec<i128>, Refused> {
    lanes.iter().map(|lane| bits.up_to(lane.max)).collect()
}

/// A field's lanes in a class other than "in full".
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
