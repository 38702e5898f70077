//! The results of functions, and the texts of errors.

use std::any::Any;
use std::borrow::Cow;
use std::cell::RefCell;
use std::ffi::c_char;
use std::fmt::{self, Display};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::memory;

/// The result of a function.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KpStatus {
    /// The call succeeded.
    Ok = 0,
    /// A pointer is null although it must not be, or it is not aligned.
    Pointer = 1,
    /// A handle is zero, was freed, or is of another type.
    Handle = 2,
    /// An argument is out of its range, or does not fit the other arguments.
    Argument = 3,
    /// The caller's memory is too small. The function has written the needed size.
    Size = 4,
    /// The bytes of a file, packet or datagram are invalid.
    Data = 5,
    /// A value cannot be quantized: it is not a number, or out of its range.
    Value = 6,
    /// There is no result yet, or no longer.
    Nothing = 7,
    /// The library has a defect. Please report it.
    Panic = 8,
    /// A file cannot be read or written.
    File = 9,
    /// The call succeeded, but not for all receivers. The error text names the receivers for which
    /// it failed.
    Receivers = 10,
    /// A step of a prediction failed, or gave a state that cannot be quantized. The entities of
    /// failed steps have kept their states of the tick before, and everything else was done.
    Step = 11,
}

/// Why a function failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: KpStatus,
    text: Cow<'static, str>,
}

impl Failure {
    pub(crate) fn new(status: KpStatus, text: impl Display) -> Self {
        Self { status, text: text.to_string().into() }
    }

    /// A failure that means that there is no result. Such a failure is expected, so it allocates
    /// nothing.
    pub(crate) fn nothing(text: &'static str) -> Self {
        Self { status: KpStatus::Nothing, text: Cow::Borrowed(text) }
    }

    pub(crate) fn argument(text: impl Display) -> Self {
        Self::new(KpStatus::Argument, text)
    }

    pub(crate) fn data(text: impl Display) -> Self {
        Self::new(KpStatus::Data, text)
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

thread_local! {
    static LAST: RefCell<Cow<'static, str>> = const { RefCell::new(Cow::Borrowed("")) };
}

/// Runs the body of a function, and catches its panics.
pub(crate) fn call(body: impl FnOnce() -> Result<(), Failure>) -> KpStatus {
    let Failure { status, text } = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return KpStatus::Ok,
        Ok(Err(failure)) => failure,
        Err(panic) => Failure::new(KpStatus::Panic, text_of(&*panic)),
    };
    // Access fails if the thread is ending, so the text is dropped then.
    let _ = LAST.try_with(|last| last.replace(text));
    status
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("the library has a defect")
}

/// Writes the text of this thread's last error into `text`, which has room for `capacity` bytes,
/// including the terminating zero. A longer text is truncated. Returns the length of the whole text
/// without the zero. `text` may be null if `capacity` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_error_text(text: *mut c_char, capacity: usize) -> usize {
    LAST.try_with(|last| {
        let last = last.borrow();
        let mut end = last.len().min(capacity.saturating_sub(1));
        while !last.is_char_boundary(end) {
            end -= 1;
        }
        // SAFETY: the caller guarantees that `text` has `capacity` writable bytes until this call
        // returns.
        if let Ok([room @ .., _]) = unsafe { memory::slice_mut(text.cast::<u8>(), capacity) } {
            room[..end].copy_from_slice(&last.as_bytes()[..end]);
            // SAFETY: `end` is below `capacity`.
            unsafe { text.add(end).write(0) };
        }
        last.len()
    })
    .unwrap_or(0)
}

/// The version of this interface. It is raised when a function or a struct changes, but not when
/// one is added. A program that loads the shared library compares it with `kp_abi` once.
pub const KP_ABI: u32 = 1;

/// Returns the `KP_ABI` of the library.
#[unsafe(no_mangle)]
pub extern "C" fn kp_abi() -> u32 {
    KP_ABI
}

/// Returns the version of the library, such as "0.1.0". The pointer is valid until the program
/// ends.
#[unsafe(no_mangle)]
pub extern "C" fn kp_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
