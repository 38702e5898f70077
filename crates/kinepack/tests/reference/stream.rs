//! Reads streams, as section 17 defines them.

use super::range::{Counter, Range};
use super::{
    Bits, Differences, Field, Kind, Lane, Refused, Words, bits_for, hash_of, is_present, refuse,
    turned,
};

/// The limit of the observations of a stream's counters.
const MOST: i64 = 119;

/// A codec of a stream.
pub(crate) struct Stream<'a> {
    schema: &'a [Field],
    is_adaptive: bool,
    lanes: Vec<Lane>,
    parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Written {
    Steps,
    Rotation,
    Choice,
    Bytes,
}

/// Lanes that are coded together.
#[derive(Clone, Debug)]
struct Part {
    /// The index of the part's field.
    field: usize,
    written: Written,
    lanes: Vec<usize>,
    /// The lane with the velocity of each lane, if the field has a velocity.
    velocities: Option<Vec<usize>>,
    is_clock: bool,
}

/// A record that both sides hold, its learned state, and the lag.
pub(crate) type Base<'a> = (&'a [i128], &'a Learned, u64);

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Learned {
    /// The learned state of each part, in the order of the parts.
    parts: Vec<OfPart>,
    lanes: Vec<OfLane>,
    sizes: Vec<Vec<Counter>>,
    byte_changed: Vec<Counter>,
    same: Counter,
}

#[derive(Clone, Debug, PartialEq)]
struct OfPart {
    changed: Vec<Counter>,
    history: usize,
    fit: Fit,
}

/// The sums and weights S00, S01, S11; P0, P1; w0, w1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Fit {
    squares: [f64; 3],
    products: [f64; 2],
    weights: [f64; 2],
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct OfLane {
    rate: f32,
    size: i64,
    history: usize,
}

impl<'a> Stream<'a> {
    pub(crate) fn new(schema: &'a [Field], is_adaptive: bool) -> Self {
        let lanes: Vec<Lane> = schema.iter().flat_map(Field::lanes).collect();
        let mut stream = Self { schema, is_adaptive, lanes, parts: Vec::new() };
        let clock = schema.iter().position(Field::is_time_stamp);
        for (index, field) in schema.iter().enumerate() {
            let of_field: Vec<usize> =
                (0..field.lanes().len()).map(|lane| stream.first(index) + lane).collect();
            let (written, most) = match field.kind {
                Kind::Floats(_) | Kind::Raw { .. } => (Written::Steps, 4),
                Kind::Integer { .. } => (Written::Steps, 1),
                Kind::Rotation { .. } => (Written::Rotation, 4),
                Kind::Bool | Kind::Choice { .. } => (Written::Choice, 1),
                Kind::Bytes { .. } => (Written::Bytes, 64),
            };
            for (nth, lanes) in of_field.chunks(most).enumerate() {
                let velocity = stream.velocity_of(index).map(|first| {
                    let velocity = |lane: &usize| first + lane - stream.first(index);
                    lanes.iter().map(velocity).collect()
                });
                let is_clock = Some(index) == clock && nth == 0;
                stream.parts.push(Part {
                    field: index,
                    written,
                    lanes: lanes.to_vec(),
                    velocities: velocity,
                    is_clock,
                });
            }
        }
        if is_adaptive {
            let (clock, others): (Vec<Part>, Vec<Part>) =
                stream.parts.into_iter().partition(|part| part.is_clock);
            let (moved, plain): (Vec<Part>, Vec<Part>) =
                others.into_iter().partition(|part| part.velocities.is_some());
            stream.parts = [clock, plain, moved].concat();
        }
        stream
    }

    /// Returns the index of the first lane of a field.
    fn first(&self, field: usize) -> usize {
        self.schema[..field].iter().map(|field| field.lanes().len()).sum()
    }

    fn is_velocity_of(&self, f: usize, g: usize) -> bool {
        let [velocity, owner] = [f, g].map(|field| &self.schema[field]);
        let are_floats =
            [velocity, owner].iter().all(|field| matches!(field.kind, Kind::Floats(_)));
        velocity.velocity_of == Some(owner.name)
            && are_floats
            && velocity.lanes().len() == owner.lanes().len()
    }

