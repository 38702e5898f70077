//! The names of curves, and markers, which a clip stores after its segments. See `spec/ANIM.md`,
//! section 10.5.

use super::clip::Clip;
use super::layout::Header;
use crate::rest::Rest;
use crate::{ClipError, MAX_MARKERS};

/// The size of a name's length in bytes.
const LENGTH_BYTES: usize = 2;
/// The size of a marker's position in bytes.
const POSITION_BYTES: usize = 4;

/// A marker of a clip, such as the moment when a foot touches the ground. It borrows the clip's
/// bytes.
///
/// ```
/// # use std::sync::Arc;
/// # use kinepack_anim::offline::{BuildOptions, build};
/// # use kinepack_anim::{Joint, Marker, RawClip, Skeleton, Transform};
/// # let joint = Joint { name: "foot".into(), parent: None, bind: Transform::IDENTITY };
/// # let skeleton = Arc::new(Skeleton::new(vec![joint])?);
/// # let raw = RawClip::new("step", skeleton, 30.0, vec![Transform::IDENTITY; 31])?;
/// let raw = raw.with_markers(vec![Marker { name: "step".into(), time_s: 0.5 }])?;
/// let built = build(&raw, &BuildOptions::default())?;
/// let clip = built.clip.as_block().expect("block clips are the default");
/// // A frame from 0.49 s to 0.51 s.
/// let marker = clip.markers_between(0.49, 0.51).next().expect("a step");
/// assert_eq!((marker.name, marker.position), ("step", 15.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MarkerRef<'a> {
    /// The position in samples, counted from the clip's first sample.
    pub position: f32,
    /// The position in seconds, counted from the clip's first sample.
    pub time_s: f32,
    /// The event's name. Several markers may have the same name.
    pub name: &'a str,
}

/// Checks the names and markers of a clip, if it has any. Returns the offset at which the marker
/// count begins, or the current offset if there is no such part.
pub(super) fn check(rest: &mut Rest<'_>, header: &Header) -> Result<usize, ClipError> {
    const PART: &str = "names and markers";
    if !header.is_labelled {
        return Ok(rest.at());
    }
    let name = |rest: &mut Rest<'_>| {
        let length = rest.take(1, LENGTH_BYTES, PART)?;
        let name = std::str::from_utf8(rest.take(1, usize::from(u16_of(length)), PART)?);
        name.map(|_| ()).map_err(|_| ClipError::BadLabel { reason: "a name is not UTF-8" })
    };
    for _ in 0..header.curves {
        name(rest)?;
    }
    let markers_at = rest.at();
    let count = u16_of(rest.take(1, LENGTH_BYTES, PART)?);
    if usize::from(count) > MAX_MARKERS {
        return Err(ClipError::BadLabel { reason: "too many markers" });
    }
    if header.curves == 0 && count == 0 {
        return Err(ClipError::BadLabel { reason: "there are none" });
    }
    let (mut before, last) = (0.0, (header.samples - 1) as f32);
    for _ in 0..count {
        let position = f32_of(rest.take(1, POSITION_BYTES, PART)?);
        // NaN fails this check, and so does −0.
        if !(before..=last).contains(&position) || position.is_sign_negative() {
            let reason = "a marker is out of order, or outside of the clip";
            return Err(ClipError::BadLabel { reason });
        }
        before = position;
        name(rest)?;
    }
    Ok(markers_at)
}

/// Writes the names of curves, and markers with their positions in samples.
#[cfg(feature = "offline")]
pub(crate) fn write<'a>(
    names: impl Iterator<Item = &'a str>,
    markers: impl ExactSizeIterator<Item = (f32, &'a str)>,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let write_name = |name: &str, bytes: &mut Vec<u8>| {
        bytes.extend((name.len() as u16).to_le_bytes());
        bytes.extend(name.as_bytes());
    };
    names.for_each(|name| write_name(name, &mut bytes));
    bytes.extend((markers.len() as u16).to_le_bytes());
    for (position, name) in markers {
        bytes.extend(position.to_le_bytes());
        write_name(name, &mut bytes);
    }
    bytes
}

impl<B: AsRef<[u8]>> Clip<B> {
    /// Returns the number of curves.
    pub fn curves(&self) -> usize {
        usize::from(self.header.curves)
    }

    /// Returns the names of the curves, in order. In a clip without names, they are empty.
    pub fn curve_names(&self) -> impl Iterator<Item = &str> {
        let mut rest = &self.as_bytes()[self.parts().labels..self.parts().markers];
        (0..self.header.curves).map(move |_| take_name(&mut rest))
    }

    /// Returns the markers, ordered by time.
    pub fn markers(&self) -> impl Iterator<Item = MarkerRef<'_>> {
        let mut rest = &self.as_bytes()[self.parts().markers..self.parts().end];
        let count = take(&mut rest, LENGTH_BYTES);
        let rate_hz = self.header.rate_hz;
        (0..u16_of(count)).map(move |_| {
            let position = f32_of(take(&mut rest, POSITION_BYTES));
            MarkerRef { position, time_s: position / rate_hz, name: take_name(&mut rest) }
        })
    }

    /// Returns the markers from `from_s` seconds up to, but not including, `to_s`. A player that
    /// passes each frame's end as the next frame's beginning gets each marker once. The cost is
    /// linear in the number of markers before `to_s`.
    pub fn markers_between(&self, from_s: f32, to_s: f32) -> impl Iterator<Item = MarkerRef<'_>> {
        let markers = self.markers().skip_while(move |marker| marker.time_s < from_s);
        markers.take_while(move |marker| marker.time_s < to_s)
    }
}

/// Takes `bytes` bytes off the front of `rest`. Loading the clip has checked that there are enough.
fn take<'a>(rest: &mut &'a [u8], bytes: usize) -> &'a [u8] {
    let (taken, after) = rest.split_at(bytes.min(rest.len()));
    *rest = after;
    taken
}

fn take_name<'a>(rest: &mut &'a [u8]) -> &'a str {
    let length = u16_of(take(rest, LENGTH_BYTES));
    std::str::from_utf8(take(rest, usize::from(length))).unwrap_or_default()
}

/// Returns the 16-bit number in the first two bytes, or 0 if there are fewer.
fn u16_of(bytes: &[u8]) -> u16 {
    bytes.first_chunk().map_or(0, |bytes| u16::from_le_bytes(*bytes))
}

fn f32_of(bytes: &[u8]) -> f32 {
    bytes.first_chunk().map_or(0.0, |bytes| f32::from_le_bytes(*bytes))
}
