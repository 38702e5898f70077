//! Packs opaque bytes as a field: `#[pack(with = Bytes)]`.

use alloc::string::String;
use alloc::vec::Vec;

use crate::EncodeError;
use crate::quantize::IntegerLimits;
use crate::schema::{Field, FieldKind, PackWith};

/// Packs an array of up to 255 opaque bytes as one field, for inputs, calls and foreign structures.
/// A [`stream`](crate::stream) codes the bytes as [`rle`](crate::rle) describes. Snapshots code the
/// bytes as cyclic numbers from 0 to 255.
///
/// ```
/// use kinepack::{Bytes, Pack, Schema};
///
/// #[derive(Pack)]
/// struct Call {
///     #[pack(with = Bytes)]
///     arguments: [u8; 16],
/// }
/// assert_eq!(Schema::of::<Call>().bits_per_entity(), 128);
/// assert_eq!(Schema::of::<Call>().fields().len(), 1);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Bytes;

impl<const N: usize> PackWith<[u8; N]> for Bytes {
    const LANES: usize = lanes(N);

    fn fields(path: &str, fields: &mut Vec<Field>) {
        fields.push(Field::new(path, FieldKind::Bytes { len: lanes(N) as u8 }));
    }

    fn quantize(value: &[u8; N], lanes: &mut [u32]) -> Result<(), EncodeError> {
        lanes.iter_mut().zip(value).for_each(|(lane, byte)| *lane = u32::from(*byte));
        Ok(())
    }

    fn store_raw(value: &[u8; N], raw: &mut [u64]) -> Result<(), EncodeError> {
        raw.iter_mut().zip(value).for_each(|(word, byte)| *word = u64::from(*byte));
        Ok(())
    }

    fn reconstruct(lanes: &[u32]) -> [u8; N] {
        core::array::from_fn(|index| lanes[index] as u8)
    }
}

/// Packs up to `N` opaque bytes in a vector, with `N` at most 255: one field for the length, one
/// for the bytes. A longer vector is an error.
///
/// ```
/// use kinepack::{BytesUpTo, Pack, Schema};
///
/// #[derive(Pack)]
/// struct Call {
///     function: u8,
///     #[pack(with = BytesUpTo<31>)]
///     arguments: Vec<u8>,
/// }
/// let mut lanes = [0; Call::LANES];
/// Call { function: 3, arguments: vec![1, 2, 3] }.quantize(&mut lanes)?;
/// assert_eq!(Call::reconstruct(&lanes).arguments, [1, 2, 3]);
/// assert!(Call { function: 3, arguments: vec![0; 32] }.quantize(&mut lanes).is_err());
/// # Ok::<(), kinepack::EncodeError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BytesUpTo<const N: usize>;

impl<const N: usize> PackWith<Vec<u8>> for BytesUpTo<N> {
    const LANES: usize = 1 + lanes(N);

    fn fields(path: &str, fields: &mut Vec<Field>) {
        fields.push(Field::new(name(path, "len"), FieldKind::Integer(const { up_to(N) })));
        fields.push(Field::new(path, FieldKind::Bytes { len: lanes(N) as u8 }));
    }

    fn quantize(value: &Vec<u8>, lanes: &mut [u32]) -> Result<(), EncodeError> {
        store::<N, u32>(value, lanes)
    }

    fn store_raw(value: &Vec<u8>, raw: &mut [u64]) -> Result<(), EncodeError> {
        store::<N, u64>(value, raw)
    }

    fn reconstruct(lanes: &[u32]) -> Vec<u8> {
        let len = (lanes[0] as usize).min(N);
        lanes[1..=len].iter().map(|lane| *lane as u8).collect()
    }
}

/// Stores the length, the bytes, and zeros after them, so that no old byte remains.
fn store<const N: usize, T: From<u8>>(value: &[u8], into: &mut [T]) -> Result<(), EncodeError> {
    if value.len() > N {
        return Err(EncodeError::OutOfRange { id: None, field: "", value: value.len() as f64 });
    }
    let all = core::iter::once(value.len() as u8)
        .chain(value.iter().copied())
        .chain(core::iter::repeat(0));
    into.iter_mut().zip(all).for_each(|(word, byte)| *word = byte.into());
    Ok(())
}

fn name(path: &str, part: &str) -> String {
    alloc::format!("{path}.{part}")
}

/// Returns the number of lanes for `bytes` bytes: one lane per byte. A length above a field's
/// maximum does not compile.
const fn lanes(bytes: usize) -> usize {
    assert!(bytes <= u8::MAX as usize, "a field has at most 255 bytes");
    bytes
}

const fn up_to(max: usize) -> IntegerLimits {
    match IntegerLimits::new(0, max as i128, 1) {
        Ok(limits) => limits,
        Err(_) => panic!("0 to 255 are limits"),
    }
}
