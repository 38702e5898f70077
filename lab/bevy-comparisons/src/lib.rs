//! The examples of this package are programs that compare `kinepack-bevy` with Bevy's own animation
//! and with `bevy_replicon`.

#![forbid(unsafe_code)]
