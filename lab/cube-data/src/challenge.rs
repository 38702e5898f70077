//! Reads the challenge files.
//!
//! A `.f32` file and a `.zst` file are recognised by their first bytes, regardless of their names.
//! A `.bin` file has no such mark, so its name must end in `.bin` or `.bin.zst`.
//!
//! A `.bin` file has frames of 901 records of 8 `i32`, without a header. A record is the index of
//! the dropped component, the other three (0 to 511), position x, y, z in 1/512 m, and interacting,
//! 0 or 1. A `.f32` file has a header of 8 `u32` (magic "CF32", version 1, objects, frames, rate in
//! Hz, record bytes 53, 0, 0). Its records are position, orientation (x, y, z, w), linear and
//! angular velocity as `f32`, and interacting as `u8`. All numbers are little-endian. The reader
//! holds one frame in memory.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use kinepack::{EncodeError, EntityId, Pack, Snapshot};
use kinepack_capture::{Capture, CaptureLimits, TooManyValues, ValueCount, ZstdReader};

use crate::ChallengeError;
use crate::counted::Counted;
use crate::cube::{Cube, Measured, POSITION_OFFSET};

/// The number of objects in a `.bin` file. The file does not store this number.
pub(crate) const BIN_OBJECTS: u32 = 901;
const BIN_RECORD_BYTES: usize = 32;
pub(crate) const F32_RECORD_BYTES: usize = 53;
/// The lanes of a cube in a `.bin` record, each with the index of its word, and its name in
/// messages.
pub(crate) const BIN_LANES: [(usize, &str); 8] = [
    (4, "position x"),
    (5, "position y"),
    (6, "position z"),
    (0, "dropped component"),
    (1, "first component"),
    (2, "second component"),
    (3, "third component"),
    (7, "interacting"),
];
/// The first bytes of a `.f32` file.
const F32_MAGIC: &[u8] = b"CF32";
/// The first bytes of a `.zst` file.
const ZSTD_MAGIC: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD];
/// The maximum number of objects. No known capture has more, and a frame stays below 4 MB for any
/// header.
const MAX_OBJECTS: u32 = 65_536;
/// The largest window of a `.zst` file, which bounds the memory.
const MAX_WINDOW_BYTES: u64 = 128 << 20;

/// A challenge file that is read frame by frame.
pub struct Challenge {
    path: PathBuf,
    source: Box<dyn Read>,
    /// The number of bytes of the file that were read.
    read_bytes: Rc<Cell<u64>>,
    values: ValueCount,
    is_packed: bool,
    quantized: bool,
    objects: u32,
    rate_hz: u32,
    /// The number of frames that the header states.
    announced: Option<u32>,
    next_frame: u32,
    buffer: Vec<u8>,
}

/// One frame of a [`Challenge`].
#[derive(Clone, Copy, Debug)]
pub enum Frame<'a> {
    /// A frame of a `.bin` file.
    Quantized(QuantizedFrame<'a>),
    /// A frame of a `.f32` file.
    Floats(FloatFrame<'a>),
}

/// The records of a quantized frame.
#[derive(Clone, Copy, Debug)]
pub struct QuantizedFrame<'a> {
    path: &'a Path,
    frame: u32,
    bytes: &'a [u8],
}

/// The records of a frame before quantization.
#[derive(Clone, Copy, Debug)]
pub struct FloatFrame<'a> {
    bytes: &'a [u8],
}

