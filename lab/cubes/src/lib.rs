//! The cube world of the article "Snapshot Compression". A player's 1.5 m cube rolls through a grid
//! of small cubes that rest on a floor. The player blows these cubes away and drags them along.
//! Further players may join and leave while the world runs.
//!
//! The demo, the tests and the benchmarks compress the world's motion. The crate has only physics
//! and a scripted player. It does not use snapshots, networks or clocks: the caller steps the world
//! 60 times per second. The same seed gives the same run on the same build.
//!
//! ```
//! use cubes::{Config, Script, Style, World};
//!
//! let mut world = World::new(&Config { cubes: 100 })?;
//! let mut script = Script::new(Style::Typical, 1);
//! for _ in 0..cubes::TICK_HZ {
//!     let input = script.next_input(&world);
//!     world.step(input);
//! }
//! assert_eq!(world.tick(), 60);
//! assert!(world.body(0).interacting, "entity 0 is the player");
//! assert_eq!(world.bodies().count(), 101);
//! # Ok::<(), cubes::ConfigError>(())
//! ```
//!
//! [`Config`] has the number of cubes. `arena` places floor, walls and grid. [`World`] steps the
//! simulation. `forces` turns an [`Input`] into impulses. `interacting` keeps the flag of each
//! cube. `players` numbers the players, and `places` finds room for another one. [`Script`] plays
//! by the state that a [`View`] shows.

mod config;

mod body;
mod input;

mod arena;
mod forces;
mod interacting;
mod places;
mod players;
mod world;

mod random;
mod script;
mod style;

pub use arena::{CUBE_EDGE_M, PLAYER_EDGE_M};
pub use body::Body;
pub use config::{Config, ConfigError, MAX_CUBES};
pub use input::Input;
pub use players::{AddPlayerError, FIRST_GUEST, MAX_PLAYERS, is_player};
pub use script::{Script, View};
pub use style::{Style, UnknownStyle};
pub use world::{TICK_HZ, World};
