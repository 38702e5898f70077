//! Schemas with all kinds of fields, which proptest generates and shrinks.

use std::ops::RangeInclusive;

use kinepack::quantize::{FloatLimits, IntegerLimits, SmallestThree};
use kinepack::schema::{Coarser, Condition, Field, FieldKind, Role, TimePrecision};
use kinepack::{BytesUpTo, Pack, Schema};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::limits::{any_ends, any_steps, float_limits, integer_limits};

/// A struct that is part of a nested type.
#[derive(Pack, Clone, Copy, Debug)]
struct Turret {
    #[pack(range = -180.0..180.0, bits = 11, wrap)]
    heading: f32,
    #[pack(range = -90.0..90.0, precision = 0.25, velocity)]
    turning: f32,
    loaded: bool,
}

/// A nested type whose fields are in the middle of a generated schema.
#[derive(Pack, Clone, Debug)]
struct Hull {
    #[pack(range = [-64.0..64.0, 0.0..32.0, -64.0..64.0], precision = 1.0 / 256.0, body)]
    position: [f32; 3],
    #[pack(rotation, bits = 9, body)]
    orientation: [f32; 4],
    turrets: [Turret; 2],
    fuel: f64,
    #[pack(with = BytesUpTo<9>)]
    name: Vec<u8>,
    #[pack(mover)]
    is_steered: bool,
}

/// Makes schemas of up to six groups of fields, each group below its own name.
pub(crate) fn schemas() -> impl Strategy<Value = Schema> {
    let selectors = prop_oneof![2 => Just(Vec::new()), 1 => vec(selector(), 1..3)];
    vec((group(), selectors), 0..7).prop_map(|groups| {
        let named = |(number, (group, selectors)): (usize, (Vec<Field>, Vec<Selector>))| {
            let path = format!("g{number}.");
            optional(group, selectors).into_iter().map(move |mut field| {
                field.name.insert_str(0, &path);
                field.velocity_of = field.velocity_of.map(|of| path.clone() + &of);
                if let Some(condition) = &mut field.condition {
                    condition.selector.insert_str(0, &path);
                }
                if let Some(coarser) = &mut field.coarser {
                    coarser.coarseness.insert_str(0, &path);
                }
                field.frame = field.frame.map(|frame| path.clone() + &frame);
                field
            })
        };
        let mut fields: Vec<Field> = groups.into_iter().enumerate().flat_map(named).collect();
        keep_one_frame(&mut fields);
        Schema::new(fields)
    })
}

/// Removes the frames that a schema cannot have: all but the first, and those of fields that may be
/// absent.
fn keep_one_frame(fields: &mut [Field]) {
    let is_there = |field: &&Field| field.frame.is_some() && field.condition.is_none();
    let first = fields.iter().find(is_there).and_then(|field| field.frame.clone());
    for field in fields.iter_mut() {
        if field.condition.is_some() || field.frame != first {
            field.frame = None;
        }
    }
}

/// The kind of a selector, and its values at which the fields are present.
type Selector = (FieldKind, RangeInclusive<u32>);

fn selector() -> impl Strategy<Value = Selector> {
    let number = |max: u32| FieldKind::Integer(IntegerLimits::new(0, max.into(), 1).unwrap());
    prop_oneof![
        2 => Just((FieldKind::Bool, 1..=1)),
        1 => (0u32..4, 0u32..4).prop_map(|(a, b)| (FieldKind::Choice { max: 4 }, a.min(b)..=a.max(b))),
        1 => (0u32..3).prop_map(move |first| (number(3), first..=3)),
    ]
}

/// Returns the same fields after selectors, the outermost last. Without selectors, the fields are
/// always present.
fn optional(mut group: Vec<Field>, selectors: Vec<Selector>) -> Vec<Field> {
    for (depth, (kind, values)) in selectors.into_iter().enumerate() {
        let selector = Field::new(format!("only if {depth}"), kind);
        for field in group.iter_mut().filter(|field| field.condition.is_none()) {
            field.condition = Some(Condition::new(selector.name.clone(), values.clone()));
        }
        group.insert(0, selector);
    }
    group
}

/// Makes fields that belong together.
fn group() -> impl Strategy<Value = Vec<Field>> {
    prop_oneof![
        8 => plain().prop_map(|kind| vec![Field::new("plain", kind)]),
        4 => (axes(), share(), max_step()).prop_map(|(axes, share, max_step)| {
            let lanes = axes.len();
            vec![with_precision(Field::new("length", FieldKind::Floats(axes)), lanes, share, max_step)]
        }),
        2 => (rotation(), share(), max_step())
            .prop_map(|(kind, share, max_step)| vec![with_precision(Field::new("turn", kind), 3, share, max_step)]),
        2 => (vec(limits(), 1..4), vec(limits(), 1..4)).prop_map(|(place, speed)| moving(place, speed)),
        2 => ([limits(), limits(), limits()], rotation(), any::<[bool; 2]>())
            .prop_map(|(axes, rotation, flags)| body(axes, rotation, flags)),
        1 => Just(Schema::of::<Hull>().fields().to_vec()),
        3 => (vec(prop_oneof![floats(), rotation()], 1..4), 1u8..=31, vec(1u8..=31, 4), any::<bool>())
            .prop_map(|(kinds, most, bits, are_body)| coarser(kinds, most, &bits, are_body)),
        2 => prop_oneof![Just(FieldKind::Bool), integer_limits().prop_map(FieldKind::Integer)]
            .prop_map(|kind| vec![Field::new("cut", kind).with_role(Role::Cut)]),
        2 => ([limits(), limits(), limits()], rotation(), 0u32..=u32::MAX, any::<bool>())
            .prop_map(|(axes, rotation, most, is_optional)| on_board(axes, rotation, most, is_optional)),
        1 => integer_limits()
            .prop_map(|limits| vec![Field::new("time", FieldKind::Integer(limits)).with_role(Role::Clock)]),
    ]
}

