//! Compares this library with other formats on the same frames: bytes and time a frame.
//!
//! `cargo run --release -p comparisons --example rivals -- [FILE...]`: challenge files, whole;
//! without any, 10 seconds of the built-in world in each of two styles.
//!
//! Frames are quantized once, before the clock starts. Each rival gets them in the form that suits
//! it, and the frame 6 before (100 ms) if it can use it. It encodes and decodes every frame, and
//! the result is compared. Bytes are the payload's, without headers. The time of a frame is the
//! fastest of five passes, and times are means over the frames. Memory is reused if the rival
//! allows it.
//!
//! - bitcode: a derived binary format that lays each field of all structs out as a column and packs
//!   it.
//! - zstd: the general compressor with a reused context; level 3 is its default.
//! - compactly: a derived format with arithmetic coding, whose models start anew with each packet.

use std::error::Error;
use std::time::{Duration, Instant};

use comfy_table::{CellAlignment, Table, presets};
use cube_data::cube::{self, Measured, Quantized};
use cube_data::{Challenge, Frame as Captured};
use cubes::{Body, Config, Script, Style, World};
use kinepack::{Baselines, Codec, Decoder, Encoder, EntityId, Level, Snapshot, Tick, View};
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe;

/// Frames between a frame and its baseline, and between the older views of the adaptive level.
const LAG_FRAMES: usize = 6;
/// Frames of a run of the built-in world.
const WORLD_FRAMES: u32 = 600;
const WORLD_SEED: u64 = 1;
/// Frames a second.
const RATE_HZ: f64 = 60.0;
const PASSES: usize = 5;
const ZSTD_LEVEL: i32 = 3;
/// The lane value of x and y at zero.
const POSITION_OFFSET: i32 = 1 << 17;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    for file in &files {
        report(file, &captured(file)?)?;
    }
    if files.is_empty() {
        report("built-in world, typical", &simulated(Style::Typical)?)?;
        report("built-in world, push", &simulated(Style::Push)?)?;
    }
    Ok(())
}

/// Measures every rival on the frames and prints the table, as Markdown.
fn report(name: &str, frames: &[Frame]) -> Outcome<()> {
    let rivals: [(&str, Box<dyn Rival>); 9] = [
        ("bitcode, all entities", Box::new(Structs::new(Bitcode::default(), Sent::All))),
        ("bitcode, changed entities", Box::new(Structs::new(Bitcode::default(), Sent::Changed))),
        (
            "bitcode, all, then zstd -3",
            Box::new(Structs::new(Zstd::new(Bitcode::default())?, Sent::All)),
        ),
        (
            "bitcode, changed, then zstd -3",
            Box::new(Structs::new(Zstd::new(Bitcode::default())?, Sent::Changed)),
        ),
        ("zstd -3 of the XOR with the baseline", Box::new(Xor::new()?)),
        ("compactly, all entities", Box::new(Structs::new(Compactly, Sent::All))),
        ("compactly, changed entities", Box::new(Structs::new(Compactly, Sent::Changed))),
        ("kinepack `packed`", Box::new(Kinepack::new(Level::PACKED)?)),
        ("kinepack `adaptive`", Box::new(Kinepack::new(Level::ADAPTIVE)?)),
    ];
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["", "bytes a frame", "kbit/s at 60 Hz", "encode µs", "decode µs"]);
    for (name, mut rival) in rivals {
        let Cost { bytes, encode_us, decode_us } =
            measure(&mut *rival, frames).map_err(|error| format!("{name}: {error}"))?;
        let kbps = bytes * 8.0 * RATE_HZ / 1000.0;
        let numbers = [bytes, kbps, encode_us, decode_us].map(|number| format!("{number:.1}"));
        table.add_row([name.to_owned()].into_iter().chain(numbers));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    println!(
        "{name}, {} frames, each decoded and compared:\n\n{table}\n",
        frames.len().saturating_sub(LAG_FRAMES)
    );
    Ok(())
}

/// Means per frame.
struct Cost {
    bytes: f64,
    encode_us: f64,
    decode_us: f64,
}

