//! Figures: live bodies as kinds of entities, with an error in centimetres that is promised.

use std::ffi::c_char;
use std::sync::Mutex;

use kinepack::schema::Field;
use kinepack::{Between, EntityId, Schema, Snapshot, Tick};
use kinepack_anim::figure::{ClipPlay, Figure, FigureError};
use kinepack_anim::{PoseAndCurves, PoseWriter, Transform};

use crate::KpStatus;
use crate::columns::World;
use crate::figure_options::{KpFigureOptions, options_of};
use crate::figure_places::Places;
use crate::handles::{Handles, lock};
use crate::memory::{check_out, give_text, optional, put, slice_mut};
use crate::pose::{KpPose, TakePose, Writer, pose_of};
use crate::schema::one_of;
use crate::shown::{KpShown, copy_entity, no_entity};
use crate::skeleton::{KpSkeleton, SKELETONS};
use crate::snapshot::{KpSnapshot, SNAPSHOTS};
use crate::status::{Failure, call};

/// The body of one kind of entity. A figure turns poses into the fields of a schema, and back. It
/// chooses the steps of the fields, so that no pose is farther off than the precision.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpFigure {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static FIGURES: Handles<Mutex<Body>> = Handles::new(29, "a figure");

/// A figure, with memory for its calls.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) figure: Figure,
    /// The bind pose. A pose that is pushed has it where the caller's layout has no numbers.
    pub(crate) bind: Vec<Transform>,
    /// What a call reads of the pose that is pushed.
    pub(crate) pose: Vec<Transform>,
    pub(crate) absent: Vec<usize>,
    pub(crate) clips: Vec<Option<ClipPlay>>,
    /// The two states between which an entity is shown, as snapshots of the figure's fields alone.
    pub(crate) states: [Snapshot; 2],
    /// The figure's lanes in each kind that was read or pushed.
    pub(crate) places: Places,
}

/// The numbers of a figure.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpFigureInfo {
    /// The number of joints of the skeleton.
    pub joints: u32,
    /// The number of curves.
    pub curves: u32,
    /// The number of parts that may be absent.
    pub parts: u32,
    /// The number of integers that an entity of this kind has in a snapshot.
    pub lanes: u32,
    /// The number of clips that a body can play.
    pub clips: u32,
    /// The number of clips that can play at once.
    pub clip_slots: u32,
    /// The number of tiers, with tier 0.
    pub tiers: u32,
}

/// Creates a figure of a skeleton. Both sides need the same skeleton and options; the schema's hash
/// covers both. `options` may be null. A precision that is finer than the numbers of a pose is
/// refused. The caller frees `*out` with `kp_figure_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_figure_new(
    skeleton: KpSkeleton,
    options: *const KpFigureOptions,
    out: *mut KpFigure,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        let skeleton = SKELETONS.get(skeleton.id)?;
        // SAFETY: the caller guarantees that `options` is null, or readable with the lists and
        // texts that it points to, until this call returns.
        let options = unsafe { optional(options)?.map(|options| options_of(options)) };
        let figure = Figure::new(&skeleton, &options.transpose()?.unwrap_or_default());
        let figure = figure.map_err(Failure::argument)?;
        let kind = Schema::try_new(figure.fields()).map_err(Failure::argument)?;
        let body = Body {
            figure,
            bind: skeleton.bind_pose(),
            pose: skeleton.bind_pose(),
            absent: Vec::new(),
            clips: Vec::new(),
            states: [0, 1].map(|tick| Snapshot::new(&kind, Tick(tick))),
            places: Places::default(),
        };
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpFigure { id: FIGURES.add(Mutex::new(body)) }) }
    })
}

/// Writes the numbers of a figure to `*out`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_figure_info(figure: KpFigure, out: *mut KpFigureInfo) -> KpStatus {
    call(|| {
        let body = FIGURES.get(figure.id)?;
        let Body { figure, .. } = &*lock(&body);
        let described = KpFigureInfo {
            joints: figure.joint_count() as u32,
            curves: figure.curve_count() as u32,
            parts: figure.part_count() as u32,
            lanes: figure.lane_count() as u32,
            clips: figure.clip_count() as u32,
            clip_slots: figure.clip_slot_count() as u32,
            tiers: figure.tier_count() as u32,
        };
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, described) }
    })
}

