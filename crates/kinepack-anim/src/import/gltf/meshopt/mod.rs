//! Decodes compressed buffer views. The module supports the mode `ATTRIBUTES`, in both versions and
//! with the filters for vectors and rotations, and the mode `INDICES`. It does not support
//! `TRIANGLES` and the filter `COLOR`, because only meshes use them. Source: the specifications of
//! `EXT_meshopt_compression` and `KHR_meshopt_compression`.

use super::json::{Filter, Mode};

/// The maximum number of decoded bytes that a byte of a stream represents. In version 1, a byte
/// contains the control modes of four columns of 256 elements.
const MOST_EXPANSION: usize = 1024;
const BLOCK_BYTES: usize = 8192;
const MOST_OF_BLOCK: usize = 256;
const GROUP: usize = 16;
/// The minimum length of the trailer of a stream in bytes, for versions 0 and 1.
const SHORTEST_ENDS: [usize; 2] = [32, 24];
/// The number of bits per delta. The first row is for version 0, which has no control modes. The
/// other rows are for control modes 0 and 1. The column is the code in the group header.
const WIDTHS: [[u8; 4]; 3] = [[0, 2, 4, 8], [0, 1, 2, 4], [1, 2, 4, 8]];

const CUT_OFF: &str = "its compressed data is cut off or damaged";

/// The properties that a buffer view declares for its stream.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    pub(super) mode: Mode,
    pub(super) filter: Filter,
    pub(super) count: usize,
    pub(super) stride: usize,
}

impl Layout {
    /// Returns the length of the decoded data in bytes. Fails, before allocating any memory for the
    /// data, if the stream is too short for that length.
    pub(super) fn bytes(&self, stream: &[u8]) -> Result<usize, &'static str> {
        let is_possible = match (self.mode, self.filter) {
            (Mode::Indices, Filter::None) => matches!(self.stride, 2 | 4),
            (Mode::Indices, _) => false,
            (Mode::Attributes, Filter::Octahedral) => matches!(self.stride, 4 | 8),
            (Mode::Attributes, Filter::Quaternion) => self.stride == 8,
            (Mode::Attributes, Filter::None | Filter::Exponential) => {
                self.stride.is_multiple_of(4) && (4..=256).contains(&self.stride)
            }
            (Mode::Attributes, Filter::Other) => {
                return Err("its filter is unknown or for colours only");
            }
            (Mode::Other, _) => return Err("its compression is unknown or for triangles only"),
        };
        if !is_possible {
            return Err("its stride does not fit its compression");
        }
        let bytes = self.count.checked_mul(self.stride).ok_or(CUT_OFF)?;
        if bytes / MOST_EXPANSION > stream.len() { Err(CUT_OFF) } else { Ok(bytes) }
    }

    /// Decodes a stream. The caller must have called [`bytes`](Self::bytes) first.
    pub(super) fn decode(&self, stream: &[u8]) -> Result<Vec<u8>, &'static str> {
        let mut decoded = vec![0; self.bytes(stream)?];
        match self.mode {
            Mode::Indices => indices(stream, self.stride, &mut decoded),
            _ => attributes(stream, self.stride, &mut decoded),
        }
        .ok_or(CUT_OFF)?;
        match self.filter {
            Filter::Octahedral if self.stride == 4 => octahedral_of_bytes(&mut decoded),
            Filter::Octahedral => octahedral(&mut decoded),
            Filter::Quaternion => quaternion(&mut decoded),
            Filter::Exponential => exponential(&mut decoded),
            Filter::None | Filter::Other => {}
        }
        Ok(decoded)
    }
}

/// Takes `bytes` bytes off the front of `data`.
fn take<'a>(data: &mut &'a [u8], bytes: usize) -> Option<&'a [u8]> {
    let (taken, rest) = data.split_at_checked(bytes)?;
    *data = rest;
    Some(taken)
}

