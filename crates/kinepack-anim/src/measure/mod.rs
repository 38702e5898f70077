//! Measures the error of a compressed clip as a viewer sees it. The skin is at some distance from
//! its joint, so the error is measured in object space, at a distance from each joint. A rotation
//! error moves distant skin more, and the errors of all ancestors add up. Therefore each joint has
//! three points, one on each axis, at the distance [`ErrorOptions::shell_cm`]. The joint's error is
//! the largest distance between a point in the raw clip and the same point in the compressed clip.
//! Source: the metric of the Animation Compression Library (Frechette). All arithmetic is in `f64`.

mod errors;
mod follow;
mod frame;
mod options;
mod pose;
mod slide;

#[cfg(feature = "offline")]
pub(crate) use errors::each_curve_error;
pub use errors::{ErrorReport, Errors, measure};
pub use follow::Follower;
pub(crate) use frame::{Frame, object_space};
pub use options::ErrorOptions;
#[cfg(any(feature = "figure", feature = "offline"))]
pub(crate) use options::by_joint;
pub use pose::{pose_distance_cm, pose_errors_cm};
pub use slide::STILL_CM;
#[cfg(feature = "offline")]
pub(crate) use slide::stands;
