//! Detects the instruction sets of the machine, and runs tasks with the kernel of one of them.

use std::sync::OnceLock;

use super::lanes::Task;
#[cfg(target_arch = "aarch64")]
use super::proof::Neon;
#[cfg(target_arch = "x86_64")]
use super::proof::{Avx2, Sse41};
use super::scalar::Scalar;

/// The instruction set that a [`Sampler`](crate::Sampler) uses. All instruction sets give the same
/// poses, to the last bit.
///
/// ```
/// use kinepack_anim::Instructions;
///
/// assert!(Instructions::Scalar.is_available());
/// assert!(Instructions::best().is_available());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Instructions {
    /// The instructions that every machine has.
    Scalar,
    /// SSE4.1 of x86-64: four numbers at a time.
    Sse41,
    /// AVX2 of x86-64: eight numbers at a time.
    Avx2,
    /// NEON of 64-bit ARM: four numbers at a time.
    Neon,
}

impl Instructions {
    /// All instruction sets. Within an architecture, slower ones come first.
    pub const ALL: [Self; 4] = [Self::Scalar, Self::Sse41, Self::Avx2, Self::Neon];

    /// Returns the fastest instructions that this machine has.
    pub fn best() -> Self {
        Self::ALL
            .into_iter()
            .rfind(|instructions| instructions.is_available())
            .unwrap_or(Self::Scalar)
    }

    /// Returns whether this machine has these instructions.
    pub fn is_available(self) -> bool {
        self.kernel().is_some()
    }

    /// Returns the kernel that uses these instructions, or `None` if this machine does not have
    /// them.
    pub(crate) fn kernel(self) -> Option<AnyKernel> {
        match self {
            Self::Scalar => Some(AnyKernel::Scalar(Scalar)),
            #[cfg(target_arch = "x86_64")]
            Self::Sse41 => Sse41::detect().map(AnyKernel::Sse41),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => Avx2::detect().map(AnyKernel::Avx2),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => Neon::detect().map(AnyKernel::Neon),
            _ => None,
        }
    }
}

/// The kernel of any instruction set.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AnyKernel {
    Scalar(Scalar),
    #[cfg(target_arch = "x86_64")]
    Sse41(Sse41),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
}

impl AnyKernel {
    /// Returns the kernel with the fastest instructions that this machine has.
    pub(crate) fn best() -> Self {
        static BEST: OnceLock<AnyKernel> = OnceLock::new();
        *BEST.get_or_init(|| Instructions::best().kernel().unwrap_or(Self::Scalar(Scalar)))
    }

    /// Runs a task with this kernel.
    #[inline]
    pub(crate) fn run<T: Task>(self, task: T) {
        match self {
            Self::Scalar(kernel) => task.run(kernel),
            #[cfg(target_arch = "x86_64")]
            Self::Sse41(kernel) => kernel.run(task),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(kernel) => kernel.run(task),
            #[cfg(target_arch = "aarch64")]
            Self::Neon(kernel) => kernel.run(task),
        }
    }
}
