//! Codes bytes against a base that both sides hold, as runs or as sparse bytes, without a schema.
//! Use these functions for custom messages.

use kinepack::bits::{BitReader, BitWriter};
use kinepack::rle;

use crate::KpStatus;
use crate::memory::{give, slice, slice_mut};
use crate::status::{Failure, call};

/// Writes bytes as runs, XORed with the bytes of `base`, which both sides hold. Writes `*size`
/// bytes, if they fit into `capacity`. A shorter base is extended with zeros. Runs suit bytes that
/// mostly equal the base.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_runs_encode(
    base: *const u8,
    base_size: usize,
    bytes: *const u8,
    byte_count: usize,
    runs: *mut u8,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `base` has `base_size` readable bytes and `bytes` has
        // `byte_count` readable bytes, until this call returns.
        let (base, bytes) = unsafe { (slice(base, base_size)?, slice(bytes, byte_count)?) };
        let mut written = Vec::new();
        rle::encode_difference(base, bytes, &mut written);
        // SAFETY: the caller guarantees that `runs` has `capacity` writable bytes and `size` is
        // writable, until this call returns.
        unsafe { give(&written, runs, capacity, size) }
    })
}

/// Reads runs that `kp_runs_encode` wrote against the same base, and writes `*size` bytes. Returns
/// `KP_STATUS_DATA` if the runs decode to more than `capacity` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_runs_decode(
    base: *const u8,
    base_size: usize,
    runs: *const u8,
    run_bytes: usize,
    bytes: *mut u8,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `base` has `base_size` readable bytes and `runs` has
        // `run_bytes` readable bytes, until this call returns.
        let (base, runs) = unsafe { (slice(base, base_size)?, slice(runs, run_bytes)?) };
        let mut read = Vec::new();
        rle::decode_difference(base, runs, capacity, &mut read).map_err(Failure::data)?;
        // SAFETY: the caller guarantees that `bytes` has `capacity` writable bytes and `size` is
        // writable, until this call returns.
        unsafe { give(&read, bytes, capacity, size) }
    })
}

/// Writes bytes as sparse bytes, XORed with the bytes of `base`, which both sides hold. Writes
/// `*size` bytes, if they fit into `capacity`. A shorter base is extended with zeros. Sparse bytes
/// suit short structs that mostly equal the base, such as inputs. Both sides need to know
/// `byte_count`, because it is not written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_sparse_encode(
    base: *const u8,
    base_size: usize,
    bytes: *const u8,
    byte_count: usize,
    sparse: *mut u8,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `base` has `base_size` readable bytes and `bytes` has
        // `byte_count` readable bytes, until this call returns.
        let (base, bytes) = unsafe { (slice(base, base_size)?, slice(bytes, byte_count)?) };
        let mut written = Vec::new();
        let mut writer = BitWriter::append(&mut written);
        rle::write_sparse_difference(&mut writer, base, bytes);
        writer.finish().map_err(Failure::argument)?;
        // SAFETY: the caller guarantees that `sparse` has `capacity` writable bytes and `size` is
        // writable, until this call returns.
        unsafe { give(&written, sparse, capacity, size) }
    })
}

/// Reads `byte_count` bytes that `kp_sparse_encode` wrote against the same base. After an error,
/// `bytes` is unchanged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_sparse_decode(
    base: *const u8,
    base_size: usize,
    sparse: *const u8,
    sparse_size: usize,
    bytes: *mut u8,
    byte_count: usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `base` has `base_size` readable bytes, `sparse` has
        // `sparse_size` readable bytes and `bytes` has `byte_count` writable bytes, until this call
        // returns.
        let (base, sparse, bytes) = unsafe {
            (slice(base, base_size)?, slice(sparse, sparse_size)?, slice_mut(bytes, byte_count)?)
        };
        let (mut reader, mut read) = (BitReader::new(sparse), Vec::new());
        rle::read_sparse_difference(&mut reader, base, byte_count, &mut read)
            .map_err(Failure::data)?;
        reader.finish().map_err(Failure::data)?;
        bytes.copy_from_slice(&read);
        Ok(())
    })
}