fn measure(rival: &mut dyn Rival, frames: &[Frame]) -> Outcome<Cost> {
    let count =
        frames.len().checked_sub(LAG_FRAMES).filter(|count| *count > 0).ok_or("too few frames")?;
    let mut packet = Vec::new();
    let mut bytes = 0;
    let mut fastest = vec![[Duration::MAX; 2]; frames.len()];
    for _ in 0..PASSES {
        bytes = 0;
        for (index, frame) in frames.iter().enumerate().skip(LAG_FRAMES) {
            let known = [1, 2, 3]
                .into_iter()
                .filter_map(|lags| frames.get(index.checked_sub(lags * LAG_FRAMES)?));
            let views = Baselines::new(known.map(|frame| &frame.view))?;
            let known = Known { baseline: &frames[index - LAG_FRAMES], views };
            packet.clear();
            let begin = Instant::now();
            rival.encode(&known, frame, &mut packet)?;
            let encoded = Instant::now();
            rival.decode(&known, &packet, frame.view.tick)?;
            let times = [encoded - begin, encoded.elapsed()];
            bytes += packet.len();
            if !rival.holds(frame) {
                return Err(format!("frame {index} is not what went in").into());
            }
            for (fastest, time) in fastest[index].iter_mut().zip(times) {
                *fastest = time.min(*fastest);
            }
        }
    }
    let mean_us = |which: usize| {
        let total: Duration = fastest[LAG_FRAMES..].iter().map(|times| times[which]).sum();
        total.as_secs_f64() * 1e6 / count as f64
    };
    Ok(Cost { bytes: bytes as f64 / count as f64, encode_us: mean_us(0), decode_us: mean_us(1) })
}

/// A frame in the forms for the rivals.
struct Frame {
    view: View,
    cubes: Vec<PlainCube>,
    /// The records of a challenge file.
    records: Vec<[i32; 8]>,
}

/// The views that both sides hold.
struct Known<'a> {
    baseline: &'a Frame,
    /// The baseline and older ones.
    views: Baselines<'a>,
}

/// The quantized cube in the smallest types of the language.
#[derive(Clone, Copy, Debug, PartialEq, bitcode::Encode, bitcode::Decode, compactly::Encode)]
struct PlainCube {
    x: u32,
    y: u32,
    z: u16,
    dropped: u8,
    first: u16,
    second: u16,
    third: u16,
    interacting: bool,
}

/// A cube that differs from the baseline.
#[derive(Clone, Copy, Debug, PartialEq, bitcode::Encode, bitcode::Decode, compactly::Encode)]
struct ChangedCube {
    #[compactly(Sorted)]
    index: u16,
    cube: PlainCube,
}

impl Frame {
    fn new(snapshot: Snapshot) -> Self {
        let rows = |index: usize| std::array::from_fn(|lane| snapshot.lane(lane)[index]);
        let cubes = (0..snapshot.len()).map(rows).map(
            |[x, y, z, dropped, first, second, third, interacting]: [u32; 8]| {
                let [z, first, second, third] = [z, first, second, third].map(|lane| lane as u16);
                PlainCube {
                    x,
                    y,
                    z,
                    dropped: dropped as u8,
                    first,
                    second,
                    third,
                    interacting: interacting != 0,
                }
            },
        );
        let records = (0..snapshot.len()).map(rows).map(|lanes: [u32; 8]| {
            let [x, y, z, dropped, first, second, third, interacting] =
                lanes.map(|lane| lane as i32);
            [
                dropped,
                first,
                second,
                third,
                x - POSITION_OFFSET,
                y - POSITION_OFFSET,
                z,
                interacting,
            ]
        });
        let (cubes, records) = (cubes.collect(), records.collect());
        Self { view: View::from(snapshot), cubes, records }
    }
}

/// The frames of a challenge file.
fn captured(file: &str) -> Outcome<Vec<Frame>> {
    let schema = cube::schema(Quantized::Everything);
    let mut capture = Challenge::open(file)?;
    let mut frames = Vec::new();
    while let Some(captured) = capture.next_frame()? {
        let mut snapshot = Snapshot::new(&schema, Tick(frames.len() as u32));
        match captured {
            Captured::Quantized(records) => records.push_into(&mut snapshot)?,
            Captured::Floats(states) => push_all(&mut snapshot, states.states())?,
        }
        frames.push(Frame::new(snapshot));
    }
    Ok(frames)
}

/// The frames of a run of the built-in world.
fn simulated(style: Style) -> Outcome<Vec<Frame>> {
    let schema = cube::schema(Quantized::Everything);
    let mut world = World::new(&Config::default())?;
    let mut script = Script::new(style, WORLD_SEED);
    let mut frames = Vec::new();
    for tick in 0..WORLD_FRAMES + LAG_FRAMES as u32 {
        let mut snapshot = Snapshot::new(&schema, Tick(tick));
        let measured = |Body { position, orientation, velocity, interacting }| Measured {
            position,
            orientation,
            velocity,
            interacting,
        };
        push_all(&mut snapshot, world.bodies().map(|(_, body)| measured(body)))?;
        frames.push(Frame::new(snapshot));
        let input = script.next_input(&world);
        world.step(input);
    }
    Ok(frames)
}

