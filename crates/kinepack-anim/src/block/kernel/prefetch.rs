//! Loads data into the cache before it is needed.

/// Asks the processor to load data into its cache. The function does nothing on architectures other
/// than x86-64.
#[inline(always)]
pub(crate) fn prefetch<T>(data: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let mut at = 0;
        while at < size_of_val(data) {
            // SAFETY: every x86-64 has the instruction, and a prefetch never faults.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(data.as_ptr().cast::<i8>().wrapping_add(at)) };
            at += 64;
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = data;
}