    /// Returns the index of the first lane of the field that is the velocity of `field`.
    fn velocity_of(&self, field: usize) -> Option<usize> {
        let mut all = 0..self.schema.len();
        let velocity = all.find(|other| self.is_velocity_of(*other, field))?;
        let has_one_itself =
            (0..self.schema.len()).any(|other| self.is_velocity_of(other, velocity));
        let is_clock = self.schema.iter().position(Field::is_time_stamp) == Some(field);
        (!has_one_itself && !is_clock).then(|| self.first(velocity))
    }

    pub(crate) fn hash(&self) -> u64 {
        let mut bytes = super::hash(self.schema).to_le_bytes().to_vec();
        bytes.push(u8::from(self.is_adaptive));
        if self.is_adaptive {
            for (index, field) in self.schema.iter().enumerate() {
                let velocity = self.velocity_of(index).filter(|_| !field.lanes().is_empty());
                bytes.extend(velocity.map_or(0, |lane| lane as u32 + 1).to_le_bytes());
            }
        }
        hash_of(&bytes)
    }

    pub(crate) fn nothing_learned(&self) -> Learned {
        let part = OfPart { changed: vec![Counter::EVEN; 4], history: 0, fit: Fit::default() };
        Learned {
            parts: vec![part; self.parts.len()],
            lanes: vec![OfLane { rate: 0.0, size: 1024, history: 0 }; self.lanes.len()],
            sizes: vec![vec![Counter::EVEN; 8]; 14],
            byte_changed: vec![Counter::EVEN; 8],
            same: Counter::EVEN,
        }
    }

    /// Reads `count` records, and returns them with the learned state at the last one.
    pub(crate) fn decode(
        &self,
        base: Option<Base<'_>>,
        count: usize,
        packet: &[u8],
    ) -> Result<(Vec<Vec<i128>>, Learned), Refused> {
        let mut learned =
            base.map_or_else(|| self.nothing_learned(), |(_, learned, _)| learned.clone());
        let mut before = base.map(|(lanes, _, lag)| (lanes.to_vec(), lag));
        let mut records = Vec::new();
        if self.is_adaptive {
            let range = &mut Range::of(packet)?;
            for _ in 0..count {
                let record = match &before {
                    None => {
                        self.read_in_full(|lane| up_to(range.direct(bits_for(lane.max))?, lane.max))
                    }
                    Some((base, lag)) => {
                        let record = base.clone();
                        let per = 1.0 / *lag as f64;
                        let reader = RecordReader {
                            range,
                            stream: self,
                            learned: &mut learned,
                            base,
                            record,
                            lag: *lag,
                        };
                        reader.read(*lag as f64, per)
                    }
                };
                records.push(record?);
                before = records.last().map(|record| (record.clone(), 1));
            }
            range.end()?;
        } else {
            let bits = &mut Bits::of(packet);
            for _ in 0..count {
                let record = match &before {
                    None => self.read_in_full(|lane| bits.up_to(lane.max)),
                    Some((base, _)) => self.read_packed(bits, base),
                };
                records.push(record?);
                before = records.last().map(|record| (record.clone(), 1));
            }
            bits.end()?;
        }
        Ok((records, learned))
    }

    /// Reads a record in full, as section 17.1 defines it.
    fn read_in_full(
        &self,
        mut read: impl FnMut(&Lane) -> Result<i128, Refused>,
    ) -> Result<Vec<i128>, Refused> {
        let mut record = vec![0; self.lanes.len()];
        for (index, field) in self.schema.iter().enumerate() {
            if is_present(self.schema, index, &record) {
                let lanes = self.first(index)..self.first(index) + field.lanes().len();
                for (value, lane) in record[lanes.clone()].iter_mut().zip(&self.lanes[lanes]) {
                    *value = read(lane)?;
                }
            }
        }
        Ok(record)
    }

    // This follows section 17.2.

