//! What players of animations do with poses: each mechanism is compared with a naive one in `f64`,
//! or with the property that it promises.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod access;
mod blend;
mod inertia;
mod made;
mod memory;
mod numbers;
mod playhead;
#[path = "../random/mod.rs"]
mod random;
mod retarget;
mod root_motion;
mod sync;
mod weights;
