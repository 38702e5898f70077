//! Converts challenge files to capture files and back, bit for bit. See `spec/CAPTURE.md`, section
//! 7.

use std::fmt;
use std::io::{self, Seek, Write};

use kinepack::{EntityId, Pack, Schema, Snapshot, Tick};
use kinepack_capture::float_words::{to_f32_bits, to_word};
use kinepack_capture::{Capture, CaptureError, CaptureFrame, RecordError, Recorder, Stream};

use crate::challenge::{BIN_LANES, BIN_OBJECTS, F32_RECORD_BYTES};
use crate::cube::{Cube, POSITION_OFFSET};
use crate::f32_frames::{header, write_count};
use crate::{Challenge, ChallengeError, Frame};

/// The name of the stream of cubes. A `.f32` file has a second stream, for their velocities.
const CUBES: &str = "cubes";
const VELOCITIES: &str = "cubes.velocity";
/// The number of frames per second of a `.bin` file, which does not store the rate.
const BIN_RATE_HZ: u32 = 60;

/// The part of a cube's state in a `.f32` file that [`Cube`] does not have.
#[derive(Pack)]
pub(crate) struct CubeVelocity {
    /// The linear velocity in metres per second.
    velocity: [f32; 3],
    /// The angular velocity in radians per second.
    angular_velocity: [f32; 3],
}

/// The size and format of a converted file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Converted {
    /// The number of frames of the challenge file.
    pub frames: u32,
    /// Whether the file is a `.bin` file, whose frames have no floats.
    pub is_quantized: bool,
}

/// Records the rest of a challenge file. A `.bin` file becomes a stream `cubes` of lanes. A `.f32`
/// file becomes a stream `cubes` of states before quantization, and `cubes.velocity` with linear
/// and angular velocities. Frames have ticks from 0, and objects have ids from 0. The function
/// keeps one frame in memory.
///
/// # Errors
/// Returns [`ConvertError::Challenge`] if the challenge file cannot be read, and
/// [`ConvertError::Record`] if the capture cannot be recorded. Earlier frames stay recorded.
pub fn challenge_to_capture(
    challenge: &mut Challenge,
    recorder: &mut Recorder,
) -> Result<Converted, ConvertError> {
    let frames = if challenge.is_quantized() {
        record_bin(challenge, recorder)
    } else {
        record_f32(challenge, recorder)
    };
    Ok(Converted { frames: frames?, is_quantized: challenge.is_quantized() })
}

fn record_bin(challenge: &mut Challenge, recorder: &mut Recorder) -> Result<u32, ConvertError> {
    let schema = Schema::of::<Cube>();
    let cubes = recorder.stream_of_lanes(CUBES, &schema, challenge.rate_hz().into())?;
    let mut snapshot = Snapshot::new(&schema, Tick(0));
    let mut tick = 0;
    while let Some(frame) = challenge.next_frame()? {
        let Frame::Quantized(frame) = frame else { break };
        snapshot.clear(Tick(tick));
        frame.push_into(&mut snapshot)?;
        recorder.record_snapshot(&cubes, &snapshot)?;
        tick += 1;
    }
    Ok(tick)
}

fn record_f32(challenge: &mut Challenge, recorder: &mut Recorder) -> Result<u32, ConvertError> {
    let rate_hz = challenge.rate_hz().into();
    let cubes = recorder.stream::<Cube>(CUBES, rate_hz)?;
    let velocities = recorder.stream::<CubeVelocity>(VELOCITIES, rate_hz)?;
    let mut tick = 0;
    while let Some(frame) = challenge.next_frame()? {
        let Frame::Floats(frame) = frame else { break };
        let records = || (0..).map(EntityId).zip(frame.records());
        // `Pack::store_raw` is not used, because converting a NaN may change its bits.
        recorder.record_with(&cubes, Tick(tick), records(), |(floats, interacting), words| {
            words.iter_mut().zip(&floats[..7]).for_each(|(word, float)| *word = to_word(*float));
            words[7] = interacting.into();
            Ok(())
        })?;
        recorder.record_with(&velocities, Tick(tick), records(), |(floats, _), words| {
            words.iter_mut().zip(&floats[7..]).for_each(|(word, float)| *word = u64::from(*float));
            Ok(())
        })?;
        tick += 1;
    }
    Ok(tick)
}

