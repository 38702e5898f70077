//! How far a compressed clip is off: in object space, at a distance from each joint, where a viewer
//! sees it. A point of the skin hangs on a joint at some distance; an error of a rotation moves it
//! the more the farther away it is, and the errors of all ancestors add up. So three points at
//! [`ErrorOptions::shell_cm`] from every joint, on its axes, are followed through both clips, and
//! the largest distance between the two counts. Source: the metric of the Animation Compression
//! Library (Frechette). All of it in `f64`.

mod errors;
mod follow;
mod frame;
mod pose;
mod slide;

#[cfg(feature = "offline")]
pub(crate) use errors::by_joint;
pub use errors::{ErrorOptions, ErrorReport, Errors, measure};
pub use follow::Follower;
pub(crate) use frame::{Frame, object_space};
pub use pose::pose_distance_cm;
pub use slide::STILL_CM;
#[cfg(feature = "offline")]
pub(crate) use slide::stands;
