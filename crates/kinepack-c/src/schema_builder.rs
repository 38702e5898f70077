//! Builds schemas by calls, kind by kind and field by field. A kind may be a figure's.

use std::ffi::c_char;
use std::sync::Mutex;

use kinepack::quantize::{FloatLimits, IntegerLimits, SmallestThree};
use kinepack::schema::{Coarser, Condition, Field, FieldKind, Role, TimePrecision};
use kinepack::{Schema, SetupError};

use crate::KpStatus;
use crate::figure::{KpFigure, fields_of};
use crate::handles::{Handles, lock};
use crate::memory::{self, check_out, put};
use crate::schema::{KpSchema, SCHEMAS};
use crate::status::{Failure, call};

/// A schema under construction, kind by kind and field by field.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpSchemaBuilder {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static BUILDERS: Handles<Mutex<Builder>> = Handles::new(2, "a schema builder");

/// The kinds, each with its name and its fields.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    kinds: Vec<(String, Vec<Field>)>,
    /// The number of fields with which the last kind begins and which nothing may change: those up
    /// to a figure's or a stamp's. The figure or the server would not find changed ones again.
    fixed: usize,
}

impl Builder {
    /// Begins a kind, with the fields of a figure or none.
    fn begin(&mut self, name: &str, of_figure: Vec<Field>) {
        self.fixed = of_figure.len();
        self.kinds.push((name.to_owned(), of_figure));
    }

    /// Adds fields to the last kind. Without a kind, one without a name begins.
    fn add(&mut self, added: impl IntoIterator<Item = Field>) {
        if self.kinds.is_empty() {
            self.begin("", Vec::new());
        }
        if let Some((_, fields)) = self.kinds.last_mut() {
            fields.extend(added);
        }
    }

    /// Adds fields that nothing may change.
    pub(crate) fn add_fixed(&mut self, added: Vec<Field>) {
        self.add(added);
        self.fixed = self.kinds.last().map_or(0, |(_, fields)| fields.len());
    }

    /// The last field, to change it.
    fn last(&mut self) -> Result<&mut Field, Failure> {
        let fields = self.kinds.last_mut().map(|(_, fields)| &mut fields[self.fixed..]);
        let last = fields.and_then(|fields| fields.last_mut());
        last.ok_or_else(|| Failure::argument("there is no field yet that can be changed"))
    }
}

/// The role of a field in motion.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KpRole {
    /// No special role.
    Plain = 0,
    /// A velocity, which is zero at rest.
    Velocity = 1,
    /// The position (three real numbers) or the rotation of a rigid body.
    Body = 2,
    /// The flag of a body that another body moves.
    Touched = 3,
    /// The flag of a body that moves other bodies.
    Mover = 4,
    /// A time stamp that drives the fields of a stream.
    Clock = 5,
    /// A flag or a counter that changes when the entity jumps, as in a teleport. Playback does not
    /// blend over the jump.
    Cut = 6,
    /// The id of an entity that other fields are relative to, or the flag that says whether there
    /// is one: see `kp_schema_builder_frame`.
    Frame = 7,
}

/// Begins a schema. The caller ends `*out` with `kp_schema_builder_build` or
/// `kp_schema_builder_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_schema_builder_new(out: *mut KpSchemaBuilder) -> KpStatus {
    call(|| {
        check_out(out)?;
        let builder = KpSchemaBuilder { id: BUILDERS.add(Mutex::default()) };
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, builder) }
    })
}

/// Begins the next kind. A schema with one kind may omit this call. Then its kind has no name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_schema_builder_kind(
    builder: KpSchemaBuilder,
    name: *const c_char,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `name` points to a zero-terminated text until this
        // call returns.
        let name = unsafe { memory::text(name)? };
        lock(&*BUILDERS.get(builder.id)?).begin(name, Vec::new());
        Ok(())
    })
}

/// Begins a kind of entities with the body of a figure. Fields that are added next are other fields
/// of the same kind, until another kind begins.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_schema_builder_figure(
    builder: KpSchemaBuilder,
    name: *const c_char,
    figure: KpFigure,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `name` points to a zero-terminated text until this
        // call returns.
        let name = unsafe { memory::text(name)? };
        let builder = BUILDERS.get(builder.id)?;
        let fields = fields_of(figure)?;
        lock(&builder).begin(name, fields);
        Ok(())
    })
}

