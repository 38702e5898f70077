//! Programs that measure `kinepack-bevy` beside Bevy's own animation and beside `bevy_replicon`. They
//! are the examples of this package.

#![forbid(unsafe_code)]
