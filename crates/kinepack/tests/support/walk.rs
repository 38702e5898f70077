//! A moving thing as a stream of records. It is sometimes at rest, sometimes moves, and sometimes
//! jumps.

use kinepack::Schema;
use kinepack::quantize::{FloatLimits, IntegerLimits, SmallestThree};
use kinepack::schema::{Field, FieldKind, LaneArithmetic, Role};

use super::Random;
use super::worlds::{any_value, moved, turn};

/// Makes a schema with every kind of field, and every case of [`kinepack::stream`]. The schema has
/// a wide time stamp, velocities before and after their fields (some without effect), rotations,
/// and bytes of one part and of two.
pub(crate) fn records_schema() -> Schema {
    let place = || FloatLimits::until(-214_748_364.8, 214_748_364.8, 0.1).unwrap();
    let angle = FloatLimits::until_with_bits(0.0, 360.0, 16).unwrap().wrapping();
    let odd = FloatLimits::until(0.0, 7.0, 1.0).unwrap().wrapping();
    let circle = FloatLimits::until_with_bits(-1.0, 1.0, 32).unwrap().wrapping();
    let side = FloatLimits::new(-8.0, 8.0, 1.0 / 64.0).unwrap();
    let point = FloatLimits::new(5.0, 5.0, 1.0).unwrap();
    // These limits do not contain zero.
    let far = FloatLimits::new(1e9, 1e9 + 10.0, 0.01).unwrap();
    let integer = |min, max, step| FieldKind::Integer(IntegerLimits::new(min, max, step).unwrap());
    let rotation = |bits| FieldKind::Rotation(SmallestThree::new(bits).unwrap());
    let fields = [
        ("reach", FieldKind::Floats(vec![side, angle, odd, side, circle, point])),
        ("flag", FieldKind::Bool),
        ("place", FieldKind::Floats(vec![place(); 3])),
        ("speed of place", FieldKind::Floats(vec![place(); 3])),
        ("time", integer(0, i128::from(u64::MAX), 1)),
        ("drift", FieldKind::Floats(vec![side; 3])),
        ("speed of reach", FieldKind::Floats(vec![side, side, odd, far, side, angle])),
        ("serial", integer(0, 1 << 40, 1)),
        ("score", integer(-10, 1000, 7)),
        ("coarse", rotation(2)),
        ("head", rotation(11)),
        ("fine", rotation(20)),
        ("mode", FieldKind::Choice { max: 4 }),
        ("only", FieldKind::Choice { max: 0 }),
        ("any", FieldKind::Choice { max: u32::MAX }),
        ("patterns", FieldKind::Raw { lanes: 5 }),
        ("call", FieldKind::Bytes { len: 16 }),
        ("more", FieldKind::Bytes { len: 100 }),
        ("byte", FieldKind::Bytes { len: 1 }),
        ("angle", FieldKind::Floats(vec![angle])),
        ("spin", FieldKind::Floats(vec![side])),
        ("torque", FieldKind::Floats(vec![side])),
        ("second time", integer(0, 1000, 1)),
    ];
    let velocities = [
        ("speed of place", "place"),
        ("drift", "place"),
        ("speed of reach", "reach"),
        ("spin", "angle"),
        ("torque", "spin"),
    ];
    let field = |(name, kind): (&str, FieldKind)| {
        let field = Field::new(name, kind);
        let field = if name.ends_with("time") { field.with_role(Role::Clock) } else { field };
        match velocities.iter().find(|(velocity, _)| *velocity == name) {
            Some((_, of)) => field.with_role(Role::Velocity).with_velocity_of(*of),
            // The field is not numeric, so its velocity has no effect.
            None if name == "score" => field.with_velocity_of("serial"),
            None => field,
        }
    };
    Schema::new(fields.into_iter().map(field).collect())
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mood {
    Quiet,
    Moving,
    Wild,
}

/// Makes the records of a moving thing.
#[derive(Clone, Debug)]
pub(crate) struct Walk<'a> {
    schema: &'a Schema,
    random: Random,
    mood: Mood,
    record: Vec<u32>,
    rates: Vec<i64>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(schema: &'a Schema, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut record: Vec<u32> =
            schema.lanes().iter().map(|lane| random.up_to(lane.max)).collect();
        schema.clear_absent(&mut record);
        schema.round_coarse(&mut record);
        let rates = vec![0; schema.lanes().len()];
        Self { schema, random, mood: Mood::Moving, record, rates }
    }

    /// Makes `count` records, lane after lane.
    pub(crate) fn records(&mut self, count: usize) -> Vec<u32> {
        (0..count).flat_map(|_| self.step().to_vec()).collect()
    }

    /// Makes the next record.
    pub(crate) fn step(&mut self) -> &[u32] {
        if self.random.one_in(50) {
            self.mood = [Mood::Quiet, Mood::Moving, Mood::Moving, Mood::Wild]
                [self.random.below(4) as usize];
        }
        let before = self.record.clone();
        let schema = self.schema;
        for field in schema.fields() {
            let random = &mut self.random;
            let is_wild = self.mood == Mood::Wild && random.one_in(2);
            if is_wild || random.one_in(300) {
                for lane in field.lanes() {
                    self.record[lane] = any_value(random, self.schema.lanes()[lane].max);
                }
                continue;
            }
            if self.mood != Mood::Moving && field.role != Role::Clock && !random.one_in(40) {
                continue;
            }
            match &field.kind {
                FieldKind::Rotation(rotation) if random.one_in(2) => {
                    turn(rotation, random, &mut self.record[field.lanes()]);
                }
                FieldKind::Rotation(_) => {}
                FieldKind::Bool | FieldKind::Choice { .. } => {
                    if random.one_in(10) {
                        let lane = field.lanes().start;
                        self.record[lane] = any_value(random, self.schema.lanes()[lane].max);
                    }
                }
                FieldKind::Bytes { .. } => {
                    for lane in field.lanes() {
                        // The first byte of each 16 counts upwards, and some other bytes change.
                        if lane % 16 == 0 || random.one_in(12) {
                            self.record[lane] = (self.record[lane] + random.up_to(3)) % 256;
                        }
                    }
                }
                _ => self.go_on(field, &before),
            }
        }
        schema.clear_absent(&mut self.record);
        schema.round_coarse(&mut self.record);
        &self.record
    }

    /// Lets numbers continue their motion, by their velocity if they have one.
    fn go_on(&mut self, field: &Field, before: &[u32]) {
        let velocity = self
            .schema
            .fields()
            .iter()
            .find(|other| other.velocity_of.as_ref() == Some(&field.name));
        // If a velocity has fewer axes than its field, the next lanes are used, if there are any.
        // The stored corpora depend on this.
        let velocity_lane = |nth| {
            velocity
                .map(|of| of.lanes().start + nth)
                .filter(|lane| *lane < self.schema.lanes().len())
        };
        for (nth, lane) in field.lanes().enumerate() {
            let limits = self.schema.lanes()[lane];
            if self.random.one_in(4) {
                self.rates[lane] += self.random.below(41) as i64 - 20;
            }
            let mut steps = self.rates[lane];
            if field.role == Role::Clock {
                // The upper half of a wide number does not change.
                steps = if nth == 0 { 15 + self.random.below(4) as i64 } else { 0 };
            } else if let Some(lane) = velocity_lane(nth) {
                let middle = i64::from(self.schema.lanes()[lane].max / 2);
                steps = (i64::from(before[lane]) + i64::from(self.record[lane]) - 2 * middle) / 8;
            }
            let noise = self.random.below(3) as i64 - 1;
            self.record[lane] = match limits.arithmetic {
                LaneArithmetic::Category => any_value(&mut self.random, limits.max),
                _ => moved(self.record[lane], steps + noise, limits.max, limits.arithmetic),
            };
        }
    }
}
