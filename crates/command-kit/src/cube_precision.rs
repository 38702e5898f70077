//! Time precision of the cubes: the option, and how far what is sent is off.

use clap::Args;
use cube_data::cube;
use kinepack::schema::{FieldKind, Role, TimePrecision};
use kinepack::{Profile, Schema, Snapshot};
use serde::Serialize;

use crate::distribution::Distribution;

/// Ticks a second of the challenge files and of the built-in world.
const TICK_HZ: f64 = 60.0;

/// How exact moving cubes have to be.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq)]
pub struct Precision {
    /// Time precision of moving cubes: their positions and orientations may be off by the distance
    /// that they move in this time, positions by at most 16 mm. Cubes at rest are exact. With 0,
    /// all cubes are exact.
    #[arg(long, value_name = "MS", default_value_t = 0.0, value_parser = parse_ms)]
    time_precision_ms: f64,
}

impl Precision {
    /// True without a time precision.
    pub fn is_exact(self) -> bool {
        self.time_precision_ms == 0.0
    }

    /// The schema with this precision for bodies.
    pub fn of(self, schema: Schema) -> Schema {
        if self.time_precision_ms == 0.0 {
            return schema;
        }
        let precision = TimePrecision::new(self.time_precision_ms, TICK_HZ);
        let can = |kind: &FieldKind| matches!(kind, FieldKind::Floats(_) | FieldKind::Rotation(_));
        schema.with_time_precision(|field| {
            (field.role == Role::Body && can(&field.kind)).then_some(precision)
        })
    }

    /// The built-in profile that fits.
    pub fn profile(self) -> Profile {
        if self.time_precision_ms == 0.0 { cube::profile() } else { cube::coarse_profile() }
    }

    /// As an option; empty where everything is exact.
    pub fn name(self) -> String {
        let Self { time_precision_ms: ms } = self;
        if ms == 0.0 { String::new() } else { format!(" --time-precision-ms {ms}") }
    }
}

/// What a field of three lanes allows.
fn parse_ms(text: &str) -> Result<f64, String> {
    let most_ms = 1000.0 / TICK_HZ / 12f64.sqrt();
    let ms: f64 = text.parse().map_err(|_| "not a number of milliseconds".to_owned())?;
    if (0.0..most_ms).contains(&ms) {
        Ok(ms)
    } else {
        Err(format!("it must be 0 or more and below {most_ms:.1} ms"))
    }
}

/// How far the cubes that are not exact are off.
#[derive(Clone, Debug, Default)]
pub struct Errors {
    position_mm: Distribution,
    orientation_deg: Distribution,
}

/// What a report says of them.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ErrorReport {
    position_mm: OneError,
    orientation_deg: OneError,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct OneError {
    mean: f64,
    p99: f64,
    max: f64,
}

impl Errors {
    /// Compares a snapshot of cubes as it was with what is made of it.
    pub fn add(&mut self, exact: &Snapshot, coarse: &Snapshot) {
        for off in cube::off(exact, coarse) {
            if off.position_m > 0.0 {
                self.position_mm.add(off.position_m * 1000.0);
            }
            if off.angle_rad > 0.0 {
                self.orientation_deg.add(off.angle_rad.to_degrees());
            }
        }
    }

    pub fn report(&self) -> ErrorReport {
        let one = |errors: &Distribution| OneError {
            mean: errors.mean(),
            p99: errors.percentile(0.99),
            max: errors.percentile(1.0),
        };
        ErrorReport {
            position_mm: one(&self.position_mm),
            orientation_deg: one(&self.orientation_deg),
        }
    }
}

impl ErrorReport {
    /// Mean, 99th percentile and largest, of positions and of orientations.
    pub fn cells(&self) -> [String; 6] {
        let cells = |error: &OneError, digits: usize| {
            [error.mean, error.p99, error.max].map(|number| format!("{number:.digits$}"))
        };
        let [[a, b, c], [d, e, f]] = [cells(&self.position_mm, 1), cells(&self.orientation_deg, 2)];
        [a, b, c, d, e, f]
    }
}
