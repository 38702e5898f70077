//! Packs lists and texts of a bounded length: arrayvec's `ArrayVec` and `ArrayString`. The length
//! comes first, and the elements from that length on are absent. This module needs the feature
//! `arrayvec`.

use alloc::vec::Vec;

use arrayvec::{ArrayString, ArrayVec};

use super::optional::only_if;
use super::{Field, FieldKind, Pack, Share, derived};
use crate::quantize::IntegerLimits;
use crate::{Between, EncodeError};

/// The number of bytes of a text in one field. The number is small so that a short text has few
/// unused bytes, and large enough that a long text has few fields.
const CHUNK_BYTES: usize = 4;

/// The fields are the number of elements `path.len`, then the fields of `N` elements, `path[0]` and
/// so on. Elements from the length on are absent. Interpolation blends the elements that both ends
/// have; the other elements and the length step.
impl<T: Pack, const N: usize> Pack for ArrayVec<T, N> {
    const LANES: usize = 1 + capacity(N) * T::LANES;

    fn fields(path: &str, fields: &mut Vec<Field>) {
        let selector = push_len::<N>(path, fields);
        for index in 0..N {
            let first = fields.len();
            T::fields(&alloc::format!("{path}[{index}]"), fields);
            only_if(fields, selector, first, index as u32 + 1..=N as u32);
        }
    }

    fn quantize(&self, lanes: &mut [u32]) -> Result<(), EncodeError> {
        let lanes = &mut lanes[..Self::LANES];
        lanes.fill(0);
        lanes[0] = self.len() as u32;
        self.iter()
            .zip(lanes[1..].chunks_mut(T::LANES.max(1)))
            .try_for_each(|(element, lanes)| element.quantize(lanes))
    }

    fn store_raw(&self, raw: &mut [u64]) -> Result<(), EncodeError> {
        let raw = &mut raw[..Self::LANES];
        raw.fill(0);
        raw[0] = self.len() as u64;
        self.iter()
            .zip(raw[1..].chunks_mut(T::LANES.max(1)))
            .try_for_each(|(element, raw)| element.store_raw(raw))
    }

    fn reconstruct(lanes: &[u32]) -> Self {
        (0..len::<N>(lanes)).map(|index| T::reconstruct(element::<T>(lanes, index))).collect()
    }

    fn interpolate(from: &[u32], to: &[u32], at: Between) -> Self {
        let both = len::<N>(from).min(len::<N>(to));
        let shown = at.step(from, to);
        let value = |index| {
            if index < both {
                T::interpolate(element::<T>(from, index), element::<T>(to, index), at)
            } else {
                T::reconstruct(element::<T>(shown, index))
            }
        };
        (0..len::<N>(shown)).map(value).collect()
    }

    fn displace(&mut self, from: &Self, to: &Self, share: Share) {
        let ends = from.iter().zip(to);
        self.iter_mut().zip(ends).for_each(|(now, (from, to))| now.displace(from, to, share));
    }
}

/// The fields are the number of bytes `path.len`, then the bytes in fields of four, `path[0]`,
/// `path[4]` and so on. Fields without text are absent. Any lanes give a text, which ends before
/// the first byte that is not valid UTF-8.
impl<const N: usize> Pack for ArrayString<N> {
    const LANES: usize = 1 + capacity(N);

    fn fields(path: &str, fields: &mut Vec<Field>) {
        let selector = push_len::<N>(path, fields);
        for index in (0..N).step_by(CHUNK_BYTES) {
            let first = fields.len();
            let kind = FieldKind::Bytes { len: CHUNK_BYTES.min(N - index) as u8 };
            fields.push(Field::new(alloc::format!("{path}[{index}]"), kind));
            only_if(fields, selector, first, index as u32 + 1..=N as u32);
        }
    }

    fn quantize(&self, lanes: &mut [u32]) -> Result<(), EncodeError> {
        store_text(self, &mut lanes[..Self::LANES]);
        Ok(())
    }

    fn store_raw(&self, raw: &mut [u64]) -> Result<(), EncodeError> {
        store_text(self, &mut raw[..Self::LANES]);
        Ok(())
    }

    fn reconstruct(lanes: &[u32]) -> Self {
        let mut bytes = [0; N];
        let bytes = &mut bytes[..len::<N>(lanes)];
        bytes.iter_mut().zip(&lanes[1..]).for_each(|(byte, lane)| *byte = *lane as u8);
        let text = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        Self::from(text).unwrap_or_default()
    }
}

/// Stores the length, the bytes, and zeros after the bytes.
fn store_text<T: From<u16>>(text: &str, into: &mut [T]) {
    let bytes = text.bytes().map(u16::from).chain(core::iter::repeat(0));
    let all = core::iter::once(text.len() as u16).chain(bytes);
    into.iter_mut().zip(all).for_each(|(word, value)| *word = value.into());
}

fn push_len<const N: usize>(path: &str, fields: &mut Vec<Field>) -> usize {
    let limits = const { up_to(N) };
    fields.push(Field::new(derived::join(path, "len"), FieldKind::Integer(limits)));
    fields.len() - 1
}

/// Reads the length from the first lane.
fn len<const N: usize>(lanes: &[u32]) -> usize {
    (lanes[0] as usize).min(N)
}

/// Returns the lanes of the element at `index`.
fn element<T: Pack>(lanes: &[u32], index: usize) -> &[u32] {
    &lanes[1 + index * T::LANES..][..T::LANES]
}

/// Returns the capacity unchanged. Capacities out of range do not compile.
const fn capacity(elements: usize) -> usize {
    assert!(
        elements >= 1 && elements <= u16::MAX as usize,
        "the capacity of an `ArrayVec` or `ArrayString` must be 1 to 65535"
    );
    elements
}

const fn up_to(max: usize) -> IntegerLimits {
    match IntegerLimits::new(0, capacity(max) as i128, 1) {
        Ok(limits) => limits,
        Err(_) => panic!("0 to 65535 are limits"),
    }
}
