//! Computes the coarsest quantization steps that stay within the allowed errors.

use std::fmt;
use std::str::FromStr;

use command_kit::{Distribution, Summary};
use kinepack::quantize::{FloatLimits, IntegerLimits, SmallestThree};
use kinepack::schema::{EntityKind, Field, FieldKind};
use kinepack::{EncodeError, Schema};
use kinepack_capture::kinds::{field_names, schemas, with_fields};
use serde::Serialize;

use crate::distance::distance;

/// Options that replace the steps of the capture.
#[derive(clap::Args, Clone, Debug)]
pub struct StepArguments {
    /// The largest allowed error of a field, in the field's unit, or in degrees for a rotation. The
    /// field then gets the coarsest steps within that error. A profile that `kinepack tune` found
    /// with this option needs the same option here.
    #[arg(long, value_name = "FIELD=ERROR", value_delimiter = ',')]
    pub max_error: Vec<MaxError>,
}

/// The reason why the schema cannot satisfy a `--max-error`.
#[derive(Debug, thiserror::Error)]
#[error("--max-error {field}: {reason}")]
pub struct StepsError {
    field: String,
    reason: String,
}

/// The allowed error of a field, `FIELD=ERROR`. It is in the field's unit, or in degrees for a
/// rotation.
#[derive(Clone, Debug)]
pub struct MaxError {
    field: String,
    error: f64,
}

impl FromStr for MaxError {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (field, error) =
            text.split_once('=').ok_or("give FIELD=ERROR, as in position=0.002")?;
        let error: f64 = error.parse().map_err(|_| format!("{error} is not a number"))?;
        if !(error.is_finite() && error > 0.0) {
            return Err(format!("give an error above 0, not {error}"));
        }
        Ok(Self { field: field.to_owned(), error })
    }
}

/// A field with new steps, and their effect.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct FieldSteps {
    pub(crate) field: String,
    /// The derive's attribute for the new steps.
    pub(crate) attribute: String,
    /// The attribute for the old steps.
    pub(crate) was: String,
    /// The requested largest error. No value has a larger error.
    pub(crate) asked: f64,
    /// The errors of the recorded values.
    pub(crate) error: Summary,
}

/// A schema with coarser or finer steps in some fields.
pub(crate) struct Steps {
    pub(crate) schema: Schema,
    /// The schema of each kind of entities alone.
    pub(crate) of_kinds: Vec<Schema>,
    /// For each field with new steps, its allowed error and the errors of its values.
    changed: Vec<Option<(f64, Distribution)>>,
}

impl Steps {
    pub(crate) fn new(schema: &Schema, wanted: &[MaxError]) -> Result<Self, StepsError> {
        let mut fields = schema.fields().to_vec();
        let mut changed = vec![None; fields.len()];
        let names = field_names(schema);
        for MaxError { field: name, error } in wanted {
            let refused = |reason: String| StepsError { field: name.clone(), reason };
            let index = names.iter().position(|known| known == name);
            let index = index
                .ok_or_else(|| refused(format!("no such field; there are {}", names.join(", "))))?;
            let own_name = fields[index].name.clone();
            let is_selector = |field: &Field| {
                field.condition.as_ref().is_some_and(|condition| condition.selector == own_name)
            };
            let kind = schema.kinds().iter().find(|kind| kind.fields().contains(&index));
            let of_kind = kind.map_or(0..0, EntityKind::fields);
            let is_coarseness = |field: &Field| {
                field.coarser.as_ref().is_some_and(|coarser| coarser.coarseness == own_name)
            };
            if fields[of_kind.clone()].iter().any(is_selector) {
                return Err(refused("it decides which other fields are present".into()));
            }
            if fields[of_kind].iter().any(is_coarseness) {
                return Err(refused("it tells how coarse other fields are".into()));
            }
            let kind = within(&fields[index].kind, *error).map_err(refused)?;
            fields[index] = fields[index].clone().with_kind(kind);
            changed[index] = Some((*error, Distribution::default()));
        }
        let by_kind = schema.kinds().iter().map(|kind| fields[kind.fields()].to_vec());
        let schema = with_fields(schema, by_kind).map_err(|error| StepsError {
            field: wanted.iter().map(|wanted| &*wanted.field).collect::<Vec<&str>>().join(", "),
            reason: error.to_string(),
        })?;
        Ok(Self { of_kinds: schemas(&schema), schema, changed })
    }

