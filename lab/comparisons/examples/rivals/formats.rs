//! The formats that are compared.

use cube_data::cube::{self, Quantized};
use kinepack::{Codec, Decoder, Encoder, Level, Tick, View};
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe;

use crate::Outcome;
use crate::frame::{ChangedCube, Frame, Known, PlainCube};

const ZSTD_LEVEL: i32 = 3;

/// A way to send frames.
pub(crate) trait Rival {
    /// Appends the frame to an empty packet.
    fn encode(&mut self, known: &Known<'_>, frame: &Frame, packet: &mut Vec<u8>) -> Outcome<()>;

    /// Decodes the frame from the packet.
    fn decode(&mut self, known: &Known<'_>, packet: &[u8], tick: Tick) -> Outcome<()>;

    /// Returns whether the decoded frame equals `frame`.
    fn holds(&self, frame: &Frame) -> bool;
}

/// A level of this library, with the profile trained for cubes.
pub(crate) struct Kinepack {
    encoder: Encoder,
    decoder: Decoder,
    decoded: View,
}

impl Kinepack {
    pub(crate) fn new(level: Level) -> Outcome<Self> {
        let schema = cube::schema(Quantized::Everything);
        let codec = Codec::new(schema.clone(), level, cube::profile())?;
        let (encoder, decoder) = (Encoder::new(&codec), Decoder::new(&codec));
        Ok(Self { encoder, decoder, decoded: View::empty(&schema) })
    }
}

impl Rival for Kinepack {
    fn encode(&mut self, known: &Known<'_>, frame: &Frame, packet: &mut Vec<u8>) -> Outcome<()> {
        let view = self.encoder.encode(known.views, &frame.view, packet)?;
        self.encoder.recycle(view);
        Ok(())
    }

    fn decode(&mut self, known: &Known<'_>, packet: &[u8], tick: Tick) -> Outcome<()> {
        let decoded = self.decoder.decode(known.views, packet, tick)?;
        self.decoder.recycle(std::mem::replace(&mut self.decoded, decoded));
        Ok(())
    }

    fn holds(&self, frame: &Frame) -> bool {
        self.decoded == frame.view
    }
}

/// Structs that a derived format encodes.
pub(crate) struct Structs<F> {
    format: F,
    sent: Sent,
    changed: Vec<ChangedCube>,
    decoded: Vec<PlainCube>,
}

/// The structs that are sent.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Sent {
    All,
    /// The structs that differ from the baseline are sent, each with its index.
    Changed,
}

impl<F: Format> Structs<F> {
    pub(crate) fn new(format: F, sent: Sent) -> Self {
        Self { format, sent, changed: Vec::new(), decoded: Vec::new() }
    }
}

impl<F: Format> Rival for Structs<F> {
    fn encode(&mut self, known: &Known<'_>, frame: &Frame, packet: &mut Vec<u8>) -> Outcome<()> {
        if self.sent == Sent::All {
            return self.format.write(&frame.cubes, packet);
        }
        let pairs = (0..).zip(known.baseline.cubes.iter().zip(&frame.cubes));
        let changed = pairs.filter(|(_, (base, cube))| base != cube);
        self.changed.clear();
        self.changed.extend(changed.map(|(index, (_, &cube))| ChangedCube { index, cube }));
        self.format.write(&self.changed, packet)
    }

    fn decode(&mut self, known: &Known<'_>, packet: &[u8], _: Tick) -> Outcome<()> {
        if self.sent == Sent::All {
            self.decoded = self.format.read(packet)?;
            return Ok(());
        }
        self.decoded.clone_from(&known.baseline.cubes);
        for ChangedCube { index, cube } in self.format.read(packet)? {
            *self.decoded.get_mut(usize::from(index)).ok_or("no such entity")? = cube;
        }
        Ok(())
    }

    fn holds(&self, frame: &Frame) -> bool {
        self.decoded == frame.cubes
    }
}

/// A format of structs.
pub(crate) trait Format {
    /// Appends to an empty packet.
    #[allow(clippy::ptr_arg, reason = "compactly takes no slices")]
    fn write<T: Struct>(&mut self, structs: &Vec<T>, packet: &mut Vec<u8>) -> Outcome<()>;

    fn read<T: Struct>(&mut self, packet: &[u8]) -> Outcome<Vec<T>>;
}

/// A type with the derives that all formats need.
pub(crate) trait Struct: bitcode::Encode + bitcode::DecodeOwned + compactly::Encode {}

impl Struct for PlainCube {}
impl Struct for ChangedCube {}

#[derive(Default)]
pub(crate) struct Bitcode(bitcode::Buffer);

impl Format for Bitcode {
    fn write<T: Struct>(&mut self, structs: &Vec<T>, packet: &mut Vec<u8>) -> Outcome<()> {
        packet.extend_from_slice(self.0.encode(structs));
        Ok(())
    }

