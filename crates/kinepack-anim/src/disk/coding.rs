//! Codes everything that precedes a clip's segments. The same functions encode and decode. See
//! `spec/ANIM.md`, section 14.

use kinepack::entropy::Coder;

use super::model::{CODES, DEAD, FLOATS, KINDS, Model, SEGMENT_STEPS, SIGNED, STEPS, Watch};
use super::segment::LiveComponent;
use crate::block::{
    Anchors, BlockLength, CURVES_OF_TRACK, Constant, Contents, Header, Interpolation, Kind,
    MAX_NUMBER, Track, animated, kinds_from_byte, kinds_to_byte, tracks_of,
};
use crate::{Channel, ClipError};

/// The sample rates that have short codes, in Hz.
const RATES: [f32; 7] = [30.0, 60.0, 24.0, 25.0, 50.0, 120.0, 20.0];

/// Codes everything that precedes the segments. A decoder writes the result to `contents`.
pub(super) fn code_head<C: Coder, W: Watch>(
    coder: &mut C,
    model: &mut Model<W>,
    contents: &mut Contents,
) -> Result<(), ClipError> {
    code_header(coder, &mut contents.header)?;
    let owner = contents.owner;
    contents.owner = u64::from(coder.code_direct((owner >> 32) as u32, 32)) << 32;
    contents.owner |= u64::from(coder.code_direct(owner as u32, 32));
    code_kinds(coder, model, contents)?;
    let mut before = [0.0; 3];
    let constants: Vec<_> = tracks_of(&contents.kinds, Kind::Constant).collect();
    let given = std::mem::take(&mut contents.constants);
    for (index, track) in constants.into_iter().enumerate() {
        let constant = match (given.get(index), track.channel) {
            (given, Channel::Rotation) => {
                let codes =
                    if let Some(Constant::Rotation(codes)) = given { *codes } else { [0; 3] };
                Constant::Rotation(codes.map(|code| coder.code_direct(code, 21)))
            }
            (given, _) => {
                let mut vector =
                    if let Some(Constant::Vector(vector)) = given { *vector } else { [0.0; 3] };
                code_vector(coder, model, &mut vector, &mut before)
                    .ok_or(ClipError::BadConstant { track })?;
                Constant::Vector(vector)
            }
        };
        contents.constants.push(constant);
        if coder.is_exhausted() {
            return Err(ClipError::EndOfData { part: "constants" });
        }
    }
    code_tracks(coder, model, contents)?;
    code_blends(coder, contents)?;
    code_labels(coder, contents)
}

fn code_blends<C: Coder>(coder: &mut C, contents: &mut Contents) -> Result<(), ClipError> {
    let given = std::mem::take(&mut contents.blends);
    let count = if contents.header.blends { contents.segment_count() } else { 0 };
    for segment in 0..count {
        let blends = given.get(segment).is_some_and(|blends| *blends);
        contents.blends.push(coder.code_direct(u32::from(blends), 1) != 0);
        if coder.is_exhausted() {
            return Err(ClipError::EndOfData { part: "blends" });
        }
    }
    Ok(())
}

/// Codes the bytes of names and markers.
fn code_labels<C: Coder>(coder: &mut C, contents: &mut Contents) -> Result<(), ClipError> {
    if !contents.header.is_labelled {
        return Ok(());
    }
    let given = std::mem::take(&mut contents.labels);
    // There are at least two bytes, which store the number of markers, so `code_count` can code the
    // length.
    let count = code_count(coder, given.len() as u32, 5);
    for index in 0..count as usize {
        let byte = given.get(index).copied().unwrap_or_default();
        contents.labels.push(coder.code_direct(u32::from(byte), 8) as u8);
        if coder.is_exhausted() {
            return Err(ClipError::EndOfData { part: "names and markers" });
        }
    }
    Ok(())
}

