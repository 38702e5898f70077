//! Programs that compare `kinepack-bevy` with Bevy's own animation and with `bevy_replicon`: the
//! examples of this package.

#![forbid(unsafe_code)]
