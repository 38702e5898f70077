//! Compiles and runs the Rust blocks of the READMEs and of the book as doctests.
//!
//! A page without Rust blocks needs no line here. `tests/pages.rs` checks that every page with Rust
//! blocks has a line. The pages are in a crate of their own because a published crate cannot
//! include files from outside of its folder.

#![forbid(unsafe_code)]

/// Includes each page in the documentation of a type that exists in doctests alone.
macro_rules! pages {
    ($($name:ident $path:literal)*) => {
        $(
            #[cfg(doctest)]
            #[doc = include_str!($path)]
            pub struct $name;
        )*
    };
}

pages! {
    Readme "../../../README.md"
    KinepackReadme "../../../crates/kinepack/README.md"
    DeriveReadme "../../../crates/kinepack-derive/README.md"
    NetReadme "../../../crates/kinepack-net/README.md"
    AnimReadme "../../../crates/kinepack-anim/README.md"
    AnmReadme "../../../crates/kinepack-anm/README.md"
    CaptureReadme "../../../crates/kinepack-capture/README.md"
    ReplayReadme "../../../crates/kinepack-replay/README.md"
    CrowdReadme "../../../crates/kinepack-crowd/README.md"
    UdpReadme "../../../crates/kinepack-udp/README.md"
    WebtransportReadme "../../../crates/kinepack-webtransport/README.md"
    FirstSchema "../../../docs/src/first-schema.md"
    Kinds "../../../docs/src/kinds.md"
    Ladder "../../../docs/src/ladder.md"
    Networking "../../../docs/src/networking.md"
    Inputs "../../../docs/src/inputs.md"
    Playing "../../../docs/src/playing.md"
    Web "../../../docs/src/web.md"
    Bodies "../../../docs/src/bodies.md"
    Clips "../../../docs/src/clips.md"
    Replays "../../../docs/src/replays.md"
    Captures "../../../docs/src/captures.md"
}
