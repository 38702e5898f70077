//! The plan of a packet: everything that coding needs from the schema and the bodies, looked up
//! once.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use super::bodies::Bodies;
use super::counters::{EVEN, Layout, START, body_group};
use super::fixed::{FEATURES, Row};
use super::newcomers::NewcomerPlan;
use super::rows::{BodyRows, NumberRows, RotationRows};
use crate::entropy::Counter;
use crate::quantize::{FloatLimits, SmallestThree};
use crate::schema::{Conditions, Field, FieldKind, Lane, LaneRules};
use crate::{Schema, SetupError};

/// The plan for a schema. The fields are in the order in which they are coded.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) body: Option<BodyPlan>,
    pub(super) fields: Vec<FieldPlan>,
    pub(super) newcomers: NewcomerPlan,
    /// Number of groups of residuals, each with its own counters.
    pub(super) groups: usize,
    /// Number of rows of weights in a set, one per predictor.
    pub(super) rows: usize,
    /// Where the counters of each part begin.
    pub(super) layout: Layout,
    /// The schema's fields in its order, and the maxima of their lanes.
    pub(super) rules: Arc<LaneRules>,
}

/// The lanes of a rigid body.
#[derive(Clone, Debug)]
pub(super) struct BodyPlan {
    /// The position's lanes in the order level, level, up.
    pub(super) position: [usize; 3],
    /// The schema's axes in that order.
    pub(super) axes: [usize; 3],
    /// For each of these axes, its step in steps of the position's first axis.
    pub(super) ratios: [f64; 3],
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

/// How a rotation's codes become a quaternion in the order level, level, up, w.
#[derive(Clone, Copy, Debug)]
pub(super) struct RotationCodes {
    /// The index of each component in the schema's quaternion.
    pub(super) component: [usize; 4],
    pub(super) max_code: f64,
}

/// A field outside the body.
#[derive(Clone, Debug)]
pub(super) struct FieldPlan {
    /// The field's index in the schema.
    pub(super) index: usize,
    pub(super) first_lane: usize,
    pub(super) lanes: Vec<Lane>,
    /// When the field is present.
    pub(super) conditions: Conditions,
    pub(super) coding: FieldCoding,
}

impl FieldPlan {
    /// The indices of the field's lanes in the schema.
    pub(super) fn lanes(&self) -> core::ops::Range<usize> {
        self.first_lane..self.first_lane + self.lanes.len()
    }
}

#[derive(Clone, Debug)]
pub(super) enum FieldCoding {
    /// Numbers, predicted lane by lane, with the group of their residuals and their rows.
    Numbers { group: usize, rows: NumberRows },
    /// A rotation outside the body.
    Rotation { group: usize, rows: RotationRows, quantizer: RotationCodes },
    /// A flag or choice. `tree` is the first counter of its upper `bits` bits, among the counters
    /// of all choices.
    Choice { tree: usize, bits: u32 },
}

impl RotationCodes {
    fn new(rotation: SmallestThree, axes: [usize; 3]) -> Self {
        Self { component: [axes[0], axes[1], axes[2], 3], max_code: f64::from(rotation.max_code()) }
    }
}

/// The schema's axes in the order level, level, up. They are permuted cyclically, so that rotations
/// stay rotations.
fn axes(up: u8) -> [usize; 3] {
    [0, 1, 2].map(|axis| (axis + usize::from(up) + 1) % 3)
}

impl BodyPlan {
    /// `None` if a field is missing or not of the required kind.
    fn new(fields: &[Field], bodies: &Bodies) -> Option<Self> {
        let axes = axes(bodies.up);
        let position = fields.get(bodies.position)?;
        let rotation = fields.get(bodies.rotation)?;
        let (FieldKind::Floats(limits), FieldKind::Rotation(quantizer)) =
            (&position.kind, &rotation.kind)
        else {
            return None;
        };
        let is_optional = position.condition.is_some() || rotation.condition.is_some();
        if limits.len() != 3 || limits.iter().any(FloatLimits::wraps) || is_optional {
            return None;
        }
        let flag = |index: Option<usize>| match index {
            Some(index) => fields
                .get(index)
                .filter(|field| field.kind == FieldKind::Bool && field.condition.is_none())
                .map(|field| Some(field.lanes().start)),
            None => Some(None),
        };
        Some(Self {
            axes,
            position: axes.map(|axis| position.lanes().start + axis),
            ratios: axes.map(|axis| limits[axis].step() / limits[0].step()),
            max: axes.map(|axis| limits[axis].max_code()),
            rotation: rotation.lanes().start,
            quantizer: RotationCodes::new(*quantizer, axes),
            touched: flag(bodies.touched)?,
            mover: flag(bodies.mover)?,
        })
    }
}

impl Plan {
    /// # Errors
    /// [`SetupError::BadModel`] if the bodies' parameters are malformed, or their fields are not a
    /// position, a rotation, and flags.
    pub(super) fn new(schema: &Schema, bodies: Option<&Bodies>) -> Result<Self, SetupError> {
        let fields = schema.fields();
        let mut plan = Self {
            body: None,
            fields: Vec::new(),
            newcomers: NewcomerPlan::new(schema),
            groups: 0,
            rows: 0,
            layout: Layout::default(),
            rules: Arc::clone(schema.rules()),
        };
        if let Some(bodies) = bodies {
            bodies.validate()?;
            plan.body = Some(BodyPlan::new(fields, bodies).ok_or(SetupError::BadModel)?);
            plan.groups = body_group::COUNT;
            plan.rows = bodies.classes() * BodyRows::COUNT;
        }
        let mut choices = 0;
        for (index, field) in fields.iter().enumerate() {
            if bodies.is_some_and(|bodies| index == bodies.position || index == bodies.rotation) {
                continue;
            }
            let lanes = schema.lanes()[field.lanes()].to_vec();
            let group = plan.groups;
            let coding = match &field.kind {
                FieldKind::Rotation(rotation) => {
                    let rows = RotationRows::new(plan.rows);
                    plan.rows += RotationRows::COUNT;
                    plan.groups += 1;
                    FieldCoding::Rotation {
                        group,
                        rows,
                        quantizer: RotationCodes::new(*rotation, [0, 1, 2]),
                    }
                }
                FieldKind::Bool | FieldKind::Choice { .. } => {
                    let bits = if lanes[0].max == 1 { 0 } else { lanes[0].bits().min(8) };
                    choices += 1 << bits;
                    FieldCoding::Choice { tree: choices - (1 << bits), bits }
                }
                _ => {
                    let rows = NumberRows::new(plan.rows, lanes.len());
                    plan.rows += rows.count();
                    plan.groups += 1;
                    FieldCoding::Numbers { group, rows }
                }
            };
            plan.fields.push(FieldPlan {
                index,
                first_lane: field.lanes().start,
                lanes,
                conditions: field.conditions().clone(),
                coding,
            });
        }
        plan.layout = Layout::new(plan.fields.len(), choices, plan.groups, plan.newcomers.counters);
        Ok(plan)
    }

    /// The weights of an untrained set. `bodies` must be those that the plan was made for.
    pub(super) fn untrained_rows(&self, bodies: Option<&Bodies>) -> Vec<Row> {
        let mut rows = vec![[0; FEATURES]; self.rows];
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

    /// Untrained counters.
    pub(super) fn counters(&self) -> Vec<Counter> {
        let mut counters = vec![EVEN; self.layout.len];
        counters[self.layout.newcomers..].fill(START);
        counters
    }
}