/// Decodes elements of `stride` bytes. Returns `None` if the stream is damaged.
fn attributes(stream: &[u8], stride: usize, decoded: &mut [u8]) -> Option<()> {
    let (&head, rest) = stream.split_first()?;
    let version = usize::from(head.checked_sub(0xa0).filter(|version| *version < 2)?);
    let channels = stride / 4;
    let end_bytes = stride + version * channels;
    let data_bytes = rest.len().checked_sub(end_bytes.max(SHORTEST_ENDS[version]))?;
    let mut data = &rest[..data_bytes];
    let (baseline, modes) = rest[rest.len() - end_bytes..].split_at(stride);
    let mut previous = [0; 256];
    previous[..stride].copy_from_slice(baseline);
    let most = (BLOCK_BYTES / stride / GROUP * GROUP).min(MOST_OF_BLOCK);
    for block in decoded.chunks_mut(most * stride) {
        let control = take(&mut data, version * channels)?;
        for column in 0..stride {
            let mode = control.get(column / 4).map(|modes| modes >> (column % 4 * 2) & 3);
            self::column(&mut data, mode, block.iter_mut().skip(column).step_by(stride))?;
        }
        for channel in 0..channels {
            let mode = modes.get(channel).copied().unwrap_or_default();
            let own = &mut previous[4 * channel..][..4];
            let mut word = [own[0], own[1], own[2], own[3]];
            for element in block.chunks_exact_mut(stride) {
                let place = &mut element[4 * channel..][..4];
                word = add(mode, word, [place[0], place[1], place[2], place[3]])?;
                place.copy_from_slice(&word);
            }
            own.copy_from_slice(&word);
        }
    }
    data.is_empty().then_some(())
}

/// Decodes the deltas of one byte position in all elements of a block. `mode` is the control mode,
/// which version 0 does not have.
fn column<'a>(
    data: &mut &[u8],
    mode: Option<u8>,
    mut deltas: impl ExactSizeIterator<Item = &'a mut u8>,
) -> Option<()> {
    let widths = match mode {
        None => WIDTHS[0],
        Some(0) => WIDTHS[1],
        Some(1) => WIDTHS[2],
        // The deltas are already zero.
        Some(2) => return Some(()),
        Some(_) => {
            let literal = take(data, deltas.len())?;
            deltas.zip(literal).for_each(|(delta, byte)| *delta = *byte);
            return Some(());
        }
    };
    let groups = deltas.len().div_ceil(GROUP);
    let head = take(data, groups.div_ceil(4))?;
    for group in 0..groups {
        let bits = widths[usize::from(head[group / 4] >> (group % 4 * 2) & 3)];
        // The last group may have more values than there are elements. `values` must be the
        // receiver of `zip`: as the receiver, `deltas` would lose an element at the end of each
        // group.
        let values = self::group(data, bits)?.into_iter();
        values.zip(deltas.by_ref()).for_each(|(value, delta)| *delta = value);
    }
    Some(())
}

/// Decodes 16 values of `bits` bits each. If all bits of a value are set, a byte after the group
/// replaces the value.
fn group(data: &mut &[u8], bits: u8) -> Option<[u8; GROUP]> {
    let packed = take(data, usize::from(bits) * GROUP / 8)?;
    let mut values = [0; GROUP];
    if bits == 8 {
        values.copy_from_slice(packed);
    } else if let Some(each) = 8_usize.checked_div(usize::from(bits)) {
        let sentinel = (1 << bits) - 1;
        for (index, value) in values.iter_mut().enumerate() {
            // Single bits are packed from the lowest up, wider values from the highest down.
            let place = if bits == 1 { index % 8 } else { each - 1 - index % each };
            *value = packed[index / each] >> (place * usize::from(bits)) & sentinel;
            if *value == sentinel {
                *value = take(data, 1)?[0];
            }
        }
    }
    Some(values)
}

/// Adds a delta of four bytes to the previous element. Returns `None` for an unknown mode.
fn add(mode: u8, [a, b, c, d]: [u8; 4], delta: [u8; 4]) -> Option<[u8; 4]> {
    Some(match (mode & 15, mode >> 4) {
        (0, 0) => {
            let byte = |last: u8, at: usize| {
                let delta = delta[at];
                last.wrapping_add(delta >> 1 ^ (delta & 1).wrapping_neg())
            };
            [byte(a, 0), byte(b, 1), byte(c, 2), byte(d, 3)]
        }
        (1, 0) => {
            let half = |last: [u8; 2], at: usize| {
                let delta = u16::from_le_bytes([delta[at], delta[at + 1]]);
                let last = u16::from_le_bytes(last);
                last.wrapping_add(delta >> 1 ^ (delta & 1).wrapping_neg()).to_le_bytes()
            };
            let ([a, b], [c, d]) = (half([a, b], 0), half([c, d], 2));
            [a, b, c, d]
        }
        (2, turn) => {
            // The encoder rotated the delta to the left.
            let delta = u32::from_le_bytes(delta).rotate_right(u32::from(turn));
            (u32::from_le_bytes([a, b, c, d]) ^ delta).to_le_bytes()
        }
        _ => return None,
    })
}