    fn read_packed(&self, bits: &mut Bits, base: &[i128]) -> Result<Vec<i128>, Refused> {
        let mut record = base.to_vec();
        for part in &self.parts {
            let before: Vec<i128> = part.lanes.iter().map(|lane| base[*lane]).collect();
            let limits: Vec<Lane> = part.lanes.iter().map(|lane| self.lanes[*lane]).collect();
            if !is_present(self.schema, part.field, &record) {
                part.lanes.iter().for_each(|lane| record[*lane] = 0);
                continue;
            }
            if !is_present(self.schema, part.field, base) {
                for lane in &part.lanes {
                    record[*lane] = bits.up_to(self.lanes[*lane].max)?;
                }
                continue;
            }
            let coded = match part.written {
                Written::Steps => read_from(bits, &limits, &before)?,
                Written::Choice => vec![read_choice(bits, limits[0].max, before[0])?],
                Written::Rotation => {
                    let dropped = read_choice(bits, 3, before[0])?;
                    let from = turned(&before, dropped as usize, limits[1].max);
                    [vec![dropped], read_from(bits, &limits[1..], &from)?].concat()
                }
                Written::Bytes => {
                    let changes = read_sparse(bits, before.len())?;
                    before.iter().zip(changes).map(|(base, change)| base ^ change).collect()
                }
            };
            part.lanes.iter().zip(coded).for_each(|(lane, value)| record[*lane] = value);
        }
        Ok(record)
    }
}

fn up_to(value: i128, max: i128) -> Result<i128, Refused> {
    if value > max { refuse("a value above its lane") } else { Ok(value) }
}

impl Field {
    /// Returns whether the field is numeric and has the role of a clock.
    fn is_time_stamp(&self) -> bool {
        let is_numbers =
            matches!(self.kind, Kind::Floats(_) | Kind::Integer { .. } | Kind::Raw { .. });
        self.role == 5 && is_numbers && !self.lanes().is_empty() && self.condition.is_none()
    }
}

/// Reads values as steps from the values in `from`.
fn read_from(bits: &mut Bits, lanes: &[Lane], from: &[i128]) -> Result<Vec<i128>, Refused> {
    let steps = read_steps(bits, lanes.len())?;
    lanes
        .iter()
        .zip(from)
        .zip(steps)
        .map(|((lane, from), steps)| lane.moved(*from, steps))
        .collect()
}

impl Lane {
    /// Returns the value `steps` after `from`.
    fn moved(&self, from: i128, steps: i128) -> Result<i128, Refused> {
        let value = from + steps;
        let value = if self.differences == Differences::Cyclic {
            value.rem_euclid(self.max + 1)
        } else {
            value
        };
        if (0..=self.max).contains(&value) {
            Ok(value)
        } else {
            refuse("a difference leads out of the lane")
        }
    }
}

/// Reads steps, as section 16.2 defines them.
fn read_steps(bits: &mut Bits, count: usize) -> Result<Vec<i128>, Refused> {
    let lengths: Vec<usize> = [
        (0, 0, 2),
        (1, 1, 7),
        (2, 5, 4),
        (6, 6, 5),
        (7, 9, 6),
        (10, 17, 5),
        (18, 25, 6),
        (26, 33, 8),
    ]
    .into_iter()
    .flat_map(|(first, last, bits)| vec![bits; last - first + 1])
    .chain([7])
    .collect();
    let class = Words::of_lengths(&lengths).read(bits)?;
    if class == 34 {
        return refuse("raw values are not expected");
    }
    let mut numbers: Vec<i128> = Vec::new();
    for nth in 0..count {
        let is_left_out =
            nth + 1 == count && class > 0 && numbers.iter().all(|number| bits_for(*number) < class);
        numbers.push(if is_left_out {
            bits.value(class - 1)? + (1 << (class - 1))
        } else {
            bits.value(class)?
        });
    }
    Ok(numbers.into_iter().map(|u| if u % 2 == 0 { u / 2 } else { -(u + 1) / 2 }).collect())
}

fn read_choice(bits: &mut Bits, max: i128, base: i128) -> Result<i128, Refused> {
    if !bits.bool()? {
        return Ok(base);
    }
    if max == 0 {
        return refuse("a lane of one value cannot change");
    }
    let other = bits.up_to(max - 1)?;
    Ok(if other < base { other } else { other + 1 })
}

/// Reads sparse bytes, as section 15.2 defines them.
fn read_sparse(bits: &mut Bits, count: usize) -> Result<Vec<i128>, Refused> {
    if !bits.bool()? {
        return Ok(vec![0; count]);
    }
    if bits.bool()? {
        return (0..count).map(|_| bits.value(8)).collect();
    }
    read_tree(bits, count)
}

