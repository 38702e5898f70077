//! The WebAssembly module of the demo's pages. It has a receiver that counts what each entity
//! costs. For `demo --export` it also has a server and a bad network, and for `arena` the game's
//! client.
//! `crates/kinepack-web/build.sh` makes the module.
//!
//! Numbers are passed to JavaScript together with their names, as in the npm package.

mod arena;
mod costs;
mod receiver;
mod simulation;

pub use self::arena::ArenaClient;
pub use self::receiver::CountingReceiver;
pub use self::simulation::Simulation;
