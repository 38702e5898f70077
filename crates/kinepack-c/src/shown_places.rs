//! Where shown entities are in the world, if their fields are relative to another entity.

use kinepack::frame::Motion;

use crate::KpStatus;
use crate::shown::{KpShown, write_list};
use crate::status::Failure;

/// Where an entity is in the world, and how it moves. All numbers are NaN while this is not known,
/// for example because the ship under a passenger has not arrived yet. Draw nothing then.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpPlace {
    /// The position, in the unit of the entity's field.
    pub position: [f64; 3],
    /// The rotation, a unit quaternion x, y, z, w. It is 0, 0, 0, 1 if the kind has no rotation.
    pub rotation: [f64; 4],
    /// The velocity in units per second. It includes the motion of what carries the entity. An
    /// entity without a velocity field is at rest while only one of its states is known.
    pub velocity: [f64; 3],
}

impl KpPlace {
    /// The numbers of a motion. `None` if the place is not known. The reason does not matter to a
    /// caller that draws.
    pub(crate) fn of(motion: Option<Motion>) -> Self {
        motion.map_or(
            Self { position: [f64::NAN; 3], rotation: [f64::NAN; 4], velocity: [f64::NAN; 3] },
            |Motion { place, velocity, .. }| Self {
                position: place.position,
                rotation: place.rotation,
                velocity,
            },
        )
    }
}

/// Writes where a kind's entities are in the world, in the order of their ids: `*count` places, if
/// they fit into `capacity`. The kind has fields that `kp_schema_builder_frame` made relative. For
/// other kinds it returns `KP_STATUS_ARGUMENT`: `kp_shown_read` writes where their entities are. The
/// `kp_..._play` or the rewind before it computed the places, in some hundred nanoseconds for each
/// entity.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_shown_places(
    shown: KpShown,
    kind: u32,
    places: *mut KpPlace,
    capacity: usize,
    count: *mut usize,
) -> KpStatus {
    // SAFETY: the caller guarantees that `places` has `capacity` writable values and `count` is
    // writable, until this call returns.
    unsafe {
        write_list(shown, places, capacity, count, |showing| {
            showing.places(kind)?.ok_or_else(no_frame)
        })
    }
}

fn no_frame() -> Failure {
    let text = "no field of the kind is relative to an entity, so kp_shown_read writes where its \
                entities are";
    Failure::argument(text)
}