/// Decodes indices of 2 or 4 bytes, each a difference from one of two previous indices.
fn indices(stream: &[u8], stride: usize, decoded: &mut [u8]) -> Option<()> {
    let (&head, rest) = stream.split_first()?;
    let mut data = rest.get(..rest.len().checked_sub(4)?)?;
    let mut last = [0_u32; 2];
    for index in decoded.chunks_exact_mut(stride) {
        let mut code = 0;
        for shift in (0..35).step_by(7) {
            let byte = take(&mut data, 1)?[0];
            code |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
            if shift == 28 {
                return None;
            }
        }
        let last = &mut last[code as usize & 1];
        *last = last.wrapping_add(code >> 2 ^ (code >> 1 & 1).wrapping_neg());
        index.copy_from_slice(&last.to_le_bytes()[..stride]);
    }
    (head == 0xd1 && data.is_empty()).then_some(())
}

/// Decodes a unit vector from two octahedral coordinates. `one` is the integer that represents 1.
fn unfolded([x, y, one]: [f32; 3]) -> [f32; 3] {
    let (mut x, mut y) = (x / one, y / one);
    let z = 1.0 - x.abs() - y.abs();
    let below = z.min(0.0);
    x -= below.copysign(x);
    y -= below.copysign(y);
    let length = (x * x + y * y + z * z).sqrt();
    [x / length, y / length, z / length]
}

fn octahedral_of_bytes(decoded: &mut [u8]) {
    for element in decoded.as_chunks_mut::<4>().0 {
        let [x, y, one, _] = element.map(|byte| f32::from(byte as i8));
        for (place, axis) in element.iter_mut().zip(unfolded([x, y, one])) {
            *place = (axis * 127.0).round() as i8 as u8;
        }
    }
}

/// Applies a change to elements of four 16-bit integers.
fn of_halves(decoded: &mut [u8], change: impl Fn([i16; 4]) -> [i16; 4]) {
    for element in decoded.as_chunks_mut::<8>().0 {
        let [a, b, c, d, e, f, g, h] = *element;
        let changed = change([[a, b], [c, d], [e, f], [g, h]].map(i16::from_le_bytes));
        for (place, half) in element.as_chunks_mut::<2>().0.iter_mut().zip(changed) {
            *place = half.to_le_bytes();
        }
    }
}

fn octahedral(decoded: &mut [u8]) {
    of_halves(decoded, |[x, y, one, other]| {
        let [x, y, z] = unfolded([x, y, one].map(f32::from));
        let [x, y, z] = [x, y, z].map(|axis| (axis * 32767.0).round() as i16);
        [x, y, z, other]
    });
}

/// Decodes rotations that lack their largest component. The last number holds the index of that
/// component and the unit of the others.
fn quaternion(decoded: &mut [u8]) {
    of_halves(decoded, |[x, y, z, last]| {
        let unit = std::f32::consts::FRAC_1_SQRT_2 / f32::from(last | 3);
        let others = [x, y, z].map(|component| f32::from(component) * unit);
        let squares: f32 = others.iter().map(|component| component * component).sum();
        let largest = (1.0 - squares).max(0.0).sqrt();
        let first = (last & 3) as usize;
        let mut rotation = [0; 4];
        for (step, component) in [largest, others[0], others[1], others[2]].into_iter().enumerate()
        {
            rotation[(first + step) % 4] = (component * 32767.0).round() as i16;
        }
        rotation
    });
}

/// Decodes floats with a mantissa of 24 bits and an exponent of 8 bits.
fn exponential(decoded: &mut [u8]) {
    for element in decoded.as_chunks_mut::<4>().0 {
        let number = i32::from_le_bytes(*element);
        let value = f64::from(number << 8 >> 8) * f64::from(number >> 24).exp2();
        *element = (value as f32).to_le_bytes();
    }
}

#[cfg(test)]
mod tests;
