//! All tests of this crate in one program. The tests check compiler messages, which requires a
//! build of `kinepack`. In this crate, such a build has few dependencies.

mod compile_fail;
