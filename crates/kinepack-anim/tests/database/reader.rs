//! A reader of databases that was written from section 16 of `spec/ANIM.md` alone. The reader takes
//! the whole index at once, and leaves skeleton, rig and clips to their readers.

use kinepack_anim::{Rig, Skeleton};

/// A clip of a database.
#[derive(Debug, PartialEq)]
pub(crate) struct Stored {
    pub(crate) name: String,
    pub(crate) samples: u32,
    pub(crate) rate_hz: f32,
    pub(crate) curves: u16,
    pub(crate) bits: u8,
    pub(crate) file: Vec<u8>,
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

pub(crate) fn fnv(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Returns the number of bytes of the header and index without their hash, computed from the
/// header's numbers.
pub(crate) fn head_bytes(file: &[u8]) -> Option<usize> {
    let field = |at: usize| file.get(at..at + 4).map(number);
    let bytes = 24 + field(12)? + field(16)? + 24 * field(8)? + field(20)?;
    Some(bytes as usize)
}

/// Returns the clips of a database, or the reason why the file is invalid.
pub(crate) fn read(file: &[u8]) -> Result<Vec<Stored>, &'static str> {
    if file.get(..8) != Some(b"KPDB\x01\0\0\0") {
        return Err("magic, version or zeros");
    }
    let head = head_bytes(file).filter(|head| head + 8 <= file.len()).ok_or("short")?;
    if number(&file[head..head + 8]) != fnv(&file[..head]) {
        return Err("hash");
    }
    let sizes = [12, 16, 8, 20].map(|at| number(&file[at..at + 4]) as usize);
    let (skeleton, rest) = file[24..head].split_at(sizes[0]);
    let (rig, rest) = rest.split_at(sizes[1]);
    let (entries, names) = rest.split_at(24 * sizes[2]);
    let skeleton = Skeleton::from_bytes(skeleton).map_err(|_| "skeleton")?;
    if !rig.is_empty() {
        let rig = Rig::from_bytes(rig).map_err(|_| "rig")?;
        if (rig.skeleton_hash(), rig.joints()) != (skeleton.hash(), skeleton.len()) {
            return Err("rig of another skeleton");
        }
    }
    let clips = &file[head + 8..];
    let (mut all, mut ends) = (Vec::<Stored>::new(), [0, 0]);
    for entry in entries.chunks(24) {
        let clip_end = number(&entry[..8]) as usize;
        let name_end = number(&entry[8..12]) as usize;
        let name = names.get(ends[0]..name_end).filter(|name| name.len() < 65_536);
        let name = String::from_utf8(name.ok_or("name")?.to_vec()).map_err(|_| "UTF-8")?;
        let own = clips.get(ends[1]..clip_end).filter(|own| !own.is_empty()).ok_or("clip")?;
        if all.last().is_some_and(|last| last.name.as_bytes() >= name.as_bytes()) {
            return Err("order");
        }
        let (samples, curves) = (number(&entry[12..16]), number(&entry[20..22]));
        let rate_hz = f32::from_bits(number(&entry[16..20]) as u32);
        let bits = entry[22];
        let least = 1 + u64::from(bits & 1);
        if bits > 15
            || entry[23] != 0
            || bits & 2 != 0 && rig.is_empty()
            || !(least..=4_194_304).contains(&samples)
            || !(rate_hz > 0.0 && rate_hz < f32::INFINITY)
            || curves > 4096
            || skeleton.is_empty()
        {
            return Err("entry");
        }
        let (samples, curves) = (samples as u32, curves as u16);
        all.push(Stored { name, samples, rate_hz, curves, bits, file: own.to_vec() });
        ends = [name_end, clip_end];
    }
    if ends == [names.len(), clips.len()] { Ok(all) } else { Err("rest") }
}
