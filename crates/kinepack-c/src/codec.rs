//! Codecs, which define how the snapshots of a schema are coded. Both sides need the same codec.

use std::ffi::c_char;

use kinepack::profile::LaneWidth;
use kinepack::{Codec, Level, Profile, Schema};

use crate::KpStatus;
use crate::handles::Handles;
use crate::memory::{self, check_out, give_text, put, slice};
use crate::schema::{KpSchema, SCHEMAS};
use crate::status::{Failure, call};

/// A codec. Immutable.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpCodec {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static CODECS: Handles<Codec> = Handles::new(3, "a codec");

/// Creates a codec of a schema at a level. "packed" is fastest, "adaptive" takes few bits, and
/// "learning" takes the fewest. `profile` is a profile file trained for the schema. With a
/// `profile_size` of 0, the codec has no trained profile. The caller frees `*out` with
/// `kp_codec_free`.
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
        // SAFETY: the caller guarantees that `level` points to a zero-terminated text and `profile`
        // has `profile_size` readable bytes, until this call returns.
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
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpCodec { id: CODECS.add(codec) }) }
    })
}

/// Writes a hash of the schema, the level, the profile and the time precision. Two sides can read
/// each other's packets only if their hashes are equal. Hubs and receivers compare the hashes
/// themselves.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_codec_hash(codec: KpCodec, hash: *mut u64) -> KpStatus {
    call(|| {
        let value = CODECS.get(codec.id)?.hash();
        // SAFETY: the caller guarantees that `hash` is writable until this call returns.
        unsafe { put(hash, value) }
    })
}

/// Writes the widths and code words of a codec's profile as text, for tools. The text has a
/// terminating zero: `*size` bytes, if they fit into `capacity`. The first two lines, `entities`
/// and `flags`, each describe a code for gaps: the offset widths of its classes, and the lengths of
/// its code words, in bits. Then each field has a line with its context, and a line for each class.
/// The line of a class contains the reference, and `width/beyond` in bits for each lane. The
/// lengths of the class words follow, once if all contexts share them, or for each context.
/// `spec/CODEC.md`, sections 7 and 9, describes these codes. The text does not include the model of
/// the adaptive levels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_codec_profile_text(
    codec: KpCodec,
    text: *mut c_char,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        let codec = CODECS.get(codec.id)?;
        // SAFETY: the caller guarantees that `text` has `capacity` writable bytes and `size` is
        // writable, until this call returns.
        unsafe { give_text(&profile_text(&codec), text, capacity, size) }
    })
}

/// Frees a codec. Objects made with the codec remain valid.
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