fn push_all(snapshot: &mut Snapshot, states: impl Iterator<Item = Measured>) -> Outcome<()> {
    for (object, state) in (0..).zip(states) {
        cube::push(snapshot, Quantized::Everything, EntityId(object), state)?;
    }
    Ok(())
}

/// A way to send frames.
trait Rival {
    /// Appends the frame to an empty packet.
    fn encode(&mut self, known: &Known<'_>, frame: &Frame, packet: &mut Vec<u8>) -> Outcome<()>;

    /// Decodes the frame from the packet.
    fn decode(&mut self, known: &Known<'_>, packet: &[u8], tick: Tick) -> Outcome<()>;

    /// True if the decoded frame equals this one.
    fn holds(&self, frame: &Frame) -> bool;
}

/// A level of this library, with the profile trained for cubes.
struct Kinepack {
    encoder: Encoder,
    decoder: Decoder,
    decoded: View,
}

impl Kinepack {
    fn new(level: Level) -> Outcome<Self> {
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

/// Structs in a derived format.
struct Structs<F> {
    format: F,
    sent: Sent,
    changed: Vec<ChangedCube>,
    decoded: Vec<PlainCube>,
}

/// The structs to send.
#[derive(Clone, Copy, PartialEq)]
enum Sent {
    All,
    /// Those that differ from the baseline, each with its index.
    Changed,
}

impl<F: Format> Structs<F> {
    fn new(format: F, sent: Sent) -> Self {
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
trait Format {
    /// Appends to an empty packet.
    #[allow(clippy::ptr_arg, reason = "compactly takes no slices")]
    fn write<T: Struct>(&mut self, structs: &Vec<T>, packet: &mut Vec<u8>) -> Outcome<()>;

    fn read<T: Struct>(&mut self, packet: &[u8]) -> Outcome<Vec<T>>;
}

/// A type with all the derives.
trait Struct: bitcode::Encode + bitcode::DecodeOwned + compactly::Encode {}

impl Struct for PlainCube {}
impl Struct for ChangedCube {}

#[derive(Default)]
struct Bitcode(bitcode::Buffer);

impl Format for Bitcode {
    fn write<T: Struct>(&mut self, structs: &Vec<T>, packet: &mut Vec<u8>) -> Outcome<()> {
        packet.extend_from_slice(self.0.encode(structs));
        Ok(())
    }

    fn read<T: Struct>(&mut self, packet: &[u8]) -> Outcome<Vec<T>> {
        Ok(self.0.decode(packet)?)
    }
}

struct Compactly;

impl Format for Compactly {
    fn write<T: Struct>(&mut self, structs: &Vec<T>, packet: &mut Vec<u8>) -> Outcome<()> {
        *packet = compactly::encode(structs);
        Ok(())
    }

    fn read<T: Struct>(&mut self, packet: &[u8]) -> Outcome<Vec<T>> {
        Ok(compactly::decode(packet).ok_or("compactly takes it for damaged")?)
    }
}

/// Another format, compressed.
struct Zstd<F> {
    format: F,
    plain: Vec<u8>,
    zstd: ZstdBytes,
}

impl<F> Zstd<F> {
    fn new(format: F) -> Outcome<Self> {
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

/// The records of a challenge file, XORed with the baseline's and compressed.
struct Xor {
    bytes: Vec<u8>,
    zstd: ZstdBytes,
    decoded: Vec<[i32; 8]>,
}

impl Xor {
    fn new() -> Outcome<Self> {
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

/// zstd with reused contexts. Its header stores the uncompressed size.
struct ZstdBytes {
    compressor: Compressor<'static>,
    decompressor: Decompressor<'static>,
}

impl ZstdBytes {
    fn new() -> Outcome<Self> {
        Ok(Self { compressor: Compressor::new(ZSTD_LEVEL)?, decompressor: Decompressor::new()? })
    }

    /// Replaces `packed`.
    fn compress(&mut self, plain: &[u8], packed: &mut Vec<u8>) -> Outcome<()> {
        packed.clear();
        packed.reserve(zstd_safe::compress_bound(plain.len()));
        self.compressor.compress_to_buffer(plain, packed)?;
        Ok(())
    }

    /// Replaces `plain`.
    fn decompress(&mut self, packed: &[u8], plain: &mut Vec<u8>) -> Outcome<()> {
        let size = zstd_safe::get_frame_content_size(packed).map_err(|error| error.to_string())?;
        plain.clear();
        plain.reserve(usize::try_from(size.ok_or("zstd does not say how long it is")?)?);
        self.decompressor.decompress_to_buffer(packed, plain)?;
        Ok(())
    }
}
