//! Arrays of numbers in buffers. Before anything is allocated, an accessor's count is compared with
//! the bytes that actually exist.

use super::ImportError;
use super::buffers::{Buffers, View};
use super::json::{Accessor, Kind, Sparse};

/// The codes of glTF for component types.
const I8: u32 = 5120;
const U8: u32 = 5121;
const I16: u32 = 5122;
const U16: u32 = 5123;
const U32: u32 = 5125;
const F32: u32 = 5126;

/// Returns the size of a component type in bytes, or `None` for an unknown type.
fn size_of_component(component: u32) -> Option<usize> {
    match component {
        I8 | U8 => Some(1),
        I16 | U16 => Some(2),
        U32 | F32 => Some(4),
        _ => None,
    }
}

/// The position of a typed array in a buffer view.
struct Layout {
    element_bytes: usize,
    count: usize,
    offset: u64,
}

impl Layout {
    /// Returns the elements of the array, or an error if they do not all lie within the view.
    fn elements<'b>(
        &self,
        view: &View<'b>,
    ) -> Result<impl Iterator<Item = &'b [u8]> + use<'b>, &'static str> {
        let element_bytes = self.element_bytes;
        let stride = view.stride_bytes.unwrap_or(element_bytes);
        if stride < element_bytes {
            return Err("its elements overlap");
        }
        let bytes = usize::try_from(self.offset).ok().and_then(|offset| view.bytes.get(offset..));
        let bytes = bytes.ok_or("it begins beyond its buffer view")?;
        let last = self.count.checked_sub(1).and_then(|last| last.checked_mul(stride));
        let end = last.and_then(|last| last.checked_add(element_bytes));
        if self.count > 0 && end.is_none_or(|end| end > bytes.len()) {
            return Err("it reaches beyond its buffer view");
        }
        Ok(bytes.chunks(stride).take(self.count).map(move |element| &element[..element_bytes]))
    }
}

/// An accessor that exists in the document.
#[derive(Clone, Copy)]
pub(super) struct Numbers<'a> {
    index: usize,
    accessor: &'a Accessor,
}

impl<'a> Numbers<'a> {
    /// Looks up an accessor.
    pub(super) fn find(buffers: &Buffers<'a>, index: usize) -> Result<Self, ImportError> {
        let document = buffers.document;
        match document.root.accessors.get(index) {
            Some(accessor) => Ok(Self { index, accessor }),
            None => Err(document.bad_accessor(index, "it does not exist")),
        }
    }

    /// Returns the number of elements that the accessor states.
    pub(super) fn count(self) -> u64 {
        self.accessor.count
    }

    /// Reads key times: scalar floats in a buffer view.
    pub(super) fn times(self, buffers: &mut Buffers<'_>) -> Result<Vec<f64>, ImportError> {
        if self.accessor.kind != Kind::Scalar || self.accessor.component_type != F32 {
            return Err(buffers
                .document
                .bad_accessor(self.index, "key times must be single floats"));
        }
        if self.accessor.buffer_view.is_none() {
            return Err(buffers.document.bad_accessor(self.index, "key times need a buffer view"));
        }
        Ok(self.read::<1>(buffers)?.into_iter().map(|[time]| time).collect())
    }

    /// Reads vectors of `N` floats, or of normalized integers between −1 and 1. Vectors of three
    /// may also be plain integers. If the accessor has no buffer view, all elements that are not
    /// sparse are zero. The caller must then have checked [`count`](Self::count) against real data.
    pub(super) fn vectors<const N: usize>(
        self,
        buffers: &mut Buffers<'_>,
    ) -> Result<Vec<[f64; N]>, ImportError> {
        let (expected, reason) = match N {
            1 => (Kind::Scalar, "weights need one component"),
            4 => (Kind::Vec4, "rotations need four components, the others three"),
            _ => (Kind::Vec3, "rotations need four components, the others three"),
        };
        if self.accessor.kind != expected {
            return Err(buffers.document.bad_accessor(self.index, reason));
        }
        self.read(buffers)
    }

