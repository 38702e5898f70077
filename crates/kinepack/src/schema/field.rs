//! A field of a schema, and its kind.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::coarser::{Coarseness, Coarser};
use super::condition::Conditions;
use super::lane::{Lane, LaneArithmetic};
use super::{Condition, TimePrecision};
use crate::quantize::{FloatLimits, IntegerLimits, SmallestThree};

/// One field of an entity.
///
/// ```
/// use kinepack::Schema;
/// use kinepack::quantize::IntegerLimits;
/// use kinepack::schema::{Field, FieldKind, Role};
///
/// // `#[derive(Pack)]` makes such fields. For a schema from a file or a script, make them by hand.
/// let health = Field::new("health", FieldKind::Integer(IntegerLimits::new(0, 100, 1)?));
/// let held = Field::new("held", FieldKind::Bool).with_role(Role::Touched);
/// assert_eq!(Schema::new(vec![health, held]).bits_per_entity(), 7 + 1);
/// # Ok::<(), kinepack::SetupError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The field's name, with the names of the structs around it: `hull.position`.
    pub name: String,
    /// The way in which the field is quantized.
    pub kind: FieldKind,
    /// The field's meaning for stages that use roles.
    pub role: Role,
    /// How exact the field must be while it moves; `None` if the field is always exact.
    pub time_precision: Option<TimePrecision>,
    /// If the field is a velocity, the name of the field that moves at this velocity, if it is
    /// known. This name is not part of the schema's hash.
    pub velocity_of: Option<String>,
    /// The condition under which the field is present; `None` if the field is always present.
    pub condition: Option<Condition>,
    /// Whether the field is a *spawn field*: set when an entity appears, and never changed. Packets
    /// hold spawn fields only for entities that the baseline lacks.
    pub is_spawn: bool,
    /// The name of the field with the id of the entity that this field is relative to; `None` if
    /// the field is relative to the world. See [`Role::Frame`].
    pub frame: Option<String>,
    /// Whether the field's values may be coarser in some entities, and how much; `None` if the
    /// field is always exact.
    pub coarser: Option<Coarser>,
    /// The lane that tells how much coarser the field is, and the most bits; `None` until the field
    /// is part of a schema, and if the field is always exact.
    pub(super) coarseness: Option<Coarseness>,
    /// The field's condition and those of its selectors, as lanes and values. `conditions` is empty
    /// until the field is part of a schema.
    pub(super) conditions: Conditions,
    pub(super) first_lane: usize,
    pub(super) lane_count: usize,
}

impl Field {
    /// Makes a field without a role that is always exact.
    pub fn new(name: impl Into<String>, kind: FieldKind) -> Self {
        Self {
            name: name.into(),
            kind,
            role: Role::Plain,
            time_precision: None,
            velocity_of: None,
            condition: None,
            is_spawn: false,
            frame: None,
            coarser: None,
            coarseness: None,
            conditions: Conditions::default(),
            first_lane: 0,
            lane_count: 0,
        }
    }

    /// The same field with another kind.
    #[must_use]
    pub fn with_kind(self, kind: FieldKind) -> Self {
        Self { kind, ..self }
    }

    /// The same field with a role.
    #[must_use]
    pub fn with_role(self, role: Role) -> Self {
        Self { role, ..self }
    }

    /// The same field with a time precision. A [`Codec`](crate::Codec) refuses the time precision
    /// if the field cannot have one.
    #[must_use]
    pub fn with_time_precision(self, precision: TimePrecision) -> Self {
        Self { time_precision: Some(precision), ..self }
    }

    /// The same field, relative to the entity whose id is in the field `frame`: see
    /// [`Role::Frame`].
    #[must_use]
    pub fn with_frame(self, frame: impl Into<String>) -> Self {
        Self { frame: Some(frame.into()), ..self }
    }

    /// The same field, whose values may be coarser: see [`Coarser`].
    #[must_use]
    pub fn with_coarser(self, coarser: Coarser) -> Self {
        Self { coarser: Some(coarser), ..self }
    }

    /// Returns whether the field can have a time precision. It can if its values are rotations or
    /// numbers that do not wrap, if it is not a spawn field, and if it is not [`Coarser`] in some
    /// entities.
    pub fn takes_time_precision(&self) -> bool {
        self.can_be_coarse() && self.coarser.is_none()
    }

    /// Returns whether the steps of the field's values can be larger than those of its limits.
    pub(super) fn can_be_coarse(&self) -> bool {
        !self.is_spawn
            && match &self.kind {
                FieldKind::Floats(axes) => !axes.iter().any(FloatLimits::wraps),
                FieldKind::Rotation(_) => true,
                _ => false,
            }
    }

    /// The same field as the velocity of another field, whose whole name is `name`.
    #[must_use]
    pub fn with_velocity_of(self, name: impl Into<String>) -> Self {
        Self { velocity_of: Some(name.into()), ..self }
    }

    /// The same field, which is present only under this condition.
    #[must_use]
    pub fn with_condition(self, condition: Condition) -> Self {
        Self { condition: Some(condition), ..self }
    }

