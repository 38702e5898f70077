//! The arithmetic of sampling, for eight tracks at once: it sums the coefficients of components and
//! turns components into rotations. The code is generic over [`Kernel`] and [`Lanes`], with an
//! implementation for each instruction set. All implementations give the same bits, since none
//! fuses or reorders operations. See `spec/ANIM.md`, section 12.

#[macro_use]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod macros;

#[cfg(target_arch = "x86_64")]
mod avx2;
mod instructions;
mod lanes;
mod live;
#[cfg(target_arch = "aarch64")]
mod neon;
mod prefetch;
mod proof;
mod rotation;
mod scalar;
mod scale;
mod segment;
#[cfg(target_arch = "x86_64")]
mod sse41;
mod sums;
mod tables;

pub(crate) use instructions::AnyKernel;
pub use instructions::Instructions;
pub(crate) use lanes::{Kernel, Lanes, Task};
pub(crate) use live::Live;
pub(crate) use prefetch::prefetch;
pub(crate) use rotation::{Quaternion, Turn, Vector, blend};
#[cfg(feature = "offline")]
pub(crate) use scale::own_scale;
pub(crate) use scale::segment_scale;
pub(crate) use segment::Segment;
pub(crate) use sums::{GROUPS_AT_ONCE, Sums, Wanted};
