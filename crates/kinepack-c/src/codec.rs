//! Codecs: how the snapshots of a schema are coded. Both sides need the same.

use std::ffi::c_char;

use kinepack::profile::LaneWidth;
use kinepack::{Codec, Level, Profile, Schema};

use crate::KpStatus;
use crate::handles::Handles;
use crate::memory::{self, check_out, give_text, put, slice};
use crate::schema::{KpSchema, SCHEMAS};
use crate::status::{Failure, call};

/// A codec. It does not change.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpCodec {
    /// Zero is no handle.
    pub id: u64,
}

pub(crate) static CODECS: Handles<Codec> = Handles::new(3, "a codec");

/// A codec of a schema at a level ("packed" takes the least time, "adaptive" few bits, "learning"
/// the fewest), with a profile file that was trained for the schema, or without one if
/// `profile_size` is 0. The caller frees `*out` with `kp_codec_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_codec_new(
    schema: KpSchema,
    level: *const c_char,
    profile: *const u8,
    profile_size: usize,
    out: *mut KpCodec,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        // SAFETY: the caller lends a text and the bytes of the profile.
        let (name, profile) = unsafe { (memory::text(level)?, slice(profile, profile_size)?) };
        let level = Level::named(name).ok_or_else(|| {
            let levels = "use packed, adaptive or learning";
            Failure::argument(format!("no level is named {name:?}; {levels}"))
        })?;
        let schema = Schema::clone(&*SCHEMAS.get(schema.id)?);
        let profile = match profile {
            [] => Profile::untrained(&schema),
            bytes => Profile::from_bytes(bytes, &schema).map_err(Failure::data)?,
        };
        let codec = Codec::new(schema, level, profile).map_err(Failure::argument)?;
        // SAFETY: `out` is the caller's.
        unsafe { put(out, KpCodec { id: CODECS.add(codec) }) }
    })
}

/// The widths and words of a codec's profile as text, for tools, with a zero at the end: `*size` bytes, if
/// they are at most `capacity`. First come the codes of gaps: their widths, and the lengths of their
/// words. Then follow, for each field, its context; for each class the reference and, for each lane,
/// `width/beyond`; the lengths of the words, once for all contexts or for each. `spec/CODEC.md`, sections
/// 7 and 9, describes these. The model of the adaptive levels is not in the text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_codec_profile_text(
    codec: KpCodec,
    text: *mut c_char,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        let codec = CODECS.get(codec.id)?;
        // SAFETY: the caller lends `capacity` bytes and `size`.
        unsafe { give_text(&profile_text(&codec), text, capacity, size) }
    })
}

/// Frees a codec. What was made with it lives on.
#[unsafe(no_mangle)]
pub extern "C" fn kp_codec_free(codec: KpCodec) -> KpStatus {
    call(|| CODECS.remove(codec.id))
}

fn profile_text(codec: &Codec) -> String {
    let profile = codec.profile();
    let mut lines = Vec::new();
    for (name, code) in [("entities", &profile.entities), ("flags", &profile.flags)] {
        lines.push(format!("{name} widths {:?} words {:?}", code.widths_bits, code.lengths_bits));
    }
    for (field, code) in codec.schema().fields().iter().zip(&profile.fields) {
        lines.push(format!("{} {:?}", field.name, code.context));
        lines.extend(code.classes.iter().map(|class| {
            let width = |lane: &LaneWidth| format!(" {}/{}", lane.bits, lane.beyond_bits);
            let widths: String = class.lanes.iter().map(width).collect();
            format!("  {:?}{widths}", class.reference)
        }));
        let words = &code.lengths_bits[..];
        let are_alike = words.windows(2).all(|pair| pair[0] == pair[1]);
        let words = if are_alike { &words[..1] } else { words };
        lines.extend(words.iter().map(|lengths| format!("  words {lengths:?}")));
    }
    lines.join("\n") + "\n"
}
