//! Sources of live bodies and faces: trackers, recordings of faces, and clips that play as if they
//! were live. Each source gives the poses and curves of a [`Figure`](crate::figure::Figure), and
//! the [`FigureOptions`](crate::figure::FigureOptions) that fit it.
//!
//! - [`VmcReceiver`] takes the packets of the Virtual Motion Capture protocol, which trackers of
//!   avatars send: OSC over UDP. [`VmcBody`] turns its frames into poses.
//! - [`FaceClip`] reads recordings of Live Link Face: the 52 face shapes of ARKit as CSV.
//! - [`ClipSource`] plays a clip at its own time, for example one from BVH.
//!
//! These sources are a module behind a feature instead of a crate, because they have no
//! dependencies of their own: OSC is read here, since VMC needs little of it, and known readers
//! follow nested bundles by recursion without a limit.
//!
//! Like `kinepack-net`, the module has no sockets, files or clocks. Bytes and the time go in, and
//! poses come out.

mod body;
mod bones;
mod clip;
mod csv;
mod face;
mod osc;
mod timecode;
mod vmc;

pub use body::{VmcBody, VmcBodyError};
pub use bones::{BONE_COUNT, BONES, Bone};
pub use clip::ClipSource;
pub use face::{ARKIT_SHAPES, FaceClip, FaceError, HEAD_AND_EYES, OddRows};
pub use osc::OscError;
pub use vmc::{BonePose, VmcFrame, VmcReceiver, VmcStats};
