//! The bytes of a document's buffers, which are the binary chunk, data inside the JSON, or files. A
//! buffer is loaded on first use, so a buffer that only a texture uses may be missing. Compressed
//! views are decoded on first use, and then kept.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::percent_decode_str;

use super::document::Document;
use super::json::Packed;
use super::meshopt::Layout;
use super::{ImportError, ImportOptions};
use crate::Transform;
use crate::import::budget::Budget;

/// Decodes base64 with or without `=` at the end.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The number of keys that all channels may read for each transform that the clips may have. Each
/// of three channels has key times, which are read twice, and up to three values per key. There may
/// also be more keys than samples.
const KEYS_PER_TRANSFORM: u64 = 32;

/// An upper bound on the memory of an entry in the map of decoded views, besides its data, in
/// bytes.
const MOST_OF_ENTRY_BYTES: u64 = 512;

pub(super) struct Buffers<'a> {
    pub(super) document: Document<'a>,
    /// The memory budget of the whole import.
    pub(super) budget: Budget,
    chunk: Option<&'a [u8]>,
    /// The data of each buffer. The value is `None` before the buffer's first use.
    loaded: Vec<Option<Cow<'a, [u8]>>>,
    /// The decoded data of the compressed views that were used so far.
    decoded: BTreeMap<usize, Vec<u8>>,
    /// The buffers that could not be loaded. The list exists because many channels may need a
    /// buffer, and each attempt may take long.
    bad_buffers: BTreeSet<usize>,
    /// The compressed views that could not be decoded, listed for the same reason.
    bad_views: BTreeSet<usize>,
    /// The maximum number of bytes of all loaded files and decoded views together. The limit exists
    /// because a thousand buffers may name the same file.
    limit_bytes: u64,
    room_bytes: u64,
    /// The maximum number of keys that all accessors may read together. The limit exists because a
    /// thousand channels may share an accessor.
    limit_keys: u64,
    room_keys: u64,
    resolve: &'a mut dyn FnMut(&str, u64) -> io::Result<Vec<u8>>,
}

/// The bytes of a buffer view, and the distance between its elements if the view states one.
pub(super) struct View<'b> {
    pub(super) bytes: &'b [u8],
    pub(super) stride_bytes: Option<usize>,
}

impl<'a> Buffers<'a> {
    pub(super) fn new(
        document: Document<'a>,
        chunk: Option<&'a [u8]>,
        options: &ImportOptions,
        budget: Budget,
        resolve: &'a mut dyn FnMut(&str, u64) -> io::Result<Vec<u8>>,
    ) -> Self {
        let loaded = vec![None; document.root.buffers.len()];
        let limit_bytes = options.max_bytes;
        let transforms =
            (options.max_transforms as u64).min(budget.limit() / size_of::<Transform>() as u64);
        let limit_keys = KEYS_PER_TRANSFORM.saturating_mul(transforms);
        let (room_bytes, room_keys) = (limit_bytes, limit_keys);
        Self {
            document,
            budget,
            chunk,
            loaded,
            decoded: BTreeMap::new(),
            bad_buffers: BTreeSet::new(),
            bad_views: BTreeSet::new(),
            limit_bytes,
            room_bytes,
            limit_keys,
            room_keys,
            resolve,
        }
    }

    /// Subtracts the keys that an accessor is about to read from the number that remains.
    pub(super) fn spend_keys(&mut self, accessor: usize, keys: u64) -> Result<(), ImportError> {
        match self.room_keys.checked_sub(keys) {
            Some(rest) => self.room_keys = rest,
            None => {
                let (file, limit) = (self.document.file.to_owned(), self.limit_keys);
                return Err(ImportError::TooManyKeys { file, accessor, limit });
            }
        }
        Ok(())
    }

