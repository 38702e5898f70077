//! Tests the operations of players on poses. Each mechanism is compared with a naive one in `f64`,
//! or with the property that it promises.

mod access;
mod blend;
mod inertia;
mod made;
mod numbers;
mod playhead;
mod retarget;
mod root_motion;
mod sync;
mod weights;
