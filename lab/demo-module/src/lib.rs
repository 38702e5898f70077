//! The WebAssembly module of the demo's pages: a receiver that counts what each entity costs, and for
//! `demo --export` also a server and a bad network. `crates/kinepack-web/build.sh` makes the module.
//!
//! Numbers reach JavaScript with their names, as in the npm package.

mod costs;
mod receiver;
mod simulation;

pub use self::receiver::CountingReceiver;
pub use self::simulation::Simulation;
