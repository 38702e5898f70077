//! Tests of parts of a state that may be absent: `Option`, enums with fields, lists, and texts.
//! Also tests tuples and durations. This file has the types and helpers that the other files share.

#![cfg(all(feature = "derive", feature = "arrayvec"))]
// The derived code must pass the lints of strict crates.
#![deny(unused, unused_qualifications, trivial_numeric_casts, non_local_definitions)]
mod lists;
mod nested;
mod options;
mod values;
mod variants;

use core::ops::RangeInclusive;

use kinepack::quantize::SmallestThree;
use kinepack::schema::{Condition, Field, FieldKind, Lane, PackWith};
use kinepack::{Between, EncodeError, Pack, Schema};

use crate::states::{error, lanes, round_trip};

/// Returns a point in time with a ratio but without seconds.
fn at(ratio: f32) -> Between {
    Between { ratio, seconds: 0.0 }
}

fn between<T: Pack>(from: &T, to: &T, ratio: f32) -> T {
    T::interpolate(&lanes(from), &lanes(to), at(ratio))
}

/// The name of each field, and the selector and values of its condition.
type Summary = Vec<(String, Option<(String, RangeInclusive<u32>)>)>;

fn summary<T: Pack>() -> Summary {
    let schema = Schema::of::<T>();
    assert_eq!(schema.lanes().len(), T::LANES, "the constant and the schema agree");
    let condition = |Condition { selector, values }| (selector, values);
    let line = |field: &Field| (field.name.clone(), field.condition.clone().map(condition));
    schema.fields().iter().map(line).collect()
}

/// Makes a summary of fields: an empty selector stands for a field that is always present.
fn expected(lines: &[(&str, &str, RangeInclusive<u32>)]) -> Summary {
    let condition = |selector: &str, values: &RangeInclusive<u32>| {
        (!selector.is_empty()).then(|| (selector.to_string(), values.clone()))
    };
    lines
        .iter()
        .map(|(name, selector, values)| (name.to_string(), condition(selector, values)))
        .collect()
}

fn bits<T: Pack>() -> Vec<u32> {
    Schema::of::<T>().lanes().iter().map(Lane::bits).collect()
}

/// Returns the rotation that 9 bits a component hold.
fn turn(xyzw: [f32; 4]) -> [f32; 4] {
    let rotation = SmallestThree::new(9).unwrap();
    rotation.reconstruct(rotation.quantize(xyzw).unwrap())
}

const ALWAYS: RangeInclusive<u32> = 0..=0;

#[derive(Pack, Clone, Copy, Debug, PartialEq)]
enum Gear {
    Reverse,
    Forward,
}

#[derive(Pack, Clone, Debug, PartialEq)]
struct Place {
    #[pack(range = -8.0..=8.0, precision = 0.5)]
    height: f32,
    gear: Gear,
}

/// Packs metres in steps of a half; the type of the metres does not implement `Pack`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Meters(f32);

struct Halves;

impl PackWith<Meters> for Halves {
    const LANES: usize = 1;

    fn fields(path: &str, fields: &mut Vec<Field>) {
        fields.push(Field::new(path, FieldKind::Choice { max: 20 }));
    }

    fn quantize(value: &Meters, lanes: &mut [u32]) -> Result<(), EncodeError> {
        if !(0.0..=10.0).contains(&value.0) {
            let value = value.0.into();
            return Err(EncodeError::OutOfRange { id: None, field: "", value });
        }
        lanes[0] = (value.0 * 2.0).round() as u32;
        Ok(())
    }

    fn reconstruct(lanes: &[u32]) -> Meters {
        Meters(lanes[0] as f32 / 2.0)
    }

    fn interpolate(from: &[u32], to: &[u32], at: Between) -> Meters {
        Meters(at.linear(f64::from(from[0]) / 2.0, f64::from(to[0]) / 2.0) as f32)
    }
}
