//! Sends figures, which are live bodies, in snapshots. Their error in centimetres is promised.
//!
//! A [`Figure`] turns poses of a skeleton into the lanes of one kind of entity, so that a body that
//! moves live is coded, acknowledged and played back like any other entity. No point near a joint
//! is farther off than the precision. See `spec/FIGURE.md`.
//!
//! The lanes of a joint are relative to its parent *as the receiver has it*, so each joint corrects
//! what its parent lost. In model space, a joint's orientation is off only by the joint's own step.
//! Its position is off by the errors of the rotations above it, times the bones' lengths. The
//! largest error is then a sum over the chain, of bone lengths times steps. The steps are the
//! coarsest that keep each joint's precision. The idea of correcting what ancestors lost is that of
//! joint stakes (Budge, "Reducing cumulative errors in skeletal animation", Game Programming Gems
//! 7).
//!
//! A body may also play clips that both sides have, beside its live joints or instead of them. Then
//! it sends a [`ClipPlay`], which takes no bits while the clip plays on.
//!
//! Read [`FigureOptions`] first, and then [`Figure`]. [`Figure::profile`] makes packets small.

mod clips;
mod error;
mod find;
mod layout;
mod levers;
mod options;
mod parts;
mod plan;
mod play;
pub mod profile;
mod rotation;
mod steps;
mod unsent;

use std::sync::Arc;

use glam::DQuat;
use kinepack::schema::Field;
use kinepack::{Between, EntityId, Profile, Schema, Snapshot};

use crate::measure::Frame;
use crate::{PoseWriter, Skeleton, Transform};

pub use error::FigureError;
pub use options::{FigureClips, FigureCurve, FigureOptions, FigurePart, FigurePose, Motion};
pub use play::{ClipPlay, ShownClip};
pub use unsent::UnsentMotion;

use layout::Layout;

/// The body of one kind of entity. A figure turns poses into lanes, and lanes into poses.
///
/// ```
/// use kinepack::{EntityId, Schema, Snapshot, Tick};
/// use kinepack_anim::figure::{Figure, FigureOptions, FigurePose};
/// use kinepack_anim::{Joint, Skeleton, Transform};
///
/// let joint = |name: &str, parent, x_cm| {
///     let bind = Transform { translation: [x_cm, 0.0, 0.0], ..Transform::IDENTITY };
///     Joint { name: name.into(), parent, bind }
/// };
/// let arm = vec![joint("shoulder", None, 0.0), joint("elbow", Some(0), 30.0)];
/// let skeleton = Skeleton::new(arm)?;
///
/// // No point within 3 cm of a joint is more than half a centimetre off.
/// let options = FigureOptions { precision_cm: 0.5, ..FigureOptions::default() };
/// let mut body = Figure::new(&skeleton, &options)?;
/// let schema = Schema::builder().kind_of_fields("player", body.fields()).build()?;
///
/// let mut pose = skeleton.bind_pose();
/// pose[1].rotation = [0.0, 0.0, 0.6, 0.8];
/// let mut world = Snapshot::new(&schema, Tick(1));
/// body.push(&mut world, 0, EntityId(7), &FigurePose::new(&pose))?;
///
/// let mut shown = skeleton.bind_pose();
/// body.write((&world, 0), &mut shown[..]);
/// assert!((shown[1].rotation[2] - 0.6).abs() < 0.02);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Each direction takes about 0.2 µs per joint. Nothing allocates in steady state. A clone for
/// another thread shares the tables.
#[derive(Clone, Debug)]
pub struct Figure {
    layout: Arc<Layout>,
    /// The lane of an entity at which the figure's lanes begin.
    first_lane: usize,
    /// The pose in model space, before coding in `exact`, and as the receiver has it in `decoded`.
    exact: Vec<Frame>,
    decoded: Vec<Frame>,
    /// The lanes of the two states between which [`interpolate`](Self::interpolate) plays.
    from: Vec<u32>,
    to: Vec<u32>,
}

impl Figure {
    /// Makes a figure of `skeleton`. Both sides need the same skeleton and the same options. The
    /// schema's hash covers both.
    ///
    /// # Errors
    /// Returns [`FigureError`] if the options do not fit the skeleton, or a precision is finer than
    /// the numbers of a pose.
    pub fn new(skeleton: &Skeleton, options: &FigureOptions) -> Result<Self, FigureError> {
        let layout = Layout::new(skeleton, options)?;
        Ok(Self {
            exact: vec![Frame::IDENTITY; skeleton.len()],
            decoded: vec![Frame::IDENTITY; skeleton.len()],
            from: Vec::with_capacity(layout.lanes),
            to: Vec::with_capacity(layout.lanes),
            first_lane: 0,
            layout: Arc::new(layout),
        })
    }

