//! The plan of a packet: the parts of the schema and of the bodies that coding needs, looked up
//! only once per codec.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::bodies::{Bodies, can_be_part};
use super::counters::{EVEN, Layout, START, body_group};
use super::newcomers::NewcomerPlan;
use super::numbers::{FEATURES, Row};
use super::rows::{BodyRows, NumberRows, RotationRows};
use crate::entropy::Counter;
use crate::geometry::UP;
use crate::quantize::{FloatLimits, SmallestThree};
use crate::schema::{Coarseness, Conditions, EntityKind, Field, FieldKind, Lane, any_element};
use crate::{Schema, SetupError};

/// The plan for coding packets of a schema. The fields are in the order in which they are coded.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) kinds: Vec<KindPlan>,
    /// The fields outside bodies, kind by kind.
    pub(super) fields: Vec<FieldPlan>,
    pub(super) newcomers: NewcomerPlan,
    /// The number of groups of residuals, each with its own counters.
    pub(super) groups: usize,
    /// True if alike fields share a group, and some fields are alike.
    pub(super) is_shared: bool,
    /// The number of rows of weights in a set, one per predictor.
    pub(super) rows: usize,
    /// The index of the first counter of each part.
    pub(super) layout: Layout,
    /// The number of the schema's lanes.
    pub(super) lanes: usize,
    /// The height of the floor, in steps of the first body's first axis.
    pub(super) floor: Option<f64>,
    /// The coarseness of each lane that may be coarser; empty if there is no such lane.
    coarseness: Vec<Option<Coarseness>>,
}

/// The body and the fields of one kind's entities.
#[derive(Clone, Debug)]
pub(super) struct KindPlan {
    pub(super) body: Option<BodyPlan>,
    /// The indices of this kind's fields in the plan.
    pub(super) fields: Range<usize>,
    /// Those of the fields that are coded before the body, because they tell how coarse it is, or
    /// select the field that does.
    pub(super) before_body: Vec<usize>,
}

/// The fields and lanes of a rigid body. Bodies of all kinds are in one space: that of the
/// positions of the *first* body, in steps of its first axis. The model's [`Bodies`] name the first
/// body's fields.
#[derive(Clone, Debug)]
pub(super) struct BodyPlan {
    /// The indices in the schema of the fields that hold the position and the rotation.
    pub(super) position_field: usize,
    pub(super) rotation_field: usize,
    /// The position's lanes in the order level, level, up.
    pub(super) position: [usize; 3],
    /// The schema's axes in the order level, level, up.
    pub(super) axes: [usize; 3],
    /// For each of these axes, its step as a multiple of the space's step.
    pub(super) ratios: [f64; 3],
    /// For each of these axes, the coordinate in the space at which its lane is 0.
    pub(super) origin: [f64; 3],
    /// The largest value of each of these lanes.
    pub(super) max: [u32; 3],
    /// The first lane of the rotation.
    pub(super) rotation: usize,
    pub(super) quantizer: RotationCodes,
    /// The lane of the flag that marks bodies that are being moved.
    pub(super) touched: Option<usize>,
    /// The lane of the flag that marks bodies that move others.
    pub(super) mover: Option<usize>,
}

/// Converts a rotation's codes to a quaternion in the order level, level, up, w.
#[derive(Clone, Copy, Debug)]
pub(super) struct RotationCodes {
    /// The index of each component x, y, z, w in the schema's quaternion.
    pub(super) component: [usize; 4],
    pub(super) max_code: f64,
}

/// The plan of a field outside the body.
#[derive(Clone, Debug)]
pub(super) struct FieldPlan {
    /// The field's index in the schema.
    pub(super) index: usize,
    pub(super) first_lane: usize,
    pub(super) lanes: Vec<Lane>,
    /// The conditions under which the field is present.
    pub(super) conditions: Conditions,
    /// True if only added entities have the field in a packet.
    pub(super) is_spawn: bool,
    pub(super) coding: FieldCoding,
}

impl FieldPlan {
    /// The indices of the field's lanes in the schema.
    pub(super) fn lanes(&self) -> Range<usize> {
        self.first_lane..self.first_lane + self.lanes.len()
    }
}

