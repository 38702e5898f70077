//! Codecs: how the snapshots of a schema are coded. Both sides need the same.

use std::ffi::c_char;

use kinepack::{Codec, Level, Profile, Schema};

use crate::KpStatus;
use crate::handles::Handles;
use crate::memory::{self, check_out, put, slice};
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

/// Frees a codec. What was made with it lives on.
#[unsafe(no_mangle)]
pub extern "C" fn kp_codec_free(codec: KpCodec) -> KpStatus {
    call(|| CODECS.remove(codec.id))
}