    /// Returns the fields of the kind, for
    /// [`SchemaBuilder::kind_of_fields`](kinepack::schema::SchemaBuilder::kind_of_fields).
    pub fn fields(&self) -> Vec<Field> {
        self.layout.fields()
    }

    /// Returns the built-in profile for a schema that has figures. It was trained on the motion of
    /// people and suits any skeleton, precision and rate. Packets at
    /// [`Level::ADAPTIVE`](kinepack::Level::ADAPTIVE) are about a quarter smaller than untrained,
    /// and those at [`Level::LEARNING`](kinepack::Level::LEARNING) are smaller in the first
    /// seconds. Other kinds of the schema, and the levels that pack bits, are untrained.
    ///
    /// Both sides need the same profile, and the codec's hash covers it. A later version of this
    /// library may have a better one, so programs of different versions refuse each other. It takes
    /// about a millisecond.
    ///
    /// ```
    /// use kinepack::{Codec, Level, Schema};
    /// use kinepack_anim::figure::{Figure, FigureOptions};
    /// use kinepack_anim::{Joint, Skeleton, Transform};
    ///
    /// let root = Joint { name: "hips".into(), parent: None, bind: Transform::IDENTITY };
    /// let body = Figure::new(&Skeleton::new(vec![root])?, &FigureOptions::default())?;
    /// let schema = Schema::builder().kind_of_fields("player", body.fields()).build()?;
    /// let profile = Figure::profile(&schema);
    /// let codec = Codec::new(schema, Level::ADAPTIVE, profile)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn profile(schema: &Schema) -> Profile {
        profile::built_in(schema)
    }

    /// Returns the number of lanes.
    pub fn lane_count(&self) -> usize {
        self.layout.lanes
    }

    /// Returns the number of joints, which is that of the skeleton.
    pub fn joint_count(&self) -> usize {
        self.layout.plan(0).joints.len()
    }

    /// Returns the number of curves.
    pub fn curve_count(&self) -> usize {
        self.layout.plan(0).curves.len()
    }

    /// Returns the number of parts that may be absent.
    pub fn part_count(&self) -> usize {
        self.layout.plan(0).parts()
    }

    /// Returns the number of tiers: 1 and those of [`FigureOptions::coarser`].
    pub fn tier_count(&self) -> usize {
        self.layout.tiers()
    }

    /// The largest error, in cm, that a joint can have in poses that move only as the options say:
    /// at most the joint's precision. In other poses the error may reach the precision. The error
    /// is that of tier 0.
    ///
    /// # Panics
    /// Panics if the skeleton has no such joint.
    pub fn max_error_cm(&self, joint: usize) -> f64 {
        self.max_error_cm_in(0, joint)
    }

    /// Like [`max_error_cm`](Self::max_error_cm), for poses that are sent in a tier.
    ///
    /// # Panics
    /// Panics if the figure has no such tier, or the skeleton has no such joint.
    pub fn max_error_cm_in(&self, tier: usize, joint: usize) -> f64 {
        self.layout.plan(tier).joints[joint].max_error_cm
    }

    /// Returns the name of the field that holds the position of the first joint that moves, in tier
    /// 0. After the kind's name and a dot, it is a position for a hub's rings. `None` if no joint
    /// moves.
    pub fn position_field(&self) -> Option<String> {
        let is_position = |field: &Field| field.name.ends_with("].translation");
        self.fields().into_iter().find(is_position).map(|field| field.name)
    }

    /// Quantizes a pose into [`lane_count`](Self::lane_count) lanes.
    ///
    /// # Errors
    /// Returns [`FigureError::NoPart`], [`FigureError::NoTier`], [`FigureError::NoSlot`] or
    /// [`FigureError::NoClip`] if the pose names one that the figure does not have. Returns
    /// [`FigureError::NotANumber`] for a number that is not finite, and [`FigureError::OutOfRange`]
    /// or [`FigureError::BadCurve`] for a number beyond its limits. Returns
    /// [`FigureError::Unsent`] if a joint moves in a way that the figure does not send, for example
    /// if a bone changes its length. After an error, do not use the lanes.
    ///
    /// # Panics
    /// Panics if the joints, the curves or `lanes` are not as many as the figure's.
    pub fn quantize(
        &mut self,
        pose: &FigurePose<'_>,
        lanes: &mut [u32],
    ) -> Result<(), FigureError> {
        self.check_lengths(pose);
        assert!(lanes.len() == self.layout.lanes, "lanes of another figure");
        self.layout.clips.quantize(pose.clips, lanes)?;
        let chosen = self.layout.choose(pose.tier, lanes);
        let (plan, lanes) = chosen.ok_or(FigureError::NoTier { tier: pose.tier })?;
        let (flags, _) = lanes.split_at_mut(plan.parts());
        flags.fill(1);
        for part in pose.absent {
            *flags.get_mut(*part).ok_or(FigureError::NoPart { part: *part })? = 0;
        }
        if !pose.absent.is_empty() {
            // The lanes of absent fields are 0.
            lanes[plan.parts()..].fill(0);
        }
        for (index, (joint, transform)) in plan.joints.iter().zip(pose.joints).enumerate() {
            if !is_present(joint.part, lanes) {
                continue;
            }
            if !transform.is_valid() {
                return Err(FigureError::NotANumber { joint: index });
            }
            let exact = child(&self.exact, joint.parent, transform);
            // The transform is relative to the parent as the receiver has it, which corrects what
            // the parent lost.
            let above =
                joint.parent.map_or(DQuat::IDENTITY, |parent| self.decoded[parent].rotation);
            let wanted = above.conjugate() * exact.rotation;
            joint
                .quantize(transform.translation, wanted, lanes)
                .map_err(|value_cm| FigureError::OutOfRange { joint: index, value_cm })?;
            let decoded = child(&self.decoded, joint.parent, &joint.transform(lanes));
            let off_cm = largest_distance_cm(&exact, &decoded, plan.shell_cm);
            // Not "greater than", so that a distance that is not a number is refused too.
            let keeps_precision = off_cm <= joint.precision_cm;
            if !keeps_precision {
                return Err(unsent::error(plan, pose, (index, &exact), &self.exact, off_cm));
            }
            self.exact[index] = exact;
            self.decoded[index] = decoded;
        }
        for (index, (curve, value)) in plan.curves.iter().zip(pose.curves).enumerate() {
            if is_present(curve.part, lanes) {
                let quantized = curve.limits.quantize(f64::from(*value));
                lanes[curve.lane] =
                    quantized.map_err(|_| FigureError::BadCurve { curve: index, value: *value })?;
            }
        }
        Ok(())
    }

    /// Quantizes a pose and appends it to a snapshot, as an entity of a kind that has this figure's
    /// fields alone. For other kinds, [`quantize`](Self::quantize) into a part of their lanes.
    ///
    /// # Errors
    /// Returns the errors of [`quantize`](Self::quantize), and [`FigureError::Snapshot`] if the
    /// snapshot refuses the entity. After an error, the snapshot is unchanged.
    ///
    /// # Panics
    /// Panics if the joints or the curves are not as many as the figure's.
    pub fn push(
        &mut self,
        world: &mut Snapshot,
        kind: usize,
        id: EntityId,
        pose: &FigurePose<'_>,
    ) -> Result<(), FigureError> {
        self.check_lengths(pose);
        let mut lanes = std::mem::take(&mut self.from);
        lanes.resize(self.layout.lanes, 0);
        let quantized = self.quantize(pose, &mut lanes);
        let pushed = quantized
            .and_then(|()| world.push_lanes_of(kind, id, &lanes).map_err(FigureError::Snapshot));
        self.from = lanes;
        pushed
    }

    fn check_lengths(&self, pose: &FigurePose<'_>) {
        assert!(pose.joints.len() == self.joint_count(), "a pose of another skeleton");
        assert!(pose.curves.len() == self.curve_count(), "curves of another figure");
    }

    /// Returns whether an entity, given by its index in the snapshot, has a part.
    ///
    /// # Panics
    /// Panics if the figure has no such part, or the snapshot has no such entity.
    pub fn is_present(&self, state: (&Snapshot, usize), part: usize) -> bool {
        assert!(part < self.part_count(), "a part of another figure");
        let (_, first) = self.layout.of(state, self.first_lane);
        let mut flag = [0];
        read(state, first + part, &mut flag);
        flag == [1]
    }

    /// Writes the pose of an entity, given by its index in the snapshot. Joints that the figure
    /// does not send get their bind pose. The values of curves go to [`PoseWriter::curve`], and
    /// [`PoseAndCurves`](crate::PoseAndCurves) stores them. Nothing is written for absent parts, so
    /// that the caller's own pose of them stays.
    ///
    /// # Panics
    /// Panics if the snapshot has no such entity, or the entity has too few lanes.
    pub fn write(&mut self, state: (&Snapshot, usize), pose: &mut (impl PoseWriter + ?Sized)) {
        let Self { layout, first_lane, from: lanes, .. } = self;
        let plan = layout.read(state, *first_lane, lanes);
        for (index, joint) in plan.joints.iter().enumerate() {
            if is_present(joint.part, lanes) {
                set(pose, index, &joint.transform(lanes));
            }
        }
        for (index, curve) in plan.curves.iter().enumerate() {
            if is_present(curve.part, lanes) {
                pose.curve(index, curve.limits.reconstruct(lanes[curve.lane]) as f32);
            }
        }
    }

    /// Writes the pose between two states of an entity, as the samples of a receiver's playback
    /// have them. Joints turn the shorter way at constant speed. A part that is present in only one
    /// of the states is as in `from` before the ratio is 1, and then as in `to`.
    ///
    /// # Panics
    /// Panics as [`write`](Self::write) does.
    pub fn interpolate(
        &mut self,
        from: (&Snapshot, usize),
        to: (&Snapshot, usize),
        at: Between,
        pose: &mut (impl PoseWriter + ?Sized),
    ) {
        // At the ends there is only one state to compute.
        if at.ratio.is_nan() || at.ratio <= 0.0 {
            return self.write(from, pose);
        }
        if at.ratio >= 1.0 {
            return self.write(to, pose);
        }
        let Self { layout, first_lane, from: from_lanes, to: to_lanes, .. } = self;
        let from = layout.read(from, *first_lane, from_lanes);
        let to = layout.read(to, *first_lane, to_lanes);
        // The two states may be of different tiers, whose lanes have different steps. If a part is
        // absent in `to`, its lanes there are 0, which is no pose.
        let joints = from.joints.iter().zip(&to.joints);
        for (index, (joint, later)) in joints.enumerate() {
            if is_present(joint.part, from_lanes) {
                let start = joint.transform(from_lanes);
                let is_there = is_present(joint.part, to_lanes);
                let end = if is_there { later.transform(to_lanes) } else { start };
                set(pose, index, &between(&start, &end, at));
            }
        }
        for (index, (curve, later)) in from.curves.iter().zip(&to.curves).enumerate() {
            if is_present(curve.part, from_lanes) {
                let start = curve.limits.reconstruct(from_lanes[curve.lane]);
                let is_there = is_present(curve.part, to_lanes);
                let end =
                    if is_there { later.limits.reconstruct(to_lanes[later.lane]) } else { start };
                pose.curve(index, at.linear(start, end) as f32);
            }
        }
    }
}