    /// Quantizes an entity of a kind, given as raw words and as lanes in the stream's steps.
    /// `stream` is the kind's schema in the stream.
    pub(crate) fn quantize(
        &mut self,
        (kind, stream): (usize, &Schema),
        raw: &[u64],
        lanes: &[u32],
        to: &mut [u32],
    ) -> Result<(), EncodeError> {
        let mut back = Vec::new();
        let changed = &mut self.changed[self.schema.kinds()[kind].fields()];
        let fields = stream.fields().iter().zip(self.of_kinds[kind].fields());
        for ((from, field), changed) in fields.zip(changed) {
            let is_present = field.is_present(to);
            let to = &mut to[field.lanes()];
            if !is_present {
                to.fill(0);
                continue;
            }
            let Some((_, errors)) = changed else {
                to.copy_from_slice(&lanes[from.lanes()]);
                continue;
            };
            let raw = &raw[from.lanes()];
            // An integer may need fewer lanes with coarser steps.
            let words = &raw[..to.len().min(raw.len())];
            if field.quantize_raw(words, to)? {
                back.clear();
                back.resize(to.len(), 0);
                field.reconstruct_raw(to, &mut back);
                let off = match &field.kind {
                    FieldKind::Integer(limits) => {
                        let [there, here] =
                            [&back, words].map(|words| Field::raw_integer(limits, words[0]));
                        Some((there - here).unsigned_abs() as f64)
                    }
                    kind => distance(kind, &back, [words, words], 0.0),
                };
                off.into_iter().for_each(|off| errors.add(off));
            }
        }
        self.of_kinds[kind].round_coarse(to);
        Ok(())
    }

    pub(crate) fn report(&self, stream: &Schema) -> Vec<FieldSteps> {
        let fields = stream.fields().iter().zip(self.schema.fields()).zip(&self.changed);
        fields
            .zip(field_names(stream))
            .filter_map(|(((was, now), changed), field)| {
                let (asked, errors) = changed.as_ref()?;
                Some(FieldSteps {
                    field,
                    attribute: Attribute(&now.kind).to_string(),
                    was: Attribute(&was.kind).to_string(),
                    asked: *asked,
                    error: errors.summary(),
                })
            })
            .collect()
    }
}

/// Returns the coarsest steps that keep any value within `error`.
fn within(kind: &FieldKind, error: f64) -> Result<FieldKind, String> {
    match kind {
        FieldKind::Floats(axes) => {
            // The largest error is half a step on all axes at once.
            let step = rounded_down(2.0 * error / (axes.len() as f64).sqrt());
            let axes: Result<Vec<FloatLimits>, _> =
                axes.iter().map(|axis| axis.with_step(step)).collect();
            Ok(FieldKind::Floats(axes.map_err(|refusal| format!("steps of {step}: {refusal}"))?))
        }
        FieldKind::Rotation(_) => {
            let rotation = (2..=20).filter_map(|bits| SmallestThree::new(bits).ok());
            let rotation = rotation.into_iter().find(|rotation| rotation.max_error_deg() <= error);
            rotation
                .map(FieldKind::Rotation)
                .ok_or_else(|| "20 bits a component are not enough".to_owned())
        }
        FieldKind::Integer(limits) => {
            let step = 2 * error as u64 + 1;
            let coarser = IntegerLimits::new(limits.min(), limits.max(), step);
            Ok(FieldKind::Integer(
                coarser.map_err(|refusal| format!("steps of {step}: {refusal}"))?,
            ))
        }
        _ => {
            Err("this field has no steps: only numbers with a range and rotations have".to_owned())
        }
    }
}

