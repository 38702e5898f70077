//! Checks the caller's memory before it is used.

use std::ffi::{CStr, c_char};
use std::time::Duration;

use crate::KpStatus;
use crate::status::Failure;

/// Checks that a pointer to `count` values is not null, is aligned, and does not overflow.
fn check<T>(data: *const T, count: usize) -> Result<(), Failure> {
    let wrong = |text| Err(Failure::new(KpStatus::Pointer, text));
    if data.is_null() {
        return wrong("a pointer is null");
    }
    if !data.is_aligned() {
        return wrong("a pointer is not aligned to its type");
    }
    let bytes = count.checked_mul(size_of::<T>()).filter(|bytes| *bytes <= isize::MAX as usize);
    match bytes.and_then(|bytes| data.addr().checked_add(bytes)) {
        Some(_) => Ok(()),
        None => wrong("a pointer and its count reach beyond the end of memory"),
    }
}

/// Checks the memory of `rows` rows of `bytes` bytes each, which start `stride` bytes apart.
pub(crate) fn check_rows(
    data: *const u8,
    rows: usize,
    stride: usize,
    bytes: usize,
) -> Result<(), Failure> {
    let Some(last) = rows.checked_sub(1) else { return Ok(()) };
    let end = last.checked_mul(stride).and_then(|begin| begin.checked_add(bytes));
    check(data, end.ok_or_else(|| Failure::argument("a stride is too large"))?)
}

/// Borrows the caller's values.
///
/// # Safety
/// `data` is null or points to `count` values, which stay unchanged for `'a`.
pub(crate) unsafe fn slice<'a, T>(data: *const T, count: usize) -> Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    check(data, count)?;
    // SAFETY: `check` has checked that `data` is not null, is aligned and does not overflow. The
    // caller guarantees `count` readable values for `'a`.
    Ok(unsafe { std::slice::from_raw_parts(data, count) })
}

/// Borrows the caller's memory for writing.
///
/// # Safety
/// `data` is null or points to `count` values, which nothing else uses for `'a`.
pub(crate) unsafe fn slice_mut<'a, T>(data: *mut T, count: usize) -> Result<&'a mut [T], Failure> {
    if count == 0 {
        return Ok(&mut []);
    }
    check(data, count)?;
    // SAFETY: `check` has checked that `data` is not null, is aligned and does not overflow. The
    // caller guarantees `count` writable values for `'a`, which nothing else uses.
    Ok(unsafe { std::slice::from_raw_parts_mut(data, count) })
}

/// Writes a result to the caller's memory.
///
/// # Safety
/// `to` is null or points to memory for a value that nothing else uses.
pub(crate) unsafe fn put<T>(to: *mut T, value: T) -> Result<(), Failure> {
    check(to, 1)?;
    // SAFETY: `check` has checked that `to` is not null, is aligned and does not overflow. The
    // caller guarantees that it is writable.
    unsafe { to.write(value) };
    Ok(())
}

/// Checks that a result can be written later, before anything changes.
pub(crate) fn check_out<T>(to: *mut T) -> Result<(), Failure> {
    check(to, 1)
}

/// Borrows a text from the caller.
///
/// # Safety
/// `text` is null or points to a zero-terminated text, which stays unchanged for `'a`.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, Failure> {
    check(text, 1)?;
    // SAFETY: the caller guarantees a zero-terminated text that stays unchanged for `'a`.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Failure::argument("a text is not UTF-8"))
}

/// Converts a time from the caller, given in nanoseconds since any fixed moment.
pub(crate) fn time(now_ns: u64) -> Duration {
    Duration::from_nanos(now_ns)
}

/// Converts a duration from the caller, given in milliseconds.
pub(crate) fn duration(ms: u32) -> Duration {
    Duration::from_millis(ms.into())
}