/// Returns whether these lanes have a part. What belongs to no part is always present.
fn is_present(part: Option<usize>, lanes: &[u32]) -> bool {
    part.is_none_or(|part| lanes[part] == 1)
}

/// Copies the figure's lanes of an entity. The entity's first one of them is `first`.
fn read((snapshot, index): (&Snapshot, usize), first: usize, lanes: &mut [u32]) {
    let own = snapshot.lanes_at(index);
    assert!(own.len() >= first + lanes.len(), "an entity of another kind");
    lanes.iter_mut().zip(own.skip(first)).for_each(|(lane, own)| *lane = own);
}

fn set(pose: &mut (impl PoseWriter + ?Sized), joint: usize, transform: &Transform) {
    pose.rotation(joint, transform.rotation);
    pose.translation(joint, transform.translation);
    pose.scale(joint, transform.scale);
}

fn child(frames: &[Frame], parent: Option<usize>, transform: &Transform) -> Frame {
    let local = Frame::from(transform);
    parent.map_or(local, |parent| frames[parent].child(&local))
}

/// Returns an upper bound, in cm, of the distance between any point around a joint and the same
/// point as the receiver has it.
fn largest_distance_cm(exact: &Frame, decoded: &Frame, shell_cm: f64) -> f64 {
    let turned = exact.rotation.conjugate() * decoded.rotation;
    // The chord is the distance by which the turn moves a point at distance 1. It is twice the sine
    // of half the angle.
    let chord = 2.0 * turned.xyz().length();
    let stretched = (exact.scale - decoded.scale).abs().max_element();
    (exact.translation - decoded.translation).length()
        + shell_cm * (chord * exact.scale.abs().max_element() + stretched)
}

/// Returns the transform at a ratio between 0 and 1.
fn between(from: &Transform, to: &Transform, at: Between) -> Transform {
    if from == to {
        return *from;
    }
    let [start, end] = [from, to].map(|transform| Frame::from(transform).rotation);
    let turn = rotation::vector(start.conjugate() * end);
    let turned = start * rotation::rotation(turn * f64::from(at.ratio));
    Transform {
        rotation: turned.to_array().map(|component| component as f32),
        translation: std::array::from_fn(|axis| {
            at.linear(f64::from(from.translation[axis]), f64::from(to.translation[axis])) as f32
        }),
        scale: from.scale,
    }
}