    /// The same field as a spawn field.
    #[must_use]
    pub fn with_spawn(self) -> Self {
        Self { is_spawn: true, ..self }
    }

    /// The range of the field's lanes among the schema's.
    pub fn lanes(&self) -> Range<usize> {
        self.first_lane..self.first_lane + self.lane_count
    }

    /// Returns whether the field is present in an entity. `lanes` must be all lanes of the schema
    /// that the field was taken from.
    ///
    /// # Panics
    /// If `lanes` has fewer lanes than the schema.
    pub fn is_present(&self, lanes: &[u32]) -> bool {
        self.is_present_in(|lane| lanes[lane])
    }

    /// Like [`is_present`](Self::is_present), for an entity whose lanes `lane` returns.
    pub fn is_present_in(&self, lane: impl Fn(usize) -> u32) -> bool {
        self.conditions.hold(lane)
    }

    /// The conditions under which the field is present, as lanes and values.
    #[inline]
    pub(crate) fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    /// The lane that tells how much coarser the field is, and the most bits; `None` if the field is
    /// always exact.
    #[inline]
    pub(crate) fn coarseness(&self) -> Option<Coarseness> {
        self.coarseness
    }

    /// The field's lanes that may be coarser, as a range of the schema's lanes. A rotation's dropped
    /// component is never coarser.
    pub(crate) fn coarse_lanes(&self) -> Range<usize> {
        let Range { start, end } = self.lanes();
        start + usize::from(matches!(self.kind, FieldKind::Rotation(_)))..end
    }

    pub(super) fn hash_into(&self, add: &mut impl FnMut(&[u8])) {
        add(&(self.name.len() as u32).to_le_bytes());
        add(self.name.as_bytes());
        let flags = u8::from(self.condition.is_some()) << 7
            | u8::from(self.is_spawn) << 6
            | u8::from(self.coarser.is_some()) << 5
            | u8::from(self.frame.is_some()) << 4;
        add(&[self.role as u8 | flags]);
        match &self.kind {
            FieldKind::Floats(axes) => {
                add(&[0, axes.len() as u8]);
                for axis in axes {
                    add(&axis.min().to_bits().to_le_bytes());
                    add(&axis.max().to_bits().to_le_bytes());
                    add(&axis.step().to_bits().to_le_bytes());
                    add(&[u8::from(axis.wraps())]);
                }
            }
            FieldKind::Integer(limits) => {
                add(&[1]);
                add(&limits.min().to_le_bytes());
                add(&limits.max().to_le_bytes());
                add(&limits.step().to_le_bytes());
            }
            FieldKind::Rotation(rotation) => add(&[2, rotation.component_bits() as u8]),
            FieldKind::Bool => add(&[3]),
            FieldKind::Choice { max } => {
                add(&[4]);
                add(&max.to_le_bytes());
            }
            FieldKind::Raw { lanes } => add(&[5, *lanes]),
            FieldKind::Bytes { len } => add(&[6, *len]),
        }
        self.conditions.hash_into(add);
        if let Some(coarseness) = &self.coarseness {
            coarseness.hash_into(add);
        }
        if let Some(frame) = &self.frame {
            add(&(frame.len() as u32).to_le_bytes());
            add(frame.as_bytes());
        }
    }
}

/// Returns the name shared by the same field of all elements of an array: `joints[*].rotation` for
/// `joints[3].rotation`.
pub fn any_element(name: &str) -> String {
    let mut common = String::with_capacity(name.len());
    for (nth, part) in name.split('[').enumerate() {
        match part.split_once(']').filter(|_| nth > 0) {
            Some((_, rest)) => {
                common.push_str("[*]");
                common.push_str(rest);
            }
            None => common.push_str(part),
        }
    }
    common
}

/// The meaning of a field beyond its numbers.
///
/// ```
/// use kinepack::schema::Role;
/// use kinepack::{Pack, Schema};
///
/// #[derive(Pack)]
/// struct Barrel {
///     #[pack(body, range = -64.0..64.0, precision = 1.0 / 128.0)]
///     position: [f32; 3],
///     #[pack(body, rotation, bits = 9)]
///     rotation: [f32; 4],
///     #[pack(velocity, range = -32.0..32.0, precision = 1.0 / 16.0)]
///     velocity: [f32; 3],
///     #[pack(touched)]
///     is_carried: bool,
/// }
///
/// let schema = Schema::of::<Barrel>();
/// let roles: Vec<Role> = schema.fields().iter().map(|field| field.role).collect();
/// assert_eq!(roles, [Role::Body, Role::Body, Role::Velocity, Role::Touched]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u8)]
pub enum Role {
    /// The field has no special meaning.
    #[default]
    Plain = 0,
    /// The field is a velocity, which is zero at rest.
    Velocity = 1,
    /// The field is a rigid body's position (three real numbers) or rotation.
    Body = 2,
    /// The field is a rigid body's flag, set while something moves the body.
    Touched = 3,
    /// The field is a rigid body's flag, set if the body moves others, as a player does.
    Mover = 4,
    /// The field is a time stamp, in any unit. From this field, a [`stream`](crate::stream)
    /// predicts the motion of its other fields.
    Clock = 5,
    /// The field marks *cuts*: a flag or a counter that changes when the entity jumps to another
    /// place, as in a teleport or a respawn. Between two states of an entity whose cut fields
    /// differ there is no motion: playback shows the first state until the second one's time, and
    /// the codec predicts nothing from one to the other.
    Cut = 6,
    /// The field is the id of an entity, the *frame*, to which other fields of this one are
    /// relative, such as the ship under a passenger. Or it is the flag that says whether there is a
    /// frame; without one, these fields are relative to the world. [`frame`](crate::frame) has an
    /// example.
    Frame = 7,
}

