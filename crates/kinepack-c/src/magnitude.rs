//! Codes small numbers by magnitude, alone or as vectors, without a schema. Use these functions for
//! custom messages.

use kinepack::bits::{BitReader, BitWriter};
use kinepack::magnitude::{
    Precision, read_any, read_difference, read_multiples, read_steps, write_any, write_difference,
    write_multiples, write_steps,
};
use kinepack::quantize::{FloatLimits, VectorLimits};
use kinepack::{DecodeError, EncodeError, SetupError};

use crate::KpStatus;
use crate::memory::{give, slice, slice_mut};
use crate::status::{Failure, call};

/// The forms in which numbers are coded by magnitude.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KpMagnitudeForm {
    /// Real numbers, rounded to multiples of a precision. A vector of this form takes as many bits
    /// as Unreal's `FVector_NetQuantize`.
    Multiples = 0,
    /// Integers from -2^32 to 2^32 - 1, which are coded exactly.
    Steps = 1,
    /// Real numbers within limits, as differences from numbers that both sides hold.
    Difference = 2,
    /// Like `Difference`. But if a number cannot be represented within the limits, all numbers are
    /// written unchanged.
    Any = 3,
}

/// A component of a vector.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpComponent {
    /// The number to write, or the number read. Real numbers are rounded to a `float`.
    pub value: f64,
    /// The number that both sides hold. This member and all following ones are only for
    /// differences.
    pub before: f64,
    /// The least number.
    pub min: f64,
    /// The largest number. On a circle, it is equivalent to `min`.
    pub max: f64,
    /// The step. A decoded number is off by at most half a step.
    pub precision: f64,
    /// Not 0 if the number is on a circle, such as an angle.
    pub is_cyclic: i32,
}

/// Up to four numbers that are coded together, such as a vector. The largest number determines how
/// many bits each of them takes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpMagnitude {
    /// The form of the numbers: a `KpMagnitudeForm`.
    pub form: i32,
    /// The number of components, 1 to 4.
    pub count: u32,
    /// The steps per unit: 1, 10 or 100. Only multiples use it.
    pub steps_per_unit: u32,
    /// The numbers. Components from `count` on are ignored.
    pub components: [KpComponent; 4],
}

/// Writes vectors: `*size` bytes, if they fit into `capacity`. Both sides need the same forms,
/// counts and limits, and must hold the same `before`. To get the values that the receiver will
/// hold, read the written bytes with `kp_magnitudes_read`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_magnitudes_write(
    vectors: *const KpMagnitude,
    count: usize,
    bytes: *mut u8,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `vectors` has `count` readable values until this call
        // returns.
        let vectors = unsafe { slice(vectors, count)? };
        let mut written = Vec::new();
        let mut writer = BitWriter::append(&mut written);
        for (nth, vector) in vectors.iter().enumerate() {
            let write = match vector.count {
                1 => write::<1>,
                2 => write::<2>,
                3 => write::<3>,
                4 => write::<4>,
                count => return Err(wrong_count(nth, count)),
            };
            write(&mut writer, vector).map_err(|wrong| wrong.of(nth))?;
        }
        writer.finish().map_err(Failure::argument)?;
        // SAFETY: the caller guarantees that `bytes` has `capacity` writable bytes and `size` is
        // writable, until this call returns.
        unsafe { give(&written, bytes, capacity, size) }
    })
}

/// Reads vectors that `kp_magnitudes_write` wrote, into the `value` of each component. After an
/// error, no value has changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_magnitudes_read(
    vectors: *mut KpMagnitude,
    count: usize,
    bytes: *const u8,
    size: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `bytes` has `size` readable bytes and `vectors` has
        // `count` writable values, until this call returns.
        let (vectors, bytes) = unsafe { (slice_mut(vectors, count)?, slice(bytes, size)?) };
        let mut reader = BitReader::new(bytes);
        let mut values = Vec::with_capacity(vectors.len());
        for (nth, vector) in vectors.iter().enumerate() {
            let read = match vector.count {
                1 => read::<1>,
                2 => read::<2>,
                3 => read::<3>,
                4 => read::<4>,
                count => return Err(wrong_count(nth, count)),
            };
            values.push(read(&mut reader, vector).map_err(|wrong| wrong.of(nth))?);
        }
        reader.finish().map_err(Failure::data)?;
        for (vector, values) in vectors.iter_mut().zip(values) {
            for (component, value) in vector.components.iter_mut().zip(values) {
                component.value = value;
            }
        }
        Ok(())
    })
}

