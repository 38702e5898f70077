//! The rigid bodies of a stream, as the adaptive level needs them.

use clap::Args;
use command_kit::say;
use cube_data::cube;
use kinepack::Schema;
use kinepack::profile::Bodies;
use kinepack::schema::{FieldKind, Role};

use crate::captured::is_cubes;

/// Options for a schema with a rigid body.
#[derive(Args, Clone, Debug)]
pub(crate) struct BodyArguments {
    /// The edge length of a typical body, in the unit of its position. Bodies that are close to one
    /// another then predict each other. The schema must mark the body with #[pack(body)].
    #[arg(long, value_name = "LENGTH", value_parser = parse_length)]
    body_size: Option<f64>,
    /// The axis that points up.
    #[arg(
        long,
        value_name = "AXIS",
        default_value = "z",
        requires = "body_size",
        value_parser = ["x", "y", "z"]
    )]
    body_up: String,
    /// The height of the floor on that axis, if there is a floor.
    #[arg(long, value_name = "HEIGHT", requires = "body_size", allow_negative_numbers = true)]
    body_floor: Option<f64>,
}

fn parse_length(text: &str) -> Result<f64, String> {
    let length = text.parse().ok().filter(|length: &f64| length.is_finite() && *length > 0.0);
    length.ok_or_else(|| format!("{text} is not a length above 0"))
}

/// The reason why the options for bodies do not fit the schema.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    #[error(
        "--body-size: the schema marks no position of three axes and rotation with #[pack(body)]; \
         leave it out"
    )]
    NoBody,
    #[error("--{option} {given}: in this schema it is between {least} and {most}")]
    OutOfRange { option: &'static str, given: f64, least: f64, most: f64 },
}

impl BodyArguments {
    /// Returns the rigid bodies of the stream `stream`, in the steps of `schema`.
    pub(crate) fn bodies(
        &self,
        stream: &Schema,
        schema: &Schema,
    ) -> Result<Option<Bodies>, BodyError> {
        if let Some(size) = self.body_size {
            let up = ["x", "y", "z"].iter().position(|axis| *axis == self.body_up).unwrap_or(2);
            let bodies = Bodies::from_schema(schema, up as u8, [size / 2.0; 3], self.body_floor);
            let bodies = bodies.ok_or(BodyError::NoBody)?;
            self.check(&schema.fields()[bodies.position].kind, up)?;
            return Ok(Some(bodies));
        }
        if is_cubes(stream) {
            let step = |schema: &Schema| match &schema.fields()[0].kind {
                FieldKind::Floats(axes) => axes[0].step(),
                _ => 1.0,
            };
            return Ok(Some(cube::bodies().in_longer_steps(step(schema) / step(stream))));
        }
        if schema.fields().iter().any(|field| field.role == Role::Body) {
            say("the schema has a rigid body: with --body-size, bodies that are close to one \
                 another predict each other, which takes fewer bits");
        }
        Ok(None)
    }

    /// Checks that size and floor are possible for positions of this kind.
    fn check(&self, position: &FieldKind, up: usize) -> Result<(), BodyError> {
        let FieldKind::Floats(axes) = position else { return Ok(()) };
        // The size is converted to steps of the first axis.
        let largest = axes.iter().map(|axis| axis.max() - axis.min()).fold(0.0, f64::max);
        let limits = [
            ("body-size", self.body_size, 2.0 * axes[0].step(), largest),
            ("body-floor", self.body_floor, axes[up].min(), axes[up].max()),
        ];
        for (option, given, least, most) in limits {
            if let Some(given) = given.filter(|given| !(least..=most).contains(given)) {
                return Err(BodyError::OutOfRange { option, given, least, most });
            }
        }
        Ok(())
    }
}
