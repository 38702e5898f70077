//! The operations of an animation player on poses, as functions on `&mut [Transform]`. There is no
//! state machine: the game decides which clips play, and these functions compute the poses.
//!
//! | item | does |
//! |---|---|
//! | [`Playhead`], [`Passed`] | time with rates and loops, and the intervals between two frames |
//! | [`Blend`], [`Layer`], [`blend`] | many poses into one, with additive layers on top |
//! | [`JointWeights`] | weights by joint, for layers that animate a part of the body |
//! | [`RootMotion`] | extracts the motion of the root from a clip, to move a character by it |
//! | [`RootJoint`] | finds the joint that carries this motion |
//! | [`SyncTrack`] | the phases of clips, so that the feet of a walk and a run stay in step |
//! | [`Inertia`] | transitions that continue the old motion and let its difference decay |
//! | [`Retarget`] | poses of one skeleton on another, by the names of joints |
//!
//! Once constructed, no item of this module allocates. The arithmetic consists of additions,
//! multiplications, divisions and square roots in a fixed order, so results are the same on every
//! platform.
//!
//! The sources are ozz-animation (blending, motion extraction), Unreal Engine (blends by bone, sync
//! markers, retargeting), and David Bollo's talk about inertialization at GDC 2018.

mod blend;
mod decay;
mod inertia;
mod links;
mod playhead;
mod retarget;
mod root_joint;
mod root_motion;
mod sync;
mod weights;

pub use crate::additive::MAX_WEIGHT;
pub use blend::{Blend, Joints, Layer, blend};
pub use inertia::{Frames, Inertia};
pub use links::Unmatched;
pub use playhead::{Passed, Piece, Playhead};
pub use retarget::Retarget;
pub use root_joint::RootJoint;
pub use root_motion::{Axis, RootMotion, Turn};
pub use sync::{SyncError, SyncTrack};
pub use weights::{JointWeights, WeightsError};
