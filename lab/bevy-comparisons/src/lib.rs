//! Programs that measure `kinepack-bevy` beside Bevy's own animation and beside `bevy_replicon`:
//! the examples of this package.

#![forbid(unsafe_code)]
