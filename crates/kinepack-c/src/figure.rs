//! Figures: live bodies as kinds of entities, with an error in centimetres that is promised.

use std::sync::Mutex;

use kinepack::schema::Field;
use kinepack::{Between, EntityId, Schema, Snapshot, Tick};
use kinepack_anim::figure::{ClipPlay, Figure, FigureError, FigurePose};
use kinepack_anim::{PoseAndCurves, PoseWriter, Transform};

use crate::KpStatus;
use crate::columns::World;
use crate::figure_clips::{KpClipPlay, take_plays};
use crate::figure_options::{KpFigureOptions, options_of};
use crate::handles::{Handles, lock};
use crate::memory::{check_out, optional, put, slice, slice_mut};
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
    bind: Vec<Transform>,
    pose: Vec<Transform>,
    absent: Vec<usize>,
    clips: Vec<Option<ClipPlay>>,
    /// The two states between which an entity is shown, as snapshots of the figure's fields alone.
    pub(crate) states: [Snapshot; 2],
    /// The figure's first lane in each kind that was read, by the hash of the kind's fields.
    places: Vec<(u64, usize)>,
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
            places: Vec::new(),
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
        };
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, described) }
    })
}

/// Writes the largest error, in cm, that a joint can have in poses that move only as the options
/// say. It is at most the joint's precision. In other poses the error may reach the precision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_figure_max_error_cm(
    figure: KpFigure,
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
        // SAFETY: the caller guarantees that `error_cm` is writable until this call returns.
        unsafe { put(error_cm, figure.max_error_cm(joint as usize)) }
    })
}

/// Quantizes a pose relative to the parents, and appends it to a snapshot, as an entity of a kind
/// that has the fields of this figure alone. `id` must be above the ids before. Where the layout
/// has no numbers for a joint, the joint has its bind pose. `curves` has a value for each curve.
/// `absent` lists the parts that are absent, whose joints and curves are ignored.
///
/// Returns `KP_STATUS_VALUE` for a number that is not finite or beyond its limits, and for a joint
/// that moves in a way that the figure does not send. After an error, the snapshot is unchanged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_figure_push(
    figure: KpFigure,
    snapshot: KpSnapshot,
    kind: u32,
    id: u32,
    pose: *const KpPose,
    curves: *const f32,
    curve_count: usize,
    absent: *const u32,
    absent_count: usize,
) -> KpStatus {
    let (plays, play_count) = (std::ptr::null(), 0);
    // SAFETY: the caller gives the same guarantees as that function needs. No clip is read.
    unsafe {
        kp_figure_push_playing(
            figure,
            snapshot,
            kind,
            id,
            pose,
            curves,
            curve_count,
            absent,
            absent_count,
            plays,
            play_count,
        )
    }
}

