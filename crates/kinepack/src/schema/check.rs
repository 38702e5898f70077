//! Does a type have a schema? Answered at each push and read, so it must not build the type's
//! schema each time.
//!
//! The address of [`Pack::fields`] stands for the type. The linker may give two types one address,
//! but only if the code is the same; then the fields are the same too. One type may have several
//! addresses, as each crate may hold a copy of the code. That costs another look, and is why two
//! addresses are remembered.

use alloc::vec::Vec;
use core::sync::atomic::{AtomicUsize, Ordering};

use super::{Field, Pack, Schema};

/// The hash of a schema, and which types were found to have that schema.
///
/// Cost of a check: a comparison of two numbers, if the type is one of those that passed last;
/// otherwise that of [`Schema::of`].
#[derive(Debug)]
pub(crate) struct TypeCheck {
    schema_hash: u64,
    /// Addresses of the `fields` of types that passed, the newest first; 0 where there is none.
    /// Relaxed operations are enough: whatever a thread reads here has passed.
    passed: [AtomicUsize; 2],
}

impl TypeCheck {
    /// The check of a schema that was given as fields.
    pub(super) fn new(schema_hash: u64) -> Self {
        Self { schema_hash, passed: [const { AtomicUsize::new(0) }; 2] }
    }

    /// The same, if the schema was made from `T`: then even the first check of `T` is cheap.
    pub(super) fn made_from<T: Pack>(self) -> Self {
        self.remember(address_of::<T>());
        self
    }

    /// The schema's hash.
    #[inline]
    pub(crate) fn schema_hash(&self) -> u64 {
        self.schema_hash
    }

    /// Checks that `T` has the schema.
    ///
    /// # Errors
    /// The hash of the schema that `T` has.
    #[inline]
    pub(crate) fn check<T: Pack>(&self) -> Result<(), u64> {
        let address = address_of::<T>();
        let [newest, older] = &self.passed;
        if newest.load(Ordering::Relaxed) == address || older.load(Ordering::Relaxed) == address {
            return Ok(());
        }
        self.check_anew::<T>(address)
    }

    #[cold]
    #[inline(never)]
    fn check_anew<T: Pack>(&self, address: usize) -> Result<(), u64> {
        let hash = Schema::of::<T>().hash();
        if hash != self.schema_hash {
            return Err(hash);
        }
        self.remember(address);
        Ok(())
    }

    fn remember(&self, address: usize) {
        let [newest, older] = &self.passed;
        older.store(newest.load(Ordering::Relaxed), Ordering::Relaxed);
        newest.store(address, Ordering::Relaxed);
    }
}

/// The address that stands for `T`.
#[inline]
fn address_of<T: Pack>() -> usize {
    T::fields as fn(&str, &mut Vec<Field>) as usize
}

impl Clone for TypeCheck {
    fn clone(&self) -> Self {
        let passed =
            self.passed.each_ref().map(|passed| AtomicUsize::new(passed.load(Ordering::Relaxed)));
        Self { schema_hash: self.schema_hash, passed }
    }
}

/// Equal are those of one schema.
impl PartialEq for TypeCheck {
    fn eq(&self, other: &Self) -> bool {
        self.schema_hash == other.schema_hash
    }
}

/// The first lane whose value is above its maximum, and the value.
#[inline]
pub(crate) fn first_beyond(lanes: &[u32], maxima: &[u32]) -> Option<(usize, u32)> {
    // All lanes are compared, without a branch: most often all are within, and the compiler
    // compares several at once.
    let is_any = lanes.iter().zip(maxima).fold(false, |any, (value, max)| any | (value > max));
    if is_any { find_beyond(lanes, maxima) } else { None }
}

#[cold]
fn find_beyond(lanes: &[u32], maxima: &[u32]) -> Option<(usize, u32)> {
    let lane = lanes.iter().zip(maxima).position(|(value, max)| value > max)?;
    Some((lane, lanes[lane]))
}
