//! `.clip` files: a clip's samples as plain floats, for other programs to read. All numbers are
//! little-endian. A file begins with `CLIP`, the counts of joints and samples as `u32`, and the
//! rate in Hz as `f32`. The joints' parents follow as `i32` (−1 for a root), and then the bind pose
//! and the samples. Each pose has ten `f32` per joint: rotation `x y z w`, translation in cm,
//! scale. The file does not store names, curves or markers. A caller that needs them must store
//! them elsewhere.

use std::io::{self, Write};
use std::sync::Arc;

use crate::{ExchangeError, Joint, RawClip, Skeleton, Transform};

const HEADER_BYTES: usize = 16;

/// Writes a clip's joints as a `.clip` file. The format cannot store [curves](RawClip::curves) or
/// [markers](RawClip::markers), so this function omits them.
///
/// # Errors
/// Returns the errors of `out`.
pub fn write(clip: &RawClip, mut out: impl Write) -> io::Result<()> {
    write_head(clip.skeleton(), clip.samples(), clip.rate_hz(), &mut out)?;
    clip.poses().try_for_each(|pose| write_pose(pose, &mut out))
}

/// Writes everything before the samples, for callers that produce samples one by one. Call
/// [`write_pose`] next, once for each sample.
///
/// # Errors
/// Returns the errors of `out`.
pub fn write_head(
    skeleton: &Skeleton,
    samples: usize,
    rate_hz: f32,
    mut out: impl Write,
) -> io::Result<()> {
    out.write_all(b"CLIP")?;
    out.write_all(&(skeleton.len() as u32).to_le_bytes())?;
    out.write_all(&(samples as u32).to_le_bytes())?;
    out.write_all(&rate_hz.to_le_bytes())?;
    for joint in skeleton.joints() {
        out.write_all(&joint.parent.map_or(-1, i32::from).to_le_bytes())?;
    }
    write_pose(&skeleton.bind_pose(), out)
}

/// Writes the transforms of a pose, ten floats per joint.
///
/// # Errors
/// Returns the errors of `out`.
pub fn write_pose(pose: &[Transform], mut out: impl Write) -> io::Result<()> {
    pose.iter()
        .flat_map(Transform::floats)
        .try_for_each(|float| out.write_all(&float.to_le_bytes()))
}

/// Reads a `.clip` file. The joints have empty names.
///
/// # Errors
/// Returns [`ExchangeError`] if the bytes are not a `.clip` file, or if the header implies a
/// different length. The call also fails if the contents are not a valid clip.
pub fn read(name: impl Into<String>, bytes: &[u8]) -> Result<RawClip, ExchangeError> {
    let word = |index: usize| Some(u32::from_le_bytes(*bytes.get(index..)?.first_chunk()?));
    if bytes.get(..4) != Some(b"CLIP") {
        return Err(ExchangeError::NoClipFile);
    }
    let (Some(joints), Some(samples), Some(rate)) = (word(4), word(8), word(12)) else {
        return Err(ExchangeError::WrongLength {
            bytes: bytes.len(),
            expected: HEADER_BYTES as u64,
        });
    };
    let count = (u64::from(samples) + 1) * u64::from(joints);
    let expected = u128::from(count) * Transform::BYTES as u128
        + u128::from(joints) * 4
        + HEADER_BYTES as u128;
    if bytes.len() as u128 != expected {
        return Err(ExchangeError::WrongLength {
            bytes: bytes.len(),
            expected: u64::try_from(expected).unwrap_or(u64::MAX),
        });
    }
    let (parents, floats) = bytes[HEADER_BYTES..].split_at(joints as usize * 4);
    let (bind, samples) = floats.split_at(joints as usize * Transform::BYTES);
    let mut list = Vec::with_capacity(joints as usize);
    for (index, (parent, bind)) in
        parents.chunks_exact(4).zip(Transform::all_from_bytes(bind)).enumerate()
    {
        let parent = match i32::from_le_bytes([parent[0], parent[1], parent[2], parent[3]]) {
            -1 => None,
            parent => Some(
                u16::try_from(parent)
                    .map_err(|_| ExchangeError::BadParent { joint: index, parent })?,
            ),
        };
        list.push(Joint { name: String::new(), parent, bind });
    }
    let skeleton = Arc::new(Skeleton::new(list)?);
    Ok(RawClip::new(
        name,
        skeleton,
        f32::from_bits(rate),
        Transform::all_from_bytes(samples).collect(),
    )?)
}
