//! The tests as one program. They check compiler messages, which takes a build of `kinepack`: here
//! that has few dependencies.

mod compile_fail;