fn read_tree(bits: &mut Bits, count: usize) -> Result<Vec<i128>, Refused> {
    if count == 1 {
        return Ok(vec![bits.value(8)?]);
    }
    let first = count.div_ceil(2);
    let second = count - first;
    Ok(if bits.bool()? {
        [read_tree(bits, first)?, read_tree(bits, second)?].concat()
    } else if bits.bool()? {
        [vec![0; first], read_tree(bits, second)?].concat()
    } else {
        [read_tree(bits, first)?, vec![0; second]].concat()
    })
}

// The following code implements section 17.3.

/// Computes `size(n)`: about 256 · log₂(n).
fn size(n: i128) -> i64 {
    let e = bits_for(n) as i64 - 1;
    256 * e + if e < 8 { n << (8 - e) } else { n >> (e - 8) } as i64 - 256
}

struct RecordReader<'a, 'b> {
    range: &'a mut Range,
    stream: &'a Stream<'b>,
    learned: &'a mut Learned,
    base: &'a [i128],
    record: Vec<i128>,
    lag: u64,
}

impl RecordReader<'_, '_> {
    fn read(mut self, mut elapsed: f64, mut per: f64) -> Result<Vec<i128>, Refused> {
        let stream = self.stream;
        for (index, part) in stream.parts.iter().enumerate() {
            let is_there = is_present(stream.schema, part.field, &self.record);
            if !is_there || !is_present(stream.schema, part.field, self.base) {
                for lane in &part.lanes {
                    self.learned.lanes[*lane].rate = 0.0;
                    let max = stream.lanes[*lane].max;
                    self.record[*lane] =
                        if is_there { up_to(self.range.direct(bits_for(max))?, max)? } else { 0 };
                }
                continue;
            }
            let of_part = &mut self.learned.parts[index];
            let is_changed = self.range.counted(&mut of_part.changed[of_part.history], MOST)?;
            of_part.history = (2 * of_part.history + usize::from(is_changed)) % 4;
            if !is_changed {
                part.lanes.iter().for_each(|lane| self.learned.lanes[*lane].rate = 0.0);
                continue;
            }
            let first = part.lanes[0];
            if part.written == Written::Choice {
                self.record[first] = self.other(self.base[first], stream.lanes[first].max)?;
                continue;
            }
            let fit = &mut of_part.fit;
            let sums = fit.squares.iter_mut().chain(&mut fit.products);
            sums.for_each(|sum| *sum *= 1.0 - 1.0 / 32.0);
            match part.written {
                Written::Rotation => self.rotation(index, &part.lanes, (elapsed, per))?,
                Written::Bytes => self.bytes(index, &part.lanes, (elapsed, per))?,
                _ => {
                    for (nth, lane) in part.lanes.iter().enumerate() {
                        let velocity = part.velocities.as_ref().map(|velocities| velocities[nth]);
                        self.lane(index, *lane, self.base[*lane], velocity, (elapsed, per))?;
                    }
                }
            }
            self.learned.parts[index].fit.find_weights();
            if part.is_clock {
                let d = stream.lanes[first].difference(self.base[first], self.record[first]);
                if d > 0 {
                    elapsed = d as f64;
                    per = 1.0 / d as f64;
                }
            }
        }
        Ok(self.record)
    }

    fn other(&mut self, base: i128, max: i128) -> Result<i128, Refused> {
        if max == 0 {
            return refuse("a lane of one value cannot change");
        }
        let other = up_to(self.range.direct(bits_for(max - 1))?, max - 1)?;
        Ok(if other < base { other } else { other + 1 })
    }

    fn rotation(&mut self, part: usize, lanes: &[usize], time: (f64, f64)) -> Result<(), Refused> {
        let base: Vec<i128> = lanes.iter().map(|lane| self.base[*lane]).collect();
        if !self.range.counted(&mut self.learned.same, MOST)? {
            self.record[lanes[0]] = self.other(base[0], 3)?;
            lanes[1..].iter().for_each(|lane| self.learned.lanes[*lane].rate = 0.0);
        }
        let from = turned(&base, self.record[lanes[0]] as usize, self.stream.lanes[lanes[1]].max);
        lanes[1..]
            .iter()
            .zip(from)
            .try_for_each(|(lane, from)| self.lane(part, *lane, from, None, time))
    }

