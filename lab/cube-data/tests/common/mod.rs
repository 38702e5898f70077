//! Writes challenge files from their description alone, into a directory that is removed after the
//! test.

#![allow(dead_code, reason = "each test file uses its part")]

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};
use std::path::PathBuf;

use cube_data::cube::Measured;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use tempfile::TempDir;

/// The number of objects in a frame of a `.bin` file.
pub(crate) const OBJECTS: usize = 901;

/// A record: dropped component, the other three, position x, y, z, interacting.
pub(crate) type Record = [i32; 8];

/// A directory for one test's files.
pub(crate) struct Files(TempDir);

impl Files {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

/// Returns a state of an object. It is different in each frame, and not near the edge between two
/// quantization steps.
pub(crate) fn state(frame: usize, object: usize) -> Measured {
    let [f, n] = [frame as f32, object as f32];
    let quaternion = [0.3 + 0.01 * f, -0.2 + 0.0007 * n, 0.11, 0.9 - 0.0015 * n];
    let length = quaternion.iter().map(|component| component * component).sum::<f32>().sqrt();
    Measured {
        position: [0.037 * n - 16.0 + 0.01 * f, 3.01 - 0.02 * n, 0.2001 + 0.013 * f],
        orientation: quaternion.map(|component| component / length),
        velocity: [0.5 * f, -0.25, 0.001 * n],
        interacting: (frame + object).is_multiple_of(3),
    }
}

/// Returns the states of `frames` frames of `objects` objects.
pub(crate) fn states(frames: usize, objects: usize) -> Vec<Vec<Measured>> {
    (0..frames).map(|frame| (0..objects).map(|object| state(frame, object)).collect()).collect()
}

/// Quantizes a state as in the challenge, with plain arithmetic.
pub(crate) fn record(state: &Measured) -> Record {
    let q = state.orientation.map(f64::from);
    let mut dropped = 0;
    for component in 1..4 {
        if q[component].abs() > q[dropped].abs() {
            dropped = component;
        }
    }
    let code = |component: f64| {
        ((component * q[dropped].signum() + FRAC_1_SQRT_2) / SQRT_2 * 511.0).round() as i32
    };
    let kept: Vec<i32> = (0..4)
        .filter(|component| *component != dropped)
        .map(|component| code(q[component]))
        .collect();
    let [x, y, z] = state.position.map(|metres| (f64::from(metres) * 512.0).round() as i32);
    [dropped as i32, kept[0], kept[1], kept[2], x, y, z, i32::from(state.interacting)]
}

/// Encodes a `.bin` file.
pub(crate) fn bin(frames: &[Vec<Record>]) -> Vec<u8> {
    frames.iter().flatten().flatten().flat_map(|word| word.to_le_bytes()).collect()
}

/// Returns a valid `.bin` file with `frames` frames of [`state`]s.
pub(crate) fn good_bin(frames: usize) -> Vec<u8> {
    let records: Vec<Vec<Record>> =
        states(frames, OBJECTS).iter().map(|states| states.iter().map(record).collect()).collect();
    bin(&records)
}

/// The header of a `.f32` file.
#[derive(Clone, Copy)]
pub(crate) struct Header {
    pub(crate) magic: [u8; 4],
    pub(crate) version: u32,
    pub(crate) objects: u32,
    pub(crate) frames: u32,
    pub(crate) rate_hz: u32,
    pub(crate) record_bytes: u32,
}

impl Header {
    pub(crate) fn new(objects: u32, frames: u32) -> Self {
        Self { magic: *b"CF32", version: 1, objects, frames, rate_hz: 60, record_bytes: 53 }
    }

    pub(crate) fn bytes(self) -> Vec<u8> {
        let magic = u32::from_le_bytes(self.magic);
        let words =
            [magic, self.version, self.objects, self.frames, self.rate_hz, self.record_bytes, 0, 0];
        words.into_iter().flat_map(u32::to_le_bytes).collect()
    }
}

/// Encodes a `.f32` file.
pub(crate) fn f32_file(header: Header, frames: &[Vec<Measured>]) -> Vec<u8> {
    let mut bytes = header.bytes();
    for Measured { position, orientation, velocity, interacting } in frames.iter().flatten() {
        let angular_velocity = [0.125, -1.0, 3.0];
        let floats = position.iter().chain(orientation).chain(velocity).chain(&angular_velocity);
        bytes.extend(floats.flat_map(|float| float.to_le_bytes()));
        bytes.push(u8::from(*interacting));
    }
    bytes
}

/// Returns a valid `.f32` file with `frames` frames of [`state`]s.
pub(crate) fn good_f32(frames: usize, objects: usize) -> Vec<u8> {
    f32_file(Header::new(objects as u32, frames as u32), &states(frames, objects))
}

/// Compresses `bytes` as a `.zst` file.
pub(crate) fn zst(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}
