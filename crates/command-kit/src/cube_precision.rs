//! The option for the time precision of cubes, and the resulting errors.

use clap::Args;
use cube_data::cube;
use kinepack::schema::{Role, TimePrecision};
use kinepack::{Profile, Schema, Snapshot};
use serde::Serialize;

use crate::distribution::Distribution;

/// Ticks per second of the challenge files and of the built-in world.
const TICK_HZ: f64 = 60.0;

/// The allowed error of moving cubes.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq)]
pub struct Precision {
    /// The allowed error of moving cubes, as a time. Positions and orientations may be off by their
    /// movement in this time, and positions by at most 16 mm. Cubes at rest stay exact. With 0, all
    /// cubes are exact.
    #[arg(long, value_name = "MS", default_value_t = 0.0, value_parser = parse_ms)]
    time_precision_ms: f64,
}

impl Precision {
    /// Returns whether there is no time precision.
    pub fn is_exact(self) -> bool {
        self.time_precision_ms == 0.0
    }

    /// Returns the schema `schema` with this precision for its bodies.
    pub fn apply_to(self, schema: Schema) -> Schema {
        if self.time_precision_ms == 0.0 {
            return schema;
        }
        let precision = TimePrecision::new(self.time_precision_ms, TICK_HZ);
        schema.with_time_precision(|field| {
            (field.role == Role::Body && field.takes_time_precision()).then_some(precision)
        })
    }

    /// Returns the built-in profile for this precision.
    pub fn profile(self) -> Profile {
        if self.time_precision_ms == 0.0 { cube::profile() } else { cube::coarse_profile() }
    }

    /// Returns the option as text for a report. It is empty without a time precision.
    pub fn name(self) -> String {
        let Self { time_precision_ms: ms } = self;
        if ms == 0.0 { String::new() } else { format!(" --time-precision-ms {ms}") }
    }
}

/// Parses a time in milliseconds. It must be below the limit for fields of three lanes.
fn parse_ms(text: &str) -> Result<f64, String> {
    let most_ms = 1000.0 / TICK_HZ / 12f64.sqrt();
    let ms: f64 = text.parse().map_err(|_| "not a number of milliseconds".to_owned())?;
    if (0.0..most_ms).contains(&ms) {
        Ok(ms)
    } else {
        Err(format!("give a number from 0 to below {most_ms:.1} ms"))
    }
}

/// Collects the errors of cubes that are not exact.
#[derive(Clone, Debug, Default)]
pub struct Errors {
    position_mm: Distribution,
    orientation_deg: Distribution,
}

/// The summary of [`Errors`] in a report.
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
    /// Compares a snapshot of cubes with the coarser snapshot that is sent instead.
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
    /// Returns the mean, the 99th percentile and the largest error of positions, followed by the
    /// same three numbers for orientations.
    pub fn cells(&self) -> [String; 6] {
        let cells = |error: &OneError, digits: usize| {
            [error.mean, error.p99, error.max].map(|number| format!("{number:.digits$}"))
        };
        let [[a, b, c], [d, e, f]] = [cells(&self.position_mm, 1), cells(&self.orientation_deg, 2)];
        [a, b, c, d, e, f]
    }
}