/// Rounds a step down to three digits.
fn rounded_down(step: f64) -> f64 {
    let exponent = step.log10().floor() as i32 - 2;
    let digits = (step / 10_f64.powi(exponent) * (1.0 + f64::EPSILON)).floor() as u32;
    // The step is parsed from decimal notation, so that it equals the number that is printed.
    let rounded = format!("{digits}e{exponent}").parse().unwrap_or(step);
    if rounded > 0.0 && rounded <= step { rounded } else { step }
}

/// The derive's attribute for a kind's steps.
struct Attribute<'a>(&'a FieldKind);

impl fmt::Display for Attribute<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            FieldKind::Floats(axes) => {
                let first = axes[0].step();
                if axes.iter().all(|axis| axis.step() == first) {
                    return write!(f, "precision = {first}");
                }
                let steps: Vec<String> = axes.iter().map(|axis| axis.step().to_string()).collect();
                write!(f, "precision = [{}]", steps.join(", "))
            }
            FieldKind::Rotation(rotation) => write!(f, "bits = {}", rotation.component_bits()),
            FieldKind::Integer(limits) => write!(f, "precision = {}", limits.step()),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

    use kinepack::schema::Coarser;

    use super::*;

    #[test]
    fn steps_are_rounded_down_to_three_digits() {
        for (step, rounded) in
            [(0.0034641, 0.00346), (2.0, 2.0), (0.1, 0.1), (1234.5, 1230.0), (9.999e-7, 9.99e-7)]
        {
            assert_eq!(rounded_down(step), rounded, "{step}");
        }
        for step in (1..5000).map(|n| f64::from(n).sqrt() * 1e-3) {
            let rounded = rounded_down(step);
            assert!(rounded <= step && rounded > 0.99 * step, "{step}: {rounded}");
        }
    }

    #[test]
    fn the_coarsest_steps_within_an_error_are_found() {
        let axis = FloatLimits::new(-10.0, 10.0, 0.001).unwrap();
        let FieldKind::Floats(axes) = within(&FieldKind::Floats(vec![axis; 3]), 0.01).unwrap()
        else {
            panic!()
        };
        assert_eq!(axes[0].step(), 0.0115);
        let angle = FloatLimits::until(0.0, 360.0, 0.01).unwrap().wrapping();
        let FieldKind::Floats(axes) = within(&FieldKind::Floats(vec![angle]), 0.35).unwrap() else {
            panic!()
        };
        assert_eq!((axes[0].max_code() + 1, axes[0].wraps()), (515, true));
        let rotation = FieldKind::Rotation(SmallestThree::new(12).unwrap());
        assert_eq!(
            within(&rotation, 0.6).unwrap(),
            FieldKind::Rotation(SmallestThree::new(9).unwrap())
        );
        let health = FieldKind::Integer(IntegerLimits::new(0, 1000, 1).unwrap());
        assert_eq!(
            within(&health, 2.0).unwrap(),
            FieldKind::Integer(IntegerLimits::new(0, 1000, 5).unwrap())
        );
        assert!(within(&FieldKind::Bool, 1.0).is_err() && within(&health, 1e6).is_err());
    }

    #[test]
    fn values_with_other_steps_are_as_coarse_as_the_entity() {
        let bits = FieldKind::Integer(IntegerLimits::new(0, 4, 1).unwrap());
        let axis = FloatLimits::new(0.0, 100.0, 0.25).unwrap();
        let place = Field::new("place", FieldKind::Floats(vec![axis]));
        let schema = Schema::new(vec![
            Field::new("bits", bits),
            place.with_coarser(Coarser::new("bits", 3)),
        ]);
        let wanted = |field: &str| [MaxError { field: field.into(), error: 1.0 }];
        let refused = Steps::new(&schema, &wanted("bits")).map(|_| ()).unwrap_err();
        assert_eq!(refused.reason, "it tells how coarse other fields are");
        let mut steps = Steps::new(&schema, &wanted("place")).unwrap();
        // The value 10 is a multiple of 8 of the old steps, but not of the new ones, which are 2.
        let mut to = [0; 2];
        steps.quantize((0, &schema), &[3, 10_f64.to_bits()], &[3, 40], &mut to).unwrap();
        assert_eq!(to, [3, 8]);
    }
}
