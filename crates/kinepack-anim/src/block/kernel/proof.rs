//! Proofs that the machine has an optional instruction set. Only `detect` can make a proof, because
//! its field is private to this module. `detect` checks all features that the kernel is compiled
//! for. Lanes store the proof that they were made with, which occupies no bytes.

/// Proof that the machine has AVX2, and the bit manipulation instructions of all processors with
/// AVX2.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    /// Returns the proof if the machine has AVX2, BMI1, BMI2 and POPCNT.
    pub(crate) fn detect() -> Option<Self> {
        let has_bits = is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2");
        (has_bits && is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt"))
            .then_some(Self(()))
    }
}

/// Proof that the machine has SSE4.1.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sse41(());

#[cfg(target_arch = "x86_64")]
impl Sse41 {
    /// Returns the proof if the machine has SSE4.1.
    pub(crate) fn detect() -> Option<Self> {
        is_x86_feature_detected!("sse4.1").then_some(Self(()))
    }
}

/// Proof that the machine has NEON, as nearly all 64-bit ARM machines do.
#[cfg(target_arch = "aarch64")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neon(());

#[cfg(target_arch = "aarch64")]
impl Neon {
    /// Returns the proof if the machine has NEON.
    pub(crate) fn detect() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("neon").then_some(Self(()))
    }
}