fn code_header<C: Coder>(coder: &mut C, header: &mut Header) -> Result<(), ClipError> {
    let block = coder.code_direct(header.block as u32, 2) as usize;
    header.block =
        *BlockLength::ALL.get(block).ok_or(ClipError::BadHeader { field: "block length" })?;
    header.loops = coder.code_direct(u32::from(header.loops), 1) != 0;
    header.is_fine = coder.code_direct(u32::from(header.is_fine), 1) != 0;
    header.blends = coder.code_direct(u32::from(header.blends), 1) != 0;
    header.is_of_rig = coder.code_direct(u32::from(header.is_of_rig), 1) != 0;
    header.offset_bytes = coder.code_direct(u32::from(header.offset_bytes) - 1, 2) as u8 + 1;
    code_joints(coder, header)?;
    header.samples = code_count(coder, header.samples, 5);
    let known = RATES
        .iter()
        .position(|rate| rate.to_bits() == header.rate_hz.to_bits())
        .unwrap_or(RATES.len());
    header.rate_hz = match RATES.get(coder.code_direct(known as u32, 3) as usize) {
        Some(rate) => *rate,
        None => f32::from_bits(coder.code_direct(header.rate_hz.to_bits(), 32)),
    };
    header.check()
}

/// Codes the number of joints. A bit length of 15, which no valid number has, signals that the
/// extension comes first.
fn code_joints<C: Coder>(coder: &mut C, header: &mut Header) -> Result<(), ClipError> {
    const EXTENDED: u32 = 15;
    let joints = u32::from(header.joints);
    let own = joints.max(1).ilog2();
    let mut place = coder.code_direct(if header.is_extended() { EXTENDED } else { own }, 4);
    if place == EXTENDED {
        header.curves = coder.code_direct(u32::from(header.curves), 13) as u16;
        header.is_labelled = coder.code_direct(u32::from(header.is_labelled), 1) != 0;
        let is_cubic = coder.code_direct(u32::from(header.is_cubic()), 1) != 0;
        header.interpolation = Interpolation::from_bit(is_cubic);
        if !header.is_extended() {
            return Err(ClipError::BadHeader { field: "extension" });
        }
        place = coder.code_direct(own, 4);
    }
    header.joints = (1 << place | coder.code_direct(joints, place)) as u16;
    Ok(())
}

/// Codes a number above 0: first the position of its highest bit in `bits` bits, and then the bits
/// below it.
fn code_count<C: Coder>(coder: &mut C, count: u32, bits: u32) -> u32 {
    let place = coder.code_direct(count.max(1).ilog2(), bits);
    1 << place | coder.code_direct(count, place)
}

fn code_kinds<C: Coder, W: Watch>(
    coder: &mut C,
    model: &mut Model<W>,
    contents: &mut Contents,
) -> Result<(), ClipError> {
    let mut before = [0; 3];
    let given = std::mem::take(&mut contents.kinds);
    for joint in 0..usize::from(contents.header.joints) {
        let byte = given.get(joint).map_or(0, |kinds| kinds_to_byte(*kinds));
        let mut coded = 0;
        let mut above = 0;
        for (channel, before) in before.iter_mut().enumerate() {
            let kind = usize::from(byte >> (2 * channel) & 3);
            let counter = KINDS + ((channel * 3 + *before) * 3 + above) * 2;
            let is_constant = kind % 2 == 1;
            let coded_kind = if model.code(coder, counter, kind == 0) {
                0
            } else {
                2 - usize::from(model.code(coder, counter + 1, is_constant))
            };
            (*before, above) = (coded_kind, coded_kind);
            let is_shared = contents.header.is_of_rig
                && coded_kind == 1
                && coder.code_direct(kind as u32 / 2, 1) != 0;
            coded |= (coded_kind as u8 | u8::from(is_shared) << 1) << (2 * channel);
        }
        contents
            .kinds
            .push(kinds_from_byte(coded).ok_or(ClipError::BadKind { joint, byte: coded })?);
        if coder.is_exhausted() {
            return Err(ClipError::EndOfData { part: "kinds" });
        }
    }
    Ok(())
}