/// Converts a size from the caller. A size beyond the address space sets no limit.
pub(crate) fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Returns an option from the caller, or the default if the option is zero.
pub(crate) fn or_default<T: Default + PartialEq>(given: T, default: T) -> T {
    if given == T::default() { default } else { given }
}

/// Converts a time for the caller. `None` becomes negative.
pub(crate) fn milliseconds(time: Option<Duration>) -> f64 {
    time.map_or(-1.0, |time| 1000.0 * time.as_secs_f64())
}

/// Borrows a value from the caller. The pointer may be null.
///
/// # Safety
/// The caller must meet the conditions of [`slice`].
pub(crate) unsafe fn optional<'a, T>(data: *const T) -> Result<Option<&'a T>, Failure> {
    if data.is_null() {
        return Ok(None);
    }
    // SAFETY: `data` is not null, so the caller guarantees a readable value that stays unchanged
    // for `'a`.
    Ok(unsafe { slice(data, 1)? }.first())
}

/// Borrows a value from the caller. The pointer must not be null.
///
/// # Safety
/// The caller must meet the conditions of [`slice`].
pub(crate) unsafe fn required<'a, T>(data: *const T) -> Result<&'a T, Failure> {
    check(data, 1)?;
    // SAFETY: `check` has checked that `data` is not null, is aligned and does not overflow. The
    // caller guarantees a readable value for `'a`.
    Ok(unsafe { &*data })
}

/// Copies bytes to the caller, if they fit into `capacity`. Always writes the number of bytes to
/// `size`.
///
/// # Safety
/// The caller must meet the conditions of [`slice_mut`] and [`put`].
pub(crate) unsafe fn give(
    from: &[u8],
    bytes: *mut u8,
    capacity: usize,
    size: *mut usize,
) -> Result<(), Failure> {
    // SAFETY: the caller guarantees that `size` is writable until this call returns.
    unsafe { put(size, from.len())? };
    if capacity < from.len() {
        let text = format!("{} bytes do not fit into {capacity}", from.len());
        return Err(Failure::new(KpStatus::Size, text));
    }
    // SAFETY: the caller guarantees that `bytes` has `capacity` writable bytes, which nothing else
    // uses until this call returns. `from.len()` is at most `capacity`.
    let to = unsafe { slice_mut(bytes, from.len())? };
    to.copy_from_slice(from);
    Ok(())
}

/// Copies a text with a terminating zero to the caller.
///
/// # Safety
/// The caller must meet the conditions of [`give`].
pub(crate) unsafe fn give_text(
    from: &str,
    text: *mut c_char,
    capacity: usize,
    size: *mut usize,
) -> Result<(), Failure> {
    // SAFETY: the caller guarantees that `text` has `capacity` writable bytes and `size` is
    // writable, until this call returns.
    unsafe { give(&[from.as_bytes(), &[0]].concat(), text.cast(), capacity, size) }
}

/// Copies values to the caller, if they fit into `capacity`. Always writes the number of values to
/// `count`.
///
/// # Safety
/// The caller must meet the conditions of [`slice_mut`] and [`put`].
pub(crate) unsafe fn give_list<T>(
    from: impl ExactSizeIterator<Item = T>,
    list: *mut T,
    capacity: usize,
    count: *mut usize,
) -> Result<(), Failure> {
    let needed = from.len();
    // SAFETY: the caller guarantees that `count` is writable until this call returns.
    unsafe { put(count, needed)? };
    if needed > capacity {
        return Err(too_many(needed, capacity));
    }
    if needed > 0 {
        check(list, needed)?;
    }
    for (nth, value) in from.take(needed).enumerate() {
        // SAFETY: `nth` is below `needed`, and `check` has checked `list` for that many values. The
        // caller guarantees that they are writable.
        unsafe { list.add(nth).write(value) };
    }
    Ok(())
}

pub(crate) fn too_many(needed: usize, capacity: usize) -> Failure {
    Failure::new(KpStatus::Size, format!("{needed} do not fit into {capacity}"))
}