/// Writes the challenge file from which [`challenge_to_capture`] made the capture: `.bin` or
/// `.f32`, depending on the streams. Ignores other streams. The function keeps one frame in memory.
///
/// # Errors
/// [`ConvertError::Read`] and [`ConvertError::Damaged`] for a damaged capture,
/// [`ConvertError::NotCubes`] for a capture that cannot become a challenge file, and
/// [`ConvertError::Write`] if writing fails.
pub fn capture_to_challenge(
    capture: &mut Capture,
    out: &mut (impl Write + Seek),
) -> Result<Converted, ConvertError> {
    let mut file = ChallengeFile::default();
    let mut bytes = Vec::new();
    while let Some((_, frame)) = capture.next_frame()? {
        bytes.clear();
        if file
            .take(&frame, &mut bytes)
            .map_err(|reason| NotCubes { tick: frame.tick().0, reason })?
        {
            out.write_all(&bytes)?;
        }
    }
    if let Some(damage) = capture.damage().first() {
        return Err(ConvertError::Damaged { damage: damage.to_string() });
    }
    let Some(is_quantized) = file.is_quantized.filter(|_| file.frames > 0 && file.record.is_none())
    else {
        let reason = "it does not end with a whole frame of cubes".to_owned();
        return Err(NotCubes { tick: file.frames, reason }.into());
    };
    if is_quantized {
        out.flush()?;
    } else {
        // Only now is the number of frames known.
        write_count(out, file.frames)?;
    }
    Ok(Converted { frames: file.frames, is_quantized })
}

/// A challenge file while it is written.
#[derive(Default)]
struct ChallengeFile {
    is_quantized: Option<bool>,
    objects: usize,
    frames: u32,
    /// The records of a `.f32` frame whose velocities are still missing.
    record: Option<Vec<u8>>,
}

struct NotCubes {
    tick: u32,
    reason: String,
}

