//! Bodies that are sent: a body's state in the caller's memory becomes an entity of a snapshot.

use kinepack::EntityId;
use kinepack_anim::figure::FigurePose;

use crate::KpStatus;
use crate::columns::{KpColumn, World};
use crate::figure::{Body, FIGURES, KpFigure, refused};
use crate::figure_clips::{KpClipPlay, take_plays};
use crate::handles::lock;
use crate::memory::{required, slice};
use crate::pose::{KpPose, Writer, pose_of};
use crate::schema::one_of;
use crate::snapshot::{KpSnapshot, SNAPSHOTS};
use crate::status::{Failure, call};

/// The state of a body at one moment, for `kp_figure_push`. Lists that the figure does not have are
/// empty, so set all members to 0 first.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpFigurePose {
    /// The joints, relative to their parents. Where the layout has no numbers for a joint, the
    /// joint has its bind pose.
    pub joints: *const KpPose,
    /// A value for each curve.
    pub curves: *const f32,
    /// The number of `curves`.
    pub curve_count: usize,
    /// The indices of the parts that are absent, whose joints and curves are ignored.
    pub absent: *const u32,
    /// The number of `absent`.
    pub absent_count: usize,
    /// The clips that play, at most one in each slot.
    pub clips: *const KpClipPlay,
    /// The number of `clips`.
    pub clip_count: usize,
    /// For a kind that has other fields too: a column of one record for each of them, in their
    /// order.
    pub others: *const KpColumn,
    /// The number of `others`.
    pub other_count: usize,
    /// The tier in which the pose is sent: 0 for the precision of the options, and from 1 on those
    /// of `coarser`.
    pub tier: u32,
}

/// Quantizes the state of a body, and appends it to a snapshot, as an entity of a kind that has the
/// fields of this figure. `id` must be above the ids before.
///
/// Returns `KP_STATUS_VALUE` for a number that is not finite or beyond its limits, and for a joint
/// that moves in a way that the figure does not send. Parts, clips, slots and tiers that the figure
/// does not have, and two clips in a slot, are `KP_STATUS_ARGUMENT`. After an error, the snapshot
/// is unchanged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_figure_push(
    figure: KpFigure,
    snapshot: KpSnapshot,
    kind: u32,
    id: u32,
    pose: *const KpFigurePose,
) -> KpStatus {
    call(|| {
        let (body, world) = (FIGURES.get(figure.id)?, SNAPSHOTS.get(snapshot.id)?);
        let (mut body, mut world) = (lock(&body), lock(&world));
        // SAFETY: the caller guarantees that `pose` and the lists and layouts that it points to are
        // readable until this call returns.
        unsafe { body.push(&mut world, kind, id, required(pose)?) }
    })
}

impl Body {
    /// Appends a body to a snapshot.
    ///
    /// # Safety
    /// The lists and the layout that `given` points to are readable.
    unsafe fn push(
        &mut self,
        world: &mut World,
        kind: u32,
        id: u32,
        given: &KpFigurePose,
    ) -> Result<(), Failure> {
        let curve_count = given.curve_count;
        if curve_count != self.figure.curve_count() {
            return Err(self.wrong_curves(curve_count));
        }
        // SAFETY: the caller of this function guarantees that the layout and its memory are
        // readable, and that each list has its count of readable values.
        let (curves, others) = unsafe {
            let from = Writer::new(&pose_of(given.joints)?, self.bind.len())?;
            self.pose.copy_from_slice(&self.bind);
            from.read_over(&mut self.pose);
            self.take_absent(slice(given.absent, given.absent_count)?)?;
            let slots = self.figure.clip_slot_count();
            take_plays(slice(given.clips, given.clip_count)?, slots, &mut self.clips)?;
            (slice(given.curves, curve_count)?, slice(given.others, given.other_count)?)
        };
        let Self { figure, pose: joints, absent, clips, places, .. } = self;
        let of_kind = one_of(world.kinds(), kind)?;
        let place = places.of(figure, of_kind, kind)?;
        // SAFETY: the caller of this function guarantees that each column has one readable record.
        unsafe { place.take_others(of_kind, others)? };
        let tier = given.tier as usize;
        let pose = FigurePose { curves, absent, clips, tier, ..FigurePose::new(joints) };
        let own = &mut place.lanes[place.own.clone()];
        figure.quantize(&pose, own).map_err(|error| refused(&error))?;
        let pushed = world.snapshot.push_lanes_of(kind as usize, EntityId(id), &place.lanes);
        pushed.map_err(Failure::argument)
    }

    fn take_absent(&mut self, absent: &[u32]) -> Result<(), Failure> {
        self.absent.clear();
        for part in absent {
            let part = self.part(*part)?;
            self.absent.push(part);
        }
        Ok(())
    }
}
