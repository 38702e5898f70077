//! A second decoder of snapshots, written from `spec/CODEC.md` alone: simple, slow, and without
//! code of the crate. If this decoder and the crate's disagree, one of them or the specification is
//! wrong.

// Each test binary compiles this module, but uses only a part of it.
#![allow(dead_code)]

pub(crate) mod kinds;
mod packet;
mod range;
pub(crate) mod stream;

use std::collections::{BTreeMap, HashMap};

pub(crate) use packet::Reader;
use packet::{code_at, read_set, turned, value_at};

/// The entities by id, each with its lanes.
pub(crate) type Entities = BTreeMap<u32, Vec<i128>>;

/// The reason why a packet is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused(pub(crate) &'static str);

fn refuse<T>(why: &'static str) -> Result<T, Refused> {
    Err(Refused(why))
}

// The following code implements section 1, bits.

/// Returns the number of bits that hold 0 to `max`.
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

// The following code implements section 5, schemas.

/// The kind of a lane's differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Differences {
    None,
    Linear,
    Cyclic,
}

/// One integer, from 0 to `max`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lane {
    pub(crate) max: i128,
    pub(crate) differences: Differences,
}

impl Lane {
    /// Returns the difference from `base` to `new`, as section 5.1 defines it.
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
    /// Makes the range from `min` to `end`, excluding `end`.
    pub(crate) fn until(min: f64, end: f64, step: f64) -> Self {
        Self { min, max: end - step, step, cyclic: false }
    }

    /// Returns the same axis, whose end equals its beginning.
    pub(crate) fn cyclic(self) -> Self {
        Self { cyclic: true, ..self }
    }

    fn max_code(&self) -> i128 {
        ((self.max - self.min) / self.step + 0.5).trunc() as i128
    }

    /// Returns the code of 0, if the limits contain 0.
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

/// The kind of a field.
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
    /// The number of the role: section 5.2.
    pub(crate) role: u8,
    pub(crate) kind: Kind,
    pub(crate) time: Option<Time>,
    /// The name of the field whose velocity this field is.
    pub(crate) velocity_of: Option<&'static str>,
    /// The selector's name, and the first and last value: section 5.5.
    pub(crate) condition: Option<(&'static str, u32, u32)>,
    /// Whether this is a spawn field: section 5.7.
    pub(crate) spawn: bool,
    /// The coarseness's name, and the most bits: section 5.9.
    pub(crate) coarser: Option<(&'static str, u8)>,
    /// The frame's name: section 5.10.
    pub(crate) frame: Option<&'static str>,
}

/// The number of the role of velocities.
pub(crate) const VELOCITY: u8 = 1;
/// The number of the role of cuts.
pub(crate) const CUT: u8 = 6;
/// The number of the role of frames.
pub(crate) const FRAME: u8 = 7;

/// A time precision (section 5.4): the time in ms, the ticks per second, and the coarsest step.
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

    /// Returns the lanes of 0, if this is a velocity whose limits contain 0.
    fn at_rest(&self) -> Option<Vec<i128>> {
        match &self.kind {
            Kind::Floats(axes) if self.role == VELOCITY => {
                axes.iter().map(Axis::code_of_zero).collect()
            }
            _ => None,
        }
    }
}

/// Returns the index of a field's selector, as section 5.5 defines it.
fn selector(schema: &[Field], index: usize) -> Option<usize> {
    let (name, _, _) = schema[index].condition?;
    last_before(schema, index, name)
}

/// Returns the index of the last field before another that has this name.
fn last_before(schema: &[Field], index: usize, name: &str) -> Option<usize> {
    (0..index).rev().find(|other| schema[*other].name == name)
}

/// Returns the index of a field's first lane.
fn first_lane(schema: &[Field], index: usize) -> usize {
    schema[..index].iter().map(|field| field.lanes().len()).sum()
}

/// Returns whether a field is present in an entity or record. The lanes of all fields before it
/// must be known.
pub(crate) fn is_present(schema: &[Field], index: usize, lanes: &[i128]) -> bool {
    let Some((_, first, last)) = schema[index].condition else { return true };
    let selector = selector(schema, index).unwrap();
    let lane = lanes[first_lane(schema, selector)];
    let is_selected = (i128::from(first)..=i128::from(last)).contains(&lane);
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

/// Returns the number s of a field that may be coarser, as section 5.9 defines it. The lanes of all
/// fields before it must be known.
fn coarse_shift(schema: &[Field], index: usize, lanes: &[i128]) -> Option<u32> {
    let (name, most) = schema[index].coarser?;
    let coarseness = last_before(schema, index, name).unwrap();
    Some(lanes[first_lane(schema, coarseness)].min(most.into()) as u32)
}

/// Rounds the lanes of an entity as section 5.9 requires.
pub(crate) fn round_coarse(schema: &[Field], lanes: &mut [i128]) {
    for (index, field) in schema.iter().enumerate() {
        let Some(shift) = coarse_shift(schema, index, lanes) else { continue };
        let values = &mut lanes[first_lane(schema, index)..];
        for (value, lane) in values.iter_mut().zip(field.lanes()) {
            if lane.differences != Differences::None {
                *value = value_at(code_at(*value, shift), shift, lane.max);
            }
        }
    }
}

/// Refuses entities that are finer than section 5.9 allows.
fn check_coarse(schema: &[Field], entities: &Entities) -> Result<(), Refused> {
    for lanes in entities.values() {
        let mut rounded = lanes.clone();
        round_coarse(schema, &mut rounded);
        if rounded != *lanes {
            return refuse("a value is finer than the coarseness allows");
        }
    }
    Ok(())
}

/// Computes the hash of one kind's fields, as section 5.3 defines it.
pub(crate) fn hash(schema: &[Field]) -> u64 {
    hash_of(&hashed_bytes(schema))
}

/// Returns the bytes of a kind's fields that are hashed.
fn hashed_bytes(schema: &[Field]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, field) in schema.iter().enumerate() {
        bytes.extend((field.name.len() as u32).to_le_bytes());
        bytes.extend(field.name.as_bytes());
        let flags = [
            (field.condition.is_some(), 128),
            (field.spawn, 64),
            (field.coarser.is_some(), 32),
            (field.frame.is_some(), 16),
        ];
        bytes.push(
            field.role
                + flags.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).sum::<u8>(),
        );
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
        if let Some((name, most)) = field.coarser {
            let coarseness = last_before(schema, index, name).unwrap();
            bytes.extend((coarseness as u32).to_le_bytes());
            bytes.push(most);
        }
        if let Some(frame) = field.frame {
            bytes.extend((frame.len() as u32).to_le_bytes());
            bytes.extend(frame.as_bytes());
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

// The following code implements sections 7 and 9.1, profiles.

/// A prefix code: the symbol of each word.
#[derive(Clone, Debug)]
pub(crate) struct Words(HashMap<Vec<bool>, usize>);

impl Words {
    /// Numbers the words as in section 7.1.
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

/// The code of a profile's distances.
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

/// The width of a lane in a class.
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
    /// The words for each state of the context, or a single set for all states.
    pub(crate) words: Vec<Words>,
}

#[derive(Clone, Debug)]
pub(crate) struct Profile {
    pub(crate) entities: Gaps,
    pub(crate) flags: Gaps,
    pub(crate) fields: Vec<FieldCode>,
}

/// Reads a list such as `[2, 3]`.
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

// The following code implements section 7, sets.
