//! Catalogues, which list the tiers of a broadcast. Publishers write them and viewers read them.

use std::ffi::c_char;

use kinepack_crowd::{Carry, Catalogue, CrowdError, Tier, Track};

use crate::KpStatus;
use crate::codec::{CODECS, KpCodec};
use crate::handles::Handles;
use crate::memory::{self, check_out, give, give_text, put, slice};
use crate::schema::{KpSchema, SCHEMAS};
use crate::status::{Failure, call};

/// Describes the contents of a broadcast: one world in several forms, which are its tiers.
/// Immutable.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KpCatalogue {
    /// The handle; 0 means no object.
    pub id: u64,
}

pub(crate) static CATALOGUES: Handles<Catalogue> = Handles::new(24, "a catalogue");

/// How a tier is transported.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KpCarry {
    /// The tier is sent in groups. Each snapshot is coded against the previous one, and takes the
    /// fewest bits. A viewer sees a lost packet as a delay.
    Groups = 0,
    /// The tier is sent in datagrams that are coded against the beginning of the group. A lost
    /// datagram costs one snapshot and no delay.
    Datagrams = 1,
}

/// A tier to create.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpTier {
    /// The name of the tier's track: up to 64 lower-case letters, digits, `-`, `.` and `_`.
    pub name: *const c_char,
    /// The codec of the tier's snapshots. All tiers have the same schema. Only the time precision
    /// of the fields may differ.
    pub codec: KpCodec,
    /// How the tier is transported: a `KpCarry`.
    pub carry: i32,
    /// The number of ticks from one snapshot to the next. 0 means 1.
    pub ticks_per_frame: u32,
    /// The maximum number of ticks in a group. A tier in datagrams may have at most 127. Viewers
    /// can join at the beginning of a group.
    pub ticks_per_group: u32,
    /// The number of snapshots that share an object, at most 16. 0 means 1. Each object has about
    /// 50 bytes of headers. Its first snapshot is delayed until the last one is added.
    pub frames_per_object: u32,
}

/// The properties of a tier.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpTierInfo {
    /// How the tier is transported: a `KpCarry`.
    pub carry: i32,
    /// The number of ticks from one snapshot to the next.
    pub ticks_per_frame: u32,
    /// The maximum number of ticks in a group.
    pub ticks_per_group: u32,
    /// The number of snapshots that share an object.
    pub frames_per_object: u32,
}

/// The type of a track.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KpTrackKind {
    /// The snapshots of the tier.
    Snapshots = 0,
    /// The key snapshots of the tier, which viewers need to join.
    Keys = 1,
}

/// Identifies a track of the transport, which carries groups of objects, and datagrams.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KpTrack {
    /// The number of the tier.
    pub tier: u32,
    /// The type of the track: a `KpTrackKind`.
    pub kind: i32,
}

/// Creates a catalogue for a simulation with `tick_hz` ticks per second. `tiers` lists its tiers,
/// which are numbered in this order. The caller frees `*out` with `kp_catalogue_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_catalogue_new(
    tick_hz: u32,
    tiers: *const KpTier,
    count: usize,
    out: *mut KpCatalogue,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        // SAFETY: the caller guarantees that `tiers` has `count` readable values, each with a
        // `name` that points to a zero-terminated text, until this call returns.
        let tiers = unsafe { slice(tiers, count)?.iter().map(|tier| tier_of(tier)) };
        let tiers = tiers.collect::<Result<Vec<_>, Failure>>()?;
        let catalogue = Catalogue::new(ticks(tick_hz)?, tiers).map_err(Failure::argument)?;
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpCatalogue { id: CATALOGUES.add(catalogue) }) }
    })
}

/// Creates a catalogue with the tiers that suit most broadcasts: "full" has all snapshots, "third"
/// one in three, "eighth" one in eight, and "fast" has all in datagrams. If the schema has bodies,
/// the tier "coarse" has one in three, with less precision for moving bodies. The caller frees
/// `*out` with `kp_catalogue_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_catalogue_standard(
    tick_hz: u32,
    codec: KpCodec,
    out: *mut KpCatalogue,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        let codec = CODECS.get(codec.id)?;
        let catalogue = Catalogue::standard(ticks(tick_hz)?, &codec).map_err(Failure::argument)?;
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpCatalogue { id: CATALOGUES.add(catalogue) }) }
    })
}

/// Reads a catalogue from the object of the track "catalogue". The caller frees `*out` with
/// `kp_catalogue_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_catalogue_from_bytes(
    bytes: *const u8,
    size: usize,
    out: *mut KpCatalogue,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        // SAFETY: the caller guarantees that `bytes` has `size` readable bytes until this call
        // returns.
        let bytes = unsafe { slice(bytes, size)? };
        let catalogue = Catalogue::from_bytes(bytes).map_err(Failure::data)?;
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpCatalogue { id: CATALOGUES.add(catalogue) }) }
    })
}

/// Writes a catalogue's bytes, to publish as the object of the track "catalogue". Writes `*size`
/// bytes, if they fit into `capacity`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_catalogue_to_bytes(
    catalogue: KpCatalogue,
    bytes: *mut u8,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        let written = CATALOGUES.get(catalogue.id)?.to_bytes();
        // SAFETY: the caller guarantees that `bytes` has `capacity` writable bytes and `size` is
        // writable, until this call returns.
        unsafe { give(&written, bytes, capacity, size) }
    })
}