#[derive(Clone, Debug)]
pub(super) enum FieldCoding {
    /// Numbers, predicted lane by lane, with the group of their residuals and the rows of their
    /// predictors.
    Numbers { group: usize, rows: NumberRows },
    /// A rotation outside the body.
    Rotation { group: usize, rows: RotationRows, quantizer: RotationCodes },
    /// A flag or a choice. `tree` is the index of the first counter of the choice's upper `bits`
    /// bits, among the counters of all choices.
    Choice { tree: usize, bits: u32 },
}

/// The rows that predict a field's numbers or rotation, and the groups of their residuals. Both
/// ranges are empty for a choice.
pub(super) struct NumberParts {
    #[cfg_attr(not(feature = "training"), allow(dead_code, reason = "only training reads it"))]
    pub(super) rows: Range<usize>,
    /// The groups of the field's residuals.
    pub(super) groups: Range<usize>,
}

impl FieldCoding {
    pub(super) fn numbers(&self) -> NumberParts {
        let (group, rows) = match self {
            Self::Numbers { group, rows } => (*group, rows.all()),
            Self::Rotation { group, rows, .. } => (*group, rows.all()),
            Self::Choice { .. } => return NumberParts { rows: 0..0, groups: 0..0 },
        };
        NumberParts { rows, groups: group..group + 1 }
    }
}

impl RotationCodes {
    fn new(rotation: SmallestThree, axes: [usize; 3]) -> Self {
        Self { component: [axes[0], axes[1], axes[2], 3], max_code: f64::from(rotation.max_code()) }
    }
}

/// Returns the schema's axes in the order level, level, up. The axes are permuted cyclically, so
/// that rotations stay rotations.
fn axes(up: u8) -> [usize; 3] {
    [0, 1, 2].map(|axis| (axis + usize::from(up) + 1) % 3)
}

impl BodyPlan {
    /// Returns the coordinate of an axis' lane in the space of all bodies.
    #[inline]
    pub(super) fn coordinate(&self, axis: usize, value: u32) -> f64 {
        f64::from(value) * self.ratios[axis] + self.origin[axis]
    }

    /// Makes the plan of a body whose fields have these parameters. `first` holds the limits of the
    /// first body's position. Returns `None` if a field is missing or not of the required kind.
    fn new(fields: &[Field], of: &Bodies, first: &[FloatLimits]) -> Option<Self> {
        let axes = axes(of.up);
        let position = fields.get(of.position)?;
        let rotation = fields.get(of.rotation)?;
        let limits = position_limits(position)?;
        let FieldKind::Rotation(quantizer) = &rotation.kind else { return None };
        if ![position, rotation].into_iter().all(can_be_part) {
            return None;
        }
        let flag = |index: Option<usize>| match index {
            Some(index) => fields
                .get(index)
                .filter(|field| field.kind == FieldKind::Bool && can_be_part(field))
                .map(|field| Some(field.lanes().start)),
            None => Some(None),
        };
        let unit = first[0].step();
        Some(Self {
            position_field: of.position,
            rotation_field: of.rotation,
            axes,
            position: axes.map(|axis| position.lanes().start + axis),
            ratios: axes.map(|axis| limits[axis].step() / unit),
            origin: axes.map(|axis| (limits[axis].min() - first[axis].min()) / unit),
            max: axes.map(|axis| limits[axis].max_code()),
            rotation: rotation.lanes().start,
            quantizer: RotationCodes::new(*quantizer, axes),
            touched: flag(of.touched)?,
            mover: flag(of.mover)?,
        })
    }
}

/// The properties that the fields of a group have in common: their name in any element of an array,
/// and the kinds of their lanes.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Alike {
    name: String,
    is_rotation: bool,
    lanes: Vec<(u32, u8)>,
}

impl Alike {
    fn new(schema: &Schema, index: usize) -> Self {
        let field = &schema.fields()[index];
        let lanes = schema.lanes()[field.lanes()].iter();
        Self {
            name: any_element(&field.name),
            is_rotation: matches!(field.kind, FieldKind::Rotation(_)),
            lanes: lanes.map(|lane| (lane.max, lane.arithmetic as u8)).collect(),
        }
    }
}

