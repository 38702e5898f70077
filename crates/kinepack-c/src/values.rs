//! Codes single values against values that both sides hold, without a schema. It is meant for
//! custom messages.

use kinepack::bits::{BitReader, BitWriter};
use kinepack::quantize::{FloatLimits, IntegerLimits};
use kinepack::value::{
    Difference, Limits, read_difference, read_if_changed, write_difference, write_if_changed,
};
use kinepack::{DecodeError, EncodeError, SetupError};

use crate::KpStatus;
use crate::memory::{give, slice, slice_mut};
use crate::status::{Failure, call};

/// The type of a value.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KpValueKind {
    /// A real number from `min` to `max`, in steps of `precision`.
    Real = 0,
    /// A real number on a circle, such as an angle, which wraps from `max` to `min`.
    Cyclic = 1,
    /// An integer from `min` to `max`. Both limits are at most 2^53 in magnitude.
    Integer = 2,
}

/// A value, and how it is coded relative to a value that both sides hold.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpValue {
    /// The type of the value: a `KpValueKind`.
    pub kind: i32,
    /// If not 0, differences from `least` to `most` are coded in few bits. An unchanged value then
    /// takes 1 bit, a small difference 2 bits plus its own code, and any other value 2 bits plus a
    /// full code. If 0, an unchanged value takes 1 bit, and any other value 1 bit plus a full code.
    pub has_small: i32,
    /// The least value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// The step of a real number. The decoded value is off by at most half a step.
    pub precision: f64,
    /// The least small difference.
    pub least: f64,
    /// The largest small difference.
    pub most: f64,
    /// The value that both sides hold.
    pub before: f64,
    /// The value to write, or the value read.
    pub value: f64,
}

/// Writes values: `*size` bytes, if they fit into `capacity`. Both sides need the same kinds,
/// limits and small differences, and must hold the same `before`. To get the values that the
/// receiver will hold, read the written bytes with `kp_values_read`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_values_write(
    values: *const KpValue,
    count: usize,
    bytes: *mut u8,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `values` has `count` readable values until this call
        // returns.
        let values = unsafe { slice(values, count)? };
        let mut written = Vec::new();
        let mut writer = BitWriter::append(&mut written);
        for (nth, value) in values.iter().enumerate() {
            let done = match described(nth, value)? {
                Described::Real(limits, small) => write(&mut writer, &limits, small, value),
                Described::Integer(limits, small) => write(&mut writer, &limits, small, value),
            };
            done.map_err(|error| of_value(KpStatus::Value, nth, error))?;
        }
        writer.finish().map_err(Failure::argument)?;
        // SAFETY: the caller guarantees that `bytes` has `capacity` writable bytes and `size` is
        // writable, until this call returns.
        unsafe { give(&written, bytes, capacity, size) }
    })
}

/// Reads values that `kp_values_write` wrote, each into its member `value`. An unchanged value
/// becomes `before`. After an error, no value has changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_values_read(
    values: *mut KpValue,
    count: usize,
    bytes: *const u8,
    size: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `bytes` has `size` readable bytes and `values` has
        // `count` writable values, until this call returns.
        let (values, bytes) = unsafe { (slice_mut(values, count)?, slice(bytes, size)?) };
        let mut reader = BitReader::new(bytes);
        let mut read = Vec::with_capacity(values.len());
        for (nth, value) in values.iter().enumerate() {
            let result = match described(nth, value)? {
                Described::Real(limits, small) => self::read(&mut reader, &limits, small, value),
                Described::Integer(limits, small) => self::read(&mut reader, &limits, small, value),
            };
            read.push(result.map_err(|error| of_value(KpStatus::Data, nth, error))?);
        }
        reader.finish().map_err(Failure::data)?;
        values.iter_mut().zip(read).for_each(|(value, read)| value.value = read);
        Ok(())
    })
}

/// The limits of a value, and of its small differences.
enum Described {
    Real(FloatLimits, Option<Difference>),
    Integer(IntegerLimits, Option<Difference>),
}

/// The type of a quantizer's values.
trait Number: Copy {
    fn from_double(value: f64) -> Self;

    fn to_double(self) -> f64;
}

impl Number for f32 {
    fn from_double(value: f64) -> Self {
        value as f32
    }

    fn to_double(self) -> f64 {
        self.into()
    }
}

impl Number for i128 {
    /// A number that is not an integer becomes a value that every range refuses.
    fn from_double(value: f64) -> Self {
        if value.fract() == 0.0 { value as i128 } else { Self::MAX }
    }

    fn to_double(self) -> f64 {
        self as f64
    }
}

fn described(nth: usize, value: &KpValue) -> Result<Described, Failure> {
    let result = match value.kind {
        0 | 1 => real(value),
        2 => integer(value),
        kind => {
            let text = format!("value {nth}: no KpValueKind is {kind}");
            return Err(Failure::argument(text));
        }
    };
    result.map_err(|error| of_value(KpStatus::Argument, nth, error))
}

fn real(value: &KpValue) -> Result<Described, SetupError> {
    let KpValue { min, max, precision, .. } = *value;
    let limits = match value.kind {
        0 => FloatLimits::new(min, max, precision)?,
        _ => FloatLimits::until(min, max, precision)?.wrapping(),
    };
    let small = Difference::new(&limits, value.least, value.most);
    Ok(Described::Real(limits, if value.has_small != 0 { Some(small?) } else { None }))
}

fn integer(value: &KpValue) -> Result<Described, SetupError> {
    /// A double represents all integers up to this magnitude exactly.
    const MOST: f64 = (1u64 << 53) as f64;
    let is_exact = |number: f64| number.fract() == 0.0 && number.abs() <= MOST;
    if ![value.min, value.max, value.least, value.most].into_iter().all(is_exact) {
        return Err(SetupError::EmptyRange);
    }
    let limits = IntegerLimits::new(value.min as i128, value.max as i128, 1)?;
    let small = Difference::from_steps(value.least as i64, value.most as i64);
    Ok(Described::Integer(limits, if value.has_small != 0 { Some(small?) } else { None }))
}

fn write<L: Limits<Value: Number>>(
    writer: &mut BitWriter<'_>,
    limits: &L,
    small: Option<Difference>,
    value: &KpValue,
) -> Result<(), EncodeError> {
    let [before, after] = [value.before, value.value].map(Number::from_double);
    match small {
        Some(small) => write_difference(writer, limits, &small, before, after),
        None => write_if_changed(writer, limits, before, after),
    }
}

fn read<L: Limits<Value: Number>>(
    reader: &mut BitReader<'_>,
    limits: &L,
    small: Option<Difference>,
    value: &KpValue,
) -> Result<f64, DecodeError> {
    let before = Number::from_double(value.before);
    let changed = match small {
        Some(small) => read_difference(reader, limits, &small, before)?,
        None => read_if_changed(reader, limits)?,
    };
    Ok(changed.map_or(value.before, Number::to_double))
}

fn of_value(status: KpStatus, nth: usize, error: impl std::fmt::Display) -> Failure {
    Failure::new(status, format!("value {nth}: {error}"))
}