    fn read<const N: usize>(self, buffers: &mut Buffers<'_>) -> Result<Vec<[f64; N]>, ImportError> {
        let document = buffers.document;
        let bad = |reason| document.bad_accessor(self.index, reason);
        let component = self.accessor.component_type;
        let Some(component_bytes) = size_of_component(component) else {
            return Err(bad("its component type does not exist"));
        };
        let is_normalized = self.accessor.normalized.unwrap_or_default();
        let number = decoder(component, is_normalized)
            .filter(|_| is_normalized || component == F32 || N == 3)
            .ok_or_else(|| bad("its integers are not normalized"))?;
        let element = |bytes: &[u8]| {
            let mut numbers = [0.0; N];
            for (number_of, bytes) in numbers.iter_mut().zip(bytes.chunks_exact(component_bytes)) {
                *number_of = number(bytes);
            }
            numbers
        };
        let count = usize::try_from(self.count()).map_err(|_| bad("it has too many elements"))?;
        buffers.spend_keys(self.index, self.count())?;
        let of_keys = self.count().saturating_mul(size_of::<[f64; N]>() as u64);
        let offset = self.accessor.byte_offset.unwrap_or_default();
        let element_bytes = N * component_bytes;
        let mut vectors: Vec<[f64; N]> = match self.accessor.buffer_view {
            Some(view) => {
                let layout = Layout { element_bytes, count, offset };
                // A wrong count is refused with its own error, before memory is taken for it.
                layout.elements(&buffers.view(self.index, view)?).map_err(bad).map(drop)?;
                buffers.budget.take_for_now(of_keys)?;
                layout
                    .elements(&buffers.view(self.index, view)?)
                    .map_err(bad)?
                    .map(element)
                    .collect()
            }
            None => {
                buffers.budget.take_for_now(of_keys)?;
                vec![[0.0; N]; count]
            }
        };
        if let Some(sparse) = &self.accessor.sparse {
            let places = self.places(buffers, sparse, count)?;
            let view = buffers.view(self.index, sparse.values.buffer_view)?;
            let (count, offset) = (places.len(), sparse.values.byte_offset.unwrap_or_default());
            let layout = Layout { element_bytes, count, offset };
            for (place, value) in places.into_iter().zip(layout.elements(&view).map_err(bad)?) {
                vectors[place] = element(value);
            }
        }
        Ok(vectors)
    }

    /// Returns the indices of the elements that a sparse accessor replaces. The function checks
    /// that these elements exist.
    fn places(
        self,
        buffers: &mut Buffers<'_>,
        sparse: &Sparse,
        elements: usize,
    ) -> Result<Vec<usize>, ImportError> {
        let document = buffers.document;
        let bad = |reason| document.bad_accessor(self.index, reason);
        let Some(element_bytes) = size_of_component(sparse.indices.component_type) else {
            return Err(bad("its sparse indices have no type"));
        };
        let count = usize::try_from(sparse.count).ok().filter(|count| *count <= elements);
        let count = count.ok_or_else(|| bad("it has more sparse elements than elements"))?;
        buffers.budget.take_for_now((count * size_of::<usize>()) as u64)?;
        let view = buffers.view(self.index, sparse.indices.buffer_view)?;
        let offset = sparse.indices.byte_offset.unwrap_or_default();
        let layout = Layout { element_bytes, count, offset };
        let mut places = Vec::with_capacity(count);
        for bytes in layout.elements(&view).map_err(bad)? {
            let place = bytes.iter().rev().fold(0, |place, byte| place << 8 | usize::from(*byte));
            if place >= elements {
                return Err(bad("a sparse index is beyond its elements"));
            }
            places.push(place);
        }
        Ok(places)
    }
}

/// Returns the decoder for a component type, or `None` for integers of four bytes.
fn decoder(component: u32, is_normalized: bool) -> Option<fn(&[u8]) -> f64> {
    Some(match (component, is_normalized) {
        (F32, _) => {
            |bytes| bytes.first_chunk().map_or(0.0, |bytes| f64::from(f32::from_le_bytes(*bytes)))
        }
        (I8, true) => |bytes| (f64::from(bytes[0] as i8) / 127.0).max(-1.0),
        (U8, true) => |bytes| f64::from(bytes[0]) / 255.0,
        (I16, true) => {
            |bytes| (f64::from(i16::from_le_bytes([bytes[0], bytes[1]])) / 32767.0).max(-1.0)
        }
        (U16, true) => |bytes| f64::from(u16::from_le_bytes([bytes[0], bytes[1]])) / 65535.0,
        (I8, false) => |bytes| f64::from(bytes[0] as i8),
        (U8, false) => |bytes| f64::from(bytes[0]),
        (I16, false) => |bytes| f64::from(i16::from_le_bytes([bytes[0], bytes[1]])),
        (U16, false) => |bytes| f64::from(u16::from_le_bytes([bytes[0], bytes[1]])),
        _ => return None,
    })
}