/// Writes the largest error, in cm, that a joint can have in poses of a tier that move only as the
/// options say. It is at most the joint's precision in this tier. In other poses the error may
/// reach the precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_figure_max_error_cm(
    figure: KpFigure,
    tier: u32,
    joint: u32,
    error_cm: *mut f64,
) -> KpStatus {
    call(|| {
        let body = FIGURES.get(figure.id)?;
        let Body { figure, bind, .. } = &*lock(&body);
        if joint as usize >= bind.len() {
            let text = format!("no joint {joint}; the figure has {}", bind.len());
            return Err(Failure::argument(text));
        }
        let tier = tier as usize;
        if tier >= figure.tier_count() {
            return Err(Failure::argument(FigureError::NoTier { tier }));
        }
        // SAFETY: the caller guarantees that `error_cm` is writable until this call returns.
        unsafe { put(error_cm, figure.max_error_cm_in(tier, joint as usize)) }
    })
}

/// Writes the name of the field that holds the position of the first joint that moves, with a
/// terminating zero: `*size` bytes including the zero, if they fit into `capacity`. Returns
/// `KP_STATUS_NOTHING` if no joint moves.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_figure_position_field(
    figure: KpFigure,
    name: *mut c_char,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        let field = lock(&*FIGURES.get(figure.id)?).figure.position_field();
        let field = field.ok_or_else(|| Failure::nothing("no joint of the figure moves"))?;
        // SAFETY: the caller guarantees that `name` has `capacity` writable bytes and `size` is
        // writable, until this call returns.
        unsafe { give_text(&field, name, capacity, size) }
    })
}

/// Writes the pose of an entity in a snapshot, relative to the parents. The kind may have other
/// fields besides those of this figure, as kinds of Bevy's figures have. The joints and curves of
/// absent parts are not written. `curves` is for the values of all curves; with a `curve_count` of
/// 0, only joints are written. Returns `KP_STATUS_NOTHING` if the kind has no entity `id`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_figure_read(
    figure: KpFigure,
    snapshot: KpSnapshot,
    kind: u32,
    id: u32,
    pose: *const KpPose,
    curves: *mut f32,
    curve_count: usize,
) -> KpStatus {
    call(|| {
        let (body, world) = (FIGURES.get(figure.id)?, SNAPSHOTS.get(snapshot.id)?);
        let (mut body, world) = (lock(&body), lock(&world));
        // SAFETY: the caller guarantees that `pose` and the memory that it describes are valid, and
        // `curves` has `curve_count` writable values, until this call returns.
        let (writer, curves) = unsafe { body.outputs(pose, curves, curve_count)? };
        let state = (&world.snapshot, body.find(&world, kind, id)?);
        let between = Between { ratio: 0.0, seconds: 0.0 };
        let figure = &mut body.figure;
        writer.take(&mut Played { figure, from: state, to: state, between, curves });
        Ok(())
    })
}

/// Writes the pose of an entity that a receiver, a viewer or a replay shows, like `kp_figure_read`.
/// It is interpolated between two states: joints turn the shorter way at constant speed. A part
/// that is present in only one of the states is as in the earlier one, until the later is reached.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_figure_show(
    figure: KpFigure,
    shown: KpShown,
    kind: u32,
    id: u32,
    pose: *const KpPose,
    curves: *mut f32,
    curve_count: usize,
) -> KpStatus {
    call(|| {
        let body = FIGURES.get(figure.id)?;
        let mut body = lock(&body);
        // SAFETY: the caller guarantees that `pose` and the memory that it describes are valid, and
        // `curves` has `curve_count` writable values, until this call returns.
        let (writer, curves) = unsafe { body.outputs(pose, curves, curve_count)? };
        let between = body.copy(shown, kind, id)?;
        let Body { figure, states, .. } = &mut *body;
        let [from, to] = states.each_ref().map(|state| (state, 0));
        writer.take(&mut Played { figure, from, to, between, curves });
        Ok(())
    })
}

/// Writes whether a part of an entity in a snapshot is present: not 0 if it is. Returns
/// `KP_STATUS_NOTHING` if the kind has no entity `id`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_figure_is_present(
    figure: KpFigure,
    snapshot: KpSnapshot,
    kind: u32,
    id: u32,
    part: u32,
    is_present: *mut i32,
) -> KpStatus {
    call(|| {
        let (body, world) = (FIGURES.get(figure.id)?, SNAPSHOTS.get(snapshot.id)?);
        let (mut body, world) = (lock(&body), lock(&world));
        let part = body.part(part)?;
        let state = (&world.snapshot, body.find(&world, kind, id)?);
        let value = body.figure.is_present(state, part).into();
        // SAFETY: the caller guarantees that `is_present` is writable until this call returns.
        unsafe { put(is_present, value) }
    })
}