/// Adds a field of `count` real numbers from `min` to `max`, in steps of `precision`. A decoded
/// value is off by at most half a step.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_schema_builder_floats(
    builder: KpSchemaBuilder,
    name: *const c_char,
    count: u32,
    min: f64,
    max: f64,
    precision: f64,
) -> KpStatus {
    // SAFETY: the caller guarantees that `name` points to a zero-terminated text until this call
    // returns.
    unsafe {
        add(builder, name, || {
            let count =
                u8::try_from(count).map_err(|_| Failure::argument("more than 255 numbers"))?;
            let axis = FloatLimits::new(min, max, precision).map_err(refused)?;
            Ok(FieldKind::Floats(vec![axis; count.into()]))
        })
    }
}

/// Adds a real number on a circle, such as an angle, which wraps from `end` to `min`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_schema_builder_cyclic(
    builder: KpSchemaBuilder,
    name: *const c_char,
    min: f64,
    end: f64,
    precision: f64,
) -> KpStatus {
    // SAFETY: the caller guarantees that `name` points to a zero-terminated text until this call
    // returns.
    unsafe {
        add(builder, name, || {
            let axis = FloatLimits::until(min, end, precision).map_err(refused)?;
            Ok(FieldKind::Floats(vec![axis.wrapping()]))
        })
    }
}

/// Adds an integer field with values from `min` to `max`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_schema_builder_integer(
    builder: KpSchemaBuilder,
    name: *const c_char,
    min: i64,
    max: i64,
) -> KpStatus {
    // SAFETY: the caller guarantees that `name` points to a zero-terminated text until this call
    // returns.
    unsafe {
        add(builder, name, || {
            let limits = IntegerLimits::new(min.into(), max.into(), 1).map_err(refused)?;
            Ok(FieldKind::Integer(limits))
        })
    }
}

/// Adds a rotation, with `bits` bits (2 to 20) for each of three components.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_schema_builder_rotation(
    builder: KpSchemaBuilder,
    name: *const c_char,
    bits: u32,
) -> KpStatus {
    // SAFETY: the caller guarantees that `name` points to a zero-terminated text until this call
    // returns.
    unsafe {
        add(builder, name, || Ok(FieldKind::Rotation(SmallestThree::new(bits).map_err(refused)?)))
    }
}

/// Adds a flag.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_schema_builder_bool(
    builder: KpSchemaBuilder,
    name: *const c_char,
) -> KpStatus {
    // SAFETY: the caller guarantees that `name` points to a zero-terminated text until this call
    // returns.
    unsafe { add(builder, name, || Ok(FieldKind::Bool)) }
}

/// Adds a choice between `max + 1` alternatives without an order.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_schema_builder_choice(
    builder: KpSchemaBuilder,
    name: *const c_char,
    max: u32,
) -> KpStatus {
    // SAFETY: the caller guarantees that `name` points to a zero-terminated text until this call
    // returns.
    unsafe { add(builder, name, || Ok(FieldKind::Choice { max })) }
}

/// Sets the role that the last field has in motion.
#[unsafe(no_mangle)]
pub extern "C" fn kp_schema_builder_role(builder: KpSchemaBuilder, role: i32) -> KpStatus {
    change(builder, |field| {
        let role = match role {
            0 => Role::Plain,
            1 => Role::Velocity,
            2 => Role::Body,
            3 => Role::Touched,
            4 => Role::Mover,
            5 => Role::Clock,
            6 => Role::Cut,
            7 => Role::Frame,
            _ => return Err(Failure::argument(format!("no role has the number {role}"))),
        };
        Ok(field.with_role(role))
    })
}

/// Declares the last field to be the velocity of the field `name`. Playback then follows curves.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_schema_builder_velocity_of(
    builder: KpSchemaBuilder,
    name: *const c_char,
) -> KpStatus {
    // SAFETY: the caller guarantees that `name` points to a zero-terminated text until this call
    // returns.
    let name = unsafe { memory::text(name) }.map(str::to_owned);
    change(builder, |field| Ok(field.with_velocity_of(name?)))
}

/// Makes the last field relative to another entity, such as the ship under a passenger. The entity's
/// id is in the field `name` of the same kind, an integer with the role `KP_ROLE_FRAME`. If that
/// field is conditional on a bool with the same role, the last field is relative to the world while
/// the bool is 0. The last field is a rotation, or a position or velocity of three axes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_schema_builder_frame(
    builder: KpSchemaBuilder,
    name: *const c_char,
) -> KpStatus {
    // SAFETY: the caller guarantees that `name` points to a zero-terminated text until this call
    // returns.
    let name = unsafe { memory::text(name) }.map(str::to_owned);
    change(builder, |field| Ok(field.with_frame(name?)))
}