/// Writes the ticks per second of a broadcast, and its number of tiers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_catalogue_info(
    catalogue: KpCatalogue,
    tick_hz: *mut u32,
    tiers: *mut u32,
) -> KpStatus {
    call(|| {
        check_out(tiers)?;
        let catalogue = CATALOGUES.get(catalogue.id)?;
        // SAFETY: the caller guarantees that `tick_hz` and `tiers` are writable until this call
        // returns.
        unsafe {
            put(tick_hz, catalogue.tick_hz().into())?;
            put(tiers, catalogue.tiers().len() as u32)
        }
    })
}

/// Creates the schema of the broadcast's world. The caller frees `*out` with `kp_schema_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_catalogue_schema(
    catalogue: KpCatalogue,
    out: *mut KpSchema,
) -> KpStatus {
    call(|| {
        check_out(out)?;
        let schema = CATALOGUES.get(catalogue.id)?.tiers()[0].codec.schema().clone();
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, KpSchema { id: SCHEMAS.add(schema) }) }
    })
}

/// Writes the properties of a tier. Tiers are numbered from 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_catalogue_tier(
    catalogue: KpCatalogue,
    tier: u32,
    out: *mut KpTierInfo,
) -> KpStatus {
    call(|| {
        let catalogue = CATALOGUES.get(catalogue.id)?;
        let tier = catalogue.tiers().get(tier as usize).ok_or_else(|| no_tier(tier))?;
        let described = KpTierInfo {
            carry: match tier.carry {
                Carry::Groups => KpCarry::Groups as i32,
                Carry::Datagrams => KpCarry::Datagrams as i32,
            },
            ticks_per_frame: tier.ticks_per_frame.into(),
            ticks_per_group: tier.ticks_per_group.into(),
            frames_per_object: tier.frames_per_object.into(),
        };
        // SAFETY: the caller guarantees that `out` is writable until this call returns.
        unsafe { put(out, described) }
    })
}

/// Finds the tier with the name `name`. Returns `KP_STATUS_NOTHING` if there is no such tier.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_catalogue_find(
    catalogue: KpCatalogue,
    name: *const c_char,
    tier: *mut u32,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `name` points to a zero-terminated text until this
        // call returns.
        let name = unsafe { memory::text(name)? };
        let found = CATALOGUES.get(catalogue.id)?.find(name);
        let nothing = || Failure::new(KpStatus::Nothing, format!("no tier is named {name:?}"));
        // SAFETY: the caller guarantees that `tier` is writable until this call returns.
        unsafe { put(tier, found.ok_or_else(nothing)? as u32) }
    })
}

/// Writes the name of a track for the transport, with a terminating zero: `*size` bytes, if they
/// fit into `capacity`. The track of a tier's snapshots has the name of the tier.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kp_catalogue_track_name(
    catalogue: KpCatalogue,
    track: *const KpTrack,
    name: *mut c_char,
    capacity: usize,
    size: *mut usize,
) -> KpStatus {
    call(|| {
        // SAFETY: the caller guarantees that `track` is readable until this call returns.
        let given = unsafe { memory::required(track)? };
        let track = track_of(given.tier, given.kind)?;
        let found = CATALOGUES.get(catalogue.id)?.name_of(track);
        let found = found.ok_or_else(|| no_tier(given.tier))?;
        // SAFETY: the caller guarantees that `name` has `capacity` writable bytes and `size` is
        // writable, until this call returns.
        unsafe { give_text(&found, name, capacity, size) }
    })
}

/// Frees a catalogue. Objects made with the catalogue remain valid.
#[unsafe(no_mangle)]
pub extern "C" fn kp_catalogue_free(catalogue: KpCatalogue) -> KpStatus {
    call(|| CATALOGUES.remove(catalogue.id))
}

/// Converts the numbers that identify a track.
pub(crate) fn track_of(tier: u32, kind: i32) -> Result<Track, Failure> {
    match kind {
        0 => Ok(Track::Snapshots(tier as usize)),
        1 => Ok(Track::Keys(tier as usize)),
        _ => Err(Failure::argument(format!("no KpTrackKind is {kind}"))),
    }
}

/// Converts a track into the numbers for the caller.
pub(crate) fn track_to(track: Track) -> KpTrack {
    let kind = match track {
        Track::Snapshots(_) => KpTrackKind::Snapshots,
        Track::Keys(_) => KpTrackKind::Keys,
    };
    KpTrack { tier: track.tier() as u32, kind: kind as i32 }
}

pub(crate) fn no_tier(tier: u32) -> Failure {
    Failure::argument(CrowdError::NoTier { number: tier as usize })
}

fn ticks(tick_hz: u32) -> Result<u16, Failure> {
    let wrong = || Failure::argument(format!("{tick_hz} ticks a second; 65,535 at most"));
    u16::try_from(tick_hz).map_err(|_| wrong())
}

/// Converts a tier from the caller.
///
/// # Safety
/// The name of `given` points to a zero-terminated text.
unsafe fn tier_of(given: &KpTier) -> Result<Tier, Failure> {
    // SAFETY: the caller guarantees that `given.name` points to a zero-terminated text until this
    // call returns.
    let name = unsafe { memory::text(given.name)? };
    let too_large = || Failure::argument(format!("the tier {name:?}: a number is too large"));
    let short = |number: u32| u16::try_from(number).map_err(|_| too_large());
    let frames = u8::try_from(given.frames_per_object.max(1)).map_err(|_| too_large())?;
    Ok(Tier {
        name: name.to_owned(),
        carry: match given.carry {
            0 => Carry::Groups,
            1 => Carry::Datagrams,
            carry => return Err(Failure::argument(format!("no KpCarry is {carry}"))),
        },
        ticks_per_frame: short(given.ticks_per_frame.max(1))?,
        ticks_per_group: short(given.ticks_per_group)?,
        frames_per_object: frames,
        codec: Clone::clone(&*CODECS.get(given.codec.id)?),
    })
}