/// Writes whether `kp_figure_show` writes a part of an entity, like `kp_figure_is_present`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_figure_is_shown(
    figure: KpFigure,
    shown: KpShown,
    kind: u32,
    id: u32,
    part: u32,
    is_shown: *mut i32,
) -> KpStatus {
    call(|| {
        let body = FIGURES.get(figure.id)?;
        let mut body = lock(&body);
        let part = body.part(part)?;
        let between = body.copy(shown, kind, id)?;
        let Body { figure, states, .. } = &*body;
        // As `Figure::interpolate` decides.
        let state = between.step(&states[0], &states[1]);
        let value = figure.is_present((state, 0), part);
        // SAFETY: the caller guarantees that `is_shown` is writable until this call returns.
        unsafe { put(is_shown, value.into()) }
    })
}

/// Frees a figure. Schemas with its kind remain valid.
#[unsafe(no_mangle)]
pub extern "C" fn kp_figure_free(figure: KpFigure) -> KpStatus {
    call(|| FIGURES.remove(figure.id))
}

/// The fields of a figure's kind.
pub(crate) fn fields_of(figure: KpFigure) -> Result<Vec<Field>, Failure> {
    Ok(lock(&*FIGURES.get(figure.id)?).figure.fields())
}

impl Body {
    /// The index of an entity in a snapshot, from which the figure reads next.
    pub(crate) fn find(&mut self, world: &World, kind: u32, id: u32) -> Result<usize, Failure> {
        let Self { figure, places, .. } = self;
        let place = places.of(figure, one_of(world.kinds(), kind)?, kind)?;
        figure.set_first_lane(place.own.start);
        let found = world.snapshot.position_of(kind as usize, EntityId(id));
        found.ok_or_else(no_entity)
    }

    /// Copies the two states between which an entity is shown, from which the figure reads next.
    /// Returns how far the shown moment is between them.
    pub(crate) fn copy(&mut self, shown: KpShown, kind: u32, id: u32) -> Result<Between, Failure> {
        let Self { figure, states, places, .. } = self;
        figure.set_first_lane(0);
        copy_entity(shown, kind, id, states, |of_kind| {
            Ok(places.of(figure, of_kind, kind)?.own.clone())
        })
    }

    pub(crate) fn part(&self, part: u32) -> Result<usize, Failure> {
        let parts = self.figure.part_count();
        if (part as usize) < parts {
            return Ok(part as usize);
        }
        Err(Failure::argument(format!("no part {part}; the figure has {parts}")))
    }

    pub(crate) fn wrong_curves(&self, given: usize) -> Failure {
        Failure::argument(format!("{given} curves of {}", self.figure.curve_count()))
    }

    /// The caller's memory for a pose and the values of curves.
    ///
    /// # Safety
    /// `pose` is null, or points to a layout with memory that nothing else uses for `'a`. So does
    /// `curves`, for `count` values.
    unsafe fn outputs<'a>(
        &self,
        pose: *const KpPose,
        curves: *mut f32,
        count: usize,
    ) -> Result<(Writer<'a>, &'a mut [f32]), Failure> {
        if count != 0 && count != self.figure.curve_count() {
            return Err(self.wrong_curves(count));
        }
        // SAFETY: the caller guarantees that `pose` is null or points to a layout with memory, and
        // that `curves` has `count` writable values, which nothing else uses for `'a`.
        unsafe { Ok((Writer::new(&pose_of(pose)?, self.bind.len())?, slice_mut(curves, count)?)) }
    }
}

/// An entity between two states, and the caller's memory for its curves.
struct Played<'a> {
    figure: &'a mut Figure,
    from: (&'a Snapshot, usize),
    to: (&'a Snapshot, usize),
    between: Between,
    curves: &'a mut [f32],
}

impl TakePose for Played<'_> {
    fn write(&mut self, pose: &mut impl PoseWriter) {
        let Self { figure, from, to, between, curves } = self;
        // The list is empty if the caller does not want curves.
        figure.interpolate(*from, *to, *between, &mut PoseAndCurves { pose, curves });
    }
}

pub(crate) fn refused(error: &FigureError) -> Failure {
    let status = match error {
        FigureError::NoClip { .. } | FigureError::NoTier { .. } => KpStatus::Argument,
        _ => KpStatus::Value,
    };
    Failure::new(status, error)
}