/// The way in which a field is quantized.
///
/// ```
/// use kinepack::schema::FieldKind;
/// use kinepack::{Pack, Schema};
///
/// #[derive(Pack)]
/// struct Unit {
///     #[pack(range = 0.0..360.0, bits = 8, wrap)]
///     heading_deg: f32,
///     #[pack(max = 100)]
///     health: u8,
///     name_hash: u32,
///     is_visible: bool,
/// }
///
/// /// A column of an editor's table.
/// fn shown(kind: &FieldKind) -> String {
///     match kind {
///         FieldKind::Floats(axes) => format!("numbers in steps of {}", axes[0].step()),
///         FieldKind::Integer(limits) => format!("{} to {}", limits.min(), limits.max()),
///         FieldKind::Bool => "yes or no".to_owned(),
///         _ => "anything".to_owned(),
///     }
/// }
///
/// let schema = Schema::of::<Unit>();
/// let shown: Vec<String> = schema.fields().iter().map(|field| shown(&field.kind)).collect();
/// assert_eq!(shown[..2], ["numbers in steps of 1.40625", "0 to 100"]);
/// assert_eq!(shown[3], "yes or no");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FieldKind {
    /// One to 255 real numbers, each with limits.
    Floats(Vec<FloatLimits>),
    /// An integer with limits. An integer takes one lane up to 32 bits, otherwise two with the
    /// lower half first.
    Integer(IntegerLimits),
    /// A rotation, coded as the dropped component and the other three.
    Rotation(SmallestThree),
    /// A flag of one bit.
    Bool,
    /// One of `max + 1` alternatives without an order.
    Choice {
        /// The largest alternative.
        max: u32,
    },
    /// Bit patterns of 32 bits per lane that are not quantized, such as an `f32` without a range.
    Raw {
        /// The number of lanes.
        lanes: u8,
    },
    /// Opaque bytes, one per lane.
    Bytes {
        /// The number of bytes.
        len: u8,
    },
}

impl FieldKind {
    /// Returns the lanes of a value with 0 in every component, if the field's range includes zero.
    /// The result depends on what is part of the schema's hash only: not on numbers beyond the
    /// largest value that are accepted because they are rounded to it.
    pub(crate) fn zero_lanes(&self) -> Option<Vec<u32>> {
        let zero = |axis: &FloatLimits| {
            let includes_zero = axis.wraps() || (axis.min()..=axis.max()).contains(&0.0);
            axis.quantize(0.0).ok().filter(|_| includes_zero)
        };
        match self {
            Self::Floats(axes) => axes.iter().map(zero).collect(),
            _ => None,
        }
    }

    pub(super) fn append_lanes(&self, lanes: &mut Vec<Lane>) {
        let mut push = |max, arithmetic| lanes.push(Lane { max, arithmetic });
        match self {
            Self::Floats(axes) => {
                for axis in axes {
                    let cyclic =
                        if axis.wraps() { LaneArithmetic::Cyclic } else { LaneArithmetic::Linear };
                    push(axis.max_code(), cyclic);
                }
            }
            Self::Integer(limits) => match u32::try_from(limits.max_code()) {
                Ok(max) => push(max, LaneArithmetic::Linear),
                Err(_) => {
                    // The lower half wraps around; a carry out of it is a step of the upper half.
                    push(u32::MAX, LaneArithmetic::Cyclic);
                    push((limits.max_code() >> 32) as u32, LaneArithmetic::Linear);
                }
            },
            Self::Rotation(rotation) => {
                push(3, LaneArithmetic::Category);
                for _ in 0..3 {
                    push(rotation.max_code(), LaneArithmetic::Linear);
                }
            }
            Self::Bool => push(1, LaneArithmetic::Category),
            Self::Choice { max } => push(*max, LaneArithmetic::Category),
            Self::Raw { lanes } => (0..*lanes).for_each(|_| push(u32::MAX, LaneArithmetic::Linear)),
            // The meaning of a byte is unknown. Many bytes count something, so differences are
            // useful.
            Self::Bytes { len } => {
                (0..*len).for_each(|_| push(u8::MAX.into(), LaneArithmetic::Cyclic));
            }
        }
    }
}