/// Makes the last field conditional: it is present only if the field `selector` of the same kind
/// has a value from `least` to `most`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_schema_builder_condition(
    builder: KpSchemaBuilder,
    selector: *const c_char,
    least: u32,
    most: u32,
) -> KpStatus {
    // SAFETY: the caller guarantees that `selector` points to a zero-terminated text until this
    // call returns.
    let selector = unsafe { memory::text(selector) }.map(str::to_owned);
    change(builder, |field| Ok(field.with_condition(Condition::new(selector?, least..=most))))
}

/// Lets the last field be off by the distance that it moves in a given time, while it moves.
#[unsafe(no_mangle)]
pub extern "C" fn kp_schema_builder_time_precision(
    builder: KpSchemaBuilder,
    milliseconds: f64,
    ticks_per_s: f64,
) -> KpStatus {
    change(builder, |field| {
        Ok(field.with_time_precision(TimePrecision::new(milliseconds, ticks_per_s)))
    })
}

/// Lets the last field be coarser in some entities: by as many bits as the earlier integer field
/// `coarseness` of the same kind holds, but at most by `most_bits` (1 to 31). If a state has 0
/// there, the field is exact.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_schema_builder_coarser(
    builder: KpSchemaBuilder,
    coarseness: *const c_char,
    most_bits: u32,
) -> KpStatus {
    // SAFETY: the caller guarantees that `coarseness` points to a zero-terminated text until this
    // call returns.
    let coarseness = unsafe { memory::text(coarseness) }.map(str::to_owned);
    change(builder, |field| {
        let too_many = |_| Failure::argument(format!("{most_bits} bits are more than 31"));
        let most_bits = u8::try_from(most_bits).map_err(too_many)?;
        Ok(field.with_coarser(Coarser::new(coarseness?, most_bits)))
    })
}

/// Builds the schema, and frees the builder. If the fields are not a valid schema, the builder is
/// unchanged. The caller frees `*out` with `kp_schema_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_schema_builder_build(
    builder: KpSchemaBuilder,
    out: *mut KpSchema,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        let kinds = lock(&*BUILDERS.get(builder.id)?).kinds.clone();
        let schema = match <[_; 1]>::try_from(kinds) {
            Ok([(name, fields)]) if name.is_empty() => Schema::try_new(fields),
            Ok(one) => build(one),
            Err(kinds) => build(kinds),
        };
        let schema = schema.map_err(refused)?;
        BUILDERS.remove(builder.id)?;
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpSchema { id: SCHEMAS.add(schema) }) }
    })
}

/// Frees a builder without building a schema.
#[unsafe(no_mangle)]
pub extern "C" fn kp_schema_builder_free(builder: KpSchemaBuilder) -> KpStatus {
    call(|| BUILDERS.remove(builder.id))
}

fn build(kinds: impl IntoIterator<Item = (String, Vec<Field>)>) -> Result<Schema, SetupError> {
    let builder = kinds
        .into_iter()
        .fold(Schema::builder(), |builder, (name, fields)| builder.kind_of_fields(name, fields));
    builder.build()
}

fn refused(error: SetupError) -> Failure {
    Failure::argument(error)
}

/// Adds a field.
///
/// # Safety
/// The caller must meet the conditions of [`memory::text`].
unsafe fn add(
    builder: KpSchemaBuilder,
    name: *const c_char,
    kind: impl FnOnce() -> Result<FieldKind, Failure>,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `name` points to a zero-terminated text until this
        // call returns.
        let name = unsafe { memory::text(name)? };
        let builder = BUILDERS.get(builder.id)?;
        let field = Field::new(name, kind()?);
        lock(&builder).add([field]);
        Ok(())
    })
}

/// Changes the field that was added last.
fn change(
    builder: KpSchemaBuilder,
    change: impl FnOnce(Field) -> Result<Field, Failure>,
) -> KpStatus {
    call(|| {
        let builder = BUILDERS.get(builder.id)?;
        let mut builder = lock(&builder);
        let last = builder.last()?;
        *last = change(last.clone())?;
        Ok(())
    })
}