fn code_tracks<C: Coder, W: Watch>(
    coder: &mut C,
    model: &mut Model<W>,
    contents: &mut Contents,
) -> Result<(), ClipError> {
    let given = std::mem::take(&mut contents.tracks);
    let mut middle = [0.0; 3];
    let mut step = 0;
    let some_far = given.iter().any(|track| track.is_far);
    let some_far = coder.code_direct(u32::from(some_far), 1) != 0;
    let joint_tracks = animated(&contents.kinds);
    let first_curve = joint_tracks.len();
    let curve_tracks = std::iter::repeat_n(None, contents.header.curve_tracks());
    let ids = joint_tracks.into_iter().map(Some).chain(curve_tracks);
    for (index, id) in ids.enumerate() {
        let channel = id.map_or(Channel::Scale, |id| id.channel);
        let mut track = given.get(index).copied().unwrap_or(Track::new(channel));
        if contents.header.is_of_rig && id.is_some() {
            track.shares =
                track.shares.map(|is_shared| coder.code_direct(u32::from(is_shared), 1) != 0);
        }
        if channel == Channel::Rotation {
            code_codes(coder, model, &mut track, contents.header.is_fine);
        } else if !track.shares[0] {
            code_vector(coder, model, &mut track.middle, &mut middle).ok_or(match id {
                Some(track) => ClipError::BadConstant { track },
                None => ClipError::BadCurve { curve: CURVES_OF_TRACK * (index - first_curve) },
            })?;
        }
        code_steps(coder, model, &mut track, &mut step)?;
        if some_far && channel == Channel::Translation {
            track.is_far = coder.code_direct(u32::from(track.is_far), 1) != 0;
        }
        contents.tracks.push(track);
        if coder.is_exhausted() {
            return Err(ClipError::EndOfData { part: "groups" });
        }
    }
    Ok(())
}

/// Codes the reference and axes of a rotation, except those that the track shares. Counters model
/// the four highest bits of each code.
fn code_codes<C: Coder, W: Watch>(
    coder: &mut C,
    model: &mut Model<W>,
    track: &mut Track,
    is_fine: bool,
) {
    let bits = if is_fine { 16 } else { 8 };
    let codes = track.codes.as_flattened_mut().iter_mut().enumerate();
    for (place, code) in codes.filter(|(place, _)| !track.shares[place / 3]) {
        let low = bits - 4;
        let high = model.code_tree(coder, CODES + 16 * place, u32::from(*code) >> low, 4);
        *code = (high << low | coder.code_direct(u32::from(*code), low)) as u16;
    }
}

/// Codes the steps of a track. For each axis, the function codes whether the axis is dead. For a
/// live axis, it also codes the step's difference from the previous live axis. `before` is the
/// first step of the last track that had one. If the track shares its steps, the function codes
/// only which axes are dead. A decoder then sets the steps of the live axes to 1.
fn code_steps<C: Coder, W: Watch>(
    coder: &mut C,
    model: &mut Model<W>,
    track: &mut Track,
    before: &mut u8,
) -> Result<(), ClipError> {
    let first_set = if track.channel == Channel::Rotation { 0 } else { 3 };
    let mut dead = 0;
    let mut first = None;
    let mut from = *before;
    for (axis, step) in track.steps.iter_mut().enumerate() {
        let set = first_set + axis;
        let is_dead = model.code(coder, DEAD + 4 * set + dead, *step == 0);
        dead = (dead << 1 | usize::from(is_dead)) & 3;
        if is_dead {
            *step = 0;
            continue;
        }
        if track.shares[1] {
            *step = (*step).max(1);
            continue;
        }
        let difference =
            model.code_signed(coder, STEPS + SIGNED * set, i32::from(*step) - i32::from(from));
        let coded = u8::try_from(i32::from(from) + difference).ok().filter(|step| *step > 0);
        *step = coded.ok_or(ClipError::BadHeader { field: "steps" })?;
        from = *step;
        first = first.or(coded);
    }
    *before = first.unwrap_or(*before);
    Ok(())
}