/// Why a vector is refused.
enum Wrong {
    Form(i32),
    StepsPerUnit(u32),
    Fraction,
    Limits(SetupError),
    Value(EncodeError),
    Data(DecodeError),
}

impl Wrong {
    fn of(self, nth: usize) -> Failure {
        let (status, text) = match self {
            Self::Form(form) => (KpStatus::Argument, format!("no KpMagnitudeForm is {form}")),
            Self::StepsPerUnit(steps) => {
                (KpStatus::Argument, format!("a unit has 1, 10 or 100 steps, not {steps}"))
            }
            Self::Fraction => (KpStatus::Value, "a step is not an integer".to_owned()),
            Self::Limits(error) => (KpStatus::Argument, error.to_string()),
            Self::Value(error) => (KpStatus::Value, error.to_string()),
            Self::Data(error) => (KpStatus::Data, error.to_string()),
        };
        Failure::new(status, format!("vector {nth}: {text}"))
    }
}

fn wrong_count(nth: usize, count: u32) -> Failure {
    Failure::argument(format!("vector {nth}: it has 1 to 4 numbers, not {count}"))
}

/// The form of a vector, with its parameters.
enum Form<const N: usize> {
    Multiples(Precision),
    Steps,
    /// Differences. If `is_any`, numbers beyond the limits are allowed.
    Difference {
        limits: VectorLimits<N>,
        is_any: bool,
    },
}

fn form_of<const N: usize>(vector: &KpMagnitude) -> Result<Form<N>, Wrong> {
    match vector.form {
        0 => match vector.steps_per_unit {
            1 => Ok(Form::Multiples(Precision::Whole)),
            10 => Ok(Form::Multiples(Precision::Tenth)),
            100 => Ok(Form::Multiples(Precision::Hundredth)),
            steps => Err(Wrong::StepsPerUnit(steps)),
        },
        1 => Ok(Form::Steps),
        2 | 3 => {
            let mut axes = [limits(&vector.components[0]).map_err(Wrong::Limits)?; N];
            for (axis, component) in axes.iter_mut().zip(&vector.components) {
                *axis = limits(component).map_err(Wrong::Limits)?;
            }
            Ok(Form::Difference { limits: VectorLimits::new(axes), is_any: vector.form == 3 })
        }
        form => Err(Wrong::Form(form)),
    }
}

fn limits(component: &KpComponent) -> Result<FloatLimits, SetupError> {
    let KpComponent { min, max, precision, is_cyclic, .. } = *component;
    if is_cyclic == 0 {
        FloatLimits::new(min, max, precision)
    } else {
        Ok(FloatLimits::until(min, max, precision)?.wrapping())
    }
}

fn write<const N: usize>(writer: &mut BitWriter<'_>, vector: &KpMagnitude) -> Result<(), Wrong> {
    let values: [f64; N] = std::array::from_fn(|nth| vector.components[nth].value);
    let reals = values.map(|value| value as f32);
    let before = std::array::from_fn(|nth| vector.components[nth].before as f32);
    match form_of(vector)? {
        Form::Multiples(precision) => write_multiples(writer, precision, reals),
        Form::Steps => {
            if values.iter().any(|value| value.fract() != 0.0) {
                return Err(Wrong::Fraction);
            }
            // An integer outside of `i64` saturates, and `write_steps` refuses the result.
            write_steps(writer, values.map(|value| value as i64))
        }
        Form::Difference { limits, is_any: true } => {
            write_any(writer, &limits, before, reals);
            Ok(())
        }
        Form::Difference { limits, is_any: false } => {
            write_difference(writer, &limits, before, reals)
        }
    }
    .map_err(Wrong::Value)
}

fn read<const N: usize>(
    reader: &mut BitReader<'_>,
    vector: &KpMagnitude,
) -> Result<[f64; 4], Wrong> {
    let before = std::array::from_fn(|nth| vector.components[nth].before as f32);
    let values: Result<[f64; N], DecodeError> = match form_of(vector)? {
        Form::Multiples(precision) => read_multiples(reader, precision).map(doubles),
        Form::Steps => read_steps(reader).map(|steps| steps.map(|step| step as f64)),
        Form::Difference { limits, is_any: true } => read_any(reader, &limits, before).map(doubles),
        Form::Difference { limits, is_any: false } => {
            read_difference(reader, &limits, before).map(doubles)
        }
    };
    // The components after `N` are unchanged.
    let mut all = vector.components.map(|component| component.value);
    all[..N].copy_from_slice(&values.map_err(Wrong::Data)?);
    Ok(all)
}

fn doubles<const N: usize>(values: [f32; N]) -> [f64; N] {
    values.map(f64::from)
}