impl ChallengeFile {
    /// Takes a frame of a capture. Returns whether `out` now contains a frame of the file. The
    /// header precedes the first frame.
    fn take(&mut self, frame: &CaptureFrame<'_>, out: &mut Vec<u8>) -> Result<bool, String> {
        let stream = frame.stream();
        match stream.name() {
            CUBES => {
                check_schema::<Cube>(stream)?;
                self.check_frame(frame)?;
                if !stream.is_raw() {
                    let columns = frame.columns();
                    self.write_bin(out, |lane, object| columns[lane][object] as u32);
                    return Ok(true);
                }
                if self.record.is_some() {
                    return Err(format!("the previous frame has no {VELOCITIES:?}"));
                }
                self.record = Some(cubes(frame)?);
                Ok(false)
            }
            VELOCITIES if self.is_quantized != Some(true) => {
                check_schema::<CubeVelocity>(stream)?;
                let Some(mut records) = self.record.take() else {
                    return Err(format!("the velocities precede the frame of {CUBES:?}"));
                };
                self.check_frame(frame)?;
                add_velocities(frame, &mut records)?;
                if self.frames == 0 {
                    out.extend(header(self.objects as u32, stream.rate_hz() as u32));
                }
                out.append(&mut records);
                self.frames += 1;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn check_frame(&mut self, frame: &CaptureFrame<'_>) -> Result<(), String> {
        let stream = frame.stream();
        self.check(!stream.is_raw(), frame.tick(), stream.rate_hz(), frame.ids())
    }

    /// Checks that a frame has the next tick, and the same objects as all other frames.
    fn check(
        &mut self,
        is_quantized: bool,
        tick: Tick,
        rate_hz: f64,
        ids: &[EntityId],
    ) -> Result<(), String> {
        let objects = ids.len();
        if *self.is_quantized.get_or_insert(is_quantized) != is_quantized {
            return Err("some cubes are quantized and some are not".into());
        }
        if tick.0 != self.frames {
            return Err(format!("frame {} should be here", self.frames));
        }
        let fits = if is_quantized {
            objects == BIN_OBJECTS as usize && rate_hz == f64::from(BIN_RATE_HZ)
        } else {
            (self.frames == 0 || objects == self.objects)
                && objects > 0
                && rate_hz.fract() == 0.0
                && (1.0..=1000.0).contains(&rate_hz)
        };
        if !fits {
            return Err(format!(
                "a challenge file cannot have {objects} entities here, {rate_hz} times a second"
            ));
        }
        if !(0..).map(EntityId).zip(ids).all(|(expected, id)| expected == *id) {
            return Err("the ids are not 0, 1, 2 and so on".into());
        }
        self.objects = objects;
        Ok(())
    }

    /// Appends a frame of a `.bin` file.
    fn write_bin(&mut self, out: &mut Vec<u8>, value: impl Fn(usize, usize) -> u32) {
        for object in 0..self.objects {
            let mut words = [0; 8];
            for (lane, (word, _)) in BIN_LANES.into_iter().enumerate() {
                let offset = if lane < 2 { POSITION_OFFSET } else { 0 };
                words[word] = value(lane, object).wrapping_sub(offset);
            }
            out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        }
        self.frames += 1;
    }
}

/// Writes the frames of a `.bin` file from snapshots.
#[derive(Default)]
pub struct BinFrames(ChallengeFile);

impl BinFrames {
    /// Appends a snapshot to `out`. The snapshots must be of 901 [`Cube`]s, at 60 Hz, with ticks
    /// from 0.
    ///
    /// # Errors
    /// Returns [`ConvertError::NotCubes`] for any other snapshot.
    pub fn write(
        &mut self,
        snapshot: &Snapshot,
        rate_hz: f64,
        out: &mut Vec<u8>,
    ) -> Result<(), ConvertError> {
        let tick = snapshot.tick;
        let checked = if snapshot.schema_hash() == Schema::of::<Cube>().hash() {
            self.0.check(true, tick, rate_hz, snapshot.ids())
        } else {
            Err("its entities are not only the cubes of a challenge file".to_owned())
        };
        checked.map_err(|reason| NotCubes { tick: tick.0, reason })?;
        self.0.write_bin(out, |lane, object| snapshot.lane(lane)[object]);
        Ok(())
    }
}

fn check_schema<T: Pack>(stream: &Stream) -> Result<(), String> {
    let is_same = stream.schema().hash() == Schema::of::<T>().hash();
    if is_same { Ok(()) } else { Err(format!("stream {:?} is of another type", stream.name())) }
}

/// Returns the records of a `.f32` frame, with zeros for velocities.
fn cubes(frame: &CaptureFrame<'_>) -> Result<Vec<u8>, String> {
    let mut records = vec![0; frame.ids().len() * F32_RECORD_BYTES];
    let (floats, interacting) = frame.columns().split_at(7);
    for (object, record) in records.chunks_exact_mut(F32_RECORD_BYTES).enumerate() {
        for (column, bytes) in floats.iter().zip(record.chunks_exact_mut(4)) {
            let float = to_f32_bits(column[object])
                .ok_or_else(|| format!("entity {object} has a number that is not an f32"))?;
            bytes.copy_from_slice(&float.to_le_bytes());
        }
        record[F32_RECORD_BYTES - 1] = match interacting[0][object] {
            flag @ 0..=1 => flag as u8,
            flag => return Err(format!("entity {object}: interacting is {flag}, not 0 or 1")),
        };
    }
    Ok(records)
}

fn add_velocities(frame: &CaptureFrame<'_>, records: &mut [u8]) -> Result<(), String> {
    for (object, record) in records.chunks_exact_mut(F32_RECORD_BYTES).enumerate() {
        for (column, bytes) in frame.columns().iter().zip(record[28..].chunks_exact_mut(4)) {
            let float = u32::try_from(column[object])
                .map_err(|_| format!("entity {object} has a number of more than 32 bits"))?;
            bytes.copy_from_slice(&float.to_le_bytes());
        }
    }
    Ok(())
}

/// The reason why a challenge file or a capture cannot be converted.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConvertError {
    /// The challenge file cannot be read.
    Challenge(ChallengeError),
    /// The capture cannot be read.
    Read(CaptureError),
    /// The capture is damaged. The undamaged part was converted.
    Damaged {
        /// The first damaged place, and the reason.
        damage: String,
    },
    /// The capture cannot be recorded.
    Record(RecordError),
    /// The capture does not have the contents of a challenge file.
    NotCubes {
        /// The tick of the frame.
        tick: u32,
        /// What the capture lacks, or what it must not have.
        reason: String,
    },
    /// The challenge file cannot be written.
    Write(io::Error),
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Challenge(error) => write!(f, "{error}"),
            Self::Read(error) => write!(f, "{error}"),
            Self::Damaged { damage } => write!(f, "the capture is {damage}"),
            Self::Record(error) => write!(f, "{error}"),
            Self::NotCubes { tick, reason } => {
                write!(f, "it cannot become a challenge file: tick {tick}: {reason}")
            }
            Self::Write(error) => write!(f, "the challenge file cannot be written: {error}"),
        }
    }
}

impl std::error::Error for ConvertError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Challenge(error) => Some(error),
            Self::Read(error) => Some(error),
            Self::Record(error) => Some(error),
            Self::Write(error) => Some(error),
            Self::Damaged { .. } | Self::NotCubes { .. } => None,
        }
    }
}

impl From<NotCubes> for ConvertError {
    fn from(NotCubes { tick, reason }: NotCubes) -> Self {
        Self::NotCubes { tick, reason }
    }
}

impl From<ChallengeError> for ConvertError {
    fn from(error: ChallengeError) -> Self {
        Self::Challenge(error)
    }
}

impl From<CaptureError> for ConvertError {
    fn from(error: CaptureError) -> Self {
        Self::Read(error)
    }
}

impl From<RecordError> for ConvertError {
    fn from(error: RecordError) -> Self {
        Self::Record(error)
    }
}

impl From<io::Error> for ConvertError {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}