/// Codes the anchors of far tracks in a segment. Returns `None` if a number is out of range, or if
/// the data end.
pub(super) fn code_anchors<C: Coder, W: Watch>(
    coder: &mut C,
    model: &mut Model<W>,
    (tracks, length): (usize, usize),
    anchors: &mut Vec<Anchors>,
) -> Option<()> {
    let given = std::mem::take(anchors);
    let mut before = [0.0; 3];
    for track in 0..tracks {
        let given = given.get(track);
        let by_sample = matches!(given, Some(Anchors::Samples(_)));
        let by_sample = coder.code_direct(u32::from(by_sample), 1) != 0;
        let mut own = Vec::new();
        for index in 0..if by_sample { length } else { 1 } {
            let given = given.and_then(|given| given.all().get(index));
            let mut anchor = given.copied().unwrap_or_default();
            code_vector(coder, model, &mut anchor, &mut before)?;
            own.push(anchor);
        }
        anchors.push(match own[..] {
            [anchor] if !by_sample => Anchors::Segment(anchor),
            _ => Anchors::Samples(own),
        });
        if coder.is_exhausted() {
            return None;
        }
    }
    Some(())
}

/// Codes a vector. Instead of a new number, an axis may repeat the number of the same axis in the
/// previous vector, or of the previous axis in this vector. Returns `None` if a number is out of
/// range.
fn code_vector<C: Coder, W: Watch>(
    coder: &mut C,
    model: &mut Model<W>,
    vector: &mut [f32; 3],
    before: &mut [f32; 3],
) -> Option<()> {
    for axis in 0..3 {
        let bits = vector[axis].to_bits();
        let repeats = model.code(coder, FLOATS + axis, bits == before[axis].to_bits());
        if repeats {
            vector[axis] = before[axis];
        } else if axis > 0
            && model.code(coder, FLOATS + 3 + axis, bits == vector[axis - 1].to_bits())
        {
            vector[axis] = vector[axis - 1];
        } else {
            vector[axis] = code_float(coder, model, bits);
        }
        before[axis] = vector[axis];
        (vector[axis].abs() <= MAX_NUMBER).then_some(())?;
    }
    Some(())
}

/// Codes a float. Counters model its sign, its exponent, and whether its low half is 0. The other
/// bits are coded directly.
fn code_float<C: Coder, W: Watch>(coder: &mut C, model: &mut Model<W>, bits: u32) -> f32 {
    let high = model.code_tree(coder, FLOATS + 8, bits >> 23, 9);
    let is_short = model.code(coder, FLOATS + 6, bits & 0xffff == 0);
    let middle = coder.code_direct(bits >> 16, 7);
    let low = if is_short { 0 } else { coder.code_direct(bits, 16) };
    f32::from_bits(high << 23 | middle << 16 | low)
}

/// Returns the live components, in the order in which a segment codes them.
pub(super) fn live(contents: &Contents) -> Vec<LiveComponent> {
    let mut live: Vec<LiveComponent> = Vec::new();
    let (mut track, mut channel) = (None, None);
    for component in (0..3 * contents.tracks.len()).filter(|component| contents.is_live(*component))
    {
        let own = Some(component / 3);
        let is_curve = component / 3 >= contents.tracks.len() - contents.header.curve_tracks();
        let own_channel = Some((contents.tracks[component / 3].channel, is_curve));
        live.push(LiveComponent {
            component,
            axis: component % 3,
            begins_track: track != own,
            begins_channel: channel != own_channel,
        });
        (track, channel) = (own, own_channel);
    }
    live
}

/// Codes the step of a segment as the difference from the previous one. Returns `None` if the step
/// is out of range.
pub(super) fn code_segment_step<C: Coder, W: Watch>(
    coder: &mut C,
    model: &mut Model<W>,
    step: u8,
    before: Option<u8>,
) -> Option<u8> {
    /// The expected step of the first segment.
    const USUAL: u8 = 96;
    let counter = SEGMENT_STEPS + SIGNED * usize::from(before.is_some());
    let before = i32::from(before.unwrap_or(USUAL));
    u8::try_from(before + model.code_signed(coder, counter, i32::from(step) - before)).ok()
}