    fn bytes(&mut self, part: usize, lanes: &[usize], time: (f64, f64)) -> Result<(), Refused> {
        let mut before = 0;
        for lane in lanes {
            let of_lane = &mut self.learned.lanes[*lane];
            let counter = &mut self.learned.byte_changed[2 * of_lane.history + before];
            let differs = self.range.counted(counter, MOST)?;
            before = usize::from(differs);
            of_lane.history = (2 * of_lane.history + before) % 4;
            if differs {
                self.lane(part, *lane, self.base[*lane], None, time)?;
            } else {
                of_lane.rate = 0.0;
            }
        }
        Ok(())
    }

    fn lane(
        &mut self,
        part: usize,
        lane: usize,
        base: i128,
        velocity: Option<usize>,
        (elapsed, per): (f64, f64),
    ) -> Result<(), Refused> {
        let limits = self.stream.lanes[lane];
        let fit = self.learned.parts[part].fit;
        let f0 = f64::from(self.learned.lanes[lane].rate) * elapsed;
        let f1 = velocity.map_or(0.0, |of| {
            let zero = self.stream.zero(of);
            ((self.base[of] as f64 - zero) + (self.record[of] as f64 - zero)) * elapsed
        });
        let most = 2f64.powi(33);
        let c = (fit.weights[0] * f0 + fit.weights[1] * f1).clamp(-most, most);
        let ahead = (((c * 16.0).trunc() as i128) + 8) >> 4;
        let start = match limits.differences {
            Differences::Cyclic => (base + ahead).rem_euclid(limits.max + 1),
            _ => (base + ahead).clamp(0, limits.max),
        };
        let lag_size = size(i128::from(self.lag));
        let r = self.residual(self.learned.lanes[lane].size + lag_size)?;
        let value = limits.moved(start, r)?;
        self.record[lane] = value;

        let of_lane = &mut self.learned.lanes[lane];
        of_lane.size += (size(2 * r.abs() + 1) - lag_size - of_lane.size) >> 1;
        let d = limits.difference(base, value) as f64;
        of_lane.rate = (d * per) as f32;
        let q = 2f64.powi(-(bits_for(r.abs()) as i32));
        let fit = &mut self.learned.parts[part].fit;
        fit.squares[0] += (f0 * q) * f0;
        fit.squares[1] += (f0 * q) * f1;
        fit.squares[2] += (f1 * q) * f1;
        fit.products[0] += (f0 * q) * d;
        fit.products[1] += (f1 * q) * d;
        Ok(())
    }

    fn residual(&mut self, expected: i64) -> Result<i128, Refused> {
        let h = ((expected + 64) >> 7).clamp(0, 64) as usize;
        let (set, low) = if h < 12 { (h, 0) } else { (12 + h % 2, (h - 12) / 2 + 2) };
        let t = self.range.tree(&mut self.learned.sizes[set], 3, MOST)? as usize;
        let mut s = low + t;
        if s > 32 {
            return refuse("a residual of more than 32 bits");
        }
        if t == 7 {
            while s < 32 && self.range.decision(16_384)? {
                s += 1;
            }
        } else if t == 0 {
            while s > 0 && self.range.decision(16_384)? {
                s -= 1;
            }
        }
        if s == 0 {
            return Ok(0);
        }
        let direct = self.range.direct(s)?;
        let magnitude = direct / 2 + (1 << (s - 1));
        Ok(if direct % 2 == 1 { -magnitude } else { magnitude })
    }
}

impl Stream<'_> {
    /// Returns the code of 0 in a velocity's lane.
    fn zero(&self, lane: usize) -> f64 {
        let axes = self.schema.iter().flat_map(|field| match &field.kind {
            Kind::Floats(axes) => axes.iter().map(|axis| -axis.min / axis.step).collect(),
            _ => vec![0.0; field.lanes().len()],
        });
        axes.into_iter().nth(lane).filter(|zero| zero.abs() <= 4_294_967_295.0).unwrap_or(0.0)
    }
}

impl Fit {
    fn find_weights(&mut self) {
        let [s00, s01, s11] = self.squares;
        let [p0, p1] = self.products;
        let pull = 1.0 + 2f64.powi(-20);
        let (a, b) = (s00 * pull + 1.0, s11 * pull + 1.0);
        let k = 1.0 / (a * b - s01 * s01);
        self.weights = [(p0 * b - p1 * s01) * k, (p1 * a - p0 * s01) * k];
    }
}