/// Makes the kind of a field without a role.
fn plain() -> impl Strategy<Value = FieldKind> {
    prop_oneof![
        4 => vec((limits(), any::<bool>()), 0..4).prop_map(|axes| {
            let wrapped = |(axis, wraps): (FloatLimits, bool)| if wraps { axis.wrapping() } else { axis };
            FieldKind::Floats(axes.into_iter().map(wrapped).collect())
        }),
        4 => integer_limits().prop_map(FieldKind::Integer),
        2 => rotation(),
        1 => Just(FieldKind::Bool),
        2 => prop_oneof![Just(0), 1u32..20, any::<u32>(), Just(u32::MAX)].prop_map(|max| FieldKind::Choice { max }),
        1 => (0u8..5).prop_map(|lanes| FieldKind::Raw { lanes }),
        1 => prop_oneof![0u8..6, 0u8..90].prop_map(|len| FieldKind::Bytes { len }),
    ]
}

fn axes() -> impl Strategy<Value = Vec<FloatLimits>> {
    vec(limits(), 0..4)
}

/// Makes limits of every width and form, including limits for `f32` and for a single value.
fn limits() -> impl Strategy<Value = FloatLimits> {
    (any_ends(), any_steps(), 0u8..5, any::<bool>()).prop_map(|(ends, steps, form, is_single)| {
        let point = || FloatLimits::new(ends[0], ends[0], 1.0).unwrap();
        let limits = float_limits(ends, steps, form).unwrap_or_else(point);
        if is_single { limits.for_f32().unwrap_or(limits) } else { limits }
    })
}

fn floats() -> impl Strategy<Value = FieldKind> {
    prop_oneof![axes(), [limits(), limits(), limits()].prop_map(Vec::from)]
        .prop_map(FieldKind::Floats)
}

fn rotation() -> impl Strategy<Value = FieldKind> {
    (2u32..=20).prop_map(|bits| FieldKind::Rotation(SmallestThree::new(bits).unwrap()))
}

/// Makes a time precision as a share of the longest possible one.
fn share() -> impl Strategy<Value = f64> {
    prop_oneof![0.01f64..0.99, Just(0.99)]
}

fn max_step() -> impl Strategy<Value = Option<f64>> {
    prop_oneof![Just(None), (-20i32..40).prop_map(|exponent| Some(f64::from(exponent).exp2()))]
}

fn with_precision(field: Field, lanes: usize, share: f64, max_step: Option<f64>) -> Field {
    const TICKS_PER_S: f64 = 60.0;
    let longest_ticks = 0.5 / (lanes.max(1) as f64).sqrt();
    let precision = TimePrecision::new(share * longest_ticks * 1000.0 / TICKS_PER_S, TICKS_PER_S);
    field.with_time_precision(max_step.map_or(precision, |step| precision.with_max_step(step)))
}

/// Makes fields that may be coarser, after their coarseness of up to `most`.
fn coarser(kinds: Vec<FieldKind>, most: u8, bits: &[u8], are_body: bool) -> Vec<Field> {
    let limits = IntegerLimits::new(0, most.into(), 1).unwrap();
    let coarseness = Field::new("coarseness", FieldKind::Integer(limits));
    let role = if are_body { Role::Body } else { Role::Plain };
    let fields = kinds.into_iter().zip(bits).enumerate().map(|(nth, (kind, bits))| {
        let coarser = Coarser::new(coarseness.name.as_str(), *bits);
        Field::new(format!("coarser {nth}"), kind).with_role(role).with_coarser(coarser)
    });
    let fields: Vec<Field> = fields.collect();
    [vec![coarseness], fields].concat()
}

/// Makes a place, and a velocity that may have other axes.
fn moving(place: Vec<FloatLimits>, speed: Vec<FloatLimits>) -> Vec<Field> {
    vec![
        Field::new("place", FieldKind::Floats(place)),
        Field::new("speed", FieldKind::Floats(speed))
            .with_role(Role::Velocity)
            .with_velocity_of("place"),
    ]
}

/// Makes a place that is relative to an entity.
fn on_board(axes: [FloatLimits; 3], rotation: FieldKind, most: u32, optional: bool) -> Vec<Field> {
    let ids = IntegerLimits::new(0, most.into(), 1).unwrap();
    let ship = Field::new("ship", FieldKind::Integer(ids)).with_role(Role::Frame);
    let speed = Field::new("speed", FieldKind::Floats(axes.to_vec())).with_role(Role::Velocity);
    let mut fields = vec![
        Field::new("seat", FieldKind::Floats(axes.to_vec())).with_frame("ship"),
        ship,
        Field::new("gaze", rotation).with_frame("ship"),
        speed.with_velocity_of("seat").with_frame("ship"),
    ];
    if optional {
        fields[1].condition = Some(Condition::new("ship?", 1..=1));
        fields.insert(0, Field::new("ship?", FieldKind::Bool).with_role(Role::Frame));
    }
    fields
}

fn body(axes: [FloatLimits; 3], rotation: FieldKind, [touched, mover]: [bool; 2]) -> Vec<Field> {
    let mut fields = vec![
        Field::new("position", FieldKind::Floats(axes.to_vec())).with_role(Role::Body),
        Field::new("orientation", rotation).with_role(Role::Body),
    ];
    fields.extend(touched.then(|| Field::new("touched", FieldKind::Bool).with_role(Role::Touched)));
    fields.extend(mover.then(|| Field::new("mover", FieldKind::Bool).with_role(Role::Mover)));
    fields
}