/// Returns the limits of a field that can be a body's position.
fn position_limits(field: &Field) -> Option<&[FloatLimits]> {
    match &field.kind {
        FieldKind::Floats(limits) if limits.len() == 3 => {
            (!limits.iter().any(FloatLimits::wraps)).then_some(&limits[..])
        }
        _ => None,
    }
}

/// Returns the coarseness of each lane that may be coarser; an empty list if there is no such lane.
fn coarseness(schema: &Schema) -> Vec<Option<Coarseness>> {
    let mut lanes = Vec::new();
    for field in schema.fields().iter().filter(|field| field.coarser.is_some()) {
        lanes.resize(schema.lanes().len(), None);
        lanes[field.coarse_lanes()].fill(field.coarseness());
    }
    lanes
}

impl Plan {
    /// Makes the plan. If `shares` is true, fields of one name in the elements of an array share a
    /// group of residuals.
    ///
    /// # Errors
    /// [`SetupError::BadModel`] if the bodies' parameters are malformed, or if the bodies' fields
    /// are not a position, a rotation, and flags of one kind.
    pub(super) fn new(
        schema: &Schema,
        bodies: Option<&Bodies>,
        shares: bool,
    ) -> Result<Self, SetupError> {
        let mut plan = Self {
            kinds: Vec::new(),
            fields: Vec::new(),
            newcomers: NewcomerPlan::new(schema),
            groups: 0,
            is_shared: false,
            rows: 0,
            layout: Layout::default(),
            lanes: schema.lanes().len(),
            floor: None,
            coarseness: coarseness(schema),
        };
        if let Some(bodies) = bodies {
            bodies.validate()?;
            plan.groups = body_group::COUNT;
            plan.rows = bodies.classes() * BodyRows::COUNT;
        }
        let mut choices = 0;
        for kind in schema.kinds() {
            let body = match bodies {
                Some(bodies) => plan.body(schema, kind, bodies)?,
                None => None,
            };
            let begin = plan.fields.len();
            let mut owners = shares.then(BTreeMap::new);
            for index in kind.fields() {
                let is_of_body =
                    |body: &BodyPlan| index == body.position_field || index == body.rotation_field;
                if !body.as_ref().is_some_and(is_of_body) {
                    let group = owners.as_mut().map(|owners| {
                        *owners.entry(Alike::new(schema, index)).or_insert(plan.groups)
                    });
                    plan.add_field(schema, index, group, &mut choices);
                }
            }
            let fields = begin..plan.fields.len();
            let before_body =
                body.as_ref().map_or(Vec::new(), |body| plan.before_body(body, fields.clone()));
            plan.kinds.push(KindPlan { body, fields, before_body });
        }
        let (kinds, fields) = (plan.kinds.len(), plan.fields.len());
        plan.layout = Layout::new(kinds, fields, choices, plan.groups, plan.newcomers.counters);
        Ok(plan)
    }

    /// Returns the coarseness of a lane, if the lane may be coarser.
    #[inline]
    pub(super) fn coarseness(&self, lane: usize) -> Option<Coarseness> {
        self.coarseness.get(lane).copied().flatten()
    }

    /// Returns those of a kind's fields that are coded before its body: the coarsenesses of the
    /// body, and the fields that decide whether these are present.
    fn before_body(&self, body: &BodyPlan, fields: Range<usize>) -> Vec<usize> {
        let of_body = [body.position[0], body.rotation + 1].map(|lane| self.coarseness(lane));
        let mut lanes: Vec<usize> = of_body.iter().flatten().map(|of| of.lane).collect();
        for field in &self.fields[fields.clone()] {
            if lanes.contains(&field.first_lane) {
                lanes.extend(field.conditions.selectors());
            }
        }
        // A field without lanes has the first lane of the next field.
        let is_before =
            |field: &FieldPlan| !field.lanes.is_empty() && lanes.contains(&field.first_lane);
        fields.filter(|nth| is_before(&self.fields[*nth])).collect()
    }

