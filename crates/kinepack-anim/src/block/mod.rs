//! Block clips. Each component of a track is cut into segments of a few samples. A segment stores
//! the coefficients of a discrete cosine transform, packed into as few bits as they need. Sampling
//! costs the same at every time, and a sampler keeps no state between calls. Sources: JPEG's
//! transform coding, ACL's packed samples. See `spec/ANIM.md`, sections 10 to 13.
//!
//! [`build`](crate::offline::build) makes block clips, and a [`Sampler`] plays them.

mod anchors;
mod basis;
mod clip;
mod constant;
mod contents;
mod group;
mod joint;
#[allow(unsafe_code)]
mod kernel;
mod labels;
mod layout;
mod moment;
mod parameters;
mod play;
#[cfg(feature = "offline")]
pub(crate) mod played;
mod pose;
mod read;
mod rig;
mod sampler;
mod sizes;
mod source;
mod tables;
#[cfg(test)]
mod tests;
mod tracks;
mod widths;
mod write;

pub(crate) use anchors::Anchors;
pub(crate) use basis::MAX_LENGTH;
#[cfg(feature = "offline")]
pub(crate) use basis::row as basis_row;
pub use clip::Clip;
pub(crate) use constant::Constant;
pub use kernel::Instructions;
#[cfg(feature = "offline")]
pub(crate) use kernel::{own_scale, segment_scale};
pub use labels::MarkerRef;
#[cfg(feature = "offline")]
pub(crate) use labels::write as label_bytes;
pub(crate) use layout::{
    CURVES_OF_TRACK, END_BYTES, MAX_NUMBER, animated, checksum, kinds_from_byte, kinds_to_byte,
    tracks_of,
};
pub use layout::{Header, Interpolation, Kind};
#[cfg(feature = "offline")]
pub(crate) use parameters::number_of;
pub use pose::{JointMask, Metres, PoseAndCurves, PoseWriter, SoaPose};
pub use rig::Rig;
pub use sampler::{Sampler, sample_batch};
pub(crate) use tracks::Track;
pub use widths::BlockLength;
#[cfg(feature = "offline")]
pub(crate) use widths::{
    ESCAPE_WIDTH_BITS, HIGH_BITS, MAX_FOUR_BITS, PIECE, PROFILES, Widths, clamp, max_width,
    piece_range, width_of,
};
pub(crate) use write::{Contents, LiveComponents, SegmentContents};

pub use crate::limits::{MAX_CURVES, MAX_MARKERS, MAX_NAME_BYTES};
