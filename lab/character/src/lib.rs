//! Simulates a player's character as the client of a big game sends it to the server: 60 moves per
//! second of 540 bits in full.
//!
//! The crate makes the input streams that examples, benchmarks and `measure` compress. The record
//! is that of the article "High-frequency upstream RPC compression" (Unreal). It has a time, three
//! vectors in centimetres, the view's angles, flags and opaque bytes. A scripted player makes the
//! moves, on rolling ground without obstacles. The crate does not depend on streams or networks,
//! and uses only the script's clock. The same seed gives the same moves on every platform.
//!
//! ```
//! use character::{Move, Script};
//! use kinepack::Schema;
//!
//! assert_eq!(Schema::of::<Move>().bits_per_entity(), 540);
//! let second: Vec<Move> = Script::new(1).take(60).collect();
//! assert_eq!(second, character::moves(1, 60));
//! assert!(second.is_sorted_by_key(|played| played.time_ms));
//! ```
//!
//! [`Script`] has the player's habits. For each frame of the `clock` it asks the right hand
//! (`mouse`) for the view and the left hand (`stick`) for a direction. `body` walks and jumps over
//! the `terrain`. `gear` makes the opaque bytes.

#![forbid(unsafe_code)]

mod record;

mod body;
mod clock;
mod gear;
mod mouse;
mod stick;
mod terrain;

mod random;
mod script;

pub use record::{FALLING, Flags, Move, WALKING};
pub use script::{Activity, Script, moves};