    /// Returns the body of a kind, if it has one: the first body's fields, or those that the schema
    /// marks.
    fn body(
        &mut self,
        schema: &Schema,
        kind: &EntityKind,
        bodies: &Bodies,
    ) -> Result<Option<BodyPlan>, SetupError> {
        let fields = schema.fields();
        let first = fields.get(bodies.position).and_then(position_limits);
        let first = first.ok_or(SetupError::BadModel)?;
        if !kind.fields().contains(&bodies.position) {
            let marked = bodies.for_kind(schema, kind);
            return Ok(marked.and_then(|marked| BodyPlan::new(fields, &marked, first)));
        }
        let parts = [Some(bodies.rotation), bodies.touched, bodies.mover];
        let are_of_kind = parts.into_iter().flatten().all(|part| kind.fields().contains(&part));
        let body = BodyPlan::new(fields, bodies, first).filter(|_| are_of_kind);
        let body = body.ok_or(SetupError::BadModel)?;
        self.floor = bodies.floor.map(|floor| f64::from(floor) * body.ratios[UP]);
        Ok(Some(body))
    }

    /// Adds a field outside a body. `group` is the group of residuals that the field shares; `None`
    /// gives the field its own group. `choices` is the number of counters of choices, which a
    /// choice increases.
    fn add_field(
        &mut self,
        schema: &Schema,
        index: usize,
        group: Option<usize>,
        choices: &mut usize,
    ) {
        let field = &schema.fields()[index];
        let lanes = schema.lanes()[field.lanes()].to_vec();
        let group = group.unwrap_or(self.groups);
        let mut take_group = || {
            self.is_shared |= group < self.groups;
            self.groups = self.groups.max(group + 1);
        };
        let coding = match &field.kind {
            FieldKind::Rotation(rotation) => {
                let rows = RotationRows::new(self.rows);
                self.rows += RotationRows::COUNT;
                take_group();
                FieldCoding::Rotation {
                    group,
                    rows,
                    quantizer: RotationCodes::new(*rotation, [0, 1, 2]),
                }
            }
            FieldKind::Bool | FieldKind::Choice { .. } => {
                let bits = if lanes[0].max == 1 { 0 } else { lanes[0].bits().min(8) };
                *choices += 1 << bits;
                FieldCoding::Choice { tree: *choices - (1 << bits), bits }
            }
            _ => {
                let rows = NumberRows::new(self.rows, lanes.len());
                self.rows += rows.count();
                take_group();
                FieldCoding::Numbers { group, rows }
            }
        };
        self.fields.push(FieldPlan {
            index,
            first_lane: field.lanes().start,
            lanes,
            conditions: field.conditions().clone(),
            is_spawn: field.is_spawn,
            coding,
        });
    }

    /// Makes the weights of an untrained set. `bodies` must be the bodies that the plan was made
    /// for.
    pub(super) fn untrained_rows(&self, bodies: Option<&Bodies>) -> Vec<Row> {
        let mut rows = vec![[0.0; FEATURES]; self.rows];
        if let Some(bodies) = bodies {
            BodyRows::fill_untrained(&mut rows, bodies.classes());
        }
        for field in &self.fields {
            match field.coding {
                FieldCoding::Numbers { rows: numbers, .. } => numbers.fill_untrained(&mut rows),
                FieldCoding::Rotation { rows: rotation, .. } => rotation.fill_untrained(&mut rows),
                FieldCoding::Choice { .. } => {}
            }
        }
        rows
    }

    /// Returns lists of rows that have the same task in fields that share a group.
    #[cfg(feature = "training")]
    pub(super) fn alike_rows(&self) -> Vec<Vec<usize>> {
        let mut groups: BTreeMap<usize, Vec<Range<usize>>> = BTreeMap::new();
        for parts in self.fields.iter().map(|field| field.coding.numbers()) {
            if !parts.rows.is_empty() {
                groups.entry(parts.groups.start).or_default().push(parts.rows);
            }
        }
        groups.retain(|_, fields| fields.len() > 1);
        let tasks = |fields: Vec<Range<usize>>| {
            (0..fields[0].len())
                .map(move |task| fields.iter().map(|rows| rows.start + task).collect())
        };
        groups.into_values().flat_map(tasks).collect()
    }

    /// Returns the position of newcomers' counters among all counters.
    pub(super) fn newcomers_at(&self, range: Range<usize>) -> Range<usize> {
        self.layout.newcomers + range.start..self.layout.newcomers + range.end
    }

    /// Makes untrained counters.
    pub(super) fn counters(&self) -> Vec<Counter> {
        let mut counters = vec![EVEN; self.layout.len];
        counters[self.layout.newcomers..].fill(START);
        counters
    }
}