impl Challenge {
    /// Opens a file. Its first bytes determine the format. For a `.bin` file, the name determines
    /// it.
    ///
    /// # Errors
    /// Returns [`ChallengeError`] for a file of another format, and for one that cannot be read.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, ChallengeError> {
        let path = path.into();
        let file = || Ok(BufReader::new(File::open(&path)?));
        Self::with_source(path.clone(), file)
    }

    /// Reads a capture from any reader. The format is recognised as by [`open`](Self::open).
    ///
    /// # Errors
    /// Fails as [`open`](Self::open) does.
    pub fn from_reader(
        name: impl Into<PathBuf>,
        reader: impl BufRead + 'static,
    ) -> Result<Self, ChallengeError> {
        Self::with_source(name.into(), || Ok(reader))
    }

    fn with_source<R: BufRead + 'static>(
        path: PathBuf,
        open: impl FnOnce() -> io::Result<R>,
    ) -> Result<Self, ChallengeError> {
        let name = path.to_string_lossy().into_owned();
        let unreadable = |source| ChallengeError::Io { path: path.clone(), source };
        let (source, read_bytes) = Counted::new(open().map_err(unreadable)?);
        let (start, source) = Peeked::new(source, ZSTD_MAGIC.len());
        let is_packed = name.ends_with(".zst") || start == ZSTD_MAGIC;
        let source: Box<dyn Read> = if is_packed {
            Box::new(ZstdReader::new(BufReader::new(source), MAX_WINDOW_BYTES))
        } else {
            Box::new(source)
        };
        let (start, source) = Peeked::new(source, F32_MAGIC.len());
        let inner = name.strip_suffix(".zst").unwrap_or(&name);
        let quantized = start != F32_MAGIC && inner.ends_with(".bin");
        if !quantized && start != F32_MAGIC && !inner.ends_with(".f32") {
            return Err(ChallengeError::UnknownFormat { path });
        }
        let mut challenge = Self {
            path,
            source: Box::new(source),
            read_bytes,
            values: ValueCount::default(),
            is_packed,
            quantized,
            objects: BIN_OBJECTS,
            rate_hz: 60,
            announced: None,
            next_frame: 0,
            buffer: Vec::new(),
        };
        if !quantized {
            challenge.read_header()?;
        }
        Ok(challenge)
    }

    fn read_header(&mut self) -> Result<(), ChallengeError> {
        let bad = |reason| ChallengeError::BadHeader { path: self.path.clone(), reason };
        let mut header = [0; 32];
        self.source.read_exact(&mut header).map_err(|source| match source.kind() {
            ErrorKind::UnexpectedEof => bad("it is shorter than a header"),
            _ => ChallengeError::Io { path: self.path.clone(), source },
        })?;
        let words: [u32; 8] = std::array::from_fn(|index| read_u32(&header, index * 4));
        let [magic, version, objects, frames, rate_hz, record_bytes, ..] = words;
        let reason = if magic.to_le_bytes() != *F32_MAGIC {
            "it does not begin with CF32"
        } else if version != 1 {
            "its version is not 1"
        } else if record_bytes as usize != F32_RECORD_BYTES {
            "its records are not of 53 bytes"
        } else if objects == 0 || objects > MAX_OBJECTS {
            "its number of entities is not in 1 to 65536"
        } else if rate_hz == 0 || rate_hz > 1000 {
            "its rate is not in 1 to 1000 Hz"
        } else {
            self.objects = objects;
            self.rate_hz = rate_hz;
            self.announced = Some(frames);
            return Ok(());
        };
        Err(bad(reason))
    }

    /// Returns the same file, but with the limits `limits` instead of [`CaptureLimits::default`].
    pub fn with_limits(mut self, limits: CaptureLimits) -> Self {
        self.values.limits = limits;
        self
    }

    /// Returns whether the file is a `.bin` file, whose frames have no floats.
    pub fn is_quantized(&self) -> bool {
        self.quantized
    }

    /// Returns the number of objects in a frame.
    pub fn objects(&self) -> u32 {
        self.objects
    }

    /// Returns the number of frames per second.
    pub fn rate_hz(&self) -> u32 {
        self.rate_hz
    }

    /// Returns the number of frames of the file, or `None` if neither its header nor its length
    /// states the number.
    pub fn frames(&self) -> Option<u32> {
        let plain = self.quantized && !self.is_packed;
        let from_length = || Some(self.path.metadata().ok()?.len() / self.frame_bytes() as u64);
        self.announced.or_else(|| {
            if plain { from_length().and_then(|n| u32::try_from(n).ok()) } else { None }
        })
    }

    fn frame_bytes(&self) -> usize {
        self.objects as usize * if self.quantized { BIN_RECORD_BYTES } else { F32_RECORD_BYTES }
    }

    /// Returns the next frame, or `None` at the end of the file.
    ///
    /// # Errors
    /// Returns [`ChallengeError`] if the file is damaged, too short or too long. Returns
    /// [`ChallengeError::TooManyValues`] if it holds more values than the limits allow for its
    /// size.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, ChallengeError> {
        self.buffer.resize(self.frame_bytes(), 0);
        let bytes = self.fill()?;
        let path = || self.path.clone();
        let frame = self.next_frame;
        let missing = self.announced.is_some_and(|announced| frame < announced);
        match bytes {
            0 if frame == 0 => return Err(ChallengeError::Empty { path: path() }),
            0 if !missing => return Ok(None),
            _ if self.announced == Some(frame) => {
                return Err(ChallengeError::TooLong { path: path(), frames: frame });
            }
            _ if bytes < self.buffer.len() => {
                return Err(ChallengeError::PartOfFrame {
                    path: path(),
                    frame,
                    bytes,
                    frame_bytes: self.buffer.len(),
                });
            }
            _ => {}
        }
        let counted = self.values.add(self.objects as usize, Cube::LANES, self.read_bytes.get());
        counted.map_err(|TooManyValues { values, limit }| ChallengeError::TooManyValues {
            path: path(),
            values,
            limit,
        })?;
        self.next_frame += 1;
        if !self.quantized {
            self.check_interacting()?;
        }
        let bytes = &self.buffer[..];
        Ok(Some(if self.quantized {
            Frame::Quantized(QuantizedFrame { path: &self.path, frame, bytes })
        } else {
            Frame::Floats(FloatFrame { bytes })
        }))
    }

    /// Reads up to a whole frame, and returns the number of bytes.
    fn fill(&mut self) -> Result<usize, ChallengeError> {
        let mut filled = 0;
        while filled < self.buffer.len() {
            match self.source.read(&mut self.buffer[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    let source =
                        io::Error::new(error.kind(), format!("frame {}: {error}", self.next_frame));
                    return Err(ChallengeError::Io { path: self.path.clone(), source });
                }
            }
        }
        Ok(filled)
    }

    /// Checks the byte that states whether each object interacts. Every bit pattern is a float, so
    /// only this byte reveals records of another format.
    fn check_interacting(&self) -> Result<(), ChallengeError> {
        let flags =
            self.buffer.chunks_exact(F32_RECORD_BYTES).map(|record| record[F32_RECORD_BYTES - 1]);
        match (0..).zip(flags).find(|(_, flag)| *flag > 1) {
            None => Ok(()),
            Some((object, flag)) => {
                Err(self.bad_value(object, format!("interacting is {flag}, not 0 or 1")))
            }
        }
    }

    /// Returns the error for a state of the last frame that does not fit its schema.
    pub fn bad_value(&self, object: u32, reason: String) -> ChallengeError {
        ChallengeError::BadValue {
            path: self.path.clone(),
            frame: self.next_frame.saturating_sub(1),
            object,
            reason,
        }
    }
}