/// Quantizes a pose and appends it to a snapshot, like `kp_figure_push`, for a body that plays
/// clips. `plays` has at most one clip for each slot. Clips of a figure without slots, two clips in
/// a slot and unknown clips are `KP_STATUS_ARGUMENT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_figure_push_playing(
    figure: KpFigure,
    snapshot: KpSnapshot,
    kind: u32,
    id: u32,
    pose: *const KpPose,
    curves: *const f32,
    curve_count: usize,
    absent: *const u32,
    absent_count: usize,
    plays: *const KpClipPlay,
    play_count: usize,
) -> KpStatus {
    call(|| {
        let (body, world) = (FIGURES.get(figure.id)?, SNAPSHOTS.get(snapshot.id)?);
        let (mut body, mut world) = (lock(&body), lock(&world));
        body.check_alone(&world, kind)?;
        if curve_count != body.figure.curve_count() {
            return Err(body.wrong_curves(curve_count));
        }
        // SAFETY: the caller guarantees that `pose` and the memory that it describes are readable,
        // `curves` has `curve_count`, `absent` has `absent_count` and `plays` has `play_count`
        // readable values, until this call returns.
        let curves = unsafe {
            let from = Writer::new(&pose_of(pose)?, body.bind.len())?;
            body.take_pose(&from);
            body.take_absent(slice(absent, absent_count)?)?;
            let slots = body.figure.clip_slot_count();
            take_plays(slice(plays, play_count)?, slots, &mut body.clips)?;
            slice(curves, curve_count)?
        };
        let Body { figure, pose: joints, absent, clips, .. } = &mut *body;
        let pose = FigurePose { curves, absent, clips, ..FigurePose::new(joints) };
        figure
            .push(&mut world.snapshot, kind as usize, EntityId(id), &pose)
            .map_err(|error| refused(&error))
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
    /// Refuses a kind to which no pose can be added.
    fn check_alone(&mut self, world: &World, kind: u32) -> Result<(), Failure> {
        let of_kind = one_of(world.kinds(), kind)?;
        if of_kind.hash() == self.states[0].schema_hash() {
            return Ok(());
        }
        let Self { figure, places, .. } = self;
        place(figure, places, of_kind, kind)?;
        let text = "has other fields besides this figure's, so the figure can only be read";
        Err(Failure::argument(format!("kind {kind} {text}")))
    }

    /// The index of an entity in a snapshot, from which the figure reads next.
    pub(crate) fn find(&mut self, world: &World, kind: u32, id: u32) -> Result<usize, Failure> {
        let Self { figure, places, .. } = self;
        let first = place(figure, places, one_of(world.kinds(), kind)?, kind)?;
        figure.set_first_lane(first);
        let found = world.snapshot.position_of(kind as usize, EntityId(id));
        found.ok_or_else(no_entity)
    }

    /// Copies the two states between which an entity is shown, from which the figure reads next.
    /// Returns how far the shown moment is between them.
    pub(crate) fn copy(&mut self, shown: KpShown, kind: u32, id: u32) -> Result<Between, Failure> {
        let Self { figure, states, places, .. } = self;
        figure.set_first_lane(0);
        copy_entity(shown, kind, id, states, |of_kind| {
            let first = place(figure, places, of_kind, kind)?;
            Ok(first..first + figure.lane_count())
        })
    }

    fn part(&self, part: u32) -> Result<usize, Failure> {
        let parts = self.figure.part_count();
        if (part as usize) < parts {
            return Ok(part as usize);
        }
        Err(Failure::argument(format!("no part {part}; the figure has {parts}")))
    }

    fn wrong_curves(&self, given: usize) -> Failure {
        Failure::argument(format!("{given} curves of {}", self.figure.curve_count()))
    }

    /// Reads a pose from the caller's memory.
    fn take_pose(&mut self, from: &Writer<'_>) {
        self.pose.copy_from_slice(&self.bind);
        from.read_over(&mut self.pose);
    }

    fn take_absent(&mut self, absent: &[u32]) -> Result<(), Failure> {
        self.absent.clear();
        for part in absent {
            let part = self.part(*part)?;
            self.absent.push(part);
        }
        Ok(())
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

/// The first lane of a figure in a kind. `of_kind` is the schema of this kind only, and `places` has
/// the kinds that were found before.
fn place(
    figure: &Figure,
    places: &mut Vec<(u64, usize)>,
    of_kind: &Schema,
    kind: u32,
) -> Result<usize, Failure> {
    let hash = of_kind.hash();
    if let Some((_, first)) = places.iter().find(|(known, _)| *known == hash) {
        return Ok(*first);
    }
    let first = figure.find(of_kind, 0).ok_or_else(|| {
        Failure::argument(format!("kind {kind} does not have the fields of this figure"))
    })?;
    places.push((hash, first));
    Ok(first)
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
        FigureError::Snapshot(_) | FigureError::NoClip { .. } => KpStatus::Argument,
        _ => KpStatus::Value,
    };
    Failure::new(status, error)
}