    /// Returns the bytes of view `index`. `accessor` is the accessor that needs them, for errors.
    pub(super) fn view(&mut self, accessor: usize, index: usize) -> Result<View<'_>, ImportError> {
        let document = self.document;
        let bad = |reason| document.bad_accessor(accessor, reason);
        let Some(view) = document.root.buffer_views.get(index) else {
            return Err(bad("its buffer view does not exist"));
        };
        let stride_bytes = match view.byte_stride.map(usize::try_from).transpose() {
            Ok(stride) => stride,
            Err(_) => return Err(bad("it reaches beyond its buffer view")),
        };
        let packed = view.extensions.as_ref().and_then(|extensions| extensions.meshopt.as_ref());
        let bytes = match packed {
            Some(packed) => {
                if !self.decoded.contains_key(&index) {
                    if packed.count.checked_mul(packed.byte_stride) != Some(view.byte_length) {
                        return Err(bad("its buffer view has another length than its data"));
                    }
                    if self.bad_views.contains(&index) {
                        return Err(bad("its buffer view cannot be decoded"));
                    }
                    self.bad_views.insert(index);
                    let decoded = self.decode(accessor, packed)?;
                    self.bad_views.remove(&index);
                    self.decoded.insert(index, decoded);
                }
                self.decoded.get(&index).map(Vec::as_slice).unwrap_or_default()
            }
            None => self.part(accessor, view.buffer, view.byte_offset, view.byte_length)?,
        };
        Ok(View { bytes, stride_bytes })
    }

    /// Decodes a compressed view.
    fn decode(&mut self, accessor: usize, packed: &Packed) -> Result<Vec<u8>, ImportError> {
        let document = self.document;
        let bad = |reason| document.bad_accessor(accessor, reason);
        let number = |number| usize::try_from(number).unwrap_or(usize::MAX);
        let (count, stride) = (number(packed.count), number(packed.byte_stride));
        let layout = Layout { mode: packed.mode, filter: packed.filter, count, stride };
        let (buffer, offset, length) = (packed.buffer, packed.byte_offset, packed.byte_length);
        let stream = self.part(accessor, buffer, offset, length)?;
        let bytes = layout.bytes(stream).map_err(bad)? as u64;
        self.room_bytes = self.room_bytes.checked_sub(bytes).ok_or_else(|| self.too_many())?;
        self.budget.take(bytes + MOST_OF_ENTRY_BYTES)?;
        let stream = self.part(accessor, buffer, offset, length)?;
        layout.decode(stream).map_err(bad)
    }

    /// Returns the bytes of a part of a buffer.
    fn part(
        &mut self,
        accessor: usize,
        buffer: usize,
        offset: Option<u64>,
        length: u64,
    ) -> Result<&[u8], ImportError> {
        let document = self.document;
        let buffer = self.buffer(accessor, buffer)?;
        let range = || {
            let offset = usize::try_from(offset.unwrap_or_default()).ok()?;
            Some(offset..offset.checked_add(usize::try_from(length).ok()?)?)
        };
        range().and_then(|range| buffer.get(range)).ok_or_else(|| {
            document.bad_accessor(accessor, "its buffer view reaches beyond the buffer")
        })
    }

    fn buffer(&mut self, accessor: usize, index: usize) -> Result<&[u8], ImportError> {
        let document = self.document;
        if index >= self.loaded.len() {
            return Err(document.bad_accessor(accessor, "its buffer does not exist"));
        }
        if self.loaded[index].is_none() {
            if self.bad_buffers.contains(&index) {
                return Err(document.bad_buffer(index, "it cannot be loaded"));
            }
            self.bad_buffers.insert(index);
            let bytes = self.load(index)?;
            self.bad_buffers.remove(&index);
            self.loaded[index] = Some(bytes);
        }
        Ok(self.loaded[index].as_deref().unwrap_or_default())
    }

    fn load(&mut self, index: usize) -> Result<Cow<'a, [u8]>, ImportError> {
        let document = self.document;
        let buffer = &document.root.buffers[index];
        let bad = |reason| document.bad_buffer(index, reason);
        let mut bytes = match buffer.uri.as_deref() {
            None if index == 0 => {
                Cow::Borrowed(self.chunk.ok_or_else(|| bad("there is no binary chunk"))?)
            }
            None => return Err(bad("it has no address and is not the binary chunk")),
            Some(uri) => Cow::Owned(match uri.strip_prefix("data:") {
                Some(data) => {
                    let (kind, text) = data.split_once(',').unwrap_or_default();
                    if !kind.ends_with(";base64") {
                        return Err(bad("its data is not in base64"));
                    }
                    self.budget.take(text.len() as u64)?;
                    BASE64.decode(text).map_err(|_| bad("its data is not in base64"))?
                }
                None => self.file(index, uri)?,
            }),
        };
        let Some(length) =
            usize::try_from(buffer.byte_length).ok().filter(|length| *length <= bytes.len())
        else {
            return Err(bad("it has fewer bytes than its length"));
        };
        match &mut bytes {
            Cow::Borrowed(bytes) => *bytes = &bytes[..length],
            Cow::Owned(bytes) => bytes.truncate(length),
        }
        Ok(bytes)
    }

    fn file(&mut self, index: usize, uri: &str) -> Result<Vec<u8>, ImportError> {
        let document = self.document;
        let path = percent_decode_str(uri).decode_utf8().ok().filter(|path| !path.contains("://"));
        let path =
            path.ok_or_else(|| document.bad_buffer(index, "its address is not a relative path"))?;
        let room_bytes = self.room_bytes.min(self.budget.room_for_file());
        let bytes = (self.resolve)(&path, room_bytes).and_then(|bytes| {
            self.room_bytes = self
                .room_bytes
                .checked_sub(bytes.len() as u64)
                .ok_or(io::ErrorKind::FileTooLarge)?;
            Ok(bytes)
        });
        let bytes = bytes.map_err(|source| match source.kind() {
            io::ErrorKind::FileTooLarge if room_bytes < self.room_bytes => {
                self.budget.too_much(room_bytes + 1)
            }
            io::ErrorKind::FileTooLarge => self.too_many(),
            _ => ImportError::BufferFile { file: document.file.to_owned(), buffer: index, source },
        })?;
        self.budget.add_file(bytes.len() as u64)?;
        Ok(bytes)
    }

    fn too_many(&self) -> ImportError {
        let (file, limit_bytes) = (self.document.file.to_owned(), self.limit_bytes);
        ImportError::TooManyBytes { file, limit_bytes }
    }
}
