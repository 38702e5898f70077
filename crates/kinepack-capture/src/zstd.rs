//! Decompresses zstd data without C code.

use std::io::{self, BufRead, ErrorKind, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Decompresses zstd data while it is read: all frames in the data, with their checksums checked.
///
/// The reader takes memory for the window of a frame, and 128 KiB. A frame whose window exceeds the
/// limit is refused.
///
/// ```
/// use std::io::Read;
/// use kinepack_capture::ZstdReader;
///
/// let damaged = [0x28, 0xB5, 0x2F, 0xFD, 0x20, 0x03];
/// let mut unpacked = Vec::new();
/// let refused = ZstdReader::new(&damaged[..], 1 << 20).read_to_end(&mut unpacked);
/// assert_eq!(refused.map_err(|error| error.kind()), Err(std::io::ErrorKind::InvalidData));
/// ```
pub struct ZstdReader<R> {
    packed: Noting<R>,
    max_window_bytes: u64,
    /// The decoder of the current frame; `None` between frames.
    frame: Option<FrameDecoder>,
}

impl<R: BufRead> ZstdReader<R> {
    /// Makes a reader of `packed`, which it reads to the end. A reader without any data has no
    /// frames, which is not an error.
    pub fn new(packed: R, max_window_bytes: u64) -> Self {
        Self { packed: Noting { inner: packed, failed: None }, max_window_bytes, frame: None }
    }

    /// Begins the next frame; returns `None` at the end of the data.
    fn begin_frame(&mut self) -> io::Result<Option<FrameDecoder>> {
        loop {
            if self.packed.inner.fill_buf()?.is_empty() {
                return Ok(None);
            }
            // Makes a new decoder each time, because a decoder that is reused would reserve the
            // window first.
            let mut frame = FrameDecoder::new();
            frame.set_max_window_size(self.max_window_bytes);
            match frame.init(&mut self.packed) {
                Ok(()) => return Ok(Some(frame)),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let skipped =
                        io::copy(&mut (&mut self.packed).take(length.into()), &mut io::sink())?;
                    if skipped < u64::from(length) {
                        return Err(damaged("a skipped frame is cut off"));
                    }
                }
                Err(error) => return Err(self.packed.reason(error)),
            }
        }
    }
}

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut frame = match self.frame.take() {
                Some(frame) => frame,
                None => match self.begin_frame()? {
                    Some(frame) => frame,
                    None => return Ok(0),
                },
            };
            while frame.can_collect() == 0 && !frame.is_finished() {
                frame
                    .decode_blocks(&mut self.packed, BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(|error| self.packed.reason(error))?;
            }
            if frame.can_collect() > 0 {
                let read = frame.read(buffer)?;
                self.frame = Some(frame);
                return Ok(read);
            }
            let saved = frame.get_checksum_from_data();
            if saved.is_some() && saved != frame.get_calculated_checksum() {
                return Err(damaged("the checksum of a frame differs"));
            }
        }
    }
}

fn damaged(reason: impl std::fmt::Display) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("zstd data damaged or cut off: {reason}"))
}

/// Notes the error of a reader, because `ruzstd` wraps the error in its own.
struct Noting<R> {
    inner: R,
    failed: Option<io::Error>,
}

impl<R> Noting<R> {
    /// Returns the reader's own error if it has failed, otherwise the error of the data.
    fn reason(&mut self, of_data: FrameDecoderError) -> io::Error {
        self.failed.take().unwrap_or_else(|| damaged(of_data))
    }
}

impl<R: Read> Read for Noting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer).map_err(|error| {
            let kind = error.kind();
            if kind != ErrorKind::Interrupted {
                self.failed = Some(error);
            }
            kind.into()
        })
    }
}

#[cfg(test)]
mod tests {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn unpack(packed: &[u8]) -> Result<Vec<u8>, String> {
        let mut out = Vec::new();
        let mut reader = ZstdReader::new(packed, 1 << 20);
        reader.read_to_end(&mut out).map(|_| out).map_err(|error| error.to_string())
    }

    #[test]
    fn all_frames_are_unpacked_and_checked() {
        let frame = compress_to_vec(&b"tick tock tick tock"[..], CompressionLevel::Fastest);
        let skipped = [0x50, 0x2A, 0x4D, 0x18, 2, 0, 0, 0, 7, 7];
        assert_eq!(unpack(&[]), Ok(Vec::new()));
        let all = [&frame[..], &skipped, &frame].concat();
        assert_eq!(unpack(&all).as_deref(), Ok(&b"tick tock tick tocktick tock tick tock"[..]));
        for length in 1..frame.len() {
            assert!(unpack(&frame[..length]).is_err(), "cut at {length}");
        }
        assert!(unpack(&skipped[..9]).is_err());
        assert!(unpack(&[&frame[..], b"more"].concat()).is_err());
        let mut flipped = frame.clone();
        *flipped.last_mut().unwrap() ^= 1;
        assert!(unpack(&flipped).unwrap_err().contains("checksum"));
        // The frame has a window of 2 MiB.
        assert!(unpack(&[0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x58, 1, 0, 0]).is_err());
    }

    #[test]
    fn an_error_of_the_reader_is_reported_as_such() {
        struct Failing;
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(ErrorKind::PermissionDenied.into())
            }
        }
        let frame = compress_to_vec(&[0; 1000][..], CompressionLevel::Fastest);
        let packed = io::BufReader::new((&frame[..8]).chain(Failing));
        let error = ZstdReader::new(packed, 1 << 20).read_to_end(&mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    }
}
