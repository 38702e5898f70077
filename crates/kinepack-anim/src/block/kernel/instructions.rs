//! Which instructions a machine has, and how to get at them.

use std::sync::OnceLock;

use super::Kernel;
#[cfg(target_arch = "aarch64")]
use super::proof::Neon;
#[cfg(target_arch = "x86_64")]
use super::proof::{Avx2, Sse41};
use super::scalar::Scalar;

/// The instructions that a [`Sampler`](crate::Sampler) uses. All give the same poses, to the last
/// bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Instructions {
    /// Those that any machine has.
    Scalar,
    /// Four numbers at a time.
    Sse41,
    /// Eight numbers at a time.
    Avx2,
    /// Four numbers at a time, of 64-bit ARM.
    Neon,
}

impl Instructions {
    /// All that there are.
    pub const ALL: [Self; 4] = [Self::Scalar, Self::Sse41, Self::Avx2, Self::Neon];

    /// The fastest that this machine has.
    pub fn best() -> Self {
        Self::ALL
            .into_iter()
            .rfind(|instructions| instructions.is_available())
            .unwrap_or(Self::Scalar)
    }

    /// Whether this machine has them.
    pub fn is_available(self) -> bool {
        self.kernel().is_some()
    }

    /// What uses them, where this machine has them.
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

/// A kernel of one instruction set or another.
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
    /// That of the fastest instructions that this machine has.
    pub(crate) fn best() -> Self {
        static BEST: OnceLock<AnyKernel> = OnceLock::new();
        *BEST.get_or_init(|| Instructions::best().kernel().unwrap_or(Self::Scalar(Scalar)))
    }

    /// Does something with it.
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

/// What is compiled for each instruction set.
pub(crate) trait Task {
    /// Inlined, always: else it has no more than the instructions of any machine.
    fn run<K: Kernel>(self, kernel: K);
}