    fn read<T: Struct>(&mut self, packet: &[u8]) -> Outcome<Vec<T>> {
        Ok(self.0.decode(packet)?)
    }
}

pub(crate) struct Compactly;

impl Format for Compactly {
    fn write<T: Struct>(&mut self, structs: &Vec<T>, packet: &mut Vec<u8>) -> Outcome<()> {
        *packet = compactly::encode(structs);
        Ok(())
    }

    fn read<T: Struct>(&mut self, packet: &[u8]) -> Outcome<Vec<T>> {
        Ok(compactly::decode(packet).ok_or("compactly takes it for damaged")?)
    }
}

/// A format whose output zstd compresses.
pub(crate) struct Zstd<F> {
    format: F,
    plain: Vec<u8>,
    zstd: ZstdBytes,
}

impl<F> Zstd<F> {
    pub(crate) fn new(format: F) -> Outcome<Self> {
        Ok(Self { format, plain: Vec::new(), zstd: ZstdBytes::new()? })
    }
}

impl<F: Format> Format for Zstd<F> {
    fn write<T: Struct>(&mut self, structs: &Vec<T>, packet: &mut Vec<u8>) -> Outcome<()> {
        self.plain.clear();
        self.format.write(structs, &mut self.plain)?;
        self.zstd.compress(&self.plain, packet)
    }

    fn read<T: Struct>(&mut self, packet: &[u8]) -> Outcome<Vec<T>> {
        self.zstd.decompress(packet, &mut self.plain)?;
        self.format.read(&self.plain)
    }
}

/// The records of a challenge file, XORed with the baseline's records and compressed.
pub(crate) struct Xor {
    bytes: Vec<u8>,
    zstd: ZstdBytes,
    decoded: Vec<[i32; 8]>,
}

impl Xor {
    pub(crate) fn new() -> Outcome<Self> {
        Ok(Self { bytes: Vec::new(), zstd: ZstdBytes::new()?, decoded: Vec::new() })
    }
}

impl Rival for Xor {
    fn encode(&mut self, known: &Known<'_>, frame: &Frame, packet: &mut Vec<u8>) -> Outcome<()> {
        let pairs = known.baseline.records.as_flattened().iter().zip(frame.records.as_flattened());
        self.bytes.clear();
        self.bytes.extend(pairs.flat_map(|(base, new)| (base ^ new).to_le_bytes()));
        self.zstd.compress(&self.bytes, packet)
    }

    fn decode(&mut self, known: &Known<'_>, packet: &[u8], _: Tick) -> Outcome<()> {
        self.zstd.decompress(packet, &mut self.bytes)?;
        self.decoded.clone_from(&known.baseline.records);
        let (words, _) = self.bytes.as_chunks();
        for (lane, word) in self.decoded.as_flattened_mut().iter_mut().zip(words) {
            *lane ^= i32::from_le_bytes(*word);
        }
        Ok(())
    }

    fn holds(&self, frame: &Frame) -> bool {
        self.decoded == frame.records
    }
}

/// zstd with contexts that are reused. The header of its output stores the uncompressed size.
struct ZstdBytes {
    compressor: Compressor<'static>,
    decompressor: Decompressor<'static>,
}

impl ZstdBytes {
    fn new() -> Outcome<Self> {
        Ok(Self { compressor: Compressor::new(ZSTD_LEVEL)?, decompressor: Decompressor::new()? })
    }

    /// Compresses `plain`, and replaces `packed` with the result.
    fn compress(&mut self, plain: &[u8], packed: &mut Vec<u8>) -> Outcome<()> {
        packed.clear();
        packed.reserve(zstd_safe::compress_bound(plain.len()));
        self.compressor.compress_to_buffer(plain, packed)?;
        Ok(())
    }

    /// Decompresses `packed`, and replaces `plain` with the result.
    fn decompress(&mut self, packed: &[u8], plain: &mut Vec<u8>) -> Outcome<()> {
        let size = zstd_safe::get_frame_content_size(packed).map_err(|error| error.to_string())?;
        plain.clear();
        plain.reserve(usize::try_from(size.ok_or("zstd does not say how long it is")?)?);
        self.decompressor.decompress_to_buffer(packed, plain)?;
        Ok(())
    }
}