impl QuantizedFrame<'_> {
    /// Appends the frame's objects to a snapshot of [`Cube`](crate::cube::Cube)s.
    ///
    /// # Errors
    /// Returns [`ChallengeError::BadValue`] for a value out of its range.
    pub fn push_into(&self, snapshot: &mut Snapshot) -> Result<(), ChallengeError> {
        for (object, record) in (0..).zip(self.bytes.chunks_exact(BIN_RECORD_BYTES)) {
            let words: [u32; 8] = std::array::from_fn(|index| read_u32(record, index * 4));
            let mut lanes = BIN_LANES.map(|(word, _)| words[word]);
            for axis in &mut lanes[..2] {
                *axis = axis.wrapping_add(POSITION_OFFSET);
            }
            snapshot.push_lanes(EntityId(object), &lanes).map_err(|error| {
                ChallengeError::BadValue {
                    path: self.path.to_path_buf(),
                    frame: self.frame,
                    object,
                    reason: match error {
                        EncodeError::LaneOutOfRange { lane, .. } => {
                            let (word, name) = BIN_LANES[lane];
                            format!("{name} {} is out of range", words[word] as i32)
                        }
                        other => other.to_string(),
                    },
                }
            })?;
        }
        Ok(())
    }
}

impl<'a> FloatFrame<'a> {
    /// Returns the frame's objects.
    pub fn states(&self) -> impl Iterator<Item = Measured> + use<'a> {
        self.bytes.chunks_exact(F32_RECORD_BYTES).map(|record| {
            let float = |index: usize| f32::from_bits(read_u32(record, index * 4));
            Measured {
                position: std::array::from_fn(float),
                orientation: std::array::from_fn(|axis| float(3 + axis)),
                velocity: std::array::from_fn(|axis| float(7 + axis)),
                interacting: record[F32_RECORD_BYTES - 1] != 0,
            }
        })
    }

    /// Returns the angular velocities of the objects in radians per second, in the order of
    /// [`states`](Self::states).
    pub fn angular_velocities(&self) -> impl Iterator<Item = [f32; 3]> + use<'a> {
        self.records()
            .map(|(floats, _)| [10, 11, 12].map(|index: usize| f32::from_bits(floats[index])))
    }

    /// For each object, the bits of position, orientation, linear and angular velocity, and whether
    /// something moves it.
    pub(crate) fn records(&self) -> impl Iterator<Item = ([u32; 13], bool)> + use<'a> {
        let records = self.bytes.chunks_exact(F32_RECORD_BYTES);
        records.map(|record| {
            (
                std::array::from_fn(|index| read_u32(record, index * 4)),
                record[F32_RECORD_BYTES - 1] != 0,
            )
        })
    }
}

/// Returns whether a file is a capture file (`.mcap`): whether it begins like one, or whether its
/// name ends in `.mcap`. The name identifies a file that is damaged or cannot be read.
pub fn is_capture(path: &Path) -> bool {
    let start = || Some(Peeked::new(File::open(path).ok()?, Capture::MAGIC.len()).0);
    path.extension().is_some_and(|ending| ending == "mcap")
        || start().is_some_and(|start| start == Capture::MAGIC)
}

/// A reader whose first bytes are already read. If reading these bytes ended in an error, the
/// reader returns that error after them.
struct Peeked<R> {
    start: Cursor<Vec<u8>>,
    error: Option<io::Error>,
    rest: R,
}

impl<R: Read> Peeked<R> {
    /// Returns the first `count` bytes, or fewer if there are no more, and a reader of the whole.
    fn new(mut rest: R, count: usize) -> (Vec<u8>, Self) {
        let mut start = Vec::with_capacity(count);
        let error = rest.by_ref().take(count as u64).read_to_end(&mut start).err();
        (start.clone(), Self { start: Cursor::new(start), error, rest })
    }
}

impl<R: Read> Read for Peeked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.start.read(buffer)? {
            0 => self.error.take().map_or_else(|| self.rest.read(buffer), Err),
            count => Ok(count),
        }
    }
}

fn read_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
